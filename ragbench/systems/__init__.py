"""Retrieval systems under test: configured parts, your Python callable, or logged results."""

from __future__ import annotations

from ragbench.datasets import Dataset
from ragbench.settings import Settings
from ragbench.store import Store
from ragbench.systems.retrieval import Retrieval, RetrievalError, System

__all__ = ["Retrieval", "RetrievalError", "System", "make"]


def make(name: str, settings: Settings, store: Store, dataset: Dataset) -> System:
    """The system of the table `[systems.NAME]`, ready to be asked about `dataset`.

    Raises RetrievalError for a name or a part that is not there.
    """
    if name not in settings.systems:
        raise RetrievalError(f"there is no system {name!r}; there are {', '.join(sorted(settings.systems))}")
    one = settings.systems[name]
    if one.embedder is not None:
        from ragbench.systems.configured import ConfiguredSystem

        return ConfiguredSystem(name, one, settings.embedders[one.embedder], store, dataset)
    if one.callable is not None:
        from ragbench.systems.function import FunctionSystem

        return FunctionSystem(name, one.callable, dataset)
    from ragbench.systems.logged import LoggedSystem

    assert one.results is not None, "settings let exactly one kind through"
    return LoggedSystem(name, one.results, dataset)
