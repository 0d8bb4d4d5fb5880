"""What processes that run at the same time hold together: budgets, limits of endpoints, claims behind a pooler."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

SCHEMA = "ragbench"


def _filled(kind: sa.types.TypeEngine, *names: str, key: bool = False) -> list[sa.Column]:
    return [sa.Column(name, kind, primary_key=key, nullable=False) for name in names]


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "spending",
        *_filled(sa.Text(), "run", "holder", key=True),
        *_filled(sa.BigInteger(), "step", "calls", "reserved_calls"),
        *_filled(sa.Double(), "tokens", "money", "reserved_tokens", "reserved_money"),
        *_filled(moment, "until"),
        schema=SCHEMA,
    )
    op.create_table(
        "spending_reply",
        *_filled(sa.Text(), "run", "key", key=True),
        *_filled(sa.BigInteger(), "calls"),
        *_filled(sa.Double(), "tokens", "money"),
        schema=SCHEMA,
    )
    # who holds what is known again within a second: it need not outlive the server
    op.create_table(
        "endpoint",
        *_filled(sa.Text(), "name", key=True),
        *_filled(moment, "held_at", "resume_at"),
        prefixes=["UNLOGGED"],
        schema=SCHEMA,
    )
    op.create_table(
        "endpoint_holder",
        *_filled(sa.Text(), "endpoint", "holder", key=True),
        *_filled(sa.BigInteger(), "places", "wanted"),
        *_filled(sa.Double(), "part"),
        *_filled(moment, "until"),
        prefixes=["UNLOGGED"],
        schema=SCHEMA,
    )
    op.create_table(
        "journal_claim",
        *_filled(sa.Text(), "key", key=True),
        *_filled(sa.Text(), "holder"),
        *_filled(moment, "until"),
        prefixes=["UNLOGGED"],
        schema=SCHEMA,
    )
    op.create_index("ix_ragbench_journal_claim_holder", "journal_claim", ["holder"], schema=SCHEMA)


def downgrade() -> None:
    for name in ("journal_claim", "endpoint_holder", "endpoint", "spending_reply", "spending"):
        op.drop_table(name, schema=SCHEMA)
