"""The journal of models' replies, and how often it is used."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

SCHEMA = "ragbench"


def upgrade() -> None:
    op.create_table(
        "journal",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("judge", sa.Text, nullable=False),
        sa.Column("endpoint", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("prompt", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("repeat", sa.Integer, nullable=False),
        sa.Column("request", JSONB, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("finish", sa.Text, nullable=False),
        sa.Column("refusal", sa.Text),
        sa.Column("input_tokens", sa.BigInteger, nullable=False),
        sa.Column("output_tokens", sa.BigInteger, nullable=False),
        sa.Column("estimated", sa.Boolean, nullable=False),
        sa.Column("cost", sa.Double, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("served_model", sa.Text),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        schema=SCHEMA,
    )
    use = op.create_table(
        "journal_use",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("lookups", sa.BigInteger, nullable=False),
        sa.Column("hits", sa.BigInteger, nullable=False),
        schema=SCHEMA,
    )
    op.bulk_insert(use, [{"id": 1, "lookups": 0, "hits": 0}])


def downgrade() -> None:
    op.drop_table("journal_use", schema=SCHEMA)
    op.drop_table("journal", schema=SCHEMA)
