"""A run's numbers as tables for other programs: CSV that no spreadsheet executes, Parquet, JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ragbench.measurement import COMPARISON_ROW, ESTIMATE_ROW, Measurement, write_table
from ragbench.report.keeping import files, results
from ragbench.settings import secrets
from ragbench.tables import Column, Table

if TYPE_CHECKING:
    import pandas as pd


def write_csv(path: Path, table: pd.DataFrame, *, raw: bool = False) -> None:
    """A whole CSV file in UTF-8 without secrets, as `Table.write_csv` writes it."""
    known = secrets.masked_table(table, secrets.exact_masker()).astype(object)
    rows = known.where(known.notna(), None).itertuples(index=False, name=None)
    made = Table(tuple(Column(str(name)) for name in known.columns), tuple(rows))

    def fill(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8", newline="") as out:
            made.write_csv(out, raw=raw)

    files.write_by(path, fill)


def write(folder: Path, measurements: Mapping[str, Measurement], *, raw: bool = False) -> None:
    """Scores, estimates, comparisons and each page's own tables as CSV and as Parquet; both summaries as one JSON."""
    import pandas as pd

    folder.mkdir(parents=True, exist_ok=True)
    found = results.findings(measurements)
    scores = results.scores(measurements)
    write_csv(folder / "scores.csv", scores, raw=raw)
    write_table(folder / "scores.parquet", scores)
    for name, columns in (("estimates", ESTIMATE_ROW), ("comparisons", COMPARISON_ROW)):
        # as objects, so that a count stays a whole number where another row has none
        table = pd.DataFrame(found[name], columns=["notebook", *columns], dtype=object)
        write_csv(folder / f"{name}.csv", table, raw=raw)
        write_table(folder / f"{name}.parquet", table.infer_objects())
    for name, own in ((name, own) for made in measurements.values() for name, own in made.tables.items()):
        write_csv(folder / f"{name}.csv", own, raw=raw)
        write_table(folder / f"{name}.parquet", own)
    results.write_json(folder / results.SUMMARY, {**found, **results.stood_in(measurements)})
