"""Where the embedded database may be: under any umask, beside blanks, and a sentence where it cannot be."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import URL

from ragbench.old.core.settings import DatabaseSettings, Settings
from ragbench.old.store import StoreError, server
from ragbench.old.store.database_tables import masked, written
from ragbench.old.store.server import Cluster, is_root


@pytest.fixture
def outer() -> Iterator[Path]:
    """A folder that everybody may enter: below pytest's own, root's server could not."""
    found = Path(tempfile.mkdtemp(prefix="ragbench-test-"))
    found.chmod(0o755)
    yield found
    shutil.rmtree(found)


@pytest.mark.slow
@pytest.mark.fault("network", tried="umasks under which the database's folder is made, and its server started", count=2)
@pytest.mark.parametrize("umask", [0o027, 0o077])
def test_a_server_starts_under_any_umask(outer: Path, umask: int) -> None:
    own = Settings(database=DatabaseSettings(folder=outer / "new" / "pg"))
    old = os.umask(umask)
    try:
        assert server.start(own).running
        data = server.cluster_of(own).data
        assert stat.S_IMODE(data.stat().st_mode) & 0o077 == 0, "the data are the server's alone"
    finally:
        os.umask(old)
        server.stop(own)


@pytest.mark.parametrize("umask", [0o022, 0o027, 0o077])
def test_the_folders_that_are_made_can_be_entered_by_the_servers_user(outer: Path, umask: int) -> None:
    old = os.umask(umask)
    try:
        Cluster(outer / "a" / "b" / "pg")._make_folder()
    finally:
        os.umask(old)
    modes = {stat.S_IMODE((outer / one).stat().st_mode) for one in ("a", "a/b", "a/b/pg")}
    assert modes == {0o755 if is_root() else 0o777 & ~umask}


@pytest.mark.fault("disk", tried="a home that cannot be written to, for a database", count=2)
@pytest.mark.parametrize("place", ["/proc/none/postgres", "/dev/null/postgres"])
def test_where_it_cannot_be_the_setting_is_named(place: str) -> None:
    with pytest.raises(StoreError, match=r"cannot be made .*database\.folder .*RAGBENCH_DATABASE__FOLDER"):
        Cluster(Path(place))._make_folder()


def test_the_address_of_a_folder_with_blanks_is_read_by_libpq() -> None:
    url = URL.create("postgresql", "ragbench", None, None, 5432, "ragbench", {"host": "/tmp/a b+c"})
    assert "+" not in masked(url)
    assert psycopg.conninfo.conninfo_to_dict(masked(url))["host"] == "/tmp/a b+c"
    own = written(url.set(drivername="postgresql+psycopg", password="a b+?c", host="h"))
    assert psycopg.conninfo.conninfo_to_dict(own) == {
        "host": "/tmp/a b+c", "user": "ragbench", "password": "a b+?c", "port": "5432", "dbname": "ragbench",
    }  # fmt: skip
