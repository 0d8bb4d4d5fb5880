"""The tables of ragbench.toml: frozen, typed, closed to keys that they do not know; a key's help is its description."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationInfo, model_validator

from ragbench.old.core.language import Language
from ragbench.old.core.metric_reading import Stretch


class Table(BaseModel):
    """A table of ragbench.toml: frozen, and closed to keys that it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True)

    _given: Any = PrivateAttr(default=None)
    _is_given: bool = PrivateAttr(default=False)

    @property
    def given(self) -> Any:
        """The object that a caller gave in place of what a file would name; None of what a file says."""
        return self._given

    @property
    def is_given(self) -> bool:
        """Whether a caller gave it, as an object or as a file's name: no project's file says so."""
        return self._is_given

    def standing_for(self, given: Any) -> Self:
        """The same table for an object in this process: nothing of a file is run, opened or sent for it."""
        made = self.model_copy()
        made._given, made._is_given = given, True
        return made


SLOT = re.compile(r"\{([A-Za-z_]\w*)\}")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
SECRET = re.compile(r"authorization|cookie|key|token|secret|password|credential", re.IGNORECASE)


def refuse_open_secrets(given: dict[str, str], info: ValidationInfo) -> dict[str, str]:
    """Headers, or what stands in a query: each can be sent, and none holds a secret but by the variable that has it."""
    for name, value in given.items():
        if not _HEADER.fullmatch(name) or not re.fullmatch(r"[\x20-\x7e]+", value):
            raise ValueError(
                f"{info.field_name}: {name!r} is no name of a header, or its value holds other than plain letters"
            )
        if SECRET.search(name) and not SLOT.search(value):
            raise ValueError(
                f'{info.field_name}.{name}: name the environment variable that holds its secret: "Bearer {{VARIABLE}}"'
            )
    return given


def filled(template: str, values: Mapping[str, str]) -> str:
    """A template with its slots filled in one pass: braces in the values mean nothing."""
    return SLOT.sub(lambda slot: values.get(slot[1], slot[0]), template)


def numbered(texts: Iterable[str]) -> str:
    """Passages as one text, as a prompt has them: each behind its number from 1, a blank line between them."""
    return "\n\n".join(f"[{number}] {text}" for number, text in enumerate(texts, 1))


def refuse_unfit(table: Table, choice: str, fitting: Mapping[str, Iterable[str]]) -> None:
    """Options that were given and are of another choice than the table's own, which would be ignored.

    choice: the option that decides, such as `kind`. fitting: by each of its values, the options that it alone, or with
    others but not with all, has. Raises ValueError with what is legal.
    """
    value = getattr(table, choice)
    own = tuple(fitting.get(value, ()))
    for name in type(table).model_fields:
        others = [other for other, names in fitting.items() if name in names]
        if name in table.model_fields_set and others and name not in own:
            of, legal = " or ".join(map(repr, others)), ", ".join(own) or "nothing of its own"
            raise ValueError(
                f"{name} = {getattr(table, name)!r} is of {choice} {of}; this is {value!r}, which takes {legal}"
            )


class IndexSettings(Table):
    """How vectors are searched: all of them (exact), or by an index that looks at some."""

    index: Literal["exact", "hnsw", "ivfflat", "own"] = Field(
        default="exact",
        description="of the search; hnsw and ivfflat are approximate; own: the one that your own table has on its "
        "vectors, asked in place, with your ef_search or probes; of an embedder of kind database",
    )
    # pgvector's own defaults for m, ef_construction, ef_search and probes: what a table has of which nobody said more
    m: int = Field(default=16, ge=2, le=100, description="of HNSW: links of a node")
    ef_construction: int = Field(default=64, ge=4, le=1000, description="of HNSW: candidates while it is built")
    ef_search: int = Field(default=40, ge=1, le=1000, description="of HNSW: candidates while it is searched")
    lists: int | None = Field(
        default=None, ge=1, le=32_768, description="of IVFFlat: clusters of vectors; not set: one for 1,000 passages"
    )
    probes: int = Field(default=1, ge=1, le=32_768, description="of IVFFlat: clusters that a search looks at")

    @model_validator(mode="after")
    def _of_its_index(self) -> Self:
        hnsw, ivfflat = ("m", "ef_construction", "ef_search"), ("lists", "probes")
        refuse_unfit(self, "index", {"hnsw": hnsw, "ivfflat": ivfflat, "own": ("ef_search", "probes")})
        return self


