"""Every configuration on every question: what is retrieved once for all that retrieve alike, answers where the metric
reads them, and the clock. What was measured is kept, so that a sweep that was killed goes on where it was.

Vectors and paid replies are kept one by one, as everywhere (`ragbench.old.store`, the journal); a configuration as a whole
as soon as it is measured, where nothing of it is a function of the user's, which may give something else today.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragbench.old.core.folders import content
from ragbench.old.core.metric import Metric, parse
from ragbench.old.core.settings import Settings, project_folder
from ragbench.old.core.types import Array, Hit, Question
from ragbench.old.core.types.reason import Reason, kept, reason_of
from ragbench.old.extras.sweeps.grid import Configuration, Grid
from ragbench.old.llm import planning
from ragbench.old.metrics import ranking_arrays
from ragbench.old.metrics.ranking import evaluate
from ragbench.old.metrics.ranking_arrays.coverage import LabelledText
from ragbench.old.tiers.answers import answer_scores
from ragbench.old.tiers.answers.written_answers import answered
from ragbench.old.tiers.basics.session import Session, versions
from ragbench.old.tiers.retrieval import reading, timing
from ragbench.old.tiers.retrieval.timing import Clock
from ragbench.old.tiers.scoring import functions
from ragbench.old.tiers.scoring.judged_metrics import Judging

if TYPE_CHECKING:
    from ragbench.old.store import Store
    from ragbench.old.systems import System
    from ragbench.old.systems.registry import Opened

WHY, JUDGED = "unmeasured: ", "judged: "
"""In names of arrays: before a reason, of which it is the count; before one of `reading.VALUES`."""
FIRST = "mrr"
"""Tells the rank of the first passage that holds the answer."""


@dataclass(frozen=True)
class Outcome:
    """What one configuration did, (questions,) each.

    values: of the metric, NaN where unmeasured. rank: of the first passage that holds the answer, infinite where none
    was retrieved. words: of the passages that are handed on. seconds: of writing the answer; NaN without one. why:
    reason → how many questions were unmeasured for it. failure: why there is nothing of it at all, else "". judged: by
    the name in `reading.VALUES` how much of the ranking was judged, and the metric if what was not is this or that;
    empty where the metric reads answers, or pieces, whose text may be judged in part.
    """

    values: Array
    rank: Array
    words: Array
    seconds: Array
    why: Mapping[str, int] = field(default_factory=dict)
    failure: str = ""
    judged: Mapping[str, Array] = field(default_factory=dict)

    @classmethod
    def failed(cls, questions: int, failure: str) -> Outcome:
        """Of a configuration that could not be measured."""
        nothing = np.full(questions, np.nan)
        return cls(nothing, nothing, nothing, nothing, {failure: questions}, failure)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """As it is kept."""
        own = {"values": self.values, "rank": self.rank, "words": self.words, "seconds": self.seconds}
        own |= {JUDGED + name: column for name, column in self.judged.items()}
        return {**own, **{WHY + reason: np.array([count]) for reason, count in self.why.items()}}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Outcome:
        """Of what is kept."""
        own: dict[str, Any] = {name: array for name, array in arrays.items() if not name.startswith((WHY, JUDGED))}
        why = {name.removeprefix(WHY): int(array[0]) for name, array in arrays.items() if name.startswith(WHY)}
        judged = {name.removeprefix(JUDGED): array for name, array in arrays.items() if name.startswith(JUDGED)}
        return cls(**own, why=why, judged=judged)


Told = Callable[[str, Outcome], None]
"""Is told of each configuration as it is measured."""


def measured(
    session: Session,
    whole: Grid,
    asked: Sequence[Question],
    judging: Judging,
    only: Iterable[Configuration] | None = None,
    told: Told = lambda _name, _outcome: None,
    jobs: int = 1,
) -> dict[str, Outcome]:
    """Name → what the configuration did on these questions; one that fails has the reason, and the others go on.

    session: with the settings of the grid. only: of these configurations; None: all. jobs: processes that share the
    work, those that retrieve alike in one.
    """
    groups: dict[str, list[Configuration]] = {}
    for each in whole.configurations if only is None else only:
        groups.setdefault(each.search, []).append(each)
    found: dict[str, Outcome] = {}
    works = [_Work(session, whole, tuple(asked), judging, tuple(group)) for group in groups.values()]

    def take(outcomes: Mapping[str, Outcome]) -> None:
        for name, outcome in outcomes.items():
            found[name] = outcome
            told(name, outcome)

    from ragbench.old.systems import once

    with session.store() as store:
        left = []
        for work in works:  # for what is kept no process has to start, and to load a model
            outcomes = work.kept(store)
            take(outcomes)
            if missing := tuple(each for each in work.group if each.name not in outcomes):
                left.append(replace(work, group=missing))
        if jobs > 1 and len(left) > 1:
            with ProcessPoolExecutor(min(jobs, len(left)), get_context("spawn")) as pool:
                for outcomes in pool.map(_Work.done, _apart(left)):
                    take(outcomes)
        else:
            opened = once(store)
            for work in left:
                take(work.done(store, opened))
    return found


def _apart(works: Sequence[_Work]) -> list[_Work]:
    """Those that embed other passages, or by another embedder, first: two that want the same vectors at the same time
    wait for each other."""
    turns: Counter[tuple[str | None, ...]] = Counter()
    placed = []
    for work in works:
        vectors = tuple(work.group[0].levels.get(factor) for factor in ("chunker", "embedder"))
        placed.append((turns[vectors], work))
        turns[vectors] += 1
    return [work for _turn, work in sorted(placed, key=lambda turn_and_work: turn_and_work[0])]


@dataclass(frozen=True)
class _Retrieved:
    """What all configurations that retrieve alike share. rank: as of `Outcome`."""

    hits: Sequence[Sequence[Hit]]
    errors: Mapping[str, str]
    labelled: LabelledText
    rank: Array


@dataclass(frozen=True)
class _Work:
    """Configurations that retrieve alike, and what they are asked."""

    session: Session
    whole: Grid
    asked: tuple[Question, ...]
    judging: Judging
    group: tuple[Configuration, ...]

    def done(self, store: Store | None = None, opened: Opened | None = None) -> dict[str, Outcome]:
        """Name → outcome of each, none of which is kept."""
        if store is None:
            with self.session.store() as own:
                return self.done(own)
        try:
            retrieved = self._retrieved(store, opened)
        except Exception as error:  # whatever part of it fails, the other configurations go on
            return {each.name: Outcome.failed(len(self.asked), _said(error)) for each in self.group}
        found: dict[str, Outcome] = {}
        for each in self.group:
            try:
                found[each.name] = self._one(each, retrieved)
            except Exception as error:
                found[each.name] = Outcome.failed(len(self.asked), _said(error))
                continue
            if (about := self._about(each)) is not None and planning.folder() is None:
                store.arrays(about, found[each.name].arrays)
        return found

    def kept(self, store: Store) -> dict[str, Outcome]:
        """Name → outcome of those that were measured before."""
        known = {each.name: self._kept(store, each) for each in self.group}
        return {name: outcome for name, outcome in known.items() if outcome is not None}

    def _kept(self, store: Store, each: Configuration) -> Outcome | None:
        about = self._about(each)
        if about is None or not store.has_arrays(about):
            return None
        return Outcome.of(store.arrays(about, dict))

    def _retrieved(self, store: Store, opened: Opened | None) -> _Retrieved:
        from ragbench.old.systems import make

        system = make(self.group[0].name, self.session.settings, store, self.session.dataset, opened)
        retrieval = system.retrieve(self.asked, self.whole.depth)
        labelled = LabelledText(self.session.dataset.chunks)
        first = evaluate(self._ranking(retrieval.hits, labelled), [parse(FIRST)])[FIRST]
        with np.errstate(divide="ignore"):
            return _Retrieved(retrieval.hits, retrieval.errors, labelled, 1 / first)

    def _ranking(self, hits: Sequence[Sequence[Hit]], labelled: LabelledText) -> Any:
        rankings = {question.id: row for question, row in zip(self.asked, hits, strict=True)}
        return ranking_arrays.from_questions(self.asked, rankings, depth=self.whole.depth, labelled=labelled)

    def _one(self, each: Configuration, retrieved: _Retrieved) -> Outcome:
        handed = [list(hits[: each.k]) for hits in retrieved.hits]
        words = np.array([sum(len(hit.chunk.text.split()) for hit in hits) for hits in handed], dtype=float)
        judged: Mapping[str, Array] = {}
        if self.whole.metric.grain == "ranking":
            ranking = self._ranking(handed, retrieved.labelled)
            values, judged = ranked(self.whole.metric, ranking), _judged(self.whole.metric, ranking)
            seconds, why = np.full(len(self.asked), np.nan), Counter[str]()
            if lacking := int(np.isnan(values).sum()):
                why[kept(Reason("the metric has no value of this question"))] = lacking
        else:
            values, seconds, why = self._answers(each, handed, retrieved.errors)
        return Outcome(values, retrieved.rank, words, seconds, dict(why), judged=judged)

    def _answers(
        self, each: Configuration, handed: Sequence[Sequence[Hit]], errors: Mapping[str, str]
    ) -> tuple[Array, Array, Counter[str]]:
        session = replace(self.session, systems=(each.name,), baseline=each.name)
        contexts = {question.id: [hit.chunk for hit in hits] for question, hits in zip(self.asked, handed, strict=True)}
        written = answered(session, self.asked, {each.name: contexts}, unable={each.name: errors})
        worth = answer_scores.measured(session, self.asked, written, [self.whole.metric], self.judging)
        rows = worth.scores.set_index("sample").reindex([question.id for question in self.asked])
        values = rows["value"].to_numpy(dtype=float)
        reasons = rows["reason"].fillna("")
        why = Counter(str(reason) for reason, value in zip(reasons, values, strict=True) if np.isnan(value))
        first = written.table.set_index("sample").reindex([question.id for question in self.asked])
        return values, first["seconds"].to_numpy(dtype=float), why

    def _about(self, each: Configuration) -> dict[str, Any] | None:
        """What the outcome hangs on; None where a function of the user's is part of it."""
        settings = self.session.settings
        if self.whole.metric.is_users or (told := _parts(settings, each.name)) is None:
            return None
        judges = {
            name: one.model_dump(mode="json") for name, one in settings.judges.items()
        } if "judge" in self.whole.metric.needs else {}  # fmt: skip
        ids = hashlib.sha256("\0".join(question.id for question in self.asked).encode()).hexdigest()
        return {
            "what": "configuration of a sweep", "parts": told, "k": each.k, "depth": self.whole.depth,
            "metric": self.whole.metric.label, "unjudged": list(reading.VALUES), "judges": judges,
            "judging": repr(self.judging),
            "embedder": settings.metric_embedder if "embedder" in self.whole.metric.needs else "",
            "data": self.session.dataset.content_hash, "questions": ids, "version": versions(())["ragbench"],
        }  # fmt: skip


