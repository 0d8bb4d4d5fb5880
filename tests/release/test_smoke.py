"""Which Pythons `make smoke` tries: the newest of each version that can make environments, and a word where none is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.release import smoke


def python(place: Path, version: str, code: int = 0) -> Path:
    """A program that tells a version as Python does, or that fails as one without ensurepip does."""
    place.parent.mkdir(parents=True)
    place.write_text(
        f"#!/bin/sh\necho {version.replace('.', ' ')}\nexit {code}\n", encoding="utf-8"
    )
    place.chmod(0o755)
    return place


def test_the_newest_that_can_make_environments_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    python(tmp_path / "bin" / "python3.12", "3.12.4")
    pyenv = tmp_path / "pyenv"
    newest = python(pyenv / "versions" / "3.12.10" / "bin" / "python", "3.12.10")
    python(pyenv / "versions" / "3.12.9" / "bin" / "python", "3.12.9")
    python(pyenv / "versions" / "3.12.11" / "bin" / "python", "3.12.11", code=1)
    python(pyenv / "versions" / "3.13.0" / "bin" / "python", "3.13.0")
    assert smoke.newest("3.12", pyenv) == str(newest)
    assert smoke.newest("3.12", tmp_path / "none") == str(tmp_path / "bin" / "python3.12")


def test_a_version_that_is_not_there_is_said_and_fails_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert smoke.main("--brief") == 0
    assert capsys.readouterr().out.splitlines() == [
        f"Python {version}: this machine has none on its PATH or in {tmp_path}: not tried"
        for version in ("3.12", "3.13")
    ]
