"""Files of traces as they come: any length, any blocks, broken, hostile; what can be read is, the rest is counted."""

from __future__ import annotations

import gzip
import json
import re
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragbench.old.data import DatasetError, shapes
from ragbench.old.data import rows as tables
from ragbench.old.data.files import LeftOut, normalise
from ragbench.old.data.rows import read_rows
from ragbench.old.data.vocabulary import is_content
from ragbench.old.extras.traces import assembly

NAMES = (
    st.text(max_size=4)
    .map(normalise)
    .filter(
        lambda name: (
            name not in tables.WRAPPERS and not is_content(name) and not shapes._ID.search(name)
        )  # a prediction's
    )
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.text(max_size=8).map(normalise),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(NAMES, VALUES, min_size=1, max_size=4), min_size=1, max_size=6)


def all_of(path: Path) -> list[Any]:
    return [record for _, record in read_rows(path, held=False, left_out=LeftOut())]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(OBJECTS, st.integers(1, 12), st.sampled_from([None, 1]), st.booleans())
def test_an_array_reads_as_json_reads_it_whatever_the_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[Any], size: int, indent: int | None, plain: bool
) -> None:
    path = tmp_path / "array.json"
    path.write_text(json.dumps(rows, indent=indent, ensure_ascii=plain), encoding="utf-8")
    blocks = tables.text_blocks
    with monkeypatch.context() as patch:
        patch.setattr(tables, "text_blocks", lambda path, _=0: blocks(path, size))
        assert all_of(path) == rows
        path.write_text(json.dumps({"meta": {"n": [1]}, "data": rows, "more": 1}, indent=2), encoding="utf-8")
        assert all_of(path) == rows
        path.write_text("\n".join(json.dumps(row, indent=2) for row in rows), encoding="utf-8")
        assert all_of(path) == rows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[{"a": 1},\n {"a": 2},\n {"a" 3}]', "x.json, line 3: not JSON: Expecting ':' delimiter"),
        ('[{"a": 1},\n {"a": 2}', "x.json, line 2: the file ends within a list"),
        ('[{"a": 1}\n {"a": 2}]', "x.json, line 2: not JSON: a comma or ] is expected"),
        ('[{"a": "', "x.json, line 1: not JSON: Unterminated string"),
        ("", "x.json: an empty file"),
        ("[]", "x.json: holds no rows"),
        ("[" * 100_000, "x.json, line 1: nested too deeply"),
    ],
)
def test_broken_json_is_named_with_its_line(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DatasetError, match=re.escape(expected)):
        all_of(path)


def test_a_fault_far_from_the_end_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, read = tmp_path / "x.json", []
    path.write_text('[{"a" 1},' + '{"a": 1},' * 200_000, encoding="utf-8")
    blocks = tables.text_blocks
    monkeypatch.setattr(tables, "text_blocks", lambda path, _=0: (read.append(1) or one for one in blocks(path, 1000)))
    with pytest.raises(DatasetError, match="line 1: not JSON"):
        all_of(path)
    assert len(read) < 4


@pytest.mark.slow
def test_memory_is_bound_by_a_record(tmp_path: Path) -> None:
    path = tmp_path / "x.json.gz"
    with gzip.open(path, "wt") as file:
        file.write("[" + ",".join(json.dumps({"a": "x" * 1000}) for _ in range(20_000)) + "]")
    tracemalloc.start()
    assert sum(1 for _ in read_rows(path, held=False, left_out=LeftOut())) == 20_000
    assert tracemalloc.get_traced_memory()[1] < 12 * 2**20  # of 20 million characters
    tracemalloc.stop()


GOOD = {"user_input": "Where?", "response": "There.", "retrieved_contexts": ["Over there."], "id": "good"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{broken", "line that is not JSON (first: x.jsonl, line 2)"),
        ("[" * 100_000 + "]" * 100_000, "record that is nested too deeply (first: x.jsonl, line 2)"),
        ("7", "a whole number where an object is expected (first: x.jsonl, line 2)"),
        ('{"other": 1}', "record without the marks of a table of answers (first: x.jsonl, line 2)"),
        ('{"user_input": null}', "a row: holds no samples; of question, answer, reference, contexts"),
        ('{"user_input": "\\ud800"}', "a text holds half of a character (the lone surrogate \\ud800) (first: x.jsonl,"),
        (json.dumps({"user_input": "x" * 1_000_001}), "trace with text that no record may have (first: 2)"),
        ('{"user_input": "a", "retrieved_contexts": 7}', "contexts = 7: a list of texts is expected"),
        (json.dumps({**GOOD, "response": "again"}), "step that stands there twice (first: x.jsonl, line 2)"),
        ("9" * 5000, "line that is not JSON (first: x.jsonl, line 2)"),
    ],
)  # fmt: skip
def test_what_is_hostile_is_left_out_and_the_rest_loads(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join([json.dumps(GOOD), line, json.dumps({**GOOD, "id": "last"})]), encoding="utf-8")
    found, logged = assembly.read([path])
    assert [question.id for question in found.questions] == ["good", "last"]
    assert len(logged["logged"]) == 2
    [(told, count)] = found.left_out.items()
    assert reason in told
    assert count == 1


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    long = json.dumps({**GOOD, "more": "x" * (2**24 + 10)})
    path.write_text("\n".join([json.dumps(GOOD), long, json.dumps({**GOOD, "id": "last"})]), encoding="utf-8")
    found, _ = assembly.read([path])
    assert len(found.questions) == 2
    assert dict(found.left_out) == {"line that is too long (first: x.jsonl, line 2)": 1}


