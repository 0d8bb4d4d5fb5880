"""Notebooks become reports: parameters, pages, index, tables, manifest; the same bytes each time."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from ragbench.old import report
from ragbench.old.core.measurement import COMPARISON_COLUMNS, ESTIMATE_COLUMNS, Measurement
from ragbench.old.core.settings import secrets
from ragbench.old.report.execution import preparation
from tests.old import small_project

pytestmark = pytest.mark.usefixtures("bare")
Finished = tuple[Path, report.RunResult, list[report.Step]]
SETUP = """import os
from pathlib import Path
from ragbench.old import views
from tests.old.views.measurements import measurement
made = measurement(questions=questions, notebook="{name}")
made.save(Path(os.environ["RAGBENCH_RUN_FOLDER"]) / "parts" / made.notebook)
page = views.Page(made, language=language)"""
VIEWS = {
    "answer": "views.comparison.answer(page)",
    "intervals": "views.comparison.intervals(page)",
    "table": "views.comparison.table(page)",
    "worst": "views.comparison.worst(page, 3)",
    "questions": "views.items.questions(page)",
    "method": "views.about.method(page)",
    "provenance": "views.about.provenance(page)",
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """A run of the notebook by itself in a project that tests copy, or only read: the project, the run, its steps."""
    steps: list[report.Step] = []
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        small_project.enter(folder, patch)
        result = report.run([notebook(folder)], {"questions": "30"}, progress=steps.append)
    return folder, result, steps


@pytest.fixture
def copy(finished: Finished, tmp_path: Path) -> Path:
    """The folder of that run, copied into this test's project with its notebook."""
    for name in ("reports", "notebooks"):
        shutil.copytree(finished[0] / name, tmp_path / name, symlinks=True)
    return tmp_path / "reports" / finished[1].folder.name


