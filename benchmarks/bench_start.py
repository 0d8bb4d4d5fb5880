"""What it costs to start: CPU and wall seconds of commands that compute next to nothing.

Run `python -m benchmarks.bench_start [PEER]`. PEER is the folder of another checkout, such as the parent's
(`git worktree add PEER HEAD~1`), whose package is measured in turn with this one's by the same interpreter; the ratio
is what to look at, since other work on the machine slows both.

`--help`, one metric's declaration, two answers scored (by the words that they share, and by every metric that needs no
judge), two scores compared, and a small pair of TREC files. Each is run once unmeasured, so that its bytecode is there,
and then nine times; the medians count, of the process and its children. Below them is what Python takes with the
libraries alone that scoring cannot do without.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parents[1]
TIMES = 9
LIBRARIES = "import numpy, pydantic_settings, rich.table, sacrebleu, scipy.sparse, scipy.special, typer"
FILES = {
    "answers.csv": "question,answer,ground_truth\nWho sat?,the cat sat,the cat\nWhere?,it sat on a mat,on the mat\n",
    "first.csv": "id,quality\na,1\nb,2\nc,3\n",
    "second.csv": "id,quality\na,1\nb,3\nc,3.5\n",
    "qrels": "q1 0 d1 1\nq2 0 d2 1\n",
    "run": "q1 Q0 d1 1 2.0 r\nq1 Q0 d3 2 1.0 r\nq2 Q0 d3 1 2.0 r\nq2 Q0 d2 2 1.0 r\n",
}
COMMANDS = (
    ("--help",),
    ("metrics", "mrr"),
    ("score", "answers.csv", "-m", "rouge1_f"),
    ("score", "answers.csv"),
    ("significance", "first.csv", "second.csv"),
    ("trec", "qrels", "run"),
)


def seconds(checkout: Path, words: tuple[str, ...], folder: Path) -> tuple[float, float]:
    """CPU and wall seconds of one run of Python with these words."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(checkout), "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, *words],
        cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", nargs="?", type=Path, help="another checkout")
    peer = parser.parse_args().peer
    checkouts = [HERE, *([peer.resolve()] if peer else [])]
    with tempfile.TemporaryDirectory() as private:
        folder = Path(private)
        for name, text in FILES.items():
            (folder / name).write_text(text, encoding="utf-8")
        asked = {" ".join(words): ("-m", "ragbench", *words) for words in COMMANDS} | {"libraries": ("-c", LIBRARIES)}
        for title, words in asked.items():
            for checkout in checkouts:
                seconds(checkout, words, folder)
            runs = [[seconds(checkout, words, folder) for checkout in checkouts] for _ in range(TIMES)]
            own, *others = (
                [statistics.median(row) for row in zip(*own, strict=True)] for own in zip(*runs, strict=True)
            )
            beside = "".join(f"   peer {cpu:5.2f} s, {wall:5.2f} s   {cpu / own[0]:4.2f} ×" for cpu, wall in others)
            print(f"{title:40}{own[0]:5.2f} s CPU, {own[1]:5.2f} s wall{beside}", flush=True)


if __name__ == "__main__":
    main()
