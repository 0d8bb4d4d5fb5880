"""Judgements that were made elsewhere: a file of items with what judges and people gave them, or chose."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragbench.bench.judge_asking import Heard
from ragbench.bench.judge_items import Answers, Scale
from ragbench.bench.session import BenchError
from ragbench.datasets.files import DatasetError, read_lines
from ragbench.metrics.judging import Sitting
from ragbench.types import Sample, Status

Number = Annotated[float, Field(allow_inf_nan=False)]
Pick = Literal["A", "B", "Tie"]
PEOPLE = "people"
SIGNS = {"A": 1.0, "B": -1.0, "Tie": 0.0, None: math.nan}


class Judgement(BaseModel):
    """A line of the file.

    people: rater → rating on the people's scale, null where none was made. judges: judge → score on the judges' scale,
    a list for repeats, null for a reply that could not be used. choices: judge → the place that won ("A" the first
    shown, "B" the second, "Tie", null) with the pair in its own order and with the places changed.
    label: which answer of the pair is better, in its own order. cluster: items of one cluster are not independent.
    system: what wrote the answer.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(min_length=1, max_length=300)
    people: dict[str, Number | None] = {}
    judges: dict[str, Number | list[Number | None] | None] = {}
    choices: dict[str, tuple[Pick | None, Pick | None]] = {}
    label: Pick | None = None
    cluster: str | None = None
    system: str | None = None
    question: str | None = None
    answer: str | None = None


@dataclass(frozen=True)
class Logged:
    """What the file holds, as if the judges had been asked. labels: (items,) +1 for A, −1 for B, 0 a tie, NaN none."""

    answers: Answers
    heard: tuple[Heard, ...]
    labels: np.ndarray[tuple[int], np.dtype[np.float64]]
    content_hash: str


def read(path: Path, people: Scale, judges: Scale) -> Logged:
    """The judgements of a JSON Lines file, sorted by id.

    A judge's name tells its model family, where it does. Raises BenchError, naming line and field.
    """
    found: dict[str, Judgement] = {}
    try:
        for number, item in read_lines(path):
            one = Judgement.model_validate(item)
            if one.id in found:
                raise BenchError(f"{path.name}, line {number}: the id {one.id!r} stands there twice")
            found[one.id] = one
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"]))
        raise BenchError(f"{path.name}, line {number}: {place}: {fault['msg']}") from None
    except DatasetError as error:
        raise BenchError(str(error)) from None
    if not found:
        raise BenchError(f"{path.name}: holds no judgements; at least one line is expected")
    items = [found[name] for name in sorted(found)]
    if reserved := [one.id for one in items if PEOPLE in one.judges or PEOPLE in one.choices]:
        raise BenchError(
            f"{path.name}: {reserved[0]}: no judge can be called {PEOPLE!r}; that is what people are called"
        )
    digest = hashlib.sha256(
        "\n".join(json.dumps(one.model_dump(mode="json"), sort_keys=True) for one in items).encode()
    )
    names = sorted({name for one in items for name in (*one.judges, *one.choices)})
    return Logged(
        _answers(items, people),
        tuple(_heard(name, items, judges) for name in names),
        np.array([SIGNS[one.label] for one in items]),
        digest.hexdigest(),
    )


def _answers(items: list[Judgement], scale: Scale) -> Answers:
    raters = tuple(sorted({name for one in items for name in one.people}))
    people = np.array([[one.people.get(name) for name in raters] for one in items], dtype=np.float64)
    samples = tuple(
        Sample(one.id, one.question or "", response=one.answer or "", system=one.system, cluster=one.cluster)
        for one in items
    )
    clusters = tuple(one.cluster or one.id for one in items)
    return Answers(samples, clusters, raters, scale.share(people.reshape(len(items), len(raters))))


def _heard(name: str, items: list[Judgement], scale: Scale) -> Heard:
    from ragbench.bench.judge_biases import family

    given = [one.judges.get(name, ...) for one in items]
    rows = [value if isinstance(value, list) else [value] for value in given]
    repeats = max((len(row) for row in rows), default=1) or 1
    scores, asked = np.full((len(items), repeats), np.nan), np.zeros((len(items), repeats), dtype=bool)
    for place, row in enumerate(rows):
        for repeat, value in enumerate(row):
            asked[place, repeat] = value is not ...
            if isinstance(value, float | int):
                scores[place, repeat] = value
    scale.share(scores)
    statuses = np.where(asked, np.where(np.isnan(scores), Status.PARSE_ERROR, Status.OK), Status.MISSING_FIELD)
    picks = [one.choices.get(name) for one in items]
    choices = None
    if any(pick is not None for pick in picks):
        choices = np.array([[SIGNS[each] for each in pick or (None, None)] for pick in picks])
    return Heard(
        name,
        Sitting(scores, asked),
        np.vectorize(str, otypes=[object])(statuses),
        choices=choices,
        family=family(name),
    )
