"""Intervals of means: published values, peers, guards, clusters, and every awkward input."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import statsmodels.formula.api as smf
from hypothesis import example, given, settings
from hypothesis import strategies as st
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.proportion import proportion_confint

from ragbench.old import stats
from ragbench.old.core.types import Estimate
from ragbench.old.stats.values import as_codes, units_of
from tests.old.stats.random_tables import on_random_tables


def interval(one: Estimate, kind: str) -> tuple[float, float]:
    return one.intervals[kind]


@on_random_tables
def test_proportions_agree_with_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 400))
    hits = rng.random(n) < rng.random()
    level = float(rng.choice([0.8, 0.95, 0.99]))
    one = stats.estimate(hits, level=level, resamples=200)
    for kind, name in (("wilson", "wilson"), ("clopper_pearson", "beta")):
        expected = proportion_confint(hits.sum(), n, alpha=1 - level, method=name)
        assert interval(one, kind) == pytest.approx(np.nan_to_num(expected, nan=0.0), abs=1e-9), (seed, kind)


@on_random_tables
def test_student_intervals_agree_with_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(rng.normal(), rng.random() + 0.01, int(rng.integers(3, 200)))
    one = stats.estimate(values, resamples=100)
    expected = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert one.value == pytest.approx(values.mean(), abs=1e-12)
    assert interval(one, "t") == pytest.approx((expected.low, expected.high), abs=1e-9)


@on_random_tables
def test_clustered_errors_agree_with_statsmodels(seed: int) -> None:
    """The sandwich of a mean with C / (C − 1): statsmodels' cluster-robust regression on a constant."""
    rng = np.random.default_rng(seed)
    number = int(rng.integers(3, 40))
    codes = np.repeat(np.arange(number), rng.integers(1, 9, number))
    values = rng.normal(size=number)[codes] + rng.normal(size=len(codes))
    fit = OLS(values, np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": codes, "use_correction": False, "df_correction": True}, use_t=True
    )
    variance = units_of(values[:, None], as_codes(codes, len(codes))).variances()[0]
    assert variance == pytest.approx(fit.bse[0] ** 2 * number / (number - 1), rel=1e-9)
    low, high = interval(stats.estimate(values, clusters=codes, resamples=100), "t")
    assert (high - low) / 2 == pytest.approx(scipy.stats.t.ppf(0.975, number - 1) * math.sqrt(variance), rel=1e-9)


@pytest.mark.parametrize("method", ["bca", "percentile", "studentized", "t", "wilson"])
def test_a_method_that_is_asked_for_is_the_one_that_is_printed(method: stats.estimates.Method) -> None:
    values = np.random.default_rng(4).beta(2, 5, 20)
    one = stats.estimate(values, bounds=(0, 1), method=method, resamples=500)
    assert (one.method, one.note) == (method, "")
    assert (one.low, one.high) == interval(one, method)
    assert stats.estimate(values, bounds=(0, 1), resamples=500).method == "wilson"


@pytest.mark.parametrize("method", ["percentile", "BCa"])
def test_bootstrap_intervals_agree_with_scipy_within_monte_carlo_error(method: str) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        values = rng.gamma(0.7, 1, 60)
        one = stats.estimate(values, resamples=20_000, seed=seed)
        peer = scipy.stats.bootstrap(
            (values,), np.mean, n_resamples=20_000, method=method, rng=seed
        ).confidence_interval
        width = peer.high - peer.low
        assert interval(one, method.lower()) == pytest.approx((peer.low, peer.high), abs=0.03 * width)


def test_studentized_interval_is_the_bootstrap_t_of_a_plain_loop() -> None:
    rng = np.random.default_rng(5)
    values = rng.lognormal(0, 1, 25)
    drawn = values[rng.integers(0, 25, (40_000, 25))]
    ratios = (drawn.mean(axis=1) - values.mean()) / (drawn.std(axis=1, ddof=1) / 5)
    error = values.std(ddof=1) / 5
    low, high = np.quantile(ratios, [0.025, 0.975])
    expected = values.mean() - high * error, values.mean() - low * error
    one = stats.estimate(values, resamples=40_000)
    assert one.intervals["studentized"] == pytest.approx(expected, rel=0.03)
    low, high = one.intervals["t"]
    assert one.method == "studentized_and_t"
    assert (one.low, one.high) == (
        min(one.intervals["studentized"][0], low),
        max(one.intervals["studentized"][1], high),
    )


