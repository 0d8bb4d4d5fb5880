"""Tables in every shape that people's tools write them, written by those tools, read as the same rows."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.sax.saxutils import escape

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragbench.old import data as datasets
from ragbench.old.core.types import Sample
from ragbench.old.data.cells import Forms
from ragbench.old.data.files import DatasetError, LeftOut
from ragbench.old.data.rows import read_rows
from ragbench.old.data.samples import read_samples, samples_of
from ragbench.old.data.shapes import rows_in
from tests.old.small_project import write_lines, written

ROWS = [
    {"question": "When?", "answer": "8:00", "contexts": ["It opens at 8:00.", "Hall 2 is left."]},
    {"question": "Где?", "answer": "Зал 2", "contexts": ["Зал 2 слева."]},
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}
FLAT = pd.DataFrame([{name: row[name] for name in ("question", "answer")} for row in ROWS])


def said(samples: list[Sample]) -> list[tuple[Any, ...]]:
    return [(one.user_input, one.response, [chunk.text for chunk in one.contexts or ()]) for one in samples]


EXPECTED = [(row["question"], row["answer"], row["contexts"]) for row in ROWS]
JSON: dict[str, str] = {
    "a list": json.dumps(ROWS),
    "lines": "\n".join(map(json.dumps, ROWS)),
    "lines with a blank one": "\n" + "\n\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS) + "\n",
    "objects one after the other": "\n".join(json.dumps(row, indent=1) for row in ROWS),
    "a list for each column": json.dumps(COLUMNS),
    "a list for each column, indented": json.dumps(COLUMNS, indent=2),
    "columns, and what is said of all": json.dumps({**COLUMNS, "by": ["a", "b", "c"], "about": {"k": 1}}),
    "columns in data": json.dumps({"version": 1, "data": COLUMNS}),
    "columns of a split": json.dumps({"test": COLUMNS}),
    "lines parted by record separators": "".join(f"\x1e{json.dumps(row)}\n" for row in ROWS),
    "plural columns": json.dumps({f"{name.removesuffix('s')}s": cells for name, cells in COLUMNS.items()}),
    "data": json.dumps({"version": 1, "data": ROWS}),
    "results in results": json.dumps({"results": {"version": 3, "results": ROWS}}, indent=1),
    "samples behind much else": json.dumps({"status": "success", "eval": {"task": "t"}, "samples": ROWS}),
    "among what is said of the set": json.dumps({"name": "May", "questions": ROWS, "tags": ["a"]}),
    "a name that is a field's": json.dumps({"answers": ROWS}),
    "by their questions": pd.DataFrame(ROWS).set_index("question").to_json(orient="index", force_ascii=False),
    "pandas records": pd.DataFrame(ROWS).to_json(orient="records", force_ascii=False),
    "pandas lines": pd.DataFrame(ROWS).to_json(orient="records", lines=True),
    "pandas columns": pd.DataFrame(ROWS).to_json(),
    "pandas index": pd.DataFrame(ROWS).to_json(orient="index"),
    "pandas split": pd.DataFrame(ROWS).to_json(orient="split"),
    "pandas table": pd.DataFrame(ROWS).to_json(orient="table", index=False),
}  # fmt: skip


@pytest.mark.parametrize("shape", JSON)
def test_json_of_every_shape(tmp_path: Path, shape: str) -> None:
    path = written(tmp_path / "a.json", JSON[shape])
    for forms in (None, Forms()):
        assert said(read_samples(path, forms)) == EXPECTED
    assert [row["contexts"] for _, row in read_rows(path, held=False, left_out=LeftOut())] == COLUMNS["contexts"]


def test_rows_by_system(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", json.dumps({"gpt": ROWS, "llama": ROWS[:1]}))
    assert [(one.system, one.user_input) for one in read_samples(path)] == [
        ("gpt", "When?"), ("gpt", "Где?"), ("llama", "When?"),
    ]  # fmt: skip


def test_answers_by_their_questions(tmp_path: Path) -> None:
    said = {"When?": "8", "Где?": "Тут"}
    alone = read_samples(written(tmp_path / "a.json", json.dumps(said)))
    assert [(one.user_input, one.response, one.system) for one in alone] == [
        ("When?", "8", None),
        ("Где?", "Тут", None),
    ]
    several = read_samples(written(tmp_path / "b.json", json.dumps({"gpt": said, "llama": said})))
    assert [(one.system, one.user_input) for one in several] == [
        ("gpt", "When?"), ("gpt", "Где?"), ("llama", "When?"), ("llama", "Где?"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "given", [COLUMNS, pd.DataFrame(ROWS), pa.Table.from_pylist(ROWS), pd.DataFrame(ROWS).to_dict()]
)
def test_the_same_in_python(given: Any) -> None:
    assert said(samples_of(given)) == EXPECTED


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


@pytest.mark.parametrize(
    ("ending", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress), ("zst", zstd)]
)
@pytest.mark.parametrize("form", ["jsonl", "json", "csv"])
def test_packed_files(tmp_path: Path, ending: str, pack: Callable[[bytes], bytes], form: str) -> None:
    plain = FLAT.to_csv(index=False) if form == "csv" else JSON["lines" if form == "jsonl" else "a list"]
    path = written(tmp_path / f"a.{form}.{ending}", pack(plain.encode()))
    assert [one.response for one in read_samples(path)] == ["8:00", "Зал 2"]
    written(path, pack(plain.encode())[:-6])
    with pytest.raises(DatasetError, match="cannot be read"):
        read_samples(path)


class TestCsv:
    def test_a_first_line_that_names_the_separator(self, tmp_path: Path) -> None:
        path = written(tmp_path / "a.csv", "sep=;\nquestion;answer\nWhen, then?;8:00\n")
        assert [(place, row) for place, row in read_rows(path)] == [
            ("a.csv, line 3", {"question": "When, then?", "answer": "8:00"})
        ]

    def test_a_text_of_tabs_is_a_table_and_no_other_text_is(self, tmp_path: Path) -> None:
        path = written(tmp_path / "a.txt", "question\tanswer\nWhen?\t8:00\n")
        assert [row for _, row in read_rows(path)] == [{"question": "When?", "answer": "8:00"}]
        for number, text in enumerate(("Hours\n\nopen\tat 8\n", "a\t\tb\n1\t2\t3\n", "a\tb\n1\n", "a\tb\n", "")):
            with pytest.raises(DatasetError, match=r"ends in none of|an empty file"):
                list(read_rows(written(tmp_path / f"{number}.txt", text)))

    def test_columns_without_a_name(self, tmp_path: Path) -> None:
        path = written(tmp_path / "a.csv", "question,answer,,\nWhen?,8:00,,\nWhere?,Hall\n")
        left_out = LeftOut()
        assert [row for _, row in read_rows(path, left_out=left_out)] == [{"question": "When?", "answer": "8:00"}]
        assert list(left_out.told) == ["row with another number of cells than the header (first: a.csv, line 3)"]

    def test_pandas_row_numbers(self, tmp_path: Path) -> None:
        FLAT.to_csv(tmp_path / "a.csv")
        forms = Forms()
        assert len(read_samples(tmp_path / "a.csv", forms)) == 2
        assert forms.told == []


def workbook(path: Path, *sheets: list[list[Any]]) -> Path:
    """The least that Excel's format asks for: cells with their texts and numbers inside."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"

    def cell(place: str, value: Any) -> str:
        if isinstance(value, str):
            return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
        return f'<c r="{place}"><v>{value}</v></c>'

    def sheet(rows: list[list[Any]]) -> str:
        lines = (
            f'<row r="{n}">'
            + "".join(cell(f"{chr(65 + place)}{n}", one) for place, one in enumerate(row) if one is not None)
            + "</row>"
            for n, row in enumerate(rows, 1)
        )
        return f'<worksheet xmlns="{main}"><sheetData>{"".join(lines)}</sheetData></worksheet>'

    numbers = range(1, len(sheets) + 1)
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        + "".join(
            f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{kind}.worksheet+xml"/>' for n in numbers
        )
        + "</Types>",
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        + "".join(f'<sheet name="s{n}" sheetId="{n}" r:id="r{n}"/>' for n in numbers)
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        + "".join(
            f'<Relationship Id="r{n}" Type="{office}/worksheet" Target="worksheets/sheet{n}.xml"/>' for n in numbers
        )
        + "</Relationships>",
        **{f"xl/worksheets/sheet{n}.xml": sheet(rows) for n, rows in zip(numbers, sheets, strict=True)},
    }
    with zipfile.ZipFile(path, "w") as file:
        for name, text in parts.items():
            file.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')
    return path


