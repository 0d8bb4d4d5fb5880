"""`ragbench significance`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import pandas as pd
import typer

from ragbench.cli.options import (
    Confidence,
    Draws,
    Json,
    LanguageCode,
    Latex,
    Metrics,
    Out,
    Primary,
    Seed,
    split_list,
)
from ragbench.cli.output import deliver
from ragbench.core.errors import BenchError, suggest
from ragbench.core.metric import parse_label

if TYPE_CHECKING:
    from ragbench.extras.tables.results import TableResult
    from ragbench.stats import Scale

# What costs time or money, though the catalogue has no such metric.
LOWER = ("latency", "latency_ms", "cost")


def main(
    files: Annotated[list[Path], typer.Argument(help="Tables of scores; the first: baseline.")],
    metrics: Metrics = [],  # noqa: B006  typer reads it
    item: Annotated[str, typer.Option("--id", help="Column of the questions' ids.")] = "",
    unit: Annotated[str, typer.Option(help="Column of what was drawn independently.")] = "",
    better: Annotated[
        list[str] | None,
        typer.Option("--better", help="METRIC=higher or lower, of metrics nobody knows."),
    ] = None,
    primary: Primary = "",
    out: Out = None,
    json_file: Json = None,
    latex: Latex = None,
    language: LanguageCode = "en",
    confidence: Confidence = 0.95,
    draws: Draws = 10_000,
    seed: Seed = 0,
) -> None:
    """Say whether a table of scores is better than another, question by question.

    Each file has a row a question and a column a metric. Which end of a metric is good is known of
    those in `ragbench metrics`; of others --better says it.

    Example: `ragbench significance v1.csv v2.csv --id question --better latency=lower`
    """
    options = {
        "primary": primary,
        "language": language,
        "level": confidence,
        "draws": draws,
        "seed": seed,
    }
    directions = read_directions(better or [])
    result = compare_tables(files, split_list(metrics), directions, item, unit, options)
    deliver(result, out=out, json_file=json_file, latex=latex)


def read_directions(entries: Sequence[str]) -> dict[str, str]:
    """Read METRIC=lower."""
    directions = {}
    for entry in split_list(entries):
        metric, _, word = entry.partition("=")
        if word not in ("higher", "lower", "describes"):
            raise BenchError(f"--better {entry}: write METRIC=higher or METRIC=lower")
        directions[metric] = word
    return directions


def compare_tables(
    files: Sequence[Path],
    metrics: Sequence[str],
    directions: dict[str, str],
    item: str,
    unit: str,
    options: dict[str, object],
) -> TableResult:
    """Join tables by id and state them. Raises BenchError for fewer than two."""
    from ragbench.extras.tables.reading import read_scores
    from ragbench.extras.tables.results import Significance, make_scores, state_table
    from ragbench.tiers.common import About

    if len(files) < 2:
        raise BenchError("name two tables: the baseline, and what is compared with it")
    tables = {path.stem: read_scores(path, item, unit) for path in files}
    if len(tables) < len(files):
        raise BenchError("two tables have one name: rename a file")
    notes = []
    for name, table in tables.items():
        notes += [f"{name}: {column} is left out: {why}" for column, why in left_out(table).items()]
    first = next(iter(tables.values()))
    shared = [column for column in first.columns if all(column in t for t in tables.values())]
    chosen = choose_columns(metrics, shared)
    unit_by_id: dict[str, str] = {}
    for name, table in tables.items():
        notes += only_here(name, table.index, first.index)
        unit_by_id = {**table.attrs["units"], **unit_by_id}
    units = pd.Series(unit_by_id)
    # A question that a table lacks was not asked there: it makes no pair.
    values = {(name, metric): table[metric] for metric in chosen for name, table in tables.items()}
    scales = find_directions(chosen, directions)
    about = About(", ".join(path.name for path in files), notes=tuple(notes))
    scores = make_scores(values, units)
    return state_table(Significance, scores, options, about=about, scales=scales)


def left_out(table: pd.DataFrame) -> dict[str, str]:
    """Return the columns that hold no numbers, and why."""
    return dict(table.attrs.get("left_out", {}))


def choose_columns(metrics: Sequence[str], shared: Sequence[str]) -> list[str]:
    """Return the columns that are compared. Raises BenchError for one that is not in all tables."""
    for name in metrics:
        if name not in shared:
            hint = suggest(name, shared) or f"; all tables have {', '.join(shared)}"
            raise BenchError(f"no column of numbers {name!r} in all tables{hint}")
    if not shared:
        raise BenchError("the tables share no column of numbers")
    return list(metrics) or list(shared)


def only_here(name: str, index: pd.Index, known: pd.Index) -> list[str]:
    """Say how many questions a table lacks, or has alone. Raises BenchError where none is shared.

    known: of the first table.
    """
    if known.intersection(index).empty:
        raise BenchError(
            f"{name} shares no question with the first table: it has {index[0]!r}, the first "
            f"{known[0]!r}; --id names the column of ids"
        )
    n_missing = len(known.difference(index))
    n_new = len(index.difference(known))
    notes = []
    if n_missing:
        notes.append(f"{name} lacks {n_missing} questions")
    if n_new:
        notes.append(f"{name} alone has {n_new} questions")
    return notes


def find_directions(metrics: Sequence[str], directions: dict[str, str]) -> dict[str, Scale]:
    """Return the scales of metrics: as said, or of the catalogue. Raises BenchError without."""
    from ragbench.stats import Scale

    scales = {}
    unknown = []
    for name in metrics:
        direction = directions.get(name) or ("lower" if name.lower() in LOWER else "")
        if direction:
            scales[name] = Scale(direction)
            continue
        try:
            metric = parse_label(name)
        except BenchError:
            unknown.append(name)
            continue
        scales[name] = Scale(metric.better, *metric.bounds)
    if unknown:
        options = " ".join(f"--better {name}=lower" for name in unknown)
        raise BenchError(
            f"is higher or lower better of {', '.join(unknown)}? Say it, for example: {options}"
        )
    return scales
