"""Tables of answers, as people have them, to samples: JSON Lines, JSON, CSV, Parquet, mappings, data frames."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragbench.datasets.files import MAX_ROWS, DatasetError, parse_json
from ragbench.datasets.question_sets import flag
from ragbench.datasets.rows import cut, read_rows
from ragbench.types import Chunk, Sample

if TYPE_CHECKING:
    import pandas as pd

NAMES: dict[str, tuple[str, ...]] = {
    "id": ("id", "sample_id", "question_id"),
    "user_input": ("user_input", "question", "query"),
    "response": ("response", "answer"),
    "reference": ("reference", "ground_truth", "ground_truth_answer", "ground_truths"),
    "contexts": ("retrieved_contexts", "contexts"),
    "context_ids": ("retrieved_context_ids", "context_ids"),
    "reference_contexts": ("reference_contexts",),
    "reference_context_ids": ("reference_context_ids",),
    "rubric": ("rubric", "rubrics"),
    "language": ("language",),
    "cluster": ("cluster",),
    "system": ("system",),
    "shown": ("shown",),
}
"""What a field may be called, the present name first."""

_KNOWN = {name for names in NAMES.values() for name in names}


def read_samples(path: Path) -> list[Sample]:
    """The samples of a .jsonl, .json, .csv, .tsv or .parquet file, read as `ragbench.datasets.rows` reads them.

    An empty cell of a CSV file is an answer (a context, …) that was given and is empty; a column that is not there was
    not given. Raises DatasetError with file, line and field for what cannot be read.
    """
    rows = list(read_rows(path, keep_empty=True))
    found = []
    for (place, item), number in zip(rows, _numbers([item for _, item in rows]), strict=True):
        if item and not item.keys() & _KNOWN:
            legal = ", ".join(names[0] for names in NAMES.values())
            raise DatasetError(f"{place}: none of its fields ({', '.join(map(cut, item))[:200]}) is one of {legal}")
        found.append(_sample(item, place, number))
    return _unique(found)


def samples_of(
    given: Sample | Mapping[str, Any] | Iterable[Any] | pd.DataFrame, place: str = "samples"
) -> list[Sample]:
    """Samples out of one sample, one mapping, a list of either, or a data frame with one row a sample.

    Fields go by NAMES, so older names are understood too; None, NaN and a missing column are "not given", an empty text
    is empty. Samples without an id are numbered from 1: within each system where all systems answer the same questions
    in the same order, so that they are compared question by question, else over all rows. Raises DatasetError, naming
    row and field.
    """
    if isinstance(given, Sample):
        return [given]
    if isinstance(given, Mapping):
        return [_sample(given, place, 1)]
    if hasattr(given, "to_dict") and hasattr(given, "columns"):
        given = given.to_dict("records")
    given, found = list(given), []
    numbers = iter(_numbers([item for item in given if isinstance(item, Mapping)]))
    for row, item in enumerate(given, 1):
        if isinstance(item, Sample):
            found.append(item)
        elif isinstance(item, Mapping):
            found.append(_sample(item, f"{place}, row {row}", next(numbers)))
        else:
            raise DatasetError(f"{place}, row {row}: a sample is a Sample or a mapping, not {type(item).__name__}")
    return _unique(found)


def _unique(samples: Sequence[Sample]) -> list[Sample]:
    seen: set[tuple[str | None, str]] = set()
    for sample in samples:
        if (sample.system, sample.id) in seen:
            raise DatasetError(f"the id {sample.id!r} stands twice; ids name the samples of a system, once each")
        seen.add((sample.system, sample.id))
    if len(samples) > MAX_ROWS:
        raise DatasetError(f"more than {MAX_ROWS:,} samples; split them")
    return list(samples)


def _numbers(items: Sequence[Mapping[str, Any]]) -> Sequence[int]:
    """A number for each row, from 1; equal ones mean the same question; see `samples_of`."""
    asked: dict[str, list[Any]] = {}
    numbers = []
    for item in items:
        own = asked.setdefault(str(_first(item, NAMES["system"])), [])
        own.append(_first(item, NAMES["user_input"]))
        numbers.append(len(own))
    first = next(iter(asked.values()), [])
    return numbers if None not in first and all(own == first for own in asked.values()) else range(1, len(items) + 1)


def _sample(item: Mapping[str, Any], place: str, number: int) -> Sample:
    found = {field: _first(item, names) for field, names in NAMES.items()}

    def text(name: str) -> str | None:
        return _text(found[name], f"{place}, {name}")

    def label(name: str) -> str | None:
        return None if found[name] is None else str(found[name])

    return Sample(
        id=str(number) if found["id"] is None else str(found["id"]),
        user_input=text("user_input"),
        response=text("response"),
        reference=text("reference"),
        contexts=_chunks(found["contexts"], found["context_ids"], f"{place}, contexts"),
        reference_contexts=_chunks(
            found["reference_contexts"], found["reference_context_ids"], f"{place}, reference_contexts"
        ),
        rubric=_rubric(found["rubric"], place),
        language=label("language"),
        cluster=label("cluster"),
        system=label("system"),
        shown=_flag(found["shown"], place),
    )


def _flag(value: Any, place: str) -> bool | None:
    try:
        found: bool | None = flag(value)
    except ValueError:
        raise DatasetError(
            f"{place}, shown = {cut(value)}: true or false, yes or no, да or нет, 1 or 0 is expected"
        ) from None
    return found


def _first(item: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The first of the names that is there; NaN and None are not there."""
    for name in names:
        value = item.get(name)
        if value is not None and not (isinstance(value, float) and math.isnan(value)):
            return value.tolist() if hasattr(value, "tolist") else value
    return None


