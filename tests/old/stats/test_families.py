"""Families of comparisons: Holm, Benjamini–Hochberg against statsmodels, max-T against loops and simulated truths."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from ragbench.old import stats
from ragbench.old.core.types import Comparison, Verdict
from tests.old.stats.random_tables import on_random_tables


@on_random_tables
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


def test_with_few_clusters_every_pattern_of_signs_is_counted() -> None:
    """Six clusters, three systems: the share of all 64 patterns whose largest studentized sum is as far out."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(6), [1, 2, 3, 4, 5, 6])
    table = rng.normal([0, 0.6, 1.4], 1, (21, 3))
    sums = np.array([[table[codes == c, k].sum() - table[codes == c, 0].sum() for k in (1, 2)] for c in range(6)])
    scale = np.sqrt((sums**2).sum(axis=0))
    drawn = np.abs(np.array(list(product([-1, 1], repeat=6))) @ sums) / scale
    observed = np.abs(sums.sum(axis=0)) / scale
    first, last = (int(k) for k in np.argsort(-observed))
    both = float(np.mean(drawn.max(axis=1) >= observed[first] - 1e-12))
    alone = float(np.mean(drawn[:, last] >= observed[last] - 1e-12))
    expected = {first: both, last: max(both, alone)}
    found = stats.compare_many({f"s{k}": table[:, k] for k in range(3)}, "s0", clusters=codes)
    assert [one.p_adjusted for one in found] == pytest.approx([expected[0], expected[1]], abs=1e-12)


