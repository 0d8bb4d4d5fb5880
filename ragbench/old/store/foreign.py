"""Tables of a user's own: read, never written, under whatever names they have.

Every name is looked up in the catalogue before it is used and quoted by the driver; every transaction is read-only, so
a server that would let us write still refuses. They are searched in place: by the approximate index that stands on
the vectors, or comparing all of them.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from threading import Lock
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray
from psycopg import Cursor, sql
from psycopg.sql import Composable, Composed
from sqlalchemy import URL, Engine

from ragbench.old.core.settings import ChunkTable, DatabaseSettings, QuestionTable, Settings, SourceSettings
from ragbench.old.core.types import Array, EmbeddingError, Vectors
from ragbench.old.store import server
from ragbench.old.store.copying import vector_blocks
from ragbench.old.store.database_tables import SCHEMA, connect, own_server
from ragbench.old.store.embeddings import Progress
from ragbench.old.store.errors import AGAIN, StoreError, told_plainly
from ragbench.old.store.search import Index, settings_of

MOST_ROWS = 10_000_000  # of a user's table; a base that is larger is measured by a view of it
OF_VECTORS = ("vector", "halfvec", "sparsevec", "real[]", "double precision[]", "integer[]", "numeric[]")
"""Types of columns that a vector is read from."""
AnyTable = TypeVar("AnyTable", ChunkTable, QuestionTable)
FETCHED = 10_000  # rows: some 15 MB of vectors, and a round trip to the server is forgotten


class Source:
    """A database with the tables of `[databases.NAME]`. A context manager; it holds one connection, or as
    many as `nearest` is told."""

    def __init__(self, name: str, engine: Engine, tables: SourceSettings) -> None:
        self.name, self.engine, self.tables = name, engine, tables
        self._there: dict[tuple[str, str], Mapping[str, str]] = {}

    @classmethod
    def open(cls, name: str, settings: Settings) -> Source:
        """Connect to the database `name`. Raises StoreError for a name, a variable or a server that is not there."""
        if name not in settings.databases:
            there = ", ".join(sorted(settings.databases)) or "none"
            raise StoreError(f"there is no table [databases.{name}] in ragbench.toml; there are {there}")
        tables = settings.databases[name]
        made = cls(name, connect(_address(name, tables, settings), settings.database), tables)
        try:
            made.tables = made._found(tables)
        except BaseException:
            made.close()
            raise
        return made

    def _found(self, tables: SourceSettings) -> SourceSettings:
        """The tables without what nobody named and is not there: a table of questions, and columns that may lack.

        Raises StoreError for a column of vectors that no vector can be read from.
        """
        with told_plainly(f"reading the catalogue of the database {self.name}"), self.engine.connect() as connection:
            driver: Any = connection.connection.driver_connection
            with driver.transaction(), driver.cursor() as cursor:
                chunks = self._of_collection(cursor, self._existing(cursor, tables.chunks))
                questions = tables.questions and self._existing(cursor, tables.questions)
        if "questions" not in tables.model_fields_set and questions is not None and not self._has(questions):
            questions = None
        return tables.model_copy(update={"chunks": chunks or tables.chunks, "questions": questions})

    def _existing(self, cursor: Cursor[Any], table: AnyTable) -> AnyTable:
        columns = _columns(cursor, table)
        self._there[table.in_schema, table.table] = columns
        optional = [
            name for name, field in type(table).model_fields.items() if type(None) in get_args(field.annotation)
        ]
        absent = [
            name
            for name in optional
            if columns and name not in table.model_fields_set and getattr(table, name) not in columns
        ]
        existing = table.model_copy(update=dict.fromkeys(absent))
        kind = columns.get(existing.embedding or "")
        if kind is not None and not holds_vectors(kind):
            raise StoreError(f"databases.{self.name}: {no_vectors(table.table, existing.embedding or '', kind)}")
        return existing

    def _of_collection(self, cursor: Cursor[Any], table: ChunkTable) -> ChunkTable:
        """The table with the id of its collection for the name. Raises StoreError where it holds several and none is
        named, and where there is none of that name."""
        there = _collections(cursor, table)
        if (table.collection is None and len(there) < 2) or table.collection in there:
            return table.model_copy(update={"collection": there[table.collection][0] if table.collection else None})
        listed = ", ".join(f"{name or 'without a name'} ({count:,} rows)" for name, (_, count) in there.items())
        raise StoreError(
            f"databases.{self.name}: {table.table} holds {listed or 'no collections'}"
            + (f", and no collection {table.collection!r}" if table.collection else "")
            + f"; name one under [databases.{self.name}.chunks]: collection = {json.dumps(next(iter(there), 'NAME'))}"
        )

    def _has(self, table: QuestionTable) -> bool:
        return bool(self._there[table.in_schema, table.table])

    def chunks(self) -> Iterator[tuple[Any, ...]]:
        """(id, text, url, title) of every chunk, by id; url and title None where no column is named for them."""
        table = self.tables.chunks
        return self._rows(table, (table.id, table.text, table.url, table.title))

    def questions(self) -> Iterator[tuple[Any, ...]]:
        """(id, question, answer, url, score, user, asked_at, stop_point) of every past question, by id; none without a
        table."""
        table = self.tables.questions
        if table is None:
            return iter(())
        told = (table.answer, table.url, table.score, table.user, table.asked_at, table.stop_point)
        named = (table.id, table.question, *told)
        return self._rows(table, named)

    def vectors(self, table: ChunkTable | QuestionTable, text_column: str) -> tuple[list[str], Vectors]:
        """Texts and their stored vectors, (rows, width) float32, by id. Rows without a vector are left out.

        Raises EmbeddingError for vectors of differing widths, and StoreError where no column holds vectors.
        """
        with self._reading(table, (table.id, text_column, table.embedding)) as cursor:
            width = self._width(cursor, table)
            place, column = _place(table), sql.Identifier(str(table.embedding))
            named = {"x": sql.Identifier(text_column), "c": column, "t": place, "i": sql.Identifier(table.id)}
            texts = sql.SQL("SELECT {x} FROM {t} WHERE {c} IS NOT NULL ORDER BY {i}, {x}").format(**named)
            contents = [str(text) for (text,) in _streamed(cursor, texts)]
            vectors = sql.SQL(
                "COPY (SELECT (row_number() OVER (ORDER BY {i}, {x}) - 1)::int, {c}::vector FROM {t} "
                "WHERE {c} IS NOT NULL) TO STDOUT (FORMAT BINARY)"
            ).format(**named)
            matrix = np.empty((len(contents), width), np.float32)
            with cursor.copy(vectors) as copy:
                for places, block in vector_blocks(copy, width, FETCHED):
                    matrix[places] = block
            return contents, matrix

    def check_vectors(self, table: ChunkTable | QuestionTable) -> None:
        """Read those of a column whose type tells no width, unless none are there. Raises EmbeddingError for several
        widths, StoreError for what is no vector, such as an array with a null in it."""
        kind = self._there[table.in_schema, table.table].get(table.embedding or "", "")
        rows, without = self.counts(table) if kind and "(" not in kind else (0, 0)
        if rows > without:
            try:
                with self._reading(table, (table.id, table.embedding)) as cursor:
                    self._width(cursor, table)
            except (EmbeddingError, StoreError) as error:
                how = 'name a view of the rows that have vectors of one width, or write embedding = ""'
                where = f"{table.table}.{table.embedding}"
                said = str(error) if where in str(error) else f"databases.{self.name}: {where}: {error}"
                raise type(error)(f"{said}; {how} and have the texts embedded anew") from None

    def width(self, table: ChunkTable) -> int:
        """Of the vectors of a table. Raises as `vectors` does."""
        with self._reading(table, (table.id, table.embedding)) as cursor:
            return self._width(cursor, table)

    def _width(self, cursor: Cursor[Any], table: ChunkTable | QuestionTable) -> int:
        if table.embedding is None:
            raise StoreError(f"databases.{self.name}: no column is named for the embeddings of {table.table}")
        widths = sql.SQL("SELECT DISTINCT vector_dims({c}::vector) FROM {t} WHERE {c} IS NOT NULL")
        placed = widths.format(c=sql.Identifier(table.embedding), t=_place(table))
        dimensions = [width for (width,) in cursor.execute(placed).fetchall()]
        if len(dimensions) != 1:
            told = (
                "no row has a vector" if not dimensions else f"its widths are {', '.join(map(str, sorted(dimensions)))}"
            )
            raise EmbeddingError(f"databases.{self.name}: {table.table}.{table.embedding}: {told}; one is expected")
        return int(dimensions[0])

    def own_index(self) -> OwnIndex:
        """The approximate index of cosine similarity on the vectors of the chunks.

        Raises StoreError where none is, and where chunks are to be found that are not in it.
        """
        table = self.tables.chunks
        if self.tables.without_embedding == "embed":
            raise StoreError(
                f'databases.{self.name}: without_embedding = "embed" and index = "own": chunks without a vector are '
                'not in your index and would never be found; write without_embedding = "leave_out", or index = "exact"'
            )
        width = self.width(table)
        with self._reading(table, (table.embedding,)) as cursor:
            return own_index(cursor, table.in_schema, table.table, str(table.embedding), width)

    def require(self, index: OwnIndex, width: int) -> None:
        """Raises StoreError where this is not the index that is on the vectors here, of that width."""
        table = self.tables.chunks
        with self._reading(table, (table.embedding,)) as cursor:
            here = own_index(cursor, table.in_schema, table.table, str(table.embedding), width)
        if here != index:
            variable = self.tables.url_variable or "RAGBENCH_DATABASE_URL"
            raise StoreError(
                f"databases.{self.name}: the index {index.name} (building {index.building}) is asked for, and here is "
                f"{here.name} (building {here.building}): give {variable} the same value here as where the command "
                f"starts, or, where the index was built anew meanwhile, {AGAIN}"
            )

    def nearest(
        self,
        queries: Vectors,
        k: int,
        index: OwnIndex | None,
        effort: int = 0,
        *,
        connections: int = 1,
        progress: Callable[[int], object] | None = None,
    ) -> tuple[list[list[str]], list[NDArray[np.float32]], Array]:
        """Ids and cosine similarities of the k nearest chunks of each question, in no order, and its milliseconds.

        index: None compares every vector. effort: ef_search of HNSW, probes of IVFFlat. connections: questions that
        are asked at once; 1 to time them. Raises StoreError.
        """
        table = self.tables.chunks
        columns, told = (table.id, str(table.embedding)), Lock()

        def tell(more: int) -> None:
            if progress is not None:
                with told:
                    progress(more)

        def work(part: Vectors) -> tuple[list[list[str]], list[NDArray[np.float32]], Array]:
            with self._reading(table, columns) as cursor:
                return nearest(cursor, _place(table), columns, part, k, index, effort, tell)

        parts = np.array_split(queries, max(1, min(connections, len(queries))))
        with ThreadPoolExecutor(len(parts)) as pool:
            done = list(pool.map(work, parts))
        ids, similarities, milliseconds = zip(*done, strict=True)
        return [*chain(*ids)], [*chain(*similarities)], np.concatenate(milliseconds)

    def counts(self, table: ChunkTable | QuestionTable) -> tuple[int, int]:
        """(rows, rows without a vector) of a table; every row counts as without where no column holds vectors."""
        named = (table.id, table.embedding)
        with self._reading(table, named) as cursor:
            counted = sql.Identifier(table.embedding) if table.embedding else sql.SQL("NULL::int")
            query = sql.SQL("SELECT count(*), count({c}) FROM {t}").format(c=counted, t=_place(table))
            row = cursor.execute(query).fetchone()
        assert row is not None
        return int(row[0]), int(row[0]) - int(row[1])

    def close(self) -> None:
        """Give the connection back."""
        self.engine.dispose()

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _rows(self, table: ChunkTable | QuestionTable, named: Sequence[str | None]) -> Iterator[tuple[Any, ...]]:
        columns = sql.SQL(", ").join([sql.Identifier(name) if name else sql.SQL("NULL") for name in named])
        order = sql.SQL(", ").join([sql.Identifier(name) for name in named[:2] if name])
        query = sql.SQL("SELECT {c} FROM {t} ORDER BY {o} LIMIT {n}").format(
            c=columns, t=_place(table), o=order, n=sql.Literal(MOST_ROWS + 1)
        )
        with self._reading(table, named) as cursor:
            for number, row in enumerate(_streamed(cursor, query), 1):
                if number > MOST_ROWS:
                    raise StoreError(f"databases.{self.name}: {table.table} has more than {MOST_ROWS:,} rows")
                yield row

    @contextmanager
    def _reading(self, table: ChunkTable | QuestionTable, named: Sequence[str | None]) -> Iterator[Cursor[Any]]:
        """A cursor of a read-only transaction, once the table and its columns are known to be there."""
        with told_plainly(f"reading {table.table} of the database {self.name}"), self.engine.connect() as connection:
            driver: Any = connection.connection.driver_connection
            with driver.transaction(), driver.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                self._check(cursor, table, [name for name in named if name])
                yield cursor

    def _check(self, cursor: Cursor[Any], table: ChunkTable | QuestionTable, named: Sequence[str]) -> None:
        where = f"databases.{self.name}"
        if table.in_schema == SCHEMA:
            raise StoreError(
                f"{where}: in_schema = {SCHEMA!r} is ragbench's own, with the texts and replies of every project, "
                "and no table of yours is in it"
            )
        there = cursor.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = %s AND c.relkind IN ('r', 'v', 'm', 'p', 'f') ORDER BY 1",
            (table.in_schema,),
        ).fetchall()
        if table.table not in {name for (name,) in there}:
            listed = ", ".join(name for (name,) in there[:20]) or "none"
            raise StoreError(f"{where}: the schema {table.in_schema!r} has no table {table.table!r}; it has {listed}")
        columns = _columns(cursor, table)
        for name in named:
            if name not in columns:
                listed = ", ".join(columns)
                raise StoreError(f"{where}: the table {table.table} has no column {name!r}; it has {listed}")


def holds_vectors(kind: str) -> bool:
    """Whether vectors are read from a column of this type."""
    return kind.rpartition(".")[2].partition("(")[0] in OF_VECTORS


def no_vectors(table: str, column: str, kind: str) -> str:
    """What is said of a column of vectors whose type is none of OF_VECTORS."""
    return (
        f"{table}.{column} is of the type {kind}, which holds no vectors that can be compared here; a column of "
        f'{", ".join(OF_VECTORS[:3])} or of numbers, such as real[], is expected: name it, or write embedding = "" '
        "and have the texts embedded anew"
    )


def tables_there(url: URL, limits: DatabaseSettings) -> dict[tuple[str, str], dict[str, str]]:
    """(schema, table) → column → its type, of every table and view of a database but the server's and ragbench's own.

    Raises StoreError for a server that cannot be reached, in a sentence without the address's password.
    """
    there: dict[tuple[str, str], dict[str, str]] = {}
    with _looking(url, limits, "looking at the tables of the database") as cursor:
        rows = cursor.execute(
            "SELECT n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a "
            "JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND a.attnum > 0 AND NOT a.attisdropped "
            "AND n.nspname !~ '^pg_' AND n.nspname NOT IN ('information_schema', %s) "
            "ORDER BY n.nspname <> 'public', 1, 2, a.attnum",
            (SCHEMA,),
        ).fetchall()
    for schema, table, column, kind in rows:
        there.setdefault((schema, table), {})[column] = kind
    return there


def some_texts(url: URL, limits: DatabaseSettings, table: ChunkTable) -> tuple[list[str], list[str]]:
    """The first texts of a table of chunks, to tell their language by, and the names of its collections, the largest
    first; none where it holds one alone. Raises StoreError."""
    with _looking(url, limits, f"reading {table.table}") as cursor:
        there = _collections(cursor, table)
        query = sql.SQL("SELECT {c} FROM {t} WHERE {c} IS NOT NULL LIMIT 50").format(
            c=sql.Identifier(table.text), t=_place(table)
        )
        return [str(text) for (text,) in cursor.execute(query).fetchall()], [*there] if len(there) > 1 else []


@contextmanager
def _looking(url: URL, limits: DatabaseSettings, what: str) -> Iterator[Cursor[Any]]:
    engine = connect(url, limits)
    try:
        with told_plainly(what), engine.connect() as connection:
            driver: Any = connection.connection.driver_connection
            with driver.transaction(), driver.cursor() as cursor:
                cursor.execute("SET TRANSACTION READ ONLY")
                yield cursor
    finally:
        engine.dispose()


OF_COLLECTIONS = {"langchain_pg_embedding": "collection_id", "document_chunk": "collection_name"}
"""Where LangChain and Open WebUI keep the passages of all of their collections → the column that tells these apart."""


def _collections(cursor: Cursor[Any], table: ChunkTable) -> dict[str, tuple[str, int]]:
    """Of a table of OF_COLLECTIONS the name of each collection that has passages → its id and how many, the largest
    first; nothing of any other. One without a name goes by its id."""
    column = OF_COLLECTIONS.get(table.table)
    if column not in _columns(cursor, table):
        return {}
    names = ChunkTable(table="langchain_pg_collection", in_schema=table.in_schema)
    name: Composable = sql.SQL("NULL")
    joined: Composable = sql.SQL("")
    if column == "collection_id" and {"uuid", "name"} <= _columns(cursor, names).keys():
        name, joined = sql.SQL("c.name"), sql.SQL(" LEFT JOIN {} c ON c.uuid = e.collection_id").format(_place(names))
    query = sql.SQL(
        "SELECT coalesce({name}, e.{own}::text, ''), coalesce(e.{own}::text, ''), count(*) FROM {place} e{joined} "
        "GROUP BY 1, 2 ORDER BY 3 DESC, 1"
    ).format(name=name, own=sql.Identifier(str(column)), joined=joined,
             place=_place(table.model_copy(update={"collection": None})))  # fmt: skip
    return {name: (identifier, count) for name, identifier, count in cursor.execute(query).fetchall()}


def found_apart(
    name: str, k: int, index: OwnIndex, effort: int, known: Settings, queries: Vectors, progress: Progress | None
) -> tuple[list[list[str]], list[NDArray[np.float32]]]:
    """Ids and similarities as `Source.nearest` has them of the database `name`, by one connection of this process.

    Raises StoreError where another index stands there.
    """
    with Source.open(name, known) as source:
        source.require(index, queries.shape[1])
        ids, similarities, _ = source.nearest(queries, k, index, effort, progress=progress)
    return ids, similarities


def _address(name: str, tables: SourceSettings, settings: Settings) -> Any:
    if tables.url_variable is None:
        server.start(settings)
        return server.address(settings)
    text = os.environ.get(tables.url_variable)
    if not text:
        raise StoreError(
            f"databases.{name}: the variable {tables.url_variable} is not set; export {tables.url_variable}=…"
        )
    return own_server(text, tables.url_variable)


def _columns(cursor: Cursor[Any], table: ChunkTable | QuestionTable) -> dict[str, str]:
    """Column → its type as PostgreSQL writes it, in their order; nothing where there is no such table."""
    return dict(
        cursor.execute(
            "SELECT a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a "
            "JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = %s AND c.relname = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum",
            (table.in_schema, table.table),
        ).fetchall()
    )


def _place(table: ChunkTable | QuestionTable) -> Composed:
    place = sql.SQL("{}.{}").format(sql.Identifier(table.in_schema), sql.Identifier(table.table))
    if (collection := getattr(table, "collection", None)) is None:
        return place
    rows = "(SELECT * FROM {} WHERE coalesce({}::text, '') = {}) AS rows_of_one"
    return sql.SQL(rows).format(place, sql.Identifier(OF_COLLECTIONS[table.table]), sql.Literal(collection))


def _streamed(cursor: Cursor[Any], query: Composed) -> Iterator[tuple[Any, ...]]:
    """Rows as they arrive, through a cursor on the server: a large table is never held twice."""
    with cursor.connection.cursor(name="ragbench_rows") as rows:
        rows.itersize = FETCHED
        yield from rows.execute(query)


COSINE = ("vector_cosine_ops", "halfvec_cosine_ops")
DEFAULTS = {"m": 16, "ef_construction": 64, "lists": 100}
"""What pgvector builds an index with where nothing else was said."""


@dataclass(frozen=True)
class OwnIndex:
    """An approximate index of a user's own: its name, how it was built, and which building of it this is.

    expression, cast: what it is of, and what a question's vector becomes, in SQL.
    """

    name: str
    built: Index
    building: int
    expression: str
    cast: Literal["vector", "halfvec"]


def own_index(cursor: Cursor[Any], schema: str, table: str, column: str, width: int) -> OwnIndex:
    """That of cosine similarity on a column; of several HNSW before IVFFlat, then by name.

    Raises StoreError where there is none, with those that are of something else.
    """
    indexes = cursor.execute(
        "SELECT i.relname, m.amname, o.opcname, coalesce(i.reloptions, '{}'), i.relfilenode::bigint, "
        "pg_get_indexdef(i.oid, 1, true), x.indpred IS NOT NULL, x.indisvalid, quote_ident(%(c)s), "
        "format_type(a.atttypid, NULL) "
        "FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_am m ON m.oid = i.relam "
        "JOIN pg_opclass o ON o.oid = x.indclass[0] JOIN pg_class t ON t.oid = x.indrelid "
        "JOIN pg_namespace n ON n.oid = t.relnamespace JOIN pg_attribute a ON a.attrelid = t.oid "
        "WHERE n.nspname = %(s)s AND t.relname = %(t)s AND a.attname = %(c)s AND m.amname IN ('hnsw', 'ivfflat') "
        "ORDER BY m.amname, i.relname",
        {"s": schema, "t": table, "c": column},
    ).fetchall()
    others = []
    for name, kind, operators, options, building, of, is_partial, is_valid, quoted, stored in indexes:
        halved = f"{quoted}::halfvec({width})"
        if operators in COSINE and is_valid and not is_partial and of.strip("()") in (quoted, halved.strip("()")):
            given = {**DEFAULTS, **{key: int(value) for key, value in (option.split("=") for option in options)}}
            built = {key: given[key] for key in (("lists",) if kind == "ivfflat" else ("m", "ef_construction"))}
            is_half = of != quoted or stored.rpartition(".")[2] == "halfvec"
            expression = quoted if of == quoted else f"({halved})"
            return OwnIndex(name, Index(kind, **built), building, expression, "halfvec" if is_half else "vector")
        why = operators if operators not in COSINE else "of a part of the rows" if is_partial else f"of {of}"
        others.append(f"{name} ({why if is_valid else 'not valid'})")
    there = f"; it has {', '.join(others)}" if others else ""
    raise StoreError(
        f"the table {table} has no HNSW or IVFFlat index of cosine similarity on {column}{there}: create one "
        f'(CREATE INDEX … USING hnsw ({column} vector_cosine_ops)), or set index = "hnsw" for a copy with one'
    )


def nearest(
    cursor: Cursor[Any],
    place: Composable,
    columns: tuple[str, str],
    queries: Vectors,
    k: int,
    index: OwnIndex | None,
    effort: int,
    progress: Callable[[int], object] | None,
) -> tuple[list[list[str]], list[NDArray[np.float32]], NDArray[np.float64]]:
    """Of each question the ids of the k nearest rows and their cosine similarities, in no order, and milliseconds.

    columns: of ids and of vectors. index: None compares every vector. effort: ef_search of HNSW, probes of IVFFlat.
    An index that gives fewer than k gives fewer. Raises StoreError where the server would not take that index.
    """
    known = {name for (name,) in cursor.execute("SELECT name FROM pg_settings").fetchall()}
    for name, value in settings_of(index.built if index else Index(), effort).items():
        if "iterative" not in name or name in known:  # servers with pgvector before 0.8 know no such search
            cursor.execute("SELECT set_config(%s, %s, true)", (name, value))
    column = sql.Identifier(columns[1])
    statement = sql.SQL(
        "SELECT {id}, 1 - ({column}::vector <=> %(asked)s::vector) FROM {place} WHERE {column} IS NOT NULL "
        "ORDER BY {order} <=> %(asked)s::{cast} LIMIT {k}"
    ).format(
        id=sql.Identifier(columns[0]), column=column, place=place, k=sql.Literal(k),
        order=sql.SQL(index.expression) if index else sql.SQL("{}::vector").format(column),
        cast=sql.SQL(index.cast if index else "vector"),
    )  # fmt: skip
    ids: list[list[str]] = []
    similarities: list[NDArray[np.float32]] = []
    milliseconds = np.zeros(len(queries))
    for number, query in enumerate(queries):
        asked = {"asked": "[" + ",".join(map(str, query.tolist())) + "]"}
        if index and not number:
            _refuse_unused(cursor, statement, asked, index)
        begun = time.perf_counter()
        rows = cursor.execute(statement, asked).fetchall()
        milliseconds[number] = (time.perf_counter() - begun) * 1000
        ids.append([str(name) for name, _ in rows])
        similarities.append(np.clip(np.array([similarity for _, similarity in rows], np.float32), -1, 1))
        if progress is not None:
            progress(1)
    return ids, similarities, milliseconds


def _refuse_unused(cursor: Cursor[Any], statement: Composable, asked: dict[str, str], index: OwnIndex) -> None:
    plan = "\n".join(row for (row,) in cursor.execute(sql.SQL("EXPLAIN ") + statement, asked).fetchall())
    # of a table in parts each part has an index of its own, with a name of its own
    if "Order By: " not in plan or not (index.name in plan or "Append" in plan):
        raise StoreError(f"PostgreSQL would not search by the index {index.name}, but so: {' '.join(plan.split())}")
