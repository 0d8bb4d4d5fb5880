"""Who writes answers: the extractive stand-in, a model, a function; and results of a file."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ragbench.core.errors import BenchError
from ragbench.core.settings import Settings
from ragbench.core.types import Dataset, Hit
from ragbench.data import from_objects
from ragbench.llm import BudgetSpentError
from ragbench.systems import open_systems
from tests.systems.test_services import Server, server

__all__ = ["server"]
HALL = "Parking is behind the hall. It costs 1,500 roubles a semester. The hall has no lift."


def write(dataset: Dataset, question: str, *contexts: str, **tables: Any) -> str | None:
    settings = Settings.model_validate({"systems": {"mine": {"retriever": "bm25"}}, **tables})
    system = open_systems("mine", settings, dataset)["mine"]
    [reply] = system.answer([question], 3, [[Hit("", text) for text in contexts]])
    assert [hit.text for hit in reply.hits] == list(contexts)
    assert reply.error == ""
    return reply.answer


def test_the_extractive_stand_in_quotes_what_fits_best(library: Dataset) -> None:
    assert write(library, "How much is parking a semester?", HALL) == (
        "Parking is behind the hall. It costs 1,500 roubles a semester."
    )
    one = {"generators": {"one": {"kind": "extractive", "sentences": 1}}}
    one["systems"] = {"mine": {"retriever": "bm25", "generator": "one"}}  # type: ignore[dict-item]
    answer = write(library, "What does a semester of parking cost?", HALL, **one)
    assert answer == "It costs 1,500 roubles a semester."
    # Words of grammar count where there are no others.
    assert write(library, "What is the cost of it?", "It is what the.", "Costs: 5.") == "Costs: 5."
    assert write(library, "What is it?", "Zebras graze.", "What it is.") == "What it is."


@pytest.mark.parametrize(
    ("question", "contexts"),
    [
        ("How much is parking?", ()),
        ("How much is parking?", ("Zebras graze.",)),
        ("How much is parking?", ("",)),
        ("?", ("What?",)),
        # A third of what they have together stands in one sentence.
        ("alpha beta gamma delta", ("alpha one.", "beta two.", "gamma three.")),
        ("What is it for?", ("Zebras graze.",)),
    ],
)
def test_it_refuses_where_nothing_fits(
    library: Dataset, question: str, contexts: tuple[str, ...]
) -> None:
    answer = write(library, question, *contexts)
    assert answer == "The passages at hand do not answer this question."


def test_it_refuses_in_the_language_of_the_data() -> None:
    dataset = from_objects(["Когда?"], {"a": "Столовая закрыта."}, language="ru")
    assert write(dataset, "Где стоянка?") == "В найденных материалах нет ответа на этот вопрос."


def last_words(question: str, texts: list[str]) -> str:
    return f"{question} {len(texts)}"


def number(question: str, texts: list[str]) -> int:
    return 3


def test_a_function_writes(library: Dataset) -> None:
    tables = {
        "generators": {
            "mine": {"kind": "callable", "callable": f"{__name__}:last_words"},
            "bad": {"kind": "callable", "callable": f"{__name__}:number"},
        },
        "systems": {
            "mine": {"retriever": "bm25", "generator": "mine"},
            "bad": {"retriever": "bm25", "generator": "bad"},
        },
    }
    systems = open_systems("mine,bad", Settings.model_validate(tables), library)
    [reply] = systems["mine"].answer(["library"], 3)
    assert (reply.answer, [hit.id for hit in reply.hits]) == ("library 1", ["lib"])
    assert systems["bad"].answer(["library"], 3)[0].error == "it returned int; a text is expected"
    assert systems["mine"].stand_ins == ()  # type: ignore[attr-defined]
    assert systems["mine"].generator.describe() == "function last_words"  # type: ignore[attr-defined]


def model_tables(server: Server, **generator: Any) -> dict[str, Any]:
    table = {"kind": "openai", "base_url": server.url, "model": "m", "attempts": 1, **generator}
    return {
        "generators": {"llm": {**table, "replies": "text"}},
        "systems": {"mine": {"retriever": "bm25", "generator": "llm"}},
    }


def completion(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "1", "object": "chat.completion", "choices": [choice], "model": "m", "usage": {}}


def test_a_model_answers_once_and_a_repeat_is_asked_anew(
    server: Server, library: Dataset, tmp_path: Path
) -> None:
    server.replies = {"": [completion(f"Answer {number}. ") for number in (1, 2, 3)]}
    settings = Settings.model_validate(model_tables(server))
    journal = tmp_path / "replies.sqlite"

    def ask(times: int) -> list[str | None]:
        system = open_systems("mine", settings, library, journal=journal)["mine"]
        return [system.answer(["Parking {contexts}?"], 1)[0].answer for _ in range(times)]

    assert ask(2) == ["Answer 1.", "Answer 2."]
    assert ask(3) == ["Answer 1.", "Answer 2.", "Answer 3."]
    assert len(server.requests) == 3
    sent = json.loads(server.requests[0]["body"])["messages"][0]["content"]
    assert "[1] Parking is behind the hall." in sent
    assert "Question:\nParking {contexts}?" in sent


def test_a_model_that_gives_no_answer_is_an_error_of_its_question(
    server: Server, library: Dataset
) -> None:
    cut = completion("The li")
    cut["choices"][0]["finish_reason"] = "length"
    settings = Settings.model_validate(model_tables(server))
    system = open_systems("mine", settings, library, journal=":memory:")["mine"]
    for reply, answer, error in (
        (cut, None, "cut"),
        ((500, {}, "boom"), None, "500"),
        (completion("Yes."), "Yes.", ""),
    ):
        server.replies = {"": [reply]}
        given = system.answer(["library"], 1)[0]
        assert (given.answer, [hit.id for hit in given.hits]) == (answer, ["lib"])
        assert error in given.error


def test_a_budget_holds_for_models_that_answer(server: Server, library: Dataset) -> None:
    server.replies = {"": [completion("Yes.")]}
    settings = Settings.model_validate({**model_tables(server), "budget": {"calls": 1}})
    system = open_systems("mine", settings, library, journal=":memory:")["mine"]
    assert system.answer(["library"], 1)[0].answer == "Yes."
    with pytest.raises(BudgetSpentError):
        system.answer(["parking"], 1)
    assert len(server.requests) == 1


def test_times_are_in_milliseconds(
    server: Server, library: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.replies = {"": [completion("Yes.")], "When?": [{"ids": ["lib"]}]}
    tables = model_tables(server)
    tables["systems"]["asked"] = {"url": server.url, "ids": "ids"}
    tables["systems"]["quoted"] = {"retriever": "bm25"}
    settings = Settings.model_validate(tables)
    named = {name: name for name in tables["systems"]}
    given = {**named, "own": lambda question: ["lib"]}
    systems = open_systems(given, settings, library, journal=":memory:")
    monkeypatch.setattr("time.perf_counter", itertools.count().__next__)  # a second each time
    for name in ("quoted", "own"):
        assert systems[name].retrieve(["When?"], 1)[0].latency_ms == 1000
    assert systems["asked"].retrieve(["When?"], 1)[0].latency_ms % 1000 == 0
    # Retrieving and writing together.
    assert systems["quoted"].answer(["library"], 1)[0].latency_ms == 2000
    assert systems["mine"].answer(["library"], 1)[0].latency_ms % 1000 == 0


def test_the_prompt_may_be_a_file(server: Server, library: Dataset, tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_text("Q={question} C={contexts}", encoding="utf-8")
    server.replies = {"": [completion("Yes.")]}
    tables = model_tables(server, prompt=str(tmp_path / "prompt.txt"))
    system = open_systems("mine", Settings.model_validate(tables), library, journal=":memory:")
    system["mine"].answer(["library"], 1)
    sent = json.loads(server.requests[0]["body"])["messages"][0]["content"]
    assert sent == "Q=library C=[1] The library opens at 8:00 on working days."
    system["mine"].answer(["zebra"], 1)
    sent = json.loads(server.requests[1]["body"])["messages"][0]["content"]
    assert sent == "Q=zebra C=(no passages)"
    for text, slots in (("Q={question} {tone}", r"\{question\}, \{tone\}"), ("Q", "none")):
        (tmp_path / "prompt.txt").write_text(text, encoding="utf-8")
        with pytest.raises(BenchError, match=f"has {slots}"):
            open_systems("mine", Settings.model_validate(tables), library)
    (tmp_path / "prompt.txt").unlink()
    with pytest.raises(BenchError, match=r"generators\.llm\.prompt: .* cannot be read"):
        open_systems("mine", Settings.model_validate(tables), library)


KINDS = ("results.jsonl", "list", "DataFrame")
RESULTS = [
    {"id": "q1", "answer": "At 8:00.", "retrieved_contexts": ["lost", "found"]},
    {"id": "q2", "answer": "1,500.", "retrieved_contexts": [], "repeat": 1},
    {"id": "q2", "answer": "Much.", "retrieved_contexts": [], "repeat": 2},
]


def test_results_of_a_file_are_a_system(library: Dataset, tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    file.write_text("\n".join(map(json.dumps, RESULTS)), encoding="utf-8")
    tables = {"systems": {"logged": {"results": str(file)}}}
    for systems in (
        open_systems("logged", Settings.model_validate(tables), library),
        open_systems({"logged": file}, Settings(), library),
        open_systems({"logged": str(file)}, Settings(), library),
        open_systems({"logged": RESULTS}, Settings(), library),
        open_systems({"logged": pd.DataFrame(RESULTS)}, Settings(), library),
    ):
        system = systems["logged"]
        assert system.describe().removeprefix("results in ") in KINDS
        questions = [*library.questions["text"], "Something else?"]
        replies = system.answer(questions, 1)
        assert [reply.answer for reply in replies] == ["At 8:00.", "1,500.", None]
        assert replies[0].hits == (Hit("", "lost"),)
        assert replies[2].error == "its results say nothing of this question"
        # What was logged several times are repeats.
        assert system.answer(questions[1:2], 1)[0].answer == "Much."
        assert system.retrieve(questions[2:], 1)[0].error != ""


def test_results_are_known_by_the_question_too(library: Dataset) -> None:
    rows = [{"question": "when does the  library open?", "contexts": ["lib text"], "answer": "8"}]
    system = open_systems({"logged": rows}, Settings(), library)["logged"]
    assert system.answer(["When does the library open?"], 1)[0].answer == "8"


def test_results_of_several_systems_are_told_apart(library: Dataset) -> None:
    rows = [{"id": "q1", "answer": name, "system": name} for name in ("v1", "v2")]
    system = open_systems({"v2": rows}, Settings(), library)["v2"]
    assert system.answer(library.questions["text"].tolist()[:1], 1)[0].answer == "v2"
    assert open_systems({"mine": rows[:1]}, Settings(), library)["mine"].can_retrieve is False
    with pytest.raises(BenchError, match="v3: the results are of v1, v2"):
        open_systems({"v3": rows}, Settings(), library)
