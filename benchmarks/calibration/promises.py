"""What is promised of intervals and tests, and which simulated situation keeps it least."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LIMITS = {"coverage": (0.93, 0.97), "level": (0.033, 0.055), "family": (0.0, 0.055)}
"""What is promised of an interval at .95, and of a test or a family of tests at .05."""

FEWEST_TESTED = 7
"""Fewer clusters have so few patterns of signs that a test errs less, or cannot show anything."""

Row = Mapping[Any, Any]


@dataclass(frozen=True)
class Worst:
    """The cell that errs most, and in what; its error is nominally .05."""

    row: Row
    quantity: str
    error: float

    def __str__(self) -> str:
        return (
            f"{self.row['topic']}: {self.row['cell']}, n = {self.row['n']}: {self.quantity}, errs in {self.error:.3f}"
        )


def worst(rows: Sequence[Row]) -> Worst | None:
    """Where an interval misses the truth, or a test finds a difference that is not there, most often; None of none."""
    found = [
        Worst(row, quantity, 1 - row[quantity] if quantity == "coverage" else row[quantity])
        for row in rows
        for quantity in LIMITS
        if _known(row[quantity])
    ]
    return max(found, key=lambda one: one.error, default=None)


def outside(row: Row) -> list[str]:
    """The quantities of a row beyond what is promised, and that by more than twice their Monte-Carlo error."""
    return [quantity for quantity in LIMITS if _side(row, quantity)]


def standard_error(value: float, simulations: float) -> float:
    """Of a share of so many simulations."""
    return math.sqrt(max(value * (1 - value), 0.0) / simulations)


def _known(value: float | None) -> bool:
    return value is not None and not math.isnan(value)


def _side(row: Row, quantity: str) -> int:
    """Above (1) or below (-1) what is promised, as far as chance does not explain it; a family may err less often."""
    if quantity not in LIMITS or not _known(row[quantity]):
        return 0
    (low, high), value = LIMITS[quantity], row[quantity]
    if quantity == "level" and row["clusters"] is not None and row["clusters"] < FEWEST_TESTED:
        low = 0.0
    slack = 2 * standard_error(value, row["simulations"])
    return int(value - slack > high) - int(value + slack < low)
