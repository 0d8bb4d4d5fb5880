"""The tables of the schema `ragbench`, as SQLAlchemy Core knows them and makes them."""

from __future__ import annotations

from typing import Any

from pgvector.sqlalchemy import Vector
from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Double,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    event,
    func,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

SCHEMA = "ragbench"
VERSION = 3
"""Of these tables; a database of another version is refused, so whatever changes them raises it."""
metadata = MetaData(schema=SCHEMA)


def _columns(kind: Any, *names: str, nullable: bool = False) -> list[Column[Any]]:
    return [Column(name, kind, nullable=nullable) for name in names]


def _now(name: str) -> Column[Any]:
    return Column(name, DateTime(timezone=True), nullable=False, server_default=func.now())


def _of(table: str, *, key: bool = True) -> Column[Any]:
    """The row of another table that a row belongs to, and goes with."""
    row = ForeignKey(f"{SCHEMA}.{table}.id", ondelete="CASCADE")
    return Column(f"{table}_id", row, primary_key=key, nullable=False)


version = Table("version", metadata, Column("number", Integer, primary_key=True))

dataset = Table(
    "dataset",
    metadata,
    Column("id", Integer, Identity(), primary_key=True),
    Column("content_hash", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("chunks", Integer, nullable=False),
    _now("loaded_at"),
)

# `position` is the rank of the chunk's id in code point order: ties between chunks are broken by it
chunk = Table(
    "chunk",
    metadata,
    _of("dataset"),
    Column("position", Integer, primary_key=True),
    *_columns(Text, "id", "text"),
    Column("text_hash", LargeBinary, nullable=False),
    *_columns(Text, "url", "title", "section", nullable=True),
    UniqueConstraint("dataset_id", "id"),
)

embedder = Table(
    "embedder",
    metadata,
    Column("id", Integer, Identity(), primary_key=True),
    Column("identity_hash", LargeBinary, nullable=False, unique=True),
    *_columns(Text, "identity", "name"),
    Column("width", Integer, nullable=False),
)

# one row per text that was ever embedded; `text_hash` is over the kind (passage or query) and the text
embedding = Table(
    "embedding",
    metadata,
    _of("embedder"),
    Column("text_hash", LargeBinary, primary_key=True),
    Column("vector", Vector(), nullable=False),
)

# a searchable table `collection_<id>` exists for each row
collection = Table(
    "collection",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    _of("dataset", key=False),
    _of("embedder", key=False),
    Column("index", Text, nullable=False),
    UniqueConstraint("dataset_id", "embedder_id", "index"),
)

# one row per reply of a model that was paid for; `key` is over who was asked and what
journal = Table(
    "journal",
    metadata,
    Column("key", Text, primary_key=True),
    *_columns(Text, "judge", "endpoint", "model", "prompt"),
    *_columns(Integer, "version", "repeat"),
    Column("request", JSONB, nullable=False),
    *_columns(Text, "text", "finish"),
    Column("refusal", Text),
    *_columns(BigInteger, "input_tokens", "output_tokens"),
    Column("estimated", Boolean, nullable=False),
    *_columns(Double, "cost", "seconds"),
    Column("served_model", Text),
    Column("imported", Boolean, nullable=False),
    _now("recorded_at"),
)

# how often the journal was asked for a reply of a model, and how often it had it
journal_use = Table(
    "journal_use",
    metadata,
    Column("judge", Text, primary_key=True),
    Column("model", Text, primary_key=True),
    *_columns(BigInteger, "lookups", "hits"),
)

# what a run has spent, all its processes together, and what is reserved for calls in flight
spending = Table(
    "spending",
    metadata,
    Column("run", Text, primary_key=True),
    Column("calls", BigInteger, nullable=False),
    *_columns(Double, "tokens", "money"),
    Column("reserved_calls", BigInteger, nullable=False),
    *_columns(Double, "reserved_tokens", "reserved_money"),
    Column("changed_at", DateTime(timezone=True), nullable=False),
)

# keys of what a run has counted: replies out of the journal, and what its processes have told, so that each counts once
spending_told = Table(
    "spending_told",
    metadata,
    Column("run", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    _now("told_at"),
)

# endpoints that several processes ask: when their rates are used up until, and since when calls may begin
endpoint = Table(
    "endpoint",
    metadata,
    Column("name", Text, primary_key=True),
    *_columns(DateTime(timezone=True), "requests_at", "tokens_at", "resume_at"),
    prefixes=["UNLOGGED"],
)

# readings of a clock, taken once for what `about` says (and `key` is the hash of), so that later pages show the same
timing = Table(
    "timing",
    metadata,
    Column("key", Text, primary_key=True),
    *_columns(JSONB, "about", "readings"),
    _now("measured_at"),
)

# arrays that were made once of what `about` says (and `key` is the hash of), the bytes of a NumPy archive in blocks
array_set = Table(
    "array_set",
    metadata,
    Column("id", Integer, Identity(), primary_key=True),
    Column("key", LargeBinary, nullable=False, unique=True),
    Column("about", JSONB, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    _now("read_at"),
)

array_block = Table(
    "array_block",
    metadata,
    _of("array_set"),
    Column("position", Integer, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)
# numbers hardly shrink, and packing them takes longer than all else
_UNPACKED = DDL("ALTER TABLE %(fullname)s ALTER COLUMN content SET STORAGE EXTERNAL")
event.listen(array_block, "after_create", _UNPACKED)

# a run and what was found in it; `position` keeps the order in which a page shows things
run = Table(
    "run",
    metadata,
    Column("id", Text, primary_key=True),
    Column("started_at", DateTime(timezone=True)),
    *_columns(Text, "status", "origin"),
    Column("seconds", Double),
    Column("folder", Text),
    *_columns(JSONB, "identities", "manifest"),
    _now("recorded_at"),
    Index("run_by_start", "started_at", "id"),
)


run_part = Table(
    "run_part",
    metadata,
    _of("run"),
    Column("position", Integer, primary_key=True),
    *_columns(Text, "notebook", "status", "failure"),
    *_columns(Text, "dataset", "data_hash", "unit", nullable=True),
    Column("systems", ARRAY(Text), nullable=False),
    Column("baseline", Text),
    Column("facts", JSONB, nullable=False),
    UniqueConstraint("run_id", "notebook"),
)

run_value = Table(
    "run_value",
    metadata,
    _of("run"),
    Column("position", Integer, primary_key=True),
    *_columns(Text, "notebook", "system", "metric"),
    Column("value", Double, nullable=False),
    *_columns(Double, "low", "high", nullable=True),
    Column("level", Double, nullable=False),
    Column("method", Text, nullable=False),
    *_columns(BigInteger, "n", "n_unmeasured", nullable=True),
    Column("better", Text),
    *_columns(Double, "scale_low", "scale_high", nullable=True),
    Column("unit", Text),
    Column("comparable", Boolean, nullable=False),
    Column("reason", Text, nullable=False),
    Index("run_value_by_metric", "metric", "system", "notebook"),
)

run_comparison = Table(
    "run_comparison",
    metadata,
    _of("run"),
    Column("position", Integer, primary_key=True),
    Column("finding", JSONB, nullable=False),
)

# the questions of a notebook, and one row of values a system and metric, in the order of the questions
run_question = Table(
    "run_question",
    metadata,
    _of("run"),
    Column("notebook", Text, primary_key=True),
    *_columns(ARRAY(Text), "samples", "fingerprints"),
    Column("clusters", ARRAY(Text)),
)

run_score = Table(
    "run_score",
    metadata,
    _of("run"),
    Column("notebook", Text, primary_key=True),
    Column("system", Text, primary_key=True),
    Column("metric", Text, primary_key=True),
    Column("values", ARRAY(Double), nullable=False),
)

# the keys of the replies that a run was made of; a run that does not know them has no row
run_reply = Table("run_reply", metadata, _of("run"), Column("keys", ARRAY(Text), nullable=False))
