"""Words that the answer shares with the reference, in order or not: ROUGE and BLEU of single answers and of whole sets.

rouge-score and sacrebleu are the reference: the values are theirs. Where many answers are measured, `Overlap` counts
all of them at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ragbench.metric import Metric, metric
from ragbench.metrics.explanation import sentence
from ragbench.metrics.inquiry import Inquiry, is_blank, measured
from ragbench.metrics.overlap_counts import shared_grams, subsequences, totals
from ragbench.metrics.overlap_words import BleuTokenizer, Vocabulary, WordTokenizer
from ragbench.types import Array, Sample, Score, Status

FIELDS = ("response", "reference")
HUNDRED = 100.0
ORDERS = (1, 2, 3, 4)
_LIN = "Lin 2004, ROUGE: A package for automatic evaluation of summaries, ACL; as rouge-score computes it"
_PAPINENI = "Papineni et al. 2002, BLEU, ACL; Post 2018, A call for clarity in reporting BLEU scores, WMT (sacrebleu)"


_ROUGE_EDGE = "A reference without words is unmeasured; an answer without words shares nothing and gets 0."
_CORPUS_DIFF = (
    "Made from counts summed over all answers; the mean of the answers' own values is another number, under its own"
    " name."
)
_ROUGE_DIFF = (
    "Words of every alphabet count. The usual tokenizer deletes Cyrillic: a Russian text compared with itself gets "
    "0 there, and 1 here."
)


@metric(
    source=_LIN,
    fields=FIELDS,
    published="avg_rouge1_f",
    formula="2 P R / (P + R) over words",
    edges=_ROUGE_EDGE,
    differs=_ROUGE_DIFF,
)
@measured
async def rouge1_f(sample: Sample, *, stem: bool = False) -> Score:
    """ROUGE-1: harmonic mean of the shares of the answer's and the reference's words that both have, 0 to 1.

    Words of any alphabet after NFKC and casefold. stem: compare Snowball stems (Russian, English by alphabet).
    A reference without words is unmeasured (`empty_input`); an answer without words shares nothing.
    """
    return _rouge(Inquiry(sample, None, *FIELDS), "1", stem)


@metric(
    source=_LIN,
    fields=FIELDS,
    published="avg_rouge2_f",
    formula="2 P R / (P + R) over pairs of neighbouring words",
    edges=_ROUGE_EDGE,
    differs=_ROUGE_DIFF,
)
@measured
async def rouge2_f(sample: Sample, *, stem: bool = False) -> Score:
    """ROUGE-2: the same as ROUGE-1 over pairs of neighbouring words, 0 to 1.

    A reference of a single word has no pair: unmeasured (`empty_input`).
    """
    return _rouge(Inquiry(sample, None, *FIELDS), "2", stem)


@metric(
    source=_LIN,
    fields=FIELDS,
    published="avg_rougeL_f",
    formula="2 P R / (P + R) over the longest common sequence of words",
    edges=_ROUGE_EDGE,
    differs=_ROUGE_DIFF,
)
@measured
async def rougeL_f(sample: Sample, *, stem: bool = False) -> Score:  # noqa: N802 - the specification's name
    """ROUGE-L: the same as ROUGE-1 over the longest sequence of words that both have in this order, 0 to 1."""
    return _rouge(Inquiry(sample, None, *FIELDS), "L", stem)


@metric(
    source=_PAPINENI,
    bounds=(0.0, HUNDRED),
    fields=FIELDS,
    published="avg_bleu",
    formula="100 · BP · (p₁ p₂ p₃ p₄)^¼, over the orders that the answer has",
    edges="An empty reference is unmeasured; a perfect answer of two words gets 100.",
    differs=(
        "With effective order; without it a perfect two-word answer gets 0. The mean over answers is not corpus BLEU."
    ),
)
@measured
async def bleu(sample: Sample, *, tokenize: str = "13a", lowercase: bool = False) -> Score:
    """Sentence BLEU of the answer against the reference, 0 to 100, by sacrebleu with effective order.

    tokenize: sacrebleu's tokenizer: 13a, intl, char, zh, none. lowercase: letter case does not count.
    `detail["signature"]` is sacrebleu's. The mean over answers is not the corpus value: see `corpus_bleu`.
    """
    inquiry = Inquiry(sample, None, *FIELDS)
    tokenizer = BleuTokenizer(tokenize, lowercase=lowercase)
    row = Overlap([sample.response], [sample.reference], tokenizer).bleu[0]
    value = float(bleu_of(row[None], effective_order=True)[0])
    matched = ", ".join(f"{int(m)}/{int(t)}" for m, t in zip(row[2:6], row[6:], strict=True))
    said = sentence("BLEU {value} of 100; shared runs of 1 to 4 words: {matched}.", value=value, matched=matched)
    return inquiry.score(value, [said], signature=signature(tokenizer, effective_order=True), counts=row.tolist())


def _rouge(inquiry: Inquiry, kind: str, stem: bool) -> Score:
    sample = inquiry.sample
    row = Overlap([sample.response], [sample.reference], WordTokenizer(stem=stem)).rouge(kind)[0]
    shared, answered, known = (int(number) for number in row)
    if not known:
        what = "pair of words" if kind == "2" else "word"
        raise inquiry.unmeasured(Status.EMPTY_INPUT, f"the reference has no {what}")
    value = float(f_of(row[None])[0])
    precision, recall = shared / max(answered, 1), shared / known
    said = sentence(
        "Shared {shared}, in the answer {answered}, in the reference {known}; precision {precision}, recall {recall}, "
        "F {value}.",
        shared=shared, answered=answered, known=known, precision=precision, recall=recall, value=value,
    )  # fmt: skip
    return inquiry.score(value, [said], shared=shared, precision=precision, recall=recall)


@dataclass(frozen=True)
class Overlap:
    """What many answers share with their references, counted at once; rows of NaN where a text is missing or blank.

    responses, references: None where there is none. tokenizer: of ROUGE's or of BLEU's words.
    """

    responses: Sequence[str | None]
    references: Sequence[str | None]
    tokenizer: WordTokenizer | BleuTokenizer

    @classmethod
    def of(cls, samples: Sequence[Sample], tokenizer: WordTokenizer | BleuTokenizer) -> Overlap:
        """The answers and references of samples."""
        return cls([each.response for each in samples], [each.reference for each in samples], tokenizer)

    def rouge(self, kind: str) -> Array:
        """(answers, 3) shared, in the answer, in the reference: words "1", pairs of words "2", words in order "L"."""
        first, second = self._texts
        if kind == "L":
            columns = [subsequences(first, second), first.lengths, second.lengths]
        else:
            order = (int(kind),)
            columns = [
                shared_grams(first, second, order)[:, 0],
                totals(first, order)[:, 0],
                totals(second, order)[:, 0],
            ]
        return self._spread(np.column_stack(columns))

    @cached_property
    def bleu(self) -> Array:
        """(answers, 10) lengths of answer and reference, shared n-grams and n-grams of the answer, n = 1 to 4."""
        first, second = self._texts
        shared, there = shared_grams(first, second, ORDERS), totals(first, ORDERS)
        return self._spread(np.column_stack([first.lengths, second.lengths, shared, there]))

    @cached_property
    def _present(self) -> list[int]:
        pairs = zip(self.responses, self.references, strict=True)
        return [place for place, pair in enumerate(pairs) if not any(text is None or is_blank(text) for text in pair)]

    @cached_property
    def _texts(self) -> tuple[Any, Any]:
        vocabulary = Vocabulary(self.tokenizer)
        first, second = (
            vocabulary.read([side[place] or "" for place in self._present])
            for side in (self.responses, self.references)
        )
        return first, second

    def _spread(self, counted: Any) -> Array:
        table = np.full((len(self.responses), counted.shape[1]), np.nan)
        table[self._present] = counted
        return table


def f_of(totals: Array) -> Array:
    """(…, 3) shared, in the answers, in the references → (…,) F; 0 where nothing is shared, NaN without references."""
    shared, answered, known = (totals[..., column] for column in range(3))
    precision, recall = shared / np.maximum(answered, 1), shared / np.maximum(known, 1)
    both = precision + recall
    found = np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)
    return np.where(known > 0, found, np.nan)


def bleu_of(totals: Array, *, effective_order: bool = False) -> Array:
    """(…, 10) the columns of `Overlap.bleu` → (…,) BLEU, 0 to 100, with sacrebleu's exponential smoothing.

    effective_order: n-grams longer than the answer do not count, as single sentences need it.
    """
    system, reference = totals[..., 0], totals[..., 1]
    shared, there = totals[..., 2:6], totals[..., 6:10]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        brevity = np.where(
            system < reference, _each(math.exp, np.where(system > 0, 1 - reference / system, -np.inf)), 1
        )
        halvings = np.cumsum((shared <= 0) & (there > 0), axis=-1)
        precisions = np.where(shared > 0, HUNDRED * shared / there, HUNDRED / (2.0**halvings * there))
    reached = np.logical_and.accumulate(there > 0, axis=-1)
    logs = np.where(reached, _each(math.log, np.where(reached, precisions, 1.0)), 0.0 if effective_order else -np.inf)
    count = np.maximum(reached.sum(axis=-1), 1) if effective_order else len(ORDERS)
    mean = (((logs[..., 0] + logs[..., 1]) + logs[..., 2]) + logs[..., 3]) / count
    found = np.where((shared > 0).any(axis=-1), brevity * _each(math.exp, mean), 0.0)
    return np.where(np.isnan(totals).any(axis=-1), np.nan, found)


def _each(function: Callable[[float], float], values: Array) -> Array:
    """The mathematical library's function of every value: numpy's may differ from it in the last digit."""
    return np.array(list(map(function, values.ravel())), dtype=np.float64).reshape(values.shape)


@lru_cache(maxsize=64)
def _signature(tokenize: str, lowercase: bool, effective_order: bool) -> str:
    from sacrebleu.metrics.bleu import BLEU

    scorer = BLEU(tokenize=tokenize, lowercase=lowercase, effective_order=effective_order)
    scorer.num_refs = 1
    return str(scorer.get_signature())


def signature(tokenizer: BleuTokenizer, *, effective_order: bool) -> str:
    """sacrebleu's signature of a BLEU: what another must set to get the same number."""
    return _signature(tokenizer.name, tokenizer.lowercase, effective_order)


