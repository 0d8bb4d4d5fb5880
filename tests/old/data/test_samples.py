"""Tables of answers in every shape that people have them."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pydantic import BaseModel, ConfigDict

from ragbench.old.core.types import Chunk, Sample
from ragbench.old.data import DatasetError
from ragbench.old.data.cells import Forms
from ragbench.old.data.joined_tables import read_all
from ragbench.old.data.samples import read_samples, samples_of

PRESENT = {
    "user_input": "Вопрос?",
    "response": "Ответ.",
    "reference": "Эталон.",
    "retrieved_contexts": ["Один.", "Два."],
}
OLDER = {"question": "Вопрос?", "answer": "Ответ.", "ground_truth": "Эталон.", "contexts": ["Один.", "Два."]}
ONE, TWO = Chunk("context-7e38a63956e5e27a", "Один."), Chunk("context-144b4c43d49f2d9f", "Два.")
EXPECTED = Sample("1", "Вопрос?", "Ответ.", "Эталон.", (ONE, TWO))


@pytest.mark.parametrize("row", [PRESENT, OLDER], ids=["present", "older"])
class TestNames:
    def test_mappings_and_lists(self, row: dict[str, Any]) -> None:
        assert samples_of(row) == samples_of([row]) == [EXPECTED]

    def test_data_frames(self, row: dict[str, Any]) -> None:
        assert samples_of(pd.DataFrame([row])) == [EXPECTED]

    def test_files(self, row: dict[str, Any], tmp_path: Path) -> None:
        (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n\n", encoding="utf-8")
        (tmp_path / "a.json").write_text(json.dumps([row]), encoding="utf-8")
        pd.DataFrame([row]).to_parquet(tmp_path / "a.parquet")
        cells = {key: json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value
                 for key, value in row.items()}  # fmt: skip
        with (tmp_path / "a.csv").open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, cells)
            writer.writeheader()
            writer.writerow(cells)
        for ending in ("jsonl", "json", "parquet", "csv"):
            assert read_samples(tmp_path / f"a.{ending}") == [EXPECTED], ending


def test_what_was_not_given_is_none_and_what_is_empty_is_empty() -> None:
    frame = pd.DataFrame(
        [{"id": "a", "response": "x", "reference": math.nan}, {"id": "b", "response": "", "contexts": []}]
    )
    first, second = samples_of(frame)
    assert (first.reference, first.contexts) == (None, None)
    assert (second.response, second.contexts) == ("", ())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1251", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_tables_as_spreadsheets_write_them(tmp_path: Path, delimiter: str, encoding: str) -> None:
    """Semicolons, tabs and old encodings; an empty cell is a text that was given and is empty; a bare row is none."""
    rows = [
        ["id", "question", "answer", "ground_truth", "contexts", "shown"],
        ["a", "Когда открыт зал, и до скольки; а двор?", 'С 9 до 21,\n"без обеда"', "", '["Один.", "Два."]', "нет"],
        ["b", "", "", "Эталон.", "", ""],
        ["", "", "", "", "", ""],
    ]  # fmt: skip
    name = tmp_path / ("a.tsv" if delimiter == "\t" else "a.csv")
    with name.open("w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    assert read_samples(name) == [
        Sample("a", rows[1][1], rows[1][2], "", (ONE, TWO), shown=False),
        Sample("b", "", "", "Эталон.", ()),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("answer\nx\na,b\n", "a.csv, line 3: 2 cells, but the header names 1 columns"),
        ("id,answer\n1\n", "a.csv, line 2: 1 cells, but the header names 2 columns"),
        ("answer,answer\nx,y\n", "a.csv, line 1: the column 'answer' stands there twice"),
        ('answer\n"x\n', "a.csv, line .*: not CSV"),
        ('id,contexts,context_ids\n\n1,"[""a""]","[""1"", ""2""]"\n', "a.csv, line 3, contexts: 1 texts and 2"),
        (
            "question#answer\nx#y\n",
            r"a.csv: none of its columns \(question#answer\) is one of question, answer, reference, contexts",
        ),
        ("answer,shown\nx,perhaps\n", "a.csv, line 2, shown = 'perhaps': true or false"),
    ],
)
def test_what_is_wrong_with_a_table_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    with pytest.raises(DatasetError, match=message):
        read_samples(tmp_path / "a.csv")


def test_columns_go_by_many_names_and_those_of_no_field_are_named(tmp_path: Path) -> None:
    """Case, blanks and hyphens do not count."""
    (tmp_path / "a.csv").write_text(
        "ID,Model,Вопрос,Output,Expected Answer,context,Human mood\na,v1,Когда?,В 8.,В 9.,Зал.,5\n", encoding="utf-8"
    )
    forms = Forms()
    assert read_samples(tmp_path / "a.csv", forms) == [
        Sample("a", "Когда?", "В 8.", "В 9.", (Chunk.nameless("Зал."),), system="v1")
    ]
    assert forms.unread == ["not read, as no field is called so: Human mood"]


def test_identifiers_and_rubrics() -> None:
    row = {"retrieved_contexts": [{"id": "c7", "text": "t"}], "reference_context_ids": ["c7", "c9"], "cluster": 3}
    (one,) = samples_of([{**row, "rubrics": {"score1_description": "bad", "score5_description": "good"}}])
    assert one.contexts == (Chunk("c7", "t"),)
    assert one.reference_contexts == (Chunk("c7", ""), Chunk("c9", ""))
    assert one.rubric == {1: "bad", 5: "good"}
    assert one.cluster == "3"


def test_samples_pass_through() -> None:
    assert samples_of(EXPECTED) == samples_of([EXPECTED]) == [EXPECTED]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"response": ["a", "b"]}], "row 1, response: a text is expected, found a list"),
        ([{**PRESENT, "id": "x"}] * 2, "'x' stands twice"),
        ([{"contexts": ["a"], "context_ids": ["1", "2"]}], "1 texts and 2 identifiers"),
        ([{"contexts": [1]}], r"contexts\[0\]"),
        (["text"], r"row 1: a sample is a Sample or a mapping, not a text \('text'\); it is written as \{'question'"),
        ([{}], "holds no samples; of question, answer, reference, contexts"),
        (pd.DataFrame(index=[1]), "holds no samples; of question"),
        (Path("no such.csv"), "samples = 'no such.csv': there is no such file; answers are expected"),
        (Path(), r"samples = '\.': a folder; name a table in it"),
        (
            {"a": [PRESENT], "b": [{"questin": "q"}]},
            r"system 'b': none of its columns \(questin\) .* is questin the qu",
        ),
        ({"a": [PRESENT], "b": []}, "system 'b': no rows"),
        ({"a": [PRESENT], None: [PRESENT]}, "a system has no name; there are a, None"),
        ([{**PRESENT, "system": "a"}, PRESENT], "row 2: no system, and rows before it one: name one in each"),
    ],
)
def test_what_cannot_be_a_sample(rows: Any, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        samples_of(rows)


def test_the_same_id_in_two_systems() -> None:
    assert len(samples_of([{**PRESENT, "id": "x", "system": name} for name in "ab"])) == 2


def test_a_cell_without_a_system_is_no_system_of_its_own(tmp_path: Path) -> None:
    table = tmp_path / "merged.csv"
    table.write_text("system,question,answer\na,q,1\n,r,2\nb,q,3\n", encoding="utf-8")
    samples = read_samples(table, forms := Forms())
    assert [(sample.system, sample.response) for sample in samples] == [("a", "1"), ("b", "3")]
    [told] = forms.told
    assert told.startswith("left out: 1 × row with no system, and rows before it one: name one in each, or in none")


def test_unknown_files(tmp_path: Path) -> None:
    (tmp_path / "a.doc").write_text("question")
    with pytest.raises(DatasetError, match=r"none of \.json, \.jsonl, \.jsonlines, \.ndjson, \.csv, \.tsv, \.parquet"):
        read_samples(tmp_path / "a.doc")
    with pytest.raises(DatasetError, match="no such file"):
        read_samples(tmp_path / "a.jsonl")
    (tmp_path / "b.parquet").write_bytes(b"no parquet")
    with pytest.raises(DatasetError, match="cannot be read"):
        read_samples(tmp_path / "b.parquet")
    with pytest.raises(DatasetError, match="no such file"):
        read_samples(tmp_path / "none.parquet")


def numbered(*rows: tuple[str, str | None]) -> list[str]:
    """The ids of rows that have a system, a question and no id."""
    return [
        sample.id
        for sample in samples_of([{"system": system, "question": asked, "answer": "a"} for system, asked in rows])
    ]


TRACE_FILES = Path(__file__).parent / "trace_files"


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_the_samples_of_ragas(ending: str) -> None:
    """Lists as Python prints them, empty cells, quotes and line ends; ids beside the texts."""
    first, second = read_samples(TRACE_FILES / f"ragas.{ending}")
    assert [(chunk.id, chunk.text[:13]) for chunk in first.contexts or ()] == [
        ("lib-1", "The library i"), ("lib-2", "On Saturdays "),
    ]  # fmt: skip
    assert [chunk.id for chunk in first.reference_contexts or ()] == ["lib-1"]
    assert second.response == 'It\'s open "until" 18,\nas the sign says.'
    assert next(chunk.text for chunk in second.contexts or ()) == 'It\'s "so".'
    assert second.reference_contexts in ((), None)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_dialogue_of_ragas_is_a_sample_a_turn(ending: str) -> None:
    first, second = read_samples(TRACE_FILES / f"ragas-dialogues.{ending}")
    assert (first.id, first.user_input, first.response, first.reference) == (
        "1.1", "When is the library open?", "From 9 to 21 on weekdays.", None,
    )  # fmt: skip
    assert (second.id, second.user_input, second.response, second.reference) == (
        "1.2", "And on Saturdays?", "Until 18.", "Until 18.",
    )  # fmt: skip
    assert first.cluster == second.cluster == "1", "turns of one dialogue are not independent"


@pytest.mark.parametrize("value", ["[1] Is this a list?", "['a', 'b']", '[{"a": 1}]', "[{'type': 'human'}]", ""])
def test_a_question_that_begins_like_a_dialogue_is_a_question(value: str) -> None:
    [sample] = samples_of([{"user_input": value}])
    assert (sample.id, sample.user_input) == ("1", value)


def test_rows_without_an_id_are_paired_by_their_question() -> None:
    assert numbered(("a", "one?"), ("b", "one?"), ("a", "two?"), ("b", "two?")) == ["1", "1", "2", "2"]
    assert numbered(("a", "one?"), ("a", "two?"), ("b", "two?"), ("b", "one?")) == ["1", "2", "2", "1"], "another order"
    assert numbered(("a", "one?"), ("a", "two?"), ("b", "two?")) == ["1", "2", "2"], "one is missing"
    assert numbered(("a", "one?"), ("a", "one?"), ("b", "one?"), ("b", "one?")) == ["1", "2", "1", "2"], "repeated"
    assert numbered(("a", None), ("b", None)) == ["1", "2"], "nobody knows what was asked"


def test_rows_without_an_id_are_paired_in_files_too(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("system,question,answer\na,one?,x\nb,one?,y\n", encoding="utf-8")
    assert [(sample.system, sample.id) for sample in read_samples(path)] == [("a", "1"), ("b", "1")]
    rows = [{"question": question, "answer": question} for question in ("one?", "two?", "three?")]
    files = [tmp_path / name / "answers.json" for name in ("first", "second")]
    for file, order in zip(files, (rows, rows[::-1]), strict=True):
        file.parent.mkdir()
        file.write_text(json.dumps(order), encoding="utf-8")
    for made in (read_all(files), samples_of(files), samples_of({"first/answers": rows, "second/answers": rows[::-1]})):
        of_system = [{s.id: s.response for s in made if s.system == f"{name}/answers"} for name in ("first", "second")]
        assert of_system[0] == of_system[1] == {"1": "one?", "2": "two?", "3": "three?"}
    with pytest.raises(DatasetError, match=r"answers\.json: it is named twice"):
        read_all([files[0], files[0]])


AMBIGUOUS = {"question": "Who wrote it?", "answer": "Leo Tolstoy", "output": "Anton Chekhov", "expected": "Leo Tolstoy"}


class TestTwoColumnsOfOneField:
    def test_they_are_refused_naming_both_and_what_decides(self) -> None:
        said = r"row 1: the columns answer and output differ, .* --column answer=output or .*=answer .*leave one out"
        with pytest.raises(DatasetError, match=said):
            samples_of([AMBIGUOUS])
        with pytest.raises(DatasetError, match="the columns context and documents differ"):
            samples_of([{"question": "?", "context": "a", "documents": ["b"]}])

    @pytest.mark.parametrize(
        ("columns", "response"),
        [({"response": "output"}, "Anton Chekhov"), ({"answer": "output"}, "Anton Chekhov"),
         ({"response": "Answer"}, "Leo Tolstoy"), ({"response": "answer", "reference": "output"}, "Leo Tolstoy")],
    )  # fmt: skip
    def test_whoever_says_which_is_heard(self, columns: dict[str, str], response: str) -> None:
        [one] = samples_of([AMBIGUOUS], columns=columns)
        assert one.response == response
        assert one.reference == ("Anton Chekhov" if "reference" in columns else "Leo Tolstoy")

    def test_one_of_the_present_name_the_same_twice_or_an_empty_place_are_no_two(self) -> None:
        [named] = samples_of([{"question": "?", "response": "mine", "answer": "gold"}])
        assert (named.response, named.reference) == ("mine", None)
        assert samples_of([{"question": "?", "answer": "same", "output": "same"}])[0].response == "same"
        assert samples_of([{"question": "?", "answer": None, "output": "only"}])[0].response == "only"

    def test_deepevals_context_is_the_ideal_one(self) -> None:
        row = {"input": "?", "actual_output": "a", "retrieval_context": ["found"], "context": ["ideal"]}
        [one] = samples_of([row])
        assert [[chunk.text for chunk in part or ()] for part in (one.contexts, one.reference_contexts)] == [
            ["found"], ["ideal"],
        ]  # fmt: skip
        [alone] = samples_of([{"input": "?", "actual_output": "a", "context": ["found"]}])
        assert alone.contexts is not None
        assert alone.reference_contexts is None

    def test_a_field_or_a_column_that_is_not_there_is_named_with_the_near_one(self) -> None:
        with pytest.raises(DatasetError, match=r"there is no field 'respons'; did you mean 'response'"):
            samples_of([AMBIGUOUS], columns={"respons": "output"})
        with pytest.raises(DatasetError, match=r"row 1: there is no column 'outputt'; did you mean 'output'"):
            samples_of([AMBIGUOUS], columns={"response": "outputt"})

    def test_real_files_of_the_field(self, shared_data: Callable[[str], Path]) -> None:
        with pytest.raises(DatasetError, match=r"r\.jsonl.*the columns answer and output differ"):
            read_samples(shared_data("field-cases/synonyms_gold_output/r.jsonl"))
        found = read_samples(shared_data("field-cases/synonyms_deepeval_json/d.json"))
        assert [one.contexts[0].text for one in found if one.contexts] == [
            "It opens at 8:00 on weekdays.", "Parking is behind the hall.",
        ]  # fmt: skip
        assert [one.reference_contexts[0].text for one in found if one.reference_contexts] == [
            "Parking is behind the hall.", "It opens at 8:00 on weekdays.",
        ]  # fmt: skip


JOINED: dict[str, tuple[dict[str, Any], list[tuple[Any, ...]]]] = {
    "tables": (
        {"a.csv": "id,answer\nq1,At 8\nq9,Gone\n", "q.csv": "id,question,reference\nq1,When?,8\nq2,Where?,Here\n"},
        [("a", "q1", "When?", "At 8", "8", None)],
    ),
    "another question": (
        {"a.csv": "id,question,answer\n1,When?,At 8\n2,Who?,Ann\n",
         "q.csv": "id,question,reference\n1,When?,8\n2,Where?,Here\n"},
        [("a", "1", "When?", "At 8", "8", None)],
    ),
    "SQuAD": (
        {"p.json": {"56be-1": "Broncos", "56be-2": "Nobody"}, "dev.json": {"data": [{"title": "T", "paragraphs": [
            {"context": "Broncos won.",
             "qas": [{"id": "56be-1", "question": "Who?", "answers": [{"text": "Broncos"}]}]}
        ]}]}},
        [("p", "56be-1", "Who?", "Broncos", "Broncos", ["Broncos won."])],
    ),
    "RAGTruth": (
        {"response.jsonl": [{"id": m * 2, "source_id": "7", "model": m, "labels": [], "response": m} for m in "xy"],
         "source_info.jsonl": [
             {"source_id": "7", "source": "MARCO", "prompt": "Answer briefly: How?",
              "source_info": {"question": "How?", "passages": "passage 1:Heat.\n\npassage 2:Knead."}}]},
        [(m, "7", "How?", m, None, ["passage 1:Heat.", "passage 2:Knead."]) for m in "xy"],
    ),
    "KILT": (
        {"p.jsonl": [{"id": "k", "input": "Who?",
                      "output": [{"answer": "Jane", "provenance": [{"wikipedia_id": "1"}]}]}],
         "g.jsonl": [{"id": "k", "input": "Who?", "output": [{"answer": "Ann"}], "meta": {}}]},
        [("p", "k", "Who?", "Jane", "Ann", None)],
    ),
    "MT-bench": (
        {"m.jsonl": [{"question_id": 81, "model_id": "gpt", "choices": [{"index": 0, "turns": ["Aloha!", "Again."]}]}],
         "question.jsonl": [{"question_id": 81, "turns": ["Greet.", "Again?"], "reference": ["A", "B"]}]},
        [("gpt", "81.1", "Greet.", "Aloha!", "A", None), ("gpt", "81.2", "Again?", "Again.", "B", None)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", JOINED)
def test_answers_without_questions_find_them_in_another_file(name: str, tmp_path: Path) -> None:
    """By the same ids; an answer that no question has, or another one, is left out and counted."""
    files, expected = JOINED[name]
    for file, content in files.items():
        lines = [json.dumps(row) for row in content] if isinstance(content, list) else [json.dumps(content)]
        (tmp_path / file).write_text(content if isinstance(content, str) else "\n".join(lines), encoding="utf-8")
    forms = Forms()
    read = read_all([tmp_path / file for file in files], forms)
    assert [
        (each.system, each.id, each.user_input, each.response, each.reference,
         each.contexts and [context.text for context in each.contexts])
        for each in read
    ] == expected  # fmt: skip
    told = " ".join(forms.told)
    assert f"{[*files][1]}: questions of the answers with the same ids" in told
    assert ("1 × answer whose id no question has" in told) is (name in ("tables", "another question", "SQuAD"))


def test_answers_of_which_no_question_is_known_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,answer\nx,At 8\n")
    (tmp_path / "q.csv").write_text("id,question\nq1,When?\n")
    with pytest.raises(DatasetError, match=r"a\.csv: none of its answers has the id of a question of q\.csv"):
        read_all([tmp_path / "a.csv", tmp_path / "q.csv"])


def test_a_cost_that_is_no_number_is_told(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    path.write_text("question,answer,cost\nWhen?,At 8,cheap\nWho?,Ann,0.5\nHow?,So,\n")
    forms = Forms()
    assert [sample.cost for sample in read_samples(path, forms)] == [None, 0.5, None]
    assert forms.told == ["left out: 1 × cost that is no number from 0 (first: c.csv, line 2)"]


def test_an_answer_sentence_by_sentence_is_one_text(tmp_path: Path) -> None:
    """As TREC RAG has it, with the documents that its citations number."""
    row = {"run_id": "r", "topic_id": "t", "topic": "What?", "references": ["d1", "d2"],
           "answer": [{"text": "It is. ", "citations": [0]}, {"text": "So it goes.", "citations": []}]}  # fmt: skip
    path = tmp_path / "run.jsonl"
    path.write_text(json.dumps(row))
    [sample] = read_samples(path)
    assert (sample.id, sample.system, sample.user_input, sample.response) == ("t", "r", "What?", "It is. So it goes.")
    assert [context.id for context in sample.contexts or ()] == ["d1", "d2"]


@pytest.mark.parametrize("answer", [[[]], [{"text": "It is."}, {"cited": 1}]])
def test_an_answer_that_is_a_list_without_its_texts_is_left_out(tmp_path: Path, answer: list[Any]) -> None:
    rows = [{"question": "When?", "answer": answer}, {"question": "Who?", "answer": "Ann"}]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    [sample] = read_samples(tmp_path / "a.json", forms := Forms())
    assert sample.response == "Ann"
    assert "a text is expected, found" in forms.told[0]


def test_events_of_a_log_that_are_of_no_sample_are_no_rows(tmp_path: Path) -> None:
    lines = [
        {"spec": {"eval_name": "x"}},
        {"sample_id": "s1", "type": "sampling", "data": {"prompt": "When?", "sampled": "At 8"}},
        {"sample_id": None, "type": "metrics", "data": {"accuracy": 0.5}},
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, lines)))
    [sample] = read_samples(tmp_path / "log.jsonl", forms := Forms())
    assert sample.id == "s1"
    assert not forms.left_out.counts


def test_what_a_model_of_pydantic_was_given_beside_its_fields_is_read() -> None:
    class Row(BaseModel):
        model_config = ConfigDict(extra="allow")
        question: str

    [sample] = samples_of([Row(question="When?", answer="At 8")])  # type: ignore[call-arg]
    assert sample.response == "At 8"


def test_a_reference_may_be_a_number(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"question": "When?", "answer": "At 8", "reference": 8}]')
    assert [sample.reference for sample in read_samples(tmp_path / "a.json")] == ["8"]


@pytest.mark.parametrize(
    "given", [{"text": "It opens at 8.", "score": 0.9}, {"text": "It opens at 8.", "scores": [0.9]}]
)
def test_a_passage_beside_its_number_is_one(given: dict[str, Any]) -> None:
    [sample] = samples_of([{"question": "When?", "answer": "At 8", "contexts": given}])
    assert [context.text for context in sample.contexts or ()] == ["It opens at 8."]
