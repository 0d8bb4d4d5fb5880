"""Comparisons that are tested together: p, verdicts and intervals of a family, against a plain Westfall and Young."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as t_distribution

from ragbench.old import stats
from ragbench.old.core.types import Array, Comparison, Verdict
from ragbench.old.stats.comparisons import Hypothesis, hypotheses
from ragbench.old.stats.families import jointly
from ragbench.old.stats.signs import STUDENTIZED
from ragbench.old.stats.values import units_of
from tests.old.stats import real_retrieval
from tests.old.stats.real_retrieval import PRIMARY, Runs, westfall_young

SHOWN = {Verdict.BETTER, Verdict.WORSE, Verdict.SLIGHTLY_BETTER, Verdict.SLIGHTLY_WORSE}


def pairs(first: Array, second: Array, **options: object) -> list[Hypothesis]:
    """A hypothesis a column."""
    return [
        hypotheses({"v": a}, {"v": b}, resamples=200, **options)["v"]  # type: ignore[arg-type]
        for a, b in zip(first.T, second.T, strict=True)
    ]


def agrees(one: Comparison) -> bool:
    """Whether the interval holds 0 exactly if no difference is shown; both intervals, where there are two."""
    if math.isnan(one.low):
        return True
    if one.verdict is Verdict.CANNOT_BE_TOLD:
        return (one.low <= 0 <= one.high) != ((one.p if one.p_adjusted is None else one.p_adjusted) < 1 - one.level)
    return (one.low <= 0 <= one.high) != (one.verdict in SHOWN)


@settings(max_examples=settings.default.max_examples // 2)
@given(st.integers(0, 10**6))
def test_no_interval_contradicts_its_verdict(seed: int) -> None:
    """Random tables: few and many questions, binary, graded and skewed, gaps, clusters, families of every kind."""
    rng = np.random.default_rng(seed)
    n, metrics = int(rng.integers(1, 60)), int(rng.integers(1, 6))
    shape = (n, metrics)
    first = [rng.random(shape) < 0.6, rng.integers(1, 6, shape), rng.lognormal(size=shape)][seed % 3].astype(float)
    moved = [rng.random(shape) < 0.8, rng.integers(1, 6, shape), rng.lognormal(0.4, 1, shape)][seed % 3].astype(float)
    second = np.where(rng.random(shape) < rng.random(), first, moved)
    second[rng.random(shape) < rng.choice([0.0, 0.2])] = math.nan
    clusters = [int(code) for code in rng.integers(0, max(n // 3, 1), n)] if rng.random() < 0.4 else None
    tested = pairs(first, second, clusters=clusters, margin=rng.choice([None, 0.2]), level=rng.choice([0.9, 0.95]))
    alone = [one.alone for one in tested]
    families = [alone, jointly(tested, clusters, resamples=200, seed=seed), stats.adjust(alone)]
    for one in [each for family in families for each in family]:
        assert agrees(one), one
    for one, before in zip(families[1], alone, strict=True):
        assert math.isnan(one.low) or (one.low <= before.low <= before.high <= one.high) or one.verdict in SHOWN
        assert one.alone == before.alone, "the interval of the pair alone is kept"


def test_a_family_shows_what_a_plain_westfall_and_young_shows() -> None:
    """Fourteen near-copies for two challengers, as retrieval metrics are: 28 hypotheses, a small true difference."""
    rng = np.random.default_rng(11)
    shared = rng.normal(0.12, 0.35, (200, 1))
    moved = np.hstack([shared * rng.uniform(0.6, 1.2, 14) + rng.normal(0, 0.08, (200, 14)) for _ in range(2)])
    found = jointly(pairs(np.zeros_like(moved), moved), resamples=4000, seed=1)
    plain = westfall_young(moved, 4000, 2)
    assert [one.p_adjusted for one in found] == pytest.approx(plain.tolist(), abs=0.012)
    assert sum(one.verdict in SHOWN for one in found) >= sum(p <= 0.05 for p in plain) > 0
    assert max(stats.holm([one.p for one in found])) > 3 * max(one.p_adjusted or 0 for one in found), (
        "Holm pays for all"
    )


@pytest.fixture(scope="module")
def xquad(shared_data: Callable[[str], Path]) -> Runs:
    return real_retrieval.xquad(shared_data("xquad"), "ru")


@pytest.fixture(scope="module")
def conversations(shared_data: Callable[[str], Path]) -> Runs:
    return real_retrieval.conversations(shared_data("trec-cast-2021"))


@pytest.mark.slow
@pytest.mark.parametrize("primary", [PRIMARY, ""], ids=["secondary", "all"])
@pytest.mark.parametrize("grouped", [False, True], ids=["questions", "clusters"])
@pytest.mark.parametrize(
    ("data", "baseline", "least"),
    [("xquad", "tf-idf", 13), ("conversations", "manual_ance", 11), ("conversations", "manual_bm25", 1)],
)
def test_on_real_data_as_much_is_found_as_by_a_plain_westfall_and_young(
    data: str, baseline: str, least: int, grouped: bool, primary: str, request: pytest.FixtureRequest
) -> None:
    """Fourteen metrics of two challengers: the secondary family of 26, and all 28 as one."""
    runs: Runs = request.getfixturevalue(data)
    values, clusters = runs.with_baseline(baseline), runs.clusters if grouped else None
    plain = westfall_young(real_retrieval.differences(values, primary), 10_000, 1, clusters)
    found = real_retrieval.compare(values, clusters, primary)
    assert len(found) == len(plain) == (26 if primary else 28)
    assert real_retrieval.shown(found) >= (plain <= 0.05).sum() >= least
    if not any(one.test.endswith(STUDENTIZED) for one in found):  # where sizes of clusters go with the difference
        larger = [(one.p_adjusted or 0) > p + 0.02 for one, p in zip(found, plain, strict=True)]
        assert not any(larger), "a mid-p is no larger"


def test_on_real_data_metrics_that_are_the_same_are_one_hypothesis(xquad: Runs) -> None:
    """One relevant paragraph a question: hit rate, recall and precision at 1 are the same numbers."""
    names = ("hit_rate@1", "recall@1", "precision@1")
    some = {name: xquad.values[name] for name in (*names, "ndcg@5", "mrr")}
    for name in names[1:]:
        for system, values in some[name].items():
            assert np.array_equal(values, some["hit_rate@1"][system])
    assert np.unique(real_retrieval.differences(some), axis=1).shape[1] == 6
    found = real_retrieval.compare(some, None)
    assert {one.family for one in found} == {"6, max-T"}
    assert [one.p_adjusted for one in found[:2]] == [one.p_adjusted for one in found[2:4]]
    alone = real_retrieval.compare({name: some[name] for name in ("hit_rate@1", "ndcg@5", "mrr")}, None)
    assert [(one.p_adjusted, one.low) for one in found[:2]] == [(one.p_adjusted, one.low) for one in alone[:2]]


def test_hypotheses_that_are_the_same_value_by_value_are_one() -> None:
    rng = np.random.default_rng(2)
    first, second = rng.random((40, 1)), rng.random((40, 1)) + 0.15
    alone = jointly(pairs(first, second), resamples=2000)[0]
    thrice = jointly(pairs(np.repeat(first, 3, axis=1), np.repeat(second, 3, axis=1)), resamples=2000)
    assert {one.family for one in thrice} == {"1, max-T"}
    assert [one.p_adjusted for one in thrice] == pytest.approx([alone.p] * 3, abs=0.01)


def test_a_bad_rival_costs_next_to_nothing() -> None:
    """Four systems that are far worse are settled in the first steps, and leave the fifth its own p."""
    rng = np.random.default_rng(8)
    base = rng.random(120)
    good = base + rng.normal(0.05, 0.2, 120)
    alone = stats.compare(base, good, names=("base", "good"))
    table = {"base": base, "good": good, **{f"bad {k}": base - 0.5 + rng.normal(0, 0.2, 120) for k in range(4)}}
    among = next(one for one in stats.compare_many(table, "base") if one.challenger == "good")
    assert among.p_adjusted == pytest.approx(alone.p, abs=0.003)
    assert among.verdict is alone.verdict is Verdict.BETTER
    assert 0 <= among.low <= alone.low < alone.high < among.high, "its interval holds together with those of the others"


def test_an_equal_f1_of_unlike_errors_is_no_difference() -> None:
    """One judge misses, the other shows too much, at one F1: pseudo-values err in 5 % of the samples of 157."""
    rng = np.random.default_rng(4)
    wrong, runs = 0, 400
    for seed in range(runs):
        right = rng.random(157) < 0.5
        eager = np.where(right, rng.random(157) < 0.95, rng.random(157) < 0.45)
        careful = np.where(right, rng.random(157) < 0.7, rng.random(157) < 0.068)
        counts = [np.column_stack([right & d, ~right & d, right & ~d]).astype(float) for d in (eager, careful)]
        one = stats.compare_statistic(
            lambda t: 2 * t[..., 0] / (2 * t[..., 0] + t[..., 1] + t[..., 2]), *counts, resamples=200, seed=seed
        )
        wrong += one.p <= 0.05
        assert agrees(one)
    assert wrong / runs <= 0.05 + 2.5 * math.sqrt(0.05 * 0.95 / runs)


def test_an_interval_of_a_family_is_stretched_by_the_freedom_that_unequal_clusters_leave() -> None:
    """By hand: both arms by the ratio of Student's quantiles, at the family's threshold and at the nominal level."""
    rng = np.random.default_rng(4)
    sizes = np.array([30, 1, 2, 25, 3, 1, 8, 1, 20, 2, 5, 1])
    clusters = np.repeat(np.arange(12), sizes)
    second = rng.normal(0.0, 1, (len(clusters), 2)) + rng.normal(0, 1, (12, 2))[clusters]
    one = jointly(pairs(np.zeros_like(second), second, clusters=clusters), clusters, resamples=4096)[0]
    assert one.verdict is Verdict.NOT_SHOWN
    assert one.threshold is not None
    freedom = units_of(second[:, :1], clusters).freedom
    assert freedom < 9, "twelve clusters of such sizes are worth far fewer"
    quantile = t_distribution(freedom).ppf
    factor = quantile(1 - one.threshold / 2) / quantile(0.975)
    low, high = one.alone
    assert one.low == pytest.approx(one.difference - (one.difference - low) * factor)
    assert one.high == pytest.approx(one.difference + (high - one.difference) * factor)
