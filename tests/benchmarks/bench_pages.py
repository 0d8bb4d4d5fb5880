"""CPU seconds, memory and size of pages: all of the sample, a large data set, many questions.

`python -m tests.benchmarks.bench_pages [PASSAGES] [QUESTIONS]`
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.bench_commands import PROJECT, WORDS, measure, ragbench

FIND_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
WARM_RUNS = 3
SYSTEMS = 3
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


def time_browser(page: Path) -> float:
    """Return the seconds until a browser has drawn a page; NaN without a browser."""
    browser = next(filter(shutil.which, FIND_CHROMIUM), None)
    if browser is None:
        return float("nan")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page.as_uri()]
    began = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return time.perf_counter() - began


def main(passages: int = 100_000, questions: int = 10_000) -> None:
    """Print a line a page."""
    folder = Path(tempfile.mkdtemp(prefix="ragbench-bench-"))
    try:
        run = ragbench("run", "--out", str(folder / "run"))
        measure("run of the sample, first", run, PROJECT, repeats=1)
        measure("run of the sample, warm", run, PROJECT, repeats=WARM_RUNS)
        save = "from tests.benchmarks import bench_pages as b; b.{}({})"
        for function, count in (("save_dataset", passages), ("save_questions", questions)):
            code = (
                f"import sys; sys.path.insert(0, {str(PROJECT)!r}); {save.format(function, count)}"
            )
            measure(f"{function} {count:,}", [sys.executable, "-c", code], folder, repeats=1)
        empty = folder / "empty.html"
        empty.write_text("<p>")
        for page in (empty, folder / TABLE_PAGE, *folder.glob("questions/*.html")):
            files = page.parent.rglob("*") if page.parent.name == "questions" else [page]
            sizes = [file.stat().st_size for file in files if file.suffix in (".html", ".js")]
            print(f"{page.name:24} {time_browser(page):6.1f} s to draw, {sum(sizes) / 1e6:.1f} MB")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
