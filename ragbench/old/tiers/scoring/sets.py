"""Metrics of several samples together: of dialogues, of a question asked several times, of all that a system answered.

The functions are their users' and may be slow. What they are called for at most is told by `metrics.timeout_seconds`:
one call may take so long, and so may all resamples of one system together; else fewer are drawn (RUNGS), and where not
even those fit, each question is left out once, if that does.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from ragbench.old import llm, stats
from ragbench.old.core import settings
from ragbench.old.core.measurement import NamedComparison, NamedEstimate, columns
from ragbench.old.core.metric import Metric
from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Array, Embedder, Estimate, Sample, Score, Status
from ragbench.old.core.waves import gather
from ragbench.old.llm import planning
from ragbench.old.metrics.explanation import ENGLISH, Speaker, explain, of_a_panel, sentence
from ragbench.old.metrics.vectors import Batch
from ragbench.old.stats import Hypothesis, SetValues
from ragbench.old.store import pool
from ragbench.old.store.pool import Tell
from ragbench.old.systems.callables import OutOfTimeError, WorkerThreads
from ragbench.old.tiers.basics import design
from ragbench.old.tiers.basics.findings import Sureness, bounds
from ragbench.old.tiers.scoring.functions import LIMIT, Functions, scored

if TYPE_CHECKING:
    import pandas as pd


RUNGS = (2_000, 1_000)
"""How many resamples are drawn where as many as were asked for take too long; fewer tell no end of an interval."""

TURN_SECONDS = 0.25
"""For how long a function is called before others may see to the progress and to Ctrl-C."""

PACES = 5
"""How many calls tell how long one takes: the shortest of them, so that the number of draws hangs on no accident."""

PATIENCE = 4
"""After so many times the time that the first calls promised, the rest is not waited for."""

CALLED = ("system", "metric", "beside", "set", "place", "value")
"""What a function gave of a set: the `whole`, a `draw` of units (`ragbench.old.stats.set_draws`), or all but the unit at
the place (`left`). beside: of only the questions that this other system has an answer to, too, if those are not all."""

UNITS = ("system", "metric", "sample", "unit", "clustered")
"""In which unit each question is drawn; of a part of them units stand in the same order."""

Questions = Mapping[str, Sequence[Sample]]
"""What a system answered to each question, by its id; several times where it was asked again."""


@dataclass(frozen=True)
class SetScore:
    """One metric's value of all that a system answered.

    score: the value, or why there is none. resamples: how many were drawn; 0: none. left_out: how many times it was
    called without a question or a group of them. lacking: how many questions have no answer with the fields that it
    needs, and are in no set.
    """

    system: str
    metric: Metric
    score: Score
    estimate: Estimate
    resamples: int = 0
    left_out: int = 0
    lacking: int = 0

    @property
    def fact(self) -> dict[str, Any]:
        """The same as JSON values, without the interval."""
        value = None if math.isnan(self.score.value) else self.score.value
        known = {"system": self.system, "metric": self.metric.label, "value": value}
        return known | {
            "status": self.score.status.value, "reason": self.score.reason, "resamples": self.resamples,
            "left_out": self.left_out, "lacking": self.lacking,
        }  # fmt: skip


@dataclass(frozen=True)
class Sets:
    """What metrics of whole sets gave.

    samples: all that were measured. metrics: all that were asked for, of single samples too, in their order.
    hypotheses: by metric, that another system is as the first, one number for each question by its id.
    called, units: rows of CALLED and of UNITS, all that intervals and p are made from.
    """

    samples: tuple[Sample, ...] = ()
    metrics: tuple[Metric, ...] = ()
    scores: tuple[SetScore, ...] = ()
    hypotheses: Mapping[str, Sequence[Hypothesis]] = field(default_factory=dict)
    called: Sequence[tuple[Any, ...]] = ()
    units: Sequence[tuple[Any, ...]] = ()

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """What the functions gave, as tables by their names; none where there are no such metrics."""
        import pandas as pd

        if not self.scores:
            return {}
        called = pd.DataFrame(self.called, columns=list(CALLED))
        return {"set_values": called, "set_units": pd.DataFrame(self.units, columns=list(UNITS))}


def is_of_sets(metric: Metric) -> bool:
    """Whether it is a function of a user's of all that a system answered."""
    return metric.grain == "table" and metric.is_users