def _text(value: Any, place: str) -> str | None:
    if isinstance(value, list) and len(value) == 1:  # older tables hold a list of ground truths
        value = value[0]
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise DatasetError(f"{place}: a text is expected, found {type(value).__name__}")


def _chunks(value: Any, ids: Any, place: str) -> tuple[Chunk, ...] | None:
    names = _listed(ids)
    if value is None and names is None:
        return None
    texts = _listed(value)
    if texts is None:
        texts = [""] * len(names or ())
    if names is not None and len(names) != len(texts):
        raise DatasetError(f"{place}: {len(texts)} texts and {len(names)} identifiers; there is one for each")
    return tuple(_chunk(text, None if names is None else names[n], n, place) for n, text in enumerate(texts))


def _chunk(value: Any, identifier: Any, number: int, place: str) -> Chunk:
    if isinstance(value, Chunk):
        return value
    if isinstance(value, Mapping):
        identifier = value.get("id", identifier)
        value = value.get("text")
    if not isinstance(value, str):
        raise DatasetError(f"{place}[{number}]: a text, or an object with a text, is expected")
    return Chunk(str(number + 1) if identifier is None else str(identifier), value)


def _listed(value: Any) -> list[Any] | None:
    """A list as it is; out of a cell that holds one as JSON; one text as a list of one."""
    if value is None:
        return None
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            try:
                value = json.loads(value)
            except ValueError:
                return [value]
            return value if isinstance(value, list) else [value]
        return [value] if value.strip() else []
    return list(value)


def _rubric(value: Any, place: str) -> dict[int, str] | None:
    if isinstance(value, str) and value.strip():
        value = parse_json(value, f"{place}, rubric")
    if not value:
        return None
    if not isinstance(value, Mapping):
        raise DatasetError(f"{place}, rubric: an object from level to criteria is expected")
    try:
        return {_level(key): str(criteria) for key, criteria in value.items() if criteria is not None}
    except ValueError:
        raise DatasetError(f'{place}, rubric: levels are whole numbers, as in {{"1": "…", "5": "…"}}') from None


def _level(key: Any) -> int:
    """The level in 3, "3" or "score3_description"."""
    return int(str(key).removeprefix("score").removesuffix("_description"))
