"""The passages of traces as chunks of a knowledge base, each under one name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping

from ragbench.data.brought import named_by
from ragbench.data.payloads import Passage
from ragbench.data.records import ChunkRecord
from ragbench.data.shelf import RECENT, Shelf

UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]")


class Passages:
    """Names passages. chunks: all that have a text. changed: how many have an id that another text had before.

    base: chunks that were there before, by id. identifier, clean: what may be an id, and a text, out of any other.
    """

    def __init__(
        self, base: Mapping[str, ChunkRecord], identifier: Callable[[str], str], clean: Callable[[str], str]
    ) -> None:
        self.chunks = Shelf(ChunkRecord, by_key=True)
        self.changed = 0
        self._names = Shelf[str]()
        self._recent: dict[int, str] = {}  # hash of id and text → name
        self._urls: dict[str, str | None] = {}
        self._identifier, self._clean = identifier, clean
        for chunk in base.values():
            self._put(chunk)

    def name(self, passage: Passage) -> str:
        """The id of a passage among the chunks: its own, or one made of its text.

        A second text under an id is a passage of its own, named by both. One without a text is named and no chunk.
        """
        key = hash((passage.id, passage.text))
        if (name := self._recent.get(key)) is None:
            if len(self._recent) >= RECENT:
                self._recent.clear()
            name = self._recent[key] = self._new_name(passage)
        return name

    def has(self, name: str) -> bool:
        """Whether a chunk has this name."""
        return name in self._urls or self.chunks.has(name)

    def url(self, name: str) -> str | None:
        """The page of a chunk."""
        if name not in self._urls:
            self._remember(self.chunks.get(name))
        return self._urls.get(name)

    def _new_name(self, passage: Passage) -> str:
        text = None if passage.text is None else self._clean(passage.text)
        given = None if passage.id is None else self._identifier(passage.id)
        if text is None:
            return given or ""
        known = None if given is None else self.chunks.get(given)
        is_changed = known is not None and known.text != text
        if is_changed:
            given = named_by("passage", given or "", text)
        name = given or self._names.get(_key(text)) or named_by("passage", text)
        if known is None or is_changed:
            url = passage.url
            if not url or len(url) > 8192 or UNPRINTABLE.search(url):
                url = None
            title = None if passage.title is None else self._clean(passage.title)
            is_new = self._put(ChunkRecord(id=name, text=text, url=url, title=title))
            self.changed += is_changed and is_new
        return name

    def _put(self, chunk: ChunkRecord) -> bool:
        if not self.chunks.put(chunk.id, chunk):
            return False
        self._names.put(_key(chunk.text), chunk.id)
        self._remember(chunk)
        return True

    def _remember(self, chunk: ChunkRecord | None) -> None:
        if chunk is not None:
            if len(self._urls) >= RECENT:
                self._urls.clear()
            self._urls[chunk.id] = chunk.url


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
