"""What configured systems would ask of endpoints besides judges, found out without asking anybody."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ragbench.old import embed
from ragbench.old.core.settings import EmbedderSettings, Settings
from ragbench.old.core.types import Embedder, Question, TextKind
from ragbench.old.data import Dataset
from ragbench.old.embed.openai_embeddings import EndpointEmbedder
from ragbench.old.embed.texts import content_hash
from ragbench.old.llm import Outlook
from ragbench.old.store import Store
from ragbench.old.store.chunks import text_hash
from ragbench.old.systems import make
from ragbench.old.systems.configured import ConfiguredSystem, Parts
from ragbench.old.systems.parts.pre_retrieval import ModelRewriter
from ragbench.old.systems.parts.reranking import Reranker, kept_of
from ragbench.old.systems.parts.retrievers import DenseRetriever

What = Literal["passages", "questions", "timed", "reranker"]
Written = Mapping[str, Sequence[str]]
"""What is searched for in place of each question, by its id."""
FITTED = ("hashing", "navec")
"""Kinds of embedders that are made for a corpus: where it is new, a plan makes them of a sample."""
SAMPLE = 3000
"""Of a corpus: so many passages."""
LARGEST = 100_000
"""Passages up to which it is looked up which scores of a reranker are kept: for that they are searched."""


@dataclass(frozen=True)
class Task:
    """What one part of a system asks an endpoint. key: equal ones of several systems are asked once.

    who: the endpoint's name. left: how many texts, or questions of a reranker, of which nothing is kept. calls:
    requests that these take. data, texts: the data set, and the texts that are left: what one system has embedded no
    other one has to, nor of other data.
    """

    key: tuple[str, ...]
    what: What
    who: str
    left: int
    calls: int
    data: str = ""
    texts: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Demand:
    """What one page asks of a system. repeats: how often every question is asked, after the first time without reading
    what is stored of it. page: tells it from other pages.

    timed: questions that are embedded and searched one by one for the clock, in order, those before it runs among them.
    unread: tells these readings of a system from others, None where they are kept. compared: whether HNSW is compared
    with exact search by what they ask.
    """

    questions: tuple[Question, ...]
    repeats: int = 1
    page: str = ""
    timed: tuple[Question, ...] = ()
    unread: Callable[[ConfiguredSystem, Store], str | None] = lambda _system, _store: None
    compared: bool = False


@dataclass(frozen=True)
class Work:
    """Of one system, or of one embedder alone.

    anew: what every run asks, which nothing that is kept spares. outlook: of the model that rewrites.
    """

    name: str
    tasks: tuple[Task, ...]
    anew: tuple[Task, ...] = ()
    outlook: Outlook | None = None


class Estimate:
    """Finds what systems over one data set would ask."""

    def __init__(self, settings: Settings, store: Store, dataset: Dataset) -> None:
        self.settings, self.store, self.dataset = settings, store, dataset
        self._made: dict[tuple[str, str], Embedder] = {}

    def of_system(self, name: str, demands: Sequence[Demand]) -> Work:
        """Nothing of a system that is no configured one: it is asked, and keeps nothing here.

        Raises RetrievalError, EmbeddingError and StoreError as the system itself would.
        """
        if self.settings.retriever(name) is None:
            return Work(name, ())
        system = make(name, self.settings, self.store, self.dataset, self._opened)
        assert isinstance(system, ConfiguredSystem), "one with a retriever"
        questions = tuple({question.id: question for demand in demands for question in demand.questions}.values())
        written, outlook = self._texts(system.parts, questions)
        texts = _together(questions, written)
        if any(demand.compared for demand in demands) and system.parts.rewriter is not None:
            # indexes are asked without it
            texts += {question.text: None for demand in demands if demand.compared for question in demand.timed}
        tasks = [task for dense in system.embedding.values() for task in self._of_dense(dense, texts)]
        if system.parts.reranker is not None and system.parts.reranker.asks_elsewhere:
            is_ready = not any(task.left for task in tasks) and len(self.dataset.chunks) <= LARGEST
            tasks.append(self._reranked(system, system.parts.reranker, questions, is_ready))
        tasks += [task for demand in demands for task in self._clocked(system, demand, written)]
        anew = [task for demand in demands for task in self._again(system, demand, written)]
        return Work(name, _each_once(tasks), _each_once(anew), outlook)

    def of_embedder(self, name: str, kind: TextKind) -> Work:
        """Of a page that looks at the vectors of all passages, or of all questions, without a system."""
        embedder = self.settings.embedders[name]
        texts = [each.text for each in (self.dataset.chunks if kind == "passage" else self.dataset.questions)]
        if not texts:  # a page of dialogues alone
            return Work(name, ())
        model = self._opened(name, embedder, self.dataset)
        return Work(name, self._embedded(model, embedder.batch, self.dataset, texts, kind))

    def _opened(self, name: str, embedder: EmbedderSettings, dataset: Dataset) -> Embedder:
        key = (name, dataset.content_hash)
        if key not in self._made:
            corpus = [each.text for each in dataset.chunks or dataset.questions]
            if embedder.kind in FITTED and len(corpus) > SAMPLE and not self.store.holds(dataset.content_hash):
                corpus = [corpus[int(place)] for place in np.linspace(0, len(corpus) - 1, SAMPLE)]
            self._made[key] = embed.make(name, embedder, corpus, self.store.arrays)
        return self._made[key]

    def _texts(self, parts: Parts, questions: Sequence[Question]) -> tuple[Written, Outlook | None]:
        """What will be searched for; of questions that have yet to be put anew as many texts as there will be."""
        asked = {question.id: [question.text] for question in questions}
        if not isinstance(parts.rewriter, ModelRewriter):
            return asked, None
        known, outlook = parts.rewriter.foreseen(questions)
        rewriter = parts.rewriter.rewriter
        for question, rewritten in zip(questions, known, strict=True):
            unwritten = [f"{question.text} ({n})" for n in range(rewriter.number if rewriter.kind == "queries" else 1)]
            new = [question.text, *unwritten] if rewriter.kind == "queries" else unwritten
            asked[question.id] = new if rewritten is None else list(rewritten.texts)
        return asked, outlook

    def _of_dense(self, dense: DenseRetriever, texts: Sequence[str]) -> tuple[Task, ...]:
        settings, data = self.settings.embedders[dense.embedder.name], dense.dataset
        asking = self.settings.embedders[settings.queries] if settings.queries else settings
        return (
            *self._embedded(dense.embedder, settings.batch, data, dense.passages, "passage"),
            *self._embedded(dense.embedder, asking.batch, data, texts, "query"),
        )

    def _embedded(
        self, model: Embedder, batch: int, data: Dataset, texts: Sequence[str], kind: TextKind
    ) -> tuple[Task, ...]:
        """Nothing where this machine embeds."""
        asking: Embedder = (getattr(model, "queries", None) if kind == "query" else None) or model
        if not isinstance(asking, EndpointEmbedder):
            return ()
        left = sorted(self.store.missing(model, texts, kind), key=lambda text: text_hash(text, kind))
        calls = sum(asking.requests(part, kind) for part in _batches(left, batch))
        what: What = "passages" if kind == "passage" else "questions"
        known, kept = data.content_hash, frozenset(left)
        return (Task((what, model.identity), what, model.name, len(left), calls, known, kept),)

    def _reranked(
        self, system: ConfiguredSystem, reranker: Reranker, questions: Sequence[Question], is_ready: bool
    ) -> Task:
        """is_ready: whether what it will be asked can be found out, for all else is kept. Else all is left."""
        left = len(questions)
        if reranker.identity and is_ready:
            rankings = system.before_reranking(questions)
            left = sum(map(bool, rankings)) - len(kept_of(reranker, self.store, questions, rankings))
        return Task(("reranker", system.name), "reranker", reranker.name, left, left)

    def _clocked(self, system: ConfiguredSystem, demand: Demand, written: Written) -> list[Task]:
        """What the clock is read at, where that is not kept: each question embedded by itself, whatever is stored."""
        counts = [
            dense.asking.requests for dense in system.embedding.values() if isinstance(dense.asking, EndpointEmbedder)
        ]
        if not (demand.timed and counts) or (key := demand.unread(system, self.store)) is None:
            return []
        asked = [[question.text] if system.dense else list(written[question.id]) for question in demand.timed]
        calls = sum(count(part, "query") for count in counts for part in asked)
        return [Task(("timed", key), "timed", system.name, len(counts) * sum(map(len, asked)), calls)]

    def _again(self, system: ConfiguredSystem, demand: Demand, written: Written) -> list[Task]:
        """What every run asks at the repeats: by each system, and by each of its parts."""
        times, texts, tasks = demand.repeats - 1, _together(demand.questions, written), list[Task]()
        for part, dense in system.embedding.items() if times and texts else ():
            if isinstance(dense.asking, EndpointEmbedder):
                known = (dense.embedder.name, dense.dataset.content_hash, content_hash(texts), system.name, part)
                calls = sum(dense.asking.requests(own, "query") for own in _batches(texts, dense.together))
                key = ("again", demand.page, *known)
                tasks.append(Task(key, "questions", dense.embedder.name, times * len(texts), times * calls))
        return tasks


def _together(questions: Sequence[Question], written: Written) -> list[str]:
    return [text for question in questions for text in written[question.id]]


def _batches(texts: Sequence[str], size: int) -> list[Sequence[str]]:
    return [texts[start : start + size] for start in range(0, len(texts), size)]


def _each_once(tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Two parts of a hybrid may share what they do."""
    return tuple({task.key: task for task in reversed(tasks)}.values())[::-1]
