"""The answer's letters against the reference's: no judge, no embeddings, Cyrillic counts.

By Jaro and Winkler characters stand for each other near their own place; the counts explain the value.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le
from rapidfuzz.distance import Hamming, Levenshtein

from ragbench.old.core.metric import Peer, metric
from ragbench.old.core.segmentation import apart, is_unspaced
from ragbench.old.core.types import Sample, Score, Status
from ragbench.old.metrics.explanation import sentence
from ragbench.old.metrics.inquiry import Inquiry, measured
from ragbench.old.metrics.references import best_of_references

FIELDS = ("response", "reference")
HUNDRED = 100.0  # sacrebleu counts in per cent
BETA = 2.0  # chrF2: recall counts twice (Popović 2016)
LONGEST_GRAM = 20  # sacrebleu takes any; longer ones are the text itself, and only cost time
Measure = Literal["levenshtein", "hamming", "jaro", "jaro_winkler"]
_YO = str.maketrans("ёЁ", "еЕ")


@lru_cache(maxsize=64)
def _signature(
    words: int = 0,
    chars: int = 6,
    beta: float = BETA,
    lowercase: bool = False,
    whitespace: bool = False,
    fold_yo: bool = False,
) -> str:
    """sacrebleu's, with what it leaves out where that is not as usual."""
    scorer = _chrf(words, chars, beta, lowercase, whitespace)
    scorer.num_refs = 1
    more = (f"|beta:{beta:g}" if beta != BETA else "") + ("|yo:e" if fold_yo else "")
    return str(scorer.get_signature()) + more


def _chrf(words: int, chars: int, beta: float, lowercase: bool, whitespace: bool) -> Any:
    from sacrebleu.metrics.chrf import CHRF

    return CHRF(char_order=chars, word_order=words, beta=beta, lowercase=lowercase, whitespace=whitespace)  # type: ignore[arg-type]


@metric(
    source="exact match after normalization, as in Rajpurkar et al. 2016, SQuAD, arXiv:1606.05250",
    fields=FIELDS,
    formula="1 if answer and reference are equal after folding, else 0; with within=True 1 if the reference stands in "
    "the answer; with squad=True after SQuAD's normalization",
    edges="Letter case and white space do not count; punctuation does. An empty answer gets 0.",
    differs="SQuAD's exact match also deletes articles and punctuation, of English only: the option squad, with its "
    "counterpart for Russian (see token_f1).",
    when=("Short answers with one right wording: names, numbers, codes.",),
)
@best_of_references
@measured
async def exact_match(
    sample: Sample, *, within: bool = False, case: bool = False, fold_yo: bool = False, squad: bool = False
) -> Score:
    """1.0 if the answer and the reference are the same text, else 0.0; letter case and white space do not count.

    Compared after NFKC and casefold, İ as i, with white space folded; punctuation counts.
    within: 1.0 also where the reference stands somewhere in the answer (elsewhere called string presence).
    case: letter case counts. fold_yo: ё is the same as е. squad: as SQuAD's script compares, without punctuation and
        English articles, of Russian without any punctuation and with ё as е; case and fold_yo mean nothing then.
    """
    inquiry = Inquiry(sample, None, *FIELDS, empty=0.0)
    texts = (sample.response or "", sample.reference or "")
    if squad:
        russian = is_russian(sample)
        answer, other = (normalized(text, russian=russian) for text in texts)
    else:
        answer, other = (plain(text, case=case, fold_yo=fold_yo) for text in texts)
    if within:
        value = float(other in answer)
        there = sentence("The reference stands in the response: {value}.", value=value)
        return inquiry.score(
            value, [there if value else sentence("The reference does not stand in the response: {value}.", value=value)]
        )
    value = float(answer == other)
    same = sentence("The texts are the same: {value}.", value=value)
    return inquiry.score(value, [same if value else sentence("The texts differ: {value}.", value=value)])


