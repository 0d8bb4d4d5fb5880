"""`ragbench score`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragbench.cli.options import (
    Baseline,
    Columns,
    Confidence,
    Draws,
    Embedder,
    Json,
    Judges,
    LanguageCode,
    Limit,
    Metrics,
    Out,
    Plan,
    Primary,
    Seed,
    Systems,
    read_columns,
    split_list,
)
from ragbench.cli.output import say, write_json
from ragbench.core.errors import NotEnoughError

if TYPE_CHECKING:
    from ragbench.results import RagMetrics

MOST_NAMED = 3  # rows that are left out and named; the others are counted


def main(
    files: Annotated[
        list[Path], typer.Argument(help="Tables of answers, or traces; of several each a system.")
    ],
    metrics: Metrics = [],  # noqa: B006  typer reads it
    judges: Judges = [],  # noqa: B006
    columns: Columns = [],  # noqa: B006
    systems: Systems = [],  # noqa: B006
    baseline: Baseline = "",
    primary: Primary = "",
    out: Out = None,
    json_file: Json = None,
    limit: Limit = None,
    plan: Plan = False,
    language: LanguageCode = "",
    embedder: Embedder = "",
    confidence: Confidence = 0.95,
    draws: Draws = 10_000,
    seed: Seed = 0,
) -> None:
    """Score a table of answers: a value with its reason for every row, means with intervals.

    Columns are question, answer, reference, contexts and their synonyms in English and Russian;
    --column names any other. Without -m all usual metrics that the columns allow.

    Examples: `ragbench score answers.csv -m faithfulness,rougeL_f`,
    `ragbench score v1.csv v2.csv --out report`
    """
    from ragbench import front

    options: dict[str, Any] = {
        "systems": tuple(split_list(systems)),
        "judges": tuple(split_list(judges)),
        "baseline": baseline,
        "primary": primary,
        "limit": limit,
        "language": language,
        "level": confidence,
        "draws": draws,
        "seed": seed,
    }
    source = files[0] if len(files) == 1 else files
    answers = front.read(source, read_columns(columns))
    for note in answers.notes:
        say(note)
    name_left_out(answers.left_out)
    chosen = split_list(metrics) or None
    if plan:
        print(front.plan_score(answers.samples, chosen, **options))
        return
    result = front.score(answers.samples, chosen, embedder=embedder or None, **options)
    print(result)
    if json_file is not None:
        write_json(json_file, summary(result))
    if out is not None:
        print(result.save(out))
    check_measured(result)


def name_left_out(left_out: list[Any]) -> None:
    """Say which rows could not be used, and why."""
    for row in left_out[:MOST_NAMED]:
        say(f"left out {row.place}: {row.reason}")
    if len(left_out) > MOST_NAMED:
        say(f"left out {len(left_out) - MOST_NAMED} more rows")


def summary(result: RagMetrics) -> dict[str, Any]:
    """Return all numbers, and the value of every row."""
    return {
        "estimates": result.estimates,
        "comparisons": result.comparisons,
        "scores": result.scores,
    }


def check_measured(result: RagMetrics) -> None:
    """End with an error where a metric has no value at all."""
    counts = result.estimates.groupby("metric", sort=False)["n"].sum()
    empty = list(counts[counts == 0].index)
    if not empty:
        return
    rows = result.scores[result.scores["metric"] == empty[0]]
    reason = rows["reason"].mode()
    why = reason.iloc[0] if len(reason) else "no row"
    message = f"nothing was measured of {', '.join(empty)}: {why}"
    if len(empty) == len(counts):
        raise NotEnoughError(message)
    say(message)
