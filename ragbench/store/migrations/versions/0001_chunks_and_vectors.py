"""Data sets, their chunks, embedders, their vectors, and the collections that are searched."""

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import Vector

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SCHEMA = "ragbench"


def upgrade() -> None:
    op.create_table(
        "dataset",
        sa.Column("id", sa.Integer, sa.Identity(), primary_key=True),
        sa.Column("content_hash", sa.Text, nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("chunks", sa.Integer, nullable=False),
        sa.Column("loaded_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        schema=SCHEMA,
    )
    op.create_table(
        "chunk",
        sa.Column(
            "dataset_id", sa.Integer, sa.ForeignKey(f"{SCHEMA}.dataset.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("text_hash", sa.LargeBinary, nullable=False),
        sa.Column("url", sa.Text),
        sa.Column("title", sa.Text),
        sa.Column("section", sa.Text),
        sa.UniqueConstraint("dataset_id", "id"),
        schema=SCHEMA,
    )
    op.create_table(
        "embedder",
        sa.Column("id", sa.Integer, sa.Identity(), primary_key=True),
        sa.Column("identity_hash", sa.LargeBinary, nullable=False, unique=True),
        sa.Column("identity", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("width", sa.Integer, nullable=False),
        schema=SCHEMA,
    )
    op.create_table(
        "embedding",
        sa.Column(
            "embedder_id", sa.Integer, sa.ForeignKey(f"{SCHEMA}.embedder.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("text_hash", sa.LargeBinary, primary_key=True),
        sa.Column("vector", Vector(), nullable=False),
        schema=SCHEMA,
    )
    op.create_table(
        "collection",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        sa.Column("dataset_id", sa.Integer, sa.ForeignKey(f"{SCHEMA}.dataset.id", ondelete="CASCADE"), nullable=False),
        sa.Column(
            "embedder_id", sa.Integer, sa.ForeignKey(f"{SCHEMA}.embedder.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("index", sa.Text, nullable=False),
        sa.UniqueConstraint("dataset_id", "embedder_id", "index"),
        schema=SCHEMA,
    )


def downgrade() -> None:
    connection = op.get_bind()
    for (number,) in connection.execute(sa.text(f"SELECT id FROM {SCHEMA}.collection")).all():  # noqa: S608
        op.drop_table(f"collection_{number}", schema=SCHEMA)
    for table in ("collection", "embedding", "embedder", "chunk", "dataset"):
        op.drop_table(table, schema=SCHEMA)
