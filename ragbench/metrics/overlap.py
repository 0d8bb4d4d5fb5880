"""Words that the answer shares with the reference, in order or not: ROUGE and BLEU of single answers and of whole sets.

rouge-score and sacrebleu are the reference: the values are theirs. Where many answers are measured, `Overlap` counts
all of them at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from ragbench import segmentation
from ragbench.metric import Metric, Peer, Reading, Stretch, metric
from ragbench.metrics.explanation import sentence
from ragbench.metrics.inquiry import Inquiry, measured
from ragbench.metrics.overlap_totals import (
    HUNDRED,
    ORDERS,
    Overlap,
    bleu_of,
    bleu_row,
    corpus_signature,
    f_of,
    rouge_row,
    sentence_signature,
)
from ragbench.metrics.overlap_words import BleuTokenizer, WordTokenizer
from ragbench.types import Array, Sample, Score, Status
from ragbench.types.reason import Reason

FIELDS = ("response", "reference")
Smooth = Literal["exp", "floor", "add-k", "none"]
SMOOTHS: tuple[Smooth, ...] = get_args(Smooth)
MOST_ORDERS = 9
Mode = Literal["f1", "precision", "recall"]
MODES: tuple[Mode, ...] = get_args(Mode)
_LIN = "Lin 2004, ROUGE: A package for automatic evaluation of summaries, ACL; as rouge-score computes it"
_PAPINENI = "Papineni et al. 2002, BLEU, ACL; Post 2018, A call for clarity in reporting BLEU scores, WMT (sacrebleu)"


_ROUGE_EDGE = (
    "A reference without words is unmeasured; an answer without words, or an empty one, shares nothing and gets 0."
)
_BLEU_PARTS = (
    "pₙ = shared n-grams / n-grams of the answer, 1 / (2ʲ · n-grams of the answer) at the j-th n that shares none; "
    "BP = min(1, exp(1 − r/c)); c, r = words of the answer, of the reference"
)
_BLEU_READING = Reading(
    ("100: the same text, hardly ever reached.",),
    "the specification, section 5.5.4",
    bands=(
        Stretch(0.0, 20.0, "much to improve"),
        Stretch(20.0, 40.0, "acceptable", ends="[]"),
        Stretch(50.0, 100.0, "very good", "for machine translation", ends="(]"),
    ),
    trust=(
        "Medium to low for answers: it sees no meaning, depends on the very wording, punishes valid paraphrases, and "
        "is least fit for open tasks."
    ),
)
_CORPUS_DIFF = (
    "Made from counts summed over all answers; the mean of the answers' own values is another number, under its own"
    " name."
)
_of_corpus = partial(metric, source=_LIN, over="set", fields=FIELDS, edges=_ROUGE_EDGE, differs=_CORPUS_DIFF)
_ROUGE_DIFF = (
    "Words of every alphabet count. The usual tokenizer deletes Cyrillic: a Russian text compared with itself gets "
    "0 there, and 1 here. Where a script puts no blanks between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese), "
    "each character is a word."
)


@metric(
    source=_LIN,
    fields=FIELDS,
    published="avg_rouge1_f",
    formula="2 P R / (P + R) over words",
    edges=_ROUGE_EDGE,
    differs=_ROUGE_DIFF,
    reading=Reading(
        ("A high ROUGE does not guarantee that the meaning is right.",),
        "the specification, section 5.5.3",
        bands=(Stretch(0.4, 1.0, "acceptable", "for short texts", ends="(]"),),
        trust=(
            "Medium: widely used, but it sees shared words and not meaning, punishes other wording, and "
            "does not always go with what people say."
        ),
        under=("stem",),
    ),
    when=("A cheap comparison with the reference that anyone can repeat.",),
    peers=(Peer("rouge-score", 0, "random and real texts"),),
)
@measured
async def rouge1_f(sample: Sample, *, stem: bool = False, mode: Mode = "f1") -> Score:
    """ROUGE-1: harmonic mean of the shares of the answer's and the reference's words that both have, 0 to 1.

    Words of any alphabet after NFKC and casefold. stem: compare Snowball stems (Russian, English by alphabet).
    mode: f1; precision is the share of the answer's words that are shared, recall that of the reference's.
    A reference without words is unmeasured (`empty_input`); an answer without words shares nothing.
    """
    return _rouge(sample, "1", stem, mode)


@metric(
    source=_LIN,
    fields=FIELDS,
    published="avg_rouge2_f",
    formula="2 P R / (P + R) over pairs of neighbouring words",
    edges=_ROUGE_EDGE,
    differs=_ROUGE_DIFF,
    when=("As rouge1_f, where the order of neighbouring words matters.",),
    peers=(Peer("rouge-score", 0, "random and real texts"),),
)
@measured
async def rouge2_f(sample: Sample, *, stem: bool = False, mode: Mode = "f1") -> Score:
    """ROUGE-2: the same as ROUGE-1 over pairs of neighbouring words, 0 to 1.

    stem, mode: as of ROUGE-1. A reference of a single word has no pair: unmeasured (`empty_input`).
    """
    return _rouge(sample, "2", stem, mode)


@metric(
    former=("rouge_score",),
    source=_LIN,
    fields=FIELDS,
    published="avg_rougeL_f",
    formula="2 P R / (P + R) over the longest common sequence of words",
    edges=_ROUGE_EDGE,
    differs=_ROUGE_DIFF,
    reading=Reading(
        ("A high ROUGE does not guarantee that the meaning is right.",),
        "the specification, section 5.5.3",
        bands=(Stretch(0.5, 1.0, "good", ends="(]"),),
        trust=(
            "Medium: widely used, but it sees shared words and not meaning, punishes other wording, and "
            "does not always go with what people say."
        ),
        under=("stem",),
    ),
    when=("As rouge1_f, where the order of words matters.",),
    peers=(Peer("rouge-score", 0, "random and real texts"),),
)
@measured
async def rougeL_f(sample: Sample, *, stem: bool = False, mode: Mode = "f1") -> Score:  # noqa: N802 - the specification's name
    """ROUGE-L: the same as ROUGE-1 over the longest sequence of words that both have in this order, 0 to 1.

    stem, mode: as of ROUGE-1.
    """
    return _rouge(sample, "L", stem, mode)


@metric(
    former=("bleu_score",),
    source=_PAPINENI,
    bounds=(0.0, HUNDRED),
    fields=FIELDS,
    published="avg_bleu",
    formula="100 · BP · (p₁ ⋯ pₘ)^(1/m), m = min(4, c); " + _BLEU_PARTS,
    edges=(
        "An empty reference is unmeasured; a perfect answer of two words gets 100, one that shares no word with the "
        "reference, or an empty one, 0."
    ),
    differs=(
        "With effective order; without it a perfect two-word answer gets 0. The mean over answers is not corpus BLEU."
    ),
    signed=sentence_signature,
    reading=_BLEU_READING,
    when=("Comparing with published numbers, above all of translation.",),
    peers=(Peer("sacrebleu", 0, "random and real texts"),),
)
@measured
async def bleu(
    sample: Sample,
    *,
    tokenize: str = "13a",
    lowercase: bool = False,
    orders: int = 4,
    smooth: Smooth = "exp",
    smooth_value: float | None = None,
) -> Score:
    """Sentence BLEU of the answer against the reference, 0 to 100, by sacrebleu with effective order.

    tokenize: sacrebleu's tokenizer: 13a, intl, char, zh, none. lowercase: letter case does not count.
    orders: the longest run of words that counts.
    smooth: what a run of which none is shared counts for: exp a half, a quarter, … of one, as the formula says; floor
        smooth_value of one (0.1 as usual); add-k adds smooth_value (1 as usual) to both counts of the longer runs; none
        makes the whole value 0.
    `detail["signature"]` is sacrebleu's, with "unspaced:characters" behind it where 13a or intl met a script without
    blanks between words, whose characters are words here. The mean over answers is not the corpus value: see
    `corpus_bleu`.
    """
    _check_bleu(orders, smooth, smooth_value)
    inquiry = Inquiry(sample, None, *FIELDS, empty=0.0)
    tokenizer = BleuTokenizer(tokenize, lowercase=lowercase)
    row = bleu_row(sample.response or "", sample.reference or "", tokenizer, range(1, orders + 1))
    shared, there = row[2 : 2 + orders], row[2 + orders :]
    value = _smoothed(row, orders, smooth, smooth_value)
    matched = ", ".join(f"{int(m)}/{int(t)}" for m, t in zip(shared, there, strict=True))
    said = sentence(
        "BLEU {value} of 100; shared runs of 1 to {orders} words: {matched}; words in the answer {answered}, in the "
        "reference {known}.",
        value=value, orders=orders, matched=matched, answered=int(row[0]), known=int(row[1]),
    )  # fmt: skip
    signature = sentence_signature(tokenize, lowercase, orders, smooth, smooth_value)
    texts = (sample.response or "", sample.reference or "")
    if tokenize in ("13a", "intl") and any(map(segmentation.is_unspaced, texts)):
        signature += "|unspaced:characters"
    return inquiry.score(value, [said], signature=signature, counts=row.tolist())


def _smoothed(row: Array, orders: int, smooth: str, smooth_value: float | None) -> float:
    """As usual by the function that makes whole sets' values, too; otherwise sacrebleu's own."""
    if (orders, smooth) == (len(ORDERS), "exp"):
        return float(bleu_of(row[None], effective_order=True)[0])
    from sacrebleu.metrics.bleu import BLEU

    counts = [int(each) for each in row]
    found = BLEU.compute_bleu(
        correct=counts[2 : 2 + orders],
        total=counts[2 + orders :],
        sys_len=counts[0],
        ref_len=counts[1],
        smooth_method=smooth,
        smooth_value=smooth_value,
        effective_order=True,
        max_ngram_order=orders,
    )
    return float(found.score)


def _check_bleu(orders: object, smooth: str, value: float | None) -> None:
    if not (isinstance(orders, int) and not isinstance(orders, bool) and 1 <= orders <= MOST_ORDERS):
        raise ValueError(f"bleu: orders = {orders!r}; it is a whole number from 1 to {MOST_ORDERS}, 4 as usual")
    if smooth not in SMOOTHS:
        raise ValueError(f"bleu: smooth = {smooth!r}; it is {', '.join(SMOOTHS)}")
    if value is not None and (smooth not in ("floor", "add-k") or isinstance(value, bool) or not 0 < value < math.inf):
        raise ValueError(f"bleu: smooth_value = {value!r}; it is a number above 0, of smooth = floor or add-k alone")


def _rouge(sample: Sample, kind: str, stem: bool, mode: str) -> Score:
    if mode not in MODES:
        raise ValueError(f"rouge{kind}_f: mode = {mode!r}; it is {', '.join(MODES)}")
    inquiry = Inquiry(sample, None, "reference")
    row = rouge_row(sample.response or "", sample.reference or "", WordTokenizer(stem=stem), kind)
    shared, answered, known = (int(number) for number in row)
    if not known:
        one, two = Reason("the reference has no word"), Reason("the reference has no pair of words")
        raise inquiry.unmeasured(Status.EMPTY_INPUT, two if kind == "2" else one)
    inquiry.check("response", empty=0.0)
    f1 = float(f_of(row[None])[0])
    precision, recall = shared / max(answered, 1), shared / known
    value = {"f1": f1, "precision": precision, "recall": recall}[mode]
    said = sentence(
        "Shared {shared}, in the answer {answered}, in the reference {known}; precision {precision}, recall {recall}, "
        "F {value}.",
        shared=shared, answered=answered, known=known, precision=precision, recall=recall, value=f1,
    )  # fmt: skip
    return inquiry.score(value, [said], shared=shared, precision=precision, recall=recall)


@_of_corpus(
    formula="2 P R / (P + R), over words counted over all answers",
    when=("Where long answers are to count for more than short ones.",),
)
def corpus_rouge1_f(table: Sequence[Sample], *, stem: bool = False) -> float:
    """ROUGE-1 of all answers together: words that are shared, summed over answers, before the shares are taken."""
    return _whole(corpus_rouge1_f, table, stem=stem)


@_of_corpus(
    formula="2 P R / (P + R), over pairs of words counted over all answers",
    when=("Where long answers are to count for more than short ones.",),
)
def corpus_rouge2_f(table: Sequence[Sample], *, stem: bool = False) -> float:
    """ROUGE-2 of all answers together, from the summed counts of pairs of words."""
    return _whole(corpus_rouge2_f, table, stem=stem)


@_of_corpus(
    formula="2 P R / (P + R), over lengths of common sequences summed over all answers",
    when=("Where long answers are to count for more than short ones.",),
)
def corpus_rougeL_f(table: Sequence[Sample], *, stem: bool = False) -> float:  # noqa: N802 - the specification's name
    """ROUGE-L of all answers together, from the summed lengths of common sequences."""
    return _whole(corpus_rougeL_f, table, stem=stem)


@metric(
    source=_PAPINENI,
    over="set",
    bounds=(0.0, HUNDRED),
    fields=FIELDS,
    formula="100 · BP · (p₁ p₂ p₃ p₄)^¼, c, r and all counts summed over all answers; " + _BLEU_PARTS,
    edges="An empty reference is unmeasured; 0 where no answer has four words or none shares one with its reference.",
    differs=_CORPUS_DIFF,
    signed=corpus_signature,
    reading=_BLEU_READING,
    when=("Comparing with published BLEU, which is of a whole set.",),
    peers=(Peer("sacrebleu", 1e-9, "random and real texts"),),
)
def corpus_bleu(table: Sequence[Sample], *, tokenize: str = "13a", lowercase: bool = False) -> float:
    """BLEU of all answers together, 0 to 100, as sacrebleu's corpus score; not the mean of sentence BLEU."""
    return _whole(corpus_bleu, table, tokenize=tokenize, lowercase=lowercase)


