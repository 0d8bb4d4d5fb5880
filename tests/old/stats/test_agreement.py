"""Judges and people: agreement against peers on random tables, published values, real human labels, awkward ratings."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa, to_table

from ragbench.old import stats
from ragbench.old.stats.coefficients import order_tau, tau_ends
from tests.old.stats.random_tables import on_random_tables

FAST = {"resamples": 100}


def ratings(seed: int, categories: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, categories, int(rng.integers(12, 150)))
    second = np.where(rng.random(len(first)) < rng.random(), first, rng.integers(0, categories, len(first)))
    return first, second


@on_random_tables
def test_categories_agree_with_scikit_learn_and_scipy(seed: int) -> None:
    a, b = ratings(seed)
    everything = list(range(4))
    found = stats.agreement(a, b, scale="ordinal", categories=everything, **FAST)
    kappa = sklearn.metrics.cohen_kappa_score
    expected = {
        "accuracy": np.mean(a == b),
        "balanced_accuracy": sklearn.metrics.balanced_accuracy_score(a, b),
        "cohen_kappa": kappa(a, b, labels=everything),
        "cohen_kappa_linear": kappa(a, b, weights="linear", labels=everything),
        "cohen_kappa_quadratic": kappa(a, b, weights="quadratic", labels=everything),
        "spearman": scipy.stats.spearmanr(a, b).statistic,
        "kendall": scipy.stats.kendalltau(a, b).statistic,
        "pearson": scipy.stats.pearsonr(a, b).statistic,
        "bias": np.mean(b - a),
        "krippendorff_alpha": krippendorff.alpha(np.array([a, b], dtype=float), level_of_measurement="ordinal"),
    }
    for name, value in expected.items():
        assert found[name].value == pytest.approx(value, abs=1e-9), name


@on_random_tables
def test_numbers_agree_with_scipy_and_krippendorff(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = rng.normal(1_000, 2, int(rng.integers(5, 120)))
    b = a + rng.normal(0.5, rng.uniform(0.1, 3), len(a))
    found = stats.agreement(a, b, scale="interval", **FAST)
    assert found["pearson"].value == pytest.approx(scipy.stats.pearsonr(a, b).statistic, abs=1e-9)
    assert found["spearman"].value == pytest.approx(scipy.stats.spearmanr(a, b).statistic, abs=1e-9)
    assert found["kendall"].value == pytest.approx(scipy.stats.kendalltau(a, b).statistic, abs=1e-9)
    peer = krippendorff.alpha(np.array([a, b]) - 1_000, level_of_measurement="interval")
    assert found["krippendorff_alpha"].value == pytest.approx(peer, abs=1e-9)
    assert found["icc"].value == pytest.approx(two_way_icc(np.column_stack([a, b])), abs=1e-9)


def two_way_icc(matrix: np.ndarray) -> float:
    """ICC(2,1) from the mean squares of a two-way analysis of variance, as Shrout and Fleiss (1979) write it."""
    n, k = matrix.shape
    grand, rows, columns = matrix.mean(), matrix.mean(axis=1), matrix.mean(axis=0)
    items = k * np.sum((rows - grand) ** 2) / (n - 1)
    raters = n * np.sum((columns - grand) ** 2) / (k - 1)
    rest = np.sum((matrix - rows[:, None] - columns + grand) ** 2) / ((n - 1) * (k - 1))
    return float((items - rest) / (items + (k - 1) * rest + k * (raters - rest) / n))


@on_random_tables
@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_of_many_raters_with_gaps_agrees_with_krippendorff(seed: int, scale: str) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 5, (int(rng.integers(6, 40)), int(rng.integers(2, 6)))).astype(float)
    matrix = np.where(rng.random(matrix.shape) < 0.5, matrix[:, :1], matrix)
    if scale == "ratio" and seed % 2:
        matrix *= rng.lognormal(0, 0.3, matrix.shape)
    if scale == "interval" and seed % 2:
        matrix += rng.normal(0, 0.3, matrix.shape)
    matrix[rng.random(matrix.shape) < 0.2] = np.nan
    found = stats.krippendorff_alpha(matrix, scale=scale, **FAST)  # type: ignore[arg-type]
    peer = krippendorff.alpha(matrix.T, level_of_measurement=scale)
    assert found.value == pytest.approx(peer, abs=1e-9)
    assert found.n + found.n_unmeasured == len(matrix)


@pytest.mark.parametrize(
    ("scale", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_alpha_of_krippendorff_s_own_example(scale: str, expected: float) -> None:
    """Twelve units by four observers with gaps (Krippendorff 2011, Computing Krippendorff's Alpha-Reliability)."""
    no = None
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, no, no, no], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, no, 3],
        [no, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, no], [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, no],
    ]  # fmt: skip
    found = stats.krippendorff_alpha(list(zip(*observers, strict=True)), scale=scale, **FAST)  # type: ignore[arg-type]
    assert found.value == pytest.approx(expected, abs=5e-4)
    assert (found.n, found.n_unmeasured) == (11, 1)


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_of_many_different_values(scale: str) -> None:
    """More values than a table of categories could hold, zeros among them, and the same from two raters."""
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 60, 80)
    matrix = np.clip(truth[:, None] + rng.integers(-3, 4, (80, 3)) * (rng.random((80, 3)) < 0.5), 0, None) * 1.0
    matrix[rng.random(matrix.shape) < 0.2] = np.nan
    peer = krippendorff.alpha(matrix.T, level_of_measurement=scale)
    assert stats.krippendorff_alpha(matrix, scale=scale, **FAST).value == pytest.approx(peer, abs=1e-9)  # type: ignore[arg-type]
    two = stats.agreement(matrix[:, 0], matrix[:, 1], scale=scale, **FAST)["krippendorff_alpha"]  # type: ignore[arg-type]
    assert two.value == pytest.approx(krippendorff.alpha(matrix[:, :2].T, level_of_measurement=scale), abs=1e-9)
    assert two.low is not None
    assert two.low < two.value < two.high  # type: ignore[operator]


