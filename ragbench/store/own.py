"""Tables of your own PostgreSQL: read and searched in place, never written.

Names are looked up in the catalogue and quoted by SQLAlchemy; transactions are read only. Nothing
is sorted there but by a search, and what is read is limited first: a view may have no end.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa
from numpy.typing import NDArray
from pgvector.sqlalchemy import HALFVEC, SPARSEVEC, VECTOR
from sqlalchemy.dialects.postgresql import ARRAY

from ragbench.core.errors import BenchError, suggest
from ragbench.core.frames import LABELS, PASSAGES, QUESTIONS, check, frame_of
from ragbench.core.progress import progress
from ragbench.core.settings import DATABASE_URL, DatabaseSettings, DatabaseTable, Settings
from ragbench.core.types import Dataset
from ragbench.store.engine import open_engine, say_plainly
from ragbench.store.search import Vectors
from ragbench.store.store import SCHEMA, Index, set_locally, write_vector

MOST_ROWS = 10_000_000  # of a table; a view of a larger one can be named
FETCHED = 10_000  # rows in one round trip
LOOKED_AT = 200  # rows, to propose a column by what it holds
TRIAL_SECONDS = 10  # of a statement when only some rows are asked for
TEMPORARY_FILES = "1GB"  # of the server's disk that one of our statements may fill
PRESETS = {
    "voproshalych": {
        "passages": "chunk",
        "passage_id": "id",
        "text": "text",
        "url": "confluence_url",
        "vector": "embedding",
        "questions": "question_answer",
        "question_id": "id",
        "question": "question",
        "answer": "answer",
        "question_url": "confluence_url",
        "question_vector": "embedding",
        "score": "score",
        "user": "user_id",
        "asked_at": "created_at",
    }
}
OF_PASSAGES = ("passage_id", "text", "url", "title", "vector")
OF_QUESTIONS = (
    "question_id", "question", "answer", "reference", "relevant_ids", "question_url",
    "question_vector", "score", "user", "asked_at",
)  # fmt: skip


@dataclass(frozen=True)
class OwnIndex:
    """An index of cosine distance on a column of vectors. expression: what it is on, in SQL."""

    name: str
    kind: str
    expression: str


class OwnDatabase:
    """A database with the tables of `[databases.NAME]`. A context manager.

    Raises BenchError for tables and columns that it does not have, with those that it has.
    """

    def __init__(self, name: str, table: DatabaseTable, limits: DatabaseSettings) -> None:
        self.name = name
        preset = PRESETS.get(table.preset, {})
        named = table.model_dump(exclude_unset=True)
        self.columns = {
            field: str(named.get(field) or preset.get(field, ""))
            for field in ("passages", "questions", *OF_PASSAGES, *OF_QUESTIONS)
        }
        self.schema = table.db_schema
        if self.schema == SCHEMA:
            raise BenchError(
                f"databases.{name}: the schema {SCHEMA} is ragbench's own, no table of "
                "yours is in it"
            )
        variable = table.url_variable or DATABASE_URL
        if not table.address:
            raise BenchError(f"databases.{name}: the environment variable {variable} is not set")
        self.engine = open_engine(table.address, limits, variable)

    def __enter__(self) -> OwnDatabase:
        return self

    def __exit__(self, *error: object) -> None:
        self.engine.dispose()

    @cached_property
    def passages(self) -> sa.Table:
        """The table of passages, checked."""
        return self._reflect("passages", ("passage_id", "text"), OF_PASSAGES)

    @cached_property
    def questions(self) -> sa.Table:
        """The table of questions, checked."""
        return self._reflect("questions", ("question_id", "question"), OF_QUESTIONS)

    def read_dataset(self, language: str = "", limit: int | None = None) -> Dataset:
        """Read passages, questions and labels; limit: rows of each table, for a trial.

        A row without a text is left out and counted in the notes. Where a question names the page
        that answers it, every passage of that page is relevant.
        """
        notes: list[str] = []
        passages = self._read_passages(limit, notes)
        if not self.columns["questions"]:
            return Dataset(
                self.name, language, passages, QUESTIONS.empty(), LABELS.empty(), notes=tuple(notes)
            )
        rows = self._read(self.questions, OF_QUESTIONS, limit)
        rows = leave_out_blank(rows, "question", f"{self.columns['questions']}", notes)
        questions = make_questions(rows, language)
        labels = make_labels(rows, passages)
        history = rows.drop(columns=["relevant_ids", "question_vector", "reference"])
        history = history.rename(columns={"question_url": "url"})
        return Dataset(
            self.name, language, passages, questions, labels, {"history": history}, tuple(notes)
        )

    def check_vectors(self, width: int | None = None) -> int:
        """Look at every vector of the passages and return their width, before anything is run.

        Raises BenchError with counts for rows without one, zero vectors, NaN, several widths, and
        for another width than that of the embedder.
        """
        column = self._vector_column("vector")
        place = f"databases.{self.name}: {self.columns['passages']}.{column.name}"
        with self._reading("checking vectors") as connection:
            counts = connection.execute(count_vectors(column)).one()
        wrong = {
            "without a vector": counts.without,
            "with a zero vector": counts.zero,
            "with NaN in it": counts.not_numbers,
            f"of another width than {counts.width}": counts.of_another_width,
        }
        found = [f"{number} {what}" for what, number in wrong.items() if number]
        if found:
            raise BenchError(
                f"{place}: of {counts.rows} rows {', '.join(found)}; these would never be found: "
                "name a view of the others"
            )
        if counts.rows == 0:
            raise BenchError(f"{place}: there are no rows")
        if width is not None and width != counts.width:
            raise BenchError(
                f"{place} has vectors of width {counts.width}, and the embedder of the questions "
                f"gives {width}: name the model that made those of the passages"
            )
        return int(counts.width)

    def nearest(
        self, queries: Vectors, k: int, index: Index
    ) -> tuple[list[list[tuple[str, float]]], NDArray[np.float64]]:
        """Return (id, cosine similarity) of the k nearest passages of every query, and its ms.

        One `SELECT … ORDER BY embedding <=> query LIMIT k` a query, by the index that the table
        has or none; index.kind "exact": by none. Equal similarities are ordered by id.
        """
        column = self._vector_column("vector")
        by = self.index() if index.kind == "own" else None
        query = sa.bindparam("query", type_=sa.Text)
        asked = sa.cast(query, VECTOR)
        distance = sa.cast(column, VECTOR).op("<=>")(asked)
        order: Any = distance
        if isinstance(column.type, VECTOR | HALFVEC | SPARSEVEC):
            order = column.op("<=>")(sa.cast(query, column.type))
        if by is not None and by.expression:
            kind = HALFVEC(queries.shape[1])
            order = sa.cast(column, kind).op("<=>")(sa.cast(query, kind))
        passage_id = sa.cast(self.passages.c[self._id_column(self.passages, "passage_id")], sa.Text)
        statement = sa.select(passage_id, 1 - distance).order_by(order).limit(k)
        rankings = []
        latency_ms = np.zeros(len(queries))
        with self._reading("searching") as connection:
            set_locally(connection, search_settings(index, by))
            for row, vector in enumerate(progress(queries, "searching")):
                parameters = {"query": write_vector(vector)}
                began = time.perf_counter()
                found = connection.execute(statement, parameters).all()
                latency_ms[row] = (time.perf_counter() - began) * 1000
                pairs = [(name, float(cosine)) for name, cosine in found if cosine is not None]
                rankings.append(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))
        return rankings, latency_ms

    def index(self) -> OwnIndex | None:
        """Return the index of cosine distance on the passages' vectors, or None."""
        column = self._vector_column("vector")
        with self._reading("looking for an index") as connection:
            rows = connection.execute(
                FIND_INDEX,
                {"schema": self.schema, "table": self.passages.name},
            ).all()
        for name, kind, definition in rows:
            on = definition.partition("(")[2]
            if on.replace('"', "").lstrip("(").startswith(column.name) and "cosine" in on:
                is_cast = "::halfvec" in on and not isinstance(column.type, HALFVEC)
                return OwnIndex(name, kind, "halfvec" if is_cast else "")
        return None

    def read_question_vectors(self) -> dict[str, Vectors]:
        """Return question → its stored vector, of the questions that have one."""
        self._vector_column("question_vector")
        rows = self._read(self.questions, ("question_id", "question", "question_vector"), None)
        rows = rows[rows["question_vector"] != ""]
        return {
            question: np.asarray(json.loads(vector.replace("{", "[").replace("}", "]")), np.float32)
            for question, vector in zip(rows["question"], rows["question_vector"], strict=True)
        }

    def describe(self, index: Index) -> str:
        """Say in a line what is searched, and how."""
        place = f"{self.schema}.{self.columns['passages']}.{self.columns['vector']}"
        own = self.index() if index.kind == "own" else None
        how = f"{own.kind} index {own.name}" if own else "every vector compared"
        return f"own PostgreSQL, {place} ORDER BY <=> LIMIT k, {how}"

    @contextmanager
    def _reading(self, what: str, seconds: int | None = None) -> Iterator[sa.Connection]:
        """Open a transaction that cannot write. seconds: of one statement."""
        options: dict[str, Any] = {
            "isolation_level": "REPEATABLE READ",
            "postgresql_readonly": True,
            "yield_per": FETCHED,
        }
        with say_plainly(f"databases.{self.name}: {what}"), self.engine.connect() as opened:
            connection = opened.execution_options(**options)
            settings = {"statement_timeout": f"{seconds}s"} if seconds else {}
            if connection.scalar(sa.text("SELECT current_setting('is_superuser')")) == "on":
                settings["temp_file_limit"] = TEMPORARY_FILES
            set_locally(connection, settings)
            yield connection

    def _reflect(self, field: str, needed: Sequence[str], fields: Sequence[str]) -> sa.Table:
        """Look a table and its columns up in the catalogue."""
        name = self.columns[field]
        place = f"databases.{self.name}"
        with self._reading("reading the catalogue") as connection:
            inspector = sa.inspect(connection)
            there = [
                *inspector.get_table_names(self.schema),
                *inspector.get_view_names(self.schema),
            ]
            there += inspector.get_materialized_view_names(self.schema)
            if name not in there:
                tables = ", ".join(sorted(there)[:20]) or "none"
                raise BenchError(
                    f"{place}.{field} = {name!r}: the schema {self.schema!r} has no such table"
                    f"{suggest(name, there)}; it has {tables}"
                )
            table = sa.Table(
                name, sa.MetaData(), schema=self.schema, autoload_with=connection, resolve_fks=False
            )
            proposed = {}
            if any(not self.columns[column] for column in needed):
                proposed = propose_columns(connection, table)
        for column in fields:
            given = self.columns[column]
            if given and given not in table.columns:
                raise BenchError(
                    f"{place}.{column} = {given!r}: the table {name} has no such column"
                    f"{suggest(given, table.columns.keys())}; it has "
                    f"{', '.join(table.columns.keys())}"
                )
        missing = [column for column in needed if not self._column_of(table, column)]
        if missing:
            lines = [f'{column} = "{proposed.get(column, "…")}"' for column in missing]
            raise BenchError(
                f"{place}: name the columns of {name}: {', '.join(lines)}; it has "
                f"{', '.join(table.columns.keys())}"
            )
        return table

    def _column_of(self, table: sa.Table, field: str) -> str:
        """Return the name of a column; an id that nobody names is the primary key."""
        if not self.columns[field] and field.endswith("_id"):
            keys = [column.name for column in table.primary_key]
            return keys[0] if len(keys) == 1 else ""
        return self.columns[field]

    def _id_column(self, table: sa.Table, field: str) -> str:
        return self._column_of(table, field)

    def _vector_column(self, field: str) -> sa.Column[Any]:
        """Return a column of vectors. Raises BenchError for one that holds none."""
        table = self.passages if field == "vector" else self.questions
        if not self.columns[field]:
            raise BenchError(f"databases.{self.name}: name the column of vectors: {field} = …")
        column = table.c[self.columns[field]]
        if not isinstance(column.type, VECTOR | HALFVEC | SPARSEVEC | ARRAY):
            raise BenchError(
                f"databases.{self.name}.{field} = {column.name!r}: it holds {column.type}; a "
                "column of vector, halfvec, sparsevec or real[] is expected"
            )
        return column

    def _read(self, table: sa.Table, fields: Sequence[str], limit: int | None) -> pd.DataFrame:
        """Read columns as texts, rows by id; what is NULL or not named is an empty text."""
        columns = []
        for field in fields:
            name = self._column_of(table, field)
            value: Any = sa.cast(table.c[name], sa.Text) if name else sa.literal("")
            columns.append(sa.func.coalesce(value, "").label(field))
        most = MOST_ROWS if limit is None else limit
        query = sa.select(*columns).limit(most + 1)
        seconds = None if limit is None else TRIAL_SECONDS
        with self._reading(f"reading {table.name}", seconds) as connection:
            rows = connection.execute(query).all()
        if limit is None and len(rows) > most:
            raise BenchError(
                f"databases.{self.name}: {table.name} has more than {MOST_ROWS:,} rows; name a view"
            )
        frame = pd.DataFrame(rows[:most], columns=list(fields), dtype="str")
        return frame.sort_values(fields[0], kind="stable", ignore_index=True)

    def _read_passages(self, limit: int | None, notes: list[str]) -> pd.DataFrame:
        rows = self._read(self.passages, ("passage_id", "text", "url", "title"), limit)
        rows = leave_out_blank(rows, "text", self.columns["passages"], notes)
        return check(rows.assign(section=pd.Series("", rows.index, dtype="str")), PASSAGES)


