"""`ragbench trec` beside the trec_eval binary, as whole processes on the same files.

Run `python -m benchmarks.bench_trec TREC_EVAL [--queries N]`, built from github.com/usnistgov/trec_eval.
Both read the files and compute all of their measures; ours also their intervals. Seconds of CPU, of children too, and
the peak of memory.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

DEPTH, JUDGED, FOUND, CORPUS = 1_000, 60, 40, 8_800_000


def write(folder: Path, queries: int, seed: int = 0) -> list[str]:
    """Judgements and a run: paths."""
    rng = np.random.default_rng(seed)
    with (folder / "qrels").open("w") as judgements, (folder / "run").open("w") as run:
        for query in range(1, queries + 1):
            numbers = rng.choice(CORPUS, DEPTH + JUDGED, replace=False)
            relevant, others = numbers[:JUDGED], numbers[JUDGED:].copy()
            others[rng.choice(DEPTH, FOUND, replace=False)] = relevant[:FOUND]
            grades = rng.integers(0, 4, JUDGED)
            judgements.writelines(f"{query} 0 D{d} {g}\n" for d, g in zip(relevant, grades, strict=True))
            scores = np.sort(rng.random(DEPTH) * 30)[::-1]
            rows = enumerate(zip(others, scores, strict=True), start=1)
            run.writelines(f"{query} Q0 D{d} {rank} {score:.6f} tag\n" for rank, (d, score) in rows)
    return [str(folder / "qrels"), str(folder / "run")]


def timed(command: list[str]) -> tuple[float, float, float]:
    """CPU seconds, wall seconds, GB."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[0]} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="trec_eval, built from its source")
    parser.add_argument("--queries", type=int, default=10_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ragbench-trec-") as folder:
        files = write(Path(folder), given.queries)
        ours = [sys.executable, "-m", "ragbench", "trec"]
        for name, command in {"trec_eval": [given.binary, "-m", "all_trec"], "ragbench": ours}.items():
            cpu, wall, memory = timed([*command, *files])
            print(f"{name}: {cpu:.1f} s CPU, {wall:.1f} s wall, {memory:.2f} GB, {given.queries * DEPTH:,} lines")


if __name__ == "__main__":
    main()
