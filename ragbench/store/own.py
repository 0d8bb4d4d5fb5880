"""Tables of your own PostgreSQL: read and searched in place, never written.

Names are looked up in the catalogue and quoted by SQLAlchemy; transactions are read only. Nothing
is sorted there but by a search, and what is read is limited first: a view may have no end.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa
from numpy.typing import NDArray
from pgvector.sqlalchemy import HALFVEC, VECTOR

from ragbench.core.errors import BenchError, suggest
from ragbench.core.frames import LABELS, PASSAGES, QUESTIONS, check, frame_of
from ragbench.core.progress import progress
from ragbench.core.secrets import read_secret
from ragbench.core.settings import (
    DATABASE_URL,
    DatabaseSettings,
    DatabaseTable,
    IndexKind,
    Settings,
)
from ragbench.core.types import Dataset
from ragbench.store.engine import open_engine, say_plainly
from ragbench.store.search import Vectors
from ragbench.store.store import SCHEMA, Index, set_locally, write_vector

MOST_ROWS = 10_000_000  # of a table; a view of a larger one can be named
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
TABLES = {
    "passages": ("passage_id", "text", "url", "title", "vector"),
    "questions": (
        "question_id",
        "question",
        "answer",
        "reference",
        "relevant_ids",
        "question_url",
        "question_vector",
        "score",
        "user",
        "asked_at",
    ),
}
# Without these a table cannot be read.
NEEDED = {"passages": ("passage_id", "text"), "questions": ("question_id", "question")}
HISTORY = {
    "question_id": "history_id",
    "question": "question",
    "answer": "answer",
    "question_url": "url",
    "score": "score",
    "user": "user",
    "asked_at": "asked_at",
}
# Labels by the page of a question are one group, of which any passage will do.
OF_PAGE = 1_000
FIND_INDEX = sa.text(
    "SELECT i.relname, m.amname, pg_get_indexdef(i.oid, 0, true) FROM pg_index x "
    "JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_am m ON m.oid = i.relam "
    "JOIN pg_class t ON t.oid = x.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace "
    "WHERE n.nspname = :schema AND t.relname = :table AND m.amname IN ('hnsw', 'ivfflat') "
    "AND x.indisvalid AND x.indpred IS NULL ORDER BY m.amname, i.relname"
)


@dataclass(frozen=True)
class OwnIndex:
    """An index of cosine distance on a column of vectors. is_half: it is in half precision."""

    name: str
    kind: IndexKind
    is_half: bool


class OwnDatabase:
    """A database with the tables of `[databases.NAME]`. A context manager.

    Raises BenchError for tables and columns that it does not have, with those that it has.
    """

    def __init__(self, name: str, table: DatabaseTable, limits: DatabaseSettings) -> None:
        self._place = f"databases.{name}"
        self.name = name
        self.schema = table.db_schema
        named = {**PRESETS.get(table.preset, {}), **table.model_dump(exclude_unset=True)}
        fields = [*TABLES, *TABLES["passages"], *TABLES["questions"]]
        self._names = {field: str(named.get(field, "")) for field in fields}
        if self.schema == SCHEMA:
            raise BenchError(
                f"{self._place}: no table of yours is in ragbench's own schema {SCHEMA}"
            )
        variable = table.url_variable or DATABASE_URL
        address = read_secret(variable)
        if not address:
            raise BenchError(f"{self._place}: the environment variable {variable} is not set")
        self._engine = open_engine(address, limits, variable)

    def __enter__(self) -> OwnDatabase:
        return self

    def __exit__(self, *error: object) -> None:
        self._engine.dispose()

    @cached_property
    def _passages(self) -> sa.Table:
        return self._reflect("passages")

    @cached_property
    def _questions(self) -> sa.Table:
        return self._reflect("questions")

    def read_dataset(self, language: str = "", limit: int | None = None) -> Dataset:
        """Read passages, questions, labels and the history; limit: rows of each, for a trial.

        A row without a text is left out and counted in the notes. Where a question names the page
        that answers it and no passages, every passage of that page is relevant.
        """
        notes: list[str] = []
        rows = self._read(self._passages, ("passage_id", "text", "url", "title"), limit, notes)
        passages = check(rows.assign(section=pd.Series("", rows.index, dtype="str")), PASSAGES)
        if not self._names["questions"]:
            empty = QUESTIONS.empty(), LABELS.empty()
            return Dataset(self.name, language, passages, *empty, notes=tuple(notes))
        fields = [field for field in TABLES["questions"] if field != "question_vector"]
        rows = self._read(self._questions, fields, limit, notes)
        history = rows[list(HISTORY)].rename(columns=HISTORY)
        history["score"] = pd.to_numeric(history["score"], errors="coerce").astype(float)
        questions, labels = make_questions(rows, language), make_labels(rows, passages)
        extras = {"history": history}
        return Dataset(self.name, language, passages, questions, labels, extras, tuple(notes))

    def check_vectors(self, width: int | None = None) -> int:
        """Look at every vector of the passages and return their width, before anything is run.

        Raises BenchError with counts for rows without one, zero vectors and several widths, and
        for another width than that of the embedder. What is NaN, pgvector itself refuses.
        """
        column = self._vector_column("vector")
        place = f"{self._place}: {self._names['passages']}.{column.name}"
        with self._reading("checking vectors") as connection:
            counts = connection.execute(count_vectors(column)).one()
        wrong = {
            "without a vector": counts.without,
            "with a zero vector": counts.zero,
            f"of another width than {counts.width}": counts.of_another_width,
        }
        found = [f"{number} {what}" for what, number in wrong.items() if number]
        if found or not counts.rows:
            raise BenchError(
                f"{place}: of {counts.rows} rows {', '.join(found) or 'none is there'}; these "
                "would never be found: name a view of the others"
            )
        if width is not None and width != counts.width:
            raise BenchError(
                f"{place} has vectors of width {counts.width}, and those of the questions have "
                f"{width}: name the embedder that made those of the passages"
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
        own = self.find_index() if index.kind == "own" else None
        query = sa.bindparam("query", type_=sa.Text)
        kind: Any = HALFVEC(queries.shape[1]) if own is not None and own.is_half else column.type
        searched = sa.cast(column, kind) if kind is not column.type else column
        distance = searched.op("<=>", return_type=sa.Float())(sa.cast(query, kind))
        passage_id = sa.cast(self._passages.c[self._names["passage_id"]], sa.Text)
        statement = sa.select(passage_id, 1 - distance).order_by(distance).limit(k)
        settings = index.search_options() if index.kind == "exact" else {}
        if own is not None:
            settings = replace(index, kind=own.kind).search_options()
        rankings = []
        latency_ms = np.zeros(len(queries))
        with self._reading("searching") as connection:
            set_locally(connection, settings)
            for row, vector in enumerate(progress(queries, "searching")):
                parameters = {"query": write_vector(vector)}
                began = time.perf_counter()
                found = connection.execute(statement, parameters).all()
                latency_ms[row] = (time.perf_counter() - began) * 1000
                pairs = [(name, float(cosine)) for name, cosine in found if cosine is not None]
                rankings.append(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))
        return rankings, latency_ms

    def find_index(self) -> OwnIndex | None:
        """Return the index of cosine distance on the passages' vectors, or None."""
        column = self._vector_column("vector")
        with self._reading("looking for an index") as connection:
            where = {"schema": self.schema, "table": self._passages.name}
            for name, kind, definition in connection.execute(FIND_INDEX, where):
                # "hnsw (name vector_cosine_ops)", "hnsw ((name::halfvec(2)) halfvec_cosine_ops)"
                on = definition.partition(" USING ")[2].replace('"', "").partition("(")[2]
                is_of_column = on.lstrip("(").startswith((f"{column.name} ", f"{column.name}::"))
                if is_of_column and "cosine" in on:
                    return OwnIndex(name, kind, "::halfvec" in on)
        return None

    def read_question_vectors(self) -> dict[str, Vectors]:
        """Return question → its stored vector, of the questions that have one."""
        self._vector_column("question_vector")
        fields = ("question_id", "question", "question_vector")
        rows = self._read(self._questions, fields, None, [])
        pairs = zip(rows["question"], rows["question_vector"], strict=True)
        return {text: np.array(json.loads(vector), np.float32) for text, vector in pairs if vector}

    def describe(self, index: Index) -> str:
        """Say in a line what is searched, and how."""
        place = f"{self.schema}.{self._names['passages']}.{self._names['vector']}"
        own = self.find_index() if index.kind == "own" else None
        how = f"{own.kind} index {own.name}" if own else "every vector compared"
        return f"own PostgreSQL, {place} ORDER BY <=> LIMIT k, {how}"

    @contextmanager
    def _reading(self, what: str, seconds: int | None = None) -> Iterator[sa.Connection]:
        """Open a transaction that cannot write. seconds: of one statement."""
        with say_plainly(f"{self._place}: {what}"), self._engine.connect() as opened:
            connection = opened.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
            settings = {"statement_timeout": f"{seconds}s"} if seconds else {}
            if connection.scalar(sa.text("SELECT current_setting('is_superuser')")) == "on":
                settings["temp_file_limit"] = TEMPORARY_FILES
            set_locally(connection, settings)
            yield connection

    def _reflect(self, field: str) -> sa.Table:
        """Look a table and its columns up in the catalogue."""
        name = self._names[field]
        with self._reading("reading the catalogue") as connection:
            inspector = sa.inspect(connection)
            tables = list_tables(inspector, self.schema)
            if name not in tables:
                schemas = [other for other in inspector.get_schema_names() if is_own(other)]
                there = [
                    f'schema = "{schema}", {field} = "{table}"'
                    for schema in schemas
                    for table in list_tables(inspector, schema)
                ]
                raise BenchError(
                    f"{self._place}.{field} = {name!r} is not in the schema {self.schema}"
                    f"{suggest(name, tables)}; there are: {'; '.join(there[:20]) or 'none'}"
                )
            table = sa.Table(
                name, sa.MetaData(), schema=self.schema, autoload_with=connection, resolve_fks=False
            )
            proposed = propose_columns(connection, table)
        for column in TABLES[field]:
            if self._names[column]:
                self._check_there(column, f"the table {name}", table.columns.keys())
            elif column.endswith("_id"):
                # A primary key is what its rows are known by, whatever it is called.
                self._names[column] = proposed.get("passage_id", "")
        missing = [column for column in NEEDED[field] if not self._names[column]]
        if missing:
            lines = [f'{column} = "{proposed.get(column, "…")}"' for column in missing]
            raise BenchError(
                f"{self._place}: name the columns of {name}: {', '.join(lines)}; it has "
                f"{', '.join(table.columns.keys())}"
            )
        return table

    def _check_there(self, field: str, whose: str, there: Sequence[str]) -> None:
        """Refuse the name of a table or column that is not there."""
        name = self._names[field]
        if name not in there:
            raise BenchError(
                f"{self._place}.{field} = {name!r} is not in {whose}{suggest(name, there)}; it has "
                f"{', '.join(there[:20]) or 'nothing'}"
            )

    def _vector_column(self, field: str) -> sa.Column[Any]:
        """Return a column of vectors. Raises BenchError for one that holds none."""
        table = self._passages if field == "vector" else self._questions
        if not self._names[field]:
            other = ", or set embedder in [retrievers.NAME]" if field == "question_vector" else ""
            raise BenchError(f"{self._place}: name the column of vectors: {field} = …{other}")
        column = table.c[self._names[field]]
        if not isinstance(column.type, VECTOR | HALFVEC):
            raise BenchError(
                f"{self._place}.{field} = {column.name!r} holds {column.type}; a column of vector "
                "or halfvec is expected"
            )
        return column

    def _read(
        self, table: sa.Table, fields: Sequence[str], limit: int | None, notes: list[str]
    ) -> pd.DataFrame:
        """Read columns as texts, rows by the first; what is NULL or not named is an empty text.

        Rows whose second column is empty are left out, and counted in the notes.
        """
        columns = []
        for field in fields:
            name = self._names[field]
            value: Any = sa.cast(table.c[name], sa.Text) if name else sa.literal("")
            columns.append(sa.func.coalesce(value, "").label(field))
        most = MOST_ROWS if limit is None else limit
        seconds = None if limit is None else TRIAL_SECONDS
        with self._reading(f"reading {table.name}", seconds) as connection:
            rows = connection.execute(sa.select(*columns).limit(most + 1)).all()
        if limit is None and len(rows) > most:
            raise BenchError(
                f"{self._place}: {table.name} has more than {most:,} rows; name a view"
            )
        frame = pd.DataFrame(rows[:most], columns=list(fields), dtype="str")
        is_blank = frame[fields[1]].str.strip() == ""
        if is_blank.any():
            notes.append(f"{is_blank.sum()} rows of {table.name} have no text and are left out")
        return frame[~is_blank].sort_values(fields[0], kind="stable", ignore_index=True)