def test_excel(tmp_path: Path) -> None:
    path = workbook(
        tmp_path / "a.xlsx",
        [],
        [[None, None], ["Вопрос", "Ответ бота", "id", "Контекст"], ["Когда?", "В 8", 7, "['Зал открыт.', None]"],
         ["Где?", 12.5, 8, None]],
    )  # fmt: skip
    forms = Forms()
    first, second = read_samples(path, forms)
    assert (first.id, first.user_input, first.response) == ("7", "Когда?", "В 8")
    assert [chunk.text for chunk in first.contexts or ()] == ["Зал открыт."]
    assert (second.id, second.response, second.contexts) == ("8", "12.5", ())
    written(path, b"no workbook")
    with pytest.raises(DatasetError, match=r"a\.xlsx: cannot be read"):
        read_samples(path)


@pytest.mark.parametrize("title", [["Report of May"], ["Отчёт", "май"], ["Report"], None], ids=str)
def test_a_title_above_the_columns_and_a_wrong_ending_do_not_hide_a_table(
    tmp_path: Path, title: list[str] | None
) -> None:
    rows = [*([title, []] if title else []), ["Вопрос", "Ответ бота", "Эталон"], ["Когда?", "8, или 9", "8"]]
    expected = [("Когда?", "8, или 9", "8")]
    for ending, separator in (("csv", ","), ("csv", ";"), ("xls", "\t")):
        text = "\n".join(separator.join(f'"{cell}"' for cell in row) for row in rows)
        found = read_samples(written(tmp_path / f"a.{ending}", text))
        assert [(one.user_input, one.response, one.reference) for one in found] == expected
    found = read_samples(workbook(tmp_path / "b.csv", rows))
    assert [(one.user_input, one.response, one.reference) for one in found] == expected
    pd.DataFrame(ROWS).to_parquet(tmp_path / "c.csv")
    assert said(read_samples(tmp_path / "c.csv")) == EXPECTED
    with pytest.raises(DatasetError, match=r"d\.csv: this is a PDF, no table; ragbench load documents FOLDER"):
        read_samples(written(tmp_path / "d.csv", b"%PDF-1.7\n"))


