"""`ragbench load`: every kind is previewed, then there; a broken file leaves everything as it was."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ragbench import datasets, settings
from ragbench.__main__ import application
from ragbench.bench import tables
from ragbench.datasets import DatasetError
from tests import foreign_files as made
from tests.test_datasets_foreign import BROKEN
from tests.test_own_tables import own

__all__ = ["own"]


def ragbench(*words: str) -> str:
    done = CliRunner().invoke(application, ["load", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def state(project: Path) -> dict[str, str]:
    """Every file below data/ with the hash of its content."""
    found = sorted(path for path in (project / "data").rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


KINDS = {
    "questions": (
        made.NEW_ITEMS,
        "2 chunks on 2 pages, 3 questions (1 without a relevant chunk), 2 history, language ru",
    ),
    "annotations": (made.ANNOTATED_ITEMS, "2 chunks on 2 pages, 2 questions (0 without a relevant chunk)"),
    "decisions": (made.DECISIONS, "1 chunks, 3 decisions, language ru"),
    "dialogues": (made.DIALOGUES, "2 dialogues, language ru"),
    "answers": (made.ANSWERS, "3 chunks, 2 questions (0 without a relevant chunk), language ru"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_previewed_then_loaded(project: Path, kind: str) -> None:
    rows, understood = KINDS[kind]
    (project / "set.json").write_text(made.as_json(rows), encoding="utf-8")
    before = state(project)
    preview = ragbench(kind, str(project / "set.json"), "--name", "desk", "--dry-run")
    assert f"set.json: {understood}" in preview
    assert "nothing was written (--dry-run)" in preview
    assert state(project) == before
    assert "Next: ragbench run --dataset desk" in ragbench(kind, str(project / "set.json"), "--name", "desk")
    assert datasets.load("desk", project / "data").language == "ru"


def test_the_preview_shows_what_was_left_out_and_why(project: Path) -> None:
    (project / "set.json").write_text(made.as_json(made.ANNOTATED_ITEMS), encoding="utf-8")
    preview = ragbench("annotations", str(project / "set.json"), "--name", "desk", "--dry-run")
    assert "left out: 1 × question that people marked as not in order" in preview
    assert "note: 1 of 3 items carry no mark yet" in preview
    assert "i1  Когда открыта библиотека? → —  [11, 12, https://wiki.example/library]" in preview


def test_decisions_and_dialogues_join_the_data_set_they_belong_to(project: Path) -> None:
    for name, rows in (("set", made.NEW_ITEMS), ("judge", made.DECISIONS), ("talks", made.DIALOGUES)):
        (project / f"{name}.json").write_text(made.as_json(rows), encoding="utf-8")
    ragbench("questions", str(project / "set.json"), "--name", "desk")
    ragbench("decisions", str(project / "judge.json"), "--name", "desk", "--add")
    ragbench("dialogues", str(project / "talks.json"), "--name", "desk", "--add")
    found = datasets.load("desk", project / "data")
    assert (len(found.questions), len(found.decisions), len(found.dialogues)) == (3, 3, 2)


def test_the_log_of_a_table_of_answers_is_a_system(project: Path) -> None:
    (project / "set.jsonl").write_text(made.as_lines(made.OLD_ANSWERS), encoding="utf-8")
    said = ragbench("answers", str(project / "set.jsonl"), "--name", "pilot")
    assert '[systems.pilot-logged] results = "data/pilot/answers.logged.jsonl"' in said
    lines = (project / "data" / "pilot" / "answers.logged.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["answer"] for line in lines] == ["С 9 до 21.", "Не знаю."]
    assert not any("shown" in line for line in lines)


def test_what_a_table_of_answers_says_was_shown_is_logged(project: Path) -> None:
    rows = ("id,question,answer,contexts,shown", "a,Когда?,В 9.,С 9.,да", "b,Где?,Там.,Тут.,0", "c,Кто?,Я.,Он.,")
    (project / "set.csv").write_text("\n".join(rows), encoding="utf-8")
    ragbench("answers", str(project / "set.csv"), "--name", "pilot")
    lines = (project / "data" / "pilot" / "answers.logged.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line).get("shown") for line in lines] == [True, False, None]
    (project / "set.csv").write_text("\n".join([rows[0], "a,Когда?,В 9.,С 9.,perhaps"]), encoding="utf-8")
    with pytest.raises(DatasetError, match="shown = 'perhaps': true or false, yes or no, да or нет, 1 or 0"):
        ragbench("answers", str(project / "set.csv"), "--name", "other")


def test_the_chunks_of_a_whole_base_come_from_users_tables(project: Path, own: object) -> None:
    items = [
        {"question": "до скольки?", "ground_truth_answer": "До полуночи.", "chunk_id": 1, "relevant_chunk_ids": [1, 3]}
    ]
    (project / "set.json").write_text(made.as_json(items), encoding="utf-8")
    with pytest.raises(DatasetError, match="no question is left"):
        ragbench("questions", str(project / "set.json"), "--name", "desk")
    ragbench("questions", str(project / "set.json"), "--name", "desk", "--chunks-from", "db:own")
    found = datasets.load("desk", project / "data")
    assert len(found.chunks) == 4
    assert dict(found.questions[0].relevant) == {"1": 1.0, "3": 1.0}


def test_a_users_database_is_looked_at_or_copied(project: Path, own: object) -> None:
    before = state(project)
    said = ragbench("database", "own")
    assert "db:own: 4 chunks on 3 pages, 3 questions (0 without a relevant chunk), 4 history, language ru" in said
    assert "ragbench run real_users sources -d db:own" in said
    assert state(project) == before
    ragbench("database", "own", "--name", "copy")
    copy, read = datasets.load("copy", project / "data"), tables.read("own", settings.load())
    assert [chunk.text for chunk in copy.chunks] == [chunk.text for chunk in read.chunks]
    assert [past.id for past in copy.history] == [past.id for past in read.history]


def test_broken_files_leave_everything_as_it_was(project: Path) -> None:
    (project / "set.json").write_text(made.as_json(made.NEW_ITEMS), encoding="utf-8")
    ragbench("questions", str(project / "set.json"), "--name", "desk")
    before = state(project)
    for number, (kind, name, content, expected) in enumerate(BROKEN):
        path = project / f"{number}-{name}"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(DatasetError) as error:
            ragbench(kind, str(path), "--name", "desk", "--replace")
        assert expected.split(":")[-1].strip()[:12] in str(error.value)
        assert state(project) == before, expected
