"""An embedder whose vectors a test writes down, and which counts what it is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from ragbench.old.core.types import Vectors


class ScriptedEmbedder:
    """Vectors by text. `calls`: the texts of each call, with their kind."""

    def __init__(self, vectors: Mapping[str, Sequence[float]], name: str = "scripted") -> None:
        self.name = self.identity = name
        self.vectors = vectors
        self.calls: list[tuple[str, list[str]]] = []

    def embed(self, texts: Sequence[str], *, kind: Literal["passage", "query"] = "passage") -> Vectors:
        self.calls.append((kind, list(texts)))
        return np.array([self.vectors[text] for text in texts], dtype=np.float32)

    def tokens(self, texts: Sequence[str], *, layer: int | None = None) -> list[Vectors]:
        """Of each text the vectors of its words."""
        return [np.array([self.vectors[word] for word in text.split()], dtype=np.float32) for text in texts]
