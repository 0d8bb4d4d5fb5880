"""The database server that comes with ragbench: started when first needed, found again by every later process.

It listens on a Unix socket in a folder that only its user can enter, never on the network, and goes on running when
the process that started it ends. `RAGBENCH_DATABASE_URL` names any other server instead; that one is never started
or stopped from here.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs
import psycopg
from psycopg import sql
from sqlalchemy import URL, Engine

from ragbench.core import trust
from ragbench.core.settings import Settings
from ragbench.store.cluster import PORT, Cluster, is_root
from ragbench.store.engine import connect, masked, own_server
from ragbench.store.errors import AGAIN, FULL, StoreError, explain, first_line, is_full

NAME = "ragbench"  # of the database, and of the role that owns it and nothing else

RECOVERING = (
    "starting up",
    "recovery",
    "not yet accepting",
    "terminating connection",
    "closed the connection",
)  # what a server says that will soon be there
UNINSTALLED = "its program's files are gone"
"""What is wrong where the environment that a server was started from was removed while it runs: it goes on answering,
but loads nothing any more. Another one takes its place."""


@dataclass(frozen=True)
class ServerStatus:
    """Whether a server answers, and where. `url` shows no password; `folder` and `pid` are None for your own server.

    `str()` of it is a sentence for people.
    """

    running: bool
    url: str
    embedded: bool
    folder: Path | None = None
    pid: int | None = None
    version: str | None = None
    problem: str = ""

    def __str__(self) -> str:
        place = f"in {self.folder}" if self.embedded else "named by RAGBENCH_DATABASE_URL"
        if self.running:
            process = f", process {self.pid}" if self.pid else ""
            return f"PostgreSQL {self.version} {place} is running{process}: {self.url}"
        if self.embedded:
            return f"the PostgreSQL server {place} is not running; `ragbench db start` starts it, and so does a run"
        return f"the PostgreSQL server {place} does not answer ({self.problem}): {self.url}"


def start(settings: Settings) -> ServerStatus:
    """Start the embedded server, or find it running; safe for any number of processes at once.

    Raises StoreError when no server answers within twice database.connect_seconds, UntrustedError where a project that
    nobody has answered for says where its files are.
    """
    if settings.database_url is not None:
        return status(settings)
    trust.require(*trust.named("database"))
    cluster = cluster_of(settings)
    seconds = settings.database.connect_seconds
    if _problem(cluster, seconds) is None:
        return status(settings)
    with cluster.locked(2 * seconds):
        if (problem := _problem(cluster, seconds)) is not None:
            if is_full(problem):
                raise StoreError(problem)
            cluster.initialise()
            if problem == UNINSTALLED:
                cluster.shut_down(seconds)
            if cluster.pid() is None:
                cluster.launch(seconds)
            _prepare(cluster, seconds)
    return status(settings)


def required(settings: Settings) -> None:
    """Start the embedded server. Raises StoreError where none answers, your own among them, with what to do."""
    status = start(settings)
    if not status.running:
        raise StoreError(f"{status}; start it, or name another one, then {AGAIN}")


def stop(settings: Settings) -> ServerStatus:
    """Stop the embedded server, whoever started it, and end every process of it. Your own server is left alone."""
    if settings.database_url is not None:
        raise StoreError("RAGBENCH_DATABASE_URL names your own server: ragbench neither starts nor stops that one")
    trust.require(*trust.named("database"))
    cluster = cluster_of(settings)
    if cluster.data.is_dir():
        with cluster.locked(2 * settings.database.connect_seconds):
            # a server that is recovering from a crash forgets a request to shut down
            _problem(cluster, settings.database.connect_seconds, waited_for=RECOVERING)
            cluster.shut_down(settings.database.connect_seconds)
    return status(settings)


def status(settings: Settings) -> ServerStatus:
    """Whether the server answers; starts nothing."""
    url = address(settings)
    cluster = None if settings.database_url is not None else cluster_of(settings)
    known: dict[str, Any] = {"url": masked(url.set(drivername="postgresql")), "embedded": cluster is not None}
    if cluster is not None:
        known |= {"folder": cluster.folder, "pid": cluster.pid()}
    try:
        with _connect(url, settings.database.connect_seconds) as connection:
            version = connection.info.parameter_status("server_version")
    except psycopg.Error as error:
        return ServerStatus(running=False, problem=masked(first_line(error), url), **known)
    return ServerStatus(running=True, version=version, **known)


def address(settings: Settings) -> URL:
    """The URL that the engine connects to: the variable's, or the embedded server's socket."""
    if settings.database_url is not None:
        return own_server(settings.database_url.get_secret_value())
    return _at(cluster_of(settings), NAME)


@contextlib.contextmanager
def connected(settings: Settings) -> Iterator[Engine]:
    """An engine on the database as it is, whether it has tables or not, for as long as it is used."""
    engine = connect(address(settings), settings.database)
    try:
        yield engine
    finally:
        engine.dispose()


def cluster_of(settings: Settings) -> Cluster:
    """The embedded server's folder: database.folder, else `of_the_user`."""
    folder = settings.database.folder
    return Cluster((of_the_user() if folder is None else folder).expanduser().resolve())


def of_the_user() -> Path:
    """A folder in the user's data folder.

    For root it is below /var/lib/ragbench: PostgreSQL does not run as root, and another user cannot enter root's home;
    the permissions of parent folders are never changed.
    """
    return Path("/var/lib/ragbench" if is_root() else platformdirs.user_data_dir("ragbench")) / "postgres"


def _at(cluster: Cluster, name: str) -> URL:
    """The socket of the embedded server: the database of that name, as the role of that name."""
    return URL.create("postgresql+psycopg", name, None, None, PORT, name, {"host": str(cluster.sockets)})


def _connect(url: URL, seconds: float, **changed: Any) -> psycopg.Connection:
    parts = url.translate_connect_args(username="user", database="dbname") | dict(url.query) | changed
    return psycopg.connect(connect_timeout=max(2, round(seconds)), autocommit=True, **parts)


def _problem(cluster: Cluster, seconds: float, waited_for: tuple[str, ...] = (*RECOVERING, *FULL)) -> str | None:
    """Why the server does not answer as it should, or None; one that is starting up or recovering is waited for.

    A first start may have been interrupted at any point, so a database that answers may still lack its extension.
    """
    if not (cluster.data / "PG_VERSION").is_file():
        return "there is no data directory yet"
    url = _at(cluster, NAME)
    until = time.monotonic() + seconds
    while True:
        try:
            with _connect(url, seconds) as connection:
                if not connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchone():
                    return "its first start was interrupted"
                connection.execute("SELECT '[0]'::vector")
            return None
        except psycopg.errors.UndefinedFile:
            return UNINSTALLED
        except psycopg.OperationalError as error:
            said = str(error)
            waiting = any(words in said for words in waited_for)
            if not waiting or time.monotonic() > until:
                return explain(error)
        time.sleep(0.1)


def _prepare(cluster: Cluster, seconds: float) -> None:
    """The database and a role that owns it; neither that role nor what it runs can reach the server's files."""
    url = _at(cluster, "postgres")
    name = sql.Identifier(NAME)
    try:
        with _connect(url, seconds) as connection:
            if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (NAME,)).fetchone():
                connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(name))
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (NAME,)).fetchone():
                connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(name, name))
        with _connect(url, seconds, dbname=NAME) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except psycopg.Error as error:
        raise StoreError(f"the new server in {cluster.folder} could not be prepared: {explain(error)}") from None
