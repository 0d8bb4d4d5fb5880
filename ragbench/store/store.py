"""What ragbench keeps in PostgreSQL: vectors of texts, and tables of them to search in."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.dialects.postgresql import insert

from ragbench.core.errors import BenchError
from ragbench.core.progress import progress
from ragbench.core.secrets import read_secret
from ragbench.core.settings import DATABASE_URL, DatabaseSettings, IndexKind
from ragbench.store.engine import open_engine, say_plainly, went_away
from ragbench.store.search import Vectors

SCHEMA = "ragbench"
LOOKED_UP = 10_000  # texts in one statement
WRITTEN = 1_000  # vectors in one statement
WIDEST_VECTOR = 2_000  # that an index takes in single precision
WIDEST_HALF = 4_000  # and in half precision
ROWS_A_LIST = 1_000  # of IVFFlat, as pgvector advises
FEWEST_LISTS = 10  # with fewer there is hardly a cluster to leave out
MOST_BUILD_MEGABYTES = 1_024  # of memory for the making of a graph
Result = TypeVar("Result")

metadata = sa.MetaData(schema=SCHEMA)
# A vector as the bytes of its 32-bit floats: here they are looked up by their text, not searched.
vectors_table = sa.Table(
    "vectors",
    metadata,
    sa.Column("model", sa.Text, primary_key=True),
    sa.Column("text_hash", sa.LargeBinary, primary_key=True),
    sa.Column("vector", sa.LargeBinary, nullable=False),
    sa.Column("milliseconds", sa.REAL, nullable=False),
)


@dataclass(frozen=True)
class Index:
    """How a table of vectors is searched.

    exact: every vector is compared. hnsw: a graph (Malkov and Yashunin 2018). ivfflat: clusters
    (Jégou, Douze and Schmid 2011). lists: of IVFFlat; None: one for 1,000 rows, at least 10.
    """

    kind: IndexKind = "exact"
    m: int = 16
    ef_construction: int = 64
    ef_search: int = 40
    lists: int | None = None
    probes: int = 1

    def build_options(self, rows: int) -> str:
        """Say in SQL how it is made on so many rows; "" of an exact search."""
        if self.kind == "hnsw":
            return f"m = {self.m}, ef_construction = {self.ef_construction}"
        if self.kind == "ivfflat":
            return f"lists = {self.lists or max(FEWEST_LISTS, rows // ROWS_A_LIST)}"
        return ""

    def search_options(self) -> dict[str, str]:
        """Return PostgreSQL's settings of a search: an index, where there is one, is used."""
        settings = {"max_parallel_workers_per_gather": "0"}
        if self.kind == "exact":
            return settings | {"enable_indexscan": "off", "enable_bitmapscan": "off"}
        settings["enable_seqscan"] = "off"
        if self.kind == "hnsw":
            # Else no more than ef_search passages are found.
            settings["hnsw.iterative_scan"] = "strict_order"
            return settings | {"hnsw.ef_search": str(self.ef_search)}
        settings["ivfflat.iterative_scan"] = "relaxed_order"
        return settings | {"ivfflat.probes": str(self.probes)}

    def describe(self) -> str:
        """Say what is searched, with the option that trades time for recall."""
        if self.kind == "hnsw":
            return f"HNSW in PostgreSQL (m = {self.m}, ef_search = {self.ef_search})"
        if self.kind == "ivfflat":
            return f"IVFFlat in PostgreSQL (probes = {self.probes})"
        return "exact search in PostgreSQL"


@dataclass(frozen=True)
class SearchTable:
    """A table of vectors, ready to be searched."""

    name: str
    rows: int
    width: int
    index: Index


@dataclass(frozen=True)
class Neighbours:
    """What was found for each query.

    positions: (queries, k) places in what was indexed, nearest first, equal ones by place; −1
    where an index found fewer. similarities: (queries, k) cosines; NaN there. latency_ms:
    (queries,) time of one statement.
    """

    positions: NDArray[np.int64]
    similarities: NDArray[np.float64]
    latency_ms: NDArray[np.float64]