@metric(
    source=_LIN,
    over="set",
    fields=FIELDS,
    formula="2 P R / (P + R), over words counted over all answers",
    edges=_ROUGE_EDGE,
    differs=_CORPUS_DIFF,
)
def corpus_rouge1_f(table: Sequence[Sample], *, stem: bool = False) -> float:
    """ROUGE-1 of all answers together: words that are shared, summed over answers, before the shares are taken."""
    return _whole(corpus_rouge1_f, table, stem=stem)


@metric(
    source=_LIN,
    over="set",
    fields=FIELDS,
    formula="2 P R / (P + R), over pairs of words counted over all answers",
    edges=_ROUGE_EDGE,
    differs=_CORPUS_DIFF,
)
def corpus_rouge2_f(table: Sequence[Sample], *, stem: bool = False) -> float:
    """ROUGE-2 of all answers together, from the summed counts of pairs of words."""
    return _whole(corpus_rouge2_f, table, stem=stem)


@metric(
    source=_LIN,
    over="set",
    fields=FIELDS,
    formula="2 P R / (P + R), over lengths of common sequences summed over all answers",
    edges=_ROUGE_EDGE,
    differs=_CORPUS_DIFF,
)
def corpus_rougeL_f(table: Sequence[Sample], *, stem: bool = False) -> float:  # noqa: N802 - the specification's name
    """ROUGE-L of all answers together, from the summed lengths of common sequences."""
    return _whole(corpus_rougeL_f, table, stem=stem)


@metric(
    source=_PAPINENI,
    over="set",
    bounds=(0.0, HUNDRED),
    fields=FIELDS,
    formula="100 · BP · (p₁ p₂ p₃ p₄)^¼, over counts summed over all answers",
    edges=_ROUGE_EDGE,
    differs=_CORPUS_DIFF,
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
