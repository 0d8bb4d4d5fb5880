"""Files as people have them: what comes out is right, or one sentence says why nothing does."""

from __future__ import annotations

import json
import struct
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ragbench.old as rb
from ragbench.old.data import foreign_sets
from ragbench.old.data.cells import Forms
from ragbench.old.data.columns import AmbiguousError
from ragbench.old.data.files import DatasetError
from ragbench.old.data.records import ChunkRecord
from ragbench.old.data.samples import read_samples, samples_of
from tests.old.small_project import write_lines

ASKED = {"question": "When?", "answer": "At 8."}


FILES: dict[str, tuple[str | bytes, str]] = {
    "a.csv.zip": (b"PK\x03\x04", "a.csv.zip: cannot be read: File is not a zip file"),
    "a.csv.tar.gz": (b"\x1f\x8b", "a.csv.tar.gz: an archive: unpack it, and name what is in it"),
    "a.pkl": (b"\x80\x04", "a.pkl: a pickle, which is a program, too: write it by to_parquet or to_json"),
    "a.html": ("<table>", "a.html: a page, no table: `ragbench load documents FOLDER` reads pages"),
    "a.parquet": (b"", "a.parquet: an empty file; a header line and at least one row are expected"),
    "a.xlsx": (b"", "a.xlsx: an empty file; a header line and at least one row are expected"),
    "open.csv": ('question,answer\nWhen?,"At 8\nWhere?,Here\n', "open.csv, line 2: not CSV: unexpected end of data"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_read_says_what_it_is(bare: Path, name: str) -> None:
    content, said = FILES[name]
    (bare / name).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(DatasetError) as refused:
        read_samples(bare / name, Forms())
    assert str(refused.value).startswith(said)


def test_an_archive_of_tar_is_no_table(bare: Path) -> None:
    """What tar puts before a table would be its first column."""
    (bare / "t.csv").write_text("question,answer\nWhen?,8\n")
    with tarfile.open(bare / "t.csv.tar.gz", "w:gz") as file:
        file.add(bare / "t.csv", "t.csv")
    with pytest.raises(DatasetError, match="an archive"):
        samples_of(bare / "t.csv.tar.gz")


def test_a_zip_of_one_table_is_a_packing(bare: Path) -> None:
    frame = pd.DataFrame({"question": ["Когда?"], "answer": ["В 8"]})
    frame.to_csv(bare / "t.csv.zip", index=False)
    frame.to_json(
        bare / "j.zip", orient="records", lines=True, compression={"method": "zip", "archive_name": "j.jsonl"}
    )
    with zipfile.ZipFile(bare / "mac.zip", "w") as archive:
        archive.writestr("t/", "")
        archive.writestr("t/t.csv", "question;answer\r\nКогда?;В 8\r\n".encode("cp1251"))
        archive.writestr("__MACOSX/t/._t.csv", b"\0")
    for name in ("t.csv.zip", "j.zip", "mac.zip"):
        [sample] = read_samples(bare / name)
        assert (sample.user_input, sample.response) == ("Когда?", "В 8")


def test_a_zip_of_anything_else_says_what_is_in_it(bare: Path) -> None:
    frame = pd.DataFrame({"question": ["When?"], "answer": ["8"]})
    frame.to_parquet(bare / "a.parquet")
    members = {"two.zip": ["a.csv", "b.csv"], "none.zip": ["a/"], "packed.zip": ["a.parquet"]}
    for name, inside in members.items():
        with zipfile.ZipFile(bare / name, "w") as archive:
            for each in inside:
                archive.writestr(each, (bare / "a.parquet").read_bytes())
    said = {
        "two.zip": "two.zip: a zip of one file is expected, found a.csv, b.csv; unpack it",
        "none.zip": "none.zip: a zip of one file is expected, found none; unpack it",
        "packed.zip": "packed.zip: is packed, and of packed files texts alone are read; unpack it",
    }
    for name, words in said.items():
        with pytest.raises(DatasetError) as refused:
            read_samples(bare / name)
        assert str(refused.value) == words


def test_a_file_that_nobody_lets_us_read_says_so(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.open

    def refused(path: Path, *args: Any, **options: Any) -> Any:
        if path.stem.startswith("a"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *args, **options)

    for name in ("a.csv", "a.jsonl", "a.txt", "a.xlsx", "a.parquet", "a.csv.gz"):
        (bare / name).write_bytes(b"question,answer\nWhen?,8\n")
    monkeypatch.setattr(Path, "open", refused)
    for name in ("a.csv", "a.jsonl", "a.txt", "a.xlsx", "a.parquet", "a.csv.gz"):
        with pytest.raises(DatasetError) as said:
            read_samples(bare / name)
        assert str(said.value) == f"{bare / name}: you may not read it; give yourself the right (chmod u+r), or a copy"


def test_a_workbook_with_a_password_says_what_to_do(bare: Path) -> None:
    """Such a file is a store of Microsoft's own with a part that is called so, whatever is in it."""
    end, free = 0xFFFFFFFE, 0xFFFFFFFF

    def entry(name: str, kind: int, child: int, start: int, size: int) -> bytes:
        called = name.encode("utf-16-le") + b"\0\0"
        about = (called, len(called), kind, 1, free, free, child, b"", 0, 0, 0, start, size)
        return struct.pack("<64sHBBIII16sIQQIQ", *about)

    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack(
        "<HHHHH6xIIIIIIIII", 62, 3, 0xFFFE, 9, 6, 0, 1, 1, 0, 4096, end, 0, end, 0)  # fmt: skip
    table = struct.pack("<128I", 0xFFFFFFFD, end, *range(3, 10), end, *[free] * 118)
    parts = entry("Root Entry", 5, 1, end, 0) + entry("EncryptedPackage", 2, free, 2, 4096) + bytes(256)
    (bare / "a.xlsx").write_bytes(head + struct.pack("<109I", 0, *[free] * 108) + table + parts + bytes(4096))
    with pytest.raises(DatasetError) as said:
        read_samples(bare / "a.xlsx")
    assert str(said.value) == "a.xlsx: cannot be read: a password protects it; save it without one"


def test_a_broken_quote_costs_its_own_lines(bare: Path) -> None:
    text = 'question,answer\nWhen?,At 8\nWhere?,"Here" or "there"\nHow?,"a\nb"c\nWho?,Me\n'
    (bare / "a.csv").write_text(text)
    forms = Forms()
    assert [sample.user_input for sample in read_samples(bare / "a.csv", forms)] == ["When?", "Who?"]
    assert forms.told == ["left out: 3 × line that is not CSV (',' expected after '\"') (first: a.csv, line 3)"]
    with pytest.raises(DatasetError, match=r"a\.csv, line 3: not CSV"):
        read_samples(bare / "a.csv")


def test_none_as_an_answer_is_told(bare: Path) -> None:
    (bare / "a.csv").write_text("question,answer\nWhen?,None\nWhere?,NULL\nWho?,Ann\n")
    forms = Forms()
    assert [sample.response for sample in read_samples(bare / "a.csv", forms)] == ["None", "NULL", "Ann"]
    assert forms.told == ["answer: 2 × None or NULL is taken for a text; leave a cell empty where nothing was given"]


ROWS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "Opik": ({"input": "When?", "output": "At 8.", "context": ["c1"], "expected_output": "8"}, {"contexts": ["c1"]}),
    "DeepEval": ({"input": "When?", "actual_output": "At 8.", "context": ["c1"], "expected_output": "8"},
                 {"reference_contexts": ["c1"]}),
    "Phoenix": ({"context.span_id": "s", "input": "When?", "output": "At 8.", "reference": "c1\n\nc2"},
                {"contexts": ["c1", "c2"], "reference": None}),
    "Tonic Validate": ({"question": "When?", "answer": "8", "llm_answer": "At 8.", "llm_context_list": "['c1']"},
                       {"contexts": ["c1"]}),
    "OpenAI's batch": ({"custom_id": "q1", "url": "/v1", "body": {"messages": [{"role": "user", "content": "When?"}]}},
                       {"id": "q1", "response": None, "reference": None}),
    "LangSmith's examples": ({"dataset_id": "d", "inputs": {"question": "When?"}, "outputs": {"answer": "8"}},
                             {"response": None}),
    "AlpacaEval": ({"instruction": "When?", "output": "At 8.", "generator": "m", "dataset": "x"},
                   {"system": "m", "reference": None}),
}  # fmt: skip


@pytest.mark.parametrize("tool", ROWS)
def test_rows_of_tools_are_read_as_the_tool_means_them(bare: Path, tool: str) -> None:
    row, wanted = ROWS[tool]
    write_lines(bare / "a.jsonl", [row])
    [sample] = read_samples(bare / "a.jsonl", Forms())
    plain = {"user_input": "When?", "response": "At 8.", "reference": "8", **wanted}
    found = {name: getattr(sample, name) for name in plain}
    found |= {name: [each.text for each in found[name]] for name in found if name.endswith("contexts")}
    assert found == plain


def test_a_column_of_the_settings_that_is_nowhere_is_told(bare: Path) -> None:
    (bare / "ragbench.toml").write_text('[columns]\nanswer = "bott_says"\nreference = "gold"\n')
    (bare / "a.csv").write_text("question,bot_says,reference\nWhen?,At 8,8\n")
    forms = Forms()
    read_samples(bare / "a.csv", forms)
    assert forms.told[1:] == [
        "[columns] of ragbench.toml: the answer is no column bott_says; did you mean 'bot_says'?"
    ], "the reference is there by its own name"


def test_rows_that_pandas_parts_keep_their_names(tmp_path: Path) -> None:
    table = {"columns": ["question", "answer"], "index": ["qa", "qb"], "data": [["When?", "8"], ["Where?", "Here"]]}
    (tmp_path / "a.json").write_text(json.dumps(table))
    assert [(one.id, one.user_input) for one in read_samples(tmp_path / "a.json")] == [
        ("qa", "When?"),
        ("qb", "Where?"),
    ]


REFUSED: list[tuple[str, Any]] = [
    ("spans of traces", {"data": [{"traceID": "a", "spans": [], "processes": {}}]}),
    ("spans of traces", {"data": [{"id": "x", "type": "span", "attributes": {"input": {"value": "When?"}}}]}),
    ("a step of a trace", [{**ASKED, "span_id": "b", "root_span_id": "a"}]),
    ("a step of a trace", [{**ASKED, "op_name": "weave:///p/op/f:1", "trace_id": "t", "parent_id": "a"}]),
    ("a reply of Elasticsearch without its question", {"took": 3, "hits": {"hits": [{"_source": {"text": "c1"}}]}}),
    ("one message of a dialogue", [{"role": "user", "content": "When?"}]),
    ("rows of Labelbox", [{"data_row": {"id": "a", "row_data": "https://example.org/a.txt"}, "projects": {}}]),
]


@pytest.mark.parametrize(("said", "written"), REFUSED)
def test_a_form_that_is_not_read_says_what_is(bare: Path, said: str, written: Any) -> None:
    """A message would be a passage, a dialogue a table of these, and each step of a trace an answer."""
    (bare / "a.json").write_text(json.dumps(written))
    with pytest.raises(DatasetError, match=rf"a\.json: no row can be used: 1 × row with {said}: .*(`ragbench|label)"):
        read_samples(bare / "a.json", Forms())


@pytest.mark.parametrize("named", [{}, {"response": "attributes"}])
def test_columns_that_another_form_has_too_are_no_refusal(bare: Path, named: dict[str, str]) -> None:
    more = {} if named else ASKED
    write_lines(
        bare / "a.jsonl", [{"id": "x", "type": "t", "attributes": "At 8.", "role": "a", "content": "c", **more}]
    )
    [sample] = read_samples(bare / "a.jsonl", columns=named)
    assert (sample.id, sample.response) == ("x", "At 8.")


def test_an_argument_that_is_none_of_its_kind_is_named(bare: Path) -> None:
    rows = [{**ASKED, "reference": "8", "contexts": ["c1"]}]
    for judge in (5, [None], {"faithfulness": 5}, rb.score):
        with pytest.raises(ValueError, match=r"judge: .* is no judge; names of judges, or judges made by rb\.judge"):
            rb.score(rows, "faithfulness", judge=judge)
    with pytest.raises(ValueError, match="embedder: 5 is no embedder; a name, or an object with embed, is expected"):
        rb.score(rows, "semantic_similarity", embedder=5)
    assert rb.score(rows, "exact_match", primary=None).systems


def test_a_hit_is_a_measure_and_hits_are_what_a_search_found(bare: Path) -> None:
    write_lines(bare / "a.jsonl", [{**ASKED, "hits": [{"_id": "d", "_source": {"text": "c1"}}], "hit": 1.0}])
    [sample] = read_samples(bare / "a.jsonl", Forms())
    assert [context.text for context in sample.contexts or ()] == ["c1"]


def test_a_label_and_a_rating_are_no_two_raters(bare: Path) -> None:
    write_lines(bare / "a.jsonl", [{**ASKED, "label": 1, "rating": 5}])
    forms = Forms()
    assert read_samples(bare / "a.jsonl", forms)[0].labels == {"people": 1.0}
    assert forms.told[0] == "not read, as no field is called so: rating"
    write_lines(bare / "a.jsonl", [{**ASKED, "human_label": 1, "expert_label": 0}])
    assert read_samples(bare / "a.jsonl")[0].labels == {"human_label": 1.0, "expert_label": 0.0}


def test_what_a_system_answered_is_no_question_in_silence(bare: Path) -> None:
    write_lines(bare / "a.jsonl", [{**ASKED, "context": "c1"}])
    brought = foreign_sets.questions(bare / "a.jsonl")
    assert brought.notes[0].startswith("1 answers with their contexts are a system's, and not read: `ragbench load ans")
    brought = foreign_sets.questions(bare / "a.jsonl", columns={"reference": "answer"})
    [question] = brought.questions
    assert (question.reference, len(question.relevant)) == ("At 8.", 1)


@pytest.mark.parametrize("names", ["anchor positive negative", "query pos neg"])
def test_triplets_are_questions_with_their_passages(bare: Path, names: str) -> None:
    row = dict(zip(names.split(), ("When?", ["c1"], ["c2"]), strict=True))
    write_lines(bare / "a.jsonl", [row])
    brought = foreign_sets.questions(bare / "a.jsonl")
    texts = {chunk.id: chunk.text for chunk in brought.chunks}
    assert [(each.text, [texts[name] for name in each.relevant]) for each in brought.questions] == [("When?", ["c1"])]
    assert sorted(texts.values()) == ["c1", "c2"]


def test_provenance_of_kilt_names_what_an_answer_rests_on(tmp_path: Path) -> None:
    spans = [{"wikipedia_id": "12", "title": "A"}, {"wikipedia_id": "12"}, {"wikipedia_id": "7"}]
    row = {"id": "k", "input": "When?", "output": [{"answer": "8", "provenance": spans}, {"answer": "8:00"}],
           "meta": {}}  # fmt: skip
    write_lines(tmp_path / "nq-dev-kilt.jsonl", [row])
    [sample] = read_samples(tmp_path / "nq-dev-kilt.jsonl")
    assert (sample.references, [chunk.id for chunk in sample.reference_contexts or ()]) == (("8", "8:00"), ["12", "7"])
    brought = foreign_sets.questions(tmp_path / "nq-dev-kilt.jsonl")
    assert [(question.text, question.references) for question in brought.questions] == [("When?", ("8", "8:00"))]
    base = {"12": ChunkRecord(id="12", text="Opens at 8.")}
    [question] = foreign_sets.questions(tmp_path / "nq-dev-kilt.jsonl", base=base).questions
    assert dict(question.relevant) == {"12": 1.0}


@pytest.mark.parametrize(
    "row",
    [
        {"id": "1", "source_id": "s", "model": "m", "response": "At 8", "quality": "good"},
        {"id": "1", "query": "When?", "context": "Opens.", "output": "At 8", "model": "m", "quality": "good"},
    ],
)
def test_an_answer_with_spans_that_nothing_supports_is_labelled_a_bad_one(row: dict[str, Any]) -> None:
    """RAGTruth, as its authors write it, and as a table."""
    name = "labels" if "source_id" in row else "hallucination_labels"
    span = {"start": 0, "end": 4, "text": "At 8", "label_type": "Evident Conflict"}
    found = [samples_of([{**row, name: labels}])[0] for labels in ([], [span], f"[{span}]")]
    assert [one.labels for one in found] == [{"people": 1.0}, {"people": 0.0}, {"people": 0.0}]


RUN: dict[str, Any] = {
    "bm25": {"documents": [{"id": "x", "content": "No."}]},
    "ranker": {"documents": [{"id": "d", "content": "Opens at 8."}]},
    "prompt_builder": {"prompt": "Answer: When?"},
    "llm": {"replies": ["At 8"], "meta": [{"model": "m"}]},
}
CHAT: dict[str, Any] = {"role": "assistant", "meta": {}, "name": None, "content": [{"text": "At 8"}]}
BUILT = {"data": "At 8", "query": "When?", "documents": [{"id": "d", "content": "Opens at 8."}], "meta": {}}


@pytest.mark.parametrize(
    ("run", "asked"),
    [
        (RUN, None),
        ({"question": "When?", **RUN}, "When?"),
        ({**RUN, "llm": {"replies": [CHAT]}}, None),
        ({"answer_builder": {"answers": [BUILT]}}, "When?"),
    ],
    ids=["replies", "beside its question", "messages", "answers"],
)
def test_what_a_pipeline_gave_is_an_answer_with_its_passages(
    run: dict[str, Any], asked: str | None, tmp_path: Path
) -> None:
    """Of Haystack: each component's name with what it put out."""
    (tmp_path / "run.json").write_text(json.dumps(run), encoding="utf-8")
    (tmp_path / "runs.json").write_text(json.dumps([run]), encoding="utf-8")
    forms = Forms()
    for found in (read_samples(tmp_path / "run.json", forms), read_samples(tmp_path / "runs.json"),
                  samples_of(run), samples_of([run])):  # fmt: skip
        assert [
            (one.user_input, one.response, [(own.id, own.text) for own in one.contexts or ()]) for one in found
        ] == [(asked, "At 8", [("d", "Opens at 8.")])]
    assert forms.told == []


@pytest.mark.parametrize("prompt", ["You are a helpful assistant.", "Отвечай кратко и по делу.", "Be brief.\nBe kind."])
def test_instructions_to_a_model_are_no_system(prompt: str) -> None:
    forms = Forms()
    found = samples_of([{"system": prompt, "question": "When?", "answer": "At 8"}], forms=forms)
    assert [one.system for one in found] == [None]
    assert forms.told == ["system: 1 × instructions to a model, which name no system"]
    [one] = samples_of([{"system_prompt": prompt, "question": "When?", "answer": "At 8"}])
    assert one.system is None
    for name in ("gpt-4.1", "Система 2 (t = 0.7)", "our bot, v. 2", "x" * 199):
        assert samples_of([{"system": name, "question": "When?", "answer": "At 8"}])[0].system == name


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"choices": ["At 7", "At 8"], "reference": "1"}, (None, "At 8")),
        ({"choices": ["At 7", "At 8"], "answer": 1, "subject": "s"}, (None, "At 8")),
        ({"choices": "['At 7', 'At 8']", "answer": "B"}, (None, "At 8")),
        ({"options": ["At 7", "At 8"], "answer": "B", "prediction": "a)"}, ("At 7", "At 8")),
        ({"choices": {"text": ["At 7", "At 8"], "label": ["1", "2"]}, "answerKey": "2"}, (None, "At 8")),
        ({"choices": [{"label": "A", "text": "At 7"}, {"label": "B", "text": "At 8"}], "answer_key": "B"},
         (None, "At 8")),
        ({"options": {"A": "At 7", "B": "At 8"}, "answer": "At 8", "answer_idx": "B"}, (None, "At 8")),
        ({"choices": ["At 7", "At 8"], "reference": "At 8", "answer": "B, I think"}, ("B, I think", "At 8")),
        ({"choices": ["2", "1"], "reference": "1"}, (None, "1")),
        ({"options": None, "reference": "1", "answer": "B"}, ("B", "1")),
    ],
    ids=["a place", "MMLU", "a cell", "RACE, answered", "ARC", "labelled", "MedQA", "a text", "digits", "none"],
)  # fmt: skip
def test_a_choice_that_is_named_is_its_text(row: dict[str, Any], expected: tuple[str | None, str]) -> None:
    [sample] = samples_of([{"question": "When?", **row}])
    assert (sample.response, sample.reference) == expected


