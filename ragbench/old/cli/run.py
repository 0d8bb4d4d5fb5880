"""`ragbench run`, `ragbench gate`, `ragbench lab`: notebooks become a report, held to its gates, or are opened."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragbench.old.cli.console import consent, interruption, options
from ragbench.old.core import terminal
from ragbench.old.core.endings import Ending, worst

if TYPE_CHECKING:
    from ragbench.old.core.endings import Ending
    from ragbench.old.core.language import Translator
    from ragbench.old.core.parts import Table
    from ragbench.old.report import RunResult, Step
    from ragbench.old.report.pages.notebook_pages import Measurements
    from ragbench.old.tiers.run.gates import Decision


def run(
    notebooks: Annotated[list[str] | None, typer.Argument(help="Notebooks by name or path; all tiers if none.")] = None,
    dataset: Annotated[
        str,
        typer.Option("--dataset", "-d", help="Data set below data/; the page's language, or `name:ru`."),
    ] = "",
    systems: Annotated[
        str,
        typer.Option(
            "--systems",
            "-s",
            help="Systems, comma-separated; all if not given. A page of embedders takes theirs, a "
            "table of answers those that it names; pages on judges take none.",
        ),
    ] = "",
    parameter: Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="A notebook's parameter, as `name=value`; repeatable.")
    ] = None,
    limit: options.Limit = None,
    language: options.Language = "",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of reports; `reports` if not given.", callback=options.folder),
    ] = None,
    reports: Annotated[
        str,
        typer.Option(
            "--reports",
            help="URL that the whole run is sent to as well: s3://bucket/reports; as in ragbench.toml if not given.",
            callback=options.url,
        ),
    ] = "",
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            help="Notebooks executed at the same time; if not given, as many as cores and memory allow, but one by one "
            "while a clock is read, an endpoint asked or code of yours run.",
            min=1,
            max=64,
        ),
    ] = None,
    name: Annotated[str, typer.Option("--name", help="What the run is called, wherever it is shown.")] = "",
    note: Annotated[str, typer.Option("--note", help="What is said of it: why it was made, what is new.")] = "",
    cluster: options.Cluster = "",
    plan: options.PlanOnly = False,
    gate: Annotated[
        bool, typer.Option("--gate", help="Hold the report to the gates of ragbench.toml; see the exit codes.")
    ] = False,
    trusted: consent.Trust = False,
) -> None:
    """Execute the notebooks and write a report: pages, an index, scores, and a manifest that reproduces it.

    Examples:

    - `ragbench run`: the systems of ragbench.toml on its data set, all tiers.
    - `ragbench run tier1_retrieval -d campus:en -p k=20`: one tier, another data set, deeper rankings.
    - `ragbench run -l ru`: pages in Russian.
    - `ragbench run --name "bigger chunks" --note "700 signs, no overlap"`: found again by that name.
    - `ragbench run --limit 50`: a sample of the questions, and what all would take of models.
    - `ragbench run --plan`: what a run would compute, send and cost, and what of it is kept; without a call.

    Exit code 0 when every notebook came to its end and measured something, 4 when one did not, 3 when the request
    cannot be followed, 5 when nobody has answered for the folder (`ragbench trust`), 130 or 143 when it was
    interrupted; what models have answered by then is kept, and the same command goes on from there. With
    `fail_on_raised` in ragbench.toml also 1 when a system raised at any question.
    With --reports also 3 when the run could not be sent there: it is kept here, and the command is said that sends it.
    With --gate also 1 when a gate fails, 2 when there is not enough evidence, and 4 when a gate has no value.
    """
    from ragbench.old import report
    from ragbench.old.core import settings
    from ragbench.old.report.keeping import results
    from ragbench.old.tiers.basics import session
    from ragbench.old.tiers.run import gates

    known = settings.load()
    name, note = options.line(results.named, name, "--name"), options.line(results.noted, note, "--note")
    given: dict[str, Any] = dict(_pair(text) for text in parameter or ())
    given |= {name: value for name, value in (("dataset", dataset), ("systems", systems), ("limit", limit)) if value}
    chosen: list[str] = notebooks or tiers()
    reach = report.reach(chosen, given)
    if not plan:
        consent.required(reach, trusted)
        session.chosen(given.get("systems", ""))
    if gate:
        gates.check_gates(known)
    sent_to = reports or options.url(known.reports or "")
    if plan:
        consent.tell(reach)
        _plan(chosen, given, jobs, language or known.language, lenient=not notebooks)
        return
    language = language or known.language
    interruption.tell_of_killed(out)
    interruption.tell_of_kept(out)
    with terminal.Bars() as bars:
        result = report.run(
            chosen,
            given,
            out,
            jobs=jobs,
            language=language,
            progress=partial(_draw, bars),
            keep=True,
            lenient=not notebooks,
            name=name,
            note=note,
        )
    _conclude(result, gate, sent_to)


def _plan(notebooks: list[str], given: dict[str, Any], jobs: int | None, language: str, *, lenient: bool) -> None:
    from ragbench.old import report
    from ragbench.old.cli.console import outputs
    from ragbench.old.core import settings

    with terminal.Bars() as bars:
        planned = report.plan(
            notebooks, given, jobs=jobs, language=language, progress=partial(_draw, bars), lenient=lenient
        )
    outputs.show_work(planned.work)
    outputs.show(planned.outlooks, settings.load().budget)
    if planned.silent:
        terminal.say(f"Ask no model: {', '.join(planned.silent)}.")
    outputs.left_out(planned.left_out)
    if planned.unread:
        terminal.say(f"Not planned, for nobody has answered for this folder: {', '.join(planned.unread)}.", err=True)
    for name, line in planned.failures.items():
        terminal.say(f"{name} failed, and what it would ask after that is not counted: {line}", err=True, colour="red")
    if planned.failures:
        raise typer.Exit(Ending.UNMEASURED)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise typer.BadParameter(f"{text!r}: write it as name=value", param_hint="-p")
    return name.strip(), value


def tiers() -> list[str]:
    """All notebooks of the project in the order of a run; ragbench's where it has none."""
    from ragbench.old.data import places

    names = (path.stem for path in places.notebooks())
    return sorted(names, key=lambda name: (name == "overview", not name.startswith("tier"), name))