def test_a_judge_near_the_ceiling_gets_wilson_with_effective_n() -> None:
    """Twenty values, one of them ½: m = .975; SE² = s² / n; n_eff = m (1 − m) / SE²; quantile t(19)."""
    values = [1.0] * 19 + [0.5]
    one = stats.estimate(values, bounds=(0, 1))
    m, variance = 0.975, np.var(values, ddof=1) / 20
    effective, t = m * (1 - m) / variance, scipy.stats.t.ppf(0.975, 19)
    centre = (m + t**2 / (2 * effective)) / (1 + t**2 / effective)
    half = t * math.sqrt(m * (1 - m) / effective + t**2 / (4 * effective**2)) / (1 + t**2 / effective)
    assert (one.method, one.note) == ("wilson", "few")
    assert (one.low, one.high) == pytest.approx((centre - half, centre + half), abs=1e-12)
    assert set(one.intervals) >= {"bca", "percentile", "t", "wilson"}


def test_which_interval_is_printed_and_why() -> None:
    rng = np.random.default_rng(0)
    plenty = rng.beta(5, 2, 200)
    cases = {
        ("bca", ""): stats.estimate(plenty, bounds=(0, 1)),
        ("wilson", "few"): stats.estimate(plenty[:29], bounds=(0, 1)),
        ("wilson", "ceiling"): stats.estimate(np.append(np.ones(195), np.zeros(5)), bounds=(0, 1)),
        ("wilson", "no_spread"): stats.estimate(np.ones(500), bounds=(0, 1)),
        ("wilson", "few_clusters"): stats.estimate(plenty, clusters=np.arange(200) % 19, bounds=(0, 1)),
        ("t", "few_clusters"): stats.estimate(plenty, clusters=np.arange(200) % 20 % 10),
        ("wilson", "ties"): stats.estimate([0.5] * 80 + [0.0] * 9 + [1.0] * 11, bounds=(0, 1)),
        ("bonett_price", "ties"): stats.estimate([0.5] * 91 + [0.0] * 3 + [1.0] * 6, bounds=(0, 1)),
        ("studentized_and_t", "skewed"): stats.estimate(rng.lognormal(0, 1, 160)),
        ("studentized_and_t", "few"): stats.estimate(plenty[:20]),
        ("none", "no_spread"): stats.estimate([3.0, 3.0, 3.0]),
    }
    for expected, one in cases.items():
        assert (one.method, one.note) == expected
    rows = np.arange(200)
    assert stats.estimate(plenty, clusters=rows % 50, bounds=(0, 1)).method == "bca"
    assert stats.estimate(plenty, clusters=rows % 49, bounds=(0, 1)).note == "few"
    assert stats.estimate(plenty, clusters=np.sqrt(rows).astype(int)).method == "t_effective"
    unequal = stats.estimate(plenty, clusters=np.minimum(rows, 59), bounds=(0, 1))
    assert (unequal.clusters, unequal.method, unequal.note) == (60, "wilson", "few")


def freedom_of(values: np.ndarray, codes: np.ndarray) -> float:
    """Satterthwaite's freedom of the sandwich from the covariance of its residuals as it is defined, matrix by matrix,
    with statsmodels' sums of squares for the correlation within clusters, times 2 / (κ − 1)."""
    sizes = np.bincount(codes).astype(float)
    number, n = len(sizes), len(values)
    fitted = smf.ols("value ~ C(code)", pd.DataFrame({"value": values, "code": codes})).fit()
    between, within = fitted.ess / (number - 1), fitted.ssr / (n - number)
    shared = max((between - within) / ((n - sizes @ sizes / n) / (number - 1)), 0.0)
    alike = shared / (shared + within)
    working = np.diag(sizes * (1 + (sizes - 1) * alike))
    centred = np.eye(number) - np.outer(sizes, np.ones(number)) / n
    covariance = centred @ working @ centred.T
    freedom = np.trace(covariance) ** 2 / np.trace(covariance @ covariance)
    residuals = np.bincount(codes, weights=values - values.mean()) / np.sqrt(np.diag(covariance))
    kurtosis = np.mean(residuals**4) / np.mean(residuals**2) ** 2
    return float(max(freedom * 2 / max(kurtosis - 1, 2), min(4.0, (number - 1) / 2), 1.0))


