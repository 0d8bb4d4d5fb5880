"""The systems of ragbench.toml, made ready to be asked: a retriever, what comes before and after it, generators.

In a process that only plans, one that answers truly where all that it takes is kept stands for it: nothing is
computed, and nobody is paid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ragbench.core.settings import EmbedderSettings, RetrieverSettings, Settings
from ragbench.core.types import Array, Chunk, Embedder, Hit, Question
from ragbench.data import Dataset
from ragbench.llm import Budget, Journal, ModelError, open_budget, planning
from ragbench.llm.planning import keep
from ragbench.store import Store
from ragbench.systems.callables import told
from ragbench.systems.generation import Generator
from ragbench.systems.parts.chunking import Pieces
from ragbench.systems.parts.dense import DenseRetriever
from ragbench.systems.parts.reranking import HybridRetriever, Reranker, by_ranks, kept_of, reranked
from ragbench.systems.parts.rewriting import ModelRewriter, Rewriter, Rewritten
from ragbench.systems.retrieval import Found, Progress, Retrieval, RetrievalError, Retriever, System, counted, scaled

if TYPE_CHECKING:
    from ragbench.data import Dataset
    from ragbench.store import Store
    from ragbench.systems.parts.reranking import Reranker
    from ragbench.systems.parts.rewriting import Rewriter


@dataclass(frozen=True)
class Parts:
    """What a system is made of. store: where a reranker's scores are kept."""

    retriever: Retriever
    store: Store
    pieces: Pieces | None = None
    rewriter: Rewriter | None = None
    reranker: Reranker | None = None

    @property
    def is_retriever_alone(self) -> bool:
        """Whether there is nothing besides."""
        return (self.pieces, self.rewriter, self.reranker) == (None, None, None)

    def depth(self, k: int) -> int:
        """How many hits it takes of the retriever for k of the whole."""
        return k if self.reranker is None else max(k, self.reranker.settings.depth)


