"""What of a system's parts cannot do with these passages and questions: indexes of too few, functions that fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ragbench.core.settings import RetrieverSettings, Settings
from ragbench.core.settings.tables import PARTS
from ragbench.data import Dataset
from ragbench.tiers.basics.choices import parted
from ragbench.tiers.basics.requests import Request
from ragbench.tiers.readiness import processes
from ragbench.tiers.readiness.pages import Read
from ragbench.tiers.readiness.parts import used

TRIED = 2  # questions, and passages
_TRIALS = "from ragbench.systems.parts.trials import tell_failing; tell_failing()"


def _places(asked: Iterable[Request], settings: Settings) -> dict[tuple[str, str], list[str]]:
    """By data set and language the systems that search it."""
    by_place: dict[tuple[str, str], list[str]] = {}
    for request in asked:
        if hasattr(request, "k") and hasattr(request, "systems"):
            place = request.place(settings.dataset)
            by_place.setdefault(place, []).extend(parted(request.systems) or settings.systems)
    return {place: list(dict.fromkeys(names)) for place, names in by_place.items()}


def faults(asked: Sequence[Request], settings: Settings, read: Read) -> list[str]:
    """Indexes that the passages are too few for, one sentence each."""
    said: list[str] = []
    for place, names in _places(asked, settings).items():
        for name in names:
            if any(retriever.index == "ivfflat" for retriever in _retrievers(name, settings)):
                said += _too_few(name, read(*place), settings)
    return list(dict.fromkeys(said))


def _retrievers(name: str, settings: Settings) -> list[RetrieverSettings]:
    whole = settings.retriever(name)
    if whole is None:
        return []
    return [settings.retrievers[part] for part in whole.retrievers] or [whole]


def _too_few(name: str, data: Dataset, settings: Settings) -> Iterator[str]:
    from ragbench.store import StoreError
    from ragbench.store.search import Index
    from ragbench.systems.parts import chunking

    chunker = settings.systems[name].chunker
    if chunker is not None and settings.chunkers[chunker].callable:
        return  # how many pieces a function makes is not known before
    rows = len((chunking.cut(chunker, settings.chunkers[chunker], data).dataset if chunker else data).chunks)
    for retriever in _retrievers(name, settings):
        if retriever.index == "own":
            continue
        try:
            Index.of(retriever.index, rows, retriever.m, retriever.ef_construction, retriever.lists)
        except StoreError as error:
            yield f"systems.{name}: {error}"


def failing(asked: Sequence[Request], settings: Settings, read: Read) -> list[str]:
    """Functions that are parts and fail at the first questions or passages, one sentence each: each is called."""
    said: list[str] = []
    for place, names in _places(asked, settings).items():
        own = [name for name in names if settings.retriever(name) is not None]
        tables: dict[str, str] = {}
        for part in PARTS:
            table: Mapping[str, Any] = getattr(settings, f"{part}s")
            tables |= {
                f"{part}s.{part_name}": path
                for part_name in used(part, own, settings)
                if (path := table[part_name].callable)
            }
        if not tables:
            continue
        data = read(*place)
        given = {
            "tables": list(tables),
            "questions": [question.text for question in data.questions[:TRIED]],
            "texts": [chunk.text for chunk in data.chunks[:TRIED]],
        }
        try:
            reasons = processes.told(_TRIALS, given)
        except processes.ProcessError as error:
            reasons = dict.fromkeys(tables, f"called at the first questions, it, or another function, {error}")
        said += [f"{key}.callable = {tables[key]!r}: {why}" for key, why in reasons.items()]
    return list(dict.fromkeys(said))
