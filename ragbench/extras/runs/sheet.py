"""What was made of runs by no notebook, for whoever publishes it: a comparison, and the numbers of a loaded run."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pandas as pd

from ragbench.core.language import Translator
from ragbench.core.measurement import Measurement
from ragbench.extras.runs import bare_numbers, comparison_pages, numbers_page
from ragbench.report.keeping import kept
from ragbench.store.run_records import OWN


def filled(name: str | Path) -> Callable[[Path], object] | None:
    """What puts the measurements of a comparison, or of a loaded run, into a folder; None for what has a notebook."""
    compared = comparison_pages.folder_of(name)
    if compared is not None:
        return lambda work: shutil.copytree(compared / "parts", work / "parts")
    if kept.folder_of(name) is not None or (record := kept.find(name)).origin == OWN:
        return None
    return lambda work: numbers_page.measurement(record).save(work / "parts" / numbers_page.NAME)


def draw(work: Path, measurements: Mapping[str, Measurement], language: str) -> None:
    """The pages of what `filled` put there."""
    (comparison_pages.draw if comparison_pages.OVERALL in measurements else numbers_page.draw)(work, language)


def tables(measurements: Mapping[str, Measurement]) -> Iterator[tuple[str, pd.DataFrame]]:
    """What is published as CSV besides scores, with its name."""
    for table in ("summarized", numbers_page.NAME):
        yield from ((table, made.extra[table]) for made in measurements.values() if table in made.extra)


def summary(measurements: Mapping[str, Measurement], _: Translator) -> str:
    """All of it as Markdown."""
    return bare_numbers.sheet_summary(measurements, _)
