"""`ragbench load`: every kind is previewed, then there; a broken file leaves everything as it was."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import psycopg
import pytest
from typer.testing import CliRunner

from ragbench import datasets, settings
from ragbench.__main__ import application
from ragbench.bench.retrieval import own_tables
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
    "decisions": (made.DECISIONS, "3 decisions, language ru"),
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
    copy, read = datasets.load("copy", project / "data"), own_tables.read("own", settings.load())
    assert [chunk.text for chunk in copy.chunks] == [chunk.text for chunk in read.chunks]
    assert [past.id for past in copy.history] == [past.id for past in read.history]


@pytest.mark.fault("disk", tried="loads that break off", count=1)
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


URL = "https://wiki.example/pages?q=" + "%D0%BF%D1%80" * 60
"""A real page's address in Russian words: 749 characters."""


def test_addresses_are_as_long_as_they_are(project: Path) -> None:
    items = [
        {**item, "confluence_url": URL + str(n), "relevant_urls": [URL + str(n)]}
        for n, item in enumerate(made.OLD_ITEMS)
    ]
    (project / "set.json").write_text(made.as_json(items), encoding="utf-8")
    ragbench("questions", str(project / "set.json"), "--name", "desk")
    found = datasets.load("desk", project / "data")
    assert {chunk.url for chunk in found.chunks} == {URL + "0", URL + "1"}
    assert {question.cluster for question in found.questions} == {URL + "0", URL + "1"}
    made_up = [{**items[0], "confluence_url": URL * 12}]
    (project / "set.json").write_text(made.as_json(made_up), encoding="utf-8")
    with pytest.raises(DatasetError, match=r"item 1: confluence_url = .*: a text of at most 8192 characters"):
        ragbench("questions", str(project / "set.json"), "--name", "other", "--dry-run")


@pytest.mark.parametrize("url", [URL, "https://x.example/a\tb", URL * 12])
def test_a_dry_run_promises_only_what_loads(project: Path, own: psycopg.Connection, url: str) -> None:
    own.execute("INSERT INTO chunk VALUES (77, %s, 'Ещё один.', NULL)", (url,))
    before = state(project)
    said = []
    for words in (["--dry-run"], []):
        done = CliRunner().invoke(application, ["load", "database", "own", "--name", "copy", *words])
        said.append((done.exit_code, str(done.exception)))
        assert (state(project) == before) == bool(words or done.exit_code)
    assert said[0] == said[1]
    assert (said[1][0] == 0) == (url == URL)


def test_a_dry_run_of_an_addition_finds_what_contradicts_the_data_set(project: Path) -> None:
    for name, rows in (("one", made.DECISIONS), ("two", [{**made.DECISIONS[0], "rationale": "Иначе."}])):
        (project / f"{name}.json").write_text(made.as_json(rows), encoding="utf-8")
    ragbench("decisions", str(project / "one.json"), "--name", "desk")
    before = state(project)
    with pytest.raises(DatasetError, match="is there already, and differs"):
        ragbench("decisions", str(project / "two.json"), "--name", "desk", "--add", "--dry-run")
    with pytest.raises(DatasetError, match="there is no data set 'none'"):
        ragbench("decisions", str(project / "two.json"), "--name", "none", "--add", "--dry-run")
    assert state(project) == before


def test_added_decisions_change_neither_the_base_nor_what_earlier_runs_are_held_to(project: Path) -> None:
    for name, rows in (("set", made.NEW_ITEMS), ("judge", made.DECISIONS)):
        (project / f"{name}.json").write_text(made.as_json(rows), encoding="utf-8")
    ragbench("questions", str(project / "set.json"), "--name", "desk")
    before = datasets.load("desk", project / "data")
    ragbench("decisions", str(project / "judge.json"), "--name", "desk", "--add")
    after = datasets.load("desk", project / "data")
    assert after.chunks == before.chunks
    assert after.content_hash == before.content_hash
    assert len(after.decisions) == 3


def test_russian_decisions_without_contexts_are_russian(project: Path) -> None:
    rows = [{**decision, "context": ""} for decision in made.DECISIONS[::2]]
    (project / "judge.json").write_text(made.as_json(rows), encoding="utf-8")
    said = ragbench("decisions", str(project / "judge.json"), "--name", "desk")
    assert "2 decisions, language ru" in said
    assert "note: 2 of 2 decisions carry no context: the offline judge decides none of them" in said
    assert datasets.load("desk", project / "data").language == "ru"
    added = ragbench("decisions", str(project / "judge.json"), "--name", "small", "--add", "--dry-run")
    assert "2 decisions, language en" in added
    assert "note: the texts read as ru, and join the data set's en" in added


