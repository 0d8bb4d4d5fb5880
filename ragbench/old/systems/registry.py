"""The systems and generators that the tables of ragbench.toml describe, made ready to be asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ragbench.old.core.settings import EmbedderSettings, RetrieverSettings, Settings
from ragbench.old.core.types import Embedder
from ragbench.old.llm import Budget, Journal, open_budget, planning
from ragbench.old.systems.generation import Generator
from ragbench.old.systems.retrieval import RetrievalError, Retriever, System

if TYPE_CHECKING:
    from ragbench.old.data import Dataset
    from ragbench.old.store import Store
    from ragbench.old.systems.parts.pre_retrieval import Rewriter
    from ragbench.old.systems.parts.reranking import Reranker

Opened = Callable[[str, EmbedderSettings, "Dataset"], Embedder]
"""Gives an embedder of a name, its settings and the data set that it is fitted on."""


def once(store: Store) -> Opened:
    """Makes each embedder once: what one system has fitted or loaded, all others that are made with it have, too."""
    made: dict[tuple[str, str], Embedder] = {}

    def opened(name: str, settings: EmbedderSettings, dataset: Dataset) -> Embedder:
        place = name, dataset.content_hash
        if place not in made:
            made[place] = _opened(store, name, settings, dataset)
        return made[place]

    return opened


def make(name: str, settings: Settings, store: Store, dataset: Dataset, opened: Opened | None = None) -> System:
    """The system of the table `[systems.NAME]`, ready to be asked about `dataset`.

    opened: gives its embedders, which may have been made before for the same data set; None makes them.
    Raises RetrievalError for a name or a part that is not there, StoreError for an index that cannot be built.
    """
    if name not in settings.systems:
        raise RetrievalError(f"there is no system {name!r}; there are {', '.join(sorted(settings.systems))}")
    table = settings.systems[name]
    if (retriever := settings.retriever(name)) is not None:
        from ragbench.old.systems.configured import ConfiguredSystem, Parts

        pieces = None
        if table.chunker is not None:
            from ragbench.old.systems.parts import pre_retrieval

            pieces = pre_retrieval.cut(table.chunker, settings.chunkers[table.chunker], dataset)
        searched = dataset if pieces is None else pieces.dataset
        searcher = _retriever(retriever, settings, store, searched, opened or partial(_opened, store))
        rewriter, reranker = _rewriter(table.rewriter, settings, store), _reranker(table.reranker, settings)
        system = ConfiguredSystem(name, dataset, Parts(searcher, store, pieces, rewriter, reranker))
        if planning.folder() is None:
            return system
        from ragbench.old.systems.configured import PlannedSystem

        return PlannedSystem(system)
    if table.callable is not None:
        from ragbench.old.systems.callables import FunctionSystem

        return FunctionSystem(name, table.callable, dataset, table.timeout_seconds, table.given)
    if table.url is not None:
        from ragbench.old.store import server
        from ragbench.old.store.reply_journal import DatabaseJournal
        from ragbench.old.systems.remote import RemoteSystem

        journal = DatabaseJournal(store.engine, lambda: server.start(settings))
        return RemoteSystem(name, table, dataset.chunks, journal=journal, budget=open_budget(settings.budget, journal))
    from ragbench.old.systems.logged import LoggedSystem

    assert table.results is not None, "settings let exactly one kind through"
    return LoggedSystem(name, table.results, dataset, table.given)


def _retriever(
    table: RetrieverSettings, settings: Settings, store: Store, dataset: Dataset, opened: Opened
) -> Retriever:
    if table.kind == "bm25":
        from ragbench.old.systems.parts.retrievers import Bm25Retriever

        return Bm25Retriever(table, dataset, store)
    if table.kind == "hybrid":
        from ragbench.old.systems.parts.reranking import HybridRetriever

        parts = {part: settings.retrievers[part] for part in table.retrievers}
        return HybridRetriever(
            table, {name: _retriever(part, settings, store, dataset, opened) for name, part in parts.items()}
        )
    from ragbench.old.systems.parts.retrievers import DenseRetriever

    embedder = settings.embedders[str(table.embedder)]
    return DenseRetriever(table, embedder, opened(str(table.embedder), embedder, dataset), store, dataset)


def _rewriter(name: str | None, settings: Settings, store: Store) -> Rewriter | None:
    if name is None:
        return None
    from ragbench.old.systems.parts.pre_retrieval import FunctionRewriter, ModelRewriter

    table = settings.rewriters[name]
    if table.generator is None:
        return FunctionRewriter(name, table)
    budget = open_budget(settings.budget, store.journal)
    model = settings.generator(table.generator)
    return ModelRewriter(name, table, model, journal=store.journal, budget=budget, language=settings.language)


def _reranker(name: str | None, settings: Settings) -> Reranker | None:
    if name is None:
        return None
    from ragbench.old.systems.parts.reranking import make

    return make(name, settings.rerankers[name])


def _opened(store: Store, name: str, settings: EmbedderSettings, dataset: Dataset) -> Embedder:
    from ragbench.old import embed

    return embed.make(name, settings, [chunk.text for chunk in dataset.chunks], store.arrays)


def own_writer(name: str, settings: Settings, store: Store, dataset: Dataset) -> Generator | None:
    """The service or function of the table `[systems.NAME]`, where it can be given the passages to answer from; None
    of all others.

    Raises what `make` raises.
    """
    table = settings.systems[name]
    if table.generator is not None or not (table.takes_contexts or table.callable is not None):
        return None
    system: Any = make(name, settings, store, dataset)
    return system if system.takes_contexts else None


def make_generator(
    name: str, settings: Settings, *, journal: Journal | None = None, budget: Budget | None = None
) -> Generator:
    """The generator of the table `[generators.NAME]`.

    journal: where paid replies are kept; None keeps them for this call. budget: shared by those who spend together.
    Raises ConfigurationError for a name that is not there, GenerationError for a part of it that is not.
    """
    table = settings.generator(name)
    if table.kind == "openai":
        from ragbench.old.systems.chat import ChatGenerator

        return ChatGenerator(name, table, journal=journal, budget=budget, language=settings.language)
    if table.kind == "callable":
        from ragbench.old.systems.callables import FunctionGenerator

        return FunctionGenerator(name, table)
    from ragbench.old.systems.generation import ExtractiveGenerator

    return ExtractiveGenerator(name, table)
