"""A database server for one test alone, which may kill it; stopped and removed at the end."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from ragbench.old.core.settings import DatabaseSettings, Settings
from ragbench.old.store import server
from ragbench.old.store.server import MAJOR, Cluster


@contextmanager
def own_database(name: str = "pg", connect_seconds: float = 10.0) -> Iterator[Settings]:
    """Settings of a server in a folder of that name; it is started by whoever needs it first.

    Not below pytest's temporary folder: that one is closed to others, and root's server runs as another user.
    """
    outer = Path(tempfile.mkdtemp(prefix="ragbench-test-"))
    outer.chmod(0o755)
    settings = Settings(database=DatabaseSettings(folder=outer / name, connect_seconds=connect_seconds))
    yield settings
    cluster = server.cluster_of(settings)
    if cluster.pid() is not None:  # what is removed need not be written to the disk first
        cluster.run("pg_ctl", "-D", "data", "-m", "immediate", "-w", "stop", check=False)
    server.stop(settings)
    shutil.rmtree(outer)


@contextmanager
def frozen(settings: Settings) -> Iterator[None]:
    """Every process of the server is stopped meanwhile: its sockets stay open, and nothing answers."""
    stopped = server.cluster_of(settings).processes()
    try:
        for process in stopped:
            with suppress(psutil.NoSuchProcess):  # one of a connection that has just been closed
                process.suspend()
        yield
    finally:
        for process in stopped:
            with suppress(psutil.NoSuchProcess):
                process.resume()


@contextmanager
def initialised_once() -> Iterator[Callable[..., subprocess.CompletedProcess[str]]]:
    """What `Cluster.run` may be meanwhile: what initdb made at the first time is copied at every other."""
    real, kept = Cluster.run, Path(tempfile.mkdtemp(prefix="ragbench-test-"))

    def copy(source: Path, target: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["cp", "-a", f"{source}/.", str(target)], check=True, capture_output=True, text=True)

    def run(cluster: Cluster, program: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        made = kept / str(MAJOR)
        if program == "initdb" and made.exists():
            return copy(made, cluster.folder / arguments[1])
        done = real(cluster, program, *arguments, check=check)
        if program == "initdb":
            fresh = cluster.folder / arguments[1]
            with (fresh / "postgresql.conf").open("a") as file:
                file.write("\nfsync = off\nfull_page_writes = off\n")  # no test cuts the power
            copy(fresh, made)
        return done

    yield run
    shutil.rmtree(kept)
