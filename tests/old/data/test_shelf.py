"""What is read goes by: memory does not grow with the rows, and a part of them can be drawn."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bench_loading import FORMS, WRITERS
from ragbench.old import data
from ragbench.old.core import annexes
from ragbench.old.data import DatasetError, Dialogue, QuestionRecord, TooMuchError
from ragbench.old.data.records import Turn
from ragbench.old.data.shelf import Shelf

READERS: dict[str, Callable[[Path], Any]] = {
    "answers": data.answer_tables.read,
    "questions": lambda path: (data.foreign_sets.questions(path), None),
    "decisions": lambda path: (data.foreign_sets.decisions(path), None),
    "dialogues": lambda path: (data.foreign_sets.dialogues(path), None),
}
if "traces" in annexes.offered("load"):
    READERS["traces"] = lambda path: import_module("ragbench.old.extras.traces.assembly").read([path])
KNOWN = [name for name in FORMS if name.partition(".")[0] in READERS]
ABOUT = {"title": "t", "licence": "CC0", "source": "s", "language": "en"}
PEAKS = """
import gc, pathlib, sys
from ragbench.old.data import files
from tests.old.data.test_shelf import loaded, made, peak
files.BLOCK_BYTES, files.BATCH_ROWS = 2**14, 16  # no file is smaller: what is read at once would hide what is held
name, *paths = sys.argv[1:]
loaded(name, made(name, pathlib.Path(paths[0]).parent / "warm", 2))  # what is imported, and made once
gc.collect()
gc.freeze()  # so that it does not keep what may go from being collected
gc.collect()
gc.set_threshold(50, 2, 2)  # how much waits to be collected is not what is held
print(*(peak(name, pathlib.Path(path)) for path in paths))
"""
KEYS = st.text("аbc.-", min_size=1, max_size=4)


def made(name: str, folder: Path, rows: int) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{rows}.{name.partition('.')[2]}"
    WRITERS[path.suffix[1:]](path, FORMS[name](rows, 50))
    return path


def loaded(name: str, path: Path) -> data.Written:
    found, logged = READERS[name.partition(".")[0]](path)
    tables = {table: getattr(found, table) for table in found.tables}
    return data.write(path.stem, path.parent / "data", **ABOUT, **tables, logged=logged)


def peak(name: str, path: Path) -> int:
    """Bytes that Python took at most; what SQLite takes beside it is limited by its cache."""
    tracemalloc.start()
    loaded(name, path)
    try:
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_memory_does_not_grow_with_the_rows(name: str, tmp_path: Path) -> None:
    few, many = made(name, tmp_path, 100), made(name, tmp_path, 600)
    told = subprocess.run(  # in a process of its own: what other tests have kept is none of the rows'
        [sys.executable, "-c", PEAKS, name, str(few), str(many)], capture_output=True, text=True, check=True
    )
    low, high = map(int, told.stdout.split())
    assert high < low + 2**18, f"{low:,} bytes for 100 rows, {high:,} for 600 of {many.stat().st_size:,} bytes"


def test_all_forms_of_a_table_make_the_same_data_set(tmp_path: Path) -> None:
    forms = [name for name in FORMS if name.startswith("answers.")]
    found = {name: loaded(name, made(name, tmp_path / name.replace(".", "-"), 40)) for name in forms}
    assert len({one.content_hash for one in found.values()}) == 1
    assert all(one.counts["questions"] == 40 for one in found.values())


def test_what_is_written_is_hashed_as_it_is_loaded(tmp_path: Path) -> None:
    for name in ("questions.jsonl", "decisions.jsonl", "dialogues.jsonl", "traces.jsonl"):
        if name not in KNOWN:
            continue
        folder = tmp_path / name.replace(".", "-")
        written = loaded(name, made(name, folder, 30))
        read = data.load("30", folder / "data")
        assert written.content_hash == read.content_hash
        assert written.whole_hash == read.hash_with("dialogues", "decisions")


@given(st.lists(st.tuples(KEYS, st.text(max_size=3))))
def test_a_shelf_is_a_mapping_that_keeps_the_first(given_: list[tuple[str, str]]) -> None:
    known: dict[str, str] = {}
    one, sorted_one = Shelf[str](), Shelf[str](by_key=True)
    for key, record in given_:
        is_new = key not in known
        known.setdefault(key, record)
        assert one.put(key, record) == sorted_one.put(key, record) == is_new
    assert [*one] == [*known.values()]
    assert one == list(known.values())
    assert [*sorted_one.items()] == sorted(known.items())
    assert (len(one), bool(one)) == (len(known), bool(known))
    assert one[:2] == [*known.values()][:2]
    assert all(one.get(key) == record and one.has(key) for key, record in known.items())
    assert (one.get("none"), one.has("none")) == (None, False)
    part = one.part({*known} - {given_[0][0]} if given_ else set())
    assert [*part.items()] == [item for item in known.items() if item[0] != given_[0][0]]


def test_a_shelf_without_room_says_where_and_what_helps() -> None:
    made = Shelf[str]()
    made._lines.execute("PRAGMA max_page_count = 20")
    with pytest.raises(DatasetError, match=r"disk is full; .* TMPDIR="):
        all(made.put(str(number), "x" * 1000) for number in range(1000))


def test_a_part_is_drawn_by_ids(tmp_path: Path) -> None:
    rows = [
        {"id": f"q{n}", "question": f"{n}?", "answer": "Да.", "contexts": [f"c{n}"], "system": f"s{n % 2}"}
        for n in range(40)
    ]
    found = []
    for number, order in enumerate((rows, rows[::-1])):
        path = tmp_path / f"{number}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in order), encoding="utf-8")
        brought, logged = data.answer_tables.read(path)
        logged = data.drawn(brought, logged, 10) or {}
        assert brought.left_out == {"questions that were not drawn (--sample 10)": 30}
        assert len(brought.chunks) == 40, "the base stays whole"
        asked = {question.id for question in brought.questions}
        assert {line["id"] for lines in logged.values() for line in lines} == asked
        found.append(asked)
    assert found[0] == found[1]
    assert len(found[0]) == 10


def test_lists_are_drawn_as_shelves_are() -> None:
    asked = [QuestionRecord(id=f"q{n}", text="?") for n in range(9)]
    found = data.Brought(questions=asked, dialogues=[Dialogue(id="d", turns=(Turn(question="?"),))])
    assert data.drawn(found, None, 4) is None
    assert (len(found.questions), len(found.dialogues)) == (4, 1)


def test_a_data_set_that_memory_does_not_take_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded("questions.jsonl", made("questions.jsonl", tmp_path, 30))
    monkeypatch.setattr("ragbench.old.data.files.MAX_ROWS", 20)
    with pytest.raises(TooMuchError, match=r"^data set 30, chunks\.en\.jsonl: more than 20 lines.*--sample$"):
        data.load("30", tmp_path / "data")
    assert data.folder.check("30", tmp_path / "data").counts["questions"] == 30, "it goes by"