class ConfiguredSystem:
    """A question is put anew, searched for, and the first passages are looked at again, where there are such parts.

    A question at which a part fails has no hits, and the reason is kept; where all fail, that is an error as a whole.
    """

    def __init__(self, name: str, dataset: Dataset, parts: Parts) -> None:
        self.name, self.dataset, self.parts, self.retriever = name, dataset, parts, parts.retriever
        self.is_stand_in = parts.retriever.is_stand_in

    @property
    def searched(self) -> tuple[Chunk, ...]:
        """What is ranked: the passages, or the pieces that they are cut into."""
        return (self.dataset if self.parts.pieces is None else self.parts.pieces.dataset).chunks

    @property
    def description(self) -> Mapping[str, Any]:
        parts = self.parts
        more = {"rewriter": parts.rewriter, "reranker": parts.reranker}
        return {
            "kind": "configured",
            **self.retriever.description,
            **(parts.pieces.description if parts.pieces is not None else {}),
            **{part: dict(component.description) for part, component in more.items() if component is not None},
        }

    @property
    def dense(self) -> DenseRetriever | None:
        """The part that embeds, where it is all there is to the system."""
        alone = self.parts.is_retriever_alone and isinstance(self.retriever, DenseRetriever)
        return self.retriever if alone else None  # type: ignore[return-value]

    @property
    def searching(self) -> Mapping[str, Retriever]:
        """The parts that search: those of a hybrid by their names, else the one under ""."""
        return self.retriever.parts if isinstance(self.retriever, HybridRetriever) else {"": self.retriever}

    @property
    def embedding(self) -> dict[str, DenseRetriever]:
        """Those of them that embed."""
        return {name: retriever for name, retriever in self.searching.items() if isinstance(retriever, DenseRetriever)}

    def retrieve(
        self, questions: Sequence[Question], k: int, *, progress: Progress | None = None, fresh: bool = False
    ) -> Retrieval:
        """Raises EmbeddingError for texts that cannot be embedded, StoreError when the database cannot answer,
        RetrievalError where a part fails at every question."""
        if not fresh:
            self.prepare(progress)
        return self._retrieval(questions, k, progress=progress, fresh=fresh)

    def retrieve_one(self, question: Question, k: int) -> Retrieval:
        """One question, by itself and without looking what an index costs: what somebody waits for.

        Before the clock runs, the same is done once; but an endpoint's vector is paid for once, and read from then on.
        Raises EmbeddingError and StoreError where nobody has called `prepare` yet.
        """
        anew = not any(retriever.asks_elsewhere for retriever in self.embedding.values())
        self._retrieval([question], k, fresh=anew, alone=True)
        return self._retrieval([question], k, fresh=anew, alone=True)

    def timed(self, question: Question, k: int) -> dict[str, float]:
        """Milliseconds by part of one question by itself, all of it done now but for what a model was paid for."""
        retrieval = self._retrieval([question], k, fresh=True, alone=True)
        taken = {"embed": retrieval.embed_ms, "search": retrieval.search_ms, **retrieval.part_ms}
        return {part: float(ms[0]) for part, ms in taken.items() if ms is not None}

    def prepare(self, progress: Progress | None = None) -> None:
        """What belongs to the passages, where it is not there yet."""
        self.retriever.prepare(scaled(progress, len(self.dataset.chunks) / max(len(self.searched), 1)))

    def before_reranking(self, questions: Sequence[Question]) -> list[list[Hit]]:
        """What its reranker looks at. Raises what `retrieve` raises."""
        assert self.parts.reranker is not None
        before = ConfiguredSystem(self.name, self.dataset, replace(self.parts, reranker=None))
        return before.retrieve(questions, self.parts.reranker.settings.depth).hits

    def _retrieval(
        self,
        questions: Sequence[Question],
        k: int,
        *,
        progress: Progress | None = None,
        fresh: bool = False,
        alone: bool = False,
    ) -> Retrieval:
        asked, written_ms = self._asked(questions)
        errors = {
            question.id: rewritten.reason
            for question, rewritten in zip(questions, asked, strict=True)
            if not rewritten.texts
        }
        failures = counted(f"systems.{self.name}: its rewriter", questions, errors)
        texts = [text for rewritten in asked for text in rewritten.texts]
        share = (len(asked) - len(errors)) / len(texts) / (1 if self.parts.reranker is None else 2)
        outcome = self.retriever.search(
            texts, self.parts.depth(k), progress=scaled(progress, share), fresh=fresh, alone=alone
        )
        owners = [question.id for question, rewritten in zip(questions, asked, strict=True) for _ in rewritten.texts]
        for place, why in outcome.errors.items():
            errors.setdefault(owners[place], why)
        failures = counted(f"systems.{self.name}: its embedder", questions, errors)
        rankings, taken = self._by_question(asked, outcome)
        reranked_ms = {}
        if self.parts.reranker is not None:
            rankings, reranked_ms["rerank"] = self._reranked(questions, asked, rankings, errors, fresh, progress)
            failures = counted(f"systems.{self.name}: its reranker", questions, errors)
        if progress is not None and (failed := sum(not rewritten.texts for rewritten in asked)):
            progress(2 * failed)
        return Retrieval(
            [[] if question.id in errors else row[:k] for question, row in zip(questions, rankings, strict=True)],
            embed_ms=taken.get("embed"),
            search_ms=taken.get("search"),
            part_ms={**written_ms, **reranked_ms},
            errors=errors,
            facts={**outcome.facts, **self.description, **failures},
            is_stand_in=self.is_stand_in,
        )

    def _asked(self, questions: Sequence[Question]) -> tuple[list[Rewritten], dict[str, Array]]:
        """What is searched for, and the milliseconds of writing it."""
        if self.parts.rewriter is None:
            return [Rewritten((question.text,), "", 0.0) for question in questions], {}
        try:
            made = self.parts.rewriter.rewrite(questions)
        except ModelError as error:
            raise RetrievalError(f"systems.{self.name}: its rewriter: {error}") from error
        return made, {"rewrite": np.array([rewritten.milliseconds for rewritten in made])}

    def _by_question(self, asked: Sequence[Rewritten], outcome: Found) -> tuple[list[list[Hit]], dict[str, Array]]:
        """Rankings, those of one question's texts fused by ranks; milliseconds of its texts together."""
        rows = iter(outcome.hits)
        rankings: list[list[Hit]] = []
        for rewritten in asked:
            own = [next(rows) for _ in rewritten.texts]
            rankings.append(own[0] if len(own) == 1 else by_ranks(own))
        owners = np.repeat(np.arange(len(asked)), [len(rewritten.texts) for rewritten in asked])
        taken = {
            part: np.bincount(owners, ms, minlength=len(asked)).astype(float)
            for part, ms in outcome.milliseconds.items()
        }
        return rankings, taken

    def _reranked(
        self,
        questions: Sequence[Question],
        asked: Sequence[Rewritten],
        rankings: Sequence[list[Hit]],
        errors: dict[str, str],
        fresh: bool,
        progress: Progress | None,
    ) -> tuple[list[list[Hit]], Array]:
        """By the question as it was asked. errors: takes the reasons of those at which the reranker fails."""
        assert self.parts.reranker is not None
        made, milliseconds = list[list[Hit]](), np.full(len(questions), np.nan)
        for place, (question, hits) in enumerate(zip(questions, rankings, strict=True)):
            if question.id in errors:
                made.append([])
                if progress is not None and asked[place].texts:
                    progress(1)
                continue
            try:
                again, milliseconds[place] = reranked(self.parts.reranker, self.parts.store, question.text, hits, fresh)
            except RetrievalError:
                raise
            except Exception as error:
                again = []
                errors.setdefault(question.id, f"reranker {self.parts.reranker.name}: {told(error)}")
            made.append(again)
            if progress is not None:
                progress(1)
        return made, milliseconds


