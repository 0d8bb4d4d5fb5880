"""`ragbench agree` and `ragbench significance`: the statistics alone, for tables that come from elsewhere."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from pandas import DataFrame

    from ragbench.types import Comparison, Estimate

READERS = (".csv", ".tsv", ".jsonl", ".parquet")
NOT_MEASURED = {"", "nan", "na", "null", "none"}
MOST_PAIRS = 15


class Scale(StrEnum):
    """What the values are: names, ranks, or numbers with meaningful distances."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"


Level = Annotated[float, typer.Option(help="Nominal coverage of the intervals.")]
Resamples = Annotated[int, typer.Option(help="Bootstrap samples and randomizations.", min=100)]
Seed = Annotated[int, typer.Option(help="The same seed gives the same bytes.", min=0)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON: value, low, high, n and method of each statistic.")]


def agree(
    table: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="CSV, TSV, JSONL or Parquet.")],
    item: Annotated[str, typer.Option(help="Column with the item that was rated.")] = "item",
    rater: Annotated[str, typer.Option(help="Column with who rated it.")] = "rater",
    value: Annotated[str, typer.Option(help="Column with the rating; empty where none was made.")] = "value",
    scale: Annotated[Scale, typer.Option(help="nominal: names; ordinal: ranks; interval: numbers.")] = Scale.NOMINAL,
    truth: Annotated[
        str | None, typer.Option(help="The rater whose ratings hold the truth (of two); else the first one.")
    ] = None,
    categories: Annotated[
        str | None, typer.Option(help="All categories in their order, comma-separated, if they do not sort themselves.")
    ] = None,
    cluster: Annotated[str | None, typer.Option(help="Column with the group an item belongs to (dialogue).")] = None,
    level: Level = 0.95,
    resamples: Resamples = 10_000,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """How far raters agree, from a table with one row a rating.

    Two raters: accuracy, κ, AC1, α and, as the scale allows, weighted κ, AC2, ICC, correlations and bias.
    More raters: Krippendorff's α, Fleiss' κ and ICC over all of them; with --json every pair too.

    Example: `ragbench agree ratings.csv --item item --rater rater --value score --scale ordinal`
    """
    from ragbench import stats

    frame = read_table(table, [item, rater, value, *([cluster] if cluster else [])])
    order = _categories(categories, scale)
    items, raters, grid = _grid(frame, table, item, rater, value, scale, order)
    if len(raters) < 2:
        raise ValueError(f"{table}: column {rater!r} names {len(raters)} rater; agreement needs two at least")
    if truth is not None:
        if truth not in raters:
            raise ValueError(f"--truth is one of the raters in column {rater!r}: {', '.join(raters)}; got {truth!r}")
        raters = [truth, *(name for name in raters if name != truth)]
    groups = _groups(frame, item, cluster, items) if cluster else None
    options: dict[str, Any] = {"clusters": groups, "level": level, "resamples": resamples, "seed": seed}
    rows = [[grid.get((one, name)) for name in raters] for one in items]
    found: dict[str, Estimate] = {}
    if len(raters) == 2:
        sides = list(zip(*rows, strict=True))
        found = stats.agreement(sides[0], sides[1], scale=scale.value, categories=order, **options)
    else:
        found["krippendorff_alpha"] = stats.krippendorff_alpha(rows, scale=scale.value, categories=order, **options)
        if scale is not Scale.INTERVAL:
            found["fleiss_kappa"] = stats.fleiss_kappa(rows, categories=order, **options)
        if scale is not Scale.NOMINAL and not any(isinstance(cell, str) for row in rows for cell in row):
            found["icc"] = stats.icc([[math.nan if cell is None else cell for cell in row] for row in rows], **options)
    report: dict[str, Any] = {
        "scale": scale.value, "items": len(items), "raters": raters,
        "statistics": {name: _estimate(one) for name, one in found.items()},
    }  # fmt: skip
    if len(raters) > 2:
        report["pairs"] = _pairs(rows, raters, scale, order, options)
    if as_json:
        typer.echo(_json(report))
        return
    typer.echo(f"{len(items)} items, raters {', '.join(raters)}, {scale.value} scale")
    for name, one in found.items():
        typer.echo(_line(name, one))