def notebook(folder: Path, name: str = "tier1_retrieval", *more: str, setup: str = SETUP) -> Path:
    """A notebook with parameters, a setup cell, a cell for each view, and the cells given."""
    cell = nbformat.v4.new_code_cell
    cells = [
        nbformat.v4.new_markdown_cell("# Tier 1 · Does the system find the right passage?", id="title"),
        cell(
            'questions = 12  # how many\nk = 10  # depth\nunit = "chunk"  # of ranking\nlanguage = "en"  # of the page',
            id="parameters", metadata={"tags": ["parameters"]},
        ),
        cell(setup.replace("{name}", name), id="measure"),
        *(cell(asked, id=view) for view, asked in (VIEWS if "page =" in setup else {}).items()),
        *(cell(source, id=f"more{place}") for place, source in enumerate(more)),
    ]  # fmt: skip
    path = folder / "notebooks" / f"{name}.ipynb"
    path.parent.mkdir(exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


def texts(folder: Path) -> dict[str, bytes]:
    """Every page of a run, and its style."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".html", ".css")}


def test_a_run_writes_what_it_promises(finished: Finished) -> None:
    project, result, steps = finished
    assert result.exit_code == 0
    assert result.folder.parent == project / "reports"
    there = {path.name for path in result.folder.iterdir()}
    assert there == {
        "index.html", "manifest.json", "metrics", "page.js", "parts", "questions",
        "questions.js", "ragbench.css",
        "replies.txt", "scores.parquet", "summary.json", "tier1_retrieval.html", "tier1_retrieval.ipynb",
    }  # fmt: skip
    assert (project / "reports" / "latest").resolve() == result.folder.resolve()
    assert (steps[-1].done, steps[-1].total) == (10, 10)  # seven views, parameters twice, the setup
    scores = pd.read_parquet(result.folder / "scores.parquet")
    assert len(scores) == 2 * 4 * 30
    assert list(scores.columns) == ["notebook", "system", "metric", "sample", "value", "status", "reason", "judge"]
    summary = json.loads((result.folder / "summary.json").read_text())
    assert set(summary["estimates"][0]) == {"notebook", "system", "metric", "published", *ESTIMATE_COLUMNS}
    assert set(summary["comparisons"][0]) == {"notebook", "metric", "published", *COMPARISON_COLUMNS}
    assert len(summary["estimates"]) == 8
    assert len(summary["comparisons"]) == 4
    kept = Measurement.load(result.folder / "parts" / "tier1_retrieval")
    assert summary["estimates"][2]["value"] == kept.estimates[2].estimate.value
    assert summary["comparisons"][0]["verdict"] == kept.comparisons[0].comparison.verdict.value
    manifest = json.loads((result.folder / "manifest.json").read_text())
    assert manifest["status"] == "complete"
    assert manifest["parameters"] == {"questions": "30"}
    assert manifest["notebooks"][0]["parameters"] == {"questions": 30, "k": 10, "unit": "chunk", "language": "en"}
    assert manifest["data"]["tier1_retrieval"]["data_hash"] == kept.facts["data_hash"]
    assert manifest["seeds"] == {"tier1_retrieval": 20261122}
    assert manifest["commit"] == "4f1c2e9a77aa"
    assert manifest["versions"]["python"]


def test_a_page_has_its_parts_and_its_policy(finished: Finished) -> None:
    project, result, _ = finished
    folder = result.folder
    page = (folder / "tier1_retrieval.html").read_text(encoding="utf-8")
    assert '<html lang="en">' in page
    assert "<title>Tier 1 · Does the system find the right passage?</title>" in page
    for view in VIEWS:
        assert f'class="rb rb-view-{view.split("(")[0]}"' in page
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1)
    assert policy.startswith("default-src &#39;none&#39;; script-src &#39;self&#39;; style-src")
    assert "unsafe-inline" not in policy
    assert not re.search(r"(src|href)=.?(https?:)?//", page)
    assert str(project) not in page
    assert page.count('<details class="code">') == 7
    index = (folder / "index.html").read_text(encoding="utf-8")
    assert 'href="tier1_retrieval.html"' in index
    assert "<b>hnsw</b> against ivfflat: better" in index
    assert "Report on synthetic" in index
    assert "Differences from the baseline" in index
    assert "Which part fails first" not in index, "no page tells of it"


@pytest.mark.fault("determinism", tried="two runs to the byte", count=1)
def test_two_runs_and_a_rendering_give_the_same_bytes(copy: Path, tmp_path: Path) -> None:
    first, second = copy, report.run(["tier1_retrieval"], {"questions": 30}, out=tmp_path / "elsewhere").folder
    assert texts(first) == texts(second)
    assert (first / "tier1_retrieval.ipynb").read_bytes() == (second / "tier1_retrieval.ipynb").read_bytes()
    before = texts(first)
    for name in before:
        (first / name).unlink()
    report.render(first)
    assert texts(first) == before


def test_rendering_needs_no_kernel_and_speaks_another_language(copy: Path, tmp_path: Path) -> None:
    assert report.render(copy, language="ru") == copy / "ru" / "index.html"
    page = (copy / "ru" / "tier1_retrieval.html").read_text(encoding="utf-8")
    assert '<html lang="ru">' in page
    assert "Находит ли система нужный фрагмент?" in page
    assert "лучше, чем ivfflat" in page
    assert "Отчёт: synthetic" in (copy / "ru" / "index.html").read_text(encoding="utf-8")
    for folder, other, word in ((copy, "ru/", "Русский"), (copy / "ru", "../", "English")):
        for path in ("index.html", "tier1_retrieval.html", "metrics/mrr.html"):
            [href] = re.findall(r'<a href="([^"]*)"[^>]*>' + word, (folder / path).read_text(encoding="utf-8"))
            assert href == "../" * path.count("/") + other + path
            assert (folder / path).parent.joinpath(href).is_file()
    with pytest.raises(FileNotFoundError, match=r"manifest\.json"):
        report.render(tmp_path)


@pytest.mark.slow
def test_the_language_of_a_run_is_that_of_its_pages(tmp_path: Path) -> None:
    folder = report.run([notebook(tmp_path)], language="ru").folder
    assert '<html lang="ru">' in (folder / "tier1_retrieval.html").read_text(encoding="utf-8")
    assert '<html lang="ru">' in (folder / "index.html").read_text(encoding="utf-8")


def test_an_unknown_parameter_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    path = notebook(tmp_path)
    with pytest.raises(report.ParameterError) as refusal:
        report.run([path], {"kk": "5"})
    text = str(refusal.value)
    assert "there is no parameter 'kk'; did you mean k?" in text
    assert 'questions = 12, k = 10, unit = "chunk", language = "en"' in text
    assert not (tmp_path / "reports").exists()


def test_a_missing_notebook_names_those_there_are(tmp_path: Path) -> None:
    notebook(tmp_path, "tier1_retrieval")
    assert report.find("tier1_retrieval").name == "tier1_retrieval.ipynb"
    with pytest.raises(FileNotFoundError, match="notebooks/ has tier1_retrieval"):
        report.run(["tier9"])
    with pytest.raises(ValueError, match="given twice"):
        report.run(["tier1_retrieval", "tier1_retrieval"])


@pytest.mark.fault("parameters-code", tried="code in the parameters of a run", count=1)
def test_the_parameters_cell_holds_literals_only(tmp_path: Path) -> None:
    path = notebook(tmp_path)
    source = nbformat.read(path, 4)
    source.cells[1].source = "import os\nk = 1"
    with pytest.raises(report.ParameterError, match="not a literal"):
        preparation.defaults(source, "n")
    source.cells[1].source = "k = len('a')"
    with pytest.raises(report.ParameterError, match="default of k"):
        preparation.defaults(source, "n")


@pytest.mark.slow
def test_a_failing_notebook_says_so_and_the_others_go_on(tmp_path: Path) -> None:
    good = notebook(tmp_path, "good")
    fails = "raise RuntimeError('the <b>judge</b> is away\\n\\nmore words')"
    bad = notebook(tmp_path, "bad", fails, "views.comparison.answer(page)")
    result = report.run([bad, good], {"questions": 8}, jobs=2)
    assert result.exit_code == 4
    assert result.failures == {"bad": "RuntimeError: the <b>judge</b> is away"}
    page = (result.folder / "bad.html").read_text(encoding="utf-8")
    assert "RuntimeError: the &lt;b&gt;judge&lt;/b&gt; is away" in page
    assert 'class="rb rb-view-table"' in page  # what was done before stays
    assert "papermill" not in page.split("<main")[1]
    index = (result.folder / "index.html").read_text(encoding="utf-8")
    assert "This page is not complete." in index
    assert 'class="rb rb-view-table"' in (result.folder / "good.html").read_text(encoding="utf-8")
    manifest = json.loads((result.folder / "manifest.json").read_text())
    assert manifest["status"] == "failed"
    assert [n["status"] for n in manifest["notebooks"]] == ["failed", "complete"]


@pytest.mark.slow
@pytest.mark.fault("kill", tried="a kernel that dies", count=1)
def test_a_notebook_that_dies_or_keeps_no_measurement_says_so_and_the_others_are_drawn(tmp_path: Path) -> None:
    forgetful = SETUP.replace('made.save(Path(os.environ["RAGBENCH_RUN_FOLDER"]) / "parts" / made.notebook)\n', "")
    assert forgetful != SETUP
    dead = notebook(tmp_path, "dead", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    result = report.run([dead, notebook(tmp_path, "n", setup=forgetful), notebook(tmp_path, "good")])
    assert list(result.failures) == ["dead", "n"]
    assert "ended before its work was done" in result.failures["dead"]
    assert result.index.is_file()
    assert "the run has kept no measurement 'n'; it has " in result.failures["n"]
    assert "good" in result.failures["n"].partition("; it has ")[2]
    assert "the run has kept no measurement" in (result.folder / "n.html").read_text(encoding="utf-8")
    assert 'class="rb rb-view-table"' in (result.folder / "good.html").read_text(encoding="utf-8")
    before = texts(result.folder)
    report.render(result.folder)
    assert texts(result.folder) == before


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a notebook whose outputs and whose words are full of markup."""
    folder, html = tmp_path_factory.mktemp("hostile"), "<script>alert(1)</script><img src=x onerror=alert(1)>"
    with pytest.MonkeyPatch.context() as patch:
        small_project.enter(folder, patch)
        path = notebook(
            folder, "n",
            f"from IPython.display import HTML, Javascript, display\ndisplay(HTML({html!r}))",
            f"display({{'text/html': {html!r}, 'text/plain': '<b>plain</b>'}}, raw=True)",
            "display(Javascript('alert(1)'))",
            f"display({{'image/svg+xml': '<svg>' + {html!r} + '</svg>'}}, raw=True)",
            f"print({html!r})", f"{html!r}",
            "display({'image/png': '\"><script>alert(1)</script>'}, raw=True)",
            "figure = {'data': [], 'layout': {'title': '</script><script>alert(1)'}}",
            "display({'application/vnd.plotly.v1+json': figure}, raw=True)",
        )  # fmt: skip
        source = nbformat.read(path, 4)
        text = f"{html}\n\n[x](javascript:alert(1)) [y](data:text/html,1) <img src=x onerror=alert(1)>"
        source.cells.append(nbformat.v4.new_markdown_cell(text))
        nbformat.write(source, path)
        return (report.run([path]).folder / "n.html").read_text(encoding="utf-8")


@pytest.mark.fault("markup", tried="HTML, SVG and scripts that a notebook puts out", count=1)
def test_outputs_that_are_not_ours_are_texts_or_images(hostile: str) -> None:
    body = hostile.split("</head>")[1]
    assert "<script>alert" not in body
    assert "onerror=alert(1)>" not in re.sub(r"&lt;.*?&gt;", "", body)
    assert "<b>plain</b>" not in body
    assert "&lt;b&gt;plain" in body
    assert body.count("<script") == body.count('<script type="application/json">') + 3  # plotly's and ours
    assert "alert(1)" in body.split("rb-own-plot")[1], "all cells were executed"


@pytest.mark.fault("links", tried="HTML and links in Markdown", count=1)
def test_markdown_has_no_html_and_no_script_links(hostile: str) -> None:
    assert "<script>alert" not in hostile
    assert 'href="javascript:' not in hostile
    assert 'href="data:' not in hostile
    assert "<img src=x" not in hostile


CANARIES = {
    "OPENAI_API_KEY": "sk-canary-0123456789abcdef",
    "MY_SECRET": "canary-of-a-secret",
    "HF_TOKEN": "hf_canary_0123456789",
    "RAGBENCH_DATABASE_URL": "postgresql://reader:canary-p%40ss@db.example.org/rag",
    "DB_PASSWORD": "canary-of-a-password",
    "SOME_URL": "https://user:canary-in-url@example.org/x",
}
LEAK = """import os
from dataclasses import replace
leaked = " ".join(os.environ[name] for name in {names!r})
made = replace(made, facts={{**made.facts, "note": leaked}}, scores=made.scores.assign(reason=leaked))
made.save(Path(os.environ["RAGBENCH_RUN_FOLDER"]) / "parts" / made.notebook)
print(leaked)"""


@pytest.mark.fault(
    "secrets", tried="canary keys printed and raised in a notebook, looked for in files, logs and tables", count=6
)
def test_secrets_reach_no_file_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in CANARIES.items():
        monkeypatch.setenv(name, value)
    leak = LEAK.format(names=list(CANARIES))
    path = notebook(tmp_path, "n", leak, "raise RuntimeError('cannot reach ' + leaked)")
    result = report.run([path], {"unit": CANARIES["OPENAI_API_KEY"]})
    hits = []
    secret_parts = [*CANARIES.values(), "canary-p%40ss", "canary-p@ss", "canary-in-url"]
    for file in result.folder.rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            if file.suffix == ".parquet":
                data = pd.read_parquet(file).to_csv().encode()
            hits += [(file.name, canary) for canary in secret_parts if canary.encode() in data]
    assert not hits
    assert not any("canary" in line for line in result.failures.values())
    assert secrets.MASK in (result.folder / "n.html").read_text(encoding="utf-8")


def test_masking_leaves_other_texts_alone() -> None:
    mask = secrets.masker()
    plain = ("see https://example.org/a:b@c", "mail me@example.org", "postgresql://db.example.org/rag", "12:30@noon")
    for text in plain:
        assert mask(text) == text
    assert mask("postgresql://u:hunter22@h/db") == f"postgresql://u:{secrets.MASK}@h/db"
    assert mask("Authorization: Bearer abcdefgh12345") == f"Authorization: Bearer {secrets.MASK}"


FULL = """
import resource, sys
from pathlib import Path
from ragbench.old import report
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
report.run([Path(sys.argv[1])])
"""


@pytest.mark.fault("disk", tried="a full disk, under a report and a site", count=1)
@pytest.mark.slow
def test_a_full_disk_leaves_the_old_report_whole(copy: Path, tmp_path: Path) -> None:
    path, old = tmp_path / "notebooks" / "tier1_retrieval.ipynb", copy
    before = {file.name: file.read_bytes() for file in old.iterdir() if file.is_file()}
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert "File too large" in done.stderr
    assert {file.name: file.read_bytes() for file in old.iterdir() if file.is_file()} == before
    assert (tmp_path / "reports" / "latest").resolve() == old.resolve()
    (partial,) = (tmp_path / "reports").glob("*.partial")
    assert not [file.name for file in partial.rglob("*") if file.name.startswith(".")]
