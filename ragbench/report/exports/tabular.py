"""A run's numbers as tables for other programs: CSV that no spreadsheet executes, Parquet, JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragbench.measurement import ESTIMATE_COLUMNS, SCORE_COLUMNS, Measurement, write_table
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


def estimates(measurements: Mapping[str, Measurement]) -> pd.DataFrame:
    """One row a notebook, system and metric."""
    import pandas as pd

    rows = [
        {"notebook": name, "system": e.system, "metric": e.metric, **_flat(asdict(e.estimate))}
        for name, made in measurements.items()
        for e in made.estimates
    ]
    return pd.DataFrame(rows, columns=None if rows else ["notebook", "system", "metric", *ESTIMATE_COLUMNS])


def comparisons(measurements: Mapping[str, Measurement]) -> pd.DataFrame:
    """One row a notebook, metric and pair of systems."""
    import pandas as pd

    rows = [
        {"notebook": name, "metric": c.metric, **_flat(asdict(c.comparison)), "verdict": str(c.comparison.verdict)}
        for name, made in measurements.items()
        for c in made.comparisons
    ]
    return pd.DataFrame(rows, columns=None if rows else ["notebook", "metric", *results.COMPARISON])


def scores(measurements: Mapping[str, Measurement]) -> pd.DataFrame:
    """One row a notebook, system, metric and question."""
    import pandas as pd

    tables = [made.scores.assign(notebook=name) for name, made in measurements.items() if len(made.scores)]
    if not tables:
        return pd.DataFrame(columns=["notebook", *SCORE_COLUMNS])
    table = pd.concat(tables, ignore_index=True)
    return table[["notebook", *(column for column in table.columns if column != "notebook")]]


def write(folder: Path, measurements: Mapping[str, Measurement], *, raw: bool = False) -> None:
    """Scores, estimates and comparisons as CSV and as Parquet, and both summaries as one JSON file."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in (
        ("scores", scores(measurements)),
        ("estimates", estimates(measurements)),
        ("comparisons", comparisons(measurements)),
    ):
        write_csv(folder / f"{name}.csv", table, raw=raw)
        write_table(folder / f"{name}.parquet", table)
    found = {
        "estimates": [
            {"notebook": name, "system": e.system, "metric": e.metric, **asdict(e.estimate)}
            for name, made in measurements.items()
            for e in made.estimates
        ],
        "comparisons": [
            {"notebook": name, "metric": c.metric, **asdict(c.comparison), "verdict": str(c.comparison.verdict)}
            for name, made in measurements.items()
            for c in made.comparisons
        ],
        **results.stood_in(measurements),
    }
    results.write_json(folder / results.SUMMARY, found)


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Without what no cell can hold."""
    return {key: value for key, value in row.items() if not isinstance(value, Mapping)}
