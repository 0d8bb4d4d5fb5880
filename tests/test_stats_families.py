"""Families of comparisons: Holm and Benjamini–Hochberg against statsmodels, randomized Tukey against a plain loop."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from ragbench import stats
from ragbench.types import Verdict
from tests.random_tables import TABLES


@pytest.mark.parametrize("seed", TABLES)
def test_corrections_agree_with_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = np.round(rng.random(int(rng.integers(1, 40))) ** 3, int(rng.integers(1, 8)))
    assert stats.holm(p) == pytest.approx(multipletests(p, method="holm")[1], abs=1e-12)
    assert stats.benjamini_hochberg(p) == pytest.approx(multipletests(p, method="fdr_bh")[1], abs=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_adjusted_is_never_below_raw_and_keeps_the_order(p: list[float]) -> None:
    raw = np.array(p)
    for rule in (stats.holm, stats.benjamini_hochberg):
        adjusted = rule(raw)
        assert (adjusted >= raw - 1e-15).all()
        assert (adjusted <= 1).all()
        assert (np.diff(adjusted[np.argsort(raw, kind="stable")]) >= -1e-15).all()


def test_missing_p_values_are_not_part_of_the_family() -> None:
    assert stats.holm([0.01, math.nan, 0.04]) == pytest.approx([0.02, math.nan, 0.04], nan_ok=True)
    assert len(stats.holm([])) == 0
    with pytest.raises(ValueError, match="between 0 and 1"):
        stats.holm([0.5, 1.5])


def test_verdicts_follow_the_corrected_p() -> None:
    rng = np.random.default_rng(0)
    first = rng.normal(size=100)
    strong = stats.compare(first, first + rng.normal(0.5, 0.5, 100))
    noise = rng.normal(size=100)
    weak = stats.compare(first, first + 0.12 + 0.5 * (noise - noise.mean()) / noise.std())  # t = 2.4
    same = stats.compare(first, first + rng.normal(0, 0.05, 100), margin=0.1)
    nothing = stats.compare([None], [1.0])
    assert weak.verdict is Verdict.BETTER
    found = stats.adjust([strong, weak, same, same, same, nothing])
    assert [one.verdict for one in found[:3]] == [Verdict.BETTER, Verdict.NOT_SHOWN, Verdict.SAME]
    assert found[0].family == "5, holm"
    assert found[0].p_adjusted == pytest.approx(5 * strong.p)
    assert (found[5].p_adjusted, found[5].family) == (None, "")
    with pytest.raises(ValueError, match="method is one of holm, benjamini_hochberg"):
        stats.adjust([strong], "bonferroni")  # type: ignore[arg-type]


def test_randomized_tukey_is_the_largest_difference_of_shuffled_rows() -> None:
    """Against a plain loop that shuffles every question's row and keeps the largest difference of means."""
    rng = np.random.default_rng(0)
    table = np.round(rng.random((40, 1)) + 0.3 * rng.normal(size=(40, 4)) + [0, 0.02, 0.1, 0.2], 1)
    largest = []
    for _ in range(4_000):
        means = np.array([rng.permutation(row) for row in table]).mean(axis=0)
        largest.append(np.ptp(means))
    found = stats.compare_many({f"s{k}": table[:, k] for k in range(4)}, resamples=20_000)
    assert len(found) == 6
    for one in found:
        expected = np.mean(np.array(largest) >= abs(one.difference) - 1e-12)
        assert one.p_adjusted == pytest.approx(expected, abs=0.04)
        assert one.p_adjusted >= one.p - 0.01
        assert one.family == "6, randomized Tukey"


def test_against_a_baseline_fewer_pairs_are_in_the_family() -> None:
    rng = np.random.default_rng(1)
    table = {name: rng.random(60) for name in ("base", "a", "b", "c")}
    table["c"] = table["base"] + 0.2
    found = stats.compare_many(table, baseline="base")
    assert [(one.baseline, one.challenger) for one in found] == [("base", "a"), ("base", "b"), ("base", "c")]
    assert found[2].verdict is Verdict.BETTER
    everyone = {one.challenger: one for one in stats.compare_many(table) if one.baseline == "base"}
    assert found[0].p_adjusted is not None
    assert everyone["a"].p_adjusted is not None
    assert found[0].p_adjusted <= everyone["a"].p_adjusted + 0.02


