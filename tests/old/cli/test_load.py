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
from typing import Any

import psycopg
import pytest

from ragbench.old import data
from ragbench.old.core import settings
from ragbench.old.data import DatasetError
from ragbench.old.tiers.retrieval import own_tables
from tests.old.cli.command_line import invoke
from tests.old.data import foreign_files as made
from tests.old.data.test_foreign import BROKEN, READERS
from tests.old.tiers.test_own_tables import own

__all__ = ["own"]


def ragbench(*words: object) -> str:
    done = invoke("load", *words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def load(project: Path, kind: str, rows: Any, *words: str, name: str = "desk") -> str:
    """What is said of rows that are loaded out of a file: answers as lines, all else as JSON."""
    path = project / ("set.jsonl" if kind == "answers" else "set.json")
    path.write_text((made.as_lines if kind == "answers" else made.as_json)(rows), encoding="utf-8")
    return ragbench(kind, path, "--name", name, *words)


def state(project: Path) -> dict[str, str]:
    """Every file below data/ with the hash of its content."""
    found = sorted(path for path in (project / "data").rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


KINDS = (
    (
        "questions",
        made.NEW_ITEMS,
        "2 passages on 2 pages, 3 questions (1 without a relevant passage), 2 questions of users, language ru",
    ),
    ("questions", made.ANNOTATED_ITEMS, "2 passages on 2 pages, 2 questions (0 without a relevant passage)"),
    ("decisions", made.DECISIONS, "3 decisions, language ru"),
    ("dialogues", made.DIALOGUES, "2 dialogues, language ru"),
    ("answers", made.ANSWERS, "3 passages, 2 questions (0 without a relevant passage), language ru"),
)


@pytest.mark.parametrize(("kind", "rows", "understood"), KINDS)
def test_a_kind_is_previewed_then_loaded(project: Path, kind: str, rows: Any, understood: str) -> None:
    before = state(project)
    preview = load(project, kind, rows, "--dry-run")
    assert f"set.json{'l' if kind == 'answers' else ''}: {understood}" in preview
    assert "nothing was written (--dry-run)" in preview
    assert state(project) == before
    assert "Next: ragbench run --dataset desk" in load(project, kind, rows)
    assert data.load("desk", project / "data").language == "ru"


def test_the_preview_shows_what_was_left_out_and_why(project: Path) -> None:
    preview = load(project, "questions", made.ANNOTATED_ITEMS, "--dry-run")
    assert "left out: 1 × question that people marked as not in order" in preview
    assert "note: 1 of 3 items carry no mark yet" in preview
    assert "i1  Когда открыта библиотека? → —  [11, 12, https://wiki.example/library]" in preview


def test_decisions_and_dialogues_join_a_data_set_and_change_nothing_that_earlier_runs_are_held_to(
    project: Path,
) -> None:
    load(project, "questions", made.NEW_ITEMS)
    before = data.load("desk", project / "data")
    load(project, "decisions", made.DECISIONS, "--add")
    load(project, "dialogues", made.DIALOGUES, "--add")
    after = data.load("desk", project / "data")
    assert (len(after.questions), len(after.decisions), len(after.dialogues)) == (3, 3, 2)
    assert (after.chunks, after.content_hash) == (before.chunks, before.content_hash)


def test_the_log_of_a_table_of_answers_is_a_system(project: Path) -> None:
    said = load(project, "answers", made.OLD_ANSWERS, name="pilot")
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
    with pytest.raises(DatasetError, match=r"shown: true or false, yes or no, да or нет, 1 or 0 is .* 'perhaps'"):
        ragbench("answers", str(project / "set.csv"), "--name", "other")


def test_the_chunks_of_a_whole_base_come_from_users_tables(project: Path, own: object) -> None:
    items = [
        {"question": "до скольки?", "ground_truth_answer": "До полуночи.", "chunk_id": 1, "relevant_chunk_ids": [1, 3]}
    ]
    alone = load(project, "questions", items, "--dry-run")
    assert "--chunks-from NAME or db:NAME" in alone
    assert "2 × label of a chunk whose text is not there" in alone
    load(project, "questions", items, "--chunks-from", "db:own")
    found = data.load("desk", project / "data")
    assert len(found.chunks) == 4
    assert dict(found.questions[0].relevant) == {"1": 1.0, "3": 1.0}


def test_a_users_database_is_looked_at_or_copied(project: Path, own: object) -> None:
    before = state(project)
    said = ragbench("database", "own")
    assert "db:own: 4 passages on 3 pages, 3 questions (0 without a relevant passage), 4 questions of users" in said
    assert "ragbench run real_users sources -d db:own" in said
    assert state(project) == before
    ragbench("database", "own", "--name", "copy")
    copy, read = data.load("copy", project / "data"), own_tables.read("own", settings.load())
    assert [chunk.text for chunk in copy.chunks] == [chunk.text for chunk in read.chunks]
    assert [past.id for past in copy.history] == [past.id for past in read.history]


@pytest.mark.fault("disk", tried="loads that break off", count=1)
def test_broken_files_leave_everything_as_it_was(project: Path) -> None:
    load(project, "questions", made.NEW_ITEMS)
    before, refused = state(project), 0
    for number, (kind, name, content, expected) in enumerate(BROKEN):
        path = project / f"{number}-{name}"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        try:
            READERS[kind](path)
        except DatasetError:
            refused += 1
        else:
            continue  # something of it can be used
        with pytest.raises(DatasetError) as error:
            ragbench(kind, path, "--name", "desk", "--replace")
        assert expected.split(":")[-1].strip()[:12] in str(error.value)
        assert state(project) == before, expected
    assert refused > 20


URL = "https://wiki.example/pages?q=" + "%D0%BF%D1%80" * 60
"""A real page's address in Russian words: 749 characters."""


def test_addresses_are_as_long_as_they_are(project: Path) -> None:
    items = [
        {**item, "confluence_url": URL + str(n), "relevant_urls": [URL + str(n)]}
        for n, item in enumerate(made.OLD_ITEMS)
    ]
    load(project, "questions", items)
    found = data.load("desk", project / "data")
    assert {chunk.url for chunk in found.chunks} == {URL + "0", URL + "1"}
    assert {question.cluster for question in found.questions} == {URL + "0", URL + "1"}
    with pytest.raises(DatasetError, match=r"confluence_url: a text of at most 8192 characters .* item 1"):
        load(project, "questions", [{**items[0], "confluence_url": URL * 12}], "--dry-run", name="other")


@pytest.mark.parametrize("url", [URL, "https://x.example/a\tb", URL * 12])
def test_a_dry_run_promises_only_what_loads(project: Path, own: psycopg.Connection, url: str) -> None:
    own.execute("INSERT INTO chunk VALUES (77, %s, 'Ещё один.', NULL)", (url,))
    before = state(project)
    said = []
    for words in (["--dry-run"], []):
        done = invoke("load", "database", "own", "--name", "copy", *words)
        said.append((done.exit_code, str(done.exception)))
        assert (state(project) == before) == bool(words or done.exit_code)
    assert said[0] == said[1]
    assert (said[1][0] == 0) == (url == URL)


def test_a_dry_run_of_an_addition_finds_what_contradicts_the_data_set(project: Path) -> None:
    load(project, "decisions", made.DECISIONS)
    before, other = state(project), [{**made.DECISIONS[0], "rationale": "Иначе."}]
    with pytest.raises(DatasetError, match="is there already, and differs"):
        load(project, "decisions", other, "--add", "--dry-run")
    with pytest.raises(DatasetError, match="there is no data set 'none'"):
        load(project, "decisions", other, "--add", "--dry-run", name="none")
    assert state(project) == before


def test_russian_decisions_without_contexts_are_russian(project: Path) -> None:
    rows = [{**decision, "context": ""} for decision in made.DECISIONS[::2]]
    said = load(project, "decisions", rows)
    assert "2 decisions, language ru" in said
    assert "note: 2 of 2 decisions carry no context: the offline judge decides none of them" in said
    assert data.load("desk", project / "data").language == "ru"
    added = load(project, "decisions", rows, "--add", "--dry-run", name="small")
    assert "2 decisions, language en" in added
    assert "note: the texts read as ru, and join the data set's en" in added


def test_the_preview_warns_of_what_the_page_will_warn_of(project: Path) -> None:
    items = [{**made.OLD_ITEMS[0], "question": made.OLD_ITEMS[0]["chunk_text"].upper()}, made.OLD_ITEMS[1]]
    said = load(project, "questions", items, "--dry-run")
    assert "warning: 1 of 2 labelled questions is word for word its own relevant passage" in said


def systems_in(said: str) -> dict[str, Any]:
    """The tables of systems that are to be added to the settings, as they are read then."""
    pasted = "".join(f"{head}\n{value}\n" for head, value in re.findall(r"(\[systems\..*\]) (results = .*)", said))
    return tomllib.loads(pasted)["systems"]


def test_every_system_of_a_table_keeps_its_own_answers(project: Path) -> None:
    names = ("Модель А", "Модель Б", "gpt-4.1", "plain")
    rows = [{**row, "system": name, "response": name} for name in names for row in made.ANSWERS]
    settings_of = systems_in(load(project, "answers", rows, name="pilot"))
    assert list(settings_of) == [f"pilot-{name}" for name in names]
    for name, table in zip(names, settings_of.values(), strict=True):
        lines = (project / table["results"]).read_text(encoding="utf-8").splitlines()
        assert {json.loads(line)["answer"] for line in lines} == {name}


@pytest.mark.fault("paths", tried="systems named in any alphabet, in loads of their own and together", count=12)
def test_systems_of_several_loads_never_take_each_others_answers(project: Path) -> None:
    names = ["базовая", "новая", "NEW", "new", "New", "й", "nul", "a/b", "a-b", "a b", "..", "x" * 150]

    def answers(chosen: list[str], *words: str) -> dict[str, str]:
        rows = [{**row, "system": name, "response": name} for name in chosen for row in made.ANSWERS]
        said = load(project, "answers", rows, *words, name="pilot")
        assert ("replaced in data/pilot: " in said) == bool(words)
        return {name: table["results"] for name, table in systems_in(said).items()}

    first = answers(names)
    assert len({place.lower() for place in first.values()}) == len(names)
    before = state(project)
    with pytest.raises(DatasetError, match="the data set pilot is there already"):
        answers(names[:1])
    assert state(project) == before
    for name in names:
        (place,) = answers([name], "--replace").values()
        assert place == first[f"pilot-{name}"]
        for other in set(names) - {name}:
            assert not (project / first[f"pilot-{other}"]).exists(), f"{other} would be measured on answers of {name}"


REPLACING = """
import sys
from pathlib import Path
from ragbench.old import data
from ragbench.old.data import Brought
number = int(sys.argv[2])
while True:
    number += 1
    text = f"number {number} "
    chunks = [data.ChunkRecord(id=f"c{n}", text=text * 50) for n in range(40)]
    asked = [data.QuestionRecord(id=f"q{n}", text=text) for n in range(40)]
    about = {"title": text, "licence": "CC0", "source": "s", "language": "en"}
    logged = {name: [{"id": "q1", "retrieved": [], "answer": text}] for name in ("a", "b")}
    data.write("desk", Path(sys.argv[1]), chunks=chunks, questions=asked, logged=logged, replace=True, **about)
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
        found = data.load("desk", tmp_path)
        text = found.title
        assert len({question.text for question in found.questions}) == len({chunk.text for chunk in found.chunks}) == 1
        assert found.questions[0].text.strip() == text.strip()
        assert found.chunks[0].text.startswith(text)
        for name in ("a", "b"):
            assert json.loads((tmp_path / "desk" / f"answers.{name}.jsonl").read_text())["answer"] == text