FIND_INDEX = sa.text(
    "SELECT i.relname, m.amname, pg_get_indexdef(i.oid, 0, true) FROM pg_index x "
    "JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_am m ON m.oid = i.relam "
    "JOIN pg_class t ON t.oid = x.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace "
    "WHERE n.nspname = :schema AND t.relname = :table AND m.amname IN ('hnsw', 'ivfflat') "
    "AND x.indisvalid AND x.indpred IS NULL ORDER BY m.amname, i.relname"
)


def read_database(
    name: str, settings: Settings, language: str = "", limit: int | None = None
) -> Dataset:
    """Read the data set of `[databases.NAME]`, which other rooms call db:NAME."""
    with open_database(name, settings) as database:
        return database.read_dataset(language, limit)


def open_database(name: str, settings: Settings) -> OwnDatabase:
    """Open the database of `[databases.NAME]`. Raises BenchError for a name that there is not."""
    if name not in settings.databases:
        there = ", ".join(settings.databases) or "none"
        raise BenchError(
            f"there is no table [databases.{name}] in ragbench.toml"
            f"{suggest(name, settings.databases)}; there are: {there}"
        )
    return OwnDatabase(name, settings.databases[name], settings.database)


def search_settings(index: Index, own: OwnIndex | None) -> dict[str, str]:
    """Return PostgreSQL's settings of a search in a table of its owner."""
    if index.kind == "exact":
        return index.search_options()
    if own is None:
        return {}
    effort = Index(kind="hnsw" if own.kind == "hnsw" else "ivfflat", ef_search=index.ef_search,
                   probes=index.probes)  # fmt: skip
    return effort.search_options()


