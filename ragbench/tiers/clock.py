"""Clock readings, kept for the same inputs: a page made again is then the same page."""

from __future__ import annotations

import hashlib
import io
import json
import os
from typing import TYPE_CHECKING, Any

import pandas as pd

from ragbench.core.folders import RUN_FOLDER

if TYPE_CHECKING:
    import sqlalchemy as sa

    from ragbench.store import Store


def is_used(store: Store) -> bool:
    """Tell whether a database is in use anyway: here, or by the other pages of a run."""
    return store.is_connected or RUN_FOLDER in os.environ


def find_readings(store: Store, inputs: Any) -> pd.DataFrame | None:
    """Return the readings that are kept for these inputs; None where there are none.

    inputs: whatever the readings hang on, as JSON knows it. Where no database is in use anyway,
    none is started to look into it.
    """
    if not is_used(store):
        return None
    import sqlalchemy as sa

    table = readings_table()
    with store.engine.begin() as connection:
        table.create(connection, checkfirst=True)
        kept = connection.scalar(sa.select(table.c.readings).where(table.c.key == hash_of(inputs)))
    return None if kept is None else read_frame(kept)


def keep_readings(store: Store, inputs: Any, readings: pd.DataFrame) -> pd.DataFrame:
    """Keep readings in place of older ones; return them as they will be found the next time."""
    if not is_used(store):
        return readings
    from sqlalchemy.dialects.postgresql import insert

    text = readings.to_json(orient="table", index=False, double_precision=15)
    table = readings_table()
    statement = insert(table).values(key=hash_of(inputs), readings=text)
    statement = statement.on_conflict_do_update(index_elements=["key"], set_={"readings": text})
    with store.engine.begin() as connection:
        table.create(connection, checkfirst=True)
        connection.execute(statement)
    return read_frame(text)


def hash_of(inputs: Any) -> str:
    """Return what inputs are known by."""
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def read_frame(text: str) -> pd.DataFrame:
    """Return a frame of its JSON."""
    return pd.read_json(io.StringIO(text), orient="table")


def readings_table() -> sa.Table:
    """Return the table of readings: what they hang on, as a hash, and a frame as JSON."""
    import sqlalchemy as sa

    return sa.Table(
        "readings",
        sa.MetaData(schema="ragbench"),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("readings", sa.Text, nullable=False),
    )
