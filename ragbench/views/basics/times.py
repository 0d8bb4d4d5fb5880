"""How a time is written: in as many decimals as it needs, with open ends where readings cannot bound it."""

from __future__ import annotations

import math

from ragbench.core.parts import Value


def milliseconds(value: float, low: float | None, high: float | None) -> Value | None:
    """A quantile with its interval; None where nothing was read."""
    if not math.isfinite(value):
        return None
    return Value(value, low, high, digits=2 if value < 10 else 1 if value < 1000 else 0, open=True)
