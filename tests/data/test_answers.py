"""The reader of answers: a file or objects in, samples or the sentence of a refusal out."""

from __future__ import annotations

import gzip
import json
import zipfile
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragbench.core.errors import BenchError
from ragbench.core.types import Passage, Sample
from ragbench.data import columns, files, read_answers

USER, BOT = {"role": "user", "content": "When?"}, {"role": "assistant", "content": "At 8."}
DUMPED_USER, DUMPED_BOT = (
    {"lc": 1, "type": "constructor", "id": ["schema", name], "kwargs": {"content": text}}
    for name, text in (("HumanMessage", "When?"), ("AIMessage", "At 8."))
)
PARTS = [{"type": "text", "text": "When"}, {"type": "image"}, {"text": "does it open?"}]
ROWS = {
    "synonyms": (
        "a.csv",
        "Вопрос,Expected Output\nWhen?,8:00\n",
        Sample("1", "When?", references=("8:00",)),
    ),
    "excel's delimiter": (
        "a.csv",
        "sep=;\nquestion;answer\nWhen?;8:00\n",
        Sample("1", "When?", "8:00"),
    ),
    "quoted header": (
        "a.csv",
        '"question","answer; short"\nWhen?,8\n',
        Sample("1", "When?"),
    ),
    "lines in .json": (
        "a.json",
        '{"question": "When?"}\n{"question": "Where?"}',
        Sample("1", "When?"),
    ),
    "columns": (
        "a.json",
        '{"query": ["When?", "Where?"], "output": ["8:00", "2"]}',
        Sample("1", "When?", "8:00"),
    ),
    "wrapped": ("a.json", '{"results": [{"question": "When?"}]}', Sample("1", "When?")),
    "every cell packed": (
        "a.csv",
        'input,output\n"""When?""","""8:00"""\n',
        Sample("1", "When?", "8:00"),
    ),
    "one cell packed": (
        "a.csv",
        'input,output\nWhen?,"""8:00"""\nWhere?,Hall 2\n',
        Sample("1", "When?", '"8:00"'),
    ),
    "rows of empty cells and columns without a name": (
        "a.csv",
        ",question,\n,,\n0,When?,\n",
        Sample("1", "When?"),
    ),
    "an answer that is JSON": (
        "a.jsonl",
        '{"question": "When?", "answer": "[8]"}',
        Sample("1", "When?", "[8]"),
    ),
    "empty answer": ("a.csv", "question,answer\nWhen?,\n", Sample("1", "When?", "")),
    "groups of ids": (
        "a.jsonl",
        '{"query": "When?", "retrieval_gt": [["d1", "d2"], ["d3"]]}',
        Sample("1", "When?", reference_context_ids=(("d1", "d2"), ("d3",))),
    ),
    "graded ids": (
        "a.jsonl",
        '{"query": "When?", "relevant": {"d1": 2, "d2": 0}}',
        Sample("1", "When?", reference_context_ids=(("d1",),)),
    ),
    "objects": (
        "a.jsonl",
        '{"question": "When?", "documents": [{"id": 7, "content": "At 8.", "title": "T"}, null]}',
        Sample("1", "When?", contexts=(Passage("At 8.", "7", title="T"),)),
    ),
    "ids beside": (
        "a.jsonl",
        '{"question": "When?", "contexts": ["At 8."], "retrieved_ids": [7]}',
        Sample("1", "When?", contexts=(Passage("At 8.", "7"),)),
    ),
    "printed list": (
        "a.csv",
        "question,contexts\nWhen?,\"[None, 'At 8.']\"\n",
        Sample("1", "When?", contexts=(Passage("At 8."),)),
    ),
    "dialogue": (
        "a.jsonl",
        json.dumps({"messages": [USER, BOT]}),
        Sample("1", "When?", "At 8.", cluster="1", messages=(USER, BOT)),
    ),
    "dialogue that ends with the question": (
        "a.jsonl",
        json.dumps({"user_input": [BOT, USER], "response": "At 8."}),
        Sample("1", "When?", "At 8.", cluster="1", messages=(BOT, USER)),
    ),
    "ms marco": (
        "a.json",
        '{"query": "When?", "query_id": 4, "answers": ["8"], "passages": '
        '{"is_selected": [0, 1], "passage_text": ["Hall.", "At 8."], "url": ["u", "v"]}}',
        Sample(
            "4",
            "When?",
            references=("8",),
            contexts=(Passage("Hall.", url="u"), Passage("At 8.", url="v")),
            reference_contexts=(Passage("At 8.", url="v"),),
        ),
    ),
    "people's labels": (
        "a.jsonl",
        '{"question": "When?", "answer": "8", "ratings": {"ann": 4, "bob": null}, "human": 1}',
        Sample("1", "When?", "8", labels={"ann": 4, "human": 1}),
    ),
    "id of the question": (
        "a.csv",
        "id,question_id,question\nr1,q1,When?\n",
        Sample("q1", "When?"),
    ),
    "copies of one column": (
        "a.csv",
        "question,query,answer\nWhen?,When?,8\nWhere?,,2\n",
        Sample("1", "When?", "8"),
    ),
    "the only dialogue of a list": (
        "a.jsonl",
        json.dumps({"messages": [[USER, BOT]]}),
        Sample("1", "When?", "At 8.", cluster="1", messages=(USER, BOT)),
    ),
    "langchain's messages": (
        "a.jsonl",
        json.dumps({"messages": [DUMPED_USER, DUMPED_BOT]}),
        Sample("1", "When?", "At 8.", cluster="1", messages=(DUMPED_USER, DUMPED_BOT)),
    ),
    "texts in parts": (
        "a.jsonl",
        json.dumps({"messages": [{"role": "user", "content": PARTS}, BOT]}),
        Sample(
            "1",
            "When\ndoes it open?",
            "At 8.",
            cluster="1",
            messages=({"role": "user", "content": PARTS}, BOT),
        ),
    ),
    "grades of 0 and below": (
        "a.jsonl",
        '{"query": "When?", "relevant": {"d1": -1, "d2": 0, "d3": 0.5}}',
        Sample("1", "When?", reference_context_ids=(("d3",),)),
    ),
    "no relevant ids": (
        "a.jsonl",
        '{"query": "When?", "relevant": []}',
        Sample("1", "When?", reference_context_ids=()),
    ),
    "langchain's documents": (
        "a.jsonl",
        '{"query": "When?", "contexts": [{"kwargs": {"page_content": "At 8.", "id": "p"}}]}',
        Sample("1", "When?", contexts=(Passage("At 8.", "p"),)),
    ),
    "ids alone": (
        "a.jsonl",
        '{"query": "When?", "retrieved_ids": ["p"], "contexts": [{"id": "p"}]}',
        Sample("1", "When?", contexts=(Passage(None, "p"),)),
    ),
    "letters of two code points": (
        "a.csv",
        "question\nмои\u0306\n",
        Sample("1", "мо\u0439"),
    ),
}


