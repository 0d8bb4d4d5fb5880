"""The tables `[sweeps.NAME]` and the configurations that they describe: which there are, which cannot be and why."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ragbench.old.core import folders, settings
from ragbench.old.core.metric import Metric, parse
from ragbench.old.core.names import meant
from ragbench.old.core.settings import (
    MOST_BYTES,
    ConfigurationError,
    RetrieverSettings,
    Settings,
    SystemSettings,
    mistakes,
)
from ragbench.old.core.settings.tables import Table
from ragbench.old.core.types import Chunk
from ragbench.old.core.types.reason import Reason, kept, read, reason_of
from ragbench.old.metrics import catalogue
from ragbench.old.store.errors import StoreError
from ragbench.old.store.search import Index

NONE, BUILT_IN = "none", "built-in"
"""Of a part that a configuration does without; of a prompt that is ragbench's own."""
FACTORS = ("chunker", "embedder", "retriever", "fusion", "reranker", "k", "rewriter", "generator", "prompt")
NAMED = {"chunker": "chunkers", "embedder": "embedders", "retriever": "retrievers", "reranker": "rerankers",
         "rewriter": "rewriters", "generator": "generators"}  # fmt: skip
"""Factors whose values are names of tables."""
MAY_BE_NONE = ("chunker", "reranker", "rewriter")
MOST = 1_000
"""Configurations of a sweep."""

Values = Annotated[tuple[str, ...], Field(min_length=1)]


class SweepSettings(Table):
    """What is exchanged for what. A factor that is not named has the one value that it has by default."""

    chunker: Values = Field(
        default=(NONE,), description='NAMEs of [chunkers.NAME] that cut the passages; "none": as they are'
    )
    embedder: tuple[str, ...] = Field(
        default=(), description="NAMEs of [embedders.NAME], for retrievers that embed; not set: each retriever's own"
    )
    retriever: Values = Field(default=("bm25",), description="NAMEs of [retrievers.NAME]; bm25 needs no table")
    fusion: tuple[Literal["rrf", "weighted"], ...] = Field(
        default=(), description="how hybrids fuse: rrf, weighted; not set: each as it is set"
    )
    reranker: Values = Field(default=(NONE,), description='NAMEs of [rerankers.NAME]; "none": without')
    k: Annotated[tuple[Annotated[int, Field(ge=1, le=1000)], ...], Field(min_length=1)] = Field(
        default=(5,), description="passages that are handed on, and that answers are written from"
    )
    rewriter: Values = Field(default=(NONE,), description='NAMEs of [rewriters.NAME]; "none": the question as it is')
    generator: Values = Field(default=("extractive",), description="NAMEs of [generators.NAME]")
    prompt: Values = Field(
        default=(BUILT_IN,), description='files with a prompt, for generators that ask a model; "built-in": ragbench\'s'
    )
    metric: str = Field(
        default="mrr",
        description="by which the best one is chosen: of rankings (mrr, ndcg@10), or of answers (token_f1, e2e_score)",
    )
    search: Literal["grid", "halving"] = Field(
        default="grid",
        description="grid: all configurations on all questions; halving: half of the questions choose the finalists, "
        "the worse half leaving round by round, and the other half decides",
    )
    finalists: int = Field(default=6, ge=2, description="of halving: how many configurations reach the last round")

    @model_validator(mode="after")
    def _each_once(self) -> SweepSettings:
        for name in FACTORS:
            values = getattr(self, name)
            if len(set(values)) < len(values):
                raise ValueError(f"{name} = {list(values)}: each value once")
        number = math.prod(max(len(getattr(self, name)), 1) for name in FACTORS)
        if not 2 <= number <= MOST:
            raise ValueError(
                f"the factors make {number} configurations: 2 to {MOST} are expected; name two values of one factor"
            )
        return self


class _Tables(BaseModel):
    model_config = ConfigDict(extra="forbid")
    sweeps: dict[str, SweepSettings] = {}


def sweep(name: str, known: Settings) -> SweepSettings:
    """The table `[sweeps.NAME]`, all names in it checked.

    Raises ConfigurationError for a sweep that is not there, and for values that cannot be followed, with what is legal.
    """
    path = settings.read_path()
    try:
        given: Any = folders.toml(folders.text(path, MOST_BYTES)).get("sweeps", {})
        tables = _Tables.model_validate({"sweeps": given}).sweeps
    except ValidationError as error:
        said = (mistakes.explain(fault, _Tables) for fault in error.errors())
        raise ConfigurationError("\n".join(f"{path.name}: {line}" for line in said)) from None
    if name not in tables:
        there = f"there are {', '.join(tables)}" if tables else 'write one: retriever = ["bm25", "dense"]'
        raise ConfigurationError(f"{path.name}: there is no [sweeps.{name}]{meant(name, tables) or ';'} {there}")
    if faults := list(_strange(name, tables[name], known)):
        raise ConfigurationError("\n".join(f"{path.name}: {line}" for line in faults))
    return tables[name]


def _strange(name: str, table: SweepSettings, known: Settings) -> list[str]:
    faults = []
    for factor, of in NAMED.items():
        legal = [*getattr(known, of), *([NONE] if factor in MAY_BE_NONE else [])]
        faults += [
            f"sweeps.{name}.{factor} = {value!r}: there is no [{of}.{value}]{meant(value, legal) or ';'} legal are "
            f"{', '.join(sorted(legal))}"
            for value in getattr(table, factor)
            if value not in legal
        ]
    project = settings.project_folder()
    for value in table.prompt:
        if value != BUILT_IN and not ((file := (project / value).resolve()).is_relative_to(project) and file.is_file()):
            faults.append(
                f'sweeps.{name}.prompt = {value!r}: a file below {project.name}/, or "{BUILT_IN}", is expected'
            )
    return faults


def only() -> str:
    """The name of the one sweep that there is. Raises ConfigurationError where there is none, or several."""
    path = settings.read_path()
    there = folders.toml(folders.text(path, MOST_BYTES)).get("sweeps", {})
    if len(there) != 1:
        said = f"there are {', '.join(there)}: name one" if there else "there is none: write a table [sweeps.NAME]"
        raise ConfigurationError(f"{path.name}: which sweep? {said}")
    return str(next(iter(there)))


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
