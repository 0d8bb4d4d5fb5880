"""Servers that we start are for this machine alone: where they really listen, as the operating system has it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from ragbench.old.core.settings import Settings
from ragbench.old.store import Store, server

ROOT = Path(__file__).parents[3]


def listening(pid: int) -> set[str]:
    """The addresses at which a process or one of its children accepts connections over a network."""
    found = set()
    for process in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            connections = process.net_connections(kind="inet")
            found |= {one.laddr.ip for one in connections if one.status == psutil.CONN_LISTEN}
    return found


@contextmanager
def lab(folder: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """JupyterLab as `ragbench lab` starts it, with what it says in `folder`/said."""
    command = [sys.executable, "-m", "ragbench", "lab", "tier1_retrieval", "--no-browser", *words]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "RAGBENCH_CONFIG": str(ROOT / "ragbench.toml")}
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(command, env=variables, stdout=said, stderr=said, start_new_session=True)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(20)


@pytest.mark.slow
@pytest.mark.fault("network", tried="JupyterLab by default, and at another address by a flag", count=2)
@pytest.mark.parametrize(
    ("words", "address", "warned"), [((), "127.0.0.1", False), (("--ip", "0.0.0.0"), "0.0.0.0", True)]
)
def test_the_lab_listens_where_it_was_told_to(
    tmp_path: Path, words: tuple[str, ...], address: str, warned: bool
) -> None:
    with lab(tmp_path, "--port", "18931", *words) as process:
        end = time.monotonic() + 120
        while not (found := listening(process.pid)):
            assert process.poll() is None, (tmp_path / "said").read_text()
            assert time.monotonic() < end, (tmp_path / "said").read_text()
            time.sleep(0.2)
    assert found == {address}
    assert ("whoever has its token can run code here" in (tmp_path / "said").read_text()) == warned


@pytest.mark.fault("network", tried="the database server that comes with ragbench", count=1)
def test_the_database_opens_no_port(store: Store, database_settings: Settings) -> None:
    assert store.engine is not None
    pid = server.status(database_settings).pid
    assert pid is not None
    assert listening(pid) == set()
    sockets = server.cluster_of(database_settings).sockets / ".s.PGSQL.5432"
    assert sockets.stat().st_mode & 0o077 == 0, "and its socket is its user's alone"
