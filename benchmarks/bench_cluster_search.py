"""What does approximate search by workers cost, whom, and from how many questions on is it sooner?

    python -m benchmarks.bench_cluster_search [--chunks 20000] [--width 384] [--workers 2] [--repeats 3]

Vectors are drawn as in bench_search, in a database of its own. Each number of questions is searched for by HNSW in one
process with as many connections as cores, with one, and by the workers, in turns: wall time, and CPU time of the
command, of the workers and of the server, medians. What all find is compared to the bit.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.bench_search import Clustered, server_seconds
from ragbench.old.core.settings import DatabaseSettings, Settings
from ragbench.old.core.types import Chunk
from ragbench.old.extras.cluster import address
from ragbench.old.store import Store, database, pool, server
from ragbench.old.store.pool import elsewhere

QUESTIONS = (256, 512, 1_024, 2_048, 10_000)
HOW: dict[str, Any] = {"index": "hnsw", "m": 16, "ef_construction": 64, "ef_search": 40}


def worker_seconds() -> float:
    """CPU time of the cluster's processes of this program, its scheduler among them."""
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if "postgres" not in process.name():
                total += sum(process.cpu_times()[:2])
    return total


def timed(known: Settings, work: Callable[[], object]) -> tuple[float, float, float, float]:
    """Wall seconds, and CPU seconds of this process, of the workers and of the server."""
    others, served = worker_seconds(), server_seconds(known)
    wall, own = time.perf_counter(), time.process_time()
    work()
    wall, own = time.perf_counter() - wall, time.process_time() - own
    return wall, own, worker_seconds() - others, server_seconds(known) - served


def measure(known: Settings, chosen: argparse.Namespace) -> None:
    embedder = Clustered(chosen.chunks, max(QUESTIONS), chosen.width)
    chunks = [Chunk(f"{n:07}", str(n)) for n in range(chosen.chunks)]
    name = f"bench {chosen.chunks}"
    database.APART = 1
    one_connection = Settings(database=known.database.model_copy(update={"connections": 1}))
    with contextlib.ExitStack() as stack:
        alone = stack.enter_context(Store.open(known))
        alone.load_chunks(name, name, chunks)
        alone.embed(embedder, [one.text for one in chunks], batch=5_000)
        alone.search(name, embedder, embedder.queries[:1], 10, **HOW)
        file = stack.enter_context(address.started(chosen.workers))
        named = one_connection.model_copy(update={"cluster": str(file)})
        stores = {
            "one process": alone,
            "one connection": stack.enter_context(Store.open(one_connection)),
            "workers": stack.enter_context(Store.open(named, elsewhere(named))),
        }
        for store in stores.values():
            store.search(name, embedder, embedder.queries, 10, **HOW)
        print(f"the cluster alone, for 10 s: {timed(known, lambda: time.sleep(10))[2]:.2f} s of CPU")
        begun = time.perf_counter()
        with pool.opened(named):
            print(f"the workers met and looked at: {time.perf_counter() - begun:.2f} s")
        print(f"{chosen.chunks:,} chunks x {chosen.width}, {chosen.workers} workers")
        print("seconds: wall, and CPU of the command, the workers, the server")
        for number in QUESTIONS:
            queries = embedder.queries[:number]
            taken: dict[str, list[tuple[float, ...]]] = {who: [] for who in stores}
            for _ in range(chosen.repeats):
                found = []
                for who, store in stores.items():
                    work = partial(store.search, name, embedder, queries, 10, **HOW)
                    taken[who].append(timed(known, lambda: found.append(work())))  # noqa: B023
                assert all(each.ids == found[0].ids for each in found)
                assert len({np.stack(each.similarities).tobytes() for each in found}) == 1
            for who, all_of_them in taken.items():
                figures = "  ".join(f"{figure:6.2f}" for figure in np.median(all_of_them, axis=0))
                print(f"{number:6,} questions, {who:<14} {figures}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="ragbench-bench-"))
    folder.chmod(0o755)
    known = Settings(database=DatabaseSettings(folder=folder / "postgres", statement_seconds=3600))
    try:
        measure(known, chosen)
    finally:
        server.stop(known)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
