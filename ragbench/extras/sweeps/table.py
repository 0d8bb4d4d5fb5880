"""The tables `[sweeps.NAME]` of ragbench.toml: factors with their values, the first of each the baseline's."""

from __future__ import annotations

import math
import tomllib
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ragbench.core import folders, settings
from ragbench.core.names import meant
from ragbench.core.settings import MOST_BYTES, ConfigurationError, Settings, mistakes
from ragbench.core.settings.tables import Table

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
        given: Any = tomllib.loads(folders.text(path, MOST_BYTES)).get("sweeps", {})
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
    there = tomllib.loads(folders.text(path, MOST_BYTES)).get("sweeps", {})
    if len(there) != 1:
        said = f"there are {', '.join(there)}: name one" if there else "there is none: write a table [sweeps.NAME]"
        raise ConfigurationError(f"{path.name}: which sweep? {said}")
    return str(next(iter(there)))
