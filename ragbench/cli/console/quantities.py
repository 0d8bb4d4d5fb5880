"""Times, sizes and counts as people write them: 90d, 12h, 5GB, 2 questions."""

from __future__ import annotations

import datetime
import re

import typer

DAYS = {"h": 1 / 24, "d": 1.0, "w": 7.0, "y": 365.0}
BYTES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_WRITTEN = re.compile(r"(\d+(?:\.\d+)?)\s*([a-zA-Z]*)")


def duration(text: str, option: str) -> datetime.timedelta | None:
    """A time such as 90d or 12h; None for an empty text. Raises typer.BadParameter with what is legal."""
    if not text:
        return None
    match = _WRITTEN.fullmatch(text.strip())
    if match is None or match[2].lower() not in DAYS or float(match[1]) * DAYS[match[2].lower()] > 365 * 1000:
        raise typer.BadParameter(f"{text!r}: a number with h, d, w or y is expected, as in 90d", param_hint=option)
    return datetime.timedelta(days=float(match[1]) * DAYS[match[2].lower()])


def size(text: str, option: str) -> int | None:
    """Bytes, such as 5GB or 200kB; None for an empty text. Raises typer.BadParameter with what is legal."""
    if not text:
        return None
    match = _WRITTEN.fullmatch(text.strip())
    if match is None or match[2].lower() not in BYTES or float(match[1]) > 10**15:
        raise typer.BadParameter(f"{text!r}: bytes, or a number with kB, MB, GB or TB, as in 5GB", param_hint=option)
    return round(float(match[1]) * BYTES[match[2].lower()])


def told(count: int) -> str:
    """A number of bytes for people."""
    for name, unit in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= unit:
            return f"{count / unit:,.1f} {name}"
    return f"{count} bytes"


def counted(number: int, name: str, several: str = "") -> str:
    """`1 question`, `2 questions`."""
    return f"{number} {name if number == 1 else several or f'{name}s'}"
