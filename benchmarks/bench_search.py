"""Search in PostgreSQL: batches against a loop of single queries, HNSW against exact, blocks against the database.

    python -m benchmarks.bench_search [--chunks 100000] [--questions 10000] [--width 384] [--folder DIR]

Vectors are drawn around 1,000 centres, so that neighbourhoods exist, as they do in real embeddings. The peer, a loop of
single queries as an application sends them (psycopg with pgvector's own adapter, binary and prepared), runs in the
same process on the same index with the same settings, on a sample, interleaved with the batches. Reported: wall time,
and CPU time of this process and of the server together, medians of `--repeats`.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import psutil
import psycopg
from pgvector.psycopg import register_vector

from ragbench.old.core.settings import DatabaseSettings, Settings
from ragbench.old.core.types import Chunk, Vectors
from ragbench.old.store import Store, recall_against_exact, server

K = 10
EF_SEARCH = 40


class Clustered:
    """Text number n is vector number n; questions are other draws around the same centres."""

    def __init__(self, chunks: int, questions: int, width: int) -> None:
        self.name = self.identity = f"clustered {chunks} {questions} {width}"
        rng = np.random.default_rng(0)
        centres = rng.standard_normal((1_000, width)).astype(np.float32)
        self.passages = self._draw(rng, centres, chunks)
        self.queries = self._draw(rng, centres, questions)

    def embed(self, texts: Sequence[str], *, kind: Literal["passage", "query"] = "passage") -> Vectors:
        return (self.passages if kind == "passage" else self.queries)[[int(text) for text in texts]]

    @staticmethod
    def _draw(rng: np.random.Generator, centres: Vectors, count: int) -> Vectors:
        noise = rng.standard_normal((count, centres.shape[1]), dtype=np.float32)
        return centres[rng.integers(len(centres), size=count)] + 0.7 * noise


def server_seconds(settings: Settings) -> float:
    """CPU time of the server's processes, those that have ended among them."""
    time.sleep(0.1)  # a session that was just closed ends, and its time becomes its parent's
    total = 0.0
    for process in server.cluster_of(settings).processes():
        with contextlib.suppress(psutil.NoSuchProcess):
            total += sum(process.cpu_times()[:4])
    return total


def timed(settings: Settings, work: Callable[[], object]) -> tuple[float, float]:
    """Wall seconds, and CPU seconds of both sides."""
    other = server_seconds(settings)
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return wall, cpu + server_seconds(settings) - other


def single_queries(settings: Settings, table: str, queries: Vectors) -> None:
    """What an application does: one statement a question."""
    with psycopg.connect(
        host=str(server.cluster_of(settings).sockets), port=5432, user="ragbench", dbname="ragbench"
    ) as connection:
        register_vector(connection)
        connection.execute("SELECT set_config('hnsw.ef_search', %s, false)", (str(EF_SEARCH),))
        connection.execute("SET enable_seqscan = off")
        for query in queries:
            connection.execute(
                f"SELECT position, 1 - (embedding <=> %s) FROM ragbench.{table} ORDER BY embedding <=> %s LIMIT {K}",
                (query, query),
                binary=True,
            ).fetchall()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=None, help="keep the database here, to measure again")
    chosen = parser.parse_args()
    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="ragbench-bench-"))
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    settings = Settings(database=DatabaseSettings(folder=folder / "postgres", statement_seconds=3600))
    try:
        measure(settings, chosen)
    finally:
        server.stop(settings)
        if chosen.folder is None:
            shutil.rmtree(folder)


def measure(settings: Settings, chosen: argparse.Namespace) -> None:
    embedder = Clustered(chosen.chunks, chosen.questions, chosen.width)
    chunks = [Chunk(f"{n:07}", str(n)) for n in range(chosen.chunks)]
    texts = [chunk.text for chunk in chunks]
    print(
        f"{chosen.questions:,} questions x {chosen.chunks:,} chunks x {chosen.width}, k = {K}, {os.cpu_count()} cores"
    )
    with Store.open(settings) as store:
        name = f"bench {chosen.chunks}"
        report("load chunks", *timed(settings, lambda: store.load_chunks(name, name, chunks)))
        report("store vectors", *timed(settings, lambda: store.embed(embedder, texts, batch=5_000)))
        queries = embedder.queries
        hnsw = {"index": "hnsw", "m": 16, "ef_construction": 64, "ef_search": EF_SEARCH}
        report("build HNSW", *timed(settings, lambda: store.search(name, embedder, queries[:1], K, **hnsw)))
        found = store.search(name, embedder, queries, K, **hnsw)
        report("exact in blocks", *repeated(settings, lambda: store.exact_in_blocks(name, embedder, queries, K), 1))
        exact = store.exact_in_blocks(name, embedder, queries, K)
        print(f"recall of HNSW: {recall_against_exact(found, exact):.4f}")
        few = queries[:200]
        store.search(name, embedder, few[:1], K)
        told = []
        report(
            f"exact in the database, {len(few)}",
            *timed(settings, lambda: told.append(store.search(name, embedder, few, K))),
        )
        same = sum(one == other for one, other in zip(told[0].ids, exact.ids[: len(few)], strict=True))
        print(f"blocks and database give the same ids in the same order for {same} of {len(few)} questions")
        with store.engine.connect() as connection:
            number = connection.exec_driver_sql(
                "SELECT id FROM ragbench.collection WHERE starts_with(index, 'hnsw')"
            ).scalar()
        batches, singles = [], []
        sample = queries[:2_000]
        for _ in range(chosen.repeats):
            batches.append(timed(settings, lambda: store.search(name, embedder, queries, K, **hnsw)))
            singles.append(timed(settings, lambda: single_queries(settings, f"collection_{number}", sample)))
        batch, single = np.median(batches, axis=0), np.median(singles, axis=0) * len(queries) / len(sample)
        report("HNSW in batches", *batch)
        report(f"HNSW one by one (from {len(sample)})", *single)
        print(f"batches against one by one: {single[0] / batch[0]:.2f} times in wall time")


def repeated(settings: Settings, work: Callable[[], object], repeats: int) -> tuple[float, float]:
    wall, cpu = np.median([timed(settings, work) for _ in range(repeats)], axis=0)
    return float(wall), float(cpu)


def report(what: str, wall: float, cpu: float) -> None:
    print(f"{what:<34} {wall:9.2f} s wall {cpu:9.2f} s CPU", flush=True)


if __name__ == "__main__":
    main()
