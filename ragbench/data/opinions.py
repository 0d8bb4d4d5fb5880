"""What people put into a cell to say how good something is, or whether it is so: numbers, words, yes and no."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from ragbench.data.vocabulary import TABLE, field_of

DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
YES, NO = map(frozenset, (TABLE["rows"]["yes"], TABLE["rows"]["no"]))
GOOD, BAD = YES.union(TABLE["rows"]["good"]), NO.union(TABLE["rows"]["bad"])


def mark(value: Any) -> float | None:
    """What a person gave an answer: a number, also with a decimal comma, or 1 for a word of GOOD and 0 for one of BAD;
    None for an empty cell. Raises ValueError for anything else."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    word = str(value).strip().casefold()
    given = 1.0 if word in GOOD else 0.0 if word in BAD else decimal(word)
    if not math.isfinite(given):
        raise ValueError("a finite number is expected")
    return given


def is_mark(value: Any) -> bool:
    """Whether a cell holds what `mark` reads."""
    try:
        return mark(value) is not None
    except ValueError:
        return False


def marked(row: Mapping[str, Any]) -> list[str]:
    """The columns beside an id, where there are two at least and all of them hold marks; else none."""
    others = [name for name in row if name and field_of(name) != "id"]
    return others if len(others) > 1 and all(is_mark(row[name]) for name in others) else []


def flag(value: Any) -> Any:
    """True, False, or None for a mark that is not there yet, out of 0/1, booleans and words."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    word = str(value).strip().casefold()
    if word in YES or word in NO:
        return word in YES
    raise ValueError("0 or 1, true or false, yes or no, or nothing is expected")


def decimal(text: str) -> float:
    """The number in a cell's text, also with a decimal comma. Raises ValueError for anything else."""
    return float(text.replace(",", ".") if DECIMAL_COMMA.fullmatch(text.strip()) else text)
