"""Every shape that people bring loads to the same data, whatever its encoding; nothing broken is half-loaded."""

from __future__ import annotations

import gzip
import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ragbench.old import data
from ragbench.old.core.types import Chunk
from ragbench.old.data import Brought, ChunkRecord, DatasetError, foreign_sets
from ragbench.old.tiers.judges.tier_judge_pipeline import cases_of
from tests.old.data import foreign_files as made
from tests.old.small_project import write_lines


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def kept(folder: Path, name: str, found: Brought) -> data.Dataset:
    tables = {table: getattr(found, table) for table in found.tables}
    data.write(name, folder, title=name, licence="CC0", source="a test", language="ru", **tables)
    return data.load(name, folder)


FORMS: dict[str, Callable[[Path, list], Path]] = {
    "json": lambda folder, rows: written(folder, "set.json", made.as_json(rows)),
    "json.gz": lambda folder, rows: written(folder, "set.json.gz", gzip.compress(made.as_json(rows).encode())),
    "jsonl": lambda folder, rows: written(folder, "set.jsonl", made.as_lines(rows)),
    "csv": lambda folder, rows: written(folder, "set.csv", made.as_csv(rows)),
    "csv;": lambda folder, rows: written(folder, "set.csv", made.as_csv(rows, ";")),
    "tsv": lambda folder, rows: written(folder, "set.tsv", made.as_csv(rows, "\t")),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_question_set_is_the_same_in_every_form(tmp_path: Path, form: str) -> None:
    found = data.foreign_sets.questions(FORMS[form](tmp_path, made.NEW_ITEMS))
    assert [(q.id, dict(q.relevant), q.answerable, q.kind, q.cluster) for q in found.questions] == [
        ("i1", {"11": 1.0, "12": 1.0}, True, "generated", "https://wiki.example/library"),
        ("i2", {"12": 1.0}, True, "users", "https://wiki.example/papers"),
        ("i3", {}, None, "users", "https://wiki.example/papers"),
    ]
    assert [(chunk.id, chunk.url) for chunk in found.chunks] == [
        ("11", "https://wiki.example/library"),
        ("12", "https://wiki.example/papers"),
    ]
    assert [(past.id, past.score, past.url) for past in found.history] == [
        ("701", 5, "https://wiki.example/papers"),
        ("702", 1, "https://wiki.example/papers"),
    ]
    assert found.left_out == {"label of a chunk that was found not to match (its question stays)": 1}
    reference = data.foreign_sets.questions(FORMS["json"](tmp_path, made.NEW_ITEMS))
    assert kept(tmp_path, "one", found).content_hash == kept(tmp_path, "two", reference).content_hash


def test_parquet_is_one_of_the_forms(tmp_path: Path) -> None:
    path = tmp_path / "set.parquet"
    pd.DataFrame(made.NEW_ITEMS).to_parquet(path)
    found = data.foreign_sets.questions(path)
    assert [*found.questions] == [*data.foreign_sets.questions(FORMS["json"](tmp_path, made.NEW_ITEMS)).questions]


def test_older_items_get_ids_that_do_not_depend_on_their_order(tmp_path: Path) -> None:
    found = data.foreign_sets.questions(written(tmp_path, "old.json", made.as_json(made.OLD_ITEMS)))
    turned = data.foreign_sets.questions(written(tmp_path, "old.json", made.as_json(made.OLD_ITEMS[::-1])))
    assert [question.text for question in found.questions] == [item["question"] for item in made.OLD_ITEMS]
    assert {q.id for q in found.questions} == {q.id for q in turned.questions}
    assert all(question.relevant and question.reference for question in found.questions)


def test_marks_take_out_what_people_found_wrong_and_an_empty_mark_changes_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, "marks.csv", made.as_csv(made.ANNOTATED_ITEMS))
    found = data.foreign_sets.questions(path)
    assert [(q.id, q.reference) for q in found.questions] == [("i1", None), ("i2", "В деканате.")]
    assert found.left_out["question that people marked as not in order"] == 1
    assert found.left_out["reference answer that people marked as not in order (its question stays)"] == 1
    assert "1 of 3 items carry no mark yet" in found.notes[0]


