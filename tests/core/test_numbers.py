"""Numbers as people write them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ragbench.core.errors import BenchError
from ragbench.core.numbers import read_numbers

NUMBERS: dict[str, tuple[list[Any], list[float]]] = {
    "shares": (["50%", "12,5 %"], [0.5, 0.125]),
    "decimal commas": (["0,5", "1 200,25", "1,200"], [0.5, 1200.25, 1.2]),
    "points": (["1\u00a0200.5", "−3", "1e3", 2], [1200.5, -3.0, 1000.0, 2.0]),
    "missing": (["NA", None, "null", "-", "", float("nan"), "None", "1"], [np.nan] * 7 + [1.0]),
}


@pytest.mark.parametrize(("cells", "numbers"), NUMBERS.values(), ids=NUMBERS)
def test_numbers(cells: list[Any], numbers: list[float]) -> None:
    np.testing.assert_array_equal(read_numbers(cells, "acc"), numbers)


@pytest.mark.parametrize(
    "cells",
    [["1,200"], ["1,234.5"], ["0,5", "0.5"], ["50%", "0.5"], ["a"], ["inf"], [True], ["1_0"]],
)
def test_doubtful_numbers_are_refused_by_the_value(cells: list[Any]) -> None:
    with pytest.raises(BenchError, match=r"^acc holds .*; write"):
        read_numbers(cells, "acc")
