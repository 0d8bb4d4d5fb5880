"""`ragbench runs`, `ragbench compare`, `ragbench history`: what was run, found again, set side by side and in a row."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragbench.old.cli.console import consent, options
from ragbench.old.core import terminal
from ragbench.old.core.endings import Ending

if TYPE_CHECKING:
    from ragbench.old.extras.runs.compared import RunComparison
    from ragbench.old.store.run_records import RunRecord, RunValue


application = typer.Typer(
    help="Runs that the database keeps: listed, shown, renamed, deleted, taken elsewhere.", invoke_without_command=True
)
HEADLINES = 3  # a line of 80 characters holds so many systems


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
    from ragbench.old.cli.console import interruption
    from ragbench.old.core import settings
    from ragbench.old.store import Store

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
    from ragbench.old.cli.console import outputs
    from ragbench.old.core import answered_by, stand_ins
    from ragbench.old.extras.runs.past_runs import COVERED
    from ragbench.old.report.keeping import kept

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
    from ragbench.old.core.types.reason import read

    for part in record.parts:
        if part.failure:
            terminal.say(f"{part.notebook} failed: {read(part.failure)}", colour="red")
    _values(record)
    from ragbench.old.extras.runs.run_tables import run_facts

    for part in record.parts:
        if topics := run_facts(part.facts).get("topic_coverage"):
            terminal.table(COVERED, [tuple(_told(topic[name]) for name in COVERED) for topic in topics])
    outputs.caveat((stand_in for part in record.parts for stand_in in stand_ins.of(part.facts)), err=False)
    outputs.answered(answered_by.together(part.facts for part in record.parts), err=False)


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
    from ragbench.old.report.keeping import kept, results

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
    from ragbench.old.core import settings
    from ragbench.old.store import Store

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
    from ragbench.old.extras.runs import packs

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
    from ragbench.old.cli.console import outputs
    from ragbench.old.core import settings, trust
    from ragbench.old.report.keeping import kept

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
    from ragbench.old.extras.runs import packs

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
    from ragbench.old.core import stand_ins
    from ragbench.old.core.measurement import without_nan
    from ragbench.old.extras.runs.run_tables import run_facts

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
    from ragbench.old.metrics import declaration, meant

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

    from ragbench.old.core.measurement import without_nan

    fields: dict[str, Any] = without_nan(asdict(value))
    return fields


def _relative(folder: Path) -> str:
    from ragbench.old.core import settings

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
    from ragbench.old.core.language import translator
    from ragbench.old.core.stand_ins import names, of

    parts = {value.system: record.part(value.notebook) for value in named}
    used = [stand_in for system, part in parts.items() if part is not None for stand_in in of(part.facts, system)]
    offline = names(used, translator("en"))
    return f" (offline stand-ins: {offline})" if offline else ""


def _values(record: RunRecord) -> None:
    from ragbench.old.core.parts import Style, Value

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
    from ragbench.old.core.settings.secrets import excerpt
    from ragbench.old.extras.runs.changes import readable

    return excerpt(readable(kept), 80)


SAID = 8
"""Settings that differ and are said; the page has all."""
LONGEST = 120
"""Signs of a folder's name."""


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...", help="Two or more: names or ids, beginnings of ids, latest, folders; the first is run A."
        ),
    ],
    baseline: Annotated[
        str, typer.Option("--baseline", help="The run that the others are compared with; it becomes run A.")
    ] = "",
    system: Annotated[
        list[str] | None,
        typer.Option("--system", help="A=NAME, B=NAME …: a system of that run; all shared if none."),
    ] = None,
    out: options.Out = None,
    json_file: options.JsonFile = None,
    language: options.Language = "",
    on_common_questions: Annotated[
        bool,
        typer.Option("--on-common-questions", help="With other data: pair the questions that are the same in both."),
    ] = False,
) -> None:
    """Compare runs with a baseline question by question: intervals, corrected p, verdicts, and what changed.

    p is corrected over all comparisons of a page, of all runs and systems. Runs on other data or in another unit are
    refused, with what would make them comparable. Where a run has only summaries, two-sample intervals take the place
    of paired ones, and say so.

    Examples:

    - `ragbench compare 20261122T0712 latest`
    - `ragbench compare "bigger chunks" 20261122T0712 latest --baseline latest`
    - `ragbench compare old new --system A=exact --system B=hnsw --json difference.json`

    Exit code 0 when something was compared, whatever came out; 3 when nothing can be.
    """
    from ragbench.old.cli.console import outputs
    from ragbench.old.core import answered_by, settings, trust
    from ragbench.old.extras.runs import comparison_pages
    from ragbench.old.extras.runs.compared import compare_runs
    from ragbench.old.report.keeping import kept

    known = settings.load()
    if len(runs) < 2 and not (baseline and runs):
        raise typer.BadParameter("two runs or more are expected", param_hint="RUN")
    chosen, records = _systems(system or []), [kept.find(name) for name in runs]
    if baseline:
        first = kept.find(baseline)
        records = [first, *(record for record in records if record.id != first.id)]
    comparison = compare_runs(*records, systems=chosen, on_common_questions=on_common_questions)
    shelf = trust.folder_of("reports_folder") / "comparisons"
    folder = out or shelf / _folder([record.id for record in records])
    index = comparison_pages.write(comparison, folder, language or known.language)
    to_screen = outputs.is_screen(json_file)
    if json_file is not None:
        outputs.write(json_file, comparison_pages.as_json(comparison))
    if not to_screen:
        _say(comparison)
    outputs.caveat(comparison_pages.stood_in(comparison), err=to_screen)
    outputs.answered(answered_by.of({"answered_by": comparison_pages.answered(comparison)}), err=to_screen)
    terminal.say(f"for an article: ragbench publish {out or folder.name} --to article", err=to_screen)
    terminal.say(index, err=to_screen)