def test_a_set_of_questions_with_choices_has_the_right_ones_text(tmp_path: Path) -> None:
    write_lines(tmp_path / "mmlu.jsonl", [{"question": "When?", "choices": ["At 7", "At 8"], "answer": 1}])
    [question] = foreign_sets.questions(tmp_path / "mmlu.jsonl").questions
    assert question.reference == "At 8"


def test_places_among_choices_that_are_counted_from_one_are_refused() -> None:
    with pytest.raises(AmbiguousError, match=r"row 2: reference: 2 of 2 choices: their places are from 0"):
        samples_of([{"question": "q", "choices": ["a", "b"], "reference": place} for place in (1, 2)])


@pytest.mark.parametrize(
    "word", ["Total", "Итого:", "Average", "Mean", "В среднем", "Средняя оценка", "Average score:"]
)
def test_a_row_of_totals_is_no_answer(word: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"question,answer,reference,score\nWhen?,At 8,8,1\n{word},,,0.95\n{word},12,3,\n", encoding="utf-8")
    forms = Forms()
    assert [one.user_input for one in read_samples(path, forms)] == ["When?"]
    assert dict(forms.left_out.told) == {"row of totals (first: a.csv, line 3)": 2}
    assert [question.text for question in foreign_sets.questions(path).questions] == ["When?"]
    rows = [{"question": "When?", "answer": "At 8"}, {"question": word, "answer": 7}]
    assert len(samples_of(rows, forms=Forms())) == 1
    assert len(samples_of([{"question": word, "answer": "the sum of all"}], forms=Forms())) == 1
    assert len(samples_of([{"question": f"{word} of floors in hall 2?", "answer": 7}], forms=Forms())) == 1