@on_random_tables
def test_fleiss_agrees_with_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(int(rng.integers(2, 8)), rng.dirichlet(np.ones(4)), int(rng.integers(5, 40)))
    for chance in ("fleiss", "randolph"):
        found = stats.fleiss_kappa_of_counts(counts, chance=chance, **FAST)
        expected = fleiss_kappa(counts, method=chance)
        assert found.value == pytest.approx(expected, abs=1e-9, nan_ok=True)


@on_random_tables
def test_the_standard_error_of_kappa_agrees_with_statsmodels(seed: int) -> None:
    """Fleiss, Cohen and Everitt's asymptotic error is the infinitesimal jackknife's: the delta interval beside BCa."""
    a, b = ratings(seed, 3)
    found = stats.agreement(a, b, categories=[0, 1, 2], **FAST)["cohen_kappa"]
    table = to_table(np.column_stack([a, b]), bins=np.arange(4) - 0.5)[0]
    peer = cohens_kappa(table)
    if peer.std_kappa > 1e-9:
        low, high = found.intervals["delta"]
        half = max(high - found.value, found.value - low)  # an end of it stops at the end of the scale
        assert half == pytest.approx(1.959963984540054 * peer.std_kappa, abs=1e-7)


@pytest.mark.parametrize("ratings", [[1, 2, 3], [[1], [2]]])
def test_ratings_of_fewer_than_two_raters_are_refused(ratings: Any) -> None:
    with pytest.raises(ValueError, match="two raters at least; got shape"):
        stats.icc(ratings)


def test_icc_of_the_published_table() -> None:
    """Shrout and Fleiss (1979), table 2: ICC(2,1) = .29."""
    table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    assert stats.icc(table).value == pytest.approx(0.29, abs=0.005)
    assert stats.icc(table).value == pytest.approx(two_way_icc(np.array(table, dtype=float)), abs=1e-12)


def test_gwets_coefficients_by_hand() -> None:
    """100 items: both yes 80, both no 5, split 15. Shares of yes .875: chance 2 · .875 · .125 = .21875."""
    a = ["yes"] * 90 + ["no"] * 10
    b = ["yes"] * 80 + ["no"] * 10 + ["yes"] * 5 + ["no"] * 5
    found = stats.agreement(a, b)
    chance = 2 * 0.875 * 0.125
    assert found["gwet_ac1"].value == pytest.approx((0.85 - chance) / (1 - chance), abs=1e-12)
    expected = 0.90 * 0.85 + 0.10 * 0.15
    assert found["cohen_kappa"].value == pytest.approx((0.85 - expected) / (1 - expected), abs=1e-12)


