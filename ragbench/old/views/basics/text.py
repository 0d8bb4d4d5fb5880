"""Texts from data, made safe for a page: no control characters, no escapes, no marks that reorder what is read."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from ragbench.old.core.names import INVISIBLE

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_OBEYED = "".join(INVISIBLE[name] for name in ("C1 controls", "bidirectional marks", "separators"))
_CONTROLS = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f{_OBEYED}\ufeff\ufff9-\uffff]")
_REPLACED = re.compile(r"[\ufffc\ufffd]")  # of what is removed, all that Python calls printable
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_SIMPLE = re.compile(r"[A-Za-z0-9._-]{1,48}")
FROM_RIGHT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
"""A letter of a script that is written from the right."""
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


def clean(text: Any) -> str:
    """`text` without terminal escapes, control characters and bidirectional marks; line ends and tabs stay."""
    if text is None or text != text:  # NaN and NA, as tables hold them
        return ""
    plain = str(text)
    if plain.isprintable() and not _REPLACED.search(plain):
        return plain
    plain = _ESCAPES.sub("", plain.replace("\r\n", "\n").replace("\r", "\n"))
    return _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", _CONTROLS.sub("", plain))


def shown(text: Any, limit: int | None = None) -> str:
    """`text` cleaned, without spaces around it, and cut at a word near `limit` characters."""
    return clean(text).strip() if limit is None else shortened(text, limit)


def shortened(text: Any, limit: int) -> str:
    """`text` cleaned, and cut at a word near `limit` characters; not escaped."""
    plain = clean(text).strip()
    if len(plain) <= limit:
        return plain
    cut = plain[:limit]
    return (cut.rsplit(None, 1)[0] if " " in cut[limit // 2 :] else cut).rstrip(" ,;:.") + ELLIPSIS


def is_simple(identifier: str) -> bool:
    """Whether an identifier can stand in an anchor as it is."""
    return _SIMPLE.fullmatch(identifier) is not None


def anchor(prefix: str, identifier: str) -> str:
    """An id for a page: the identifier where it is plain, else a hash of it; the same every time."""
    if is_simple(identifier):
        return f"{prefix}-{identifier}"
    return f"{prefix}-{hashlib.sha256(identifier.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
