"""What a cluster of this machine's processes is made with: each defence alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragbench.extras.cluster import address

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
