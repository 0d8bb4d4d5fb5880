"""Judgements that were made elsewhere, from JSON Lines, JSON, CSV or Parquet, each row checked where it stands."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from ragbench.old.core.types import Sample, Status
from ragbench.old.data.cells import decimal
from ragbench.old.data.files import DatasetError, cut, parse_json
from ragbench.old.data.records import checked
from ragbench.old.data.rows import listed, read_rows
from ragbench.old.judge import asks_nobody
from ragbench.old.metrics.judging import Sitting
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.judges.asking import Heard
from ragbench.old.tiers.judges.items import Answers, Scale
from ragbench.old.tiers.judges.probes import family

NOTHING = ("null", "none", "nan")
NAMED = ("people", "judges", "choices")
PEOPLE = "people"
SIGNS = {"A": 1.0, "B": -1.0, "Tie": 0.0, None: math.nan}


def _mark(value: Any) -> Any:
    """A number out of a cell's text, also with a decimal comma; None for "null"; other texts are names of classes."""
    if not isinstance(value, str):
        return None if isinstance(value, float) and math.isnan(value) else value
    text = value.strip()
    if text.casefold() in NOTHING:
        return None
    try:
        return decimal(text)
    except ValueError:
        return text


def _repeats(value: Any) -> Any:
    """Repeats out of a cell: "0.5; 0.75" or a JSON list; a single mark as it is."""
    if isinstance(value, str) and (";" in value or value.lstrip().startswith("[")):
        return listed(value)
    return value


def _picks(value: Any) -> Any:
    """Both choices out of a cell: "A; B", "A; null" or a JSON list."""
    if not isinstance(value, str):
        return value
    return [None if isinstance(choice, str) and choice.casefold() in NOTHING else choice for choice in listed(value)]


Number = Annotated[float, Field(allow_inf_nan=False)]
Mark = Annotated[Number | str | None, BeforeValidator(_mark)]
Pick = Literal["A", "B", "Tie"]


