"""Everything people read, in their language: texts from the gettext catalogues, numbers in the language's form.

English is written in the code; a catalogue `locale/<language>/LC_MESSAGES/ragbench.po` translates it. Catalogues are
read as they are: no compiled file has to be kept in step with them.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from functools import lru_cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import Any, Literal, get_args

from markupsafe import Markup

LOCALE = Path(__file__).parent / "locale"
Language = Literal["en", "ru"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
NAMES = {"en": "English", "ru": "Русский"}
"""What a language is called by those who read it."""
MINUS = "\N{MINUS SIGN}"
DASH = "\N{EM DASH}"


class Translator:
    """Texts and numbers of one language. Calling it translates: `_("the {n} worst", n="10")`.

    Where a catalogue lacks a text, the English one is shown: never an error, never an empty place.
    """

    def __init__(self, language: str, catalogue: NullTranslations) -> None:
        self.language = language
        self._catalogue = catalogue

    def __call__(self, text: str, **values: object) -> str:
        """The translation of `text`, with `{name}` places filled in."""
        translated = self._catalogue.gettext(text) if text else text
        return translated.format(**values) if values else translated

    def html(self, text: str, **values: object) -> Markup:
        """The translation of a text with markup of its own; the values filled in are escaped unless they are Markup."""
        return Markup(self(text)).format(**values)  # noqa: S704 - the catalogue is ours

    def plural(self, singular: str, many: str, n: int, **values: object) -> str:
        """The form that `n` asks for, with `{n}` written in the language's form."""
        return self._catalogue.ngettext(singular, many, n).format(n=self.integer(n), **values)

    def number(self, value: float | None, digits: int = 3, *, signed: bool = False) -> str:
        """`value` with `digits` decimals, a true minus sign, a plus sign where `signed` (not for 0); a dash for NaN."""
        if value is None or not math.isfinite(value):
            return DASH
        return sign(value, digits, signed) + _decimal(abs(round(float(value), digits)), digits, self.language)

    def exact(self, value: float | None) -> str:
        """A number as somebody wrote it down, with all of its decimals and none more: `0.875`; a dash for None."""
        if value is None or not math.isfinite(value):
            return DASH
        return self.number(value, len(f"{value:.9f}".rstrip("0").partition(".")[2]))

    def integer(self, value: int) -> str:
        """A whole number with the language's thousands separator."""
        return self.number(value, 0)

    def percent(self, share: float, digits: int = 0) -> str:
        """A share of one as per cent: `95%` in English, `95 %` in Russian; a dash for NaN."""
        from babel.numbers import format_percent

        if not math.isfinite(share):
            return DASH
        pattern = "#,##0" + ("." + "0" * digits if digits else "") + "%"
        if self.language == "ru":
            pattern = pattern.replace("%", "\N{NO-BREAK SPACE}%")
        return format_percent(share, format=pattern, locale=self.language)

    def interval(self, low: float | None, high: float | None, digits: int = 3, *, signed: bool = False) -> str:
        """`[0.125, 0.280]`; a semicolon between the ends where the decimal mark is a comma; a dash for None.

        signed: of a difference; an end that is not 0 is not written as 0, see `end`.
        """
        if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
            return DASH
        return self.ends(*(self.end(end, digits) if signed else self.number(end, digits) for end in (low, high)))

    def end(self, value: float, digits: int) -> str:
        """The end of a difference's interval: `+0.0004`, `>0`; see `decimals`."""
        places = decimals(value, digits)
        return beside_zero(value) if places is None else self.number(value, places, signed=True)

    def ends(self, low: str, high: str) -> str:
        """`[low, high]` of ends already written; a semicolon between them where the decimal mark is a comma."""
        between = "; " if self.number(0.5, 1) == "0,5" else ", "
        return f"[{low}{between}{high}]"

    def p_value(self, p: float | None, *, relation: bool = False) -> str:
        """`0.499` or `< 0.001`; with `relation`, as it stands in a sentence, `p = 0.499`: no line ends inside of it."""
        if p is None or not math.isfinite(p):
            return DASH
        sign, number = ("<", self.number(0.001)) if p < 0.001 else ("=" if relation else "", self.number(p))
        return "\N{NO-BREAK SPACE}".join(filter(None, ("p" if relation else "", sign, number)))

    def enumeration(self, items: Sequence[str]) -> str:
        """`a, b and c`."""
        from babel.lists import format_list

        if len(items) < 2:
            return "".join(items)
        text = format_list(list(items), locale=self.language)
        return text.replace(", and ", " and ") if self.language == "en" and len(items) == 2 else text

    def blocks(self, markdown: str) -> str:
        """A Markdown text translated block by block: blocks are parted by blank lines, and each is its own entry.

        A heading's marks (`## `) and a list's are part of the entry, so that a translator sees what it is.
        """
        parts = re.split(r"(\n[ \t]*\n+)", markdown.strip())
        return "".join(part if index % 2 else self(part.strip()) for index, part in enumerate(parts))


@lru_cache(maxsize=2**16)
def _decimal(value: float, digits: int, language: str) -> str:
    """A page shows the same few numbers many times, and Babel reads the pattern anew for each."""
    from babel.numbers import format_decimal

    return format_decimal(value, format="#,##0" + ("." + "0" * digits if digits else ""), locale=language)


@lru_cache(maxsize=8)
def translator(language: str) -> Translator:
    """The translator of a language. Raises ValueError, naming those there are, for one without a catalogue."""
    if language not in LANGUAGES:
        raise ValueError(f"language = {language!r}: there are {', '.join(LANGUAGES)}")
    if language == "en":
        return Translator(language, NullTranslations())
    return Translator(language, _compiled(LOCALE / language / "LC_MESSAGES" / "ragbench.po"))


def _compiled(path: Path) -> GNUTranslations:
    from babel.messages.mofile import write_mo

    buffer = io.BytesIO()
    write_mo(buffer, catalogue(path))
    buffer.seek(0)
    return GNUTranslations(buffer)


def catalogue(path: Path) -> Any:
    """The catalogue of a .po file, as Babel reads it."""
    from babel.messages.pofile import read_po

    with path.open("rb") as file:
        return read_po(file, abort_invalid=True)


def sign(value: float, digits: int, signed: bool) -> str:
    """What stands before a number of so many decimals: a minus, and before a difference (`signed`) a plus, on whichever
    side of 0 it lies, also where it is written as 0; nothing before 0, of which a sum may leave a trace."""
    if round(value, digits if not signed else 12) == 0:
        return ""
    return MINUS if value < 0 else "+" if signed else ""


def decimals(value: float, digits: int) -> int | None:
    """Of the end of a difference's interval, so that one without 0 is never read as one with it: `digits`, or up to
    three more where it would be rounded to 0 but is not; None closer to it."""
    return digits if value == 0 else next((more for more in range(digits, digits + 4) if round(value, more) != 0), None)


def beside_zero(value: float) -> str:
    """What is written for an end that no number of decimals tells from 0."""
    return ">0" if value > 0 else "<0"
