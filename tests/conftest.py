"""What every test may ask for: real data beside the checkout, settings that do not leak, a database of its own."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ragbench.settings import Settings
    from ragbench.store import Store

ROOT = Path(__file__).parent.parent
SHARED = Path(os.environ.get("RAGBENCH_TEST_DATA") or ROOT.parent / "shared" / "data")


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """The path of a real data set or one of its files; the test is skipped, with the reason, where it is absent."""

    def find(name: str) -> Path:
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"the real data set {name} is not beside this checkout ({SHARED} has none)")
        return path

    return find


@pytest.fixture(autouse=True)
def _settings_of_this_test_only(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    from ragbench import settings

    for name in list(os.environ):
        if name.startswith(settings.PREFIX) and name not in settings.PROCESS_VARIABLES:
            monkeypatch.delenv(name)
    settings.load.cache_clear()
    yield
    settings.load.cache_clear()


@pytest.fixture(scope="session")
def database_folder() -> Iterator[Path]:
    """A folder for a server of this test session's own, stopped and removed at the end.

    Not below pytest's temporary folder: that one is closed to others, and root's server runs as another user.
    """
    from ragbench.settings import DatabaseSettings, Settings
    from ragbench.store import server

    outer = Path(tempfile.mkdtemp(prefix="ragbench-test-"))
    outer.chmod(0o755)
    folder = outer / "postgres"
    yield folder
    server.stop(Settings(database=DatabaseSettings(folder=folder)))
    shutil.rmtree(outer)


@pytest.fixture(scope="session")
def database_settings(database_folder: Path) -> Settings:
    """Settings whose server is this test session's own."""
    from ragbench.settings import DatabaseSettings, Settings

    return Settings(database=DatabaseSettings(folder=database_folder))


@pytest.fixture(scope="session")
def store(database_settings: Settings) -> Iterator[Store]:
    """The store of this test session: a real server; tests share it and use data sets of their own names and hashes."""
    from ragbench.store import Store

    with Store.open(database_settings) as opened:
        yield opened


@pytest.fixture
def project(tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a project of this test's own, which is also the current folder; see tests/small_project.py."""
    from ragbench import settings
    from tests import small_project

    monkeypatch.setenv("RAGBENCH_CONFIG", str(small_project.make(tmp_path, database_folder)))
    monkeypatch.chdir(tmp_path)
    settings.load.cache_clear()
    return tmp_path


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium, of one test module: while it runs, no other event loop can."""
    from tests import visits

    yield from visits.launched()
