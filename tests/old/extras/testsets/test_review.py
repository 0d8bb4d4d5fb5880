"""Drafts are read by people: what they accept is marked no more, what they reject is gone, what they dispute stays."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragbench.old import data
from ragbench.old.data.files import DatasetError
from ragbench.old.data.records import ChunkRecord, Dialogue, QuestionRecord, Turn
from tests.old.cli.command_line import invoke, one_line
from tests.old.extras.testsets import writer
from tests.old.llm.chat_server import ChatServer

labelling = pytest.importorskip("ragbench.old.extras.labelling")
annotation = pytest.importorskip("ragbench.old.extras.labelling.annotation")
Given = labelling.Given

CHUNKS = [ChunkRecord(id="a", text="It opens at nine.")]
QUESTIONS = [
    QuestionRecord(id=f"q{n}", text=f"When {n}?", reference="At nine.", relevant={"a": 1.0}, draft="unreviewed")
    for n in range(5)
] + [QuestionRecord(id="people", text="Who?")]
TALK = Dialogue(
    id="t", turns=(Turn(question="Where?", answer="There."), Turn(question="And when?")), draft="unreviewed"
)
RECORDS = data.Records(chunks=CHUNKS, questions=QUESTIONS, dialogues=[TALK])


def test_what_people_said_settles_each_draft() -> None:
    accept, reject = Given(1.0), Given(0.0)
    said = {"q0": {"anna": accept, "ben": accept}, "q1": {"anna": reject}, "q2": {"anna": accept, "ben": reject},
            "q3": {"anna": Given(2.0, "At what hour?")}, "t": {"ben": Given(2.0, "When is it?")}}  # fmt: skip
    made = annotation.reviewed(RECORDS, said)
    accepted = {record.id: record for record in made.accepted}
    assert {*accepted} == {"q0", "q3", "t"}
    assert {record.draft for record in made.accepted} == {"reviewed"}
    assert annotation.question_of(accepted["q3"]) == "At what hour?"
    assert annotation.question_of(accepted["t"]) == "Where?\nThere.\nWhen is it?"
    assert (made.rejected, made.disputed, made.open) == (("q1",), ("q2",), ("q4",))
    assert (made.annotators, made.shared) == (("anna", "ben"), 2)
    assert made.alpha is not None
    assert made.alpha.value < 0.5
    edited = annotation.reviewed(RECORDS, {"q0": {"anna": Given(2.0)}})
    assert edited.disputed == ("q0",), "to be put right, and nobody says how"
    alike = annotation.reviewed(RECORDS, {"q0": {"anna": accept, "ben": accept}}).alpha
    assert alike is not None
    assert math.isnan(alike.value), "raters without spread have no agreement"


def test_a_draft_is_read_with_its_passages_and_by_keys(tmp_path: Path) -> None:
    read = annotation.drafts_to_review(RECORDS)
    assert [item.id for item in read] == ["q0", "q1", "q2", "q3", "q4", "t"]
    assert (read[0].question, read[0].answer, read[0].contexts) == ("When 0?", "At nine.", ("It opens at nine.",))
    sheet = labelling.Sheet(read, annotation.SCALE, "anna", tmp_path / "s.csv")
    panel = labelling.Panel(sheet, annotation.METRIC, {0.0: "reject", 1.0: "accept", 2.0: "accept as the note has it"})
    assert [(choice["text"], choice["key"]) for choice in panel.fixed["choices"]] == [
        ("reject", "0"), ("accept", "1"), ("accept as the note has it", "2")
    ]  # fmt: skip
    panel.receive({"act": "give", "choice": 2, "code": read[0].code, "note": "At what hour?"})
    assert sheet.given(read[0]) == Given(2.0, "At what hour?")
    panel.receive({"act": "undo"})
    assert sheet.given(read[0]) == Given()


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(answer=writer.good).running() as running:
        yield running


def ran(*words: object, code: int = 0) -> str:
    done = invoke(*words)
    assert done.exit_code == code, (done.output, done.exception)
    return one_line(done.output)


def test_reviews_come_back_from_a_spreadsheet_and_change_the_data_set(project: Path, server: ChatServer) -> None:
    writer.base(project, server)
    ran("draft", "kb", "--judge", "writer", "--questions", "6", "--trust")
    before = data.load("kb", project / "data")
    number = len(before.questions) + len(before.dialogues)
    assert f"{number} drafts are in" in ran("review", "kb", "--annotator", "anna", "--sheet", "d.csv")
    with (project / "d.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for place, row in enumerate(rows[:-1]):
        row["value"] = "0" if place == 0 else "1"
    with (project / "d.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    said = ran("review", "kb", "--annotator", "anna", "--take", "d.csv")
    assert f"{number - 2} accepted, 1 rejected, 0 disputed, 1 not read; by anna" in said
    assert data.load("kb", project / "data") == before, "nothing is changed before --apply"
    ran("review", "kb", "--apply")
    after = data.load("kb", project / "data")
    assert len(after.questions) + len(after.dialogues) == number - 1
    states = [record.draft for record in (*after.questions, *after.dialogues)]  # type: ignore[attr-defined]
    assert sorted(states) == ["reviewed"] * (number - 2) + ["unreviewed"]
    assert (project / "data/kb/drafts.en.jsonl").is_file(), "the drafts' own file stays"
    ran("draft", "kb", "--judge", "writer", "--questions", "6")
    done = invoke("review", "kb", "--sheet", "e.csv")
    assert "say --annotator" in one_line(done.output)


def test_a_base_without_drafts_has_nothing_to_review(project: Path) -> None:
    with pytest.raises(DatasetError, match="small:en has no draft that nobody has reviewed"):
        annotation.sheet_of("small", "anna")
