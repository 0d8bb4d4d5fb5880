"""Intervals, comparisons, families and power for means over questions: numbers that can be trusted."""

from ragbench.stats.comparisons import compare, compare_metrics, equivalence_p
from ragbench.stats.estimates import estimate, estimate_many
from ragbench.stats.families import adjust, benjamini_hochberg, holm
from ragbench.stats.power import minimum_detectable_difference, power_of_mean, sample_size

__all__ = [
    "adjust",
    "benjamini_hochberg",
    "compare",
    "compare_metrics",
    "equivalence_p",
    "estimate",
    "estimate_many",
    "holm",
    "minimum_detectable_difference",
    "power_of_mean",
    "sample_size",
]
