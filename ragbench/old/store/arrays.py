"""What is taken once and kept, known by its inputs: arrays that take long to make, readings of a clock.

They can be made again, so nothing is lost with them: those that were not read for longest leave where all together
take more than MOST_BYTES, what cannot be read is made anew, and a dump leaves them out.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine, select, text
from sqlalchemy.dialects.postgresql import insert

from ragbench.old.core.settings import BESIDE
from ragbench.old.core.types import Array
from ragbench.old.store.copying import cursor_of
from ragbench.old.store.database_tables import SCHEMA, array_set, timing
from ragbench.old.store.errors import DisturbedClockError, told_plainly

Arrays = Mapping[str, NDArray[Any]]
BLOCK = 2**23
"""Bytes of a row: PostgreSQL takes a gigabyte at most, and has a row in memory more than once."""
MOST_BYTES = 2**32  # of all arrays together; those that were read longest ago go


def kept(engine: Engine, about: Mapping[str, Any], make: Callable[[], Arrays]) -> Arrays:
    """The arrays that are kept of `about`; made and kept where there are none, or where they are damaged.

    about: plain JSON values that name everything they depend on. make: name → array of numbers, bytes or truth values.
    Raises StoreError.
    """
    key = _key(about)
    with told_plainly("reading arrays"), engine.begin() as connection:
        arrays = _read(connection, key)
    if arrays is None:
        arrays = make()
        with told_plainly("keeping arrays"), engine.begin() as connection:
            _keep(connection, key, about, arrays)
    return arrays


def are_kept(engine: Engine, about: Mapping[str, Any]) -> bool:
    """Whether arrays are kept of `about`. Raises StoreError."""
    wanted = select(array_set.c.id).where(array_set.c.key == _key(about))
    with told_plainly("looking for arrays"), engine.begin() as connection:
        return connection.scalar(wanted) is not None


def _key(about: Mapping[str, Any]) -> bytes:
    told = json.dumps(about, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(told.encode()).digest()


def _read(connection: Connection, key: bytes) -> Arrays | None:
    """None also where a block is lost or has changed: the checksums of a ZIP tell."""
    row = array_set.c
    number = connection.scalar(select(row.id).where(row.key == key))
    if number is None:
        return None
    connection.execute(
        text(f"UPDATE {SCHEMA}.array_set SET read_at = now() WHERE id = :id AND read_at < now() - interval '1 hour'"),  # noqa: S608
        {"id": number},
    )
    whole = io.BytesIO()
    blocks = f"COPY (SELECT content FROM {SCHEMA}.array_block WHERE array_set_id = {number:d} ORDER BY position) "  # noqa: S608
    with cursor_of(connection) as cursor, cursor.copy(f"{blocks} TO STDOUT (FORMAT BINARY)") as copy:
        copy.set_types(["bytea"])
        for (content,) in copy.rows():
            whole.write(content)
    whole.seek(0)
    try:
        with np.load(whole, allow_pickle=False) as file:
            return dict(file)
    except (ValueError, EOFError, zipfile.BadZipFile):
        return None


def _keep(connection: Connection, key: bytes, about: Mapping[str, Any], arrays: Arrays) -> None:
    """In the place of what was damaged; of two that made the same, the later one's stay."""
    content = io.BytesIO()
    np.savez(content, allow_pickle=False, **arrays)
    whole = content.getbuffer()
    connection.execute(array_set.delete().where(array_set.c.key == key))
    row = {"key": key, "about": dict(about), "bytes": len(whole)}
    number = connection.scalar(insert(array_set).values(row).on_conflict_do_nothing().returning(array_set.c.id))
    if number is None:
        return
    into = f"COPY {SCHEMA}.array_block (array_set_id, position, content) FROM STDIN (FORMAT BINARY)"
    with cursor_of(connection) as cursor, cursor.copy(into) as copy:
        copy.set_types(["int4", "int4", "bytea"])
        for position, start in enumerate(range(0, len(whole), BLOCK)):
            copy.write_row((number, position, whole[start : start + BLOCK]))
    connection.execute(
        text(
            f"DELETE FROM {SCHEMA}.array_set WHERE id IN (SELECT id FROM (SELECT id, sum(bytes) OVER "  # noqa: S608
            f"(ORDER BY id = :id DESC, read_at DESC, id DESC) AS so_far FROM {SCHEMA}.array_set) AS sized "
            "WHERE so_far > :most AND id <> :id)"
        ),
        {"id": number, "most": MOST_BYTES},
    )


Readings = Mapping[str, Array]
DIGITS = 6  # of seconds: two readings differ by more than a microsecond


def kept_readings(
    engine: Engine, about: Mapping[str, Any], measure: Callable[[], Readings], *, fresh: bool
) -> Readings:
    """The readings that are kept of `about`; measured and kept where there are none, or where `fresh` asks for new.

    about: plain JSON values that name everything the readings depend on, but the machine. measure: name → (n,)
    readings, NaN where one failed; kept with six decimals. Of two processes that measure the same at the same time,
    the first one's readings stay. Raises DisturbedClockError where they are not kept and RAGBENCH_BESIDE is set.
    """
    key = _key(about).hex()
    if not fresh:
        known = _readings(engine, key)
        if known is not None:
            return known
    if BESIDE in os.environ:
        raise DisturbedClockError("no clock is read while other notebooks run beside; it is read when they are done")
    row = {"key": key, "about": dict(about), "readings": {name: _plain(each) for name, each in measure().items()}}
    new = insert(timing).values(row)
    same = {"about": new.excluded.about, "readings": new.excluded.readings, "measured_at": new.excluded.measured_at}
    statement = new.on_conflict_do_update(index_elements=["key"], set_=same) if fresh else new.on_conflict_do_nothing()
    with told_plainly("keeping clock readings"), engine.begin() as connection:
        connection.execute(statement)
    now = _readings(engine, key)
    assert now is not None, "a row that was just kept is there"
    return now


def found(engine: Engine, about: Sequence[Mapping[str, Any]]) -> list[Readings]:
    """The readings that are kept of any of these; those of which there are none are left out."""
    wanted = select(timing.c.readings).where(timing.c.key.in_([_key(subject).hex() for subject in about]))
    with told_plainly("reading clock readings"), engine.begin() as connection:
        return [_arrays(readings) for readings in connection.scalars(wanted)]


def has_any(engine: Engine, about: Mapping[str, Any]) -> bool:
    """Whether readings are kept of something that these values are part of."""
    wanted = select(timing.c.key).where(timing.c.about.contains(dict(about))).limit(1)
    with told_plainly("looking for clock readings"), engine.begin() as connection:
        return connection.scalar(wanted) is not None


def _readings(engine: Engine, key: str) -> Readings | None:
    with told_plainly("reading clock readings"), engine.begin() as connection:
        readings = connection.scalar(select(timing.c.readings).where(timing.c.key == key))
    return None if readings is None else _arrays(readings)


def _arrays(readings: Mapping[str, Any]) -> Readings:
    return {
        name: np.array([np.nan if reading is None else reading for reading in each], float)
        for name, each in readings.items()
    }


def _plain(readings: Array) -> list[float | None]:
    return [round(float(reading), DIGITS) if np.isfinite(reading) else None for reading in readings]
