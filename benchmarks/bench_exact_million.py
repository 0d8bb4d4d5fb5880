"""Tier 1 by exact search over very many stored vectors, as a user runs it: seconds, CPU, and the largest memory.

    python -m benchmarks.bench_exact_million [--chunks 1000000] [--questions 10000] [--width 384] [--profile FILE]

Tables of somebody's own hold passages and questions with their vectors, drawn around one centre for a hundred passages,
with a seed. Tier 1 reads them as the data set `db:own`, ranks all passages for every question, measures, and times 400
single questions in PostgreSQL. Approximate search is not compared (`ef_searches=()`): its graph of a million vectors is
another measure. Memory is sampled: of this process, and of all of the server's with shared pages counted once.
"""

from __future__ import annotations

import argparse
import contextlib
import cProfile
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
import psycopg

from benchmarks.bench_own_tables import server_seconds
from ragbench.old import tiers
from ragbench.old.core import settings
from ragbench.old.store import server
from ragbench.old.store.copying import vector_rows

CONFIGURATION = """
dataset = "db:own"
baseline = "theirs"
[database]
folder = "{folder}"
statement_seconds = 3600
[databases.own.chunks]
in_schema = "own"
[databases.own.questions]
in_schema = "own"
[embedders.theirs]
kind = "database"
database = "own"
[systems.theirs]
embedder = "theirs"
index = "exact"
"""
SCHEMA = """
CREATE SCHEMA own;
SET search_path TO own, public;
CREATE TABLE vectors (n int, embedding public.vector);
CREATE TABLE chunk (id bigint PRIMARY KEY, confluence_url text, text text, embedding public.vector({width}),
    created_at timestamptz DEFAULT now(), updated_at timestamptz DEFAULT now());
CREATE TABLE question_answer (id bigint PRIMARY KEY, question text, embedding public.vector({width}), answer text,
    confluence_url text, score int, user_id bigint, created_at timestamptz DEFAULT now());
"""
ABOUT = "'Passage ' || n || ' of its page. ' || repeat('What it says of its subject in so many words. ', 8)"
BLOCK = 20_000
NEIGHBOURS = 100


def main() -> None:
    """Make the tables, measure on them, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=1_000_000)
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--timed-questions", type=int, default=400)
    parser.add_argument("--profile", type=Path, help="where cProfile's figures of the tier go")
    given = parser.parse_args()
    outer = Path(tempfile.mkdtemp(prefix="ragbench-million-"))
    outer.chmod(0o755)
    configuration = outer / "ragbench.toml"
    configuration.write_text(CONFIGURATION.format(folder=outer / "postgres"), encoding="utf-8")
    os.environ |= {"RAGBENCH_CONFIG": str(configuration), "RAGBENCH_TRUST": "/"}
    settings.load.cache_clear()
    try:
        server.start(settings.load())
        print(f"{given.questions:,} questions x {given.chunks:,} chunks x {given.width}", flush=True)
        with measured("making the tables"):
            fill(given)
        profile = cProfile.Profile()
        with measured("tier 1"), profile if given.profile else contextlib.nullcontext():
            found = tiers.tier1_retrieval(unit="url", ef_searches=(), timed_questions=given.timed_questions)
        if given.profile:
            profile.dump_stats(given.profile)
        print(", ".join(f"{one.metric} {one.estimate.value:.6f}" for one in found.estimates))
    finally:
        server.stop(settings.load())
        shutil.rmtree(outer, ignore_errors=True)


def fill(given: argparse.Namespace) -> None:
    """Tables with drawn vectors; a question is asked near the passage that answered it."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((max(1, given.chunks // NEIGHBOURS), given.width), dtype=np.float32)
    address = server.address(settings.load()).set(drivername="postgresql")
    with psycopg.connect(address.render_as_string(hide_password=False), autocommit=True) as owner:
        owner.execute(SCHEMA.format(width=given.width))
        answers = rng.integers(given.chunks, size=given.questions)
        asked = np.zeros((given.questions, given.width), np.float32)
        for start in range(0, given.chunks, BLOCK):
            rows = np.arange(start, min(start + BLOCK, given.chunks), dtype=np.int32)
            vectors = centres[rows % len(centres)] + 0.7 * rng.standard_normal((len(rows), given.width), np.float32)
            put(
                owner, "chunk (id, confluence_url, text, embedding)", f"n, 'p/' || n, {ABOUT}, embedding", rows, vectors
            )
            here = np.flatnonzero((answers >= start) & (answers <= rows[-1]))
            asked[here] = vectors[answers[here] - start]
        asked += 2.5 * rng.standard_normal(asked.shape, np.float32)
        owner.execute("CREATE TABLE answers (n int, page int)")
        with owner.cursor() as cursor, cursor.copy("COPY answers FROM STDIN") as copy:
            for row in enumerate(answers.tolist()):
                copy.write_row(row)
        put(
            owner,
            "question_answer (id, question, embedding, answer, confluence_url, score)",
            "n, 'Question ' || n || '?', embedding, 'Answer', 'p/' || page, 5",
            np.arange(given.questions, dtype=np.int32),
            asked,
            "JOIN answers USING (n)",
        )
        owner.execute("ANALYZE")


def put(
    owner: psycopg.Connection, into: str, columns: str, rows: np.ndarray, vectors: np.ndarray, also: str = ""
) -> None:
    """Rows of a table, of their numbers and vectors."""
    with owner.cursor() as cursor:
        cursor.execute("TRUNCATE vectors")
        with cursor.copy("COPY vectors FROM STDIN (FORMAT BINARY)") as copy:
            copy.write(vector_rows(rows, vectors))
        cursor.execute(f"INSERT INTO {into} SELECT {columns} FROM vectors {also}".encode())


@contextmanager
def measured(label: str) -> Iterator[None]:
    """Print wall and CPU seconds of this process and of the server, their largest memory, and the machine's load."""
    stop, largest = threading.Event(), [0, 0]
    me, cluster = psutil.Process(), server.cluster_of(settings.load())

    def sample() -> None:
        while not stop.wait(0.5):
            theirs = 0
            for process in cluster.processes():
                with contextlib.suppress(psutil.Error):
                    theirs += process.memory_full_info().pss
            largest[:] = max(largest[0], me.memory_info().rss), max(largest[1], theirs)

    watcher = threading.Thread(target=sample)
    wall, own, theirs = time.perf_counter(), time.process_time(), server_seconds()
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()
        wall, own, theirs = time.perf_counter() - wall, time.process_time() - own, server_seconds() - theirs
        here, there = (size / 2**30 for size in largest)
        print(
            f"{label}: {wall:.1f} s, CPU {own:.1f} s here and {theirs:.1f} s in PostgreSQL; at most {here:.2f} GB here "
            f"and {there:.2f} GB there; load average {os.getloadavg()[0]:.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
