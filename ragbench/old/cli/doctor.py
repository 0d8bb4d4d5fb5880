"""`ragbench doctor`: what this machine can do, what it cannot, and the command that mends it."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Annotated, Literal

import typer

from ragbench.old.cli.console import consent, options
from ragbench.old.cli.console.options import counted
from ragbench.old.core import terminal
from ragbench.old.core.endings import Ending

Finding = tuple[Literal["ok", "note", "fault"], str]
MARKS = {"ok": ("✓", "green"), "note": ("–", "yellow"), "fault": ("✗", "red")}


def doctor(
    online: Annotated[
        bool,
        typer.Option("--online", help="Also ask every model behind an endpoint one short question."),
    ] = False,
    cluster: options.Cluster = "",
    trusted: consent.Trust = False,
) -> None:
    """Check Python, packages, configuration, trust, data and the pages they allow, systems, database, judges, browser.

    Exit code 3 on a fault.

    It changes nothing, but starts the database server where it does not run. Where the settings or --cluster name a
    cluster, every worker's ragbench, packages, database and keys are compared with those of this process. With --online
    it also says whether each model answers, and under which name: that costs a few tokens a model.
    """
    faults = 0
    checks = [_python, _packages, _configuration, _trust, _data, _pages, _parts, _database, _judges, _browser]
    checks.append(_cluster)
    if online:
        from ragbench.old.core import trust

        consent.required(trust.named(), trusted)
        checks.append(_endpoints)
    raised = set[str]()
    for check in checks:
        for kind, text in _findings(check, raised):
            mark, colour = MARKS[kind]
            terminal.say(text, mark=mark, colour=colour)
            faults += kind == "fault"
    if faults:
        terminal.say(f"{faults} fault{'s' if faults > 1 else ''}; what is marked – is not needed for a first report")
        raise typer.Exit(Ending.REFUSED)
    terminal.say("ready: `ragbench run` writes a report")


def _findings(check: Callable[[], Iterator[Finding]], raised: set[str]) -> Iterator[Finding]:
    """What a check says; of what it fails with, what no other check has failed with (`raised`)."""
    try:
        yield from check()
    except Exception as error:  # a check that fails is a finding, whatever it fails with
        if str(error) not in raised:
            yield "fault", f"{check.__name__.strip('_')}: {error}"
        raised.add(str(error))


def _cluster() -> Iterator[Finding]:
    from ragbench.old.core import settings
    from ragbench.old.store import pool

    known = settings.load()
    if known.cluster is None:
        return
    try:
        with pool.opened(known) as workers:
            assert workers is not None, "the settings name a cluster"
            seconds = workers.seconds_of_a_part()
            yield (
                "ok",
                (
                    f"cluster {known.cluster}: {counted(workers.count, 'worker')} at {workers.where}, with ragbench, "
                    f"packages, database and keys as they are here; a part costs "
                    f"{1000 * seconds:.0f} ms besides its work"
                ),
            )
    except pool.UnfitError as error:
        for difference in error.differences:
            yield "fault", f"cluster {known.cluster}: {difference}"


def _python() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield ("ok", f"Python {version}") if sys.version_info >= (3, 11) else ("fault", f"Python {version}; 3.11 is needed")


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
    from ragbench.old.core import settings

    path = settings.config_path()
    known = settings.load()
    yield (
        ("ok", f"{path}: systems {', '.join(known.systems)}; baseline {known.baseline or next(iter(known.systems))}")
        if path.is_file()
        else (
            "note",
            f"there is no {path.name} here: ragbench's own is read; `ragbench init` writes one",
        )
    )
    yield _notebooks()


def _notebooks() -> Finding:
    from ragbench.old.data import places

    paths = places.notebooks()
    whose = "the project's own" if paths[0].parent == places.own_notebooks() else "those that come with ragbench"
    return "ok", f"notebooks: {whose}, {len(paths)} in {paths[0].parent}"


def _data() -> Iterator[Finding]:
    from ragbench.old import data
    from ragbench.old.core import annexes, settings
    from ragbench.old.data import places
    from ragbench.old.tiers.basics.session import dataset_of

    known = settings.load()
    own = data.available(places.own_data())
    for name in sorted({*own, *data.available(annexes.DATA)}):
        try:
            dataset = data.load(name, places.data(name))
        except data.TooMuchError as error:
            yield "note", str(error)
            continue
        whose = "" if name in own else ", comes with ragbench"
        size = f"{counted(len(dataset.chunks), 'passage')}, {counted(len(dataset.questions), 'question')}"
        yield "ok", f"data set {name}: {size}{whose}"
    if known.dataset.startswith(settings.OWN_TABLES):
        name = known.dataset.removeprefix(settings.OWN_TABLES)
        yield "note", f"data set {known.dataset}: `ragbench load database {name} --dry-run` looks at it"
    elif own or "dataset" in known.model_fields_set:
        with contextlib.suppress(data.TooMuchError):  # said already
            dataset_of(known.dataset, known)
    else:
        yield "note", "there is no data set of this project: `ragbench load` brings one; `ragbench score` needs none"


def _pages() -> Iterator[Finding]:
    """Which pages the configured data allow, as a run of all pages would make them."""
    from ragbench.old import report
    from ragbench.old.cli.run import tiers
    from ragbench.old.core.language import translator

    names = tiers()
    lacking = {lack.page: lack for lack in report.lacking(names)}
    made = [name for name in names if name not in lacking]
    yield "ok", f"pages that the data allow: {', '.join(made) or 'none'}"
    for name, missing in lacking.items():
        yield "note", f"{name} {missing.sentence(translator('en'))}"


def _parts() -> Iterator[Finding]:
    """What a run checks first, of all that is configured."""
    from ragbench.old.core import settings
    from ragbench.old.core.language import translator
    from ragbench.old.tiers import readiness

    known = settings.load()
    every = readiness.of_settings(known)
    faults = readiness.faults(every, known)
    yield from (("fault", line) for line in faults)
    if not faults:
        english = translator("en")
        there = english.enumeration(
            [
                english.plural("{n} system", "{n} systems", len(every.systems)),
                english.plural("{n} embedder", "{n} embedders", len(every.embedders)),
                english.plural("{n} generator", "{n} generators", len(every.generators)),
            ]
        )
        yield "ok", f"{there}: what can be found without asking them is there"


def _database() -> Iterator[Finding]:
    from ragbench.old.core import settings
    from ragbench.old.store import Store, server

    with Store.open(settings.load()):
        yield "ok", str(server.status(settings.load()))


def _judges() -> Iterator[Finding]:
    from ragbench.old.core import settings

    judges = settings.load().judges
    if not judges:
        yield "note", "no language model is configured as a judge: pages use the offline lexical one and say so"
    for name, judge in judges.items():
        if not judge.key_variable or os.environ.get(judge.key_variable):  # else it is among the faults of parts
            yield "ok", f"judge {name}: {judge.model}"


def _trust() -> Iterator[Finding]:
    from ragbench.old.core import settings, trust
    from ragbench.old.views.basics.text import clean

    items = (*trust.named(), *trust.notebooks())
    for doubt in (open_ := trust.doubts(*items)):
        yield "note", f"not trusted yet: {clean(str(doubt))}; see `ragbench trust`"
    if not open_:
        yield "ok", f"trusted: {settings.project_folder()}" if items else consent.NOTHING


def _endpoints() -> Iterator[Finding]:
    """One short question to each model and system, and the name under which it answers."""
    from ragbench.old.core import settings
    from ragbench.old.tiers import readiness
    from ragbench.old.views.basics.text import clean

    known = settings.load()
    asked = list(readiness.probes(readiness.of_settings(known), known))
    yield from ((kind, clean(text)) for kind, text in readiness.endpoints(asked))


def _browser() -> Iterator[Finding]:
    browser = os.environ.get("RAGBENCH_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    yield ("ok", f"browser for the page tests: {browser}") if browser else ("note", "no Chromium: page tests will skip")
