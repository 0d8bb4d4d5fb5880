"""A text's sentences, found without a model: what a judge's sentences are held against."""

from __future__ import annotations

import re
from functools import lru_cache

_END = re.compile(
    r"(?<![.!?…])(?P<mark>[.!?…]++)[\"'»”’)\]]*+(?:\s++(?=[\"'«“‘(\[—–-]*+\s*+[A-ZА-ЯЁ0-9])|$)|"
    r"\n\s*\n|\n(?=\s*+(?:[-*•]|\d++[.)])\s)"
)
_NO_END = re.compile(
    r"(?:^|[\s(«\"“])(?:[A-ZА-ЯЁ]|mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|no|vol|fig|approx|jr|sr|inc|ltd|г|гг|в|вв|ул|д|"
    r"корп|стр|каб|ауд|им|т\.\s?[едпк]|и\s?др|см|рис|табл|тыс|млн|млрд|руб|проф|доц|акад|тел|напр|просп|пр|пл|обл|пос)\.$",
    re.IGNORECASE,
)
LONGEST = 12
"""Letters and signs of the longest abbreviation with what stands before it, and some more."""
LONGEST_KEPT = 10_000
"""Characters of a text whose sentences are kept for its next reader: a passage comes with many questions."""


def sentences(text: str) -> list[str]:
    """Sentences and list items in order, white space folded; abbreviations and initials end none.

    Pieces without a letter or digit are left out.
    """
    return list(_kept(text) if len(text) <= LONGEST_KEPT else _kept.__wrapped__(text))


@lru_cache(maxsize=256)
def _kept(text: str) -> tuple[str, ...]:
    found, start = [], 0
    for end in [*_END.finditer(text), None]:
        stop = end.end() if end else len(text)
        if end and end["mark"] == "." and stop < len(text):
            last = end.start() + len(end[0].rstrip())
            if _NO_END.search(text, max(start - 1, last - LONGEST, 0), last):  # white space stands before `start`
                continue
        piece, start = text[start:stop].strip(), stop
        if any(sign.isalnum() for sign in piece):
            found.append(" ".join(piece.split()))
    return tuple(found)
