"""Vectors of texts, by embedder: computed once, kept for every later run, whatever their width.

Processes that want the same vectors share the work by ranges of their keys.

How many of a run's vectors were there before it is noted by its processes and told at its end.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine, select, text
from sqlalchemy.dialects.postgresql import insert

from ragbench.old.core import folders
from ragbench.old.core.settings import RUN_FOLDER
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.core.types import Embedder, EmbeddingError, PatientEmbedder, TextKind, Vectors, usable_vectors
from ragbench.old.store.chunks import text_hash
from ragbench.old.store.copying import (
    cursor_of,
    joined,
    numbered_keys,
    read_numbers,
    read_vectors,
    vector_blocks,
    vector_rows,
)
from ragbench.old.store.database_tables import SCHEMA, embedder
from ragbench.old.store.errors import told_plainly

Progress = Callable[[int], object]  # called with how many more are done
WIDEST = 16_000  # pgvector's limit for a stored vector
KEEPING_SECONDS, MOST_KEPT = 0.5, 8192
"""Of computing what is kept in one transaction, about: so much is lost at most where the process is killed; of rows."""
PAUSE_SECONDS = 0.05  # between two looks at what others are at
TRIED = 32  # batches in one look
Made = tuple[Vectors, EmbeddingError | None]
NONE: Vectors = np.empty((0, 0), np.float32)


def ensure(
    engine: Engine,
    model: Embedder,
    texts: Sequence[str],
    kind: TextKind,
    batch: int,
    patience: float,
    progress: Progress | None,
) -> int:
    """Compute and store the vectors that are missing; how many were computed.

    batch: texts that are embedded together. Of a model in this process as many batches are kept together as take about
    KEEPING_SECONDS, and those that were done before an error are kept, too; one that only waits is asked for as many at
    the same time as it takes. Processes that want the same vectors share the work: each takes batches of keys that
    nobody else is at, so that a text is paid for once. Nobody waits longer than `patience` seconds for what others are
    at. Where a batch fails, those that are under way are kept first.
    """
    unique = {text_hash(content, kind): content for content in texts}
    missing = _missing(engine, model, list(unique))
    if progress is not None:
        progress(len(texts) - len(missing))
    if not missing:
        note_use(model.name, kind, unique, 0)
        return 0
    computed, size = 0, batch
    missing.sort()  # so that a batch is of few ranges, and the same for all who share the work
    left = deque(missing[start : start + batch] for start in range(0, len(missing), batch))
    failed: EmbeddingError | None = None
    under_way: dict[Future[Made], tuple[list[bytes], list[bytes], float]] = {}
    most = model.concurrency if isinstance(model, PatientEmbedder) else 1
    until = time.monotonic() + patience
    with told_plainly("computing vectors"), ranges(engine, _identity_hash(model)) as turns:
        try:
            while left or under_way:
                while left and len(under_way) < most:
                    part = _turn(left, turns, size // batch, overdue=not under_way and time.monotonic() > until)
                    if not part:
                        break
                    begun = time.perf_counter()
                    still = _missing(engine, model, part)
                    under_way[_begun(model, [unique[key] for key in still], kind, batch)] = part, still, begun
                if not under_way:
                    time.sleep(PAUSE_SECONDS)
                for future in wait(under_way, PAUSE_SECONDS, FIRST_COMPLETED).done:
                    part, still, begun = under_way.pop(future)
                    made, refused = future.result()
                    try:
                        if len(made):
                            _keep(engine, model, still[: len(made)], made)
                    except EmbeddingError as error:
                        refused = refused or error
                    if refused is not None:
                        failed = failed or _of_the_whole(refused, [unique[key] for key in still], texts)
                        left.clear()
                        continue
                    turns.leave(part)
                    until = time.monotonic() + patience
                    computed += len(still)
                    size = (
                        batch if isinstance(model, PatientEmbedder) else _next(size, time.perf_counter() - begun, batch)
                    )
                    if progress is not None:
                        progress(len(part))
        finally:
            for future in under_way:
                future.cancel()
    if failed is not None:
        raise failed
    note_use(model.name, kind, unique, computed)
    with told_plainly("counting vectors"), engine.begin() as connection:
        connection.execute(text(f"ANALYZE {SCHEMA}.embedding"))  # the planner must know of many new rows at once
    return computed


def _turn(left: deque[list[bytes]], turns: Ranges, most: int, *, overdue: bool) -> list[bytes]:
    """The keys of batches whose turn it is, at most so many; none while others are at the next TRIED of them.

    overdue: the first one, whoever is at it: the locks save work, correctness does not hang on them.
    """
    keys: list[bytes] = []
    for _ in range(min(max(TRIED, most), len(left))):
        if turns.take(left[0]) or (overdue and not keys):
            keys += left.popleft()
            most -= 1
        elif keys:
            break
        else:
            left.rotate(-1)
        if most <= 0:
            break
    return keys


def _begun(model: Embedder, texts: Sequence[str], kind: TextKind, batch: int) -> Future[Made]:
    """The vectors of texts, at once or later: those before a refusal, and the refusal."""
    done: Future[Made] = Future()
    if not texts:
        done.set_result((NONE, None))
    elif isinstance(model, PatientEmbedder):
        asked = model.begin(texts, kind=kind)
        asked.add_done_callback(lambda future: _settle(done, future, model, texts))
        done.add_done_callback(lambda future: asked.cancel() if future.cancelled() else None)
    else:
        done.set_result(_embedded(model, texts, kind, batch))
    return done


def _settle(done: Future[Made], asked: Future[Vectors], model: Embedder, texts: Sequence[str]) -> None:
    if done.cancelled() or not done.set_running_or_notify_cancel():
        return
    try:
        done.set_result((check(asked.result(), texts, model.name), None))
    except EmbeddingError as error:
        done.set_result((NONE, error))
    except BaseException as error:
        done.set_exception(error)


def _embedded(model: Embedder, texts: Sequence[str], kind: TextKind, batch: int) -> Made:
    """Batch by batch, or in larger ones that the model says it is quicker with; the places of a refusal are those in
    `texts`."""
    batch = max(batch, getattr(model, "together", 0))
    made: list[Vectors] = []
    refused: EmbeddingError | None = None
    for start in range(0, len(texts), batch):
        part = texts[start : start + batch]
        try:
            vectors = check(model.embed(part, kind=kind), part, model.name)
            _require_width(model, vectors, made[0].shape[1] if made else vectors.shape[1])
        except EmbeddingError as error:
            places = tuple(start + place for place in error.positions)
            refused = EmbeddingError(str(error), places, reason=error.reason, dead=error.dead)
            refused.__cause__ = error
            break
        made.append(vectors)
    return np.concatenate(made) if made else NONE, refused


def _of_the_whole(error: EmbeddingError, asked: Sequence[str], texts: Sequence[str]) -> EmbeddingError:
    """The error of a part with its places in all texts."""
    faulty = {asked[place] for place in error.positions}
    places = tuple(place for place, content in enumerate(texts) if content in faulty)
    whole = EmbeddingError(str(error), places, reason=error.reason, dead=error.dead)
    whole.__cause__ = error
    return whole


def _require_width(model: Embedder, vectors: Vectors, width: int) -> None:
    if vectors.shape[1] != width:
        raise EmbeddingError(
            f"the embedder {model.name} gave width {vectors.shape[1]}; its stored vectors have {width}"
        )


def _next(size: int, seconds: float, batch: int) -> int:
    """How many texts are kept together after so many took so long: a commit costs as much as many rows do."""
    if seconds > 2 * KEEPING_SECONDS:
        return max(batch, size // 2)
    return max(batch, min(2 * size, MOST_KEPT)) if seconds < KEEPING_SECONDS else size


def note(model: Embedder, kind: TextKind, computed: int) -> None:
    """So many vectors were computed by others, for the run that this process belongs to."""
    note_use(model.name, kind, (), computed)


def missing(engine: Engine, model: Embedder, texts: Sequence[str], kind: TextKind) -> list[str]:
    """The texts whose vectors are not stored, each once."""
    unique = {text_hash(content, kind): content for content in texts}
    return [unique[key] for key in _missing(engine, model, list(unique))]


def read(engine: Engine, model: Embedder, texts: Sequence[str], kind: TextKind) -> Vectors:
    """(texts, width) float32 in the order of `texts`; all of them must be stored."""
    with told_plainly("reading vectors"), engine.begin() as connection:
        number, width = find(connection, model)
        with cursor_of(connection) as cursor:
            _copy_hashes(cursor, [text_hash(content, kind) for content in texts])
            query = (
                f"COPY (SELECT n, vector FROM wanted JOIN {SCHEMA}.embedding USING (text_hash) "  # noqa: S608
                f"WHERE embedder_id = {number} ORDER BY n) TO STDOUT (FORMAT BINARY)"
            )
            with cursor.copy(query) as copy:
                places, vectors = read_vectors(joined(copy), width)
    if len(places) != len(texts):
        raise EmbeddingError(f"{len(texts) - len(places)} of {len(texts)} texts have no vectors of {model.name}")
    return vectors


def of_dataset(
    connection: Connection, number: int, width: int, dataset_id: int, rows: int, among: range
) -> Iterator[tuple[NDArray[np.int32], Vectors]]:
    """Positions and vectors of a data set's chunks whose positions are `among` these, at most `rows` at a time, in no
    order."""
    query = (
        f"COPY (SELECT position, vector FROM {SCHEMA}.chunk JOIN {SCHEMA}.embedding USING (text_hash) "  # noqa: S608
        f"WHERE dataset_id = {dataset_id:d} AND embedder_id = {number:d} AND position >= {among.start:d} AND "
        f"position < {among.stop:d}) TO STDOUT (FORMAT BINARY)"
    )
    with cursor_of(connection) as cursor, cursor.copy(query) as copy:
        yield from vector_blocks(copy, width, rows)


def find(connection: Connection, model: Embedder) -> tuple[int, int]:
    """An embedder's number and width. Raises EmbeddingError when nothing of it was ever stored."""
    known = _known(connection, model)
    if known is None:
        raise EmbeddingError(f"no vectors of the embedder {model.name} are stored: embed the chunks first")
    return known


