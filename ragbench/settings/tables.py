"""The tables of ragbench.toml: frozen, typed, and closed to keys that they do not know."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from ragbench.language import Language
from ragbench.settings.addresses import without_credentials

BandWord = Literal["attention", "good", "excellent"]
BANDS: tuple[BandWord, ...] = ("attention", "good", "excellent")


class Table(BaseModel):
    """A table of ragbench.toml: frozen, and closed to keys that it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


def _web_address(value: str | None) -> str | None:
    if value is None:
        return None
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"base_url = {without_credentials(value)!r}: only http and https are spoken")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("base_url holds a user, a password or a query: name the key's variable in `key_variable`")
    return value.rstrip("/")


class WebSettings(Table):
    """Where an endpoint is, and how long anything may take. The key is in the variable that it names.

    timeout_seconds: one attempt, whole. connect_seconds, read_seconds: its parts; a silent connection ends earlier.
    attempts, patience_seconds: how often, and for how long in all, a call is tried before it is given up.
    """

    base_url: str | None = None
    key_variable: str | None = None
    timeout_seconds: float = Field(default=60.0, gt=0)
    connect_seconds: float = Field(default=10.0, gt=0)
    read_seconds: float | None = Field(default=None, gt=0)
    attempts: int = Field(default=8, ge=1, le=100)
    patience_seconds: float = Field(default=300.0, gt=0)

    _http_only = field_validator("base_url")(_web_address)


class EmbedderSettings(WebSettings):
    """How texts become vectors.

    hashing: character n-grams, weighted by TF-IDF where `tfidf`, reduced by SVD to `dimensions` where that is not 0.
    sentence_transformers: `model` is a name on a hub or a folder.
    openai: `model` at `base_url`, any endpoint that speaks the OpenAI embeddings protocol.
    database: no model; the vectors that lie in the tables of `[databases.NAME]` beside their texts.
    """

    kind: Literal["hashing", "sentence_transformers", "openai", "database"] = "hashing"
    model: str | None = None
    database: str | None = None
    dimensions: int = Field(default=256, ge=0, le=16_000)
    ngrams: tuple[int, int] = (3, 5)
    tfidf: bool = True
    buckets: int = Field(default=2**18, ge=2, le=2**24)
    query_prefix: str = ""
    passage_prefix: str = ""
    batch: int = Field(default=64, ge=1)
    max_characters: int = Field(default=100_000, ge=1)

    @property
    def is_stand_in(self) -> bool:
        """Whether it only stands in for a model."""
        return self.kind == "hashing"

    @model_validator(mode="after")
    def _complete(self) -> EmbedderSettings:
        if self.kind == "database" and not self.database:
            raise ValueError("an embedder of kind 'database' needs `database`, the name of a table [databases.NAME]")
        if self.kind in ("sentence_transformers", "openai") and not self.model:
            raise ValueError(f"an embedder of kind {self.kind!r} needs `model`")
        if self.kind == "openai" and not self.base_url:
            raise ValueError("an embedder of kind 'openai' needs `base_url`")
        if not 1 <= self.ngrams[0] <= self.ngrams[1]:
            raise ValueError(f"ngrams = {list(self.ngrams)}: the shortest comes first, from 1")
        return self


class SystemSettings(Table):
    """One system under test: configured parts, your Python callable, or logged results. Exactly one of these.

    generator: who writes its answers; without one those that it gives itself, else the extractive stand-in's.
    """

    embedder: str | None = None
    index: Literal["exact", "hnsw"] = "exact"
    m: int = Field(default=16, ge=2, le=100)
    ef_construction: int = Field(default=64, ge=4, le=1000)
    ef_search: int = Field(default=40, ge=1, le=1000)
    callable: str | None = None
    results: Path | None = None
    generator: str | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> SystemSettings:
        given = [name for name in ("embedder", "callable", "results") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"a system is one of embedder, callable, results; given: {', '.join(given) or 'none'}")
        if self.callable is not None and ":" not in self.callable:
            raise ValueError(f"callable = {self.callable!r}: write it as module:function")
        return self


Replies = Literal["auto", "json_schema", "json_object", "tool", "text"]


