"""The page of a history of runs."""

from __future__ import annotations

from pathlib import Path

import ragbench.extras.runs.views  # noqa: F401 - its views are asked for by name
from ragbench.core.folders import new_folder
from ragbench.core.language import translator
from ragbench.core.measurement import Measurement
from ragbench.extras.runs.history import NAME
from ragbench.report.pages import sheets
from ragbench.views import Page


def write(made: Measurement, folder: Path, language: str) -> Path:
    """Write the page of a history into `folder`, which is replaced as a whole; its index is returned.

    Raises FileExistsError where the folder holds something else.
    """
    with new_folder(folder) as new:
        made.save(new / "parts" / NAME)
        draw(new, language)
    return folder / "index.html"


def draw(folder: Path, language: str) -> None:
    """Draw the page from what lies in its folder; the same bytes every time."""
    _ = translator(language)
    page = Page(Measurement.load(folder / "parts" / NAME), language=language)
    block = sheets.Block(sheets.views(page, "history"))
    html = sheets.html(_, _("How did the numbers go, run by run?"), [block], over=_("History"))
    sheets.write(folder, "index", html)
