"""Data sets: read, checked as a whole, hashed, written whole or not at all."""

from __future__ import annotations

import gzip
import json
import random
import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ragbench.old import data as datasets
from ragbench.old.core import settings
from ragbench.old.core.language import LANGUAGES
from ragbench.old.data import DatasetError
from ragbench.old.tiers.basics.session import Session

CHUNKS = [
    {"id": "a-1", "text": "Ёлка стоит во дворе.", "url": "https://x.example/a", "title": "Ёлка"},
    {"id": "a-2", "text": "Сосна растёт в лесу.", "url": "https://x.example/a"},
    {"id": "b-1", "text": "Берёза у реки.", "url": "https://x.example/b"},
]
QUESTIONS = [
    {"id": "q1", "text": "Где ёлка?", "reference": "Во дворе", "relevant": {"a-1": 3, "a-2": 1}, "answerable": True},
    {"id": "q2", "text": "Где кедр?", "answerable": False},
]


def make(folder: Path, name: str = "trees", **tables: list[dict[str, Any]]) -> Path:
    place = folder / name
    place.mkdir(parents=True)
    (place / "dataset.toml").write_text('title = "Trees"\nlicence = "CC0"\nlanguages = ["ru"]\n', encoding="utf-8")
    for table, rows in {"chunks": CHUNKS, "questions": QUESTIONS, **tables}.items():
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (place / f"{table}.ru.jsonl").write_text(text, encoding="utf-8")
    return place


def test_a_folder_is_read(tmp_path: Path) -> None:
    make(tmp_path)
    found = datasets.load("trees", tmp_path)
    assert [chunk.id for chunk in found.chunks] == ["a-1", "a-2", "b-1"]
    assert found.questions[0].relevant == {"a-1": 3.0, "a-2": 1.0}
    assert found.questions[1].answerable is False
    assert found.label == "trees:ru"
    assert datasets.load("trees:ru", tmp_path) == found
    assert datasets.available(tmp_path) == ["trees"]


@pytest.mark.fault("encodings", tried="one data set in other line ends, marks and forms of Unicode", count=5)
def test_the_same_data_has_the_same_hash_however_it_is_written(tmp_path: Path) -> None:
    expected = datasets.load("trees", make(tmp_path / "plain").parent).content_hash
    for number, change in enumerate(
        [
            lambda text: text.replace("\n", "\r\n"),
            lambda text: "\ufeff" + text,
            lambda text: unicodedata.normalize("NFD", text),
            lambda text: "".join(sorted(text.splitlines(keepends=True), reverse=True)),
            lambda text: "\n\n" + text,
        ]
    ):
        place = make(tmp_path / str(number))
        for path in place.glob("*.jsonl"):
            path.write_bytes(change(path.read_text(encoding="utf-8")).encode())
        assert datasets.load("trees", place.parent).content_hash == expected


@pytest.mark.fault("changed", tried="fields of the data", count=6)
def test_any_changed_field_changes_the_hash(tmp_path: Path) -> None:
    hashes = {datasets.load("trees", make(tmp_path / "0").parent).content_hash}
    changes: list[dict[str, Any]] = [
        {"text": "Где ель?"},
        {"reference": "В лесу"},
        {"relevant": {"a-1": 2, "a-2": 1}},
        {"answerable": None},
        {"kind": "colloquial"},
        {"cluster": "c"},
    ]
    for number, change in enumerate(changes, 1):
        place = make(tmp_path / str(number), questions=[{**QUESTIONS[0], **change}, QUESTIONS[1]])
        hashes.add(datasets.load("trees", place.parent).content_hash)
    assert len(hashes) == len(changes) + 1


def test_what_is_measured_by_itself_has_a_hash_by_itself(tmp_path: Path) -> None:
    plain = datasets.load("trees", make(tmp_path / "0").parent)
    assert plain.hash_with("dialogues", "decisions") == plain.content_hash
    more = datasets.load("trees", make(tmp_path / "1", dialogues=[{"id": "d", "turns": [{"question": "Где?"}]}]).parent)
    assert more.content_hash == plain.content_hash, "what is measured without dialogues stays comparable"
    assert more.hash_with("dialogues") != plain.content_hash
    assert more.hash_with("decisions") == plain.content_hash


