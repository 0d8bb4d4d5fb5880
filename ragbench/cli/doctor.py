"""`ragbench doctor`."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ragbench.core.errors import BenchError
from ragbench.core.secrets import mask
from ragbench.core.settings import Settings, find_file
from ragbench.core.trust import is_trusted, open_settings

SIGNS = {"ok": "✓", "note": "·", "wrong": "✗"}
WRONG = 3


@dataclass(frozen=True)
class Finding:
    """One line: ok, a note, or what is wrong with the way out."""

    sign: str
    what: str
    text: str


def main(
    online: Annotated[
        bool, typer.Option("--online", help="Ask every model and service one short question.")
    ] = False,
) -> None:
    """Say what this machine can do, and what is missing: packages, data, database, models, systems.

    --online sends one short question to each judge, generator and service, and proposes where a
    service's reply has its answer. Exit code 3 where something is wrong.
    """
    findings: list[Finding] = []
    for finding in examine(online):
        print(f"{SIGNS[finding.sign]} {finding.what:12} {mask(finding.text)}")
        findings.append(finding)
    if any(finding.sign == "wrong" for finding in findings):
        raise typer.Exit(WRONG)


def examine(online: bool) -> Iterator[Finding]:
    """Yield all findings in order; a fault in one does not end the others."""
    yield Finding("ok", "python", f"{platform.python_version()} at {sys.executable}")
    yield from examine_packages()
    file = find_file(None)
    if file is None:
        yield Finding(
            "note", "settings", "no ragbench.toml here: defaults; `ragbench init` writes one"
        )
    else:
        trusted = "trusted" if is_trusted(file.parent) else "not trusted yet: ragbench trust"
        yield Finding("ok", "settings", f"{file}, {trusted}")
    settings = open_settings()
    checks: list[tuple[str, Callable[[Settings], Iterator[Finding]]]] = [
        ("data", examine_data),
        ("database", examine_database),
        ("embedder", examine_embedder),
        ("judges", examine_judges),
        ("systems", examine_systems),
        ("own tables", examine_own_tables),
    ]
    if online:
        checks += [("online", ask_models), ("online", ask_services)]
    for name, check in checks:
        try:
            yield from check(settings)
        except BenchError as error:
            yield Finding("wrong", name, str(error))


def examine_packages() -> Iterator[Finding]:
    """Compare what is installed with what ragbench needs."""
    from importlib.metadata import PackageNotFoundError, requires, version

    from packaging.requirements import Requirement

    wrong = []
    for line in requires("ragbench") or []:
        needed = Requirement(line)
        if needed.marker is not None and not needed.marker.evaluate({"extra": ""}):
            continue
        try:
            installed = version(needed.name)
        except PackageNotFoundError:
            wrong.append(f"{needed.name} is missing")
            continue
        if not needed.specifier.contains(installed, prereleases=True):
            wrong.append(f"{needed.name} is {installed}, it should be {needed.specifier}")
    if wrong:
        yield Finding("wrong", "packages", f"{'; '.join(wrong)}: run `make setup`")
    else:
        yield Finding("ok", "packages", "all that ragbench needs is installed")


def examine_data(settings: Settings) -> Iterator[Finding]:
    """Read the data set and count what it has."""
    from ragbench.data import read_dataset

    if settings.dataset.startswith("db:"):
        return
    folder = settings.path(settings.data_folder)
    dataset = read_dataset(settings.dataset, settings.language, folder)
    labelled = dataset.labels["question_id"].nunique()
    yield Finding(
        "ok",
        "data",
        f"{dataset.name}: {len(dataset.passages)} passages, {len(dataset.questions)} questions, "
        f"{labelled} of them with relevant passages",
    )


def examine_database(settings: Settings) -> Iterator[Finding]:
    """Start or reach PostgreSQL."""
    from ragbench.store import Store

    with Store(settings.database) as store:
        yield Finding("ok", "database", f"PostgreSQL with pgvector at {store.url}")


def examine_embedder(settings: Settings) -> Iterator[Finding]:
    """Say what texts are embedded with, and whether it only stands in for a model."""
    from ragbench.embed import open_embedder
    from ragbench.tiers.answering import usual_embedder

    name = settings.embedder or usual_embedder(settings)
    embedder = open_embedder(name, settings, settings.language)
    sign = "note" if embedder.is_stand_in else "ok"
    yield Finding(sign, "embedder", f"{name}: {embedder.describe()}")


def examine_judges(settings: Settings) -> Iterator[Finding]:
    """Say which judges there are, and whose key is not set."""
    if not settings.judges:
        yield Finding(
            "note", "judges", "none: the lexical one stands in; [judges.NAME] names a model"
        )
    for name, table in settings.judges.items():
        if table.key_variable and not table.key:
            yield Finding("wrong", "judges", f"{name}: set the variable {table.key_variable}")
        else:
            yield Finding("ok", "judges", f"{name}: {table.model or table.callable}")


def examine_systems(settings: Settings) -> Iterator[Finding]:
    """Say what each system is."""
    for name, table in settings.systems.items():
        values = table.model_dump(exclude_defaults=True)
        described = ", ".join(f"{key} {value}" for key, value in values.items())
        yield Finding("ok", "systems", f"{name}: {described}")


def examine_own_tables(settings: Settings) -> Iterator[Finding]:
    """Reach the user's own databases and their tables."""
    from ragbench.store import OwnDatabase

    for name, table in settings.databases.items():
        # Where columns are not named, the error proposes them.
        with OwnDatabase(name, table, settings.database) as own:
            yield Finding("ok", "own tables", f"{name}: {own.describe()}")


def ask_models(settings: Settings) -> Iterator[Finding]:
    """Ask every judge one short question."""
    from ragbench.core.metric import run_async
    from ragbench.judge import open_judge
    from ragbench.metrics import answer_relevance

    for name in settings.judges:
        judge = open_judge(name, settings, settings.language)
        score = run_async(
            answer_relevance.measure(judge=judge, question="Is it open?", answer="Yes, until 8.")
        )
        sign = "ok" if score.status == "ok" else "wrong"
        yield Finding(sign, "online", f"judge {name}: {score.reason or 'answers as it should'}")


def ask_services(settings: Settings) -> Iterator[Finding]:
    """Ask every service one question, and propose where its reply has what."""
    from ragbench.systems import ask_service, propose_paths

    for name, table in settings.systems.items():
        if not table.url:
            continue
        reply: Any = ask_service(table, "When does it open?")
        paths = propose_paths(reply)
        if table.answer or table.passages or table.ids:
            yield Finding("ok", "online", f"{name} replies: {shorten(reply)}")
        elif paths:
            lines = ", ".join(f'{field} = "{path}"' for field, path in paths.items())
            yield Finding("note", "online", f"{name}: write [systems.{name}] {lines}")
        else:
            yield Finding(
                "wrong", "online", f"{name}: no answer and no passages in {shorten(reply)}"
            )


def shorten(reply: Any) -> str:
    """Return the first 200 characters of a reply."""
    text = str(reply)
    return text if len(text) <= 200 else f"{text[:200]}…"
