"""`ragbench doctor`."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import typer

from ragbench.core.errors import BenchError, Unmeasured
from ragbench.core.secrets import mask
from ragbench.core.settings import Model, Settings, find_file
from ragbench.core.trust import is_trusted, open_settings

SIGNS = {"ok": "✓", "note": "·", "wrong": "✗"}
WRONG = 3
TRIAL = 200  # rows of own tables that are read
QUESTION, ANSWER = "Is it open in the evening?", "It is open until 8 in the evening."


@dataclass(frozen=True)
class Finding:
    """One line: ok, a note, or what is wrong with the way out."""

    sign: str
    what: str
    text: str


Findings = Iterator[Finding]


def main(
    online: Annotated[
        bool, typer.Option("--online", help="Ask every model and service one short question.")
    ] = False,
) -> None:
    """Say what this machine can do, and what is missing: packages, data, database, models, systems.

    --online sends one short question to each model and service, and proposes where a service's
    reply has its answer. Exit code 3 where something is wrong.
    """
    is_wrong = False
    for finding in examine(online):
        print(f"{SIGNS[finding.sign]} {finding.what:10} {mask(finding.text)}")
        is_wrong |= finding.sign == "wrong"
    if is_wrong:
        raise typer.Exit(WRONG)


def examine(online: bool) -> Findings:
    """Yield all findings in order; a fault in one does not end the others."""
    yield Finding("ok", "python", f"{platform.python_version()} at {sys.executable}")
    yield from examine_packages()
    file = find_file(None)
    if file is None:
        text = "no ragbench.toml here: defaults; `ragbench init` writes one"
        yield Finding("note", "settings", text)
    else:
        trusted = "trusted" if is_trusted(file.parent) else "not trusted yet: ragbench trust"
        yield Finding("ok", "settings", f"{file}, {trusted}")
    settings = open_settings()
    checks: list[tuple[str, Callable[[], Findings]]] = [
        ("data", partial(examine_data, settings)),
        ("database", partial(examine_database, settings)),
        ("embedder", partial(examine_embedder, settings)),
    ]
    models = models_of(settings)
    for place, table in models.items():
        checks.append(("model", partial(examine_model, place, table, settings)))
    checks += [
        ("own tables", partial(examine_own_tables, name, settings)) for name in settings.databases
    ]
    checks += [("system", partial(examine_system, name, settings)) for name in settings.systems]
    if online:
        checks += [("online", partial(ask_model, place, settings)) for place in models]
        checks += [
            ("online", partial(ask_system, name, settings))
            for name, system in settings.systems.items()
            if system.url
        ]
    for what, check in checks:
        try:
            yield from check()
        except BenchError as error:
            yield Finding("wrong", what, str(error))
    if not settings.judges:
        text = "no judge: the lexical one stands in; [judges.NAME] names a model"
        yield Finding("note", "model", text)


def examine_packages() -> Findings:
    """Compare what is installed with what ragbench needs."""
    from importlib.metadata import PackageNotFoundError, requires, version

    from packaging.requirements import Requirement

    wrong = []
    for line in requires("ragbench"):  # type: ignore[union-attr]  # it needs some
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


def examine_data(settings: Settings) -> Findings:
    """Read the data set and count what it has; own tables are looked at apart."""
    from ragbench.cli.load import count, describe
    from ragbench.data import read_dataset

    if not settings.dataset.startswith("db:"):
        folder = settings.path(settings.data_folder)
        dataset = read_dataset(settings.dataset, settings.language, folder)
        yield Finding("ok", "data", f"{dataset.name}: {describe(count(dataset), dataset.language)}")
        for note in dataset.notes:
            yield Finding("note", "data", note)


def examine_database(settings: Settings) -> Findings:
    """Start or reach PostgreSQL."""
    from ragbench.store import Store

    with Store(settings.database) as store:
        store.engine.connect().close()
        yield Finding("ok", "database", f"PostgreSQL with pgvector at {store.url}")


def examine_embedder(settings: Settings) -> Findings:
    """Say what texts are embedded with, and whether it only stands in for a model."""
    from ragbench.embed import open_embedder
    from ragbench.tiers.answering import usual_embedder

    name = usual_embedder(settings)
    embedder = open_embedder(name, settings, settings.language)
    sign = "note" if embedder.is_stand_in else "ok"
    yield Finding(sign, "embedder", f"{name}: {embedder.describe()}")


def models_of(settings: Settings) -> dict[str, Model]:
    """Return the tables of models that are asked, by their place: judges.mini."""
    models: dict[str, Model] = {f"judges.{name}": table for name, table in settings.judges.items()}
    for name, writer in settings.generators.items():
        if writer.kind == "openai":
            models[f"generators.{name}"] = writer
    for name, embedder in settings.embedders.items():
        if embedder.kind == "openai":
            models[f"embedders.{name}"] = embedder
    return models


def examine_model(place: str, table: Model, settings: Settings) -> Findings:
    """Say where a model is; its key has to be set."""
    from ragbench.core.code import load_object
    from ragbench.llm.endpoints import read_key, resolve

    own = getattr(table, "callable", "") or table.client
    if own:
        load_object(own, settings.root)
        yield Finding("ok", "model", f"{place}: {own}")
        return
    model = resolve(place, table, settings.providers)
    read_key(place, model)
    yield Finding("ok", "model", f"{place}: {model.model} at {model.base_url}")


def examine_own_tables(name: str, settings: Settings) -> Findings:
    """Read some rows of the user's own tables; where names are wrong, the error proposes some."""
    from ragbench.store import open_database

    with open_database(name, settings) as own:
        trial = own.read_dataset(limit=TRIAL)
        counts = f"{len(trial.passages)} passages, {len(trial.questions)} questions"
        yield Finding("ok", "own tables", f"{name}: read a trial of {counts}")
        table = settings.databases[name]
        if table.vector or table.preset:
            index = own.find_index()
            found = f"{index.kind} index {index.name}" if index else "no index of cosine distance"
            yield Finding("ok", "own tables", f"{name}: {found}")


