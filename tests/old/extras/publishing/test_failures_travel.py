"""Why a notebook failed, in one sentence with its cause and what to do, the same to every reader of a run."""

from __future__ import annotations

import html
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest

from ragbench.old.core.types.reason import read
from ragbench.old.extras.publishing.publish import without_paths
from tests.old.cli.command_line import ROOT, ragbench
from tests.old.report.failure_cases import CASES, REFUSED, without_the_drivers_words
from tests.old.small_project import add


def notebook(project: Path, cell: str, name: str = "own") -> Path:
    cells = [
        nbformat.v4.new_markdown_cell("# Own · What is it?", id="title"),
        nbformat.v4.new_code_cell("k = 1  # nothing", id="parameters", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell(cell, id="measure"),
    ]
    path = project / f"{name}.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


SHOWN = re.compile(r'<div class="failed"[^>]*><p><strong>[^<]*</strong> (.*?)</p></div>', re.DOTALL)


def heard(run: Path, site: Path) -> dict[str, str]:
    """What each reader of a run and of its site says of its notebook's failure."""
    (described,) = json.loads((run / "manifest.json").read_text(encoding="utf-8"))["notebooks"]
    case = ElementTree.parse(site / "junit.xml").getroot().find(".//testcase/error")

    def on(page: Path) -> str:
        found = SHOWN.search(page.read_text(encoding="utf-8"))
        return html.unescape(found[1]) if found else ""

    return {
        "manifest": read(described["failure"]),
        "page": on(run / "own.html"),
        "index": on(run / "index.html"),
        "junit": "" if case is None else case.get("message", ""),
    }


QUICK = ("several errors of ours at once", "a killed kernel")
"""An error that arrives in others, and one that no error tells of. A kernel takes seconds to start."""


@pytest.mark.usefixtures("one_pool")
@pytest.mark.parametrize("name", [pytest.param(one, marks=[] if one in QUICK else pytest.mark.slow) for one in CASES])
def test_a_failure_is_the_same_sentence_to_every_reader(project: Path, name: str) -> None:
    case = CASES[name]
    with case.world(project) as url:
        add(project, case.settings.replace("{url}", url))
        variables = {key: value.replace("{url}", url) for key, value in case.variables.items()}
        done = ragbench("run", str(notebook(project, case.does)), **variables)
        said = [line for line in done.stderr.splitlines() if line.startswith("own failed: ")]
    run = (project / "reports" / "latest").resolve()
    assert ragbench("publish", run.name, "--to", "site", "--no-single").returncode == 0
    found = {"terminal": said[0].removeprefix("own failed: ") if said else "", **heard(run, project / "site")}
    found = {reader: without_the_drivers_words(sentence) for reader, sentence in found.items()}
    expected = case.said.replace("{url}", url).replace("{project}", str(project))
    assert found == {reader: without_paths(expected) if reader == "junit" else expected for reader in found}
    assert done.returncode == 4


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_said_at_once_and_leaves_no_run(project: Path, name: str) -> None:
    case = REFUSED[name]
    with case.world(project):
        add(project, case.settings)
        done = ragbench("run", *case.does.split())
    assert done.returncode == 3
    assert not (project / "reports").exists()
    assert done.stderr.startswith(f"ragbench: {case.said}")
    assert "Traceback" not in done.stderr


PARTS = """
def rewrite(question):
    if "q2" in question: raise RuntimeError("no rewriting today")
    return question
def rank(question, texts):
    return [float("nan")] * len(texts) if "q3" in question else [float(len(text)) for text in texts]
def cut(text):
    if "b1" in text: raise RuntimeError("no knife")
    return text.split(" of ")
"""
FAILING = """
[rewriters.rewrite]
kind = "callable"
callable = "own:rewrite"
[rerankers.rank]
kind = "callable"
callable = "own:rank"
[chunkers.cut]
kind = "callable"
callable = "own:cut"
[systems.parts]
embedder = "hashing"
rewriter = "rewrite"
reranker = "rank"
chunker = "cut"
"""


@pytest.mark.slow
def test_questions_and_passages_at_which_parts_fail_are_counted_for_every_reader(project: Path) -> None:
    (project / "own.py").write_text(PARTS, encoding="utf-8")
    add(project, FAILING)
    done = ragbench("run", "tier1_retrieval", "-s", "parts,ngrams", "-p", "resamples=100")
    assert done.returncode == 0, done.stderr
    run = (project / "reports" / "latest").resolve()
    assert ragbench("publish", run.name, "--to", "site", "--no-single").returncode == 0
    case = ElementTree.parse(project / "site" / "junit.xml").getroot().find(".//testcase[@name='tier1_retrieval']")
    assert case is not None
    readers = {
        "terminal": done.stderr,
        "page": html.unescape((run / "tier1_retrieval.html").read_text(encoding="utf-8")),
        "index": html.unescape((run / "index.html").read_text(encoding="utf-8")),
        "junit": ElementTree.tostring(case, encoding="unicode"),
        "caveats": json.loads((project / "site" / "data" / "summary.json").read_text())["caveats"]["tier1_retrieval"],
        **{name: (project / "site" / name).read_text(encoding="utf-8") for name in (
            "summary.md", "data/README.txt", "tables/tier1_retrieval.tex", "tables/tier1_retrieval-brief.tex",
            "tables/tier1_retrieval-brief.md", "tables/tier1_retrieval-brief.typ")},
    }  # fmt: skip
    said = ("parts raised at 2 of 3 questions: RuntimeError: no rewriting today; reranker rank: ",
            "the chunker of parts failed at 1 of 5 passages, searched whole: ")  # fmt: skip
    assert [(name, one) for name, text in readers.items() for one in said if one not in text] == []
    [at_questions, at_passages] = json.loads((run / "manifest.json").read_text())["raised"]["tier1_retrieval"]
    assert (at_questions["failed"], at_questions["asked"]) == (2, 3)
    assert (at_passages["failed"], at_passages["asked"], at_passages["what"]) == (1, 5, "passages")
    assert "no knife" in at_passages["reasons"][0]


@pytest.mark.slow
def test_an_overview_that_has_nothing_to_show_says_so_on_the_index(project: Path) -> None:
    done = ragbench("run", str(notebook(project, "{}['x']")), "overview")
    why = "an overview needs pages that were measured before it: `ragbench run` executes it last"
    assert done.stderr.splitlines()[-2:] == ["own failed: KeyError: 'x'", f"overview failed: {why}"]
    run = (project / "reports" / "latest").resolve()
    assert sorted(map(html.unescape, SHOWN.findall((run / "index.html").read_text(encoding="utf-8")))) == [
        "KeyError: 'x'",
        why,
    ]


@pytest.mark.slow
def test_a_shell_that_limits_memory_is_said_to_every_reader(project: Path) -> None:
    path = notebook(project, "k")
    program = [sys.executable, "-P", "-m", "ragbench", "run", str(path)]
    done = subprocess.run(
        ["bash", "-c", 'ulimit -v 3000000; exec "$0" "$@"', *program],
        cwd=project, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    said = [line for line in done.stderr.splitlines() if line.startswith("own failed: ")]
    run = (project / "reports" / "latest").resolve()
    assert ragbench("publish", run.name, "--to", "site", "--no-single").returncode == 0
    found = heard(run, project / "site")
    assert set(found.values()) == {said[0].removeprefix("own failed: ")}


@pytest.mark.slow
def test_an_interrupt_says_how_to_go_on_and_marks_the_run(project: Path) -> None:
    path = notebook(project, "import time; from pathlib import Path; Path('began').touch(); time.sleep(60)")
    runner = subprocess.Popen(
        [sys.executable, "-P", "-m", "ragbench", "run", str(path)],
        cwd=project, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    end = time.monotonic() + 60
    while not (project / "began").exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    runner.send_signal(signal.SIGINT)
    said = runner.communicate(timeout=60)[1].splitlines()
    assert (runner.returncode, said[-1]) == (
        130,
        f"interrupted; what models have answered is kept. To go on: ragbench run {path}",
    )
    (partial,) = (project / "reports").glob("*.partial")
    assert json.loads((partial / "manifest.json").read_text())["status"] == "interrupted"
