"""The fast engines draw from the distributions they stand for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ragbench.old import stats
from ragbench.old.core.language import translator
from ragbench.old.core.types import Comparison, Estimate, Verdict
from ragbench.old.stats import families, intervals, signs, values
from ragbench.old.stats.sums import influences
from ragbench.old.stats.values import Units, units_of
from ragbench.old.tiers.basics.findings import said
from ragbench.old.tiers.basics.verdict_tables import interval_names


@settings(max_examples=15, deadline=None)
@given(arrays.arrays(np.float64, (25, 3), elements=st.sampled_from([-0.0, 0.0, 0.5, 1.0, 1 / 3])))
def test_cells_are_the_distinct_rows_with_their_counts(matrix: np.ndarray) -> None:
    rows, counts = values.cells(matrix)
    expected, expected_counts = np.unique(matrix + 0.0, axis=0, return_counts=True)
    order = np.lexsort(rows.T[::-1])
    assert np.array_equal(rows[order], expected)
    assert np.array_equal(counts[order], expected_counts)


def test_rows_that_meet_in_one_hash_are_still_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "_hashes", lambda matrix: np.zeros(len(matrix), dtype=np.uint64))
    rows, counts = values.cells(np.array([[1.0], [2.0], [1.0]]))
    assert rows[:, 0].tolist() == [1.0, 2.0]
    assert counts.tolist() == [2, 1]


@pytest.mark.parametrize("way", ["cell by cell", "one by one"])
def test_counts_are_multinomial_however_they_are_drawn(way: str) -> None:
    """A count is Binomial(n, share), a resample holds n units, and two counts are correlated negatively."""
    counts = np.array([30, 60, 10]) * (10 if way == "cell by cell" else 1)
    if way == "one by one":
        counts = np.append(counts, np.ones(20, dtype=int))
    n = int(counts.sum())
    blocks = list(intervals.cell_draws(counts, 20_000, 0))
    assert len(blocks) == -(
        -20_000 // (intervals.BLOCK // len(counts) if way == "cell by cell" else intervals.DRAWN // n)
    )
    drawn = np.concatenate(blocks).astype(np.int64)
    assert (drawn.sum(axis=1) == n).all()
    for cell, count in enumerate(counts[:4]):
        edges = scipy.stats.binom.ppf([0.1, 0.3, 0.5, 0.7, 0.9], n, count / n)
        for edge in np.unique(edges):
            expected = scipy.stats.binom.cdf(edge, n, count / n)
            assert np.mean(drawn[:, cell] <= edge) == pytest.approx(expected, abs=5 * np.sqrt(0.25 / 20_000))
    expected = -n * counts[0] / n * counts[1] / n
    assert np.cov(drawn[:, 0], drawn[:, 1])[0, 1] == pytest.approx(expected, rel=0.1)


def test_equal_units_together_are_drawn_as_they_are_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    counts, rows = np.array([3, 1, 250, 1, 2]), np.array([[0.5], [2.0], [-1.0], [7.0], [0.25]])
    monkeypatch.setattr(intervals, "SINGLE", 0.0)
    drawn = np.concatenate(list(intervals.cell_draws(counts, 300, 4))).astype(np.int64)
    units = np.concatenate(list(intervals.unit_draws(257, 300, 4))).astype(np.int64)
    assert drawn.tolist() == [[row[:3].sum(), row[3], row[4:254].sum(), row[254], row[255:].sum()] for row in units]
    assert intervals.total_draws(rows, counts, 300, 4).tolist() == (drawn @ rows).tolist()


def test_draws_that_are_kept_are_those_that_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [block.tolist() for block in intervals.unit_draws(70, 5_000, 3)]
    assert len(kept) > 1
    again = intervals.unit_draws(70, 5_000, 3)
    assert again is intervals.unit_draws(70, 5_000, 3)
    with pytest.raises(ValueError, match="read-only"):
        next(iter(again))[0, 0] = 1
    monkeypatch.setattr(intervals, "MOST_KEPT", 70 * 5_000 - 1)
    assert [block.tolist() for block in intervals.unit_draws(70, 5_000, 3)] == kept


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ties", "few", "many", "heavy", "clusters"])
def test_resampled_means_have_the_bootstrap_distribution(kind: str) -> None:
    """Mean, variance and skewness of the resampled mean are those of the sample, divided by 1, n and √n."""
    rng = np.random.default_rng(1)
    n, resamples = (200, 40_000) if kind == "few" else (3_000, 40_000)
    values = rng.lognormal(0, 1, n) if kind == "heavy" else np.round(rng.gamma(0.4, 1, n), 1 if kind == "ties" else 9)
    codes = np.arange(n) // 2 if kind == "clusters" else None
    units = units_of(values[:, None], codes).column(0)
    means, _ = intervals.mean_draws(units, resamples, 1, studentize=False)
    whole = values.reshape(-1, 2).mean(axis=1) if kind == "clusters" else values
    assert means.mean() == pytest.approx(whole.mean(), abs=4 * whole.std() / np.sqrt(len(whole) * resamples))
    assert means.std() == pytest.approx(whole.std() / np.sqrt(len(whole)), rel=0.02)
    skewness = scipy.stats.skew(whole) / np.sqrt(len(whole))
    assert scipy.stats.skew(means) == pytest.approx(skewness, abs=5 * np.sqrt(6 / resamples))


def test_clusters_are_drawn_whole() -> None:
    """Two clusters of 1 and 3 values: a resample is (A, A), (A, B) twice, or (B, B)."""
    units = units_of(np.array([[8.0], [0.0], [1.0], [2.0]]), np.array([0, 1, 1, 1])).column(0)
    found = np.round(intervals.mean_draws(units, 4_000, 0, studentize=False)[0], 9)
    seen, counts = np.unique(found, return_counts=True)
    assert seen.tolist() == [1.0, 2.75, 8.0]
    assert counts / 4_000 == pytest.approx([0.25, 0.5, 0.25], abs=0.03)


@pytest.mark.parametrize("shape", ["ties", "few", "words", "single precision"])
def test_sign_flips_have_the_variance_of_independent_signs(shape: str) -> None:
    rng = np.random.default_rng(0)
    n = {"ties": 500, "few": 7, "words": 640, "single precision": 5_000}[shape]
    moved = rng.normal(size=(n, 2))
    moved = np.sign(moved) if shape == "words" else np.round(moved, 0 if shape == "ties" else 9)
    found = intervals.sign_flips(moved, 20_000, rng)[0]
    assert found.mean(axis=0) == pytest.approx([0, 0], abs=4 * np.sqrt((moved**2).sum(axis=0).max() / 20_000))
    assert found.var(axis=0) == pytest.approx((moved**2).sum(axis=0), rel=0.05)
    assert np.cov(found.T)[0, 1] == pytest.approx(moved[:, 0] @ moved[:, 1], abs=0.06 * (moved**2).sum(axis=0).max())


def test_sign_flips_reach_every_pattern_of_three() -> None:
    found = np.round(
        intervals.sign_flips(np.array([[1.0], [2.0], [4.0], [0.0]]), 8_000, np.random.default_rng(0))[0][:, 0]
    )
    seen, counts = np.unique(found, return_counts=True)
    assert seen.tolist() == [-7, -5, -3, -1, 1, 3, 5, 7]
    assert counts / 8_000 == pytest.approx(np.full(8, 1 / 8), abs=0.02)


@pytest.mark.parametrize("power", [1, 2])
def test_a_saddlepoint_is_the_p_of_all_patterns_of_signs(power: int) -> None:
    """All 2^120 patterns of 120 whole sizes, counted by convolution; ties count half."""
    sizes = np.maximum(np.arange(1, 121) ** power // 120 ** max(power - 1, 0), 1)
    patterns = np.ones(1)
    for size in sizes:
        patterns = (np.append(patterns, np.zeros(2 * size)) + np.append(np.zeros(2 * size), patterns)) / 2
    sums = np.arange(-sizes.sum(), sizes.sum() + 1)
    for standard in (0.0, 0.1, 0.7, 1.96, 3.0, 5.0, 7.0):
        near = round(standard * np.sqrt(np.sum(sizes**2)))
        observed = near + (near + sizes.sum()) % 2  # sums are all odd or all even
        beyond, at = patterns[sums > observed].sum(), patterns[sums == observed].sum()
        expected = min(2 * beyond + at, 1.0)
        assert at > 0
        assert signs.saddlepoint_p(sizes.astype(float), float(observed)) == pytest.approx(expected, rel=0.01)


def test_very_many_differences_have_the_p_of_flips_without_flips(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed, shift in enumerate((0.0, 0.01, 0.02, 0.03)):
        moved = np.random.default_rng(seed).uniform(-1.7, 1.7, 6_000) + shift
        many = stats.compare(np.zeros(6_000), moved, seed=seed)
        with monkeypatch.context() as patched:
            patched.setattr(intervals, "MOST_FLIPPED", 6_000)
            drawn = stats.compare(np.zeros(6_000), moved, seed=seed)
        assert (many.test, drawn.test) == ("sign flips, saddlepoint", "sign flips")
        assert many.p == pytest.approx(drawn.p, abs=4 * np.sqrt(drawn.p * (1 - drawn.p) / 10_000) + 1e-4)
    alike = stats.compare(np.zeros(6_000), np.abs(moved))
    assert 0 < alike.p < 1e-300
    assert alike.verdict is Verdict.BETTER


def test_signs_are_flipped_where_one_difference_outweighs_the_rest_or_few_differ() -> None:
    moved = np.random.default_rng(0).normal(size=6_000)
    assert stats.compare(np.zeros(6_000), np.append(moved[1:], 7.0)).test == "sign flips, saddlepoint"
    assert stats.compare(np.zeros(6_000), np.append(moved[1:], 900.0)).test == "sign flips"
    assert stats.compare(np.zeros(6_000), np.round(moved, 2)).test == "sign flips"


@pytest.mark.slow
def test_normal_sums_have_the_quantiles_of_flips(monkeypatch: pytest.MonkeyPatch) -> None:
    """Adjusted p of five hypotheses, two of them near copies, and the quantiles of their largest statistic."""
    rng = np.random.default_rng(3)
    moved = rng.exponential(size=(6_000, 5)) * rng.choice([-1, 1], (6_000, 5)) + [0.0, 0.02, 0.03, 0.04, 0.0]
    moved[:, 4] = moved[:, 3] + 0.01 * moved[:, 0]
    scale = np.sqrt(np.sum(moved**2, axis=0))
    found, normal = intervals.sign_flips(moved, 40_000, np.random.default_rng(0))
    largest = np.abs(found / scale).max(axis=1)
    adjusted = families.stepped_down(units_of(moved, None), [0.0] * 5, 0.05, 40_000, 0)
    monkeypatch.setattr(intervals, "MOST_FLIPPED", 6_000)
    flipped, drawn = intervals.sign_flips(moved, 40_000, np.random.default_rng(1))
    assert (normal, drawn) == (True, False)
    levels = [0.5, 0.9, 0.95, 0.99]
    assert np.quantile(largest, levels) == pytest.approx(
        np.quantile(np.abs(flipped / scale).max(axis=1), levels), rel=0.02
    )
    assert np.corrcoef(found.T) == pytest.approx(np.corrcoef(moved.T), abs=0.04)
    plain = families.stepped_down(units_of(moved, None), [0.0] * 5, 0.05, 40_000, 1)
    assert adjusted[2:] == (True,)
    assert adjusted[0] == pytest.approx(plain[0], abs=0.015)
    assert adjusted[1] == pytest.approx(plain[1], abs=0.002)


def test_a_family_by_normal_sums_says_so() -> None:
    rng = np.random.default_rng(0)
    base, other = ({name: rng.random(6_000) for name in ("a", "b")} for _ in range(2))
    joint = stats.jointly(list(stats.hypotheses(base, other).values()))
    assert {one.family for one in joint} == {"2, max-T by normal sums"}
    assert all(one.joint and one.p_adjusted is not None and one.p_adjusted >= one.p for one in joint)
    assert said(joint[0].family, translator("en")) == "adjusted for 2 comparisons (max-T by normal sums)"


def test_metrics_of_one_number_of_units_share_their_draws_and_no_value_hangs_on_another() -> None:
    intervals._kept_units.cache_clear()
    first, second = (units_of(np.random.default_rng(k).random((1_500, 1)), None).column(0) for k in (1, 2))
    alone = intervals.mean_draws(first, 500, 7, studentize=True)
    intervals.mean_draws(second, 500, 7, studentize=False)
    again = intervals.mean_draws(first, 500, 7, studentize=True)
    assert intervals._kept_units.cache_info().misses == 1
    assert np.array_equal(alone, again)
    assert not np.array_equal(alone, intervals.mean_draws(first, 500, 8, studentize=True))


def test_one_block_stays_small() -> None:
    """Peak memory of 10,000 resamples of 50,000 questions is far below an n × B array."""
    import tracemalloc

    rows = np.random.default_rng(0).random((50_000, 2))
    tracemalloc.start()
    intervals.total_draws(rows, np.ones(50_000, dtype=np.int64), 60, 0)
    intervals.sign_flips(rows - 0.5, 60, np.random.default_rng(0))
    assert tracemalloc.get_traced_memory()[1] < 60e6
    tracemalloc.stop()


def abcnon(statistic: Callable[[np.ndarray], float], number: int, level: float) -> list[float]:
    """Ends by the algorithm of DiCiccio and Efron (1992), unit by unit: derivatives by the weight of each."""
    flat, step, units = np.full(number, 1 / number), 0.001 / number, np.eye(number)
    value = statistic(flat)
    up, down = ([statistic(flat + sign * step * (unit - flat)) for unit in units] for sign in (1, -1))
    slopes = (np.array(up) - np.array(down)) / (2 * step)
    bends = (np.array(up) - 2 * value + np.array(down)) / step**2
    error = np.sqrt(np.sum(slopes**2)) / number
    shape = np.sum(slopes**3) / (6 * number**3 * error**3)
    along = slopes / (number**2 * error)
    curve = (statistic(flat + step * along) - 2 * value + statistic(flat - step * along)) / (2 * error * step**2)
    curvature = np.sum(bends) / (2 * number**2) / error - curve
    lean = scipy.stats.norm.ppf(2 * scipy.stats.norm.cdf(shape) * scipy.stats.norm.cdf(-curvature))
    shifted = lean + scipy.stats.norm.ppf([(1 - level) / 2, (1 + level) / 2])
    return [statistic(flat + each * along) for each in shifted / (1 - shape * shifted) ** 2]


def test_abc_is_that_of_its_authors() -> None:
    """Of a mean, of a mean of clusters (a ratio), and of a statistic that bends: one over a mean of squares."""
    rng = np.random.default_rng(0)
    sums = np.column_stack([rng.lognormal(0, 1, 40), rng.integers(1, 5, 40), rng.random(40)])
    counts = np.ones(40, dtype=np.int64)
    for kind in (lambda t: t[..., 0] / 40, lambda t: t[..., 0] / t[..., 1], lambda t: t[..., 0] ** 2 / t[..., 2] ** 3):
        units = Units(sums, sums[:, 1], counts, False, np.zeros(3))
        found = intervals.abc(kind, sums, counts, influences(kind, units), 0.9)
        expected = abcnon(lambda weights, kind=kind: float(kind(40 * (weights @ sums))), 40, 0.9)
        assert found == pytest.approx(expected, rel=1e-4)


def test_abc_of_a_mean_by_hand() -> None:
    """ȳ + σ w / (1 − a w)² with w = a ± z, a = Σd³ / (6 (Σd²)^1.5) and σ² = Σd² / n²: values 0, 0, 0, 4."""
    values = np.array([0.0, 0.0, 0.0, 4.0])
    shape = (27 - 3) / (6 * 12**1.5)
    w = shape + 1.959964 * np.array([-1, 1])
    expected = 1 + np.sqrt(12) / 4 * w / (1 - shape * w) ** 2
    found = intervals.abc(lambda t: t[..., 0] / 4, values[:, None], np.ones(4, dtype=np.int64), (values - 1) / 4, 0.95)
    assert found == pytest.approx(tuple(expected), abs=1e-6)


@pytest.mark.parametrize(
    "kind",
    [
        "hits",
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("clusters", "skewed", "differences", "corpus")),
    ],
)
def test_above_five_thousand_units_nothing_is_drawn_and_the_interval_is_as_wide(kind: str) -> None:
    """BCa of 5,000 units, ABC of one more; of the same units both have the same ends to 5 % of a standard error."""
    assert intervals.MOST_UNITS == 5_000
    rng, bounds, codes = np.random.default_rng(0), None, None
    values = rng.lognormal(0, 1, 5_001)
    if kind == "hits":
        values, bounds = (rng.random(5_001) < 0.97).astype(float), (0, 1)
    if kind == "clusters":
        codes = np.repeat(np.arange(5_001), rng.integers(1, 5, 5_001))
        values = values[codes] + rng.random(len(codes))

    def asked(number: int, method: str = "auto") -> Estimate | Comparison:
        own = values[:number] if codes is None else values[codes < number]
        of_own = None if codes is None else codes[codes < number]
        if kind == "differences":
            return stats.compare(np.zeros(number), own - 1.6)
        if kind == "corpus":
            return stats.resample(lambda t: t[..., 0] / t[..., 1], np.column_stack([own, own**2]), method=method)
        return stats.estimate(own, clusters=of_own, bounds=bounds, method=method)

    few, many = asked(5_000), asked(5_001)
    assert (few.method, many.method, many.note) == ("bca", "abc", "")
    assert many.high - many.low == pytest.approx(few.high - few.low, rel=0.04)
    if kind != "differences":
        drawn = asked(5_001, "bca")
        assert drawn.method == "bca"
        error = (drawn.high - drawn.low) / 3.92
        assert (many.low, many.high) == pytest.approx((drawn.low, drawn.high), abs=0.08 * error)


def test_intervals_say_how_many_resamples_only_where_there_are_some() -> None:
    english, russian = translator("en"), translator("ru")
    assert interval_names(["abc"], 10_000, english) == "analytic bootstrap interval (ABC)"
    assert interval_names(["bca", "abc", "bca"], 10_000, english) == (
        "bootstrap interval (BCa), 10,000 resamples; analytic bootstrap interval (ABC)"
    )
    assert interval_names(["abc"], 10_000, russian) == "аналитический бутстреп-интервал (ABC)"