class TestContexts:
    @pytest.mark.parametrize(
        "given",
        [
            ["It opens at 8:00.", "Hall 2 is left."],
            [{"page_content": "It opens at 8:00.", "metadata": {}}, {"content": "Hall 2 is left.", "score": 0.5}],
            [{"text": "It opens at 8:00."}, {"contents": "Hall 2 is left."}],
            [{"node": {"text": "It opens at 8:00."}, "score": 1}, {"document": {"content": "Hall 2 is left."}}],
            [{"evidence_text": "It opens at 8:00.", "doc_name": "d"}, {"page_snippet": "Hall 2 is left."}],
            [["Opening", ["It opens ", "at 8:00."]], ["Halls", ["Hall 2 is left."]]],
            [["It opens at 8:00.", 0.9], ["Hall 2 is left.", 0.1]],
            {"title": ["a", "b"], "sentences": [["It opens ", "at 8:00."], ["Hall 2 is left."]]},
            {"a": "It opens at 8:00.", "b": "Hall 2 is left."},
            "[Document(metadata={'source': 'a.md'}, page_content='It opens at 8:00.'), "
            "Document(page_content='Hall 2 is left.')]",
            "[Document(id='1', metadata={'at': datetime.datetime(2026, 1, 2)}, page_content='It opens at 8:00.'), "
            "Document(id='2', page_content=\"Hall 2 is left.\")]",
            "[NodeWithScore(node=TextNode(id_='1', embedding=None, relationships={<NodeRelationship.SOURCE: '1'>: "
            "RelatedNodeInfo(node_id='n', node_type=<ObjectType.X: '4'>)}, text='It opens at 8:00.'), score=0.5), "
            "NodeWithScore(node=TextNode(id_='2', text='Hall 2 is left.'), score=None)]",
            "[\"page_content='It opens at 8:00.' metadata={'source': 'a.md'}\", \"Hall 2 is left.\"]",
            "['It opens at 8:00.', nan, 'Hall 2 is left.', '']",
        ],
    )
    def test_passages_of_every_form(self, given: Any) -> None:
        [one] = samples_of([{"question": "q", "contexts": given}])
        assert [chunk.text for chunk in one.contexts or ()] == ["It opens at 8:00.", "Hall 2 is left."]

    def test_an_object_without_a_text_says_what_it_has(self) -> None:
        with pytest.raises(
            DatasetError, match=r"contexts\[0\] = .*an object with a text, is expected; it has url, rank"
        ):
            samples_of([{"contexts": [{"url": "u", "rank": 1}]}])


