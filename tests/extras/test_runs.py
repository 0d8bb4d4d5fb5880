"""Runs on disk: compared, held to gates, published, labelled, planned by."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ragbench.cli.main import run
from ragbench.core.frames import ESTIMATES, SCORES
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
    line = ["gate", "20261108", "--junit", "gates.xml", "--markdown", "gates.md"]
    assert run(line) == code
    assert ("<failure" in (reports / "gates.xml").read_text()) == (code != 0)
    assert "token_f1" in (reports / "gates.md").read_text()


def test_a_gate_of_an_unknown_metric_names_the_nearest(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = reports / "ragbench.toml"
    settings.write_text(settings.read_text() + '\n[gate.x]\nmetric = "token_f"\nat_least = 0.1\n')
    assert run(["gate", "20261108"]) == 3
    assert "token_f1" in capsys.readouterr().err


def test_what_is_published_holds_no_formula_and_no_address(reports: Path) -> None:
    assert run(["publish", "20261108", "--out", "public"]) == 0
    public = reports / "public"
    assert "me@example.org" not in (public / "index.html").read_text()
    answers = (public / "data" / "rag_metrics.answers.csv").read_text()
    assert "'=1+1" in answers
    assert "me@example.org" not in answers
    table = (public / "tables" / "rag_metrics.tex").read_text()
    assert "\\midrule" in table
    assert "better" in table
    data = pd.read_parquet(public / "data" / "rag_metrics.estimates.parquet")
    assert set(ESTIMATES.names) <= set(data.columns)


def test_publish_never_replaces_a_folder_of_other_files(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (reports / "mine").mkdir()
    (reports / "mine" / "thesis.tex").write_text("years of work")
    assert run(["publish", "20261108", "--out", "mine"]) == 3
    assert (reports / "mine" / "thesis.tex").read_text() == "years of work"
    assert "other files" in capsys.readouterr().err


def test_a_run_is_named_by_its_beginning_or_refused(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["gate", "202611"]) == 3
    assert "20261101, 20261108" in capsys.readouterr().err
    assert run(["gate", "2025"]) == 3
    assert "there is no run '2025'" in capsys.readouterr().err


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
    line = [
        "label",
        "20261101",
        "--page",
        "rag_metrics",
        "--take",
        "form.csv",
        "--json",
        "out.json",
    ]
    assert run(line) == 3  # v2 has no labels at all
    assert "label at least" in capsys.readouterr().err


def test_how_many_questions_are_needed(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "--matters", "0.05"]) == 0
    assert "937 independent questions" in capsys.readouterr().out
    assert run(["plan", "20261108", "--page", "rag_metrics", "--matters", "0.01"]) == 0
    assert "token_f1 of v2 against v1" in capsys.readouterr().out
    assert run(["plan", "--matters", "0.4"]) == 3
