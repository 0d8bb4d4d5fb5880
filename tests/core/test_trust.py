"""One question per folder: at a terminal it is asked, and the answer is kept."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from ragbench.core.errors import BenchError, UntrustedError
from ragbench.core.trust import forget, is_trusted, open_settings, trust


class Terminal(io.StringIO):
    """A person at a terminal, who types."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with settings that nobody has been asked about."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "project" / "inner").mkdir(parents=True)
    (tmp_path / "project" / "ragbench.toml").write_text("baseline = 'a'")
    return tmp_path / "project"


@pytest.mark.parametrize("answer", ["y\n", " YES\n", "да\n", "Д\n"])
def test_yes_is_asked_for_once(folder: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    monkeypatch.setattr(sys, "stderr", Terminal())
    for _ in range(2):
        assert open_settings(folder).baseline == "a"
    assert sys.stderr.getvalue().count("Use it? [y/N]") == 1  # type: ignore[attr-defined]
    assert is_trusted(folder / "inner")
    assert not is_trusted(folder.parent)
    forget(folder)
    assert not is_trusted(folder)


@pytest.mark.parametrize("answer", ["", "\n", "n\n", "yess\n"])
def test_anything_else_is_no(folder: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(UntrustedError):
        open_settings(folder)
    assert not is_trusted(folder)


@pytest.mark.parametrize(("input_", "output"), [(io.StringIO, Terminal), (Terminal, io.StringIO)])
def test_without_a_terminal_the_command_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, input_: type, output: type
) -> None:
    monkeypatch.setattr(sys, "stdin", input_("y\n"))
    monkeypatch.setattr(sys, "stderr", output())
    with pytest.raises(UntrustedError, match=f"ragbench trust {folder}"):
        open_settings(folder)


@pytest.mark.parametrize("text", ["no JSON", '{"a": 1}', "3"])
def test_a_damaged_list_trusts_nobody(folder: Path, text: str) -> None:
    trust(folder)
    (folder.parent / "state" / "ragbench" / "trusted.json").write_text(text)
    assert not is_trusted(folder)


def test_a_list_that_cannot_be_written_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "ragbench.toml"))
    with pytest.raises(BenchError, match=r"cannot be written: .* XDG_STATE_HOME"):
        trust(folder)
