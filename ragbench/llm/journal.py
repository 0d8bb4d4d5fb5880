"""Replies that were paid for: the protocol that a store keeps, and the queue that brings it batches, not rows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from typing import Any, Generic, Protocol, TypeVar, cast

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Entry:
    """One reply with all that is needed to find, check, price and show it again.

    key: see `ragbench.llm.request.key_of`. judge: the name in ragbench.toml; endpoint: its base URL.
    request: `Request.as_json`. text, finish, refusal: the reply. seconds: what the model took.
    input_tokens, output_tokens: as reported or, where the endpoint does not report, estimated (`estimated`).
    """

    key: str
    judge: str
    endpoint: str
    model: str
    prompt: str
    version: int
    repeat: int
    request: Mapping[str, Any]
    text: str
    finish: str
    refusal: str | None
    input_tokens: int
    output_tokens: int
    estimated: bool
    cost: float
    seconds: float
    served_model: str | None = None

    def as_row(self) -> Row:
        """The entry as plain values by column name."""
        return {name: getattr(self, name) for name in COLUMNS}

    @classmethod
    def from_row(cls, row: Row) -> Entry:
        """The entry of a row; columns that it does not know are ignored."""
        return cls(**{name: row[name] for name in COLUMNS})


Row = Mapping[str, Any]
COLUMNS = tuple(column.name for column in fields(Entry))


class Journal(Protocol):
    """Where replies are kept, as rows of plain values (`Entry.as_row`), so that a store need not know this room.

    Both calls may block, and are made from a few threads at once.
    """

    def find(self, keys: Sequence[str]) -> Mapping[str, Row]:
        """The rows that exist, by key."""
        ...

    def record(self, rows: Sequence[Row]) -> Mapping[str, Row]:
        """Keep the rows; durable when this returns. The first one of a key wins, and is what is returned."""
        ...


@dataclass
class MemoryJournal:
    """A journal for as long as the process lives: equal questions are still asked only once."""

    rows: dict[str, Row] = field(default_factory=dict)

    def find(self, keys: Sequence[str]) -> Mapping[str, Row]:
        """See `Journal`."""
        return {key: self.rows[key] for key in keys if key in self.rows}

    def record(self, rows: Sequence[Row]) -> Mapping[str, Row]:
        """See `Journal`."""
        return {row["key"]: self.rows.setdefault(row["key"], row) for row in rows}


class Batches(Generic[Item, Result]):
    """Gathers single items while earlier batches are under way, and hands them over together.

    No timer: an item that finds a free lane goes at once, and a busy journal makes the batches larger.
    """

    def __init__(self, call: Callable[[Sequence[Item]], Sequence[Result]], lanes: int = 2, largest: int = 512) -> None:
        self._call = call
        self._lanes = lanes
        self._largest = largest
        self._pending: list[tuple[Item, asyncio.Future[Result]]] = []
        self._workers: set[asyncio.Task[None]] = set()
        self._threads = ThreadPoolExecutor(max_workers=lanes, thread_name_prefix="journal")

    async def __call__(self, item: Item) -> Result:
        """The result for this item; the batch goes on even if the caller is cancelled."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._pending.append((item, future))
        if len(self._workers) < min(self._lanes, len(self._pending)):
            self._workers.add(asyncio.create_task(self._drain()))
        return await future

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(0)
        while self._pending:
            batch, self._pending = self._pending[: self._largest], self._pending[self._largest :]
            try:
                results = await loop.run_in_executor(self._threads, self._call, [item for item, _ in batch])
            except Exception as error:
                for _, future in batch:
                    if not future.done():
                        future.set_exception(error)
                continue
            for (_, future), result in zip(batch, results, strict=True):
                if not future.done():
                    future.set_result(result)
        # at once, not by a callback later: an item that comes in between would wait for a worker that is gone
        self._workers.discard(cast("asyncio.Task[None]", asyncio.current_task()))

    async def flush(self) -> None:
        """Wait until everything handed in so far is through."""
        await asyncio.gather(*self._workers, return_exceptions=True)

    def close(self) -> None:
        """Let the threads end."""
        self._threads.shutdown(wait=False)


class Ledger:
    """A journal seen from the event loop: one entry at a time in, whole batches out.

    A journal in memory is asked at once; any other one from threads, one for finding and two for recording.
    """

    def __init__(self, journal: Journal) -> None:
        self._memory = journal if isinstance(journal, MemoryJournal) else None

        def found(keys: Sequence[str]) -> Sequence[Row | None]:
            rows = journal.find(sorted(set(keys)))
            return [rows.get(key) for key in keys]

        def recorded(rows: Sequence[Row]) -> Sequence[Row]:
            kept = journal.record(list({row["key"]: row for row in rows}.values()))
            return [kept[row["key"]] for row in rows]

        self._find: Batches[str, Row | None] = Batches(found, lanes=1)
        self._record: Batches[Row, Row] = Batches(recorded)

    async def find(self, key: str) -> Entry | None:
        """The entry of a key, if there is one."""
        row = self._memory.rows.get(key) if self._memory is not None else await self._find(key)
        return Entry.from_row(row) if row is not None else None

    async def record(self, entry: Entry) -> Entry:
        """Keep an entry; what the journal holds for its key from now on."""
        row = entry.as_row()
        if self._memory is not None:
            return Entry.from_row(self._memory.record([row])[entry.key])
        kept = await self._record(row)
        return entry if kept is row else Entry.from_row(kept)

    async def flush(self) -> None:
        """Wait until everything handed in so far is kept."""
        await self._record.flush()

    def close(self) -> None:
        """Let the threads end."""
        self._find.close()
        self._record.close()
