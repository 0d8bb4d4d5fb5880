"""The language of a page: its messages by gettext, its numbers by Babel."""

from __future__ import annotations

import gettext
import io
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ragbench.core.errors import BenchError

LANGUAGES = ("en", "ru")
CATALOGUES = Path(__file__).parent / "locale"
CYRILLIC = re.compile("[\u0400-\u052f]")
NOTHING = "–"  # where a number has no value


def mark(message: str) -> str:
    """Mark a message where it is written; it is translated where it is shown."""
    return message


@dataclass(frozen=True)
class Language:
    """code: "en" or "ru". translate: from an English message to this language."""

    code: str
    translate: Callable[[str], str]

    def number(self, value: float, digits: int = 3, *, signed: bool = False) -> str:
        """Write `0.703`, `+0.203`; in Russian with a decimal comma. A dash for NaN."""
        from babel.numbers import format_decimal

        if math.isnan(value):
            return NOTHING
        if math.isinf(value):
            return "−∞" if value < 0 else "∞"
        pattern = "#,##0." + "0" * digits if digits else "#,##0"
        text = format_decimal(abs(value), pattern, locale=self.code)
        # The sign is that of the value before rounding: an interval from −0.0001 on holds 0,
        # and must look so.
        if value < 0:
            return f"−{text}"
        return f"+{text}" if signed and value > 0 else text

    def count(self, value: int) -> str:
        """Write `10,000`; in Russian with a space."""
        from babel.numbers import format_decimal

        return format_decimal(value, locale=self.code)

    def percent(self, share: float, digits: int = 0) -> str:
        """Write `12 %`, which no line breaks in two. A dash for NaN."""
        text = f"{self.number(100 * share, digits)}\N{NO-BREAK SPACE}%"
        return NOTHING if math.isnan(share) else text

    def ends(self, low: float, high: float, digits: int = 3, *, signed: bool = False) -> str:
        """Write `[0.645, 0.758]`; a dash where there is no interval."""
        if math.isnan(low) or math.isnan(high):
            return NOTHING
        # A decimal comma needs another separator between the ends.
        separator = "; " if self.code == "ru" else ", "
        ends = [self.number(end, digits, signed=signed) for end in (low, high)]
        return f"[{separator.join(ends)}]"

    def interval(
        self, value: float, low: float, high: float, digits: int = 3, *, signed: bool = False
    ) -> str:
        """Write `0.703 [0.645, 0.758]`; the value alone where it has no interval."""
        text = self.number(value, digits, signed=signed)
        if math.isnan(low):
            return text
        return f"{text} {self.ends(low, high, digits, signed=signed)}"

    def estimate(self, row: Any, digits: int = 3) -> str:
        """Write the value of an estimate with its interval, or that nothing else could come out."""
        text = self.interval(row["value"], row["low"], row["high"], digits)
        if row.get("method") != "construction":
            return text
        return self.translate("{value} by construction").format(value=text)

    def difference(self, row: Any) -> str:
        """Write the difference of a comparison with its interval, each with its sign."""
        return self.interval(row["difference"], row["low"], row["high"], signed=True)

    def p_value(self, p: float) -> str:
        """Write `< 0.001` or `= 0.042`; a dash for NaN."""
        if math.isnan(p):
            return NOTHING
        return f"< {self.number(0.001)}" if p < 0.001 else f"= {self.number(p)}"

    def fact(self, value: Any) -> str:
        """Write a fact of an explanation: floats by the language's rules, lists with commas."""
        if isinstance(value, bool | int):
            return str(value)
        if isinstance(value, float):
            return self.number(value)
        if isinstance(value, list | tuple):
            return ", ".join(map(self.fact, value))
        # A word that was marked for translation is translated, any other text stays as it is.
        return self.translate(str(value)) if value else ""


@lru_cache
def load_language(code: str) -> Language:
    """Return the language of a code. Raises BenchError for another than en and ru."""
    if code not in LANGUAGES:
        raise BenchError(f"language {code!r} is not there; there are {', '.join(LANGUAGES)}")
    if code == "en":
        return Language("en", lambda message: message)
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    # Compiled when it is read: no build step that could be forgotten.
    with (CATALOGUES / f"{code}.po").open("rb") as file:
        catalogue = read_po(file, locale=code)
    compiled = io.BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return Language(code, gettext.GNUTranslations(compiled).gettext)


def find_language(text: str) -> str:
    """Return "ru" where more than a quarter of a text's first characters are Cyrillic, else "en".

    Russian texts on technical subjects hold Latin names, so half would be too strict.
    """
    begin = text[:4000]
    return "ru" if 4 * len(CYRILLIC.findall(begin)) > len(begin) else "en"