@pytest.mark.slow
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.sampled_from([
    {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "a", "spanId": "b", "attributes": []}]}]}]},
    {"context.trace_id": "a", "context.span_id": "b", "attributes.input.value": "q", "start_time": "2026-01-01"},
    {"id": "a", "timestamp": "2026-01-01", "observations": [{"id": "b", "type": "RETRIEVER"}], "scores": [{}]},
    {"run_type": "chain", "id": "a", "trace_id": "a", "inputs": {"q": "a"}, "outputs": {}, "extra": {"metadata": {}}},
    {"info": {"trace_id": "a", "assessments": [{}]}, "data": {"spans": [{"attributes": {}}]}},
    {"input": "q", "actual_output": "a", "retrieval_context": ["c"], "context": None, "completion_time": 1},
    {"user_input": "q", "retrieved_contexts": ["c"], "response": "a"},
    {"page_content": "a", "metadata": {"source": "b"}, "id": "c"},
]), st.data())  # fmt: skip
def test_values_of_any_kind_in_any_place_end_in_a_count_or_a_clear_error(
    tmp_path: Path, record: dict[str, Any], data: st.DataObject
) -> None:
    def spoilt(value: Any) -> Any:
        if data.draw(st.integers(0, 3)) == 0:
            return data.draw(VALUES | st.floats() | st.just("x" * 500) | st.just({"k": [["v"]]}))
        if isinstance(value, dict):
            return {name: spoilt(one) for name, one in value.items()}
        return [spoilt(one) for one in value] if isinstance(value, list) else value

    path = tmp_path / "x.jsonl"
    broken = {name: spoilt(value) for name, value in record.items()}
    path.write_text("\n".join(json.dumps(one) for one in (record, broken, record)), encoding="utf-8")
    try:
        found, _ = assembly.read([path])
    except DatasetError as error:
        said = str(error)
    else:
        assert found.questions
        return
    assert re.search("no trace with a question|no record that can be read", said)


def test_nan_is_nothing_and_ids_that_no_record_may_have_are_named_anew(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    span = {"context.trace_id": "a\u001bb", "context.span_id": "1", "span_kind": "RETRIEVER", "parent_id": float("nan"),
            "attributes.input.value": "q", "attributes.retrieval.documents": [
                {"document.id": "x" * 400, "document.content": "one\0", "document.score": float("nan")}]}  # fmt: skip
    path.write_text(json.dumps(span), encoding="utf-8")
    found, logged = assembly.read([path])
    assert re.fullmatch("id-[0-9a-f]{12}", found.questions[0].id)
    assert [(chunk.text, len(chunk.id)) for chunk in found.chunks] == [("one", 15)]
    assert logged["logged"][0]["retrieved"] == [found.chunks[0].id]


def test_a_second_text_under_an_id_is_a_passage_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    rows = [{"user_input": f"q{n}", "retrieved_contexts": [text], "retrieved_context_ids": ["p"]}
            for n, text in enumerate(("old", "new", "old"))]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found, logged = assembly.read([path])
    assert sorted(chunk.text for chunk in found.chunks) == ["new", "old"]
    first, second, third = (line["retrieved"] for line in logged["logged"])
    assert first == third == ["p"] != second


def test_an_unknown_file_is_told_what_was_looked_for_and_found(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"what": 1, "else": 2}', encoding="utf-8")
    with pytest.raises(DatasetError) as error:
        assembly.read([path])
    said = str(error.value)
    assert said.startswith("x.jsonl, line 1: of no format that is known; it has what, else. Known are OpenTelemetry, ")
    assert "Langfuse, " in said
    assert f"ragbench load answers {path} --name" in said
