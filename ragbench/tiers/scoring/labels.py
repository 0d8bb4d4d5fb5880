"""People's labels on some answers: what annotators said, read out of files and guarded for spreadsheets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ragbench.data import DatasetError, places
from ragbench.data.rows import checked, read_rows
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

    path: several files are comma-separated; a relative one is looked for beside ragbench.toml, a URL is read. Raises
    BenchError naming file, row, field and value.
    """
    import pandas as pd

    rows, seen = [], set()
    named = path.split(",") if isinstance(path, str) else [path]
    for name in (str(part).strip() for part in named):
        place = places.file(name)
        try:
            known = Columns(only=("id", "system", "metric", "rater", "value", "note"))
            for where, row in read_rows(place):
                told = known.of(row, where)
                label = checked(Label, {CALLED.get(name, name): value for name, value in told.items()} or row, where)
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