@pytest.mark.parametrize(("sizes", "tails"), [((1, 2, 9), 30), ((1, 2, 3, 4, 5, 6, 7, 8, 9), 30), (range(1, 26), 2)])
def test_unequal_clusters_leave_as_much_freedom_as_their_definition_says(sizes: Sequence[int], tails: float) -> None:
    rng = np.random.default_rng(2)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    values = rng.normal(size=len(codes)) + rng.standard_t(tails, len(sizes))[codes]
    one = stats.estimate(values, clusters=codes)
    assert one.method == "t_effective"
    options = {"groups": codes, "use_correction": False}
    plain = OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds=options)
    error = plain.bse[0] * math.sqrt(len(sizes) / (len(sizes) - 1))
    freedom = freedom_of(values, codes)
    assert freedom < len(sizes) - 1
    half = scipy.stats.t.ppf(0.975, freedom) * error
    assert (one.low, one.high) == pytest.approx((values.mean() - half, values.mean() + half), rel=1e-9)


def test_freedom_knows_neither_order_nor_scale_and_equal_clusters_lose_none() -> None:
    rng = np.random.default_rng(3)
    codes, values = np.repeat(np.arange(9), [1, 1, 2, 3, 3, 5, 8, 13, 21]), rng.gamma(1, 1, 57)
    one, order = stats.estimate(values, clusters=codes), rng.permutation(57)
    again = stats.estimate(values[order], clusters=codes[order])
    assert (again.low, again.high) == (one.low, one.high)
    scaled = stats.estimate(5 - 2 * values, clusters=codes)
    assert one.low is not None
    assert one.high is not None
    assert (scaled.low, scaled.high) == pytest.approx((5 - 2 * one.high, 5 - 2 * one.low), rel=1e-9)
    means = rng.gamma(0.2, 1, 12)
    alone, copied = stats.estimate(means), stats.estimate(np.repeat(means, 4), clusters=np.repeat(np.arange(12), 4))
    single = stats.estimate(means, clusters=np.arange(12))
    assert copied.intervals["t"] == pytest.approx(alone.intervals["t"], rel=1e-12)
    assert single.intervals["t"] == pytest.approx(alone.intervals["t"], rel=1e-12)
    assert "t_effective" not in {**copied.intervals, **single.intervals}


def test_means_of_twenty_unequal_clusters_are_covered() -> None:
    """Hits of .85, four of five the same within a cluster of 1 to 30: t(19) covers .88, equal clusters' worth .90."""
    rng, right = np.random.default_rng(4), 0
    for seed in range(200):
        codes = np.repeat(np.arange(20), rng.integers(1, 31, 20))
        chance = rng.beta(0.85, 0.15, 20)[codes]
        one = stats.estimate(rng.random(len(codes)) < chance, clusters=codes, resamples=100, seed=seed)
        right += (one.low or 0) <= 0.85 <= (one.high or 0)
    assert right / 200 > 0.92


def test_places_that_few_pairs_decide() -> None:
    """95 pairs whose choice does not follow the order and five that do: two values are added, ± the half that those
    moved by; 41 that do are enough for Wilson's interval."""
    values = np.array([0.5] * 95 + [1.0] * 4 + [0.0])
    one = stats.estimate(values, bounds=(0, 1))
    shift, second = 1.5 / 102, (5 * 0.25 + 2 * 0.25) / 102
    half = scipy.stats.t.ppf(0.975, 99) * math.sqrt((second - shift**2) / 102)
    assert (one.method, one.note) == ("bonett_price", "ties")
    assert (one.low, one.high) == pytest.approx((0.5 + shift - half, 0.5 + shift + half), rel=1e-9)
    turned = stats.estimate(1 - values, bounds=(0, 1))
    assert (turned.low, turned.high) == pytest.approx((1 - one.high, 1 - one.low), rel=1e-9)
    counted = stats.estimate_many({"place": [0.5, 1.0, 0.0]}, counts=[95, 4, 1], bounds=(0, 1))["place"]
    assert (counted.low, counted.high) == pytest.approx((one.low, one.high), rel=1e-12)


@pytest.mark.parametrize(("hits", "n"), [(0, 20), (20, 20), (0, 1), (1, 1)])
def test_none_and_all_never_have_zero_width(hits: int, n: int) -> None:
    one = stats.estimate([1.0] * hits + [0.0] * (n - hits), bounds=(0, 1))
    assert one.low is not None
    assert one.high is not None
    assert 0 <= one.low < one.high <= 1
    assert one.low == 0 if hits == 0 else one.high == 1


def test_bounds_shift_and_stretch() -> None:
    values = np.random.default_rng(2).integers(1, 6, 60).astype(float)
    stars, shares = stats.estimate(values, bounds=(1, 5)), stats.estimate((values - 1) / 4, bounds=(0, 1))
    for kind, (low, high) in shares.intervals.items():
        near = 1e-9 if kind in {"t", "wilson"} else 0.05  # resamples of a lattice may fall one step aside
        assert interval(stars, kind) == pytest.approx((1 + 4 * low, 1 + 4 * high), abs=near)