def count_vectors(column: sa.Column[Any]) -> sa.Select[Any]:
    """Write the statement that counts what is wrong with the vectors of a column."""
    if isinstance(column.type, ARRAY):
        width: Any = sa.func.cardinality(column)
        zero: Any = sa.literal(0) == sa.all_(column)
        bad: Any = sa.or_(
            sa.literal("NaN").cast(sa.Float) == sa.any_(column),
            sa.func.array_position(column, None).is_not(None),
        )
    else:
        vector = sa.cast(column, VECTOR)
        width = sa.func.vector_dims(vector)
        zero = sa.func.vector_norm(vector) == 0
        bad = sa.false()
    looked = sa.select(
        width.label("width"), zero.label("zero"), bad.label("bad"), column.is_(None).label("none")
    ).subquery()
    usual = sa.select(sa.func.mode().within_group(looked.c.width)).scalar_subquery()
    count = sa.func.count
    return sa.select(
        count().label("rows"),
        count().filter(looked.c.none).label("without"),
        count().filter(looked.c.zero).label("zero"),
        count().filter(looked.c.bad).label("not_numbers"),
        usual.label("width"),
        count().filter(looked.c.width != usual).label("of_another_width"),
    ).select_from(looked)


def propose_columns(connection: sa.Connection, table: sa.Table) -> dict[str, str]:
    """Propose columns of a table of passages by their types and by what some rows hold.

    Returns what is found of: passage_id (the primary key), vector, url, text (the longest texts).
    """
    proposed = {}
    keys = [column.name for column in table.primary_key]
    if len(keys) == 1:
        proposed["passage_id"] = keys[0]
    vectors = [column.name for column in table.c if isinstance(column.type, VECTOR | HALFVEC)]
    if vectors:
        proposed["vector"] = vectors[0]
    texts = [column for column in table.c if isinstance(column.type, sa.String)]
    if not texts:
        return proposed
    rows = connection.execute(sa.select(*texts).limit(LOOKED_AT)).mappings().all()
    lengths = {}
    for column in texts:
        values = [row[column.name] or "" for row in rows]
        if values and all(value.startswith(("http://", "https://")) for value in values):
            proposed["url"] = column.name
        else:
            lengths[column.name] = sum(map(len, values))
    if lengths:
        proposed["text"] = max(lengths, key=lambda name: lengths[name])
    return proposed


