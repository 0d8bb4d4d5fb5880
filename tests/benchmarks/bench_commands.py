"""CPU seconds and memory of commands as they are typed, each in a process of its own.

Median of three. `python -m tests.benchmarks.bench_commands [ROWS_TO_LOAD] [LINES_OF_TREC]`
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import pandas as pd

PROJECT = Path(__file__).parents[2]
REPEATS = 3
METRICS = "exact_match,token_f1,rougeL_f"
DEPTHS = (100, 1_000)  # lines of a run for each query
WORDS = (PROJECT / "data" / "campus" / "chunks.en.jsonl").read_text(encoding="utf-8").split()
# In a small process: a child's memory counts from that of the process that started it.
RUN = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = used.ru_utime + used.ru_stime
print(json.dumps([seconds, used.ru_maxrss, done.returncode, done.stderr[-300:]]))
"""
# The peer reads both files by its own readers and evaluates.
TREC_EVAL = """
import sys, pytrec_eval
qrels = pytrec_eval.parse_qrel(open(sys.argv[1]))
run = pytrec_eval.parse_run(open(sys.argv[2]))
pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "P.10", "map"}).evaluate(run)
"""


def run_once(command: list[str], folder: Path) -> tuple[float, float]:
    """Return the CPU seconds of a command with all that it starts, and its memory in MB."""
    run = [sys.executable, "-c", RUN, *command]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=True)
    seconds, kilobytes, code, errors = json.loads(done.stdout)
    if code:
        print(" ".join(command[1:]), "ended with", code, errors)
    return seconds, kilobytes / 1024


def measure(name: str, command: list[str], folder: Path, repeats: int = REPEATS) -> float:
    """Print and return the median of the CPU seconds; the greatest memory goes with it."""
    runs = [run_once(command, folder) for _ in range(repeats)]
    seconds = statistics.median(seconds for seconds, _ in runs)
    print(
        f"{name:40} {seconds:7.2f} CPU s {max(memory for _, memory in runs):7,.0f} MB", flush=True
    )
    return seconds


def ragbench(*arguments: str) -> list[str]:
    """Return the command with these arguments."""
    return [sys.executable, "-m", "ragbench", *arguments]


def write_answers(file: Path, rows: int) -> None:
    """Write so many questions, answers and references, with contexts."""
    generator = random.Random(0)

    def text(words: int) -> str:
        return " ".join(generator.choices(WORDS, k=words))

    entries = [
        {"question": f"{number} {text(8)}?", "answer": text(30), "reference": text(30)}
        for number in range(rows)
    ]
    pd.DataFrame(entries).to_csv(file, index=False)


def write_trec(folder: Path, lines: int, depth: int) -> None:
    """Write a run of so many lines, and judgements of five documents a query."""
    generator = random.Random(0)
    with (folder / "run").open("w") as run, (folder / "qrels").open("w") as qrels:
        for query in range(lines // depth):
            documents = generator.sample(range(1_000_000), depth)
            for rank, document in enumerate(documents, start=1):
                run.write(f"q{query} Q0 d{document} {rank} {depth - rank + 0.5} bench\n")
            for document in generator.sample(documents, 5):
                qrels.write(f"q{query} 0 d{document} 1\n")


def main(loaded: int = 1_000_000, lines: int = 4_000_000) -> None:
    """Print a line a command."""
    folder = Path(tempfile.mkdtemp(prefix="ragbench-bench-"))
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    try:
        measure("import ragbench", [sys.executable, "-c", "import ragbench"], folder)
        measure("--help", ragbench("--help"), folder)
        write_answers(folder / "a2.csv", 2)
        (folder / "new").mkdir()
        shutil.copy(folder / "a2.csv", folder / "new")
        measure("init", ragbench("init", "--force"), folder / "new")
        for rows in (2, 1_000, 10_000, 25_600):
            write_answers(folder / f"a{rows}.csv", rows)
            measure(
                f"score of {rows:,} rows, 3 metrics",
                ragbench("score", f"a{rows}.csv", "-m", METRICS),
                folder,
            )
        measure_compare(folder)
        measure_trec(folder, lines)
        measure_load(folder, loaded)
    finally:
        shutil.rmtree(folder)


def measure_compare(folder: Path) -> None:
    """Two scored tables of 1,000 rows, as runs."""
    for name in ("v1", "v2"):
        run_once(ragbench("score", "a1000.csv", "-m", METRICS, "--out", name), folder)
    measure("compare of two runs", ragbench("compare", "v1", "v2"), folder)


def measure_trec(folder: Path, lines: int) -> None:
    """Measure runs beside pytrec_eval, and trec_eval where it is installed."""
    for count, depth in product((lines // 4, lines), DEPTHS):
        write_trec(folder, count, depth)
        command = ragbench("trec", "qrels", "run", "-m", "nDCG@10,P@10,MAP")
        ours = measure(f"trec of {count:,} lines, {depth:,} a query", command, folder)
        peer = [sys.executable, "-c", TREC_EVAL, "qrels", "run"]
        theirs = measure("  pytrec_eval", peer, folder)
        print(f"  ours takes {ours / theirs:.2f} of it")
        if shutil.which("trec_eval"):
            peer = ["trec_eval", "-m", "ndcg_cut.10", "-m", "P.10", "-m", "map", "qrels", "run"]
            print(f"  {ours / measure('  trec_eval', peer, folder):.2f} of it")


def measure_load(folder: Path, rows: int) -> None:
    """Load questions into new sets, each once: memory should not grow with the rows."""
    for count in (rows // 4, rows):
        write_answers(folder / "load.csv", count)
        measure(
            f"load of {count:,} rows",
            ragbench("load", "questions", "load.csv", "--name", f"bench{count}"),
            folder,
            repeats=1,
        )
    reading = "import pandas; pandas.read_csv('load.csv')"
    measure("  pandas alone reads them", [sys.executable, "-c", reading], folder, repeats=1)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
