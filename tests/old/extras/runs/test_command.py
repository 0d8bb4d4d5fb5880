"""Runs on the command line: listed, shown, compared, held to gates, published, drawn over time."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ragbench.old import report
from ragbench.old.core import settings
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import Measurement
from ragbench.old.report import exports
from ragbench.old.report.keeping import kept, results
from tests.old import small_project
from tests.old.cli.command_line import invoke as call
from tests.old.cli.command_line import one_line, ragbench
from tests.old.report import kept_runs
from tests.old.small_project import add
from tests.old.views.measurements import measurement

SYSTEMS = ("good", "poor")


@pytest.fixture
def two_runs(project: Path) -> tuple[str, str]:
    """Two recorded runs of the same data, whose names no other test has."""
    names = (f"{project.name}-a", f"{project.name}-b")
    for number, name in enumerate(names):
        made = measurement(SYSTEMS, questions=40, seed=number, facts={"primary": "mrr"})
        started = kept_runs.STARTED + 3600 * number
        kept.record(kept_runs.make(project / "reports", name, made, started=started, parameters={"depth": number}))
    return names


def test_runs_are_listed_shown_and_forgotten(two_runs: tuple[str, str]) -> None:
    listed = json.loads(call("runs", "--json", "--limit", "1000").stdout)
    own = [each for each in listed if each["id"] in two_runs]
    assert [each["id"] for each in own] == [two_runs[1], two_runs[0]]
    assert own[0]["systems"] == list(SYSTEMS)
    assert own[0]["notebooks"] == ["tier1_retrieval"]
    assert own[0]["folder"] == f"reports/{two_runs[1]}"
    assert [(h["system"], h["metric"]) for h in own[0]["headlines"]] == [("good", "mrr"), ("poor", "mrr")]
    assert two_runs[0] in call("runs", "--limit", "1000").stdout.replace("\n", "")
    shown = json.loads(call("runs", "show", two_runs[0], "--json").stdout)
    assert shown["questions"] == {"tier1_retrieval": 40}
    assert shown["identities"]["parameters"]["tier1_retrieval.depth"] == "0"
    assert len(shown["values"]) == 8
    assert "hit_rate@10" in call("runs", "show", two_runs[0]).stdout
    assert call("runs", "delete", two_runs[0], "--yes").exit_code == 0
    assert two_runs[0] not in [each["id"] for each in json.loads(call("runs", "--json", "--limit", "1000").stdout)]


def test_a_run_is_drawn_again_in_another_language_beside(project: Path, two_runs: tuple[str, str]) -> None:
    name = two_runs[0]
    folder = project / "reports" / name
    assert call("render", name).exit_code == 0
    pages = {path.name: path.read_bytes() for path in folder.glob("*.html")}
    assert "index.html" in pages
    assert call("render", name, "-l", "en").stdout.strip().endswith(f"{name}/index.html")
    assert {path.name: path.read_bytes() for path in folder.glob("*.html")} == pages, "byte by byte"
    done = call("render", name, "-l", "ru")
    assert done.stdout.strip().endswith(f"{name}/ru/index.html")
    assert b'<html lang="ru">' in (folder / "ru" / "index.html").read_bytes()
    both = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}
    assert {path.name for path in (folder / "ru").glob("*.html")} == set(pages)
    switch = re.compile(rb'<nav class="languages".*?</nav>\n', re.DOTALL)
    assert {key: switch.sub(b"", both[Path(key)]) for key in pages} == pages, "but for the way to the other language"
    call("render", str(folder))
    again = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}
    assert again == both, "byte by byte, both languages"
    assert call("render", name, "-l", "fr").exit_code == 3
    assert "there is no run" in str(call("render", "never-was").exception)


def test_two_runs_are_compared_in_json_and_on_pages(two_runs: tuple[str, str]) -> None:
    done = call("compare", *two_runs, "--json", "difference.json", "--out", "difference")
    assert done.exit_code == 0, done.output
    found = kept_runs.read_json(Path("difference.json"))
    assert found == kept_runs.read_json(Path("difference/comparison.json"))
    assert [pairing["systems"] for pairing in found["pairings"]] == [["good", "good"], ["poor", "poor"]]
    comparison = found["pairings"][0]["comparisons"][0]
    assert {"difference", "low", "high", "p_adjusted", "effect_size", "minimum_detectable", "verdict"} <= set(
        comparison
    )
    assert [(c["kind"], c["name"], c["of"], c["values"]) for c in found["changes"]] == [
        ("parameters", "depth", ["tier1_retrieval"], ["0", "1"])
    ]
    pages = sorted(path.name for path in Path("difference").glob("*.html"))
    assert pages == ["01-tier1_retrieval.html", "02-tier1_retrieval.html", "index.html"]
    before = {name: (Path("difference") / name).read_bytes() for name in pages}
    call("compare", *two_runs, "--out", "difference")
    assert {name: (Path("difference") / name).read_bytes() for name in pages} == before
    told = call("compare", *two_runs, "--system", "A=good", "--system", "B=poor", "--json", "-")
    assert json.loads(told.stdout)["pairings"][0]["systems"] == ["good", "poor"]
    assert "the runs are A to B" in str(call("compare", *two_runs, "--system", "C=good").exception)
    assert call("compare", *two_runs, "--system", "good").exit_code == 3


def called(folder: Path, **told: str) -> None:
    """Give a run in a folder a name and a note, as `ragbench run` does."""
    path = folder / results.MANIFEST
    path.write_text(json.dumps({**kept_runs.read_json(path), **told}), encoding="utf-8")


def test_a_run_is_found_and_shown_by_its_name_by_every_reader(project: Path, two_runs: tuple[str, str]) -> None:
    name, reports = f"chunks <b onclick=x> {project.name}"[:60], project / "reports"
    called(reports / two_runs[1], name=name, note="700 <i>signs</i>")
    kept.record(reports / two_runs[1])
    done = call("compare", two_runs[0], name, "--json", "d.json", "--out", "d")
    assert done.exit_code == 0, done.output
    found = kept_runs.read_json(Path("d.json"))
    assert [(run["id"], run["name"]) for run in found["runs"]] == [(two_runs[0], ""), (two_runs[1], name)]
    turned = call("compare", two_runs[0], name, "--baseline", name, "--json", "-")
    assert [run["id"] for run in json.loads(turned.stdout)["runs"]] == list(reversed(two_runs))
    assert call("compare", two_runs[0]).exit_code == 3
    call("render", name)
    call("history", "-m", "mrr", "--out", "h")
    for page in (Path("d/index.html"), reports / two_runs[1] / "index.html", Path("h/index.html")):
        text = page.read_text(encoding="utf-8")
        assert "chunks &lt;b onclick=x&gt;" in text, page
        assert "<b onclick" not in text
        assert "700 &lt;i&gt;signs&lt;/i&gt;" in text, page
    [listed] = [each for each in json.loads(call("runs", "--json", "--limit", "1000").stdout) if each["name"] == name]
    assert (listed["id"], listed["note"]) == (two_runs[1], "700 <i>signs</i>")
    (reports / two_runs[1]).rename(project / "gone")
    assert json.loads(call("runs", "show", name, "--json").stdout)["id"] == two_runs[1], "the database knows it too"
    (project / "gone").rename(reports / two_runs[1])
    called(reports / two_runs[0], name=name)
    refused = str(call("compare", name, "latest").exception)
    assert f"2 runs are called {name!r}: {two_runs[0]}, {two_runs[1]}" in refused


def test_a_kept_run_is_renamed_in_its_folder_and_in_the_database(project: Path, two_runs: tuple[str, str]) -> None:
    name, folder = f"smaller {project.name}"[:60], project / "reports" / two_runs[1]
    done = call("runs", "rename", two_runs[1], "--name", f" {name} ", "--note", "300 signs")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        f"{two_runs[1]} is called {name!r}, its note is '300 signs'",
        f"its own pages say so after: ragbench render {two_runs[1]}",
    ]
    call("render", name)
    call("history", "-m", "mrr", "--out", "h", "--limit", "1000")
    call("compare", two_runs[0], name, "--out", "d")
    for page in (folder / "index.html", Path("h/index.html"), Path("d/index.html")):
        text = page.read_text(encoding="utf-8")
        assert name in text, page
        assert "300 signs" in text, page
    before = kept_runs.read_json(folder / results.MANIFEST)
    assert call("runs", "rename", name, "--name", "").exit_code == 0
    nameless = {key: value for key, value in before.items() if key != "name"}
    assert kept_runs.read_json(folder / results.MANIFEST) == nameless, "and nothing else was touched"
    [listed] = [one for one in json.loads(call("runs", "--json", "--limit", "1000").stdout) if one["id"] == two_runs[1]]
    assert (listed["name"], listed["note"]) == ("", "300 signs")
    folder.rename(project / "gone")
    done = call("runs", "rename", two_runs[1], "--name", name)
    assert "render" not in done.stdout, "it has no pages here"
    assert json.loads(call("runs", "show", name, "--json").stdout)["note"] == "300 signs"
    assert f"gone is called {name!r}" in call("runs", "rename", "gone", "--name", name).stdout


def test_a_run_that_cannot_be_renamed_is_refused_with_those_that_there_are(
    two_runs: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragbench.old.store.runs.SHOWN", 1000)  # the database has those of other tests
    kept.rename(two_runs[1], name="a name")
    refused = str(call("runs", "rename", "never-was", "--name", "x").exception)
    assert refused.startswith("there is no run 'never-was'; there are ")
    assert f"{two_runs[1]} (a name), " in refused
    assert f"{two_runs[0]}, " in refused or f"{two_runs[0]};" in refused
    for words, said in {
        ("--name", "latest"): "a run's name is no path",
        ("--note", "x" * 501): "a run's note",
        (): "say what the run is called",
    }.items():
        done = call("runs", "rename", two_runs[0], *words)
        assert done.exit_code == 3
        assert said in one_line(done.stderr)
    assert kept.find(two_runs[0]).name == ""


def test_a_run_is_renamed_in_its_folder_where_the_database_is_away(project: Path) -> None:
    folder = kept_runs.make(project / "elsewhere", "r0", measurement(SYSTEMS, questions=8))
    (project / "ragbench.toml").write_text('[database]\nfolder = "/proc/nowhere"\n', encoding="utf-8")
    done = call("runs", "rename", "elsewhere/r0", "--name", "a")
    assert done.exit_code == 0, done.output
    assert "the database does not say so: " in done.stderr
    assert "ragbench render elsewhere/r0" in done.stdout
    assert kept_runs.read_json(folder / results.MANIFEST)["name"] == "a"


def test_a_comparison_of_three_has_a_page_a_system_with_a_column_a_run(project: Path) -> None:
    for number in range(3):
        made = measurement(SYSTEMS, questions=30, seed=number, facts={"primary": "mrr"})
        kept_runs.make(project / "reports", f"r{number}", made, parameters={"k": 5 * (number > 1) + 5})
    done = call("compare", "r0", "r1", "r2", "--out", "d")
    assert done.exit_code == 0, done.output
    assert "parameters k (tier1_retrieval): 5 | 5 | 10" in done.output
    pages = sorted(path.name for path in Path("d").glob("*.html"))
    assert pages == ["01-tier1_retrieval.html", "02-tier1_retrieval.html", "index.html"]
    page = Path("d/01-tier1_retrieval.html").read_text(encoding="utf-8")
    assert all(f"good ({letter})" in page for letter in "ABC")
    index = Path("d/index.html").read_text(encoding="utf-8")
    first, _rest = index.split("</table>", 1)
    settings_that_differ = re.findall(r"<tr><th scope=row>([^<]*)<small>|<tr><th scope=row>([^<]*) <small>", first)
    assert next(filter(None, settings_that_differ[0])).strip() == "k (tier1_retrieval)"
    assert index.count("rb-across") >= 3
    assert call("publish", "d", "--to", "site", "--no-single").exit_code == 0


def test_what_is_equal_on_every_question_is_said_once(project: Path) -> None:
    """tier1_retrieval is the same in both runs, tier3_end_to_end is not."""
    same = measurement(SYSTEMS, questions=20, facts={"primary": "mrr"})
    for number in range(2):
        other = measurement(SYSTEMS, questions=20, seed=number, notebook="tier3_end_to_end")
        kept_runs.make(project / "reports", f"r{number}", same, other)
    done = call("compare", "r0", "r1", "--out", "d")
    said = "20 common questions, 0 fell out"
    assert f"tier1_retrieval, good: {said}; all 4 metrics are equal on all 20 questions" in done.output.splitlines()
    assert f"tier3_end_to_end, good: {said}" in done.output.splitlines()
    assert "good (B) − good (A):" in done.output
    assert "+0.0000" not in done.output
    index, page = (Path("d", name).read_text(encoding="utf-8") for name in ("index.html", "01-tier1_retrieval.html"))
    listed = index.partition("Equal on every question")[2]
    assert 'href="01-tier1_retrieval.html"' in listed
    assert "tier3_end_to_end.html" not in listed.partition("</ul>")[0]
    assert index.count("01-tier1_retrieval.html") == 1, "no block of its own"
    assert "On mrr, <b>good (B)</b> and good (A) are equal on every one of 20 questions." in page
    assert "All 4 metrics are equal on all 20 questions." in page
    assert "is not shown" not in page


def test_a_comparison_needs_no_database_where_there_are_folders(project: Path) -> None:
    for number in range(2):
        kept_runs.make(project / "elsewhere", f"r{number}", measurement(SYSTEMS, questions=20, seed=number))
    (project / "ragbench.toml").write_text('[database]\nfolder = "/proc/nowhere"\n', encoding="utf-8")
    done = call("compare", "elsewhere/r0", "elsewhere/r1", "--out", "difference")
    assert done.exit_code == 0, done.output
    assert "20 common questions, 0 fell out" in done.output


@pytest.mark.fault("changed", tried="two runs of different data, compared", count=1)
def test_other_data_is_refused_with_what_would_help(project: Path) -> None:
    for number in range(2):
        facts = {"data_hash": f"{number}" * 64}
        kept_runs.make(project / "reports", f"r{number}", measurement(SYSTEMS, questions=20, facts=facts))
    done = call("compare", "r0", "r1")
    assert "measured on other data: synthetic (000000000000) and synthetic (111111111111)" in str(done.exception)
    assert call("compare", "r0", "r1", "--on-common-questions", "--out", "d").exit_code == 0
    assert "the passages behind them may differ" in Path("d/01-tier1_retrieval.html").read_text(encoding="utf-8")


GATES = '[gate.keep]\nmetric = "mrr"\nsystem = "good"\nat_least = {limit}\n'


@pytest.mark.parametrize(("limit", "code", "word"), [(0.05, 0, "holds"), (0.99, 1, "fails"), (0.5, 2, "not enough")])
def test_a_finished_run_is_held_to_gates(project: Path, limit: float, code: int, word: str) -> None:
    kept_runs.make(project / "reports", "r0", measurement(SYSTEMS, questions=20))
    add(project, GATES.format(limit=limit))
    done = call("gate", "r0")
    assert done.exit_code == code
    assert word in done.output
    assert ("from the limit" in done.output) == (code == 2)
    assert kept_runs.read_json(project / "reports" / "r0" / "gate.json")["checks"][0]["gate"] == "keep"
    call("publish", "r0", "--to", "site", "--no-single")
    assert word in Path("site/summary.md").read_text(encoding="utf-8")
    assert "keep: mrr" in Path("site/junit.xml").read_text(encoding="utf-8")


def test_a_run_without_a_gate_to_hold_is_refused_at_once(project: Path) -> None:
    done = call("run", "tier1_retrieval", "--gate")
    assert "there is no gate to hold the report to" in str(done.exception)
    assert not (project / "reports").exists()


def test_the_history_has_every_run(two_runs: tuple[str, str]) -> None:
    done = call("history", "-m", "mrr", "-s", "good", "--out", "h", "--json", "h.json", "--limit", "1000")
    assert done.exit_code == 0, done.output
    points = [point for point in kept_runs.read_json(Path("h.json"))["points"] if point["run"] in two_runs]
    assert [point["run"] for point in points] == list(two_runs)
    assert all(point["low"] < point["value"] < point["high"] for point in points)
    page = Path("h/index.html").read_text(encoding="utf-8")
    assert all(name in page for name in two_runs)
    assert "no run has nonsense; metrics: " in str(call("history", "-m", "nonsense").exception)


def notebook(project: Path, code: str) -> Path:
    """A notebook whose only cell is `code`, beside the measurement of its name."""
    source = (
        "import os\nfrom pathlib import Path\nfrom tests.old.views.measurements import measurement\n"
        'measurement(questions=12, notebook="own").save(Path(os.environ["RAGBENCH_RUN_FOLDER"]) / "parts" / "own")\n'
    )
    return small_project.own_notebook(project, source + code)


@pytest.fixture
def with_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[4]))


@pytest.mark.slow
@pytest.mark.fault("flattering", tried="a run that fails is in the history", count=1)
@pytest.mark.usefixtures("with_tests")
def test_a_run_is_recorded_also_when_it_fails(project: Path) -> None:
    result = report.run([notebook(project, "raise RuntimeError('the judge is away')")], keep=True)
    assert (result.exit_code, result.unkept) == (4, "")
    found = _kept(result.folder.name)
    assert (found.status, found.parts[0].failure) == ("failed", "RuntimeError: the judge is away")
    assert found.of("own") is not None
    assert found.folder == result.folder.resolve()


@pytest.mark.slow
@pytest.mark.fault("database", tried="a server that stays away", count=1)
@pytest.mark.usefixtures("with_tests")
def test_a_database_that_is_away_loses_no_report(project: Path) -> None:
    (project / "ragbench.toml").write_text('[database]\nfolder = "/proc/nowhere"\n', encoding="utf-8")
    settings.load.cache_clear()
    result = report.run([notebook(project, "")], keep=True)
    assert result.exit_code == 0
    assert result.index.is_file()
    assert result.unkept
    assert "\n" not in result.unkept


RUNNER = """
import sys
from pathlib import Path
from ragbench.old import report
report.run([Path(sys.argv[1])], keep=True)
"""


@pytest.mark.fault("interrupt", tried="a run that is broken off", count=1)
@pytest.mark.usefixtures("with_tests")
@pytest.mark.slow
def test_an_interrupted_run_is_marked(project: Path) -> None:
    path = notebook(project, "import time; Path('began').touch(); time.sleep(60)")
    runner = subprocess.Popen([sys.executable, "-c", RUNNER, str(path)], cwd=project)
    end = time.monotonic() + 90
    while not (project / "began").exists():
        assert time.monotonic() < end
        time.sleep(0.1)
    runner.send_signal(signal.SIGTERM)
    assert runner.wait(60) == 143
    (partial,) = (project / "reports").glob("*.partial")
    assert kept_runs.read_json(partial / results.MANIFEST)["status"] == "interrupted"
    assert _kept(partial.name.removesuffix(".partial")).status == "interrupted"


def _kept(name: str) -> Any:
    from ragbench.old.store import Store
    from ragbench.old.store.runs import Runs

    with Store.open(settings.load()) as store:
        runs = Runs(store.engine)
        return max((runs.find(each) for each in runs.names() if each.split("~")[0] == name), key=lambda one: one.id)


def test_latest_is_the_newest_complete_report_also_where_links_cannot_be_made(project: Path) -> None:
    reports = project / "reports"
    for number, status in enumerate(("complete", "complete", "failed")):
        made = kept_runs.make(reports, f"2026110{number + 1}", measurement(SYSTEMS, questions=8))
        manifest = json.loads((made / "manifest.json").read_text(encoding="utf-8"))
        (made / "manifest.json").write_text(json.dumps({**manifest, "status": status}), encoding="utf-8")
    (reports / "latest").mkdir()
    (reports / "latest" / "index.html").write_text('<a href="../20261102/index.html">', encoding="utf-8")
    assert kept.folder_of("latest") == reports / "20261102"


def test_latest_is_never_the_run_of_another_project(project: Path, tmp_path: Path) -> None:
    """All projects of a machine share a database: what it has newest may be anybody's."""
    other = kept_runs.make(tmp_path / "other" / "reports", "20990101T000000-01", measurement(SYSTEMS, questions=8))
    kept.record(other)
    for words in (("render", "latest"), ("publish", "latest", "--to", "site"), ("runs", "delete", "latest")):
        done = ragbench(*words)
        assert done.returncode == 3, words
        assert "no complete run yet" in done.stderr or "there is no run 'latest'" in done.stderr
    assert not (other / "ru").exists()


