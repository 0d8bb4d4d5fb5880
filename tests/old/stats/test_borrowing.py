"""A metric whose values are all equal takes its design effect from the nearest measured one, and says so."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtri

from ragbench.old import stats
from ragbench.old.stats.intervals import t_quantile, wilson
from ragbench.old.tiers.basics import verdict_tables

N = 296


def hits(misses: int) -> np.ndarray:
    return np.append(np.zeros(misses), np.ones(N - misses))


@pytest.mark.parametrize("clusters", [8, 14, 30, 60])
def test_all_of_n_lies_close_to_all_but_one(clusters: int) -> None:
    """295 of 296 and 296 of 296 differ by one question: no interval falls to the number of clusters between them."""
    groups = np.arange(N) % clusters
    page = {"hit@10": hits(0), "hit@5": hits(4), "hit@1": hits(30)}
    full = stats.estimate_many(page, clusters=groups, bounds=(0, 1), resamples=200)["hit@10"]
    near = stats.estimate(hits(1), clusters=groups, bounds=(0, 1), resamples=200)
    assert full.low is not None
    assert near.low is not None
    assert near.high is not None
    assert near.low < full.low < near.high < full.high == 1
    assert 0.4 < (full.high - full.low) / (near.high - near.low) < 1.2
    assert (full.note, full.lender) == ("borrowed_spread", "hit@5")


def test_the_borrowed_design_effect_is_the_lenders_and_the_interval_wilsons() -> None:
    groups = np.repeat(np.arange(20), 15)
    near, far = np.repeat([0.0, *[1.0] * 19], 15), np.repeat([0.0, 1.0] * 10, 15)
    found = stats.estimate_many({"far": far, "full": np.ones(300), "near": near}, clusters=groups, bounds=(0, 1))
    lender, full = found["near"], found["full"]
    assert lender.design_effect == pytest.approx(15 * 20 / 19 * 299 / 300, rel=1e-9), (
        "whole clusters are wrong or right"
    )
    assert (full.lender, full.design_effect, full.n_effective) == ("near", lender.design_effect, lender.n_effective)
    expected = wilson(1.0, 300 / lender.design_effect, t_quantile(0.975, 19))
    assert (full.low, full.high) == pytest.approx(expected, abs=1e-12)
    assert (lender.lender, lender.note) == ("", "few"), "what has a spread of its own borrows nothing"
    given = stats.estimate(np.ones(300), clusters=groups, bounds=(0, 1), design_effect=lender.design_effect)
    assert (given.low, given.high, given.note, given.lender) == (full.low, full.high, "borrowed_spread", "")


def test_without_a_lender_clusters_of_equal_values_count_as_one_value_each() -> None:
    one = stats.estimate_many(
        {"full": np.ones(60), "empty": np.zeros(60), "seconds": np.arange(60.0)},
        clusters=np.arange(60) % 6, bounds={"full": (0, 1), "empty": (0, 1)},
    )["full"]  # fmt: skip
    assert (one.note, one.lender, one.design_effect) == ("no_spread", "", 10.0)
    assert one.low == pytest.approx(wilson(1.0, 6, t_quantile(0.975, 5))[0])


def test_independent_hits_that_are_all_equal_need_no_loan() -> None:
    found = stats.estimate_many({"full": hits(0), "near": hits(3)}, bounds=(0, 1))["full"]
    assert repr(found) == repr(stats.estimate(hits(0), bounds=(0, 1)))
    assert (found.note, found.lender) == ("no_spread", "")


@pytest.mark.parametrize("grouped", [False, True])
def test_a_constant_within_the_scale_is_as_wide_as_its_neighbours_show(grouped: bool) -> None:
    """One relevant passage a question, always in the top ten: precision@10 is .1 and cannot be told as 0/1 values."""
    groups = np.arange(300) % 7 if grouped else None
    page = {
        "precision@10": np.full(300, 0.1),
        "precision@5": np.append(np.full(290, 0.2), np.zeros(10)),
        "hit@1": hits(30),
    }
    page["hit@1"] = np.append(page["hit@1"], np.ones(4))
    found = stats.estimate_many(page, clusters=groups, bounds=(0, 1), resamples=200)
    one, neighbour = found["precision@10"], found["precision@5"]
    assert (one.note, one.lender) == ("borrowed_spread", "precision@5")
    width, beside = (each.high - each.low for each in (one, neighbour))  # type: ignore[operator]
    assert 0.3 * beside < width < 1.5 * beside
    assert one.low < 0.1 < one.high  # type: ignore[operator]


def test_the_other_system_lends_where_no_metric_of_the_own_one_can() -> None:
    groups = np.arange(N) % 8
    systems = {
        "perfect": {"hit": hits(0), "mrr": hits(0)},
        "good": {"hit": hits(2), "mrr": hits(9)},
        "poor": {"hit": hits(100), "mrr": hits(150)},
    }
    scales = {"hit": (0.0, 1.0), "mrr": (0.0, 1.0)}
    found = stats.estimate_systems(systems, clusters=groups, bounds=scales, resamples=200)
    full = found["perfect", "hit"]
    assert (full.note, full.lender) == ("borrowed_spread", "hit, good")
    assert full.design_effect == max(found["good", "hit"].design_effect or math.nan, 1.0)
    assert full.low is not None
    assert full.low > 0.97
    for system in ("good", "poor"):
        alone = stats.estimate_many(systems[system], clusters=groups, bounds=scales, resamples=200)
        assert {name: found[system, name] for name in alone} == alone
    lonely = stats.estimate_systems({"perfect": systems["perfect"]}, clusters=groups, bounds=scales)
    assert lonely["perfect", "hit"].note == "no_spread"


@pytest.mark.parametrize("effect", [0.5, math.inf, math.nan])
def test_a_design_effect_is_at_least_one(effect: float) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        stats.estimate(np.ones(9), clusters=list("aaabbbccc"), bounds=(0, 1), design_effect=effect)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("share", "near"),
    [(0.98, 0.95), *(pytest.param(*one, marks=pytest.mark.slow) for one in [(0.99, 0.97), (0.995, 0.97)])],
)
def test_coverage_near_the_ceiling_with_thirty_clusters(share: float, near: float) -> None:
    """Clusters of 2 to 28, hits alike inside them; hit@5 lies below hit@10 and lends where that has no miss."""
    groups = np.repeat(np.arange(30), np.tile([2, 4, 6, 8, 12, 28], 5))
    rng = np.random.default_rng(0)
    right = borrowed = 0
    for _ in range(400):
        latent = 0.3**0.5 * rng.standard_normal(30)[groups] + 0.7**0.5 * rng.standard_normal(len(groups))
        page = {"hit@10": latent < ndtri(share), "hit@5": latent < ndtri(near)}
        one = stats.estimate_many(page, clusters=groups, bounds=(0, 1), resamples=100)["hit@10"]
        right += one.low <= share <= one.high  # type: ignore[operator]
        borrowed += one.note == "borrowed_spread"
    assert right / 400 >= 0.93
    assert borrowed > 0 or share < 0.99


def test_equal_means_of_groups_are_not_called_equal_values() -> None:
    """Ten groups of a 0 and a 1 (also as 0.1 and 0.9 or 0.3 and 0.7, whose sums differ in the last bit)."""
    groups = [n // 2 for n in range(20)]
    for pairs in ([(0.0, 1.0)] * 10, [(0.1, 0.9), (0.3, 0.7)] * 5):
        values = [value for pair in pairs for value in pair]
        one = stats.estimate(values, clusters=groups, bounds=(0.0, 1.0))
        assert (one.note, one.method) == ("equal_groups", "wilson")
        difference = stats.compare([0.5] * 20, values, clusters=groups, bounds=(0.0, 1.0))
        assert (difference.note, difference.difference) == ("equal_groups", pytest.approx(0, abs=1e-15))
        assert not verdict_tables.is_equal(difference), "no question is equal"
    same = stats.estimate([0.5] * 20, clusters=groups, bounds=(0.0, 1.0))
    assert same.note == "no_spread"
    found = stats.estimate_systems(
        {"a": {"m": np.array([0.0, 1.0] * 10), "n": np.r_[np.zeros(10), np.ones(10)]}}, clusters=groups,
        bounds={"m": (0.0, 1.0), "n": (0.0, 1.0)},
    )  # fmt: skip
    assert (found["a", "m"].note, found["a", "m"].lender) == ("borrowed_between", "n")
