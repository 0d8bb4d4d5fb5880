"""Runs in the database: recorded whole or not at all, listed, found by a name or its beginning, deleted."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from psycopg import sql
from sqlalchemy import Connection, Engine, Table, delete, func, or_, select, update

from ragbench.old.store.copying import cursor_of
from ragbench.old.store.database_tables import (
    SCHEMA,
    run,
    run_comparison,
    run_part,
    run_question,
    run_reply,
    run_score,
    run_value,
)
from ragbench.old.store.errors import StoreError, told_plainly
from ragbench.old.store.run_records import (
    RunPart,
    RunRecord,
    RunScores,
    RunStatus,
    RunValue,
    entitled,
    plain_json,
    plain_text,
)

NAMING = 0x7261_6772  # with a hash of the run's id: the advisory lock of whoever records a run of that name
NEWEST_FIRST = (run.c.started_at.desc().nulls_last(), run.c.id.desc())


SHOWN = 8
"""Runs that are named where one was not found."""


def only(name: str, runs: Sequence[str]) -> str:
    """The one run that is called so. Raises StoreError, with all of them, where there are several."""
    if len(runs) == 1:
        return runs[0]
    told = ", ".join(runs[:10]) + (" …" if len(runs) > 10 else "")
    raise StoreError(f"{len(runs)} runs are called {name!r}: {told}; say which by its id")


class Runs:
    """The runs that a database keeps. `Runs(store.engine)`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def record(self, record: RunRecord) -> str:
        """Keep a run; the id that it has from now on, which differs from `record.id` where another run has that name.

        A run of the same id and folder (or, without a folder, of the same origin) is replaced. All or nothing.
        Raises StoreError.
        """
        with told_plainly(f"recording the run {record.id}"), self._engine.begin() as connection:
            # runs of one name take turns: two at the same time would both find it free
            connection.execute(select(func.pg_advisory_xact_lock(NAMING, func.hashtext(record.id))))
            name = self._free(connection, record)
            connection.execute(delete(run).where(run.c.id == name))
            connection.execute(
                run.insert().values(
                    id=name,
                    started_at=record.started,
                    status=record.status,
                    origin=record.origin,
                    seconds=record.seconds,
                    folder=None if record.folder is None else str(record.folder),
                    identities=json.loads(plain_json(record.identities)),
                    manifest=json.loads(plain_json(record.manifest)),
                )
            )
            _copy(connection, run_part, _rows(name, run_part, record.parts))
            _copy(connection, run_value, _rows(name, run_value, record.values))
            _copy(
                connection,
                run_comparison,
                ((name, n, plain_json(comparison)) for n, comparison in enumerate(record.comparisons)),
            )
            for scores in record.scores:
                clusters = None if scores.clusters is None else list(scores.clusters)
                row = (name, scores.notebook, list(scores.samples), list(scores.fingerprints), clusters)
                _copy(connection, run_question, [row])
                columns = (
                    (name, scores.notebook, system, metric, np.asarray(values, float).tolist())
                    for (system, metric), values in scores.values.items()
                )
                _copy(connection, run_score, columns)
            if record.replies is not None:
                _copy(connection, run_reply, [(name, list(record.replies))])
        return name

    def records(self, limit: int | None = None, within: Path | None = None) -> list[RunRecord]:
        """The runs, newest first, with their parts and numbers and without scores question by question.

        within: only those whose folder lies in this one, and those that have none.
        """
        wanted = select(run.c.id).order_by(*NEWEST_FIRST).limit(limit)
        if within is not None:
            inside = run.c.folder.startswith(f"{within}{os.sep}", autoescape=True)
            wanted = wanted.where(or_(inside, run.c.folder.is_(None)))
        with told_plainly("listing runs"), self._engine.connect() as connection:
            names = list(connection.scalars(wanted))
            by_name = {record.id: record for record in _read(connection, names, scores=False)}
        return [by_name[name] for name in names]

    def names(self) -> list[str]:
        """The ids of all runs, newest first."""
        with told_plainly("listing runs"), self._engine.connect() as connection:
            return list(connection.scalars(select(run.c.id).order_by(*NEWEST_FIRST)))

    def resolve(self, name: str) -> str:
        """The id that a name means: an id, what only one run is called, or the beginning of only one id.

        Raises StoreError, with what there is, for anything else.
        """
        with told_plainly("looking for a run"), self._engine.connect() as connection:
            if connection.scalar(select(run.c.id).where(run.c.id == name)) is not None:
                return name
            called = run.c.manifest["name"].astext == plain_text(name)
            same = list(connection.scalars(select(run.c.id).where(called).order_by(*NEWEST_FIRST)))
            begins = run.c.id.startswith(name, autoescape=True)
            begun = list(connection.scalars(select(run.c.id).where(begins).order_by(run.c.id)))
        if same:
            return only(name, same)
        if len(begun) == 1:
            return str(begun[0])
        if begun:
            shown = ", ".join(begun[:5]) + (" …" if len(begun) > 5 else "")
            raise StoreError(f"{name!r} begins the names of {len(begun)} runs: {shown}; give more of it")
        raise StoreError(f"there is no run {name!r}{self._those_there_are()}")

    def in_folder(self, folder: Path) -> str | None:
        """The id of the run whose pages lie in a folder; None where it is not kept."""
        with told_plainly("looking for a run"), self._engine.connect() as connection:
            return connection.scalar(select(run.c.id).where(run.c.folder == str(folder)).order_by(*NEWEST_FIRST))

    def entitle(self, name: str, said: Mapping[str, str]) -> str:
        """Say of a run what it is called (`name`) and what is said of it (`note`); an empty text takes it away.

        What `said` does not name stays. Its id; raises StoreError for a name of none (see `resolve`).
        """
        resolved = self.resolve(name)
        with told_plainly(f"renaming the run {resolved}"), self._engine.begin() as connection:
            own = select(run.c.manifest).where(run.c.id == resolved).with_for_update()
            manifest = entitled(connection.scalar(own) or {}, said)
            connection.execute(update(run).where(run.c.id == resolved).values(manifest=manifest))
        return resolved

    def find(self, name: str) -> RunRecord:
        """The run of that name (see `resolve`) with all that is kept of it. Raises StoreError."""
        resolved = self.resolve(name)
        with told_plainly(f"reading the run {resolved}"), self._engine.connect() as connection:
            records = _read(connection, [resolved], scores=True)
        if not records:
            raise StoreError(f"the run {resolved} was deleted just now; `ragbench runs` lists those that are kept")
        return records[0]

    def delete(self, name: str) -> str:
        """Forget a run; its folder of pages stays. The id that was deleted. Raises StoreError for a name of none."""
        resolved = self.resolve(name)
        with told_plainly(f"deleting the run {resolved}"), self._engine.begin() as connection:
            connection.execute(delete(run).where(run.c.id == resolved))
        return resolved

    def _those_there_are(self) -> str:
        """The newest runs with their names, as the end of a sentence that misses one."""
        with told_plainly("listing runs"), self._engine.connect() as connection:
            columns = (run.c.id, run.c.manifest["name"].astext)
            rows = connection.execute(select(*columns).order_by(*NEWEST_FIRST).limit(SHOWN + 1)).all()
        if not rows:
            return ": no run is kept yet, `ragbench run` makes one"
        told = ", ".join(f"{run_id} ({name})" if name else run_id for run_id, name in rows[:SHOWN])
        return f"; there are {told}" + ("" if len(rows) <= SHOWN else " …") + "; `ragbench runs` says more of them"

    def _free(self, connection: Connection, record: RunRecord) -> str:
        """The record's id, or the id with a number where another run has it."""
        number = 1
        while True:
            name = record.id if number == 1 else f"{record.id}~{number}"
            known = connection.execute(select(run.c.folder, run.c.origin).where(run.c.id == name)).one_or_none()
            folder = None if record.folder is None else str(record.folder)
            if known is None or (known.folder == folder and known.origin == record.origin):
                return name
            number += 1


