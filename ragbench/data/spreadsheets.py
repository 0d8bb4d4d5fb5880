"""Texts in files that spreadsheets open: what they would take for a formula has an apostrophe before it."""

from __future__ import annotations

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def guarded(text: str) -> str:
    """A text for a spreadsheet, with an apostrophe before what it would take for a formula."""
    return f"'{text}" if text.lstrip("'").startswith(FORMULA) else text


def plain(text: str) -> str:
    """The text that `guarded` was given."""
    return text[1:] if text.startswith("'") and text.lstrip("'").startswith(FORMULA) else text
