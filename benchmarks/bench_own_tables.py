"""Tier 1, real users and sources on a database of somebody's own, read-only: how long each takes.

    python -m benchmarks.bench_own_tables [--chunks 50000] [--questions 20000] [--width 1024] [--folder DIR]

The tables have the shape that such assistants keep: `chunk`, `question_answer`, and a table named `user`. Vectors are
drawn around one centre a page, questions near the page that answered them. Reported: wall and CPU seconds of this
process and of the server, the largest memory of this process, and that nobody wrote: the hash over all rows is the same
before and after. The first tier that runs copies the vectors and builds the index; with `--index own` the table of
chunks has an HNSW index of its own, which is searched in place.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import psycopg

from ragbench.old import tiers as bench
from ragbench.old.core import settings
from ragbench.old.store import server

SCHEMA = """
CREATE SCHEMA own;
SET search_path TO own, public;
CREATE TABLE "user" (id bigint PRIMARY KEY, name text);
CREATE TABLE chunk (id bigint PRIMARY KEY, confluence_url text, text text, embedding public.vector({width}),
    created_at timestamptz DEFAULT now(), updated_at timestamptz DEFAULT now());
CREATE TABLE question_answer (id bigint PRIMARY KEY, question text, embedding public.vector({width}), answer text,
    confluence_url text, score int, user_id bigint REFERENCES "user" (id), created_at timestamptz DEFAULT now());
"""
OWN_INDEX = "CREATE INDEX ON chunk USING hnsw (embedding public.vector_cosine_ops)"
CONFIGURATION = """
dataset = "db:own"
baseline = "theirs"
[database]
folder = "{folder}"
[databases.own.chunks]
in_schema = "own"
[databases.own.questions]
in_schema = "own"
[embedders.theirs]
kind = "database"
database = "own"
[systems.theirs]
embedder = "theirs"
index = "{index}"
"""
CHUNKS_A_PAGE = 5
BLOCK = 1000


def main() -> None:
    """Make the tables, measure on them, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=50_000)
    parser.add_argument("--questions", type=int, default=20_000)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--index", choices=("exact", "hnsw", "own"), default="hnsw")
    parser.add_argument("--tiers", nargs="+", default=["tier1", "real_users", "sources"])
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    outer = given.folder or Path(tempfile.mkdtemp(prefix="ragbench-own-"))
    outer.mkdir(parents=True, exist_ok=True)
    outer.chmod(0o755)
    try:
        configuration = outer / "ragbench.toml"
        configuration.write_text(CONFIGURATION.format(folder=outer / "postgres", index=given.index), encoding="utf-8")
        os.environ |= {"RAGBENCH_CONFIG": str(configuration), "RAGBENCH_TRUST": "/"}
        settings.load.cache_clear()
        server.start(settings.load())
        measure(given)
    finally:
        with contextlib.suppress(Exception):
            server.stop(settings.load())
        if given.folder is None:
            shutil.rmtree(outer, ignore_errors=True)


