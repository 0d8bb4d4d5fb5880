"""What is kept and searched in PostgreSQL: ragbench's own database, and tables of your own."""

from ragbench.store.indexes import compare_indexes
from ragbench.store.own import OwnDatabase, open_database, read_database
from ragbench.store.search import nearest_in_memory, recall_against_exact
from ragbench.store.store import Index, Neighbours, SearchTable, Store

__all__ = [
    "Index",
    "Neighbours",
    "OwnDatabase",
    "SearchTable",
    "Store",
    "compare_indexes",
    "nearest_in_memory",
    "open_database",
    "read_database",
    "recall_against_exact",
]
