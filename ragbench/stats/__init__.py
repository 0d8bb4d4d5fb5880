"""Statistics: arrays in, frames out; no models, databases, settings or pages."""

from ragbench.stats.comparisons import WORDS, compare
from ragbench.stats.intervals import (
    jackknife_intervals,
    linear_values,
    mean_intervals,
    pairwise_intervals,
    part_intervals,
    quantile_intervals,
    statistic_intervals,
)
from ragbench.stats.resampling import DEFAULT, Confidence
from ragbench.stats.statement import Scale, Statement, state, state_slices

__all__ = [
    "DEFAULT",
    "WORDS",
    "Confidence",
    "Scale",
    "Statement",
    "compare",
    "jackknife_intervals",
    "linear_values",
    "mean_intervals",
    "pairwise_intervals",
    "part_intervals",
    "quantile_intervals",
    "state",
    "state_slices",
    "statistic_intervals",
]