class PlannedSystem:
    """A configured system that answers truly where all that it takes is kept, else with the relevant passages and the
    first ones, so that those who read them can be planned for.

    Its `kind` is that of what was logged: it cannot be asked again, and there is nothing to time.
    """

    def __init__(self, system: ConfiguredSystem) -> None:
        self.name, self.system, self.is_stand_in = system.name, system, system.is_stand_in

    @property
    def description(self) -> Mapping[str, Any]:
        return {**self.system.description, "kind": "logged"}

    def retrieve(
        self, questions: Sequence[Question], k: int, *, progress: Progress | None = None, fresh: bool = False
    ) -> Retrieval:
        """As of any system. Raises StoreError."""
        if self._is_kept(questions):
            return self.system.retrieve(questions, k, progress=progress)
        hits = [self._stand_ins(question, k) for question in questions]
        return Retrieval(hits, facts=self.system.description, is_stand_in=self.is_stand_in)

    def _is_kept(self, questions: Sequence[Question]) -> bool:
        parts = self.system.parts
        texts = [question.text for question in questions]
        if isinstance(parts.rewriter, ModelRewriter):
            known, outlook = parts.rewriter.foreseen(questions)
            keep([outlook])
            if outlook.missing:
                return False
            texts = [text for rewritten in known if rewritten is not None for text in rewritten.texts]
        elif parts.rewriter is not None:
            return False
        for dense in self.system.embedding.values():
            if parts.store.missing(dense.embedder, dense.passages) or parts.store.missing(
                dense.embedder, texts, "query"
            ):
                return False
        reranker = parts.reranker
        if reranker is None:
            return True
        ranked = self.system.before_reranking(questions)
        return bool(reranker.identity) and len(kept_of(reranker, parts.store, questions, ranked)) == len(
            [row for row in ranked if row]
        )

    def _stand_ins(self, question: Question, k: int) -> list[Hit]:
        chunks = self.system.dataset.chunks
        relevant = [chunk for chunk in chunks if chunk.id in question.relevant]
        return [Hit(chunk) for chunk in [*relevant, *chunks[:k]][:k]]


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
        pieces = None
        if table.chunker is not None:
            from ragbench.systems.parts import chunking

            pieces = chunking.cut(table.chunker, settings.chunkers[table.chunker], dataset)
        searched = dataset if pieces is None else pieces.dataset
        searcher = _retriever(retriever, settings, store, searched, opened or partial(_opened, store))
        rewriter, reranker = _rewriter(table.rewriter, settings, store), _reranker(table.reranker, settings)
        system = ConfiguredSystem(name, dataset, Parts(searcher, store, pieces, rewriter, reranker))
        if planning.folder() is None:
            return system

        return PlannedSystem(system)
    if table.callable is not None:
        from ragbench.systems.callables import FunctionSystem

        return FunctionSystem(name, table.callable, dataset, table.timeout_seconds, table.given)
    if table.url is not None:
        from ragbench.store import server
        from ragbench.store.journal import DatabaseJournal
        from ragbench.systems.remote import RemoteSystem

        journal = DatabaseJournal(store.engine, lambda: server.start(settings))
        return RemoteSystem(name, table, dataset.chunks, journal=journal, budget=open_budget(settings.budget, journal))
    from ragbench.systems.logged import LoggedSystem

    assert table.results is not None, "settings let exactly one kind through"
    return LoggedSystem(name, table.results, dataset, table.given)