def leave_out_blank(rows: pd.DataFrame, field: str, table: str, notes: list[str]) -> pd.DataFrame:
    """Leave out rows without a text, and note how many."""
    is_blank = rows[field].str.strip() == ""
    if is_blank.any():
        notes.append(f"{is_blank.sum()} of {len(rows)} rows of {table} have no text; left out")
    return rows[~is_blank].reset_index(drop=True)


def make_questions(rows: pd.DataFrame, language: str) -> pd.DataFrame:
    """Make the frame of questions of the rows of their table."""
    references = [(text,) if text.strip() else () for text in rows["reference"]]
    frame = pd.DataFrame(
        {
            "question_id": rows["question_id"],
            "text": rows["question"],
            "unit": rows["question_id"],
            "reference": rows["reference"],
            "references": references,
            "answerable": True,
            "kind": "",
            "language": language,
            "source": "",
        }
    )
    texts = {column.name: "str" for column in QUESTIONS.columns if column.type == "text"}
    return check(frame.astype(texts), QUESTIONS)


def make_labels(rows: pd.DataFrame, passages: pd.DataFrame) -> pd.DataFrame:
    """Make the relevance labels: the ids that a question names, else the passages of its page."""
    by_url = passages.groupby("url")["passage_id"].apply(list).to_dict()
    by_url.pop("", None)
    labels = []
    for question_id, ids, url in zip(
        rows["question_id"], rows["relevant_ids"], rows["question_url"], strict=True
    ):
        relevant = read_ids(ids) or by_url.get(url, [])
        labels += [(question_id, passage_id, 1.0) for passage_id in dict.fromkeys(relevant)]
    return frame_of(labels, LABELS)


def read_ids(written: str) -> list[str]:
    """Read ids as PostgreSQL writes a list of them ({1,2}), as JSON ([1, 2]), or one alone."""
    text = written.strip()
    if text.startswith("["):
        try:
            return [str(name) for name in json.loads(text)]
        except ValueError:
            raise BenchError(
                f"ids of relevant passages are no list of JSON: {text[:60]!r}"
            ) from None
    return [name.strip().strip('"') for name in text.strip("{}").split(",") if name.strip()]
