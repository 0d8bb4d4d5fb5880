"""The journal: every reply of a model that was paid for, durable before it is used, and what of it may leave."""

from __future__ import annotations

import asyncio
import datetime
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Connection, Engine, func, select, text

from ragbench.old.core.types import JournalSize
from ragbench.old.store.copying import cursor_of
from ragbench.old.store.database_tables import SCHEMA, journal, journal_use
from ragbench.old.store.errors import told_plainly
from ragbench.old.store.journal_connections import COLUMNS, RECORD, Accounts, JournalConnections, rows_as_json

Row = Mapping[str, Any]
BATCH = 500  # rows a statement; PostgreSQL takes 65,535 parameters
ROWS = select(*(journal.c[name] for name in COLUMNS))


class DatabaseJournal:
    """Rows of replies by key. The first row of a key stays; a later one with the same key changes nothing.

    revive: called while a server that went away is waited for, to start one that is ours (`server.start`).
    """

    def __init__(self, engine: Engine, revive: Callable[[], object] = lambda: None) -> None:
        self._engine, self._revive = engine, revive
        self._connections: dict[asyncio.AbstractEventLoop, JournalConnections] = {}

    def on_loop(self) -> JournalConnections:
        """The journal for the event loop that runs here, shared by all who ask on it, each of whom closes it once."""
        loop = asyncio.get_running_loop()
        if loop not in self._connections:
            self._connections[loop] = JournalConnections(
                self._engine, self._revive, lambda: self._connections.pop(loop, None)
            )
        self._connections[loop].users += 1
        return self._connections[loop]

    def accounts(self) -> Accounts:
        """What processes that keep their replies here share besides."""
        return Accounts(self.on_loop)

    def bring_in(self, rows: Iterable[Row]) -> tuple[int, int]:
        """Keep rows that were received elsewhere, marked so; how many they are, and how many of them are new here."""
        read = new = 0
        left = iter({**row, "imported": True} for row in rows)
        while batch := list(islice(left, BATCH)):
            with (
                told_plainly("writing the journal"),
                self._engine.begin() as connection,
                cursor_of(connection) as cursor,
            ):
                new += cursor.execute(RECORD, (rows_as_json(batch),)).rowcount
            read += len(batch)
        return read, new

    def rows(self, judge: str | None = None) -> Iterator[Row]:
        """All rows in the order of their keys, streamed; of one judge if named."""
        wanted = ROWS.order_by(journal.c.key.collate("C"))
        if judge is not None:
            wanted = wanted.where(journal.c.judge == judge)
        with told_plainly("reading the journal"), self._engine.connect() as connection:
            for row in connection.execution_options(yield_per=500).execute(wanted):
                yield dict(row._mapping)

    def rows_of(self, keys: Sequence[str]) -> Iterator[Row]:
        """The rows of these keys in their order, those that there are; not counted as use."""
        with told_plainly("reading the journal"), self._engine.connect() as connection:
            for start in range(0, len(keys), BATCH):
                some = keys[start : start + BATCH]
                wanted = ROWS.where(journal.c.key.in_(some))
                by_key = {row.key: dict(row._mapping) for row in connection.execute(wanted)}
                yield from (by_key[key] for key in some if key in by_key)

    def kept_before(self, keys: Sequence[str], seconds: float) -> dict[str, tuple[int, int]]:
        """By judge, how many of these replies were kept more than so many seconds ago, and how many there are.

        The seconds are told by the database's own clock; what is asked here is not counted as use.
        """
        before: Counter[str] = Counter()
        whole: Counter[str] = Counter()
        old = journal.c.recorded_at < func.now() - datetime.timedelta(seconds=seconds)
        with told_plainly("reading the journal"), self._engine.connect() as connection:
            for start in range(0, len(keys), BATCH):
                wanted = select(journal.c.judge, func.count(), func.count().filter(old)).group_by(journal.c.judge)
                for judge, count, older in connection.execute(
                    wanted.where(journal.c.key.in_(keys[start : start + BATCH]))
                ):
                    whole[judge] += count
                    before[judge] += older
        return {judge: (before[judge], whole[judge]) for judge in sorted(whole)}

    def sample(self, judge: str, model: str, rows: int) -> list[Row]:
        """So many rows of one judge and model, or all if it has fewer; keys are hashes, so their order is no order."""
        wanted = ROWS.where(journal.c.judge == judge, journal.c.model == model).order_by(journal.c.key).limit(rows)
        with told_plainly("reading the journal"), self._engine.connect() as connection:
            return [dict(row._mapping) for row in connection.execute(wanted)]

    def sizes(self) -> list[JournalSize]:
        """What the journal holds, by judge and model."""
        who = (journal.c.judge, journal.c.model)
        taken = (journal.c.input_tokens, journal.c.output_tokens, journal.c.cost, journal.c.seconds)
        wanted = select(*who, func.count(), *map(func.sum, taken)).group_by(*who).order_by(*who)
        with told_plainly("reading the journal"), self._engine.connect() as connection:
            return [
                JournalSize(judge, model, count, int(read), int(written), float(cost), float(seconds))
                for judge, model, count, read, written, cost, seconds in connection.execute(wanted)
            ]

    def bytes(self) -> dict[tuple[str, str], int]:
        """What the replies take, by judge and model, without indexes."""
        wanted = text(f"SELECT judge, model, sum({SIZE}) FROM {SCHEMA}.journal GROUP BY judge, model")  # noqa: S608
        with told_plainly("reading the journal"), self._engine.connect() as connection:
            return {(judge, model): int(size) for judge, model, size in connection.execute(wanted)}

    def use(self) -> dict[tuple[str, str], tuple[int, int]]:
        """(lookups, hits) by judge and model since the journal was made, all processes together.

        A lookup is a reply that was used: it was there (a hit), or its model was asked for it.
        """
        wanted = select(journal_use.c.judge, journal_use.c.model, journal_use.c.lookups, journal_use.c.hits)
        with told_plainly("reading the journal"), self._engine.connect() as connection:
            return {(judge, model): (int(n), int(hits)) for judge, model, n, hits in connection.execute(wanted)}


