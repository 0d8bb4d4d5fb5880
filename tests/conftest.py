"""What every test may ask for: real data beside the checkout, settings that do not leak, a database of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

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