PARTS = ("chunker", "rewriter", "reranker")
"""What a configured system may have beside its retriever, by what its table calls them; each has tables of its own."""


class BudgetSettings(Table):
    """What one run may spend on models, all its judges and processes together; one that reaches it stops cleanly and
    resumes later."""

    calls: int | None = Field(
        default=None, ge=1, description="of models and of systems over HTTP at most; not set: no limit"
    )
    tokens: int | None = Field(default=None, ge=1, description="read and written at most; not set: no limit")
    money: float | None = Field(default=None, gt=0, description="in the unit of the prices, at most; not set: no limit")


class DatabaseSettings(Table):
    """Where the embedded server keeps its data, and how long anything may take. A URL comes from the environment."""

    folder: Path | None = Field(default=None, description="of the embedded server; not set: in your data folder")
    connections: int = Field(default=8, ge=1, le=90, description="held open at most")
    connect_seconds: float = Field(default=10.0, gt=0, description="to connect; twice as long to start one")
    statement_seconds: float = Field(default=600.0, gt=0, description="of one statement at most")
    lock_seconds: float = Field(default=20.0, gt=0, description="to wait for what another process holds")


class ChunkTable(Table):
    """Your own table of chunks: its name and the names of its columns."""

    table: str = Field(default="chunk", description="the table, or a view")
    in_schema: str = Field(default="public", description="the schema that it is in")
    id: str = Field(default="id", description="column of a chunk's id")
    text: str = Field(default="text", description="column of its text")
    url: str | None = Field(default="confluence_url", description="column of its page's address")
    title: str | None = Field(default=None, description="column of its title; not set: there is none")
    embedding: str | None = Field(default="embedding", description="column of its vector")
    collection: str | None = Field(
        default=None,
        description="of a table of LangChain's or of Open WebUI's with several collections, the name of the one",
    )


class QuestionTable(Table):
    """Your own table of past questions, with the page that was shown as the answer's source."""

    table: str = Field(default="question_answer", description="the table, or a view")
    in_schema: str = Field(default="public", description="the schema that it is in")
    id: str = Field(default="id", description="column of a question's id")
    question: str = Field(default="question", description="column of its text")
    answer: str | None = Field(default="answer", description="column of the answer that was given")
    url: str | None = Field(default="confluence_url", description="column of the page that was shown: a proxy label")
    score: str | None = Field(default="score", description="column of the user's score, 1 to 5")
    user: str | None = Field(default="user_id", description="column of who asked")
    asked_at: str | None = Field(default="created_at", description="column of when it was asked")
    stop_point: str | None = Field(
        default="stop_point", description="column that is true where a dialogue ended with this question"
    )
    embedding: str | None = Field(default="embedding", description="column of the question's vector")


class SourceSettings(Table):
    """Your own database, read and never written; `--dataset db:NAME` measures on it."""

    url_variable: str | None = Field(
        default=None, description="environment variable that holds its URL; not set: the database of ragbench itself"
    )
    title: str | None = Field(default=None, description="on pages; not set: the table's NAME")
    licence: str = Field(default="not stated", description="of the texts, on every page")
    language: Language = Field(default="ru", description="of the texts")
    without_embedding: Literal["refuse", "leave_out", "embed"] = Field(
        default="refuse",
        description="what to do with chunks without a vector, where the vectors in the tables are used; embed: by the "
        "model that `queries` of their embedder names; questions without one are left out and counted, unless their "
        "embedder has `queries`",
    )
    chunks: ChunkTable = Field(default=ChunkTable(), description="your table of chunks: its name and its columns")
    questions: QuestionTable | None = Field(default=QuestionTable(), description="your table of past questions")


