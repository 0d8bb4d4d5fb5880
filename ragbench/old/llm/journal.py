"""Replies that were paid for: the protocol that a store keeps, and the queue that brings it batches, not rows.

Journals travel as JSON lines, so that a reader without a key can make a published report again; what the processes of a
run spend, and how fast they ask, is kept beside the replies (`Accounts`).
"""

from __future__ import annotations

import asyncio
import gzip
import json
import math
import os
import platform
import re
import zlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import IO, Any, Generic, NamedTuple, Protocol, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from ragbench.old.core import folders
from ragbench.old.core.expectations import expectation
from ragbench.old.core.folders import whole
from ragbench.old.core.settings import RUN, RUN_FOLDER
from ragbench.old.core.settings.secrets import Mask, exact_masker, excerpt, masked
from ragbench.old.core.types import Status
from ragbench.old.core.types.reason import Reason
from ragbench.old.llm.errors import CallFailed
from ragbench.old.llm.reply import MOST_TOKENS
from ragbench.old.llm.request import UNSENT, key_of

FINDING, RECORDING = 1, 2
"""So many batches of each kind are under way at the same time."""
PACE_SECONDS = 0.002
"""No two batches of one kind begin closer together."""
POLL_SECONDS = 0.1
"""So often it is looked whether another process has the reply that is waited for."""

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Entry:
    """One reply with all that is needed to find, check, price and show it again.

    key: see `ragbench.old.llm.request.key_of`. judge: the name in ragbench.toml; endpoint: its base URL.
    request: `Request.as_json`, with what of it was not sent (UNSENT). text, finish, refusal: the reply. seconds: what
    the model took.
    input_tokens, output_tokens: as reported or, where the endpoint does not report, estimated (`estimated`). imported:
    whether it came in a file, from somebody who says that a model gave it.
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
    imported: bool = False

    @property
    def unsent(self) -> str:
        """What of the request was left out, because the endpoint is known to refuse or ignore it, parted by blanks."""
        return str(self.request.get(UNSENT, ""))

    def as_row(self) -> Row:
        """The entry as plain values by column name."""
        return {name: getattr(self, name) for name in COLUMNS}

    @classmethod
    def from_row(cls, row: Row) -> Entry:
        """The entry of a row; columns that it does not know are ignored."""
        return cls(**{name: row[name] for name in COLUMNS})


Row = Mapping[str, Any]
COLUMNS = tuple(column.name for column in fields(Entry))


class LoopJournal(Protocol):
    """A journal for one event loop, as rows of plain values (`Entry.as_row`), so that a store need not know this room.

    It knows who asks for what.
    """

    async def find(self, keys: Sequence[str]) -> Mapping[str, Row]:
        """The rows that exist, by key."""

    async def claim(self, keys: Sequence[str]) -> tuple[Mapping[str, Row], set[str]]:
        """The rows that exist, by key, and the keys without one that nobody else is asking for: ours until `release`.

        A process that ends, however it does, lets go of its claims.
        """

    def release(self, key: str) -> None:
        """Let go of a key; one that is not claimed stays so."""

    async def record(self, rows: Sequence[Row]) -> Mapping[str, Row]:
        """Keep the rows; durable when this returns. The first one of a key wins, and is what is returned.

        A row that cannot be kept as it is costs no other one: it is left out of what is returned.
        """

    async def close(self) -> None:
        """Let connections go."""


class Journal(Protocol):
    """Where replies are kept."""

    def on_loop(self) -> LoopJournal:
        """For the loop that runs here, to be closed on it."""

    def accounts(self) -> Accounts | None:
        """What processes that keep their replies here share besides; None where there is no other process."""


@dataclass
class MemoryJournal:
    """A journal for as long as the process lives: equal questions are still asked only once."""

    rows: dict[str, Row] = field(default_factory=dict)

    def on_loop(self) -> MemoryJournal:
        return self

    def accounts(self) -> None:
        """Nobody shares it."""

    async def find(self, keys: Sequence[str]) -> Mapping[str, Row]:
        return {key: self.rows[key] for key in keys if key in self.rows}

    async def claim(self, keys: Sequence[str]) -> tuple[Mapping[str, Row], set[str]]:
        """See `LoopJournal`; nobody else can ask."""
        rows = await self.find(keys)
        return rows, set(keys) - rows.keys()

    def release(self, key: str) -> None:
        """Nobody waits for it."""

    async def record(self, rows: Sequence[Row]) -> Mapping[str, Row]:
        return {row["key"]: self.rows.setdefault(row["key"], row) for row in rows}

    async def close(self) -> None:
        """Nothing is open."""


class Batches(Generic[Item, Result]):
    """Gathers single items while earlier batches are under way, and hands them over together.

    An item that finds a free worker goes at once, unless the batch before it began less than `PACE_SECONDS` ago: so few
    items wait for nothing, and many go together, which costs a fraction of going one by one.
    """

    def __init__(
        self, call: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]], at_once: int = 2, largest: int = 256
    ) -> None:
        self._call, self._at_once, self._largest = call, at_once, largest
        self._pending: list[tuple[Item, asyncio.Future[Result]]] = []
        self._workers: set[asyncio.Task[None]] = set()
        self._began = -math.inf

    def __call__(self, item: Item) -> asyncio.Future[Result]:
        """The result for this item, to be awaited; the batch goes on even if nobody waits any more."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._pending.append((item, future))
        if len(self._workers) < min(self._at_once, len(self._pending)):
            self._workers.add(asyncio.create_task(self._drain()))
        return future

    async def _drain(self) -> None:
        clock = asyncio.get_running_loop().time
        while self._pending:
            if (early := self._began + PACE_SECONDS - clock()) > 0:
                await asyncio.sleep(early)
            self._began = clock()
            batch, self._pending = self._pending[: self._largest], self._pending[self._largest :]
            if not batch:
                break
            try:
                results = await self._call([item for item, _ in batch])
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


