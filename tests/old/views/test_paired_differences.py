"""The forest of paired differences: where marks stand, which metrics share a scale, and what is folded."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.old import views
from ragbench.old.views import Page
from ragbench.old.views.basics.differences import NICE, Scale, scaled
from tests.old.views.measurements import measurement

pytestmark = pytest.mark.usefixtures("bare")


@pytest.mark.parametrize(
    ("numbers", "low", "high", "step"),
    [
        ([0.04, 0.12, 0.21], -0.1, 0.3, 0.1),  # 0.21 and the room below zero: 0.235 in four steps
        ([-0.031, 0.063, 0.158], -0.05, 0.2, 0.05),
        ([-3.0, -1.0], -3.0, 1.0, 1.0),
        ([0.0], -0.2, 0.2, 0.1),
        ([math.nan], -0.2, 0.2, 0.1),
        ([5e-324], -0.2, 0.2, 0.1),
    ],
)
def test_a_scale_ends_at_round_numbers(numbers: list[float], low: float, high: float, step: float) -> None:
    found = scaled(numbers)
    assert (found.low, found.high, found.step) == pytest.approx((low, high, step))
    assert found.ticks == pytest.approx([low + step * place for place in range(round((high - low) / step) + 1)])


@given(st.lists(st.floats(-1e6, 1e6), max_size=8))
def test_every_difference_and_zero_lie_on_the_scale(numbers: list[float]) -> None:
    found = scaled(numbers)
    assert all(0 <= found.place(one) <= 100 for one in [0.0, *numbers])
    assert any(math.isclose(found.step / 10.0 ** math.floor(math.log10(found.step)), nice) for nice in NICE)
    assert 2 <= len(found.ticks) <= 8
    assert any(abs(tick) < found.step * 1e-6 for tick in found.ticks), "zero is written"


def test_places_are_shares_of_the_width() -> None:
    scale = Scale(-0.1, 0.3, 0.1)
    assert [scale.place(one) for one in (-0.1, 0.0, 0.1, 0.3)] == [0.0, 25.0, 50.0, 100.0]


def test_metrics_of_the_same_bounds_share_a_scale() -> None:
    ticks = _ticks(("a", "b", "c"))
    assert ticks[0] == ticks[1]
    assert len(ticks) == 3


def test_of_a_single_challenger_a_metric_takes_a_line_and_a_scale_is_written_once() -> None:
    ticks = _ticks(("a", "b"))
    assert len(ticks) == 2
    assert ticks[0] != ticks[1]


def _ticks(systems: tuple[str, ...]) -> list[list[str]]:
    html = str(views.comparison.forest(Page(measurement(systems, ("mrr", "hit_rate@1", "e2e_score"), 40))).html())
    assert html.count("rb-reach") == 3 * (len(systems) - 1)
    return [re.findall(r"<text[^>]*>([^<]*)", one) for one in re.findall(r'class="rb-ticks".*?</svg>', html)]


@pytest.mark.parametrize(("systems", "folded"), [(5, 0), (12, 1)])
def test_of_very_many_differences_all_but_the_first_metric_are_folded(systems: int, folded: int) -> None:
    made = measurement(tuple(f"s{n}" for n in range(systems)), ("mrr", "hit_rate@1", "ndcg@10"), 10)
    html = str(views.comparison.forest(Page(made)).html())
    assert html.count("<details") == folded
    assert html.count("rb-reach") == 3 * (systems - 1)


def test_the_long_name_of_a_metric_breaks_behind_its_signs_and_not_within_a_word() -> None:
    made = measurement(("a", "b"), ("factual_correctness(mode=precision)", "mrr"), 10)
    assert "factual_<wbr>correctness(<wbr>mode=<wbr>precision)" in str(views.comparison.forest(Page(made)).html())
