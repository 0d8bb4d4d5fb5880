"""`ragbench trec`: judgements and runs in TREC's formats, measured and compared."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from ragbench.cli.console import options
from ragbench.core import terminal
from ragbench.extras.significance.assessment import Assessment, Convention, Plan, as_json, asked, assess


def trec(
    qrels: Annotated[
        Path,
        typer.Argument(
            parser=options.source,
            metavar="QRELS",
            help="Judgements: lines QUERY ITERATION DOCUMENT GRADE, or BEIR's, JSON, Parquet.",
        ),
    ],
    runs: Annotated[
        list[Path],
        typer.Argument(
            parser=options.source,
            metavar="RUN...",
            help="Runs: lines QUERY Q0 DOCUMENT RANK SCORE TAG, MS MARCO's, JSON, Parquet. First: baseline.",
        ),
    ],
    metrics: Annotated[
        str,
        typer.Option("--metrics", "-m", help="Comma-separated, as nDCG@10, P_10, AP(rel=2); all if not given."),
    ] = "",
    primary: options.Primary = "",
    level: Annotated[
        float | None, typer.Option(help="Smallest grade that counts as relevant where a metric knows only yes and no.")
    ] = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="Queries that a run lacks count 0 (always so without --compatible).")
    ] = False,
    per_query: Annotated[bool, typer.Option("--per-query", help="Also the value of each query.")] = False,
    json_file: options.JsonFile = None,
    compatible: Annotated[
        Convention | None, typer.Option(help="Ties, 32-bit scores and missing queries as trec_eval has them.")
    ] = None,
    clusters: Annotated[
        str, typer.Option(help="Pattern whose group names a query's cluster: '^(.+)_' for 31_1, 31_2.")
    ] = "",
    all_pairs: Annotated[
        bool, typer.Option("--all-pairs", help="Compare every two runs, not only with the first.")
    ] = False,
    confidence: options.Level = 0.95,
    resamples: options.Resamples = 10_000,
    seed: options.Seed = 0,
) -> None:
    """Measure runs against judgements, and say which is better and how sure one can be.

    A mean is over all judged queries that have a relevant document; a query that a run lacks counts 0; equal scores
    go by the RANK column, then by the document's name; later copies of a document are dropped. `--compatible
    trec_eval` does as trec_eval does.

    Example: ragbench trec qrels.txt bm25.run dense.run --metrics ndcg@10,map --json result.json
    """
    from ragbench.cli.console import outputs
    from ragbench.data import trec as files

    try:
        plan = Plan(
            metrics=asked(metrics, level),
            primary=primary,
            level=level,
            compatible=compatible,
            complete=complete,
            all_pairs=all_pairs,
            clusters=options.pattern(clusters, "--clusters"),
            confidence=confidence,
            resamples=resamples,
            seed=seed,
        )
        assessment = assess(files.read_qrels(qrels), [files.read_run(path) for path in runs], plan)
    except files.TrecError:
        raise
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    _say_missing(assessment)
    if not outputs.is_screen(json_file):
        _print(assessment, per_query)
    if json_file is not None:
        outputs.write(json_file, as_json(assessment, per_query=per_query))
        if not outputs.is_screen(json_file):
            terminal.say(json_file, err=True)


def _say_missing(assessment: Assessment) -> None:
    """Queries that a run lacks, queries that nobody judged (a run in other names would be a row of zeros), copies."""
    judged = assessment.facts["queries_judged"]
    for run in assessment.facts["runs"]:
        said = [
            f"was read as {run['form']}" if run["form"] else "",
            f"lacks {run['queries_missing']} of {judged} judged queries" if run["queries_missing"] else "",
            f"answers {_of(run['queries_not_judged'], 'query', 'queries')} that nobody judged"
            if run["queries_not_judged"]
            else "",
            f"names documents again in {_of(run['duplicates'], 'line', 'lines')}, which count for nothing"
            if run["duplicates"]
            else "",
        ]
        if any(said):
            terminal.say(f"{run['run']} {'; it '.join(filter(None, said))}", err=True, colour="yellow")


def _print(assessment: Assessment, per_query: bool) -> None:
    from ragbench.cli.console.options import counted
    from ragbench.core.language import DASH, translator
    from ragbench.tiers.basics import verdicts

    if per_query:
        rows = as_json(assessment, per_query=True)["per_query"]
        values = [DASH if math.isnan(row["value"]) else f"{row['value']:.6f}" for row in rows]
        terminal.columns(
            (row["run"], row["query"], row["metric"], value) for row, value in zip(rows, values, strict=True)
        )
    english = translator("en")
    verdicts.estimates(("run", "metric"), assessment.estimates.items(), english, 4).say()
    facts = assessment.facts
    groups = "" if facts["clusters"] is None else f" in {counted(facts['clusters'], 'group')}"
    judged = counted(facts["queries_judged"], "judged query", "judged queries")
    terminal.say(f"{judged}{groups}, {facts['queries_without_relevant']} without a relevant document")
    if assessment.judged:
        _print_judged(assessment)
    if assessment.comparisons:
        terminal.say()
        verdicts.comparisons(assessment.comparisons, english, 4).say()


def _print_judged(assessment: Assessment) -> None:
    """What part was judged, and the values if the rest is irrelevant, relevant or left out."""
    from ragbench.core.language import DASH

    sampled = any(not math.isnan(row[-1]) for row in assessment.judged)
    titles = ("run", "metric", "judged@k", "unjudged irrelevant", "unjudged relevant", "judged alone", "infAP")
    width = len(titles) if sampled else len(titles) - 1
    rows = [
        (*row[:2], *(DASH if math.isnan(value) else f"{value:.4f}" for value in row[2:]))[:width]
        for row in assessment.judged
    ]
    terminal.say()
    terminal.table(titles[:width], rows, left=titles[:2])


def _of(count: int, singular: str, many: str) -> str:
    return f"{count:,} {singular if count == 1 else many}"