async def measured(
    answers: Mapping[str, Sequence[Sample]],
    metrics: Sequence[Metric],
    functions: Functions,
    sureness: Sureness,
    advance: Callable[[int], None] | None = None,
) -> Sets:
    """Every metric of whole sets on what each system answered.

    answers: by system, the baseline first. metrics: others among them are left alone. advance: called with the number
    of samples after each metric. No call ends it: what fails has a status and a reason.
    """
    samples = tuple(chain.from_iterable(answers.values()))
    scores: list[SetScore] = []
    hypotheses: dict[str, Sequence[Hypothesis]] = {}
    called: list[tuple[Any, ...]] = []
    units: list[tuple[Any, ...]] = []
    for metric in filter(is_of_sets, metrics):
        measuring = _Measuring(metric, answers, functions, sureness)
        scores += await measuring.scores()
        hypotheses[metric.label] = await measuring.hypotheses()
        called += measuring.called()
        units += measuring.units()
        if advance is not None:
            advance(len(samples))
    return Sets(samples, tuple(metrics), tuple(scores), hypotheses, called, units) if scores else Sets()


class _Measuring:
    """One metric on all systems; everything that it is called on is kept, for pairs are often of the same questions."""

    def __init__(
        self, metric: Metric, answers: Mapping[str, Sequence[Sample]], functions: Functions, sureness: Sureness
    ) -> None:
        self.metric, self.functions, self.sureness = metric, functions, sureness
        self.number, self.seconds = 0, 0.0
        self.asked: dict[str, int] = {}
        self.answers: dict[str, Questions] = {}
        every = list(chain.from_iterable(answers.values()))
        self.clusters = design.clusters(every)
        self.ids = sorted({question.id for question in every})
        for name, own in answers.items():
            self.asked[name] = len({answer.id for answer in own})
            given: dict[str, list[Sample]] = {}
            for sample in sorted(own, key=lambda each: each.id):  # no number depends on the order of the rows
                if all(getattr(sample, need) is not None for need in metric.fields):
                    given.setdefault(sample.id, []).append(sample)
            self.answers[name] = given
        self.whole: dict[str, Score] = {}
        self._known: dict[tuple[str, tuple[str, ...]], SetValues] = {}

    async def scores(self) -> list[SetScore]:
        """Of every system; how many resamples are drawn, the slowest decides for all, so that pairs share them."""
        for name, own in self.answers.items():
            self.whole[name] = await self._first(list(chain.from_iterable(own.values())))
        fitting = (count for count in (self.sureness.resamples, *RUNGS) if count <= self.sureness.resamples)
        self.number = next((count for count in fitting if count * self.seconds <= self.functions.seconds), 0)
        set_scores = []
        for name, own in self.answers.items():
            values = await self._values(name, tuple(own))
            lacking = self.asked[name] - len(own)
            scale = bounds(self.metric)
            estimate = stats.set_estimate(values, lacking, level=self.sureness.level, bounds=scale)
            drawn, left = len(values.draws), len(values.left)
            set_scores.append(SetScore(name, self.metric, self.whole[name], estimate, drawn, left, lacking))
        return set_scores

    async def hypotheses(self) -> list[Hypothesis]:
        """That each system is as the first, on the questions that both have answers to."""
        first, *others = self.answers
        if self.metric.better is None:
            return []
        made = []
        for name in others:
            common = tuple(question for question in self.answers[first] if question in self.answers[name])
            pair = [await self._values(each, common) for each in (first, name)]
            if len({len(side.left) for side in pair}) > 1:  # one of them is moved by repeats, so the difference is
                pair = [await self._values(each, common, leaving=True) for each in (first, name)]
            units = self._units(common)
            unit_of = {question: place for place, unit in enumerate(units) for question in unit}
            places = np.array([unit_of.get(question, -1) for question in self.ids], dtype=np.int64)
            made.append(
                stats.set_hypothesis(
                    pair[0], pair[1], places, better=self.metric.better, level=self.sureness.level,
                    resamples=self.sureness.resamples, names=(first, name), bounds=bounds(self.metric),
                )
            )  # fmt: skip
        return made

    def called(self) -> Iterator[tuple[Any, ...]]:
        """Rows of CALLED, of all that scores and hypotheses were made from."""
        first = next(iter(self.answers), "")
        for name, own in self.answers.items():
            parts = {"": tuple(own)}
            for other in self.answers:
                if other != name and first in (name, other):
                    pair = self.answers[first], self.answers[other if name == first else name]
                    parts[other] = tuple(question for question in pair[0] if question in pair[1])
            for beside, ids in parts.items():
                values = self._known.get((name, ids))
                if values is None or (beside and ids == tuple(own)):
                    continue
                yield name, self.metric.label, beside, "whole", 0, values.value
                for kind, given in (("draw", values.draws), ("left", values.left)):
                    for place, value in enumerate(given.tolist()):
                        yield name, self.metric.label, beside, kind, place, value

    def units(self) -> Iterator[tuple[Any, ...]]:
        """Rows of UNITS."""
        for name, own in self.answers.items():
            for place, unit in enumerate(self._units(tuple(own))):
                for question in unit:
                    yield name, self.metric.label, question, place, self.clusters is not None

    async def _first(self, table: list[Sample]) -> Score:
        """The value of a whole set, and how long a call takes."""
        if not table:
            missing = ", ".join(self.metric.fields) or "answer"
            return Score.unmeasured(Status.MISSING_FIELD, f"no sample has {missing}")
        began = time.monotonic()
        score = await self.functions.score(self.metric, table, {})
        took = time.monotonic() - began
        if score.status is Status.OK:  # the first may have had something to load, and others to wait for
            self.seconds = max(self.seconds, min([took, *await self._turned(lambda: self._paces(table))]))
        return score

    def _units(self, ids: Sequence[str]) -> list[list[str]]:
        """What is drawn together: each question, or the questions of each group."""
        units: dict[str, list[str]] = {}
        for question in ids:
            units.setdefault(question if self.clusters is None else self.clusters[question], []).append(question)
        return list(units.values())

    async def _values(self, name: str, ids: tuple[str, ...], *, leaving: bool = False) -> SetValues:
        """What the function gives of these questions as one system answered them."""
        values = self._known.get((name, ids))
        if values is None or (leaving and not len(values.left)):
            values = self._known[name, ids] = await self._measured(name, ids, leaving)
        return values

    async def _measured(self, name: str, ids: tuple[str, ...], leaving: bool) -> SetValues:
        own, units = self.answers[name], self._units(ids)
        answers = [[sample for question in unit for sample in own[question]] for unit in units]
        sizes = np.array([len(unit) for unit in units], dtype=np.int64)
        how: dict[str, Any] = {"clustered": self.clusters is not None, "seed": self.sureness.seed}
        value = self.whole[name].value
        if not math.isnan(value) and len(ids) < len(own):
            part = await self._called([list(chain.from_iterable(answers))] if ids else [])
            value = next(iter(part.tolist()), math.nan)
        if math.isnan(value) or len(units) < 2:
            return SetValues(value, sizes, **how)
        draws = await self._called(
            [sample for own, times in zip(answers, counts, strict=True) for sample in own * times]
            for counts in map(np.ndarray.tolist, stats.set_draws(len(units), self.number, self.sureness.seed))
        )
        set_values = SetValues(value, sizes, draws, **how)
        if (set_values.by_draws and not leaving) or len(units) * self.seconds > self.functions.seconds:
            return set_values
        left = await self._called(
            list(chain.from_iterable(own for place, own in enumerate(answers) if place != without))
            for without in range(len(units))
        )
        return SetValues(value, sizes, draws, left, **how)

    async def _called(self, tables: Iterable[list[Sample]]) -> Array:
        """Its value of each of these sets, NaN where it gives none; of none of them where it takes far too long."""
        rest, values = iter(tables), list[float]()
        end = time.monotonic() + PATIENCE * self.functions.seconds
        while some := await self._turned(lambda: self._turn(rest)):
            values += some
            if time.monotonic() > end or math.isinf(some[-1]):
                return np.full(0, np.nan)
        return np.array(values, dtype=np.float64)

    async def _turned(self, work: Callable[[], list[float]]) -> list[float]:
        """What the functions' thread makes of the work; infinity where it hangs."""
        try:
            return await asyncio.to_thread(
                WorkerThreads.shared().do, work, self.functions.seconds + TURN_SECONDS, LIMIT
            )
        except OutOfTimeError:
            return [math.inf]

    def _paces(self, table: list[Sample]) -> list[float]:
        """How long some calls take, one after the other."""
        paces = list[float]()
        while len(paces) < PACES and sum(paces) < TURN_SECONDS:
            began = time.monotonic()
            self._value(table)
            paces.append(time.monotonic() - began)
        return paces

    def _value(self, table: list[Sample]) -> float:
        try:
            return scored(self.metric, self.metric(table)).value
        except BaseException:  # whatever it ends with, there is no value of this set
            return math.nan

    def _turn(self, tables: Iterator[list[Sample]]) -> list[float]:
        end, values = time.monotonic() + TURN_SECONDS, list[float]()
        for table in tables:
            values.append(self._value(table))
            if time.monotonic() > end:
                break
        return values