def list_tables(inspector: sa.Inspector, schema: str) -> list[str]:
    """Return the tables and views of a schema."""
    tables = inspector.get_table_names(schema) + inspector.get_view_names(schema)
    return sorted(tables + inspector.get_materialized_view_names(schema))


def is_own(schema: str) -> bool:
    """Tell whether a schema may hold a user's tables."""
    return schema not in (SCHEMA, "information_schema") and not schema.startswith("pg_")


def read_database(
    name: str, settings: Settings, language: str = "", limit: int | None = None
) -> Dataset:
    """Read the data set of `[databases.NAME]`, which other rooms call db:NAME."""
    with open_database(name, settings) as database:
        return database.read_dataset(language, limit)


def open_database(name: str, settings: Settings) -> OwnDatabase:
    """Open the database of `[databases.NAME]`. Raises BenchError for a name that there is not."""
    tables = settings.databases
    if name not in tables:
        raise BenchError(
            f"there is no table [databases.{name}]{suggest(name, tables)}; there are: "
            f"{', '.join(tables) or 'none'}"
        )
    return OwnDatabase(name, tables[name], settings.database)


def count_vectors(column: sa.Column[Any]) -> sa.Select[Any]:
    """Write the statement that counts what is wrong with the vectors of a column."""
    vector = sa.cast(column, VECTOR)
    looked = sa.select(
        sa.func.vector_dims(vector).label("width"),
        (sa.func.vector_norm(vector) == 0).label("is_zero"),
        column.is_(None).label("is_missing"),
    ).subquery()
    usual = sa.select(sa.func.mode().within_group(looked.c.width)).scalar_subquery()
    count = sa.func.count
    return sa.select(
        count().label("rows"),
        count().filter(looked.c.is_missing).label("without"),
        count().filter(looked.c.is_zero).label("zero"),
        usual.label("width"),
        count().filter(looked.c.width != usual).label("of_another_width"),
    ).select_from(looked)


