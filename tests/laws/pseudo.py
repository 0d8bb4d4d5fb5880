"""A language that nobody speaks: whatever is translated has no Latin letter left, so what was not is seen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from gettext import NullTranslations
from html.parser import HTMLParser

_LITERAL = re.compile(r"\{[^{}]*\}|</?\w+>|`[^`]*`|[A-Za-z]+")
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]{2,}")
_NAMED = re.compile(r"[\w.-]*[\w]*[_@:/\\=]+[\w.@:/\\=-]*|\b\w+(?:\.\w+)+\b|`[^`]*`")
"""What is no word of a language: names of code, of files, of addresses."""
_MARKS = re.compile(r"[жЖ][жЖ\W\d]*")
SILENT = ("script", "style", "code", "pre", "title")


def marked(text: str) -> str:
    """The text with every letter outside of its places, tags and code made a sign that no language has."""
    return _LITERAL.sub(lambda found: "ж" * len(found[0]) if found[0].isalpha() else found[0], text)


class Catalogue(NullTranslations):
    """Translates every text into marks."""

    def gettext(self, message: str) -> str:
        return marked(message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return marked(msgid2)


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("br", "hr", "img", "input", "meta", "link", "wbr", "col"):
            self.open.append(tag)
        self.found += [
            value for name, value in attrs if name in ("title", "aria-label", "alt", "placeholder") and value
        ]

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if data.strip() and not set(self.open) & set(SILENT):
            self.found.append(data.strip())


def visible(html: str) -> str:
    """The texts of a page that people read, a line each."""
    reader = _Texts()
    reader.feed(html.replace("<wbr>", ""))
    return "\n".join(reader.found)


def left(html: str, known: Set[str], data: str = "") -> Iterator[str]:
    """Texts of a page that hold a word not translated: none of those `known`, in no text of the `data`."""
    reader = _Texts()
    reader.feed(html.replace("<wbr>", ""))
    for text in reader.found:
        pieces = (piece.strip(" :;,.…·“”«»()–—") for piece in _MARKS.split(" ".join(text.split())))
        if any(piece not in data and _unknown(piece, known) for piece in pieces):
            yield text


def _unknown(text: str, known: Set[str]) -> bool:
    return any(word.strip("-'’") not in known for word in _WORD.findall(_NAMED.sub(" ", text)))
