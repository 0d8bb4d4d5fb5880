"""How fast vectors come on this machine: a few batches of real texts, with the clock running, and nothing stored."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragbench.types import Embedder, TextKind, Vectors

BATCHES = 3
SECONDS = 4.0
"""About so long the clock runs at most, after the model is loaded."""


@dataclass(frozen=True)
class Pace:
    """seconds: of one text among many, about. texts: how many it was read on. fitting: seconds of all that is done once
    before. alone: seconds of a text by itself.

    vectors: (texts, width) what was computed meanwhile.
    """

    seconds: float
    texts: int
    fitting: float
    alone: float
    vectors: Vectors


def pace(embedder: Embedder, texts: Sequence[str], batch: int, kind: TextKind) -> Pace:
    """Read on batches at the beginning, in the middle and at the end of the texts, smaller ones for a slow model.

    Raises EmbeddingError for texts that cannot be embedded.
    """
    begun = time.perf_counter()
    embedder.embed(texts[:1], kind=kind)
    fitting = time.perf_counter() - begun
    begun = time.perf_counter()
    made, taken = [embedder.embed(texts[:1], kind=kind)], 0.0
    alone = time.perf_counter() - begun
    size = max(1, min(batch, len(texts), int(SECONDS / BATCHES / max(alone, 1e-9))))
    places = np.linspace(0, len(texts) - size, BATCHES) if len(texts) > size else [0]
    for place in dict.fromkeys(int(one) for one in places):
        begun = time.perf_counter()
        made.append(embedder.embed(texts[place : place + size], kind=kind))
        taken += time.perf_counter() - begun
        if taken > SECONDS:
            break
    done = sum(map(len, made[1:]))
    return Pace(taken / done, done, fitting, alone, np.concatenate(made[1:]))