def test_ac2_by_hand() -> None:
    """Grades 1 to 3, quadratic weights (1, ¾, 0): three pairs agree, one is a step off, none is two off."""
    found = stats.agreement([1, 2, 3, 1], [1, 2, 3, 2], scale="ordinal")["gwet_ac2"]
    shares = np.array([3, 3, 2]) / 8
    observed = (3 + 0.75) / 4
    chance = (3 + 4 * 0.75) / (3 * 2) * np.sum(shares * (1 - shares))
    assert found.value == pytest.approx((observed - chance) / (1 - chance), abs=1e-12)


def test_statistics_follow_the_scale() -> None:
    nominal = stats.agreement(["a", "b", "a"], ["a", "b", "b"], **FAST)
    assert set(nominal) == {"accuracy", "balanced_accuracy", "cohen_kappa", "gwet_ac1", "krippendorff_alpha"}
    words = stats.agreement(["low", "high"], ["low", "mid"], scale="ordinal", categories=["low", "mid", "high"], **FAST)
    assert {"gwet_ac2", "spearman", "kendall"} <= set(words)
    assert not {"icc", "pearson", "bias"} & set(words)
    numbers = stats.agreement([1.5, 2.5, 9.0], [1.0, 3.0, 8.0], scale="interval", **FAST)
    assert set(numbers) == {"pearson", "spearman", "kendall", "icc", "krippendorff_alpha", "bias"}


def test_order_of_words_matters_on_an_ordinal_scale() -> None:
    a, b = ["low", "mid", "high", "high"], ["mid", "mid", "high", "low"]
    right = stats.agreement(a, b, scale="ordinal", categories=["low", "mid", "high"], **FAST)
    wrong = stats.agreement(a, b, scale="ordinal", **FAST)
    assert right["cohen_kappa"].value == pytest.approx(wrong["cohen_kappa"].value)
    assert right["cohen_kappa_quadratic"].value != pytest.approx(wrong["cohen_kappa_quadratic"].value)


def test_a_sure_interval_of_twenty_labels_is_wide() -> None:
    """18 of 20: Wilson .70 to .97, which cannot tell .85 from .95."""
    found = stats.agreement([1] * 20, [1] * 18 + [0] * 2)["accuracy"]
    assert found.method == "wilson"
    assert (found.low, found.high) == pytest.approx((0.699, 0.972), abs=5e-4)


def test_no_interval_leaves_its_scale() -> None:
    """Three items of which both raters say the same, and small tables of any kind: a share is from 0 to 1."""
    rng = np.random.default_rng(2)
    cases = [(["yes", "yes", "no"], ["yes", "yes", "no"])]
    cases += [tuple(rng.integers(0, grades, (2, n)).tolist()) for n in (2, 3, 5, 9) for grades in (2, 3, 5)]
    for first, second in cases:
        scale = "nominal" if isinstance(first[0], str) else "ordinal"
        for name, one in stats.agreement(first, second, scale=scale, resamples=200).items():
            if name == "bias" or one.low is None or one.high is None:
                continue
            least = 0.0 if name in ("accuracy", "balanced_accuracy") else -1.0
            assert least <= one.low <= one.high <= 1.0, (name, first, second, one)
    for n, raters in ((2, 3), (3, 3), (4, 5), (9, 4)):
        table = rng.integers(0, 4, (n, raters)).tolist()
        several = [stats.icc(table, resamples=200), stats.fleiss_kappa(table, resamples=200)]
        several += [stats.krippendorff_alpha(table, scale=each, resamples=200) for each in ("nominal", "interval")]
        for one in several:
            assert one.low is None or one.high is None or -1.0 <= one.low <= one.high <= 1.0, (table, one)


