"""What pages of 20,000 questions × 3 systems cost: bytes together, seconds to draw, seconds until the table is usable;
beside them a plain HTML table of the same rows in the same browser.

python -m benchmarks.bench_pages [QUESTIONS] [FOLDER]: draws a run of two pages (a tier of rankings with ten hits
a question, a tier of judged answers with claims and verdicts) from made measurements, and opens one in Chromium.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import nbformat
import numpy as np
import pandas as pd

from ragbench.old import report
from ragbench.old.core.measurement import RETRIEVED_COLUMNS, SCORE_COLUMNS, Measurement, NamedComparison, NamedEstimate
from ragbench.old.report.keeping import results
from ragbench.old.views import Page
from tests.old.views.measurements import comparison, estimate

SYSTEMS = ("baseline", "bm25-reranked", "dense-large")
RANKED = ("hit_rate@1", "hit_rate@10", "mrr", "recall@10", "precision@10", "ndcg@10", "retrieval_consistency")
JUDGED = ("faithfulness", "answer_accuracy")
VIEWS = ("answer", "intervals", "table", "worst", "questions", "method", "provenance")
CHUNKS = 5000
WORDS = re.findall(
    r"\w+",
    """student card library office dean exam transcript grant dormitory pass door request form week month signature
    paper stamp term course lecture room access account password network printer desk service hour day certificate fee
    deadline letter contract practice supervisor thesis defence committee grade credit schedule holiday medical""",
)


def texts(rng: np.random.Generator, count: int, words: int) -> list[str]:
    """Sentences of words and numbers, so that they compress about as real ones do."""
    drawn = rng.integers(0, len(WORDS), (count, words))
    numbers = rng.integers(0, 10_000, count)
    return [" ".join(WORDS[k] for k in row).capitalize() + f" {n}." for row, n in zip(drawn, numbers, strict=True)]


def made(questions: int, metrics: tuple[str, ...], notebook: str, judged: bool) -> Measurement:
    """A measurement of that many questions by three systems."""
    rng = np.random.default_rng(1)
    names = [f"q{i:05d}" for i in range(questions)]
    asked, passages = texts(rng, questions, 11), texts(rng, CHUNKS, 80)
    values = {(s, m): rng.integers(0, 11, questions) / 10 for s in SYSTEMS for m in metrics}
    scores = pd.concat(
        pd.DataFrame(
            {"system": s, "metric": m, "sample": names, "value": v, "status": "ok", "reason": "", "judge": None}
        )
        for (s, m), v in values.items()
    )[list(SCORE_COLUMNS)]
    relevant = rng.integers(0, CHUNKS, questions)
    kinds = ("well_formed", "colloquial", "misspelt")
    table = pd.DataFrame(
        {
            "sample": names, "text": asked, "reference": texts(rng, questions, 14),
            "kind": [kinds[i % 3] for i in range(questions)], "language": "en", "cluster": None, "answerable": True,
            "relevant": [json.dumps({f"c{k}": 1.0}) for k in relevant],
        }
    )  # fmt: skip
    depth = 3 if judged else 10
    chunks = rng.integers(0, CHUNKS, (len(SYSTEMS), questions, depth)).ravel()
    retrieved = pd.DataFrame(
        {
            "system": np.repeat(SYSTEMS, questions * depth), "sample": np.tile(np.repeat(names, depth), len(SYSTEMS)),
            "rank": np.tile(np.arange(1, depth + 1), questions * len(SYSTEMS)), "chunk": [f"c{k}" for k in chunks],
            "url": None, "similarity": rng.random(len(chunks)).round(4), "gain": 0.0,
            "text": [passages[k] for k in chunks],
        }
    )[list(RETRIEVED_COLUMNS)]  # fmt: skip
    estimates = tuple(NamedEstimate(s, m, estimate(v)) for (s, m), v in values.items())
    compared = tuple(
        NamedComparison(m, comparison(SYSTEMS[0], s, values[SYSTEMS[0], m], values[s, m], len(metrics)))
        for s in SYSTEMS[1:]
        for m in metrics
    )
    facts = {"dataset": "made", "n_questions": questions, "unit": "chunk", "seed": 1, "baseline": SYSTEMS[0],
             "systems": [{"name": s} for s in SYSTEMS], "primary": metrics[0]}  # fmt: skip
    extra = _judged(rng, names, values) if judged else {}
    return Measurement(notebook, facts, scores, table, retrieved, extra, estimates, compared)


def _judged(rng: np.random.Generator, names: list[str], values: dict[tuple[str, str], Any]) -> dict[str, pd.DataFrame]:
    said, claims = texts(rng, 20_000, 25), texts(rng, 20_000, 9)
    answers = [
        (s, n, said[k]) for s in SYSTEMS for n, k in zip(names, rng.integers(0, 20_000, len(names)), strict=True)
    ]
    words = ("supported", "supported", "neutral", "contradicted")
    rows = []
    for system in SYSTEMS:
        for name, value, picks in zip(
            names, values[system, "faithfulness"], rng.integers(0, 20_000, (len(names), 3)), strict=True
        ):
            statements = [
                {
                    "statement": claims[k],
                    "verdict": words[k % 4],
                    "reason": claims[(k * 7) % 20_000],
                    "chunks": [f"c{k % 5000}"],
                }
                for k in picks
            ]
            rows.append(
                (system, "faithfulness", name, "judge", value, "ok", "", 1.0, json.dumps({"statements": statements}))
            )
    columns = ["system", "metric", "sample", "judge", "value", "status", "reason", "seconds", "detail"]
    return {
        "answers": pd.DataFrame(answers, columns=["system", "sample", "response"]),
        "judgements": pd.DataFrame(rows, columns=columns),
    }


def keep(folder: Path, found: Measurement) -> dict[str, Any]:
    """What a run would have kept of a page: its measurement, and a notebook that asks for its views."""
    name = found.notebook
    found.save(folder / "parts" / name)
    page = Page(found)
    cells = [nbformat.v4.new_markdown_cell(f"# {name} · Does it?", id="title")]
    for view in VIEWS:
        shown = page.view(view)
        asked = {"view": view, "options": dict(shown.options), "language": "en", "measurement": name}
        data = {"application/vnd.ragbench.view+json": asked}
        cells.append(nbformat.v4.new_code_cell("", id=view, outputs=[nbformat.v4.new_output("display_data", data)]))
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / f"{name}.ipynb")
    return {"name": name, "failure": "", "language": "en"}


OPENINGS = 5
DRAWN = "[...document.querySelectorAll('.rb-plot')].every((e) => e.querySelector('.rb-chart'))"


def opened(page: Path) -> dict[str, float]:
    """Seconds in a new Chromium until the table shows rows, a search has narrowed it, a question is open, charts are
    drawn (all from the opening on but for the search and the question), and until charts are drawn on the page alone.
    """
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("RAGBENCH_CHROMIUM") or shutil.which("chromium")
    clock = {}
    with sync_playwright() as playwright:
        for address in (f"{page.as_uri()}#questions?metric=mrr&system=dense-large&sort=lost", page.as_uri()):
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            tab = browser.new_page(viewport={"width": 1280, "height": 900})
            start = time.perf_counter()
            tab.goto(address, wait_until="commit")
            if "#" in address:
                clock |= _used(tab, start)
            else:
                _until(tab, DRAWN)
                clock["charts without the table"] = time.perf_counter() - start
            browser.close()
    return clock


def _used(tab: Any, start: float) -> dict[str, float]:
    """The table as a reader uses it: rows, a search typed at once, a question opened, charts."""
    clock = {}
    tab.wait_for_selector(".rb-line")
    clock["usable"] = time.perf_counter() - start
    begun = time.perf_counter()
    tab.fill(".rb-controls input", "thesis q00")
    _until(tab, "(([a, , b]) => a !== b)(document.querySelector('[role=status]').textContent.split(' '))")
    clock["searched"] = time.perf_counter() - begun
    first = "document.querySelector('.rb-line .rb-clamp').textContent"
    tab.fill(".rb-controls input", "")
    tab.select_option("select[name=sort]", "order")
    before = tab.evaluate(first)
    begun = time.perf_counter()
    tab.select_option("select[name=sort]", "best")
    _until(tab, f"{first} !== {json.dumps(before)}")
    clock["sorted"] = time.perf_counter() - begun
    begun = time.perf_counter()
    tab.focus(".rb-grid-of-questions")
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".rb-detail h3")
    clock["question"] = time.perf_counter() - begun
    _until(tab, DRAWN)
    clock["charts"] = time.perf_counter() - start
    return clock


def _until(tab: Any, expression: str) -> None:
    """Wait for a true value, as the page's policy allows: nothing is evaluated from a text inside the page."""
    while not tab.evaluate(f"document.readyState !== 'loading' && {expression}"):
        tab.wait_for_timeout(10)


