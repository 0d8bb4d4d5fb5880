"""docs/explanation/scale.md: every product and quotient on it is one, and every command is there."""

from __future__ import annotations

import re

import pytest

from ragbench.data import files
from ragbench.store import foreign
from tests.docs.fragments import ROOT

PAGE = (ROOT / "docs" / "explanation" / "scale.md").read_text(encoding="utf-8")


def number(text: str) -> float:
    return float(text.replace(",", ""))


def value(text: str) -> float:
    """Of numbers with × or / between them, from the left."""
    first, *more = re.split(r" (?=[×/] )", text)
    found = number(first)
    for step in more:
        found = found * number(step[2:]) if step[0] == "×" else found / number(step[2:])
    return found


def test_every_sum_on_the_page_is_right() -> None:
    sums = re.findall(r"`([\d.,]+(?: [×/] [\d.,]+)+) = ([\d.,]+)`", PAGE)
    assert len(sums) == PAGE.count(" = ") - 2 > 25, "but for the two of the introduction"
    for left, right in sums:
        assert number(right) == pytest.approx(value(left), rel=0.02), f"{left} = {right}"


def test_every_benchmark_is_there() -> None:
    names = re.findall(r"python -m (benchmarks\.\w+)", PAGE)
    assert len(names) == 3
    assert all((ROOT / f"{name.replace('.', '/')}.py").is_file() for name in names)


def test_the_limits_on_the_page_are_those_of_the_code() -> None:
    assert files.MAX_ROWS == 1_000_000
    assert "has at most 1 million rows" in PAGE
    assert foreign.MOST_ROWS == 10_000_000
    assert "a table of your own 10 million" in PAGE
