"""Arrays that were made once, such as indexes of words, in blocks of bytes."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

SCHEMA = "ragbench"


def upgrade() -> None:
    op.create_table(
        "array_set",
        sa.Column("id", sa.Integer, sa.Identity(), primary_key=True),
        sa.Column("key", sa.LargeBinary, nullable=False, unique=True),
        sa.Column("about", JSONB, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("read_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        schema=SCHEMA,
    )
    op.create_table(
        "array_block",
        sa.Column("array_set_id", sa.Integer, sa.ForeignKey(f"{SCHEMA}.array_set.id", ondelete="CASCADE"),
                  primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
        schema=SCHEMA,
    )  # fmt: skip
    # numbers hardly shrink, and packing them takes longer than all else
    op.execute(f"ALTER TABLE {SCHEMA}.array_block ALTER COLUMN content SET STORAGE EXTERNAL")


def downgrade() -> None:
    for name in ("array_block", "array_set"):
        op.drop_table(name, schema=SCHEMA)
