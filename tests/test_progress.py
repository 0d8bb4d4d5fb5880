"""Progress: a bar for people, a small file for the runner, no trace afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragbench.progress import FILE, Progress


def test_a_headless_run_keeps_its_state_in_a_file_while_it_works(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    with Progress("embedding", 10, tmp_path / "part") as progress:
        progress(4)
        progress.say(lambda: "3 in flight")
        progress._write(force=True)
        state = json.loads((tmp_path / "part" / FILE).read_text(encoding="utf-8"))
        assert state == {"label": "embedding", "done": 4, "total": 10, "note": "3 in flight"}
    assert list((tmp_path / "part").iterdir()) == []
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""


def test_a_person_sees_a_bar(capsys: pytest.CaptureFixture) -> None:
    with Progress("embedding", 10) as progress:
        progress(10)
        progress.say(lambda: "3 in flight")
        progress.say(lambda: "asked for again before anybody could have read it")
    drawn = capsys.readouterr().err
    assert "embedding" in drawn
    assert "3 in flight" in drawn
    assert "asked for again" not in drawn
