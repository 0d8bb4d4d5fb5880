"""The specification's four numbers of a judge: does it repeat itself, does it answer, how fast, what does it give; and
the two of a judge that chooses between answers instead of scoring them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray

from ragbench.old.core.metric import Purpose, Reading, Stretch, metric
from ragbench.old.core.types import Array
from ragbench.old.metrics.likert import SCALE

_SPECIFICATION = "the specification, Judge"
DELTA = 0.5  # the specification's δ
_ROUNDING = 1e-9  # 1.1 − 0.6 is 0.5 on paper, and more in binary


@dataclass(frozen=True)
class Sitting:
    """One judge on the same items, asked again and again.

    scores: (items, repeats) on the metric's own scale, NaN where there is none.
    asked: (items, repeats) whether the judge was asked at all: an item without the fields that it needs was not.
    seconds: (items, repeats) what the judge took, NaN where that is not known; None where nothing was timed.
    """

    scores: Array
    asked: NDArray[np.bool_]
    seconds: Array | None = None

    def __post_init__(self) -> None:
        if self.scores.ndim != 2 or self.scores.shape != self.asked.shape:
            raise ValueError(f"scores {self.scores.shape} and asked {self.asked.shape} are both (items, repeats)")
        if self.seconds is not None and self.seconds.shape != self.scores.shape:
            raise ValueError(f"seconds {self.seconds.shape} and scores {self.scores.shape} are both (items, repeats)")


@dataclass(frozen=True)
class Choices:
    """Which of two answers one judge chose, asked with the pair in its own order and the other way round.

    places: (pairs, 2) which place won in each order: +1 the first place, −1 the second, 0 a tie, NaN without a choice.
    labels: (pairs,) which answer is better: +1 the pair's first, −1 its second, 0 neither, NaN where nobody said.
    """

    places: Array
    labels: Array

    def __post_init__(self) -> None:
        if self.places.shape != (len(self.labels), 2):
            raise ValueError(f"places {self.places.shape} are (pairs, 2), and labels {self.labels.shape} (pairs,)")

    @property
    def votes(self) -> Array:
        """(2, pairs) the votes for the pair's first answer (+1), its second (−1) or neither (0), one row an order."""
        return np.array([self.places[:, 0], -self.places[:, 1]])

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """(pairs,) whether one answer is known to be better."""
        return np.isfinite(self.labels) & (self.labels != 0)

    def consistent(self) -> Array:
        """(pairs,) 1 where the same answer wins in both orders, or both end in a tie; NaN without two choices."""
        first, second = self.votes
        return np.where(np.isnan(self.places).any(axis=1), np.nan, first == second)

    def right(self) -> Array:
        """(pairs,) 1 where the better answer has more of the two votes than the other; NaN where no order brought a
        choice, or no answer is better."""
        balance = np.nansum(self.votes, axis=0) * np.sign(np.nan_to_num(self.labels))
        return np.where(self.labelled & ~np.isnan(self.places).all(axis=1), balance > 0, np.nan)


def pairs_within(scores: ArrayLike, delta: float) -> Array:
    """(items,) share of the pairs of repeats that differ by at most `delta`; NaN with fewer than two scores."""
    matrix = np.asarray(scores, dtype=np.float64)
    first, second = np.triu_indices(matrix.shape[1], 1)
    apart = np.abs(matrix[:, first] - matrix[:, second])
    known = ~np.isnan(apart)
    close = (apart <= delta + _ROUNDING) & known
    pairs = known.sum(axis=1)
    return np.where(pairs > 0, close.sum(axis=1) / np.maximum(pairs, 1), np.nan)


def item_latencies(seconds: ArrayLike) -> Array:
    """(items,) mean milliseconds of the calls of each item whose time is known; NaN where none is."""
    table = np.asarray(seconds, dtype=np.float64).reshape(len(np.asarray(seconds)), -1)
    known = ~np.isnan(table)
    return np.where(known.any(axis=1), 1000 * np.nansum(table, axis=1) / np.maximum(known.sum(axis=1), 1), np.nan)


def _mean(values: Array) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


