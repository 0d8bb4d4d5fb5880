"""`ragbench run`: notebooks with parameters become a report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragbench.commands import interruption
from ragbench.commands.interruption import resumable

if TYPE_CHECKING:
    from ragbench.report import RunResult, Step

MATERIAL = "statistics_calibration"  # a page about ragbench itself, made by `make calibrate`, not part of a report


def run(
    notebooks: Annotated[list[str] | None, typer.Argument(help="Notebooks by name or path; all tiers if none.")] = None,
    dataset: Annotated[
        str, typer.Option("--dataset", "-d", help="Data set below data/; `name:ru` for a language.")
    ] = "",
    systems: Annotated[str, typer.Option("--systems", "-s", help="Systems, comma-separated; all if not given.")] = "",
    parameter: Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="A notebook's parameter, as `name=value`; repeatable.")
    ] = None,
    language: Annotated[str, typer.Option("--language", "-l", help="Language of the pages: en or ru.")] = "",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder of reports; `reports` if not given.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Notebooks executed at the same time.", min=1, max=64)] = 1,
    plan: Annotated[bool, typer.Option("--plan", help="Only say what models would be asked, and its cost.")] = False,
    gate: Annotated[
        bool, typer.Option("--gate", help="Hold the report to the gates of ragbench.toml; see the exit codes.")
    ] = False,
) -> None:
    """Execute the notebooks and write a report: pages, an index, score tables, and a manifest that reproduces it.

    Examples:

    - `ragbench run`: the systems of ragbench.toml on its data set, all tiers.
    - `ragbench run tier1_retrieval -d campus:en -p k=20`: one tier, another data set, deeper rankings.
    - `ragbench run -l ru`: pages in Russian.
    - `ragbench run --plan`: calls, tokens, cost and minutes of a run, and what the journal has of it; without a call.

    Exit code 0 when every notebook came to its end, 1 when one failed, 2 when the request cannot be followed, 130 or
    143 when it was interrupted; what models have answered by then is kept, and the same command goes on from there.
    With --gate also 1 when a gate fails, and 2 when there is not enough evidence.
    """
    from ragbench import bench, report, settings
    from ragbench.bench import gate as gates
    from ragbench.commands import outputs

    outputs.folder(out, "--out")
    outputs.language(language)
    bench.check(dataset, systems)
    known = settings.load()
    given: dict[str, Any] = dict(_pair(text) for text in parameter or ())
    given |= {name: value for name, value in (("dataset", dataset), ("systems", systems)) if value}
    chosen: list[str] = notebooks or _tiers()
    if gate:
        gates.check_gates(known)
    if plan:
        _plan(chosen, given, jobs, language or known.language)
        return
    language = language or known.language
    interruption.tell_of_killed(out)
    with resumable(), _Bars() as bars:
        result = report.run(chosen, given, out, jobs=jobs, language=language, progress=bars.show, keep=True)
    _conclude(result, gate)


def _plan(notebooks: list[str], given: dict[str, Any], jobs: int, language: str) -> None:
    from ragbench import report, settings
    from ragbench.commands import plans

    with resumable(), _Bars() as bars:
        found = report.plan(notebooks, given, jobs=jobs, language=language, progress=bars.show)
    plans.show(found.outlooks, settings.load().budget)
    if found.silent:
        typer.echo(f"Ask no model: {', '.join(found.silent)}.")
    for name, line in found.failures.items():
        typer.secho(f"{name} failed, and what it would ask after that is not counted: {line}", err=True, fg="red")
    if found.failures:
        raise typer.Exit(1)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise typer.BadParameter(f"{text!r}: write it as name=value", param_hint="-p")
    return name.strip(), value


def _tiers() -> list[str]:
    from ragbench import settings

    folder = settings.project_folder() / settings.load().notebooks_folder
    names = (path.stem for path in folder.glob("*.ipynb") if path.stem != MATERIAL)
    found = sorted(names, key=lambda name: (name == "overview", not name.startswith("tier"), name))
    if not found:
        raise typer.BadParameter(f"there are no notebooks in {folder}; name one by its path", param_hint="NOTEBOOKS")
    return found


def _conclude(result: RunResult, gate: bool) -> None:
    from ragbench.commands import gate as gates

    for name, line in result.failures.items():
        typer.secho(f"{name} failed: {line}", err=True, fg=typer.colors.RED)
    if result.unkept:
        typer.secho(
            f"the report is whole, but `ragbench runs` does not know it: {result.unkept}", err=True, fg="yellow"
        )
    typer.echo(str(result.index))
    held = gates.hold(result.folder) if gate else 0
    if result.exit_code or held:
        raise typer.Exit(result.exit_code or held)


class _Bars:
    """One bar a notebook with the time left, on a terminal; one line a notebook elsewhere."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._console = Console(stderr=True)
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[work]}"),
            console=self._console,
            disable=not sys.stderr.isatty(),
        )
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> _Bars:
        self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bars.stop()

    def show(self, step: Step) -> None:
        """Draw one step of a run."""
        if step.notebook not in self._tasks:
            self._tasks[step.notebook] = self._bars.add_task(step.notebook, total=None, work="")
            if not sys.stderr.isatty():
                typer.echo(f"{step.notebook} …", err=True)
        task = self._tasks[step.notebook]
        if step.work_total > 0:
            self._bars.update(task, completed=step.work_done, total=step.work_total, work=_work(step))
        elif step.total > 0:
            self._bars.update(task, completed=step.done, total=step.total, work="")


def _work(step: Step) -> str:
    return f"{step.label}: {step.note}" if step.note else step.label