def _folder(ids: Sequence[str]) -> str:
    """A name for these runs in this order, which a folder can have."""
    name = "--".join(ids)
    if len(name) <= LONGEST:
        return name
    return f"{ids[0]}--{len(ids) - 1}-runs-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _systems(given: list[str]) -> dict[str, str]:
    by_letter: dict[str, str] = {}
    for text in given:
        letter, equals, name = text.partition("=")
        if len(letter.strip()) != 1 or not letter.strip().isalpha() or not equals or not name.strip():
            raise typer.BadParameter(f"{text!r}: write it as A=NAME or B=NAME", param_hint="--system")
        by_letter[letter.strip().upper()] = name.strip()
    return by_letter


def _say(comparison: RunComparison) -> None:

    from ragbench.old.core.language import translator
    from ragbench.old.core.settings.secrets import excerpt
    from ragbench.old.extras.runs import bare_numbers, comparison_pages
    from ragbench.old.extras.runs.changes import said
    from ragbench.old.extras.runs.compared import LETTERS
    from ragbench.old.tiers.basics import verdict_tables

    english = translator("en")
    for letter, run in zip(LETTERS, comparison.runs, strict=False):
        terminal.say(f"{letter}  {run.id}  {run.name}".rstrip())
    several = len(comparison.runs) > 2
    for change in comparison.changes[:SAID]:
        values = " | ".join("—" if value is None else excerpt(value, 60) or "none" for value in change.values)
        terminal.say(f"{change.kind} {change.title}: {values}")
    if len(comparison.changes) > SAID:
        terminal.say(f"{len(comparison.changes) - SAID} more things changed between the runs")
    letters = {run.id: letter for letter, run in zip(LETTERS, comparison.runs, strict=False)}
    for refusal in comparison.refused:
        what = " of ".join(filter(None, [refusal.notebook, letters[refusal.run] if several else ""])) or "the runs"
        terminal.say(f"{what} is not compared: {said(refusal, english)}", err=True, colour="yellow")
    for pairing in comparison.pairings:
        fell = pairing.only_first + pairing.only_second + pairing.altered
        name = pairing.systems[0] if pairing.systems[0] == pairing.systems[1] else " / ".join(pairing.systems)
        name += f", {LETTERS[pairing.run]} against {LETTERS[0]}" if several else ""
        same = verdict_tables.equal((finding.comparison for finding in pairing.comparisons), english)
        count = f"{len(pairing.samples)} common questions, {fell} fell out"
        terminal.say(f"{pairing.notebook}, {name}: {count}{f'; {same}' if same else ''}")
        if not same:
            verdict_tables.comparisons(
                [(finding.metric, finding.comparison) for finding in pairing.comparisons], english, 4
            ).say()
    compared = sum(summary.comparison is not None for summary in comparison.summarized)
    bare_numbers.table_of_summaries(comparison_pages.summaries(comparison), english, apart=True).say()
    if comparison.summarized:
        terminal.say(f"without pairs: {compared} compared as two samples, {len(comparison.summarized) - compared} not")


def history(
    metric: Annotated[
        list[str] | None, typer.Option("--metric", "-m", help="A metric; repeat it. The primary of each page if none.")
    ] = None,
    notebook: Annotated[
        list[str] | None, typer.Option("--notebook", "-n", help="Only this notebook; repeat it.")
    ] = None,
    system: Annotated[list[str] | None, typer.Option("--system", "-s", help="Only this system; repeat it.")] = None,
    project: Annotated[
        list[str] | None,
        typer.Option("--project", help="Runs of the project in a folder of this name; repeat it. This one's if none."),
    ] = None,
    all_projects: Annotated[bool, typer.Option("--all-projects", help="Runs of every project.")] = False,
    limit: Annotated[int, typer.Option("--limit", help="How many runs, the newest.", min=1)] = 200,
    out: options.Out = None,
    json_file: options.JsonFile = None,
    language: options.Language = "",
) -> None:
    """Draw values with intervals over the kept runs of this project, with marks where code, data, model or prompt
    changed.

    Each data set has a section of its own, and in it each metric a panel over the same runs.
    Values on other data are not joined by a line; values that cannot be compared are shown as such, with the reason.

    Example: `ragbench history -m mrr -m ndcg@10`
    """
    from ragbench.old.cli.console import outputs
    from ragbench.old.core import answered_by, settings, stand_ins, trust
    from ragbench.old.core.language import translator
    from ragbench.old.core.settings import project_folder
    from ragbench.old.extras.runs import history as room
    from ragbench.old.extras.runs.run_tables import run_facts
    from ragbench.old.store import Store

    known = settings.load()
    with Store.open(known) as store:
        everywhere = bool(project) or all_projects
        records = store.runs.records(None if project else limit, None if everywhere else project_folder().resolve())
    if project:
        records = room.of_projects(records, project)[:limit]
    made = room.history(records, metrics=metric or (), notebooks=notebook or (), systems=system or ())
    index = room.write(made, out or trust.folder_of("reports_folder") / "history", language or known.language)
    if json_file is not None:
        tables = {"points": room.rows(made), "changes": made.extra["changes"].to_dict("records")}
        about = {
            "runs": run_facts(made.facts)["runs"],
            "answered_by": made.facts["answered_by"],
            "caveat": stand_ins.caveat(stand_ins.of(made.facts), translator("en")),
        }
        outputs.write(json_file, {**tables, **about})
    outputs.caveat(stand_ins.of(made.facts))
    outputs.answered(answered_by.of(made.facts))
    terminal.say(index, err=outputs.is_screen(json_file))
