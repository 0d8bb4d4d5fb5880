"""Runs: their manifests, numbers, and values question by question."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

SCHEMA = "ragbench"


def upgrade() -> None:
    op.create_table(
        "run",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("started_at", sa.DateTime(timezone=True)),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("seconds", sa.Double),
        sa.Column("folder", sa.Text),
        sa.Column("identities", JSONB, nullable=False),
        sa.Column("manifest", JSONB, nullable=False),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        schema=SCHEMA,
    )
    op.create_index("run_by_start", "run", ["started_at", "id"], schema=SCHEMA)
    op.create_table(
        "run_part",
        _run(),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("notebook", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("failure", sa.Text, nullable=False),
        sa.Column("dataset", sa.Text),
        sa.Column("data_hash", sa.Text),
        sa.Column("unit", sa.Text),
        sa.Column("systems", ARRAY(sa.Text), nullable=False),
        sa.Column("baseline", sa.Text),
        sa.Column("facts", JSONB, nullable=False),
        sa.UniqueConstraint("run_id", "notebook"),
        schema=SCHEMA,
    )
    op.create_table(
        "run_value",
        _run(),
        sa.Column("position", sa.Integer, primary_key=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("notebook", "system", "metric")),
        sa.Column("value", sa.Double, nullable=False),
        sa.Column("low", sa.Double),
        sa.Column("high", sa.Double),
        sa.Column("level", sa.Double, nullable=False),
        sa.Column("method", sa.Text, nullable=False),
        sa.Column("n", sa.BigInteger),
        sa.Column("n_unmeasured", sa.BigInteger),
        sa.Column("better", sa.Text),
        sa.Column("scale_low", sa.Double),
        sa.Column("scale_high", sa.Double),
        sa.Column("unit", sa.Text),
        sa.Column("comparable", sa.Boolean, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        schema=SCHEMA,
    )
    op.create_index("run_value_by_metric", "run_value", ["metric", "system", "notebook"], schema=SCHEMA)
    op.create_table(
        "run_comparison",
        _run(),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("finding", JSONB, nullable=False),
        schema=SCHEMA,
    )
    op.create_table(
        "run_question",
        _run(),
        sa.Column("notebook", sa.Text, primary_key=True),
        sa.Column("samples", ARRAY(sa.Text), nullable=False),
        sa.Column("fingerprints", ARRAY(sa.Text), nullable=False),
        sa.Column("clusters", ARRAY(sa.Text)),
        schema=SCHEMA,
    )
    op.create_table(
        "run_score",
        _run(),
        *(sa.Column(name, sa.Text, primary_key=True) for name in ("notebook", "system", "metric")),
        sa.Column("values", ARRAY(sa.Double), nullable=False),
        schema=SCHEMA,
    )


def _run() -> sa.Column:
    return sa.Column("run_id", sa.Text, sa.ForeignKey(f"{SCHEMA}.run.id", ondelete="CASCADE"), primary_key=True)


def downgrade() -> None:
    for name in ("run_score", "run_question", "run_comparison", "run_value", "run_part", "run"):
        op.drop_table(name, schema=SCHEMA)
