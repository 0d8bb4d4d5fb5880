"""Families of a page: the primary metric by itself, all others jointly, and what n could show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ragbench import stats
from ragbench.bench.basics.families import Group, Sureness, adjusted, compared, said
from ragbench.language import translator
from ragbench.types import Verdict

SURE = Sureness(0.95, 2_000, 0)


def columns(*chances: float, n: int = 80, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    draws = rng.random(n)
    return {f"s{place}": (draws < chance).astype(float) for place, chance in enumerate(chances)}


def test_the_primary_metric_is_a_family_of_its_own() -> None:
    """However many others are beside it, its p and interval are those that it has by itself."""
    groups = {f"m{seed}": Group(columns(0.5, 0.7, seed=seed), "higher") for seed in range(6)}
    found = compared(groups, None, SURE, primary="m2")
    [first] = found["m2"]
    alone = stats.compare(*groups["m2"].values.values(), resamples=2_000)
    assert (first.p_adjusted, first.low, first.high, first.family) == (
        alone.p,
        alone.low,
        alone.high,
        "primary: 1, max-T",
    )
    assert {one.family for name in groups if name != "m2" for one in found[name]} == {"secondary: 5, max-T"}
    assert all((one.p_adjusted or 0) > one.p for name in groups if name != "m2" for one in found[name])


def test_challengers_on_the_primary_metric_share_their_family_and_keep_the_direction() -> None:
    groups = {"up": Group(columns(0.3, 0.7, 0.1), "higher"), "down": Group(columns(0.3, 0.7, 0.1), "lower")}
    found = compared(groups, None, SURE, primary="up")
    assert [one.verdict for one in found["up"]] == [Verdict.BETTER, Verdict.WORSE]
    assert [one.verdict for one in found["down"]] == [Verdict.WORSE, Verdict.BETTER]
    assert (found["up"][0].family, found["down"][0].family) == ("primary: 2, max-T", "secondary: 2, max-T")
    assert found["up"][0].baseline == "s0"


def test_slices_are_tested_jointly_each_on_its_own_questions() -> None:
    whole = columns(0.4, 0.6, n=90)
    slices = {"a": np.arange(60), "b": np.arange(60, 90)}
    found = compared({name: Group(whole, "higher", places) for name, places in slices.items()}, None, SURE)
    assert [one.n for [one] in found.values()] == [60, 30]
    assert {one.family for [one] in found.values()} == {"2, max-T"}
    for name, places in slices.items():
        alone = stats.compare(*(column[places] for column in whole.values()), resamples=2_000)
        assert found[name][0].p == alone.p
        assert alone.p <= found[name][0].p_adjusted <= 2 * alone.p + 0.02, "two that share no question: as by Šidák"


def test_a_system_without_values_is_not_compared_and_spoils_nothing() -> None:
    whole = columns(0.3, 0.7, 0.5)
    without = {**whole, "s2": np.full(80, np.nan)}
    found = compared({"m": Group(without, "higher"), "n": Group(whole, "higher")}, None, SURE)
    assert [one.challenger for one in found["m"]] == ["s1"]
    assert [one.challenger for one in found["n"]] == ["s1", "s2"]
    assert found["m"][0].n == 80


def test_a_system_that_is_far_off_does_not_hide_the_others() -> None:
    rng = np.random.default_rng(0)
    base = (rng.random(120) < 0.5).astype(float)
    good = np.clip(base + (rng.random(120) < 0.12), 0, 1)
    bad = np.where(rng.random(120) < 0.9, 0.0, base)
    found = compared({"m": Group({"base": base, "good": good, "bad": bad}, "higher")}, None, SURE)["m"]
    assert [one.verdict for one in found] == [Verdict.BETTER, Verdict.WORSE]


def test_hypotheses_that_were_made_elsewhere_are_of_the_same_family() -> None:
    """A measure of a whole set beside a metric of single questions, on the same questions in the same order."""
    rng = np.random.default_rng(1)
    first, second = (rng.integers(0, 3, (80, 2)).astype(float) + 1 for _ in range(2))
    ratio = stats.statistic_hypothesis(
        lambda t: t[..., 0] / t[..., 1], first, second, names=("s0", "s1"), resamples=500
    )
    found = compared({"m": Group(columns(0.5, 0.7), "higher")}, None, SURE, more={"ratio": [ratio]})
    assert {one.family for [one] in found.values()} == {"2, max-T"}
    assert found["ratio"][0].p == ratio.alone.p <= found["ratio"][0].p_adjusted


def test_a_measure_that_is_undefined_is_not_compared_and_not_counted() -> None:
    """Precision where nobody ever decides to show: 0 of 0 on both sides."""
    nothing = stats.statistic_hypothesis(lambda t: t[..., 0] / t[..., 1], np.zeros((80, 2)), np.zeros((80, 2)))
    assert (nothing.alone.n, np.isnan(nothing.alone.p)) == (80, True)
    found = compared({"m": Group(columns(0.5, 0.7), "higher")}, None, SURE, more={"undefined": [nothing]})
    assert found["undefined"] == []
    assert found["m"][0].p_adjusted == found["m"][0].p
    assert found["m"][0].family == "1, max-T"


def test_metrics_do_not_touch_each_other_s_p_nor_the_interval_that_each_has_alone() -> None:
    rng = np.random.default_rng(1)
    first, second = ({name: rng.random(40) for name in ("base", "a", "b")} for _ in range(2))
    both = compared({"m": Group(first, "higher"), "n": Group(second, "higher")}, None, SURE)["m"]
    alone = compared({"m": Group(first, "higher")}, None, SURE)["m"]
    for one, other in zip(both, alone, strict=True):
        assert (one.p, one.alone, one.intervals) == (other.p, other.alone, other.intervals)
        assert one.low < other.low < other.alone[0], "the more is said at once, the wider"


def test_few_groups_cannot_show_anything_and_near_copies_cost_them_nothing() -> None:
    """Six clusters allow .031, alone and in ten copies; five allow .0625."""
    for number, verdict in ((6, Verdict.BETTER), (5, Verdict.CANNOT_BE_SHOWN)):
        codes = [str(place // 10) for place in range(10 * number)]
        values = {"a": np.zeros(len(codes)), "b": np.ones(len(codes))}
        found = compared({f"m{k}": Group(values, "higher") for k in range(10)}, codes, SURE)
        assert {(one.verdict, one.p_adjusted, one.family) for [one] in found.values()} == {
            (verdict, 2 / 2**number, "1, max-T")
        }


def test_what_could_have_been_shown_is_said_for_the_level_that_the_family_leaves() -> None:
    values = {f"m{seed}": columns(0.5, 0.55, seed=seed) for seed in range(10)}
    alone = stats.compare(*values["m0"].values(), resamples=2_000)
    found = compared({name: Group(own, "higher") for name, own in values.items()}, None, SURE)["m0"][0]
    assert found.threshold is not None
    assert 0.05 / 20 < found.threshold < 0.05 / 5, "of ten that have little in common"
    assert found.minimum_detectable is not None
    assert alone.minimum_detectable is not None
    assert found.minimum_detectable > 1.2 * alone.minimum_detectable


@pytest.mark.parametrize(
    ("family", "english", "russian"),
    [
        ("primary: 1, max-T", "primary metric, tested by itself", "главная метрика, проверена отдельно"),
        (
            "primary: 3, max-T", "primary metric, adjusted for 3 comparisons (max-T)",
            "главная метрика, с поправкой на 3 сравнения (max-T)",
        ),
        (
            "secondary: 26, max-T", "secondary metrics, adjusted for 26 comparisons (max-T)",
            "остальные метрики, с поправкой на 26 сравнений (max-T)",
        ),
        ("5, holm", "adjusted for 5 comparisons (Holm)", "с поправкой на 5 сравнений (Holm)"),
        ("1, max-T", "", ""),
        ("9, max-T within metrics", "adjusted for 9 comparisons (max-T within metrics)", None),
        ("other", "other", "other"),
    ],
)  # fmt: skip
def test_a_family_says_what_it_is(family: str, english: str, russian: str | None) -> None:
    assert said(family, translator("en")) == english
    assert russian is None or said(family, translator("ru")) == russian


def test_a_headline_says_for_how_many_comparisons_it_is_adjusted() -> None:
    one = replace(stats.compare([0.0, 1.0], [1.0, 1.0]), family="primary: 3, max-T")
    assert adjusted(one.family, translator("en")) == "adjusted for 3 comparisons"
    assert adjusted("primary: 1, max-T", translator("en")) == adjusted("", translator("en")) == ""