@metric(
    former=("non_llm_string_similarity",),
    source="Levenshtein 1966, Binary codes capable of correcting deletions, insertions and reversals; Hamming 1950, "
    "Error detecting and error correcting codes; Jaro 1989, JASA 84; Winkler 1990, String comparator metrics",
    fields=FIELDS,
    formula=(
        "1 − edit distance / length of the longer text; hamming: 1 − differing places / length of the longer text; "
        "jaro: j = (m / |a| + m / |b| + (m − t) / m) / 3; jaro_winkler: j + p · 0.1 · (1 − j) where j > 0.7"
    ),
    edges="An empty reference is unmeasured; an empty answer gets 0.",
    differs=(
        "Compared after folding of letter case and white space, in characters of any alphabet. Elsewhere Jaro-Winkler "
        "may be the default, and texts of unequal length are filled with spaces for Hamming's distance."
    ),
    when=("Short answers that may be misspelt.",),
)
@best_of_references
@measured
async def string_similarity(
    sample: Sample, *, measure: Measure = "levenshtein", case: bool = False, fold_yo: bool = False
) -> Score:
    """1 − edit distance / length of the longer text, of the answer and the reference after folding; 0 to 1.

    Over characters, after NFKC and casefold, İ as i, with white space folded.
    measure: levenshtein counts insertions, deletions and replacements; hamming the places that differ, those beyond the
        shorter text too; jaro the characters that both have near the same place; jaro_winkler adds a common beginning
        of up to four. The last two are made for names, not for long texts.
    case: letter case counts. fold_yo: ё is the same as е.
    """
    inquiry = Inquiry(sample, None, *FIELDS, empty=0.0)
    answer, other = (plain(text or "", case=case, fold_yo=fold_yo) for text in (sample.response, sample.reference))
    value, said, kept = _MEASURES[measure](answer, other)
    return inquiry.score(value, [said], **kept)


Found = tuple[float, dict[str, Any], dict[str, Any]]
"""The value, the sentence that explains it, and what is kept."""


def _levenshtein(text: str, other: str) -> Found:
    kept = _of_the_longer(Levenshtein.distance(text, other), text, other)
    said = sentence("Edit distance {distance}, longer text {longest}; 1 − {distance} / {longest} = {value}.", **kept)
    return kept["value"], said, {"distance": kept["distance"]}


def _hamming(text: str, other: str) -> Found:
    kept = _of_the_longer(Hamming.distance(text, other), text, other)
    said = sentence(
        "Places that differ {distance}, longer text {longest}; 1 − {distance} / {longest} = {value}.", **kept
    )
    return kept["value"], said, {"distance": kept["distance"]}


def _of_the_longer(distance: int, text: str, other: str) -> dict[str, Any]:
    """A distance as a share of the longer text's length, taken from 1."""
    longest = max(len(text), len(other))
    return {"distance": distance, "longest": longest, "value": 1 - distance / longest}


def _jaro(text: str, other: str) -> Found:
    jaro = Jaro.of(text, other)
    said = sentence(
        "Characters in common {matches}, of {first} and {second}; transpositions {transpositions}: {value}.",
        matches=jaro.matches,
        first=jaro.lengths[0],
        second=jaro.lengths[1],
        transpositions=jaro.transpositions,
        value=jaro.value,
    )
    return jaro.value, said, {"matches": jaro.matches, "transpositions": jaro.transpositions}


def _jaro_winkler(text: str, other: str) -> Found:
    jaro = Jaro.of(text, other)
    if jaro.prefix_counts:
        said = sentence(
            "Jaro {jaro}, common beginning {prefix}; {jaro} + {prefix} × {weight} × (1 − {jaro}) = {value}.",
            jaro=jaro.value,
            prefix=jaro.prefix,
            weight=PREFIX_WEIGHT,
            value=jaro.winkler,
        )
    else:
        said = sentence("Jaro {value}, too little for a common beginning to count.", value=jaro.winkler)
    kept = {"matches": jaro.matches, "transpositions": jaro.transpositions, "prefix": jaro.prefix}
    return jaro.winkler, said, kept


_MEASURES: dict[str, Callable[[str, str], Found]] = {
    "levenshtein": _levenshtein,
    "hamming": _hamming,
    "jaro": _jaro,
    "jaro_winkler": _jaro_winkler,
}


