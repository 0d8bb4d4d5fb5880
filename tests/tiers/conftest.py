"""A folder without settings, where nothing of this checkout is found; a database of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixtures import database_url, store

__all__ = ["database_url", "store"]


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in an empty folder: no ragbench.toml, no data."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