def test_a_label_whose_chunk_has_no_text_is_dropped_and_its_question_only_with_the_last_label(tmp_path: Path) -> None:
    lost = {"id": "i9", "question": "Где столовая?", "relevant_chunk_ids": [98, 99]}
    items = [{**made.NEW_ITEMS[1], "relevant_chunk_ids": [12, 99]}, made.NEW_ITEMS[0], lost]
    path = written(tmp_path, "set.json", made.as_json(items))
    found = data.foreign_sets.questions(path)
    assert {q.id: set(q.relevant) for q in found.questions} == {"i2": {"12"}, "i1": {"11", "12"}}
    assert found.left_out == {
        "label of a chunk whose text is not there (its question stays, recall is over its other labels)": 1,
        "question none of whose relevant chunks has a text": 1,
    }
    [paged] = data.foreign_sets.questions(
        written(tmp_path, "paged.json", made.as_json([{**lost, "relevant_urls": ["https://wiki.example/food"]}]))
    ).questions
    assert (dict(paged.relevant), dict(paged.relevant_urls)) == ({}, {"https://wiki.example/food": 1.0})
    base = {name: data.ChunkRecord(id=name, text=f"Текст {name}.") for name in ("11", "12", "98", "99")}
    whole = data.foreign_sets.questions(path, base=base)
    assert {q.id: set(q.relevant) for q in whole.questions} == {
        "i2": {"12", "99"},
        "i1": {"11", "12"},
        "i9": {"98", "99"},
    }
    assert len(whole.chunks) == 4
    assert not whole.left_out


def test_a_chunk_is_named_by_its_text_and_labels_may_have_grades(tmp_path: Path) -> None:
    items = [{"question": "Где?", "chunk_text": "Там."}, {"question": "Как?", "relevant_chunk_ids": {"a": 2, "b": 0}}]
    base = {"a": data.ChunkRecord(id="a", text="Так."), "b": data.ChunkRecord(id="b", text="Там.")}
    path = written(tmp_path, "set.json", made.as_json(items))
    assert [dict(one.relevant) for one in data.foreign_sets.questions(path, base=base).questions] == [
        {"b": 1.0},
        {"a": 2.0},
    ]
    [alone] = data.foreign_sets.questions(path).questions
    assert [*alone.relevant] == [Chunk.nameless("Там.").id]


def test_a_passage_whose_id_has_another_text_is_counted_and_its_question_stays(tmp_path: Path) -> None:
    items = [{"question": f"{n}?", "reference": "a", "contexts": [{"id": "p", "text": n}]} for n in ("one", "two")]
    found = data.foreign_sets.questions(written(tmp_path, "set.json", made.as_json(items)))
    assert [chunk.text for chunk in found.chunks] == ["one"]
    assert [dict(one.relevant) for one in found.questions] == [{"p": 1.0}] * 2
    assert found.left_out == {"passage whose id stands there with another text": 1}


def test_the_category_of_a_question_is_its_kind(tmp_path: Path) -> None:
    items = [{**made.NEW_ITEMS[0], "category": "Приём"}, {**made.NEW_ITEMS[1], "category": "Учёба"}, made.NEW_ITEMS[2]]
    found = data.foreign_sets.questions(written(tmp_path, "set.json", made.as_json(items)))
    assert [question.kind for question in found.questions] == ["Приём", "Учёба", None], "two vocabularies are not mixed"
    assert "the kind of a question, by which results are sliced, is its category" in found.notes
    assert not any("category" in reason for reason in found.left_out)


ENCODINGS: dict[str, Callable[[str], bytes]] = {
    "utf-8": lambda text: text.encode(),
    "utf-8 with a mark": lambda text: text.encode("utf-8-sig"),
    "utf-16 little end first": lambda text: b"\xff\xfe" + text.encode("utf-16-le"),
    "utf-16 big end first": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "utf-16 without a mark": lambda text: text.encode("utf-16-le"),
    "cp1251": lambda text: text.encode("cp1251"),
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "NFD": lambda text: unicodedata.normalize("NFD", text).encode(),
}


