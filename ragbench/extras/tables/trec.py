"""`ragbench trec`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import pandas as pd
import pyarrow as pa
import typer

from ragbench.cli.options import (
    Baseline,
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
from ragbench.core.errors import BenchError, NotEnoughError
from ragbench.core.metric import Metric, parse_labels

if TYPE_CHECKING:
    from ragbench.extras.tables.results import TableResult

USUAL = "ndcg@10, mrr, average_precision, recall@100, precision@10"


def main(
    qrels: Annotated[Path, typer.Argument(help="Judgements: TREC, BEIR, JSON.")],
    runs: Annotated[list[Path], typer.Argument(help="Runs; the first is the baseline.")],
    metrics: Metrics = [],  # noqa: B006  typer reads it
    primary: Primary = "",
    baseline: Baseline = "",
    level: Annotated[
        float | None, typer.Option(help="Smallest grade that counts as relevant.")
    ] = None,
    compatible: Annotated[
        bool, typer.Option("--trec-eval", help="Ties and grades as trec_eval takes them.")
    ] = False,
    out: Out = None,
    json_file: Json = None,
    latex: Latex = None,
    language: LanguageCode = "en",
    confidence: Confidence = 0.95,
    draws: Draws = 10_000,
    seed: Seed = 0,
) -> None:
    """Measure runs against judgements, and say which is better and how sure one can be.

    A mean is over all judged queries that have a relevant document; a query that a run lacks
    counts 0. nDCG@10 answers, unless --primary names another.

    Example: `ragbench trec qrels.txt bm25.run dense.run -m nDCG@10,P@10 --latex table.tex`
    """
    # Arrow's own asks the system for fresh memory for every column of millions of lines.
    pa.set_memory_pool(pa.system_memory_pool())
    chosen = parse_labels(split_list(metrics) or USUAL)
    options = {
        "baseline": baseline,
        "primary": parse_labels(primary)[0].label if primary else "",
        "language": language,
        "level": confidence,
        "draws": draws,
        "seed": seed,
    }
    result = measure_runs(qrels, runs, chosen, options, level=level, compatible=compatible)
    deliver(result, out=out, json_file=json_file, latex=latex)


def measure_runs(
    qrels: Path,
    runs: Sequence[Path],
    metrics: Sequence[Metric],
    options: dict[str, object],
    *,
    level: float | None = None,
    compatible: bool = False,
) -> TableResult:
    """Read judgements and runs, measure and state. Raises NotEnoughError without relevant ones."""
    from ragbench.data import read_qrels, read_run
    from ragbench.extras.tables.results import Trec, make_scores, state_table
    from ragbench.metrics.ranking_frames import add_gains, arrange
    from ragbench.metrics.rankings import measure_rankings
    from ragbench.tiers.common import About

    for metric in metrics:
        if metric.kind != "ranking":
            raise BenchError(f"{metric.label} reads no ranking")
    labels = read_qrels(qrels).frame
    if compatible:
        # To trec_eval every grade below 0 is no judgement; otherwise only −1 is none.
        labels["grade"] = labels["grade"].clip(lower=-1)
    least = 0.0 if level is None else np.nextafter(level, -np.inf)
    relevant = labels.loc[labels["grade"] > least, "question_id"]
    question_ids = sorted(relevant.unique())
    if not question_ids:
        raise NotEnoughError(f"{qrels}: no query has a relevant document")
    bound = [bind_level(metric, level) for metric in metrics]
    notes: list[str] = []
    values: dict[tuple[str, str], pd.Series] = {}
    for path in runs:
        run = read_run(path, trec_eval=compatible)
        if any(name == run.name for name, _ in values):
            raise BenchError(f"two runs are called {run.name}: rename a file")
        notes += [f"{run.name}: {note}" for note in run.notes]
        notes += missing_queries(run.name, run.frame, question_ids)
        ranked = arrange(add_gains(run.frame, labels), labels, question_ids)
        for label, column in measure_rankings(bound, ranked).items():
            values[run.name, label] = pd.Series(column, index=question_ids)
    units = pd.Series(question_ids, index=question_ids)
    about = About(qrels.name, notes=tuple(notes))
    return state_table(Trec, make_scores(values, units), options, about=about)


def bind_level(metric: Metric, level: float | None) -> Metric:
    """Return the metric with the smallest relevant grade, where it knows only yes and no."""
    from dataclasses import replace

    if level is None or "level" not in metric.parameters or "level" in metric.options:
        return metric
    return replace(metric, options={**metric.options, "level": level})


def missing_queries(name: str, run: pd.DataFrame, question_ids: Sequence[str]) -> list[str]:
    """Say how many judged queries a run lacks, and how many of its own are left out.

    Raises BenchError where it has none of them.
    """
    present = set(run["question_id"].unique())
    judged = set(question_ids)
    n_missing = len(judged - present)
    if not judged & present:
        raise BenchError(f"{name} has none of the judged queries; {question_ids[0]!r} is one")
    notes = []
    if n_missing:
        notes.append(f"{name} lacks {n_missing} of {len(judged)} judged queries: each counts 0")
    n_unjudged = len(present - judged)
    if n_unjudged:
        notes.append(
            f"{name} has {n_unjudged} queries of which nothing is judged relevant: left out"
        )
    return notes
