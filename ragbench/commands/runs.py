"""`ragbench runs`: what was run, found again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ragbench.store.records import RunRecord, RunValue

application = typer.Typer(help="Runs that the database keeps: listed, shown, deleted.", invoke_without_command=True)
HEADLINES = 3
Json = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]


@application.callback()
def show_all(
    context: typer.Context,
    limit: Annotated[int, typer.Option("--limit", help="How many, newest first.", min=1)] = 30,
    as_json: Json = False,
) -> None:
    """List the runs, newest first: when, on which data, which systems and notebooks, how it ended, and key numbers.

    Every other command takes a run by its name here, by the beginning of it, as `latest`, or as a folder.
    """
    if context.invoked_subcommand is not None:
        return
    from ragbench import settings
    from ragbench.commands import interruption
    from ragbench.store import Store
    from ragbench.store.runs import Runs

    interruption.tell_of_killed()
    with Store.open(settings.load()) as store:
        found = Runs(store.engine).records(limit)
    if as_json:
        typer.echo(json.dumps([described(record) for record in found], ensure_ascii=False, indent=1, allow_nan=False))
    elif not found:
        typer.echo("no run is kept yet: `ragbench run` makes one")
    else:
        _table(found)


@application.command("show")
def show(name: Annotated[str, typer.Argument(help="A run; see `ragbench runs`.")], as_json: Json = False) -> None:
    """Say everything that is kept of one run: numbers with intervals, data, models, parameters, where its pages lie."""
    from ragbench.report import kept

    record = kept.find(name)
    if as_json:
        typer.echo(json.dumps(whole(record), ensure_ascii=False, indent=1, allow_nan=False))
        return
    about = described(record)
    for key in ("id", "started", "status", "seconds", "origin", "folder", "datasets", "systems", "notebooks"):
        value = about[key]
        if value not in (None, [], ""):
            typer.echo(f"{key:<10} {', '.join(value) if isinstance(value, list) else value}")
    for kind, entries in record.identities.items():
        if entries and kind != "thresholds":
            typer.echo(f"{kind:<10} " + "; ".join(f"{key} {_short(text)}" for key, text in entries.items()))
    if unfinished := record.manifest.get("unfinished"):
        typer.echo(f"{'unfinished':<10} {', '.join(unfinished)}")
    for part in record.parts:
        if part.failure:
            typer.secho(f"{part.notebook} failed: {part.failure}", fg=typer.colors.RED)
    _values(record)


@application.command("delete")
def delete(
    name: Annotated[str, typer.Argument(help="A run; see `ragbench runs`.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Without asking.")] = False,
) -> None:
    """Forget a run in the database. Its folder of pages stays where it is."""
    from ragbench import settings
    from ragbench.store import Store
    from ragbench.store.runs import Runs

    with Store.open(settings.load()) as store:
        runs = Runs(store.engine)
        known = runs.resolve(name)
        if not yes:
            typer.confirm(f"forget the run {known}?", abort=True)
        runs.delete(known)
    typer.echo(f"{known} is forgotten; its pages stay in the folder of reports")


def described(record: RunRecord) -> dict[str, Any]:
    """A run as plain values; its folder relative to the project where it lies in it."""
    systems = dict.fromkeys(
        [name for part in record.parts for name in part.systems] + [v.system for v in record.values]
    )
    return {
        "id": record.id,
        "started": None if record.started is None else record.started.isoformat(timespec="seconds"),
        "status": record.status,
        "origin": record.origin,
        "seconds": record.seconds,
        "folder": None if record.folder is None else _relative(record.folder),
        "datasets": list(dict.fromkeys(part.dataset for part in record.parts if part.dataset)),
        "systems": list(systems),
        "notebooks": [part.notebook for part in record.parts],
        "commit": record.identities.get("code", {}).get("commit"),
        "headlines": [_plain(value) for value in headlines(record)],
    }


def whole(record: RunRecord) -> dict[str, Any]:
    """Everything of a run as plain values, but for values question by question."""
    from ragbench.measurement import without_nan

    parts = [
        {key: getattr(part, key) for key in ("notebook", "status", "failure", "dataset", "data_hash", "unit")}
        for part in record.parts
    ]
    found: dict[str, Any] = without_nan(
        {
            **described(record),
            "identities": record.identities,
            "parts": parts,
            "values": [_plain(value) for value in record.values],
            "comparisons": list(record.comparisons),
            "questions": {one.notebook: len(one.samples) for one in record.scores},
        }
    )
    return found


def headlines(record: RunRecord) -> list[RunValue]:
    """The numbers that name a run in a list: the primary metric of one notebook, system by system.

    It is the first notebook whose primary metric says what is better; where there is none, the first with numbers.
    """
    found = []
    for part in record.parts or ():
        own = [value for value in record.values if value.notebook == part.notebook]
        metrics = list(dict.fromkeys(value.metric for value in own))
        if metrics:
            primary = part.facts.get("primary")
            wanted = primary if primary in metrics else "mrr" if "mrr" in metrics else metrics[0]
            found.append([value for value in own if value.metric == wanted])
    judging = (named for named in found if _says_better(named[0].metric))
    return next(judging, found[0] if found else list(record.values[:1]))


def _says_better(metric: str) -> bool:
    from ragbench.metric import parse
    from ragbench.metrics import catalogue

    catalogue()
    try:
        return parse(metric).better is not None
    except ValueError:  # a metric of another benchmark, or of another version
        return False


def _plain(value: RunValue) -> dict[str, Any]:
    from dataclasses import asdict

    from ragbench.measurement import without_nan

    found: dict[str, Any] = without_nan(asdict(value))
    return found


def _relative(folder: Path) -> str:
    from ragbench import settings

    try:
        return folder.relative_to(settings.project_folder()).as_posix()
    except ValueError:
        return str(folder)


def _table(records: list[RunRecord]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("run", "started (UTC)", "data set", "systems", "notebooks", "status", "key numbers"):
        table.add_column(title, overflow="fold")
    for record in records:
        about = described(record)
        named = headlines(record)
        numbers = [f"{v.system} {_number(v.value)}" + ("" if v.comparable else " !") for v in named[:HEADLINES]]
        more = f" … {len(named) - HEADLINES} more" if len(named) > HEADLINES else ""
        table.add_row(
            record.id,
            f"{record.started:%Y-%m-%d %H:%M}" if record.started else "—",
            ", ".join(about["datasets"]) or "—",
            ", ".join(about["systems"]),
            ", ".join(about["notebooks"]),
            record.status if not record.origin or record.origin == "ragbench" else f"from {record.origin}",
            (f"{named[0].metric}: " if named else "") + "; ".join(numbers) + more,
        )
    console = Console()
    (console if console.is_terminal else Console(width=200)).print(table, markup=False)


def _values(record: RunRecord) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("notebook", "system", "metric"):
        table.add_column(title)
    for title in ("value", "interval", "n", "unmeasured"):
        table.add_column(title, justify="right")
    table.add_column("note")
    for v in record.values:
        bounds = "—" if v.low is None or v.high is None else f"{v.low:.4f} … {v.high:.4f}"
        counts = ("—" if count is None else str(count) for count in (v.n, v.n_unmeasured))
        note = "" if v.comparable else f"not comparable: {v.reason.replace('_', ' ')}"
        table.add_row(v.notebook, v.system, v.metric, _number(v.value), bounds, *counts, note)
    console = Console()
    (console if console.is_terminal else Console(width=180)).print(table, markup=False)


def _number(value: float) -> str:
    return "—" if value != value else f"{value:.4f}" if abs(value) < 1000 else f"{value:.0f}"


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"