def measure(given: argparse.Namespace) -> None:
    """All three tiers on tables that are made first."""
    address = server.address(settings.load()).set(drivername="postgresql")
    with psycopg.connect(address.render_as_string(hide_password=False), autocommit=True) as owner:
        print(f"{given.chunks:,} chunks and {given.questions:,} questions x {given.width}, index {given.index}")
        timed("making the tables", lambda: fill(owner, given))
        if given.index == "own":
            owner.execute("SET maintenance_work_mem = '2GB'")
            timed("their own index", lambda: owner.execute(OWN_INDEX))
        before = digest(owner)
        tiers: dict[str, Callable[[], object]] = {
            "tier1": tier1,
            "tier1 again": tier1,
            "real_users": lambda: print("   ", answer(bench.real_users())),
            "sources": lambda: print("   ", answer(bench.sources())),
        }
        for name, work in tiers.items():
            if name.split()[0] in given.tiers:
                timed(name, work)
        print("rows unchanged:", digest(owner) == before)
    print(f"largest memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


def tier1() -> None:
    """The whole tier, each question asked once and 400 timed."""
    print("   ", answer(bench.tier1_retrieval(unit="url", repeats=1)))


def answer(found: object) -> str:
    """The first estimates of a measurement."""
    shown = [f"{e.metric} {e.estimate.value:.3f}" for e in found.estimates[:4]]  # type: ignore[attr-defined]
    return ", ".join(shown)


def fill(owner: psycopg.Connection, given: argparse.Namespace) -> None:
    """Tables with drawn vectors; the same every time."""
    owner.execute(SCHEMA.format(width=given.width))
    rng = np.random.default_rng(0)
    pages = max(1, given.chunks // CHUNKS_A_PAGE)
    centres = rng.standard_normal((pages, given.width)).astype(np.float32)
    users = max(1, given.questions // 8)
    with owner.cursor() as cursor:
        with cursor.copy('COPY "user" FROM STDIN') as copy:
            for number in range(users):
                copy.write_row((number, f"user {number}"))
        with cursor.copy("COPY chunk (id, confluence_url, text, embedding) FROM STDIN") as copy:
            for number, vector in drawn(rng, centres, np.arange(given.chunks) // CHUNKS_A_PAGE % pages, 0.9):
                page = number // CHUNKS_A_PAGE % pages
                copy.write_row((number, url(page), f"Фрагмент {number} страницы {page} о её предмете.", vector))
        asked = rng.integers(pages, size=given.questions)
        named = "COPY question_answer (id, question, embedding, answer, confluence_url, score, user_id) FROM STDIN"
        with cursor.copy(named) as copy:
            for number, vector in drawn(rng, centres, asked, 1.4):
                row = (
                    number,
                    f"Вопрос {number} о странице {asked[number]}?",
                    vector,
                    f"Ответ {number}.",
                    url(int(asked[number])) if number % 20 else None,
                    (1, 3, 5, 5)[number % 4],
                    number % users,
                )
                copy.write_row(row)
    owner.execute("ANALYZE")


def drawn(rng: np.random.Generator, centres: np.ndarray, pages: np.ndarray, noise: float):  # type: ignore[no-untyped-def]
    """(number, vector as pgvector writes it) around the centre of each row's page, in blocks."""
    for start in range(0, len(pages), BLOCK):
        part = centres[pages[start : start + BLOCK]]
        part = part + noise * rng.standard_normal(part.shape, dtype=np.float32)
        for place, vector in enumerate(part):
            yield start + place, "[" + ",".join(f"{x:.6g}" for x in vector.tolist()) + "]"


def url(page: int) -> str:
    """The page's address."""
    return f"https://wiki.example/page/{page}"


def digest(owner: psycopg.Connection) -> tuple[str, ...]:
    """A hash over every row of every table."""
    found = []
    for table in ('"user"', "chunk", "question_answer"):
        query = f"SELECT md5(string_agg(md5(t::text), '' ORDER BY id)) FROM {table} t"
        row = owner.execute(query.encode()).fetchone()
        assert row is not None
        found.append(str(row[0]))
    return tuple(found)


def timed(label: str, work: Callable[[], object]) -> None:
    """Print wall seconds, and CPU seconds of this process and of the server."""
    wall, own, theirs = time.perf_counter(), time.process_time(), server_seconds()
    work()
    wall, own, theirs = time.perf_counter() - wall, time.process_time() - own, server_seconds() - theirs
    print(f"{label}: {wall:.1f} s, CPU {own:.1f} s here and {theirs:.1f} s in PostgreSQL", flush=True)


def server_seconds() -> float:
    """CPU time of the server's processes, those that have ended among them."""
    time.sleep(0.1)
    total = 0.0
    for process in server.cluster_of(settings.load()).processes():
        with contextlib.suppress(psutil.NoSuchProcess):
            total += sum(process.cpu_times()[:4])
    return total


if __name__ == "__main__":
    main()
