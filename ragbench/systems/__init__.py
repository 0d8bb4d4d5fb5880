"""Systems under test (configured parts, your callable, a service, logged results), and who writes their answers."""

from __future__ import annotations

from ragbench.datasets import Dataset
from ragbench.llm import Budget, Journal, open_budget
from ragbench.settings import Settings
from ragbench.store import Store
from ragbench.systems.generation import Generation, GenerationError, Generator, Shown, Task, within
from ragbench.systems.retrieval import Retrieval, RetrievalError, System, steps
from ragbench.types import Embedder

__all__ = [
    "Generation",
    "GenerationError",
    "Generator",
    "Retrieval",
    "RetrievalError",
    "Shown",
    "System",
    "Task",
    "make",
    "make_generator",
    "steps",
    "within",
]


def make(name: str, settings: Settings, store: Store, dataset: Dataset, embedder: Embedder | None = None) -> System:
    """The system of the table `[systems.NAME]`, ready to be asked about `dataset`.

    embedder: its own, where it was made before for the same data set.
    Raises RetrievalError for a name or a part that is not there.
    """
    if name not in settings.systems:
        raise RetrievalError(f"there is no system {name!r}; there are {', '.join(sorted(settings.systems))}")
    one = settings.systems[name]
    if one.embedder is not None:
        from ragbench.systems.configured import ConfiguredSystem

        return ConfiguredSystem(name, one, settings.embedders[one.embedder], store, dataset, embedder)
    if one.callable is not None:
        from ragbench.systems.function import FunctionSystem

        return FunctionSystem(name, one.callable, dataset, one.timeout_seconds)
    if one.url is not None:
        from ragbench.store import server
        from ragbench.store.journal import DatabaseJournal
        from ragbench.systems.remote import RemoteSystem

        journal = DatabaseJournal(store.engine, lambda: server.start(settings))
        return RemoteSystem(name, one, dataset.chunks, journal=journal, budget=open_budget(settings.budget))
    from ragbench.systems.logged import LoggedSystem

    assert one.results is not None, "settings let exactly one kind through"
    return LoggedSystem(name, one.results, dataset)


def make_generator(
    name: str, settings: Settings, *, journal: Journal | None = None, budget: Budget | None = None
) -> Generator:
    """The generator of the table `[generators.NAME]`.

    journal: where paid replies are kept; None keeps them for this call. budget: shared by those who spend together.
    Raises ConfigurationError for a name that is not there, GenerationError for a part of it that is not.
    """
    one = settings.generator(name)
    if one.kind == "openai":
        from ragbench.systems.chat import ChatGenerator

        return ChatGenerator(name, one, journal=journal, budget=budget, language=settings.language)
    if one.kind == "callable":
        from ragbench.systems.writer import FunctionGenerator

        return FunctionGenerator(name, one)
    from ragbench.systems.extractive import ExtractiveGenerator

    return ExtractiveGenerator(name, one)
