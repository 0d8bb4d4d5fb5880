"""The journal: every reply of a model that was paid for, durable before it is used, shared by all processes."""

from __future__ import annotations

import asyncio
import datetime
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import Engine, func, select, text

from ragbench.core.types import JournalSize
from ragbench.store.accounts import Accounts
from ragbench.store.copying import cursor_of
from ragbench.store.database_tables import SCHEMA, journal, journal_use
from ragbench.store.errors import told_plainly
from ragbench.store.journal_connections import COLUMNS, RECORD, Lanes, rows_as_json
from ragbench.store.pruning import SIZE

Row = Mapping[str, Any]
BATCH = 500
ROWS = select(*(journal.c[name] for name in COLUMNS))


class DatabaseJournal:
    """Rows of replies by key. The first row of a key stays; a later one with the same key changes nothing.

    revive: called while a server that went away is waited for, to start one that is ours (`server.start`).
    """

    def __init__(self, engine: Engine, revive: Callable[[], object] = lambda: None) -> None:
        self._engine, self._revive = engine, revive
        self._lanes: dict[asyncio.AbstractEventLoop, Lanes] = {}

    def on_loop(self) -> Lanes:
        """The journal for the event loop that runs here, shared by all who ask on it, each of whom closes it once."""
        loop = asyncio.get_running_loop()
        if loop not in self._lanes:
            self._lanes[loop] = Lanes(self._engine, self._revive, lambda: self._lanes.pop(loop, None))
        self._lanes[loop].users += 1
        return self._lanes[loop]

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
