"""`ragbench doctor`: what this machine can do, what it cannot, and the command that mends it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Literal

import typer

Finding = tuple[Literal["ok", "note", "fault"], str]
MARKS = {"ok": ("✓", "green"), "note": ("–", "yellow"), "fault": ("✗", "red")}


def doctor() -> None:
    """Check Python, packages, configuration, data sets, database, judges and browser; exit code 1 on a fault.

    It changes nothing, but starts the database server where it does not run.
    """
    faults = 0
    for check in (_python, _packages, _configuration, _data, _database, _judges, _browser):
        for kind, text in _findings(check):
            mark, colour = MARKS[kind]
            typer.echo(f"{typer.style(mark, fg=colour)} {text}")
            faults += kind == "fault"
    if faults:
        typer.echo(f"{faults} fault{'s' if faults > 1 else ''}; what is marked – is not needed for a first report")
        raise typer.Exit(1)
    typer.echo("ready: `ragbench run` writes a report")


def _findings(check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    try:
        yield from check()
    except Exception as error:  # a check that fails is a finding, whatever it fails with
        yield "fault", f"{check.__name__.strip('_')}: {error}"


def _python() -> Iterator[Finding]:
    found = ".".join(map(str, sys.version_info[:3]))
    yield ("ok", f"Python {found}") if sys.version_info >= (3, 11) else ("fault", f"Python {found}; 3.11 is needed")


def _packages() -> Iterator[Finding]:
    from importlib.metadata import PackageNotFoundError, requires, version

    from packaging.requirements import Requirement

    wanted = [Requirement(line) for line in requires("ragbench") or ()]
    count = 0
    for each in wanted:
        if each.marker is not None and not each.marker.evaluate({"extra": ""}):
            continue
        try:
            there = version(each.name)
        except PackageNotFoundError:
            yield "fault", f"the package {each.name} is not installed: make setup"
            continue
        if not each.specifier.contains(there, prereleases=True):
            yield "fault", f"{each.name} is {there}, {each.specifier} is needed: make setup"
        count += 1
    yield "ok", f"{count} packages"


def _configuration() -> Iterator[Finding]:
    from ragbench import settings

    path = settings.config_path()
    found = settings.load()
    yield (
        ("ok", f"{path}: systems {', '.join(found.systems)}; baseline {found.baseline or next(iter(found.systems))}")
        if path.is_file()
        else ("note", f"there is no {path.name} here: built-in settings are used (one offline system)")
    )


def _data() -> Iterator[Finding]:
    from ragbench import datasets, settings

    found = settings.load()
    folder = settings.project_folder() / found.data_folder
    for name in datasets.available(folder):
        one = datasets.load(name, folder)
        yield "ok", f"data set {name}: {len(one.chunks)} chunks, {len(one.questions)} questions"
    datasets.load(found.dataset, folder)


def _database() -> Iterator[Finding]:
    from ragbench import settings
    from ragbench.store import Store, server

    with Store.open(settings.load()):
        yield "ok", str(server.status(settings.load()))


def _judges() -> Iterator[Finding]:
    from ragbench import settings

    judges = settings.load().judges
    if not judges:
        yield "note", "no language model is configured as a judge: pages use the offline lexical one and say so"
    for name, judge in judges.items():
        if judge.key_variable and not os.environ.get(judge.key_variable):
            yield "fault", f"judge {name}: the variable {judge.key_variable} is not set; export {judge.key_variable}=…"
        else:
            yield "ok", f"judge {name}: {judge.model}"


def _browser() -> Iterator[Finding]:
    found = os.environ.get("RAGBENCH_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    yield ("ok", f"browser for the page tests: {found}") if found else ("note", "no Chromium: page tests will skip")
