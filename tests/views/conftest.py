"""A folder without settings, where nothing of this checkout is found."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in an empty folder: no ragbench.toml, no data."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
