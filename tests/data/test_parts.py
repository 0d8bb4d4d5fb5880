"""A long table becomes a data set in parts: the same set as if it were read at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ragbench.core.errors import BenchError
from ragbench.core.types import Dataset
from ragbench.data import files, read_dataset, write_dataset
from ragbench.data.building import Builder
from ragbench.data.parts import StoredRows, read_parts

HOURS = {"id": "hours", "text": "It opens at 8.", "url": "https://x/hours"}
CLOSING = {"id": "closing", "text": "It closes at 9.", "url": "https://x/hours"}
ROWS: list[dict[str, Any]] = [
    {"id": "a", "question": "When?", "reference_contexts": [HOURS], "reference": "at 8"},
    {"id": "c", "question": "Which hours?", "relevant_urls": ["https://x/hours"]},
    {"id": "b", "question": "", "reference_contexts": [{"id": "lost", "text": "Lost."}]},
    {"id": "d", "question": "Who?", "reference_contexts": [{**HOURS, "text": "At 7."}]},
    {"id": "e", "question": "Until when?", "reference_contexts": [CLOSING, HOURS]},
    {"id": "f", "question": "Why?", "relevant": {"closing": 2, "gone": 1}},
]


@pytest.fixture(autouse=True)
def parts_of_two_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BATCH", 2)


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_parts_are_the_same_as_the_whole(tmp_path: Path) -> None:
    path = write(tmp_path / "all.jsonl", ROWS)
    whole = read_dataset(path)
    parts = list(read_parts(path, "questions", Builder()))
    assert [len(part.questions) for part in parts] == [2, 2, 0]
    # What is in two parts is written once.
    assert [list(part.passages["passage_id"]) for part in parts] == [["hours"], ["closing"], []]
    assert [len(part.labels) for part in parts] == [2, 4, 0]
    write_dataset(parts, tmp_path / "set")
    read = read_dataset(tmp_path / "set")
    for name, frame in whole.frames.items():
        columns = list(frame.columns)
        pd.testing.assert_frame_equal(
            read.frames[name].sort_values(columns[:2], ignore_index=True),
            frame.sort_values(columns[:2], ignore_index=True),
        )
    assert parts[-1].notes == (whole.notes[-1],)
    assert "2 rows left out, the first row 3" in parts[-1].notes[0]


def test_every_page_is_asked_for_in_the_whole_and_in_parts(tmp_path: Path) -> None:
    row = {**ROWS[0], "relevant_urls": ["https://x/gone", "https://x/hours"]}
    path = write(tmp_path / "all.jsonl", [{**row, "reference_contexts": None, "contexts": [HOURS]}])
    write_dataset(read_parts(path, "questions", Builder()), tmp_path / "set")
    for dataset in (read_dataset(path), read_dataset(tmp_path / "set")):
        labels = dataset.labels[["passage_id", "group"]].sort_values("passage_id")
        assert labels.to_numpy().tolist() == [["hours", 1001], ["https://x/gone", 1000]]


def test_what_is_put_into_the_folder_meanwhile_stays(tmp_path: Path) -> None:
    path = write(tmp_path / "all.jsonl", ROWS)
    folder = tmp_path / "set"
    parts = read_parts(path, "questions", Builder())
    first = next(parts)
    folder.mkdir()

    def slow() -> Iterator[Dataset]:
        yield first
        (folder / "notes.txt").touch()
        yield from parts

    write_dataset(slow(), folder)
    assert sorted(file.name for file in folder.iterdir())[-1] == "questions.en.jsonl"
    assert (folder / "notes.txt").exists()


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    rows = StoredRows()
    rows.database.execute("PRAGMA max_page_count = 2")
    for number in range(100):
        rows.setdefault(str(number), (str(number), "text " * 20))
    with pytest.raises(BenchError, match=r"full; set SQLITE_TMPDIR to a folder with more room"):
        rows.start_part()


def test_the_language_is_that_of_all_parts(tmp_path: Path) -> None:
    texts = ["Where?", "Who?", "Сколько стоит комната?", "Когда откроется столовая?"]
    path = write(tmp_path / "all.jsonl", [{"question": text} for text in texts])
    parts = list(read_parts(path, "questions", Builder()))
    assert [part.language for part in parts] == ["en", "ru", "ru"]
    write_dataset(parts, tmp_path / "set")
    assert [file.name for file in (tmp_path / "set").iterdir()] == ["questions.ru.jsonl"]


def test_passages_come_in_parts(tmp_path: Path) -> None:
    rows = [{"id": number % 3, "text": f"Text {number % 3}."} for number in range(7)]
    path = write(tmp_path / "all.jsonl", [*rows, {"id": 0, "text": "Another text."}])
    *parts, last = read_parts(path, "passages", Builder())
    assert [list(part.passages["text"]) for part in parts] == [["Text 0.", "Text 1."], ["Text 2."]]
    assert last.notes[0].endswith("row 8: the passage '0' has two texts; give each its own id")


def test_a_question_that_stands_in_two_parts_is_refused_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "all.jsonl", [ROWS[0], ROWS[1], ROWS[5], ROWS[0]])
    with pytest.raises(BenchError, match=r"all.jsonl: two questions have the id 'a'; give each"):
        write_dataset(read_parts(path, "questions", Builder()), tmp_path / "set")
    assert [file.name for file in tmp_path.iterdir()] == ["all.jsonl"]


def test_parts_without_rows_are_refused_only_where_all_are(tmp_path: Path) -> None:
    empty = [{"question": "", "answer": "a"}] * 2
    path = write(tmp_path / "all.jsonl", [*empty, {"question": "Where?"}, *empty])
    parts = list(read_parts(path, "questions", Builder()))
    assert [len(part.questions) for part in parts] == [1, 0]
    assert parts[-1].notes[0].startswith("4 rows left out, the first row 1: ")
    with pytest.raises(BenchError, match=r"all.jsonl: no row can be used; 4 rows left out"):
        list(read_parts(write(path, empty * 2), "questions", Builder()))
