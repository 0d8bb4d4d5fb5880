"""One content however people write it: names, contexts, references, labels and systems, several ways at once."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from ragbench.old.core.types import Sample
from ragbench.old.data import answer_tables
from ragbench.old.data.cells import Forms
from ragbench.old.data.columns import AmbiguousError
from ragbench.old.data.samples import read_samples, samples_of
from ragbench.old.data.vocabulary import field_of, part_of
from tests.old.small_project import write_lines

Row = dict[str, Any]
ASKED = [("When does it open?", ["At 8.", "8:00"]), ("Где выход?", ["Слева"]), ('Is it "free"?', ["Yes, it's free"])]
SYSTEMS = ("gpt-4o", "Llama 3")
CONTENT: list[Row] = [
    {"id": f"q{number}", "question": asked, "reference": right, "system": system,
     "answer": f"{system}: {right[-1]}", "contexts": [f"{asked} {right[0]}", f"Said by {system}, [1]."],
     "label": {"ann": number + 1, "bob": 5 - place}}
    for number, (asked, right) in enumerate(ASKED) for place, system in enumerate(SYSTEMS)
]  # fmt: skip
CONTEXTS: dict[str, Callable[[list[str]], Any]] = {
    "list": list,
    "JSON": json.dumps,
    "Python": repr,
    "documents": lambda texts: [{"page_content": text, "metadata": {"source": "a.md"}} for text in texts],
    "nodes": lambda texts: [{"node": {"id_": "n", "text": text}, "score": 0.5} for text in texts],
    "fragments": lambda texts: [{"Fragment": text, "Score": 0.5} for text in texts],
    "by name": lambda texts: {f"d{place}": text for place, text in enumerate(texts)},
    "printed": lambda texts: f"[{', '.join(f'Document(metadata={{}}, page_content={text!r})' for text in texts)}]",
}
REFERENCES: dict[str, Callable[[list[str]], Any]] = {
    "list": list,
    "cell": repr,
    "SQuAD": lambda texts: {"text": texts, "answer_start": [0] * len(texts)},
}
NAMES: dict[str, Callable[[str], str]] = {
    "plain": str,
    "Upper": str.upper,
    "of a form": lambda name: f"2. {name.capitalize()}:",
    "of a row": lambda name: f"row.{name}",
}


def nested(row: Row, own: Row) -> Row:
    renamed = {"answer": "raw answer"}  # a name that is an answer where no other is
    return {
        **row,
        "answers": [
            {"model": system, **{renamed.get(name, name): value for name, value in said.items()}}
            for system, said in own.items()
        ],
    }


SYSTEMS_IN: dict[str, Callable[[Row, Row], Row]] = {
    "list": nested,
    "object": lambda row, own: {**row, "outputs": own},
    "columns": lambda row, own: {**row, **own},
    "fields": lambda row, own: {
        **row, **{name: {system: said[name] for system, said in own.items()} for name in ("answer", "contexts")}
    },
}  # fmt: skip


def said(samples: list[Sample]) -> set[tuple[Any, ...]]:
    return {
        (one.system, one.user_input, one.response, one.references or (one.reference,),
         tuple(chunk.text for chunk in one.contexts or ()), tuple(sorted((one.labels or {}).values())))
        for one in samples
    }  # fmt: skip


def expected(*, labels: bool) -> set[tuple[Any, ...]]:
    return {
        (row["system"], row["question"], row["answer"], tuple(row["reference"]), tuple(row["contexts"]),
         tuple(sorted(row["label"].values())) if labels else ())
        for row in CONTENT
    }  # fmt: skip


def rows_of(draw: random.Random) -> tuple[list[Row], bool]:
    """The content, each of its rows in the drawn way, and whether labels are among it."""
    contexts, references, called = (draw.choice([*ways.values()]) for ways in (CONTEXTS, REFERENCES, NAMES))
    own = {"contexts": contexts, "reference": references}
    rows = [{name: own[name](value) if name in own else value for name, value in row.items()} for row in CONTENT]
    if draw.random() < 0.5:  # a row a system
        for row in rows:
            row |= {f"rater {place}": mark for place, mark in enumerate(row.pop("label").values(), 1)}
        draw.shuffle(rows)
        return [{called(name): value for name, value in row.items()} for row in rows], True
    way = draw.choice([*SYSTEMS_IN.values()])
    return [
        way(
            {name: pair[0][name] for name in ("id", "question", "reference")},
            {row["system"]: {name: row[name] for name in ("answer", "contexts")} for row in pair},
        )
        for pair in zip(rows[::2], rows[1::2], strict=True)
    ], False


@pytest.mark.parametrize("seed", range(30))
def test_one_content_is_read_from_every_door(tmp_path: Path, seed: int) -> None:
    rows, labels = rows_of(random.Random(seed))
    path = write_lines(tmp_path / "a.jsonl", rows)
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    for samples in (
        read_samples(path),
        read_samples(path, Forms()),
        samples_of(rows),
        samples_of(pd.DataFrame(rows)),
        samples_of(columns),
    ):
        assert said(samples) == expected(labels=labels)
    brought, logged = answer_tables.read(path)
    assert {question.text for question in brought.questions} == {asked for asked, _ in ASKED}
    assert {(name, line["answer"]) for name, lines in logged.items() for line in lines} == {
        (row["system"], row["answer"]) for row in CONTENT
    }
    assert sum(len(rated.ratings) for rated in brought.ratings) == (12 if labels else 0)


def test_what_a_frame_has_for_nothing_is_no_text() -> None:
    """NaN beside a name that is a field only now and then, and in one of the columns of a wide table."""
    rows = pd.DataFrame({"question": ["A?", "B?"], "answer": ["a", "b"], "expert answer": ["a", None]})
    rows.loc[1, "expert answer"] = float("nan")
    assert [one.reference for one in samples_of(rows)] == ["a", None]
    wide = pd.DataFrame({"question": ["A?", "B?"], "gpt answer": ["a", "b"], "llama answer": ["a", float("nan")]})
    assert [one.response for one in samples_of(wide)] == ["a", "a", "b", None]


def test_rows_of_a_rater_and_a_system_with_the_id_of_their_question_are_all_read(tmp_path: Path) -> None:
    rows = [
        {"id": f"u{asked}", "question": asked, "model": system, "answer": f"{system} says", "rater": rater, "label": 3}
        for asked in ("A?", "B?") for system in ("x", "y") for rater in ("ann", "bob")
    ]  # fmt: skip
    path = write_lines(tmp_path / "a.jsonl", rows)
    forms = Forms()
    assert [(one.id, one.system) for one in read_samples(path, forms)] == [
        ("uA?", "x"), ("uA?", "y"), ("uB?", "x"), ("uB?", "y"),
    ]  # fmt: skip
    assert not forms.left_out.said
    assert [rated.ratings for rated in answer_tables.read(path)[0].ratings] == [{"ann": 3, "bob": 3}] * 4


def test_several_columns_that_a_user_names_are_parts_or_refused() -> None:
    row = {"question": "A?", "answer": "a", "note 1": "x", "note 2": "y"}
    [one] = samples_of([row], columns={"references": "note 1,note 2"})
    assert one.references == ("x", "y")
    [one] = samples_of([row], columns={"contexts": ["note 1", "note 2"]})
    assert [chunk.text for chunk in one.contexts or ()] == ["x", "y"]
    with pytest.raises(AmbiguousError, match=r"question = note 1, note 2: one column is expected; of several are"):
        samples_of([row], columns={"question": "note 1,note 2"})


def test_passages_that_a_user_names_are_read_whatever_they_look_like() -> None:
    row = {"question": "A?", "answer": "a", "top_chunks": ["a.md", "b.md"]}
    assert samples_of([row])[0].contexts is None, "names of sources are none unless a user says so"
    [one] = samples_of([row], columns={"contexts": "top_chunks"})
    assert [chunk.text for chunk in one.contexts or ()] == ["a.md", "b.md"]
    [one] = samples_of([{**row, "top_chunks": [{"Id": "1", "Content": "It opens."}]}])
    assert [chunk.text for chunk in one.contexts or ()] == ["It opens."]


@pytest.mark.parametrize(
    "name",
    ["Rating, 1-5", "rating 1–5", "оценка (от 1 до 5)", "rating [1..5]", "Rating (1 to 5)", "rating /5", "label(0/1)",
     "label (1=bad, 5=good)", "Оценка (0 — нет, 1 — да)", "3. Rating", "3) rating:"],
)  # fmt: skip
def test_a_scale_and_a_number_in_a_form_are_no_part_of_a_name(name: str) -> None:
    assert field_of(name) == "value"
    assert part_of(name.replace("rating", "rater 1").replace("Rating", "Rater 1")) in ("value", "")


def test_a_version_is_no_scale() -> None:
    rows = [{"question": "A?", "answer (3.5-turbo)": "a", "answer (4o)": "b", "answer 2024-05": "c"}]
    assert [(one.system, one.response) for one in samples_of(rows)] == [
        ("3.5-turbo", "a"), ("4o", "b"), ("2024-05", "c"),
    ]  # fmt: skip
    assert part_of("Rater 1 (1-5):") == part_of("Rater 1, 1-5") == "value"


def test_one_of_several_is_no_list_of_choices() -> None:
    [one] = samples_of([{"вопрос": "A?", "вариант": "gpt", "ответ": "a"}])
    assert (one.system, one.response) == ("gpt", "a")
    [one] = samples_of([{"вопрос": "A?", "бот": "gpt", "ответ": "a"}])
    assert (one.system, one.response) == ("gpt", "a")


def test_names_of_languages_and_letters_of_choices_are_no_systems() -> None:
    for names in (("en", "ru"), ("A", "B"), ("1", "2")):
        with pytest.raises(ValueError, match="no row can be used"):
            samples_of([{"question": "A?", "answers": dict.fromkeys(names, "a")}], forms=Forms())


def test_a_text_with_bars_is_one_answer_and_it_is_said(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", [{"question": "A?", "answer": "a", "reference": "a|b"}])
    forms = Forms()
    assert [one.reference for one in read_samples(path, forms)] == ["a|b"]
    assert forms.told == ["reference: 1 × a text with |, which is one answer; of several by | it is called references"]


def test_labels_under_a_head_of_two_lines_are_loaded(tmp_path: Path) -> None:
    rows = [{"question": "A?", "answer": "a", "Rater\n1": 3, "Rater\n2": 4}]
    [rated] = answer_tables.read(write_lines(tmp_path / "a.jsonl", rows))[0].ratings
    assert rated.ratings == {"Rater 1": 3, "Rater 2": 4}


def test_names_of_members_are_columns_in_a_mapping_of_lists() -> None:
    columns = {"inputs.question": ["A?", "B?"], "outputs.answer": ["a", "b"], "reference_outputs.answer": ["c", "d"]}
    assert [(one.user_input, one.response, one.reference) for one in samples_of(columns)] == [
        ("A?", "a", "c"), ("B?", "b", "d"),
    ]  # fmt: skip
    assert len(samples_of(pa.table(columns))) == len(ASKED) - 1


def test_a_note_below_a_table_is_no_question_and_is_counted(tmp_path: Path) -> None:
    rows = "question,answer,reference\nA?,a,a\nB?,,b\n,,\nPrepared by the desk,,\nin May,,\n"
    for text in (rows, rows.replace(",", ";")):
        (tmp_path / "a.csv").write_text(text)
        forms = Forms()
        assert [one.user_input for one in read_samples(tmp_path / "a.csv", forms)] == ["A?", "B?"]
        assert forms.told[-1].startswith("left out: 2 × row of one cell behind a blank one, as notes below a table are")


def test_a_row_of_means_is_known_beside_a_question_of_a_rare_name(tmp_path: Path) -> None:
    rows = [{"id": 1, "customer question": "A?", "answer": "a"}, {"id": 2, "customer question": "Mean", "answer": None}]
    forms = Forms()
    assert [one.user_input for one in read_samples(write_lines(tmp_path / "a.jsonl", rows), forms)] == ["A?"]
    assert "row of totals" in forms.told[-1]


def test_columns_of_rare_names_are_a_table() -> None:
    columns = {"вопрос сотрудника": ["A?", "B?"], "answer A": ["a", "b"]}
    assert [one.response for one in samples_of(columns, columns={"answer": "answer A"})] == ["a", "b"]


def test_marks_behind_a_rater_are_that_raters() -> None:
    row = {"question": "A?", "answer": "a", "annotator_1_score": 3, "annotator_2_score": 4, "answer_1_score": 9}
    assert samples_of([row])[0].labels == {"annotator_1_score": 3, "annotator_2_score": 4}
    row = {"question": "A?", "answer": "a", "score rater 1": 3, "score rater 2": 4}
    assert samples_of([row])[0].labels == {"score rater 1": 3, "score rater 2": 4}


def test_objects_that_wrap_a_passage_are_no_sources() -> None:
    for passage in (
        {"pageContent": "It opens."},
        {"document": {"text": "It opens."}},
        {"payload": {"text": "It opens."}},
    ):
        [one] = samples_of([{"question": "A?", "answer": "a", "knowledge": [passage]}])
        assert [chunk.text for chunk in one.contexts or ()] == ["It opens."]


def test_a_packed_list_may_be_called_lines(tmp_path: Path) -> None:
    rows = [{"question": "A?", "answer": "a"}, {"question": "B?", "answer": "b"}]
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(json.dumps(rows, indent=1).encode()))
    assert [one.response for one in read_samples(tmp_path / "a.jsonl.gz", Forms())] == ["a", "b"]
    (tmp_path / "a.txt").write_text("question\tanswer\t\t\nA?\ta\t\t\n")
    assert [one.response for one in read_samples(tmp_path / "a.txt")] == ["a"]


def test_names_of_members_may_be_rare_ones() -> None:
    [one] = samples_of(
        [{"inputs.request": "A?", "outputs.raw_answer": "a", "row.вариант": "gpt", "outputs.выдача": "It opens."}]
    )
    assert (one.user_input, one.response, one.system) == ("A?", "a", "gpt")
    assert [chunk.text for chunk in one.contexts or ()] == ["It opens."]


def test_totals_of_each_system_are_no_questions(tmp_path: Path) -> None:
    tables = {
        name: [{"question": "A?", "answer": "a", "label": 1}, {"question": "Mean", "answer": None, "label": 1}]
        for name in ("x", "y")
    }
    (tmp_path / "a.json").write_text(json.dumps(tables))
    forms = Forms()
    assert [(one.system, one.user_input) for one in read_samples(tmp_path / "a.json", forms)] == [
        ("x", "A?"),
        ("y", "A?"),
    ]
    assert "2 × row of totals" in forms.told[-1]


@pytest.mark.parametrize(
    "rows",
    [
        "id,question,answer,score\n1,A?,a,3\n2,B?,b,4\n,,Average,3.5\n",
        "question,answer,score\nA?,a,3\nB?,b,4\n,mean,3.5\n",
        "question,reference,answer\nA?,x,a\nB?,x,b\n,Итого,12\n",
        "question,gpt_answer,llama_answer\nA?,a,b\nB?,a,b\n,Total,\n",
    ],
)
def test_a_total_may_be_called_so_in_the_column_of_answers(rows: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(rows, encoding="utf-8")
    forms = Forms()
    assert {one.user_input for one in read_samples(tmp_path / "a.csv", forms)} == {"A?", "B?"}
    assert "1 × row of totals (first: a.csv, line 4)" in forms.told[-1]
    (tmp_path / "a.csv").write_text("question,answer,score\nHow is it called?,Total,3\n,It is a sum,4\n")
    assert len(read_samples(tmp_path / "a.csv", Forms())) == 2


def test_who_did_not_answer_is_not_what_was_answered(tmp_path: Path) -> None:
    """A bot that is a system in one row is none in a row without an answer."""
    rows: list[Row] = [{"вопрос": "A?", "бот": "gpt", "ответ": "a"}, {"вопрос": "B?", "бот": "gpt", "ответ": None}]
    read = read_samples(write_lines(tmp_path / "a.jsonl", rows))
    assert [(one.system, one.response) for one in read] == [("gpt", "a"), ("gpt", None)]


def test_numbered_passages_are_in_the_order_of_their_numbers() -> None:
    row = {"question": "A?", "answer": "a", "context 10": "third", "context 2": "second", "context 1": "first"}
    assert [chunk.text for chunk in samples_of([row])[0].contexts or ()] == ["first", "second", "third"]


def test_nothing_found_is_an_empty_tuple_too() -> None:
    assert samples_of([{"question": "A?", "answer": "a", "contexts": "()"}])[0].contexts == ()
    with pytest.raises(ValueError, match="its text is called text"):
        samples_of([{"question": "A?", "answer": "a", "contexts": [{"doc": 1, "said": "It opens."}]}], forms=Forms())


@pytest.mark.parametrize("column", ["messages", "transcript", "chat_messages"])
@pytest.mark.parametrize("speakers", [("Студент", "Бот"), ("Anna", "Support desk"), ("visitor", "bot")])
def test_a_dialogue_in_a_text_is_of_the_two_who_speak_in_it(
    tmp_path: Path, column: str, speakers: tuple[str, str]
) -> None:
    asks, answers = speakers
    text = f"{asks}: When?\nAnd until: when?\n{answers}: At 8.\n{asks}: Where?\n{answers}: Here:\nhall 2."
    rows = [{column: text.replace("And until: when?", "And until?")}]
    read = read_samples(write_lines(tmp_path / "a.jsonl", rows))
    assert [(one.user_input, one.response) for one in read] == [
        ("When?\nAnd until?", "At 8."), ("Where?", "Here:\nhall 2."),
    ]  # fmt: skip
    three = read_samples(write_lines(tmp_path / "b.jsonl", [{"messages": f"{text}\nNote: closed.\nUntil: now."}]))
    assert len(three) == (1 if speakers == ("Anna", "Support desk") else len(three)), "three names are no dialogue"


def test_a_rare_name_of_a_dialogue_is_none_of_a_text(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="none of its columns"):
        read_samples(write_lines(tmp_path / "a.jsonl", [{"transcript": "It opens at 8: come early."}]))


def test_the_right_answer_of_a_rare_name_is_no_systems() -> None:
    for name in ("human answer", "canonical answer", "корректный ответ"):
        row = {"question": "A?", name: "r", "gpt answer": "a", "llama answer": "b"}
        assert [(one.system, one.response, one.reference) for one in samples_of([row, row])[:2]] == [
            ("gpt", "a", "r"), ("llama", "b", "r"),
        ]  # fmt: skip
    rows = [{"question": f"{n}?", "label answer": "r", "answer_1": "a"} for n in range(2)]
    forms = Forms()
    assert [(one.system, one.reference) for one in samples_of(rows, forms=forms)] == [(None, "r")] * 2
    assert "answer_1" in forms.told[0]


def test_what_one_of_two_systems_did_not_answer_is_nothing() -> None:
    read = samples_of([{"question": "A?", "answers": {"gpt": "a", "llama": float("nan")}}])
    assert [(one.system, one.response) for one in read] == [("gpt", "a"), ("llama", None)]
    row = {"inputs.question": "A?", "output.answer 1": "a", "output.knowledge": ["It opens."]}
    assert [one.system for one in samples_of([row])] == [None], "passages are no answers"
