"""Pages that no notebook executed: of what was measured elsewhere, or of what lies in their folder."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ragbench.old.core import folders
from ragbench.old.core.facts import Facts
from ragbench.old.core.language import Translator
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.settings import secrets
from ragbench.old.data import in_memory, places
from ragbench.old.report.execution import preparation
from ragbench.old.report.keeping import results
from ragbench.old.report.pages import notebook_pages
from ragbench.old.report.pages.drawing import render
from ragbench.old.tiers.answers.rag_metrics import measured_scores
from ragbench.old.tiers.basics.session import told
from ragbench.old.tiers.scoring.scored_answers import Scores
from ragbench.old.tiers.scoring.table_sources import of_samples
from ragbench.old.views import VIEWS, Page, View
from ragbench.old.views.view import called


@dataclass(frozen=True)
class Block:
    """Views under a heading (none: an empty text), which may lead to a page of its own, or be folded."""

    outputs: Sequence[Markup]
    heading: str = ""
    href: str = ""
    folded: bool = False


def folded(output: Markup) -> Block:
    """A view that has a heading of its own, folded below it."""
    title, rest = notebook_pages.headed(output)
    return Block([rest], title, folded=True)


def html(
    _: Translator, heading: str, blocks: Sequence[Block], *, over: str = "", up: str = "", up_title: str = "",
    wide: bool = False,
) -> str:  # fmt: skip
    """A page of blocks; `up` is the page that it belongs to. Blocks without anything in them are left out."""
    there = [block for block in blocks if any(output.striptags().strip() for output in block.outputs) or block.href]
    page = notebook_pages.chrome(_.language, f"{over} · {heading}" if over else heading) | {
        "heading": heading,
        "over": over,
        "up": up,
        "up_title": up_title,
        "sheet": there,
        "wide": wide,
        "tables": any('class="rb-table"' in output for block in there for output in block.outputs),
    }
    return str(notebook_pages.exporter().environment.get_template("sheet.html.j2").render(page=page))


def views(page: Page, *names: str, present: frozenset[str] | None = None) -> list[Markup]:
    """The views of those names, drawn; links between them lead to those that are `present`."""
    there = frozenset(names) if present is None else present
    return [page.view(name).html(there) for name in names]


def write(folder: Path, name: str, html: str) -> None:
    """A page with what every page needs beside it."""
    results.write(folder / f"{name}.html", html)
    for file, content in notebook_pages.beside().items():
        if not (folder / file).exists():
            results.write(folder / file, content)


USUAL = (
    *("answer", "intervals", "table", "side_by_side", "unmeasured", "correlations", "verdicts", "judges", "method"),
    "provenance",
)
"""What a page shows where no notebook is at hand."""


def assemble(
    folder: Path, measurement: Measurement, given: Mapping[str, Any], language: str, views: Sequence[str] = USUAL
) -> Path:
    """Write into `folder` what a run of the measurement's notebook would have written, and draw it; the page's path.

    given: the parameters that the page names. views: what is shown, in order, where there is no such notebook.
    The folder can be drawn again with `ragbench render`.
    """
    nbformat = results.notebook_format()

    name = measurement.notebook
    kept = notebook_pages.Measurements(folder)
    kept.replace(name, measurement)
    del measurement  # what was kept is read again, and one of them is enough
    page = Page(kept[name], language=language)
    source = places.notebook(f"{name}.ipynb")
    if source:
        notebook = _with_views(nbformat.reads(folders.text(source), as_version=4), page, given)
    else:
        notebook = _plain(page, views)
    described = {"name": name, "status": "complete", "failure": "", "language": language, "parameters": dict(given)}
    mask = secrets.masker()
    manifest = secrets.masked(
        results.manifest(kept, dict(given), [described], format=results.FORMAT, status="complete", language=language),
        mask,
    )
    results.write_json(folder / results.MANIFEST, manifest)
    clean = nbformat.from_dict(secrets.masked(notebook, mask))
    results.write(folder / f"{name}.ipynb", nbformat.writes(clean) + "\n")
    render(folder, measured=kept)
    return folder / f"{name}.html"


def _with_views(notebook: Any, page: Page, given: Mapping[str, Any]) -> Any:
    """The notebook with the outputs that its cells would have had."""
    values = preparation.defaults(notebook, page.measurement.notebook) | dict(given)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [_output(view(page, *some, **named)) for view, some, named in _asked(cell.source, values)]
    preparation.inject(notebook, given)
    return notebook


def _plain(page: Page, views: Sequence[str]) -> Any:
    """A notebook of views alone."""
    nbformat = results.notebook_format()

    cells = [
        nbformat.v4.new_code_cell(called(name), id=name.replace("_", "-"), outputs=[_output(page.view(name))])
        for name in views
    ]
    return nbformat.v4.new_notebook(cells=cells)


def _asked(source: str, values: Mapping[str, Any]) -> Iterator[tuple[Callable[..., View], list[Any], dict[str, Any]]]:
    """The views that a cell shows, `views.answers.verdicts(page, 10)`, with arguments: literals and parameters."""

    def value(node: ast.expr) -> Any:
        return values[node.id] if isinstance(node, ast.Name) else ast.literal_eval(node)

    by_call = {called(name).partition("(")[0]: view for name, view in VIEWS.items()}
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
        if shown := by_call.get(ast.unparse(call.func)):
            named = {str(word.arg): value(word.value) for word in call.keywords}
            yield shown, [value(argument) for argument in call.args[1:]], named


def _output(view: View) -> Any:
    nbformat = results.notebook_format()

    return nbformat.v4.new_output("display_data", data=view.kept())


def save(page: Page, folder: Path | str) -> Path:
    """Write the page into a folder, made if need be, as `ragbench run` would have; the path of its HTML.

    Nothing is measured anew. The folder can be drawn again with `ragbench render`.
    """
    given = {parameter["name"]: parameter["value"] for parameter in page.measurement.facts.get("request", ())}
    place = Path(folder).expanduser()
    place.mkdir(parents=True, exist_ok=True)
    known = {name: value for name, value in given.items() if json.dumps(value) != "null"}
    return assemble(place, page.measurement, known, page.language)


def page_of(scores: Scores, language: str = "") -> Page:
    """The page of scores, as `ragbench run rag_metrics` makes it of the same answers."""
    spoken = language or scores.language
    answers = of_samples(scores.samples, in_memory.NAME)
    part: Facts = {"part_of_all": dict(scores.part_of_all)} if scores.part_of_all else {}
    made = measured_scores(scores, replace(answers, facts={**answers.facts, **part}), spoken)
    return Page(told(made), language=spoken)
