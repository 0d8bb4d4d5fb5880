"""Inputs as people have them, by the verdict that is right: read so, or refused in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ragbench.core.errors import BenchError
from ragbench.data import (
    describe_file,
    read_answers,
    read_dataset,
    read_qrels,
    read_run,
)
from ragbench.metrics.ranking_frames import add_gains

Find = Callable[[str], Path]
# Case and file → samples; question, answer, passages and references of the first.
ANSWERS = {
    "field-cases/columns_gold_predicted/f.jsonl": (1, "Revenue?", "1,577", 0, 1),
    "field-cases/contexts_haystack/h.json": (1, "When?", "8:00", 1, 0),
    "field-cases/dialogues_openai/o.jsonl": (2, "When?", "At 8.", 0, 0),
    "field-cases/excel_sep_line/x.csv": (1, "When?", "8:00", 0, 0),
    "field-cases/export_langfuse_ui/l.csv": (1, "When?", "8:00", 0, 0),
    "field-cases/export_promptfoo/p.json": (1, "When?", "8:00", 1, 0),
    "field-cases/json_dict_of_lists/d.json": (2, "When?", "8:00", 1, 0),
    "field-cases/json_lines_in_json/c.json": (2, "When?", "8:00", 0, 0),
    "field-cases/references_list/m.jsonl": (1, "When?", "8 a.m.", 0, 2),
    "field-cases/refusals/refusals.jsonl": (17, None, None, 0, 0),
    "field-cases/rouge_chinese/z.jsonl": (1, None, "图书馆早上八点开门", 0, 1),
    "field-cases/row_none_in_list/r.csv": (2, "When?", "8:00", 1, 0),
    "field-cases/emb_no_index/one.jsonl": (1, "When does it open?", "At 8:00.", 1, 0),
    "field-cases-2/i-multiturn/m.jsonl": (1, None, "It is 75°F.", 0, 1),
    "field-cases-2/i-tool-nested/m.jsonl": (1, "Find it", None, 0, 0),
    "field-cases-2/ii-deepeval-conversation/c.json": (2, "When does it open?", "At 8:00.", 1, 0),
    "field-cases-2/ii-trulens-records/t.csv": (2, "When does it open?", "At 8:00.", 0, 0),
    "field-cases-2/ii-trulens-records/q.csv": (1, "When?", "At 8:00.", 0, 1),
    "field-cases-2/iii-benchmarkqed-answers/a.json": (2, None, "Libraries.", 0, 0),
    "field-cases-2/v-langfuse-csv-double/t.csv": (3, "When does it open?", "At 8:00.", 0, 0),
    "field-cases-2/v-langfuse-obs-v2/t.json": (1, "When does it open?", "At 8:00.", 1, 0),
    "field-cases-2/v-langsmith-runs/t.jsonl": (2, "When does it open?", "At 8:00.", 1, 0),
    "field-cases-2/v-openinference-twelve/t.json": (1, "When does it open?", "At 8:00.", 12, 0),
    "field-cases-2/v-otel-events/t.json": (1, "When does the library open?", "At 8:00.", 0, 0),
    "field-cases-2/v-otel-logs/t.jsonl": (1, "When does it open?", "At 8:00.", 0, 0),
    "field-cases-2/v-otel-traceloop-llm-only/t.json": (1, "When does it open?", "At 8:00.", 0, 0),
    "field-cases-2/v-phoenix-csv/t.csv": (1, "When does it open?", "At 8:00.", 2, 0),
    "field-cases-2/v-phoenix-parquet/t.parquet": (1, "When does it open?", "At 8:00.", 2, 0),
    "field-cases-2/viii-yo/q.jsonl": (1, "?", "Ещё один счёт", 0, 1),
    "field-cases-2/viii-stress-marks/q.jsonl": (1, None, "Пушкин — русский поэт.", 1, 0),
}


@pytest.mark.parametrize(("name", "expected"), ANSWERS.items(), ids=ANSWERS)
def test_answers(shared_data: Find, name: str, expected: tuple[int, str, str, int, int]) -> None:
    count, question, answer, passages, references = expected
    answers = read_answers(shared_data(name))
    first = answers.samples[0]
    assert (len(answers.samples), answers.left_out) == (count, [])
    assert question in (None, first.question)
    assert answer in (None, first.answer)
    assert (len(first.contexts or ()), len(first.references)) == (passages, references)


REFUSED = {
    "field-cases/contexts_document_repr/d.csv": "write contexts as a list of texts",
    "field-cases/init_unknown_columns/q.jsonl": "--column question=text",
    "field-cases/synonyms_gold_output/r.jsonl": "--column answer=output",
    "field-cases-2/iii-benchmarkqed-questions/q.json": "--column question=text",
    "field-cases-2/v-langfuse-null-io/t.json": "trace t1: its first step has no question",
}


@pytest.mark.parametrize(("name", "sentence"), REFUSED.items(), ids=REFUSED)
def test_refused_with_the_way_out(shared_data: Find, name: str, sentence: str) -> None:
    with pytest.raises(BenchError, match=sentence):
        read_answers(shared_data(name))


def test_details_of_answers(shared_data: Find) -> None:
    twelve = read_answers(shared_data("field-cases-2/v-openinference-twelve/t.json")).samples[0]
    assert [passage.id for passage in twelve.contexts or ()] == [f"p{n}" for n in range(12)]
    deepeval = read_answers(shared_data("field-cases/synonyms_deepeval_json/d.json")).samples[0]
    assert [passage.text for passage in deepeval.contexts or ()] == [
        "It opens at 8:00 on weekdays."
    ]
    assert deepeval.reference_contexts != deepeval.contexts
    agent = read_answers(shared_data("field-cases-2/i-tool-nested/m.jsonl")).samples[0]
    assert agent.tool_calls == agent.expected_tool_calls
    folder = shared_data("field-cases-2/iii-benchmarkqed-answers")
    both = read_answers([folder / "a.json", folder / "b.json"]).samples
    assert [sample.system for sample in both] == ["a", "a", "b", "b"]
    notes = read_answers(shared_data("field-cases/row_none_in_list/r.csv")).notes
    assert notes == ["1 empty passages were left out"]
    notes = read_answers(shared_data("field-cases-2/viii-homoglyphs/q.jsonl")).notes
    assert "mix Latin and Cyrillic" in notes[0]
    sessions = read_answers(shared_data("field-cases-2/v-langfuse-csv-double/t.csv")).samples
    assert {sample.cluster for sample in sessions} == {"s1", "s2"}


# Case → order of the first query's passages, and their gains.
RUNS = {
    "field-cases/trec_forms": ("q.qrels", ["d1", "d2"], "[1.0, nan]"),
    "field-cases/trec_bpref_negative": ("q.qrels", ["D1", "D2"], "[-1.0, 1.0]"),
    "field-cases/trec_metric_names": ("q.qrels", ["d1"], "[1.0]"),
    "field-cases-2/iv-arguana-self": ("q.qrels", ["q1", "d1"], "[nan, 1.0]"),
    "field-cases-2/iv-beir-self-id": ("q.qrels", ["q1", "d1"], "[1.0, 1.0]"),
    "field-cases-2/iv-distances": ("q.qrels", ["C", "B", "A"], "[0.0, 0.0, 1.0]"),
    "field-cases-2/iv-dup-in-qrels": ("q.qrels", ["A", "B"], "[2.0, 1.0]"),
    "field-cases-2/iv-dup-in-run": ("q.qrels", ["A", "B"], "[1.0, 1.0]"),
    "field-cases-2/iv-float-scores": ("q.qrels", ["A", "B"], "[1.0, 0.0]"),
    "field-cases-2/iv-junk-judged": ("q.qrels", ["D1", "D2"], "[-2.0, 1.0]"),
    "field-cases-2/iv-rank-from-zero-unsorted": ("q.qrels", ["A", "B", "C"], "[1.0, 0.0, 0.0]"),
    "field-cases-2/iv-unjudged-query": ("q.qrels", ["A"], "[1.0]"),
}


@pytest.mark.parametrize(("name", "expected"), RUNS.items(), ids=RUNS)
def test_runs(shared_data: Find, name: str, expected: tuple[str, list[str], str]) -> None:
    qrels, order, gains = expected
    folder = shared_data(name)
    frame = add_gains(read_run(folder / "r.run").frame, read_qrels(folder / qrels).frame)
    first = frame[frame["question_id"] == frame["question_id"][0]]
    assert (first["passage_id"].tolist(), str(first["gain"].tolist())) == (order, gains)


def test_other_forms_of_runs_and_judgements(shared_data: Find) -> None:
    forms = shared_data("field-cases/trec_forms")
    assert read_qrels(forms / "qrels.tsv").frame["grade"].tolist() == [1.0, 0.0]
    assert read_run(forms / "res.json").frame["passage_id"].tolist() == ["d1", "d2"]
    with pytest.raises(BenchError, match="'A' for 'q'"):
        read_qrels(shared_data("field-cases-2/iv-dup-in-qrels/conflict.qrels"))
    floats = shared_data("field-cases-2/iv-float-scores/r.run")
    assert read_run(floats, trec_eval=True).frame["passage_id"].tolist() == ["B", "A"]
    assert "distances" in read_run(shared_data("field-cases-2/iv-distances/r.run")).notes[0]
    assert "again" in read_run(shared_data("field-cases-2/iv-dup-in-run/r.run")).notes[0]
    assert len(read_run(shared_data("field-cases-2/iv-more-relevant-than-k/r.run")).frame) == 10


def test_data_sets(shared_data: Find) -> None:
    numbers = read_dataset(shared_data("field-cases/beir_int_ids/b"))
    assert (len(numbers.passages), len(numbers.questions), len(numbers.labels)) == (2, 1, 1)
    arguana = read_dataset(shared_data("field-cases-2/iv-arguana-self/b"))
    assert arguana.notes[0].startswith("2 questions are passages themselves")
    table = read_dataset(shared_data("field-cases/questions_expected_answer/qa.csv"))
    assert table.questions["reference"].tolist() == ["14 days", "At 22:00"]
    squad = read_dataset(shared_data("xquad/xquad.ru.json.gz"))
    assert (squad.language, len(squad.passages), len(squad.questions)) == ("ru", 180, 894)


def test_what_init_says(shared_data: Find) -> None:
    folder = shared_data("field-cases/init_qrels_as_document")
    assert describe_file(folder / "robust.qrels.txt").kind == "qrels"
    assert describe_file(folder / "input.run.txt").kind == "run"
    unknown = describe_file(shared_data("field-cases/init_unknown_columns/q.jsonl"))
    assert unknown.reason.startswith("has the columns question_id, text, category")
    assert describe_file(shared_data("field-cases/export_langfuse_ui/l.csv")).kind == "answers"


REAL = {
    "financebench-refusals/gpt-4_oracle.jsonl.gz": 150,
    "mtrag-un/mtragun_reference_clapnq_fiqa.jsonl.gz": 219,
    "rubq-dev/RuBQ_1.0_dev.json.gz": 300,
}


@pytest.mark.parametrize(("name", "count"), REAL.items(), ids=REAL)
def test_real_tables(shared_data: Find, name: str, count: int) -> None:
    columns = {"question": "question_text", "reference": "answer_text"} if "rubq" in name else {}
    assert len(read_answers(shared_data(name), columns).samples) >= count
