"""A real pgbouncer in transaction mode before a database server; its few sessions serve all clients in turn."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ragbench.settings import Settings
from ragbench.store import server
from ragbench.store.cluster import is_root, server_user

CONFIGURATION = """
[databases]
* = host={sockets} port={port} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own_port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {sessions}
max_client_conn = 200
logfile = {folder}/log
pidfile = {folder}/pid
{more}
"""


@contextmanager
def pooled(settings: Settings, sessions: int = 6, certificate: Path | None = None) -> Iterator[str]:
    """The address of the settings' database through a pooler; skips where there is none.

    sessions: so many of the server at most. certificate: with `.pem` and `.key`; then TLS is spoken, and nothing else.
    """
    binary = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if binary is None:
        pytest.skip("the program pgbouncer is not here: apt-get install pgbouncer")
    server.start(settings)
    url = server.address(settings)
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        own_port = found.getsockname()[1]
    folder = Path(tempfile.mkdtemp(prefix="ragbench-pooler-"))
    more = ""
    if certificate is not None:
        for end in (".pem", ".key"):
            shutil.copy(certificate.with_suffix(end), folder / f"own{end}")
        more = f"client_tls_sslmode = require\nclient_tls_key_file = {folder}/own.key\n"
        more += f"client_tls_cert_file = {folder}/own.pem"
    place = {"user": url.username, "sockets": url.query["host"], "port": url.port or url.query.get("port", 5432)}
    text = CONFIGURATION.format(**place, own_port=own_port, sessions=sessions, folder=folder, more=more)
    (folder / "ini").write_text(text, encoding="utf-8")
    who = {}
    if is_root():
        user, group = server_user(server.cluster_of(settings).folder)
        who = {"user": user, "group": group, "extra_groups": ()}
        for path in (folder, *folder.iterdir()):
            os.chown(path, user, group)
    process = subprocess.Popen([binary, str(folder / "ini")], stderr=subprocess.DEVNULL, cwd=folder, **who)  # type: ignore[call-overload]
    try:
        until = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", own_port), 1).close()
                break
            except OSError:
                assert process.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < until, (folder / "log").read_text()
                time.sleep(0.02)
        yield f"postgresql://{url.username}@127.0.0.1:{own_port}/{url.database}"
    finally:
        process.terminate()
        process.wait(10)
        shutil.rmtree(folder)
