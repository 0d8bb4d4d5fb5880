"""How CPU seconds grow with the size: t ~ size ** exponent, fitted over three sizes; limit 1.1.

`OMP_NUM_THREADS=1 python -m tests.benchmarks.bench_growth`
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.bench_llm import SERVER
from tests.benchmarks.bench_pages import make_texts
from tests.llm.asking import make_client, question

LIMIT = 1.1
FACTORS = (1, 3, 9)


def score_rows(rows: int) -> None:
    """Score rows by three metrics of texts."""
    import ragbench as rb

    texts = make_texts(rows, 30)
    table = [{"question": text, "answer": text, "reference": text[5:]} for text in texts]
    rb.score(table, metrics="exact_match, token_f1, rougeL_f")


def retrieve(questions: int) -> Any:
    """Ask one system questions, and score its rankings."""
    import ragbench as rb

    texts = make_texts(questions, 8)
    documents = {f"p{n}": text for n, text in enumerate(texts)}
    asked = [{"text": text, "relevant": [f"p{n}"]} for n, text in enumerate(texts)]
    system = {"first": lambda text, k: [f"p{text.split()[0]}"]}
    return rb.tier1(system, asked, documents, repeats=1)


def load_documents(passages: int) -> None:
    """Look a data set over."""
    import ragbench as rb

    documents = {f"p{n}": text for n, text in enumerate(make_texts(passages, 110))}
    rb.dataset([{"text": "What?", "relevant": ["p0"]}], documents)


def save_page(questions: int) -> None:
    """Retrieve, and write the page: a result keeps its page, so that each time needs its own."""
    with tempfile.TemporaryDirectory() as folder:
        retrieve(questions).save(folder)


def ask_judge(url: str, calls: int) -> None:
    """Ask a judge so many questions, 64 at once, the journal on."""

    async def ask() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with make_client(url, Path(folder) / "replies.sqlite", concurrency=64) as client:
                await asyncio.gather(*(client.ask(question(n)) for n in range(calls)))

    asyncio.run(ask())


def measure(name: str, work: Callable[[int], object], smallest: int) -> None:
    """Print the seconds of three sizes, each the fastest of three, and the exponent."""
    work(smallest // 10)  # imports
    sizes = [smallest * factor for factor in FACTORS]
    seconds = [min(clock(work, size) for _ in range(3)) for size in sizes]
    exponent = fit_exponent(sizes, seconds)
    verdict = "within" if exponent <= LIMIT else "ABOVE"
    shown = ", ".join(f"{size:,}: {each:.2f}" for size, each in zip(sizes, seconds, strict=True))
    print(f"{name:12} {shown} s; exponent {exponent:.2f}, {verdict} {LIMIT}", flush=True)


def clock(work: Callable[[int], object], size: int) -> float:
    """CPU seconds of a piece of work."""
    start = time.process_time()
    work(size)
    return time.process_time() - start


def fit_exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the slope of log time over log size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def main() -> None:
    """Print a line a kind of work."""
    measure("score rows", score_rows, 1_000)
    measure("retrieval", retrieve, 1_000)
    measure("documents", load_documents, 2_000)
    measure("pages", save_page, 2_000)
    server = subprocess.Popen(
        [sys.executable, str(SERVER), "0.05"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        measure("judged calls", lambda calls: ask_judge(url, calls), 500)
    finally:
        server.kill()


if __name__ == "__main__":
    main()
