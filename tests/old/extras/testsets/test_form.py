"""A form goes out with no mark filled in, is marked, and comes back without what people found not in order."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from ragbench.old.core.endings import Ending
from ragbench.old.data import foreign_sets
from ragbench.old.data.folder import Records
from ragbench.old.data.records import ChunkRecord, QuestionRecord
from ragbench.old.extras.testsets.command import MARKS, marking_form
from tests.old.cli.command_line import ragbench


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.open(encoding="utf-8", newline="")))


@pytest.mark.usefixtures("project")
def test_what_is_marked_comes_back_and_an_empty_mark_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "form.csv"
    said = ragbench("form", "small", "--to", str(path))
    assert said.returncode == 0, said.stderr
    assert "--name small-checked --chunks-from small" in said.stdout
    rows, records = rows_of(path), Records.read(tmp_path / "data" / "small", "en")
    assert [row["question"] for row in rows] == [question.text for question in records.questions]
    assert {row[mark] for row in rows for mark in MARKS} == {""}, "nobody has said anything yet"
    base = {chunk.id: chunk for chunk in records.chunks}
    whole = foreign_sets.questions(path, base=base)
    assert [(one.id, set(one.relevant)) for one in whole.questions] == [
        (one.id, set(one.relevant)) for one in records.questions
    ]
    rows[0]["is_question_ok"] = "0"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    left = foreign_sets.questions(path, base=base)
    assert [one.id for one in left.questions] == [row["id"] for row in rows[1:]]
    again = ragbench("form", "small", "--to", str(path))
    assert again.returncode == Ending.REFUSED
    assert "marks may stand in it" in " ".join(again.stderr.replace("│", " ").split())


def test_no_text_is_a_formula_in_the_form_and_each_comes_back_as_it_was(tmp_path: Path) -> None:
    asked = QuestionRecord(id="q", text="=HYPERLINK(1)?", reference="-5 degrees", relevant={"c": 1.0})
    path = tmp_path / "form.csv"
    path.write_text(marking_form([asked], {"c": ChunkRecord(id="c", text="@home it is cold.")}), encoding="utf-8")
    [row] = rows_of(path)
    assert (row["question"], row["ground_truth_answer"]) == ("'=HYPERLINK(1)?", "'-5 degrees")
    back = foreign_sets.questions(path)
    assert [(one.text, one.reference) for one in back.questions] == [(asked.text, asked.reference)]
    assert [one.text for one in back.chunks] == ["@home it is cold."]