UNDER_WAY = datetime.timedelta(days=1)
"""Younger replies may be those of a run that is under way, and not yet known to be used."""
DELETED_AT_ONCE = 5_000  # keys a statement, so that none holds its locks for long
QUICK_BYTES = 2**28
"""So much is written anew within a few seconds, which a run that is under way waits through."""
NAME = "ragbench"  # of our connections, see `ragbench.old.store.database_tables`
ROW_HEAD = 28  # bytes of a row besides its columns

# column by column: the size of a whole row would fetch and unpack what is stored apart from it
SIZE = " + ".join([str(ROW_HEAD), *(f"coalesce(pg_column_size({column.name}), 0)" for column in journal.columns)])


_CONDITIONS = {
    "older": "recorded_at < now() - CAST(:older AS interval)",
    "judge": "judge = :judge",
    "model": "model = :model",
    "larger": f"{SIZE} > :larger",
}


@dataclass(frozen=True)
class Choice:
    """Which replies shall go: those for which everything that is named here holds.

    older: recorded so long ago. judge, model: of these names. larger: rows above so many bytes. unused: no kept run is
    made of them (see `unknown`). down_to: the oldest ones, until the rest of the journal takes so many bytes at most;
    of the rows for which all else holds.
    """

    older: datetime.timedelta | None = None
    judge: str | None = None
    model: str | None = None
    larger: int | None = None
    unused: bool = False
    down_to: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is named, which would choose the whole journal."""
        return self == Choice()


@dataclass(frozen=True)
class Share:
    """Rows of the journal by judge and model, with the bytes that they take."""

    judge: str
    model: str
    replies: int
    bytes: int
    cost: float


@dataclass(frozen=True)
class Shrunk:
    """Bytes of the journal's files before and after, and why they could not be given back, empty where they were."""

    before: int
    after: int
    why: str = ""


