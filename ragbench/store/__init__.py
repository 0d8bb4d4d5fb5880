"""The database: PostgreSQL with pgvector, started when needed, migrated, and spoken to through `Store`."""

from ragbench.store.database import Store
from ragbench.store.errors import StoreError

__all__ = ["Store", "StoreError"]