@pytest.mark.parametrize(("name", "text", "expected"), ROWS.values(), ids=ROWS)
def test_reads_a_row(tmp_path: Path, name: str, text: str, expected: Sample) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    sample = read_answers(path).samples[0]
    messages = sample.messages if expected.messages else None
    assert sample == expected or (sample.messages, expected.messages) == (messages, None)
    assert vars(sample) | {"messages": None} == vars(expected) | {"messages": None}


def test_an_agents_dialogue_keeps_its_tool_calls(tmp_path: Path) -> None:
    call = {"name": "clock", "args": {"zone": "UTC"}}
    messages = [
        USER,
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool"},
        BOT,
    ]
    row = {"user_input": messages, "reference_tool_calls": [call], "reference": "8"}
    (sample,) = read_answers([row]).samples
    assert (sample.question, sample.answer, sample.references) == ("When?", "At 8.", ("8",))
    assert (sample.tool_calls, sample.expected_tool_calls) == ((call,), (call,))


def test_a_dialogue_of_two_questions_is_two_samples_of_one_cluster() -> None:
    dialogue = [
        USER,
        BOT,
        {"role": "user", "content": "On Sunday?"},
        {"role": "assistant", "content": "No."},
    ]
    first, last = read_answers([{"id": "d", "messages": dialogue, "reference": "closed"}]).samples
    assert (first.id, first.question, first.answer, first.references) == (
        "d:1",
        "When?",
        "At 8.",
        (),
    )
    assert (last.id, last.answer, last.references) == ("d:2", "No.", ("closed",))
    assert first.cluster == last.cluster == "d"


