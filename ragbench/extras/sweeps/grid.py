"""The configurations of a sweep: which there are, which cannot be and why, and the settings that make each a system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from ragbench.core.metric import Metric, parse
from ragbench.core.settings import ConfigurationError, RetrieverSettings, Settings, SystemSettings
from ragbench.core.types import Chunk
from ragbench.core.types.reason import Reason, kept, read, reason_of
from ragbench.extras.sweeps.table import BUILT_IN, FACTORS, MAY_BE_NONE, NONE, SweepSettings
from ragbench.metrics import catalogue
from ragbench.store.errors import StoreError
from ragbench.store.search import Index

OF_ANSWERS = ("generator", "prompt")
JOINED = " · "


@dataclass(frozen=True)
class Configuration:
    """One value a factor. name: of the system that the settings of the grid hold; the values that vary.

    levels: factor → value, of the factors that vary. k: passages that are handed on. search: name of the system that
    retrieves, shared by all that retrieve alike.
    """

    name: str
    levels: Mapping[str, str]
    k: int
    search: str


@dataclass(frozen=True)
class Grid:
    """Configurations, the baseline first, and the settings that hold a system of each. left_out: name → why there is no
    such configuration."""

    sweep: SweepSettings
    metric: Metric
    settings: Settings
    configurations: tuple[Configuration, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def factors(self) -> dict[str, tuple[str, ...]]:
        """Factor → its values, of those that vary."""
        return _varying(self.sweep)

    @property
    def depth(self) -> int:
        """How many passages are retrieved: as deep as any configuration hands on, or the metric looks."""
        return max(*(each.k for each in self.configurations), self.metric.cutoff or 0, DEEP)


DEEP = 20
"""Passages that are looked at at least, to tell what was not retrieved from what stands too low."""


def metric_of(label: str) -> Metric:
    """The metric of a sweep. Raises ConfigurationError for one that reads neither rankings nor single answers, or that
    only describes."""
    catalogue()
    try:
        metric = parse(label)
    except ValueError as error:
        raise ConfigurationError(f"metric = {label!r}: {error}") from None
    if metric.grain not in ("ranking", "sample") or metric.better is None:
        raise ConfigurationError(
            f"metric = {label!r}: one of rankings or of single answers is expected, of which a value is better than "
            "another; `ragbench metrics` lists them"
        )
    return metric


def grid(sweep: SweepSettings, known: Settings, chunks: Sequence[Chunk]) -> Grid:
    """All configurations that can be told apart and can be, in the order of their values.

    What a part does not use makes no other configuration (an embedder of BM25, a fusion of a single retriever). Raises
    ConfigurationError where the metric does not see a factor, and where fewer than two are left.
    """
    metric, varying = metric_of(sweep.metric), _varying(sweep)
    unseen = [name for name in OF_ANSWERS if name in varying and metric.grain == "ranking"]
    if unseen:
        raise ConfigurationError(
            f"{unseen[0]} = {list(varying[unseen[0]])}: {metric.label} reads rankings and sees nothing of it; choose a "
            "metric of answers, such as token_f1"
        )
    tables: dict[str, dict[str, Any]] = {"systems": {}, "retrievers": {}, "generators": {}}
    made, left_out = [], {}
    for values in product(*(getattr(sweep, name) or ("",) for name in FACTORS)):
        parts = dict(zip(FACTORS, values, strict=True))
        levels = {name: str(parts[name]) for name in varying}
        name = JOINED.join(levels.values())
        try:
            own = _tables(parts, sweep, known)
            single = known.model_copy(
                update={key: {**getattr(known, key), **table} for key, table in own.items()}
                | {"systems": own["systems"]}
            )
            single._parts_fit()
            _needs_texts(parts, chunks)
            _needs_rows(parts, own, single, chunks)
        except (ValueError, StoreError) as error:
            left_out[name] = kept(reason_of(error))
            continue
        system = own["systems"].pop("")
        search = JOINED.join(
            [f"{key}={value}" for key, value in parts.items() if key in varying and key not in ("k", *OF_ANSWERS)]
        )
        own["systems"] = {name: system}
        for key, table in own.items():
            tables[key] |= table
        made.append(Configuration(name, levels, int(parts["k"]), search))
    if len(made) < 2:
        said = "; ".join(f"{name}: {read(why)}" for name, why in left_out.items())
        raise ConfigurationError(f"of this sweep fewer than two configurations can be: {said}")
    merged = {key: {**getattr(known, key), **table} for key, table in tables.items()} | {"systems": tables["systems"]}
    whole = known.model_copy(update={**merged, "baseline": made[0].name})
    return Grid(sweep, metric, whole, tuple(made), left_out)


def _varying(sweep: SweepSettings) -> dict[str, tuple[str, ...]]:
    return {name: tuple(map(str, values)) for name in FACTORS if len(values := getattr(sweep, name)) > 1}


def _tables(parts: Mapping[str, Any], sweep: SweepSettings, known: Settings) -> dict[str, dict[str, Any]]:
    """The tables of a configuration, its system under the name ""; a ValueError says why there is no such one."""
    retriever = known.retrievers[parts["retriever"]]
    inner = {name: known.retrievers[name] for name in retriever.retrievers} or {parts["retriever"]: retriever}
    embeds, retrieving = any(each.kind == "dense" for each in inner.values()), parts["retriever"]
    for name, used, why in (
        ("embedder", embeds, Reason("{part} embeds nothing: it is the same with any embedder", part=retrieving)),
        ("fusion", retriever.kind == "hybrid",
         Reason("{part} fuses nothing: it is the same with any fusion", part=retrieving)),
    ):  # fmt: skip
        if not used and parts[name] and parts[name] != getattr(sweep, name)[0]:
            raise ValueError(why)
    generator = known.generators[parts["generator"]]
    if generator.kind != "openai" and parts["prompt"] != sweep.prompt[0]:
        raise ValueError(Reason("{part} reads no prompt: it is the same with any", part=parts["generator"]))
    retrievers: dict[str, RetrieverSettings] = {}
    embedder, fusion = parts["embedder"], parts["fusion"]

    def changed(name: str, one: RetrieverSettings) -> str:
        """The retriever with the embedder of this configuration, under a name of its own."""
        if one.kind != "dense" or not embedder:
            return name
        retrievers[f"{name} {embedder}"] = one.model_copy(update={"embedder": embedder})
        return f"{name} {embedder}"

    if retriever.kind == "hybrid":
        within = tuple(changed(name, one) for name, one in inner.items())
        update = {"retrievers": within, **({"fusion": fusion} if fusion else {})}
        update |= {"weights": ()} if fusion == "rrf" else {}
        named = " ".join(filter(None, (parts["retriever"], embedder, fusion)))
        retrievers[named] = retriever.model_copy(update=update)
    else:
        named = changed(parts["retriever"], retriever)
    writer, generators = parts["generator"], {}
    if parts["prompt"] != BUILT_IN and generator.kind == "openai":
        writer = f"{writer} {parts['prompt']}"
        generators[writer] = generator.model_copy(update={"prompt": Path(parts["prompt"])})
    more: dict[str, Any] = {name: parts[name] for name in MAY_BE_NONE if parts[name] != NONE}
    system = SystemSettings(retriever=named, generator=writer, **more)
    return {"systems": {"": system}, "retrievers": retrievers, "generators": generators}


def _needs_rows(
    parts: Mapping[str, Any], own: Mapping[str, Mapping[str, Any]], known: Settings, chunks: Sequence[Chunk]
) -> None:
    """Raises StoreError for an index that so few passages do not fill; how many a chunker makes is seen later."""
    if parts["chunker"] != NONE:
        return
    retriever = known.retrievers[own["systems"][""].retriever]
    for part in [known.retrievers[name] for name in retriever.retrievers] or [retriever]:
        if part.kind == "dense" and part.index == "ivfflat":
            Index.of(part.index, len(chunks), part.m, part.ef_construction, part.lists)


def _needs_texts(parts: Mapping[str, Any], chunks: Sequence[Chunk]) -> None:
    """Raises ValueError for a part that reads passages where these have no text."""
    if any(chunk.text.strip() for chunk in chunks):
        return
    if reading := next((name for name in ("reranker", "chunker") if parts[name] != NONE), ""):
        raise ValueError(Reason("the passages have no text that {part} could read", part=parts[reading]))