def main(questions: int = 20_000, folder: str = "") -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as temporary:
        run = Path(folder or temporary)
        run.mkdir(parents=True, exist_ok=True)
        pages = [made(questions, RANKED, "tier1_retrieval", False), made(questions, JUDGED, "tier3_end_to_end", True)]
        described = [keep(run, found) for found in pages]
        results.write_json(run / results.MANIFEST, {"notebooks": described, "language": "en"})
        del pages
        wall, cpu = time.perf_counter(), time.process_time()
        report.render(run)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        files = [path for path in run.rglob("*") if path.suffix in (".html", ".js", ".css")]
        print(f"{questions} questions × {len(SYSTEMS)} systems, two pages")
        print(f"drawn in {wall:.1f} s, {cpu:.1f} s of CPU time")
        print(f"{sum(path.stat().st_size for path in files) / 1e6:.1f} MB in {len(files)} files")
        for path in sorted(files, key=lambda path: -path.stat().st_size)[:5]:
            print(f"  {path.stat().st_size / 1e6:.2f} MB {path.relative_to(run)}")
        _tell([opened(run / "tier1_retrieval.html") for _ in range(OPENINGS)])
        plain = baseline(run)
        print(f"baseline, the same rows as a plain table: {plain.stat().st_size / 1e6:.2f} MB")
        _tell([shown(plain) for _ in range(OPENINGS)])


