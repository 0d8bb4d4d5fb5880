"""Exact search, HNSW and IVFFlat in PostgreSQL beside each other: time and recall."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ragbench.store.search import Vectors, recall_against_exact
from ragbench.store.store import Index, Neighbours, Store

INDEXES = (Index("exact"), Index("hnsw"), Index("ivfflat"))
WARM_UP = 5  # questions that are asked before the clock is read


def compare_indexes(
    store: Store, vectors: Vectors, queries: Vectors, k: int, indexes: Sequence[Index] = INDEXES
) -> pd.DataFrame:
    """Search for every question by each index, one at a time, and return a row an index.

    vectors: (passages, width); queries: (questions, width). Columns: index, options, build_seconds
    (near 0 where it was there), latency_ms (median of one statement) and latency_p95_ms,
    recall (share of the k exact nearest that it found, mean over questions), n questions.
    """
    exact = measure_index(store, vectors, queries, k, Index("exact"))[0]
    rows = []
    for index in indexes:
        found, build_seconds = measure_index(store, vectors, queries, k, index)
        rows.append(
            {
                "index": index.kind,
                "options": describe_options(index, len(vectors)),
                "build_seconds": build_seconds,
                "latency_ms": float(np.median(found.latency_ms)),
                "latency_p95_ms": float(np.quantile(found.latency_ms, 0.95)),
                "recall": float(
                    recall_against_exact(found.similarities, exact.similarities).mean()
                ),
                "n": len(queries),
            }
        )
    return pd.DataFrame(rows)


def measure_index(
    store: Store, vectors: Vectors, queries: Vectors, k: int, index: Index
) -> tuple[Neighbours, float]:
    """Build an index and search by it; return what was found, and the seconds of the building."""
    began = time.perf_counter()
    table = store.build_index(vectors, index)
    build_seconds = time.perf_counter() - began
    store.nearest(table, queries[:WARM_UP], k)
    return store.nearest(table, queries, k), build_seconds


def describe_options(index: Index, rows: int) -> str:
    """Say by which options an index was made and searched; "" of exact search."""
    if index.kind == "hnsw":
        return f"{index.build_options(rows)}, ef_search = {index.ef_search}"
    if index.kind == "ivfflat":
        return f"{index.build_options(rows)}, probes = {index.probes}"
    return ""
