"""Which replies of models each run was made of."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

SCHEMA = "ragbench"


def upgrade() -> None:
    op.create_table(
        "run_reply",
        sa.Column("run_id", sa.Text, sa.ForeignKey(f"{SCHEMA}.run.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("keys", ARRAY(sa.Text), nullable=False),
        schema=SCHEMA,
    )


def downgrade() -> None:
    op.drop_table("run_reply", schema=SCHEMA)
