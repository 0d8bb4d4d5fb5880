"""What was made of runs by no notebook, drawn and published: a loaded run's numbers, and comparisons."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

import pandas as pd

import ragbench.old.extras.runs.views  # noqa: F401 - its views are asked for by name
from ragbench.old.core.language import Translator, translator
from ragbench.old.core.measurement import Measurement, columns
from ragbench.old.extras.runs import bare_numbers, comparison_pages
from ragbench.old.extras.runs.comparison_pages import about
from ragbench.old.extras.runs.run_tables import NumberRow, RunFacts, TopicRow, run_facts
from ragbench.old.report.keeping import kept, results
from ragbench.old.report.pages import sheets
from ragbench.old.store.run_records import OWN, RunRecord
from ragbench.old.views import Page
from ragbench.old.views.basics.marks import rows_of

NAME, TOPICS = "numbers", "topic_coverage"


def measurement(record: RunRecord) -> Measurement:
    """A run's numbers, one a row, with the reason of each that must not be compared."""
    import pandas as pd

    rows = [[asdict(value)[name] for name in columns(NumberRow)] for value in record.values]
    topics = [topic for part in record.parts for topic in run_facts(part.facts).get("topic_coverage") or ()]
    extra = {TOPICS: pd.DataFrame(topics, columns=columns(TopicRow), dtype=object)} if topics else {}
    known: RunFacts = {"run": record.id, "runs": [about(record, "")], "tables": {name: name for name in extra}}
    return Measurement(
        notebook=NAME,
        facts=known,
        extra={NAME: pd.DataFrame(rows, columns=columns(NumberRow)), **extra},
    )


def draw_numbers(folder: Path, language: str) -> None:
    """Draw the page, and a LaTeX table a notebook, from what lies in the folder; the same bytes every time."""
    _ = translator(language)
    made = Measurement.load(folder / "parts" / NAME)
    page = Page(made, language=language)
    html = sheets.html(
        _, run_facts(made.facts)["run"], [sheets.Block(sheets.views(page, "runs", NAME))], over=_("Numbers")
    )
    sheets.write(folder, "index", html)
    (folder / "tables").mkdir(exist_ok=True)
    for notebook, table in bare_numbers.tables_of_numbers(rows_of(NumberRow, made.extra[NAME]), _).items():
        results.write(folder / "tables" / f"{notebook}.tex", table.latex(notebook))


def filled(name: str | Path) -> Callable[[Path], object] | None:
    """What puts the measurements of a comparison, or of a loaded run, into a folder; None for what has a notebook."""
    compared = comparison_pages.folder_of(name)
    if compared is not None:
        return lambda work: shutil.copytree(compared / "parts", work / "parts")
    if kept.folder_of(name) is not None or (record := kept.find(name)).origin == OWN:
        return None
    return lambda work: measurement(record).save(work / "parts" / NAME)


def draw(work: Path, measurements: Mapping[str, Measurement], language: str) -> None:
    """The pages of what `filled` put there."""
    (comparison_pages.draw if comparison_pages.OVERALL in measurements else draw_numbers)(work, language)


def tables(measurements: Mapping[str, Measurement]) -> Iterator[tuple[str, pd.DataFrame]]:
    """What is published as CSV besides scores, with its name."""
    for table in ("summarized", NAME):
        yield from ((table, made.extra[table]) for made in measurements.values() if table in made.extra)


def summary(measurements: Mapping[str, Measurement], _: Translator) -> str:
    """All of it as Markdown."""
    return bare_numbers.sheet_summary(measurements, _)