@pytest.mark.parametrize(
    ("table", "line", "expected"),
    [
        ("questions", '{"id": "q3"}', r"questions\.ru\.jsonl, line 3: text is missing"),
        ("questions", '{"id": "q3", "text": 5}', "line 3: text = 5"),
        ("questions", '{"id": "q3", "text": "  "}', "line 3: text = ' '"),
        ("questions", '{"id": "q3", "text": "\\u0000"}', r"line 3: text = "),
        ("questions", '{"id": "q3", "text": "Где\\u0000?"}', r"line 3: text = "),
        ("questions", '{"id": "q1", "text": "Где?"}', "the id 'q1' stands there twice"),
        ("questions", '{"id": "q3", "text": "Где?", "gold": 1}', "no field 'gold'; legal: id, text"),
        ("questions", '{"id": "q3", "text": "Где?", "relevant": {"z": 1}}', "names the chunk 'z', which is not there"),
        ("questions", '{"id": "q3", "text": "Где?", "relevant": {"a-1": 0}}', "relevant.a-1 = 0"),
        ("questions", '{"id": "q3", "text": "Где?", "relevant": {"a-1": NaN}}', "NaN is not a JSON number"),
        ("questions", '{"id": "q3", "id": "q4", "text": "Где?"}', "the key 'id' stands twice"),
        ("questions", '{"id": "q3", "text": "Где?"', "line 3: not JSON"),
        ("questions", "[1, 2]", "a list where an object is expected"),
        ("questions", "[" * 100_000, "nested too deeply"),
        (
            "questions",
            '{"id": "q3", "text": "Где?", "relevant": {"a-1": 1}, "spans": {"a-1": [[0, 999]]}}',
            r"q3: spans of 'a-1': \[0, 999\] is no part of its text; .* from 0 to \d+",
        ),
        (
            "questions",
            '{"id": "q3", "text": "Где?", "relevant": {"a-1": 1}, "spans": {"a-1": [[2, 2]]}}',
            r"\[2, 2\] is no part of its text; a start below its end",
        ),
        (
            "questions",
            '{"id": "q3", "text": "Где?", "spans": {"a-1": [[0, 2]]}}',
            "q3: spans of 'a-1': it is not relevant; `relevant` has nothing",
        ),
        (
            "questions",
            '{"id": "q3", "text": "Где?", "relevant": {"a-1": 1}, "spans": {"a-1": [[-1, 2]]}}',
            r"spans.a-1.0.0 = -1",
        ),
        ("chunks", '{"id": "c\\u0000", "text": "x"}', "line 4: id ="),
        ("decisions", '{"id": "s", "question": "Где?", "answer": "Тут", "show": "yes"}', "show = 'yes'"),
        ("dialogues", '{"id": "d", "turns": []}', "turns = \\[\\]"),
        ("history", '{"id": "h", "question": "Где?", "score": 7}', "score = 7"),
        ("ratings", '{"id": "r", "question_id": "zz", "answer": "a", "ratings": {}}', "names the question 'zz'"),
    ],
)
def test_a_fault_is_named_by_file_line_and_field(tmp_path: Path, table: str, line: str, expected: str) -> None:
    place = make(tmp_path)
    path = place / f"{table}.ru.jsonl"
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text(before + line + "\n", encoding="utf-8")
    with pytest.raises(DatasetError, match=expected):
        datasets.load("trees", tmp_path)


@pytest.mark.fault("encodings", tried="bytes that are not UTF-8", count=1)
def test_bytes_that_are_not_utf8_are_refused_with_their_place(tmp_path: Path) -> None:
    path = make(tmp_path) / "questions.ru.jsonl"
    path.write_bytes(path.read_bytes() + '{"id": "q3", "text": "Где?"}\n'.encode("cp1251"))
    with pytest.raises(DatasetError, match=r"questions\.ru\.jsonl, line 3: byte \d+ is not UTF-8"):
        datasets.load("trees", tmp_path)


@pytest.mark.fault("paths", tried="names of data sets that lead elsewhere", count=8)
@pytest.mark.parametrize("name", ["../trees", "/etc", "trees/../trees", "TREES", "", ".hidden", "a b", "none"])
def test_a_name_that_is_no_data_set_is_refused(tmp_path: Path, name: str) -> None:
    make(tmp_path)
    with pytest.raises(DatasetError, match=r"there is no data set .*; there are trees"):
        datasets.load(name, tmp_path)


@pytest.mark.fault("paths", tried="links out of a folder", count=1)
def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    make(tmp_path / "elsewhere")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "trees").symlink_to(tmp_path / "elsewhere" / "trees")
    with pytest.raises(DatasetError, match="leads out of"):
        datasets.load("trees", tmp_path / "data")


def test_a_language_that_is_not_there_is_refused(tmp_path: Path) -> None:
    make(tmp_path)
    with pytest.raises(DatasetError, match="no language 'en'; it has ru"):
        datasets.load("trees:en", tmp_path)


@pytest.mark.parametrize(
    ("name", "reader", "taken"),
    [
        ("campus", "en", "en"),
        ("campus", "ru", "ru"),
        ("campus", "", "ru"),
        ("campus:ru", "en", "ru"),
        ("trees", "en", "ru"),
    ],
)
def test_without_a_language_the_readers_is_taken(tmp_path: Path, name: str, reader: str, taken: str) -> None:
    shutil.copytree(Path(__file__).parents[3] / "data" / "campus", tmp_path / "campus")
    make(tmp_path)
    assert datasets.load(name, tmp_path, reader).language == taken


