"""Intervals, comparisons, families, agreement and power: numbers that can be trusted.

Values are one number a question; NaN or None is unmeasured, counted and left out, never averaged in silence.
"""

from ragbench.old.stats.comparisons import (
    Hypothesis,
    compare,
    compare_metrics,
    equivalence_p,
    hypotheses,
    over_judges,
    randomization_p,
)
from ragbench.old.stats.estimates import estimate, estimate_many, estimate_systems, kept_within, quantile
from ragbench.old.stats.families import adjust, benjamini_hochberg, compare_many, holm, jointly
from ragbench.old.stats.panels import cochran_q, fleiss_kappa, fleiss_kappa_of_counts, icc, krippendorff_alpha
from ragbench.old.stats.power import minimum_detectable_difference, power_of_mcnemar, power_of_mean, sample_size
from ragbench.old.stats.predictions import active_estimate, chances, prediction_powered, prediction_powered_comparison
from ragbench.old.stats.raters import (
    Scale,
    agreement,
    confusion,
    spearman,
)
from ragbench.old.stats.set_statistics import (
    SetValues,
    distinct,
    pairwise_mean,
    pairwise_std,
    set_draws,
    set_estimate,
    set_hypothesis,
)
from ragbench.old.stats.signs import binomial_test, rank_test_p
from ragbench.old.stats.studies import StudyPlan, VarianceSplit, plan_study, variance_split
from ragbench.old.stats.summaries import Summary, compare_summaries
from ragbench.old.stats.sums import compare_statistic, resample, statistic_hypothesis
from ragbench.old.stats.values import MetricComparison, Paired, Source, cells
from ragbench.old.stats.verdicts import gaps, reach, with_margin, withheld, withheld_by_gaps

__all__ = [
    "Hypothesis",
    "MetricComparison",
    "Paired",
    "Scale",
    "SetValues",
    "Source",
    "StudyPlan",
    "Summary",
    "VarianceSplit",
    "active_estimate",
    "adjust",
    "agreement",
    "benjamini_hochberg",
    "binomial_test",
    "cells",
    "chances",
    "cochran_q",
    "compare",
    "compare_many",
    "compare_metrics",
    "compare_statistic",
    "compare_summaries",
    "confusion",
    "distinct",
    "equivalence_p",
    "estimate",
    "estimate_many",
    "estimate_systems",
    "fleiss_kappa",
    "fleiss_kappa_of_counts",
    "gaps",
    "holm",
    "hypotheses",
    "icc",
    "jointly",
    "kept_within",
    "krippendorff_alpha",
    "minimum_detectable_difference",
    "over_judges",
    "pairwise_mean",
    "pairwise_std",
    "plan_study",
    "power_of_mcnemar",
    "power_of_mean",
    "prediction_powered",
    "prediction_powered_comparison",
    "quantile",
    "randomization_p",
    "rank_test_p",
    "reach",
    "resample",
    "sample_size",
    "set_draws",
    "set_estimate",
    "set_hypothesis",
    "spearman",
    "statistic_hypothesis",
    "variance_split",
    "with_margin",
    "withheld",
    "withheld_by_gaps",
]
