"""`ragbench trec`: judgements and runs in TREC's formats, measured and compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragbench.commands.assessment import Assessment, Convention, Plan, as_json, asked, assess

if TYPE_CHECKING:
    from ragbench.types import Comparison

_WIDTH_OF_FILES = 160  # where the table goes to a file or a pipe


def trec(
    qrels: Annotated[Path, typer.Argument(help="Judgements: lines QUERY ITERATION DOCUMENT GRADE, plain or gzipped.")],
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Runs: lines QUERY Q0 DOCUMENT RANK SCORE TAG. First: baseline."),
    ],
    metrics: Annotated[
        str, typer.Option("--metrics", "-m", help="Comma-separated, also by trec_eval's names; all if not given.")
    ] = "",
    level: Annotated[
        float | None, typer.Option(help="Smallest grade that counts as relevant where a metric knows only yes and no.")
    ] = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="Queries that a run lacks count 0 (always so without --compatible).")
    ] = False,
    per_query: Annotated[bool, typer.Option("--per-query", help="Also the value of each query.")] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write everything as JSON; - for the screen.")
    ] = None,
    compatible: Annotated[
        Convention | None, typer.Option(help="Ties, 32-bit scores and missing queries as trec_eval has them.")
    ] = None,
    clusters: Annotated[
        str, typer.Option(help="Pattern whose group names a query's cluster: '^(.+)_' for 31_1, 31_2.")
    ] = "",
    all_pairs: Annotated[
        bool, typer.Option("--all-pairs", help="Compare every two runs, not only with the first.")
    ] = False,
    confidence: Annotated[float, typer.Option(help="Level of intervals and verdicts.")] = 0.95,
    resamples: Annotated[int, typer.Option(help="Draws of bootstrap and randomization.", min=1)] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of all draws.", min=0)] = 0,
) -> None:
    """Measure runs against judgements, and say which is better and how sure one can be.

    A mean is over all judged queries that have a relevant document; a query that a run lacks counts 0; equal scores
    keep the file's order; later copies of a document are dropped. `--compatible trec_eval` does as trec_eval does.

    Example: ragbench trec qrels.txt bm25.run dense.run --metrics ndcg@10,map --json result.json
    """
    from ragbench import trec as files
    from ragbench.commands import outputs

    outputs.file(json_file, "--json")
    try:
        plan = Plan(
            metrics=asked(metrics, level),
            level=level,
            compatible=compatible,
            complete=complete,
            all_pairs=all_pairs,
            clusters=_pattern(clusters),
            confidence=confidence,
            resamples=resamples,
            seed=seed,
        )
        found = assess(files.read_qrels(qrels), [files.read_run(path) for path in runs], plan)
    except files.TrecError:
        raise
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    _say_missing(found)
    if json_file is None or str(json_file) != "-":
        _print(found, per_query)
    if json_file is not None:
        _write(json_file, as_json(found, per_query=per_query))


def _pattern(text: str) -> re.Pattern[str] | None:
    try:
        return re.compile(text) if text else None
    except re.error as error:
        raise typer.BadParameter(f"{text!r} is not a regular expression: {error}", param_hint="--clusters") from None


def _say_missing(found: Assessment) -> None:
    """Queries that a run lacks, and queries that nobody judged: a run in other names would be a row of zeros."""
    judged = found.facts["queries_judged"]
    for one in found.facts["runs"]:
        lacking, strange = one["queries_missing"], one["queries_not_judged"]
        if lacking:
            more = f"; it answers {strange} that are not judged" if strange else ""
            typer.secho(f"{one['run']} lacks {lacking} of {judged} judged queries{more}", err=True, fg="yellow")


def _print(found: Assessment, per_query: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH_OF_FILES)
    if per_query:
        for row in as_json(found, per_query=True)["per_query"]:
            typer.echo(f"{row['run']}\t{row['query']}\t{row['metric']}\t{row['value']:.6f}")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("run", "metric", "mean", "interval", "method", "n", "unmeasured"):
        table.add_column(title, justify="left" if title in ("run", "metric", "method") else "right")
    for (run, metric), one in found.estimates.items():
        bounds = "—" if one.low is None else f"{one.low:.4f} … {one.high:.4f}"
        table.add_row(run, metric, f"{one.value:.4f}", bounds, one.method, str(one.n), str(one.n_unmeasured))
    console.print(table)
    if found.comparisons:
        console.print()
        console.print(_comparison_table(found.comparisons))
        console.print(f"corrected over all comparisons: {found.comparisons[0][1].family}", highlight=False)


def _comparison_table(comparisons: Sequence[tuple[str, Comparison]]) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("challenger", "baseline", "metric", "difference", "interval", "p", "corrected p", "n", "verdict"):
        left = title in ("challenger", "baseline", "metric", "verdict")
        table.add_column(title, justify="left" if left else "right")
    for metric, one in comparisons:
        table.add_row(
            one.challenger,
            one.baseline,
            metric,
            f"{one.difference:+.4f}",
            f"{one.low:+.4f} … {one.high:+.4f}",
            f"{one.p:.4f}",
            "—" if one.p_adjusted is None else f"{one.p_adjusted:.4f}",
            str(one.n),
            one.verdict.value,
        )
    return table


def _write(path: Path, value: dict[str, Any]) -> None:
    import json

    from ragbench.measurement import without_nan

    text = json.dumps(without_nan(value), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    if str(path) == "-":
        typer.echo(text, nl=False)
        return
    from ragbench.report import files

    files.write(path, text)
    typer.echo(str(path), err=True)