@pytest.mark.fault("flattering", tried="unmeasured values beside a mean", count=1)
def test_unmeasured_values_are_counted_and_bounded_never_averaged() -> None:
    one = stats.estimate([1.0, 0.0, None, math.nan, 1.0], bounds=(0, 1))
    assert (one.n, one.n_unmeasured) == (3, 2)
    assert one.value == pytest.approx(2 / 3)
    assert (one.floor, one.ceiling) == pytest.approx((2 / 5, 4 / 5))
    assert stats.estimate([1.0, 2.0]).floor is None


def test_clusters_that_repeat_one_value_count_once() -> None:
    rng = np.random.default_rng(1)
    values = (rng.random(40) < 0.6).astype(float)
    one = stats.estimate(np.repeat(values, 5), clusters=np.repeat(np.arange(40), 5), bounds=(0, 1))
    single = stats.estimate(values, bounds=(0, 1))
    assert (one.clusters, one.n) == (40, 200)
    assert one.design_effect == pytest.approx(5 * 199 / 195, rel=1e-9)
    assert one.n_effective == pytest.approx(200 / one.design_effect)
    assert interval(one, "t") == pytest.approx(interval(single, "t"), abs=1e-12)
    assert one.design_effect is not None
    assert one.design_effect > 4


def test_missing_cluster_labels_are_clusters_of_their_own() -> None:
    assert as_codes(["a", None, "a", math.nan, "b"], 5).tolist() == [0, 1, 0, 2, 3]
    one = stats.estimate([1.0, 2.0, 3.0, 5.0], clusters=["a", "a", None, None])
    assert one.clusters == 3


def test_histogram_and_values_draw_from_the_same_distribution() -> None:
    rng = np.random.default_rng(0)
    values = rng.choice([0, 0.5, 1], 5_000, p=[0.2, 0.3, 0.5])
    rows, counts = stats.cells(values)
    whole = stats.estimate_many({"mrr": values}, bounds=(0, 1))["mrr"]
    short = stats.estimate_many({"mrr": rows[:, 0]}, counts=counts, bounds=(0, 1))["mrr"]
    assert short.n == whole.n == 5_000
    assert short.value == pytest.approx(whole.value, abs=1e-12)
    assert interval(short, "t") == pytest.approx(interval(whole, "t"), abs=1e-12)
    assert interval(short, "wilson") == pytest.approx(interval(whole, "wilson"), abs=1e-12)
    assert interval(short, "bca") == pytest.approx(interval(whole, "bca"), abs=0.001)


def test_metrics_at_once_keep_their_own_gaps() -> None:
    found = stats.estimate_many({"a": [1, 0, 1, None], "b": [0.5, 0.25, 1, 0], "c": [None] * 4}, bounds=(0, 1))
    assert list(found) == ["a", "b", "c"]
    assert [found[name].n for name in "abc"] == [3, 4, 0]
    assert found["b"].value == pytest.approx(0.4375)
    assert math.isnan(found["c"].value)
    assert (found["c"].floor, found["c"].ceiling) == (0, 1)


def test_the_same_seed_gives_the_same_bytes() -> None:
    values = np.random.default_rng(0).random(300)
    assert repr(stats.estimate(values, seed=4)) == repr(stats.estimate(values, seed=4))
    assert stats.estimate(values, seed=4).low != stats.estimate(values, seed=5).low


@pytest.mark.parametrize("values", [[], [None], [math.nan, math.nan]])
def test_nothing_measured_is_an_estimate_without_a_value(values: list[float | None]) -> None:
    one = stats.estimate(values, bounds=(0, 1))
    assert math.isnan(one.value)
    assert (one.low, one.high, one.n, one.note, one.method) == (None, None, 0, "empty", "none")
    assert one.n_unmeasured == len(values)


