"""Many ranking metrics at once, at the cost of the few kinds of ranking that there are.

Binary relevance among the first ten documents has few distinct patterns ("cells"): about 150 over 100,000 questions.
A metric of the grain `ranking` reads one row at a time, so it is computed once a cell and handed out to its questions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragbench.core.metric import Metric, parse
from ragbench.core.types import Array, Coverage, Ranking
from ragbench.metrics import ranking as _declared  # noqa: F401 - declares the metrics that labels name

_WORTH_COLLAPSING = 1_000  # questions; below, the metrics themselves cost less than finding the cells


@dataclass(frozen=True, slots=True)
class Cells:
    """The distinct rows of a ranking.

    ranking: one row a cell; its `ties` are dropped (no metric reads them).
    counts: (cells,) how many questions share the row.
    inverse: (questions,) the cell of each question.
    """

    ranking: Ranking
    counts: NDArray[np.int64]
    inverse: NDArray[np.int64]


def evaluate(
    ranking: Ranking,
    metrics: Iterable[Metric | str],
    *,
    without_relevant: Literal["unmeasured", "zero"] = "unmeasured",
) -> dict[str, Array]:
    """The values of all metrics by label, each (questions,), sharing what they have in common.

    without_relevant: what a question without relevant documents gets: NaN, or 0 as some software has it.

    Raises ValueError for a metric of another grain or an unknown label.
    """
    bound = [parse(each) if isinstance(each, str) else each for each in metrics]
    for each in bound:
        if each.grain != "ranking":
            raise ValueError(f"{each.label} works on the grain {each.grain!r}, not on a ranking")
    collapsed = cells(ranking) if len(ranking) >= _WORTH_COLLAPSING and len(bound) > 1 else None
    rows = ranking if collapsed is None else collapsed.ranking
    values = {each.label: each(rows) for each in bound}
    if without_relevant == "zero":
        values = {label: np.nan_to_num(column, nan=0.0) for label, column in values.items()}
    return values if collapsed is None else {label: column[collapsed.inverse] for label, column in values.items()}


def reachable(ranking: Ranking, metrics: Iterable[Metric]) -> dict[str, Array]:
    """By label, (questions,) the most that a metric can give: what a list of all relevant documents gets, the best
    first. precision@10 with one of them reaches 0.1, recall@1 with four 0.25; NaN without relevant documents."""
    bound = list(metrics)
    width = max([ranking.ideal.shape[1], *(each.cutoff or 0 for each in bound)])
    best = np.pad(ranking.ideal, ((0, 0), (0, width - ranking.ideal.shape[1])))
    perfect = Ranking(gains=best, ideal=ranking.ideal, lengths=(ranking.ideal > 0).sum(axis=1))
    return evaluate(replace(perfect, nonrelevant=ranking.nonrelevant), bound)


def cells(ranking: Ranking) -> Cells | None:
    """The distinct rows of a ranking with their counts; None where a row has too many possible forms to number them, as
    rankings of pieces have.

    Two questions fall into one cell when they agree in gains, ideal gains, length and judgements.
    """
    codes = _codes(ranking) if ranking.coverage is None else None
    if codes is None:
        return None
    code, size = codes
    if size <= max(4 * len(ranking), 1 << 20):
        counts = np.bincount(code, minlength=size)
        present = np.flatnonzero(counts)
        place = np.empty(size, dtype=np.int64)
        place[present] = np.arange(len(present))
        inverse, counts = place[code], counts[present]
    else:
        _, inverse, counts = np.unique(code, return_inverse=True, return_counts=True)
    example = np.empty(len(counts), dtype=np.int64)
    example[inverse] = np.arange(len(ranking))
    return Cells(rows(ranking, example), counts, inverse)


def rows(ranking: Ranking, chosen: NDArray[np.int64] | NDArray[np.bool_]) -> Ranking:
    """The ranking of some of the questions, by position or by mask; without `ties`."""
    cover = ranking.coverage
    return replace(
        ranking,
        gains=ranking.gains[chosen],
        ideal=ranking.ideal[chosen],
        lengths=ranking.lengths[chosen],
        judged=None if ranking.judged is None else ranking.judged[chosen],
        pooled=None if ranking.pooled is None else ranking.pooled[chosen],
        nonrelevant=None if ranking.nonrelevant is None else ranking.nonrelevant[chosen],
        ties=None,
        coverage=None if cover is None else Coverage(cover.grades[chosen], cover.shares[chosen], cover.reached[chosen]),
    )


def _codes(ranking: Ranking) -> tuple[NDArray[np.int64], int] | None:
    """A number for each row that is equal exactly for equal rows, and how many numbers there can be."""
    levels = _levels(ranking)
    digits = _digits(ranking, levels)
    size = 1
    for _, radix in digits:
        size *= radix
        if size >= 1 << 62:
            return None
    code = np.zeros(len(ranking), dtype=np.int64)
    for digit, radix in digits:
        code *= radix
        code += digit
    return code, size


def _levels(ranking: Ranking) -> Array:
    """The distinct gains, 0 left out, rising: sorting is spared where there is only one."""
    highest = ranking.ideal.max(initial=0.0)
    for gains in (ranking.gains, ranking.ideal):
        if not ((gains == 0) | (gains == highest)).all():
            both = np.concatenate([np.unique(ranking.gains), np.unique(ranking.ideal)])
            return np.setdiff1d(both, [0.0])
    return np.array([highest]) if highest else np.array([])


def _digits(ranking: Ranking, levels: Array) -> list[tuple[NDArray[Any], int]]:
    digits: list[tuple[NDArray[Any], int]] = []
    for rank in range(ranking.gains.shape[1]):
        gains = ranking.gains[:, rank]
        digit = gains != 0 if len(levels) <= 1 else np.searchsorted(levels, gains) + (gains > 0)
        digits.append((digit, len(levels) + 2 if len(levels) > 1 else 2))
    digits += [((ranking.ideal == level).sum(axis=1), ranking.ideal.shape[1] + 1) for level in levels]
    digits.append((ranking.lengths, int(ranking.lengths.max(initial=0)) + 1))
    for flags in (ranking.judged, ranking.pooled):
        digits += [] if flags is None else [(flags[:, rank], 2) for rank in range(flags.shape[1])]
    if ranking.nonrelevant is not None:
        digits.append((ranking.nonrelevant, int(ranking.nonrelevant.max(initial=0)) + 1))
    return digits
