"""What every test may ask for: real data beside the checkout, a database, a project of its own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    # Before numpy is imported: threads of processes side by side would wait.
    os.environ.setdefault(name, "1")

from tests.fixtures import database_url, store  # noqa: E402, F401

ROOT = Path(__file__).parent.parent
SHARED = Path(os.environ.get("RAGBENCH_TEST_DATA") or ROOT.parent / "shared" / "data")


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Return a folder of real data by its name; a test that has none is skipped."""

    def find(name: str) -> Path:
        folder = SHARED / name
        if not folder.exists():
            pytest.skip(f"there is no {name} beside the checkout (RAGBENCH_TEST_DATA)")
        return folder

    return find


@pytest.fixture(scope="session", autouse=True)
def _nothing_of_the_users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep tests away from the user's settings, trusted folders and keys."""
    from ragbench.core.trust import trust

    patch = pytest.MonkeyPatch()
    for name in [other for other in os.environ if other.startswith("RAGBENCH_")]:
        if name not in ("RAGBENCH_TEST_DATA",):
            patch.delenv(name)
    patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    trust(ROOT)
    yield
    patch.undo()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a trusted folder with the sample data and settings, and go there."""
    from ragbench.core.trust import trust

    shutil.copytree(ROOT / "data" / "campus", tmp_path / "data" / "campus")
    shutil.copy(ROOT / "ragbench.toml", tmp_path / "ragbench.toml")
    trust(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path
