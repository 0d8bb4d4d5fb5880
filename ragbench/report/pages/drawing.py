"""From what a run has stored to its pages, again and again with the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragbench.bench.basics import needs
from ragbench.report.keeping import files, kept
from ragbench.report.pages import assembly, index, metric_pages, parts


def render(folder: Path, *, language: str | None = None) -> Path:
    """Draw a run's pages again from what it has stored, with no database and no model; the index is returned.

    language: another one than the run's. With the same version of ragbench the same bytes come out.
    Raises FileNotFoundError for a folder that holds no run, ValueError for one that ragbench did not write.
    """
    draw(folder, kept.manifest_of(folder), language)
    return folder / "index.html"


def draw(folder: Path, manifest: Mapping[str, Any], language: str | None = None) -> dict[str, str]:
    """Draw all pages of a run; a page that cannot be drawn says why, and its line is returned by its name."""
    measured = assembly.Measurements(folder)
    entries, undrawn = [], {}
    for described in manifest["notebooks"]:
        name, tongue, failure = described["name"], language or described["language"], described["failure"]
        notebook = notebook_at(folder / f"{name}.ipynb")
        try:
            page = assembly.html(notebook, name, measured, tongue, failure)
            for shown in assembly.tables(notebook, measured, tongue):
                parts.write(folder, shown)
            entry = index.entry(notebook, name, measured, tongue, failure)
        except Exception as error:  # whatever a notebook put out, the other pages are drawn
            undrawn[name] = kept.told(error)
            failure = failure or undrawn[name]
            for cell in notebook.cells:
                if "outputs" in cell:
                    cell.outputs = []
            page = assembly.html(notebook, name, measured, tongue, failure)
            entry = index.entry(notebook, name, assembly.Measurements(folder / "none"), tongue, failure)
        files.write(folder / f"{name}.html", page)
        entries.append(entry)
    left_out = needs.read(manifest.get("left_out", ()))
    titles = {entry["name"]: entry["question"] for entry in entries}
    metric_pages.write(folder, measured, titles, language or manifest["language"])
    files.write(folder / "index.html", index.html(entries, measured, language or manifest["language"], left_out))
    for name, content in assembly.beside().items():
        files.write(folder / name, content)
    return undrawn


def notebook_at(path: Path) -> Any:
    """The notebook of a file, as nbformat has it."""
    nbformat = files.notebook_format()

    return nbformat.read(path, as_version=4)