class Band(Table):
    """Thresholds of one metric: from `good` on it is good, above `excellent` excellent, else it needs attention."""

    good: float = Field(description="the value from which on it is good")
    excellent: float | None = Field(
        default=None, description="the value above which it is excellent; not set: nothing is"
    )
    better: Literal["higher", "lower"] = Field(default="higher", description="lower turns the directions round")
    scale: tuple[float, float] | None = Field(
        default=None, description="the ends of the scale that these are written for; not set: the metric's own"
    )

    @model_validator(mode="after")
    def _in_order(self) -> Band:
        sign = 1 if self.better == "higher" else -1
        if self.excellent is not None and sign * self.excellent < sign * self.good:
            raise ValueError(
                f"excellent = {self.excellent:g} is not beyond good = {self.good:g}: {self.better} is better"
            )
        return self

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """The bands, worst first; the threshold itself is good, and not yet excellent."""
        best = self.excellent
        if self.better == "higher":
            bands = [Stretch(-math.inf, self.good, "attention")]
            bands.append(Stretch(self.good, math.inf if best is None else best, "good", ends="[]"))
            return (*bands, *([] if best is None else [Stretch(best, math.inf, "excellent", ends="(]")]))
        bands = [Stretch(self.good, math.inf, "attention", ends="(]")]
        bands.append(Stretch(-math.inf if best is None else best, self.good, "good", ends="[]"))
        return (*bands, *([] if best is None else [Stretch(-math.inf, best, "excellent")]))

    def moved(self, convert: Callable[[float], float], scale: tuple[float, float]) -> Band:
        """The same thresholds written for another scale."""
        excellent = None if self.excellent is None else convert(self.excellent)
        return self.model_copy(update={"good": convert(self.good), "excellent": excellent, "scale": scale})


class DifferenceSettings(Table):
    """The smallest difference that would matter: what is not shown is planned for it."""

    share_of_scale: float = Field(
        default=0.05,
        gt=0,
        le=1,
        description="of the width of the scale, or of what a ranking can reach on the questions; for metrics whose "
        "scale has two ends",
    )
    metrics: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        default={}, description="by a metric's name or label (mrr, hit_rate@5), in its unit, instead of the share"
    )


class GateSettings(Table):
    """A condition that `ragbench run --gate` holds the report to: one of the four bounds or more of them."""

    metric: str = Field(description="its label, mrr or hit_rate@5")
    notebook: str | None = Field(default=None, description="only of this page; not set: of every one that has it")
    system: str | None = Field(
        default=None, description="only this one; not set: every one, for not_worse_by every one but the baseline"
    )
    at_least: float | None = Field(default=None, description="a bound that the whole interval keeps")
    at_most: float | None = Field(default=None, description="a bound that the whole interval keeps")
    band: Literal["good", "excellent"] | None = Field(
        default=None, description="of the threshold set, that the whole interval reaches"
    )
    not_worse_by: float | None = Field(
        default=None, gt=0, description="how much worse than the baseline is good enough still, in the metric's unit"
    )
    baseline: str | None = Field(default=None, description="a system of the same report; not set: the report's")
    most_unmeasured: float = Field(
        default=0.02, ge=0, le=1, description="with a larger share of unmeasured values the gate fails"
    )

    @model_validator(mode="after")
    def _asks_something(self) -> GateSettings:
        if all(each is None for each in (self.at_least, self.at_most, self.band, self.not_worse_by)):
            raise ValueError(f"the gate on {self.metric!r} asks nothing: give at_least, at_most, band or not_worse_by")
        if self.baseline is not None and self.not_worse_by is None:
            raise ValueError(f"the gate on {self.metric!r} names a baseline: say `not_worse_by` what margin")
        return self
