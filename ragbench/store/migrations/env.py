"""Runs the migrations on the connection that `ragbench.store.engine` hands over, inside its transaction."""

from alembic import context

from ragbench.store.tables import SCHEMA, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table_schema=SCHEMA,
    include_schemas=True,
    transaction_per_migration=False,
)
context.run_migrations()