def test_an_answer_that_came_by_and_by_is_one(bare: Path) -> None:
    def chunk(name: str, *deltas: dict[str, Any]) -> dict[str, Any]:
        choices = [{"index": place, "delta": delta} for place, delta in enumerate(deltas)]
        return {"id": name, "object": "chat.completion.chunk", "model": "small-1", "choices": choices}

    told = [chunk("a", {"role": "assistant", "content": ""}), chunk("a", {"content": "It opens "}),
            chunk("b", {"content": "Ann"}), chunk("a", {"content": "at 8."}, {"content": "Never."}), chunk("a", {}),
            chunk("b")]  # fmt: skip
    write_lines(bare / "stream.jsonl", told)
    found = [(one.id, one.system, one.response) for one in read_samples(bare / "stream.jsonl")]
    assert found == [("a", "small-1", "It opens at 8."), ("b", "small-1", "Ann")]


def test_choices_beside_a_right_answer_of_another_name(bare: Path) -> None:
    (bare / "a.csv").write_text("question,A,B,C,correct_answer,model_answer\nWhen?,At 7,At 8,At 9,B,C\n")
    [sample] = read_samples(bare / "a.csv")
    assert (sample.response, sample.reference) == ("At 9", "At 8")


@pytest.mark.parametrize(
    "names", ["option_a,option_b", "Choice A,Choice B", "A,B", "choice1,choice2", "Вариант А,Вариант Б"]
)
def test_choices_in_columns_of_their_own_are_what_their_letters_stand_for(bare: Path, names: str) -> None:
    first, second = next(pair for pair in ("12", "АБ", "AB") if pair[1] in names.upper())
    text = f"question,{names},answer,model_answer\nWhen?,At 7,At 8,{second},{first}\n"
    (bare / "a.csv").write_text(text)
    forms = Forms()
    [sample] = read_samples(bare / "a.csv", forms)
    assert (sample.response, sample.reference, forms.unread) == ("At 7", "At 8", [])