def propose_columns(connection: sa.Connection, table: sa.Table) -> dict[str, str]:
    """Propose columns of a table of passages by what some rows hold.

    Returns what is found of: passage_id (the primary key), text (the longest texts but addresses).
    """
    proposed = {}
    keys = [column.name for column in table.primary_key]
    if len(keys) == 1:
        proposed["passage_id"] = keys[0]
    texts = [column for column in table.c if isinstance(column.type, sa.String)]
    rows = connection.execute(sa.select(*texts).limit(LOOKED_AT)).mappings().all()
    lengths = {}
    for column in texts:
        values = [row[column.name] or "" for row in rows]
        if not all(value.startswith(("http://", "https://")) for value in values):
            lengths[column.name] = sum(map(len, values))
    if lengths:
        proposed["text"] = max(lengths, key=lambda name: lengths[name])
    return proposed


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
    """Make the relevance labels: the ids that a question names, else the passages of its page.

    Column `group` behind: of the passages of one group any will do.
    """
    by_url = passages.groupby("url")["passage_id"].apply(list).to_dict()
    by_url.pop("", None)
    labels: list[tuple] = []
    groups: list[int] = []
    columns = (rows[name] for name in ("question_id", "relevant_ids", "question_url"))
    for question_id, ids, url in zip(*columns, strict=True):
        named = dict.fromkeys(read_ids(ids))
        relevant = named or by_url.get(url, [])
        labels += [(question_id, passage_id, 1.0) for passage_id in relevant]
        groups += range(len(named)) if named else [OF_PAGE] * len(relevant)
    return frame_of(labels, LABELS).assign(group=pd.Series(groups, dtype=int))


def read_ids(written: str) -> list[str]:
    """Read ids as PostgreSQL writes a list of them, {1,2}, as JSON, [1, 2], or one alone."""
    return [name.strip(' "') for name in written.strip(" []{}").split(",") if name.strip()]
