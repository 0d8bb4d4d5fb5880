"""What it costs to start: CPU seconds of commands that compute next to nothing.

Run `python tests/benchmarks/bench_start.py [PEER]`. PEER is the folder of another checkout, such as the parent's
(`git worktree add PEER HEAD~1`), whose package is measured in turn with this one's by the same interpreter; the ratio
is what to look at, since other work on the machine slows both.

`--help`, one metric's declaration, two answers scored (by the words that they share, and by every metric that needs no
judge), two scores compared, and a small pair of TREC files. Each is run once unmeasured, so that its bytecode is there,
and then three times; the median counts, of the process and its children.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parents[2]
TIMES = 3
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


def seconds(checkout: Path, words: tuple[str, ...], folder: Path) -> float:
    """CPU seconds of one run of a command."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(checkout), "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "ragbench", *words],
        cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", nargs="?", type=Path, help="another checkout")
    peer = parser.parse_args().peer
    checkouts = [HERE, *([peer.resolve()] if peer else [])]
    with tempfile.TemporaryDirectory() as private:
        folder = Path(private)
        for name, text in FILES.items():
            (folder / name).write_text(text, encoding="utf-8")
        for words in COMMANDS:
            for checkout in checkouts:
                seconds(checkout, words, folder)
            runs = [[seconds(checkout, words, folder) for checkout in checkouts] for _ in range(TIMES)]
            own, *others = (statistics.median(column) for column in zip(*runs, strict=True))
            beside = "".join(f"   peer {other:5.2f} s   {other / own:4.2f} ×" for other in others)
            print(f"{' '.join(words):40}{own:5.2f} s{beside}", flush=True)


if __name__ == "__main__":
    main()