@metric(
    former=("chrf_score",),
    source="Popović 2015, chrF, WMT; Popović 2017, chrF++, WMT; computed by sacrebleu",
    bounds=(0.0, HUNDRED),
    fields=FIELDS,
    formula="F₂ over character n-grams, n = 1 … 6",
    edges="A reference without text is unmeasured; an empty answer gets 0.",
    differs=(
        "Sentence values by sacrebleu, whose signature is kept; chrF++ counts words too and is the option words=2. "
        "Elsewhere the value is from 0 to 1, the F of each n is averaged, and letter case is dropped without being "
        "asked."
    ),
    signed=_signature,
    when=("Languages with many word forms, such as Russian: it compares letters, not words.",),
    peers=(Peer("sacrebleu", 1e-9, "texts in English and Russian"),),
)
@best_of_references
@measured
async def chrf(
    sample: Sample,
    *,
    words: Annotated[int, Ge(0), Le(LONGEST_GRAM)] = 0,
    chars: Annotated[int, Ge(1), Le(LONGEST_GRAM)] = 6,
    beta: Annotated[float, Gt(0)] = BETA,
    lowercase: bool = False,
    whitespace: bool = False,
    fold_yo: bool = False,
) -> Score:
    """Character n-gram F-score (chrF) of the answer against the reference, 0 to 100, by sacrebleu.

    words: the longest word n-gram that counts beside the characters; 0 is chrF, 2 is chrF++.
    chars: the longest character n-gram. beta: how many times as much recall counts as precision.
    lowercase: letter case does not count. whitespace: white space counts as a character.
    fold_yo: ё is the same as е. Texts are compared in NFC.
    `detail["signature"]` is sacrebleu's, with beta and fold_yo behind it where they are not as usual.
    """
    inquiry = Inquiry(sample, None, *FIELDS, empty=0.0)
    texts = [unicodedata.normalize("NFC", text) for text in (sample.response or "", sample.reference or "")]
    if fold_yo:
        texts = [text.translate(_YO) for text in texts]
    scorer = _chrf(words, chars, beta, lowercase, whitespace)
    value = min(scorer.sentence_score(texts[0], [texts[1]]).score, HUNDRED)
    said = sentence("Character n-gram F-score: {value} of 100.", value=value)
    return inquiry.score(value, [said], signature=_signature(words, chars, beta, lowercase, whitespace, fold_yo))


DOTTED = "i\u0307"
"""What Unicode makes of the Turkish İ in small letters, which people write as i."""


def plain(text: str, *, case: bool = False, fold_yo: bool = False) -> str:
    """A text as it is compared: NFKC, white space folded; casefold unless letter case counts, ё as е if wanted."""
    composed = unicodedata.normalize("NFKC", text)
    folded = composed if case else composed.casefold().replace(DOTTED, "i")
    return " ".join((folded.translate(_YO) if fold_yo else folded).split())


PREFIX_WEIGHT = 0.1  # Winkler 1990; above 1 / LONGEST_PREFIX a value would pass one
LONGEST_PREFIX = 4
ALIKE_ENOUGH = 0.7
"""Winkler's weight of a common beginning, how much of it counts, and the Jaro similarity above which it does."""