def _tell(openings: list[dict[str, float]]) -> None:
    for name in openings[0]:
        taken = sorted(one[name] for one in openings)
        print(f"{name} after {median(taken):.2f} s ({taken[0]:.2f} to {taken[-1]:.2f} in {OPENINGS} browsers)")


def baseline(run: Path) -> Path:
    """A page with nothing but the same questions and one value a system as a plain HTML table."""
    made = Measurement.load(run / "parts" / "tier1_retrieval")
    scores = made.scores
    wide = scores[scores["metric"] == "mrr"].pivot(index="sample", columns="system", values="value")
    texts = made.questions.set_index("sample")["text"]
    page = run / "plain.html"
    page.write_text(f"<!DOCTYPE html><meta charset=utf-8>{wide.assign(text=texts).to_html()}", encoding="utf-8")
    return page


def shown(page: Path) -> dict[str, float]:
    """Seconds until a new Chromium has laid out a page, and has brought its last row into view."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("RAGBENCH_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        start = time.perf_counter()
        tab.goto(page.as_uri())
        tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        laid_out = time.perf_counter() - start
        tab.locator("tr").last.scroll_into_view_if_needed()
        clock = {"laid out": laid_out, "last row seen": time.perf_counter() - start}
        browser.close()
    return clock


if __name__ == "__main__":
    main(*(kind(text) for kind, text in zip((int, str), sys.argv[1:], strict=False)))
