"""Ranked lists as other programs write them, to hits: ids, passages, objects, pairs of id and score."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any

from ragbench.core.expectations import kind
from ragbench.core.settings.secrets import excerpt
from ragbench.core.types import Chunk, Hit
from ragbench.data.payloads import passage_of
from ragbench.llm.reply import LARGEST_INTEGER
from ragbench.systems.passages import How, Passages, is_short
from ragbench.systems.retrieval import RetrievalError

LEGAL = (
    "a chunk id, a passage's text, an (id, score) pair, or an object with id or text, and at will url, title and score"
)
SCORES = ("score", "similarity")
IDS, SOURCES = ("id", "stored_id"), ("source_id",)
"""Of an item, what may be the id of a passage, and what is the id of that which it was cut from."""
KNOWN = (How.ID, How.TEXT, How.OVERLAP, How.URL)
SHOWN = 5  # unknown passages that are named


@dataclass
class ItemReader:
    """Reads the lists of one system, finds the passages that are meant, and counts what had to be passed over.

    An item is known by its id, else by its text, whole or behind its title, else by the part of a passage that it shows
    (a `Piece`, which counts as one that was cut here), else by the id of what it was cut from. What is known by none of
    these keeps its rank and is counted in `unknown`: it was retrieved, and nobody can say what it is. A document counts
    once, at its first place.
    """

    passages: Passages
    duplicates: int = 0
    beyond_k: int = 0
    known: Counter[How] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)

    def hits(self, items: Any, k: int, wanted: Collection[str] = ()) -> list[Hit]:
        """The first k distinct hits of a list of items, or of a mapping from id to score (equal scores keep its order).

        wanted: ids of the passages that are relevant: where an item shows several passages it is one of these, for it
        can have but one place. Raises RetrievalError for anything else.
        """
        if isinstance(items, Mapping):
            scored = [(name, _score(score)) for name, score in items.items()]
            items = sorted(scored, key=lambda pair: -pair[1])
        if isinstance(items, str | bytes) or not isinstance(items, Iterable):
            raise RetrievalError(f"a list is expected (or {{id: score}}), each item {LEGAL}; got {kind(items)}")
        distinct: dict[str, Hit] = {}
        for item in items:
            hit, how = self._hit(item, wanted)
            if hit.chunk.id in distinct:
                self.duplicates += 1
            elif len(distinct) == k:
                self.beyond_k += 1
            else:
                distinct[hit.chunk.id] = hit
                self.known[how] += 1
                if how is How.UNKNOWN:
                    self.unknown[hit.chunk.id] += 1
        return list(distinct.values())

    def facts(self) -> dict[str, Any]:
        """Counts for the page; nothing of what is zero, nor of how items were known where all were by their ids."""
        facts = {
            "duplicates_dropped": self.duplicates,
            "dropped_beyond_k": self.beyond_k,
            **({f"known_by_{how}": self.known[how] for how in KNOWN} if self.known.keys() - {How.ID} else {}),
            **self._strangers(),
        }
        return {name: value for name, value in facts.items() if value}

    def _strangers(self) -> dict[str, Any]:
        """What is none of the data set's; without passages of its own all that was seen is the base."""
        if not self.passages.chunks:
            return {"passages_seen": len(self.unknown)}
        return {
            "unknown_ids": self.unknown.total(),
            "unknown_ids_first": [excerpt(name, 80) for name in sorted(self.unknown)[:SHOWN]],
        }

    def _hit(self, item: Any, wanted: Collection[str]) -> tuple[Hit, How]:
        if isinstance(item, Hit):
            return item, How.ID if item.chunk.passage in self.passages.by_id else How.UNKNOWN
        if isinstance(item, Chunk):
            return self._found([item.id], item.text, item.url, item.title, wanted, item)
        if not isinstance(item, bool) and isinstance(item, Integral) and abs(int(item)) < LARGEST_INTEGER:
            item = str(int(item))
        if isinstance(item, str):
            return self._found([item], item, item, None, wanted)
        if isinstance(item, Mapping):
            return self._of_mapping(item, wanted)
        if isinstance(item, tuple | list) and len(item) == 2:
            hit, how = self._hit(item[0], wanted)
            return replace(hit, similarity=_score(item[1])), how
        raise RetrievalError(f"an item must be {LEGAL}; got {_shown(item)}")

    def _of_mapping(self, item: Mapping[str, Any], wanted: Collection[str]) -> tuple[Hit, How]:
        if not {"id", "text"} & item.keys() and (named := passage_of(item)) is not None:
            item = {"id": named.id, "text": named.text, "score": named.score, "url": named.url, "title": named.title}
        name, text = item.get("id"), item.get("text")
        score = next((_score(item[key]) for key in SCORES if item.get(key) is not None), None)
        if (name is not None and not isinstance(name, str | int)) or isinstance(name, bool):
            raise RetrievalError(f"an id is text or a whole number; got {_shown(name)}")
        if isinstance(name, int) and abs(name) >= LARGEST_INTEGER:
            raise RetrievalError(f"an id is a whole number below {LARGEST_INTEGER}, or text; got a larger one")
        if name is None and not isinstance(text, str):
            raise RetrievalError(f"an item must be {LEGAL}; got {_shown(dict(item))}")
        url, title = (None if item.get(key) is None else str(item[key]) for key in ("url", "title"))
        names, sources = ([str(item[key]) for key in keys if item.get(key) is not None] for keys in (IDS, SOURCES))
        hit, how = self._found(names, str(text or ""), url, title, wanted, sources=sources)
        return replace(hit, similarity=score), how

    def _found(
        self,
        names: Sequence[str],
        text: str,
        url: str | None,
        title: str | None,
        wanted: Collection[str],
        own: Chunk | None = None,
        sources: Sequence[str] = (),
    ) -> tuple[Hit, How]:
        """own: as the passage is where it is unknown; made of the rest by default."""
        known = self.passages
        if chunk := known.named(names):
            return Hit(chunk), How.ID
        if chunk := known.with_text(text, url, title, wanted):
            return Hit(chunk), How.TEXT
        is_name = names == [text]  # it may be somebody else's id, though it stands in a passage
        piece = None if is_name and is_short(text) else known.shown_in(text, wanted)
        if piece := piece or (None if is_name else known.headed(text, wanted)):
            return Hit(piece), How.OVERLAP
        if chunk := known.named(sources):
            return Hit(chunk), How.ID
        if own is None:
            own = Chunk(names[0] if names else text, "" if is_name else text, url, title)
        if own.url in known.urls:
            return Hit(own), How.URL
        return Hit(own if own.url != own.id else replace(own, url=None)), How.UNKNOWN


def _score(value: Any) -> float:
    if not isinstance(value, bool) and isinstance(value, Real):
        with suppress(OverflowError):
            if math.isfinite(number := float(value)):
                return number
    raise RetrievalError(f"a score is a number; got {_shown(value)}")


def _shown(value: object) -> str:
    return excerpt(repr(value), 80)
