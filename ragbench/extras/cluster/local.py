"""A cluster of this machine's processes: one program that starts it and ends with whoever started the program.

Its scheduler listens on the loopback address, where every user of the machine can knock: it lets in only who has the
key, which is made for it and lies in a folder that nobody else can open.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ragbench.core import folders
from ragbench.core.settings import CLUSTER, RUN_FOLDER
from ragbench.extras.cluster.address import CERTIFICATE, KEY, roles
from ragbench.store.pool import ClusterError

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
        command = [sys.executable, "-P", "-m", "ragbench.extras.cluster.local", str(count), str(folder)]
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