def test_perfect_agreement_and_one_category() -> None:
    """Four items on which both agree may be four of many on which they do not always: there is a width. Numbers have
    no cells that could have been seen, and none."""
    perfect = stats.agreement([0, 1, 2, 1], [0, 1, 2, 1], scale="ordinal", categories=[0, 1, 2])
    for name in ("cohen_kappa", "cohen_kappa_quadratic", "krippendorff_alpha", "spearman", "kendall", "gwet_ac2"):
        one = perfect[name]
        assert (one.value, one.high, one.method) == (pytest.approx(1), pytest.approx(1), "bayesian"), name
        assert one.low is not None
        assert -1 < one.low < 0.6, name
    for name in ("pearson", "icc"):
        assert (perfect[name].value, perfect[name].low, perfect[name].note) == (pytest.approx(1), None, "identical")
    assert perfect["accuracy"].low is not None
    assert perfect["accuracy"].low < 0.6
    single = stats.agreement([1, 1, 1], [1, 1, 1], scale="ordinal")
    for name in ("cohen_kappa", "krippendorff_alpha", "spearman", "pearson", "icc"):
        assert math.isnan(single[name].value), name
        assert single[name].note == ("undefined" if name == "krippendorff_alpha" else "constant")
    assert single["accuracy"].value == 1


