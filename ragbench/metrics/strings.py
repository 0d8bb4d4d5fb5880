"""The answer's letters against the reference's: no judge, no embeddings, Cyrillic counts."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import numpy as np

from ragbench.metric import metric
from ragbench.metrics.explanation import sentence
from ragbench.metrics.inquiry import Inquiry, measured
from ragbench.types import Sample, Score

FIELDS = ("response", "reference")
HUNDRED = 100.0


@lru_cache(maxsize=8)
def _signature(words: int = 0) -> str:
    from sacrebleu.metrics.chrf import CHRF

    scorer = CHRF(word_order=words)
    scorer.num_refs = 1
    return str(scorer.get_signature())


@metric(
    source="exact match after normalization, as in Rajpurkar et al. 2016, SQuAD, arXiv:1606.05250",
    fields=FIELDS,
    formula="1 if answer and reference are equal after folding, else 0",
    edges="Letter case and white space do not count; punctuation does. An empty answer gets 0.",
    differs="SQuAD's exact match also deletes articles and punctuation, of English only.",
)
@measured
async def exact_match(sample: Sample) -> Score:
    """1.0 if the answer and the reference are the same text, else 0.0; letter case and white space do not count.

    Compared after NFKC and casefold, with white space folded; punctuation counts.
    """
    inquiry = Inquiry(sample, None, *FIELDS, empty=0.0)
    value = float(plain(sample.response or "") == plain(sample.reference or ""))
    same = sentence("The texts are the same: {value}.", value=value)
    return inquiry.score(value, [same if value else sentence("The texts differ: {value}.", value=value)])


@metric(
    source="Levenshtein 1966, Binary codes capable of correcting deletions, insertions and reversals",
    fields=FIELDS,
    formula="1 − edit distance / length of the longer text",
    edges="An empty reference is unmeasured; an empty answer gets 0.",
    differs="Compared after folding of letter case and white space, in characters of any alphabet.",
)
@measured
async def string_similarity(sample: Sample) -> Score:
    """1 − edit distance / length of the longer text, of the answer and the reference after folding; 0 to 1.

    The Levenshtein distance over characters, after NFKC and casefold, with white space folded.
    """
    inquiry = Inquiry(sample, None, *FIELDS, empty=0.0)
    one, other = plain(sample.response or ""), plain(sample.reference or "")
    distance, longest = edit_distance(one, other), max(len(one), len(other))
    value = 1 - distance / longest
    said = sentence(
        "Edit distance {distance}, longer text {longest}; 1 − {distance} / {longest} = {value}.",
        distance=distance,
        longest=longest,
        value=value,
    )
    return inquiry.score(value, [said], distance=distance)


@metric(
    source="Popović 2015, chrF, WMT; computed by sacrebleu",
    bounds=(0.0, HUNDRED),
    fields=FIELDS,
    formula="F₂ over character n-grams, n = 1 … 6",
    edges="A reference without text is unmeasured; an empty answer gets 0.",
    differs=(
        "Sentence values by sacrebleu, whose signature is kept; chrF++ counts words too and is the option words=2."
    ),
    signed=_signature,
)
@measured
async def chrf(sample: Sample, *, words: int = 0) -> Score:
    """Character n-gram F-score (chrF) of the answer against the reference, 0 to 100, by sacrebleu.

    words: the longest word n-gram that counts beside the characters; 0 is chrF, 2 is chrF++.
    `detail["signature"]` is sacrebleu's.
    """
    from sacrebleu.metrics.chrf import CHRF

    if not (isinstance(words, int) and not isinstance(words, bool) and words >= 0):
        raise ValueError(f"chrf: words = {words!r}; it is 0 for chrF, 2 for chrF++")
    inquiry = Inquiry(sample, None, *FIELDS, empty=0.0)
    texts = [unicodedata.normalize("NFC", text) for text in (sample.response or "", sample.reference or "")]
    value = min(CHRF(word_order=words).sentence_score(texts[0], [texts[1]]).score, HUNDRED)
    said = sentence("Character n-gram F-score: {value} of 100.", value=value)
    return inquiry.score(value, [said], signature=_signature(words))


def plain(text: str) -> str:
    """A text as it is compared: NFKC, casefold, white space folded."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def edit_distance(one: str, other: str) -> int:
    """Levenshtein's distance over characters, a row at a time."""
    if len(one) > len(other):
        one, other = other, one
    signs = np.frombuffer(other.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    places = np.arange(len(other) + 1)
    above = places
    for row, sign in enumerate(one, 1):
        line = np.empty_like(above)
        line[0] = row
        line[1:] = np.minimum(above[1:] + 1, above[:-1] + (signs != ord(sign)))
        above = np.minimum.accumulate(line - places) + places  # an insertion carries the best value so far to the right
    return int(above[-1])
