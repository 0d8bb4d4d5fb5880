"""Full, read-only and broken disks, at every writer of the package: the old file whole, one line, no half of a file."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ragbench.old import data
from ragbench.old.core import folders
from ragbench.old.llm import journal
from ragbench.old.report import exports
from ragbench.old.report.keeping import results
from ragbench.old.tiers.retrieval import tier0_embeddings
from tests.old.cli.command_line import ragbench
from tests.old.data import foreign_files as made
from tests.old.faults.small_disk import contents, fill, small_disk
from tests.old.report import kept_runs
from tests.old.store.test_journal import row
from tests.old.views.measurements import measurement

ROOT = Path(__file__).parents[3]
FULL = "0123456789abcdef" * 4096


def _data(folder: Path, text: str) -> None:
    chunks = [data.ChunkRecord(id="a", text=text)]
    asked = [data.QuestionRecord(id="q", text="What?")]
    about = {"title": "t", "licence": "CC0", "source": "s", "language": "en"}
    data.write("desk", folder / "data", chunks=chunks, questions=asked, replace=True, **about)


def _added(folder: Path, text: str) -> None:
    if not (folder / "data" / "desk").exists():
        _data(folder, "old")
    more = data.Brought(dialogues=[])
    more.chunks = [data.ChunkRecord(id=f"b{len(text)}", text=text)]
    data.add("desk", folder / "data", more)


def _site(folder: Path, text: str) -> None:
    with folders.new_folder(folder / "site") as site:
        folders.write(site / "index.html", text)


def _sheet(folder: Path, text: str) -> None:
    labelling = pytest.importorskip("ragbench.old.extras.labelling")
    items = [labelling.Item("q", "s", "m", text, "A")]
    labelling.export_csv(labelling.Sheet(items, (0, 1), "anna", folder / "none.csv"), folder / "labels.csv")


WRITERS: Mapping[str, Callable[[Path, str], Any]] = {
    "a file": lambda folder, text: folders.write(folder / "a.txt", text),
    "JSON": lambda folder, text: results.write_json(folder / "a.json", {"text": text}),
    "CSV": lambda folder, text: exports.write_csv(folder / "a.csv", pd.DataFrame({"text": [text]})),
    "a measurement": lambda folder, text: measurement(questions=3, question=text, notebook="m").save(folder / "m"),
    "a data set": _data,
    "an addition to a data set": _added,
    "a site": _site,
    "labels": _sheet,
    "a journal": lambda folder, text: journal.write(folder / "j.jsonl", [row("one", 1, text=text)]),
    "a projection": lambda folder, text: tier0_embeddings._write(folder / "p.npy", np.arange(len(text), dtype=float)),
}


@pytest.fixture
def broken_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Called, it lets no file come to the disk any more, as one does that fails."""
    synced = os.fsync

    def refuse(handle: int) -> None:
        if not Path(f"/proc/self/fd/{handle}").is_dir():
            raise OSError(errno.EIO, "Input/output error")
        synced(handle)

    return lambda: monkeypatch.setattr(os, "fsync", refuse)


@pytest.mark.fault("disk", tried="a disk that fails as a file is brought to it, at every writer", count=10)
@pytest.mark.skipif(sys.platform != "linux", reason="what a handle is of is looked up in /proc")
@pytest.mark.parametrize("what", WRITERS)
def test_what_cannot_be_brought_to_the_disk_replaces_nothing(
    tmp_path: Path, what: str, broken_disk: Callable[[], None]
) -> None:
    WRITERS[what](tmp_path, "old")
    before = contents(tmp_path)
    broken_disk()
    with pytest.raises(OSError, match="Input/output error"):
        WRITERS[what](tmp_path, "new text")
    assert contents(tmp_path) == before