@pytest.mark.parametrize("said", [3, 0.1, 1e-9, 1e9])
@pytest.mark.parametrize("groups", [None, 6])
def test_a_rater_who_always_says_the_same_agrees_with_nobody(said: float, groups: int | None) -> None:
    """κ of people and a judge that always says 3 was `0.0000 [−0.0000, 0.0000]`: rounding, which is no spread."""
    rng = np.random.default_rng(2)
    people = said * rng.integers(1, 6, 48).astype(float)
    clusters = None if groups is None else np.repeat(np.arange(groups), 48 // groups)
    for scale in ("ordinal", "interval"):
        for a, b in ((people, np.full(48, said)), (np.full(48, said), people)):
            found = stats.agreement(a, b, scale=scale, clusters=clusters, **FAST)  # type: ignore[arg-type]
            wanted = {"spearman", "kendall", "pearson", "icc"}
            wanted |= {name for name in found if name.startswith("cohen")}
            for name in wanted:
                one = found[name]
                assert math.isnan(one.value), name
                assert (one.low, one.high, one.method, one.note, one.n) == (None, None, "none", "constant", 48), name
            for name, one in found.items():
                assert name == "bias" or one.low is None or one.high - one.low > 1e-6, name  # type: ignore[operator]
    assert stats.icc(np.column_stack([people, np.full(48, said)]), **FAST).note == "constant"
    panel = np.column_stack([people, np.full(48, said), np.full(48, 2 * said)])
    assert math.isnan(stats.icc(panel, **FAST).value), "one rater who varies goes with nobody"
    assert stats.spearman(people, np.full(48, said), clusters=clusters, **FAST).note == "constant"


@given(unit=st.floats(-9, 9), seed=st.integers(0, 1_000))
def test_no_unit_makes_or_hides_a_spread(unit: float, seed: int) -> None:
    """Ratings in millionths or millions have the coefficients of ratings in ones."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=20)
    b = a + rng.normal(size=20)
    plain, scaled = (stats.agreement(a * size, b * size, scale="interval", **FAST) for size in (1.0, 10.0**unit))
    for name in ("pearson", "icc", "krippendorff_alpha"):
        assert scaled[name].value == pytest.approx(plain[name].value, abs=1e-9)
        assert scaled[name].low == pytest.approx(plain[name].low, abs=1e-6)


def test_categories_are_the_scale_s_and_never_those_that_were_used() -> None:
    """AC₂ of five levels, of which these items use four: another number than of four, and no interval unless told."""
    a, b = [1, 2, 2, 4, 4, 5, 5, 5, 1, 4], [1, 2, 4, 4, 5, 5, 5, 4, 2, 4]
    told = stats.agreement(a, b, scale="ordinal", categories=[1, 2, 3, 4, 5], **FAST)
    seen = stats.agreement(a, b, scale="ordinal", **FAST)
    apart = np.array(a) - np.array(b)
    shares = (np.bincount(a, minlength=6) + np.bincount(b, minlength=6))[1:] / 20
    weights = 1 - np.subtract.outer(np.arange(5), np.arange(5)) ** 2 / 16
    chance = weights.sum() / 20 * np.sum(shares * (1 - shares))
    assert told["gwet_ac2"].value == pytest.approx((np.mean(1 - apart**2 / 16) - chance) / (1 - chance), abs=1e-12)
    for name in ("gwet_ac1", "gwet_ac2", "cohen_kappa_linear", "cohen_kappa_quadratic"):
        assert told[name].low is not None
        assert (seen[name].low, seen[name].method, seen[name].note) == (None, "none", "open_scale")
    assert seen["cohen_kappa"].low is not None
    booleans = stats.agreement([True] * 12, [True] * 12, **FAST)["gwet_ac1"]
    assert booleans.value == 1
    assert booleans.low is not None, "of booleans both values are known, seen or not"


def test_kendall_over_clusters_has_the_error_of_leaving_each_out_in_turn() -> None:
    """Ten clusters of 26: the interval of τ stands on what each cluster moves, not on there being ten of them."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(10), 26)
    shared = rng.normal(size=260)
    a, b = shared + rng.normal(size=260), shared + rng.normal(size=260)

    def tau(kept: np.ndarray) -> float:
        return float(scipy.stats.kendalltau(a[kept], b[kept]).statistic)

    value = tau(groups >= 0)
    moved = np.array([tau(groups != left) for left in range(10)]) - value
    half = scipy.stats.t.ppf(0.975, 9) * math.sqrt(0.9 * np.sum(moved**2)) / (1 - value**2)
    found = stats.agreement(a, b, scale="interval", clusters=groups, **FAST)
    one = found["kendall"]
    ends = np.tanh(np.arctanh(value) + np.array([-half, half]))
    assert (one.low, one.high) == pytest.approx(tuple(ends), abs=1e-9)
    assert (one.method, one.clusters, one.n) == ("fisher", 10, 260)
    rho = found["spearman"]
    assert rho.low is not None
    assert rho.high is not None
    by_number = 2 * 1.96 * math.sqrt(0.437 / 6)
    assert one.high - one.low < by_number / 4  # type: ignore[operator]
    assert 0.5 < (one.high - one.low) / (rho.high - rho.low) < 1.5, "of the same data"  # type: ignore[operator]


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
def test_no_rating_at_all(scale: str) -> None:
    for a, b in (([], []), ([None, 1.0], [2.0, math.nan])):
        for name, one in stats.agreement(a, b, scale=scale).items():  # type: ignore[arg-type]
            assert math.isnan(one.value), name
            assert (one.n, one.n_unmeasured, one.low) == (0, len(a), None)
    one = stats.agreement([1.0], [2.0], scale=scale)  # type: ignore[arg-type]
    assert all(each.n == 1 and each.n_unmeasured == 0 for each in one.values())


def test_missing_ratings_are_left_out_in_pairs() -> None:
    a = [1, 2, None, 2, 1, 1, math.nan, 2]
    b = [1, 2, 1, None, 2, 1, 1, 2]
    found = stats.agreement(a, b)
    kept = stats.agreement([1, 2, 1, 1, 2], [1, 2, 2, 1, 2])
    for name, one in found.items():
        assert one.value == pytest.approx(kept[name].value)
        assert (one.n, one.n_unmeasured) == (5, 3)


def test_clusters_of_items_widen_the_interval() -> None:
    rng = np.random.default_rng(0)
    a = np.repeat(rng.integers(0, 2, 40), 10)
    b = np.repeat(np.where(rng.random(40) < 0.8, a[::10], 1 - a[::10]), 10)
    naive = stats.agreement(a, b)["cohen_kappa"]
    honest = stats.agreement(a, b, clusters=np.repeat(np.arange(40), 10))["cohen_kappa"]
    assert honest.clusters == 40
    widths = [one.intervals["bca"][1] - one.intervals["bca"][0] for one in (naive, honest)]
    assert widths[1] > 2.5 * widths[0]


def test_alpha_over_clusters_has_the_error_of_leaving_each_out_in_turn() -> None:
    """Krippendorff's own library for α without each cluster; Student's quantile with the freedom of independent items
    in clusters of these sizes, less by the kurtosis of what each moves."""
    rng = np.random.default_rng(6)
    sizes = rng.integers(1, 9, 15)
    codes = np.repeat(np.arange(15), sizes)
    truth = rng.integers(0, 3, len(codes))
    table = np.where(rng.random((len(codes), 3)) < 0.75, truth[:, None], rng.integers(0, 3, (len(codes), 3)))

    def alpha(kept: np.ndarray) -> float:
        return float(krippendorff.alpha(table[kept].T, level_of_measurement="interval"))

    value = alpha(codes >= 0)
    moved = np.array([alpha(codes != left) for left in range(15)]) - value
    error = math.sqrt(14 / 15 * np.sum(moved**2))
    n = len(codes)
    covariance = np.diag(sizes.astype(float)) - np.outer(sizes, sizes) / n
    standard = moved**2 / np.diag(covariance)
    kurtosis = np.mean(standard**2) / np.mean(standard) ** 2
    freedom = np.trace(covariance) ** 2 / np.trace(covariance @ covariance) * 2 / max(kurtosis - 1, 2)
    half = scipy.stats.t.ppf(0.975, freedom) * error / (1 - value**2)
    ends = np.tanh(np.arctanh(value) + np.array([-half, half]))
    one = stats.krippendorff_alpha(table, scale="interval", clusters=codes, resamples=100)
    assert (one.method, one.clusters) == ("fisher", 15)
    assert (one.low, one.high) == pytest.approx(tuple(ends), abs=1e-9)
    order = rng.permutation(n)
    again = stats.krippendorff_alpha(table[order], scale="interval", clusters=codes[order], resamples=100)
    assert (again.low, again.high) == pytest.approx((one.low, one.high), rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stats.agreement([1], [1, 2]), "a has 1 ratings and b 2"),
        (lambda: stats.agreement([-1], [1], scale="ratio"), "a ratio scale begins at zero; got -1"),
        (lambda: stats.krippendorff_alpha([["a", "b"]], scale="ratio"), "needs numbers"),
        (lambda: stats.krippendorff_alpha([[1.0, math.inf]], scale="interval"), "infinite"),
        (lambda: stats.agreement(["a"], ["b"], scale="interval"), "needs numbers"),
        (lambda: stats.agreement([1, 5], [1, 2], categories=[1, 2]), "labels 5 are not among"),
        (lambda: stats.agreement([1.0, math.inf], [1.0, 2.0], scale="interval"), r"a\[1\] is inf"),
        (lambda: stats.icc([[1.0], [2.0]]), "two raters at least"),
        (lambda: stats.icc([[1.0, math.inf], [2.0, 1.0]]), "infinite"),
        (lambda: stats.fleiss_kappa_of_counts([[1, 2], [2, 2]]), "same number of raters"),
        (lambda: stats.fleiss_kappa([["a", "b"]], chance="scott"), "chance is one of fleiss, randolph"),
        (lambda: stats.cochran_q([[0, 2], [1, 1]]), "hits are 0 or 1"),
    ],
)
def test_bad_ratings_are_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_the_table_of_categories() -> None:
    labels, table = stats.confusion(["a", "b", "b", None], ["a", "a", "b", "b"])
    assert labels == ["a", "b"]
    assert table.tolist() == [[1, 0], [1, 1]]


