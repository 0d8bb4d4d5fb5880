"""What people would say of systems' retrieval, from their grades of questions drawn for it, and a judge's of all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from ragbench.old import stats
from ragbench.old.core.types import Array, Estimate
from ragbench.old.data.files import DatasetError
from ragbench.old.data.records import Closed, QuestionRecord
from ragbench.old.extras.testsets import candidates
from ragbench.old.extras.testsets.pooling import Judgement, Pair, Pool
from ragbench.old.judge.relevance import HIGHEST
from ragbench.old.metrics import catalogue
from ragbench.old.metrics.ranking import evaluate
from ragbench.old.metrics.ranking_arrays import from_lists

if TYPE_CHECKING:
    from ragbench.old.core.measurement import Measurement
    from ragbench.old.core.metric import Metric


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
    be a random sample (`ragbench.old.stats.prediction_powered`); those of a drawing weigh by the chances that they had
    (`ragbench.old.stats.active_estimate`), others of people's are left aside, and what was drawn and is not graded counts
    as like the rest of what was drawn. A question in which nothing is relevant has a value of 0, by either, so that
    both speak of the same questions. Raises DatasetError for fewer than FEWEST questions of people, or none of the
    judge beside them.
    """
    graded = Graded.of(pool, questions, judgements, level=level)
    labelled, judged = {*graded.labelled}, {*graded.judged}
    both = [name for name in graded.labelled if name in judged]
    rest = [name for name in graded.judged if name not in labelled]
    if len(both) < FEWEST or not rest:
        raise DatasetError(
            f"people and the judge graded all of the pool for {len(both)} questions, and the judge alone for "
            f"{len(rest)}: at least {FEWEST} and 1 are needed; `ragbench pool NAME --judge JUDGE`, then --sheet FILE "
            "--again --limit 50"
        )
    chances = {record.question: record for record in drawing if record.question in judged}
    chosen = [name for name, record in chances.items() if record.chosen and name in labelled]
    if not any(chances[name].chance < 1 for name in chosen):
        chances = {}
    drawn_with = answered(chances, {*chosen})
    powered = []
    alone: Ends
    judge: Ends
    for system, values in _systems(made, pool.depth):
        by_judge = values([*chances] if chances else [*both, *rest], graded.by_judge)
        by_people = values(chosen if chances else both, graded.by_people)
        for label, machine in by_judge.items():
            people = by_people[label]
            if not chances:
                on_them, on_rest = machine[: len(both)], machine[len(both) :]
                estimate = stats.prediction_powered(people, on_them, on_rest, bounds=(0, 1), seed=seed)
                plain = float(people.mean())
                alone, judge = (estimate.intervals.get(name, (None, None)) for name in ("people", "judge"))
            else:
                known = dict(zip(chosen, people, strict=True))
                labels = np.array([known.get(name, np.nan) for name in chances])
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
    places = {name: place for place, name in enumerate(names)}
    owned = [np.array([places[name] for name in reading.judged], dtype=int) for reading in readings]
    apart, count = np.zeros(len(names)), 0
    for _system, values in _systems(made, pool.depth):
        by_reading = [values(reading.judged, reading.by_judge) for reading in readings]
        for label in by_reading[0] if by_reading else ():
            read = np.full((len(readings), len(names)), np.nan)
            for row, (own, columns) in enumerate(zip(owned, by_reading, strict=True)):
                read[row, own] = columns[label]
            apart, count = apart + np.nanmax(read, axis=0) - np.nanmin(read, axis=0), count + 1
    return dict(zip(names, (apart / max(count, 1)).tolist(), strict=True))


def _systems(
    made: Measurement, depth: int
) -> Iterator[tuple[str, Callable[[Sequence[str], Grades], Mapping[str, Array]]]]:
    """Each system with what gives its values of questions by grades: by metric, one a question."""
    metrics = [catalogue()[name] @ depth for name in METRICS]
    rows = made.retrieved[made.retrieved["rank"] <= depth].sort_values("rank")
    for system, mine in rows.groupby("system", sort=False):
        lists = {str(name): list(map(str, chunks)) for name, chunks in mine.groupby("sample")["chunk"]}
        yield str(system), partial(_values, lists, metrics)


def _values(
    lists: Mapping[str, list[str]], metrics: Sequence[Metric], names: Sequence[str], grades: Grades
) -> Mapping[str, Array]:
    """By metric a value a question, 0 where nothing is relevant."""
    ranking = from_lists([lists.get(name, []) for name in names], [grades[name] for name in names])
    return evaluate(ranking, metrics, without_relevant="zero")


def _own(question: QuestionRecord, given: set[Pair]) -> dict[str, float]:
    """What the data set itself says of passages, without what judgements have put there."""
    known = {**dict.fromkeys(question.irrelevant, 0.0), **question.relevant}
    return {passage: grade for passage, grade in known.items() if (question.id, passage) not in given}


class Drawn(Closed):
    """A question with the chance that it had in a drawing. round: how many drawings there were with this one."""

    question: str
    chance: float = Field(gt=0, le=1)
    chosen: bool
    round: int = Field(ge=1)


def drawn(doubts: Mapping[str, float], graded: set[str], number: int, round_: int) -> list[Drawn]:
    """One drawing of about `number` questions, each by itself, with a chance of `stats.chances`.

    doubts: of each question how unsure its values are, from 0 on. graded: those of them whose pool people have graded;
    their chance is 1, which is what it is once they are known, whatever they were chosen by. round_: another one draws
    others. Raises DatasetError where fewer than `number` are not graded.
    """
    left = [name for name in sorted(doubts) if name not in graded]
    if number > len(left):
        raise DatasetError(
            f"--limit {number}: people have not graded the pools of {len(left)} questions; at most these"
        )
    chances = stats.chances([doubts[name] for name in left], number)
    made = [Drawn(question=name, chance=1.0, chosen=True, round=round_) for name in doubts if name in graded]
    for name, chance in zip(left, map(float, chances), strict=True):
        made.append(Drawn(question=name, chance=chance, chosen=_place(name, round_) < chance, round=round_))
    return sorted(made, key=lambda record: record.question)


def _place(name: str, round_: int) -> float:
    """A number from 0 to 1 that hangs on the name and the drawing alone, so that both can be done again."""
    return int(sha256(f"{round_}\0{name}".encode()).hexdigest()[:13], 16) / 16**13


def path_of(place: Path, language: str) -> Path:
    """Where the last drawing of a data set's folder is kept."""
    return place / f"drawn.{language}.jsonl"


def read(place: Path, language: str) -> list[Drawn]:
    """The last drawing; none where there is no file. Raises DatasetError, naming file and line."""
    records = candidates.records_of(path_of(place, language), Drawn)
    last = max((record.round for record in records), default=0)
    return [record for record in records if record.round == last]


def keep(place: Path, language: str, drawing: Sequence[Drawn]) -> None:
    """Write a drawing in the place of the one before."""
    candidates.keep_records(path_of(place, language), Drawn, drawing, lambda record: record.question)
