"""What is around a run that fails: endpoints with a fault, files, tables of somebody's own, a disk that is full."""

from __future__ import annotations

import contextlib
import shutil
import ssl
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ragbench.old.core import settings
from ragbench.old.store import server
from ragbench.old.store.database_tables import written
from tests.old.embed.servers import embeddings_server
from tests.old.faults.small_disk import fill, small_disk
from tests.old.llm.chat_server import ChatServer

World = Callable[[Path], AbstractContextManager[str]]
"""What is around a run of a project: an endpoint, say, whose address it gives."""


@contextlib.contextmanager
def nothing(project: Path) -> Iterator[str]:
    yield ""


@contextlib.contextmanager
def nobody(project: Path) -> Iterator[str]:
    yield "http://127.0.0.1:9/v1"


def judge(fault: str = "", **how: Any) -> World:
    """A model that always has this fault."""

    @contextlib.contextmanager
    def begun(project: Path) -> Iterator[str]:
        with ChatServer(**{"faults": {fault: 1.0} if fault else {}, **how}).running() as server:
            yield server.url

    return begun


def embedder(*script: Any, **how: Any) -> World:
    """An endpoint of vectors that answers so."""

    @contextlib.contextmanager
    def begun(project: Path) -> Iterator[str]:
        with embeddings_server() as server:
            server.script = list(script)
            server.change = how.get("change", server.change)
            yield server.url

    return begun


def files(**texts: str) -> World:
    """Files of the project, each by its name with its dots as `__`."""

    @contextlib.contextmanager
    def begun(project: Path) -> Iterator[str]:
        for name, text in texts.items():
            (project / name.replace("__", ".")).write_text(text, encoding="utf-8")
        yield ""

    return begun


@contextlib.contextmanager
def signed_by_itself(project: Path) -> Iterator[str]:
    """An endpoint whose certificate nobody else vouches for."""
    made = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key", "-out", "pem", "-subj", "/CN=127.0.0.1",
            "-addext", "subjectAltName=IP:127.0.0.1")  # fmt: skip
    subprocess.run(["openssl", *made], cwd=project, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(project / "pem", project / "key")
    with ChatServer(tls=context).running() as server:
        yield server.url


@contextlib.contextmanager
def half_embedded(project: Path) -> Iterator[str]:
    """A table of somebody's own, one of whose two rows has no vector."""
    server.start(settings.load())
    address = written(server.address(settings.load()))
    with psycopg.connect(address, autocommit=True) as connection, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OWN_URL", address)
        connection.execute("CREATE SCHEMA half")
        connection.execute("CREATE TABLE half.chunk (id int, confluence_url text, text text, embedding public.vector)")
        connection.execute(
            "INSERT INTO half.chunk VALUES (1, 'https://x.example/a', 'One.', '[1, 0]'), (2, "
            "'https://x.example/b', 'Two.', NULL)"
        )
        connection.execute(
            "CREATE TABLE half.question_answer (id int, question text, answer text, confluence_url text, score int, "
            "user_id int, embedding public.vector)"
        )
        connection.execute(
            "INSERT INTO half.question_answer VALUES (1, 'One?', 'One.', 'https://x.example/a', 5, 7, '[1, 0]')"
        )
        yield ""
        connection.execute("DROP SCHEMA half CASCADE")


BREAKS = """
import os, signal
from pathlib import Path
asked = []
def search(question, k):
    asked.append(question)
    if len(asked) == 2:
        data = Path(os.environ["RAGBENCH_DATABASE__FOLDER"]) / "data"
        os.kill(int((data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
        (data / "global" / "pg_control").write_bytes(b"")
    return ["a1"]
"""


@contextlib.contextmanager
def broken_server(project: Path) -> Iterator[str]:
    """A server of the run's own that a system under test kills so that none can be started in its place."""
    (project / "mine.py").write_text(BREAKS, encoding="utf-8")
    folder = Path(tempfile.mkdtemp(prefix="rb-"))
    folder.chmod(0o755)
    try:
        yield str(folder)
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def full_disk(project: Path) -> Iterator[str]:
    with small_disk(project / "disk") as disk:
        fill(disk)
        yield ""
