"""Exact match and F1 of words in SQuAD's normalization, and in its counterpart for Russian."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter

from ragbench.core.metric import metric
from ragbench.core.types import Sample, Score, Status
from ragbench.metrics.explanation import sentence
from ragbench.metrics.inquiry import Inquiry, measured
from ragbench.metrics.references import best_of_references

SOURCE = "Rajpurkar et al. 2016, SQuAD, arXiv:1606.05250, and its script evaluate-v1.1.py"
FIELDS = ("response", "reference")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_YO = str.maketrans("ё", "е")


def is_russian(sample: Sample) -> bool:
    """Whether the sample is normalized as Russian: its language says so, or its reference has a Cyrillic letter."""
    if sample.language is not None:
        return sample.language.casefold().startswith("ru")
    return any("CYRILLIC" in unicodedata.name(letter, "") for letter in sample.reference or "" if not letter.isascii())


def normalized(text: str, *, russian: bool) -> str:
    """A text as SQuAD's script compares it: lower case, without ASCII punctuation and English articles, white space
    folded. russian: without any punctuation, ё as е, and articles, of which Russian has none, stay words.
    """
    lowered = unicodedata.normalize("NFC", text).lower()
    if russian:
        kept = (sign for sign in lowered.translate(_YO) if unicodedata.category(sign)[0] != "P")
        return " ".join("".join(kept).translate(_PUNCTUATION).split())
    return " ".join(_ARTICLES.sub(" ", lowered.translate(_PUNCTUATION)).split())


@metric(
    former=("squad_f1", "f1_token"),
    source=SOURCE,
    fields=FIELDS,
    formula="2 P R / (P + R); P, R = words that both have, counted as often as both have them / words of the answer, "
    "of the reference",
    edges="A reference without words is unmeasured; an answer without words, or an empty one, shares nothing and "
    "gets 0.",
    differs="In SQuAD's normalization: no punctuation, no English articles. Russian texts lose all punctuation and no "
    "articles, and ё is е. ROUGE-1 keeps articles and parts words at hyphens. SQuAD's script gives 0 where nothing of "
    "a reference is left.",
    when=("Short answers with right wordings, compared with published numbers of SQuAD and its like.",),
)
@best_of_references
@measured
async def token_f1(sample: Sample) -> Score:
    """F1 of the words that answer and reference share, 0 to 1, as SQuAD's script counts it."""
    inquiry = Inquiry(sample, None, *FIELDS, empty=0.0)
    russian = is_russian(sample)
    answer, other = (normalized(text or "", russian=russian).split() for text in (sample.response, sample.reference))
    if not other:
        raise inquiry.unmeasured(Status.EMPTY_INPUT, sentence("the reference has no word"))
    shared = (Counter(answer) & Counter(other)).total()
    precision, recall = shared / max(len(answer), 1), shared / len(other)
    value = 2 * precision * recall / (precision + recall) if shared else 0.0
    said = sentence(
        "Shared {shared}, in the answer {answered}, in the reference {known}; precision {precision}, recall {recall}, "
        "F {value}.",
        shared=shared, answered=len(answer), known=len(other), precision=precision, recall=recall, value=value,
    )  # fmt: skip
    return inquiry.score(value, [said], shared=shared, precision=precision, recall=recall)