def test_the_preview_warns_of_what_the_page_will_warn_of(project: Path) -> None:
    items = [{**made.OLD_ITEMS[0], "question": made.OLD_ITEMS[0]["chunk_text"].upper()}, made.OLD_ITEMS[1]]
    (project / "set.json").write_text(made.as_json(items), encoding="utf-8")
    said = ragbench("questions", str(project / "set.json"), "--name", "desk", "--dry-run")
    assert "warning: 1 of 2 labelled questions is word for word its own relevant passage" in said


def test_every_system_of_a_table_keeps_its_own_answers(project: Path) -> None:
    names = ("Модель А", "Модель Б", "gpt-4.1", "plain")
    rows = [{**row, "system": name, "response": name} for name in names for row in made.ANSWERS]
    (project / "set.jsonl").write_text(made.as_lines(rows), encoding="utf-8")
    said = ragbench("answers", str(project / "set.jsonl"), "--name", "pilot")
    pasted = "".join(f"{head}\n{value}\n" for head, value in re.findall(r"(\[systems\..*\]) (results = .*)", said))
    settings_of = tomllib.loads(pasted)["systems"]
    assert list(settings_of) == [f"pilot-{name}" for name in names]
    for name, table in zip(names, settings_of.values(), strict=True):
        lines = (project / table["results"]).read_text(encoding="utf-8").splitlines()
        assert {json.loads(line)["answer"] for line in lines} == {name}


@pytest.mark.fault("paths", tried="systems named in any alphabet, in loads of their own and together", count=12)
def test_systems_of_several_loads_never_take_each_others_answers(project: Path) -> None:
    names = ["базовая", "новая", "NEW", "new", "New", "й", "nul", "a/b", "a-b", "a b", "..", "x" * 150]

    def load(chosen: list[str], *words: str) -> dict[str, str]:
        rows = [{**row, "system": name, "response": name} for name in chosen for row in made.ANSWERS]
        (project / "set.jsonl").write_text(made.as_lines(rows), encoding="utf-8")
        said = ragbench("answers", str(project / "set.jsonl"), "--name", "pilot", *words)
        pasted = "".join(f"{head}\n{value}\n" for head, value in re.findall(r"(\[systems\..*\]) (results = .*)", said))
        assert ("replaced in data/pilot: " in said) == bool(words)
        return {name: table["results"] for name, table in tomllib.loads(pasted)["systems"].items()}

    first = load(names)
    assert len({place.lower() for place in first.values()}) == len(names)
    before = state(project)
    with pytest.raises(DatasetError, match="the data set pilot is there already"):
        load(names[:1])
    assert state(project) == before
    for name in names:
        (place,) = load([name], "--replace").values()
        assert place == first[f"pilot-{name}"]
        for other in set(names) - {name}:
            assert not (project / first[f"pilot-{other}"]).exists(), f"{other} would be measured on answers of {name}"


REPLACING = """
import sys
from pathlib import Path
from ragbench import datasets
from ragbench.datasets import Brought
number = int(sys.argv[2])
while True:
    number += 1
    text = f"number {number} "
    chunks = [datasets.ChunkRecord(id=f"c{n}", text=text * 50) for n in range(40)]
    asked = [datasets.QuestionRecord(id=f"q{n}", text=text) for n in range(40)]
    about = {"title": text, "licence": "CC0", "source": "s", "language": "en"}
    logged = {name: [{"id": "q1", "retrieved": [], "answer": text}] for name in ("a", "b")}
    datasets.write("desk", Path(sys.argv[1]), chunks=chunks, questions=asked, logged=logged, replace=True, **about)
    print(number, flush=True)
"""


@pytest.mark.slow
@pytest.mark.fault("kill", tried="a load that replaces a data set, killed in the middle", count=12)
def test_a_killed_load_leaves_the_old_or_the_new_data_set(tmp_path: Path) -> None:
    for attempt in range(12):
        worker = subprocess.Popen(
            [sys.executable, "-c", REPLACING, str(tmp_path), str(attempt * 1000)], stdout=subprocess.PIPE, text=True
        )
        assert worker.stdout is not None
        worker.stdout.readline()
        time.sleep(0.004 * attempt)
        worker.kill()
        worker.wait()
        worker.stdout.close()
        found = datasets.load("desk", tmp_path)
        text = found.title
        assert len({question.text for question in found.questions}) == len({chunk.text for chunk in found.chunks}) == 1
        assert found.questions[0].text.strip() == text.strip()
        assert found.chunks[0].text.startswith(text)
        for name in ("a", "b"):
            assert json.loads((tmp_path / "desk" / f"answers.{name}.jsonl").read_text())["answer"] == text