def known_width(connection: Connection, model: Embedder) -> int | None:
    """The width of the embedder's stored vectors; None where nothing of it was ever stored."""
    known = _known(connection, model)
    return None if known is None else known[1]


def check(vectors: Any, texts: Sequence[str], name: str) -> Vectors:
    """The same vectors as float32 if each can be stored and searched; else EmbeddingError with counts and the first."""
    try:
        usable, faults = usable_vectors(vectors, len(texts))
    except EmbeddingError as error:
        raise EmbeddingError(f"the embedder {name} {error}") from None
    if not 1 <= usable.shape[1] <= WIDEST:
        raise EmbeddingError(
            f"the embedder {name} gives vectors of width {usable.shape[1]}; PostgreSQL stores 1 to {WIDEST}: choose "
            "fewer dimensions (or fewer buckets)"
        )
    if faults:
        first, reason = min(faults.items())
        places = tuple(sorted(place for place, why in faults.items() if why == reason))
        raise EmbeddingError(
            f"the embedder {name} gave {reason} for {len(places)} of {len(texts)} texts; the first is "
            f"{excerpt(texts[first], 60)!r}",
            places,
            reason=reason,
        )
    return usable


def _missing(engine: Engine, model: Embedder, keys: Sequence[bytes]) -> list[bytes]:
    with told_plainly("looking for stored vectors"), engine.begin() as connection:
        known = _known(connection, model)
        if known is None:
            return list(keys)
        with cursor_of(connection) as cursor:
            _copy_hashes(cursor, keys)
            query = (
                f"COPY (SELECT n FROM wanted WHERE NOT EXISTS (SELECT FROM {SCHEMA}.embedding e "  # noqa: S608
                f"WHERE e.embedder_id = {known[0]} AND e.text_hash = wanted.text_hash) ORDER BY n) "
                "TO STDOUT (FORMAT BINARY)"
            )
            with cursor.copy(query) as copy:
                return [keys[n] for n in read_numbers(joined(copy), (("n", "i4"),))["n"].tolist()]


