"""What is not measured bounds what is said of a difference, and so do the ends of a scale."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragbench.old import stats
from ragbench.old.core.types import Array, Comparison, Verdict
from ragbench.old.metrics import catalogue
from ragbench.old.stats import verdicts
from ragbench.old.stats.families import jointly
from ragbench.old.stats.verdicts import reach, sized

SHOWN = {Verdict.BETTER, Verdict.WORSE, Verdict.SLIGHTLY_BETTER, Verdict.SLIGHTLY_WORSE, Verdict.SAME}


def refused(bad: int = 24) -> tuple[Array, Array]:
    """v1 gets 0.75 on average of 60 answers; of v2's, the judge refuses the bad ones, and scores the rest well."""
    v1 = np.tile([0.5, 1.0], 30)
    v2 = np.full(60, 0.95) - np.linspace(0, 0.1, 60)
    v2[60 - bad :] = math.nan
    return v1, v2


def test_a_judge_that_refuses_the_bad_answers_tells_nothing() -> None:
    v1, v2 = refused()
    one = stats.compare(v1, v2, bounds=(0.0, 1.0))
    assert (one.verdict, one.withheld) == (Verdict.CANNOT_BE_TOLD, "24 of 60 pairs unmeasured")
    measured = float(np.nansum(v2 - v1))
    assert one.least == pytest.approx((measured - np.sum(v1[36:])) / 60), "each missing one was 0"
    assert one.most == pytest.approx((measured + np.sum(1 - v1[36:])) / 60), "or 1"
    assert one.low > 0, "of what was measured, it is shown"
    open_scale = stats.compare(v1, v2)
    assert (open_scale.verdict, open_scale.least) == (Verdict.BETTER, None), "on a scale without ends nothing bounds it"
    assert stats.adjust([one, one])[0].withheld == one.withheld
    assert stats.compare_many({"v1": v1, "v2": v2}, bounds=(0.0, 1.0))[0].withheld == one.withheld
    few = stats.compare(*refused(1), bounds=(0.0, 1.0))
    assert (few.verdict, few.withheld) == (Verdict.BETTER, ""), "one refusal cannot turn it"


def test_half_of_the_values_missing_leave_both_signs_open() -> None:
    """52 pairs of 100 of which 8 are won; all others lack the challenger's value, of which 20 would be losses."""
    first = np.r_[np.ones(20), np.zeros(32), np.ones(20), np.zeros(28)]
    second = np.r_[np.ones(28), np.zeros(24), np.full(48, np.nan)]
    one = stats.compare(first, second)
    assert one.difference == pytest.approx(8 / 52)
    assert (one.least, one.most) == (pytest.approx(-0.12), pytest.approx(0.36))
    assert (one.verdict, one.withheld) == (Verdict.CANNOT_BE_TOLD, "48 of 100 pairs unmeasured")


def test_corners_move_what_then_lies_farthest_out_first() -> None:
    worst, best = np.array([0.0, 0.0, 0.0, 0.5, math.nan]), np.array([0.2, 0.9, -0.5, 0.5, math.nan])
    moved = [tuple(each[:3]) for each in verdicts.corners(worst, best)]
    assert moved == [
        (0.0, 0.0, 0.0), (0.0, 0.9, 0.0), (0.0, 0.0, -0.5), (0.2, 0.0, 0.0), (0.0, 0.9, -0.5), (0.2, 0.9, 0.0),
        (0.2, 0.0, -0.5), (0.2, 0.9, -0.5),
    ]  # fmt: skip
    more = verdicts.corners(np.zeros(6), np.array([0.1, 0.2, 0.9, 0.4, 0.5, 0.6]))
    assert [np.flatnonzero(each).tolist() for each in more[:3]] == [[], [2], [2, 5]]


