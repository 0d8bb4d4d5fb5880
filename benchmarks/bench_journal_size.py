"""Does a journal stay quick as it grows? Look-ups and records at sizes up to --gigabytes (default 0.2; 10 on demand).

Run: python -m benchmarks.bench_journal_size [--gigabytes 10]. A server of its own is filled by the server itself
with rows of about 3 kB that hardly compress, then asked as a run asks: 64 keys a look-up, half of them absent, 16 new
replies a record. The page cache is warm: on a larger journal than memory a look-up also reads the disk.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from sqlalchemy import Engine, text  # noqa: E402

from ragbench.old.core.settings import DatabaseSettings, Settings  # noqa: E402
from ragbench.old.store import Store, server  # noqa: E402
from ragbench.old.store.reply_journal import DatabaseJournal  # noqa: E402
from tests.old.store.test_journal import row  # noqa: E402

STEPS = 4
ROUNDS = 200
NOISE = "(SELECT string_agg(md5(n::text || i::text), '') FROM generate_series(1, 70) i)"  # 2240 characters
FILL = f"""INSERT INTO ragbench.journal (key, judge, endpoint, model, prompt, version, repeat, request, text, finish,
    input_tokens, output_tokens, estimated, cost, seconds)
    SELECT encode(sha256(n::text::bytea), 'hex'), 'j' || n % 5, 'http://h/v1', 'm', 'p', 1, 0,
    jsonb_build_object('messages', {NOISE}), md5(n::text), 'stop', 500, 50, false, 0.001, 0.5
    FROM generate_series(CAST(:first AS bigint), CAST(:last AS bigint)) n ON CONFLICT DO NOTHING"""


def size(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.scalar(text("SELECT pg_total_relation_size('ragbench.journal')")) or 0)


def fill(engine: Engine, first: int, goal: int) -> int:
    """Add rows from the number `first` on until the journal has `goal` bytes; the next number."""
    while size(engine) < goal:
        with engine.begin() as connection:
            connection.execute(text(FILL), {"first": first, "last": first + 9_999})
        first += 10_000
    with engine.connect() as connection:
        connection.execution_options(isolation_level="AUTOCOMMIT").execute(text("VACUUM (ANALYZE) ragbench.journal"))
    return first


def milliseconds(work: Callable[[int], object], rounds: int = ROUNDS) -> str:
    """Median and 99th percentile of so many calls."""
    taken = []
    for number in range(rounds):
        begun = time.perf_counter()
        work(number)
        taken.append(1000 * (time.perf_counter() - begun))
    return f"{statistics.median(taken):7.2f} {sorted(taken)[int(len(taken) * 0.99)]:7.2f}"


def main(gigabytes: float) -> None:
    outer = Path(tempfile.mkdtemp(prefix="ragbench-bench-"))
    outer.chmod(0o755)
    settings = Settings(database=DatabaseSettings(folder=outer / "postgres"))
    source = random.Random(0)
    try:
        with Store.open(settings) as store:
            journal = DatabaseJournal(store.engine)
            last = 1
            print("    GB     rows   64 keys: median 99 %   16 new: median 99 %   sizes, s", flush=True)
            for step in range(STEPS + 1):
                last = fill(store.engine, last, round(gigabytes * 1e9 * step / STEPS))
                with store.engine.connect() as connection:
                    keys = list(connection.scalars(text(
                        "SELECT encode(sha256(n::text::bytea), 'hex') FROM unnest(CAST(:n AS bigint[])) n"),
                        {"n": [source.randrange(1, 2 * last) for _ in range(64 * 50)]}))  # fmt: skip
                found = milliseconds(lambda n, keys=keys: list(journal.rows_of(keys[64 * (n % 50) :][:64])))
                new = [[row(f"new{step}", 16 * n + i, text="x" * 1500) for i in range(16)] for n in range(ROUNDS)]
                kept = milliseconds(lambda n, new=new: journal.bring_in(new[n]))
                begun = time.perf_counter()
                journal.sizes()
                took = time.perf_counter() - begun
                print(
                    f"{size(store.engine) / 1e9:6.2f} {last - 1:8,}        {found}       {kept}    {took:7.2f}",
                    flush=True,
                )
    finally:
        server.stop(settings)
        shutil.rmtree(outer)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--gigabytes", type=float, default=0.2)
    main(options.parse_args().gigabytes)
