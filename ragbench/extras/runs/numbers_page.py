"""The page of a run of which only numbers are kept: what was loaded from elsewhere."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import ragbench.extras.runs.views  # noqa: F401 - its views are asked for by name
from ragbench.core.language import translator
from ragbench.core.measurement import Measurement
from ragbench.extras.runs import bare_numbers
from ragbench.extras.runs.changes import RunFacts, run_facts
from ragbench.extras.runs.comparison_pages import about
from ragbench.extras.runs.past_runs import COVERED
from ragbench.report.keeping import files
from ragbench.report.pages import sheets
from ragbench.store.run_records import RunRecord
from ragbench.views import Page

NAME, TOPICS = "numbers", "topic_coverage"
COLUMNS = ("notebook", "system", "metric", "value", "low", "high", "n", "n_unmeasured", "unit", "reason")


def measurement(record: RunRecord) -> Measurement:
    """A run's numbers, one a row, with the reason of each that must not be compared."""
    import pandas as pd

    rows = [[asdict(value)[name] for name in COLUMNS] for value in record.values]
    topics = [topic for part in record.parts for topic in run_facts(part.facts).get("topic_coverage") or ()]
    extra = {TOPICS: pd.DataFrame(topics, columns=list(COVERED), dtype=object)} if topics else {}
    known: RunFacts = {"run": record.id, "runs": [about(record, "")], "tables": {name: name for name in extra}}
    return Measurement(
        notebook=NAME,
        facts=known,
        extra={NAME: pd.DataFrame(rows, columns=list(COLUMNS)), **extra},
    )


def draw(folder: Path, language: str) -> None:
    """Draw the page, and a LaTeX table a notebook, from what lies in the folder; the same bytes every time."""
    _ = translator(language)
    made = Measurement.load(folder / "parts" / NAME)
    page = Page(made, language=language)
    html = sheets.html(
        _, run_facts(made.facts)["run"], [sheets.Block(sheets.views(page, "runs", NAME))], over=_("Numbers")
    )
    sheets.write(folder, "index", html)
    (folder / "tables").mkdir(exist_ok=True)
    for notebook, table in bare_numbers.tables_of_numbers(made.extra[NAME].to_dict("records"), _).items():
        files.write(folder / "tables" / f"{notebook}.tex", table.latex(notebook))
