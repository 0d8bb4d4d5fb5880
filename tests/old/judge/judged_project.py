"""A small project whose one notebook judges answers by models at an address of the test's choice."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat

from ragbench.old.core.measurement import QUESTION_COLUMNS, RETRIEVED_COLUMNS, Measurement
from ragbench.old.core.types import Chunk, Sample
from ragbench.old.metrics import catalogue
from ragbench.old.tiers.basics.findings import Sureness, find
from ragbench.old.tiers.basics.session import Session, kept
from ragbench.old.tiers.scoring.judged_metrics import Judging, judged
from tests.old.llm.chat_server import asked_schema

NAME = "tier2_judged"
METRICS = ("faithfulness", "response_relevancy")


def samples(questions: int) -> list[Sample]:
    """Answers of one system, each of two sentences."""
    return [
        Sample(
            f"q{n}", f"What of tower {n}?", f"Tower {n} is high. It was built in 18{n:02}.",
            language="en", system="good",
            contexts=(Chunk(f"c{n}", f"Tower {n} was built in 18{n:02} and is {n} metres high."),),
        )
        for n in range(questions)
    ]  # fmt: skip


def reply(body: dict[str, Any]) -> dict[str, Any] | None:
    """A judge that is never at a loss: two claims of every text, each of them supported; else what the shape admits."""
    asked = asked_schema(body) or {}
    user = body["messages"][-1]["content"]
    if "claims" in asked.get("properties", {}):
        return {"claims": ["The tower is high.", "It is old."]}
    if "verdicts" in asked.get("properties", {}):
        count = len(re.findall(r'name="statements" number="', user))
        one = {"reason": "the passage says so", "verdict": "supported", "passages": [1]}
        return {"verdicts": [{"statement": number, **one} for number in range(1, count + 1)]}
    return None


def measured(judges: str, aggregate: str, questions: int) -> Measurement:
    """What the notebook does."""

    def measure() -> Measurement:
        import pandas as pd

        session = Session.begin(NAME, "", "good", "")
        rows = samples(questions)
        metrics = [catalogue()[name] for name in METRICS]
        found = judged(session, rows, metrics, Judging(judges=judges, aggregate=aggregate))
        estimates, comparisons = find(found.scores, metrics, ["good"], None, Sureness(0.95, 200, 0))
        texts = [(row.id, row.user_input, None, None, "en", None, True, "{}") for row in rows]
        return Measurement(
            NAME,
            {**session.facts(), **found.facts, "systems": [{"name": "good"}], "n_questions": len(rows), "seed": 0},
            found.scores,
            pd.DataFrame(texts, columns=list(QUESTION_COLUMNS)),
            pd.DataFrame([], columns=list(RETRIEVED_COLUMNS)),
            {"judgements": found.judgements},
            estimates=estimates,
            comparisons=comparisons,
        )

    return kept(NAME, measure)


def make(project: Path, url: str, judges: str = "one,two", questions: int = 8, **settings: Any) -> Path:
    """Add judges `one` and `two` at `url` to the project's settings; the notebook's path is returned."""
    path = project / "ragbench.toml"
    more = {"concurrency": 8, "input_price": 1.0, "output_price": 2.0, **settings}
    lines = "".join(f"{key} = {value!r}\n" for key, value in more.items())
    tables = "".join(f'[judges.{name}]\nbase_url = "{url}"\nmodel = "m-{name}"\n{lines}' for name in ("one", "two"))
    path.write_text(path.read_text(encoding="utf-8") + tables, encoding="utf-8")
    cell = nbformat.v4.new_code_cell
    cells = [
        nbformat.v4.new_markdown_cell("# Is it judged?", id="title"),
        cell(
            f'judges = "{judges}"  # who judges\naggregate = "mean"  # of a panel\n'
            f"questions = {questions}  # how many\n"
            'language = "en"  # of the page\nseed = 0  # of draws',
            id="parameters",
            metadata={"tags": ["parameters"]},
        ),
        cell(
            "from ragbench.old import views\nfrom tests.old.judge import judged_project\n"
            "found = judged_project.measured(judges, aggregate, questions)\n"
            "page = views.Page(found, language=language)",
            id="measure",
        ),
        *(
            cell(f"views.{topic}.{view}(page)", id=view)
            for topic, view in (
                ("comparison", "answer"),
                ("answers", "judges"),
                ("about", "method"),
                ("about", "provenance"),
            )
        ),
    ]
    notebook = project / f"{NAME}.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), notebook)
    return notebook
