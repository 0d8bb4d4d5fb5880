"""A language that nobody speaks: whatever is translated has no Latin letter left, so what was not is seen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from gettext import NullTranslations
from html.parser import HTMLParser

from ragbench import language

_LITERAL = re.compile(r"\{[^{}]*\}|</?\w+>|`[^`]*`|[A-Za-z]+")
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]{2,}")
_NAMED = re.compile(r"[\w.-]*[\w]*[_@:/\\=]+[\w.@:/\\=-]*|\b\w+\.\w+\b|`[^`]*`")
"""What is no word of a language: names of code, of files, of addresses."""
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


def translator() -> language.Translator:
    """Of marks; numbers and lists in the Russian form."""
    return language.Translator("ru", Catalogue())


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


def left(html: str, known: Set[str]) -> Iterator[str]:
    """Texts of a page that hold a word which was not translated, and is none of those `known`."""
    reader = _Texts()
    reader.feed(html.replace("<wbr>", ""))
    for text in reader.found:
        words = _WORD.findall(_NAMED.sub(" ", text))
        if any(word.strip("-'’") not in known for word in words):
            yield text
