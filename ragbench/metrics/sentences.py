"""A text's sentences, found without a model: what a judge's sentences are held against."""

from __future__ import annotations

import re

_END = re.compile(
    r"(?P<mark>[.!?…]+)[\"'»”’)\]]*(?:\s+(?=[\"'«“‘(\[—–-]*\s*[A-ZА-ЯЁ0-9])|$)|\n\s*\n|\n(?=\s*(?:[-*•]|\d+[.)])\s)"
)
_NO_END = re.compile(
    r"(?:^|[\s(«\"“])(?:[A-ZА-ЯЁ]|mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|no|vol|fig|approx|jr|sr|inc|ltd|г|гг|в|вв|ул|д|"
    r"корп|стр|каб|ауд|им|т\.\s?[едпк]|и\s?др|см|рис|табл|тыс|млн|млрд|руб|проф|доц|акад|тел|напр|просп|пр|пл|обл|пос)\.$",
    re.IGNORECASE,
)


def sentences(text: str) -> list[str]:
    """Sentences and list items in order, white space folded; abbreviations and initials end none.

    Pieces without a letter or digit are left out.
    """
    found, start = [], 0
    for end in [*_END.finditer(text), None]:
        stop = end.end() if end else len(text)
        piece = text[start:stop].strip()
        if end and end["mark"] == "." and stop < len(text) and _NO_END.search(piece):
            continue
        start = stop
        if any(sign.isalnum() for sign in piece):
            found.append(" ".join(piece.split()))
    return found
