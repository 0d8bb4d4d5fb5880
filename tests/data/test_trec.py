"""Judgements and runs: a line is what trec_eval takes it for."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragbench.core.errors import BenchError
from ragbench.core.frames import LABELS, RETRIEVED, check
from ragbench.data import read_qrels, read_run

QRELS = {
    "trec": ("q 0 A 2\nq 0 A 2\nq 0 B -2\n", {"A": 2, "B": -2}),
    "blanks and tabs": ("q  0\tA 2 \r\n\n", {"A": 2}),
    "two blanks": ("q  0 A 2\n", {"A": 2}),
    "blanks at the end": ("q 0 A 2 \nq 0 B 1 \r\n", {"A": 2, "B": 1}),
    "beir": ("query-id\tcorpus-id\tscore\nq\tA\t1\n", {"A": 1}),
    "json": ('{"q": {"A": 1}}', {"A": 1}),
    "a mark": ("\ufeffq 0 Я 1\n", {"Я": 1}),
}


@pytest.mark.parametrize(("text", "grades"), QRELS.values(), ids=QRELS)
def test_judgements(tmp_path: Path, text: str, grades: dict[str, int]) -> None:
    path = tmp_path / "a.qrels"
    path.write_text(text, encoding="utf-8")
    frame = check(read_qrels(path).frame, LABELS)
    assert dict(zip(frame["passage_id"], frame["grade"], strict=True)) == grades
    assert set(frame["question_id"]) == {"q"}


REFUSED = {
    "two grades": ("q 0 A 2\nq 0 A 0\n", "'A' for 'q' .* second one"),
    "half a grade": ("q 0 A 0.5\n", "the grade 0.5 of 'A'"),
    "a word": ("q 0 A x\n", "write QUERY 0 DOCUMENT GRADE"),
    "nan": ("q 0 A nan\n", "no whole number"),
    "a word too many": ("q 0 A 1\nq 0 A B 1\n", "Expected 4 columns, got 5.*write QUERY 0"),
    "a document too few": ("q 0 A 1\nq 0  1\n", "Expected 4 columns, got 3"),
    "a tab within": ("q 0 A 1\nq 0 B\tC 1\n", "Expected 4 columns, got 5"),
    "a row below a header": ("query-id corpus-id score\nq A 1\nq B x\n", "Row #3"),
    "half a grade below a copy": ("q 0 A 1\nq 0 A 1\nq 0 B 0.5\n", "the grade 0.5 of 'B'"),
    "six words": ("q Q0 A 1 3 r\n", "line 1: has 6 words; write QUERY 0"),
    "true": ('{"q": {"A": true}}', "the grade True is no number"),
    "broken": ('{"q": {"A": 1}', "line 1: .*; write {query: {document: number}}"),
    "no object": ('{"q": [1]}', "holds no object; write"),
}


@pytest.mark.parametrize(("text", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refuses_judgements(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "a.qrels"
    path.write_text(text)
    with pytest.raises(BenchError, match=f"^a.qrels: .*{sentence}"):
        read_qrels(path)


RUNS = {
    "by score": ("q Q0 B 1 0.2 r\nq Q0 A 0 0.9 r\nq Q0 C 2 0.1 r\n", False, ["A", "B", "C"]),
    "ties by rank": ("q Q0 A 2 1 r\nq Q0 B 1 1 r\nq Q0 C 3 2 r\n", False, ["C", "B", "A"]),
    "ties by id": ("q Q0 B 1 1 r\nq Q0 A 1 1 r\nq Q0 C 3 0 r\n", False, ["A", "B", "C"]),
    "ties as trec_eval": ("q Q0 A 1 1 r\nq Q0 B 2 1 r\nq Q0 C 3 0 r\n", True, ["B", "A", "C"]),
    "32-bit scores": ("q Q0 A 1 0.30000000001 r\nq Q0 B 2 0.3 r\n", True, ["B", "A"]),
    "64-bit scores": ("q Q0 A 1 0.30000000001 r\nq Q0 B 2 0.3 r\n", False, ["A", "B"]),
    "no tag": ("q Q0 A 1 3\nq Q0 B 2 2\n", False, ["A", "B"]),
    "a rank that is none": ("q Q0 A nan 3 r\nq Q0 B 2 3 r\n", False, ["B", "A"]),
    "json": ('{"q": {"A": 2.5, "B": 3}}', False, ["B", "A"]),
}


@pytest.mark.parametrize(("text", "trec_eval", "order"), RUNS.values(), ids=RUNS)
def test_runs(tmp_path: Path, text: str, trec_eval: bool, order: list[str]) -> None:
    path = tmp_path / "bm25.run"
    path.write_text(text)
    frame = check(read_run(path, trec_eval=trec_eval).frame, RETRIEVED)
    assert frame["passage_id"].tolist() == order
    assert frame["rank"].tolist() == list(range(1, len(order) + 1))
    assert set(frame["system"]) == {"bm25"}


def test_ranks_begin_anew_with_each_query(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("q Q0 A 1 1 r\np Q0 A 1 2 r\nq Q0 B 2 3 r\np Q0 B 2 1 r\n")
    frame = read_run(path).frame
    rows = list(zip(frame["question_id"], frame["passage_id"], frame["rank"], strict=True))
    assert rows == [("q", "B", 1), ("q", "A", 2), ("p", "A", 1), ("p", "B", 2)]


@pytest.mark.parametrize("score", ["nan", "inf", "-inf"])
def test_scores_that_are_no_numbers_are_refused(tmp_path: Path, score: str) -> None:
    path = tmp_path / "a.run"
    path.write_text(f"q Q0 A 1 3 r\nq Q0 B 2 {score} r\n")
    with pytest.raises(BenchError, match=r"a.run: a score is NaN or infinite"):
        read_run(path)


def test_what_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.run"
    path.write_text("q Q0 A 1 3 r\n")
    for most, is_refused in ((13, False), (12, True)):
        monkeypatch.setattr("ragbench.data.trec.MAX_BYTES", most)
        if is_refused:
            with pytest.raises(BenchError, match="has more than 12 bytes; split it"):
                read_run(path)
        else:
            assert len(read_run(path).frame) == 1


NOTES = {
    "again": ("q Q0 A 1 3 r\nq Q0 A 2 2 r\n", "1 lines name a document again"),
    "distances, some equal": (
        "q Q0 A 1 0.1 r\nq Q0 B 2 0.1 r\nq Q0 C 3 0.5 r\n",
        "of distances write the negative",
    ),
    "distances": ("q Q0 A 1 0.1 r\nq Q0 B 2 0.5 r\n", "of distances write the negative"),
}


@pytest.mark.parametrize(("text", "note"), NOTES.values(), ids=NOTES)
def test_notes(tmp_path: Path, text: str, note: str) -> None:
    path = tmp_path / "a.run"
    path.write_text(text)
    assert note in read_run(path).notes[0]
    for plain in ("q Q0 A 1 1 r\n", "q Q0 A 1 1 r\nq Q0 B 2 1 r\n", "q Q0 A 1 1 r\np Q0 B 1 2 r\n"):
        path.write_text(plain)
        assert read_run(path).notes == []
