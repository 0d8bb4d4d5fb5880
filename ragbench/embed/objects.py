"""An embedder that a caller has in memory: a function of texts, or an object of a framework, asked in its own way."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ragbench.core.types import EmbeddingError, TextKind, Vectors

PROBES = ("When does the library open on Saturday?", "Когда библиотека открыта в субботу?", "0 1 2")
"""Texts by whose vectors an object is known: one that embeds them otherwise is another one."""
PASSAGES, QUERIES = ("embed_documents", "encode_document"), ("encode_query",)
PLAIN = ("get_text_embedding_batch", "encode")


class ObjectEmbedder:
    """LangChain's `embed_documents` and `embed_query`, LlamaIndex' `get_text_embedding_batch`, `encode` of
    sentence-transformers, ragbench's own `embed`, or a function of a list of texts that returns a vector for each.

    identity: of its vectors of a few texts, so that nothing is taken from the store that another object has made.
    Raises EmbeddingError for an object of no such kind, and where it gives no such vectors.
    """

    is_stand_in = False

    def __init__(self, name: str, given: Any, batch: int) -> None:
        self.name, self._given, self._batch = name, given, batch
        self._passages, self._queries = _ways(given)
        if self._passages is None:
            raise EmbeddingError(
                f"embedders {name}: {type(given).__qualname__} is no embedder: a function of a list of texts is "
                f"expected, or an object with {', '.join((*PASSAGES, *PLAIN))} or embed"
            )
        probed = [self.embed(PROBES, kind=kind) for kind in ("passage", "query")]
        digest = hashlib.sha256(b"".join(np.round(matrix, 4).tobytes() for matrix in probed)).hexdigest()
        self.identity = f"object {type(given).__module__}.{type(given).__qualname__} {digest[:32]}"

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> Vectors:
        """(texts, width) float32. Raises EmbeddingError where it raises, or gives no finite vector a text."""
        way = self._queries if kind == "query" else self._passages
        assert way is not None, "refused when it was made"
        try:
            parts = [way(list(texts[start : start + self._batch])) for start in range(0, len(texts), self._batch)]
            vectors = np.asarray(
                [np.asarray(vector, dtype=np.float32) for part in parts for vector in part], dtype=np.float32
            )
        except Exception as error:
            raise EmbeddingError(f"embedders {self.name}: {type(error).__name__}: {error}", dead=True) from error
        if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1] or not np.isfinite(vectors).all():
            raise EmbeddingError(
                f"embedders {self.name}: {len(texts)} texts gave an array of shape {vectors.shape}; a vector of finite "
                "numbers is expected for each",
                dead=True,
            )
        return vectors


Way = Callable[[list[str]], Any]


def _ways(given: Any) -> tuple[Way | None, Way | None]:
    """How passages and how questions are embedded; None where the object is none of those that are known."""

    def of(names: Sequence[str]) -> Way | None:
        return next((getattr(given, name) for name in names if callable(getattr(given, name, None))), None)

    if hasattr(given, "identity") and callable(getattr(given, "embed", None)):  # one of ragbench's own kind
        return (lambda texts: given.embed(texts, kind="passage")), (lambda texts: given.embed(texts, kind="query"))
    plain = of(PASSAGES) or of(PLAIN) or (given if callable(given) else None)
    queries = of(QUERIES)
    for attribute in ("embed_query", "get_query_embedding"):
        if queries is None and callable(alone := getattr(given, attribute, None)):
            return plain, lambda texts, alone=alone: [alone(text) for text in texts]
    return plain, queries or plain
