"""What may be a name: of a system, a judge, a sample; of a folder on any machine; and which signs nobody sees."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

LONGEST = 200  # characters; folders take 255 bytes, and endings and numbers are added
RESERVED = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}
)
"""Windows takes these for devices, whatever comes after a dot."""
INVISIBLE: Mapping[str, str] = {
    "controls": r"\x00-\x1f\x7f",  # the escape among them, line ends and tabs too: a name is one line
    "C1 controls": r"\x80-\x9f",
    "bidirectional marks": r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069",
    "separators": r"\u2028\u2029",
    "zero width": r"\u00ad\u200b-\u200d\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb",
    "blank letters": r"\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0",
    "joiners and selectors": r"\u034f\u180b-\u180f\ufe00-\ufe0f",
    "format signs of scripts": r"\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2"
    r"\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a",
    "tags": r"\U000e0000-\U000e0fff",
    "surrogates": r"\ud800-\udfff",
    "private use": r"\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd",
    "no characters": r"\ufdd0-\ufdef\ufff0-\ufff8\ufffe\uffff\U0001fffe\U0001ffff\U0010fffe\U0010ffff",
}
"""Characters that nobody sees, or that a terminal or a page obeys, by class: what goes between a pattern's brackets."""


def fault(name: str, longest: int = LONGEST) -> str | None:
    """Why nothing can have this name; None where it can. Letters of any alphabet, signs and spaces inside are fine."""
    if not name.strip():
        return "is empty"
    if is_torn(name):
        return "holds half of a character (a lone surrogate)"
    if len(name) > longest:
        return f"has {len(name)} characters; at most {longest} are expected"
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


def nearest(name: str, there: Iterable[str], count: int = 5) -> list[str]:
    """The names that there are which are most like this one, the most like first, of equal ones the first."""
    like = difflib.SequenceMatcher(b=name)

    def likeness(other: str) -> float:
        like.set_seq1(other)
        return like.ratio()

    return sorted(there, key=likeness, reverse=True)[:count]


def meant(name: str, there: Iterable[str]) -> str:
    """A question whether one of the names that there are was meant; empty where none is near."""
    near = difflib.get_close_matches(name, list(there), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def unknown_judge(name: str, legal: Sequence[str]) -> str:
    """That there is no judge of this name, which one may have been meant, and which there are."""
    return f"there is no judge {name!r}{meant(name, legal)}; judges are {', '.join(legal)} (tables [judges.NAME])"