def test_the_user_names_a_column_or_a_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"q": {"en": "When?"}, "bot": "8:00"}', encoding="utf-8")
    columns = {"question": "q.en", "output": "bot"}
    assert read_answers(path, columns).samples == [Sample("1", "When?", "8:00")]


def test_objects_and_several_systems(tmp_path: Path) -> None:
    rows = [{"question": "When?", "answer": "8"}, {"question": "Where?", "answer": "Hall"}]
    frame = pd.DataFrame(rows)
    expected = read_answers(rows).samples
    assert read_answers(frame).samples == read_answers(frame.to_dict("list")).samples == expected
    assert read_answers(expected).samples == expected
    systems = read_answers({"a": rows, "b": frame}).samples
    assert [sample.system for sample in systems] == ["a", "a", "b", "b"]
    # A file is a system, though `answers` is the name of a column.
    paths = [tmp_path / "answers.csv", tmp_path / "v2.csv"]
    for path in paths:
        frame.to_csv(path, index=False)
    assert {sample.system for sample in read_answers(paths).samples} == {"answers", "v2"}
    frame.to_parquet(tmp_path / "a.parquet")
    assert read_answers(tmp_path / "a.parquet").samples == expected
    assert read_answers(SimpleNamespace(to_pandas=lambda: frame)).samples == expected
    named = frame.assign(id=["x", "y"]).set_index("id")
    assert [sample.id for sample in read_answers(named).samples] == ["x", "y"]
    lists = pd.DataFrame({"question": ["When?"], "contexts": [np.array(["At 8."])]})
    assert read_answers(lists).samples[0].contexts == (Passage("At 8."),)


def test_refuses_objects(tmp_path: Path) -> None:
    paths = [tmp_path / "a.csv", tmp_path / "other" / "a.csv"]
    for source, sentence in (
        (paths, "two files have one name"),
        ([1, 2], "'1' is no row; give dicts"),
        ([], "there are no rows"),
    ):
        with pytest.raises(BenchError, match=sentence):
            read_answers(source)


def test_batches_give_the_same_as_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    lines = [
        json.dumps({"id": f"q{number}", "question": f"What is {number}?"})
        for number in range(25_000)
    ]
    with gzip.open(path, "wt") as file:
        file.write("\n".join(lines))
    samples = read_answers(path).samples
    assert len(samples) == 25_000
    assert samples[-1] == Sample("q24999", "What is 24999?")


