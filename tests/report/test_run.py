"""A report by its front: notebooks in, a folder with pages, index, numbers and manifest out."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pandas as pd
import pytest

from ragbench.core.errors import BenchError
from ragbench.core.language import load_language
from ragbench.core.settings import Settings
from ragbench.report.execute import Kernels
from ragbench.report.index import write_index
from ragbench.report.manifest import git_commit
from ragbench.report.parts import DRAW_ALONE, JUPYTER_STYLE, PAGE_HTML
from ragbench.report.run import Run, new_run_folder, point_latest, run_notebooks

PARAMETERS = 'name = "x"\nlanguage = "en"'
MEASURE = """
import pandas as pd
import os
from pathlib import Path
from ragbench.core.frames import COMPARISONS
from ragbench.report.manifest import write_frames
from ragbench.report.parts import Part
comparison = pd.DataFrame([{
    "metric": "mrr@10", "challenger": "new<b>", "baseline": "old", "family": "primary",
    "difference": 0.1, "low": 0.05, "high": 0.15, "p": 0.01, "p_adjusted": 0.01,
    "detectable": 0.04, "word": "better", "single_low": 0.05, "single_high": 0.15,
    "n": 30, "n_unmeasured": 0, "n_units": 30}])
estimates = pd.DataFrame([{"system": "old", "metric": "mrr@10", "value": float("nan"), "n": 30,
                           "n_unmeasured": 2}])
reasons = ["no connection", "no connection", "slow", "busy", "gone"]
scores = pd.DataFrame({"value": [float("nan")] * 5, "reason": reasons})
frames = {"comparisons": comparison, "estimates": estimates, "scores": scores}
about = {"dataset": "campus", "systems": {"old": "BM25"}, "stand_ins": ["judge lexical"]}
write_frames(Path(os.environ["RAGBENCH_RUN_FOLDER"]), os.environ["RAGBENCH_RUN_PAGE"], frames,
             {"about": about, "request": {"seed": 7}})
