"""Search in a user's own table: by the approximate index that stands on its vectors, or comparing all of them.

Nothing is copied and nothing is built: each question is one statement of a read-only transaction, as an application
asks it, with the settings of the search set for that transaction alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from psycopg import Cursor, sql
from psycopg.sql import Composable

from ragbench.core.types import Vectors
from ragbench.store.errors import StoreError
from ragbench.store.search import Index, settings_of

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
