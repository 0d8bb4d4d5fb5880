"""People's labels on some answers: what annotators said, read out of files and guarded for spreadsheets."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ragbench.core.settings import urls
from ragbench.data import DatasetError, places
from ragbench.data.rows import checked, read_rows
from ragbench.data.samples import streamed
from ragbench.data.spreadsheets import plain
from ragbench.data.vocabulary import Columns
from ragbench.tiers.basics.choices import BenchError

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("id", "system", "metric", "annotator", "value")
NOTE = "note"
"""A column beside them, which corrects nothing."""
CALLED = {"rater": "annotator"}
"""What fields of the vocabulary are called here."""
SETTLED = "settled"
"""The annotator of what people have settled among themselves: on its answers nobody else's label counts."""


class Label(BaseModel):
    """What one annotator says of one answer on one metric's scale, with a note; without a value it is not answered.

    system: of whom the answer is; None where the page has one, or where several judges judged the same answer.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str
    metric: str
    value: float | None = Field(default=None, allow_inf_nan=False)
    system: str | None = None
    annotator: str = "people"
    note: str = ""

    @field_validator("id", "metric", "system", "annotator", "note", mode="before")
    @classmethod
    def _unprefixed(cls, value: Any) -> Any:
        return plain(str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else value


def read(path: Path | str) -> pd.DataFrame:
    """The labels of a file (CSV, JSON Lines, JSON, Parquet) as COLUMNS and NOTE; rows without a value are left out.

    path: several files are comma-separated; a relative one is looked for beside ragbench.toml, a URL is read.
    `METRIC=FILE` says which metric the labels of a file are of that does not say it: a table of answers with a column
    of labels is one. Raises BenchError naming file, row, field and value.
    """
    import pandas as pd

    rows, seen = [], set()
    named = path.split(",") if isinstance(path, str) else [path]
    for name in (str(part).strip() for part in named):
        metric, _, file = ("", "", name) if urls.is_url(name) else name.rpartition("=")
        place = places.file(file)
        try:
            for where, given in _given(place, metric):
                label = checked(Label, given, where)
                if label.value is None:
                    continue
                key = (label.id, label.system, label.metric, label.annotator)
                if key in seen:
                    raise BenchError(f"{where}: {label.annotator} labels {label.id} on {label.metric} a second time")
                seen.add(key)
                rows.append((label.id, label.system, label.metric, label.annotator, label.value, label.note))
        except DatasetError as error:
            raise BenchError(f"labels = {place.name!r}: {error}") from None
    if not rows:
        raise BenchError(f"labels = {path!s}: no row has a value; the columns are {', '.join(COLUMNS)}")
    return pd.DataFrame(rows, columns=[*COLUMNS, NOTE])


def _given(path: Path, metric: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The fields of each label, and where it stands: of a file of labels, or of a table of answers with labels."""
    known = Columns(only=("id", "system", "metric", "rater", "value", "note", "response"))
    rows = ((where, row, known.of(row, where)) for where, row in read_rows(path))
    first = next(rows, None)
    if first is None:
        return
    if "response" not in known.read or "metric" in known.read:
        for where, row, told in itertools.chain([first], rows):
            fields = {CALLED.get(name, name): value for name, value in told.items() if name != "response"}
            yield where, {**({"metric": metric} if metric else {}), **fields} or row
        return
    for where, sample in streamed(path, ratings=True):
        if sample.labels and not metric:
            raise DatasetError(f"{where}: nothing says which metric its labels are of; say it: METRIC={path.name}")
        for rater, value in (sample.labels or {}).items():
            who = {"id": sample.id, "system": sample.system, "annotator": rater}
            yield where, {**who, "metric": metric, "value": value}
