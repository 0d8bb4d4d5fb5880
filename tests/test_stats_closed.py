"""Closed randomized Tukey tests: against brute force, against the single-step test, and under simulated truths."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from ragbench import stats
from ragbench.stats.closed import closed_p


def exact_largest(rows: np.ndarray) -> np.ndarray:
    """Every way in which the systems of every unit can change hands: the largest difference from the first."""
    orders = list(permutations(range(rows.shape[1])))
    found = []
    for chosen in product(orders, repeat=len(rows)):
        totals = sum(row[list(order)] for row, order in zip(rows, chosen, strict=True))
        found.append(np.abs(totals[1:] - totals[0]).max())
    return np.array(found)


def test_p_is_that_of_all_shuffles_counted_one_by_one() -> None:
    rows = np.array([[0, 1, 0.5], [0.2, 0.9, 0.1], [0, 0.7, 0.2], [0.4, 1, 0.3], [0.1, 0.3, 0.6]])
    single = np.array([[0.01], [0.4]])
    p = closed_p(rows[:, :, None], len(rows), 40_000, 0, single)
    largest = exact_largest(rows)
    observed = np.abs(rows.sum(axis=0)[1:] - rows.sum(axis=0)[0]).max()
    both = float(np.mean(largest >= observed - 1e-12))
    assert p[0, 0] == pytest.approx(both, abs=4 * np.sqrt(both / 40_000))
    assert p[1, 0] == pytest.approx(0.4), "alone it is not shown, and no set can show it then"


@pytest.mark.parametrize("lowered", [0.3, 0.5])
def test_the_p_of_a_set_decides_where_the_pair_alone_is_sure(lowered: float) -> None:
    """Nothing but the shuffles of all three systems can give these p-values: alone the first would have 0.0001."""
    rows = np.array([[0, 1, 0.5], [0.2, 0.9, 0.1], [0, 0.7, 0.2], [0.4, 1, 0.3], [0.1, 0.3, 0.6]]) - [0, lowered, 0]
    p = closed_p(rows[:, :, None], len(rows), 40_000, 0, np.array([[1e-4], [0.4]]))
    observed = np.abs(rows.sum(axis=0)[1:] - rows.sum(axis=0)[0]).max()
    both = float(np.mean(exact_largest(rows) >= observed - 1e-12))
    assert both > 0.05
    assert p[0, 0] == pytest.approx(both, abs=4 * np.sqrt(both / 40_000))


def test_p_is_never_below_that_of_the_pair_alone() -> None:
    rng = np.random.default_rng(3)
    table = rng.random((60, 4, 5))
    single = rng.random((3, 5))
    assert (closed_p(table, 60, 500, 0, single) >= single).all()


def test_a_system_that_is_far_off_does_not_hide_the_others() -> None:
    rng = np.random.default_rng(0)
    base = (rng.random(120) < 0.5).astype(float)
    good = np.clip(base + (rng.random(120) < 0.12), 0, 1)
    bad = np.where(rng.random(120) < 0.9, 0.0, base)
    single_step = {c.challenger: c for c in stats.compare_many({"base": base, "good": good, "bad": bad}, "base")}
    table = np.stack([base, good, bad], axis=1)[:, :, None]
    p = closed_p(table, 120, 10_000, 0, np.array([[single_step["good"].p], [single_step["bad"].p]]))
    assert p[0, 0] < 0.01
    assert single_step["good"].p_adjusted > 0.1


def test_metrics_do_not_touch_each_other() -> None:
    rng = np.random.default_rng(1)
    table = rng.random((40, 3, 2))
    single = np.full((2, 2), 1e-4)
    both = closed_p(table, 40, 2_000, 0, single)
    alone = closed_p(table[:, :, :1], 40, 2_000, 0, single[:, :1])
    np.testing.assert_array_equal(both[:, :1], alone)


def test_more_challengers_than_sets_can_be_tested_are_refused() -> None:
    with pytest.raises(ValueError, match="7 challengers: the closure is for at most 6"):
        closed_p(np.zeros((3, 8, 1)), 3, 10, 0, np.ones((7, 1)))


@pytest.mark.slow
@pytest.mark.parametrize("truth", ["all equal", "one far off", "one far off and noisy"])
def test_one_wrong_verdict_among_all_is_as_rare_as_promised(truth: str) -> None:
    """300 simulated tables of 4 systems; the family-wise error rate stays at 10 % within simulation error."""
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(300):
        table = (rng.random((50, 4)) < rng.random((50, 1))).astype(float)
        null = [1, 2, 3]
        if truth != "all equal":
            table[:, 3] = 0.0 if truth == "one far off" else 5 * rng.standard_normal(50) - 3
            null = [1, 2]
        single = np.array([[stats.compare(table[:, 0], table[:, c], resamples=400).p] for c in (1, 2, 3)])
        p = closed_p(table[:, :, None], 50, 400, 0, single)
        wrong += bool((p[[c - 1 for c in null], 0] <= 0.10).any())
    assert wrong / 300 <= 0.10 + 3 * np.sqrt(0.1 * 0.9 / 300)