"""


def write_notebook(folder: Path, name: str, *cells: tuple[str, str]) -> Path:
    """Write a notebook: a title, the parameters, and cells of (tag, source)."""
    notebook = nbformat.v4.new_notebook()
    notebook.metadata["kernelspec"] = {"name": "python3", "language": "python", "display_name": ""}
    notebook.cells = [nbformat.v4.new_markdown_cell(f"# {name} · A question?", id="question")]
    for number, (tag, source) in enumerate([("parameters", PARAMETERS), *cells]):
        kinds = {"markdown": nbformat.v4.new_markdown_cell}
        cell = kinds.get(tag, nbformat.v4.new_code_cell)(source, id=f"cell-{number}")
        cell.metadata["tags"] = [tag] if tag else []
        notebook.cells.append(cell)
    path = folder / f"{name}.ipynb"
    nbformat.write(notebook, path)
    return path


DISPLAY_BOTH = """
from IPython.display import display
from ragbench.report.parts import PAGE_HTML
display({PAGE_HTML: "<i>for pages</i>", "text/html": "<i>for Jupyter</i>"}, raw=True)
"""
# One of two systems ends the kernel at its first question.
ASK_BOTH = """
import os
import ragbench as rb
systems = {"fine": lambda question, k: ["p0"], "deadly": lambda question, k: os._exit(9)}
questions = [{"text": "What?", "relevant": "p0"}]
result = rb.tier1(systems, questions, documents={"p0": "That."}, draws=200)
result.keep()
result
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three notebooks: one is whole, one fails, one ends its kernel."""
    folder = tmp_path_factory.mktemp("run")
    notebooks = [
        write_notebook(
            folder,
            "whole",
            ("", MEASURE),
            ("finding", 'Part(f"{name} was <found>", style="finding")'),
            ("markdown", "*About* it"),
            ("", "from IPython.display import HTML; print('1 < 2'); HTML('<i>of others</i>')"),
            ("", "[7, '<b>']"),
            ("", DISPLAY_BOTH),
            ("", "import sys; print('progress', file=sys.stderr); Part('Ω', title='Last')"),
        ),
        write_notebook(folder, "fails", ("", "raise ValueError('key sk-canary0123456789abcdef')")),
        write_notebook(folder, "dies", ("", "x = 1"), ("", "import os; os._exit(9)")),
    ]
    out = folder / "reports" / "first"
    changes: list[tuple[str, str]] = []
    run = run_notebooks(
        notebooks,
        out,
        {"name": "the answer"},
        settings=Settings(),
        workers=2,
        on_progress=lambda page: changes.append((page.name, page.status)),
    )
    assert run.status == "failed"
    assert ("whole", "running") in changes
    assert ("dies", "failed") in changes
    return out


def test_the_folder_holds_pages_notebooks_frames_numbers_and_manifest(report: Path) -> None:
    names = sorted(file.name for file in report.iterdir())
    assert names == [
        "dies.html", "dies.ipynb", "fails.html", "fails.ipynb", "frames", "index.html",
        "manifest.json", "summary.json", "whole.html", "whole.ipynb",
    ]  # fmt: skip
    assert [file.name for file in report.parent.iterdir()] == ["first"]
    assert sorted(file.name for file in (report / "frames" / "whole").iterdir()) == [
        "comparisons.parquet", "estimates.parquet", "scores.parquet",
    ]  # fmt: skip


def test_a_page_has_what_cells_show_and_last_their_code(report: Path) -> None:
    page = (report / "whole.html").read_text(encoding="utf-8")
    assert "the answer was &lt;found&gt;" in page
    assert "<h2>Last</h2><p>Ω</p>" in page
    assert page.index("Ω") < page.index("Code of this page")
    assert "<em>About</em> it" in page
    assert "<pre>1 &lt; 2\n</pre>" in page
    assert "<i>of others</i>" in page
    assert "<i>for pages</i>" in page
    assert "<i>for Jupyter</i>" not in page
    assert "<pre>[7, &#39;&lt;b&gt;&#39;]</pre>" in page
    assert '<a href="index.html">All pages of this run</a>' in page


def test_nothing_of_clock_and_progress_stays_in_a_notebook(report: Path) -> None:
    text = (report / "whole.ipynb").read_text(encoding="utf-8")
    assert "progress" not in text.replace("print('progress'", "")
    assert "papermill" not in text
    assert "start_time" not in text


def test_what_fails_is_said_without_secrets_and_the_cell_that_ends_its_kernel_is_named(
    report: Path,
) -> None:
    index = (report / "index.html").read_text(encoding="utf-8")
    assert "ValueError: key ••••" in index
    assert "its kernel ended while it ran the cell &#39;cell-2&#39;" in index
    for file in report.glob("fails.*"):
        assert "canary" not in file.read_text(encoding="utf-8")


def test_a_system_that_ends_the_kernel_is_named_and_the_others_are_measured(tmp_path: Path) -> None:
    asks = write_notebook(tmp_path, "asks", ("", ASK_BOTH))
    out = tmp_path / "report"
    run = run_notebooks([asks], out, {}, settings=Settings(), workers=1)
    assert run.status == "failed"
    assert run.pages[0].failure.startswith("the kernel ended while it asked deadly: ")
    assert sorted(file.name for file in out.glob("asks.*")) == ["asks.html", "asks.ipynb"]
    estimates = pd.read_parquet(out / "frames" / "asks" / "estimates.parquet")
    value = estimates[estimates["metric"] == "mrr@10"].set_index("system")["value"]
    assert value["fine"] == 1.0
    assert math.isnan(value["deadly"])
    assert "it ended the kernel that asked it" in (out / "asks.html").read_text(encoding="utf-8")


def test_numbers_and_manifest_are_json_without_nan(report: Path) -> None:
    summary = json.loads((report / "summary.json").read_text(encoding="utf-8"))
    assert summary["estimates"] == [
        {"page": "whole", "system": "old", "metric": "mrr@10", "value": None, "n": 30,
         "n_unmeasured": 2}
    ]  # fmt: skip
    manifest = json.loads((report / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["status"] == "failed"
    pages = {page["name"]: page for page in manifest["pages"]}
    assert pages["whole"]["request"] == {"seed": 7}
    assert pages["whole"]["parameters"] == {"name": "the answer", "language": "en"}
    assert pages["dies"]["status"] == "failed"


@pytest.mark.parametrize(
    ("names", "parameters", "message"),
    [
        ("one", {"nme": 1}, "no notebook has a parameter 'nme'; did you mean 'name'"),
        ("one", {"name": {"a": 1}}, "parameter name is .*; it can be a text, a number or a list"),
        ("one", {"name": [1, {}]}, "parameter name is .*; it can be a text, a number or a list"),
        ("none", {}, r"there is no notebook .*none\.ipynb"),
        ("one one", {}, r"two notebooks are called one\.ipynb"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_run(
    tmp_path: Path, names: str, parameters: dict, message: str
) -> None:
    write_notebook(tmp_path, "one")
    notebooks = [tmp_path / f"{name}.ipynb" for name in names.split()]
    with pytest.raises(BenchError, match=message):
        run_notebooks(notebooks, tmp_path / "out", parameters, settings=Settings(), workers=1)
    assert not (tmp_path / "out").exists()


@pytest.fixture
def run_prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    """A function that runs notebooks without kernels: by name what their cells show, or raise."""

    def run(shown: dict[str, Any], **parameters: object) -> Run:
        def execute(source: Path, target: Path, *_: object, **__: object) -> tuple[Any, str]:
            notebook = nbformat.read(source, as_version=4)
            outputs = shown[source.stem]
            if isinstance(outputs, BaseException):
                raise outputs
            notebook.cells[-1].outputs = outputs
            monkeypatch.setenv("RAGBENCH_RUN_FOLDER", str(target.parent))
            monkeypatch.setenv("RAGBENCH_RUN_PAGE", source.stem)
            exec(MEASURE, {})
            failed = [output for output in outputs if output.output_type == "error"]
            return notebook, f"{failed[0].ename}: {failed[0].evalue}" if failed else ""

        monkeypatch.setattr("ragbench.report.run.execute_notebook", execute)
        monkeypatch.setattr("ragbench.report.execute.CAN_FORK", False)
        notebooks = [write_notebook(tmp_path, name, ("finding", "")) for name in shown]
        summing = nbformat.read(notebooks[0], as_version=4)
        summing.metadata["ragbench"] = {"after_others": True}
        nbformat.write(summing, notebooks[0])
        return run_notebooks(
            notebooks,
            tmp_path / "out",
            parameters,
            settings=Settings(),
            workers=1,
            on_progress=lambda page: order.append(f"{page.name} {page.status}"),
        )

    order: list[str] = []
    run.order = order  # type: ignore[attr-defined]
    return run


def show(kind: str = "stream", **values: Any) -> Any:
    """An output of a cell."""
    return nbformat.v4.new_output(kind, **values)


def test_pages_of_prepared_notebooks_and_their_index(run_prepared: Any, tmp_path: Path) -> None:
    html = {"text/html": f"<i>for Jupyter</i>{JUPYTER_STYLE}{DRAW_ALONE}", "text/plain": "plain"}
    run = run_prepared(
        {
            "summing": [show("display_data", data={"text/plain": "sum < 1"})],
            "whole": [show(text="1 < 2"), show("display_data", data=html)],
            "fails": [
                show("display_data", data={PAGE_HTML: "<i>for pages</i>", **html}),
                show("error", ename="KeyError", evalue="<x>"),
            ],
            "odd": RuntimeError("no kernel"),
        },
        name="x",
    )
    assert run.status == "failed"
    # That which sums the others up comes last, and one that cannot be run stops no other.
    assert [word for word in run_prepared.order if not word.endswith("running")] == [
        "whole complete", "fails failed", "odd failed", "summing complete"
    ]  # fmt: skip
    whole = (tmp_path / "out" / "whole.html").read_text(encoding="utf-8")
    assert '<nav><a href="index.html">' in whole
    assert "<h1>whole · A question?</h1>" in whole
    assert "<pre>1 &lt; 2</pre>\n<i>for Jupyter</i>\n" in whole
    assert "not complete" not in whole
    fails = (tmp_path / "out" / "fails.html").read_text(encoding="utf-8")
    said = "<b>This page is not complete.</b> KeyError: &lt;x&gt;</p></section>"
    assert f"{said}\n<i>for pages</i>" in fails
    assert "<pre>KeyError: &lt;x&gt;</pre>" in fails
    assert fails.index("KeyError") < fails.index("for pages")
    index = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    for text in (
        "<pre>sum &lt; 1</pre>",
        "<i>for pages</i><p>This page is not complete. KeyError: &lt;x&gt;</p>",
        "<p>This page is not complete. RuntimeError: no kernel</p>",
        "data set <b>campus</b>",
        "run <b>out</b>",
        '<b dir="auto">new&lt;b&gt;</b> against old: better (summing, whole, fails).',
        '<a href="whole.html">whole</a></th>',
        ">▲ better</td>",
        "<dt>old</dt><dd>BM25</dd>",
        "Measured with offline stand-ins: judge lexical.",
        "no connection (2); slow (1); busy (1)</td>",
    ):
        assert text in index
    assert "interrupted" not in index
    assert "<pre>KeyError" not in index
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    pages = {page["name"]: page for page in manifest["pages"]}
    assert pages["whole"]["parameters"] == {"name": "x", "language": "en"}
    assert (pages["odd"]["status"], pages["whole"]["status"]) == ("failed", "complete")
    assert run_prepared({"summing": [show(text="")]}).status == "complete"
    assert not (tmp_path / "out" / "whole.html").exists()


def test_a_run_that_is_stopped_is_written_as_far_as_it_came(
    run_prepared: Any, tmp_path: Path
) -> None:
    shown = {"summing": [], "whole": [show(text="1")], "slow": KeyboardInterrupt(), "later": []}
    with pytest.raises(KeyboardInterrupt):
        run_prepared(shown)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["status"] == "interrupted"
    statuses = {page["name"]: page["status"] for page in manifest["pages"]}
    assert (statuses["whole"], statuses["slow"]) == ("complete", "interrupted")
    assert statuses["summing"] == "interrupted"
    index = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "The run was interrupted: not all pages are there." in index
    assert "The run was interrupted before this page was complete." in index


def test_an_index_of_what_could_not_be_measured(tmp_path: Path) -> None:
    language = load_language("en")
    run = Run(tmp_path, "bare", language, [])
    summary = {"estimates": [], "comparisons": []}
    (tmp_path / "manifest.json").write_text('{"pages": [], "git_commit": ""}')
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    index = write_index(run).read_text(encoding="utf-8")
    for text in ("data set <b>–</b>", "commit <b>–</b>", "Everything was measured."):
        assert text in index
    for text in ("stand-ins", "Systems", "against the baseline"):
        assert text not in index
    pages = [{"name": name, "title": f"{name} · Why?"} for name in ("bad", "good")]
    manifest = {"pages": pages, "git_commit": "0123456789"}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    summary["estimates"] = [
        {"page": "bad", "n": 1, "n_unmeasured": 2}, {"page": "good", "n": 3, "n_unmeasured": 0}
    ]  # fmt: skip
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    index = write_index(run).read_text(encoding="utf-8")
    assert "commit <b>01234567</b>" in index
    row = '<a href="bad.html">bad</a></th><td class="number">2</td>'
    assert row in index
    assert "good" not in index


def test_latest_leads_to_the_newest_folder(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        point_latest(tmp_path / name)
        assert (tmp_path / "latest").resolve() == tmp_path / name


def test_reports_of_one_second_have_folders_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = SimpleNamespace(now=lambda: datetime(2026, 11, 29, 0, 43, 43))
    monkeypatch.setattr("ragbench.report.run.datetime", moment)
    for _ in range(3):
        new_run_folder(tmp_path).mkdir()
    name = "20261129T004343"
    assert sorted(path.name for path in tmp_path.iterdir()) == [name, f"{name}-02", f"{name}-03"]


def test_the_commit_is_that_of_the_folder_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    git_commit.cache_clear()
    try:
        assert git_commit() == ""
        git_commit.cache_clear()
        who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        for words in (["init", "-q"], [*who, "commit", "-q", "--allow-empty", "-m", "x"]):
            subprocess.run(["git", *words], check=True)
        assert len(git_commit()) == 40
    finally:
        git_commit.cache_clear()


def test_a_disk_that_fills_leaves_the_older_report_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragbench.report import run

    out = tmp_path / "out"
    out.mkdir()
    (out / "index.html").write_text("older", encoding="utf-8")

    def fill(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(run, "write_summary", fill)
    monkeypatch.setattr("ragbench.report.execute.CAN_FORK", False)
    with pytest.raises(OSError, match="No space left"):
        run_notebooks([], out, {}, settings=Settings(), workers=1)
    assert [file.name for file in tmp_path.iterdir()] == ["out"]
    assert (out / "index.html").read_text(encoding="utf-8") == "older"


@pytest.mark.parametrize(
    ("workers", "pages", "threads"),
    [(3, 12, "2"), (8, 1, "8"), (1, 5, "8"), (16, 16, "1"), (3, 0, "8")],
)
def test_kernels_that_run_at_once_share_the_cores(
    monkeypatch: pytest.MonkeyPatch, workers: int, pages: int, threads: str
) -> None:
    monkeypatch.setattr("ragbench.report.execute.CAN_FORK", False)  # no process is needed
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with Kernels(workers, pages) as kernels:
        assert kernels.environment["OMP_NUM_THREADS"] == threads


@pytest.mark.slow
def test_an_interrupted_run_keeps_what_is_done_and_leaves_no_kernel(tmp_path: Path) -> None:
    write_notebook(tmp_path, "quick", ("finding", "1 + 1"))
    sleep = "import os, time; print(os.getpid(), flush=True); time.sleep(120)"
    write_notebook(tmp_path, "slow", ("", sleep))
    script = (
        "import sys; from ragbench.core.settings import Settings\n"
        "from ragbench.report.run import run_notebooks\n"
        "run_notebooks(['quick.ipynb', 'slow.ipynb'], 'out', {}, settings=Settings(), workers=2,"
        " on_progress=lambda page: print(page.name, page.status, flush=True))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    while "quick complete" not in process.stdout.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert "slow interrupted" in rest
    assert process.returncode != 0
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["status"] == "interrupted"
    assert [page["status"] for page in manifest["pages"]] == ["complete", "interrupted"]
    index = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "The run was interrupted: not all pages are there." in index
    kernels = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert str(tmp_path) not in kernels.stdout