class Judgement(BaseModel):
    """A row of the file.

    people: rater → rating on the people's scale, null where none was made. judges: judge → score on the judges' scale,
    a list for repeats, null for a reply that could not be used. Both may be names of classes instead of numbers.
    choices: judge → the place that won ("A" the first shown, "B" the second, "Tie", null) with the pair in its own
    order and with the places changed. label: which answer of the pair is better, in its own order. cluster: items of
    one cluster are not independent. system: what wrote the answer.

    In CSV and Parquet a rater or a judge may be a column: `people.ann`, `judges.m` (repeats parted by semicolons),
    `choices.m` ("A; B"). There an empty cell says nothing; `null` is a reply that could not be used.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)

    id: str = Field(min_length=1, max_length=300)
    people: dict[str, Mark] = {}
    judges: dict[str, Annotated[Mark | list[Mark], BeforeValidator(_repeats)]] = {}
    choices: dict[str, Annotated[tuple[Pick | None, Pick | None], BeforeValidator(_picks)]] = {}
    label: Pick | None = None
    cluster: str | None = None
    system: str | None = None
    question: str | None = None
    answer: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, given: Any) -> Any:
        for name in given if isinstance(given, Mapping) else ():
            if name not in cls.model_fields:
                more = ", ".join(f"{field}.NAME" for field in NAMED)
                raise ValueError(f"there is no field {name!r}; legal: {', '.join(cls.model_fields)}, {more}")
        return given


def judgements(path: Path, people: Scale, judges: Scale, classes: Sequence[str] = ()) -> list[Judgement]:
    """The judgements of a file, sorted by id, names of classes as numbers on their scale.

    classes: their names from the worst to the best, evenly over the scales.
    Raises BenchError naming file, row, field, and what was expected.
    """
    by_id: dict[str, Judgement] = {}
    tabular = not {".jsonl", ".json"} & {ending.lower() for ending in path.suffixes}
    try:
        for place, row in read_rows(path):
            judgement = checked(Judgement, _unfolded(row, place, tabular), place)
            if judgement.id in by_id:
                raise BenchError(f"{place}: the id {judgement.id!r} stands there twice")
            if PEOPLE in judgement.judges or PEOPLE in judgement.choices:
                raise BenchError(
                    f"{place}: {judgement.id}: no judge can be called {PEOPLE!r}; that is what people are called"
                )
            by_id[judgement.id] = _on_scales(judgement, place, people, judges, classes)
    except DatasetError as error:
        raise BenchError(str(error)) from None
    if not by_id:
        raise BenchError(f"{path.name}: holds no judgements; at least one line is expected")
    return [by_id[name] for name in sorted(by_id)]


def _unfolded(row: Mapping[str, Any], place: str, tabular: bool) -> dict[str, Any]:
    """The row with columns such as `people.ann` gathered under `people`; empty places of a table left out."""
    unfolded: dict[str, Any] = {}
    for name, value in row.items():
        field, dot, who = name.partition(".")
        if field not in NAMED:
            unfolded[name] = value
            continue
        given = {who.strip(): value} if dot else _mapping(value, place, field)
        if not isinstance(given, Mapping):
            unfolded[field] = given
            continue
        known = unfolded.setdefault(field, {})
        if not isinstance(known, dict):
            raise DatasetError(f"{place}: {field} = {cut(known)}: an object is expected, or columns {field}.NAME alone")
        for each, content in given.items():
            if tabular and content is None:
                continue
            if not each or each in known:
                what = f"{each!r} stands there twice" if each else "nobody is named"
                raise DatasetError(f"{place}: {name}: {what}; one column is expected for each {field}.NAME")
            known[each] = content
    return unfolded


def _mapping(value: Any, place: str, field: str) -> Any:
    """An object out of a cell that holds one as JSON, or out of a Parquet map; anything else as it is."""
    if isinstance(value, str):
        return parse_json(value, f"{place}, {field}")
    if isinstance(value, list) and all(isinstance(each, tuple) and len(each) == 2 for each in value):
        return dict(value)
    return value


def _on_scales(judgement: Judgement, place: str, people: Scale, judges: Scale, classes: Sequence[str]) -> Judgement:
    def number(value: Any, field: str, scale: Scale) -> float | None:
        if isinstance(value, str):
            names = [name.casefold() for name in classes]
            if value.casefold() not in names:
                legal = f"a number or one of {', '.join(classes)}" if classes else "a number (or name the classes)"
                raise BenchError(f"{place}: {field} = {cut(value)}: {legal} is expected")
            return scale.low + names.index(value.casefold()) * (scale.high - scale.low) / (len(names) - 1)
        if value is not None and not scale.low - 1e-9 <= value <= scale.high + 1e-9:
            ends = f"from {scale.low:g} to {scale.high:g}"
            raise BenchError(f"{place}: {field}: {value:g} is not on the scale {ends}")
        return None if value is None else float(value)

    def numbers(value: Any, field: str) -> Any:
        if isinstance(value, list):
            return [number(each, field, judges) for each in value]
        return number(value, field, judges)

    return judgement.model_copy(
        update={
            "people": {name: number(value, f"people.{name}", people) for name, value in judgement.people.items()},
            "judges": {name: numbers(value, f"judges.{name}") for name, value in judgement.judges.items()},
        }
    )


@dataclass(frozen=True)
class Logged:
    """What the file holds, as if the judges had been asked. labels: (items,) +1 for A, −1 for B, 0 a tie, NaN none."""

    answers: Answers
    heard: tuple[Heard, ...]
    labels: np.ndarray[tuple[int], np.dtype[np.float64]]
    content_hash: str


def read(path: Path, people: Scale, judges: Scale, classes: Sequence[str] = ()) -> Logged:
    """The judgements of a file, sorted by id, as what judges said and people gave.

    A judge's name tells its model family, where it does. classes: names from the worst to the best that may stand for
    ratings and scores. Raises BenchError, naming file, row, field, and what was expected.
    """
    items = judgements(path, people, judges, classes)
    digest = hashlib.sha256(
        "\n".join(json.dumps(judgement.model_dump(mode="json"), sort_keys=True) for judgement in items).encode()
    )
    names = sorted({name for judgement in items for name in (*judgement.judges, *judgement.choices)})
    return Logged(
        _answers(items, people),
        tuple(_heard(name, items, judges) for name in names),
        np.array([SIGNS[judgement.label] for judgement in items]),
        digest.hexdigest(),
    )


def _answers(items: list[Judgement], scale: Scale) -> Answers:
    raters = tuple(sorted({name for judgement in items for name in judgement.people}))
    people = np.array([[judgement.people.get(name) for name in raters] for judgement in items], dtype=np.float64)
    samples = tuple(
        Sample(
            judgement.id,
            judgement.question or "",
            response=judgement.answer or "",
            system=judgement.system,
            cluster=judgement.cluster,
        )
        for judgement in items
    )
    clusters = tuple(judgement.cluster or judgement.id for judgement in items)
    return Answers(samples, clusters, raters, scale.share(people.reshape(len(items), len(raters))))


def _heard(name: str, items: list[Judgement], scale: Scale) -> Heard:
    given = [judgement.judges.get(name, ...) for judgement in items]
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
    picks = [judgement.choices.get(name) for judgement in items]
    choices = np.array([[SIGNS[each] for each in pick or (None, None)] for pick in picks]) if any(picks) else None
    return Heard(
        name,
        Sitting(scores, asked),
        np.vectorize(str, otypes=[object])(statuses),
        choices=choices,
        family=family(name),
        stand_in=asks_nobody(name),
    )