class Store(AbstractContextManager["Store"]):
    """The database of ragbench. Free to make: it connects when it is first used.

    url: of a PostgreSQL with pgvector; "": RAGBENCH_DATABASE_URL, else the embedded server, whose
    data lie in `folder`, by default that of the settings, else the user's folder for data.
    Every method raises BenchError when the database does not answer.
    """

    def __init__(
        self, limits: DatabaseSettings | None = None, *, url: str = "", folder: Path | None = None
    ) -> None:
        self.limits = limits or DatabaseSettings()
        self._url = url
        self._folder = folder or self.limits.folder

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def is_connected(self) -> bool:
        """Whether it was used: whether a server is there that was needed anyway."""
        return "engine" in self.__dict__

    def close(self) -> None:
        """Give back its connections."""
        if "engine" in self.__dict__:
            self.engine.dispose()
            del self.engine

    @cached_property
    def url(self) -> str:
        """The address that is used; an embedded server is started."""
        if url := self._url or read_secret(DATABASE_URL):
            return url
        from ragbench.store.server import default_folder, start_server

        return start_server(self._folder or default_folder())

    @cached_property
    def engine(self) -> sa.Engine:
        """Its connections, with the tables made."""
        engine = open_engine(self.url, self.limits, DATABASE_URL)
        with say_plainly("opening the database"), engine.begin() as connection:
            make_tables(connection)
        return engine

    def read_vectors(self, model: str, texts: Sequence[str]) -> dict[str, tuple[Vectors, float]]:
        """Return text → its vector and the milliseconds that it took, of those that are kept."""
        by_hash = {hash_text(text): text for text in texts}
        hashes = list(by_hash)
        columns = vectors_table.c
        kept: dict[str, tuple[Vectors, float]] = {}
        for start in range(0, len(hashes), LOOKED_UP):
            query = sa.select(columns.text_hash, columns.vector, columns.milliseconds).where(
                columns.model == model,
                columns.text_hash == sa.any_(sa.literal(hashes[start : start + LOOKED_UP], BYTES)),
            )
            for text_hash, vector, milliseconds in self._rows(query):
                kept[by_hash[text_hash]] = (np.frombuffer(vector, np.float32), milliseconds)
        return kept

    def write_vectors(
        self, model: str, texts: Sequence[str], vectors: Vectors, milliseconds: float
    ) -> None:
        """Keep the vectors of texts; milliseconds: what each took."""
        rows = [
            {
                "model": model,
                "text_hash": hash_text(text),
                "vector": vector.tobytes(),
                "milliseconds": milliseconds,
            }
            for text, vector in zip(texts, vectors, strict=True)
        ]

        def write() -> None:
            with say_plainly("keeping vectors"), self.engine.begin() as connection:
                for start in range(0, len(rows), WRITTEN):
                    # Another process may have embedded the same text meanwhile.
                    statement = insert(vectors_table).on_conflict_do_nothing()
                    connection.execute(statement, rows[start : start + WRITTEN])

        self._try_again(write)

    def build_index(self, vectors: Vectors, index: Index | None = None) -> SearchTable:
        """Make the table of these vectors with an index on it, unless it is there.

        vectors: (rows, width). Raises BenchError for vectors that are too wide for an index.
        """
        index = index or Index()
        rows, width = vectors.shape
        options = index.build_options(rows)
        if options and width > WIDEST_HALF:
            raise BenchError(
                f'index = "{index.kind}" takes vectors up to width {WIDEST_HALF}, these have '
                f'{width}; write index = "exact", or name an embedder of fewer dimensions'
            )
        content = np.ascontiguousarray(vectors, np.float32)
        digest = hashlib.sha256(content.tobytes() + f"{width} {index.kind} {options}".encode())
        table = SearchTable(f"search_{digest.hexdigest()[:24]}", rows, width, index)

        def build() -> None:
            with say_plainly("building an index"), self.engine.begin() as connection:
                fill_search_table(connection, table, content, options)

        self._try_again(build)
        return table

    def nearest(self, table: SearchTable, queries: Vectors, k: int) -> Neighbours:
        """Search for every query by one statement of its own, and time it.

        queries: (queries, width). k is cut to the rows that there are.
        """
        statement = search_statement(table, min(k, table.rows))

        def search() -> Neighbours:
            with say_plainly("searching"), self.engine.connect() as connection:
                set_locally(connection, table.index.search_options())
                return time_searches(connection, statement, queries, min(k, table.rows))

        return self._try_again(search)

    def _rows(self, query: sa.Select[Any]) -> Sequence[Any]:
        def read() -> Sequence[Any]:
            with say_plainly("reading"), self.engine.connect() as connection:
                return connection.execute(query).all()

        return self._try_again(read)

    def _try_again(self, work: Callable[[], Result]) -> Result:
        """Do it once more where the server went away meanwhile: an embedded one is started."""
        try:
            return work()
        except BenchError as error:
            if not went_away(error):
                raise
        self.close()
        self.__dict__.pop("url", None)
        return work()


BYTES = sa.ARRAY(sa.LargeBinary)


