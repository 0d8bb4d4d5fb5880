"""What one reply and one vector cost everybody who takes part in a cluster: docs/explanation/scale.md counts with it.

`python -m benchmarks.bench_scale [--replies 3000] [--vectors 20000] [--width 384]`. Two workers of this machine,
a PostgreSQL of the benchmark's own, a server of chat completions that replies after 50 ms. Processor seconds are those
of the processes themselves, whatever else the machine does; bytes are what is pickled, and what PostgreSQL says of its
tables and of its log.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cloudpickle
import psutil

import ragbench as rb
from benchmarks.bench_cluster import serving
from benchmarks.bench_search import Clustered, server_seconds
from ragbench.old.core import settings
from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Chunk, Sample
from ragbench.old.extras.cluster import address
from ragbench.old.extras.cluster.worker_pool import Workers
from ragbench.old.llm.journal import Told
from ragbench.old.store import Store, server
from ragbench.old.store.reply_journal import DatabaseJournal

WORKERS, LATENCY, CONCURRENCY = 2, 0.05, 64
HOLDERS, STEPS = 100, 500
TABLES = """SELECT c.relname, pg_total_relation_size(c.oid), pg_indexes_size(c.oid) FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'ragbench' AND c.relkind = 'r'"""
ANSWER = (
    "The number {n} comes after {before} and before {after}, which whoever counts will find, and is a whole one. " * 4
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replies", type=int, default=3000)
    parser.add_argument("--vectors", type=int, default=20_000)
    parser.add_argument("--width", type=int, default=384)
    given = parser.parse_args()
    outer = Path(tempfile.mkdtemp(prefix="ragbench-bench-"))
    outer.chmod(0o755)
    os.environ["RAGBENCH_DATABASE__FOLDER"] = str(outer / "postgres")
    settings.load.cache_clear()
    known = settings.load()
    try:
        if given.replies:
            replies(known, given.replies)
            asyncio.run(accounts(known))
        if given.vectors:
            vectors(known, given.vectors, given.width)
    finally:
        server.stop(known)
        shutil.rmtree(outer)


def replies(known: Settings, count: int) -> None:
    """A table of answers, judged by workers once they are warm."""
    with address.started(WORKERS) as file, serving(LATENCY) as url:
        os.environ["RAGBENCH_CLUSTER"] = str(file)
        settings.load.cache_clear()
        asked(url, "warm", 200)
        with Store.open(known) as store, sized(Workers) as sizes, counted(known) as connections:
            before = processors(known, file), written(store), tables(store)["journal"][0]
            begun = time.perf_counter()
            asked(url, "measured", count)
            seconds = time.perf_counter() - begun
            after = processors(known, file), written(store), tables(store)["journal"][0]
        os.environ.pop("RAGBENCH_CLUSTER")
    print(f"{count:,} replies by {WORKERS} workers in {seconds:.1f} s")
    for who in before[0]:
        print(f"  processor of {who:<12} {1000 * (after[0][who] - before[0][who]) / count:8.3f} ms a reply")
    print(f"  from the command to workers {sizes['there'] / count:8.0f} bytes a reply, in {sizes['parts']} parts")
    print(f"  from workers to the command {sizes['back'] / count:8.0f} bytes a reply")
    print(f"  log of PostgreSQL           {(after[1] - before[1]) / count:8.0f} bytes a reply")
    print(f"  table of the journal        {(after[2] - before[2]) / count:8.0f} bytes a reply")
    print(f"  connections                 {connections[0]:8} of {WORKERS} workers and the command at most", flush=True)


async def accounts(known: Settings) -> None:
    """Steps of a hundred workers, one after the other, as the row of their run or endpoint has them wait."""
    with Store.open(known) as store:
        held = DatabaseJournal(store.engine).accounts()
        one = (1, 100.0, 0.0)

        async def spend(n: int) -> None:
            await held.spend("run", (1e9, 1e9, None), [Told(f"step {n}", one, one)], one)

        async def share(n: int) -> None:
            place, _wait = await held.sit("endpoint", 4 * HOLDERS, [], (1e9, 1e9), 100.0)
            assert place is not None
            await held.rise("endpoint", place, 0.0, 0.0)

        for what, step in (("budget", spend), ("limits", share)):
            for n in range(HOLDERS):
                await step(n)
            theirs, begun = server_seconds(known), time.perf_counter()
            for n in range(STEPS):
                await step(n)
            seconds = time.perf_counter() - begun
            cpu = server_seconds(known) - theirs
            print(f"  a step of the {what}, {HOLDERS} holders: {1000 * seconds / STEPS:.2f} ms, "
                  f"{1000 * cpu / STEPS:.2f} of them PostgreSQL's processor")  # fmt: skip
        await held.close()


def asked(url: str, name: str, count: int) -> None:
    rows = [
        Sample(f"{name}-{n}", user_input=f"What is the number {n} of {name}?",
               response=ANSWER.format(n=n, before=n - 1, after=n + 1))
        for n in range(count)
    ]  # fmt: skip
    judge = rb.judge(model="m", base_url=url, name=name, concurrency=CONCURRENCY)
    assert len(rb.score(rows, metrics=["answer_relevance"], judge=judge, resamples=100)) == count


def vectors(known: Settings, count: int, width: int) -> None:
    """Vectors that are there already: kept, copied for an index, and searched."""
    embedder = Clustered(count, 200, width)
    chunks = [Chunk(f"{n:07}", str(n)) for n in range(count)]
    hnsw: dict[str, Any] = {"index": "hnsw", "m": 16, "ef_construction": 64, "ef_search": 40}
    print(f"{count:,} vectors of {width} numbers")
    with Store.open(known) as store:
        store.load_chunks("scale", "scale", chunks)
        steps = (
            ("kept", lambda: store.embed(embedder, [one.text for one in chunks], batch=5_000), count),
            ("copied, with HNSW", lambda: store.search("scale", embedder, embedder.queries[:1], 10, **hnsw), count),
            ("searched by HNSW", lambda: store.search("scale", embedder, embedder.queries, 10, **hnsw), 200),
            ("searched exactly", lambda: store.search("scale", embedder, embedder.queries, 10), 200),
        )
        for what, work, units in steps:
            before = server_seconds(known), time.process_time(), tables(store)
            work()
            theirs, own = server_seconds(known) - before[0], time.process_time() - before[1]
            after = tables(store)
            grown = {name: [a - b for a, b in zip(size, before[2].get(name, (0, 0)), strict=True)]
                     for name, size in after.items()}  # fmt: skip
            whole, indexes = (sum(one[place] for one in grown.values()) for place in (0, 1))
            each = "vector" if units == count else f"question among {count:,}"
            print(
                f"  {what:<18} {1000 * theirs / units:7.3f} ms of PostgreSQL, {1000 * own / units:6.3f} ms of the "
                f"command, {(whole - indexes) / units:.0f} bytes of tables, {indexes / units:.0f} of indexes a {each}",
                flush=True,
            )


def processors(known: Settings, file: Path) -> dict[str, float]:
    """Seconds by who takes part."""
    program = next(one for one in psutil.Process().children() if str(file.parent) in one.cmdline())
    return {
        "the command": time.process_time(),
        "the scheduler": sum(program.cpu_times()[:2]),
        "workers": sum(sum(one.cpu_times()[:2]) for one in program.children(recursive=True)),
        "PostgreSQL": server_seconds(known),
    }


def tables(store: Store) -> dict[str, tuple[int, int]]:
    """Bytes of each table with its indexes, and of its indexes."""
    with store.engine.connect() as connection:
        return {name: (int(whole), int(indexes)) for name, whole, indexes in connection.exec_driver_sql(TABLES)}


def written(store: Store) -> int:
    """Bytes of the log so far, which a copy of the server would be sent."""
    with store.engine.connect() as connection:
        return int(connection.exec_driver_sql("SELECT pg_current_wal_lsn() - '0/0'").scalar_one())


@contextlib.contextmanager
def sized(workers: Any) -> Iterator[dict[str, int]]:
    """Bytes of parts and of what comes back, as they are pickled."""
    found, plain = {"there": 0, "back": 0, "parts": 0}, workers.map

    def mapped(self: Any, work: Any, common: Any, parts: Sequence[Any], heard: Any = None) -> list[Any]:
        made: list[Any] = plain(self, work, common, parts, heard)
        found["there"] += sum(len(cloudpickle.dumps(one)) for one in parts)
        found["back"] += sum(len(cloudpickle.dumps(one)) for one in made)
        found["parts"] += len(parts)
        return made

    workers.map = mapped
    try:
        yield found
    finally:
        workers.map = plain


@contextlib.contextmanager
def counted(known: Settings) -> Iterator[list[int]]:
    """The most connections that there were at once, this one left out."""
    most, ended = [0], threading.Event()

    def look() -> None:
        with server.connected(known) as engine, engine.connect() as connection:
            alone = connection.execution_options(isolation_level="AUTOCOMMIT")
            while not ended.wait(0.1):
                now = alone.exec_driver_sql(
                    "SELECT count(*) - 1 FROM pg_stat_activity WHERE backend_type = 'client backend'"
                ).scalar_one()
                most[0] = max(most[0], int(now))

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield most
    finally:
        ended.set()
        looking.join()


if __name__ == "__main__":
    main()
