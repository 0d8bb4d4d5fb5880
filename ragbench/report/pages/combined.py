"""A page of what was measured outside of a notebook: its notebook's words and views, with nothing executed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragbench.core import folders
from ragbench.core.measurement import Measurement
from ragbench.core.settings import secrets
from ragbench.data import places
from ragbench.report.execution import parameters
from ragbench.report.keeping import files, results
from ragbench.report.pages import assembly
from ragbench.report.pages.drawing import render
from ragbench.views import VIEWS, Page, View
from ragbench.views.view import called

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
    nbformat = files.notebook_format()

    name = measurement.notebook
    kept = assembly.Measurements(folder)
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
    files.write(folder / f"{name}.ipynb", nbformat.writes(clean) + "\n")
    render(folder, measured=kept)
    return folder / f"{name}.html"


def _with_views(notebook: Any, page: Page, given: Mapping[str, Any]) -> Any:
    """The notebook with the outputs that its cells would have had."""
    values = parameters.defaults(notebook, page.measurement.notebook) | dict(given)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [_output(view(page, *some, **named)) for view, some, named in _asked(cell.source, values)]
    parameters.inject(notebook, given)
    return notebook


def _plain(page: Page, views: Sequence[str]) -> Any:
    """A notebook of views alone."""
    nbformat = files.notebook_format()

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
    nbformat = files.notebook_format()

    return nbformat.v4.new_output("display_data", data=view.kept())