class Ledger:
    """A journal seen from one event loop: one entry at a time in, whole batches out.

    patience: so many seconds without a reply of others are waited for a key that another process asks for.
    """

    def __init__(self, journal: Journal, patience: float) -> None:
        self._journal = journal
        self._uses = Uses(kept=not isinstance(journal, MemoryJournal))
        self._open: LoopJournal | None = None
        self._patience = patience
        self._heard = -math.inf
        self._ours: set[str] = set()
        self._claim: Batches[str, tuple[Row | None, bool]] = Batches(self._claimed, at_once=FINDING)
        self._record: Batches[Row, Row | None] = Batches(self._recorded, at_once=RECORDING)

    async def claim(self, key: str) -> Entry | None:
        """The entry of a key; None where it is for the caller to ask, who lets the key go afterwards (`release`).

        While another process asks for it, its reply is waited for. No key is waited for by one who holds it, so
        nobody waits in a circle; and nobody waits for ever: a process that is gone holds nothing, and one that is held
        up is overtaken once it has brought no reply for `patience` seconds (the first reply that is kept then counts).
        """
        clock = asyncio.get_running_loop().time
        began, waited = clock(), False
        while True:
            row, ours = await self._claimed_or_left(key)
            if row is not None:
                self._heard = clock() if waited else self._heard
                self._uses.note(key)
                return Entry.from_row(row)
            if ours or clock() > max(began, self._heard) + self._patience:
                return None
            waited = True
            await asyncio.sleep(POLL_SECONDS - clock() % POLL_SECONDS)  # all who wait look again in one batch

    async def _claimed_or_left(self, key: str) -> tuple[Row | None, bool]:
        future = self._claim(key)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            # the batch goes on, and nobody is left to ask
            future.add_done_callback(lambda _: self.release(key))
            raise

    def release(self, key: str) -> None:
        """Let go of a key, for others to ask if they need it and there is no entry."""
        if key in self._ours and self._open is not None:
            self._ours.discard(key)
            self._open.release(key)

    async def record(self, entry: Entry) -> Entry:
        """Keep an entry; what the journal holds for its key from now on.

        A caller who is cancelled goes only once the entry is kept. Raises CallFailed for one that cannot be kept.
        """
        row = entry.as_row()
        future = self._record(row)
        try:
            kept = await asyncio.shield(future)
        except asyncio.CancelledError:
            await future
            self._uses.note(entry.key)
            raise
        if kept is None:
            raise CallFailed(
                Status.JUDGE_ERROR, Reason("the reply, or its question, holds what the journal cannot keep")
            )
        self._uses.note(entry.key)
        return entry if kept is row else Entry.from_row(kept)

    async def flush(self) -> None:
        """Wait until everything handed in so far is kept."""
        await self._record.flush()

    async def close(self) -> None:
        """Let claims and connections go."""
        await self._claim.flush()
        for key in list(self._ours):
            self.release(key)
        if self._open is not None:
            await self._open.close()
            self._open = None
        self._uses.close()

    def _opened(self) -> LoopJournal:
        if self._open is None:
            self._open = self._journal.on_loop()
        return self._open

    async def _claimed(self, keys: Sequence[str]) -> Sequence[tuple[Row | None, bool]]:
        rows, ours = await self._opened().claim(sorted(set(keys)))
        self._ours |= ours
        return [(rows.get(key), key in ours) for key in keys]

    async def _recorded(self, rows: Sequence[Row]) -> Sequence[Row | None]:
        kept = await self._opened().record(list({row["key"]: row for row in rows}.values()))
        return [kept.get(row["key"]) for row in rows]


