"""Texts by their words alone: what tells two of them apart, and whether one stands in the other."""

from __future__ import annotations

import re
import unicodedata

_SIGNS = re.compile(r"[\W_]+")
_ASCII_SIGNS = {code: " " for code in range(128) if not chr(code).isalnum()}


def plain(text: str) -> str:
    """A text by its words alone: compatibility forms, case, ё, signs and blanks do not tell two apart."""
    if text.isascii():  # a quarter of the time, and a data set is looked over some five times
        return " ".join(text.lower().translate(_ASCII_SIGNS).split())
    folded = unicodedata.normalize("NFKC", text).casefold().replace("ё", "е")
    return _SIGNS.sub(" ", folded).strip()


def stands_in(part: str, whole: str) -> bool:
    """Whether the words of one plain text stand in another one, side by side and in their order."""
    return bool(part) and f" {part} " in f" {whole} "
