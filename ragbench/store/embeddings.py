"""Vectors of texts, by embedder: computed once, kept for every later run, whatever their width."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine, select, text
from sqlalchemy.dialects.postgresql import insert

from ragbench.store import uses
from ragbench.store.chunks import text_hash
from ragbench.store.copying import (
    cursor_of,
    joined,
    numbered_keys,
    read_numbers,
    read_vectors,
    vector_blocks,
    vector_rows,
)
from ragbench.store.errors import told_plainly
from ragbench.store.tables import SCHEMA, embedder
from ragbench.types import Embedder, EmbeddingError, TextKind, Vectors, usable_vectors

Progress = Callable[[int], object]  # called with how many more are done
WIDEST = 16_000  # pgvector's limit for a stored vector
KEEPING_SECONDS, MOST_KEPT = 0.5, 8192
"""Of computing what is kept in one transaction, about: so much is lost at most where the process is killed; of rows."""
COMPUTING = 0x7261_6763  # with an embedder's number: the advisory lock of whoever computes its vectors


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

    batch: texts that are embedded together. As many batches are kept together as take about KEEPING_SECONDS, and those
    that were done before an error are kept, too. Processes that want the same vectors take turns at that, so that a
    text is paid for once; nobody waits longer than `patience` seconds for that.
    """
    unique = {text_hash(one, kind): one for one in texts}
    missing = _missing(engine, model, list(unique))
    computed = 0
    if progress is not None:
        progress(len(texts) - len(missing))
    if not missing:
        uses.note(model.name, kind, unique, 0)
        return 0
    size, start = batch, 0
    with told_plainly("computing vectors"), _turns(engine, model, patience) as turn:
        while start < len(missing):
            part = missing[start : start + size]
            with turn():
                begun = time.perf_counter()
                still = {key: unique[key] for key in _missing(engine, model, part)}
                try:
                    _compute(engine, model, still, kind, batch)
                except EmbeddingError as error:
                    faulty = {list(still.values())[place] for place in error.positions}
                    places = tuple(place for place, one in enumerate(texts) if one in faulty)
                    raise EmbeddingError(str(error), places, reason=error.reason, dead=error.dead) from error
            size = _next(size, time.perf_counter() - begun, batch)
            start += len(part)
            computed += len(still)
            if progress is not None:
                progress(len(part))
    uses.note(model.name, kind, unique, computed)
    with told_plainly("counting vectors"), engine.begin() as connection:
        connection.execute(text(f"ANALYZE {SCHEMA}.embedding"))  # the planner must know of many new rows at once
    return computed


def _compute(engine: Engine, model: Embedder, texts: Mapping[bytes, str], kind: TextKind, batch: int) -> None:
    """Embed texts batch by batch and keep them together. The positions of an EmbeddingError are those in `texts`."""
    keys, asked = list(texts), list(texts.values())
    made: list[Vectors] = []
    try:
        for start in range(0, len(asked), batch):
            part = asked[start : start + batch]
            try:
                one = check(model.embed(part, kind=kind), part, model.name)
            except EmbeddingError as error:
                places = tuple(start + place for place in error.positions)
                raise EmbeddingError(str(error), places, reason=error.reason, dead=error.dead) from error
            _require_width(model, one, made[0].shape[1] if made else one.shape[1])
            made.append(one)
    finally:
        if made:
            vectors = np.concatenate(made)
            _keep(engine, model, keys[: len(vectors)], vectors)


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
    uses.note(model.name, kind, (), computed)


def missing(engine: Engine, model: Embedder, texts: Sequence[str], kind: TextKind) -> list[str]:
    """The texts whose vectors are not stored, each once."""
    unique = {text_hash(one, kind): one for one in texts}
    return [unique[key] for key in _missing(engine, model, list(unique))]


def read(engine: Engine, model: Embedder, texts: Sequence[str], kind: TextKind) -> Vectors:
    """(texts, width) float32 in the order of `texts`; all of them must be stored."""
    with told_plainly("reading vectors"), engine.begin() as connection:
        number, width = find(connection, model)
        with cursor_of(connection) as cursor:
            _copy_hashes(cursor, [text_hash(one, kind) for one in texts])
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
    connection: Connection, number: int, width: int, dataset_id: int, rows: int
) -> Iterator[tuple[NDArray[np.int32], Vectors]]:
    """Positions and vectors of a data set's chunks, at most `rows` at a time, in no order."""
    query = (
        f"COPY (SELECT position, vector FROM {SCHEMA}.chunk JOIN {SCHEMA}.embedding USING (text_hash) "  # noqa: S608
        f"WHERE dataset_id = {dataset_id:d} AND embedder_id = {number:d}) TO STDOUT (FORMAT BINARY)"
    )
    with cursor_of(connection) as cursor, cursor.copy(query) as copy:
        yield from vector_blocks(copy, width, rows)


def find(connection: Connection, model: Embedder) -> tuple[int, int]:
    """An embedder's number and width. Raises EmbeddingError when nothing of it was ever stored."""
    found = _known(connection, model)
    if found is None:
        raise EmbeddingError(f"no vectors of the embedder {model.name} are stored: embed the chunks first")
    return found


def known_width(connection: Connection, model: Embedder) -> int | None:
    """The width of the embedder's stored vectors; None where nothing of it was ever stored."""
    found = _known(connection, model)
    return None if found is None else found[1]


def check(vectors: Any, texts: Sequence[str], name: str) -> Vectors:
    """The same vectors as float32 if each can be stored and searched; else EmbeddingError with counts and the first."""
    try:
        found, faults = usable_vectors(vectors, len(texts))
    except EmbeddingError as error:
        raise EmbeddingError(f"the embedder {name} {error}") from None
    if not 1 <= found.shape[1] <= WIDEST:
        raise EmbeddingError(
            f"the embedder {name} gives vectors of width {found.shape[1]}; PostgreSQL stores 1 to {WIDEST}: choose "
            "fewer dimensions (or fewer buckets)"
        )
    if faults:
        first, reason = min(faults.items())
        places = tuple(sorted(place for place, why in faults.items() if why == reason))
        shown = texts[first] if len(texts[first]) <= 60 else texts[first][:60] + "…"
        raise EmbeddingError(
            f"the embedder {name} gave {reason} for {len(places)} of {len(texts)} texts; the first is {shown!r}",
            places,
            reason=reason,
        )
    return found


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


@contextmanager
def _turns(engine: Engine, model: Embedder, patience: float) -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """Turns at computing an embedder's vectors, by a transaction's advisory lock that is held for a batch at a time.

    After `patience` seconds a batch goes on without it: the lock saves work, correctness does not hang on it.
    """
    key = {"a": COMPUTING, "b": int.from_bytes(_identity_hash(model)[:4], "big", signed=True)}
    connection = engine.connect()

    @contextmanager
    def turn() -> Iterator[None]:
        until, taken = time.monotonic() + patience, False
        while not taken and time.monotonic() < until:
            taken = bool(connection.scalar(text("SELECT pg_try_advisory_xact_lock(:a, :b)"), key))
            if not taken:
                connection.rollback()
                time.sleep(0.05)
        if taken:  # idle, while a model computes
            connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        yield
        connection.rollback()

    try:
        yield turn
    finally:
        # ending the session ends the lock, whatever happened, even where the server has gone away
        connection.invalidate()
        connection.close()