def examine_system(name: str, settings: Settings) -> Findings:
    """Open a system, so that a wrong name, path or column shows; it is asked nothing."""
    from ragbench.data import from_objects
    from ragbench.systems import open_systems

    nothing = from_objects([QUESTION], [ANSWER])
    [system] = open_systems([name], settings, nothing).values()
    yield Finding("ok", "system", f"{name}: {system.describe()}")


def ask_model(place: str, settings: Settings) -> Findings:
    """Ask a model one short question; what an earlier run kept is not taken for its answer."""
    from ragbench.core.metric import run_async
    from ragbench.core.types import Hit
    from ragbench.embed import open_embedder
    from ragbench.judge import open_judge
    from ragbench.llm import Journal
    from ragbench.metrics import answer_relevance
    from ragbench.systems.generators import ModelGenerator

    kind, _, name = place.partition(".")
    error = ""
    notes: list[str] = []
    if kind == "judges":
        judge = open_judge(name, settings, settings.language, journal=Journal(None))
        score = run_async(judge_once(answer_relevance, judge))
        error, notes = score.reason, judge.notes
    elif kind == "generators":
        table = settings.generators[name]
        writer = ModelGenerator(name, table, settings, settings.language, Journal(None), None)
        error = writer.write([QUESTION], [[Hit("1", ANSWER)]])[0].error
    else:
        try:
            open_embedder(name, settings).embed([QUESTION], fresh=True)
        except Unmeasured as gap:
            error = f"no vectors: {gap}"
    sign = "wrong" if error else "ok"
    yield Finding(sign, "online", f"{place}: {error or 'answers as it should'}")
    for note in notes:
        yield Finding("note", "online", f"{place}: {note}")


async def judge_once(metric: Any, judge: Any) -> Any:
    """Return the score of one answer."""
    async with judge:
        return await metric.measure(judge=judge, question=QUESTION, answer=ANSWER)


def ask_system(name: str, settings: Settings) -> Findings:
    """Ask a service one question, and propose where its reply has what."""
    from ragbench.systems import ask_service, propose_paths

    table = settings.systems[name]
    try:
        reply: Any = ask_service(table, QUESTION)
    except BenchError as error:
        raise BenchError(f"{name}: {error}") from None
    paths = propose_paths(reply)
    shown = str(reply)[:200]
    if table.answer or table.passages or table.ids:
        yield Finding("ok", "online", f"{name} replies: {shown}")
    elif paths:
        lines = "".join(f'\n    {field} = "{path}"' for field, path in paths.items())
        text = f"write below [systems.{name}]:{lines}\n    its reply: {shown}"
        yield Finding("note", "online", text)
    else:
        yield Finding("wrong", "online", f"{name}: no answer and no passages in {shown}")