TALK = [("When?", "At 8."), ("On Sunday?", "Closed.")]


def messages(role: str, content: str, people: str, model: str) -> list[dict[str, str]]:
    return [{role: who, content: text} for pair in TALK for who, text in zip((people, model), pair, strict=True)]


DIALOGUES: dict[str, Any] = {
    "OpenAI": [{"messages": messages("role", "content", "user", "assistant")}],
    "OpenAI with a system's words": [
        {"messages": [{"role": "system", "content": "Be brief."}, *messages("role", "content", "user", "assistant")]}
    ],
    "OpenAI with parts": [
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "When?"}]},
                      {"role": "assistant", "content": "At 8."},
                      *messages("role", "content", "user", "assistant")[2:]]}
    ],
    "ShareGPT": [{"id": "x", "conversations": messages("from", "value", "human", "gpt")}],
    "LangChain": [{"messages": messages("type", "content", "human", "ai")}],
    "two lists": [{"questions": ["When?", "On Sunday?"], "expected_answers": ["At 8.", "Closed."]}],
    "a row a turn": [{"session_id": "s", "question": asked, "answer": answer} for asked, answer in TALK],
    "wrapped": {"dialogues": [{"messages": messages("role", "content", "user", "assistant")}]},
}  # fmt: skip


@pytest.mark.parametrize("shape", DIALOGUES)
@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_dialogues_of_every_shape(tmp_path: Path, shape: str, ending: str) -> None:
    given = DIALOGUES[shape]
    rows = given if isinstance(given, list) else [given]
    text = json.dumps(given) if ending == "json" else "\n".join(map(json.dumps, rows))
    [dialogue] = datasets.foreign_sets.dialogues(written(tmp_path / f"a.{ending}", text)).dialogues
    assert [(turn.question, turn.answer) for turn in dialogue.turns] == TALK


def test_a_dialogue_is_scored_turn_by_turn() -> None:
    found = samples_of([{"messages": messages("role", "content", "user", "assistant"), "id": "d"}])
    assert [(one.id, one.user_input, one.response, one.cluster) for one in found] == [
        ("d.1", "When?", "At 8.", "d"), ("d.2", "On Sunday?", "Closed.", "d"),
    ]  # fmt: skip


class TestQuestions:
    def test_references_without_passages(self, tmp_path: Path) -> None:
        path = written(tmp_path / "qa.csv", "question,expected_answer,\nWhen?,At 8,\nWhere?,Here,\n")
        found = datasets.foreign_sets.questions(path)
        assert [one.reference for one in found.questions] == ["At 8", "Here"]
        assert "no passages: " in found.notes[-1]
        assert "give them: --chunks-from NAME" in found.notes[-1]
        written_set = datasets.write("qa", tmp_path, title="qa", licence="-", source="-", language="en",
                                     questions=found.questions)  # fmt: skip
        assert written_set.counts["questions"] == 2
        assert datasets.load("qa", tmp_path).chunks == ()

    def test_passages_that_they_were_written_from(self, tmp_path: Path) -> None:
        write_lines(tmp_path / "t.jsonl", [{"user_input": "q", "reference": "r", "reference_contexts": ["p", "s"]}])
        found = datasets.foreign_sets.questions(tmp_path / "t.jsonl")
        assert sorted(found.questions[0].relevant) == sorted(chunk.id for chunk in found.chunks)
        assert [chunk.text for chunk in found.chunks] == ["p", "s"] or len(found.chunks) == 2


