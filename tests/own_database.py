"""A database server for one test alone, which may kill it; stopped and removed at the end."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragbench.settings import DatabaseSettings, Settings
from ragbench.store import server


@contextmanager
def own_database(name: str = "pg", connect_seconds: float = 20.0) -> Iterator[Settings]:
    """Settings of a server in a folder of that name; it is started by whoever needs it first.

    Not below pytest's temporary folder: that one is closed to others, and root's server runs as another user.
    """
    outer = Path(tempfile.mkdtemp(prefix="ragbench-test-"))
    outer.chmod(0o755)
    settings = Settings(database=DatabaseSettings(folder=outer / name, connect_seconds=connect_seconds))
    yield settings
    server.stop(settings)
    shutil.rmtree(outer)