def hash_text(text: str) -> bytes:
    """Return what a text is known by."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def make_tables(connection: sa.Connection) -> None:
    """Make what is not there yet, one process at a time. Raises BenchError without pgvector."""
    lock(connection, SCHEMA)
    if not connection.scalar(sa.text("SELECT 1 FROM pg_extension WHERE extname = 'vector'")):
        if not connection.scalar(
            sa.text("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")
        ):
            raise BenchError(
                f"the PostgreSQL of {DATABASE_URL} has no pgvector: install it there, or unset the "
                "variable to use the server that comes with ragbench"
            )
        connection.execute(sa.text("CREATE EXTENSION vector"))
    if not sa.inspect(connection).has_schema(SCHEMA):
        connection.execute(sa.schema.CreateSchema(SCHEMA))
    metadata.create_all(connection)


def lock(connection: sa.Connection, name: str) -> None:
    """Wait for others that make the same, until the end of the transaction."""
    connection.execute(sa.text("SET LOCAL lock_timeout = 0"))
    connection.execute(
        sa.text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))"), {"name": name}
    )


def set_locally(connection: sa.Connection, settings: dict[str, str]) -> None:
    """Set PostgreSQL's settings until the end of the transaction."""
    for name, value in settings.items():
        connection.execute(
            sa.text("SELECT set_config(:name, :value, true)"), {"name": name, "value": value}
        )


def fill_search_table(
    connection: sa.Connection, table: SearchTable, vectors: Vectors, options: str
) -> None:
    """Make a table of vectors and its index in one transaction: it is there whole or not at all."""
    from pgvector.psycopg import register_vector

    lock(connection, table.name)
    if sa.inspect(connection).has_table(table.name, SCHEMA):
        return
    name = f"{SCHEMA}.{table.name}"
    driver: Any = connection.connection.driver_connection
    register_vector(driver)
    with driver.cursor() as cursor:
        cursor.execute(
            f"CREATE TABLE {name} (position integer PRIMARY KEY, "
            f"vector vector({table.width}) NOT NULL)"
        )
        indexed = indexed_type(table.width)
        if indexed == "vector":
            # Such a row fits a page: kept in it, not behind a pointer that each comparison follows.
            cursor.execute(f"ALTER TABLE {name} ALTER vector SET STORAGE PLAIN")
        with cursor.copy(f"COPY {name} FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(["int4", "vector"])
            for row in enumerate(progress(vectors, "loading vectors")):
                copy.write_row(row)
        if options:
            # Of a graph that does not fit its memory the rest is made on the disk, many times
            # slower. A node holds its vector and about 2 m links of 16 bytes.
            megabytes = len(vectors) * (4 * table.width + 32 * table.index.m + 256) >> 20
            memory = min(MOST_BUILD_MEGABYTES, max(64, megabytes))
            cursor.execute(f"SET LOCAL maintenance_work_mem = '{memory}MB'")
            column = cast_to(indexed)
            operators = f"{indexed.partition('(')[0]}_cosine_ops"
            cursor.execute(
                f"CREATE INDEX ON {name} USING {table.index.kind} (({column}) {operators}) "
                f"WITH ({options})"
            )
        cursor.execute(f"ANALYZE {name}")


def indexed_type(width: int) -> str:
    """Return the type of what an index is on: wide vectors go in half precision."""
    return f"halfvec({width})" if width > WIDEST_VECTOR else "vector"


def cast_to(kind: str) -> str:
    """Write the column of vectors as a type."""
    return "vector" if kind == "vector" else f"vector::{kind}"


def search_statement(table: SearchTable, k: int) -> str:
    """Write the search in SQL; the query's vector is its one parameter."""
    kind, ties = "vector", ", position"
    if table.index.kind != "exact":
        # An index gives its order by distance alone; equal distances are ordered by us.
        kind, ties = indexed_type(table.width), ""
    return (
        f"SELECT position, 1 - (vector <=> %(query)s::vector) FROM {SCHEMA}.{table.name} "  # noqa: S608  our own names
        f"ORDER BY {cast_to(kind)} <=> %(query)s::{kind}{ties} LIMIT {k:d}"
    )


def time_searches(
    connection: sa.Connection, statement: str, queries: Vectors, k: int
) -> Neighbours:
    """Ask a statement once a query; its rows are a position and a similarity."""
    positions = np.full((len(queries), k), -1, np.int64)
    similarities = np.full((len(queries), k), np.nan)
    latency_ms = np.zeros(len(queries))
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor:
        for row, query in enumerate(progress(queries, "searching")):
            parameters = {"query": write_vector(query)}
            began = time.perf_counter()
            found = cursor.execute(statement, parameters).fetchall()
            latency_ms[row] = (time.perf_counter() - began) * 1000
            found.sort(key=lambda pair: (-pair[1], pair[0]))
            for rank, (position, similarity) in enumerate(found):
                positions[row, rank] = position
                similarities[row, rank] = similarity
    return Neighbours(positions, similarities, latency_ms)


def write_vector(vector: Vectors) -> str:
    """Write a vector as pgvector reads it, without a loss."""
    return "[" + ",".join(map(str, vector.tolist())) + "]"
