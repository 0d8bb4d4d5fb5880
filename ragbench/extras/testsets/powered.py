"""What people would say of systems' retrieval, from their grades of some questions and a judge's of all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ragbench import stats
from ragbench.core.types import Array, Estimate
from ragbench.data.files import DatasetError
from ragbench.data.records import QuestionRecord
from ragbench.extras.testsets.pool import Judgement, Pair, Pool
from ragbench.metrics import catalogue
from ragbench.metrics.evaluation import evaluate
from ragbench.metrics.ranking_arrays import from_lists

if TYPE_CHECKING:
    from ragbench.core.measurement import Measurement

METRICS = ("ndcg", "recall", "mrr")
FEWEST = 2
"""Questions that people graded."""


@dataclass(frozen=True)
class Powered:
    """A mean of a system, as people would have it. estimate: prediction-powered, with `intervals` of people's grades
    alone ("people") and of the judge's alone ("judge")."""

    system: str
    metric: str
    estimate: Estimate
    by_people: float
    by_judge: float


def estimates(
    made: Measurement,
    pool: Pool,
    questions: Sequence[QuestionRecord],
    judgements: Iterable[Judgement],
    *,
    level: int = 2,
    seed: int = 0,
) -> list[Powered]:
    """nDCG, recall and MRR of every system at the pool's depth.

    A question is people's where a person, or the data set's own labels, say of all its pool what it is; it is the
    judge's where a judge does. Values of people's questions, which have to be a random sample, correct those of the
    judge (`ragbench.stats.prediction_powered`). A question in which nothing is relevant has a value of 0, by either, so
    that both speak of the same questions. Raises DatasetError for fewer than FEWEST questions of people, or none of the
    judge beside them.
    """
    by_people, by_judge = defaultdict[str, dict[str, float]](dict), defaultdict[str, dict[str, float]](dict)
    given: set[Pair] = set()
    for judgement in judgements:
        table = by_people if judgement.people else by_judge
        table[judgement.question][judgement.passage] = float(judgement.grade if judgement.grade >= level else 0)
        given.add((judgement.question, judgement.passage))
    asked = {question.id: question for question in questions if question.id in pool.found_by}
    own = {name: _own(question, given) for name, question in asked.items()}
    whole = {name: {**own[name], **by_people.get(name, {})} for name in asked}
    machine = {name: {**own[name], **by_judge.get(name, {})} for name in asked}
    labelled = [name for name in asked if by_people.get(name) and pool.found_by[name].keys() <= whole[name].keys()]
    judged = [name for name in asked if by_judge.get(name) and pool.found_by[name].keys() <= machine[name].keys()]
    both, rest = [name for name in labelled if name in {*judged}], [name for name in judged if name not in {*labelled}]
    if len(both) < FEWEST or not rest:
        raise DatasetError(
            f"people and the judge graded all of the pool for {len(both)} questions, and the judge alone for "
            f"{len(rest)}: at least {FEWEST} and 1 are needed; `ragbench pool NAME --judge JUDGE`, then --sheet FILE "
            "--again --limit 50"
        )
    metrics = [catalogue()[name] @ pool.depth for name in METRICS]
    rows = made.retrieved[made.retrieved["rank"] <= pool.depth].sort_values("rank")
    powered = []
    for system, mine in rows.groupby("system", sort=False):
        lists = {str(name): list(map(str, chunks)) for name, chunks in mine.groupby("sample")["chunk"]}

        def values(names: Sequence[str], grades: dict[str, dict[str, float]], lists=lists) -> dict[str, Array]:  # type: ignore[no-untyped-def]
            ranking = from_lists([lists.get(name, []) for name in names], [grades[name] for name in names])
            return {label: np.nan_to_num(column) for label, column in evaluate(ranking, metrics).items()}

        people, on_them, on_rest = values(both, whole), values(both, machine), values(rest, machine)
        for metric in metrics:
            label = metric.label
            estimate = stats.prediction_powered(people[label], on_them[label], on_rest[label], bounds=(0, 1), seed=seed)
            every = np.concatenate([on_them[label], on_rest[label]])
            powered.append(Powered(str(system), label, estimate, float(people[label].mean()), float(every.mean())))
    return powered


def _own(question: QuestionRecord, given: set[Pair]) -> dict[str, float]:
    """What the data set itself says of passages, without what judgements have put there."""
    known = {**dict.fromkeys(question.irrelevant, 0.0), **question.relevant}
    return {passage: grade for passage, grade in known.items() if (question.id, passage) not in given}