REPEATED = ("system", "metric", "sample", "repeat", "value", "status", "reason")
"""A single score of a question that was asked several times; repeats are counted from 0."""


class VarianceRow(TypedDict):
    """Of a mean, or of a difference to `baseline`: how often each question was asked; the variance of single values
    between questions and within them; the standard error with its two parts, whose squares add up to it; and what it
    would be with twice the repeats, and with twice the questions. See `ragbench.old.stats.variance_split`."""

    system: str
    baseline: str
    metric: str
    n: int
    repeats: float
    of_questions: float
    of_repeats: float
    error: float
    error_of_questions: float
    error_of_repeats: float
    error_twice_repeats: float
    error_twice_questions: float


def together(scores: Sequence[Score], speaker: Speaker = ENGLISH) -> Score:
    """The score of a question that was asked several times: the mean over the repeats that were measured, unmeasured
    where none was. Its data are those of the first that was; all values are in `detail["repeats"]`."""
    measured = [score for score in scores if score.status is Status.OK]
    if len(scores) < 2 or not measured:
        return scores[0]
    first, values = measured[0], [score.value for score in scores]
    shown = tuple({"text": "{value}", "values": {"value": None if math.isnan(each) else each}} for each in values)
    said = sentence("Mean of {n} repeats: {values}. The first:", n=len(scores), values=shown)
    parts = first.detail.get("explanation") or (of_a_panel(first) if "judges" in first.detail else [])
    rest = [] if parts else [{"text": "{reason}", "values": {"reason": first.reason}}]
    detail = {**first.detail, "explanation": [said, *parts, *rest], "repeats": values}
    made = replace(first, value=math.fsum(score.value for score in measured) / len(measured), detail=detail)
    return replace(made, reason=explain(made, speaker))


