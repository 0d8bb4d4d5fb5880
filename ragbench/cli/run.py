"""`ragbench run`: notebooks with parameters become a report."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragbench.cli.console import consent, interruption, options
from ragbench.core import terminal
from ragbench.core.endings import Ending, worst

if TYPE_CHECKING:
    from ragbench.report import RunResult, Step


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
    """Execute the notebooks and write a report: pages, an index, score tables, and a manifest that reproduces it.

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
    from ragbench import report
    from ragbench.core import settings
    from ragbench.report.keeping import manifest
    from ragbench.tiers.basics import session
    from ragbench.tiers.run import gates

    known = settings.load()
    name, note = options.line(manifest.named, name, "--name"), options.line(manifest.noted, note, "--note")
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
    from ragbench import report
    from ragbench.cli.console import outputs, plans
    from ragbench.core import settings

    with terminal.Bars() as bars:
        planned = report.plan(
            notebooks, given, jobs=jobs, language=language, progress=partial(_draw, bars), lenient=lenient
        )
    plans.show_work(planned.work)
    plans.show(planned.outlooks, settings.load().budget)
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
    from ragbench.data import places

    names = (path.stem for path in places.notebooks())
    return sorted(names, key=lambda name: (name == "overview", not name.startswith("tier"), name))


def _conclude(result: RunResult, gate: bool, sent_to: str) -> None:
    from ragbench.cli import gate as gates
    from ragbench.cli.console import outputs
    from ragbench.cli.standing import standing
    from ragbench.core import answered_by, raised, stand_ins, unidentified
    from ragbench.core.language import translator
    from ragbench.report.pages import assembly

    measured = assembly.Measurements(result.folder)
    standing(measured, translator("en")).say()
    outputs.left_out(result.left_out)
    outputs.journaled(result.folder)
    outputs.stored(result.stored)
    for name, line in result.failures.items():
        terminal.say(f"{name} failed: {line}", err=True, colour="red")
    failures = (failure for name in measured.names() for failure in raised.of(measured[name].facts))
    for text in raised.sentences(failures, translator("en")):
        terminal.say(text, err=True, colour="red")
    strange = (unknown for name in measured.names() for unknown in unidentified.of(measured[name].facts).values())
    for text in unidentified.sentences(strange, translator("en")):
        terminal.say(text, err=True, colour="red")
    if result.unkept:
        terminal.say(
            f"the report is whole, but `ragbench runs` does not know it: {result.unkept}", err=True, colour="yellow"
        )
    outputs.caveat(stand_in for name in measured.names() for stand_in in stand_ins.of(measured[name].facts))
    outputs.answered(answered_by.together(measured[name].facts for name in measured.names()))
    terminal.say(result.index)
    held = gates.hold(result.folder) if gate else Ending.HELD
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
