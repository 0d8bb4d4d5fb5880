"""The store: opened, migrated, filled and searched in a real server."""

from __future__ import annotations

from ragbench.settings import Settings
from ragbench.store import Store
from ragbench.store.engine import head


def test_opening_twice_migrates_once(store: Store, database_settings: Settings) -> None:
    from sqlalchemy import text

    with Store.open(database_settings) as again, again.engine.connect() as connection:
        assert connection.scalars(text("SELECT version_num FROM ragbench.alembic_version")).all() == [head()]
