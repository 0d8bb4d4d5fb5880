"""Two systems of one report compared question by question on one metric, for those who need just that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ragbench import stats
from ragbench.core.measurement import Measurement
from ragbench.core.types import Array, Better, Comparison
from ragbench.metrics import declaration
from ragbench.stats import Paired
from ragbench.stats.estimates import width_of
from ragbench.stats.intervals import bonett_price
from ragbench.stats.verdicts import on_scale
from ragbench.tiers.basics.findings import NOTHING, Flags, bounds


def compared(made: Measurement, baseline: str, system: str, metric: str) -> Comparison | None:
    """The paired comparison of two systems, from their values; as the report has it where there are none.

    The values are a judge's: of a metric that people's labels correct there is the report's comparison, or none.
    """
    pair = values(made, baseline, system, metric)
    by_name = {(c.metric, c.comparison.baseline, c.comparison.challenger): c.comparison for c in made.comparisons}
    known = by_name.get((metric, baseline, system))
    if pair is None or metric in (made.facts.get("corrected") or ()):
        return known
    how = {
        name: getattr(pair, name) for name in ("clusters", "level", "resamples", "seed", "names", "better", "bounds")
    }
    void = None if pair.void is None else {metric: pair.void}
    comparisons = stats.compare_metrics({metric: pair.baseline}, {metric: pair.challenger}, void=void, **how)
    comparison = _widened(comparisons[metric], metric)
    other = known is not None and known.withheld and not stats.withheld_by_gaps(known)
    return stats.withheld(comparison, known.withheld) if known is not None and other else comparison


def values(made: Measurement, baseline: str, system: str, metric: str) -> Paired | None:
    """The values of two systems on a metric, paired by question, with how the measurement compares; None where one of
    them has none."""
    first, second = (column_of(made, name, metric) for name in (baseline, system))
    if first is None or second is None:
        return None
    facts, clusters = made.facts, clusters_of(made, samples_of(made))
    how = (facts.get("level", 0.95), facts.get("resamples", 10_000), facts.get("seed", 0))
    declared = declaration(metric)
    nothing = [_void(made, name, metric) for name in (baseline, system)]
    return Paired(
        metric, (baseline, system), first, second, clusters, _better(made, metric), *how,
        bounds=None if declared is None else bounds(declared), void=nothing[0] & nothing[1],
    )  # fmt: skip


def _void(made: Measurement, system: str, metric: str) -> Flags:
    """Of which questions there was nothing to measure; see `findings.void`."""
    own = made.scores[(made.scores["system"] == system) & (made.scores["metric"] == metric)]
    there = set(own.loc[own["value"].isna() & own["status"].isin(NOTHING), "sample"])
    return np.array([sample in there for sample in samples_of(made)], dtype=bool)


def direction(made: Measurement, metric: str) -> Better | None:
    """Which values are better: as the measurement compared them, else as declared; None for a metric that describes."""
    known = next((finding.comparison.better for finding in made.comparisons if finding.metric == metric), None)
    if known is not None:
        return known
    declared = declaration(metric)
    return "higher" if declared is None else declared.better


def _better(made: Measurement, metric: str) -> Better:
    return direction(made, metric) or "higher"


def _widened(comparison: Comparison, metric: str) -> Comparison:
    """Where no pair moved there is no spread to tell from: the interval is that of two pairs that moved by the scale.

    Bonett and Price's added pairs (2012), on as many pairs as there are independent groups.
    """
    declared = declaration(metric)
    scale = None if declared is None else bounds(declared)
    number, width = comparison.clusters or comparison.n, width_of(scale)
    if not math.isnan(comparison.low) or comparison.difference != 0 or width is None or number < 2:
        return comparison
    low, high = bonett_price(0.0, 2 * width**2, number, number - 1, comparison.level)
    return on_scale(replace(comparison, low=low, high=high, method="bonett_price", note="no_spread"))


def column_of(made: Measurement, system: str, metric: str) -> Array | None:
    """A system's values in the order of the questions, NaN where unmeasured; None where there are none."""
    own = made.scores[(made.scores["system"] == system) & (made.scores["metric"] == metric)]
    if not len(own):
        return None
    values = own.drop_duplicates("sample").set_index("sample")["value"]
    column: Array = values.reindex(samples_of(made)).to_numpy(dtype=float)
    return column


def samples_of(made: Measurement) -> list[str]:
    """The questions by their ids, each once, in the order of the scores."""
    return list(dict.fromkeys(made.scores["sample"]))


def clusters_of(made: Measurement, samples: Sequence[str]) -> tuple[str, ...] | None:
    """The group of each question where estimates were made over groups; a question without one is its own."""
    if not any(finding.estimate.clusters for finding in made.estimates) or "cluster" not in made.questions:
        return None
    named = dict(zip(made.questions["sample"].astype(str), made.questions["cluster"], strict=True))
    return tuple(str(named.get(name)) if isinstance(named.get(name), str) else f"\x1f{name}" for name in samples)