class EndpointSettings(WebSettings):
    """How a language model is reached, and how fast.

    concurrency: calls in flight at most; the limiter goes below it when the endpoint asks for less.
    replies: how the shape of a reply is asked for; "auto" steps down from a JSON schema to plain text as refused.
    """

    concurrency: int = Field(default=16, ge=1, le=4096)
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    replies: Replies = "auto"


class ProviderSettings(EndpointSettings):
    """An endpoint that several judges share: one limiter, one key. A judge names it as `provider`."""

    base_url: str


class JudgeSettings(EndpointSettings):
    """A language model that judges, behind a provider of its own (`base_url`) or a shared one (`provider`).

    family: of the model, where its name does not tell; `tier_judge` asks whether a judge prefers its own family.
    """

    model: str
    family: str | None = None
    provider: str | None = None
    mode: Literal["direct", "reasoned"] = "direct"
    temperature: float | None = Field(default=0.0, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int = Field(default=1024, ge=1)
    seed: int | None = None
    input_price: float = Field(default=0.0, ge=0, description="money per million tokens read")
    output_price: float = Field(default=0.0, ge=0, description="money per million tokens written")

    @model_validator(mode="after")
    def _one_address(self) -> JudgeSettings:
        if (self.base_url is None) == (self.provider is None):
            raise ValueError(f"judge of model {self.model!r}: give `base_url`, or the name of a shared `provider`")
        return self


class GeneratorSettings(EndpointSettings):
    """Who writes answers from a question and its contexts.

    extractive: the best sentences of the contexts, `sentences` of them, without any model; a refusal where no sentence
    fits the question to at least `refuse_below` (0 to 1). A stand-in, named as one on every page.
    openai: `model` behind a provider of its own (`base_url`) or a shared one (`provider`).
    callable: your own function of (question, texts of the contexts), as module:function.

    prompt: a file with the slots {question} and {contexts}; without one the built-in prompt in `language` (by default
    the question's own). max_context_characters: what of the contexts is given at most; the rest is counted as cut.
    """

    kind: Literal["extractive", "openai", "callable"] = "extractive"
    model: str | None = None
    provider: str | None = None
    callable: str | None = None
    prompt: Path | None = None
    language: Language | None = None
    temperature: float | None = Field(default=0.0, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int = Field(default=1024, ge=1)
    seed: int | None = None
    max_context_characters: int | None = Field(default=None, ge=1)
    sentences: int = Field(default=2, ge=1, le=20)
    refuse_below: float = Field(default=0.2, ge=0, le=1)
    input_price: float = Field(default=0.0, ge=0, description="money per million tokens read")
    output_price: float = Field(default=0.0, ge=0, description="money per million tokens written")

    @model_validator(mode="after")
    def _complete(self) -> GeneratorSettings:
        if self.kind == "openai" and (not self.model or (self.base_url is None) == (self.provider is None)):
            raise ValueError(
                "a generator of kind 'openai' needs `model`, and `base_url` or the name of a shared `provider`"
            )
        if (self.kind == "callable") != (self.callable is not None):
            raise ValueError("a generator of kind 'callable', and no other, needs `callable`: write it module:function")
        if self.callable is not None and ":" not in self.callable:
            raise ValueError(f"callable = {self.callable!r}: write it as module:function")
        return self


class BudgetSettings(Table):
    """What one run may spend on models, all judges together; a run that reaches it stops cleanly and resumes later."""

    calls: int | None = Field(default=None, ge=1)
    tokens: int | None = Field(default=None, ge=1)
    money: float | None = Field(default=None, gt=0)


class DatabaseSettings(Table):
    """Where the embedded server keeps its data, and how long anything may take. A URL comes from the environment."""

    folder: Path | None = None
    connections: int = Field(default=8, ge=1, le=90)
    connect_seconds: float = Field(default=20.0, gt=0)
    statement_seconds: float = Field(default=600.0, gt=0)
    lock_seconds: float = Field(default=20.0, gt=0)


class ChunkTable(Table):
    """A user's own table of chunks: its name and the names of its columns. A column that is not there is left empty."""

    table: str = "chunk"
    in_schema: str = "public"
    id: str = "id"
    text: str = "text"
    url: str | None = "confluence_url"
    title: str | None = None
    embedding: str | None = "embedding"


class QuestionTable(Table):
    """A user's own table of past questions, with the page that was shown as the answer's source."""

    table: str = "question_answer"
    in_schema: str = "public"
    id: str = "id"
    question: str = "question"
    answer: str | None = "answer"
    url: str | None = "confluence_url"
    score: str | None = "score"
    user: str | None = "user_id"
    asked_at: str | None = None
    embedding: str | None = "embedding"


class SourceSettings(Table):
    """A user's own database, read and never written; `--dataset db:NAME` measures on it.

    url_variable: the environment variable that holds its URL; without one, the database that ragbench itself uses.
    without_embedding: what to do with rows that have no vector, where the vectors in the tables are used.
    """

    url_variable: str | None = None
    title: str | None = None
    licence: str = "not stated"
    language: Language = "ru"
    without_embedding: Literal["refuse", "leave_out"] = "refuse"
    chunks: ChunkTable = ChunkTable()
    questions: QuestionTable | None = QuestionTable()


class Band(Table):
    """Thresholds of one metric: from `good` on it is good, above `excellent` excellent, else it needs attention.

    excellent: None where a set has one threshold only. better: "lower" turns the directions round.
    scale: the ends of the scale that the thresholds are written for; None: the metric's own, whatever it is.
    """

    good: float
    excellent: float | None = None
    better: Literal["higher", "lower"] = "higher"
    scale: tuple[float, float] | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Band:
        sign = 1 if self.better == "higher" else -1
        if self.excellent is not None and sign * self.excellent < sign * self.good:
            raise ValueError(
                f"excellent = {self.excellent:g} is not beyond good = {self.good:g}: {self.better} is better"
            )
        return self

    def word(self, value: float) -> BandWord:
        """The band that a value lies in; the threshold itself is good, and not yet excellent."""
        sign = 1 if self.better == "higher" else -1
        if self.excellent is not None and sign * value > sign * self.excellent:
            return "excellent"
        return "good" if sign * value >= sign * self.good else "attention"

    def spanned(self, low: float, high: float) -> tuple[BandWord, ...]:
        """The bands that an interval reaches, worst first; a band is stated only where it is the only one."""
        worst, best = sorted((BANDS.index(self.word(low)), BANDS.index(self.word(high))))
        there = BANDS if self.excellent is not None else BANDS[:2]
        return tuple(word for word in there if worst <= BANDS.index(word) <= best)

    def moved(self, convert: Callable[[float], float], scale: tuple[float, float]) -> Band:
        """The same thresholds written for another scale."""
        excellent = None if self.excellent is None else convert(self.excellent)
        return self.model_copy(update={"good": convert(self.good), "excellent": excellent, "scale": scale})


class DifferenceSettings(Table):
    """The smallest difference that would matter: what is not shown is planned for it.

    metrics: by a metric's name or label (`mrr`, `hit_rate@5`), in its unit. share_of_scale: of the width of the scale,
    for every other metric that has two ends; for one without, there is no smallest difference of interest.
    """

    share_of_scale: float = Field(default=0.05, gt=0, le=1)
    metrics: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = {}


class GateSettings(Table):
    """A condition that `ragbench run --gate` holds the report to. At least one of the four bounds is given.

    metric: its label, `mrr` or `hit_rate@5`. notebook: only of this one. system: only this one; else every system,
    for `not_worse_by` every one but the baseline. at_least, at_most: bounds that the whole interval keeps. band: the
    band of the threshold set that the whole interval reaches. not_worse_by: how much worse than the baseline is still
    good enough (non-inferiority), in the metric's unit. baseline: a system of the same report; else the report's.
    most_unmeasured: with a larger share of unmeasured values the gate fails, whatever the rest says.
    """

    metric: str
    notebook: str | None = None
    system: str | None = None
    at_least: float | None = None
    at_most: float | None = None
    band: Literal["good", "excellent"] | None = None
    not_worse_by: float | None = Field(default=None, gt=0)
    baseline: str | None = None
    most_unmeasured: float = Field(default=0.02, ge=0, le=1)

    @model_validator(mode="after")
    def _asks_something(self) -> GateSettings:
        if all(each is None for each in (self.at_least, self.at_most, self.band, self.not_worse_by)):
            raise ValueError(f"the gate on {self.metric!r} asks nothing: give at_least, at_most, band or not_worse_by")
        if self.baseline is not None and self.not_worse_by is None:
            raise ValueError(f"the gate on {self.metric!r} names a baseline: say `not_worse_by` what margin")
        return self