@pytest.mark.fault("disk", tried="every file is on the disk before it gets its name", count=10)
@pytest.mark.parametrize("what", WRITERS)
def test_every_file_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: set[int] = set()
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (synced.add(os.fstat(handle).st_ino), sync(handle))[1])
    monkeypatch.setattr(folders, "_exchanged", lambda made, final: False)
    seen = []

    def watched(source: Any, target: Any) -> None:
        path = Path(source)
        if path.name != folders.UNNAMED and not Path(target).name.startswith("."):
            files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
            seen.extend(files)
            assert {file.stat().st_ino for file in files} <= synced, f"{target}: not on the disk yet"
        replace(source, target)

    monkeypatch.setattr(os, "replace", watched)
    monkeypatch.setattr(os, "rename", watched)
    WRITERS[what](tmp_path, "old")
    WRITERS[what](tmp_path, "new text")
    assert seen


@pytest.mark.parametrize("mask", [0o027, 0o077, 0o002])
def test_every_file_has_the_rights_that_the_umask_leaves(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        for number, writer in enumerate(WRITERS.values()):
            (tmp_path / str(number)).mkdir()
            writer(tmp_path / str(number), "text")
    finally:
        os.umask(before)
    for path in tmp_path.rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o777 if path.is_dir() else 0o666) & ~mask, path


@pytest.mark.fault("disk", tried="a full disk of 1 MB, at every writer", count=10)
def test_a_full_disk_leaves_what_was_there_at_every_writer(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        for what, writer in WRITERS.items():
            (disk / what).mkdir()
            writer(disk / what, "old")
        fill(disk)
        before = contents(disk)
        for what, writer in WRITERS.items():
            with pytest.raises(OSError, match="No space left"):
                writer(disk / what, FULL)
            assert contents(disk) == before, what


@pytest.mark.fault("disk", tried="a read-only disk, at every writer", count=10)
def test_a_disk_that_is_read_only_leaves_what_was_there_at_every_writer(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        for what, writer in WRITERS.items():
            (disk / what).mkdir()
            writer(disk / what, "old")
        before = contents(disk)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        for what, writer in WRITERS.items():
            with pytest.raises(OSError, match="Read-only file system"):
                writer(disk / what, "new text")
            assert contents(disk) == before, what


@pytest.mark.slow
@pytest.mark.fault("disk", tried="every command that writes, on a full and on a read-only disk", count=12)
def test_every_command_says_in_one_line_what_to_do(project: Path) -> None:
    (project / "a.jsonl").write_text(made.as_lines(made.ANSWERS), encoding="utf-8")
    (project / "set.json").write_text(made.as_json(made.NEW_ITEMS), encoding="utf-8")
    toml = project / "ragbench.toml"
    toml.write_text(f'data_folder = "disk/data"\nreports_folder = "disk/reports"\n{toml.read_text()}')
    with small_disk(project / "disk") as disk:
        kept_runs.make(disk / "reports", "20260101T000000-01", measurement(questions=2))
        commands = (
            ("load", "questions", "set.json", "--name", "desk", "--replace"),
            ("load", "answers", "a.jsonl", "--name", "pilot", "--replace"),
            ("score", "a.jsonl", "-m", "rouge1_f", "--json", "disk/scores.json"),
            ("score", "a.jsonl", "-m", "rouge1_f", "--out", "disk/out"),
            ("publish", "disk/reports/20260101T000000-01", "--to", "disk/site"),
            ("render", "disk/reports/20260101T000000-01"),
        )
        for words in commands[:3]:
            assert ragbench(*words).returncode == 0, ragbench(*words).stderr
        fill(disk)
        before = contents(disk)
        for reason in ("No space left on device", "Read-only file system"):
            for words in commands:
                done = ragbench(*words)
                said = done.stderr.strip().splitlines()[-1]
                assert done.returncode == 3, done.stderr
                assert "Traceback" not in done.stderr
                if "this user may not write in" not in done.stderr:  # which is seen before anything is paid for
                    assert "/disk/" in said or "disk/" in said
                    assert f"{reason}; what was there is as it was" in said
                    assert said.endswith(f"then ragbench {' '.join(words)}")
                left = contents(disk)
                assert {name: left.get(name) for name in before} == before, words
                assert not [path for path in disk.rglob(".*") if path.name != folders.MARK], words
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