def test_max_t_sees_a_small_steady_difference_that_tukey_does_not() -> None:
    """A re-ranked run is a little better nearly everywhere; the third system is far away and noisy."""
    rng = np.random.default_rng(0)
    first = rng.random(80)
    table = {"run": first, "re-ranked": first + rng.normal(0.01, 0.02, 80), "other": rng.random(80)}
    pair = [stats.compare_many(table, method="tukey")[0], stats.compare_many(table, method="max_t")[0]]
    assert {(one.baseline, one.challenger) for one in pair} == {("run", "re-ranked")}
    assert pair[0].p == pair[1].p < 0.001
    assert pair[0].verdict is Verdict.NOT_SHOWN
    assert (pair[1].verdict, pair[1].family) == (Verdict.BETTER, "3, max-T")


def test_max_t_is_the_step_down_procedure_of_a_plain_loop() -> None:
    rng = np.random.default_rng(3)
    table = np.round(rng.random((30, 4)) + np.array([0, 0.02, 0.1, 0.15]), 2)
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    moved = np.column_stack([table[:, b] - table[:, a] for a, b in pairs])
    scale = np.sqrt((moved**2).sum(axis=0))
    observed = np.abs(moved.sum(axis=0)) / scale
    drawn = np.abs(rng.choice([-1, 1], (20_000, 30)) @ moved) / scale
    expected, reached = np.empty(6), 0.0
    left = list(np.argsort(-observed))
    while left:
        reached = max(reached, float(np.mean(drawn[:, left].max(axis=1) >= observed[left[0]] - 1e-9)))
        expected[left.pop(0)] = reached
    found = stats.compare_many({str(k): table[:, k] for k in range(4)}, method="max_t", resamples=20_000)
    assert [one.p_adjusted for one in found] == pytest.approx(expected, abs=0.015)


def test_two_systems_need_no_correction() -> None:
    rng = np.random.default_rng(4)
    first = rng.random(80)
    (one,) = stats.compare_many({"a": first, "b": first + rng.normal(0.03, 0.2, 80)}, resamples=20_000)
    assert one.p_adjusted == pytest.approx(one.p, abs=0.015)


def test_whole_clusters_change_hands() -> None:
    rng = np.random.default_rng(2)
    table = {f"s{k}": np.repeat(rng.random(8), 10) for k in range(3)}
    codes = np.repeat(np.arange(8), 10)
    honest, naive = stats.compare_many(table, clusters=codes), stats.compare_many(table)
    assert all(a.p_adjusted > b.p_adjusted for a, b in zip(honest, naive, strict=True))  # type: ignore[operator]
    assert honest[0].clusters == 8


def test_a_question_one_system_missed_is_left_out_for_all() -> None:
    found = stats.compare_many({"a": [1, 0, None, 1.0], "b": [0, 0, 1, 1.0], "c": [1, 1, 1, math.nan]})
    assert {(one.n, one.n_dropped) for one in found} == {(2, 2)}
    empty = stats.compare_many({"a": [None], "b": [1.0]})
    assert (empty[0].n, empty[0].p_adjusted) == (0, None)


def test_bad_systems_are_named() -> None:
    with pytest.raises(ValueError, match="at least two systems; got a"):
        stats.compare_many({"a": [1.0]})
    with pytest.raises(ValueError, match="baseline is one of a, b; got 'z'"):
        stats.compare_many({"a": [1.0], "b": [1.0]}, baseline="z")
    with pytest.raises(ValueError, match="method is tukey or max_t; got 'dunn'"):
        stats.compare_many({"a": [1.0], "b": [1.0]}, method="dunn")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a 1, b 2"):
        stats.compare_many({"a": [1.0], "b": [1.0, 2.0]})


@pytest.mark.parametrize("method", ["tukey", "max_t"])
def test_two_systems_that_are_the_same_are_never_told_apart(method: Literal["tukey", "max_t"]) -> None:
    """Their difference has no spread to divide by; the pairs with a third system keep their own p."""
    rng = np.random.default_rng(9)
    first = rng.random(60)
    found = stats.compare_many({"a": first, "twin": first, "better": first + rng.normal(0.3, 0.1, 60)}, method=method)
    adjusted = {(one.baseline, one.challenger): one.p_adjusted for one in found}
    assert adjusted["a", "twin"] == 1.0
    assert adjusted["a", "better"] == adjusted["twin", "better"] == pytest.approx(1e-4, rel=0.01)