def ranked(metric: Metric, ranking: Any) -> Array:
    """(questions,) the values of a metric of rankings."""
    return functions.ranked(metric, ranking)[0] if metric.is_users else evaluate(ranking, [metric])[metric.label]


def _judged(metric: Metric, ranking: Any) -> dict[str, Array]:
    """The values of `reading.VALUES`, as `Outcome.judged` has them."""
    if metric.is_users or ranking.coverage is not None:
        return {}
    return {name: column for (_, name), column in reading.values(ranking, [metric]).items()}


def _parts(settings: Settings, name: str) -> dict[str, Any] | None:
    """The tables of a system, with the content of its prompt; None where a function of the user's is part of it."""
    system = settings.systems[name]
    retriever = settings.retrievers[str(system.retriever)]
    within = [settings.retrievers[part] for part in retriever.retrievers] or [retriever]
    generator = settings.generators[str(system.generator)]
    tables: dict[str, Any] = {
        "retriever": retriever, **{f"part {place}": one for place, one in enumerate(within)},
        **{f"embedder {one.embedder}": settings.embedders[str(one.embedder)] for one in within if one.embedder},
        "generator": generator,
    }  # fmt: skip
    if system.chunker:
        tables["chunker"] = settings.chunkers[system.chunker]
    if system.reranker:
        tables["reranker"] = settings.rerankers[system.reranker]
    if system.rewriter:
        rewriter = settings.rewriters[system.rewriter]
        tables["rewriter"] = rewriter
        if rewriter.generator:
            tables["rewriting"] = settings.generators[rewriter.generator]
    if any(getattr(one, "callable", None) or getattr(one, "client", None) for one in tables.values()):
        return None
    told: dict[str, Any] = {key: one.model_dump(mode="json") for key, one in tables.items()}
    if generator.prompt is not None:
        told["prompt"] = hashlib.sha256(content(project_folder() / generator.prompt)).hexdigest()
    plain: dict[str, Any] = json.loads(json.dumps(told, default=str))
    return plain


