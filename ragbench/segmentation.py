"""Where the sentences of an English or Russian text stand."""

from __future__ import annotations

import re
import unicodedata

Span = tuple[int, int]
"""Where a part of a text begins and ends, in characters from 0; the end is not of it."""

_BREAK = re.compile(
    r"(?<=[.!?…])[\"'»”’)\]]*+\s++(?=[\"'«“‘(\[—–-]*+\s*+[A-ZА-ЯЁ0-9])|"
    r"\n\s*\n|\n(?=\s*+(?:[-*•]|\d++[.)])\s)"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-ZА-ЯЁ]|mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|no|vol|fig|approx|jr|sr|inc|ltd|"
    r"г|гг|в|вв|ул|д|корп|стр|каб|ауд|им|т\.\s?е|т\.\s?д|т\.\s?п|т\.\s?к|и\s?др|см|рис|табл|тыс|млн|млрд|руб|"
    r"проф|доц|акад|тел|напр|просп|пр|пл|обл|р-н|пос))\.\s*$",
    re.IGNORECASE,
)


LONGEST = 12
"""Letters and signs of the longest abbreviation, and some more: so far from its end a sentence is looked at."""


def spans(text: str) -> list[Span]:
    """The text's sentences and list items, without the white space around them; abbreviations and initials end none.

    What has no letter or digit is none.
    """
    found: list[Span] = []
    start = after = 0
    for gap in [*_BREAK.finditer(text), None]:
        after = gap.end() if gap else len(text)
        if gap is not None and "\n" not in gap.group():
            last = gap.start() + len(gap.group().rstrip())
            if _ABBREVIATION.search(text, max(start, last - LONGEST), after):
                continue
        piece = text[start:after]
        if any(letter.isalnum() for letter in unicodedata.normalize("NFKC", piece)):  # "🄐" is the word "a"
            begin = start + len(piece) - len(piece.lstrip())
            found.append((begin, begin + len(piece.strip())))
        start = after
    return found


def sentences(text: str) -> list[str]:
    """The sentences themselves, white space folded."""
    return [" ".join(text[start:end].split()) for start, end in spans(text)]
