"""What people would say of systems' retrieval, from their grades of some questions and a judge's of all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ragbench import stats
from ragbench.core.types import Array, Estimate
from ragbench.data.files import DatasetError
from ragbench.data.records import QuestionRecord
from ragbench.extras.testsets.drawing import Drawn
from ragbench.extras.testsets.pool import Judgement, Pair, Pool
from ragbench.judge.relevance import HIGHEST
from ragbench.metrics import catalogue
from ragbench.metrics.evaluation import evaluate
from ragbench.metrics.ranking_arrays import from_lists

if TYPE_CHECKING:
    from ragbench.core.measurement import Measurement
    from ragbench.core.metric import Metric

METRICS = ("ndcg", "recall", "mrr")
FEWEST = 2
"""Questions that people graded."""

Ends = tuple[float | None, float | None]
Grades = Mapping[str, Mapping[str, float]]
"""Question → passage → gain."""


@dataclass(frozen=True)
class Powered:
    """A mean of a system, as people would have it. estimate: prediction-powered, or active where questions were drawn
    with chances of their own; by_people, people: their grades alone, weighed by chances; by_judge, judge: its alone."""

    system: str
    metric: str
    estimate: Estimate
    by_people: float
    people: Ends
    by_judge: float
    judge: Ends


@dataclass(frozen=True)
class Graded:
    """Who graded the pools of a run's questions: by_people, by_judge: all that is known of a question's passages with
    each of them; labelled, judged: the questions of which that is the whole pool."""

    by_people: Grades
    by_judge: Grades
    labelled: tuple[str, ...]
    judged: tuple[str, ...]

    @classmethod
    def of(
        cls, pool: Pool, questions: Sequence[QuestionRecord], judgements: Iterable[Judgement], *, level: int
    ) -> Graded:
        """judgements: of several judges the last one of a pair counts. level: the smallest grade that is relevant."""
        said: tuple[dict[str, dict[str, float]], ...] = defaultdict(dict), defaultdict(dict)
        given: set[Pair] = set()
        for judgement in judgements:
            grade = float(judgement.grade if judgement.grade >= level else 0)
            said[judgement.people][judgement.question][judgement.passage] = grade
            given.add((judgement.question, judgement.passage))
        own = {question.id: _own(question, given) for question in questions if question.id in pool.found_by}
        machine, people = ({name: {**own[name], **table.get(name, {})} for name in own} for table in said)
        judged, labelled = (
            tuple(name for name in own if table.get(name) and pool.found_by[name].keys() <= known[name].keys())
            for table, known in zip(said, (machine, people), strict=True)
        )
        return cls(people, machine, labelled, judged)


def estimates(
    made: Measurement,
    pool: Pool,
    questions: Sequence[QuestionRecord],
    judgements: Iterable[Judgement],
    *,
    drawing: Sequence[Drawn] = (),
    level: int = 2,
    seed: int = 0,
) -> list[Powered]:
    """nDCG, recall and MRR of every system at the pool's depth.

    A question is people's where a person, or the data set's own labels, say of all its pool what it is; it is the
    judge's where a judge does. Values of people's questions correct those of the judge: without a drawing they have to
    be a random sample (`ragbench.stats.prediction_powered`); those of a drawing weigh by the chances that they had
    (`ragbench.stats.active_estimate`), others of people's are left aside, and what was drawn and is not graded counts
    as like the rest of what was drawn. A question in which nothing is relevant has a value of 0, by either, so that
    both speak of the same questions. Raises DatasetError for fewer than FEWEST questions of people, or none of the
    judge beside them.
    """
    graded = Graded.of(pool, questions, judgements, level=level)
    both = [name for name in graded.labelled if name in {*graded.judged}]
    rest = [name for name in graded.judged if name not in {*graded.labelled}]
    if len(both) < FEWEST or not rest:
        raise DatasetError(
            f"people and the judge graded all of the pool for {len(both)} questions, and the judge alone for "
            f"{len(rest)}: at least {FEWEST} and 1 are needed; `ragbench pool NAME --judge JUDGE`, then --sheet FILE "
            "--again --limit 50"
        )
    chances = {record.question: record for record in drawing if record.question in {*graded.judged}}
    if not any(record.chosen and record.chance < 1 and name in {*both} for name, record in chances.items()):
        chances = {}
    powered = []
    alone: Ends
    judge: Ends
    for system, label, values in _columns(made, pool.depth):
        if not chances:
            people, on_them, on_rest = (values(both, graded.by_people), values(both, graded.by_judge),
                                        values(rest, graded.by_judge))  # fmt: skip
            estimate = stats.prediction_powered(people, on_them, on_rest, bounds=(0, 1), seed=seed)
            machine, plain = np.concatenate([on_them, on_rest]), float(people.mean())
            alone, judge = (estimate.intervals.get(name, (None, None)) for name in ("people", "judge"))
        else:
            machine = values([*chances], graded.by_judge)
            chosen = [name for name, record in chances.items() if record.chosen and name in {*both}]
            known = dict(zip(chosen, values(chosen, graded.by_people), strict=True))
            labels = np.array([known.get(name, np.nan) for name in chances])
            drawn_with = answered(chances, {*chosen})
            estimate, unaided = (
                stats.active_estimate(labels, told, drawn_with, bounds=(0, 1), seed=seed)
                for told in (machine, np.zeros(len(machine)))
            )
            bare = stats.estimate(machine, bounds=(0, 1), seed=seed)
            plain, alone, judge = unaided.value, (unaided.low, unaided.high), (bare.low, bare.high)
        powered.append(Powered(system, label, estimate, plain, alone, float(machine.mean()), judge))
    return powered


def answered(chances: Mapping[str, Drawn], graded: set[str]) -> Array:
    """The chances of questions; those below 1 are times the share of what was drawn with them that people graded."""
    drawn = [name for name, record in chances.items() if record.chosen and record.chance < 1]
    share = sum(name in graded for name in drawn) / len(drawn) if drawn else 1.0
    return np.array([record.chance * (share if record.chance < 1 else 1.0) for record in chances.values()])


def doubts(
    made: Measurement, pool: Pool, questions: Sequence[QuestionRecord], judgements: Sequence[Judgement], *, level: int
) -> dict[str, float]:
    """How far the values of each question lie apart by the readings that a judge's grades allow: with a passage counted
    as relevant from `level`, from the grade below or from the one above, and by each judge that graded all of it. Mean
    over systems and metrics, from 0 to 1."""
    judges = sorted({judgement.by for judgement in judgements if not judgement.people})
    readings = [
        Graded.of(pool, questions, [each for each in judgements if each.by == judge and not each.people], level=least)
        for judge in judges
        for least in range(max(1, level - 1), min(HIGHEST, level + 1) + 1)
    ]
    names = sorted({name for reading in readings for name in reading.judged})
    apart = np.zeros(len(names))
    columns = list(_columns(made, pool.depth))
    for _system, _label, values in columns:
        by_reading = np.full((len(readings), len(names)), np.nan)
        for row, reading in enumerate(readings):
            own = [place for place, name in enumerate(names) if name in {*reading.judged}]
            by_reading[row, own] = values([names[place] for place in own], reading.by_judge)
        apart += np.nanmax(by_reading, axis=0) - np.nanmin(by_reading, axis=0)
    return dict(zip(names, (apart / max(len(columns), 1)).tolist(), strict=True))


def _columns(made: Measurement, depth: int) -> Iterator[tuple[str, str, Callable[[Sequence[str], Grades], Array]]]:
    """(system, metric, what gives its values of questions by grades) of each."""
    metrics = [catalogue()[name] @ depth for name in METRICS]
    rows = made.retrieved[made.retrieved["rank"] <= depth].sort_values("rank")
    for system, mine in rows.groupby("system", sort=False):
        lists = {str(name): list(map(str, chunks)) for name, chunks in mine.groupby("sample")["chunk"]}
        for metric in metrics:
            yield str(system), metric.label, partial(_values, lists, metric)


def _values(lists: Mapping[str, list[str]], metric: Metric, names: Sequence[str], grades: Grades) -> Array:
    """A value a question, 0 where nothing is relevant."""
    ranking = from_lists([lists.get(name, []) for name in names], [grades[name] for name in names])
    return evaluate(ranking, [metric], without_relevant="zero")[metric.label]


def _own(question: QuestionRecord, given: set[Pair]) -> dict[str, float]:
    """What the data set itself says of passages, without what judgements have put there."""
    known = {**dict.fromkeys(question.irrelevant, 0.0), **question.relevant}
    return {passage: grade for passage, grade in known.items() if (question.id, passage) not in given}
