"""A run's numbers as tables for other programs: CSV that no spreadsheet executes, Parquet, JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragbench.measurement import Measurement, without_rows, write_table
from ragbench.report.keeping import files, results
from ragbench.settings import secrets

if TYPE_CHECKING:
    import pandas as pd

ACTIVE = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet takes for the beginning of a formula, the full-width signs of East Asian programs among it."""


def inert(cell: Any) -> Any:
    """A text that a spreadsheet would take for a formula with an apostrophe before it; anything else as it is.

    White space before the sign does not help: programs strip it.
    """
    if not isinstance(cell, str):
        return cell
    return f"'{cell}" if cell.startswith(ACTIVE) or cell.lstrip().startswith(ACTIVE) else cell


def write_csv(path: Path, table: pd.DataFrame, *, raw: bool = False) -> None:
    """A whole CSV file in UTF-8 (RFC 4180); texts made inert unless `raw`, numbers always numbers.

    Lines end with both signs, so that a text with either of them is quoted: unquoted, a carriage return would begin a
    line, and what follows it a cell.
    """
    known = secrets.masked_table(table, secrets.exact_masker())
    safe = known if raw else known.apply(lambda column: column.map(inert)).rename(columns=inert)
    files.write_by(path, lambda temporary: safe.to_csv(temporary, index=False, lineterminator="\r\n"))


def write(folder: Path, measurements: Mapping[str, Measurement], *, raw: bool = False) -> None:
    """Scores, estimates and comparisons as CSV and as Parquet, and both summaries as one JSON file."""
    import pandas as pd

    folder.mkdir(parents=True, exist_ok=True)
    found = results.findings(measurements)
    tables = {"scores": results.scores(measurements)}
    for name, rows in found.items():
        flat = [{key: value for key, value in row.items() if not isinstance(value, Mapping)} for row in rows]
        tables[name] = pd.DataFrame(flat) if flat else without_rows(results.SHOWN[name])
    for name, table in tables.items():
        write_csv(folder / f"{name}.csv", table, raw=raw)
        write_table(folder / f"{name}.parquet", table)
    results.write_json(folder / results.SUMMARY, {**found, **results.stood_in(measurements)})