def _copy_hashes(cursor: Any, keys: Sequence[bytes]) -> None:
    cursor.execute("CREATE TEMPORARY TABLE wanted (n integer, text_hash bytea) ON COMMIT DROP")
    with cursor.copy("COPY wanted FROM STDIN (FORMAT BINARY)") as copy:
        copy.write(numbered_keys(keys))
    cursor.execute("ANALYZE wanted")


def _known(connection: Connection, model: Embedder) -> tuple[int, int] | None:
    query = select(embedder.c.id, embedder.c.width).where(embedder.c.identity_hash == _identity_hash(model))
    row = connection.execute(query).first()
    return None if row is None else (row.id, row.width)


def _identity_hash(model: Embedder) -> bytes:
    return hashlib.sha256(model.identity.encode()).digest()


def _keep(engine: Engine, model: Embedder, keys: Sequence[bytes], vectors: Vectors) -> None:
    with told_plainly("storing vectors"), engine.begin() as connection:
        row = {"identity": model.identity, "name": model.name, "width": vectors.shape[1]}
        new = insert(embedder).values(row | {"identity_hash": _identity_hash(model)})
        connection.execute(new.on_conflict_do_nothing())
        number, width = find(connection, model)
        _require_width(model, vectors, width)
        with cursor_of(connection) as cursor:
            cursor.execute("CREATE TEMPORARY TABLE fresh (text_hash bytea, vector vector) ON COMMIT DROP")
            with cursor.copy("COPY fresh FROM STDIN (FORMAT BINARY)") as copy:
                copy.write(vector_rows(np.frombuffer(b"".join(keys), dtype="V32"), vectors))
            # in the order of the key, so that two writers of the same texts cannot wait for each other in a circle
            cursor.execute(
                f"INSERT INTO {SCHEMA}.embedding SELECT {number}, text_hash, vector FROM fresh ORDER BY text_hash "  # noqa: S608
                "ON CONFLICT DO NOTHING"
            )