class Pruning:
    """The journal's rows of a choice. `Pruning(store.engine, choice)`.

    Raises ValueError for a choice that names nothing.
    """

    def __init__(self, engine: Engine, choice: Choice) -> None:
        if choice.is_empty:
            raise ValueError("nothing says which replies shall go")
        self._engine, self._choice = engine, choice

    def unknown(self) -> int:
        """How many runs of this database do not say which replies they used, such as those of other tools.

        `unused` spares every reply that was recorded before the last of them.
        """
        with told_plainly("reading the journal"), self._engine.connect() as connection:
            return int(connection.scalar(text(f"SELECT count(*) FROM ({_UNKNOWN}) AS one")) or 0)  # noqa: S608

    def shares(self) -> list[Share]:
        """What would go; nothing is changed."""
        chosen, values = self._chosen()
        wanted = text(
            f"SELECT judge, model, count(*), sum({SIZE}), sum(cost) FROM {SCHEMA}.journal "  # noqa: S608
            f"WHERE key IN ({chosen}) GROUP BY judge, model ORDER BY judge, model"
        )
        with told_plainly("reading the journal"), self._engine.connect() as connection:
            return [Share(judge, model, int(n), int(size), float(cost))
                    for judge, model, n, size, cost in connection.execute(wanted, values)]  # fmt: skip

    def delete(self, progress: Callable[[int], object] = lambda _: None) -> int:
        """Delete them, a batch at a time, each for good: killed in the middle, the same call goes on. How many went."""
        chosen, values = self._chosen()
        gone = 0
        with told_plainly("pruning the journal"):
            with self._engine.connect() as connection:
                keys = list(connection.scalars(text(chosen), values))
            for start in range(0, len(keys), DELETED_AT_ONCE):
                with self._engine.begin() as connection:
                    batch = {"keys": keys[start : start + DELETED_AT_ONCE]}
                    deleted = connection.execute(text(f"DELETE FROM {SCHEMA}.journal WHERE key = ANY(:keys)"), batch)  # noqa: S608
                    gone += deleted.rowcount
                progress(gone)
        return gone

    def _chosen(self) -> tuple[str, dict[str, Any]]:
        choice = self._choice
        named = {name: condition for name, condition in _CONDITIONS.items() if getattr(choice, name) is not None}
        conditions = ["TRUE", *named.values()]
        values: dict[str, Any] = {name: getattr(choice, name) for name in named}
        if choice.unused:
            conditions += [
                f"key NOT IN (SELECT unnest(keys) FROM {SCHEMA}.run_reply)",  # noqa: S608
                "recorded_at < now() - CAST(:under_way AS interval)",
                f"recorded_at > coalesce((SELECT max(recorded_at) FROM ({_UNKNOWN}) AS one), '-infinity')",  # noqa: S608
            ]
            values["under_way"] = UNDER_WAY
        query = f"SELECT key FROM {SCHEMA}.journal WHERE {' AND '.join(conditions)}"  # noqa: S608
        if choice.down_to is None:
            return query, values
        values["down_to"] = choice.down_to
        return (
            f"SELECT key FROM (SELECT key, sum(size) OVER (ORDER BY recorded_at, key) AS gone, total, size FROM "  # noqa: S608
            f"(SELECT key, recorded_at, {SIZE} AS size, "
            f"(SELECT sum({SIZE}) FROM {SCHEMA}.journal) AS total FROM {SCHEMA}.journal "
            f"WHERE key IN ({query})) AS sized) AS ordered WHERE total - (gone - size) > :down_to",
            values,
        )


_UNKNOWN = (
    f"SELECT recorded_at FROM {SCHEMA}.run WHERE origin = 'ragbench' "  # noqa: S608
    f"AND id NOT IN (SELECT run_id FROM {SCHEMA}.run_reply)"
)


def shrink(engine: Engine) -> Shrunk:
    """Give the room of deleted replies back to the disk: the journal is written anew, and nobody reads it meanwhile.

    While other processes work with this database, a large journal is left as it is: its replies would wait too long,
    and what was paid for could be lost. The room then serves new replies. Raises StoreError.
    """
    with told_plainly("giving the journal's room back"), engine.connect() as connection:
        alone = connection.execution_options(isolation_level="AUTOCOMMIT")
        before = _bytes(alone)
        others = int(alone.scalar(text(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = :name AND datname = current_database() "
            "AND pid <> pg_backend_pid()"), {"name": NAME}) or 0)  # fmt: skip
        alone.execute(text(f"VACUUM (ANALYZE) {SCHEMA}.journal"))
        if others and _bytes(alone, with_index=False) > QUICK_BYTES:
            return Shrunk(before, _bytes(alone), f"{others} other connections of ragbench work with this database")
        alone.execute(text("SET statement_timeout = 0"))
        try:
            alone.execute(text(f"VACUUM (FULL, ANALYZE) {SCHEMA}.journal"))
        finally:
            connection.invalidate()  # its time limit is gone
        with engine.connect() as fresh:
            return Shrunk(before, _bytes(fresh))


def _bytes(connection: Connection, *, with_index: bool = True) -> int:
    size = "pg_total_relation_size" if with_index else "pg_table_size"
    return int(connection.scalar(text(f"SELECT {size}('{SCHEMA}.journal')")) or 0)