def table(rows: Iterable[tuple[Any, ...]]) -> pd.DataFrame:
    """Rows of REPEATED as a table."""
    import pandas as pd

    return pd.DataFrame(list(rows), columns=list(REPEATED)).astype({"value": float, "repeat": "int64"})


def variance(
    repeated: pd.DataFrame,
    estimates: Sequence[NamedEstimate],
    comparisons: Sequence[NamedComparison],
    clusters: Mapping[str, str] | None,
) -> pd.DataFrame:
    """VarianceRow of the differences, then of the means, that are made of repeats; none of what was asked once."""
    import pandas as pd

    samples = sorted(set(repeated["sample"]))
    labels = None if clusters is None else [clusters[sample] for sample in samples]
    wide = {
        (str(system), str(metric)): own.pivot(index="sample", columns="repeat", values="value")
        .reindex(samples)
        .to_numpy(dtype=float)
        for (system, metric), own in repeated.groupby(["system", "metric"], sort=False)
    }
    places = [
        (comparison.comparison.challenger, comparison.comparison.baseline, comparison.metric)
        for comparison in comparisons
    ]
    places += [(estimate.system, "", estimate.metric) for estimate in estimates]
    rows = [
        row
        for system, baseline, metric in places
        if (system, metric) in wide and (not baseline or (baseline, metric) in wide)
        if (row := _row(system, baseline, metric, wide, labels)) is not None
    ]
    return pd.DataFrame(rows, columns=columns(VarianceRow))


