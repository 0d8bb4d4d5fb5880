"""What tests of several rooms share; their conftest.py imports it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragbench.store import Store
from ragbench.store.server import leave_users, start_server


def open_folder() -> Path:
    """A new folder that every user can enter: PostgreSQL does not run as root."""
    folder = Path(tempfile.mkdtemp(prefix="ragbench-test-"))
    folder.chmod(0o755)
    return folder


@pytest.fixture(scope="session")
def database_url() -> Iterator[str]:
    """The address of an embedded PostgreSQL that this session's tests have for themselves."""
    folder = open_folder() / "database"
    yield start_server(folder)
    leave_users(folder)
    shutil.rmtree(folder.parent, ignore_errors=True)


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    """A store in that PostgreSQL."""
    with Store(url=database_url) as opened:
        yield opened