def test_people_and_automatic_scores_of_real_answers(shared_data: Callable[[str], Path]) -> None:
    """Two people's preferences between pairs of answers, −2 … 2: κ and α against the peers, people as the ceiling."""
    with gzip.open(shared_data("ragchecker-human-pref/pairs_even.jsonl.gz"), "rt", encoding="utf-8") as file:
        pairs = [json.loads(line) for line in file]
    for aspect in ("correctness", "completeness", "overall"):
        a, b = ([int(label(pair[f"human_annotator_{who}"], aspect)) for pair in pairs] for who in "ab")
        found = stats.agreement(a, b, scale="ordinal", categories=[-2, -1, 0, 1, 2], resamples=500)
        labels = [-2, -1, 0, 1, 2]
        assert found["cohen_kappa"].value == pytest.approx(
            sklearn.metrics.cohen_kappa_score(a, b, labels=labels), abs=1e-9
        )
        for weights in ("linear", "quadratic"):
            peer = sklearn.metrics.cohen_kappa_score(a, b, labels=labels, weights=weights)
            assert found[f"cohen_kappa_{weights}"].value == pytest.approx(peer, abs=1e-9)
        for scale in ("nominal", "ordinal", "interval"):
            peer = krippendorff.alpha(np.array([a, b], dtype=float), level_of_measurement=scale)
            mine = stats.krippendorff_alpha(np.column_stack([a, b]), scale=scale, resamples=500)  # type: ignore[arg-type]
            assert mine.value == pytest.approx(peer, abs=1e-9)
            assert mine.low is not None
            assert mine.high is not None
            assert mine.low < mine.value < mine.high
        assert found["cohen_kappa_quadratic"].value > found["cohen_kappa"].value > 0


