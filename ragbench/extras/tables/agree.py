"""`ragbench agree`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from ragbench.cli.options import Confidence, Draws, Json, Latex, Out, Seed, split_list
from ragbench.cli.output import print_frame, say, write_json, write_text
from ragbench.core.errors import BenchError, suggest
from ragbench.core.language import load_language


def main(
    file: Annotated[Path, typer.Argument(help="A column a rater, or a row a rating.")],
    raters: Annotated[
        list[str] | None, typer.Option("--raters", help="Columns of raters, comma-separated.")
    ] = None,
    item: Annotated[str, typer.Option(help="Column of what was rated.")] = "",
    rater: Annotated[str, typer.Option(help="Column of who rated, where a row is a rating.")] = "",
    value: Annotated[str, typer.Option(help="Column of the ratings.")] = "",
    scale: Annotated[
        list[str] | None, typer.Option("--scale", help="All levels from the worst: 1,2,3,4,5.")
    ] = None,
    measure: Annotated[
        str, typer.Option("--primary", help="The coefficient that answers; else Krippendorff's.")
    ] = "",
    out: Out = None,
    json_file: Json = None,
    latex: Latex = None,
    confidence: Confidence = 0.95,
    draws: Draws = 10_000,
    seed: Seed = 0,
) -> None:
    """Say how far raters agree: of all together, and pair by pair.

    Empty cells, NA, null and - are missing ratings, and are counted.

    Example: `ragbench agree ratings.csv --raters anna,boris --scale 1,2,3,4,5`
    """
    from ragbench.extras.tables.reading import read_ratings
    from ragbench.stats import Confidence as Options

    ratings = read_ratings(file, item, rater, value, split_list(raters or []))
    ratings, n_missing = clean(ratings)
    note = name_look_alikes(ratings)
    if note:
        say(note)
    levels = read_scale(scale)
    options = Options(confidence, draws, seed)
    table = agreement_table(ratings, levels, options)
    print(sentence(table, measure, n_missing, ratings))
    shown = readable(table)
    print_frame(shown)
    if json_file is not None:
        write_json(json_file, {"agreement": table, "n_missing": n_missing})
    if latex is not None:
        from ragbench.report.parts import Part

        write_text(latex, Part(shown.set_index("raters")).to_latex("agreement"))
    if out is not None:
        print(save_page(shown, sentence(table, measure, n_missing, ratings), out))


def clean(ratings: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Return the ratings with numbers as numbers and missing ones as NaN; and how many miss."""

    def read_cell(cell: Any) -> object:
        if pd.isna(cell):
            return None
        try:
            return float(cell.replace(",", "."))
        except ValueError:
            return cell

    cleaned = ratings.map(read_cell).astype(object)
    return cleaned, int(cleaned.isna().to_numpy().sum())


def read_scale(entries: Sequence[str] | None) -> list[object] | None:
    """Read the levels of a scale, from the worst to the best."""
    if not entries:
        return None
    levels: list[object] = []
    for entry in split_list(entries):
        try:
            levels.append(float(entry))
        except ValueError:
            levels.append(entry)
    if len(levels) < 2:
        raise BenchError(f"--scale {levels[0]}: list all levels, from the worst: 1,2,3,4,5")
    return levels


def name_look_alikes(ratings: pd.DataFrame) -> str:
    """Say which ratings differ by their letters' case alone; "" where none do."""
    by_word: dict[str, set[str]] = {}
    for rating in ratings.to_numpy().ravel():
        if isinstance(rating, str):
            by_word.setdefault(rating.casefold(), set()).add(rating)
    alike = [" and ".join(sorted(words)) for words in by_word.values() if len(words) > 1]
    return f"{', '.join(alike)} count as different ratings; write them alike" if alike else ""


def agreement_table(
    ratings: pd.DataFrame, scale: Sequence[object] | None, confidence: object
) -> pd.DataFrame:
    """Return a row a coefficient, of all raters together and of every pair."""
    from ragbench.stats.agreement import agreement, agreement_of_people

    names = list(ratings.columns)
    if len(names) < 2:
        raise BenchError(f"one rater, {', '.join(names)}: agreement needs two")
    parts = [
        agreement_of_people(ratings.to_numpy(), scale=scale, confidence=confidence).assign(  # type: ignore[arg-type]
            raters="all"
        )
    ]
    for first, second in combinations(names, 2):
        frame = agreement(
            ratings[second].to_numpy(),
            ratings[first].to_numpy(),
            scale=scale,
            confidence=confidence,  # type: ignore[arg-type]
        )
        parts.append(frame.assign(raters=f"{first} · {second}"))
    return pd.concat(parts, ignore_index=True)


def sentence(table: pd.DataFrame, measure: str, n_missing: int, ratings: pd.DataFrame) -> str:
    """Say how far raters agree by the coefficient that answers."""
    names = table["measure"].unique().tolist()
    # Of several levels of measurement the last is the richest that these ratings allow.
    alphas = [name for name in names if name.startswith("alpha_")]
    matching = [name for name in names if name == measure] if measure else alphas[-1:]
    if not matching:
        hint = suggest(measure, names) or f"; there are {', '.join(names)}"
        raise BenchError(f"no coefficient {measure!r}{hint}")
    row = table[table["measure"] == matching[0]].iloc[0]
    number = load_language("en").interval(row["value"], row["low"], row["high"])
    missing = f", {n_missing} ratings are missing" if n_missing else ""
    return (
        f"{len(ratings.columns)} raters on {len(ratings)} items: {matching[0]} {number}{missing}."
    )


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """Return the coefficients as a table for people."""
    language = load_language("en")
    return pd.DataFrame(
        {
            "raters": table["raters"].tolist(),
            "measure": table["measure"].tolist(),
            "value": [
                language.interval(row.value, row.low, row.high) for row in table.itertuples()
            ],
            "n": [str(n) for n in table["n"]],
        }
    )


def save_page(shown: pd.DataFrame, finding: str, out: Path) -> Path:
    """Write the page."""
    from ragbench.report.page import Page
    from ragbench.report.parts import Part

    parts = [Part(finding, style="finding"), Part(shown.set_index("raters"), title="All numbers")]
    return Page("How far do the raters agree?", parts).save(out / "agreement.html")
