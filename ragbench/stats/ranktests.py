"""Wilcoxon's and the sign test: by option only, because they answer another question than a mean's."""

from __future__ import annotations

import math
import warnings
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ragbench.stats.samples import as_values

RankTest = Literal["wilcoxon", "sign"]


def rank_test_p(differences: ArrayLike, test: RankTest) -> float:
    """Two-sided p of Wilcoxon's signed-rank test (zeros by Pratt, normal approximation) or of the exact sign test.

    Neither tests the mean: where differences are skewed and their mean is zero, both reject the more surely the more
    questions there are (type I error at n = 2,000 about .9 and 1). NaN without a value, 1 where nothing moved.
    """
    values = as_values(differences, "differences")
    kept = values[~np.isnan(values)]
    if not len(kept):
        return math.nan
    if not (kept != 0).any():
        return 1.0
    if test == "sign":
        from scipy.special import bdtr

        up, down = int((kept > 0).sum()), int((kept < 0).sum())
        return float(min(1.0, 2 * bdtr(min(up, down), up + down, 0.5)))
    if test == "wilcoxon":
        from scipy.stats import wilcoxon

        return float(wilcoxon(kept, zero_method="pratt", correction=False, method="asymptotic").pvalue)
    raise ValueError(f"test is wilcoxon or sign; got {test!r}")


def warn_of_ranks(test: str) -> None:
    """Say that a rank test was asked for where a mean is printed."""
    warnings.warn(
        f"the {test} test does not test the mean difference that is printed beside it: with skewed differences of mean "
        "zero it rejects far too often; the default randomization test holds its level",
        stacklevel=4,
    )