MAX_LINE = 32 * 1024 * 1024  # a reply of the longest context there is, escaped; a file without line ends is refused
MOST_SIGNS = 4_000_000
"""Brackets, braces, colons and commas of a line: what is made of one takes up to a hundred bytes."""
MOST_COST, MOST_SECONDS = 1e6, 7 * 24 * 3600.0
"""Of one reply."""
_CHECKER = TypeAdapter(Entry)


class JournalFileError(ValueError):
    """A line that is not an entry; the message names file, line and fault."""


def write(path: Path, rows: Iterable[Row]) -> int:
    """Write one line an entry, gzipped if the name ends in .gz; how many. The file is there whole or not at all.

    Secrets are masked; an entry whose request held one gets the key of the request as it is written.
    """
    count, mask = 0, exact_masker()
    with whole(path) as temporary, temporary.open("wb") as raw:
        packed = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if path.suffix == ".gz" else None
        out: IO[bytes] | gzip.GzipFile = packed or raw
        for row in rows:
            line = json.dumps(_masked(row, mask), ensure_ascii=False, allow_nan=False, sort_keys=True)
            out.write(line.encode() + b"\n")
            count += 1
        if packed is not None:
            packed.close()
    return count


def _masked(row: Row, mask: Mask) -> Row:
    hidden: Row = masked(dict(row), mask)
    if hidden == dict(row):
        return hidden
    identity = {name: hidden[name] for name in ("judge", "endpoint", "model")}
    return {**hidden, "key": key_of(identity, hidden["request"])}


def read(path: Path) -> Iterator[Row]:
    """The entries of a file, each checked: every field of its type, and the key that its request really has.

    Raises JournalFileError; a key that was made up, or a request that was changed, is such a fault.
    """
    if not path.is_file():
        fault = "this is a folder; a file is expected" if path.is_dir() else "there is no such file"
        raise JournalFileError(f"{path}: {fault}")
    with closing(gzip.open(path) if path.suffix == ".gz" else path.open("rb")) as lines:
        number = 0
        while line := _next(lines, f"{path.name}, line {number + 1}"):
            number += 1
            if line.strip():
                yield _entry(line, f"{path.name}, line {number}")


def _next(lines: IO[bytes] | gzip.GzipFile, place: str) -> bytes:
    try:
        return lines.readline(MAX_LINE + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise JournalFileError(f"{place}: cannot be read: {error}") from None


def _entry(line: bytes, place: str) -> Row:
    if len(line) > MAX_LINE:
        raise JournalFileError(f"{place}: more than {MAX_LINE} bytes")
    if sum(map(line.count, (b"[", b"{", b":", b","))) > MOST_SIGNS:
        raise JournalFileError(f"{place}: more values than a reply and its question have")
    try:
        fields = json.loads(line, parse_constant=_refused, parse_float=_finite)
    except (ValueError, RecursionError):
        raise JournalFileError(f"{place}: not a JSON object") from None
    if not isinstance(fields, dict) or set(fields) != set(COLUMNS):
        raise JournalFileError(f"{place}: an entry has exactly the fields {', '.join(COLUMNS)}")
    try:
        entry: Entry = _CHECKER.validate_json(line, strict=True)
    except ValidationError as error:
        fault = error.errors()[0]
        raise JournalFileError(f"{place}: {'.'.join(map(str, fault['loc']))}: {expectation(fault)}") from None
    counted = (entry.input_tokens, entry.output_tokens)
    if not all(0 <= count <= MOST_TOKENS for count in counted) or not 0 <= entry.cost <= MOST_COST:
        raise JournalFileError(f"{place}: its tokens or its cost are not what a call can take")
    if not 0 <= entry.seconds <= MOST_SECONDS or not all(0 <= n < 2**31 for n in (entry.version, entry.repeat)):
        raise JournalFileError(f"{place}: its seconds, version or repeat are not what a call can have")
    if _holds_null(fields):
        raise JournalFileError(f"{place}: a null character, which no database keeps")
    identity = {"judge": entry.judge, "endpoint": entry.endpoint, "model": entry.model}
    asked = (entry.request.get("prompt"), entry.request.get("version"), entry.request.get("repeat"))
    if key_of(identity, entry.request) != entry.key or asked != (entry.prompt, entry.version, entry.repeat):
        raise JournalFileError(f"{place}: the key is not that of the request")
    return entry.as_row()


def _refused(name: str) -> float:
    raise ValueError(name)


def _finite(digits: str) -> float:
    return value if math.isfinite(value := float(digits)) else _refused(digits)


def _holds_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_null, (*value, *value.values())))
    return any(map(_holds_null, value)) if isinstance(value, list) else isinstance(value, str) and "\0" in value