def test_a_page_measures_the_data_of_its_language(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever language the settings have: the page's own parameter goes to the data."""
    monkeypatch.setenv("RAGBENCH_CONFIG", str(Path(__file__).parents[3] / "ragbench.toml"))
    settings.load.cache_clear()
    for language in LANGUAGES:
        assert Session.begin("", "", "", "", language).dataset.label == f"campus:{language}"
    assert Session.begin("", "campus:ru", "", "", "en").dataset.label == "campus:ru"
    settings.load.cache_clear()


ASKED = [
    {"id": "1", "question": "Сколько живёт дуб?", "answers": [{"text": "тысячу лет"}]},
    {"id": "2", "question": "Кто живёт в дубе?", "answers": [], "is_impossible": True},
    {"id": "3", "question": " ", "answers": [{"text": "дуб", "answer_start": 0}]},
]
OAK = [{"context": "Дуб живёт тысячу лет.", "qas": asked} for asked in (ASKED, [])]
SQUAD = {"version": "1.1", "data": [{"title": "Дуб", "paragraphs": OAK}]}


@pytest.mark.parametrize("pack", [lambda raw: raw, gzip.compress])
def test_squad_becomes_chunks_and_questions(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "oak.json"
    path.write_bytes(pack(json.dumps(SQUAD).encode()))
    brought = datasets.foreign_sets.questions(path)
    chunks, questions, left_out = brought.chunks, brought.questions, brought.left_out
    assert [(chunk.id, chunk.url) for chunk in chunks] == [("0000-000", "squad:%D0%94%D1%83%D0%B1")]
    assert [(q.id, q.reference, dict(q.relevant), q.answerable) for q in questions] == [
        ("1", "тысячу лет", {"0000-000": 1.0}, True),
        ("2", None, {}, False),
    ]
    assert left_out == {"row with question: a question is expected (first: oak.json, item 1, question = ' ')": 1}


def test_the_sentence_of_an_answer_is_what_squad_labels(tmp_path: Path) -> None:
    """The context is trimmed, so the answer stands two characters earlier; one that does not stand there labels all."""
    context = "  An oak lives long. It may live 1,000 years. Ash does not."
    asked = [{"id": str(n), "question": "?", "answers": [{"text": "1,000 years", "answer_start": n}]} for n in (33, 34)]
    path = tmp_path / "oak.json"
    document = {"data": [{"title": "Oak", "paragraphs": [{"context": context, "qas": asked}]}]}
    path.write_text(json.dumps(document), encoding="utf-8")
    brought = datasets.foreign_sets.questions(path)
    [chunk], [found, lost] = brought.chunks, brought.questions
    [(start, end)] = found.spans[chunk.id]
    assert chunk.text[start:end] == "It may live 1,000 years."
    assert lost.spans == {}
    assert "spans" not in lost.model_dump(), "a set without spans has the hash that it had"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[]", "holds no rows"),
        ('{"data": [{"title": 5, "paragraphs": [{"context": "x", "qas": []}]}]}', "row with title: a text is expected"),
        ('{"data": []}', "holds no questions: "),
        ("{", "not JSON"),
        (json.dumps({"data": [{"title": "t", "paragraphs": [{"context": " ", "qas": []}]}]}), "row with text: "),
    ],
)
def test_a_broken_squad_file_is_a_clear_error(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "broken.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DatasetError, match=expected):
        datasets.foreign_sets.questions(path)


def test_squad_as_a_table_is_the_same_set(tmp_path: Path) -> None:
    """A row a question, as the hub has it; without answers it is unanswerable."""
    rows = [
        {"id": "1", "title": "Дуб", "context": "Дуб живёт тысячу лет.", "question": "Сколько живёт дуб?",
         "answers": {"text": ["тысячу лет"], "answer_start": [10]}},
        {"id": "2", "title": "Дуб", "context": "Дуб живёт тысячу лет.", "question": "Кто живёт в дубе?",
         "answers": {"text": [], "answer_start": []}},
    ]  # fmt: skip
    path = tmp_path / "oak.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    brought = datasets.foreign_sets.questions(path)
    assert [(chunk.id, chunk.text) for chunk in brought.chunks] == [("0000-000", "Дуб живёт тысячу лет.")]
    assert [(q.id, q.reference, q.answerable, q.spans) for q in brought.questions] == [
        ("1", "тысячу лет", True, {"0000-000": [(0, 21)]}),
        ("2", None, False, {}),
    ]
    pd.DataFrame(rows).to_csv(path.with_suffix(".csv"))
    assert [*datasets.foreign_sets.questions(path.with_suffix(".csv")).questions] == [*brought.questions]


def test_sessions_that_hold_the_answer_are_labels_and_the_others_the_base(tmp_path: Path) -> None:
    """As LongMemEval has them: each session is a passage, the gold answer a reference."""
    said = {"s1": [{"role": "user", "content": "I have two cats."}], "s2": [{"role": "user", "content": "Any pasta?"}]}
    row = {"question_id": "e1", "question_type": "multi-session", "question": "How many pets?", "answer": "Two",
           "haystack_session_ids": [*said], "haystack_sessions": [*said.values()],
           "answer_session_ids": ["s1"]}  # fmt: skip
    path = tmp_path / "long.json"
    path.write_text(json.dumps([row]))
    brought = datasets.foreign_sets.questions(path)
    assert {chunk.id: chunk.text for chunk in brought.chunks} == {
        "s1": "user: I have two cats.", "s2": "user: Any pasta?"
    }  # fmt: skip
    [asked] = brought.questions
    assert (asked.id, asked.reference, dict(asked.relevant)) == ("e1", "Two", {"s1": 1.0})


@pytest.mark.fault("bombs", tried="archives that unpack without end, and one cut short", count=2)
def test_a_gzip_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ragbench.old.data import files

    monkeypatch.setattr(files.read_text, "__kwdefaults__", {"limit": 1_000_000})
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(gzip.compress(b" " * 5_000_000))
    with pytest.raises(DatasetError, match="more than 1,000,000 bytes once unpacked"):
        files.read_text(path)
    path.write_bytes(gzip.compress(random.Random(0).randbytes(5000))[:-100])
    with pytest.raises(DatasetError, match="cannot be read"):
        files.read_text(path)


@pytest.mark.fault("disk", tried="loads that break off", count=1)
def test_writing_leaves_all_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "oak.json"
    path.write_text(json.dumps(SQUAD), encoding="utf-8")
    brought = datasets.foreign_sets.questions(path)
    chunks, questions = brought.chunks, brought.questions
    about = {"title": 'The "Oak"', "licence": "CC0", "source": "oak.json", "language": "ru"}
    data = tmp_path / "data"
    written = datasets.write("oak", data, chunks=chunks, questions=questions, **about)
    made = datasets.load("oak", data)
    assert (written.content_hash, written.counts["questions"]) == (made.content_hash, len(made.questions))
    assert made.title == 'The "Oak"'
    with pytest.raises(DatasetError, match="there already"):
        datasets.write("oak", data, chunks=chunks, questions=questions, **about)
    moved = [chunks[0].model_copy(update={"id": "other"})]
    with pytest.raises(DatasetError, match="names the chunk"):
        datasets.write("oak", data, chunks=moved, questions=questions, replace=True, **about)
    assert datasets.load("oak", data) == made
    assert [p.name for p in data.iterdir()] == ["oak"]
    again = datasets.write("oak", data, chunks=chunks, questions=questions[:1], replace=True, **about)
    assert again.counts["questions"] == 1
    assert [p.name for p in data.iterdir()] == ["oak"]


def test_xquad_is_parallel(shared_data: Callable[[str], Path]) -> None:
    folder = shared_data("xquad")
    russian, english = (
        datasets.foreign_sets.questions(folder / f"xquad.{language}.json.gz") for language in ("ru", "en")
    )
    assert (russian.tables, russian.left_out) == (english.tables, {}) == ({"chunks": 180, "questions": 894}, {})
    assert [q.id for q in russian.questions] == [q.id for q in english.questions]
    assert [q.relevant for q in russian.questions] == [q.relevant for q in english.questions]
    assert len({q.cluster for q in russian.questions}) == 36


@pytest.mark.parametrize(
    ("raw", "lines"),
    [
        (b"a\n" + b"b" * 50 + b"\r\nc\r\rd", ["a", None, "c", "", "d"]),
        (b"b" * 11 + b"\n" + b"c" * 10, [None, "c" * 10]),
        (b"b" * 50, [None]),
        (b"\n\nx\n", ["", "", "x"]),
        (b"", []),
    ],
)
def test_lines_have_any_end_and_a_long_one_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raw: bytes, lines: list[str | None]
) -> None:
    """Whatever the ends of the blocks that they are read in."""
    from ragbench.old.data import files

    monkeypatch.setattr(files, "MAX_LINE_BYTES", 10)
    (tmp_path / "x").write_bytes(raw)
    for size in (1, 7, 64):
        monkeypatch.setattr(files, "BLOCK_BYTES", size)
        assert list(files.text_lines(tmp_path / "x")) == [*enumerate(lines, 1)]