def test_one_value_and_one_cluster_claim_nothing_without_a_scale() -> None:
    assert stats.estimate([0.4]).low is None
    alone = stats.estimate([0.4, 0.6, 0.5], clusters=["x", "x", "x"])
    assert (alone.low, alone.note, alone.clusters) == (None, "no_spread", 1)
    scaled = stats.estimate([0.4, 0.6, 0.5], clusters=["x", "x", "x"], bounds=(0, 1))
    assert scaled.low is not None
    assert scaled.high is not None
    assert scaled.high - scaled.low > 0.9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"values": [1.0, math.inf]}, r"values\[1\] is inf"),
        ({"values": ["a", "b"]}, "must be numbers"),
        ({"values": [[1.0], [2.0]]}, "vector"),
        ({"values": [0.5, 1.5], "bounds": (0, 1)}, r"values\[1\] is 1.5, outside its scale"),
        ({"values": [0.5], "bounds": (1, 0)}, "low < high"),
        ({"values": [0.5, 0.5], "clusters": ["a"]}, "1 labels for 2 values"),
        ({"values": [0.5], "level": 95}, "between 0 and 1"),
        ({"values": [0.5], "resamples": 10}, "at least 100"),
        ({"values": [0.5], "method": "normal"}, "method is one of"),
        ({"values": [0.5, 0.7], "method": "wilson"}, "needs bounds"),
        ({"values": [0.5, 0.7], "method": "clopper_pearson", "bounds": (0, 1)}, "two bounds"),
    ],
)
def test_bad_input_is_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stats.estimate(**arguments)  # type: ignore[arg-type]


def test_bad_tables_are_named() -> None:
    with pytest.raises(ValueError, match="lengths differ: a 1, b 2"):
        stats.estimate_many({"a": [1.0], "b": [1.0, 2.0]})
    with pytest.raises(ValueError, match="non-negative whole numbers"):
        stats.estimate_many({"a": [1.0]}, counts=[0.5])
    with pytest.raises(ValueError, match="either counts or clusters"):
        stats.estimate_many({"a": [1.0]}, counts=[2], clusters=["x"])


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.floats(0, 1, allow_nan=False) | st.none(), min_size=0, max_size=60),
    st.integers(1, 8),
    st.sampled_from([None, (0.0, 1.0)]),
)
@example([0.0, 0.0, 2.7735794997556807e-154], 2, None)
def test_every_interval_is_ordered_and_inside_the_scale(
    values: list[float | None], clusters: int, bounds: tuple[float, float] | None
) -> None:
    one = stats.estimate(values, clusters=[k % clusters for k in range(len(values))], bounds=bounds, resamples=200)
    for kind, (low, high) in one.intervals.items():
        assert low <= high, kind
        if kind in {"wilson", "percentile", "bca"} and bounds:
            assert low >= -1e-9
            assert high <= 1 + 1e-9
        if kind in {"wilson", "t"}:
            assert low - 1e-9 <= one.value <= high + 1e-9
    assert one.n + one.n_unmeasured == len(values)


def test_the_mean_of_a_million_cells_is_quick_and_small() -> None:
    rng = np.random.default_rng(0)
    rows = rng.random((150, 3))
    counts = rng.multinomial(1_000_000, np.full(150, 1 / 150))
    found = stats.estimate_many({str(k): rows[:, k] for k in range(3)}, counts=counts, bounds=(0, 1))
    low, high = found["0"].intervals["abc"]
    assert (high - low) / 2 == pytest.approx(1.96 * rows[:, 0].std() / 1000, rel=0.05)


@pytest.mark.parametrize("unit", [1e-4, 1e4])
def test_no_interval_depends_on_the_unit_or_the_origin(unit: float) -> None:
    """Milliseconds or seconds, from zero or from a thousand: the same draws give the same ends."""
    values = np.random.default_rng(6).lognormal(0, 1, 60)
    one = stats.estimate(values, resamples=500)
    other = stats.estimate(1000 * unit + unit * values, resamples=500)
    assert {"percentile", "bca", "studentized", "t"} <= set(one.intervals)
    for kind, (low, high) in one.intervals.items():
        moved = ((end - 1000 * unit) / unit for end in other.intervals[kind])
        assert tuple(moved) == pytest.approx((low, high), rel=1e-6), kind
    assert (other.method, other.note) == (one.method, one.note) == ("studentized_and_t", "few")


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-1.0, 0.0)])
def test_a_mean_that_rounding_alone_parts_from_an_end_is_as_sure_as_so_many_values_there(
    bounds: tuple[float, float],
) -> None:
    found = stats.estimate(np.array([1.0, 1.0, 1 - 2**-53]) + bounds[0], bounds=bounds)
    square = scipy.stats.t.ppf(0.975, 2) ** 2
    assert found.intervals["wilson"] == pytest.approx((bounds[1] - square / (3 + square), bounds[1]), abs=1e-9)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 1.5, math.nan])
def test_a_level_lies_between_nothing_and_certainty(level: float) -> None:
    with pytest.raises(ValueError, match="level"):
        stats.estimate([0.1, 0.5, 0.9], level=level)
