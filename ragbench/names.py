"""What may be a name: of a system, a judge, a sample; and of a folder that is to be made on any machine."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable

LONGEST = 200
RESERVED = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}
)
"""Windows takes these for devices, whatever comes after a dot."""


def fault(name: str) -> str | None:
    """Why nothing can have this name; None where it can. Letters of any alphabet, signs and spaces inside are fine."""
    if not name.strip():
        return "is empty"
    if is_torn(name):
        return "holds half of a character (a lone surrogate)"
    if len(name) > LONGEST:
        return f"has {len(name)} characters; at most {LONGEST} are expected"
    if name != name.strip():
        return "begins or ends with white space"
    odd = [
        sign for sign in name if unicodedata.category(sign) in ("Cc", "Cf", "Zl", "Zp") and sign not in "\u200c\u200d"
    ]
    if odd:
        return f"holds the invisible sign U+{ord(odd[0]):04X}"
    return None


def folder_fault(name: str) -> str | None:
    """Why a folder of this name, which is one in other respects, could not be made everywhere; None where it can."""
    if name.split(".")[0].lower() in RESERVED:
        return "is reserved by Windows"
    if name.endswith("."):
        return "ends with a dot, which Windows drops"
    return None


def is_torn(text: str) -> bool:
    """Whether a text holds half of a character, which no file, database or endpoint takes."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def refuse_torn(words: Iterable[str]) -> None:
    """Raises ValueError for an argument that is no text: nothing that names it could be written or sent."""
    for word in words:
        if is_torn(word):
            raise ValueError(f"{word!r} is not UTF-8: rename the file, or type the name again")


def meant(name: str, there: Iterable[str]) -> str:
    """A question whether one of the names that there are was meant; empty where none is near."""
    near = difflib.get_close_matches(name, list(there), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
