"""Where a cluster is: processes that this program starts and that end with it, an address, or a file that names one.

Its scheduler listens on the loopback address, where every user of the machine can knock: it lets in only who has the
key, which is made for it and lies in a folder that nobody else can open.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragbench.old.core import folders
from ragbench.old.core.settings import CLUSTER, RUN_FOLDER
from ragbench.old.store.pool import ClusterError

LEGAL = "local:4, tcp://HOST:8786, tls://HOST:8786, or a scheduler's FILE.json"
_LOCAL = re.compile(r"local:([0-9]{1,4})")
_REMOTE = re.compile(r"(tcp|tls|ws|wss)://\S+:[0-9]{1,5}/?")


@dataclass(frozen=True)
class Address:
    """count: of processes to start here; 0 where the cluster is there already. url: of its scheduler.

    folder: with the certificate and the key of one that speaks to nobody else; None: as Dask is configured.
    """

    count: int = 0
    url: str = ""
    folder: Path | None = None

    def connected(self) -> dict[str, Any]:
        """How a Dask client is made that reaches it."""
        if self.folder is None:
            return {"address": self.url}
        from distributed.security import Security

        return {"address": self.url, "security": Security(require_encryption=True, **roles(self.folder))}


def parse(text: str) -> Address:
    """Raises ClusterError, naming what is legal, and for a file that names no scheduler."""
    if (local := _LOCAL.fullmatch(text.strip())) and int(local[1]) > 0:
        return Address(count=int(local[1]))
    if _REMOTE.fullmatch(text.strip()):
        return Address(url=text.strip())
    path = Path(text).expanduser()
    if path.suffix == ".json" or path.is_file():
        try:
            described = json.loads(folders.text(path))
            url = str(described["address"])
        except OSError as error:
            raise ClusterError(f"cluster = {text!r}: the scheduler's file cannot be read: {error.strerror}") from None
        except (ValueError, KeyError, TypeError):
            raise ClusterError(f"cluster = {text!r}: the file is none that a Dask scheduler wrote: it has no address"
                               ) from None  # fmt: skip
        return Address(url=url, folder=path.parent if (path.parent / CERTIFICATE).is_file() else None)
    raise ClusterError(f"cluster = {text!r} is no cluster; legal are {LEGAL}")


def check(text: str) -> None:
    """Raises ClusterError, naming what is legal, for what names no cluster."""
    parse(text)


CERTIFICATE, KEY = "certificate.pem", "key.pem"


def roles(folder: Path) -> dict[str, str]:
    """The certificate and the key of the folder, for whoever takes part."""
    files = {"tls_ca_file": str(folder / CERTIFICATE)}
    for role in ("client", "scheduler", "worker"):
        files |= {f"tls_{role}_cert": str(folder / CERTIFICATE), f"tls_{role}_key": str(folder / KEY)}
    return files


FILE = "scheduler.json"
SECONDS = 120.0
"""Within so much the processes are there."""


@contextlib.contextmanager
def started(count: int) -> Iterator[Path]:
    """The file of a scheduler with so many workers, for as long as the context lasts.

    Raises ClusterError where it does not come up, with the end of what it said.
    """
    with tempfile.TemporaryDirectory(prefix="ragbench-cluster-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        environment = {key: value for key, value in os.environ.items() if key not in (CLUSTER, RUN_FOLDER)}
        command = [sys.executable, "-P", "-m", "ragbench.old.extras.cluster.address", str(count), str(folder)]
        with (folder / "said.log").open("wb") as said:
            program = subprocess.Popen(  # noqa: S603 - ourselves
                command, stdin=subprocess.PIPE, stdout=said, stderr=said, env=environment, start_new_session=True
            )
        try:
            _wait(program, folder)
            yield folder / FILE
        finally:
            _end(program)


def _wait(program: subprocess.Popen[bytes], folder: Path) -> None:
    until = time.monotonic() + SECONDS
    while not (folder / FILE).is_file():
        if program.poll() is not None or time.monotonic() > until:
            lines = [line for line in folders.last_lines(folder / "said.log") if line.strip()]
            raise ClusterError(
                f"the workers of this machine did not start: {lines[-1] if lines else 'nothing is said'}"
            )
        time.sleep(0.05)


def _end(program: subprocess.Popen[bytes]) -> None:
    import psutil

    if program.stdin is not None:
        program.stdin.close()  # it ends when nobody holds the other end
    try:
        program.wait(10)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(psutil.Error):
            for child in psutil.Process(program.pid).children(recursive=True):
                child.kill()
        program.kill()
        program.wait()


def serve(count: int, folder: Path) -> None:
    """The program: scheduler and workers, until standard input ends."""
    import dask
    from distributed import LocalCluster
    from distributed.security import Security

    nothing: dict[str, list[str]] = {
        "distributed.scheduler.http.routes": [],
        "distributed.worker.http.routes": [],
    }  # is told to who asks
    memory = {"distributed.worker.memory.terminate": False, "distributed.worker.memory.pause": False}
    # else a worker that was killed, and is not back within seconds, is given up for good
    own_place = {"temporary-directory": str(folder)}
    dask.config.set({**memory, **nothing, **own_place, "distributed.deploy.lost-worker-timeout": "1 day"})
    own = Security.temporary()
    for path, content in ((CERTIFICATE, own.tls_ca_file), (KEY, own.tls_client_key)):
        folders.write(folder / path, str(content))
    cluster = LocalCluster(
        n_workers=count,
        threads_per_worker=1,
        protocol="tls",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        security=Security(require_encryption=True, **roles(folder)),
        memory_limit=0,
        local_directory=str(folder),
    )
    with cluster:
        cluster.wait_for_workers(count, timeout=SECONDS)
        folders.write(folder / FILE, json.dumps({"address": cluster.scheduler_address}))
        sys.stdin.buffer.read()
    shutil.rmtree(folder, ignore_errors=True)  # whoever made it may have been killed, and the key lies in it


if __name__ == "__main__":
    serve(int(sys.argv[1]), Path(sys.argv[2]))
