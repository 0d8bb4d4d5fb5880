"""`ragbench runs`: what was run, found again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragbench.cli.console import consent, options
from ragbench.core import terminal
from ragbench.core.endings import Ending
from ragbench.extras.runs.run_facts import run_facts

if TYPE_CHECKING:
    from ragbench.store.records import RunRecord, RunValue

application = typer.Typer(
    help="Runs that the database keeps: listed, shown, renamed, deleted, taken elsewhere.", invoke_without_command=True
)
HEADLINES = 3


@application.callback()
def show_all(
    context: typer.Context,
    limit: Annotated[int, typer.Option("--limit", help="How many, newest first.", min=1)] = 30,
    as_json: options.AsJson = False,
) -> None:
    """List the runs, newest first: when, on which data, which systems and notebooks, how it ended, and key numbers.

    Every other command takes a run by its id here, by the beginning of it, by its name, as `latest`, or as a folder.
    """
    if context.invoked_subcommand is not None:
        return
    from ragbench.cli.console import interruption
    from ragbench.core import settings
    from ragbench.store import Store

    interruption.tell_of_killed()
    with Store.open(settings.load()) as store:
        records = store.runs.records(limit)
    if as_json:
        terminal.dump([described(record) for record in records])
    elif not records:
        terminal.say("no run is kept yet: `ragbench run` makes one")
    else:
        _table(records)


@application.command("show")
def show(name: options.Run, as_json: options.AsJson = False) -> None:
    """Say everything that is kept of one run: numbers with intervals, data, models, parameters, where its pages lie."""
    from ragbench.cli.console import outputs
    from ragbench.core import stand_ins
    from ragbench.extras.runs.past_runs import COVERED
    from ragbench.report.keeping import kept

    record = kept.find(name)
    if as_json:
        terminal.dump(whole(record))
        return
    about = described(record)
    for key in (
        "id",
        "name",
        "note",
        "started",
        "status",
        "seconds",
        "origin",
        "folder",
        "datasets",
        "systems",
        "notebooks",
    ):
        value = about[key]
        if value not in (None, [], ""):
            terminal.say(f"{key:<10} {', '.join(value) if isinstance(value, list) else value}")
    for kind, entries in record.identities.items():
        if entries and kind != "thresholds":
            terminal.say(f"{kind:<10} " + "; ".join(f"{key} {_short(text) or 'none'}" for key, text in entries.items()))
    if unfinished := record.manifest.get("unfinished"):
        terminal.say(f"{'unfinished':<10} {', '.join(unfinished)}")
    from ragbench.core.types.reason import read

    for part in record.parts:
        if part.failure:
            terminal.say(f"{part.notebook} failed: {read(part.failure)}", colour="red")
    _values(record)
    for part in record.parts:
        if topics := run_facts(part.facts).get("topic_coverage"):
            terminal.table(COVERED, [tuple(_told(topic[name]) for name in COVERED) for topic in topics])
    outputs.caveat((stand_in for part in record.parts for stand_in in stand_ins.of(part.facts)), err=False)


@application.command("rename")
def rename(
    run: options.Run,
    name: Annotated[str | None, typer.Option("--name", help='What it is called from now on; "" for no name.')] = None,
    note: Annotated[str | None, typer.Option("--note", help='What is said of it from now on; "" for no note.')] = None,
) -> None:
    """Call a run otherwise, or say something else of it, in its folder and in the database; its id stays.

    `ragbench runs`, `compare` and `history` show it at once, its own pages when `ragbench render` draws them again.

    Examples:

    - `ragbench runs rename latest --name "smaller chunks" --note "300 signs, no overlap"`
    - `ragbench runs rename "smaller chunks" --note ""`: its name stays, its note goes.
    """
    from ragbench.report.keeping import kept, results

    if name is None and note is None:
        raise typer.BadParameter("say what the run is called, or what is said of it", param_hint="--name or --note")
    name = None if name is None else options.line(results.named, name, "--name")
    note = None if note is None else options.line(results.noted, note, "--note")
    known = kept.rename(run, name=name, note=note)
    words = [f"is called {name!r}" if name else "has no name"] if name is not None else []
    words += [f"its note is {note!r}" if note else "it has no note"] if note is not None else []
    terminal.say(f"{known.id} {', '.join(words)}")
    if known.unkept:
        said = f"the database does not say so: {known.unkept}; once it can be reached, give this command again"
        terminal.say(said, err=True, colour="yellow")
    if known.folder is not None:
        place = known.id if kept.folder_of(known.id) == known.folder else _relative(known.folder)
        terminal.say(f"its own pages say so after: ragbench render {place}")


@application.command("delete")
def delete(name: options.Run, yes: options.Yes = False) -> None:
    """Forget a run in the database. Its folder of pages stays where it is."""
    from ragbench.core import settings
    from ragbench.store import Store

    with Store.open(settings.load()) as store:
        known = store.runs.resolve(name)
        if not yes:
            terminal.sure(f"forget the run {known}?")
        store.runs.delete(known)
    terminal.say(f"{known} is forgotten; its pages stay in the folder of reports")


@application.command("export")
def export(name: options.Run, file: options.Target) -> None:
    """Write a run and the replies that it is made of into one file, for `ragbench runs import` on another machine.

    There its pages are drawn again, and where data and settings are the same it runs again without a call.
    """
    from ragbench.extras.runs import packs

    made = packs.export(name, file)
    if made.missing:
        said = "replies that it used are not in the journal any more: there they would be asked for again"
        terminal.say(f"{made.missing} {said}", err=True, colour="yellow")
    terminal.say(f"{made.run} with {made.replies} replies written to {file}")


@application.command("send")
def send(
    name: options.Run,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            "-t",
            help="URL of a folder of reports; as `reports` in ragbench.toml if not given.",
            callback=options.url,
        ),
    ] = "",
    trusted: consent.Trust = False,
) -> None:
    """Bring a run to shared storage, as `ragbench run --reports` does: a folder of its id there, and the name of the
    newest in the small file `latest` beside it.

    Example: `ragbench runs send latest --to s3://bucket/reports`

    Exit code 0 when it is there whole, 3 when it could not be sent, or there is no such run or nothing to send to.
    """
    from ragbench.cli.console import outputs
    from ragbench.core import settings, trust
    from ragbench.report.keeping import kept

    if not to:
        known = settings.load()
        consent.required(trust.named("reports"), trusted)
        to = options.url(known.reports or "")
    if not to:
        raise typer.BadParameter("no URL is named, and ragbench.toml has no `reports`", param_hint="--to")
    if not outputs.sent(kept.pages_of(name), to):
        raise typer.Exit(Ending.REFUSED)


@application.command("import")
def bring_in(
    file: Annotated[
        Path, typer.Argument(parser=options.source, metavar="FILE", help="A file that `ragbench runs export` wrote.")
    ],
) -> None:
    """Put a run from another machine among the reports, with its replies. Its numbers are believed as they are."""
    from ragbench.extras.runs import packs

    brought = packs.bring_in(file)
    terminal.say(f"{brought.replies} replies, {brought.new} of them new; the run's pages: {brought.index}")
    words = {
        "other": "is another here: numbers of new runs will differ",
        "absent": "is not here: bring it, to run again",
    }
    for label, state in brought.data.items():
        if state in words:
            terminal.say(f"the data set {label} {words[state]}", err=True, colour="yellow")


def described(record: RunRecord) -> dict[str, Any]:
    """A run as plain values; its folder relative to the project where it lies in it."""
    systems = dict.fromkeys(
        [name for part in record.parts for name in part.systems] + [v.system for v in record.values]
    )
    return {
        "id": record.id,
        "name": record.name,
        "note": record.note,
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
    from ragbench.core import stand_ins
    from ragbench.core.measurement import without_nan

    parts = [
        {key: getattr(part, key) for key in ("notebook", "status", "failure", "dataset", "data_hash", "unit")}
        for part in record.parts
    ]
    plain: dict[str, Any] = without_nan(
        {
            **described(record),
            "identities": record.identities,
            "parts": parts,
            "values": [_plain(value) for value in record.values],
            "topic_coverage": {
                part.notebook: run_facts(part.facts)["topic_coverage"]
                for part in record.parts
                if run_facts(part.facts).get("topic_coverage")
            },
            "comparisons": list(record.comparisons),
            "stand_ins": {
                part.notebook: [stand_in.fact for stand_in in stand_ins.of(part.facts)]
                for part in record.parts
                if stand_ins.of(part.facts)
            },
            "questions": {score.notebook: len(score.samples) for score in record.scores},
        }
    )
    return plain


def headlines(record: RunRecord) -> list[RunValue]:
    """The numbers that name a run in a list: the primary metric of one notebook, system by system.

    It is the first notebook whose primary metric says what is better; where there is none, the first with numbers.
    """
    from ragbench.metrics import declaration, meant

    candidates = []
    for part in record.parts or ():
        own = [value for value in record.values if value.notebook == part.notebook]
        metrics = list(dict.fromkeys(value.metric for value in own))
        if metrics:
            primary = part.facts.get("primary")
            wanted = next((label for name in (primary, "mrr") if name for label in meant(name, metrics)), metrics[0])
            candidates.append([value for value in own if value.metric == wanted])
    for named in candidates:  # no declaration: a metric of another benchmark, or of another version
        if (declared := declaration(named[0].metric)) is not None and declared.better is not None:
            return named
    return candidates[0] if candidates else list(record.values[:1])


def _plain(value: RunValue) -> dict[str, Any]:
    from dataclasses import asdict

    from ragbench.core.measurement import without_nan

    fields: dict[str, Any] = without_nan(asdict(value))
    return fields


def _relative(folder: Path) -> str:
    from ragbench.core import settings

    root = settings.project_folder()
    return folder.relative_to(root).as_posix() if folder.is_relative_to(root) else str(folder)


def _table(records: list[RunRecord]) -> None:
    rows = []
    for record in records:
        about = described(record)
        named = headlines(record)
        numbers = [f"{v.system} {_number(v.value)}" + ("" if v.comparable else " !") for v in named[:HEADLINES]]
        more = f" … {len(named) - HEADLINES} more" if len(named) > HEADLINES else ""
        more += _stood_in(record, named)
        line = (
            f"{record.id} {record.name}".strip(),
            f"{record.started:%Y-%m-%d %H:%M}" if record.started else "—",
            ", ".join(about["datasets"]) or "—",
            ", ".join(about["systems"]),
            ", ".join(about["notebooks"]),
            record.status if not record.origin or record.origin == "ragbench" else f"from {record.origin}",
            (f"{named[0].metric}: " if named else "") + "; ".join(numbers) + more,
        )
        rows.append(line)
    terminal.table(("run", "started (UTC)", "data set", "systems", "notebooks", "status", "key numbers"), rows)


def _stood_in(record: RunRecord, named: list[RunValue]) -> str:
    """What only stood in for a model where these numbers were made."""
    from ragbench.core.language import translator
    from ragbench.core.stand_ins import names, of

    parts = {value.system: record.part(value.notebook) for value in named}
    used = [stand_in for system, part in parts.items() if part is not None for stand_in in of(part.facts, system)]
    offline = names(used, translator("en"))
    return f" (offline stand-ins: {offline})" if offline else ""


def _values(record: RunRecord) -> None:
    from ragbench.core.parts import Style, Value

    titles = ("notebook", "system", "metric", "value", "interval", "n", "unmeasured", "note")
    rows = []
    for v in record.values:
        bounds = Style().phrase(Value(None, v.low, v.high, digits=4))
        counts = ("—" if count is None else str(count) for count in (v.n, v.n_unmeasured))
        note = "" if v.comparable else f"not comparable: {v.reason.replace('_', ' ')}"
        rows.append((v.notebook, v.system, v.metric, _number(v.value), bounds, *counts, note))
    terminal.table(titles, rows, left={"notebook", "system", "metric", "note"})


def _number(value: float) -> str:
    return "—" if value != value else f"{value:.4f}" if abs(value) < 1000 else f"{value:.0f}"


def _told(count: int | None) -> str:
    return "—" if count is None else str(count)


def _short(kept: str) -> str:
    from ragbench.core.settings.secrets import excerpt
    from ragbench.extras.runs.changes import readable

    return excerpt(readable(kept), 80)
