"""What configured systems have yet to compute before they answer, found out without computing it or calling anyone."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ragbench import embed
from ragbench.datasets import Dataset
from ragbench.embed.endpoint import EndpointEmbedder
from ragbench.embed.pace import Pace, pace
from ragbench.embed.texts import content_hash
from ragbench.llm import Outlook
from ragbench.llm.planning import SECONDS_A_CALL
from ragbench.settings import EmbedderSettings, Settings
from ragbench.store import Store, footprint
from ragbench.store.chunks import text_hash
from ragbench.store.search import Index
from ragbench.systems import make
from ragbench.systems.configured import ConfiguredSystem, Parts
from ragbench.systems.parts import bm25
from ragbench.systems.parts.bm25 import Bm25Retriever
from ragbench.systems.parts.dense import DenseRetriever
from ragbench.systems.parts.reranking import CrossEncoderReranker, Reranker, kept_of
from ragbench.systems.parts.rewriting import FunctionRewriter, ModelRewriter
from ragbench.types import Embedder, PatientEmbedder, Question, TextKind

What = Literal["passages", "questions", "timed", "rows", "index", "words", "rewriter", "reranker"]
Written = Mapping[str, Sequence[str]]
"""What is searched for in place of each question, by its id."""
FITTED = ("hashing", "navec")
"""Kinds of embedders that are made for a corpus: where it is new, none of their vectors can be stored."""
SAMPLE = 3000
"""Of a corpus: so many passages a fitted embedder is tried on, where nothing of it can be stored."""
PAIRS = 64  # that a local reranker is timed on
WORDED = 300  # passages that BM25 is timed on
LARGEST = 100_000
"""Passages up to which it is looked up which scores of a reranker are kept: for that they are searched."""


@dataclass(frozen=True)
class Task:
    """One piece of a system's work. key: equal ones of several systems are done once.

    who: the part that does it. whole, left: how many of it, and how many of these nothing is kept of. rows, bytes: what
    PostgreSQL gets of it; bytes is None where nobody knows how wide the vectors are. seconds: all of it; None where
    that is not known, and `source` says why, as else where they are from. calls: of an endpoint. data, texts: the data
    set, and the texts that are left: what one system has embedded no other one has to, nor of other data.
    """

    key: tuple[str, ...]
    what: What
    who: str
    whole: int
    left: int
    rows: int = 0
    bytes: float | None = 0.0
    seconds: float | None = 0.0
    source: str = ""
    calls: int = 0
    data: str = ""
    texts: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Demand:
    """What one page asks of a system. repeats: how often every question is asked, after the first time without reading
    what is stored of it. page: tells it from other pages, which share no repeat with it.

    timed: questions that are embedded and searched one by one for the clock, in order, those before it runs among them.
    unread: tells these readings of a system from others, None where they are kept. For them PostgreSQL needs the
    vectors together, in exact search too. compared: whether HNSW is compared with exact search by what they ask.
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

    anew: what every run does, which nothing that is kept spares. outlook: of the model that rewrites.
    """

    name: str
    tasks: tuple[Task, ...]
    anew: tuple[Task, ...] = ()
    outlook: Outlook | None = None


class Estimate:
    """Finds the work of systems over one data set. Each embedder is timed once, on texts that it has yet to embed."""

    def __init__(self, settings: Settings, store: Store, dataset: Dataset) -> None:
        self.settings, self.store, self.dataset = settings, store, dataset
        self._made: dict[tuple[str, str], Embedder] = {}
        self._paces: dict[tuple[str, str, TextKind], Pace] = {}
        self._keeping: dict[int, float] = {}
        self._building: dict[tuple[int, Index, int], float] = {}

    def of_system(self, name: str, demands: Sequence[Demand]) -> Work:
        """Nothing of a system that is no configured one: it is asked, and keeps nothing here.

        Raises RetrievalError, EmbeddingError and StoreError as the system itself would.
        """
        if self.settings.retriever(name) is None:
            return Work(name, ())
        system = make(name, self.settings, self.store, self.dataset, self._opened)
        assert isinstance(system, ConfiguredSystem), "one with a retriever"
        questions = tuple({question.id: question for demand in demands for question in demand.questions}.values())
        timed = any(demand.timed for demand in demands)
        compared = any(demand.compared for demand in demands)
        tasks: list[Task] = []
        written, outlook = self._texts(system.parts, questions, tasks)
        texts = _together(questions, written)
        if compared and system.parts.rewriter is not None:  # indexes are asked without it
            texts += {one.text: None for demand in demands if demand.compared for one in demand.timed}
        for dense in system.embedding.values():
            tasks += self._of_dense(dense, texts)
            tasks += [self._built(dense, index) for index in _indexes(dense, timed, compared, dense is system.dense)]
        tasks += [self._worded(one) for one in system.searching.values() if isinstance(one, Bm25Retriever)]
        if system.parts.reranker is not None:
            is_ready = not any(one.left for one in tasks) and len(self.dataset.chunks) <= LARGEST
            tasks.append(self._reranked(system, system.parts.reranker, questions, is_ready))
        tasks += [task for demand in demands for task in self._clocked(system, demand, written)]
        anew = [task for demand in demands for task in self._again(system, demand, written)]
        return Work(name, _each_once(tasks), _each_once(anew), outlook)

    def of_embedder(self, name: str, kind: TextKind) -> Work:
        """Of a page that looks at the vectors of all passages, or of all questions, without a system."""
        one = self.settings.embedders[name]
        model = self._opened(name, one, self.dataset)
        texts = [each.text for each in (self.dataset.chunks if kind == "passage" else self.dataset.questions)]
        return Work(name, (self._embedded(model, one, self.dataset, texts, kind),))

    def _opened(self, name: str, one: EmbedderSettings, dataset: Dataset) -> Embedder:
        key = (name, dataset.content_hash)
        if key not in self._made:
            corpus = [chunk.text for chunk in dataset.chunks]
            if one.kind in FITTED and len(corpus) > SAMPLE and not self.store.holds(dataset.content_hash):
                corpus = [corpus[int(place)] for place in np.linspace(0, len(corpus) - 1, SAMPLE)]
            self._made[key] = embed.make(name, one, corpus, self.store.arrays)
        return self._made[key]

    def _texts(self, parts: Parts, questions: Sequence[Question], tasks: list[Task]) -> tuple[Written, Outlook | None]:
        """What will be searched for; of questions that have yet to be put anew as many texts as there will be."""
        asked = {question.id: [question.text] for question in questions}
        if parts.rewriter is None:
            return asked, None
        name, whole = str(parts.rewriter.description["name"]), len(questions)
        if not isinstance(parts.rewriter, ModelRewriter):
            source = "a function is called at every question, and not by a plan"
            tasks.append(Task(("rewriter", name), "rewriter", name, whole, whole, seconds=None, source=source))
            return asked, None
        known, outlook = parts.rewriter.foreseen(questions)
        plan = outlook.plan()
        experience = "assumed for a call" if plan.guessed else "a call, as the journal knows it"
        seconds = SECONDS_A_CALL if outlook.experience.seconds is None else outlook.experience.seconds
        tasks.append(
            Task(("rewriter", name), "rewriter", name, whole, plan.calls, seconds=plan.minutes * 60,
                 source=f"{seconds:.2g} s {experience}")
        )  # fmt: skip
        rewriter = parts.rewriter.rewriter
        for question, one in zip(questions, known, strict=True):
            unwritten = [f"{question.text} ({n})" for n in range(rewriter.number if rewriter.kind == "queries" else 1)]
            new = [question.text, *unwritten] if rewriter.kind == "queries" else unwritten
            asked[question.id] = new if one is None else list(one.texts)
        return asked, outlook

    def _of_dense(self, dense: DenseRetriever, texts: Sequence[str]) -> list[Task]:
        settings, data = self.settings.embedders[dense.embedder.name], dense.dataset
        asking = self.settings.embedders[settings.queries] if settings.queries else settings
        return [
            self._loaded(data),
            self._embedded(dense.embedder, settings, data, dense.passages, "passage"),
            self._embedded(dense.embedder, asking, data, texts, "query"),
        ]

    def _loaded(self, data: Dataset) -> Task:
        number = 0 if self.store.holds(data.content_hash) else len(data.chunks)
        size = sum(len(chunk.text.encode()) for chunk in data.chunks) if number else 0
        room = footprint.passages(number, size)
        return Task(("rows", data.content_hash), "rows", "", len(data.chunks), number, number, room)

    def _embedded(
        self, model: Embedder, settings: EmbedderSettings, data: Dataset, texts: Sequence[str], kind: TextKind
    ) -> Task:
        left = self.store.missing(model, texts, kind)
        what: What = "passages" if kind == "passage" else "questions"
        known, kept = data.content_hash, frozenset(left)
        task = Task((what, model.identity), what, model.name, len(texts), len(left), len(left), data=known, texts=kept)
        if not left:
            return task
        asking: Embedder = (getattr(model, "queries", None) if kind == "query" else None) or model
        if isinstance(asking, EndpointEmbedder):
            in_order = sorted(left, key=lambda text: text_hash(text, kind))
            calls = sum(asking.requests(part, kind) for part in _batches(in_order, settings.batch))
            at_once = model.concurrency if isinstance(model, PatientEmbedder) else 1
            seconds, source = self._of_endpoint(asking, len(left), calls, at_once)
            task, width = replace(task, calls=calls), self.store.width(model)
        else:
            found = self._pace(model, left, settings.batch, kind, data)
            each, width = found.seconds + self._keep(found, settings.batch), found.vectors.shape[1]
            scale = len(data.chunks) / SAMPLE if settings.kind in FITTED and len(data.chunks) > SAMPLE else 1.0
            seconds = len(left) * each + found.fitting * scale
            source = f"{each * 1000:.2g} ms a text, timed on {found.texts} of them on this machine"
        room = None if width is None else len(left) * footprint.stored_vector(width)
        return replace(task, bytes=room, seconds=seconds, source=source)

    def _of_endpoint(self, model: EndpointEmbedder, number: int, calls: int, at_once: int) -> tuple[float, str]:
        """Seconds of so many texts in so many requests, of which so many go on at the same time."""
        if known := self.store.found([model.about_its_pace]):
            each = float(known[0]["seconds"][0] / known[0]["texts"][0])
            return number * each, f"{each * 1000:.2g} ms a text, as {int(known[0]['texts'][0]):,} took the last time"
        at_once = min(calls, at_once)
        more = f", {at_once} at a time" if at_once > 1 else ""
        return -(-calls // at_once) * SECONDS_A_CALL, f"{SECONDS_A_CALL:g} s assumed for each{more}"

    def _pace(self, model: Embedder, texts: Sequence[str], batch: int, kind: TextKind, data: Dataset) -> Pace:
        key = (model.identity, data.content_hash, kind)
        if key not in self._paces:
            self._paces[key] = pace(model, texts, batch, kind)
            return self._paces[key]
        return replace(self._paces[key], fitting=0.0)

    def _keep(self, found: Pace, batch: int) -> float:
        """Seconds a text that it takes to keep a batch of vectors."""
        width = found.vectors.shape[1]
        if width not in self._keeping:
            rows = np.resize(found.vectors, (batch, width))
            self.store.seconds_of_keeping(rows)  # the first one waits for what the server has to load
            self._keeping[width] = self.store.seconds_of_keeping(rows) / batch
        return self._keeping[width]

    def _built(self, dense: DenseRetriever, index: Index) -> Task:
        data, number = dense.dataset.content_hash, len(dense.dataset.chunks)
        task = Task(("index", dense.embedder.identity, data, index.name), "index", index.name, number, 0)
        if self.store.is_searchable(data, dense.embedder, index):
            return task
        known = self._paces.get((dense.embedder.identity, data, "passage"))
        width = self.store.width(dense.embedder) if known is None else known.vectors.shape[1]
        task = replace(task, left=number, rows=number)
        if width is None:
            return replace(task, bytes=None, seconds=None, source="nobody knows yet how wide the vectors will be")
        key = (width, index, number)
        if key not in self._building:
            self._building[key] = self.store.seconds_of_building(width, index, number)
        room = number * footprint.searched_vector(width, index)
        return replace(task, bytes=room, seconds=self._building[key], source="timed on random vectors on this machine")

    def _reranked(
        self, system: ConfiguredSystem, reranker: Reranker, questions: Sequence[Question], is_ready: bool
    ) -> Task:
        """is_ready: whether what it will be asked can be found out, for all else is kept. Else all is left."""
        whole, kept_ms = len(questions), []
        if reranker.identity and is_ready:
            rankings = system.before_reranking(questions)
            whole = sum(map(bool, rankings))
            kept = kept_of(reranker, self.store, questions, rankings)
            kept_ms = [float(one["ms"][0]) for one in kept]
        task = Task(("reranker", system.name), "reranker", reranker.name, whole, whole - len(kept_ms))
        if not task.left:
            return task
        if isinstance(reranker, CrossEncoderReranker):
            each = self._ranking_seconds(system, reranker, questions)
            source = f"{each:.2g} s a question, timed on {PAIRS} pairs on this machine"
        elif not reranker.asks_elsewhere:
            return replace(task, seconds=None, source="a function is called at every question, and not by a plan")
        elif kept_ms:
            each = float(np.mean(kept_ms)) / 1000
            source = f"{each:.2g} s a question, as {len(kept_ms)} took that are kept"
        else:
            each, source = SECONDS_A_CALL, f"{SECONDS_A_CALL:g} s assumed for a question"
        return replace(task, seconds=task.left * each, source=source)

    def _ranking_seconds(
        self, system: ConfiguredSystem, reranker: CrossEncoderReranker, questions: Sequence[Question]
    ) -> float:
        chunks = system.searched
        places = np.linspace(0, len(chunks) - 1, min(PAIRS, len(chunks)))
        texts = [chunks[int(place)].text for place in places]
        reranker.scores(questions[0].text, texts[:1])  # loads it
        begun = time.perf_counter()
        reranker.scores(questions[0].text, texts)
        return (time.perf_counter() - begun) / len(texts) * min(reranker.settings.depth, len(chunks))

    def _clocked(self, system: ConfiguredSystem, demand: Demand, written: Written) -> list[Task]:
        """What the clock is read at, where that is not kept: each question embedded by itself, whatever is stored."""
        if not (demand.timed and system.embedding) or (key := demand.unread(system, self.store)) is None:
            return []
        number, calls, seconds, sources = 0, 0, 0.0, []
        for dense in system.embedding.values():
            asked = [[one.text] if system.dense else list(written[one.id]) for one in demand.timed]
            texts = [text for own in asked for text in own]
            number += len(texts)
            if isinstance(dense.asking, EndpointEmbedder):
                calls += (own := sum(dense.asking.requests(part, "query") for part in asked))
                seconds += own * SECONDS_A_CALL
                sources.append(f"{SECONDS_A_CALL:g} s assumed for each, one by one")
            else:
                alone = self._pace(dense.embedder, texts, dense.batch, "query", dense.dataset).alone
                seconds += len(texts) * alone
                sources.append(f"{alone * 1000:.2g} ms a text by itself, timed on this machine")
        again = self._ranked_again(system, [*demand.timed])
        known = again is not None and not isinstance(system.parts.rewriter, FunctionRewriter)
        return [
            Task(("timed", key), "timed", system.name, number, number, calls=calls, source="; ".join(sources),
                 seconds=seconds + (again or 0.0) if known else None)
        ]  # fmt: skip

    def _again(self, system: ConfiguredSystem, demand: Demand, written: Written) -> list[Task]:
        """What every run does at the repeats: an endpoint is asked by each system, and by each of its parts; what
        embeds on this machine does so once for all that share it on a page."""
        times, texts, tasks = demand.repeats - 1, _together(demand.questions, written), list[Task]()
        if not times or not texts:
            return []
        for part, dense in system.embedding.items():
            key = ("again", demand.page, dense.embedder.name, dense.dataset.content_hash, content_hash(texts))
            task = Task(key, "questions", dense.embedder.name, times * len(texts), times * len(texts))
            if isinstance(dense.asking, EndpointEmbedder):
                calls = sum(dense.asking.requests(part, "query") for part in _batches(texts, dense.together))
                each, source = self._of_endpoint(dense.asking, len(texts), calls, dense.asking.concurrency)
                task = replace(task, key=(*key, system.name, part), calls=times * calls, source=source)
            else:
                each = self._pace(dense.embedder, texts, dense.batch, "query", dense.dataset).seconds * len(texts)
            tasks.append(replace(task, seconds=times * each))
        parts, own = system.parts, ("again", demand.page, system.name)
        if parts.reranker is not None and not parts.reranker.asks_elsewhere:
            seconds, number = self._ranked_again(system, demand.questions), times * len(demand.questions)
            took = None if seconds is None else times * seconds
            tasks.append(Task((*own, "reranker"), "reranker", parts.reranker.name, number, number, seconds=took))
        if isinstance(parts.rewriter, FunctionRewriter):
            number = times * len(demand.questions)
            tasks.append(Task((*own, "rewriter"), "rewriter", parts.rewriter.name, number, number, seconds=None))
        return tasks

    def _ranked_again(self, system: ConfiguredSystem, questions: Sequence[Question]) -> float | None:
        """Seconds of a reranker of this machine, 0 of one elsewhere, whose scores are kept; None of a function."""
        reranker = system.parts.reranker
        if reranker is None or reranker.asks_elsewhere:
            return 0.0
        if not isinstance(reranker, CrossEncoderReranker):
            return None
        return len(questions) * self._ranking_seconds(system, reranker, questions)

    def _worded(self, one: Bm25Retriever) -> Task:
        number = len(one.chunks)
        task = Task(("words", str(one.description), one.dataset.content_hash), "words", "bm25", number, 0)
        if one.is_kept:
            return task
        begun = time.perf_counter()
        for chunk in one.chunks[:WORDED]:
            bm25.tokens(chunk.text)
        seconds = (time.perf_counter() - begun) * number / min(WORDED, number)
        return replace(task, left=number, seconds=seconds, source=f"timed on {min(WORDED, number)} passages")


def _together(questions: Sequence[Question], written: Written) -> list[str]:
    return [text for question in questions for text in written[question.id]]


def _batches(texts: Sequence[str], size: int) -> list[Sequence[str]]:
    return [texts[start : start + size] for start in range(0, len(texts), size)]


def _each_once(tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Two parts of a hybrid may share what they do."""
    return tuple({task.key: task for task in reversed(tasks)}.values())[::-1]


def _indexes(dense: DenseRetriever, timed: bool, compared: bool, is_alone: bool) -> list[Index]:
    """What PostgreSQL makes to search in; exact search of many questions needs nothing."""
    one, exact = dense.settings, Index("exact")
    if dense.searched is None:
        return []
    own = [dense.searched] if timed or dense.searched != exact else []
    both = [exact, Index("hnsw", one.m, one.ef_construction)] if compared and is_alone else []
    return list(dict.fromkeys([*own, *both]))