def _conclude(result: RunResult, gate: bool, sent_to: str) -> None:
    from ragbench.old.cli.console import outputs
    from ragbench.old.core import answered_by, gaps, stand_ins
    from ragbench.old.core.language import translator
    from ragbench.old.report.pages import notebook_pages

    measured = notebook_pages.Measurements(result.folder)
    standing(measured, translator("en")).say()
    outputs.left_out(result.left_out)
    outputs.journaled(result.folder)
    outputs.stored(result.stored)
    for name, line in result.failures.items():
        terminal.say(f"{name} failed: {line}", err=True, colour="red")
    failures = (failure for name in measured.names() for failure in gaps.raised(measured[name].facts))
    for text in gaps.raised_sentences(failures, translator("en")):
        terminal.say(text, err=True, colour="red")
    strange = (unknown for name in measured.names() for unknown in gaps.unidentified(measured[name].facts).values())
    for text in gaps.unidentified_sentences(strange, translator("en")):
        terminal.say(text, err=True, colour="red")
    if result.unkept:
        terminal.say(
            f"the report is whole, but `ragbench runs` does not know it: {result.unkept}", err=True, colour="yellow"
        )
    outputs.caveat(stand_in for name in measured.names() for stand_in in stand_ins.of(measured[name].facts))
    outputs.answered(answered_by.together(measured[name].facts for name in measured.names()))
    terminal.say(result.index)
    held = hold(result.folder) if gate else Ending.HELD
    sent = Ending.REFUSED if sent_to and not outputs.sent(result.folder, sent_to) else Ending.HELD
    if code := worst(result.exit_code, held, sent):
        raise typer.Exit(code)