@pytest.mark.parametrize("skewed", [True, False])
def test_of_skewed_completions_the_largest_p_counts(skewed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a made-up test whose p grows with what was moved: where one of them leans, it is asked of every corner."""
    monkeypatch.setattr(verdicts, "leans", lambda units: skewed)
    one = stats.compare(np.zeros(20), np.linspace(0.2, 0.9, 20))
    worst = np.r_[np.full(17, 0.6), 0.1, 0.1, 0.1]
    best = np.r_[np.full(17, 0.6), 0.7, 0.8, 0.9]
    found, tried = verdicts.bounded(
        one, (worst, best), lambda column: column, lambda column, _: float(column.max()) / 10
    )  # type: ignore[arg-type, return-value]
    assert len(tried) == 2**3
    assert found.p_worst == pytest.approx(0.09 if skewed else 0.06)


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6))
@example(79)  # of three unmeasured values the corner that moves the nearest one alone
@example(305)  # one completion between the corners is skewed, and only one of the corners is
def test_no_completion_contradicts_a_word(seed: int) -> None:
    """Every way in which the missing values could have been measured, on a grid, has the same word."""
    rng = np.random.default_rng(seed)
    n, grid = int(rng.integers(8, 30)), (0.0, 0.5, 1.0)
    whole = rng.choice(grid, (2, n), p=[0.3, 0.4, 0.3])
    whole[1] = np.clip(whole[1] + rng.choice([-0.5, 0.0, 0.5, 1.0]), 0, 1)
    gaps = [(side, place) for side in (0, 1) for place in range(n)]
    chosen = [gaps[at] for at in rng.choice(len(gaps), 3, replace=False)]
    seen = whole.copy()
    for side, place in chosen:
        seen[side, place] = math.nan
    clusters = [int(code) for code in rng.integers(0, n, n)] if seed % 2 else None
    margin = rng.choice([None, 0.4])
    one = stats.compare(*seen, bounds=(0.0, 1.0), clusters=clusters, margin=margin, resamples=2000, seed=1)
    for values in itertools.product(grid, repeat=len(chosen)):
        completed = whole.copy()
        for (side, place), value in zip(chosen, values, strict=True):
            completed[side, place] = value
        other = stats.compare(*completed, clusters=clusters, bounds=(0.0, 1.0), resamples=2000, seed=1)
        if one.least is not None and one.most is not None:
            assert one.least - 1e-12 <= other.difference <= one.most + 1e-12
        if one.verdict.is_better or one.verdict.is_worse:
            assert (other.verdict.is_better, other.verdict.is_worse) == (one.verdict.is_better, one.verdict.is_worse)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6))
def test_families_say_what_every_end_allows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = 40, 4
    first = rng.random((n, k))
    second = np.clip(first + rng.normal(rng.choice([0.0, 0.3]), 0.2, (n, k)), 0, 1)
    gone = second.copy()
    for column in gone.T:
        column[np.argsort(column)[: int(rng.integers(0, 15))]] = math.nan  # what is bad is missing
    clusters = [int(code) for code in rng.integers(0, 20, n)] if seed % 2 else None
    made = [
        stats.hypotheses({"": a}, {"": b}, clusters=clusters, bounds=(0.0, 1.0), resamples=500)[""]
        for a, b in zip(first.T, gone.T, strict=True)
    ]
    for one, truth in zip(jointly(made, clusters, resamples=500), (second - first).mean(axis=0), strict=True):
        assert not one.verdict.is_better or truth > 0
        assert not one.verdict.is_worse or truth < 0
        if one.least is not None and one.verdict.is_better:
            assert one.least > 0
        assert (one.verdict is Verdict.CANNOT_BE_TOLD) == bool(one.withheld)


def test_equivalence_too_holds_at_both_ends() -> None:
    rng = np.random.default_rng(3)
    first = rng.random(100)
    second = np.clip(first + rng.normal(0, 0.02, 100), 0, 1)
    assert stats.compare(first, second, bounds=(0.0, 1.0), margin=0.05).verdict is Verdict.SAME
    second[:20] = math.nan
    one = stats.compare(first, second, bounds=(0.0, 1.0), margin=0.05)
    assert (one.verdict, one.withheld) == (Verdict.CANNOT_BE_TOLD, "20 of 100 pairs unmeasured")
    assert one.p_equivalence is not None
    assert one.p_equivalence < 0.05 <= (one.p_equivalence_worst or 0)


def test_what_holds_nothing_to_measure_is_no_pair() -> None:
    first, second = np.r_[np.zeros(20), np.full(20, np.nan)], np.r_[np.ones(20), np.full(20, np.nan)]
    void = {"m": np.isnan(first)}
    how = {"bounds": (0.0, 1.0)}
    one = stats.compare_metrics({"m": first}, {"m": second}, void=void, **how)["m"]
    assert (one.verdict, one.n, one.n_dropped) == (Verdict.BETTER, 20, 0)
    other = stats.compare_metrics({"m": first}, {"m": second}, **how)["m"]
    assert (other.verdict, other.n_dropped) == (Verdict.CANNOT_BE_TOLD, 20)


def ends(one: Comparison) -> list[float]:
    return [end for pair in ((one.low, one.high), *one.intervals.values()) for end in pair if not math.isnan(end)]


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6))
def test_no_interval_and_no_smallest_difference_is_beyond_the_scale(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, width = int(rng.integers(2, 12)), float(rng.choice([1.0, 4.0, 0.1]))
    first, second = (np.round(rng.random((n, 3)) * 3) / 3 * width for _ in range(2))
    clusters = [int(code) for code in rng.integers(0, n, n)] if seed % 2 else None
    made = [
        stats.hypotheses({"": a}, {"": b}, bounds=(0.0, width), clusters=clusters, resamples=200)[""]
        for a, b in zip(first.T, second.T, strict=True)
    ]
    alone = [one.alone for one in made]
    for one in [*alone, *jointly(made, clusters, resamples=200), *stats.adjust(alone)]:
        assert all(-width <= end <= width for end in ends(one))
        assert one.minimum_detectable is None or one.minimum_detectable <= width
        assert not one.beyond_scale or one.verdict is Verdict.NOT_SHOWN


def test_a_scale_that_has_no_room_says_so() -> None:
    """Eight questions whose differences vary by more than the scale could show."""
    one = stats.compare([0, 1, 0, 1, 0, 1, 0, 1], [1, 0, 1, 0, 1, 0, 0.9, 0.2], bounds=(0.0, 1.0))
    assert one.beyond_scale
    assert one.minimum_detectable is None
    assert stats.compare(np.zeros(8), np.tile([0.1, -0.1], 4)).minimum_detectable is not None


def f1(totals: Array) -> Array:
    """Of true positives, false positives and false negatives."""
    hits, wrong, missed = (totals[..., column] for column in range(3))
    return 2 * hits / np.maximum(2 * hits + wrong + missed, 1e-300)


def test_a_measure_of_a_whole_set_is_bounded_by_what_its_rows_could_be() -> None:
    """Ten rows of the challenger are missing; all of them may be misses."""
    right, missed = np.array([1.0, 0, 0]), np.array([0.0, 0, 1])
    first = np.array([right] * 30 + [missed] * 30)
    second = np.array([right] * 50 + [[math.nan] * 3] * 10)
    worst, best = second.copy(), second.copy()
    worst[50:], best[50:] = missed, right
    how = {"bounds": (0.0, 1.0), "resamples": 500}
    one = stats.compare_statistic(f1, first, second, completed=((first, worst), (first, best)), **how)
    assert one.least == pytest.approx(f1(worst.sum(axis=0)) - f1(first.sum(axis=0)))
    assert one.most == pytest.approx(1 - f1(first.sum(axis=0)))
    assert one.verdict is Verdict.BETTER, "20 rows are better all the same"
    assert all(-1 <= end <= 1 for end in ends(one))
    second[20:] = math.nan
    worst[20:] = missed
    few = stats.compare_statistic(f1, first, second, completed=((first, worst), (first, best)), **how)
    assert few.verdict is not Verdict.BETTER
    roughly = stats.compare_statistic(f1, first, np.array([right] * 59 + [[math.nan] * 3]), **how)
    assert (roughly.verdict, roughly.withheld) == (Verdict.CANNOT_BE_TOLD, "1 of 60 pairs unmeasured")
    assert (roughly.least, roughly.most) == (-1.0, 1.0), (
        "what a row that nobody completed would make of it is not known"
    )


def test_what_a_function_of_a_set_makes_of_answers_that_are_not_there_is_not_known() -> None:
    """One of 40 answers is lacking: the largest value may hang on it alone, whatever the others say."""
    sizes, draws = np.ones(39, dtype=np.int64), np.random.default_rng(1).normal(0, 0.01, (2, 500))
    sides = [stats.SetValues(value, sizes, value + own) for value, own in zip((0.2, 0.8), draws, strict=True)]
    places = np.r_[np.arange(39), -1]
    how = {"bounds": (0.0, 1.0), "resamples": 500}
    whole = stats.set_hypothesis(*sides, places[:39], **how).alone
    assert whole.verdict is Verdict.BETTER
    for bounds in ((0.0, 1.0), (0.0, math.inf), None):
        one = stats.set_hypothesis(*sides, places, **{**how, "bounds": bounds}).alone
        assert (one.verdict, one.withheld) == (Verdict.CANNOT_BE_TOLD, "1 of 40 pairs unmeasured")


def test_a_scale_with_one_end_holds_its_values_there() -> None:
    """Latencies: 0.684 [−0.019, 1.386] milliseconds went below 0."""
    rng = np.random.default_rng(4)
    times = rng.lognormal(-1.5, 1.6, 12)
    for clusters in (None, [place // 2 for place in range(12)]):
        free = stats.estimate(times, clusters=clusters, method="t")
        one = stats.estimate(times, clusters=clusters, method="t", bounds=(0.0, math.inf))
        assert free.low is not None
        assert free.low < 0
        assert (one.low, one.high) == (0.0, free.high)
        assert all(low >= 0 for low, _high in one.intervals.values())
    gaps = stats.estimate([*times, math.nan], bounds=(0.0, math.inf))
    assert (gaps.floor, gaps.ceiling) == (pytest.approx(times.sum() / 13), None)
    with pytest.raises(ValueError, match="outside its scale"):
        stats.estimate([-1.0, 2.0], bounds=(0.0, math.inf))
    upper = stats.estimate(-times, method="t", bounds=(-math.inf, 0.0))
    assert upper.high == 0.0


def test_a_difference_on_a_scale_with_one_end_is_bounded_on_that_side() -> None:
    """A missing latency of the challenger is 0 at least and may be anything above: it bounds "slower" alone."""
    fast, slow = np.tile([1.0, 1.2], 20), np.tile([3.0, 3.3], 20)
    gappy, how = slow.copy(), {"bounds": (0.0, math.inf), "better": "lower"}
    gappy[:4] = math.nan
    one = stats.compare(fast, gappy, **how)
    assert (one.verdict, one.most, one.width) == (Verdict.WORSE, None, None)
    assert one.least == pytest.approx((36 * 2.05 - 4 * 1.1) / 40)
    assert one.p_worst is not None
    gappy[:30] = math.nan
    few = stats.compare(fast, gappy, **how)
    assert few.least == pytest.approx((10 * 2.05 - 30 * 1.1) / 40)
    assert (few.verdict, few.withheld) == (Verdict.CANNOT_BE_TOLD, "30 of 40 pairs unmeasured")
    other = fast.copy()
    other[:4] = math.nan
    faster = stats.compare(slow, other, **how)
    assert (faster.verdict, faster.p_worst, faster.most) == (Verdict.BETTER, None, None), "nothing bounds it above"
    assert faster.least == pytest.approx((36 * -2.05 - 4 * 3.15) / 40)
    known = jointly([stats.hypotheses({"": fast}, {"": each}, **how)[""] for each in (gappy, slow)])
    assert [each.verdict for each in known] == [Verdict.CANNOT_BE_TOLD, Verdict.WORSE]


def test_labels_of_people_do_not_close_the_gaps_of_a_judge() -> None:
    rng = np.random.default_rng(5)
    truth = rng.random((2, 40)) * 0.2 + np.array([[0.3], [0.5]])
    judged = truth + rng.normal(0, 0.02, truth.shape)
    rest = rng.random((2, 60)) * 0.2 + np.array([[0.3], [0.5]])
    pairs = [tuple(each) for each in (truth, judged, rest)]
    sure = stats.prediction_powered_comparison(*pairs, bounds=(0.0, 1.0))
    assert sure.verdict is Verdict.BETTER
    gaps = stats.prediction_powered_comparison(*pairs, bounds=(0.0, 1.0), lacking=60)
    assert (gaps.verdict, gaps.withheld) == (Verdict.CANNOT_BE_TOLD, "60 pairs unmeasured")
    assert gaps.least == pytest.approx((100 * gaps.difference - 60) / 160)
    assert stats.adjust([gaps])[0].withheld == gaps.withheld
    assert stats.prediction_powered_comparison(*pairs, bounds=(0.0, 1.0), lacking=2).verdict is Verdict.BETTER


def test_two_summaries_are_bounded_by_what_is_in_no_mean() -> None:
    sure = (stats.Summary(0.5, 0.45, 0.55, n=100, bounds=(0, 1)), stats.Summary(0.7, 0.65, 0.75, n=100, bounds=(0, 1)))
    shown = stats.compare_summaries(*sure)
    assert shown is not None
    assert shown.verdict is Verdict.BETTER
    gaps = stats.compare_summaries(sure[0], stats.Summary(0.7, 0.65, 0.75, n=100, bounds=(0, 1), missing=60))
    assert gaps is not None
    assert (gaps.verdict, gaps.withheld) == (Verdict.CANNOT_BE_TOLD, "60 values unmeasured")
    assert (gaps.least, gaps.most) == (pytest.approx(0.7 * 100 / 160 - 0.5), pytest.approx(130 / 160 - 0.5))


def test_a_difference_within_what_matters_says_so_in_its_direction() -> None:
    rng = np.random.default_rng(2)
    first = rng.random(200) * 0.9
    second = first + 0.01 + rng.normal(0, 0.01, 200)
    one = stats.with_margin(stats.compare(first, second), 0.05)
    assert one.verdict is Verdict.SLIGHTLY_BETTER
    assert one.verdict.is_better
    assert stats.with_margin(one, 0.001).verdict is Verdict.BETTER, "what matters is set anew"
    assert stats.with_margin(one, None).verdict is Verdict.BETTER
    lower = stats.compare(first, second, better="lower")
    assert stats.with_margin(lower, 0.05).verdict is Verdict.SLIGHTLY_WORSE
    second[:8] = math.nan
    gaps = stats.with_margin(stats.compare(first, second, bounds=(-1.0, 2.0)), 0.05)
    assert gaps.verdict in (Verdict.BETTER, Verdict.CANNOT_BE_TOLD), "the missing ones could make it matter"


@pytest.mark.parametrize(
    ("label", "relevant", "most"),
    [
        ("precision@10", 1, 0.1), ("precision@1", 3, 1.0), ("recall@1", 4, 0.25), ("recall@5", 4, 1.0),
        ("hit_rate@5", 1, 1.0), ("mrr", 2, 1.0), ("ndcg@5", 7, 1.0), ("average_precision", 3, 1.0),
    ],
)  # fmt: skip
def test_what_a_ranking_can_reach_is_what_the_best_one_gets(label: str, relevant: int, most: float) -> None:
    from ragbench.old.core.metric import parse
    from ragbench.old.metrics import ranking_arrays
    from ragbench.old.metrics.ranking import reachable

    assert catalogue()
    judged = {f"d{n}": 1.0 for n in range(relevant)}
    found = reachable(ranking_arrays.from_lists([["x", "y"], ["d0"]], [judged, {}], depth=10), [parse(label)])
    assert found[label][0] == pytest.approx(most)
    assert math.isnan(found[label][1]), "without anything relevant nothing can be reached"


@pytest.mark.parametrize("clustered", [True, False])
def test_the_worse_completions_are_tested_together_as_if_they_had_been_measured(clustered: bool) -> None:
    """Six metrics, of each other answers refused: p_worst is what the family of the completed tables gives."""
    rng = np.random.default_rng(8)
    first = rng.random((60, 6)) * 0.7
    second = np.clip(first + rng.normal(0.12, 0.25, first.shape), 0, 1)
    clusters = [n // 2 for n in range(60)] if clustered else None
    gone = rng.random(first.shape) < 0.05
    gappy = np.where(gone, math.nan, second)
    how = {"bounds": (0.0, 1.0), "resamples": 2000, "seed": 3, "clusters": clusters}
    tested = [stats.hypotheses({"": a}, {"": b}, **how)[""] for a, b in zip(first.T, gappy.T, strict=True)]
    filled = [
        stats.hypotheses({"": a}, {"": np.where(lost, 0.0, b)}, **how)[""]
        for a, b, lost in zip(first.T, second.T, gone.T, strict=True)
    ]
    found, expected = (jointly(each, clusters, resamples=2000, seed=3) for each in (tested, filled))
    lacking = gone.any(axis=0).tolist()
    assert sum(lacking) > 3, "most metrics have gaps"

    def of_gaps(values: list[float | None]) -> list[float | None]:
        return [value if gap else None for value, gap in zip(values, lacking, strict=True)]

    holm = stats.adjust([one.alone for one in tested]), stats.adjust([one.alone for one in filled])
    for made, ends in ((found, expected), holm):
        for one, known in zip(made, of_gaps([each.p_adjusted for each in ends]), strict=True):
            assert (one.p_worst is None) == (known is None)
            assert known is None or known <= (one.p_worst or 0) <= max(3 * known, 0.005), "a skewed one may say more"
    words = {one.verdict for one in found}
    assert words <= {Verdict.BETTER, Verdict.CANNOT_BE_TOLD, Verdict.NOT_SHOWN}
    for one, other, gap in zip(found, expected, lacking, strict=True):
        assert not gap or (one.verdict is Verdict.BETTER) == (other.verdict is Verdict.BETTER)


@pytest.mark.parametrize(
    ("low", "high", "more", "verdict"),
    [
        (0.01, 0.049, 0.0, Verdict.SLIGHTLY_BETTER),
        (0.01, 0.05, 0.0, Verdict.BETTER),
        (0.01, 0.049, 0.02, Verdict.BETTER),
        (-0.05, 0.049, 0.0, Verdict.BETTER),
    ],
)
def test_less_than_matters_is_the_whole_interval_within_the_margin(
    low: float, high: float, more: float, verdict: Verdict
) -> None:
    """Margin .05. An end on it is not within; nor is one that what is unmeasured could move beyond."""
    one = stats.compare(np.zeros(20), np.linspace(0.01, 0.05, 20))
    one = replace(one, difference=0.03, low=low, high=high, margin=0.05, least=0.03 - more, most=0.03 + more)
    assert one.verdict is Verdict.BETTER
    assert sized(one).verdict is verdict
    back = sized(replace(one, verdict=Verdict.SLIGHTLY_BETTER))
    assert back.verdict is verdict
    assert reach(one) == (pytest.approx(low - more), pytest.approx(high + more))