def _row(
    system: str, baseline: str, metric: str, wide: Mapping[tuple[str, str], Array], labels: Sequence[str] | None
) -> tuple[Any, ...] | None:
    against = wide[baseline, metric] if baseline else None
    split = stats.variance_split(wide[system, metric], against, clusters=labels)
    if np.isnan(split.error):
        return None
    return (
        system, baseline, metric, split.n, split.repeats_each, split.questions, split.repeats, split.error,
        split.error_of_questions, split.error_of_repeats, split.error_with(repeats=2), split.error_with(questions=2),
    )  # fmt: skip


GROUPS, PARTS_A_WORKER = 256, 4
"""Of a part at most; fewer where that gives each worker so many parts."""
Work = tuple[Metric, Sequence[Sample]]
"""A metric and all that it is given at once: repeats of a question, or a dialogue."""


def scored_groups(works: Sequence[Work], embedder: Embedder, known: Settings) -> list[Score]:
    """The score of each, in their order; the texts of all that need vectors are embedded in one batch.

    Functions of the user's without an embedder are called by the workers that the settings name. With one they are not:
    a model's vectors hang in their last bits on what is embedded with them. Raises ClusterError.
    """
    has_workers = known.cluster is not None and planning.folder() is None
    there = [place for place, (metric, _) in enumerate(works) if has_workers and metric.is_users and not metric.needs]
    here = sorted({*range(len(works))} - {*there})
    scores = dict(zip(there, _by_workers([works[place] for place in there], known), strict=True))
    batch, functions = Batch(embedder), Functions(known.metrics.timeout_seconds)
    own = llm.run(batch.gather([partial(_score, works[place], batch, functions) for place in here]))
    scores |= zip(here, own, strict=True)
    return [scores[place] for place in range(len(works))]


def _by_workers(works: Sequence[Work], known: Settings) -> list[Score]:
    if not works:
        return []
    with pool.opened(known) as workers:
        assert workers is not None, "the settings name a cluster"
        size = max(1, min(GROUPS, -(-len(works) // (PARTS_A_WORKER * max(1, workers.count)))))
        parts = [tuple(works[start : start + size]) for start in range(0, len(works), size)]
        return [*chain.from_iterable(workers.map(_part, None, parts))]


def _part(_: None, works: Sequence[Work], tell: Tell) -> list[Score]:
    """What a worker does."""
    functions = Functions(settings.load().metrics.timeout_seconds)
    return llm.run(gather([functions.score(metric, group, {}) for metric, group in works]))


async def _score(work: Work, batch: Batch, functions: Functions) -> Score:
    metric, group = work
    given = {"embedder": batch} if metric.needs else {}
    if metric.is_users:
        return await functions.score(metric, group, given)
    score: Score | Coroutine[Any, Any, Score] = metric(group, **given)
    return await score if inspect.isawaitable(score) else score
