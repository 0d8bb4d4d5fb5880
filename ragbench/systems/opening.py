"""The systems that names, tables of ragbench.toml, functions and objects stand for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ragbench.core.code import load_object
from ragbench.core.errors import BenchError, look_up
from ragbench.core.settings import GeneratorTable, RetrieverTable, Settings, SystemTable
from ragbench.core.types import Dataset, System
from ragbench.embed import TextEmbedder, open_embedder
from ragbench.llm import Spending
from ragbench.store import Store
from ragbench.store.own import open_database
from ragbench.systems.asked import Answering, AskedSystem
from ragbench.systems.functions import FunctionSystem
from ragbench.systems.generators import Extractive, FunctionGenerator, Generator, ModelGenerator
from ragbench.systems.hits import KnownPassages
from ragbench.systems.rerankers import open_reranker
from ragbench.systems.results import ResultsSystem
from ragbench.systems.retrievers import Bm25, Dense, Hybrid, OwnTables, Retriever, index_of
from ragbench.systems.searching import Searching
from ragbench.systems.service import ServiceSystem

# Retrievers that are there without a table.
BUILT_IN = {
    "bm25": RetrieverTable(kind="bm25"),
    "dense": RetrieverTable(kind="dense"),
    "hybrid": RetrieverTable(kind="hybrid", retrievers=["bm25", "dense"]),
}
OFFLINE = {"extractive": GeneratorTable(kind="extractive")}
# Endings of files of results that may be given in place of a system.
ENDINGS = (".jsonl", ".json", ".csv", ".tsv", ".parquet", ".xlsx")
REPLIES = ".ragbench/replies.sqlite"


def open_systems(
    systems: Any,
    settings: Settings,
    dataset: Dataset,
    store: Store | None = None,
    *,
    journal: Any = None,
    spending: Spending | None = None,
) -> dict[str, System]:
    """Open the systems under test, by their names.

    systems: names (a list, or a text with commas), {name: name, function, object or results}, or a
    list of these; nothing: those of ragbench.toml, else bm25, dense and hybrid. store: of vectors.
    journal: of models that answer, see `ragbench.llm.Client`. spending: of a run; None: a new one.
    Raises BenchError for what is no system.
    """
    spending = spending or Spending(settings.budget)
    workshop = Workshop(settings, dataset, store or Store(settings.database), journal, spending)
    opened: dict[str, System] = {}
    for name, given in name_systems(systems, settings).items():
        opened[name] = workshop.open(name, given)
    return opened


def name_systems(systems: Any, settings: Settings) -> dict[str, Any]:
    """Return name → what was given for it. Raises BenchError for two of one name."""
    if isinstance(systems, str):
        systems = [part.strip() for part in systems.split(",") if part.strip()]
    if systems is None or (isinstance(systems, list | tuple | Mapping) and not systems):
        systems = list(settings.systems or BUILT_IN)
    if isinstance(systems, Mapping):
        return {str(name): given for name, given in systems.items()}
    named: dict[str, Any] = {}
    for given in systems if isinstance(systems, list | tuple) else [systems]:
        name = given if isinstance(given, str) else name_of(given)
        if name in named:
            raise BenchError(f"two systems are called {name}; give {{name: system}}")
        named[name] = given
    return named


def name_of(given: Any) -> str:
    """Return what a function or an object is called where nobody named it."""
    name = getattr(given, "__name__", "") or getattr(given, "name", "")
    if name == "<lambda>":
        return "system"
    return name if isinstance(name, str) and name else type(given).__name__


class Workshop:
    """Makes systems over one data set; what several of them share is made once."""

    def __init__(
        self, settings: Settings, dataset: Dataset, store: Store, journal: Any, spending: Spending
    ) -> None:
        self.settings = settings
        self.dataset = dataset
        self.store = store
        self.journal = journal or settings.path(REPLIES)
        self.spending = spending
        self.known = KnownPassages(dataset)
        self._made: dict[tuple[str, str], Any] = {}

    def open(self, name: str, given: Any) -> System:
        """Open one system."""
        generator = description = ""
        if isinstance(given, str) and given in self.settings.systems:
            table = self.settings.systems[given]
            generator, description = table.generator, table.description
            system = self.open_table(name, table)
        elif isinstance(given, Path | list) or hasattr(given, "columns"):
            system = ResultsSystem(name, given, self.dataset, self.known)
        elif isinstance(given, str) and given.endswith(ENDINGS):
            system = ResultsSystem(name, Path(given), self.dataset, self.known)
        elif isinstance(given, str):
            systems = {**BUILT_IN, **self.settings.retrievers, **self.settings.systems}
            look_up("system", given, systems)
            system = Searching(name, self.known, self.retriever(given))
        else:
            system = FunctionSystem(name, given, self.known)
        if generator:  # else the stand-in is made when something is to be written
            self.generator(generator)
        writer = partial(self.generator, generator)
        return Answering(system, writer, is_named=bool(generator), description=description)

    def open_table(self, name: str, table: SystemTable) -> AskedSystem:
        """Open the system of a table of ragbench.toml, without its generator."""
        if table.callable:
            return FunctionSystem(name, load_object(table.callable, self.settings.root), self.known)
        if table.url:
            return ServiceSystem(name, table, self.known)
        if table.results is not None:
            path = self.settings.path(table.results)
            return ResultsSystem(name, path, self.dataset, self.known)
        reranker = None
        if table.reranker:
            reranker = open_reranker(table.reranker, self.settings, self.embedder, self.judge)
        rewrite = load_object(table.rewriter, self.settings.root) if table.rewriter else None
        if not table.embedder:
            retriever = self.retriever(table.retriever or "bm25")
        else:
            index = {"index": table.index, "ef_search": table.ef_search, "probes": table.probes}
            dense = {"kind": "dense", "embedder": table.embedder, **index}
            retriever = self.make_retriever(RetrieverTable.model_validate(dense))
        return Searching(name, self.known, retriever, reranker, rewrite)

    def retriever(self, name: str) -> Retriever:
        """Return the retriever of a name, made once."""
        if ("retriever", name) not in self._made:
            table = look_up("retriever", name, {**BUILT_IN, **self.settings.retrievers})
            self._made["retriever", name] = self.make_retriever(table)
        return self._made["retriever", name]

    def make_retriever(self, table: RetrieverTable) -> Retriever:
        """Make the retriever of a table."""
        if table.kind == "bm25":
            return Bm25(self.known)
        if table.kind == "hybrid":
            parts = [self.retriever(part) for part in table.retrievers or ("bm25", "dense")]
            return Hybrid(parts, table.weights)
        if table.kind == "dense":
            check_index(table, ("exact", "hnsw", "ivfflat"))
            embedder = self.embedder(table.embedder)
            return Dense(self.known, embedder, self.store, index_of(table))
        check_index(table, ("exact", "own"))
        own_embedder = self.embedder(table.embedder) if table.embedder else None
        database = open_database(table.database, self.settings)
        return OwnTables(self.known, database, own_embedder, index_of(table))

    def embedder(self, name: str) -> TextEmbedder:
        """Return the embedder of a name, fitted on the passages where it is fitted, made once."""
        if ("embedder", name) not in self._made:
            self._made["embedder", name] = open_embedder(
                name,
                self.settings,
                self.dataset.language,
                corpus=self.dataset.passages["text"].tolist(),
                store=self.store,
            )
        return self._made["embedder", name]

    def judge(self, name: str) -> Any:
        """Return the judge of a name, for a reranker."""
        from ragbench.judge import open_judge

        return open_judge(
            name,
            self.settings,
            self.dataset.language,
            journal=self.journal,
            spending=self.spending,
        )

    def generator(self, name: str) -> Generator:
        """Return the generator of a name, made once; without one the extractive stand-in."""
        name = name or "extractive"
        if ("generator", name) not in self._made:
            table = look_up("generator", name, {**OFFLINE, **self.settings.generators})
            self._made["generator", name] = self.make_generator(name, table)
        return self._made["generator", name]

    def make_generator(self, name: str, table: GeneratorTable) -> Generator:
        """Make the generator of a table."""
        language = self.dataset.language
        if table.kind == "openai":
            return ModelGenerator(name, table, self.settings, language, self.journal, self.spending)
        if table.kind == "callable":
            return FunctionGenerator(name, load_object(table.callable, self.settings.root))
        return Extractive(table, language)


def check_index(table: RetrieverTable, legal: tuple[str, ...]) -> None:
    """Refuse an index that does not go with a kind of retriever."""
    if table.index not in legal:
        raise BenchError(
            f"index = {table.index!r} does not go with kind = {table.kind!r}; "
            f"write one of {', '.join(legal)}"
        )
