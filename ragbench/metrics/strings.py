"""Whether an answer and its reference are the same text, or nearly: by words and by characters."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragbench.core.metric import metric
from ragbench.metrics.texts import (
    HAS_UNSPACED,
    part_unspaced,
    plain,
    squeeze,
    without_invisible,
)

Array = NDArray[np.float64]
Texts = tuple[str, ...]
Measure = Literal["levenshtein", "hamming", "jaro", "jaro_winkler"]

RAJPURKAR = "Rajpurkar et al. 2016, SQuAD, arXiv:1606.05250, and its script evaluate-v1.1.py"
ARTICLES = re.compile(r"\b(?:a|an|the)\b")
IS_CYRILLIC = re.compile("[\u0400-\u052f]")
# SQuAD's script deletes these; where texts have other marks than those of ASCII, the others too.
ASCII_MARKS = re.escape(string.punctuation)


@metric(source=RAJPURKAR)
def exact_match(
    answers: Texts,
    references: Texts,
    within: bool = False,
    case: bool = False,
    squad: bool = False,
) -> Array:
    """Whether answer and reference are the same text; letter case and white space do not count.

    within: 1 also where the reference stands somewhere in the answer. case: letter case counts.
    squad: as SQuAD's script compares (see token_f1); case then means nothing.
    """
    normalize: Callable[[str], str] = normalize_squad if squad else plain
    if case and not squad:
        normalize = without_invisible_nfkc
    same = []
    for answer, reference in zip(answers, references, strict=True):
        texts = squeeze(normalize(answer)), squeeze(normalize(reference))
        same.append(texts[1] in texts[0] if within else texts[0] == texts[1])
    return np.array(same, dtype=float)


@metric(source=RAJPURKAR)
def token_f1(answers: Texts, references: Texts, squad: bool = False) -> Array:
    """F1 of the words that answer and reference share, by SQuAD's rules; numbers are kept apart.

    Case, punctuation and English articles do not count; of Russian texts ё is е as well. Signs
    between two digits do count, so that 3,5 is not 35 and 10:30 not 1030. squad: delete these
    too, as SQuAD's script does. NaN for a reference without words.
    """
    scores = []
    for answer, reference in zip(answers, references, strict=True):
        answer_words = squad_words(answer, squad)
        reference_words = squad_words(reference, squad)
        scores.append(word_f1(answer_words, reference_words))
    return np.array(scores, dtype=float)


@metric(
    source="Levenshtein 1966, Soviet Physics Doklady 10; Hamming 1950; Jaro 1989, JASA 84; "
    "Winkler 1990 (RapidFuzz)",
)
def string_similarity(
    answers: Texts, references: Texts, measure: Measure = "levenshtein", case: bool = False
) -> Array:
    """1 − edits of single characters / length of the longer text; case and white space folded.

    measure: hamming counts the places that differ, jaro the characters that both have near the
    same place, jaro_winkler a common beginning besides; the last two are made for names.
    """
    from rapidfuzz import distance
    from rapidfuzz.process import cpdist

    normalize: Callable[[str], str] = without_invisible_nfkc if case else plain
    left, right = ([squeeze(normalize(text)) for text in texts] for texts in (answers, references))
    scorers = {
        "levenshtein": distance.Levenshtein,
        "hamming": distance.Hamming,
        "jaro": distance.Jaro,
        "jaro_winkler": distance.JaroWinkler,
    }
    scorer = scorers[measure].normalized_similarity
    return np.asarray(cpdist(left, right, scorer=scorer, dtype=np.float64))


def word_f1(answer_words: Sequence[str], reference_words: Sequence[str]) -> float:
    """Return the F1 of the words that both have; NaN without a word in the reference."""
    if not reference_words:
        return float("nan")
    n_shared = (Counter(answer_words) & Counter(reference_words)).total()
    return 2 * n_shared / (len(answer_words) + len(reference_words))


def squad_words(text: str, squad: bool) -> list[str]:
    """Return the words of a text as SQuAD's script cuts it; squad: numbers, too."""
    return part_unspaced(normalize_squad(text, squad)).split()


def normalize_squad(text: str, squad: bool = True) -> str:
    """Normalise a text as SQuAD's script does: small letters, no punctuation, no articles.

    Texts with Cyrillic letters, and those in scripts without blanks, lose all punctuation and not
    only that of ASCII. squad: False keeps signs between two digits.
    """
    text = plain(text)
    has_other_marks = bool(IS_CYRILLIC.search(text) or HAS_UNSPACED.search(text))
    text = punctuation(has_other_marks, squad).sub("", text)
    return text.replace("ё", "е") if has_other_marks else ARTICLES.sub(" ", text)


@cache
def punctuation(has_other_marks: bool, squad: bool) -> Any:
    """Compile what is deleted: punctuation, unless it stands between two digits."""
    import regex

    marks = rf"[\p{{P}}{ASCII_MARKS}]" if has_other_marks else f"[{ASCII_MARKS}]"
    # 3,5 without its comma would be 35, and 10:30 would be 1030.
    return regex.compile(marks if squad else rf"(?<!\d){marks}|{marks}(?!\d)")


def without_invisible_nfkc(text: str) -> str:
    """Return the text in compatible forms, with its letter case."""
    return without_invisible(text, "NFKC")
