"""nuggets, and the notebook that shows them, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from ragbench.cli.main import run

ROWS = """id,system,question,answer,reference
q1,a,where is the library?,in House 2,The library is in House 2.
q2,a,what is a copy?,five roubles,Five roubles a page.
q1,b,where is the library?,ask the office,The library is in House 2.
"""
JUDGE = """
def reply(prompt):
    if "List the nuggets" in prompt:
        if "what is a copy" in prompt:
            return {"nuggets": []}
        fact = {"text": "it is in House 2", "importance": "VITAL"}
        return {"nuggets": [fact, {"text": "it opens at nine", "importance": "okay"}]}
    said = "full" if "in House 2" in prompt.split("Answer:")[1].split("Nuggets:")[0] else "none"
    grades = [{"index": 1, "reason": "r", "verdict": said}]
    return {"verdicts": grades + [{"index": 2, "reason": "r", "verdict": "partial"}]}
"""

SEEING = """
def reply(prompt):
    counts = [str(prompt.count(word)) for word in ("one\\n", "two\\n", "three")]
    counts += ["in Russian"] * any("а" <= letter <= "я" for letter in prompt)
    return {"nuggets": [{"text": "passages " + " ".join(counts), "importance": "okay"}]}
"""


@pytest.fixture
def answers(office: Path) -> Path:
    (office / "answers.csv").write_text(ROWS)
    (office / "scripted_judge.py").write_text(JUDGE)
    return office


def test_a_judge_lists_nuggets_and_the_edited_table_is_scored(
    answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["nuggets", "answers.csv", "--judge", "script", "--plan"]) == 0
    assert not (answers / "nuggets.jsonl").exists()
    assert run(["nuggets", "answers.csv", "--judge", "script"]) == 0
    assert "1 questions have no nuggets" in capsys.readouterr().err
    rows = [json.loads(line) for line in (answers / "nuggets.jsonl").read_text().splitlines()]
    listed = {"it is in House 2": "vital", "it opens at nine": "okay"}
    assert [row.get("nuggets") for row in rows] == [listed, None, listed]
    # A person strikes what is no fact, and adds one for the other question.
    for row in rows:
        row["nuggets"] = {"it is in House 2": "vital"} if row["id"] == "q1" else {"five": "okay"}
    (answers / "nuggets.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    grade = JUDGE.replace(' + [{"index": 2, "reason": "r", "verdict": "partial"}]', "")
    (answers / "scripted_judge.py").write_text(grade)
    import sys

    sys.modules.pop("scripted_judge")
    line = ["score", "nuggets.jsonl", "-m", "nugget_score", "--judge", "script"]
    assert run([*line, "--json", "out.json"]) == 0
    scores = json.loads((answers / "out.json").read_text())["scores"]
    values = {(row["system"], row["question_id"]): row["value"] for row in scores}
    assert values == {("a", "q1"): 1, ("a", "q2"): 0, ("b", "q1"): 0}


def test_verdicts_are_counted_and_what_is_wanting_is_named(answers: Path) -> None:
    import ragbench as rb
    from ragbench.extras.answers.views import missing_most, verdict_counts

    table = pd.read_csv(answers / "answers.csv")
    table["nuggets"] = [json.dumps({"it is in House 2": "vital", "at nine": "okay"})] * 3
    result = rb.score(table, ["nugget_score"], judge="script")
    counted = str(verdict_counts(result))
    # Of four verdicts on a one is full and one none, of two on b one none; the rest in part.
    for metric, a, b in (("full", "1 · 25 %", "0 · 0 %"), ("partial", "2 · 50 %", "1 · 50 %")):
        row = next(line for line in counted.splitlines() if f"nugget_score · {metric}" in line)
        assert row.split(metric)[1].split() == f"{a} {b}".split()
    wanting = str(missing_most(result))
    assert [line.split()[-3:] for line in wanting.splitlines() if "House 2" in line] == [
        ["2", "a,", "b"]
    ]
    assert "at nine" not in wanting
    plain = rb.score(table, ["token_f1"])
    assert verdict_counts(plain) is None
    assert missing_most(plain) is None


def test_nuggets_of_a_sample_of_questions(answers: Path) -> None:
    line = ["nuggets", "answers.csv", "--judge", "script", "--out", "few.jsonl", "--limit", "1"]
    assert run(line) == 0
    rows = [json.loads(line) for line in (answers / "few.jsonl").read_text().splitlines()]
    # The first question, of both systems.
    assert [(row["id"], row["system"]) for row in rows] == [("q1", "a"), ("q1", "b")]


def test_passages_of_all_systems_are_shown_once(answers: Path) -> None:
    (answers / "scripted_judge.py").write_text(SEEING)
    rows = [
        {"id": "q1", "system": system, "question": "?", "answer": "a", "contexts": contexts}
        for system, contexts in (
            ("a", ["one", "two", "", *map(str, range(17))]),
            ("b", ["two", "three", "three more"]),
            ("c", []),
        )
    ]
    (answers / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    assert run(["nuggets", "rows.jsonl", "--judge", "script"]) == 0
    first = json.loads((answers / "nuggets.jsonl").read_text().splitlines()[0])
    # The twentieth is the last.
    assert first["nuggets"] == {"passages 1 1 1": "okay"}
    settings = answers / "ragbench.toml"
    settings.write_text('language = "ru"\n' + settings.read_text())
    assert run(["nuggets", "rows.jsonl", "--judge", "script"]) == 0
    first = json.loads((answers / "nuggets.jsonl").read_text().splitlines()[0])
    assert first["nuggets"] == {"passages 1 1 1 in Russian": "okay"}
    assert run(["nuggets", "rows.jsonl", "--judge", "script", "--language", "en"]) == 0
    first = json.loads((answers / "nuggets.jsonl").read_text().splitlines()[0])
    assert first["nuggets"] == {"passages 1 1 1": "okay"}


def test_one_model_lists_nuggets(answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for judges in ([], ["--judge", "lexical"], ["--judge", "script,script"]):
        assert run(["nuggets", "answers.csv", *judges]) == 3
        assert "one judge lists nuggets" in capsys.readouterr().err


def test_a_notebook_of_an_annex_is_known(answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run", "answers_item"]) == 3
    assert "did you mean 'answers_items'" in capsys.readouterr().err


@pytest.mark.slow  # a kernel starts
def test_a_notebook_of_an_annex_is_run_by_its_name(answers: Path) -> None:
    table = pd.read_csv(answers / "answers.csv")
    table["nuggets"] = [json.dumps({"it is in House 2": "vital", "at nine": "okay"})] * 3
    table.to_csv(answers / "answers.csv", index=False)
    line = ["run", "answers_items", "-p", "answers=answers.csv", "-j", "script", "--out", "report"]
    assert run(line) == 0
    page = (answers / "report" / "answers_items.html").read_text()
    assert "What was said, item by item" in page
    scores = pd.read_parquet(answers / "report" / "frames" / "answers_items" / "scores.parquet")
    # One nugget in full and one in part of two, or in part alone.
    assert scores["value"].tolist() == [0.75, 0.25, 0.25]
