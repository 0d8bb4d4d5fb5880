"""`ragbench score`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragbench.cli.options import (
    MORE,
    Baseline,
    Columns,
    Confidence,
    Draws,
    Embedder,
    Json,
    Judges,
    LanguageCode,
    Latex,
    Limit,
    Metrics,
    Out,
    Plan,
    Primary,
    Seed,
    Systems,
    load_annex,
    read_columns,
    split_list,
)
from ragbench.cli.output import deliver, print_plans, say
from ragbench.core.errors import BenchError, NotEnoughError
from ragbench.core.metric import parse_labels

if TYPE_CHECKING:
    from ragbench.views.results import RagMetrics

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
    latex: Latex = None,
    limit: Limit = None,
    plan: Plan = False,
    criteria: Annotated[
        list[str] | None,
        typer.Option("--criterion", help="NAME=QUESTION for a judge.", rich_help_panel=MORE),
    ] = None,
    scale: Annotated[
        str, typer.Option("--scale", help="Of criteria: yes/no, or 1,5.", rich_help_panel=MORE)
    ] = "yes/no",
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
        "embedder": embedder,
        "level": confidence,
        "draws": draws,
        "seed": seed,
    }
    answers = front.read(files[0] if len(files) == 1 else files, read_columns(columns))
    name_left_out(answers.left_out)
    chosen = parse_labels([*split_list(metrics), *make_criteria(criteria or [], scale)])
    if plan:
        costs = load_annex("planning.costs")
        print_plans(costs.plan_samples(answers.samples, chosen, **options))
        return
    notes = tuple(answers.notes)
    result = front.score_samples(answers.samples, chosen, notes, judge=None, **options)
    deliver(result, out=out, json_file=json_file, latex=latex)
    check_measured(result)


def name_left_out(left_out: Sequence[Any]) -> None:
    """Say which rows could not be used, and why."""
    for row in left_out[:MOST_NAMED]:
        say(f"left out {row.place}: {row.reason}")
    if len(left_out) > MOST_NAMED:
        say(f"left out {len(left_out) - MOST_NAMED} more rows")


def make_criteria(entries: Sequence[str], scale: str) -> list[Any]:
    """Return the metrics of `--criterion polite="Is it polite?"`. scale: yes/no, 1,5 or words."""
    from ragbench.metrics.criteria import criterion

    levels: Any = scale if scale == "yes/no" else split_list(scale)
    if len(levels) == 2 and all(level.lstrip("-").isdigit() for level in levels):
        levels = [int(level) for level in levels]
    metrics = []
    for entry in entries:
        name, sign, question = entry.partition("=")
        if not sign or not name.strip().isidentifier():
            raise BenchError(f'--criterion {entry}: write NAME=QUESTION: polite="Is it polite?"')
        metrics.append(criterion(question, name=name.strip(), scale=levels))
    return metrics


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
