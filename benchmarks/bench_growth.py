"""What many rows cost: processor and peak memory of `ragbench score` over tables of growing length, made up.

    python -m benchmarks.bench_growth [--rows 10000 100000] [--metric rouge1_f exact_match bleu | --all]
        [--judge lexical] [--embedder hashing] [--to json out] [--folder DIR]

A row is a question, an answer, three contexts of 40 words and a reference, some 1.3 kB. Each command is a process of
its own, whose memory is looked at five times a second, with that of all that it starts. Scores go to a JSON file, to a
folder with a page, or to both.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from benchmarks.bench_traces import words

DISTINCT = 4096
"""Texts that are drawn; each that stands has a number of its own before it."""
PLACES = ("in Paris", "in New Orleans", "near Lake Baikal")
"""Entities, so that no metric has nothing to measure."""


def main() -> None:
    """Write each table, score it, and print rows, seconds of a processor, and megabytes at most."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--metric", nargs="+", default=["rouge1_f", "exact_match", "bleu"])
    parser.add_argument("--all", action="store_true", help="every metric that needs no model")
    parser.add_argument("--judge", default="lexical")
    parser.add_argument("--embedder", default="hashing")
    parser.add_argument("--to", nargs="+", choices=("json", "out"), default=["json"])
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    for rows in given.rows:
        with tempfile.TemporaryDirectory(prefix="ragbench-growth-", dir=given.folder) as folder:
            measure(Path(folder), rows, [] if given.all else given.metric, given)


def measure(folder: Path, rows: int, metrics: list[str], given: argparse.Namespace) -> None:
    """One table."""
    to = given.to
    path = folder / "answers.jsonl"
    with path.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(row) + "\n" for row in answers(rows))
    (folder / "ragbench.toml").write_text("", encoding="utf-8")
    asked = [argument for metric in metrics for argument in ("-m", metric)]
    asked += [argument for name in to for argument in (f"--{name}", str(folder / name))]
    child = os.posix_spawn(
        sys.executable,
        [
            sys.executable,
            "-m",
            "ragbench",
            "score",
            str(path),
            *asked,
            "--judge",
            given.judge,
            "--embedder",
            given.embedder,
        ],
        {**os.environ, "RAGBENCH_CONFIG": str(folder / "ragbench.toml"), "TMPDIR": str(folder)},
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, str(folder / "said"), os.O_WRONLY | os.O_CREAT, 0o600)],
    )
    most, seconds = spent(child)
    _, status, _used = os.wait4(child, 0)
    said = (folder / "said").read_text(encoding="utf-8")
    assert os.waitstatus_to_exitcode(status) in (0, 4), said
    written = sum(one.stat().st_size for name in to for one in [folder / name, *(folder / name).rglob("*")])
    print(
        f"{rows:,} rows, {path.stat().st_size / 2**20:,.0f} MiB, {len(metrics) or 'all'} metrics, "
        f"to {' and '.join(to)}: "
        f"{seconds:.1f} s of a processor, {most / 2**20:,.0f} MiB of memory at most; "
        f"what is written has {written / 2**20:,.0f} MiB",
        flush=True,
    )


def spent(process: int) -> tuple[int, float]:
    """Waits for the end of a process; the bytes of memory that it and what it started had at most, together, and their
    seconds of a processor.

    Each process is asked for its own: what a killed one has used is in nobody's account.
    """
    first, most, used = psutil.Process(process), 0, dict[psutil.Process, float]()
    while True:
        try:
            if first.status() == psutil.STATUS_ZOMBIE:
                return most, sum(used.values())
            held = 0
            for one in [first, *first.children(recursive=True)]:
                times = one.cpu_times()
                used[one] = times.user + times.system
                held += one.memory_info().rss
            most = max(most, held)
        except psutil.NoSuchProcess:
            continue  # one of those that it started has just ended
        time.sleep(0.1)


def answers(rows: int) -> Iterator[dict[str, Any]]:
    """Answers to questions, one in a hundred without a reference."""
    drawn = random.Random(0)
    texts = [words(drawn, 40) for _ in range(DISTINCT)]
    for number in range(rows):
        answer = texts[drawn.randrange(DISTINCT)]
        row = {
            "id": f"q{number:07d}",
            "question": f"{number}: {texts[number % DISTINCT][:60]}?",
            "answer": f"{number} {answer[:180]}",
            "contexts": [f"{number} {texts[drawn.randrange(DISTINCT)]} {PLACES[number % 3]}" for _ in range(3)],
            "reference": f"{answer[:90]} {texts[drawn.randrange(DISTINCT)][:40]} {PLACES[number % 2]}",
        }
        yield row if number % 100 else {key: value for key, value in row.items() if key != "reference"}


if __name__ == "__main__":
    main()
