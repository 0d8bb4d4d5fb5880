"""Words that the answer shares with the reference, in order or not: ROUGE and BLEU of single answers and of whole sets.

ROUGE is computed by rouge-score's port to Rust of words that are cut here, BLEU by sacrebleu; a whole set's value is
made from what they counted of each answer.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt, Le
from rouge_score_rs.rouge_scorer import RougeScorer

from ragbench.old.core import segmentation
from ragbench.old.core.metric import Metric, Peer, Reading, Stretch, metric
from ragbench.old.core.types import Array, Sample, Score, Status
from ragbench.old.core.types.reason import Reason
from ragbench.old.metrics import references
from ragbench.old.metrics.explanation import sentence
from ragbench.old.metrics.inquiry import Inquiry, is_blank, measured
from ragbench.old.metrics.references import best_of_references, counts_together

if TYPE_CHECKING:
    from rouge_score_rs.scoring import Score as RougeScore
    from sacrebleu.metrics.bleu import BLEU

HUNDRED = 100.0  # sacrebleu counts in percent
ORDERS = 4  # BLEU-4, the order that Papineni et al. 2002 found to agree best with people
Tokenizer = Literal["13a", "intl", "char", "zh", "none"]
"""Of sacrebleu's tokenizers those that need no model from the net."""
FIELDS = ("response", "reference")
Smooth = Literal["exp", "floor", "add-k", "none"]
MOST_ORDERS = 9  # longer ones of an answer hardly ever recur in a reference
Mode = Literal["f1", "precision", "recall"]
_LIN = "Lin 2004, ROUGE: A package for automatic evaluation of summaries, ACL; as rouge-score computes it"
_PAPINENI = "Papineni et al. 2002, BLEU, ACL; Post 2018, A call for clarity in reporting BLEU scores, WMT (sacrebleu)"


def _refuse(smooth: str = "exp", smooth_value: float | None = None, **_others: object) -> None:
    if smooth_value is not None and smooth not in ("floor", "add-k"):
        raise ValueError(f"bleu: smooth_value = {smooth_value}: it is of smooth = floor or add-k alone")


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


def sentence_signature(
    tokenize: str = "13a",
    lowercase: bool = False,
    orders: int = ORDERS,
    smooth: str = "exp",
    smooth_value: float | None = None,
) -> str:
    """sacrebleu's signature of sentence BLEU: what another must set to get the same number; behind it the longest
    n-gram, which sacrebleu leaves out, where it is not 4."""
    return _signature(True, tokenize, lowercase, orders, smooth, smooth_value)


def corpus_signature(tokenize: str = "13a", lowercase: bool = False) -> str:
    """sacrebleu's signature of corpus BLEU."""
    return _signature(False, tokenize, lowercase)


