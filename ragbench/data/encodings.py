"""Which encoding a file of texts is in: found out where it is sure, and otherwise asked for."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable

UTF_8 = "utf-8-sig"
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
TOLD_APART = (
    "cp1251", "koi8-r", "koi8-u", "cp866", "iso8859-5", "mac-cyrillic", "cp1252", "cp1250", "iso8859-2", "cp1253",
    "cp1254", "cp1255", "cp1256", "cp1257", "cp932", "euc_jis_2004", "gb18030", "big5hkscs", "cp949",
)  # fmt: skip
"""Encodings that are looked for, of equally likely ones the first is taken."""
SURE = 0.28
"""Confidence of chardet from which samples of five sentences in twenty languages are not read in a wrong one."""
TIED = 0.001
"""Of confidence: encodings that differ by less are as likely."""
LOOKED_AT = 2**16
"""Of bytes around letters that are not ASCII; a few sentences tell."""
RARELY, MOSTLY = 0.2, 0.8  # shares of signs that few texts have and most have
SHOWN_CHARACTERS = 24
_HIGH = re.compile(rb"[\x80-\xff]+")
_AROUND = re.compile(rb"[^\n]{0,12}[\x80-\xff](?:[^\n]{0,12}[\x80-\xff])*[^\n]{0,12}")
_UTF_8_SIGN = re.compile(rb"[\xc3-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")


class UnknownEncodingError(ValueError):
    """A file is not UTF-8, and nothing tells for sure what else it is; the message shows how it could be read."""


def encoding_of(blocks: Iterable[bytes], named: Callable[[], str | None] = lambda: None) -> str:
    """The encoding of a file that is read in blocks; the first one that is not plain ASCII decides.

    A mark at the beginning tells UTF-16 and UTF-32, and so does where zero bytes are, and those that Cyrillic letters
    begin with. What is mostly UTF-8 is UTF-8, also if damaged: its decoder names the place. Others are told by their
    letters, where these leave no doubt.
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
            if _is_utf_8(block):
                raise UnknownEncodingError(f"begins in {encoding} and goes on in UTF-8; save the whole file as UTF-8")
            continue
        if _is_utf_8(block):
            return UTF_8
        try:
            encoding = named() or _by_letters(block)
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


def _is_utf_8(block: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(re.sub(rb"^[\x80-\xbf]{1,3}", b"", block))
    except UnicodeDecodeError:
        return False
    return True


def _is_damaged_utf_8(block: bytes) -> bool:
    whole = sum(map(len, _UTF_8_SIGN.findall(block)))
    return 2 * whole > sum(map(len, _HIGH.findall(block)))


def _by_letters(block: bytes) -> str:
    likely = _likely(block)
    if likely and likely[0][0] >= SURE and not any(_is_doubt(block, *likely[0], *other) for other in likely[1:]):
        return likely[0][1]
    readings = [name for _, name in likely[:2]] or [TOLD_APART[0]]
    if "cp1252" not in readings:
        readings.append("cp1252")
    shown = ", ".join(f"{name} reads {_shown(block, name)!r}" for name in readings)
    raise UnknownEncodingError(
        f"is not UTF-8, and nothing tells for sure what it is: {shown}. Save it as UTF-8, or name its encoding: "
        f"`ragbench --encoding {readings[0]} …`"
    )


def _likely(block: bytes) -> list[tuple[float, str]]:
    """(confidence, encoding) of those that read the letters of a text, the likeliest first."""
    import chardet

    sample = b"\n".join(_AROUND.findall(block))[:LOOKED_AT]
    told = chardet.detect_all(sample, ignore_threshold=True, compat_names=False, include_encodings=TOLD_APART)
    likely = [(each["confidence"], name) for each in told if (name := each["encoding"]) in TOLD_APART]
    return sorted(likely, key=lambda own: (-own[0], TOLD_APART.index(own[1])))


def _is_doubt(block: bytes, confidence: float, name: str, others: float, other: str) -> bool:
    """Whether another encoding is as likely, and reads another text."""
    return confidence - others < TIED and block.decode(name, "replace") != block.decode(other, "replace")


def _shown(block: bytes, encoding: str) -> str:
    first = _HIGH.search(block)
    start = max(0, first.start() - SHOWN_CHARACTERS // 4) if first else 0
    return " ".join(block[start : start + SHOWN_CHARACTERS].decode(encoding, "replace").split())