@dataclass(frozen=True, slots=True)
class Jaro:
    """What Jaro's similarity is made of (Jaro 1989; Winkler 1990).

    matches: characters that both have, at most half the longer length (less one) apart, each used once.
    transpositions: half the matched characters that stand in another order. prefix: characters of the common beginning,
    LONGEST_PREFIX at most.
    """

    lengths: tuple[int, int]
    matches: int
    transpositions: int
    prefix: int

    @classmethod
    def of(cls, text: str, other: str) -> Jaro:
        """The counts of two texts, in time that grows with their lengths, not with the product of them."""
        first, second = _matched(text, other)
        swapped = sum(text[a] != other[b] for a, b in zip(first, sorted(second), strict=True))
        prefix = next(
            (place for place, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other))
        )
        return cls((len(text), len(other)), len(first), swapped // 2, min(prefix, LONGEST_PREFIX))

    @property
    def value(self) -> float:
        """(m / |a| + m / |b| + (m − t) / m) / 3, 0 to 1; 0 where nothing matches."""
        if not self.matches:
            return 0.0
        parts = (*(self.matches / length for length in self.lengths), 1 - self.transpositions / self.matches)
        return sum(parts) / len(parts)

    @property
    def prefix_counts(self) -> bool:
        """Whether the texts are alike enough for a common beginning to count."""
        return self.value > ALIKE_ENOUGH

    @property
    def winkler(self) -> float:
        """j + p · 0.1 · (1 − j): the similarity j, raised by a common beginning of p characters."""
        return self.value + (self.prefix * PREFIX_WEIGHT * (1 - self.value) if self.prefix_counts else 0.0)


def _matched(text: str, other: str) -> tuple[list[int], list[int]]:
    """The places of the matched characters in both texts, in the order of the first one.

    The window only moves to the right, so a character's places left of it are never needed again.
    """
    reach = max(max(len(text), len(other)) // 2 - 1, 0)
    places: dict[str, list[int]] = defaultdict(list)
    for place in range(len(other) - 1, -1, -1):
        places[other[place]].append(place)
    first, second = [], []
    for place, sign in enumerate(text):
        free = places.get(sign)
        while free and free[-1] < place - reach:
            free.pop()
        if free and free[-1] <= place + reach:
            first.append(place)
            second.append(free.pop())
    return first, second


SOURCE = "Rajpurkar et al. 2016, SQuAD, arXiv:1606.05250, and its script evaluate-v1.1.py"
SQUAD_FIELDS = ("response", "reference")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_SMALL_YO = str.maketrans("ё", "е")
_HALF_WIDTH = {code + 0xFEE0: chr(code) for code in range(128) if chr(code).isalnum()}


def is_russian(sample: Sample) -> bool:
    """Whether the sample is normalized as Russian: its language says so, or its reference has a Cyrillic letter."""
    if sample.language is not None:
        return sample.language.casefold().startswith("ru")
    return any("CYRILLIC" in unicodedata.name(letter, "") for letter in sample.reference or "" if not letter.isascii())


def normalized(text: str, *, russian: bool) -> str:
    """A text as SQuAD's script compares it: lower case, without ASCII punctuation and English articles, white space
    folded; beyond it letters and digits of full width are as others, and İ is i. russian: without any punctuation, ё as
    е, and articles, of which Russian has none, stay words. Of a text in a script without blanks between words all
    punctuation goes, too, as in MLQA's script (Lewis et al. 2020).
    """
    lowered = unicodedata.normalize("NFC", text).translate(_HALF_WIDTH).lower().replace(DOTTED, "i")
    if russian or is_unspaced(lowered):
        kept = (sign for sign in lowered.translate(_SMALL_YO) if unicodedata.category(sign)[0] != "P")
        return " ".join("".join(kept).translate(_PUNCTUATION).split())
    return " ".join(_ARTICLES.sub(" ", lowered.translate(_PUNCTUATION)).split())


@metric(
    former=("squad_f1", "f1_token"),
    source=SOURCE,
    fields=SQUAD_FIELDS,
    formula="2 P R / (P + R); P, R = words that both have, counted as often as both have them / words of the answer, "
    "of the reference",
    edges="A reference without words is unmeasured; an answer without words, or an empty one, shares nothing and "
    "gets 0.",
    differs="In SQuAD's normalization: no punctuation, no English articles. Russian texts lose all punctuation and no "
    "articles, and ё is е. Letters and digits of full width are as others, and İ is i, which SQuAD's script keeps "
    "apart. Of scripts without blanks between words each character is one, as MLQA's script has it for "
    "Chinese. ROUGE-1 keeps articles and parts words at hyphens. SQuAD's script gives 0 where nothing of "
    "a reference is left.",
    when=("Short answers with right wordings, compared with published numbers of SQuAD and its like.",),
)
@best_of_references
@measured
async def token_f1(sample: Sample) -> Score:
    """F1 of the words that answer and reference share, 0 to 1, as SQuAD's script counts it."""
    inquiry = Inquiry(sample, None, *SQUAD_FIELDS, empty=0.0)
    russian = is_russian(sample)
    given = (sample.response, sample.reference)
    answer, other = (apart(normalized(text or "", russian=russian)).split() for text in given)
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
