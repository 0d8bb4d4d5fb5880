"""Questions and judges that are both a sample: a difference that is to hold for judges who were not asked, too."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ragbench.core.types import Estimate
from ragbench.stats import intervals as kinds
from ragbench.stats.samples import Labels, as_codes, check_level, units_of

FEWEST_JUDGES = 3
"""Two judges leave one degree of freedom: a nominal 5 % test errs in 11 % of samples."""


def over_judges(
    differences: ArrayLike, *, clusters: Labels | None = None, level: float = 0.95
) -> tuple[Estimate, float]:
    """The mean of (questions, judges) differences of two systems with its interval, and p that it is 0, where both
    questions and judges are random and every judge judged every question.

    The variance is that of the questions' means and of the judges' means, less that of what remains, which is in both
    (Clark 1973, Journal of Verbal Learning and Verbal Behavior 12: quasi F; Westfall, Kenny, Judd 2014, Journal of
    Experimental Psychology: General 143), never below either of the two; Student's t with Satterthwaite's freedom, no
    less than that of the judges. Of clusters (one label a question) the sums are taken instead.

    Questions that a judge left out (NaN) are unmeasured. No interval and NaN for p with fewer than three judges
    (`note` "few_judges"), or fewer than two questions or clusters ("few").
    Raises ValueError for another shape.
    """
    check_level(level)
    table = np.asarray(differences, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"differences are (questions, judges); got shape {table.shape}")
    known = ~np.isnan(table).any(axis=1)
    codes = as_codes(clusters, len(table))
    kept, own = table[known], None if codes is None else codes[known]
    n, judges = kept.shape
    estimate = Estimate(math.nan, None, None, level, "none", n, int((~known).sum()), note="empty")
    if not n or not judges:
        return estimate, math.nan
    units = units_of(kept.mean(axis=1)[:, None], own)
    mean = float(units.means[0])
    estimate = replace(estimate, value=mean, clusters=units.number if units.clustered else None, note="few")
    if units.number < 2 or judges < FEWEST_JUDGES:
        return replace(estimate, note="few" if units.number < 2 else "few_judges"), math.nan
    freedom = units.freedom if units.clustered else n - 1.0
    of_questions, columns = float(units.variances()[0]), kept.mean(axis=0)
    of_judges = float(np.var(columns, ddof=1)) / judges
    rest = kept - kept.mean(axis=1, keepdims=True) - columns + kept.mean()
    if own is not None:
        rest = np.array([rest[own == cluster].sum(axis=0) for cluster in np.unique(own)])
    remaining = float(np.sum(rest**2)) * units.number / ((units.number - 1) * (judges - 1) * judges * n**2)
    variance = max(of_questions + of_judges - remaining, of_questions, of_judges)
    if variance <= (1e-12 * float(np.abs(kept).max(initial=0.0))) ** 2:
        return replace(estimate, note="no_spread"), math.nan
    parts = ((of_questions, freedom), (of_judges, judges - 1.0), (remaining, freedom * (judges - 1)))
    left = max(variance**2 / sum(part**2 / own_freedom for part, own_freedom in parts), judges - 1.0)
    ends = kinds.student(mean, variance, left, level)
    estimate = replace(
        estimate, low=ends[0], high=ends[1], method="crossed", intervals={"crossed": ends}, note="", design_effect=None
    )
    return estimate, kinds.t_p(mean / math.sqrt(variance), left)