def _retriever(
    table: RetrieverSettings, settings: Settings, store: Store, dataset: Dataset, opened: Opened
) -> Retriever:
    if table.kind == "bm25":
        from ragbench.systems.parts.bm25 import Bm25Retriever

        return Bm25Retriever(table, dataset, store)
    if table.kind == "hybrid":
        from ragbench.systems.parts.reranking import HybridRetriever

        parts = {part: settings.retrievers[part] for part in table.retrievers}
        return HybridRetriever(
            table, {name: _retriever(part, settings, store, dataset, opened) for name, part in parts.items()}
        )
    from ragbench.systems.parts.dense import DenseRetriever

    embedder = settings.embedders[str(table.embedder)]
    return DenseRetriever(table, embedder, opened(str(table.embedder), embedder, dataset), store, dataset)


def _rewriter(name: str | None, settings: Settings, store: Store) -> Rewriter | None:
    if name is None:
        return None
    from ragbench.systems.parts.rewriting import FunctionRewriter, ModelRewriter

    table = settings.rewriters[name]
    if table.generator is None:
        return FunctionRewriter(name, table)
    budget = open_budget(settings.budget, store.journal)
    model = settings.generator(table.generator)
    return ModelRewriter(name, table, model, journal=store.journal, budget=budget, language=settings.language)


def _reranker(name: str | None, settings: Settings) -> Reranker | None:
    if name is None:
        return None
    from ragbench.systems.parts.reranking import make

    return make(name, settings.rerankers[name])


def _opened(store: Store, name: str, settings: EmbedderSettings, dataset: Dataset) -> Embedder:
    from ragbench import embed

    return embed.make(name, settings, [chunk.text for chunk in dataset.chunks], store.arrays)


def make_generator(
    name: str, settings: Settings, *, journal: Journal | None = None, budget: Budget | None = None
) -> Generator:
    """The generator of the table `[generators.NAME]`.

    journal: where paid replies are kept; None keeps them for this call. budget: shared by those who spend together.
    Raises ConfigurationError for a name that is not there, GenerationError for a part of it that is not.
    """
    table = settings.generator(name)
    if table.kind == "openai":
        from ragbench.systems.chat import ChatGenerator

        return ChatGenerator(name, table, journal=journal, budget=budget, language=settings.language)
    if table.kind == "callable":
        from ragbench.systems.callables import FunctionGenerator

        return FunctionGenerator(name, table)
    from ragbench.systems.generation import ExtractiveGenerator

    return ExtractiveGenerator(name, table)
