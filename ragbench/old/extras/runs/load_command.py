"""`ragbench load history` and `ragbench load result`: what another benchmark measured, as runs of this one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragbench.old.cli.console import options
from ragbench.old.cli.load import application
from ragbench.old.core import terminal

if TYPE_CHECKING:
    from ragbench.old.extras.runs.past_runs import Loaded
    from ragbench.old.store.run_records import RunRecord

SHOWN = 40  # a screen

System = Annotated[str, typer.Option("--name", "-n", help="Name of the system, and the beginning of the runs' ids.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what was understood and left out; keep nothing.")]


@application.command()
def history(
    file: Annotated[
        Path,
        typer.Argument(
            parser=options.source, metavar="FILE", help="A JSON list of runs, schema_version 2.0, with tier_…_metrics."
        ),
    ],
    name: System,
    dry_run: DryRun = False,
) -> None:
    """Every entry becomes a run of summaries; numbers that must not be compared are marked, each with its reason.

    Example: ragbench load history benchmark_runs.json --name v1 && ragbench history
    """
    from ragbench.old.extras.runs import past_runs

    _keep(past_runs.history(file, name), file.name, dry_run)


@application.command()
def result(
    file: Annotated[
        Path,
        typer.Argument(
            parser=options.source,
            metavar="FILE",
            help="A JSON object with benchmark_metadata, metrics, per_query_details.",
        ),
    ],
    name: System,
    dataset: Annotated[
        str, typer.Option("--dataset", "-d", help="Whose questions these are: then runs on it can be paired.")
    ] = "",
    unit: Annotated[str, typer.Option("--unit", help="chunk or url; the file's own if not given.")] = "",
    baseline: Annotated[
        str, typer.Option("--baseline", help="Name of a second run: the numbers of version 1 in comparison_v1_v2.")
    ] = "",
    dry_run: DryRun = False,
) -> None:
    """A result file becomes a run: its metrics computed anew from what was retrieved, with intervals.

    Its lists hold ids of chunks or addresses of pages. With --dataset its questions are paired with those of other
    runs, and --unit url collapses chunks to pages.

    Example: ragbench load result v2.json --name v2 --dataset helpdesk --baseline v1 && ragbench compare v1 v2
    """
    from ragbench.old.core import settings
    from ragbench.old.extras.runs import past_results
    from ragbench.old.tiers.basics.session import dataset_of

    read = dataset_of(dataset, settings.load()) if dataset else None
    _keep(past_results.result(file, name, dataset=read, unit=unit, baseline=baseline), file.name, dry_run)


def _keep(loaded: Loaded, source: str, dry_run: bool) -> None:
    """Say what was understood, and record it unless this is a dry run."""
    from ragbench.old.cli.console.outputs import tell_rest
    from ragbench.old.core import settings
    from ragbench.old.store import Store

    terminal.say(f"{source}: {len(loaded.runs)} runs, {sum(len(run.values) for run in loaded.runs)} numbers")
    for run in loaded.runs[:SHOWN]:
        terminal.say(f"  {_line(run)}")
    tell_rest(loaded.notes, loaded.left_out)
    if dry_run:
        terminal.say("nothing was kept (--dry-run)")
        return
    with Store.open(settings.load()) as store:
        names = [store.runs.record(run) for run in loaded.runs]
    terminal.say(f"kept as {', '.join(names[:SHOWN])}. Next: ragbench runs, ragbench history, ragbench compare")


def _line(run: RunRecord) -> str:
    started = run.started.date().isoformat() if run.started else "no date"
    parts = ", ".join(dict.fromkeys(value.notebook for value in run.values))
    marked = [value for value in run.values if not value.comparable]
    told = ", ".join(f"{value.metric} = {value.value:g} ({value.reason})" for value in marked[:3])
    more = f"; not to be compared: {told}{' …' if len(marked) > 3 else ''}" if marked else ""
    return f"{run.id}  {started}  {len(run.values)} numbers of {parts}{more}"