@metric(
    source=f"{_SPECIFICATION}, Consistency Score",
    over="set",
    formula="pairs of repeats with |s₁ − s₂| ≤ δ / pairs of repeats, mean over answers",
    edges="With a single run it is unmeasured: nothing was repeated.",
    differs=(
        "δ is in units of the scale and is printed with it: 0.5 means equality on whole numbers, and half of a "
        "scale from 0 to 1."
    ),
    reading=Reading(
        ("1: the judge always repeats itself.",),
        "the specification, section 8.4.1",
        bands=(
            Stretch(0.0, 0.7, "unstable judge"),
            Stretch(0.9, 1.0, "reliable judge", ends="(]"),
        ),
        trust="High: it measures directly whether ratings can be had again, which all else rests on.",
    ),
    when=("Before numbers of a judge are believed: does it repeat itself?",),
    purposes=(Purpose("llm-judge", "whether the judge says the same again"),),
)
def consistency_score(table: Sitting, *, delta: Annotated[float, Ge(0)] = DELTA) -> float:
    """Share of repeated scores of the same answer that differ by at most delta; undefined without a repeat.

    Mean over items of the share of pairs of repeats with |s1 − s2| ≤ delta, delta in units of the scale that the
    scores have: 0.5 means equality on whole numbers and half of the scale on 0 to 1, so it is printed with the scale.
    """
    return _mean(pairs_within(table.scores, delta))


@metric(
    source=_SPECIFICATION,
    over="set",
    better="lower",
    formula="calls without a usable score / calls",
    edges="Answers that the judge was never asked about do not count.",
    differs="Unparseable, refused, cut off and failed are counted apart as well; none of them becomes a score.",
    when=("Before a long run: how many calls of a judge fail?",),
)
def error_rate(table: Sitting) -> float:
    """Share of the questions to the judge that brought no usable score: unparseable, refused, cut off or failed.

    Items that the judge was never asked about do not count.
    """
    asked = int(table.asked.sum())
    return float((np.isnan(table.scores) & table.asked).sum() / asked) if asked else float("nan")


@metric(
    source=_SPECIFICATION,
    over="set",
    bounds=(0.0, None),
    better="lower",
    unit="ms",
    formula="Σ milliseconds / calls",
    edges="Calls of unknown duration do not count.",
    differs=("The time that the model took, also for a reply from the journal; a reply read back is not timed as 0."),
    when=("Planning a long run, or a judge that answers while users wait.",),
)
def avg_latency_ms(table: Sitting | ArrayLike) -> float:
    """Mean milliseconds that the judge took for a score.

    Of a plain array: seconds of each call, NaN where unknown.
    """
    seconds = table.seconds if isinstance(table, Sitting) else table
    return float("nan") if seconds is None else _mean(item_latencies(np.asarray(seconds, dtype=np.float64)))


@metric(
    source=_SPECIFICATION,
    over="set",
    bounds=SCALE,
    formula="mean over answers of the mean of their repeats",
    edges="Scores that failed are left out and counted in error_rate.",
    differs=(
        "On the scale from 1 to 5 of faithfulness_rating, as everywhere under this name. Here it describes a "
        "judge; a generator's faithfulness is measured in Tier 2."
    ),
    when=("What a judge gives on average, to be held against other judges of the same answers.",),
)
def avg_faithfulness(table: Sitting) -> float:
    """Mean faithfulness that the judge gave, 1 to 5: first the mean of each answer's repeats, then over answers."""
    known = ~np.isnan(table.scores)
    means = np.nansum(table.scores, axis=1) / np.maximum(known.sum(axis=1), 1)
    return _mean(np.where(known.any(axis=1), means, np.nan))


@metric(
    source="Tan et al. 2024, JudgeBench: a benchmark for evaluating LLM-based judges (arXiv:2410.12784)",
    over="set",
    formula="pairs whose better answer has more of the two votes / labelled pairs",
    edges="A tie, and an order without a choice, is a vote for neither; a pair without any choice is unmeasured.",
    differs="Every pair is asked in both orders, so a judge that always takes the first place is right on none.",
    when=("A judge that chooses between two answers, where it is known which of them is the better one.",),
)
def pairwise_accuracy(table: Choices) -> float:
    """Share of the labelled pairs whose better answer the judge chooses more often than the other over both orders."""
    return _mean(table.right())


@metric(
    source="Zheng et al. 2023, Judging LLM-as-a-judge with MT-Bench and Chatbot Arena, section 4.2",
    over="set",
    formula="pairs on which both orders choose the same answer / pairs with two choices",
    edges="Two ties are the same choice; a pair with a single choice is unmeasured.",
    differs="In nothing: MT-Bench, too, counts the cases whose result stays when the two answers change places.",
    when=("Whether a judge that chooses between two answers is swayed by their order.",),
)
def position_consistency(table: Choices) -> float:
    """Share of the pairs on which the judge chooses the same answer in both orders, whether it is right or not."""
    return _mean(table.consistent())