def label(annotation: object, aspect: str) -> int:
    """A person's preference for the second answer."""
    assert isinstance(annotation, dict)
    return int(annotation[aspect])


def test_three_people_on_real_dialogue_answers(shared_data: Callable[[str], Path]) -> None:
    """Grades 1 to 4 by up to three people, with gaps: α against the peer on every scale and metric."""
    with gzip.open(shared_data("mtrag-human-eval/human_eval_half.json.gz"), "rt", encoding="utf-8") as file:
        data = json.load(file)
    for metric in ("naturalness", "appropriateness", "completeness", "faithfulness"):
        rows = grades(data, metric)
        assert len(rows) > 100
        width = max(len(row) for row in rows)
        matrix = np.array([row + [np.nan] * (width - len(row)) for row in rows])
        for scale in ("nominal", "ordinal", "interval"):
            peer = krippendorff.alpha(matrix.T, level_of_measurement=scale)
            mine = stats.krippendorff_alpha(matrix, scale=scale, resamples=1_000)  # type: ignore[arg-type]
            assert mine.value == pytest.approx(peer, abs=1e-9)


def grades(data: dict[str, object], metric: str) -> list[list[float]]:
    """One row an answer, one grade a person."""
    evaluations = data["evaluations"]
    assert isinstance(evaluations, list)
    return [
        [float(mark["value"]) for mark in one["annotations"][metric].values()]
        for one in evaluations
        if metric in one["annotations"]
    ]


class TestSpearmanAlone:
    @pytest.mark.parametrize("seed", range(5))
    @pytest.mark.parametrize("rounding", [0, 3])
    def test_it_is_that_of_agreement_and_of_scipy(self, seed: int, rounding: int) -> None:
        rng = np.random.default_rng(seed)
        a = rng.normal(size=60).round(rounding)
        b = (a + rng.normal(size=60)).round(rounding)
        clusters = rng.integers(0, 12, 60) if seed % 2 else None
        alone = stats.spearman(a, b, clusters=clusters, resamples=200)
        assert alone.value == pytest.approx(scipy.stats.spearmanr(a, b).statistic, abs=1e-12)
        assert alone == stats.agreement(a, b, scale="interval", clusters=clusters, resamples=200)["spearman"]

    def test_what_is_missing_is_counted_and_what_is_constant_undefined(self) -> None:
        found = stats.spearman([1, 2, 3, 4, math.nan, 6], [1, 3, 2, None, 5, 6], resamples=100)
        assert (found.n, found.n_unmeasured) == (4, 2)
        assert found.value == pytest.approx(0.8)
        constant = stats.spearman([1.0] * 30, list(range(30)))
        assert math.isnan(constant.value)
        assert constant.low is constant.high is None
        with pytest.raises(ValueError, match="a has 2 numbers and b 1"):
            stats.spearman([1, 2], [1])

    def test_clusters_widen_by_what_they_share_not_by_their_number(self) -> None:
        """20 clusters of 10: the true ρ of ρ = .5 normal pairs is covered, in a narrower interval than of 20 items."""
        rng = np.random.default_rng(3)
        mix = np.linalg.cholesky([[1, 0.5], [0.5, 1]]).T
        truth = 6 / math.pi * math.asin(0.25)
        covered, widths = 0, []
        for _ in range(60):
            shared = np.repeat(rng.normal(size=(20, 2)) @ mix, 10, axis=0) * math.sqrt(0.3)
            a, b = (shared + rng.normal(size=(200, 2)) @ mix * math.sqrt(0.7)).T
            found = stats.spearman(a, b, clusters=np.repeat(np.arange(20), 10), resamples=100)
            assert found.low is not None
            assert found.high is not None
            covered += found.low <= truth <= found.high
            widths.append(found.high - found.low)
        assert covered >= 52, "at least .87 of a nominal .95"
        assert np.mean(widths) < 0.4, "20 independent items would give .75"


