"""Ranked lists as other programs write them, to hits: ids, passages, objects, pairs of id and score."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

from ragbench.expectations import kind
from ragbench.llm.reply import LARGEST_INTEGER
from ragbench.settings.secrets import excerpt
from ragbench.systems.retrieval import RetrievalError
from ragbench.types import Chunk, Hit

LEGAL = (
    "a chunk id, a passage's text, an (id, score) pair, or an object with id or text, and at will url, title and score"
)
SCORES = ("score", "similarity")
SHOWN = 5  # unknown ids that are named


@dataclass
class ItemReader:
    """Reads the lists of one system and counts what had to be passed over.

    A document counts once, at its first place. What has an id that the data set does not have, and not the text of one
    of its chunks either, keeps its rank and is counted in `unknown`: it was retrieved, and it can't be relevant.
    """

    chunks: Sequence[Chunk]
    duplicates: int = 0
    beyond_k: int = 0
    unknown: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._by_id = {chunk.id: chunk for chunk in self.chunks}
        self._by_text = {chunk.text: chunk for chunk in reversed(self.chunks) if chunk.text}  # the first of several

    def hits(self, items: Any, k: int) -> list[Hit]:
        """The first k distinct hits of a list of items, or of a mapping from id to score (equal scores keep its order).

        Raises RetrievalError for anything else.
        """
        if isinstance(items, Mapping):
            scored = [(name, _score(score)) for name, score in items.items()]
            items = sorted(scored, key=lambda pair: -pair[1])
        if isinstance(items, str | bytes) or not isinstance(items, Iterable):
            raise RetrievalError(f"a list is expected (or {{id: score}}), each item {LEGAL}; got {kind(items)}")
        found: dict[str, Hit] = {}
        for item in items:
            hit = self._hit(item)
            if hit.chunk.id in found:
                self.duplicates += 1
            elif len(found) == k:
                self.beyond_k += 1
            else:
                found[hit.chunk.id] = hit
                if hit.chunk.id not in self._by_id:
                    self.unknown[hit.chunk.id] += 1
        return list(found.values())

    def facts(self) -> dict[str, Any]:
        """Counts for the page; nothing of what is zero."""
        facts = {
            "duplicates_dropped": self.duplicates,
            "dropped_beyond_k": self.beyond_k,
            "unknown_ids": self.unknown.total(),
            "unknown_ids_first": sorted(self.unknown)[:SHOWN],
        }
        return {name: value for name, value in facts.items() if value}

    def _hit(self, item: Any) -> Hit:
        if isinstance(item, Hit):
            return item
        if isinstance(item, Chunk):
            return Hit(self._by_id.get(item.id, item))
        if isinstance(item, str):
            return Hit(self._by_id.get(item) or self._by_text.get(item) or Chunk(item, ""))
        if isinstance(item, Mapping):
            return self._of_mapping(item)
        if isinstance(item, tuple | list) and len(item) == 2:
            return replace(self._hit(item[0]), similarity=_score(item[1]))
        raise RetrievalError(f"an item must be {LEGAL}; got {_shown(item)}")

    def _of_mapping(self, item: Mapping[str, Any]) -> Hit:
        name, text = item.get("id"), item.get("text")
        score = next((_score(item[key]) for key in SCORES if item.get(key) is not None), None)
        if (name is not None and not isinstance(name, str | int)) or isinstance(name, bool):
            raise RetrievalError(f"an id is text or a whole number; got {_shown(name)}")
        if isinstance(name, int) and abs(name) >= LARGEST_INTEGER:
            raise RetrievalError(f"an id is a whole number below {LARGEST_INTEGER}, or text; got a larger one")
        if name is None and not isinstance(text, str):
            raise RetrievalError(f"an item must be {LEGAL}; got {_shown(dict(item))}")
        if name is None:
            return Hit(self._by_text.get(str(text)) or Chunk(str(text), str(text)), score)
        url, title = (None if item.get(key) is None else str(item[key]) for key in ("url", "title"))
        own = Chunk(str(name), str(text or ""), url, title)
        return Hit(self._by_id.get(str(name)) or self._by_text.get(own.text) or own, score)


def _score(value: Any) -> float:
    if not isinstance(value, bool) and isinstance(value, Real):
        with suppress(OverflowError):
            if math.isfinite(found := float(value)):
                return found
    raise RetrievalError(f"a score is a number; got {_shown(value)}")


def _shown(value: object) -> str:
    return excerpt(repr(value), 80)