def test_a_text_that_begins_with_a_list_is_a_text(bare: Path) -> None:
    cells = ["['c1'] is an index", "[Document(page_content='a')] is printed so"]
    write_lines(bare / "a.jsonl", [{**ASKED, "contexts": cell} for cell in cells])
    assert [[own.text for own in one.contexts or ()] for one in read_samples(bare / "a.jsonl")] == [
        [own] for own in cells
    ]


@pytest.mark.parametrize(
    "row",
    [
        {"query": {"query_id": 1, "content": "When?"}, "prediction": {"content": "At 8.", "references": ["c1"]},
         "ground_truth": {"content": "8:00", "references": ["c2"]}},
        {"input": {"args": ["When?"], "kwargs": {}}, "output": "At 8.", "expected": "8:00"},
        {"id": '"t"', "input": '"When?"', "output": '"At 8."', "expectedOutput": '"8:00"', "scores": "null"},
        {"question": "When?", "answer": ["8:00"], "prediction": "At 8."},
        {"question": "When?", "answer": "8:00", "answer_aliases": [], "prediction": "At 8."},
        {"question": "When?", "answer_pred": "At 8.", "answer_gold": "8:00"},
        {"вопрос": "When?", "ответ_сгенерированный": "At 8.", "ответ_эталонный": "8:00"},
        {"evaluated_model_input": "When?", "evaluated_model_output": "At 8.", "evaluated_model_gold_answer": "8:00"},
        {"query": "When?", "actual": "At 8.", "expected": "8:00"},
        {"question": "When?", "Answer A (Ground Truth)": "8:00", "Answer B (RAG)": "At 8."},
    ],
)  # fmt: skip
def test_what_was_answered_and_what_is_right_are_told_apart(row: dict[str, Any]) -> None:
    [sample] = samples_of([row])
    assert (sample.user_input, sample.response, sample.reference, sample.contexts) == ("When?", "At 8.", "8:00", None)