CORPUS = [{"_id": 1, "title": "Library", "text": "Opens at 8."}, {"_id": 2, "title": "", "text": "Behind the hall."}]
ASKED = [{"_id": "q1", "text": "When?"}]
QRELS = [{"query-id": "q1", "corpus-id": 1, "score": 1}]


def as_parquet(path: Path, rows: list[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)


def jsonl(folder: Path) -> None:
    write_lines(folder / "corpus.jsonl", CORPUS)
    write_lines(folder / "queries.jsonl", ASKED)
    (folder / "qrels").mkdir()
    written(folder / "qrels" / "test.tsv", "query-id\tcorpus-id\tscore\nq1\t1\t1\n")


def hugging_face(folder: Path) -> None:
    as_parquet(folder / "corpus" / "corpus-00000-of-00001.parquet", CORPUS)
    as_parquet(folder / "queries" / "queries-00000-of-00001.parquet", ASKED)
    as_parquet(folder / "data" / "test-00000-of-00001.parquet", [{**QRELS[0], "corpus-id": "1"}])


def flat(folder: Path) -> None:
    pd.DataFrame(CORPUS).rename(columns={"_id": "doc_id", "text": "contents"}).to_csv(
        folder / "corpus.csv", index=False
    )
    pd.DataFrame(ASKED).rename(columns={"_id": "query_id", "text": "query"}).to_csv(folder / "queries.csv", index=False)
    written(folder / "qrels.tsv", "q1\t0\t1\t1\n")


@pytest.mark.parametrize("layout", [jsonl, hugging_face, flat])
def test_beir_in_every_layout(tmp_path: Path, layout: Callable[[Path], None]) -> None:
    layout(tmp_path)
    brought = datasets.beir.read(*datasets.beir.files(tmp_path))
    chunks, questions, left_out = brought.chunks, brought.questions, brought.left_out
    assert [(one.id, one.title, one.text) for one in chunks] == [
        ("1", "Library", "Opens at 8."), ("2", None, "Behind the hall."),
    ]  # fmt: skip
    assert [(one.id, one.text, dict(one.relevant)) for one in questions] == [("q1", "When?", {"1": 1.0})]
    assert left_out == {}


def test_beir_with_equal_copies_and_odd_lines(tmp_path: Path) -> None:
    jsonl(tmp_path)
    write_lines(tmp_path / "corpus.jsonl", [*CORPUS, CORPUS[0], {"_id": 1, "text": "Other."}, {"_id": 9, "text": None}])
    brought = datasets.beir.read(*datasets.beir.files(tmp_path))
    chunks, left_out = brought.chunks, brought.left_out
    assert [one.id for one in chunks] == ["1", "2"]
    assert left_out == {
        "line of corpus.jsonl that stands there twice (first: corpus.jsonl, line 3)": 1,
        "line of corpus.jsonl whose id stands there with another text (first: corpus.jsonl, line 4)": 1,
        "line of corpus.jsonl without an id or a text (first: corpus.jsonl, line 5)": 1,
    }


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [{"id": "1", "question": "q", "documents": ["d"], "response": "a", "generation_model_name": "gpt",
              "annotating_model_name": "x", "adherence_score": True, "dataset_name": "covidqa"}],
            Sample("1", "q", "a", contexts=samples_of([{"contexts": ["d"]}])[0].contexts, system="gpt"),
        ),
        (
            [{"user_input": "q", "reference": "r", "response": "a", "retrieved_contexts": ["d"]}],
            Sample("1", "q", "a", "r", contexts=samples_of([{"contexts": ["d"]}])[0].contexts),
        ),
    ],
    ids=["RAGBench", "ragas"],
)  # fmt: skip
def test_parquet_as_hugging_face_has_it(tmp_path: Path, rows: list[Mapping[str, Any]], expected: Sample) -> None:
    as_parquet(tmp_path / "test-00000-of-00001.parquet", rows)
    assert read_samples(tmp_path / "test-00000-of-00001.parquet") == [expected]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"status": "ok", "payload": {"entries": [{"question": "When?", "answer": "8"}]}}, ("When?", "8", None)),
        ({"Data": [{"Question": "When?", "Answer": "8"}]}, ("When?", "8", None)),
        ([{"instruction": "When?", "input": "", "output": "8"}], ("When?", "8", None)),
        ({"results": {"query": "When?"}, "replies": ["8"]}, ("When?", "8", None)),
        ([{"id": "b", "response": {"body": {"choices": [{"message": {"role": "assistant", "content": "8"}}]}}}],
         (None, "8", None)),
        ([{"userQuestion": "When?", "botAnswer": "8", "retrievedChunks": [{"chunkText": "At 8.", "chunkId": "c"}]}],
         ("When?", "8", "At 8.")),
    ],
)  # fmt: skip
def test_rows_stand_under_any_name_and_names_in_any_hump(tmp_path: Path, written: Any, expected: Any) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(written), encoding="utf-8")
    [sample] = read_samples(path, Forms())
    text = sample.contexts[0].text if sample.contexts else None
    assert (sample.user_input, sample.response, text, sample.system) == (*expected, None)