@pytest.mark.fault("encodings", tried="files in eight encodings", count=24)
@pytest.mark.parametrize("form", ["json", "jsonl", "csv"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_eight_encodings_give_the_same_data(tmp_path: Path, encoding: str, form: str) -> None:
    text = {"json": made.as_json, "jsonl": made.as_lines, "csv": made.as_csv}[form](made.NEW_ITEMS)
    plain = data.foreign_sets.questions(written(tmp_path, f"plain.{form}", text))
    other = data.foreign_sets.questions(written(tmp_path, f"other.{form}", ENCODINGS[encoding](text)))
    assert "ёлку" in other.chunks[0].text
    assert kept(tmp_path, "plain", plain).content_hash == kept(tmp_path, "other", other).content_hash


def test_decisions_bring_their_own_passages_and_keep_empty_answers(tmp_path: Path) -> None:
    found = data.foreign_sets.decisions(written(tmp_path, "judge.json", made.as_json(made.DECISIONS)))
    assert [decision.show for decision in found.decisions] == [True, False, False]
    assert [[d.passages[name] for name in d.context] for d in found.decisions] == [
        ["Библиотека открыта с 9 до 21 часа."],
        ["Библиотека открыта с 9 до 21 часа."],
        [],
    ]
    assert found.decisions[2].answer == ""
    dataset = kept(tmp_path, "judge", found)
    assert (len(dataset.decisions), len(dataset.chunks), len(dataset.questions)) == (3, 0, 0)
    assert [case.contexts[0].text for case in cases_of(dataset) if case.contexts] == [made.DECISIONS[0]["context"]] * 2


def test_dialogues_are_sessions_of_their_own(tmp_path: Path) -> None:
    one = data.foreign_sets.dialogues(written(tmp_path, "one.json", made.as_json(made.DIALOGUES[0])))
    many = data.foreign_sets.dialogues(written(tmp_path, "many.json", made.as_json(made.DIALOGUES)))
    wrapped = data.foreign_sets.dialogues(written(tmp_path, "in.json", made.as_json({"dialogues": made.DIALOGUES})))
    assert [[turn.question for turn in d.turns] for d in many.dialogues] == [d["questions"] for d in made.DIALOGUES]
    assert [*one.dialogues] == many.dialogues[:1]
    assert [*wrapped.dialogues] == [*many.dialogues]
    assert "1 of 2 dialogues have one turn" in many.notes[0]
    assert len(kept(tmp_path, "talks", many).dialogues) == 2


@pytest.mark.parametrize("rows", [made.ANSWERS, made.OLD_ANSWERS], ids=["new names", "old names"])
@pytest.mark.parametrize("form", ["json", "jsonl", "csv"])
def test_a_table_of_answers_becomes_questions_chunks_and_a_log(tmp_path: Path, rows: list[dict], form: str) -> None:
    found, logged = data.answer_tables.read(FORMS[form](tmp_path, rows))
    assert len(found.chunks) == 3
    assert [question.reference for question in found.questions] == ["С 9 до 21 часа.", "В деканате."]
    (lines,) = logged.values()
    assert [line["answer"] for line in lines] == ["С 9 до 21.", "Не знаю."]
    wanted = next(iter(found.questions[0].relevant))
    assert lines[0]["retrieved"][0] == wanted
    assert next(iter(found.questions[1].relevant)) not in lines[1]["retrieved"]


def test_a_row_that_is_left_out_leaves_no_question(tmp_path: Path) -> None:
    rows = [
        {"id": n, "question": f"{n}?", "contexts": [{"id": p, "text": n}]} for n, p in (("old", "p"), ("new", "a\tb"))
    ]
    found, logged = data.answer_tables.read(written(tmp_path, "a.json", made.as_json(rows)))
    assert [one.id for one in found.questions] == [line["id"] for line in logged["logged"]] == ["old"]
    [(why, count)] = found.left_out.items()
    assert why.startswith("row with its passages: id")
    assert count == 1


def test_a_second_text_under_an_id_is_a_passage_of_its_own(tmp_path: Path) -> None:
    rows = [{"id": n, "question": f"{n}?", "contexts": [{"id": "p", "text": n}]} for n in ("old", "new", "old ")]
    found, logged = data.answer_tables.read(written(tmp_path, "a.json", made.as_json(rows)))
    [first], [second], [third] = (line["retrieved"] for line in logged["logged"])
    assert {chunk.id: chunk.text for chunk in found.chunks} == {"p": "old", second: "new"}
    assert first == third == "p"
    assert "1 text under an id that another has: each is a passage of its own" in found.notes
    assert not found.left_out


def test_trec_judgements_stand_in_for_beir_ones(tmp_path: Path) -> None:
    corpus = written(
        tmp_path, "corpus.jsonl", made.as_lines([{"_id": "p1", "text": "Дуб."}, {"_id": "p2", "text": "Ель."}])
    )
    queries = written(tmp_path, "queries.jsonl", made.as_lines([{"_id": "q1", "text": "дуб?"}]))
    qrels = written(tmp_path, "qrels.txt", "q1 0 p1 2\nq1 0 p2 -1\n")
    assert data.beir.files(tmp_path, None)[:2] == ([corpus], [queries])
    (question,) = data.beir.read([corpus], [queries], [qrels]).questions
    assert dict(question.relevant) == {"p1": 2.0}
    broken = written(tmp_path, "qrels.txt", "q1 0 p1 2\nq1 p2 1\n")
    with pytest.raises(DatasetError, match=r"qrels\.txt, line 2: 3 columns instead of 4"):
        data.beir.read([corpus], [queries], [broken])


def test_adding_decisions_leaves_the_knowledge_base_as_it_is(tmp_path: Path) -> None:
    base = kept(tmp_path, "desk", data.foreign_sets.questions(FORMS["json"](tmp_path, made.NEW_ITEMS)))
    rows = made.DECISIONS[:2]
    more = data.foreign_sets.decisions(written(tmp_path, "judge.json", made.as_json(rows)))
    written_anew = data.add("desk", tmp_path, more)
    added = data.load("desk", tmp_path)
    assert (written_anew.content_hash, written_anew.whole_hash) == (
        added.content_hash, added.hash_with("dialogues", "decisions")
    )  # fmt: skip
    assert added.chunks == base.chunks
    assert added.content_hash == base.content_hash, "earlier runs on this data stay comparable"
    assert added.hash_with("decisions") != base.hash_with("decisions")
    assert data.add("desk", tmp_path, more) == written_anew
    changed = data.foreign_sets.decisions(
        written(tmp_path, "judge.json", made.as_json([{**rows[0], "rationale": "Иначе."}]))
    )
    with pytest.raises(DatasetError, match=r"data set desk, decisions: 'decision-\w+' is there already, and differs"):
        data.add("desk", tmp_path, changed)
    assert data.load("desk", tmp_path) == added


def item(**changes: object) -> list[dict]:
    return [made.NEW_ITEMS[0], {**made.NEW_ITEMS[1], **changes}]


def without(name: str) -> list[dict]:
    return [made.NEW_ITEMS[0], {key: value for key, value in made.NEW_ITEMS[1].items() if key != name}]


def decision(**changes: object) -> list[dict]:
    return [made.DECISIONS[0], {**made.DECISIONS[1], **changes}]


Q, D, T, A = "questions", "decisions", "dialogues", "answers"
FAULTY: list[tuple[str, str, Any, str]] = [
    (Q, "set.json", without("question"), "set.json, item 2: question is missing"),
    (Q, "set.json", item(question="  "), "set.json, item 2: question = ' ': a question is expected"),
    (Q, "set.json", item(question={"a": 1}), "set.json, item 2: question: a text is expected"),
    (Q, "set.json", item(id=["x"]), 'set.json, item 2: id = ["x"]: a text or a whole number is expected'),
    (Q, "set.json", item(id="i1"), "set.json, item 2: id = 'i1' stands in item 1 already"),
    (Q, "set.json", item(chunk_id=1.5), "set.json, item 2: chunk_id = 1.5: a text or a whole number"),
    (Q, "set.json", item(chunk_id=11), "item 2: chunk_text of the chunk '11' differs from that of item 1"),
    (
        Q,
        "set.json",
        [*made.NEW_ITEMS[:2], {**made.NEW_ITEMS[2], "confluence_url": "https://wiki.example/x"}],
        "item 3: confluence_url of the chunk '12' differs from that of item 2",
    ),
    (Q, "set.json", item(chunk_text=["a"]), 'item 2: chunk_text = ["a"]: a text is expected'),
    (Q, "set.json", item(ground_truth_answer={"a": 1}), "item 2: ground_truth_answer: a text"),
    (
        Q,
        "set.json",
        item(relevant_chunk_ids={"a": "b"}),
        'item 2: relevant_chunk_ids = {"a": "b"}: a list, or names',
    ),
    (Q, "set.json", item(relevant_chunk_ids=[True]), "item 2: relevant_chunk_ids = [true]: a text or a"),
    (Q, "set.json", item(relevant_urls=5), "item 2: relevant_urls = 5: a list is expected"),
    (Q, "set.json", item(user_score=6), "item 2: user_score = 6: a whole number from 1 to 5 is expected"),
    (Q, "set.json", item(user_score=4.5), "item 2: user_score = 4.5: a whole number from 1 to 5"),
    (Q, "set.json", item(is_relevant_chunk_matched="maybe"), "is_relevant_chunk_matched = 'maybe': 0 or 1"),
    (Q, "set.json", item(is_chunk_ok=2), "item 2: is_chunk_ok = 2: 0 or 1, true or false, yes or no"),
    (Q, "set.json", item(confluence_url="a\nb"), "item 2: confluence_url = 'a\\nb'"),
    (Q, "set.json", "[]", "set.json: holds no rows; at least one is expected"),
    (Q, "set.json", '"text"', "set.json: holds no questions: 1 × a text where an object is expected"),
    (Q, "set.json", '[{"question": "a"}, 5]', "a whole number where an object is expected (first: set.json, item 2"),
    (Q, "set.json", made.as_json(made.NEW_ITEMS)[:-3], "not JSON:"),
    (Q, "set.json", '[{"question": NaN}]', "question is missing"),
    (Q, "set.json", "[" * 100_000, "set.json, line 1: nested too deeply"),
    (Q, "set.json", b'[{"question": "\xd0\xb0\xff\xd0\xb1"}]', "set.json, line 1: byte 17 is not UTF-8"),
    (Q, "set.json.gz", gzip.compress(b"[]")[:-5], "set.json.gz: cannot be read"),
    (Q, "set.jsonl", '{"question": "a"}\n{"question": \n', "line that is not JSON (first: set.jsonl, line 2"),
    (Q, "set.txt", "question", "set.txt: ends in none of .json, .jsonl"),
    (Q, "set.csv", "", "set.csv: an empty file; a header line and at least one row are expected"),
    (Q, "set.csv", "question,question\na,b\n", "set.csv, line 1: the column 'question' stands there twice"),
    (
        Q,
        "set.csv",
        "question,chunk_id\na\n",
        "row with another number of cells than the header (first: set.csv, line 2",
    ),
    (Q, "set.csv", 'question,chunk_id\n"a,1\n', "set.csv, line 2: not CSV"),
    (
        Q,
        "set.csv",
        "text,chunk_id\na,1\n",
        "set.csv, line 2: question is missing: is text the question? --column question=text",
    ),
    (Q, "set.csv", "question,relevant_chunk_ids\na,[1\n", "set.csv, line 2: relevant_chunk_ids = '[1': a list is"),
    (Q, "set.parquet", b"PAR1 not one", "set.parquet: cannot be read"),
    (D, "d.json", decision(ground_truth_show="maybe"), "d.json, item 2: ground_truth_show = 'maybe'"),
    (D, "d.json", decision(ground_truth_show=None), "d.json, item 2: ground_truth_show is missing"),
    (D, "d.json", decision(context=[1]), "d.json, item 2, context[0] = 1: a text, or an object"),
    (D, "d.json", decision(question=" "), "d.json, item 2: question = ' ': a question is expected"),
    (
        D,
        "d.json",
        [made.DECISIONS[0], {**made.DECISIONS[0], "ground_truth_show": False}],
        "d.json, item 2: ground_truth_show = False: item 1 says True of the same texts",
    ),
    (T, "t.json", '{"questions": []}', "t.json, line 1: questions = []: at least one question is expected"),
    (T, "t.json", '{"questions": ["a", " "]}', "t.json, line 1: turn 2: question = ' ': a question is expected"),
    (T, "t.json", '{"questions": "a"}', "t.json, line 1: questions = 'a'"),
    (T, "t.json", '{"expected_answers": ["a"]}', "t.json, line 1: messages, or questions, is missing"),
    (
        T,
        "t.json",
        '{"questions": ["a", "b"], "expected_answers": ["c"]}',
        "t.json, line 1: turns of 2 × question, 1 × reference: as many of each are expected",
    ),
    (
        A,
        "a.json",
        '[{"response": "a"}]',
        "a.json: no row can be used: 1 × row with no question; `ragbench score ANSWERS QUESTIONS` joins those of "
        "another file by their ids (first: a.json, item 1",
    ),
    (A, "a.json", '[{"question": "a", "contexts": [5]}]', "a.json, item 1, contexts[0] = 5: a text"),
    (
        A,
        "a.jsonl",
        '{"id": "x", "question": "a"}\n{"id": "x", "question": "b"}\n',
        "row with an id that stands in a row before (first: a.jsonl, line 2",
    ),
]
BROKEN = [
    (kind, name, content if isinstance(content, str | bytes) else made.as_json(content), said)
    for kind, name, content, said in FAULTY
]
READERS: dict[str, Callable[[Path], object]] = {
    Q: data.foreign_sets.questions,
    D: data.foreign_sets.decisions,
    T: data.foreign_sets.dialogues,
    A: data.answer_tables.read,
}


def complaint(kind: str, path: Path) -> str:
    """What is said of what is wrong with a file."""
    try:
        found: Any = READERS[kind](path)
    except DatasetError as error:
        return str(error)
    brought = found[0] if isinstance(found, tuple) else found
    return "; ".join(brought.left_out)


def test_there_are_forty_broken_variants_at_least() -> None:
    assert len(BROKEN) >= 40


@pytest.mark.parametrize(("kind", "name", "content", "expected"), BROKEN, ids=range(len(BROKEN)))
def test_a_broken_file_gives_one_line_that_names_place_and_field(
    tmp_path: Path, kind: str, name: str, content: str | bytes, expected: str
) -> None:
    """An odd row is left out, counted and named; a file of which nothing can be used is refused, with the reasons."""
    message = complaint(kind, written(tmp_path, name, content))
    assert [part for part in expected.split(": ") if part not in message] == []
    assert "\n" not in message
    assert str(tmp_path) not in message
    assert len(message) < 400


def test_notes_and_unknown_fields_are_counted_not_lost_in_silence(tmp_path: Path) -> None:
    items = [{**made.NEW_ITEMS[0], "colour": "red"}, {**made.NEW_ITEMS[1], "colour": "blue", "notes": "x"}]
    found = data.foreign_sets.questions(written(tmp_path, "set.json", json.dumps(items)))
    assert "not read, as no field is called so: colour" in found.notes
    assert not any("notes" in note for note in found.notes)


def test_questions_and_answers_of_coqa_are_a_dialogue(tmp_path: Path) -> None:
    told = {"story": "A kitten.", "questions": [{"input_text": "What?", "turn_id": 1}, {"input_text": "Where?"}],
            "answers": [{"input_text": "A kitten", "span_text": "kitten"}, {"input_text": "unknown"}]}  # fmt: skip
    found = data.foreign_sets.dialogues(written(tmp_path, "coqa.json", json.dumps({"version": "1.0", "data": [told]})))
    assert [(turn.question, turn.answer) for turn in found.dialogues[0].turns] == [
        ("What?", "A kitten"),
        ("Where?", "unknown"),
    ]


BASE = {name: ChunkRecord(id=name, text=text) for name, text in (("d1", "Oaks live long."), ("d2", "Pines grow."))}


@pytest.mark.parametrize("column", ["relevant_docs", "reference_context_ids", "doc_ids", "chunk_id", "contexts"])
@pytest.mark.parametrize("given", [["d1", "d2"], '["d1", "d2"]', "d1;d2", "d1, d2"])
def test_ids_of_the_base_are_labels_wherever_they_stand(tmp_path: Path, column: str, given: Any) -> None:
    write_lines(tmp_path / "q.jsonl", [{"question": "Which trees?", "reference": "Both.", column: given}])
    brought = foreign_sets.questions(tmp_path / "q.jsonl", base=BASE)
    assert brought.questions[0].relevant == {"d1": 1.0, "d2": 1.0}
    assert len(brought.chunks) == 2


def test_passages_that_are_ids_are_told(tmp_path: Path) -> None:
    write_lines(tmp_path / "q.jsonl", [{"question": "Which trees?", "relevant_docs": ["doc_1", "a/b.md"]}])
    told = foreign_sets.questions(tmp_path / "q.jsonl").notes
    assert "passages of one word: 2; if they are ids, give what they name, --chunks-from FILE" in told