Parts = tuple[float, float, float]
"""Calls, tokens and money."""


class Told(NamedTuple):
    """Something that was spent. key: it counts once in a run, whoever tells it and however often. spent: what it cost.
    released: what had been reserved for it."""

    key: str
    spent: Parts = (0, 0.0, 0.0)
    released: Parts = (0, 0.0, 0.0)


class Accounts(Protocol):
    """Budgets and limits that several processes share; values are plain, so that a store need not know this room."""

    async def spend(
        self,
        run: str,
        limits: tuple[float | None, float | None, float | None],
        told: Sequence[Told],
        wanted: Parts | None,
    ) -> tuple[bool, Parts, Parts, float]:
        """Count what is told, then reserve what is wanted if it fits within what is spent and reserved.

        Whether it was reserved; what the run has spent, and what it has reserved; seconds since either changed.
        """

    async def sit(
        self, endpoint: str, places: int, held: Sequence[int], rates: tuple[float | None, float | None], tokens: float
    ) -> tuple[int | None, float]:
        """A place among so many, none of those held already, until `rise` or the end of this process; None where all
        are taken. And so many seconds to wait before the call. rates: requests and tokens a minute."""

    async def rise(self, endpoint: str, place: int, spare: float, pause: float) -> None:
        """Give a place back. spare: seconds of the rate of tokens that the call did not use. pause: seconds for which
        the endpoint wants no call."""

    async def close(self) -> None:
        """Let connections go; the next call takes them up again."""


def run_of_this_process() -> str | None:
    """The run that this process belongs to with others; None where it is on its own.

    RAGBENCH_RUN names it to processes of several machines; else it is the run whose folder RAGBENCH_RUN_FOLDER names.
    """
    named, folder = os.environ.get(RUN), os.environ.get(RUN_FOLDER)
    return named or (f"{platform.node()}:{Path(folder).resolve()}" if folder else None)


FILE = "replies.txt"
"""In the folder of a run: the journal's keys of all replies that its numbers were made of, one a line."""
MOST_BYTES = 2**26
"""Of that file, which is read whole: a million replies."""
_KEY = re.compile(r"[0-9a-f]{64}")


class Uses:
    """Notes keys in the folder of the run that this process belongs to; outside of a run it notes nothing.

    kept: whether the replies are in a journal that outlives the process; else nothing is noted either.
    """

    def __init__(self, *, kept: bool = True) -> None:
        folder = os.environ.get(RUN_FOLDER) if kept else None
        self._path = None if folder is None else Path(folder) / FILE
        self._known: set[str] = set()
        self._handle: int | None = None

    def note(self, key: str) -> None:
        """A reply of this key was used. Processes of one run write into one file: a key is one write at its end."""
        if self._path is None or key in self._known:
            return
        if self._handle is None:
            self._handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        os.write(self._handle, f"{key}\n".encode())
        self._known.add(key)

    def close(self) -> None:
        """Let the file go."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def note(keys: Iterable[str]) -> None:
    """Replies of these keys were used by others, for the run that this process belongs to."""
    known = Uses()
    for key in keys:
        known.note(key)
    known.close()


def of_run(folder: Path) -> tuple[str, ...] | None:
    """The keys that a run has noted, each once, in order; None where the run does not say what it used.

    A last line that a kill has cut is none. Raises ValueError for a file that is no list of keys.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    whole = folders.content(path, MOST_BYTES).rpartition(b"\n")[0].decode("ascii", "replace").split()
    for line in whole:
        if not _KEY.fullmatch(line):
            raise ValueError(f"{path}: {excerpt(line, 80)!r} is no key of a reply")
    return tuple(sorted(set(whole)))


def settle(folder: Path) -> None:
    """Write the list of a run that is at its end: sorted, each key once; empty for a run that asked no model."""
    keys = of_run(folder) or ()
    folders.write(folder / FILE, "".join(f"{key}\n" for key in keys))
