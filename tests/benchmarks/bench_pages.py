"""What pages take: all of the sample, a large data set, and many questions in a browser.

`python -m tests.benchmarks.bench_pages [PASSAGES] [QUESTIONS]`
"""

from __future__ import annotations

import random
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.bench_commands import PROJECT, WORDS, measure, ragbench

WARM_RUNS = 3
OPENED = 5  # times that a page is opened; the median counts
TABLE_PAGE = "table.html"


def make_texts(count: int, words: int) -> list[str]:
    """Return so many different texts of drawn words."""
    generator = random.Random(0)
    texts = (" ".join(generator.choices(WORDS, k=words)) for _ in range(count))
    return [f"{number} {text}" for number, text in enumerate(texts)]


def save_dataset(passages: int) -> None:
    """Write the page of a data set of so many passages of 110 words."""
    import ragbench as rb

    documents = {f"p{n}": text for n, text in enumerate(make_texts(passages, 110))}
    rb.dataset([{"text": "What?", "relevant": ["p0"]}], documents).save("dataset")


def save_questions(questions: int) -> None:
    """Write the page of three systems, and the same scores as a plain table."""
    import ragbench as rb

    texts = make_texts(questions, 8)
    documents = {f"p{n}": text for n, text in enumerate(make_texts(questions, 40))}
    generator = random.Random(0)

    def retrieve(question: str, k: int) -> list[str]:
        number = int(question.split()[0])
        return [f"p{(number + generator.randrange(4)) % questions}" for _ in range(k)]

    asked = [{"text": text, "relevant": [f"p{n}"]} for n, text in enumerate(texts)]
    systems = dict.fromkeys("abc", retrieve)
    result = rb.tier1(systems, asked, documents, repeats=1)
    result.save("questions")
    of_primary = result.scores.query("metric == 'mrr@10'")
    table = of_primary.pivot(index="question_id", columns="system", values="value")
    table.insert(0, "text", texts)
    Path(TABLE_PAGE).write_text(table.to_html(), encoding="utf-8")


def open_page(browser: Any, file: Path, first: str) -> float:
    """Return the seconds from the address to the first question, clicked on: figures may follow."""
    page = browser.new_page()
    began = time.perf_counter()
    page.goto(file.as_uri(), wait_until="domcontentloaded")
    page.click(first)
    took = time.perf_counter() - began
    page.close()
    return took


def measure_browser(folder: Path) -> None:
    """Print how long pages take to become usable in headless Chromium, already started."""
    from playwright.sync_api import sync_playwright

    options = ["--no-sandbox", "--disable-gpu"]
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        for name, first in (
            ("questions/tier1_retrieval.html", ".questions > [id] > :first-child"),
            (TABLE_PAGE, "td"),
        ):
            file = folder / name
            seconds = [open_page(browser, file, first) for _ in range(OPENED)]
            size = file.stat().st_size / 1e6
            print(f"{file.name:40} {statistics.median(seconds):7.2f} s to open {size:7.1f} MB")
        browser.close()
    script = folder / "questions" / "plotly.min.js"
    print(f"{script.name}, one for all pages {script.stat().st_size / 1e6:.1f} MB")


def main(passages: int = 100_000, questions: int = 10_000) -> None:
    """Print a line a page."""
    folder = Path(tempfile.mkdtemp(prefix="ragbench-bench-"))
    try:
        for function, count in (("save_dataset", passages), ("save_questions", questions)):
            # Imports come from the project, files go to the folder.
            code = (
                f"import sys; sys.path.insert(0, {str(PROJECT)!r}); "
                f"from tests.benchmarks import bench_pages; bench_pages.{function}({count})"
            )
            measure(f"{function} {count:,}", [sys.executable, "-c", code], folder, repeats=1)
        measure_browser(folder)
        run = ragbench("run", "--out", str(folder / "run"))
        measure("run of the sample, first", run, PROJECT, repeats=1)
        measure("run of the sample, warm", run, PROJECT, repeats=WARM_RUNS)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
