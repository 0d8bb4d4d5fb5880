"""One family over metrics and systems: Holm for two systems, steps by whole metrics for more, and what n could show."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench import stats
from ragbench.bench.basics.families import Group, Sureness, compared, stepped
from ragbench.types import Verdict

SURE = Sureness(0.95, 2_000, 0)
probabilities = st.lists(st.floats(1e-6, 1), min_size=1, max_size=4)


def rejected_at(groups: list[list[float]], level: float) -> list[list[bool]]:
    """The procedure word by word: settle groups one after the other, then test what is left."""
    open_groups = set(range(len(groups)))
    while settled := {g for g in open_groups if max(groups[g]) * len(open_groups) <= level * (1 + 1e-12)}:
        open_groups -= {min(settled, key=lambda g: max(groups[g]))}
    number = max(len(open_groups), 1)
    return [
        [g not in open_groups or p * number <= level * (1 + 1e-12) for p in group] for g, group in enumerate(groups)
    ]


def test_groups_of_one_are_corrected_by_holm() -> None:
    p = [0.01, 0.04, 0.03, 0.005]
    assert [q for [q] in stepped([[each] for each in p])] == pytest.approx(stats.holm(p))


def test_worked_cases() -> None:
    """Plain Holm over the best of each group would reject 0.045 at its second step; the open 0.9 forbids it."""
    first, settled = stepped([[0.001, 0.4], [0.004, 0.008]])
    assert settled == pytest.approx([0.008, 0.016]), "settled first: two groups are open"
    assert first == pytest.approx([0.002, 0.4]), "2 × 0.001 before, and then alone: 1 × 0.4"
    [[first, _], [second]] = stepped([[0.001, 0.9], [0.045]])
    assert (first, second) == pytest.approx((0.002, 0.09))


@given(st.lists(probabilities, min_size=1, max_size=5), st.floats(0.001, 0.999))
def test_adjusted_p_is_the_smallest_level_that_rejects(groups: list[list[float]], level: float) -> None:
    adjusted = stepped(groups)
    wanted = rejected_at(groups, level)
    for row, verdicts in zip(adjusted, wanted, strict=True):
        for p, verdict in zip(row, verdicts, strict=True):
            if abs(p - level) > 1e-9:
                assert (p <= level) == verdict


def columns(*chances: float, n: int = 80, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    draws = rng.random(n)
    return {f"s{place}": (draws < chance).astype(float) for place, chance in enumerate(chances)}


def test_two_systems_are_compared_as_ever() -> None:
    groups = {f"m{seed}": Group(columns(0.5, 0.7, seed=seed), "higher") for seed in range(3)}
    found = compared(groups, "metrics", SURE)
    plain = stats.adjust([stats.compare(*g.values.values(), resamples=2_000) for g in groups.values()])
    assert [one.p_adjusted for [one] in found.values()] == [one.p_adjusted for one in plain]
    assert {one.family for [one] in found.values()} == {"3, holm"}


def test_several_systems_name_both_steps_and_keep_the_direction() -> None:
    groups = {"up": Group(columns(0.3, 0.7, 0.1), "higher"), "down": Group(columns(0.3, 0.7, 0.1), "lower")}
    found = compared(groups, "metrics", SURE)
    assert [one.verdict for one in found["up"]] == [Verdict.BETTER, Verdict.WORSE]
    assert [one.verdict for one in found["down"]] == [Verdict.WORSE, Verdict.BETTER]
    assert found["up"][0].family == "4, max-T within each of the metrics, Holm over 2 metrics"
    assert found["up"][0].baseline == "s0"


def test_groups_with_questions_of_their_own_are_one_family_too() -> None:
    groups = {"a": Group(columns(0.4, 0.6, n=60), "higher"), "b": Group(columns(0.4, 0.6, n=30, seed=1), "higher")}
    found = compared(groups, "slices", SURE)
    assert [one.n for [one] in found.values()] == [60, 30]
    assert [one.p_adjusted for [one] in found.values()] == pytest.approx(stats.holm([found["a"][0].p, found["b"][0].p]))


def test_a_system_without_values_is_not_compared_and_spoils_nothing() -> None:
    whole = columns(0.3, 0.7, 0.5)
    without = {**whole, "s2": np.full(80, np.nan)}
    found = compared({"m": Group(without, "higher"), "n": Group(whole, "higher")}, "metrics", SURE)
    assert [one.challenger for one in found["m"]] == ["s1"]
    assert [one.challenger for one in found["n"]] == ["s1", "s2"]
    assert found["m"][0].n == 80


def test_many_systems_are_one_step() -> None:
    found = compared({"m": Group(columns(*np.linspace(0.3, 0.8, 9)), "higher")}, "metrics", SURE)
    assert len(found["m"]) == 8
    assert found["m"][-1].verdict is Verdict.BETTER


def test_a_system_that_is_far_off_does_not_hide_the_others() -> None:
    rng = np.random.default_rng(0)
    base = (rng.random(120) < 0.5).astype(float)
    good = np.clip(base + (rng.random(120) < 0.12), 0, 1)
    bad = np.where(rng.random(120) < 0.9, 0.0, base)
    found = compared({"m": Group({"base": base, "good": good, "bad": bad}, "higher")}, "metrics", SURE)["m"]
    assert [one.verdict for one in found] == [Verdict.BETTER, Verdict.WORSE]


def test_metrics_do_not_touch_each_other_s_p_nor_their_intervals() -> None:
    rng = np.random.default_rng(1)
    first, second = ({name: rng.random(40) for name in ("base", "a", "b")} for _ in range(2))
    both = compared({"m": Group(first, "higher"), "n": Group(second, "higher")}, "metrics", SURE)["m"]
    alone = compared({"m": Group(first, "higher")}, "metrics", SURE)["m"]
    for one, other in zip(both, alone, strict=True):
        assert (one.p, one.low, one.high, one.intervals) == (other.p, other.low, other.high, other.intervals)


def test_few_groups_in_a_large_family_cannot_show_anything() -> None:
    """Seven clusters allow .0156; ten metrics ask for .005, and nine clusters would allow .0039."""
    codes = [str(place // 10) for place in range(70)]
    values = {"a": np.zeros(70), "b": np.ones(70)}
    [one] = compared({"m": Group(values, "higher", codes)}, "metrics", SURE)["m"]
    assert (one.verdict, one.p_adjusted) == (Verdict.BETTER, 2 / 2**7)
    ten = compared({f"m{k}": Group(values, "higher", codes) for k in range(10)}, "metrics", SURE)
    for [one] in ten.values():
        assert (one.verdict, one.p_adjusted) == (Verdict.CANNOT_BE_SHOWN, pytest.approx(10 * 2 / 2**7))
        assert (one.minimum_detectable, one.questions_needed, one.groups_needed) == (None, None, 9)
    three = {"a": np.zeros(70), "b": np.ones(70), "c": 1 - np.array([int(code) / 6 for code in codes])}
    pair = compared({f"m{k}": Group(three, "higher", codes) for k in range(3)}, "metrics", SURE)["m0"]
    assert pair[0].verdict is Verdict.BETTER, "over systems max-T costs nothing where one stands out: 3 × .0156 < .05"


def test_what_could_have_been_shown_is_said_for_the_level_that_the_family_leaves() -> None:
    rng = np.random.default_rng(0)
    values = {"a": rng.random(80), "b": rng.random(80)}
    alone = stats.compare(*values.values(), resamples=2_000)
    found = compared({f"m{i}": Group(values, "higher") for i in range(10)}, "metrics", SURE)["m0"][0]
    deviation = alone.minimum_detectable / stats.minimum_detectable_difference(1.0, 80)
    assert found.minimum_detectable == pytest.approx(
        stats.minimum_detectable_difference(deviation, 80, level=1 - 0.05 / 10)
    )
    assert found.questions_needed > alone.questions_needed