def _said(error: Exception) -> str:
    """Why something failed, as it is kept."""
    return kept(reason_of(error)) or type(error).__name__


def clock(
    session: Session, whole: Grid, asked: Sequence[Question], outcomes: Mapping[str, Outcome], timed: int
) -> dict[str, float]:
    """Name → median milliseconds of a question that is asked alone: retrieving, and writing the answer where it was
    read; NaN where nothing was. Each way of retrieving is read once, one after the other, and kept."""
    from ragbench.old.systems import make, once

    found: dict[str, float] = {}
    searches: dict[str, Array] = {}
    with session.store() as store:
        opened = once(store)
        for each in whole.configurations:
            outcome = outcomes.get(each.name)  # halving leaves finalists alone
            if outcome is None or outcome.failure or not timed:
                found[each.name] = float("nan")
                continue
            if each.search not in searches:
                system: System = make(each.name, session.settings, store, session.dataset, opened)
                rows = timing.latencies(
                    {each.name: system}, store, asked, whole.depth, session.dataset.content_hash, Clock(timed),
                    session.progress,
                )  # fmt: skip
                searches[each.search] = rows.groupby("sample", sort=False)["ms"].sum().to_numpy(dtype=float)
            searching = searches[each.search]
            seconds = outcome.seconds
            written = float(np.nanmedian(seconds)) * 1000 if np.isfinite(seconds).any() else 0.0
            found[each.name] = (float(np.median(searching)) if len(searching) else float("nan")) + written
    return found