def test_answers_between_bars_are_several_where_their_name_says_so() -> None:
    found = samples_of([{**ASKED, name: "8:00|At 8."} for name in ("gold_answers", "reference")])
    assert [one.references for one in found] == [("8:00", "At 8."), ()]


@pytest.mark.parametrize(
    "text",
    [
        '[[{"role": "user", "content": "When?"}, {"role": "assistant", "content": "At 8."}]]',
        '{"messages": [{"type": "human", "data": {"content": "When?"}}, {"type": "ai", "data": {"content": "At 8."}}]}',
        '{"contents": [{"role": "user", "parts": [{"text": "When?"}]}, {"role": "model", "parts": ["At 8."]}]}',
        '{"history": [["When?", "At 8."]]}',
        '{"сообщения": [{"роль": "клиент", "текст": "When?"}, {"роль": "бот", "текст": "At 8."}]}',
    ],
)
def test_dialogues_are_read_as_programs_keep_them(bare: Path, text: str) -> None:
    (bare / "a.json").write_text(text)
    [dialogue] = foreign_sets.dialogues(bare / "a.json").dialogues
    assert [(turn.question, turn.answer) for turn in dialogue.turns] == [("When?", "At 8.")]


def test_rows_that_are_passages_are_no_answers() -> None:
    row = {"query_id": "1", "query": "When?", "passage_id": "[1]", "passage": "c1", "generated_answer": "At 8."}
    with pytest.raises(DatasetError, match="a row is a passage here: write a row an answer"):
        samples_of([row])