CORPUS = (corpus_rouge1_f, corpus_rouge2_f, corpus_rougeL_f, corpus_bleu)


def sufficient(metric: Metric, samples: Sequence[Sample]) -> Array:
    """(samples, columns) what each sample adds to the totals that a corpus measure is made of; NaN: unmeasured.

    Raises ValueError for a metric that is not one of CORPUS.
    """
    _check(metric)
    if metric.name == corpus_bleu.name:
        return Overlap.of(samples, BleuTokenizer(**metric.options)).bleu
    return Overlap.of(samples, WordTokenizer(**metric.options)).rouge(metric.name.removeprefix("corpus_rouge")[0])


def statistic(metric: Metric) -> Callable[[Array], Array]:
    """(…, columns) totals → (…,) values of a corpus measure: what `ragbench.stats.resample` takes."""
    _check(metric)
    return bleu_of if metric.name == corpus_bleu.name else f_of


def _check(metric: Metric) -> None:
    names = [each.name for each in CORPUS]
    if metric.name not in names:
        raise ValueError(f"{metric.label} is no corpus measure of texts; they are {', '.join(names)}")


def _whole(metric: Metric, samples: Sequence[Sample], **options: Any) -> float:
    rows = sufficient(metric.with_options(**options), samples)
    present = rows[~np.isnan(rows).any(axis=1)]
    return float(statistic(metric)(present.sum(axis=0)[None])[0]) if len(present) else math.nan
