"""The project that the texts of the documentation speak of: every file, run, judge and function that they name."""

from __future__ import annotations

import csv
import json
import shutil
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ragbench.report.keeping import kept
from tests.llm.chat_server import ChatServer
from tests.report import kept_runs
from tests.small_project import NOTEBOOKS, write_lines
from tests.views.measurements import measurement

RUNS = ("20261101T0700", "20261108T0700")
SETTINGS = """
dataset = "campus"
baseline = "bm25"
notebooks_folder = "{notebooks}"

[embedders.sentences]
kind = "hashing"
dimensions = 64

[retrievers.dense]
kind = "dense"
embedder = "sentences"

[retrievers.hybrid]
kind = "hybrid"
retrievers = ["bm25", "dense"]

[systems.bm25]
retriever = "bm25"

[systems.hybrid]
retriever = "hybrid"

[gate.good-enough]
metric = "mrr"
at_least = 0.1
{judges}
"""
JUDGE = '\n[judges.{name}]\nbase_url = "{url}"\nmodel = "tester-{name}"\nkey_variable = "MY_JUDGE_KEY"\n'
ANSWERS = [
    ("q1", "When does the library open?", "The library opens at 8:00.", "At 8:00.", ["The library opens at 8:00."]),
    ("q2", "Who issues student cards?", "The registry issues student cards.", "The registry.",
     ["Student cards are issued by the registry."]),
    ("q3", "Is there a pool?", "Yes, on the roof.", "No.", ["The gym is in building C."]),
    ("q4", "When is the session?", "In January.", "From 9 to 27 January.", ["The winter session runs in January."]),
]  # fmt: skip


def make(folder: Path, judges: ChatServer | None = None) -> Path:
    """Write the project into `folder`, with judges behind this server; its configuration file is returned."""
    shutil.copytree(NOTEBOOKS.parent / "data" / "campus", folder / "data" / "campus")
    url = judges.url if judges else "http://127.0.0.1:9/v1"
    tables = "".join(JUDGE.format(name=name, url=url) for name in ("my-judge", "first", "second"))
    path = folder / "ragbench.toml"
    path.write_text(SETTINGS.format(notebooks=NOTEBOOKS, judges=tables), encoding="utf-8")
    _answers(folder)
    _tables(folder)
    _rankings(folder)
    traces = Path(__file__).parents[1] / "data" / "trace_files"
    shutil.copy(traces / "opentelemetry-openinference.jsonl", folder / "spans.jsonl")
    return path


def record_runs(folder: Path) -> None:
    """Two finished runs of the same questions, as the database keeps them."""
    for number, name in enumerate(RUNS):
        made = measurement(("bm25", "v2"), questions=30, seed=number, facts={"primary": "mrr"})
        started = kept_runs.STARTED + 3600 * number
        where = kept_runs.make(folder / "reports", name, made, started=started, parameters={"depth": number})
        (where / "replies.txt").touch()
        told = kept_runs.read_json(where / "manifest.json") | ({} if number else {"name": "bigger chunks"})
        (where / "manifest.json").write_text(json.dumps(told), encoding="utf-8")
        kept.record(where)
    (folder / "reports" / "latest").mkdir()
    (folder / "reports" / "latest" / "index.html").write_text(f'<a href="../{RUNS[-1]}/index.html">', encoding="utf-8")


def _answers(folder: Path) -> None:
    names = ("id", "question", "answer", "ground_truth", "contexts")
    rows = [dict(zip(names, row, strict=True)) for row in ANSWERS]
    write_lines(folder / "answers.jsonl", rows)
    items = [
        {
            "question": row[1],
            "ground_truth_answer": row[3],
            "chunk_id": n,
            "chunk_text": row[4][0],
            "confluence_url": f"/{n}",
        }
        for n, row in enumerate(ANSWERS)
    ]
    (folder / "dataset.json").write_text(json.dumps(items), encoding="utf-8")
    (folder / "handbook").mkdir()
    text = "# Library\n\nThe library opens at 8:00.\n\n# Cards\n\nStudent cards are issued by the registry.\n"
    (folder / "handbook" / "library.md").write_text(text, encoding="utf-8")
    old = "id;question;answer;contexts\n1;Когда открыта библиотека?;С восьми.;Она открыта с восьми.\n"
    (folder / "old.csv").write_bytes(old.encode("koi8-r"))
    (folder / "labels").mkdir()
    for number, person in enumerate(("anna", "boris")):
        labels = [
            (row[0], "answers", "faithfulness", person, float(place != 2 - number)) for place, row in enumerate(ANSWERS)
        ]
        _csv(folder / "labels" / f"{person}.csv", ("id", "system", "metric", "annotator", "value"), labels)
    judged = [
        {
            "id": f"a{n}",
            "people": {"ann": 1 + n % 4, "bob": 1 + (n + n % 3) % 4},
            "judges": {"m": [n % 4 / 3, n % 4 / 3]},
        }
        for n in range(24)
    ]
    write_lines(folder / "logged.jsonl", judged)
    decided = [{"id": f"dec{n:03}", "show": n % 3 > 0} for n in range(1, 121)]
    write_lines(folder / "decisions.jsonl", decided)
    (folder / "own_judge.py").write_text("def decide(question, answer, contexts):\n    return True\n", encoding="utf-8")


def _tables(folder: Path) -> None:
    for name, shift in (("baseline", 0.0), ("challenger", 0.1)):
        rows = [(f"q{n}", round(n % 7 / 10 + shift * (n % 3), 3)) for n in range(30)]
        _csv(folder / f"{name}.csv", ("question", "score"), rows)
    ratings = [(f"i{n}", rater, 1 + (n + (rater == "b" and n % 4 == 0)) % 5) for n in range(20) for rater in "ab"]
    _csv(folder / "ratings.csv", ("item", "rater", "score"), ratings)


def _rankings(folder: Path) -> None:
    qrels = [f"q{n} 0 d{n} 1" for n in range(12)]
    (folder / "qrels.txt").write_text("\n".join(qrels) + "\n", encoding="utf-8")
    for name, step in (("bm25", 3), ("dense", 2)):
        lines = [
            f"q{n} Q0 d{(n + (place + n % step) % 4) % 12} {place + 1} {9 - place} {name}"
            for n in range(12)
            for place in range(4)
        ]
        (folder / f"{name}.run").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _csv(path: Path, head: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])


def package(folder: Path, text: str) -> None:
    """The Python of a page as the module that its settings name."""
    (folder / "my_package").mkdir(exist_ok=True)
    (folder / "my_package" / "search.py").write_text(textwrap.dedent(text), encoding="utf-8")


def rows(text: str) -> list[dict[str, Any]]:
    """JSON objects, one a line."""
    return [json.loads(line) for line in text.splitlines()]