def test_lines_as_python_prints_them_are_rows(bare: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"question": "When?", "answer": "It's 8", "contexts": ["a", None]},
        {"question": "Who?", "answer": None},
    ]
    nested = "{'question': " + "[" * 9_000 + "]" * 9_000 + "}"
    hostile = ["{'question': __import__('os').getcwd()}", nested]
    (bare / "a.jsonl").write_text("\n".join([*map(str, rows), *hostile]), encoding="utf-8")
    found = read_samples(bare / "a.jsonl", forms := Forms())
    assert [(one.user_input, one.response) for one in found] == [("When?", "It's 8"), ("Who?", None)]
    assert "2 × line that is not JSON (first: a.jsonl, line 3)" in forms.told[-1]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"problem_id": "p7", "prediction": "b"}, {"id": "p7", "response": "b"}),
        ({"query": "Why?", "answer": "So.", "goldstandard_answer": "Thus."}, {"reference": "Thus."}),
        ({"Question": "Why?", "Golden Answer (Ground Truth)": "Thus."}, {"reference": "Thus."}),
        ({"Domanda": "Chi?", "Risposta corretta": "Lui"}, {"user_input": "Chi?", "reference": "Lui"}),
        ({"text": "Who came?", "context": "Ann came.", "ground_truth": "Ann"}, {"user_input": "Who came?"}),
        (
            {"question": "Who?", "answer": "Ann", "answer_type": "name", "provider": "City press", "source_ids": ["s"]},
            {"reference": "Ann", "system": None, "response": None},
        ),
    ],
)
def test_names_that_people_have_for_their_fields(row: dict[str, Any], expected: dict[str, Any]) -> None:
    [sample] = samples_of([row])
    assert {name: getattr(sample, name) for name in expected} == expected
