"""Numbers as people write them in tables: shares, decimal commas, blanks between thousands."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from ragbench.core.errors import BenchError

# Cells that say that there is no value.
MISSING = ("", "na", "n/a", "nan", "none", "null", "<na>", "-", "–", "—", "нет данных")
NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?%?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}%?")  # 1,200 may be 1200 or 1.2


def read_numbers(cells: Iterable[Any], name: str) -> np.ndarray:
    """Read a column of numbers as people write them; NaN where a cell says that there is none.

    «50%» is 0.5 and "1 200,5" is 1200.5. A comma is a decimal one where a cell of the column leaves
    no doubt. Raises BenchError for a cell that is no number, a column of shares and other numbers,
    and a comma that may part thousands.
    """
    # Words without blanks and with a plain minus; empty where nothing is there.
    written = ["" if says_nothing(cell) else str(cell) for cell in cells]
    words = [re.sub(r"\s+", "", text).replace("−", "-") for text in written]
    filled = [word for word in words if word]
    odd = [word for word in filled if not NUMBER.fullmatch(word)]
    if odd:
        raise BenchError(f"{name} holds {odd[0]!r}, no number; write a number or leave it empty")
    shares = [word for word in filled if word.endswith("%")]
    if 0 < len(shares) < len(filled):
        raise BenchError(
            f"{name} holds {shares[0]!r} and other numbers; write all as shares, or none"
        )
    with_comma = [word for word in filled if "," in word]
    has_point = any("." in word for word in filled)
    if with_comma and (has_point or all(map(THOUSANDS.fullmatch, with_comma))):
        raise BenchError(
            f"{name} holds {with_comma[0]!r}; write decimals with a point, thousands bare"
        )
    numbers = [float(word.rstrip("%").replace(",", ".") or "nan") for word in words]
    return np.array(numbers) / (100 if shares else 1)


def says_nothing(cell: Any) -> bool:
    """Whether a cell of a rating or a number is empty, or says so: NA, None, null, a dash."""
    return cell is None or str(cell).strip().lower() in MISSING
