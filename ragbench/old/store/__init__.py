"""The database: PostgreSQL with pgvector, started when needed, and spoken to through `Store`."""

from typing import TYPE_CHECKING

from ragbench.old.core.annexes import offers
from ragbench.old.core.types import EmbeddingError

if TYPE_CHECKING:  # what the room offers: each name is imported when it is first asked for
    from ragbench.old.store.database import Store
    from ragbench.old.store.errors import StoreError
    from ragbench.old.store.foreign import Source
    from ragbench.old.store.search import Neighbours, recall_against_exact, recalls_against_exact

__all__, __getattr__, __dir__ = offers(__name__)
