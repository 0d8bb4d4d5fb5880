"""What a file or a folder is taken for."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragbench.data import describe_file

FILES = {
    "a.csv": ("question,answer\nWhen?,8\n", "answers"),
    "b.csv": ("question,reference\nWhen?,8\n", "questions"),
    "c.jsonl": ('{"messages": [{"role": "user", "content": "When?"}]}', "dialogues"),
    "d.csv": ("question,answer,ground_truth_show\nWhen?,8,yes\n", "decisions"),
    "e.csv": ("question,answer,user_score\nWhen?,8,5\n", "history"),
    "f.csv": ("item,rater,value\n1,a,5\n", "ratings"),
    "g.csv": ("id,acc\n1,0.5\n", "numbers"),
    "chunks.en.jsonl": ('{"id": 1, "text": "At 8."}', "passages"),
    "h.jsonl": ('{"id": 1, "trace_id": "t", "run_type": "llm", "inputs": {}}', "traces"),
    "i.txt": ("q 0 A 1\n", "qrels"),
    "j.txt": ("q Q0 A 1 2.5 r\n", "run"),
    "k.txt": ("It opens at 8, as the board says.\n", "document"),
    "l.json": ('{"q": {"A": 2.5}}', "run"),
}


@pytest.mark.parametrize(("name", "text", "kind"), [(name, *rest) for name, rest in FILES.items()])
def test_what_a_file_is(tmp_path: Path, name: str, text: str, kind: str) -> None:
    (tmp_path / name).write_text(text)
    described = describe_file(tmp_path / name)
    assert (described.kind, described.reason) == (kind, "")


def test_what_is_not_read_is_described_by_its_refusal(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"question_id": 1, "text": "How do I renew?"}')
    assert describe_file(path).reason.endswith("say which: --column question=text")
    # Numbers are those of something, and something has to be told of it.
    for name, text in (("ids.csv", "id\n1\n"), ("nameless.csv", "acc\n0.5\n")):
        (tmp_path / name).write_text(text)
        assert describe_file(tmp_path / name).kind == ""
    path = tmp_path / "a.bin"
    path.write_bytes(b"\0\1")
    assert describe_file(path).kind == ""
    assert describe_file(tmp_path / "none.csv").reason.startswith("there is no file")


def test_folders(tmp_path: Path) -> None:
    (tmp_path / "questions.csv").write_text("text\nWhen?\n")
    assert describe_file(tmp_path).kind == "campus"
    (tmp_path / "qrels.tsv").write_text("")
    assert describe_file(tmp_path).kind == "beir"
