"""How good decisions to show an answer are, against people's labels.

labels: whether each answer is to be shown. decisions: whether it was; None, or NaN: the call to
the judge failed, which decided nothing and stays in n as wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragbench.core.metric import Metric, metric
from ragbench.metrics.texts import plain

Array = NDArray[np.float64]
# Columns of the counts: shown rightly, shown wrongly, held back wrongly, held back rightly; then
# failed calls by what the answer deserved.
CELLS = ("tp", "fp", "fn", "tn", "failed_positive", "failed_negative")
# Name of a metric → its value of (…, 6) totals, for bootstraps that draw rows of counts.
DECISIONS: dict[str, Callable[..., Array]] = {}
SOURCE = "definition, of the class that is to be shown"

DECISION_FIELDS = ("show", "decision", "verdict")
YES = {"yes", "true", "1", "да"}
NO = {"no", "false", "0", "нет"}
FIRST_WORD = re.compile(r"\W*([^\W\d]+|\d+(?![\d.,]*\d))")


def of_decisions(source: str = SOURCE) -> Callable[[Callable[..., Array]], Metric]:
    """Declare a function of totals as a metric of labels and decisions."""

    def declare(of_totals: Callable[..., Array]) -> Metric:
        def compute(labels: Sequence[Any], decisions: Sequence[Any]) -> float:
            return float(of_totals(count_decisions(labels, decisions).sum(axis=0)))

        name = of_totals.__name__
        DECISIONS[name] = of_totals
        compute.__doc__ = of_totals.__doc__
        return metric(compute, name=name, kind="set", source=source)

    return declare


@of_decisions()
def accuracy(totals: Array) -> Array:
    """Share of all decisions that agree with the label; a failed call agrees with none."""
    return ratio(totals[..., 0] + totals[..., 3], totals.sum(axis=-1))


@of_decisions(source="Brodersen et al. 2010, The balanced accuracy and its posterior distribution")
def balanced_accuracy(totals: Array) -> Array:
    """Mean of two shares: of good answers that were shown, and of others that were held back.

    Showing all, none, or by a coin reach ½. NaN without answers of both kinds.
    """
    tp, tn = totals[..., 0], totals[..., 3]
    n_good = count_good(totals)
    return (ratio(tp, n_good) + ratio(tn, totals.sum(axis=-1) - n_good)) / 2


@of_decisions()
def decision_precision(totals: Array) -> Array:
    """Share of the answers shown that are to be shown; NaN where nothing was shown."""
    tp, fp = totals[..., 0], totals[..., 1]
    return ratio(tp, tp + fp)


@of_decisions()
def decision_recall(totals: Array) -> Array:
    """Share of the answers to be shown that were shown; a failed call shows nothing."""
    return ratio(totals[..., 0], count_good(totals))


@of_decisions()
def f1_score(totals: Array) -> Array:
    """Harmonic mean of decision_precision and decision_recall: 2 TP / (2 TP + FP + FN)."""
    tp, fp = totals[..., 0], totals[..., 1]
    return ratio(2 * tp, tp + fp + count_good(totals))


@metric(
    kind="set",
    source="Elkan 2001, The foundations of cost-sensitive learning",
    better="lower",
    bounds=(0.0, np.inf),
)
def decision_cost(
    labels: Sequence[Any],
    decisions: Sequence[Any],
    cost_shown: float = 1.0,
    cost_hidden: float = 1.0,
) -> float:
    """Mean cost of a decision.

    cost_shown: of a poor answer that is shown. cost_hidden: of a good one that is held back.
    """
    totals = count_decisions(labels, decisions).sum(axis=0)
    return float(cost_of_totals(totals, cost_shown, cost_hidden))


def cost_of_totals(totals: Array, cost_shown: float = 1.0, cost_hidden: float = 1.0) -> Array:
    """Return (…,) mean cost of a decision."""
    n_hidden = count_good(totals) - totals[..., 0]
    return ratio(cost_shown * totals[..., 1] + cost_hidden * n_hidden, totals.sum(axis=-1))


DECISIONS["decision_cost"] = cost_of_totals


def measure_totals(totals: Array, costs: Mapping[str, float]) -> Array:
    """Return (…, metrics) every metric of DECISIONS of (…, 6) totals.

    costs: cost_shown and cost_hidden of decision_cost.
    """
    values = [
        compute(totals, **costs) if name == "decision_cost" else compute(totals)
        for name, compute in DECISIONS.items()
    ]
    return np.stack(values, axis=-1)


def count_decisions(labels: Sequence[Any], decisions: Sequence[Any]) -> Array:
    """Return (n, 6) a 1 in the column of CELLS where each decision falls."""
    is_good = np.asarray(labels, dtype=bool)
    shown = np.array([np.nan if decision is None else decision for decision in decisions], float)
    has_failed = np.isnan(shown)
    is_shown = shown > 0
    cells = np.where(is_good, np.where(is_shown, 0, 2), np.where(is_shown, 1, 3))
    cells = np.where(has_failed, np.where(is_good, 4, 5), cells)
    return np.eye(len(CELLS))[cells]


def count_good(totals: Array) -> Array:
    """Return (…,) how many answers are to be shown."""
    return totals[..., 0] + totals[..., 2] + totals[..., 4]


def ratio(part: Array, whole: Array) -> Array:
    """Return part / whole; NaN where the whole is 0, but for the rounding of weighted totals."""
    is_empty = np.abs(whole) <= 1e-12
    return np.where(is_empty, np.nan, part / np.where(is_empty, 1.0, whole))


def read_decision(reply: Any) -> bool | None:
    """Tell what a production judge's reply decides: True show, False do not, None neither.

    A text counts by its first word ("No: … yesterday" is No) or, where it is a JSON object, by its
    field show, decision or verdict; never by a word somewhere in it. English and Russian.
    """
    if isinstance(reply, Mapping):
        fields = [name for name in DECISION_FIELDS if name in reply]
        return read_decision(reply[fields[0]]) if fields else None
    if isinstance(reply, int | float | np.bool_):
        return bool(reply) if reply in (0, 1) else None
    if not isinstance(reply, str):
        return None
    text = plain(reply).strip()
    if text.startswith("{"):
        try:
            return read_decision(json.loads(text))
        except (ValueError, RecursionError):
            return None
    first = FIRST_WORD.match(text)
    if first is None:
        return None
    word, rest = first[1], text[first.end() :]
    # A 1 with more behind it begins a list.
    is_alone = not word.isdigit() or not re.search(r"\w", rest)
    return word in YES if is_alone and word in YES | NO else None
