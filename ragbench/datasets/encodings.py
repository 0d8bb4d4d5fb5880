"""Which encoding a file of texts is in, of those that people's tools write: UTF-8, UTF-16, Windows-1251."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable

PROBED_BYTES = 2**20
UTF_8, CP1251 = "utf-8-sig", "cp1251"
_UTF_16_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_HIGH = re.compile(rb"[\x80-\xff]")
_UTF_8_CYRILLIC = re.compile(rb"[\xd0\xd1][\x80-\xbf]")
_CP1251_USUAL = re.compile(rb"[\xc0-\xff\xa8\xb8\xab\xbb\xb9\x85\x93\x94\x96\x97\xa0]")
MOSTLY, HARDLY = 0.95, 0.05


def encoding_of(blocks: Iterable[bytes]) -> str:
    """The encoding of a file that is read in blocks; the first one that is not plain ASCII decides.

    A mark at the beginning tells UTF-16, and so do zero bytes at every other place. What is not UTF-8 is Windows-1251
    where nearly all of its bytes above 127 are Russian letters or Russian typography in it, and hardly any pair of them
    is a Cyrillic letter of UTF-8 (that would be a damaged UTF-8 file). Otherwise UTF-8, whose decoder names the fault.
    """
    for number, block in enumerate(blocks):
        if number == 0:
            for mark, name in _UTF_16_MARKS.items():
                if block.startswith(mark):
                    return name
            if wide := _without_mark(block[:1024]):
                return wide
        high = len(_HIGH.findall(block))
        if high:
            return UTF_8 if _is_utf_8(block) or not _is_russian(block, high) else CP1251
    return UTF_8


def _without_mark(start: bytes) -> str | None:
    even, odd = start[0::2].count(0), start[1::2].count(0)
    half = len(start) // 2
    if half >= 4 and min(even, odd) == 0 and max(even, odd) > half / 4:
        return "utf-16-le" if odd else "utf-16-be"
    return None


def _is_utf_8(block: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(block)
    except UnicodeDecodeError:
        return False
    return True


def _is_russian(block: bytes, high: int) -> bool:
    usual = len(_CP1251_USUAL.findall(block))
    return usual >= MOSTLY * high and 2 * len(_UTF_8_CYRILLIC.findall(block)) <= HARDLY * high
