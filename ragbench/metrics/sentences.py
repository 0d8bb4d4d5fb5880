"""Split a text into its sentences, English and Russian."""

from __future__ import annotations

import re

# A sentence ends at a mark with white space and a capital behind it, at an empty line, and
# before the next item of a list.
END = re.compile(
    r"(?<![.!?…])(?P<mark>[.!?…]++)[\"'»”’)\]]*+"
    r"(?:\s++(?=[\"'«“‘(\[—–-]*+\s*+[A-ZА-ЯЁ0-9])|$)"
    r"|\n\s*\n|\n(?=\s*+(?:[-*•]|\d++[.)])\s)"
)
# After initials and abbreviations a full stop ends nothing.
NO_END = re.compile(
    r"(?:^|[\s(«\"“])(?:(?-i:[A-ZА-ЯЁ]\.)*[A-ZА-ЯЁ]|mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|no|vol|"
    r"fig|approx|jr|sr|inc|ltd|г|гг|в|вв|ул|д|корп|стр|каб|ауд|им|т\.\s?[едпк]|и\s?др|см|рис|табл|"
    r"тыс|млн|млрд|руб|проф|доц|акад|тел|напр|просп|пр|пл|обл|р-н|пос)\.$",
    re.IGNORECASE,
)
# Characters that the longest abbreviation with what stands before it can have.
LONGEST_ABBREVIATION = 12


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return where sentences and list items begin and end, without the white space around them.

    What has no letter and no digit is no sentence.
    """
    ends = []
    start = 0
    for match in END.finditer(text):
        if match["mark"] == ".":
            # The full stop itself, without quotation marks and blanks behind it.
            stop = match.start("mark") + 1
            if NO_END.search(text, max(stop - LONGEST_ABBREVIATION, 0), stop):
                continue
        ends.append(match.end())
        start = match.end()
    spans = []
    start = 0
    for end in [*ends, len(text)]:
        piece = text[start:end]
        if any(letter.isalnum() for letter in piece):
            first = start + len(piece) - len(piece.lstrip())
            spans.append((first, first + len(piece.strip())))
        start = end
    return spans


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, with white space folded."""
    return [" ".join(text[start:end].split()) for start, end in sentence_spans(text)]
