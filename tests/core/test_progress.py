"""Progress: a bar for people, a small file for the runner, no trace afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragbench.core.progress import FILE, Progress
from tests.core.test_terminal import screen


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


def test_a_person_sees_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = screen(monkeypatch, "stderr")
    with Progress("embedding", 10) as progress:
        progress(10)
        progress.say(lambda: "3 in flight")
        progress.say(lambda: "asked for again before anybody could have read it")
    drawn = shown.getvalue()
    assert "embedding" in drawn
    assert "3 in flight" in drawn
    assert "asked for again" not in drawn


def test_a_notebook_sees_a_bar_while_it_works_and_keeps_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A widget that was saved says "Loading widget..." for ever; an emptied piece of HTML says nothing."""
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.delenv("RAGBENCH_RUN_FOLDER", raising=False)
    code = (
        "from ragbench.core.progress import Progress\n"
        "with Progress('scoring <b>', 4) as progress:\n"
        "    progress(3)\n"
        "    progress.say(lambda: '3 & more in flight')"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    client = NotebookClient(notebook, kernel_name="python3")
    shown: list[str] = []
    heed = client.process_message

    def listening(message: dict[str, Any], cell: Any, index: int) -> Any:
        if message["msg_type"] in ("display_data", "update_display_data"):
            shown.append(message["content"]["data"]["text/html"])
        return heed(message, cell, index)

    monkeypatch.setattr(client, "process_message", listening)
    client.execute()
    assert '<progress value="0" max="4">' in shown[0]
    assert "scoring &lt;b&gt;" in shown[0]
    assert any("3 &amp; more in flight" in one for one in shown)
    assert shown[-1] == ""
    assert [output["data"]["text/html"] for output in notebook.cells[0].outputs] == [""]