def significance(
    baseline: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Scores of the baseline.")],
    challenger: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Scores of the challenger.")],
    id_column: Annotated[str, typer.Option("--id", help="Column with the question, in both files.")] = "id",
    metric: Annotated[
        list[str] | None, typer.Option(help="Columns to compare; else every column of numbers that both files have.")
    ] = None,
    lower: Annotated[
        list[str] | None, typer.Option("--lower-is-better", help="Metrics where less is better, such as latency.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Column of the baseline's file with each question's group (dialogue).")
    ] = None,
    margin: Annotated[
        float | None, typer.Option(help="Largest difference that would not matter; tests for equivalence too.")
    ] = None,
    level: Level = 0.95,
    resamples: Resamples = 10_000,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Is the challenger better, question by question? Both files have one row a question and a column a metric.

    Example: `ragbench significance v1.csv v2.csv --id question --lower-is-better latency_ms`
    """
    from ragbench import stats

    first = read_table(baseline, [id_column, *(metric or ()), *([cluster] if cluster else [])])
    second = read_table(challenger, [id_column, *(metric or ())])
    names = _metrics(first, second, metric, {id_column, cluster}, baseline, challenger)
    strange = sorted(set(lower or ()) - set(names))
    if strange:
        raise ValueError(f"--lower-is-better {', '.join(strange)}: not among the compared metrics {', '.join(names)}")
    places = [_places(frame, path, id_column) for frame, path in ((first, baseline), (second, challenger))]
    ids = [one for one in places[0] if one in places[1]]
    if not ids:
        raise ValueError(f"{baseline} and {challenger} share no value of column {id_column!r}")
    unmatched = len(places[0]) + len(places[1]) - 2 * len(ids)
    sides = []
    for frame, path, place in ((first, baseline, places[0]), (second, challenger, places[1])):
        rows = [place[one] for one in ids]
        sides.append({name: _numbers(frame[name].tolist(), path, name)[rows] for name in names})
    groups = None
    if cluster:
        labels = first[cluster].tolist()
        groups = [_label(labels[places[0][one]]) for one in ids]
    found = stats.compare_metrics(
        sides[0], sides[1], clusters=groups, better={n: "lower" if n in (lower or ()) else "higher" for n in names},
        margin=margin, level=level, resamples=resamples, seed=seed, names=(baseline.stem, challenger.stem),
    )  # fmt: skip
    adjusted = dict(zip(names, stats.adjust([found[name] for name in names]), strict=True))
    if as_json:
        report = {
            "baseline": str(baseline), "challenger": str(challenger), "questions": len(ids), "unmatched": unmatched,
            "statistics": {name: _comparison(one) for name, one in adjusted.items()},
        }  # fmt: skip
        typer.echo(_json(report))
        return
    typer.echo(f"{len(ids)} questions in both files, {unmatched} in one only; {challenger.stem} − {baseline.stem}:")
    for name, one in adjusted.items():
        typer.echo(_line_of_comparison(name, one))


def read_table(path: Path, needed: Sequence[str]) -> DataFrame:
    """A table with its cells as they are written; a ValueError names a missing column and the columns there are."""
    import pandas

    from ragbench.datasets.rows import parquet_rows

    kind = path.suffix.lower()
    if kind not in READERS:
        raise ValueError(f"{path}: a table is a file of {', '.join(READERS)}; got {kind or 'no suffix'!r}")
    if kind == ".parquet":
        frame = pandas.DataFrame(parquet_rows(path))
    elif kind == ".jsonl":
        frame = pandas.DataFrame(_records(path), dtype=object)
    else:
        separator = "\t" if kind == ".tsv" else ","
        try:
            frame = pandas.read_csv(path, sep=separator, dtype=str, keep_default_na=False, encoding="utf-8-sig")
        except (pandas.errors.ParserError, pandas.errors.EmptyDataError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is not a UTF-8 table with one header line: {error}") from error
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise ValueError(
            f"{path} has no column {', '.join(missing)}; its columns: {', '.join(map(str, frame.columns))}"
        )
    return frame


def _records(path: Path) -> list[dict[str, Any]]:
    found = []
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8: {error.reason} at byte {error.start}") from None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"{path}, line {number}: not JSON ({error})") from error
        if not isinstance(record, dict):
            raise ValueError(f"{path}, line {number}: a line holds one object with the columns' names; got {line[:40]}")
        found.append(record)
    return found


def _label(cell: Any) -> str | None:
    missing = cell is None or cell != cell or cell == ""
    return None if missing else str(cell)


def _numbers(cells: list[Any], path: Path, column: str) -> Any:
    """The cells as floats, NaN where nothing was measured; a ValueError names the first cell that is no number."""
    import numpy as np

    found = np.empty(len(cells))
    for row, cell in enumerate(cells):
        blank = cell is None or (isinstance(cell, str) and cell.strip().lower() in NOT_MEASURED)
        try:
            found[row] = math.nan if blank else float(cell)
        except (TypeError, ValueError):
            found[row] = math.inf
        if math.isinf(found[row]):
            raise ValueError(
                f"{path}, column {column!r}, row {row + 1}: {cell!r} is not a finite number; "
                "leave the cell empty where nothing was measured"
            )
    return found


def _categories(text: str | None, scale: Scale) -> list[Any] | None:
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if scale is Scale.INTERVAL:
        raise ValueError("--categories belongs to nominal and ordinal scales; an interval scale is numbers")
    return names


def _grid(
    frame: DataFrame, path: Path, item: str, rater: str, value: str, scale: Scale, categories: list[Any] | None
) -> tuple[list[str], list[str], dict[tuple[str, str], Any]]:
    """Items, raters in the order of the file, and the rating of each pair."""
    items, raters = ([_label(cell) for cell in frame[column].tolist()] for column in (item, rater))
    cells: list[Any] = frame[value].tolist()
    if scale is Scale.INTERVAL or (scale is Scale.ORDINAL and categories is None):
        cells = [None if math.isnan(number) else number for number in _numbers(cells, path, value).tolist()]
    else:
        cells = [_label(cell) for cell in cells]
        for row, cell in enumerate(cells):
            if categories is not None and cell is not None and cell not in categories:
                legal = ", ".join(categories)
                raise ValueError(f"{path}, column {value!r}, row {row + 1}: {cell!r} is not one of {legal}")
    grid: dict[tuple[str, str], Any] = {}
    for row, (one, who, cell) in enumerate(zip(items, raters, cells, strict=True), 1):
        if one is None or who is None:
            raise ValueError(f"{path}, row {row}: columns {item!r} and {rater!r} must name the item and the rater")
        if (one, who) in grid:
            raise ValueError(f"{path}, row {row}: rater {who!r} rates item {one!r} a second time; keep one row")
        grid[one, who] = cell
    return list(dict.fromkeys(i for i, _ in grid)), list(dict.fromkeys(r for _, r in grid)), grid


def _groups(frame: DataFrame, item: str, cluster: str, items: list[str]) -> list[str | None]:
    known = {
        _label(one): _label(group) for one, group in zip(frame[item].tolist(), frame[cluster].tolist(), strict=True)
    }
    return [known[one] for one in items]


def _pairs(
    rows: list[list[Any]], raters: list[str], scale: Scale, order: list[Any] | None, options: dict[str, Any]
) -> list[dict[str, Any]]:
    from itertools import combinations, islice

    from ragbench import stats

    found = []
    for i, j in islice(combinations(range(len(raters)), 2), MOST_PAIRS):
        sides = [[row[k] for row in rows] for k in (i, j)]
        one = stats.agreement(sides[0], sides[1], scale=scale.value, categories=order, **options)
        found.append({"raters": [raters[i], raters[j]], "statistics": {k: _estimate(e) for k, e in one.items()}})
    return found


def _metrics(
    first: DataFrame, second: DataFrame, asked: list[str] | None, taken: set[str | None], *paths: Path
) -> list[str]:
    if asked:
        return list(dict.fromkeys(asked))
    shared = [str(name) for name in first.columns if name in second.columns and name not in taken]
    found = [name for name in shared if _is_numeric(first[name].tolist()) and _is_numeric(second[name].tolist())]
    if not found:
        raise ValueError(f"{paths[0]} and {paths[1]} share no column of numbers; shared: {', '.join(shared) or 'none'}")
    return found


def _is_numeric(cells: list[Any]) -> bool:
    try:
        _numbers(cells, Path(), "")
    except ValueError:
        return False
    return True


def _places(frame: DataFrame, path: Path, column: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for row, cell in enumerate(frame[column].tolist()):
        name = _label(cell)
        if name is None:
            raise ValueError(f"{path}, column {column!r}, row {row + 1} is empty: every question needs its id")
        if name in found:
            raise ValueError(
                f"{path}, column {column!r}: {name!r} is in rows {found[name] + 1} and {row + 1}; keep one"
            )
        found[name] = row
    return found


def _estimate(one: Estimate) -> dict[str, Any]:
    return asdict(one)


def _comparison(one: Comparison) -> dict[str, Any]:
    return {"value": one.difference} | asdict(one)


def _json(report: dict[str, Any]) -> str:
    return json.dumps(_finite(report), ensure_ascii=False, indent=2, allow_nan=False)


def _finite(node: Any) -> Any:
    """The same tree with null for NaN: JSON knows no NaN."""
    if isinstance(node, dict):
        return {key: _finite(one) for key, one in node.items()}
    if isinstance(node, list | tuple):
        return [_finite(one) for one in node]
    return None if isinstance(node, float) and math.isnan(node) else node


def _line(name: str, one: Estimate) -> str:
    ends = "no interval" if one.low is None or one.high is None else f"[{one.low:.3f}, {one.high:.3f}] {one.method}"
    return f"  {name:24s} {one.value:7.3f}  {ends}  n = {one.n}" + (f" ({one.note})" if one.note else "")


def _line_of_comparison(name: str, one: Comparison) -> str:
    shown = f"{name:24s} {one.difference:+.4f}  [{one.low:+.4f}, {one.high:+.4f}] {one.method}"
    p = math.nan if one.p_adjusted is None else one.p_adjusted
    power = "" if one.minimum_detectable is None else f", {one.n} questions show {one.minimum_detectable:.4f}"
    return f"  {shown}  p = {one.p:.4f}, adjusted {p:.4f}  {one.verdict}{power}"
