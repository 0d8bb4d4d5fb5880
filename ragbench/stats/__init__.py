"""Intervals, comparisons, families and power for means over questions: numbers that can be trusted."""

from ragbench.stats.comparisons import compare, compare_metrics, equivalence_p
from ragbench.stats.estimates import estimate, estimate_many
from ragbench.stats.families import adjust, benjamini_hochberg, holm
from ragbench.stats.histograms import cells
from ragbench.stats.power import minimum_detectable_difference, power_of_mean, sample_size
from ragbench.stats.sums import compare_statistic, resample

__all__ = [
    "adjust",
    "benjamini_hochberg",
    "cells",
    "compare",
    "compare_metrics",
    "compare_statistic",
    "equivalence_p",
    "estimate",
    "estimate_many",
    "holm",
    "minimum_detectable_difference",
    "power_of_mean",
    "resample",
    "sample_size",
]
