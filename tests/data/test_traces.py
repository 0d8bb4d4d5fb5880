"""Exports of traces: a trace is one answer."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ragbench.core.errors import BenchError
from ragbench.core.types import Passage, Sample
from ragbench.data import read_answers

FILES = Path(__file__).parent / "traces"
# Samples, of which with passages, rows that were left out; each file as its tool wrote it.
EXPORTS = {
    "deepeval-conversations.json": (2, 1, 0),
    "deepeval-dataset.csv": (2, 2, 0),
    "deepeval-dataset.jsonl": (2, 2, 0),
    "deepeval-test-cases.json": (2, 2, 0),
    "langfuse-observations.jsonl": (2, 2, 0),
    "langfuse-traces.json": (3, 3, 0),
    "langsmith-examples.jsonl": (2, 0, 0),
    "langsmith-runs.jsonl": (3, 2, 0),
    "mlflow-traces.jsonl": (3, 3, 0),
    "opentelemetry-console.json": (1, 1, 1),
    "opentelemetry-genai.jsonl": (2, 2, 0),
    "opentelemetry-openinference.jsonl": (5, 4, 0),
    "phoenix-spans.csv": (3, 3, 0),
    "phoenix-spans.jsonl": (3, 3, 0),
    "phoenix-spans.parquet": (3, 3, 0),
    "ragas-dialogues.csv": (2, 0, 0),
    "ragas-dialogues.jsonl": (2, 0, 0),
    "ragas.csv": (2, 2, 0),
    "ragas.jsonl": (2, 2, 0),
}


@pytest.mark.parametrize(("name", "counts"), EXPORTS.items(), ids=EXPORTS)
def test_exports(name: str, counts: tuple[int, int, int]) -> None:
    answers = read_answers(FILES / name)
    with_passages = [sample for sample in answers.samples if sample.contexts]
    assert (len(answers.samples), len(with_passages), len(answers.left_out)) == counts
    first = answers.samples[0]
    assert first.question == "When is the library open?"
    assert "From 9 to 21 on weekdays." in (first.answer, *first.references)


@pytest.mark.parametrize("name", ["langchain-documents.jsonl", "langfuse-scores.jsonl"])
def test_what_holds_no_answers_is_refused(name: str) -> None:
    with pytest.raises(BenchError, match="none is known as a question or an answer"):
        read_answers(FILES / name)


CHAIN = {
    "trace_id": "t",
    "id": "a",
    "run_type": "chain",
    "inputs": {"input": "When?"},
    "outputs": {"output": "At 8."},
}
RETRIEVER = {
    "trace_id": "t",
    "id": "b",
    "parent_run_id": "a",
    "run_type": "retriever",
    "inputs": {"query": "hours"},
    "outputs": {"documents": [{"page_content": "It opens at 8."}]},
}  # fmt: skip


def write(path: Path, *rows: Any) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_a_trace_is_one_answer(tmp_path: Path) -> None:
    path = write(tmp_path / "runs.jsonl", RETRIEVER, CHAIN)
    assert read_answers(path).samples == [
        Sample("t", "When?", "At 8.", contexts=(Passage("It opens at 8."),))
    ]
    with pytest.raises(BenchError, match="leave --column out"):
        read_answers(path, {"answer": "outputs"})


def test_mlflow_s_table_holds_each_trace_in_a_column(tmp_path: Path) -> None:
    export = FILES / "mlflow-traces.jsonl"
    whole = [{"trace": line, "request": "{}"} for line in export.read_text().splitlines()]
    table = write(tmp_path / "table.jsonl", *whole)
    assert read_answers(table).samples == read_answers(export).samples


def test_generations_in_lists_are_the_answer(tmp_path: Path) -> None:
    step = {**CHAIN, "outputs": {"generations": [[{"text": "At 8."}]]}}
    assert read_answers(write(tmp_path / "a.jsonl", step)).samples[0].answer == "At 8."


# What stands beside a good trace, and why it is left out.
ODD: dict[str, tuple[dict[str, Any], str]] = {
    "no ids": ({"foo": 1}, "row 2: a step with the keys foo lacks the ids"),
    "broken": ({"resourceSpans": 3}, "row 2: is no trace as its tool writes it"),
    "no question": (
        {**CHAIN, "trace_id": "u", "inputs": {}},
        "trace u: its first step has no question",
    ),
    "no text": (
        {**CHAIN, "trace_id": "u", "outputs": {"foo": {"bar": 1}}},
        "trace u: its output .* has no text known as an answer",
    ),
}


@pytest.mark.parametrize(("step", "reason"), ODD.values(), ids=ODD)
def test_what_is_no_answer_is_left_out(tmp_path: Path, step: dict[str, Any], reason: str) -> None:
    answers = read_answers(write(tmp_path / "runs.jsonl", CHAIN, step))
    assert [sample.id for sample in answers.samples] == ["t"]
    [left_out] = answers.left_out
    assert re.match(reason, f"{left_out.place}: {left_out.reason}")


def test_lists_and_mappings_of_open_telemetry(tmp_path: Path) -> None:
    def text(value: str) -> dict[str, str]:
        return {"stringValue": value}

    question = {"kvlistValue": {"values": [{"key": "question", "value": text("When?")}]}}
    passages = {"arrayValue": {"values": [text("It opens at 8."), text("Hall 2.")]}}
    ids = {"traceId": "t", "spanId": "a"}
    steps = [
        {
            **ids,
            "attributes": [
                {"key": "input.value", "value": question},
                {"key": "output.value", "value": text("At 8.")},
            ],
        },
        {
            "traceId": "t",
            "spanId": "b",
            "parentSpanId": "a",
            "attributes": [
                {"key": "openinference.span.kind", "value": text("RETRIEVER")},
                {"key": "retrieval.documents", "value": passages},
            ],
        },
    ]
    export = {"resourceSpans": [{"scopeSpans": [{"spans": steps}]}]}
    assert read_answers(write(tmp_path / "t.json", export)).samples == [
        Sample("t", "When?", "At 8.", contexts=(Passage("It opens at 8."), Passage("Hall 2.")))
    ]


def test_a_trace_without_its_first_step_is_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "runs.jsonl", CHAIN, {**RETRIEVER, "trace_id": "u"})
    (left_out,) = read_answers(path).left_out
    assert left_out.place == "trace u"
    assert left_out.reason.startswith("has 0 first steps")


def test_log_records_of_one_step_are_one_answer(tmp_path: Path) -> None:
    ids = {"trace_id": "t", "span_id": "s"}
    asked = {"event.name": "gen_ai.user.message"}
    chosen = {"event.name": "gen_ai.choice"}
    reply = {"message": {"role": "assistant", "content": "At 8."}}
    path = write(
        tmp_path / "logs.jsonl",
        {**ids, "body": {"content": "When?"}, "attributes": asked},
        {**ids, "body": reply, "attributes": chosen},
    )
    assert read_answers(path).samples == [Sample("t", "When?", "At 8.")]


@pytest.mark.parametrize("row", [{"resourceSpans": [{"scopeSpans": 1}]}, {"resourceSpans": 3}])
def test_broken_exports_are_refused(tmp_path: Path, row: dict[str, object]) -> None:
    with pytest.raises(BenchError, match="is no trace as its tool writes it"):
        read_answers(write(tmp_path / "t.json", row))
