"""Readings of a clock: taken once for the same inputs and kept, because a page that is drawn again must not change."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sqlalchemy import Engine, select
from sqlalchemy.dialects.postgresql import insert

from ragbench.store.errors import told_plainly
from ragbench.store.tables import timing
from ragbench.types import Array

Readings = Mapping[str, Array]
DIGITS = 6


def kept(engine: Engine, about: Mapping[str, Any], measure: Callable[[], Readings], *, fresh: bool) -> Readings:
    """The readings that are kept of `about`; measured and kept where there are none, or where `fresh` asks for new.

    about: plain JSON values that name everything the readings depend on, but the machine. measure: name → (n,)
    readings, NaN where one failed; kept with six decimals. Of two processes that measure the same at the same time,
    the first one's readings stay.
    """
    text = json.dumps(about, sort_keys=True, ensure_ascii=False, allow_nan=False)
    key = hashlib.sha256(text.encode()).hexdigest()
    if not fresh:
        known = _read(engine, key)
        if known is not None:
            return known
    row = {"key": key, "about": dict(about), "readings": {name: _plain(each) for name, each in measure().items()}}
    new = insert(timing).values(row)
    same = {"about": new.excluded.about, "readings": new.excluded.readings, "measured_at": new.excluded.measured_at}
    statement = new.on_conflict_do_update(index_elements=["key"], set_=same) if fresh else new.on_conflict_do_nothing()
    with told_plainly("keeping clock readings"), engine.begin() as connection:
        connection.execute(statement)
    found = _read(engine, key)
    assert found is not None, "a row that was just kept is there"
    return found


def _read(engine: Engine, key: str) -> Readings | None:
    with told_plainly("reading clock readings"), engine.begin() as connection:
        found = connection.scalar(select(timing.c.readings).where(timing.c.key == key))
    if found is None:
        return None
    return {name: np.array([np.nan if one is None else one for one in each], float) for name, each in found.items()}


def _plain(readings: Array) -> list[float | None]:
    return [round(float(one), DIGITS) if np.isfinite(one) else None for one in readings]
