"""Runs on disk: compared, held to gates, published, labelled, planned by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from ragbench.cli.main import run
from ragbench.core.frames import ESTIMATES, SCORES
from ragbench.core.metric import CATALOGUE
from ragbench.stats import state

N = 60


def write_run(folder: Path, shift: float, text: str = "what is {}?") -> None:
    """Write the folder of a run with one page, two systems and one metric."""
    generator = np.random.default_rng(1)
    base = generator.uniform(0.2, 0.6, N)
    rows = []
    for system, gain in (("v1", 0.0), ("v2", shift)):
        for place, value in enumerate(base):
            noise = 0.02 * ((place * 7) % 5 - 2)
            score = min(value + gain + (noise if gain else 0.0), 1.0)
            rows.append((system, "token_f1", f"q{place}", f"q{place}", score, "ok", "", ""))
    scores = pd.DataFrame(rows, columns=SCORES.names)
    statement = state(scores)
    frames = folder / "frames" / "rag_metrics"
    frames.mkdir(parents=True)
    scores.to_parquet(frames / "scores.parquet")
    statement.estimates.to_parquet(frames / "estimates.parquet")
    statement.comparisons.to_parquet(frames / "comparisons.parquet")
    questions = {
        "question_id": [f"q{i}" for i in range(N)],
        "text": [text.format(i) for i in range(N)],
    }
    pd.DataFrame(questions).to_parquet(frames / "questions.parquet")
    answers = {
        "system": ["v1"] * N,
        "question_id": questions["question_id"],
        "repeat": 0,
        "answer": ["=1+1 me@example.org"] * N,
        "contexts": [["a passage"]] * N,
        "ranks": [[1, 2]] * N,
        "error": "",
    }
    pd.DataFrame(answers).to_parquet(frames / "answers.parquet")
    summary = {
        name: [
            {"page": "rag_metrics", **row} for row in json.loads(frame.to_json(orient="records"))
        ]
        for name, frame in (
            ("estimates", statement.estimates),
            ("comparisons", statement.comparisons),
        )
    }
    (folder / "summary.json").write_text(json.dumps(summary))
    page = {"name": "rag_metrics", "request": {"primary": "token_f1", "baseline": "v1"}}
    manifest = {"pages": [page], "git_commit": f"c{shift}", "versions": {"numpy": "2"}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "index.html").write_text("<p>write to me@example.org</p>")


@pytest.fixture
def reports(project: Path) -> Path:
    write_run(project / "reports" / "20261101", 0.0)
    write_run(project / "reports" / "20261108", 0.1)
    return project


def test_two_runs_are_compared_question_by_question(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", "20261101", "20261108", "--json", "out.json", "--out", "page"]) == 0
    rows = json.loads((reports / "out.json").read_text())["comparisons"]
    by_system = {row["system"]: row for row in rows}
    assert by_system["v1"]["word"] == "equal on every question"
    assert by_system["v2"]["word"] == "better"
    assert by_system["v2"]["difference"] == pytest.approx(0.1)
    assert by_system["v2"]["n"] == N
    changes = json.loads((reports / "out.json").read_text())["changes"]
    assert changes == [{"what": "code", "20261101": "c0.0", "20261108": "c0.1"}]
    assert (reports / "page" / "comparison.html").is_file()
    assert "better" in capsys.readouterr().out


def test_runs_of_other_questions_are_refused_until_common_ones_will_do(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(reports / "reports" / "20261115", 0.1, text="who is {}?")
    assert run(["compare", "20261101", "20261115"]) == 3
    assert "--common-questions" in capsys.readouterr().err


def test_three_runs_are_one_family_and_their_history_a_figure(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(reports / "reports" / "20261115", 0.2)
    line = ["compare", "20261101", "20261108,20261115", "--baseline", "20261115", "-s", "v2"]
    assert run([*line, "--json", "out.json", "--out", "page", "--latex", "table.tex"]) == 0
    rows = json.loads((reports / "out.json").read_text())["comparisons"]
    assert [(row["challenger"], row["baseline"]) for row in rows] == [
        ("20261101", "20261115"),
        ("20261108", "20261115"),
    ]
    assert {row["word"] for row in rows} == {"worse"}
    assert [row["difference"] for row in rows] == pytest.approx([-0.2, -0.1])
    assert {row["family"] for row in rows} == {"primary"}
    page = (reports / "page" / "comparison.html").read_text()
    assert "rag_metrics · token_f1" in page
    assert page.count('"name":"2026') == 3  # the figure has a sign a run
    assert "\\toprule" in (reports / "table.tex").read_text()
    assert run([*line[:-1], "v9"]) == 4
    assert "share no page" in capsys.readouterr().err
    assert run(["compare", "20261101", "20261108", "--baseline", "20261115"]) == 3
    assert "'20261115' is none of 20261101, 20261108" in capsys.readouterr().err


def test_what_changed_is_named_in_short_and_shown_at_length(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = reports / "reports" / "20261108" / "manifest.json"
    manifest = json.loads(file.read_text())
    versions = {f"p{n:02}": "1" * (60 + n) for n in range(42)}
    file.write_text(json.dumps(manifest | {"versions": versions | {"numpy": "2"}}))
    assert run(["compare", "20261101", "20261108", "--out", "page"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    first = ", ".join(f"versions.p0{n}" for n in range(4))
    assert f"changed: code, {first} and 38 more" in printed
    page = (reports / "page" / "comparison.html").read_text()
    # 40 rows, and cells of 60 letters.
    assert "versions.p38" in page
    assert "versions.p39" not in page
    assert f">{'1' * 60}<" in page
    assert f">{'1' * 57}…<" in page
    assert "1" * 61 not in page
    versions = {f"p{n}": "1" for n in range(4)}
    file.write_text(json.dumps(manifest | {"versions": versions | {"numpy": "2"}}))
    assert run(["compare", "20261101", "20261108"]) == 0
    assert "versions.p2, versions.p3\n" in capsys.readouterr().out


@pytest.mark.parametrize("count", [24, 25])
def test_a_long_table_of_compared_runs_is_folded(reports: Path, count: int) -> None:
    for name in ("20261101", "20261108"):
        file = reports / "reports" / name / "frames" / "rag_metrics" / "scores.parquet"
        scores = pd.read_parquet(file)
        others = [scores.assign(metric=f"mrr@{n}") for n in range(1, count)]
        pd.concat([scores, *others]).to_parquet(file)
    line = ["compare", "20261101", "20261108", "-s", "v2", "--draws", "1000", "--out", "page"]
    assert run(line) == 0
    page = (reports / "page" / "comparison.html").read_text()
    assert ("<summary>All numbers</summary>" in page) == (count == 25)


def test_tables_of_runs_are_compared_without_questions(project: Path) -> None:
    qrels = "".join(f"q{n} 0 d{n} 1\n" for n in range(40))
    (project / "qrels.txt").write_text(qrels)
    for name, rank in (("early", 2), ("late", 1)):
        lines = [
            f"q{n} Q0 {document} {place} {9 - place} bm25\n"
            for n in range(40)
            for document, place in (("x", 3 - rank), (f"d{n}", rank))
        ]
        (project / "bm25.run").write_text("".join(lines))
        assert run(["trec", "qrels.txt", "bm25.run", "-m", "mrr", "--out", name]) == 0
    assert run(["compare", "early", "late", "--json", "out.json"]) == 0
    row = json.loads((project / "out.json").read_text())["comparisons"][0]
    assert (row["metric"], row["difference"], row["n"]) == ("mrr", 0.5, 40)


def test_questions_that_runs_share_are_paired(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = reports / "reports" / "20261115"
    write_run(folder, 0.1)
    file = folder / "frames" / "rag_metrics" / "questions.parquet"
    questions = pd.read_parquet(file)
    questions.loc[:9, "text"] = "another question"
    questions.to_parquet(file)
    line = ["compare", "20261101", "20261115", "--json", "out.json"]
    assert run(line) == 3
    assert run([*line, "--common-questions"]) == 0
    assert "are not in all runs and were left out" in capsys.readouterr().err
    rows = json.loads((reports / "out.json").read_text())["comparisons"]
    assert {(row["n"], row["n_unmeasured"]) for row in rows} == {(50, 0)}


def test_results_are_compared_in_python(reports: Path) -> None:
    import ragbench as rb

    rows = [{"id": f"q{n}", "question": f"{n}?", "reference": "yes"} for n in range(40)]
    earlier, later = (
        rb.score([row | {"answer": "no" if n < wrong else "yes"} for n, row in enumerate(rows)], m)
        for wrong, m in ((20, ["token_f1"]), (0, ["token_f1"]))
    )
    comparison = rb.compare(earlier, later, draws=1_000)
    row = comparison.comparisons.iloc[0]
    assert (row["baseline"], row["challenger"]) == ("run 1", "run 2")
    assert (row["word"], row["difference"], row["n"]) == ("better", 0.5, 40)
    assert comparison.save(reports / "page").is_file()
    assert comparison.estimates["run"].tolist() == ["run 1", "run 2"]
    assert comparison.scores.groupby("run")["value"].mean().to_dict() == {"run 1": 0.5, "run 2": 1}
    assert [trace.name for trace in comparison.figure.data] == ["run 1", "run 2"]
    assert comparison.changes.empty
    assert "Nothing that the manifests name differs" in str(comparison)
    assert "run 2 against run 1: better" in str(comparison)
    told = [row | {"answer": "yes"} for row in rows]
    for row in told[30:]:
        row["reference"] = None
    holes = rb.score(told, ["token_f1"])
    untold = str(rb.compare(earlier, holes, draws=1_000))
    assert "run 2 against run 1: cannot be told. 10 of 40 pairs are unmeasured." in untold
    turned = rb.compare(earlier, later, baseline="run 2", draws=1_000)
    assert turned.comparisons["difference"].tolist() == [-0.5]


def rename_metric(folder: Path, name: str) -> None:
    file = folder / "frames" / "rag_metrics" / "scores.parquet"
    pd.read_parquet(file).assign(metric=name).to_parquet(file)


def test_a_metric_of_ones_own_is_compared_where_the_project_declares_it(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("20261101", "20261108"):
        rename_metric(reports / "reports" / name, "rudeness")
    assert run(["compare", "20261101", "20261108"]) == 4
    assert "nothing that the runs share can be better: rudeness" in capsys.readouterr().err
    settings = reports / "ragbench.toml"
    declared = '\n[metrics.rudeness]\nquestion = "Is it rude?"\nhigher_is_better = false\n'
    settings.write_text(settings.read_text() + declared)
    try:
        assert run(["compare", "20261101", "20261108", "-s", "v2", "--json", "out.json"]) == 0
    finally:
        CATALOGUE.pop("rudeness", None)
    rows = json.loads((reports / "out.json").read_text())["comparisons"]
    assert [row["word"] for row in rows] == ["worse"]


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (["20261101"], "two runs are compared"),
        (["20261101", "20261101"], "two runs are called 20261101"),
        (["20261101", "20261108", "--baseline", "2025"], "there are 20261101, 20261108"),
        (["20261101", "20261108", "--primary", "mrr"], "they share token_f1"),
    ],
)
def test_compare_refuses_in_a_sentence(
    reports: Path, runs: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *runs]) == 3
    assert said in capsys.readouterr().err
    (reports / "reports/20261108/frames/rag_metrics/scores.parquet").unlink()
    assert run(["compare", "20261101", "20261108"]) == 3
    assert "20261108 keeps no scores" in capsys.readouterr().err


GATES = """
[gate.low]
metric = "token_f1"
system = "v2"
at_least = {least}
"""


@pytest.mark.parametrize(("least", "code"), [(0.3, 0), (0.9, 1), (0.5, 2)])
def test_a_gate_ends_with_its_code(reports: Path, least: float, code: int) -> None:
    mean = pd.read_parquet(
        reports / "reports" / "20261108" / "frames" / "rag_metrics" / "estimates.parquet"
    )
    value = mean.loc[mean["system"] == "v2", "value"].item()
    # The mean is about .5: an interval around it holds neither side of a gate at its middle.
    bound = value if code == 2 else least
    settings = reports / "ragbench.toml"
    settings.write_text(settings.read_text() + GATES.format(least=bound))
    line = ["gate", "20261108", "--junit", "out/gates.xml", "--markdown", "gates.md"]
    assert run(line) == code
    written = (reports / "out" / "gates.xml").read_text()
    assert ("<failure" in written) == (code != 0)
    assert f'failures="{int(code != 0)}"' in written
    assert "token_f1" in (reports / "gates.md").read_text()


def change_rows(folder: Path, frame: str, **changes: object) -> dict[str, Any]:
    """Change the rows of v2 in the summary of a run; returns the first of them."""
    file = folder / "summary.json"
    summary = json.loads(file.read_text())
    rows = [row for row in summary[frame] if "v2" in (row.get("system"), row.get("challenger"))]
    for row in rows:
        row.update(changes)
    file.write_text(json.dumps(summary))
    return rows[0]


NO_INTERVAL = {"low": None, "high": None}
LOWER = {"metric": "hallucination"}
BAND = "\n[thresholds.specification.hallucination]\ngood = 0.6"


@pytest.mark.parametrize(
    ("gate", "changes", "code", "said"),
    [
        # The interval of v2 is about [.48, .52]; whose end is at the bound keeps it.
        ("at_least = {low}", {}, 0, "held"),
        ("at_least = {high}", {}, 2, "not enough evidence"),
        ("at_most = {high}", {}, 0, "held"),
        ("at_most = {low}", {}, 2, "not enough evidence"),
        ("at_most = 0.1", {}, 1, "<= 0.1"),
        ("at_least = 0.1\nat_most = 0.9", {}, 0, ">= 0.1 and <= 0.9"),
        ("at_least = 0.1\nat_most = 0.2", {}, 1, "failed"),
        ("at_least = 0.1", NO_INTERVAL, 2, "not enough evidence"),
        ("at_least = {value}", NO_INTERVAL, 2, "not enough evidence"),
        ("at_most = {value}", NO_INTERVAL, 2, "not enough evidence"),
        ("at_least = 0.9", NO_INTERVAL, 1, "failed"),
        ("at_least = 0.1", {"high": None}, 2, "not enough evidence"),
        ("at_least = 0.1", {"value": None, "n": 0, "n_unmeasured": 0}, 4, "nothing measured"),
        ("at_least = 0.1", {"value": None, "n": 0, "n_unmeasured": 9}, 4, "nothing measured"),
        ("at_least = 0.1", {"n": 49, "n_unmeasured": 1}, 0, "held"),
        ("at_least = 0.1", {"n": 48, "n_unmeasured": 1}, 1, "failed"),
        ('band = "excellent"', {"metric": "mrr"}, 1, ">= 0.8"),
        ('band = "good"', {"metric": "mrr"}, 2, ">= 0.5"),
        (f'band = "good"{BAND}', LOWER, 0, "<= 0.6"),
        (f'band = "excellent"{BAND}', LOWER, 3, "hallucination has no band 'excellent'"),
        ('band = "good"', {}, 3, "threshold set 'specification' has no token_f1"),
        ("at_least = 0.1", {"metric": "mine"}, 0, "held"),
        ("not_worse_by = 0.02", {}, 0, "not worse by 0.02"),
        ("not_worse_by = 0.02", LOWER, 1, "failed"),
        ("not_worse_by = 0.2", LOWER, 0, "held"),
        ("", {}, 3, "name one of at_least, at_most, not_worse_by, band; it has none"),
        ("at_least = 0.1\nnot_worse_by = 0.1", {}, 3, "it has at_least, not_worse_by"),
        ("at_least = 0.1\nat_most = 0.9\nnot_worse_by = 0.1", {}, 3, "name one of"),
        ('at_least = 0.1\npage = "tier9"', {}, 3, "no page 'tier9'; there are ['rag_metrics']"),
    ],
)
def test_a_gate_by_its_condition(
    reports: Path,
    gate: str,
    changes: dict[str, object],
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = reports / "reports" / "20261108"
    found = change_rows(folder, "estimates")
    change_rows(folder, "estimates", **changes)
    name = changes.get("metric", "token_f1")
    change_rows(folder, "comparisons", metric=name)
    text = f'\n[gate.x]\nmetric = "{name}"\nsystem = "v2"\n{gate.format(**found)}\n'
    (reports / "ragbench.toml").write_text((reports / "ragbench.toml").read_text() + text)
    assert run(["gate", "20261108", "--json", "gates.json"]) == code
    captured = capsys.readouterr()
    assert said in captured.out + captured.err


def test_a_gate_beside_the_baseline_says_its_condition_and_the_primary_verdict(
    reports: Path,
) -> None:
    settings = reports / "ragbench.toml"
    gate = '\n[gate.kept]\nmetric = "token_f1"\nsystem = "v2"\nnot_worse_by = 0.02\n'
    settings.write_text(settings.read_text() + gate)
    assert run(["gate", "20261108", "--markdown", "gates.md"]) == 0
    lines = (reports / "gates.md").read_text().splitlines()
    assert "| kept | v2 | token_f1 not worse by 0.02 | held |" in lines
    assert lines[-1].startswith("| rag_metrics | token_f1 | v2 | +0.1")
    assert lines[-1].endswith("] | better |")


@pytest.mark.parametrize("right", [(60, 60), (0, 60)])
def test_a_system_that_is_equal_or_better_everywhere_is_not_worse(
    reports: Path, right: tuple[int, int]
) -> None:
    import ragbench as rb

    rows = [
        {"question": f"{n}?", "answer": "a" if n < count else "b", "reference": "a", "system": name}
        for name, count in zip(("v1", "v2"), right, strict=True)
        for n in range(60)
    ]
    rb.score(rows, ["exact_match"]).save(reports / "reports" / "20261120")
    gate = '[gate.release]\nmetric = "exact_match"\nnot_worse_by = 0.02\n'
    (reports / "ragbench.toml").write_text(gate)
    assert run(["gate", "20261120"]) == 0


def test_what_cannot_be_told_is_published_without_a_difference(reports: Path) -> None:
    import ragbench as rb

    rows = [
        {"question": f"{n}?", "answer": "a", "reference": None if n < lacks else "a", "system": v}
        for v, lacks in (("v1", 0), ("v2", 20))
        for n in range(60)
    ]
    for row in rows[30:60]:
        row["answer"] = "b"
    rb.score(rows, ["exact_match"]).save(reports / "reports" / "20261120")
    gate = '[gate.g]\nmetric = "exact_match"\nnot_worse_by = 0.02\nmost_unmeasured = {}\n'
    for most, code in ((0.02, 1), (0.5, 2)):
        (reports / "ragbench.toml").write_text(gate.format(most))
        assert run(["gate", "20261120"]) == code
    assert run(["publish", "20261120", "--out", "site"]) == 0
    (table,) = (reports / "site").glob("**/*.tex")
    line = next(line for line in table.read_text().splitlines() if "cannot be told" in line)
    assert line.split(" & ")[3:5] == ["–", "–"]


def test_the_worst_gate_decides_the_code(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = reports / "reports" / "20261108"
    file = folder / "summary.json"
    file.write_text(file.read_text().replace('"v2"', '"v\\u00012"'))
    settings = reports / "ragbench.toml"
    before = settings.read_text()
    held = '[gate.held]\nmetric = "token_f1"\nat_least = 0.1\n'
    unclear = held.replace("held", "unclear").replace("0.1", "0.4\nat_most = 0.42")
    failed = held.replace("held", "failed").replace("0.1", "0.9")
    for gates, code in (("", 3), (held, 0), (held + unclear, 1), (unclear + failed + held, 1)):
        settings.write_text(f"{before}\n{gates}")
        assert run(["gate", "20261108", "--junit", "gates.xml"]) == code
    assert "ragbench.toml has no [gate.NAME]" in capsys.readouterr().err
    # A control character is no XML.
    suite = ElementTree.parse(reports / "gates.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("6", "4")
    assert suite[0].get("name", "").endswith("(v1)")
    assert len(suite.findall("testcase/failure")) == 4


def test_a_run_of_one_system_has_gates_and_is_published(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = reports / "reports" / "20261108" / "summary.json"
    summary = json.loads(file.read_text()) | {"comparisons": []}
    file.write_text(json.dumps(summary))
    settings = reports / "ragbench.toml"
    before = settings.read_text()
    gate = '\n[gate.x]\nmetric = "token_f1"\n'
    settings.write_text(f"{before}{gate}not_worse_by = 0.1\n")
    assert run(["gate", "20261108"]) == 4
    assert "gate.x: the run has nothing to hold to it" in capsys.readouterr().err
    settings.write_text(f"{before}{gate}at_least = 0.1\n")
    assert run(["gate", "20261108", "--markdown", "gates.md"]) == 0
    assert run(["publish", "20261108"]) == 0
    assert "v2" in (reports / "public" / "tables" / "rag_metrics.tex").read_text()


def test_a_gate_of_an_unknown_metric_names_the_nearest(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = reports / "ragbench.toml"
    settings.write_text(settings.read_text() + '\n[gate.x]\nmetric = "token_f"\nat_least = 0.1\n')
    assert run(["gate", "20261108"]) == 3
    assert "token_f1" in capsys.readouterr().err


def test_a_gate_without_a_cut_off_is_shown_the_labels_that_have_one(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = reports / "reports" / "20261108" / "summary.json"
    file.write_text(file.read_text().replace('"token_f1"', '"mrr@10"'))
    settings = reports / "ragbench.toml"
    settings.write_text(settings.read_text() + '\n[gate.x]\nmetric = "mrr"\nat_least = 0.1\n')
    assert run(["gate", "20261108"]) == 3
    assert "no metric 'mrr' in the run; there are mrr@10" in capsys.readouterr().err


def test_what_is_published_holds_no_formula_and_no_address(reports: Path) -> None:
    public = reports / "public"
    public.mkdir()
    (reports / "reports" / "20261108" / "logo.png").write_bytes(b"\xff")
    assert run(["publish", "20261108", "--out", "public"]) == 0
    assert (public / "logo.png").read_bytes() == b"\xff"
    assert "me@example.org" not in (public / "index.html").read_text()
    answers = (public / "data" / "rag_metrics.answers.csv").read_text()
    assert "'=1+1" in answers
    assert "me@example.org" not in answers
    table = (public / "tables" / "rag_metrics.tex").read_text()
    assert "\\midrule" in table
    assert "better" in table
    data = pd.read_parquet(public / "data" / "rag_metrics.estimates.parquet")
    assert set(ESTIMATES.names) <= set(data.columns)


HOSTILE = "<script>alert(1)</script> | $x_{1}% & \\input{/etc/passwd}"


@pytest.mark.parametrize("most_written", [1_500, 0])
def test_a_real_run_with_hostile_texts_is_published(
    reports: Path, most_written: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    import base64
    import gzip
    import re

    import ragbench as rb
    from ragbench.views import questions as view

    monkeypatch.setattr(view, "MOST_WRITTEN", most_written)  # 0: what unfolds is packed
    secret = "call +7 912 345-67-89 or anna@example.org, account 40817810099910004312"
    rows = [
        {"id": f"100000000{n}", "system": system, "question": f"=1+{n} {HOSTILE}"}
        | {"answer": f"{secret} {system}", "reference": f"{n} {secret}"}
        for n in range(30)
        for system in ("v1", HOSTILE)
    ]
    rb.score(rows, ["token_f1", "rougeL_f"], draws=1_000).save(reports / "reports" / "real")
    assert run(["publish", "real", "--out", "public"]) == 0
    public = reports / "public"
    page = (public / "rag_metrics.html").read_text()
    assert "<script>alert(1)" not in page
    packed = re.findall(r'class="packed">([^<]+)<', page)
    assert len(packed) == (most_written == 0)
    unpacked = "".join(gzip.decompress(base64.b64decode(text)).decode() for text in packed)
    for text in (page, unpacked, *(path.read_text() for path in public.glob("data/*.csv"))):
        assert "anna@example.org" not in text
        assert "345-67" not in text
        assert "99910004312" not in text
    questions = pd.read_parquet(public / "data" / "rag_metrics.questions.parquet")
    assert questions["question_id"].tolist()[:2] == ["1000000000", "1000000001"]
    scores = pd.read_parquet(public / "data" / "rag_metrics.scores.parquet")
    assert scores["unit"][0] == "1000000000"
    assert "\n1000000000,'=1+0" in (public / "data" / "rag_metrics.questions.csv").read_text()
    latex = (public / "tables" / "rag_metrics.tex").read_text()
    assert "\\input{" not in latex
    assert "\\$x\\_\\{1\\}\\% \\&" in latex
    markdown = (public / "summary.md").read_text()
    assert "<script>" not in markdown
    assert "\\| $x_{1}" in markdown


def test_publish_never_replaces_a_run(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["publish", "20261108", "--out", "reports/20261101"]) == 3
    assert (reports / "reports" / "20261101" / "frames").is_dir()
    assert "other files" in capsys.readouterr().err
    (reports / "reports" / "20261108" / "page.ipynb").write_text("me@example.org")
    for _ in range(2):
        assert run(["publish", "20261108", "--out", "public"]) == 0
    assert not list((reports / "public").glob("*.ipynb"))


def test_texts_are_published_as_they_are_for_who_says_so(reports: Path) -> None:
    assert run(["publish", "20261108", "--no-mask", "--raw-csv"]) == 0
    assert "me@example.org" in (reports / "public" / "index.html").read_text()
    answers = (reports / "public" / "data" / "rag_metrics.answers.csv").read_text()
    assert "=1+1 me@example.org" in answers
    assert "'=1+1" not in answers


@pytest.mark.parametrize(
    "files", ["thesis.tex", "summary.md", "data/x.csv", "summary.md data/x.csv frames/x.parquet"]
)
def test_publish_never_replaces_a_folder_of_other_files(
    reports: Path, files: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in files.split():
        (reports / "mine" / name).parent.mkdir(parents=True, exist_ok=True)
        (reports / "mine" / name).write_text("years of work")
    assert run(["publish", "20261108", "--out", "mine"]) == 3
    assert (reports / "mine" / name).read_text() == "years of work"
    assert "other files" in capsys.readouterr().err


def test_a_run_is_named_by_its_beginning_or_refused(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["gate", "202611"]) == 3
    assert "20261101, 20261108" in capsys.readouterr().err
    assert run(["gate", "2025"]) == 3
    assert "there is no run '2025'" in capsys.readouterr().err
    (reports / "reports" / "20261101").rename(reports / "reports" / "20251101")
    assert run(["publish", "2025"]) == 0


def test_labels_of_people_correct_a_judge(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    form = reports / "form.csv"
    line = ["label", "20261101", "--page", "rag_metrics", "--form", "form.csv", "--limit", "30"]
    assert run(line) == 0
    frame = pd.read_csv(form, dtype=str, keep_default_na=False)
    assert len(frame) == 30
    assert set(frame["label"]) == {""}
    scores = pd.read_parquet(
        reports / "reports" / "20261101" / "frames" / "rag_metrics" / "scores.parquet"
    )
    judged = scores[scores["system"] == "v1"].set_index("question_id")["value"]
    # People give each answer .1 less than the judge.
    frame["label"] = [f"{judged[question] - 0.1:.4f}" for question in frame["question_id"]]
    frame.to_csv(form, index=False)
    line = ["label", "20261101", "--page", "rag_metrics", "--take", "form.csv"]
    assert run([*line, "--json", "out.json", "--width", "0.01"]) == 0
    captured = capsys.readouterr()
    assert "without labels, and left out: v2" in captured.err
    rows = json.loads((reports / "out.json").read_text())["means"]
    means = {row["mean"]: row for row in rows}
    assert {row["system"] for row in rows} == {"v1"}
    corrected, alone = means["corrected"], means["judge alone"]
    assert corrected["value"] == pytest.approx(alone["value"] - 0.1, abs=2e-3)
    assert corrected["n"] == 30
    # The judge is always off by the same, so that what people add is known at once.
    assert (
        corrected["high"] - corrected["low"]
        < means["people alone"]["high"] - means["people alone"]["low"]
    )
    width = corrected["high"] - corrected["low"]
    needed = int(np.ceil(30 * (width / 0.01) ** 2))
    assert f"v1: {needed:,} labels for an interval of 0.01" in captured.out
    assert run([*line, "--width", "0.000001"]) == 3
    assert "more than 1,000,000 labels" in capsys.readouterr().err


def test_labels_are_refused_in_a_sentence(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["label", "20261101"]) == 3
    assert "--form FILE writes" in capsys.readouterr().err
    assert run(["label", "20261101", "--form", "form.csv"]) == 3
    assert "--page names one of rag_metrics" in capsys.readouterr().err
    line = ["label", "20261101", "--page", "rag_metrics"]
    answers = reports / "reports" / "20261101" / "frames" / "rag_metrics" / "answers.parquet"
    frame = pd.read_parquet(answers)
    frame.loc[0, "error"], frame.loc[1, "repeat"] = "timeout", 1
    frame.to_parquet(answers)
    assert run([*line, "--form", "forms/form.csv"]) == 0
    assert len(pd.read_csv(reports / "forms" / "form.csv")) == N - 2
    assert run([*line, "--form", "form.csv"]) == 0
    assert run([*line, "--take", "form.csv", "--primary", "mrr"]) == 3
    assert "no scores of 'mrr'; there are token_f1" in capsys.readouterr().err
    assert run(["label", "20261101", "--take", "form.csv"]) == 3
    assert "--page names one of rag_metrics" in capsys.readouterr().err
    (reports / "other.csv").write_text("system,label\nv1,1\n")
    assert run([*line, "--take", "other.csv"]) == 3
    assert "has no column question_id" in capsys.readouterr().err
    assert run([*line, "--take", "form.csv"]) == 3
    assert "fill the column label" in capsys.readouterr().err
    frame = pd.read_csv(reports / "form.csv", dtype=str, keep_default_na=False)
    frame.loc[0, "label"] = "good"
    frame.to_csv(reports / "form.csv", index=False)
    assert run([*line, "--take", "form.csv"]) == 3
    assert "good" in capsys.readouterr().err
    answers.unlink()
    assert run([*line, "--form", "form.csv"]) == 3
    assert "--page names one of none" in capsys.readouterr().err


def test_how_many_questions_are_needed(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "--matters", "0.05", "--json", "plan.json"]) == 0
    assert "937 independent questions" in capsys.readouterr().out
    planned = json.loads((reports / "plan.json").read_text())
    assert planned["needed"] == 937
    assert [row["n"] for row in planned["power"]] == [30, 60, 100, 200, 400, 800]
    assert run(["plan", "--matters", "0.05", "--comparisons", "20", "--json", "more.json"]) == 0
    more = json.loads((reports / "more.json").read_text())
    assert more["needed"] > 937
    assert more["power"][-1]["power"] < planned["power"][-1]["power"] - 0.2
    assert run(["plan", "--matters", "0.3", "--disagreement", "0.5", "--comparisons", "600"]) == 0
    # Nearly four of five studies of 800 questions show it, and every third of 200.
    assert planned["power"][-1]["power"] == pytest.approx(0.74, abs=0.06)
    # The page's primary metric is meant, and not the first.
    file = reports / "reports/20261108/frames/rag_metrics/scores.parquet"
    scores = pd.read_parquet(file)
    pd.concat([scores.assign(metric="bleu"), scores]).to_parquet(file)
    line = ["plan", "20261108", "--page", "rag_metrics", "--matters", "0.01"]
    needed = []
    manifest = reports / "reports/20261108/manifest.json"
    for more, what in (
        ([], "token_f1 of v2 against v1"),
        (["--comparisons", "5", "--baseline", "v2", "--primary", "BLEU"], "bleu of v1 against v2"),
    ):
        assert run([*line, *more, "--json", "plan.json"]) == 0
        assert what in capsys.readouterr().out
        needed.append(json.loads((reports / "plan.json").read_text())["needed"])
    assert needed[0] < needed[1]
    # Of a page without a primary metric and a baseline the first are meant.
    manifest.write_text(manifest.read_text().replace("primary", "x").replace("baseline", "y"))
    assert run(line) == 0
    assert "bleu of v2 against v1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--matters 0.3", "differ by less than 0.3 in the mean: --matters is 0.3"),
        ("20261108", "no page 'tier1_retrieval' with scores; there are rag_metrics"),
        ("20261108 --page rag_metrics --primary mrr", "no metric 'mrr'; there are token_f1"),
        ("20261108 --page rag_metrics --baseline v3", "two systems; rag_metrics has v1, v2"),
    ],
)
def test_a_plan_is_refused_in_a_sentence(
    reports: Path, line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", *line.split()]) == 3
    assert said in capsys.readouterr().err
