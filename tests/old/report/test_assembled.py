"""Pages of what was measured outside of a notebook: the notebook's words and views, nothing executed."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from ragbench.old import report
from ragbench.old.core import annexes
from ragbench.old.core.measurement import Measurement
from ragbench.old.report.pages.sheets import assemble
from ragbench.old.views import MIME
from tests.old.views.measurements import measurement

VIEWS = ("answer", "table", "provenance")


def write(folder: Path, *sources: str) -> None:
    """A notebook of this project: parameters, then these code cells."""
    cells = [
        nbformat.v4.new_markdown_cell("# Tries · Is it drawn?", id="question"),
        nbformat.v4.new_code_cell(
            'count = 3  # how many\nlanguage = "en"  # of the page', id="parameters", metadata={"tags": ["parameters"]}
        ),
        *(nbformat.v4.new_code_cell(source, id=f"cell-{n}") for n, source in enumerate(sources)),
    ]
    folder.mkdir(exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "tries.ipynb")


@pytest.fixture
def notebooks(project: Path) -> Path:
    config = project / "ragbench.toml"
    lines = [line for line in config.read_text(encoding="utf-8").splitlines() if "notebooks_folder" not in line]
    config.write_text('notebooks_folder = "notebooks"\n' + "\n".join(lines) + "\n", encoding="utf-8")
    return project / "notebooks"


def shown(page: Path) -> list[str]:
    html = page.read_text(encoding="utf-8")
    return [name for name in ("answer", "table", "worst", "provenance") if f"rb-view-{name}" in html]


def test_the_notebooks_own_views_and_words(notebooks: Path, tmp_path: Path) -> None:
    write(
        notebooks,
        "display(views.comparison.answer(page), views.comparison.table(page))",
        "views.comparison.worst(page, count)",
    )
    page = assemble(tmp_path / "out", measurement(notebook="tries"), {"count": 2}, "en", VIEWS)
    html = page.read_text(encoding="utf-8")
    assert shown(page) == ["answer", "table", "worst"]
    assert "Is it drawn?" in html
    assert html.count('id="worst1-') == 2
    stored = nbformat.read(tmp_path / "out" / "tries.ipynb", as_version=4)
    calls = [output["data"][MIME] for cell in stored.cells for output in cell.get("outputs", ())]
    assert [call["view"] for call in calls] == ["answer", "table", "worst"]
    assert calls[2]["options"] == {"count": 2}, "a parameter that was given"


def test_nothing_of_the_notebook_is_executed(notebooks: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    write(notebooks, f"open({str(trace)!r}, 'w')\nviews.comparison.answer(page)", "import does_not_exist")
    assert shown(assemble(tmp_path / "out", measurement(notebook="tries"), {}, "en", VIEWS)) == ["answer"]
    assert not trace.exists()


def test_without_a_notebook_the_views_alone(notebooks: Path, tmp_path: Path) -> None:
    page = assemble(tmp_path / "out", measurement(notebook="unheard_of"), {}, "ru", VIEWS)
    assert shown(page) == list(VIEWS)
    assert 'lang="ru"' in page.read_text(encoding="utf-8")


def test_the_notebook_that_came_along_where_a_project_has_none(
    notebooks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "came along", "views.comparison.answer(page)")
    monkeypatch.setattr(annexes, "NOTEBOOKS", tmp_path / "came along")
    assert shown(assemble(tmp_path / "out", measurement(notebook="tries"), {}, "en", VIEWS)) == ["answer"]


def test_it_can_be_drawn_again_and_read_again(notebooks: Path, tmp_path: Path) -> None:
    write(notebooks, "display(views.comparison.answer(page), views.about.provenance(page))")
    made = measurement(notebook="tries")
    page = assemble(tmp_path / "out", made, {}, "en", VIEWS)
    first = page.read_bytes()
    report.render(tmp_path / "out")
    assert page.read_bytes() == first
    assert Measurement.load(tmp_path / "out" / "parts" / "tries").estimates == made.estimates
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert [one["name"] for one in manifest["notebooks"]] == ["tries"]
    assert (tmp_path / "out" / "index.html").is_file()