def test_the_size_of_the_unit_does_not_change_an_interval_scale_s_alpha() -> None:
    """Scores on 0 … 1 differ by less than one: expected disagreement is small, not absent."""
    rng = np.random.default_rng(3)
    a = rng.random(40)
    b = np.clip(a + rng.normal(0, 0.2, 40), 0, 1)
    expected = krippendorff.alpha(np.array([a, b]), level_of_measurement="interval")
    for unit in (1, 0.01, 1000):
        found = stats.agreement(a * unit, b * unit, scale="interval", **FAST)["krippendorff_alpha"]
        assert found.value == pytest.approx(expected, abs=1e-9)


def test_rank_correlations_have_bonett_and_wrights_intervals() -> None:
    """tanh(artanh r ± z · s), s² = (1 + r² / 2) / (n − 3) for Spearman's ρ and 0.437 / (n − 4) for Kendall's τ."""
    rng = np.random.default_rng(4)
    a = rng.normal(size=60)
    b = a + rng.normal(size=60)
    found = stats.agreement(a, b, scale="interval", **FAST)
    rho, tau = scipy.stats.spearmanr(a, b).statistic, scipy.stats.kendalltau(a, b).statistic
    for name, r, error in (
        ("spearman", rho, math.sqrt((1 + rho**2 / 2) / 57)),
        ("kendall", tau, math.sqrt(0.437 / 56)),
    ):
        half = scipy.stats.norm.ppf(0.975) * error
        expected = math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)
        assert (found[name].low, found[name].high) == pytest.approx(expected, abs=1e-9), name
        assert found[name].method == "bonett_wright"


def test_accuracy_and_bias_vary_by_clusters_and_a_missing_rating_is_in_none() -> None:
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(30), 4)
    a = rng.integers(0, 3, 120).astype(float)
    b = np.where(rng.random(30)[groups] < 0.6, a, (a + 1) % 3)
    ratings_of_b = [None, *b[1:].tolist()]
    found = stats.agreement(a.tolist(), ratings_of_b, scale="ordinal", clusters=groups.tolist(), **FAST)
    same = np.where(np.arange(120) > 0, a == b, np.nan)
    expected = stats.estimate(same, clusters=groups.tolist(), bounds=(0, 1), **FAST)
    assert (found["accuracy"].low, found["accuracy"].high) == (expected.low, expected.high)
    assert (found["accuracy"].clusters, found["accuracy"].n_unmeasured) == (30, 1)
    alone = stats.agreement(a.tolist(), ratings_of_b, scale="ordinal", **FAST)["accuracy"]
    assert found["accuracy"].high - found["accuracy"].low > 1.5 * (alone.high - alone.low)  # type: ignore[operator]


def test_the_order_of_means_has_ties_where_they_differ_by_rounding_alone() -> None:
    """Of 3 systems: one pair in order, one reversed, one tied on a side: (1 − 1) / √(3 · 2); two in order, one tied on
    a side: 2 / √(3 · 2)."""
    people = np.array([1.0, 2.0, 3.0])
    assert order_tau(np.array([0.1 + 0.2, 0.3, 0.9]), people) == pytest.approx(2 / math.sqrt(6))
    assert order_tau(np.array([0.3, 0.9, 0.1 + 0.2]), people) == pytest.approx(0.0)
    assert order_tau(np.array([0.5, math.nan, 0.9]), people) == 1.0
    assert math.isnan(order_tau(np.array([0.3, 0.1 + 0.2, 0.3]), people))


def test_the_interval_of_an_order_is_of_the_draws_that_have_one() -> None:
    """Of three in order, one swap, two and all turned round τ is 1, ⅓, −⅓ and −1: quarters by hand, ties left out."""
    orders, tied = ([1, 2, 3], [2, 1, 3], [3, 1, 2], [3, 2, 1]), [2, 2, 2]
    draws = [(np.array([1.0, 2.0, 3.0]), np.array(order, dtype=float)) for order in (*orders, tied)]
    assert tau_ends(draws, 0.5) == (pytest.approx(-0.5), pytest.approx(0.5))
    assert tau_ends(draws[-1:], 0.5) == (None, None)
