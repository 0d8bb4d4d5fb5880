"""What every embedder demands of its texts before it starts, and what is kept of them is known by."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from ragbench.old.core.settings import EmbedderSettings
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.core.types import EmbeddingError, TextKind

Arrays = Mapping[str, NDArray[Any]]
Keep = Callable[[Mapping[str, Any], Callable[[], Arrays]], Arrays]
"""Gives the arrays that are kept of what all of them depends on, made where there are none; see `Store.arrays`."""


def content_hash(texts: Sequence[str]) -> str:
    """A SHA-256 of the texts in their order, each with its length, so that no others have the same."""
    content = hashlib.sha256()
    for text in texts:
        held = text.encode("utf-8", "surrogatepass")
        content.update(len(held).to_bytes(8, "big") + held)
    return content.hexdigest()


def check_texts(texts: Sequence[str], settings: EmbedderSettings, name: str) -> None:
    """Raises EmbeddingError, with counts and places, for texts that are empty or longer than `max_characters`."""
    _refuse([n for n, text in enumerate(texts) if not text.strip()], "empty", texts, name)
    limit = settings.max_characters
    long = [n for n, text in enumerate(texts) if len(text) > limit]
    _refuse(long, f"longer than max_characters = {limit}", texts, name)


def prefixed(texts: Sequence[str], settings: EmbedderSettings, kind: TextKind) -> list[str]:
    """The texts with the prefix that the model was trained with for questions or passages."""
    prefix = settings.query_prefix if kind == "query" else settings.passage_prefix
    return [prefix + text for text in texts]


def _refuse(places: list[int], what: str, texts: Sequence[str], name: str) -> None:
    if places:
        raise EmbeddingError(
            f"{len(places)} of {len(texts)} texts are {what} and cannot be embedded by {name}; the first is number "
            f"{places[0] + 1}: {excerpt(texts[places[0]], 60)!r}",
            tuple(places),
            reason=what,
        )
