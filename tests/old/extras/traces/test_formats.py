"""Traces of every vendor's own writing become the same small story, with what each of them knows of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragbench.old.data import Brought, ChunkRecord, DatasetError
from ragbench.old.data.payloads import Passage
from ragbench.old.extras.traces import assembly, formats
from ragbench.old.extras.traces.formats import FORMATS, format_of, parts
from ragbench.old.extras.traces.spans import Span, whole
from tests.old.data.test_passages_without_ids import RIVER, STONE

FILES = Path(__file__).parents[2] / "data" / "trace_files"
Q1, A1 = "When is the library open?", "From 9 to 21 on weekdays."
Q2, A2 = "And on Saturdays?", "Until 18."
Q3 = "Until when can I ask for a place in a dormitory?"
TEXTS = {
    "lib-1": "The library is open from 9 to 21 on weekdays.",
    "lib-2": "On Saturdays the library closes at 18.",
    "dorm-1": "A place in a dormitory is asked for by 20 August.",
}
LIBRARY = "https://help.example/library"
SCORED = [["lib-1", 0.91], ["lib-2", 0.72]]
CLOCKS = {"latency_ms": 350.0, "search_ms": 40.0, "generate_ms": 300.0}
TOKENS = {"input_tokens": 120, "output_tokens": 12}


def read(*names: str, **more: Any) -> tuple[Brought, list[dict[str, Any]]]:
    found, logged = assembly.read([FILES / name for name in names], **more)
    return found, logged.get("logged", [])


def line(lines: list[dict[str, Any]], place: int = 0, *without: str) -> dict[str, Any]:
    """A line of the log but for its id and what is named."""
    return {name: value for name, value in lines[place].items() if name not in ("id", *without)}


KNOWN: dict[str, dict[str, Any]] = {
    "opentelemetry-openinference.jsonl": {"retrieved": SCORED, **CLOCKS, **TOKENS, "cost": 0.0021, "model": "small-1"},
    "phoenix-spans.jsonl": {"retrieved": SCORED, **CLOCKS, **TOKENS, "model": "small-1"},
    "phoenix-spans.csv": {"retrieved": SCORED, **CLOCKS, **TOKENS, "model": "small-1"},
    "phoenix-spans.parquet": {"retrieved": SCORED, **CLOCKS, **TOKENS, "model": "small-1"},
    "langfuse-traces.json": {"retrieved": ["lib-1", "lib-2"], **CLOCKS, **TOKENS, "cost": 0.0021, "model": "small-1"},
    "langfuse-observations.jsonl": {
        "retrieved": ["lib-1", "lib-2"], **CLOCKS, **TOKENS, "cost": 0.0021, "model": "small-1"
    },
    "langsmith-runs.jsonl": {"retrieved": SCORED, **TOKENS, "cost": 0.0021},
    "mlflow-traces.jsonl": {"retrieved": SCORED, **TOKENS, "model": "small-1"},
}  # fmt: skip
"""What the log knows of the first question, whatever the vendor; the clocks of the last two are of a real run."""


@pytest.mark.parametrize("name", KNOWN)
def test_a_vendors_own_file_tells_the_story(name: str) -> None:
    found, lines = read(name)
    assert [question.text for question in found.questions[:2]] == [Q1, Q2]
    real = () if "latency_ms" in KNOWN[name] else tuple(CLOCKS)
    assert line(lines, 0, *real) == {"answer": A1, **KNOWN[name]}
    assert all(lines[0][clock] > 0 for clock in CLOCKS)
    assert lines[1]["answer"] == A2
    assert {chunk.id: chunk.text for chunk in found.chunks} == TEXTS
    assert next(chunk.url for chunk in found.chunks if chunk.id == "lib-2") == LIBRARY
    [dialogue] = found.dialogues
    assert [(turn.question, turn.answer) for turn in dialogue.turns] == [(Q1, A1), (Q2, A2)]
    assert found.questions[0].cluster == found.questions[1].cluster == dialogue.id
    assert found.history[0].url == LIBRARY
    assert found.history[0].asked_at is not None


FAILED = {
    "opentelemetry-openinference.jsonl": (3, "TimeoutError: no reply in 60 s"),
    "phoenix-spans.parquet": (2, "ConnectionError: no reply"),
    "langfuse-traces.json": (2, "RateLimitError: 429"),
    "langsmith-runs.jsonl": (2, "ConnectionError('the index is not reachable')"),
    "mlflow-traces.jsonl": (2, "ConnectionError: no reply"),
}


@pytest.mark.parametrize("name", FAILED)
def test_a_trace_in_error_stays_a_question_and_says_why(name: str) -> None:
    place, why = FAILED[name]
    found, lines = read(name)
    assert found.questions[place].text == Q3
    assert (lines[place].get("answer"), lines[place]["error"]) == (None, why)
    assert f"1 trace ended in an error, kept as a question without an answer: 1 × {why}" in found.notes


def test_spans_of_otlp_keep_their_parents() -> None:
    lines = (FILES / "opentelemetry-openinference.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(text) for text in lines[:3]]
    spans = [part for record in records for part in parts("OpenTelemetry", record, "") if isinstance(part, Span)]
    assert [(span.kind, span.id[-1], (span.parent or "-")[-1]) for span in spans] == [
        ("retrieve", "3", "2"), ("generate", "4", "2"), ("other", "2", "-"),
    ]  # fmt: skip


def test_several_retrievers_and_none_and_a_reranker() -> None:
    found, lines = read("opentelemetry-openinference.jsonl")
    assert [one[0] for one in lines[1]["retrieved"]] == ["lib-1", "lib-2", "dorm-1"]  # in call order, first ranks
    assert lines[1]["search_ms"] == 120
    assert "retrieved" not in lines[2]
    assert lines[2]["answer"] == "By 20 August."
    assert [one[0] for one in lines[4]["retrieved"]] == ["lib-2", "lib-1"]  # as the reranker left them
    assert lines[4]["search_ms"] == 50
    said = "\n".join(found.notes)
    assert "in 1 trace several retrievers: their lists follow one another" in said
    assert "in 1 trace no passages" in said
    assert "in 1 trace a reranker" in said


def test_genai_conventions_name_passages_that_documents_bring() -> None:
    assert any("in 2 traces passages without their text" in note for note in read("opentelemetry-genai.jsonl")[0].notes)
    found, lines = read("opentelemetry-genai.jsonl", "langchain-documents.jsonl")
    assert line(lines) == {"answer": A1, "retrieved": SCORED, **CLOCKS, **TOKENS, "model": "small-1"}
    assert {chunk.id: chunk.text for chunk in found.chunks} == TEXTS
    assert found.dialogues[0].id == "c-1"
    base = {name: ChunkRecord(id=name, text=text) for name, text in TEXTS.items()}
    assert len(read("opentelemetry-genai.jsonl", base=base)[0].chunks) == 3


def test_the_console_exporter_prints_objects_one_after_the_other() -> None:
    found, lines = read("opentelemetry-console.json")
    assert line(lines, 0, "cost") == {"answer": A1, "retrieved": SCORED, **CLOCKS, **TOKENS, "model": "small-1"}
    assert lines[0]["id"] == "0xb0000000000000000000000000000001"
    assert len(found.questions) == 2


def test_scores_of_users_are_ratings_and_those_of_programs_are_not() -> None:
    found, _ = read("langfuse-traces.json")
    assert [past.score for past in found.history] == [5, 1, None]
    assert [dict(one.ratings) for one in found.ratings] == [{"user-feedback": 5.0}, {"user-feedback": 1.0}]
    assert found.ratings[0].question_id == "lf-1"
    assert "ratings of users are the score 'user-feedback': 0 → 1, 1 → 5" in found.notes
    assert any("faithfulness 1" in note for note in found.notes)
    assert [past.score for past in read("mlflow-traces.jsonl")[0].history] == [5, None, None]
    assert [past.score for past in read("langsmith-runs.jsonl")[0].history] == [5, 5, None]


def test_scores_may_be_in_a_file_of_their_own_and_be_named() -> None:
    pair = ("langfuse-observations.jsonl", "langfuse-scores.jsonl")
    assert [past.score for past in read(*pair)[0].history] == [5, 2]
    found, _ = read(*pair, ratings=["stars"])
    assert [past.score for past in found.history] == [None, None]
    assert any("--rating NAME" in note and "rating 2" in note for note in found.notes)


@pytest.mark.parametrize("name", ["deepeval-test-cases.json", "deepeval-dataset.csv", "deepeval-dataset.jsonl"])
def test_deepeval_in_both_cases_and_with_joined_passages(name: str) -> None:
    found, lines = read(name)
    texts = {chunk.id: chunk.text for chunk in found.chunks}
    assert [texts[one] for one in lines[0]["retrieved"]] == [TEXTS["lib-1"], TEXTS["lib-2"]]
    first, second = found.questions
    assert (first.text, first.reference, second.reference) == (Q1, "9 to 21, on weekdays.", "Until 18.")
    assert [texts[one] for one in first.relevant] == [TEXTS["lib-1"]]
    assert lines[0]["cost"] == 0.0021
    assert lines[0].get("latency_ms") == (350.0 if "cases" in name else None)
    assert found.history == []


@pytest.mark.parametrize("name", ["ragas.jsonl", "ragas.csv"])
def test_ragas_samples(name: str) -> None:
    found, lines = read(name)
    texts = {chunk.id: chunk.text for chunk in found.chunks}
    assert lines[0]["retrieved"] == ["lib-1", "lib-2"]
    assert dict(found.questions[0].relevant) == {"lib-1": 1.0}
    assert [texts[one] for one in lines[1]["retrieved"]] == ['It\'s "so".', TEXTS["lib-2"]]
    assert lines[1]["answer"] == 'It\'s open "until" 18,\nas the sign says.'
    assert found.questions[1].reference == "Until 18."


@pytest.mark.parametrize("name", ["ragas-dialogues.jsonl", "ragas-dialogues.csv", "deepeval-conversations.json"])
def test_dialogues_of_test_cases(name: str) -> None:
    found, _ = read(name)
    assert [(turn.question, turn.answer) for turn in found.dialogues[0].turns] == [(Q1, A1), (Q2, A2)]
    assert [question.id for question in found.questions] == ["1.1", "1.2"]


def test_traces_without_passages_load_and_what_can_be_measured_is(tmp_path: Path) -> None:
    found, _ = read("langsmith-examples.jsonl")
    assert [(one.text, one.reference) for one in found.questions] == [(Q1, A1), (Q2, A2)]
    assert any(note.startswith("no passage has a text: what was retrieved cannot be measured") for note in found.notes)
    row = {"timestamp": "2026-01-01T00:00:00Z", "id": "t", "sessionId": "s", "input": '{"question": "When?"}',
           "output": '{"answer": "8:00"}'}  # fmt: skip
    (tmp_path / "l.jsonl").write_text(json.dumps(row), encoding="utf-8")
    found, logged = assembly.read([tmp_path / "l.jsonl"])
    assert [one.text for one in found.questions] == ["When?"]
    assert [line["answer"] for line in logged["logged"]] == ["8:00"]
    assert found.runs[0] == "rag_metrics -s {dataset}-logged"


def test_examples_of_langsmith_are_questions_with_references() -> None:
    found, lines = read("langsmith-examples.jsonl", "langchain-documents.jsonl")
    assert [(one.text, one.reference) for one in found.questions] == [(Q1, A1), (Q2, A2)]
    assert lines == []
    assert len(found.chunks) == 3


def test_documents_alone_are_no_data_set() -> None:
    with pytest.raises(DatasetError, match="3 documents and no trace with a question"):
        read("langchain-documents.jsonl")


def test_every_file_has_the_marks_of_one_format_alone() -> None:
    for path in sorted(FILES.glob("*.jsonl")):
        record = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
        known = [name for name, marks in FORMATS.items() if any(record.keys() >= mark for mark in marks)]
        assert len(known) == 1 or format_of(record) == formats.TABLE, (path.name, known)


def test_runs_with_their_children_read_as_those_that_are_apart(tmp_path: Path) -> None:
    runs = [json.loads(text) for text in (FILES / "langsmith-runs.jsonl").read_text(encoding="utf-8").splitlines()]
    below: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        below.setdefault(str(run.get("parent_run_id")), []).append(run)

    def nested(run: dict[str, Any]) -> dict[str, Any]:
        return {**run, "child_runs": [nested(one) for one in below.get(run["id"], [])]}

    path = tmp_path / "runs.json"
    path.write_text(json.dumps({"runs": [nested(run) for run in below["None"]]}), encoding="utf-8")
    assert assembly.read([path])[1] == {"logged": read("langsmith-runs.jsonl")[1]}


def step(name: str, kind: Any, start: float, end: float, parent: str | None = None, **more: Any) -> Span:
    return Span("t", name, parent, kind, start, end, **more)


def test_a_retriever_within_another_is_a_part_of_it() -> None:
    one, two = (Passage(text=text) for text in ("one", "two"))
    found = whole([
        step("root", "other", 0, 10, question="q", answer="a"),
        step("fused", "retrieve", 1, 4, "root", passages=(two, one)),
        step("vectors", "retrieve", 1, 2, "fused", passages=(one,)),
        step("words", "retrieve", 2, 3, "fused", passages=(two,)),
        step("rewrite", "generate", 0, 1, "root", answer="q?", input_tokens=5),
        step("write", "generate", 4, 9, "root", answer="b", input_tokens=7),
        step("inner", "generate", 4, 9, "write", answer="b", input_tokens=7),
    ])  # fmt: skip
    assert found.passages == (two, one)
    assert (found.lists, found.answer, found.question) == (1, "a", "q")
    assert (found.seconds, found.retrieving, found.generating, found.input_tokens) == (10, 3, 5, 12)


def test_times_that_overlap_count_once_and_a_circle_of_parents_ends() -> None:
    spans = (step("a", "retrieve", 0, 4), step("b", "retrieve", 1, 3), step("c", "retrieve", 2, 6))
    assert whole(spans).retrieving == 6
    circle = (step("a", "retrieve", 0, 4, "b"), step("b", "other", 1, 3, "a"))
    assert whole(circle).passages is None


def test_a_trace_of_ragas_keeps_numbers_that_are_ids() -> None:
    def passages(record: dict[str, Any]) -> tuple[Passage, ...]:
        [row] = parts(formats.TABLE, record, "t")
        assert isinstance(row, Span)
        return row.passages or ()

    record = {"user_input": "q?", "retrieved_contexts": [RIVER, STONE], "retrieved_context_ids": ["1", "9"]}
    assert [one.id for one in passages(record)] == ["1", "9"]
    assert [one.id for one in passages({"user_input": "q?", "retrieved_contexts": [RIVER]})] == [None]


def test_a_first_step_alone_tells_what_its_models_took(tmp_path: Path) -> None:
    """LangSmith adds up tokens and costs in the first run, and people export first runs alone."""
    run = {"id": "r", "trace_id": "r", "run_type": "chain", "inputs": {"question": "q?"}, "outputs": {"answer": "42"},
           "prompt_tokens": 7, "completion_tokens": 3, "total_cost": 0.5, "session_id": "the-project"}  # fmt: skip
    (tmp_path / "runs.jsonl").write_text(json.dumps(run), encoding="utf-8")
    found, logged = assembly.read([tmp_path / "runs.jsonl"])
    assert line(list(logged["logged"])) == {"answer": "42", "input_tokens": 7, "output_tokens": 3, "cost": 0.5}
    assert found.questions[0].cluster is None


def test_an_answer_that_is_a_number_and_a_retriever_that_found_nothing_are_both(tmp_path: Path) -> None:
    rows = [
        {"id": "t", "timestamp": "2026-01-01T00:00:00Z", "sessionId": None, "input": "How many?", "output": "42"},
        {"id": "r", "traceId": "t", "startTime": "2026-01-01T00:00:00Z", "type": "RETRIEVER", "output": []},
    ]
    (tmp_path / "l.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    [only] = assembly.read([tmp_path / "l.jsonl"])[1]["logged"]
    assert (only["answer"], only["retrieved"]) == ("42", [])


def test_exports_that_hold_bodies_or_documents_are_read(tmp_path: Path) -> None:
    said = {"choices": [{"message": {"role": "assistant", "content": "At 8."}}]}
    asked = {"messages": [{"role": "user", "content": "When open?"}]}
    steps = [
        {"id": "s1", "trace_id": "t", "parent_span_id": None, "type": "general", "start_time": "2026-01-01T10:00:00Z",
         "input": {"query": "When open?"}, "output": {"documents": [{"content": "It opens at 8.", "id": "d1"}]}},
        {"id": "s2", "trace_id": "t", "parent_span_id": None, "type": "llm", "start_time": "2026-01-01T10:00:01Z",
         "input": asked, "output": said},
    ]  # fmt: skip
    exports: dict[str, list[dict[str, Any]]] = {
        "helicone": [{"request_id": "t", "request_body": asked, "response_body": said, "delay_ms": 900}],
        "portkey": [{"id": "x", "trace_id": "t", "request": asked, "response": said, "response_time": 900}],
        "opik": [
            {
                "id": "t",
                "input": {"question": "When open?"},
                "output": {"answer": "At 8."},
                "feedback_scores": [],
                "start_time": "2026-01-01T10:00:00Z",
                "end_time": "2026-01-01T10:00:01.500Z",
            }
        ],
        "opik-spans": steps,
    }
    for name, rows in exports.items():
        path = tmp_path / f"{name}.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)))
        found, logged = assembly.read([path])
        assert [question.text for question in found.questions] == ["When open?"], name
        line = next(iter(logged["logged"]))
        assert (line["answer"], line.get("latency_ms")) == (
            "At 8.",
            {"opik": 1500.0, "opik-spans": None}.get(name, 900.0),
        )
        assert [chunk.text for chunk in found.chunks] == (["It opens at 8."] if name == "opik-spans" else [])


def test_an_end_before_its_start_is_no_time_and_an_address_without_end_is_none(tmp_path: Path) -> None:
    whole = {"id": "t", "input": {"question": "When?"}, "output": {"answer": "At 8."}, "feedback_scores": [],
             "start_time": "2026-01-01T10:00:02Z", "end_time": "2026-01-01T10:00:01Z"}  # fmt: skip
    documents = [{"content": "It opens at 8.", "url": f"https://x.example/{'a' * 9000}"}]
    step = {"id": "s", "trace_id": "t", "type": "tool", "name": "retriever", "start_time": "2026-01-01T10:00:02Z",
            "output": {"documents": documents}}  # fmt: skip
    told = {"id": "x", "trace_id": "u", "response_time": -900,
            "request": {"messages": [{"role": "user", "content": "Who?"}]},
            "response": {"choices": [{"message": {"role": "assistant", "content": "Ann."}}]}}  # fmt: skip
    for name, rows in {"whole": [whole], "step": [step], "told": [told]}.items():
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found, logged = assembly.read([tmp_path / f"{name}.jsonl" for name in ("whole", "step", "told")])
    assert [line.get("latency_ms") for line in logged["logged"]] == [None, None]
    assert [(chunk.text, chunk.url) for chunk in found.chunks] == [("It opens at 8.", None)]
