"""The database: PostgreSQL with pgvector, started when needed, migrated, and spoken to through `Store`."""

from ragbench.store.database import Store
from ragbench.store.errors import StoreError
from ragbench.store.foreign import Source
from ragbench.store.search import Neighbours, recall_against_exact, recalls_against_exact
from ragbench.types import EmbeddingError