@lru_cache(maxsize=64)
def _signature(effective_order: bool, *options: Any) -> str:
    scorer = _bleu_scorer(*options, effective_order=effective_order)
    scorer.num_refs = 1
    return str(scorer.get_signature()) + (f"|order:{scorer.max_ngram_order}" * (scorer.max_ngram_order != ORDERS))


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
@best_of_references
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
@best_of_references
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
@best_of_references
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
    refuse=_refuse,
    reading=_BLEU_READING,
    when=("Comparing with published numbers, above all of translation.",),
    peers=(Peer("sacrebleu", 0, "random and real texts"),),
)
@counts_together
@measured
async def bleu(
    sample: Sample,
    *,
    tokenize: Tokenizer = "13a",
    lowercase: bool = False,
    orders: Annotated[int, Ge(1), Le(MOST_ORDERS)] = ORDERS,
    smooth: Smooth = "exp",
    smooth_value: Annotated[float, Gt(0)] | None = None,
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
    inquiry = Inquiry(sample, None, *FIELDS, empty=0.0)
    texts = (sample.response or "", *references.of(sample))
    row = bleu_row(texts[0], texts[1:], tokenize, lowercase, orders)
    shared, there = row[2 : 2 + orders], row[2 + orders :]
    scorer = _bleu_scorer(tokenize, lowercase, orders, smooth, smooth_value)
    # add-k writes what it adds into the counts: it is given copies
    value = float(
        scorer.compute_bleu(
            shared[:], there[:], row[0], row[1], smooth, smooth_value, effective_order=True, max_ngram_order=orders
        ).score
    )
    said = sentence(
        "BLEU {value} of 100; shared runs of 1 to {orders} words: {matched}; words in the answer {answered}, in the "
        "reference {known}.",
        value=value, orders=orders, matched=", ".join(f"{m}/{t}" for m, t in zip(shared, there, strict=True)),
        answered=row[0], known=row[1],
    )  # fmt: skip
    signature = sentence_signature(tokenize, lowercase, orders, smooth, smooth_value)
    if tokenize in ("13a", "intl") and any(map(segmentation.is_unspaced, texts)):
        signature += "|unspaced:characters"
    return inquiry.score(value, [said], signature=signature, counts=[float(number) for number in row])


def bleu_row(
    response: str, known: Sequence[str], tokenize: str = "13a", lowercase: bool = False, orders: int = ORDERS
) -> list[int]:
    """[2 + 2 · orders] what sacrebleu counts: lengths of answer and reference, shared n-grams, n-grams of the answer.

    known: the references; of several an n-gram is shared as often as one of them has it, and the length is that of the
    one that is nearest to the answer's.
    Texts are compared in NFC. 13a and intl know no words of scripts without blanks: there each character is one, as in
    sacrebleu's zh, see `ragbench.old.core.segmentation.apart`.
    """
    texts = [unicodedata.normalize("NFC", text) for text in (response, *known)]
    if tokenize in ("13a", "intl"):
        texts = [segmentation.apart(text) for text in texts]
    bleu = _bleu_scorer(tokenize, lowercase, orders).sentence_score(texts[0], texts[1:])
    return [bleu.sys_len, bleu.ref_len, *bleu.counts, *bleu.totals]


@lru_cache(maxsize=64)
def _bleu_scorer(
    tokenize: str = "13a",
    lowercase: bool = False,
    orders: int = ORDERS,
    smooth: str = "exp",
    smooth_value: float | None = None,
    *,
    effective_order: bool = True,
) -> BLEU:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(lowercase, False, tokenize, smooth, smooth_value, orders, effective_order)


def _rouge(sample: Sample, kind: str, stem: bool, mode: str) -> Score:
    inquiry = Inquiry(sample, None, "reference")
    rouge, (shared, answered, known) = _shared(sample.response or "", sample.reference or "", kind, stem=stem)
    if not known:
        no_word, two = Reason("the reference has no word"), Reason("the reference has no pair of words")
        raise inquiry.unmeasured(Status.EMPTY_INPUT, two if kind == "2" else no_word)
    inquiry.check("response", empty=0.0)
    value = {"f1": rouge.fmeasure, "precision": rouge.precision, "recall": rouge.recall}[mode]
    said = sentence(
        "Shared {shared}, in the answer {answered}, in the reference {known}; precision {precision}, recall {recall}, "
        "F {value}.",
        shared=shared, answered=answered, known=known, precision=rouge.precision, recall=rouge.recall,
        value=rouge.fmeasure,
    )  # fmt: skip
    return inquiry.score(value, [said], shared=shared, precision=rouge.precision, recall=rouge.recall)


class WordTokenizer:
    """The words that ROUGE compares, in any alphabet: NFKC, casefold, runs of letters, digits and their marks.

    Of scripts without blanks between words each character is one: see `ragbench.old.core.segmentation.apart`.
    stem: reduce each word to its Snowball stem, Russian for words with Cyrillic letters, English for others.
    Fits rouge-score's `RougeScorer(tokenizer=...)`.
    """

    def __init__(self, *, stem: bool = False) -> None:
        self.stem = stem

    def tokenize(self, text: str) -> list[str]:
        """The words of a text, in order."""
        words = _split(segmentation.apart(unicodedata.normalize("NFKC", text).casefold()))
        return [segmentation.stem(word) for word in words] if self.stem else words


_WORD = re.compile(r"[^\W_]+")


def _split(text: str) -> list[str]:
    """Runs of letters and digits with their combining marks: a stress mark parts no word."""
    if text.isascii():
        return _WORD.findall(text)
    kept = "".join(sign if sign.isalnum() or unicodedata.category(sign) in ("Mn", "Mc") else " " for sign in text)
    return [word for word in kept.split() if _WORD.search(word)]


class _Cut:
    """Stands where the scorer takes a tokenizer: it is given words, so that they can be counted too."""

    def tokenize(self, words: list[str]) -> list[str]:
        return words


_SCORER = RougeScorer(["rouge1", "rouge2", "rougeL"], tokenizer=_Cut())


def _shared(response: str, reference: str, kind: str, *, stem: bool = False) -> tuple[RougeScore, tuple[int, int, int]]:
    """ROUGE of "1" words, "2" pairs of words, "L" words in order; and how many are shared, in the answer, and in the
    reference."""
    answered, known = (WordTokenizer(stem=stem).tokenize(text) for text in (response, reference))
    rouge = _SCORER.score(known, answered)[f"rouge{kind}"]
    lengths = [max(len(words) - (kind == "2"), 0) for words in (answered, known)]
    return rouge, (round(rouge.recall * lengths[1]), lengths[0], lengths[1])


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
def corpus_bleu(table: Sequence[Sample], *, tokenize: Tokenizer = "13a", lowercase: bool = False) -> float:
    """BLEU of all answers together, 0 to 100, as sacrebleu's corpus score; not the mean of sentence BLEU."""
    return _whole(corpus_bleu, table, tokenize=tokenize, lowercase=lowercase)


CORPUS = (corpus_rouge1_f, corpus_rouge2_f, corpus_rougeL_f, corpus_bleu)


def sufficient(metric: Metric, samples: Sequence[Sample]) -> Array:
    """(samples, columns) what each sample adds to the totals that a corpus measure is made of; NaN: unmeasured.

    Raises ValueError for a metric that is not one of CORPUS.
    """
    _check(metric)

    def row(response: str, known: Sequence[str]) -> Sequence[int]:
        if metric.name == corpus_bleu.name:
            return bleu_row(response, known, **metric.options)
        kind = metric.name.removeprefix("corpus_rouge")[0]
        return max((_shared(response, reference, kind, **metric.options) for reference in known), key=_f)[1]

    table = np.full((len(samples), len(row("", [""]))), np.nan)
    for place, sample in enumerate(samples):
        if sample.response is not None and sample.reference is not None and not is_blank(sample.reference):
            table[place] = row(sample.response, references.of(sample))
    return table


def _f(shared: tuple[RougeScore, Any]) -> float:
    return float(shared[0].fmeasure)


def statistic(metric: Metric) -> Callable[[Array], Array]:
    """(…, columns) totals → (…,) values of a corpus measure: what `ragbench.old.stats.resample` takes."""
    _check(metric)
    return bleu_of if metric.name == corpus_bleu.name else f_of


def f_of(totals: Array) -> Array:
    """(…, 3) shared, in the answers, in the references → (…,) F; 0 where nothing is shared, NaN without references."""
    shared, answered, known = (totals[..., column] for column in range(3))
    precision, recall = shared / np.maximum(answered, 1), shared / np.maximum(known, 1)
    f_values = 2 * precision * recall / np.where(shared > 0, precision + recall, 1)
    return np.where(known > 0, f_values, np.nan)


def bleu_of(totals: Array) -> Array:
    """(…, 10) sums of the rows of corpus BLEU → (…,) BLEU, 0 to 100, as sacrebleu makes it of its counts.

    sacrebleu's own function takes one row at a time and whole numbers alone: influences are of parts of a sentence.
    """
    answered, known, shared, there = totals[..., 0], totals[..., 1], totals[..., 2:6], totals[..., 6:]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        brevity = np.minimum(1, np.exp(1 - known / answered))
        # sacrebleu's "exp" smoothing: each order without a match counts half as much as the one before
        missed = 0.5 ** np.cumsum(shared <= 0, axis=-1)
        bleu = HUNDRED * brevity * np.exp(np.log(np.where(shared > 0, shared, missed) / there).mean(axis=-1))
    bleu = np.where((shared > 0).any(axis=-1) & (there > 0).all(axis=-1), bleu, 0.0)
    return np.where(np.isnan(totals).any(axis=-1), np.nan, bleu)


def _check(metric: Metric) -> None:
    names = [each.name for each in CORPUS]
    if metric.name not in names:
        raise ValueError(f"{metric.label} is no corpus measure of texts; they are {', '.join(names)}")


def _whole(metric: Metric, samples: Sequence[Sample], **options: Any) -> float:
    rows = sufficient(metric.with_options(**options), samples)
    present = rows[~np.isnan(rows).any(axis=1)]
    return float(statistic(metric)(present.sum(axis=0)[None])[0]) if len(present) else math.nan
