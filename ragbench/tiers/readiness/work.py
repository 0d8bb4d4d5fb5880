"""What the systems and embedders of a run have yet to compute, page by page asked for, computed for none."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from ragbench.core.settings import Settings
from ragbench.core.types import TextKind
from ragbench.data import Dataset
from ragbench.embed import wheels
from ragbench.tiers.basics.choices import parted
from ragbench.tiers.basics.requests import Request
from ragbench.tiers.readiness.pages import Read
from ragbench.tiers.retrieval import tier1_retrieval
from ragbench.tiers.retrieval.tier0_embeddings import chosen_embedders

if TYPE_CHECKING:
    from ragbench.systems.work import Demand, Work


def work(asked: Iterable[Request], settings: Settings, read: Read) -> tuple[Work, ...]:
    """Of every configured system that is searched, and of every embedder whose space is looked at, in their order; of
    several data sets one after the other.

    Raises what a run would raise when it makes them: RetrievalError, EmbeddingError, StoreError, DatasetError.
    """
    demands: dict[tuple[str, str], dict[str, list[Demand]]] = {}
    alone: dict[tuple[str, str], list[tuple[str, TextKind]]] = {}
    for number, request in enumerate(asked):
        place = request.place(settings.dataset)
        systems, embedders = getattr(request, "systems", ""), getattr(request, "embedders", None)
        if embedders is not None:
            kind: TextKind = "query" if getattr(request, "texts", "chunks") == "questions" else "passage"
            names = chosen_embedders(embedders, systems, settings)
            alone.setdefault(place, []).extend((name, kind) for name in names)
        elif hasattr(request, "k"):
            own = demands.setdefault(place, {})
            demand = _demand(request, f"{number} {request.notebook}", read(*place))
            for name in parted(systems) or settings.systems:
                own.setdefault(name, []).append(demand)
    if not any(settings.retriever(name) for own in demands.values() for name in own) and not alone:
        return ()
    return _found(demands, alone, settings, read)


def _demand(request: Any, page: str, data: Dataset) -> Demand:
    from ragbench.systems.work import Demand
    from ragbench.tiers.retrieval import timing

    asked = tuple(request.asked(request.drawn(data)))
    if not hasattr(request, "timed_questions"):
        return Demand(asked, page=page)
    clock = request.take(timing.Clock)
    depth = tier1_retrieval.hits_for(data.chunks, request.k, getattr(request, "unit", "chunk"))
    unread = partial(timing.unread, page=page, asked=asked, depth=depth, data_hash=data.content_hash, clock=clock)
    return Demand(asked, request.repeats, page, timing.warmed(asked, clock), unread, bool(clock.ef_searches))


def _found(
    demands: dict[tuple[str, str], dict[str, list[Demand]]],
    alone: dict[tuple[str, str], list[tuple[str, TextKind]]],
    settings: Settings,
    read: Read,
) -> tuple[Work, ...]:
    from ragbench.store import Store
    from ragbench.systems.work import Estimate

    made: list[Work] = []
    with Store.open(settings) as store:
        for place in dict.fromkeys((*demands, *alone)):
            data = read(*place)
            estimate = Estimate(wheels.settled(settings, data.language), store, data)
            own = [estimate.of_system(name, demand) for name, demand in demands.get(place, {}).items()]
            of_embedders = [estimate.of_embedder(*wanted) for wanted in dict.fromkeys(alone.get(place, ()))]
            made += own + [work for work in of_embedders if not _is_part_of(work, own)]
    return tuple(work for work in made if work.tasks or work.anew)


def _is_part_of(work: Work, others: Iterable[Work]) -> bool:
    """Whether these do all of it, too."""
    texts: dict[tuple[str, ...], frozenset[str]] = {}
    for task in (task for other in others for task in other.tasks):
        texts[task.key] = texts.get(task.key, frozenset()) | task.texts
    return all(task.key in texts and task.texts <= texts[task.key] for task in work.tasks)