def _draw(bars: terminal.Bars, step: Step) -> None:
    """One step of a run: the work that the current cell reports, else the cells that are done."""
    if step.work_total > 0:
        work = f"{step.label}: {step.note}" if step.note else step.label
        bars.show(step.notebook, step.work_done, step.work_total, work)
    else:
        bars.show(step.notebook, step.done, step.total)


def standing(measured: Measurements, _: Translator) -> Table:
    """A row for each page and system: the number that the page answers with, its interval and verdict.

    The notes say what the overview says, and what models cost.
    Without rows where nothing was measured.
    """
    from ragbench.old.core.parts import Column, Table, Value, spoken
    from ragbench.old.tiers.basics import verdict_tables
    from ragbench.old.tiers.run.overview import NAME
    from ragbench.old.views.about.run_summary import Overview, answers, cost
    from ragbench.old.views.basics.material import Material, digits_of

    if NAME not in measured.names():
        return Table((), ())
    overview = Overview(Material(measured[NAME], _))
    rows, digits, unsure = [], [], list[str]()
    for page in overview.pages:
        metric = overview.metric(page)
        if metric is None:
            continue
        for system, e in overview.numbers[str(page["name"])][metric].items():
            c = overview.comparison(page, system, metric)
            by = overview.judged_by(page, metric)
            word = ", ".join(filter(None, (verdict_tables.said(c, _), by))) if c is not None else ""
            value = Value.of(e, why=verdict_tables.exact(e, _))
            rows.append((overview.short(page), metric, system, value, word, e.n_unmeasured))
            digits.append(digits_of((e.value, e.low, e.high), metric))
            if why := verdict_tables.doubted(e, _):
                unsure.append(f"{overview.short(page)}: {metric} {system}: {why}")
    columns = (
        Column(_("page")), Column(_("metric")), Column(_("system")), Column(_("value"), "interval"),
        Column(_("verdict"), "verdict"), Column(_("unmeasured"), "count"),
    )  # fmt: skip
    spent = [page["spent"] for page in overview.pages if page.get("spent")]
    whole = {key: sum(bill.get(key) or 0 for bill in spent) for key in ("calls", "money", "unpriced")}
    notes = [spoken(_).phrase(text) for text in answers(overview)] + unsure
    if whole["calls"]:
        paid, calls = cost(whole, _), int(whole["calls"])
        notes.append(_.plural("{n} call of models, {cost}", "{n} calls of models, {cost}", calls, cost=paid))
    return Table(columns, tuple(rows), notes=tuple(notes), digits=digits, language=_.language)


JSON = "gate.json"


def gate(name: options.Run) -> None:
    """Hold a finished run to the gates of ragbench.toml, as `ragbench run --gate` does after measuring.

    Exit code 0 when every gate holds, 1 when one fails, 2 when there is not enough evidence, 4 when one has no value.
    """
    from ragbench.old.core import settings
    from ragbench.old.report.keeping import kept
    from ragbench.old.tiers.run import gates as room

    room.check_gates(settings.load())
    code = hold(kept.pages_of(name))
    if code:
        raise typer.Exit(code)


def hold(folder: Path) -> Ending:
    """Decide every gate on a run's numbers, say so, keep it beside them as gate.json."""
    from ragbench.old.cli.console import outputs
    from ragbench.old.core import settings, stand_ins
    from ragbench.old.report.keeping import results
    from ragbench.old.report.pages import notebook_pages
    from ragbench.old.tiers.run import gates as room

    kept = notebook_pages.Measurements(folder)
    measured = {name: kept[name] for name in kept.names()}
    decision = room.decide(measured, settings.load())
    results.write_json(folder / JSON, {**decision.as_json(), **results.stood_in(measured)})
    code = tell(decision)
    outputs.caveat(
        stand_in
        for check in decision.checks
        if check.notebook in measured
        for stand_in in stand_ins.of(measured[check.notebook].facts, check.system, check.metric)
    )
    terminal.say(f"gate: {decision.outcome}", err=True, bold=True)
    return code


