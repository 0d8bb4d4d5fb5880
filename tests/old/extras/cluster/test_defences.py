"""What a cluster of this machine's processes is made with: each defence alone."""

from __future__ import annotations

import py_compile
from pathlib import Path
from typing import Any

import pytest

from ragbench.old.extras.cluster import address, worker_pool

distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")


class MadeError(Exception):
    """Instead of a cluster that would be started."""


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the cluster is asked for, and Dask's configuration at that moment; a user's would allow plain speech."""
    import dask

    found: dict[str, Any] = {}

    def cluster(**given: Any) -> None:
        routes = [dask.config.get(f"distributed.{one}.http.routes") for one in ("scheduler", "worker")]
        found.update(given, routes=routes)
        raise MadeError

    monkeypatch.setattr(distributed, "LocalCluster", cluster)
    with dask.config.set({"distributed.comm.require-encryption": False}), pytest.raises(MadeError):
        address.serve(2, tmp_path)
    dask.config.refresh()
    return {**found, "folder": tmp_path}


@pytest.mark.fault("network", tried="what a cluster of this machine speaks, where it listens, what it tells", count=4)
def test_it_speaks_tls_alone_on_this_machine_and_tells_nobody_anything(made: dict[str, Any]) -> None:
    assert made["security"].require_encryption is True
    assert made["protocol"] == "tls"
    assert (made["host"], made["dashboard_address"]) == ("127.0.0.1", "127.0.0.1:0")
    assert made["routes"] == [[], []], "its HTTP server has no page: not the state, not the logs, not the tasks"


def test_who_reaches_it_speaks_tls_alone(made: dict[str, Any]) -> None:
    import dask

    with dask.config.set({"distributed.comm.require-encryption": False}):
        found = address.Address(url="tls://127.0.0.1:1", folder=made["folder"]).connected()
    assert found["security"].require_encryption is True


def test_a_module_without_sources_is_a_part_of_what_a_worker_runs(tmp_path: Path) -> None:
    (tmp_path / "style.py").write_text("import words\n", encoding="utf-8")
    (tmp_path / "words.py").write_text("found = 1\n", encoding="utf-8")
    py_compile.compile(str(tmp_path / "words.py"), cfile=str(tmp_path / "words.pyc"), doraise=True)
    (tmp_path / "words.py").unlink()
    assert {path.name for path in worker_pool.of_module("style", tmp_path)} == {"style.py", "words.pyc"}


@pytest.mark.parametrize(
    "code", ["import words\nif:\n", "import words\n\0", *(f"{'-' * n}1\n" for n in (5000, 50_000))]
)
def test_a_module_that_does_not_parse_is_a_part_of_what_a_worker_runs(tmp_path: Path, code: str) -> None:
    (tmp_path / "style.py").write_text("import broken\n", encoding="utf-8")
    (tmp_path / "broken.py").write_text(code, encoding="utf-8")
    assert {path.name for path in worker_pool.of_module("style", tmp_path)} == {"style.py", "broken.py"}
