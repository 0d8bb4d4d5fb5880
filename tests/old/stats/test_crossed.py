"""Differences over questions and judges that are both random: against mean squares, statsmodels, and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import statsmodels.formula.api as smf
from hypothesis import given
from hypothesis import strategies as st

from ragbench.old import stats


def drawn(seed: int, n: int = 40, judges: int = 4, apart: float = 0.3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    own = rng.normal(0, apart, judges)
    return 0.2 + rng.normal(0, 0.4, (n, 1)) + own + rng.normal(0, 0.3, (n, judges))


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_quasi_f_of_the_mean_squares(seed: int) -> None:
    """Clark (1973): (MS of questions + MS of judges − MS of the rest) / (n · judges), from a table of analysis of
    variance that statsmodels makes; Satterthwaite's freedom of those three."""
    table = drawn(seed)
    n, judges = table.shape
    long = pd.DataFrame({"d": table.ravel(), "q": np.repeat(np.arange(n), judges), "j": np.tile(np.arange(judges), n)})
    from statsmodels.stats.anova import anova_lm

    found = anova_lm(smf.ols("d ~ C(q) + C(j)", long).fit())
    squares = (found["sum_sq"] / found["df"]).to_numpy()
    signs = np.array([1, 1, -1])
    variance = float(np.sum(signs * squares)) / (n * judges)
    freedom = (variance * n * judges) ** 2 / float(np.sum(squares**2 / found["df"].to_numpy()))
    half = scipy.stats.t.ppf(0.975, freedom) * math.sqrt(variance)
    one, p = stats.over_judges(table)
    assert (one.low, one.high) == pytest.approx((table.mean() - half, table.mean() + half), abs=1e-9)
    assert p == pytest.approx(2 * scipy.stats.t.sf(abs(table.mean()) / math.sqrt(variance), freedom), abs=1e-9)
    assert (one.n, one.n_unmeasured, one.method) == (n, 0, "crossed")


def test_the_freedom_is_never_below_that_of_the_judges() -> None:
    """Questions that differ by less than what remains: the judges' variance is all of it, on judges − 1 degrees."""
    rng = np.random.default_rng(0)
    rest = rng.normal(0, 0.3, (20, 3))
    rest -= rest.mean(axis=1, keepdims=True) - 0.01 * rng.normal(size=(20, 1))  # hardly any questions apart
    table = 0.4 + rest + np.array([-0.3, 0.0, 0.3])
    error = math.sqrt(np.var(table.mean(axis=0), ddof=1) / 3)
    half = scipy.stats.t.ppf(0.975, 2) * error
    one, p = stats.over_judges(table)
    assert (one.low, one.high) == pytest.approx((table.mean() - half, table.mean() + half), abs=1e-9)
    assert p == pytest.approx(2 * scipy.stats.t.sf(table.mean() / error, 2), abs=1e-9)


def test_judges_that_part_on_the_systems_are_not_taken_for_all_judges() -> None:
    """Three judges whose likings differ by .15: taken for all there are, 35 % of equal systems are told apart."""
    wrong = {"crossed": 0, "fixed": 0}
    for seed in range(400):
        rng = np.random.default_rng(seed)
        table = rng.normal(0, 0.3, (50, 1)) + rng.normal(0, 0.15, 3) + rng.normal(0, 0.2, (50, 3))
        wrong["crossed"] += stats.over_judges(table)[1] <= 0.05
        wrong["fixed"] += scipy.stats.ttest_1samp(table.mean(axis=1), 0).pvalue <= 0.05
    assert wrong["fixed"] > 0.25 * 400
    assert wrong["crossed"] < 0.12 * 400


def test_so_few_judges_cannot_carry_it() -> None:
    one, p = stats.over_judges(drawn(1)[:, :2])
    assert (one.low, one.note) == (None, "few_judges")
    assert one.value == pytest.approx(drawn(1)[:, :2].mean())
    assert math.isnan(p)
    empty, none = stats.over_judges(np.full((5, 3), np.nan))
    assert math.isnan(empty.value)
    assert math.isnan(none)
    same, none = stats.over_judges(np.full((5, 3), 0.1))
    assert (same.low, same.note) == (None, "no_spread")
    with pytest.raises(ValueError, match="questions, judges"):
        stats.over_judges([1.0, 2.0])


@given(seed=st.integers(0, 1000), groups=st.integers(5, 20))
def test_clusters_of_copies_are_worth_one_question_each(seed: int, groups: int) -> None:
    """Questions copied four times: with clusters the interval is that of the questions; and gaps are unmeasured."""
    plain = drawn(seed, groups)
    alone, p = stats.over_judges(plain)
    copied, again = stats.over_judges(np.repeat(plain, 4, axis=0), clusters=np.repeat(np.arange(groups), 4))
    assert (copied.low, copied.high) == pytest.approx((alone.low, alone.high), abs=1e-9)
    assert again == pytest.approx(p, abs=1e-9)
    gaps = np.vstack([plain, [[np.nan, *plain[0][1:]]]])
    partly, _p = stats.over_judges(gaps)
    assert (partly.n, partly.n_unmeasured) == (groups, 1)
    assert partly.low == pytest.approx(alone.low)
