"""What answers share with their references: counts that add up over answers, and the values made from such counts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ragbench.metrics.inquiry import is_blank
from ragbench.metrics.overlap_counts import common_subsequence, shared_grams, subsequences, totals
from ragbench.metrics.overlap_words import BleuTokenizer, Numbers, Texts, Vocabulary, WordTokenizer
from ragbench.types import Array, Sample

HUNDRED = 100.0
ORDERS = (1, 2, 3, 4)


@dataclass(frozen=True)
class Overlap:
    """What many answers share with their references, counted at once; rows of NaN where a text is missing, or the
    reference blank. A blank answer shares nothing.

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
        return [
            place
            for place, (response, reference) in enumerate(pairs)
            if response is not None and reference is not None and not is_blank(reference)
        ]

    @cached_property
    def _texts(self) -> tuple[Texts, Texts]:
        vocabulary = Vocabulary(self.tokenizer)
        first, second = (
            vocabulary.read([side[place] or "" for place in self._present])
            for side in (self.responses, self.references)
        )
        return first, second

    def _spread(self, counted: Numbers) -> Array:
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
        # sacrebleu's "exp" smoothing: each order without a match counts half as much as the one before
        halvings = np.cumsum((shared <= 0) & (there > 0), axis=-1)
        precisions = np.where(shared > 0, HUNDRED * shared / there, HUNDRED / (2.0**halvings * there))
    reached = np.logical_and.accumulate(there > 0, axis=-1)
    logs = np.where(reached, _each(math.log, np.where(reached, precisions, 1.0)), 0.0 if effective_order else -np.inf)
    count = np.maximum(reached.sum(axis=-1), 1) if effective_order else len(ORDERS)
    # sacrebleu's own addition: from Python 3.12 on `sum` carries along what rounding drops
    mean = np.array([sum(row) for row in logs.reshape(-1, logs.shape[-1]).tolist()]).reshape(logs.shape[:-1]) / count
    found = np.where((shared > 0).any(axis=-1), brevity * _each(math.exp, mean), 0.0)
    return np.where(np.isnan(totals).any(axis=-1), np.nan, found)


def _each(function: Callable[[float], float], values: Array) -> Array:
    """The mathematical library's function of every value: numpy's may differ from it in the last digit."""
    return np.array(list(map(function, values.ravel())), dtype=np.float64).reshape(values.shape)


@lru_cache(maxsize=64)
def _signature(effective_order: bool, orders: int = 4, **settings: Any) -> str:
    from sacrebleu.metrics.bleu import BLEU

    scorer = BLEU(effective_order=effective_order, max_ngram_order=orders, **settings)
    scorer.num_refs = 1
    return str(scorer.get_signature()) + (f"|order:{orders}" if orders != len(ORDERS) else "")


def sentence_signature(
    tokenize: str = "13a",
    lowercase: bool = False,
    orders: int = 4,
    smooth: str = "exp",
    smooth_value: float | None = None,
) -> str:
    """sacrebleu's signature of sentence BLEU: what another must set to get the same number; behind it the longest
    n-gram, which sacrebleu leaves out, where it is not 4."""
    smoothed = {"smooth_method": smooth, "smooth_value": smooth_value}
    return _signature(True, orders, tokenize=tokenize, lowercase=lowercase, **smoothed)


def corpus_signature(tokenize: str = "13a", lowercase: bool = False) -> str:
    """sacrebleu's signature of corpus BLEU."""
    return _signature(False, tokenize=tokenize, lowercase=lowercase)


def rouge_row(response: str, reference: str, tokenizer: WordTokenizer, kind: str) -> Array:
    """(3,) the row of `Overlap.rouge` for one pair, without the detour that pays for many."""
    first, second = tokenizer.tokenize(response), tokenizer.tokenize(reference)
    if kind == "L":
        return np.array([common_subsequence(first, second), len(first), len(second)], dtype=np.float64)
    order = int(kind)
    here, there = (max(len(words) - order + 1, 0) for words in (first, second))
    return np.array([_shared(first, second, order), here, there], dtype=np.float64)


def bleu_row(response: str, reference: str, tokenizer: BleuTokenizer, orders: Sequence[int] = ORDERS) -> Array:
    """(2 + 2 · orders,) the row of `Overlap.bleu` for one pair."""
    first, second = tokenizer.tokenize(response), tokenizer.tokenize(reference)
    shared = [_shared(first, second, order) for order in orders]
    there = [max(len(first) - order + 1, 0) for order in orders]
    return np.array([len(first), len(second), *shared, *there], dtype=np.float64)


def _shared(first: Sequence[str], second: Sequence[str], order: int) -> int:
    one, other = (Counter(zip(*(words[start:] for start in range(order)), strict=False)) for words in (first, second))
    return sum(min(count, other[gram]) for gram, count in one.items() if gram in other)
