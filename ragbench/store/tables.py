"""The tables of the schema `ragbench`, as SQLAlchemy Core knows them. Migrations make them; nothing else does."""

from __future__ import annotations

from pgvector.sqlalchemy import Vector
from sqlalchemy import (
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
    func,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

SCHEMA = "ragbench"
metadata = MetaData(schema=SCHEMA)

dataset = Table(
    "dataset",
    metadata,
    Column("id", Integer, Identity(), primary_key=True),
    Column("content_hash", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("chunks", Integer, nullable=False),
    Column("loaded_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
)

# `position` is the rank of the chunk's id in code point order: ties between chunks are broken by it
chunk = Table(
    "chunk",
    metadata,
    Column("dataset_id", Integer, ForeignKey(dataset.c.id, ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("id", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("text_hash", LargeBinary, nullable=False),
    Column("url", Text),
    Column("title", Text),
    Column("section", Text),
    UniqueConstraint("dataset_id", "id"),
)

embedder = Table(
    "embedder",
    metadata,
    Column("id", Integer, Identity(), primary_key=True),
    Column("identity_hash", LargeBinary, nullable=False, unique=True),
    Column("identity", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("width", Integer, nullable=False),
)

# one row per text that was ever embedded; `text_hash` is over the kind (passage or query) and the text
embedding = Table(
    "embedding",
    metadata,
    Column("embedder_id", Integer, ForeignKey(embedder.c.id, ondelete="CASCADE"), primary_key=True),
    Column("text_hash", LargeBinary, primary_key=True),
    Column("vector", Vector(), nullable=False),
)

# a searchable table `collection_<id>` exists for each row
collection = Table(
    "collection",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("dataset_id", Integer, ForeignKey(dataset.c.id, ondelete="CASCADE"), nullable=False),
    Column("embedder_id", Integer, ForeignKey(embedder.c.id, ondelete="CASCADE"), nullable=False),
    Column("index", Text, nullable=False),
    UniqueConstraint("dataset_id", "embedder_id", "index"),
)

# one row per reply of a model that was paid for; `key` is over who was asked and what
journal = Table(
    "journal",
    metadata,
    Column("key", Text, primary_key=True),
    Column("judge", Text, nullable=False),
    Column("endpoint", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("prompt", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("request", JSONB, nullable=False),
    Column("text", Text, nullable=False),
    Column("finish", Text, nullable=False),
    Column("refusal", Text),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("estimated", Boolean, nullable=False),
    Column("cost", Double, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("served_model", Text),
    Column("recorded_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
)

# a single row: how often the journal was asked, and how often it had the reply
journal_use = Table(
    "journal_use",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("lookups", BigInteger, nullable=False),
    Column("hits", BigInteger, nullable=False),
)

# readings of a clock, taken once for what `about` says (and `key` is the hash of), so that later pages show the same
timing = Table(
    "timing",
    metadata,
    Column("key", Text, primary_key=True),
    Column("about", JSONB, nullable=False),
    Column("readings", JSONB, nullable=False),
    Column("measured_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
)

# a run and what was found in it; `position` keeps the order in which a page shows things
run = Table(
    "run",
    metadata,
    Column("id", Text, primary_key=True),
    Column("started_at", DateTime(timezone=True)),
    Column("status", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("seconds", Double),
    Column("folder", Text),
    Column("identities", JSONB, nullable=False),
    Column("manifest", JSONB, nullable=False),
    Column("recorded_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Index("run_by_start", "started_at", "id"),
)


def _of_run() -> Column[str]:
    return Column("run_id", Text, ForeignKey(run.c.id, ondelete="CASCADE"), primary_key=True)


run_part = Table(
    "run_part",
    metadata,
    _of_run(),
    Column("position", Integer, primary_key=True),
    Column("notebook", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("failure", Text, nullable=False),
    Column("dataset", Text),
    Column("data_hash", Text),
    Column("unit", Text),
    Column("systems", ARRAY(Text), nullable=False),
    Column("baseline", Text),
    Column("facts", JSONB, nullable=False),
    UniqueConstraint("run_id", "notebook"),
)

run_value = Table(
    "run_value",
    metadata,
    _of_run(),
    Column("position", Integer, primary_key=True),
    Column("notebook", Text, nullable=False),
    Column("system", Text, nullable=False),
    Column("metric", Text, nullable=False),
    Column("value", Double, nullable=False),
    Column("low", Double),
    Column("high", Double),
    Column("level", Double, nullable=False),
    Column("method", Text, nullable=False),
    Column("n", BigInteger),
    Column("n_unmeasured", BigInteger),
    Column("better", Text),
    Column("scale_low", Double),
    Column("scale_high", Double),
    Column("unit", Text),
    Column("comparable", Boolean, nullable=False),
    Column("reason", Text, nullable=False),
    Index("run_value_by_metric", "metric", "system", "notebook"),
)

run_comparison = Table(
    "run_comparison",
    metadata,
    _of_run(),
    Column("position", Integer, primary_key=True),
    Column("finding", JSONB, nullable=False),
)

# the questions of a notebook, and one row of values a system and metric, in the order of the questions
run_question = Table(
    "run_question",
    metadata,
    _of_run(),
    Column("notebook", Text, primary_key=True),
    Column("samples", ARRAY(Text), nullable=False),
    Column("fingerprints", ARRAY(Text), nullable=False),
    Column("clusters", ARRAY(Text)),
)

run_score = Table(
    "run_score",
    metadata,
    _of_run(),
    Column("notebook", Text, primary_key=True),
    Column("system", Text, primary_key=True),
    Column("metric", Text, primary_key=True),
    Column("values", ARRAY(Double), nullable=False),
)

# the keys of the replies that a run was made of; a run that does not know them has no row
run_reply = Table("run_reply", metadata, _of_run(), Column("keys", ARRAY(Text), nullable=False))