def test_turns_of_a_benchmark_are_dialogues(tmp_path: Path) -> None:
    row = {"question_id": 81, "turns": ["When?", "And on Sunday?"], "reference": ["8", "closed"]}
    [dialogue] = datasets.foreign_sets.dialogues(written(tmp_path / "a.json", json.dumps([row]))).dialogues
    assert [(turn.question, turn.answer) for turn in dialogue.turns] == [("When?", "8"), ("And on Sunday?", "closed")]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", '[["When?", "8"]]', r'the first list is to name the columns, \["question", "answer"\]'),
        ("a.jsonl", '["When?", "8"]\n', r"a list where an object is expected: the first list is to name the columns"),
        ("a.csv", "When?,At 8\nWhere?,In C\n", "its first line names no column: write one above it"),
    ],
)
def test_rows_without_names_are_told(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        read_samples(written(tmp_path / name, text), Forms())


def test_several_answers_in_one_cell_are_of_the_systems_that_they_name(tmp_path: Path) -> None:
    said = [{"model": "gpt", "text": "8"}, {"model": "llama", "output": "9"}]
    row = {"question": "When?", "responses": said, "gold": "8"}
    read = read_samples(written(tmp_path / "a.json", json.dumps([row])))
    assert [(one.system, one.response, one.reference) for one in read] == [("gpt", "8", "8"), ("llama", "9", "8")]


@pytest.mark.parametrize(
    ("contexts", "expected"),
    [
        ([["a.md", "Opens at 8."], ["b.md", "Closed."]], [("a.md", "Opens at 8."), ("b.md", "Closed.")]),
        ([["It opens.", "At 8."], ["Closed today."]], ["It opens.", "At 8.", "Closed today."]),
        ({"a.md": "Opens at 8.", "b.md": "Closed."}, ["Opens at 8.", "Closed."]),
    ],
)
def test_names_beside_passages_are_no_passages(contexts: Any, expected: list[Any]) -> None:
    [sample] = samples_of({"question": "When?", "answer": "8", "contexts": contexts})
    named = [
        (chunk.id, chunk.text) if isinstance(expected[0], tuple) else chunk.text for chunk in sample.contexts or ()
    ]
    assert named == expected


def test_an_object_that_names_itself_is_no_mapping_of_texts() -> None:
    with pytest.raises(DatasetError, match=r"a text, or an object with a text, is expected; it has id, parts"):
        samples_of({"question": "When?", "answer": "8", "contexts": {"id": "7", "parts": {"text": "Opens at 8."}}})


def test_paragraphs_of_squad_may_stand_alone_and_narratives_have_their_summary(tmp_path: Path) -> None:
    asked = [{"id": "1", "question": "When?", "answers": [{"text": "8", "answer_start": 9}]}]
    paragraph = {"context": "Opens at 8.", "qas": asked}
    narrative = {
        "document": {"id": "7", "summary": {"text": "Opens at 8."}}, "question": {"text": "When?"},
        "answers": [{"text": "8"}],
    }  # fmt: skip
    for number, rows in enumerate(([paragraph], [narrative])):
        [sample] = read_samples(written(tmp_path / f"{number}.json", json.dumps(rows)))
        assert (sample.user_input, sample.reference) == ("When?", "8")
        assert [chunk.text for chunk in sample.contexts or ()] == ["Opens at 8."]


def test_turns_of_questions_and_answers_are_a_sample_each(tmp_path: Path) -> None:
    turns = [{"question": "Open?", "answer": "Yes"}, {"question": "Late?", "answer": "Yes"}, {"question": "Who?"}]
    read = read_samples(written(tmp_path / "a.jsonl", json.dumps({"id": "d", "turns": turns})))
    assert [(one.id, one.user_input, one.response) for one in read] == [
        ("d.1", "Open?", "Yes"), ("d.2", "Late?", "Yes"), ("d.3", "Who?", None),
    ]  # fmt: skip


def test_columns_are_a_tables_of_each_system_and_as_long() -> None:
    found = samples_of(
        {"gpt": {"question": ("a?", "b?"), "answer": ["c", "d"]}, "other": COLUMNS | {"question": ["a?", "b?"]}}
    )
    assert [(one.system, one.response) for one in found] == [
        ("gpt", "c"), ("gpt", "d"), ("other", "8:00"), ("other", "Зал 2"),
    ]  # fmt: skip
    with pytest.raises(DatasetError, match="columns of 2 × question, 1 × answer: as many are expected"):
        samples_of({"question": ["a?", "b?"], "answer": ["c"]})


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ROWS),
        "\n".join(json.dumps([row]) for row in ROWS),
        "\n".join(map(json.dumps, [[*ROWS[0]], *([*row.values()] for row in ROWS)])),
    ],
)
def test_lists_in_a_file_of_lines_are_its_rows(bare: Path, text: str) -> None:
    (bare / "a.jsonl").write_text(text)
    assert said(read_samples(bare / "a.jsonl", Forms())) == EXPECTED


