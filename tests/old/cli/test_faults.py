"""What people type wrongly, and machines that refuse: the thing, the value and the way out, and never a trace."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from ragbench.old.__main__ import _is_for_people, _words
from ragbench.old.llm import journal
from ragbench.old.report.keeping import results
from tests.old.cli.command_line import invoke as call
from tests.old.cli.command_line import one_line
from tests.old.small_project import write_lines

ANSWERS = [
    {
        "id": f"q{n}",
        "question": f"What is {n}?",
        "answer": f"It is {n}.",
        "ground_truth": f"It is {n}.",
        "contexts": ["x"],
    }
    for n in range(3)
]


@pytest.fixture
def there(project: Path) -> Path:
    """A project's folder with files, right and wrong, in it."""
    write_lines(project / "answers.jsonl", ANSWERS)
    (project / "other.jsonl").write_text('{"foo": 1, "bar": "x"}\n', encoding="utf-8")
    (project / "empty.jsonl").write_text("\n", encoding="utf-8")
    (project / "empty.json").write_bytes(b"")
    for name in ("noise.jsonl", "noise.parquet", "noise.gz"):
        (project / name).write_bytes(bytes(range(255, 100, -1)))
    (project / "scores.csv").write_text("id,mrr\nq1,0.5\nq2,1\n", encoding="utf-8")
    (project / "folder").mkdir()
    (project / "folder.json").mkdir()
    (project / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d2 1\n", encoding="utf-8")
    (project / "own.run").write_text("q1 Q0 d1 1 2.5 own\n", encoding="utf-8")
    (project / "strange.run").write_text("1 Q0 d1 1 2.5 strange\n2 Q0 d2 1 2.5 strange\n", encoding="utf-8")
    return project


def said(done: Result) -> str:
    """What was printed, and the message that `main` prints of an error which is meant for people."""
    error = done.exception
    told = _words(error) if isinstance(error, Exception) and _is_for_people(error) else ""
    return one_line(f"{done.output} {told}")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("score folder.json", "folder.json: a folder; name a table in it"),
        ("score empty.jsonl", "empty.jsonl: holds no samples"),
        ("score empty.json", "empty.json: an empty file; a header line and at least one row are expected"),
        (
            "score other.jsonl -m faithfulness",
            "other.jsonl: none of its columns (foo, bar) is one of question, answer, reference, contexts,",
        ),
        ("score answers.jsonl -m qwertyu", "there is no metric 'qwertyu'; `ragbench metrics` lists all"),
        ("score answers.jsonl -m exact_match --json nowhere/x.json", "there is no folder nowhere; make it first"),
        ("score answers.jsonl -m exact_match --json folder", "folder is a folder; name a file in it"),
        ("score answers.jsonl -m exact_match --out scores.csv", "is a file; name a folder"),
        ("run --out scores.csv", "is a file; name a folder"),
        ("run -l fr", "'fr': en or ru is expected"),
        (
            "load questions other.jsonl --name x",
            "other.jsonl: holds no questions: 1 × row with question is missing; it is expected in every item; "
            "it has foo, bar (first: other.jsonl, line 1)",
        ),
        ("load questions empty.json --name x", "empty.json: an empty file"),
        ("load answers answers.jsonl --name Bad! --dry-run", "--name 'Bad!': use small Latin letters"),
        ("load answers answers.jsonl --name small --dry-run", "the data set small is there already"),
        ("load beir nowhere --name x", "nowhere: there is no such folder; corpus.jsonl is expected in it"),
    ],
)
@pytest.mark.usefixtures("there")
def test_a_fault_names_the_thing(words: str, expected: str) -> None:
    done = call(*words.split())
    assert done.exit_code != 0
    assert expected in said(done)


@pytest.mark.fault("disk", tried="folders that cannot be written to, found before anything is measured", count=1)
@pytest.mark.usefixtures("there")
def test_nothing_is_measured_where_nothing_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "ragbench.old.data.samples.read_samples", lambda path: pytest.fail("read before it was checked")
    )
    assert call("score", "answers.jsonl", "--json", "nowhere/x.json").exit_code == 3


class TestTheOperatingSystemRefuses:
    @pytest.mark.fault("disk", tried="files that the operating system refuses", count=1)
    def test_a_file_that_cannot_be_used_is_a_line(self) -> None:
        refused = PermissionError(13, "Permission denied", "/data/x.json")
        assert _is_for_people(refused)
        assert _words(refused).startswith("/data/x.json: Permission denied; what was there is as it was, ")

    def test_a_broken_connection_keeps_its_trace(self) -> None:
        assert not _is_for_people(ConnectionResetError(104, "Connection reset by peer"))

    def test_the_file_is_named_not_its_temporary_neighbour(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError) as refused:
            results.write(tmp_path / "nowhere" / "x.json", "{}")
        assert refused.value.filename == str(tmp_path / "nowhere" / "x.json")


@pytest.mark.fault("garbage", tried="a damaged archive of replies", count=1)
def test_a_damaged_archive_of_a_journal_is_named(tmp_path: Path) -> None:
    (tmp_path / "cut.jsonl.gz").write_bytes(b"\x1f\x8b\x08\x00")
    with pytest.raises(journal.JournalFileError, match=r"cut\.jsonl\.gz, line 1: cannot be read"):
        list(journal.read(tmp_path / "cut.jsonl.gz"))


def command(*words: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    environment: dict[str, Any] = {**os.environ, **variables}
    return subprocess.run([sys.executable, "-m", "ragbench", *words], capture_output=True, env=environment, timeout=300)


@pytest.mark.slow
@pytest.mark.fault("encodings", tried="a terminal that lacks our signs", count=1)
def test_a_screen_without_our_signs_gets_their_numbers() -> None:
    done = command("metrics", "mrr", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert b"0 \\u2026 1, higher" in done.stdout


@pytest.mark.slow
def test_no_colour_where_none_is_wanted(there: Path) -> None:
    pytest.importorskip("pty")
    import pty

    def on_a_terminal(**variables: str) -> bytes:
        main, side = pty.openpty()
        with subprocess.Popen(
            [sys.executable, "-m", "ragbench", "runs", "show", str(there / "nothing")],
            stderr=side,
            stdout=side,
            env={**{name: text for name, text in os.environ.items() if name != "NO_COLOR"}, **variables},
        ) as process:
            os.close(side)
            shown = b""
            while True:
                try:
                    block = os.read(main, 4096)
                except OSError:  # the other side was closed
                    break
                if not block:
                    break
                shown += block
        os.close(main)
        assert process.returncode == 3
        return shown

    assert b"\x1b[" in on_a_terminal()
    assert b"\x1b[" not in on_a_terminal(NO_COLOR="1")
