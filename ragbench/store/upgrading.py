"""A database of before, brought up to this ragbench: its tables, and the PostgreSQL that reads its files.

PostgreSQL does not read the files of another major version of itself. Where the wheel still brings the older one, that
one is started once more, all it keeps is written to a file, its folder is put aside, and a new one is filled from the
file. Killed at any point, the same command goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import Engine

from ragbench.settings import Settings
from ragbench.store import dumps, server
from ragbench.store.cluster import MAJOR, UPGRADE, Cluster
from ragbench.store.engine import migrate, version_of
from ragbench.store.errors import StoreError, told_plainly


@dataclass(frozen=True)
class Upgraded:
    """Versions of the tables and of PostgreSQL before and after; None before for a database that was not there.

    aside: where the older PostgreSQL's files are now, None where none were put aside.
    """

    tables_before: str | None
    tables: str | None
    postgresql_before: int | None = None
    postgresql: int | None = None
    aside: Path | None = None


def upgrade(settings: Settings) -> Upgraded:
    """Bring the database up to this version of ragbench. Raises StoreError; then nothing is lost."""
    if settings.database_url is not None:
        return Upgraded(*_migrated(settings))
    cluster = server.cluster_of(settings)
    with cluster.locked(2 * settings.database.connect_seconds, "upgrade-lock"):
        before = cluster.made_by
        aside = _put_aside(settings, replace(cluster, major=before)) if before not in (None, MAJOR) else None
        waiting = cluster.folder / UPGRADE
        server.start(settings, upgrading=True)
        if waiting.is_file():
            with server.connected(settings) as engine:
                dumps.restore(engine, waiting, replace=True)
            waiting.unlink()
        return Upgraded(*_migrated(settings), before, MAJOR, aside)


def _migrated(settings: Settings) -> tuple[str | None, str | None]:
    with server.connected(settings) as engine:
        before = _version(engine)
        migrate(engine)
        return before, _version(engine)


def _version(engine: Engine) -> str | None:
    with told_plainly("reading the database's version"), engine.connect() as connection:
        return version_of(connection)


def _put_aside(settings: Settings, older: Cluster) -> Path:
    """Dump what an older PostgreSQL keeps, stop it, and rename its data directory; its new path."""
    seconds = settings.database.connect_seconds
    aside = older.folder / f"data-{older.major}"
    if aside.exists():
        raise StoreError(f"{aside} is there already: move it away, then run `ragbench db upgrade` again")
    with older.locked(2 * seconds):
        if older.pid() is None:
            older.launch(seconds)
        with server.connected(settings) as engine:
            if _version(engine) is not None:
                dumps.dump(engine, older.folder / UPGRADE)
        older.shut_down(seconds)
        older.data.rename(aside)
    return aside
