"""What a run would ask of models and compute itself, found out without one call and without computing it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ragbench.old.core import settings, trust
from ragbench.old.core.types import TextKind
from ragbench.old.data import Dataset
from ragbench.old.embed import wheels
from ragbench.old.llm import Outlook, planning
from ragbench.old.report.execution import kernel_pool, orchestration
from ragbench.old.report.execution.kernel_pool import Round
from ragbench.old.report.execution.preparation import Read, prepared, requests
from ragbench.old.store import Store
from ragbench.old.systems.work import Demand, Estimate, Work
from ragbench.old.tiers import readiness
from ragbench.old.tiers.basics.choices import parted
from ragbench.old.tiers.basics.requests import Request
from ragbench.old.tiers.basics.session import Lack
from ragbench.old.tiers.retrieval import tier1_retrieval, timing
from ragbench.old.tiers.retrieval.tier0_embeddings import chosen_embedders

JUDGES = "judges"
"""The parameter of every notebook that asks models."""
SYSTEMS, DEPTH = "systems", "k"
"""Those of every notebook that asks systems."""


@dataclass(frozen=True)
class Planned:
    """outlooks: one a model, all notebooks together. silent: notebooks that ask no model, and were not executed.

    failures: notebooks that did not come to their end, each with the line that says why; what they would have asked
    after that is not in the outlooks. left_out: notebooks whose data are not there. work: what systems and embedders
    have yet to compute. unread: notebooks of a folder that nobody has answered for, which were not executed.
    """

    outlooks: tuple[Outlook, ...]
    silent: tuple[str, ...]
    failures: Mapping[str, str]
    left_out: tuple[Lack, ...] = ()
    work: tuple[Work, ...] = ()
    unread: tuple[str, ...] = ()


@trust.planned()
def plan(
    notebooks: Sequence[Path | str],
    given: Mapping[str, Any] | None = None,
    *,
    jobs: int | None = None,
    language: str | None = None,
    progress: orchestration.Report | None = None,
    lenient: bool = False,
) -> Planned:
    """Execute the notebooks in processes that look up in the journal and never ask, and add up what they would ask.

    Where the journal has no answer, the lexical judge's stands in for it, so that the calls that depend on it are
    counted too, about; for a system that has something to compute, relevant passages do. Nothing is written.
    Of a folder that nobody has answered for, neither functions nor models are loaded: see
    `ragbench.old.core.trust`. Parameters and errors: see `ragbench.old.report.execution.orchestration`.
    """
    sources, defaults, values, left_out, asked, read, _, unread = prepared(
        notebooks, dict(given or {}), language, lenient=lenient, asking=False
    )
    work = to_compute(asked, settings.load(), read)
    known = settings.load()
    asking = {
        name: notebook
        for name, notebook in sources.items()
        if _asks(notebook, {**defaults[name], **values[name]}, known)
    }
    with tempfile.TemporaryDirectory(prefix="ragbench-plan-", ignore_cleanup_errors=True) as private:
        place = Path(private) / "outlooks"
        with kernel_pool.opened(len(asking)) as forks:
            executed = orchestration.Work(Path(private) / "run", progress, {planning.PLAN_FOLDER: str(place)}, forks)
            failures = executed.all(asking, [Round(tuple(asking), jobs or kernel_pool.affordable())])
        rewriters = (rewriter.outlook for rewriter in work if rewriter.outlook is not None)
        outlooks = tuple(planning.together((*planning.kept(place), *rewriters)))
    silent = tuple(name for name in sources if name not in asking)
    return Planned(outlooks, silent, failures, left_out, work, unread)


def _asks(notebook: Any, parameters: Mapping[str, Any], known: settings.Settings) -> bool:
    """Whether a notebook with these parameters asks a model, or a system over HTTP. What asks stand-ins alone is not
    executed: nobody has to wait for what they would say."""
    systems = parted(parameters[SYSTEMS]) or tuple(known.systems) if SYSTEMS in parameters else ()
    over_http = any(known.systems[name].url for name in systems if name in known.systems)
    if JUDGES not in parameters:
        return DEPTH in parameters and over_http
    asked = requests(notebook, parameters)
    named = {word for value in parameters.values() if isinstance(value, str) for word in parted(value)}
    used = readiness.of_requests(asked, known) if asked else readiness.of_settings(known)
    return over_http or not known.judges.keys().isdisjoint(named) or any(readiness.probes(used, known))


def to_compute(asked: Iterable[Request], known: settings.Settings, read: Read) -> tuple[Work, ...]:
    """Of every configured system that is searched, and of every embedder whose space is looked at, in their order; of
    several data sets one after the other.

    Raises what a run would raise when it makes them: RetrievalError, EmbeddingError, StoreError, DatasetError.
    """
    demands: dict[tuple[str, str], dict[str, list[Demand]]] = {}
    alone: dict[tuple[str, str], list[tuple[str, TextKind]]] = {}
    for number, request in enumerate(asked):
        place = request.place(known.dataset)
        systems, embedders = getattr(request, "systems", ""), getattr(request, "embedders", None)
        if embedders is not None:
            kind: TextKind = "query" if getattr(request, "texts", "chunks") == "questions" else "passage"
            names = chosen_embedders(embedders, systems, known)
            alone.setdefault(place, []).extend((name, kind) for name in names)
        elif hasattr(request, "k"):
            own = demands.setdefault(place, {})
            demand = _demand(request, f"{number} {request.notebook}", read(*place))
            for name in parted(systems) or known.systems:
                own.setdefault(name, []).append(demand)
    if not any(known.retriever(name) for own in demands.values() for name in own) and not alone:
        return ()
    return _estimated(demands, alone, known, read)


def _demand(request: Any, page: str, data: Dataset) -> Demand:
    asked = tuple(request.asked(request.drawn(data)))
    if not hasattr(request, "timed_questions"):
        return Demand(asked, page=page)
    clock = request.take(timing.Clock)
    depth = tier1_retrieval.hits_for(data.chunks, request.k, getattr(request, "unit", "chunk"))
    unread = partial(timing.unread, page=page, asked=asked, depth=depth, data_hash=data.content_hash, clock=clock)
    return Demand(asked, request.repeats, page, timing.warmed(asked, clock), unread, bool(clock.ef_searches))


def _estimated(
    demands: dict[tuple[str, str], dict[str, list[Demand]]],
    alone: dict[tuple[str, str], list[tuple[str, TextKind]]],
    known: settings.Settings,
    read: Read,
) -> tuple[Work, ...]:
    made: list[Work] = []
    with Store.open(known) as store:
        for place in dict.fromkeys((*demands, *alone)):
            data = read(*place)
            estimate = Estimate(wheels.settled(known, data.language), store, data)
            own = [estimate.of_system(name, demand) for name, demand in demands.get(place, {}).items()]
            of_embedders = [estimate.of_embedder(*looked) for looked in dict.fromkeys(alone.get(place, ()))]
            made += own + [work for work in of_embedders if not _is_part_of(work, own)]
    return tuple(work for work in made if work.tasks or work.anew)


def _is_part_of(work: Work, others: Iterable[Work]) -> bool:
    """Whether these do all of it, too."""
    texts: dict[tuple[str, ...], frozenset[str]] = {}
    for task in (task for other in others for task in other.tasks):
        texts[task.key] = texts.get(task.key, frozenset()) | task.texts
    return all(task.key in texts and task.texts <= texts[task.key] for task in work.tasks)