COMPUTING = 0x7261_6763  # with the number of an embedder and a range: the advisory lock of whoever computes its vectors
BITS = 10  # of a key's beginning tell its range: few enough for the server's table of locks, whatever is in flight
_TRY = "SELECT n FROM unnest(CAST(:numbers AS int[])) AS n WHERE pg_try_advisory_lock(:a, n)"


class Ranges:
    """The ranges that this process holds, of one embedder; what it holds already it may take once more."""

    def __init__(self, connection: Connection, identity_hash: bytes) -> None:
        self._connection = connection
        self._embedder = int.from_bytes(identity_hash[:4], "big") >> BITS

    def take(self, keys: Iterable[bytes]) -> bool:
        """Take the ranges of all keys, or none of them where somebody else computes in one."""
        numbers = self._numbers(keys)
        taken = list(self._connection.scalars(text(_TRY), {"numbers": numbers, "a": COMPUTING}))
        if len(taken) == len(numbers):
            return True
        self._leave(taken)
        return False

    def leave(self, keys: Iterable[bytes]) -> None:
        """Let go of what `take` took for these keys."""
        self._leave(self._numbers(keys))

    def _leave(self, numbers: Sequence[int]) -> None:
        query = text("SELECT pg_advisory_unlock(:a, n) FROM unnest(CAST(:numbers AS int[])) AS n")
        self._connection.execute(query, {"numbers": list(numbers), "a": COMPUTING})

    def _numbers(self, keys: Iterable[bytes]) -> list[int]:
        prefixes = {int.from_bytes(key[:4], "big") >> (32 - BITS) for key in keys}
        return sorted((self._embedder << BITS | prefix) - 2**31 for prefix in prefixes)


@contextmanager
def ranges(engine: Engine, identity_hash: bytes) -> Iterator[Ranges]:
    """The ranges of an embedder on a connection of their own, let go of at the end, whatever happened."""
    connection = engine.connect()
    try:
        yield Ranges(connection.execution_options(isolation_level="AUTOCOMMIT"), identity_hash)
    finally:
        # ending the session ends the locks, even where the server has gone away
        connection.invalidate()
        connection.close()


FILE = "vectors.jsonl"
"""In the folder of a run while it runs."""


def note_use(embedder: str, kind: str, keys: Iterable[bytes], computed: int) -> None:
    """So many of these vectors were computed now, the others read. Outside of a run nothing is noted."""
    folder = os.environ.get(RUN_FOLDER)
    if folder is None:
        return
    digest = hashlib.sha256()
    whole = 0
    for key in keys:
        digest.update(key)
        whole += 1
    row = {"embedder": embedder, "kind": kind, "of": digest.hexdigest(), "whole": whole, "computed": computed}
    handle = os.open(Path(folder) / FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        os.write(handle, f"{json.dumps(row)}\n".encode())  # one write a line: processes of one run share the file
    finally:
        os.close(handle)


def told(folder: Path) -> dict[tuple[str, str], tuple[int, int]]:
    """(embedder, kind) → how many vectors were there before the run, and how many the run is made of; the note goes.

    Pages that want the same vectors count once, but those that want others of the same texts.
    """
    path = folder / FILE
    if not path.is_file():
        return {}
    wholes: dict[tuple[str, str], dict[str, int]] = {}
    computed: dict[tuple[str, str], int] = {}
    for line in folders.text(path).splitlines():
        row = json.loads(line)
        place = row["embedder"], row["kind"]
        wholes.setdefault(place, {})[row["of"]] = row["whole"]
        computed[place] = computed.get(place, 0) + row["computed"]
    path.unlink()
    return {place: (max(0, sum(own.values()) - computed[place]), sum(own.values())) for place, own in wholes.items()}
