"""Readings of a clock: taken once for the same inputs and kept, because a page that is drawn again must not change."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Engine, select
from sqlalchemy.dialects.postgresql import insert

from ragbench.core.settings import BESIDE
from ragbench.core.types import Array
from ragbench.store.database_tables import timing
from ragbench.store.errors import DisturbedClockError, told_plainly

Readings = Mapping[str, Array]
DIGITS = 6


def kept(engine: Engine, about: Mapping[str, Any], measure: Callable[[], Readings], *, fresh: bool) -> Readings:
    """The readings that are kept of `about`; measured and kept where there are none, or where `fresh` asks for new.

    about: plain JSON values that name everything the readings depend on, but the machine. measure: name → (n,)
    readings, NaN where one failed; kept with six decimals. Of two processes that measure the same at the same time,
    the first one's readings stay. Raises DisturbedClockError where they are not kept and RAGBENCH_BESIDE is set.
    """
    key = _key(about)
    if not fresh:
        known = _read(engine, key)
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
    now = _read(engine, key)
    assert now is not None, "a row that was just kept is there"
    return now


def found(engine: Engine, about: Sequence[Mapping[str, Any]]) -> list[Readings]:
    """The readings that are kept of any of these; those of which there are none are left out."""
    wanted = select(timing.c.readings).where(timing.c.key.in_([_key(subject) for subject in about]))
    with told_plainly("reading clock readings"), engine.begin() as connection:
        return [_arrays(readings) for readings in connection.scalars(wanted)]


def has_any(engine: Engine, about: Mapping[str, Any]) -> bool:
    """Whether readings are kept of something that these values are part of."""
    wanted = select(timing.c.key).where(timing.c.about.contains(dict(about))).limit(1)
    with told_plainly("looking for clock readings"), engine.begin() as connection:
        return connection.scalar(wanted) is not None


def _key(about: Mapping[str, Any]) -> str:
    text = json.dumps(about, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _read(engine: Engine, key: str) -> Readings | None:
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
