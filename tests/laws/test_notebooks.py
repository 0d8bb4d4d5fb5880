"""The laws of the notebooks: short, without logic, without outputs, with parameters that explain themselves."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from ragbench.data import places
from ragbench.data.places import NO_PAGES
from ragbench.report.execution.preparation import MORE, TAG
from tests.docs import parameters as generated

FOLDER = Path(__file__).parents[2] / "notebooks"
ALL = sorted(FOLDER.glob("*.ipynb"))
NOTEBOOKS = [path for path in ALL if path.name not in NO_PAGES]
QUICKSTART = FOLDER / "quickstart.ipynb"
FORBIDDEN = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.For, ast.While, ast.If, ast.Lambda, ast.IfExp)


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request: pytest.FixtureRequest) -> nbformat.NotebookNode:
    found = nbformat.read(request.param, as_version=4)
    nbformat.validate(found)
    return found


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def parameters(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """Its cells of parameters, the folded one first."""
    return [cell for cell in notebook.cells if {TAG, MORE} & set(cell.metadata.get("tags", []))]


def test_there_are_notebooks() -> None:
    assert "tier1_retrieval" in {path.stem for path in NOTEBOOKS}


def test_it_is_short(notebook: nbformat.NotebookNode) -> None:
    assert len(notebook.cells) - len(parameters(notebook)[:-1]) <= 16, "the folded one is not seen"
    for cell in code_cells(notebook):
        if cell not in parameters(notebook):
            assert len([line for line in cell.source.splitlines() if line.strip()]) <= 8, cell.source


def test_its_first_screen_has_six_parameters_at_most_and_the_rest_is_folded(notebook: nbformat.NotebookNode) -> None:
    *folded, first = parameters(notebook)
    assert TAG in first.metadata.tags
    assert len(first.source.splitlines()) <= 6
    assert "language" in first.source
    for cell in folded:
        assert cell.metadata.jupyter.source_hidden
        assert MORE in cell.metadata.tags
    places = [notebook.cells.index(cell) for cell in (*folded, first)]
    assert places == list(range(places[0], places[0] + len(places))), "what is injected comes behind both"


def test_it_holds_no_logic(notebook: nbformat.NotebookNode) -> None:
    for cell in code_cells(notebook):
        found = [type(node).__name__ for node in ast.walk(ast.parse(cell.source)) if isinstance(node, FORBIDDEN)]
        assert not found, cell.source


def test_it_holds_no_outputs(notebook: nbformat.NotebookNode) -> None:
    for cell in code_cells(notebook):
        assert cell.outputs == []
        assert cell.execution_count is None


def test_its_cells_have_readable_ids(notebook: nbformat.NotebookNode) -> None:
    for cell in notebook.cells:
        assert re.fullmatch(r"[a-z][a-z0-9-]*", cell.id), cell.id
        assert not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f-]+)?", cell.id), f"{cell.id} was drawn at random"


@pytest.mark.fault("parameters-code", tried="parameters of our own notebooks", count=12)
def test_every_parameter_is_a_literal_with_a_comment(notebook: nbformat.NotebookNode) -> None:
    for line in [line for cell in parameters(notebook) for line in cell.source.splitlines() if line[0] != "#"]:
        assert re.fullmatch(r"\w+ = .+  # \S.*", line), line
        [statement] = ast.parse(line).body
        assert isinstance(statement, ast.Assign)
        ast.literal_eval(statement.value)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_its_parameters_are_those_of_its_request_and_each_is_used(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    made = {next(iter({TAG, MORE} & set(cell.metadata.tags))): cell.source for cell in parameters(notebook)}
    assert made == generated.cells(path), "run `python -m tests.docs.parameters`"
    own = code_cells(notebook)
    if any(f"tiers.{path.stem}.of(globals())" in cell.source for cell in own):
        return  # by name, all of them
    read = {node.id for cell in own for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Name)
            if isinstance(node.ctx, ast.Load)}  # fmt: skip
    assert set(generated.model(path).parameters()) <= read


def test_what_is_measured_is_in_the_pages_language(notebook: nbformat.NotebookNode) -> None:
    for cell in code_cells(notebook):
        if re.search(r"^measurement = tiers\.\w+\(", cell.source, re.MULTILINE):
            assert "language" not in cell.source.partition("views.Page")[0], "the overview has no data"


def test_it_has_the_parameters_that_every_notebook_has(notebook: nbformat.NotebookNode) -> None:
    names = {line.split(" = ")[0] for cell in parameters(notebook) for line in cell.source.splitlines()}
    assert {"language", "seed"} <= names


def test_it_begins_with_its_question_and_ends_with_provenance(notebook: nbformat.NotebookNode) -> None:
    first = notebook.cells[0]
    assert first.cell_type == "markdown"
    assert first.source.startswith("# ")
    assert first.source.rstrip().endswith("?")
    assert "provenance" in notebook.cells[-1].source


def test_the_first_notebook_is_as_short_and_as_empty_as_the_others() -> None:
    found = nbformat.read(QUICKSTART, as_version=4)
    nbformat.validate(found)
    for law in (test_it_holds_no_logic, test_it_holds_no_outputs, test_its_cells_have_readable_ids,
                test_prose_states_no_result):  # fmt: skip
        law(found)
    assert len(found.cells) <= 16
    assert all(len(cell.source.splitlines()) <= 8 for cell in code_cells(found))
    assert QUICKSTART not in places.notebooks(), "it is worked in, and no page of a report"


def test_prose_states_no_result(notebook: nbformat.NotebookNode) -> None:
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            prose = re.sub(r"Tiers?\s[\d, and]+", "", cell.source)
            assert not re.search(r"\d+[.,]\d+|\d+ ?%", prose), cell.source


@pytest.mark.slow
def test_nothing_is_left_for_nbstripout() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nbstripout", "--keep-id", "--verify", *map(str, ALL)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", [*ALL, *(FOLDER.parent / "ragbench").rglob("*.ipynb")], ids=lambda path: path.stem)
def test_what_it_names_of_the_package_is_there(path: Path) -> None:
    cells = code_cells(nbformat.read(path, as_version=4))
    trees = [ast.parse("\n".join(line for line in cell.source.splitlines() if line[:1] not in "%!")) for cell in cells]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    named = {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("ragbench"):
            names = [alias.name for alias in node.names]
            module = __import__(str(node.module), fromlist=names)
            named |= {alias.asname or alias.name: getattr(module, alias.name) for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in named:
            assert hasattr(named[node.value.id], node.attr), f"{node.value.id}.{node.attr}"
