"""Statistics of whole sets, known only by their values: against means, sums and the jackknife, and by simulation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from ragbench.old import stats
from ragbench.old.core.types import Verdict
from ragbench.old.stats import SetValues
from ragbench.old.stats.set_statistics import set_influences

Function = Callable[[list[float]], float]
DRAWS = 2500


def mean(table: Sequence[float]) -> float:
    return math.fsum(table) / len(table)


def distinct(table: Sequence[float]) -> float:
    return len(set(table)) / len(table)


def values(
    function: Function,
    table: Sequence[float],
    *,
    groups: Sequence[int] | None = None,
    draws: int = DRAWS,
    left: bool = False,
    seed: int = 0,
) -> SetValues:
    """What a function gives of a table, as the bench has it: on the whole, on draws, and without each unit."""
    codes = list(range(len(table))) if groups is None else list(groups)
    units = [[one for one, code in zip(table, codes, strict=True) if code == unit] for unit in sorted(set(codes))]
    drawn = [
        function([one for unit, times in zip(units, counts, strict=True) for one in unit * int(times)])
        for counts in stats.set_draws(len(units), draws, seed)
    ]
    without = [
        function([one for place, unit in enumerate(units) if place != out for one in unit])
        for out in range(len(units) if left else 0)
    ]
    sizes = np.array([len(unit) for unit in units])
    return SetValues(function(list(table)), sizes, np.array(drawn), np.array(without), groups is not None, seed)


def test_a_mean_has_the_interval_of_a_mean() -> None:
    rng = np.random.default_rng(3)
    table = (rng.random(80) < 0.3).astype(float).tolist()
    one, same = stats.set_estimate(values(mean, table, draws=10_000), 3), stats.estimate([*table, *[None] * 3])
    assert (one.value, one.n, one.n_unmeasured, one.method) == (same.value, 80, 3, "bca")
    assert one.intervals["bca"] == pytest.approx(same.intervals["bca"], abs=0.013), "one step of the grid is 1 / 80"
    assert one.intervals["percentile"] == pytest.approx(same.intervals["percentile"], abs=0.013)


def test_a_ratio_has_the_interval_of_a_statistic_of_sums() -> None:
    rng = np.random.default_rng(4)
    rows = rng.gamma(2.0, 1.0, (60, 2)) + 0.1
    pairs = dict(enumerate(rows))

    def ratio(table: Sequence[float]) -> float:
        chosen = np.array([pairs[int(one)] for one in table])
        return float(chosen[:, 0].sum() / chosen[:, 1].sum())

    found = values(ratio, list(range(60)), left=True)
    one, same = stats.set_estimate(found), stats.resample(lambda t: t[..., 0] / t[..., 1], rows)
    width = same.intervals["bca"][1] - same.intervals["bca"][0]
    assert one.value == pytest.approx(same.value)
    for name in ("bca", "percentile", "delta"):
        assert one.intervals[name] == pytest.approx(same.intervals[name], abs=0.06 * width)
    exact = (found.left.mean() - found.left) * 59 / 60
    told = set_influences(found)
    assert told is not None
    assert np.corrcoef(told, exact)[0, 1] > 0.98
    assert math.sqrt(float(told @ told)) == pytest.approx(math.sqrt(float(exact @ exact)), rel=0.05)


def test_groups_are_drawn_whole() -> None:
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(40), 5)
    table = (rng.normal(size=40)[groups] + 0.1 * rng.normal(size=200)).tolist()
    one = stats.set_estimate(values(mean, table, groups=groups.tolist()))
    same = stats.estimate(table, clusters=groups)
    assert (one.clusters, one.n) == (40, 200)
    low, high = same.intervals["percentile"]
    assert one.intervals["percentile"] == pytest.approx((low, high), abs=0.08 * (high - low))


def test_where_repeats_move_the_value_questions_are_left_out() -> None:
    """Ten values of which eight are different: 0.8; without one of the two pairs 8 of 9, without another one 7 of 9."""
    table = [1.0, 1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    one = stats.set_estimate(values(distinct, table, left=True), bounds=(0.0, 1.0))
    assert (one.value, one.method, one.note) == (0.8, "jackknife", "repeats")
    left = np.array([8 / 9] * 4 + [7 / 9] * 6)
    error = math.sqrt(0.9 * float(np.sum((left - left.mean()) ** 2)))
    assert one.low == pytest.approx(0.8 - 2.262157 * error, abs=1e-6)
    assert one.high == 1.0, "0.8 + 2.26 errors is more than there is"
    alone = stats.set_estimate(values(distinct, table))
    assert (alone.low, alone.method, alone.note) == (None, "none", "slow")


@pytest.mark.parametrize(
    ("table", "function", "note"),
    [
        ([0.0] * 20, mean, "no_spread"),
        ([1.0], mean, "few"),
        ([1.0, 2.0], lambda _: math.nan, "empty"),
        ([1.0, 2.0, 3.0], lambda table: mean(table) if len(set(table)) > 1 else math.nan, "undefined"),
    ],
)
def test_what_has_no_interval_says_why(table: list[float], function: Function, note: str) -> None:
    one = stats.set_estimate(values(function, table))
    assert (one.low, one.high, one.method, one.note) == (None, None, "none", note)
    assert one.n + one.n_unmeasured == len(table)


def test_a_few_resamples_without_a_value_are_left_out() -> None:
    table = list(range(6))
    found = values(lambda own: mean(own) if len(set(own)) > 2 else math.nan, table)  # of 6 in 6, .02 have two or fewer
    assert 0 < np.isnan(found.draws).mean() < 0.1
    assert stats.set_estimate(found).method == "bca"


def test_two_means_are_compared_as_means_are() -> None:
    rng = np.random.default_rng(6)
    old, new = (rng.random(90) < 0.3).astype(float).tolist(), (rng.random(90) < 0.45).astype(float).tolist()
    places = np.where(np.arange(95) < 90, np.arange(95), -1)
    made = stats.set_hypothesis(values(mean, old), values(mean, new), places, better="lower")
    one, same = made.alone, stats.compare(old, new, better="lower")
    assert (one.difference, one.n, one.n_dropped) == (pytest.approx(same.difference), 90, 5)
    assert one.test == "sign flips of pseudo-values"
    assert one.p == pytest.approx(same.p, rel=0.35, abs=0.004)
    assert one.error == pytest.approx(same.error, rel=0.05)
    whole = stats.set_hypothesis(values(mean, old), values(mean, new), places[:90], better="lower").alone
    assert whole.verdict is same.verdict is Verdict.WORSE
    assert one.verdict is Verdict.CANNOT_BE_TOLD, "what five more answers would make of it is not known"
    assert np.nanmean(made.column) == pytest.approx(one.difference)
    assert np.isnan(made.column[90:]).all()
    again = stats.set_hypothesis(values(mean, old), values(mean, old), places)
    assert (again.alone.difference, again.alone.p, again.alone.verdict) == (0.0, 1.0, Verdict.NOT_SHOWN)


def test_what_nothing_is_known_of_is_not_compared() -> None:
    short = values(mean, [0.0, 1.0, 1.0], draws=0)
    made = stats.set_hypothesis(short, short, np.arange(3)).alone
    assert math.isnan(made.p)
    assert (made.method, made.test, made.note) == ("none", "none", "slow")


def test_one_of_two_that_repeats_move_decides_for_both() -> None:
    table = [float(one) for one in range(30)]
    own, moved = values(distinct, [*table[:15], *table[:15]], left=True), values(mean, table, left=True)
    assert stats.set_hypothesis(own, moved, np.arange(30)).alone.method == "jackknife"


@pytest.mark.slow
@pytest.mark.parametrize(("function", "low"), [(lambda table: float(np.median(table)), 0.91), (distinct, 0.91)])
def test_intervals_cover_and_equal_systems_are_rarely_told_apart(function: Function, low: float) -> None:
    rng, covered, shown, studies, n = np.random.default_rng(8), 0, 0, 200, 40

    def table() -> list[float]:
        drawn = rng.normal(size=n) if function is not distinct else rng.geometric(0.02, n).astype(float)
        return [float(one) for one in drawn]

    true = 0.0 if function is not distinct else float(np.mean([distinct(table()) for _ in range(2000)]))
    for seed in range(studies):
        first, second = (values(function, table(), draws=500, left=True, seed=seed) for _ in range(2))
        one = stats.set_estimate(first)
        covered += one.low is not None and one.high is not None and one.low <= true <= one.high
        shown += stats.set_hypothesis(first, second, np.arange(n), resamples=500).alone.p <= 0.05
    assert low <= covered / studies
    assert shown / studies <= 0.085
