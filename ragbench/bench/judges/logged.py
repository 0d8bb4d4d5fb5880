"""Judgements that were made elsewhere: a file of items with what judges and people gave them, or chose."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ragbench.bench.judges import judgement_files
from ragbench.bench.judges.asking import Heard
from ragbench.bench.judges.items import Answers, Scale
from ragbench.bench.judges.judgement_files import Judgement
from ragbench.metrics.judging import Sitting
from ragbench.settings import OFFLINE
from ragbench.types import Sample, Status

SIGNS = {"A": 1.0, "B": -1.0, "Tie": 0.0, None: math.nan}


@dataclass(frozen=True)
class Logged:
    """What the file holds, as if the judges had been asked. labels: (items,) +1 for A, −1 for B, 0 a tie, NaN none."""

    answers: Answers
    heard: tuple[Heard, ...]
    labels: np.ndarray[tuple[int], np.dtype[np.float64]]
    content_hash: str


def read(path: Path, people: Scale, judges: Scale, classes: Sequence[str] = ()) -> Logged:
    """The judgements of a file, see `ragbench.bench.judges.judgement_files`, sorted by id.

    A judge's name tells its model family, where it does. classes: names from the worst to the best that may stand for
    ratings and scores. Raises BenchError, naming file, row, field, and what was expected.
    """
    items = judgement_files.read(path, people, judges, classes)
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
    from ragbench.bench.judges.biases import family

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
    choices = np.array([[SIGNS[each] for each in pick or (None, None)] for pick in picks]) if any(picks) else None
    return Heard(
        name,
        Sitting(scores, asked),
        np.vectorize(str, otypes=[object])(statuses),
        choices=choices,
        family=family(name),
        stand_in=name == OFFLINE,
    )