@pytest.mark.slow
def test_a_run_held_to_a_gate_ends_with_its_code(project: Path) -> None:
    add(project, GATES.format(limit=0.99))
    words = ["run", "tier1_retrieval", "--systems", "good,poor", "-p", "resamples=200", "--gate"]
    done = ragbench(*words)
    assert done.returncode in (1, 2), done.stderr
    assert "gate keep" in done.stderr
    assert (project / "reports" / "latest" / "gate.json").is_file()
    listed = ragbench("runs", "--json", "--limit", "1000")
    name = (project / "reports" / "latest").resolve().name
    assert name in [each["id"].split("~")[0] for each in json.loads(listed.stdout)]


@pytest.mark.slow
def test_a_system_that_raised_at_some_questions_is_named_with_the_reason_by_every_reader(project: Path) -> None:
    (project / "shaky.py").write_text(
        "def search(question, k):\n"
        "    if 'q2' in question:\n"
        "        raise RuntimeError('shard 3 is <down>')\n"
        "    return ['a1']\n",
        encoding="utf-8",
    )
    add(project, '[systems.shaky]\ncallable = "shaky:search"\n')
    words = ("run", "tier1_retrieval", "-s", "good,shaky", "-p", "resamples=1000", "--trust")
    done = ragbench(*words, RAGBENCH_FAIL_ON_RAISED="true")
    sentence = "shaky raised at 1 of 3 questions: RuntimeError: shard 3 is <down>"
    assert done.returncode == 1
    assert sentence in done.stderr
    [*table, _why, path] = done.stdout.splitlines()
    assert path.endswith("index.html")
    assert [line.split()[:5] for line in table if line.startswith("Tier 1 ")] == [
        ["Tier", "1", "mrr@10", "good", "0.833"],
        ["Tier", "1", "mrr@10", "shaky", "0.333"],
    ], "the page's leading number by system"
    latest = project / "reports" / "latest"
    for page in ("index.html", "tier1_retrieval.html"):
        assert sentence.replace("<", "&lt;").replace(">", "&gt;") in (latest / page).read_text(encoding="utf-8")
    manifest = json.loads((latest / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["raised"]["tier1_retrieval"] == [
        {"system": "shaky", "failed": 1, "asked": 3, "reasons": ["RuntimeError: shard 3 is <down>"]}
    ]
    assert ragbench("publish", "latest", "--to", "site").returncode == 0
    failure = '<failure message="shaky raised at 1 of 3 questions'
    assert failure in (project / "site" / "junit.xml").read_text(encoding="utf-8")
    measured = {"tier1_retrieval": Measurement.load(latest / "parts" / "tier1_retrieval")}
    allowed = exports.junit(manifest | {"fail_on_raised": False}, measured, None, translator("en")).decode()
    assert "<system-out>shaky raised at 1 of 3 questions" in allowed
    assert "<failure" not in allowed
