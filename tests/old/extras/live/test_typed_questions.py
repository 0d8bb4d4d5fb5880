"""A question typed now: rankings, answers and times of all systems, what fails in its column, nothing paid twice."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ragbench.old as rb
from ragbench.old.core import settings
from ragbench.old.data import DatasetError
from ragbench.old.embed import hashing
from ragbench.old.extras.live import typed_questions
from ragbench.old.extras.live.responses import WIDTH
from ragbench.old.extras.live.typed_questions import ask
from ragbench.old.tiers import BenchError
from tests.old.cli.command_line import ragbench
from tests.old.llm.chat_server import ChatServer
from tests.old.small_project import add, write_lines
from tests.old.tiers import answer_project
from tests.old.tiers.test_objects import ASKED, PASSAGES, answering
from tests.old.tiers.test_objects import place as place

LUNCH = "How much is lunch in the canteen?"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(answer=lambda body: "It is 250 roubles.").running() as one:
        yield one


@pytest.fixture
def project(
    tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch, server: ChatServer
) -> Iterator[Path]:
    monkeypatch.setenv("RAGBENCH_CONFIG", str(answer_project.make(tmp_path, database_folder, server.url)))
    monkeypatch.chdir(tmp_path)
    settings.load.cache_clear()
    yield tmp_path
    sys.modules.pop("alone", None)


@pytest.mark.usefixtures("project")
def test_all_systems_rank_and_answer_side_by_side_and_what_they_share_is_counted(server: ChatServer) -> None:
    found = ask("What does lunch cost, and when does the library close?", "plain, modelled, function", k=2)
    assert found.systems == ("plain", "modelled", "function")
    rows = found.to_pandas()
    assert rows.groupby("system")["rank"].agg(list).to_dict() == {name: [1, 2] for name in found.systems}
    assert set(rows["found_by"]) == {3}
    assert rows["relevant"].isna().all(), "nobody has labelled this question"
    beside = found.side_by_side
    assert beside.columns.tolist() == ["plain", "modelled", "function"]
    assert [place for _, place in beside.index] == ["answer", 1, 2]
    for name in found.systems:
        assert beside[name].tolist()[1:] == rows.query("system == @name")["text"].tolist()
    assert beside["modelled"].iloc[0] == "It is 250 roubles."
    answers = found.answers.set_index("system")
    assert answers.loc["modelled", "answer"] == "It is 250 roubles."
    assert answers.loc["function", "answer"] == rows.query("system == 'function'")["text"].iloc[0]
    assert (answers[["embed_ms", "search_ms", "generate_ms"]] > 0).all(axis=None)
    parts = answers[["embed_ms", "search_ms", "generate_ms"]].sum(axis=1)
    assert answers["total_ms"].tolist() == pytest.approx(parts.tolist())
    assert "Of 2 retrieved passages 2 are in all rankings, and 0 in one alone." in str(found)
    assert "retrieval of plain, modelled, function; generator extractive" in " ".join(str(found).split())
    prompt = server.requests[0].body["messages"][0]["content"]
    assert all(text in prompt for text in rows.query("system == 'modelled'")["text"])


@pytest.mark.usefixtures("project")
def test_a_reply_is_paid_for_once_and_a_time_is_read_once(server: ChatServer) -> None:
    first = ask("Where is lunch?", "plain,modelled")
    assert server.calls == 1
    assert ask("Where is lunch?", "plain,modelled") == first
    assert server.calls == 1
    assert ask("Where is lunch?", "modelled", answer=False).answers["answer"].tolist() == [None]
    assert server.calls == 1


@pytest.mark.usefixtures("project")
def test_a_system_that_fails_says_why_in_its_column_and_the_others_go_on() -> None:
    found = ask("When does it close?", "plain,alone,logged")
    why = {one.system: one.failure for one in found.responses}
    assert why["plain"] == ""
    assert why["alone"] == "systems.alone: alone:both failed: RuntimeError: the search is down"
    assert why["logged"].startswith("systems.logged: none of the 1 questions is in log.jsonl")
    assert [one.system for one in found.responses if one.hits] == ["plain"]
    assert "not measured 2: " in str(found)
    assert "no ranking: systems.alone" in found._repr_html_()


def test_a_generator_that_fails_leaves_the_rankings(project: Path, server: ChatServer) -> None:
    (project / "alone.py").write_text("def steady(question, contexts):\n    raise RuntimeError('no pen')\n")
    server.faults = {"500": 1.0}
    add(project, "")
    found = ask("Where is lunch?", "plain,modelled,function", k=2)
    assert [len(one.hits) for one in found.responses] == [2, 2, 2]
    reasons = dict(zip(found.systems, found.answers["reason"], strict=True))
    assert reasons["plain"] == ""
    assert "no pen" in reasons["function"]
    assert "500" in reasons["modelled"] or "server" in reasons["modelled"], reasons["modelled"]
    assert found.answers["answer"].isna().tolist() == [False, True, True]


@pytest.mark.usefixtures("project")
def test_a_question_of_the_data_set_brings_its_log_and_its_labels() -> None:
    found = ask([LUNCH, "Is there a kindergarten?"], "logged,alone")
    assert [one.question.id for one in found.responses] == ["q1", "q1", "q5", "q5"]
    log, own, *_ = found.responses
    assert [hit.chunk.id for hit in log.hits] == ["lunch"]
    assert log.answer is not None
    assert log.answer.answer == "250 roubles."
    assert log.milliseconds == {"total": 100.0}, "what the log says, and no clock of ours"
    assert set(own.milliseconds) == {"call", "total"}
    assert own.milliseconds["call"] == own.milliseconds["total"], "its answer is part of the call"
    rows = found.to_pandas().query("question == @LUNCH")
    assert dict(zip(rows["chunk"], rows["relevant"], strict=True)) == {"lunch": True, "hours": False}
    assert dict(zip(rows["chunk"], rows["found_by"], strict=True)) == {"lunch": 2, "hours": 1}


def test_what_is_costly_is_kept_until_settings_or_data_change(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typed_questions, "_CACHE", typed_questions.Cache())
    fitted: list[int] = []
    fit = hashing.HashingEmbedder._fit
    monkeypatch.setattr(
        hashing.HashingEmbedder, "_fit", lambda self, texts: fitted.append(len(texts)) or fit(self, texts)
    )
    ask("Where is lunch?", "plain,twin", answer=False)
    ask("Where is the library?", "plain", answer=False)
    assert fitted == [4], "two systems and two questions, one embedder"
    path = project / "data" / "answers" / "chunks.en.jsonl"
    chunks = answer_project.CHUNKS | {"new": "The swimming pool is behind the canteen."}
    write_lines(path, [{"id": name, "text": text} for name, text in chunks.items()])
    found = ask("Where is the swimming pool?", "plain", answer=False)
    assert fitted == [4, 5]
    assert found.to_pandas()["chunk"].iloc[0] == "new"
    toml = project / "ragbench.toml"
    toml.write_text(
        toml.read_text()
        + '[embedders.hashing]\nkind = "hashing"\ndimensions = 3\n[systems.late]\nembedder = "hashing"\n'
    )
    assert ask("Where is lunch?", "late", answer=False).systems == ("late",)
    assert fitted == [4, 5, 5]


@pytest.mark.usefixtures("project")
def test_it_works_inside_a_running_event_loop() -> None:
    async def cell() -> list[str]:
        return [str(one.answer and one.answer.answer) for one in ask(LUNCH, "modelled,alone").responses]

    assert asyncio.run(cell()) == ["It is 250 roubles.", "250 roubles."]


@pytest.mark.usefixtures("project")
def test_what_cannot_be_asked_is_refused_with_what_can() -> None:
    for nothing in ("", "  \n", [], ["a", ""]):
        with pytest.raises(BenchError, match="question"):
            ask(nothing)
    with pytest.raises(BenchError, match=r"there is no system 'plian' in ragbench.toml.*plain"):
        ask("Why?", "plian")
    with pytest.raises(DatasetError, match="there is no data set 'none'"):
        ask("Why?", dataset="none")
    for k in (0, 1001, True, 2.5):
        with pytest.raises(BenchError, match=r"a whole number from 1 to 1000"):
            ask("Why?", k=k)  # type: ignore[arg-type]


@pytest.mark.fault("markup", tried="texts of a question asked live, and of what it finds", count=1)
def test_texts_have_no_power_over_notebook_and_terminal(project: Path) -> None:
    evil = "<img src=x onerror=alert(1)>\x1b[2J lunch"
    chunks = [{"id": name, "text": evil, "title": evil, "url": "javascript:alert(1)"} for name in answer_project.CHUNKS]
    write_lines(project / "data" / "answers" / "chunks.en.jsonl", chunks)
    found = ask(evil, "plain")
    html = found._repr_html_()
    assert "<img" not in html
    assert "&lt;img" in html
    assert 'href="javascript' not in html
    assert "\x1b" not in html + str(found)
    assert max(map(len, str(found).split("\n"))) <= WIDTH


@pytest.mark.usefixtures("project")
def test_the_command_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    done = ragbench("ask", LUNCH, "-s", "plain,alone", "-k", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip("\n") == str(ask(LUNCH, "plain,alone", k=2))
    told = ragbench("ask", LUNCH, "-s", "plain", "--json", "--no-answer")
    [one] = json.loads(told.stdout)["responses"]
    assert (one["answer"], one["hits"][0]["chunk"]) == (None, "lunch")
    assert ragbench("ask", "").returncode == 3
    assert "there is no system 'none'" in ragbench("ask", "Why?", "-s", "none").stderr


def test_objects_are_asked_a_question_side_by_side(place: Path) -> None:
    told = rb.ask(ASKED[2], {"v1": "bm25", "v2": answering}, documents=PASSAGES, k=2)
    rows = told.to_pandas()
    assert rows.groupby("system")["chunk"].agg(list)["v2"] == ["1", "0"]
    assert told.systems == ("v1", "v2")
    assert told.answers.set_index("system")["answer"]["v2"] == PASSAGES[1]
    assert len(repr(told).split("\n")) == 10 < len(str(told).split("\n"))
