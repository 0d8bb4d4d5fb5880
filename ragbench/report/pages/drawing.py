"""From what a run has stored to its pages, again and again with the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragbench.bench.basics import needs
from ragbench.bench.runs.overview import NAME as OVERVIEW
from ragbench.report.keeping import files, kept, results
from ragbench.report.pages import assembly, index, metric_pages, parts
from ragbench.report.pages.editions import Edition, editions


def render(folder: Path, *, language: str | None = None, measured: assembly.Measurements | None = None) -> Path:
    """Draw a run's pages again from what it has stored, with no database and no model; the index is returned.

    language: also in this one from now on, in a folder of that name, and the index of these pages; the run's own stay.
    measured: what the run has kept, where it was read already.
    With the same version of ragbench the same bytes come out.
    Raises FileNotFoundError for a folder that holds no run, ValueError for one that ragbench did not write.
    """
    manifest = kept.manifest_of(folder)
    if language is not None and language not in {one.language for one in editions(manifest)}:
        manifest["also"] = [*manifest.get("also", ()), language]
        results.write_json(folder / results.MANIFEST, manifest)
    draw(folder, manifest, measured=measured)
    found = {one.language: one.folder for one in editions(manifest)}
    return folder / found.get(language or "", "") / "index.html"


def draw(
    folder: Path,
    manifest: Mapping[str, Any],
    language: str | None = None,
    measured: assembly.Measurements | None = None,
) -> dict[str, str]:
    """Draw all pages of a run, in each of its languages; of a page that cannot be drawn the reason, by its name.

    language: in this one alone, whatever the run's are. measured: what it has kept, where it was read already.
    """
    measured = measured or assembly.Measurements(folder)
    drawn = [Edition(language)] if language else editions(manifest)
    undrawn: dict[str, str] = {}
    for one in drawn:
        own = not (language or one.folder)
        spoken = {each["name"]: each["language"] if own else one.language for each in manifest["notebooks"]}
        undrawn |= _draw(folder, manifest, measured, one, drawn, spoken)
    for name, content in assembly.beside().items():
        files.write(folder / name, content)
    return undrawn


def _draw(
    folder: Path, manifest: Mapping[str, Any], measured: assembly.Measurements, edition: Edition,
    drawn: Sequence[Edition], spoken: Mapping[str, str],
) -> dict[str, str]:  # fmt: skip
    """The pages of one edition; the overview's is the first page itself. spoken: the language of each."""
    own = folder / edition.folder
    own.mkdir(exist_ok=True)
    entries, undrawn = [], {}
    notebooks = {one["name"]: notebook_at(folder / f"{one['name']}.ipynb") for one in manifest["notebooks"]}
    ways = {name: index.way(notebook, name, spoken[name]) for name, notebook in notebooks.items() if name != OVERVIEW}
    order, told = list(ways), index.drawn_names(measured, edition.language)
    for described in manifest["notebooks"]:
        name, failure = described["name"], described["failure"]
        tongue, frame = spoken[name], edition.frame(f"{name}.html", drawn)
        notebook = notebooks[name]
        if name in ways:
            place = order.index(name)
            frame["before"] = ways[order[place - 1]] if place else None
            frame["after"] = ways[order[place + 1]] if place + 1 < len(order) else None
        try:
            page = assembly.html(notebook, name, measured, tongue, failure, frame)
            for shown in assembly.tables(notebook, measured, tongue):
                parts.write(own, shown)
            entry = index.entry(notebook, name, measured, tongue, failure, told)
        except Exception as error:  # whatever a notebook put out, the other pages are drawn
            undrawn[name] = kept.told(error)
            failure = failure or undrawn[name]
            for cell in notebook.cells:
                if "outputs" in cell:
                    cell.outputs = []
            page = assembly.html(notebook, name, measured, tongue, failure, frame)
            entry = index.entry(notebook, name, assembly.Measurements(folder / "none"), tongue, failure)
        if name != OVERVIEW:
            files.write(own / f"{name}.html", page)
            for file, content in assembly.of_its_own(notebook).items():
                (own / file).parent.mkdir(exist_ok=True)
                files.write(own / file, content)
        entries.append(entry)
    titles = {entry["name"]: entry["question"] for entry in entries}
    metric_pages.write(own, measured, titles, edition, drawn)
    frame, left_out = edition.frame("index.html", drawn), needs.read(manifest.get("left_out", ()))
    called = (str(manifest.get("name") or ""), str(manifest.get("note") or ""))
    files.write(own / "index.html", index.html(entries, measured, edition.language, frame, left_out, called))
    return undrawn


def notebook_at(path: Path) -> Any:
    """The notebook of a file, as nbformat has it."""
    nbformat = files.notebook_format()

    return nbformat.read(path, as_version=4)
