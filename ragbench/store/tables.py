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
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    func,
)
from sqlalchemy.dialects.postgresql import JSONB

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
