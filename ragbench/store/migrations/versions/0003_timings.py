"""Clock readings that were taken once and are shown again."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

SCHEMA = "ragbench"


def upgrade() -> None:
    op.create_table(
        "timing",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("about", JSONB, nullable=False),
        sa.Column("readings", JSONB, nullable=False),
        sa.Column("measured_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        schema=SCHEMA,
    )


def downgrade() -> None:
    op.drop_table("timing", schema=SCHEMA)