def tell(decision: Decision) -> Ending:
    """Say every check on the error channel."""
    from ragbench.old.tiers.run.gates import ALONE, line

    for check in decision.checks:
        colour = {"holds": "green", "fails": "red"}.get(str(check.outcome), "yellow")
        terminal.say(line(check), err=True, colour=colour)
    if any(check.is_difference for check in decision.checks):
        terminal.say(ALONE, err=True)
    return decision.exit_code


LOOPBACK = ("127.0.0.1", "localhost", "::1")


def lab(
    notebook: Annotated[str, typer.Argument(help="The notebook to open first.")] = "tier1_retrieval",
    port: Annotated[int, typer.Option(help="Port; the next free one where it is taken.", min=1, max=65535)] = 8888,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser window.")] = True,
    trusted: consent.Trust = False,
    ip: Annotated[str, typer.Option(help="Where to listen; another address lets others in.")] = "127.0.0.1",
) -> None:
    """Open the notebooks in JupyterLab: change a parameter in the cell at the top, run all cells, look.

    Of a project without notebooks those that come with ragbench are copied into it: they are yours to change, and what
    `ragbench run` executes there from then on. It listens on 127.0.0.1 and asks for a token. Ctrl-C ends it.
    """
    import os
    import sys

    from ragbench.old import report
    from ragbench.old.core import annexes, settings, trust
    from ragbench.old.data import places

    path = report.find(notebook)
    consent.required((*trust.named(), *trust.notebooks(), *trust.notebooks([path])), trusted)
    if path.parent == annexes.NOTEBOOKS != places.own_notebooks().resolve():
        path = _copied(places.own_notebooks()) / path.name
    root = settings.project_folder()
    if root not in path.resolve().parents:  # where notebooks_folder, or the path given, leads elsewhere
        root = path.resolve().parent
    if ip not in LOOPBACK:
        terminal.say(
            f"JupyterLab will listen on {ip}: whoever has its token can run code here", err=True, colour="yellow"
        )
    words = [
        *(sys.executable, "-P", "-m", "jupyterlab"),  # no file of the project takes the place of a package
        f"--ServerApp.ip={ip}",
        f"--ServerApp.port={port}",
        f"--ServerApp.root_dir={root}",
        f"--ServerApp.open_browser={browser}",
        f"--ServerApp.allow_root={os.geteuid() == 0}",
        f"--LabApp.default_url=/lab/tree/{path.resolve().relative_to(root).as_posix()}",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    quiet = Path(__file__).parent / "jupyter"  # no news, so no request to another host
    paths = os.pathsep.join(filter(None, (str(quiet), os.environ.get("JUPYTER_CONFIG_PATH"))))
    known = {"RAGBENCH_CONFIG": str(settings.config_path().resolve())} if settings.config_path().is_file() else {}
    kernels = os.pathsep.join(filter(None, (str(quiet), os.environ.get("JUPYTER_PATH"))))
    known |= {"JUPYTER_CONFIG_PATH": paths, "JUPYTER_PATH": kernels, "PYTHONSAFEPATH": "1", **trust.passed_on()}
    os.chdir(root)
    os.execve(sys.executable, words, {**os.environ, **known})  # noqa: S606 - without a shell


def _copied(folder: Path) -> Path:
    """The project's notebooks folder, with ragbench's notebooks in it besides those that are there."""
    from ragbench.old.core import annexes, folders

    folder.mkdir(parents=True, exist_ok=True)
    files = sorted(path for path in annexes.NOTEBOOKS.iterdir() if path.is_file())
    missing = [path for path in files if not (folder / path.name).exists()]
    for path in missing:
        folders.write(folder / path.name, folders.content(path))
    terminal.say(f"copied into {folder}: {len(missing)} files, yours to change; now `ragbench run` executes these")
    return folder
