"""From scores to what a page states: estimates of all means, comparisons with the baseline.

Pure functions of frames, for every tier alike. A subset of the questions is stated by a filter
before; `state_slices` states all slices at once, and corrects for all of them together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ragbench.core.errors import BenchError, suggest
from ragbench.core.frames import COMPARISONS, ESTIMATES, check
from ragbench.core.metric import parse_label
from ragbench.stats.comparisons import compare
from ragbench.stats.intervals import mean_intervals
from ragbench.stats.resampling import DEFAULT, Confidence
from ragbench.stats.units import Array


class Scale(NamedTuple):
    """Which end of a metric is good ("higher", "lower" or "describes": neither), and both ends."""

    better: str
    least: float = -np.inf
    greatest: float = np.inf


@dataclass(frozen=True)
class Statement:
    """estimates, comparisons: as `ragbench.core.frames` declares them, further columns behind."""

    estimates: pd.DataFrame
    comparisons: pd.DataFrame


@dataclass(frozen=True)
class Wide:
    """Scores as arrays: a row a question, in order of its id; a column a slice, system and metric.

    values: NaN where unmeasured. was_asked: whether the frame has a row for it. units: of the rows.
    """

    columns: pd.DataFrame
    values: Array
    was_asked: NDArray[np.bool_]
    questions: pd.Index
    units: NDArray[Any]


@dataclass(frozen=True)
class Plan:
    """What is stated, with all names checked."""

    systems: Sequence[str]
    baseline: str
    metrics: Sequence[str]
    scales: Mapping[str, Scale]
    margins: Mapping[str, float]
    confidence: Confidence


def state(
    scores: pd.DataFrame,
    *,
    systems: Sequence[str] = (),
    baseline: str = "",
    primary: str = "",
    metrics: Sequence[str] = (),
    margins: Mapping[str, float] | None = None,
    scales: Mapping[str, Scale] | None = None,
    confidence: Confidence = DEFAULT,
) -> Statement:
    """State the means of all systems, and how the challengers differ from the baseline.

    scores: as `ragbench.core.frames.SCORES`. systems, metrics: which, in order; without any, those
    of the frame. baseline: the first system, if not named; primary: the first metric. margins: of
    metrics, the difference that matters. scales: of metrics that the catalogue lacks.

    The primary metric with all challengers is a family, "primary"; all other metrics are another,
    "secondary". Metrics that only describe are estimated and not compared. Raises BenchError for a
    name that no score has, and for a metric of which nobody knows which end is good.
    """
    plan = make_plan(scores, systems, baseline, metrics, scales, margins, confidence)
    first = choose_name("primary", primary, plan.metrics)
    others = [label for label in plan.metrics if label != first]
    wide = widen(scores, plan)
    families = [
        compare_family(wide, plan, "primary", [first]),
        compare_family(wide, plan, "secondary", others),
    ]
    # A family of nothing, as of one metric alone, would change the types of the columns.
    filled = [family for family in families if len(family)] or families
    comparisons = pd.concat(filled, ignore_index=True)
    estimates = estimate(wide, plan).drop(columns="slice")
    return Statement(
        check(estimates, ESTIMATES), check(comparisons.drop(columns="slice"), COMPARISONS)
    )


def state_slices(
    scores: pd.DataFrame,
    slices: pd.DataFrame,
    *,
    systems: Sequence[str] = (),
    baseline: str = "",
    metrics: Sequence[str] = (),
    margins: Mapping[str, float] | None = None,
    scales: Mapping[str, Scale] | None = None,
    confidence: Confidence = DEFAULT,
) -> Statement:
    """State the same within slices of the questions; all comparisons are one family, "slices".

    slices: columns slice and question_id; a question may be in several. metrics: mostly the primary
    one alone. The rest as in `state`; both frames have a first column slice.
    """
    plan = make_plan(scores, systems, baseline, metrics, scales, margins, confidence)
    sliced = cut(widen(scores, plan), slices)
    comparisons = compare_family(sliced, plan, "slices", plan.metrics)
    return Statement(estimate(sliced, plan), comparisons)


def make_plan(
    scores: pd.DataFrame,
    systems: Sequence[str],
    baseline: str,
    metrics: Sequence[str],
    scales: Mapping[str, Scale] | None,
    margins: Mapping[str, float] | None,
    confidence: Confidence,
) -> Plan:
    """Check all names. Raises BenchError for one without scores, and for an unknown direction."""
    if scores.empty:
        raise BenchError("there are no scores to state")
    all_systems, all_metrics = list(scores["system"].unique()), list(scores["metric"].unique())
    chosen_systems = [choose_name("system", name, all_systems) for name in systems] or all_systems
    chosen_metrics = [choose_name("metric", name, all_metrics) for name in metrics] or all_metrics
    return Plan(
        chosen_systems,
        choose_name("baseline", baseline, chosen_systems),
        chosen_metrics,
        find_scales(chosen_metrics, scales or {}),
        margins or {},
        confidence,
    )


def choose_name(role: str, name: str, names: Sequence[str]) -> str:
    """Return the name, or the first of all without one. Raises BenchError for an unknown one."""
    if not name:
        return names[0]
    if name not in names:
        raise BenchError(f"{role} {name!r} is none of {', '.join(names)}{suggest(name, names)}")
    return name


def find_scales(labels: Sequence[str], scales: Mapping[str, Scale]) -> dict[str, Scale]:
    """Return the scale of every metric: what is given, else what the catalogue says.

    Raises BenchError for a metric of which nobody knows which end is good.
    """
    known, unknown = {}, []
    for label in labels:
        if label in scales:
            known[label] = Scale(*scales[label])
            continue
        try:
            metric = parse_label(label)
        except BenchError:
            unknown.append(label)
        else:
            known[label] = Scale(metric.better, *metric.bounds)
    if unknown:
        raise BenchError(
            f"is higher or lower better? Say it of {', '.join(unknown)}: {unknown[0]}=lower"
        )
    return known


def widen(scores: pd.DataFrame, plan: Plan) -> Wide:
    """Return scores as arrays, in one slice "". Raises BenchError for a question of two units."""
    system = pd.Index(plan.systems).get_indexer(pd.Index(scores["system"]))
    metric = pd.Index(plan.metrics).get_indexer(pd.Index(scores["metric"]))
    is_used = (system >= 0) & (metric >= 0)
    column = system[is_used] * len(plan.metrics) + metric[is_used]
    question, questions = pd.factorize(scores["question_id"][is_used], sort=True)
    pairs = [("", name, label) for name in plan.systems for label in plan.metrics]
    values = np.full((len(questions), len(pairs)), np.nan)
    values[question, column] = scores["value"][is_used]
    was_asked = np.zeros(values.shape, dtype=bool)
    was_asked[question, column] = True

    unit, names = pd.factorize(scores["unit"][is_used])
    units = np.zeros(len(questions), dtype=int)
    units[question] = unit
    is_other = units[question] != unit
    if is_other.any():
        row = int(np.argmax(is_other))
        both = f"{names[unit[row]]!r} and {names[units[question[row]]]!r}"
        raise BenchError(f"question {questions[question[row]]!r} has two units, {both}")
    columns = pd.DataFrame(pairs, columns=["slice", "system", "metric"])
    return Wide(columns, values, was_asked, pd.Index(questions), units)


def cut(wide: Wide, slices: pd.DataFrame) -> Wide:
    """Return every column once a slice, as if nobody had asked the questions of the others."""
    columns, values, was_asked = [], [], []
    for name, members in slices.groupby("slice", sort=False)["question_id"]:
        is_member = wide.questions.isin(members)[:, None]
        columns.append(wide.columns.assign(slice=name))
        values.append(np.where(is_member, wide.values, np.nan))
        was_asked.append(wide.was_asked & is_member)
    names = pd.concat(columns, ignore_index=True)
    return Wide(names, np.hstack(values), np.hstack(was_asked), wide.questions, wide.units)


def estimate(wide: Wide, plan: Plan) -> pd.DataFrame:
    """Return the mean of every column, as `ragbench.core.frames.ESTIMATES`."""
    bounds = scale_ends(wide.columns["metric"], plan.scales)
    means = mean_intervals(
        wide.values, wide.units, bounds, plan.confidence, was_asked=wide.was_asked
    )
    return pd.concat([wide.columns, means], axis=1)


def compare_family(wide: Wide, plan: Plan, family: str, labels: Sequence[str]) -> pd.DataFrame:
    """Compare every challenger on all labels, as `ragbench.core.frames.COMPARISONS`."""
    places = {
        key: place for place, key in enumerate(wide.columns.itertuples(index=False, name=None))
    }
    challengers = [name for name in plan.systems if name != plan.baseline]
    compared = [label for label in labels if plan.scales[label].better != "describes"]
    rows, before, after = [], [], []
    for slice_name in wide.columns["slice"].unique():
        for label in compared:
            for challenger in challengers:
                rows.append((slice_name, label, challenger, plan.baseline, family))
                before.append(places[slice_name, plan.baseline, label])
                after.append(places[slice_name, challenger, label])
    pairs = pd.DataFrame(rows, columns=["slice", "metric", "challenger", "baseline", "family"])
    frame = compare(
        wide.values[:, before],
        wide.values[:, after],
        wide.units,
        bounds=scale_ends(pairs["metric"], plan.scales),
        lower_is_better=[plan.scales[label].better == "lower" for label in pairs["metric"]],
        margin=[find_margin(label, plan.margins) for label in pairs["metric"]],
        was_asked=wide.was_asked[:, before] & wide.was_asked[:, after],
        confidence=plan.confidence,
    )
    return pd.concat([pairs, frame], axis=1)


def scale_ends(labels: pd.Series, scales: Mapping[str, Scale]) -> tuple[Array, Array]:
    """Return the least and the greatest possible value of every column."""
    least = [scales[label].least for label in labels]
    greatest = [scales[label].greatest for label in labels]
    return np.array(least, dtype=float), np.array(greatest, dtype=float)


def find_margin(label: str, margins: Mapping[str, float]) -> float:
    """Return the difference that matters, by label or by the metric's name; NaN: nobody said."""
    return margins.get(label, margins.get(label.partition("@")[0], np.nan))