def _rows(name: str, table: Table, records: Iterable[Any]) -> Iterable[tuple[Any, ...]]:
    """Records of a run as rows of a table whose columns, after its id and their position, are their fields."""
    for position, record in enumerate(records):
        yield (name, position, *(_kept(getattr(record, column.name)) for column in list(table.columns)[2:]))


def _kept(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else plain_json(value) if isinstance(value, Mapping) else value


def _copy(connection: Connection, table: Table, rows: Iterable[tuple[Any, ...]]) -> None:
    columns = sql.SQL(", ").join(sql.Identifier(column.name) for column in table.columns)
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(SCHEMA, table.name), columns)
    with cursor_of(connection) as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def _read(connection: Connection, names: Sequence[str], *, scores: bool) -> list[RunRecord]:
    """The runs of these ids, in no order."""

    def rows(table: Table, *order: Any) -> dict[str, list[Any]]:
        by: dict[str, list[Any]] = {}
        wanted = select(table).where(table.c.run_id.in_(names)).order_by(table.c.run_id, *order)
        for row in connection.execute(wanted):
            by.setdefault(row.run_id, []).append(row)
        return by

    parts, values = rows(run_part, run_part.c.position), rows(run_value, run_value.c.position)
    comparisons = rows(run_comparison, run_comparison.c.position)
    questions = rows(run_question, run_question.c.notebook) if scores else {}
    columns = rows(run_score, run_score.c.notebook) if scores else {}
    replies = rows(run_reply) if scores else {}
    return [
        RunRecord(
            id=row.id,
            started=row.started_at,
            status=cast(RunStatus, row.status),
            origin=row.origin,
            seconds=row.seconds,
            folder=None if row.folder is None else Path(row.folder),
            identities=row.identities,
            manifest=row.manifest,
            parts=tuple(RunPart(**_fields(part)) for part in parts.get(row.id, ())),
            values=tuple(_value(value) for value in values.get(row.id, ())),
            comparisons=tuple(comparison.finding for comparison in comparisons.get(row.id, ())),
            scores=tuple(_scores(question, columns.get(row.id, ())) for question in questions.get(row.id, ())),
            replies=tuple(replies[row.id][0]._mapping["keys"]) if row.id in replies else None,
        )
        for row in connection.execute(select(run).where(run.c.id.in_(names)))
    ]


def _fields(row: Any) -> dict[str, Any]:
    """A row of `_rows` as the fields of its record."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in list(row._mapping.items())[2:]}


def _value(row: Any) -> RunValue:
    fields = _fields(row)
    bounds = (fields.pop("scale_low"), fields.pop("scale_high"))
    return RunValue(**fields, bounds=bounds)


def _scores(row: Any, columns: Sequence[Any]) -> RunScores:
    own = {
        (column.system, column.metric): np.array(column._mapping["values"], float)
        for column in columns
        if column.notebook == row.notebook
    }
    clusters = None if row.clusters is None else tuple(row.clusters)
    return RunScores(row.notebook, tuple(row.samples), tuple(row.fingerprints), clusters, own)
