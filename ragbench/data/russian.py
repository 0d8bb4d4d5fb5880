"""Whether a text is Russian, and how much its letters, their order and case would surprise a reader of Russian."""

from __future__ import annotations

import re
from dataclasses import dataclass

LETTERS = " абвгдежзийклмнопрстуфхцчшщъыьэюя"
"""The first stands for the edge of a word; ё counts as е."""
# -ln of how often a letter (a column) follows another one (a row) in encyclopaedic prose, rounded, 9 at most
SURPRISE = (
    "943233554373433323234455458999465",  # the edge of a word
    "284354443643232843336544465999844",  # а
    "439699277395393272493959994427654",  # б
    "129776296295364263444879949936995",  # в
    "438754399295365192663799979999599",  # г
    "329485237295363253363966669745665",  # д
    "265443444644332552337656556999966",  # е
    "525792199295992399694996699995499",  # ж
    "215353359394432293593996979735995",  # з
    "155454363343333454338634477999953",  # и
    "066694697995643476359665657999999",  # й
    "229499447296366193433985999999799",  # к
    "329966259295475299574799999942943",  # л
    "125869299295554238593898989935684",  # м
    "327544277295883297334694688924974",  # н
    "273233444534333543336655566999765",  # о
    "529999299397494151653986989946795",  # п
    "426455249295544275443767759935784",  # р
    "336486379392354334414767559854873",  # с
    "227396299295564273364887698943695",  # т
    "254433434594333633339845354999526",  # у
    "426999299296366292433396999959969",  # ф
    "039499599497774274574999999997699",  # х
    "439669195194699499993999999949999",  # ц
    "429997159294592795924999959995999",  # ч
    "529699199192394399933999999995699",  # ш
    "929999199199995995994999999994999",  # щ
    "777777077777777777777777777777771",  # ъ
    "195366275635224954349929448999997",  # ы
    "175665493593942769249696737999934",  # ь
    "495494699442333533419499959999996",  # э
    "144943944954696974619694372999969",  # ю
    "096364354956434765539946584999945",  # я
)  # fmt: skip
_PLACE = {letter: place for place, letter in enumerate(LETTERS)}
_QUOTES, _DASHES, _SIGNS = frozenset("“„‘‚"), frozenset("…–—’”•"), frozenset("«»№°\xa0")
_START, _CAPITAL, _CAPITALS, _SMALL = range(4)
ODD = 12.0
"""Of a sign that Russian texts do not have, in nats; more than any letter costs."""
MIXED = 6.0
"""Of Latin and Russian letters side by side in one word."""


_LETTER = re.compile(r"[^\W\d_]")
_CYRILLIC = re.compile(r"[Ѐ-ӿ]")


@dataclass(frozen=True)
class Look:
    """What a text of Russian letters costs.

    cost: in nats, the less the more likely. signs: how many are not ASCII. odd: how many of them no Russian text has.
    """

    cost: float
    signs: int
    odd: int


def look(text: str) -> Look:
    """How Russian a text looks. Words in capitals are fine, capitals inside a word are not."""
    cost, signs, odd, in_capitals = 0.0, 0, 0, 0
    before, case, is_latin = 0, _START, False
    for letter, following in zip(text + " ", text[1:] + "  ", strict=True):
        small = letter.lower()
        place = _PLACE["е" if small == "ё" else small] if small == "ё" or small in _PLACE else 0
        if place:
            signs += 1
            cost += int(SURPRISE[before][place]) + MIXED * is_latin
            if letter == small:
                cost += 5.0 * (case == _CAPITALS)
                case = _SMALL
            elif case == _CAPITAL:
                cost += 0.5 if in_capitals else 3.0
                in_capitals += 1
                case = _CAPITALS
            else:
                cost += 8.0 * (case == _SMALL) + 1.5 * (case == _START)
                case = _CAPITAL if case == _START else case
            before, is_latin = place, False
            continue
        is_latin = letter.isascii() and letter.isalpha()
        if before:
            cost += int(SURPRISE[before][0]) + MIXED * is_latin
        before, case = 0, _START
        if not letter.isascii():
            signs += 1
            is_strange = letter not in _QUOTES | _DASHES | _SIGNS or (letter in _DASHES and following.isalpha())
            odd += letter not in _QUOTES | _DASHES | _SIGNS
            cost += ODD if is_strange else 9.0 if letter in _QUOTES else 5.0
    return Look(cost, signs, odd)