@settings(max_examples=6, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(3, 5),
    st.sampled_from([4, 9, 40]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_a_corrected_p_is_never_below_p_and_forgets_the_order_of_rows(
    seed: int, systems: int, n: int, binary: bool, grouped: bool, every: bool
) -> None:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n, 1)) + rng.normal(0, rng.choice([0.05, 1], systems), (n, systems))
    table = (table > 0).astype(float) if binary else np.round(table, int(rng.integers(0, 3)))
    codes, order = rng.integers(0, max(n // 3, 1), n), rng.permutation(n)

    def found(rows: np.ndarray) -> list[Comparison]:
        columns = {f"s{k}": table[rows, k] for k in range(systems)}
        clusters = codes[rows] if grouped else None
        return stats.compare_many(columns, None if every else "s0", clusters=clusters, resamples=200)

    straight, shuffled = found(np.arange(n)), found(order)
    assert all(one.p_adjusted is not None and one.p_adjusted >= one.p for one in straight)
    assert repr(straight) == repr(shuffled)


def test_an_exact_p_is_a_floor_for_the_drawn_correction() -> None:
    """Beside a twin of the baseline the correction is the pair's own flips, drawn: half of them fall below exact p."""
    rng = np.random.default_rng(0)
    for seed in range(8):
        base = (rng.random(60) < 0.5).astype(float)
        other = np.where(rng.random(60) < 0.4, rng.random(60) < 0.7, base).astype(float)
        _, one = stats.compare_many({"base": base, "twin": base, "other": other}, "base", resamples=300, seed=seed)
        assert one.p_adjusted is not None
        assert one.p <= one.p_adjusted <= one.p + 0.1


@pytest.mark.slow
@pytest.mark.parametrize("groups", [0, 8])
@pytest.mark.parametrize("every", [False, True])
def test_near_clones_beside_a_noisy_run_are_told_apart_as_rarely_as_promised(every: bool, groups: int) -> None:
    """Three runs that differ by little and a noisy one, all of one mean: unstudentized, 10 to 15 % of families err."""
    rng, wrong, n = np.random.default_rng(5), 0, 40
    codes = np.repeat(np.arange(groups), n // groups) if groups else None
    for seed in range(400):
        shared = rng.normal(size=(groups or n, 1)) if codes is None else rng.normal(size=(groups, 1))[codes]
        table = np.hstack([shared + 0.1 * rng.normal(size=(n, 3)), 2 * rng.normal(size=(n, 1))])
        columns = {f"s{k}": table[:, k] for k in range(4)}
        found = stats.compare_many(columns, None if every else "s0", clusters=codes, resamples=300, seed=seed)
        wrong += any(one.verdict in (Verdict.BETTER, Verdict.WORSE) for one in found)
    assert wrong / 400 <= 0.05 + 2.5 * math.sqrt(0.05 * 0.95 / 400)


def test_a_correction_that_few_groups_cannot_pass_says_how_many_it_takes() -> None:
    """Six articles: no p below 2 / 2⁶ = .031; of four measures Holm takes .0125 at first, which seven can reach."""
    codes = np.repeat(np.arange(6), 20)
    first, second = np.zeros(120), np.full(120, 0.9)
    alone = stats.compare(first, second, clusters=codes)
    assert (alone.p, alone.verdict, alone.groups_needed) == (2 / 2**6, Verdict.BETTER, None)
    measures = [stats.compare(first, second * 0.01 * k, clusters=codes) for k in range(4)]
    found = stats.adjust([stats.compare(first, 0 * second, clusters=codes), *measures[1:]])
    assert {one.verdict for one in found} == {Verdict.CANNOT_BE_SHOWN}
    assert {(one.groups_needed, one.minimum_detectable, one.questions_needed) for one in found} == {(7, None, None)}
    assert [one.p_adjusted for one in found[1:]] == pytest.approx([4 / 2**5] * 3)
    settled = stats.adjust([stats.compare(np.zeros(60), np.ones(60))] * 3 + [alone])
    assert settled[-1].verdict is Verdict.BETTER, "where all others are settled first, .031 is enough"


@pytest.mark.slow
def test_what_all_pairs_could_have_shown_is_shown_in_four_of_five_studies() -> None:
    """Three alike systems and one that is better by the smallest difference that the family of all pairs names."""
    rng = np.random.default_rng(3)

    def pair(shift: float, seed: int) -> Comparison:
        table = rng.normal(size=(40, 1)) + 0.5 * rng.normal(size=(40, 4)) + [0, 0, 0, shift]
        found = stats.compare_many({f"s{k}": table[:, k] for k in range(4)}, resamples=400, seed=seed)
        return next(one for one in found if (one.baseline, one.challenger) == ("s0", "s3"))

    smallest = float(np.mean([pair(0.0, seed).minimum_detectable or math.nan for seed in range(60)]))
    power = np.mean([pair(smallest, seed).verdict is Verdict.BETTER for seed in range(400)])
    assert power == pytest.approx(0.8, abs=0.06)


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


def test_a_small_steady_difference_is_seen_beside_a_noisy_system() -> None:
    """A re-ranked run is a little better nearly everywhere; the third system is far away and noisy."""
    rng = np.random.default_rng(0)
    first = rng.random(80)
    table = {"run": first, "re-ranked": first + rng.normal(0.01, 0.02, 80), "other": rng.random(80)}
    pair = stats.compare_many(table)[0]
    assert (pair.baseline, pair.challenger) == ("run", "re-ranked")
    assert pair.p < 0.001
    assert (pair.verdict, pair.family) == (Verdict.BETTER, "3, max-T")


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
    found = stats.compare_many({str(k): table[:, k] for k in range(4)}, resamples=20_000)
    assert [one.p_adjusted for one in found] == pytest.approx(expected, abs=0.015)


def test_two_systems_need_no_correction() -> None:
    rng = np.random.default_rng(4)
    first = rng.random(80)
    (one,) = stats.compare_many({"a": first, "b": first + rng.normal(0.03, 0.2, 80)})
    assert one.p_adjusted == one.p


def test_whole_clusters_flip_together() -> None:
    rng = np.random.default_rng(2)
    table = {f"s{k}": np.repeat(rng.random(8), 10) for k in range(3)}
    codes = np.repeat(np.arange(8), 10)
    honest, naive = stats.compare_many(table, clusters=codes), stats.compare_many(table)
    assert all(a.p_adjusted > b.p_adjusted for a, b in zip(honest, naive, strict=True))  # type: ignore[operator]
    assert honest[0].clusters == 8


def test_a_pair_is_compared_on_the_questions_that_both_were_measured_on() -> None:
    found = stats.compare_many({"a": [1, 0, None, 1.0], "b": [0, 0, 1, 1.0], "c": [1, 1, 1, math.nan]})
    assert [(one.n, one.n_dropped) for one in found] == [(3, 1), (2, 2), (3, 1)]
    empty = stats.compare_many({"a": [None], "b": [1.0]})
    assert (empty[0].n, empty[0].p_adjusted) == (0, None)


def test_bad_systems_are_named() -> None:
    with pytest.raises(ValueError, match="at least two systems; got a"):
        stats.compare_many({"a": [1.0]})
    with pytest.raises(ValueError, match="baseline is one of a, b; got 'z'"):
        stats.compare_many({"a": [1.0], "b": [1.0]}, baseline="z")
    with pytest.raises(ValueError, match="a has 1 values and b 2"):
        stats.compare_many({"a": [1.0], "b": [1.0, 2.0]})


def test_two_systems_that_are_the_same_are_never_told_apart() -> None:
    """Their difference has no spread to divide by; the pairs with a third system keep their own p."""
    rng = np.random.default_rng(9)
    first = rng.random(60)
    found = stats.compare_many({"a": first, "twin": first, "better": first + rng.normal(0.3, 0.1, 60)})
    adjusted = {(one.baseline, one.challenger): one.p_adjusted for one in found}
    assert adjusted["a", "twin"] == 1.0
    assert adjusted["a", "better"] == adjusted["twin", "better"] == pytest.approx(0.5e-4, rel=0.01)
