"""How often the journal had the reply, by judge and model; what was counted before is kept under no name."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

SCHEMA = "ragbench"


def upgrade() -> None:
    for name in ("judge", "model"):
        op.add_column("journal_use", sa.Column(name, sa.Text, nullable=False, server_default=""), schema=SCHEMA)
        op.alter_column("journal_use", name, server_default=None, schema=SCHEMA)
    op.drop_column("journal_use", "id", schema=SCHEMA)
    op.create_primary_key("journal_use_pkey", "journal_use", ["judge", "model"], schema=SCHEMA)


def downgrade() -> None:
    op.execute(
        f"WITH whole AS (DELETE FROM {SCHEMA}.journal_use RETURNING lookups, hits) "  # noqa: S608
        f"INSERT INTO {SCHEMA}.journal_use (judge, model, lookups, hits) "
        "SELECT ' ', '', sum(lookups), sum(hits) FROM whole"
    )
    op.add_column("journal_use", sa.Column("id", sa.Integer, nullable=False, server_default="1"), schema=SCHEMA)
    op.alter_column("journal_use", "id", server_default=None, schema=SCHEMA)
    for name in ("judge", "model"):
        op.drop_column("journal_use", name, schema=SCHEMA)
    op.create_primary_key("journal_use_pkey", "journal_use", ["id"], schema=SCHEMA)
