"""Which encoding a file of texts is in: found out where it is sure, and otherwise asked for.

Of the many that write Cyrillic the one is taken whose letters, order and case would surprise a reader of Russian least.
"""

from __future__ import annotations

import codecs
import itertools
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

READ_BYTES = 4_000
"""Of different words that are not ASCII; so much tells any two encodings of Russian apart."""
UTF_8 = "utf-8-sig"
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
RUSSIAN = {"cp1251": 0.0, "koi8-r": 3.0, "cp866": 3.0, "iso8859-5": 6.0, "mac-cyrillic": 12.0}
"""Encodings of Russian; how much rarer than the first, in nats."""
WESTERN = "cp1252"
SURE = 14.0
"""By so many nats the best reading has to be likelier than any other one."""
DEAREST = 4.5
"""Nats a letter; whole Russian sentences cost 2.6 to 3.9, other languages read as Russian 5 and more."""
HARDLY, RARELY, MOSTLY = 0.02, 0.2, 0.8  # shares of signs that no text has, few texts have and most have
SHOWN_CHARACTERS = 24
_HIGH = re.compile(rb"[\x80-\xff]+")
_WORD = re.compile(rb"[A-Za-z\x80-\xff]+")
_UTF_8_SIGN = re.compile(rb"[\xc3-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")


class UnknownEncodingError(ValueError):
    """A file is not UTF-8, and nothing tells for sure what else it is; the message shows how it could be read."""


def encoding_of(blocks: Iterable[bytes], named: Callable[[], str | None] = lambda: None) -> str:
    """The encoding of a file that is read in blocks; the first one that is not plain ASCII decides.

    A mark at the beginning tells UTF-16 and UTF-32, and so does where zero bytes are, and those that Cyrillic letters
    begin with. What is mostly UTF-8 is UTF-8, also if damaged: its decoder names the place. Of the others only Russian
    is recognised, where one of its encodings reads it as Russian and none of the others nearly so.
    named: asked for the encoding of what is neither UTF-8 nor UTF-16 nor UTF-32, which the user may have named.
    Raises UnknownEncodingError for all else, and where parts of a file are in different encodings.
    """
    encoding = ""
    for number, block in enumerate(blocks):
        if number == 0 and (wide := _wide(block)):
            return wide
        if _HIGH.search(block) is None:
            continue
        if encoding:
            if is_utf_8(block):
                raise UnknownEncodingError(f"begins in {encoding} and goes on in UTF-8; save the whole file as UTF-8")
            continue
        if is_utf_8(block):
            return UTF_8
        try:
            encoding = named() or _russian(block)
        except UnknownEncodingError:
            if _is_damaged_utf_8(block):
                return UTF_8
            raise
    return encoding or UTF_8


def _wide(block: bytes) -> str | None:
    """UTF-16 or UTF-32, by its mark, or by the bytes that nearly all of its letters have in common."""
    for mark, name in _MARKS.items():
        if block.startswith(mark):
            return name
    start = block[:4096]
    start = start[: len(start) - len(start) % 4]
    if len(start) < 8:
        return None
    zeros = [start[place::4].count(0) * 4 / len(start) for place in range(4)]
    if min(zeros[2:]) > MOSTLY and zeros[0] < RARELY:
        return "utf-32-le"
    if min(zeros[:2]) > MOSTLY and zeros[3] < RARELY:
        return "utf-32-be"
    even, odd = ((part.count(0) + part.count(4)) * 2 / len(start) for part in (start[0::2], start[1::2]))
    if max(even, odd) > MOSTLY and min(even, odd) < RARELY:
        return "utf-16-le" if odd > even else "utf-16-be"
    return None