# ruff: noqa: E501
REFUSED = {
    "unknown columns": ("text,kind\nHow do I renew?,a\n", "has the columns text, kind.*--column question=text"),
    "two answers": ("question,answer,output\nWho?,Leo,Anton\n", "answer and output.*--column answer=output"),
    "repeated id": ("id,question,version\n1,When?,a\n1,When?,b\n", "'1' stands 2 times.*--column system=version"),
    "systems without ids": ("question,answer,arm\nWhen?,8,a\nWhen?,9,b\n", "1 questions stand again.*system=arm"),
    "repeated column": ("question,answer,answer\nWhen?,8,9\n", "two columns are called 'answer'"),
    "printed objects": ('question,contexts\nWhen?,"[Document(id=1)]"\n', "cannot be read.*write contexts as a list"),
    "two delimiters": ("question;answer, short\nWhen?;8\n", "may be parted by .* write sep=, as a line before it"),
    "no rows": ("question,answer\n", "holds no rows"),
    "rows that are too long": ("question\na,b\nc,d\n", "holds no rows; line 2: 2 cells for 1 columns; quote"),
    "neither question nor answer": ("id,question,answer\n1,,\n", "no row can be used; row 1: has neither a question nor"),
    "open quote": ('question,answer\nWhen?,"8\n', "quote cells as CSV does"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refuses_a_table(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BenchError, match=f"^a.csv: .*{sentence}"):
        read_answers(path)


REFUSED_JSON = {
    "repeated key": ('{"question": "When?", "question": "Where?"}', "line 1: the key 'question' stands twice"),
    "part of an object": ('{"question": {"en": "When?"}}', "is a dict with en.*--column question=COLUMN.PART"),
    "broken list": ('[{"question": "When?"}, {"question": ]', "line 1: is no JSON"),
    "a broken article": ('{"data": [{"paragraphs": [{"qas": 3}]}]}', "an article is not as SQuAD writes it"),
    "a list of questions": ('{"id": 1, "question": ["When?", "Where?"]}\n{"id": 2}', "its question is a list, no text"),
    "an unknown role": ('{"messages": [{"role": "moderator", "content": "Hm."}]}', "has the role 'moderator'"),
    "nobody asks": ('{"messages": [{"role": "assistant", "content": "Hm."}]}', "has no question of a user"),
    "an odd passage": ('{"question": "q", "contexts": [{"foo": 1}]}', "a passage has no text; it has foo; write contexts"),
    "a passage of numbers": ('{"question": "q", "contexts": [1.5]}', "a passage has no text; it has 1.5"),
    "an odd reference": ('{"question": "q", "reference": {"foo": 1}}', "its reference is no text; name its part"),
    "relevant objects": ('{"question": "q", "relevant": [{"foo": 1}]}', "its relevant ids are objects"),
    "deep": ('{"question": ' + "[" * 100_000, "nested too deeply"),
    "deep, on lines": ('{\n"question": ' + "[" * 100_000, "nested too deeply"),
    "numbers": ("[1, 2]", "holds no objects"),
    "nothing under data": ('{"data": []}', "has the columns data, and none is known"),
    "two wrappers": ('{"data": [{"a": 1}], "rows": [{"a": 1}]}', "holds rows in data and in rows"),
    "an image": ('{"question": "q", "contexts": ["data:image/png;base64,AA"]}', "a passage is an image"),
    "ids of another length": ('{"question": "q", "contexts": ["a"], "context_ids": [1, 2]}', "1 passages have 2 ids"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), REFUSED_JSON.values(), ids=REFUSED_JSON)
def test_refuses_json(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BenchError, match=sentence):
        read_answers(path)


@pytest.mark.parametrize("name", ["version", "release", "run", "arm", "candidate", "bot_version"])
def test_offers_the_column_that_looks_like_a_system(name: str) -> None:
    rows = [{"id": 1, "question": "When?", "note": mark, name: mark} for mark in "ab"]
    with pytest.raises(BenchError, match=rf"--column system={name}, or --column repeat=COLUMN"):
        read_answers(rows)
    samples = read_answers(rows, {"system": name}).samples
    assert [sample.system for sample in samples] == ["a", "b"]


@pytest.mark.parametrize("columns", [{"anwser": "a"}, {"answer": "b"}])
def test_refuses_names_that_are_not_there(columns: dict[str, str]) -> None:
    with pytest.raises(BenchError, match=r"did you mean 'answer'|has no column 'b'; it has a"):
        read_answers([{"a": "text"}], columns)


def test_odd_rows_are_left_out_and_named(tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    table.write_text('question,contexts\nWhen?,8:00, sharp\nWhere?,Hall 2\nWho?,"[Document(1)]"\n')
    answers = read_answers(table)
    assert [sample.question for sample in answers.samples] == ["Where?"]
    assert [row.place for row in answers.left_out] == ["line 2", "row 2"]
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"question": "When?"}\nnonsense\n{"question": "Where?"}\n{"question": "Wh')
    answers = read_answers(lines)
    assert len(answers.samples) == 2
    assert [row.place for row in answers.left_out] == ["line 2", "line 4"]


def test_a_format_is_known_by_its_columns_as_its_program_spells_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record = {"known_by": ["userTurn"], "question": ["userTurn.text"]}
    monkeypatch.setattr(columns, "FORMATS", [record])
    [sample] = read_answers([{"userTurn": {"text": "When?"}}]).samples
    assert sample.question == "When?"


def test_words_of_two_alphabets_are_noted() -> None:
    rows = [{"question": "?", "answer": "Cчёт oткрыт"}]
    assert read_answers({"v1": rows, "v2": rows}).notes == read_answers(rows).notes
    notes = read_answers(rows).notes
    assert notes == ["1 answers mix Latin and Cyrillic letters in a word"]


ENCODED = {
    "utf-8 with a mark": b"\xef\xbb\xbf" + "вопрос\nКогда?\n".encode(),
    "utf-16": "вопрос\nКогда?\n".encode("utf-16"),
    "cp1251": "вопрос\nКогда открыта библиотека?\n".encode("cp1251"),
    "cp1251, nine of ten words": (
        "вопрос\nКогда открыта наша большая новая библиотека в центре БГУ?\n".encode("cp1251")
    ),
    "CRLF": "вопрос\r\nКогда?\r\n".encode(),
    "gzip": gzip.compress("вопрос\nКогда?\n".encode()),
}


@pytest.mark.parametrize("data", ENCODED.values(), ids=ENCODED)
def test_encodings(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    assert str(read_answers(path).samples[0].question).startswith("Когда")


@pytest.mark.parametrize("encoding", ["latin-1", "koi8-r", "cp866", "utf-16-le", "utf-32-le"])
def test_other_encodings_are_refused(tmp_path: Path, encoding: str) -> None:
    texts = {"latin-1": "Où est la salle, près du café?", "utf-32-le": "When does it open?"}
    text = texts.get(encoding, "Когда открыта библиотека?")
    path = tmp_path / "a.csv"
    path.write_bytes(f"question\n{text}\n".encode(encoding))
    with pytest.raises(BenchError, match="save it as UTF-8"):
        read_answers(path)


BOMBS: dict[str, tuple[str, Any]] = {
    "a line without end": ("a.csv.gz", lambda: gzip.compress(b"question\n" + b"a" * 2**20)),
    "a value without end": ("a.jsonl.gz", lambda: gzip.compress(b'{"question": "' + b"a" * 2**21)),
    "an object without end": ("a.json.gz", lambda: gzip.compress(b"{\n" + b'"k":\n' * 2**17)),
    "many rows": ("a.jsonl.gz", lambda: gzip.compress(b'{"question": "a"}\n' * 2**12)),
    "damaged": ("a.csv.gz", lambda: gzip.compress(b"question\nWhen?\n" * 999)[:-9]),
    "no parquet": ("a.parquet", lambda: b"PAR1nonsense"),
    "no workbook": ("a.xlsx", lambda: b"PK\x03\x04nonsense"),
    "another ending": ("a.docx", lambda: b"text"),
}


@pytest.mark.parametrize(("name", "make"), BOMBS.values(), ids=BOMBS)
def test_files_that_are_too_large_or_damaged_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, make: Any
) -> None:
    monkeypatch.setattr(files, "MAX_VALUE", 2**18)
    monkeypatch.setattr(files, "MAX_ROWS", 1000)
    path = tmp_path / name
    path.write_bytes(make())
    with pytest.raises(BenchError, match=f"^{name}: .*;"):
        read_answers(path)


SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    '<row r="1"><c r="A1" t="inlineStr"><is><t>id</t></is></c>'
    '<c r="B1" t="inlineStr"><is><t>question</t></is></c>'
    '<c r="C1" t="inlineStr"><is><t>answer</t></is></c></row>'
    '<row r="2"><c r="A2"><v>7</v></c><c r="B2" t="inlineStr"><is><t>When?</t></is></c>'
    '<c r="C2" t="inlineStr"><is><t>NA</t></is></c></row></sheetData></worksheet>'
)
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
BOOK = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="r1" Type="{RELATION}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    f' xmlns:r="{RELATION}"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="r1" Type="{RELATION}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
    "xl/worksheets/sheet1.xml": SHEET,
}  # fmt: skip


def test_a_workbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in BOOK.items():
            archive.writestr(name, text)
    # Ids are whole numbers, and the answer "NA" is a text.
    assert read_answers(path).samples == [Sample("7", "When?", "NA")]
    monkeypatch.setattr(files, "MAX_BYTES", 1000)
    with pytest.raises(BenchError, match="1,000 bytes; split it"):
        read_answers(path)


def test_a_workbook_of_two_sheets_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    sheet = '<sheet name="T" sheetId="2" r:id="r2"/>'
    relation = f'<Relationship Id="r2" Type="{RELATION}/worksheet" Target="worksheets/sheet1.xml"/>'
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in BOOK.items():
            more = text.replace("</sheets>", f"{sheet}</sheets>")
            if name == "xl/_rels/workbook.xml.rels":
                more = text.replace("</Relationships>", f"{relation}</Relationships>")
            archive.writestr(name, more)
    with pytest.raises(BenchError, match="has rows on the sheets S, T; save one of them"):
        read_answers(path)


def test_limits_within_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    pd.DataFrame({"question": ["When does it open?"] * 99}).to_parquet(path)
    monkeypatch.setattr(files, "MAX_BYTES", 1000)
    with pytest.raises(BenchError, match="a thousand rows hold more than 1,000 bytes"):
        read_answers(path)
    table = pa.table([["When?"], ["Where?"]], names=["question", "question"])
    pq.write_table(table, path)
    with pytest.raises(BenchError, match="two columns are called 'question'"):
        read_answers(path)
    path = tmp_path / "b.csv"
    path.write_bytes(b"question\n" + b"w" * 990 + b"\n")
    assert len(read_answers(path).samples) == 1
    path.write_bytes(b"question\n" + b"w" * 991 + b"\n")
    with pytest.raises(BenchError, match="has more than 1,000,000 rows or 1,000 bytes"):
        read_answers(path)
    path.write_bytes(b"question\n" + b"w\n" * 9)
    for most, is_refused in ((9, False), (8, True)):
        monkeypatch.setattr(files, "MAX_ROWS", most)
        with pytest.raises(BenchError) if is_refused else nullcontext():
            read_answers(path)
    path.write_bytes(b"question\n" + b"When?\n" * 9 + b"\xff\n")
    monkeypatch.setattr(files, "SAMPLE", 20)
    with pytest.raises(BenchError, match="is not UTF-8 throughout"):
        read_answers(path)


def test_without_ids_systems_are_paired_by_their_questions() -> None:
    first = [{"question": "When?", "answer": "At 8."}, {"question": "Where?", "answer": "Here."}]
    second = [first[1], first[0], first[0]]
    answers = read_answers({"v1": first, "v2": second})
    ids = [sample.id for sample in answers.samples]
    assert ids[:2] == [ids[3], ids[2]]
    assert ids[4] == f"{ids[0]}-2"
    named = {"v1": first, "v2": second}
    rows = [{**row, "system": name} for name, of_system in named.items() for row in of_system]
    assert read_answers(rows).samples == answers.samples