def test_parts_of_a_data_set_are_no_systems() -> None:
    parts = {
        "train": {"q1": {"question": "When?", "answer": "At 8"}},
        "test": {"q2": {"question": "Where?", "answer": "Here"}},
    }
    assert [(one.id, one.system) for one in samples_of(parts)] == [("q1", None), ("q2", None)]
    same = {"one": parts["train"], "two": parts["train"]}
    assert [(one.id, one.system) for one in samples_of(same)] == [("q1", "one"), ("q1", "two")]


def test_lists_of_objects_without_content_are_no_systems() -> None:
    assert rows_in({"alpha": [{"seconds": 1}], "beta": [{"seconds": 2}]}) is None


@pytest.mark.parametrize("name", ["questions", "answers", "question"])
def test_rows_under_their_numbers_may_stand_under_a_name_that_columns_have(tmp_path: Path, name: str) -> None:
    rows = {"0": {"question": "When?", "answer": "At 8"}, "1": {"question": "Who?", "answer": "Ann"}}
    (tmp_path / "a.json").write_text(json.dumps({name: rows}))
    assert said(read_samples(tmp_path / "a.json")) == [("When?", "At 8", []), ("Who?", "Ann", [])]


def test_columns_of_pandas_with_names_of_rows_are_no_systems(tmp_path: Path) -> None:
    frame = pd.DataFrame({"question": ["When?", "Who?"], "answer": ["At 8", "Ann"]}, index=["a", "b"])
    (tmp_path / "a.json").write_text(frame.to_json())
    found = read_samples(tmp_path / "a.json")
    assert [(one.id, one.system, one.user_input, one.response) for one in found] == [
        ("a", None, "When?", "At 8"), ("b", None, "Who?", "Ann"),
    ]  # fmt: skip


def test_a_set_with_an_empty_list_of_cases_has_its_goldens() -> None:
    given = SimpleNamespace(test_cases=[], goldens=[{"input": "When?", "expected_output": "At 8"}])
    assert [(one.user_input, one.reference) for one in samples_of(given)] == [("When?", "At 8")]


def test_answers_beside_one_question_each_are_its_right_ones_and_beside_questions_those_of_a_system() -> None:
    right = {"question": ["When?", "Who?"], "answers": ["8", "Ann"]}
    assert [(one.reference, one.response) for one in samples_of(right)] == [("8", None), ("Ann", None)]
    said = {"questions": ["When?", "Who?"], "answers": ["At 8", "Ann"]}
    assert [one.response for one in samples_of(said)] == ["At 8", "Ann"]