def is_utf_8(block: bytes) -> bool:
    """Whether a part of a file is UTF-8, whatever letter it begins or ends within."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(re.sub(rb"^[\x80-\xbf]{1,3}", b"", block))
    except UnicodeDecodeError:
        return False
    return True


def _is_damaged_utf_8(block: bytes) -> bool:
    whole = sum(map(len, _UTF_8_SIGN.findall(block)))
    return 2 * whole > sum(map(len, _HIGH.findall(block)))


def _russian(block: bytes) -> str:
    words = dict.fromkeys(word for word in _WORD.findall(block) if _HIGH.search(word))
    sample = b" ".join(words)[:READ_BYTES]
    looks: dict[str, tuple[float, str, Look]] = {}
    for name, rarity in RUSSIAN.items():  # equal readings go by their first name
        with suppress(UnicodeDecodeError):
            text = sample.decode(name)
            looks.setdefault(text, (look(text).cost + rarity, name, look(text)))
    ranked = sorted(looks.values())
    cost, name, looked = ranked[0]
    is_russian = looked.cost <= DEAREST * looked.signs and looked.odd <= HARDLY * looked.signs
    if is_russian and (len(ranked) == 1 or ranked[1][0] - cost >= SURE):
        return name
    readings = [each[1] for each in ranked[:2]]
    readings.insert(2 if is_russian else 0, WESTERN)
    shown = ", ".join(f"{each} reads {_shown(block, each)!r}" for each in readings)
    raise UnknownEncodingError(
        f"is not UTF-8, and nothing tells for sure what it is: {shown}. Save it as UTF-8, or name its encoding: "
        f"`ragbench --encoding {readings[0]} …`"
    )


def _shown(block: bytes, encoding: str) -> str:
    first = _HIGH.search(block)
    start = max(0, first.start() - SHOWN_CHARACTERS // 4) if first else 0
    return " ".join(block[start : start + SHOWN_CHARACTERS].decode(encoding, "replace").split())


LETTERS = " абвгдежзийклмнопрстуфхцчшщъыьэюя"
"""The first stands for the edge of a word; ё counts as е."""
SURPRISE = [line.split()[0] for line in Path(__file__).with_name("russian_letters.txt").read_text("utf-8").splitlines()]
"""-ln of how often a letter (a column) follows another one (a row) in encyclopaedic prose, rounded, 9 at most."""
_PLACE = {letter: place for place, letter in enumerate(LETTERS)} | {"ё": LETTERS.index("е")}
_QUOTES, _DASHES, _SIGNS = "“„‘‚", "…–—’”•", "«»№°\xa0"
ODD, QUOTE, SIGN = 12.0, 9.0, 5.0
"""Of a sign that Russian texts do not have, in nats, which is more than any letter costs; of one that few have; of one
that many have. A dash before a letter is odd."""
MIXED = 6.0
"""Of Latin and Russian letters side by side in one word."""
FIRST, SHOUTED, SHOUTED_AGAIN, ENDED, INSIDE = 1.5, 3.0, 0.5, 5.0, 8.0
"""Of a capital that begins a word; of a second one, and in words after the first such; of small letters behind
those; of a capital behind a small letter."""
_RUSSIAN = re.compile(r"([А-ЯЁ]*)([А-Яа-яЁё]*)")
_SIDES = re.compile(r"[A-Za-z](?=[А-Яа-яЁё])|[А-Яа-яЁё](?=[A-Za-z])")
_OTHER = re.compile(r"([^\x00-\x7fА-Яа-яЁё])(?=(.?))")


class Look(NamedTuple):
    """What a text of Russian letters costs.

    cost: in nats, the less the more likely. signs: how many are not ASCII. odd: how many of them no Russian text has.
    """

    cost: float
    signs: int
    odd: int


def look(text: str) -> Look:
    """How Russian a text looks. Words in capitals are fine, capitals inside a word are not."""
    cost, signs, odd, again = MIXED * len(_SIDES.findall(text)), 0, 0, SHOUTED
    for capitals, rest in _RUSSIAN.findall(text):
        if word := capitals + rest:
            signs += len(word)
            places = [0, *(_PLACE[letter] for letter in word.lower()), 0]
            cost += sum(int(SURPRISE[before][place]) for before, place in itertools.pairwise(places))
            cost += FIRST * bool(capitals) + INSIDE * sum(map(str.isupper, rest))
            if len(capitals) > 1:
                cost += again + ENDED * bool(rest)
                again = SHOUTED_AGAIN
    for sign, following in _OTHER.findall(text):
        signs += 1
        odd += sign not in _QUOTES + _DASHES + _SIGNS
        is_plain = sign in _SIGNS or (sign in _DASHES and not following.isalpha())
        cost += SIGN if is_plain else QUOTE if sign in _QUOTES else ODD
    return Look(cost, signs, odd)
