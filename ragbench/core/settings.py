"""ragbench.toml: what a project measures, with which systems, judges and models.

Every key may also be set in the environment, which wins: `RAGBENCH_LANGUAGE=ru`, with `__` between
table and key: `RAGBENCH_BUDGET__CALLS=1000`. Secrets stand in the environment alone: `key_variable`
and `url_variable` name the variables that hold them.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from ragbench.core.errors import BenchError, suggest
from ragbench.core.secrets import SECRET_NAME, read_secret, remember

FILE = "ragbench.toml"
PREFIX = "RAGBENCH_"
# Of the embedded database or a PostgreSQL of one's own; not a key, since it may hold a password.
DATABASE_URL = "RAGBENCH_DATABASE_URL"
Aggregate = Literal["mean", "median", "minimum", "maximum", "majority", "consensus"]
IndexKind = Literal["exact", "hnsw", "ivfflat", "own"]


class Table(BaseModel):
    """A table of ragbench.toml; a key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class Endpoint(Table):
    """Where a model is, and how it is asked."""

    provider: str = Field("", description="a preset or the NAME of [providers.NAME]")
    preset: str = Field("", description="of [providers.NAME]: the preset that it changes")
    base_url: str = Field("", description="http or https address of the endpoint, without a key")
    key_variable: str = Field("", description="environment variable that holds the key")
    client: str = Field("", description="your own AsyncOpenAI client or a function, module:name")
    headers: dict[str, str] = Field({}, description='"{VARIABLE}" stands for the environment\'s')
    query: dict[str, str] = Field({}, description="put behind the address of every call")
    api_version: str = Field("", description="of Azure, whose deployments are then asked")
    ca_file: Path | None = Field(None, description="certificates of the authorities to trust")
    temperature: float | None = Field(None, ge=0, le=2, description="of sampling; judges: 0")
    top_p: float | None = Field(None, gt=0, le=1, description="share of likely words")
    max_tokens: int | None = Field(None, ge=1, description="of one reply at most")
    dimensions: int | None = Field(None, ge=1, description="of an embedding, where it can be cut")
    seed: int | None = Field(None, description="sent with every call")
    options: dict[str, Any] = Field({}, description="whatever else is sent with every call")
    without: list[str] = Field([], description="what it is known to refuse and is never sent")
    replies: Literal["auto", "json_schema", "json_object", "text"] = Field(
        "auto", description="how a reply's shape is asked for; auto: down to text as refused"
    )
    sees_images: bool = Field(False, description="whether it may be shown images")
    concurrency: int = Field(16, ge=1, le=4_096, description="calls in flight at most")
    timeout_seconds: float = Field(120, gt=0, description="of one attempt")
    connect_seconds: float = Field(10, gt=0, description="of an attempt, to connect")
    read_seconds: float = Field(120, gt=0, description="of an attempt, without a byte")
    attempts: int = Field(6, ge=1, le=100, description="how often a call is tried")
    patience_seconds: float = Field(300, gt=0, description="of all attempts of a call")
    input_price: float = Field(0, ge=0, description="money per million tokens read")
    output_price: float = Field(0, ge=0, description="money per million tokens written")
    prices: dict[str, tuple[float, float]] = Field({}, description="of several models: both prices")

    @model_validator(mode="after")
    def check_secrets(self) -> Endpoint:
        """Refuse keys in headers, and addresses that are none."""
        for name, value in {**self.headers, **self.query}.items():
            if SECRET_NAME.search(name) and "{" not in value:
                raise ValueError(f'{name}: name the variable that holds its secret: "{{VARIABLE}}"')
        if self.base_url and not self.base_url.startswith(("http://", "https://")):
            raise ValueError("base_url begins with http:// or https://")
        return self

    @property
    def key(self) -> str:
        """The key; "" where no variable is named or it is not set."""
        return read_secret(self.key_variable) if self.key_variable else ""

    def filled_headers(self) -> dict[str, str]:
        """The headers with the values of environment variables in place of their names."""
        return {name: fill_variables(value) for name, value in self.headers.items()}


class Model(Endpoint):
    """A model at an endpoint."""

    model: str = Field("", description="its name at the endpoint, on a hub, or its folder")


class JudgeTable(Model):
    """[judges.NAME]: a language model that judges, or your function."""

    mode: Literal["direct", "reasoned"] = Field("direct", description="reasoned: reasons first")
    callable: str = Field("", description="your function of the prompt, module:function")


class EmbedderTable(Model):
    """[embedders.NAME]: how texts become vectors. auto and hashing need no table."""

    kind: Literal["auto", "hashing", "minilm", "navec", "sentence_transformers", "openai"] = "auto"
    callable: str = Field("", description="your function of a list of texts, module:function")
    query_prefix: str = Field("", description="put before every question")
    passage_prefix: str = Field("", description="put before every passage")
    batch: int = Field(64, ge=1, description="texts embedded together")

    @model_validator(mode="after")
    def check_kind(self) -> EmbedderTable:
        """Refuse a model that its kind would not ask."""
        if self.kind in ("openai", "sentence_transformers"):
            return self
        if self.model or self.base_url or self.provider:
            raise ValueError(
                f'{self.kind} is a model of its own; write kind = "openai" for an endpoint, or '
                '"sentence_transformers" for a folder'
            )
        return self


class RetrieverTable(Table):
    """[retrievers.NAME]: how passages are found. bm25 needs no table."""

    kind: Literal["bm25", "dense", "hybrid", "database"] = Field(description="how it searches")
    embedder: str = Field("", description="of dense: the NAME of [embedders.NAME]")
    retrievers: list[str] = Field([], description="of hybrid: the NAMEs that are fused")
    database: str = Field("", description="of database: the NAME of [databases.NAME]")
    index: IndexKind = Field("exact", description="of dense and database")
    m: int = Field(16, ge=2, le=100, description="of HNSW: links of a node")
    ef_construction: int = Field(64, ge=4, le=1_000, description="of HNSW: while it is built")
    ef_search: int = Field(40, ge=1, le=1_000, description="of HNSW: while it is searched")
    lists: int | None = Field(None, ge=1, le=32_768, description="of IVFFlat: clusters")
    probes: int = Field(1, ge=1, le=32_768, description="of IVFFlat: clusters looked at")
    weights: list[float] = Field([], description="of hybrid: of each ranking; empty: equal")


class RerankerTable(Model):
    """[rerankers.NAME]: who looks at the first passages again."""

    kind: Literal["cross_encoder", "embedder", "judge", "endpoint", "callable"]
    callable: str = Field("", description="your function of (question, texts) → scores")
    embedder: str = Field("", description="of embedder: the NAME of [embedders.NAME]")
    judge: str = Field("", description="of judge: the NAME of [judges.NAME]")
    depth: int = Field(20, ge=1, le=1_000, description="passages that it looks at")


class GeneratorTable(Model):
    """[generators.NAME]: who writes answers. extractive needs no table and is a stand-in."""

    kind: Literal["extractive", "openai", "callable"] = "extractive"
    callable: str = Field("", description="your function of (question, texts), module:function")
    prompt: Path | None = Field(None, description="file with {question} and {contexts}")
    sentences: int = Field(2, ge=1, le=20, description="of an extractive answer")
    refuse_below: float = Field(0.49, ge=0, le=1, description="of an extractive answer")


class SystemTable(Table):
    """[systems.NAME]: a system under test."""

    retriever: str = Field("", description="bm25 or the NAME of [retrievers.NAME]")
    embedder: str = Field("", description="short for a dense retriever with this embedder")
    index: IndexKind = Field("exact", description="of that dense retriever")
    ef_search: int = Field(40, ge=1, le=1_000, description="of its HNSW")
    probes: int = Field(1, ge=1, le=32_768, description="of its IVFFlat")
    rewriter: str = Field("", description="your function of the question, module:function")
    reranker: str = Field("", description="the NAME of [rerankers.NAME]")
    generator: str = Field("", description="extractive or the NAME of [generators.NAME]")
    callable: str = Field("", description="your function or object, module:name")
    results: Path | None = Field(None, description="file of what it retrieved and answered")
    url: str = Field("", description="address of a service; {question} and {k} may stand in it")
    method: Literal["POST", "GET", "PUT"] = "POST"
    body: str = Field('{"question": "{question}", "k": {k}}', description="of a request, JSON")
    headers: dict[str, str] = Field({}, description='of a request: "Bearer {VARIABLE}"')
    answer: str = Field("", description="where a reply has its answer, in JMESPath")
    passages: str = Field("", description="where it has the texts of its passages")
    ids: str = Field("", description="where it has their ids")
    scores: str = Field("", description="where it has their scores")
    concurrency: int = Field(1, ge=1, le=1_024, description="requests in flight at most")
    timeout_seconds: float = Field(60, gt=0, description="of one request")
    description: str = Field("", description="what it is, in a line, for pages and index")

    @model_validator(mode="after")
    def check_one_source(self) -> SystemTable:
        """Refuse a system that is two things, or nothing."""
        sources = ("retriever", "embedder", "callable", "results", "url")
        named = [name for name in sources if getattr(self, name)]
        if len(named) != 1 and not (not named and self.generator):
            seen = " and ".join(named) or "nothing"
            raise ValueError(f"it has {seen}; name one of {', '.join(sources)}")
        return self


class DatabaseTable(Table):
    """[databases.NAME]: tables of your own PostgreSQL, read and never written."""

    url_variable: str = Field("", description="environment variable that holds its address")
    preset: Literal["", "voproshalych"] = Field("", description="whose tables these are")
    db_schema: str = Field("public", alias="schema", description="schema of the tables")
    passages: str = Field("", description="table of passages")
    passage_id: str = Field("", description="its column of ids")
    text: str = Field("", description="its column of texts")
    url: str = Field("", description="its column of pages")
    title: str = Field("", description="its column of titles")
    vector: str = Field("", description="its column of vectors")
    questions: str = Field("", description="table of questions; empty: from a file")
    question_id: str = Field("", description="its column of ids")
    question: str = Field("", description="its column of questions")
    answer: str = Field("", description="its column of answers that were given")
    reference: str = Field("", description="its column of right answers")
    relevant_ids: str = Field("", description="its column of ids of relevant passages")
    question_url: str = Field("", description="its column of the page that answers")
    question_vector: str = Field("", description="its column of vectors")
    score: str = Field("", description="its column of users' scores")
    user: str = Field("", description="its column of users")
    asked_at: str = Field("", description="its column of times")


class DatabaseSettings(Table):
    """[database]: that ragbench writes."""

    folder: Path | None = Field(None, description="of the embedded server; not set: your data's")
    connections: int = Field(8, ge=1, le=90, description="held open at most")
    connect_seconds: float = Field(10, gt=0, description="to connect")
    statement_seconds: float = Field(600, gt=0, description="of one statement")
    lock_seconds: float = Field(20, gt=0, description="to wait for what another holds")


class Budget(Table):
    """[budget]: what a run may spend on models; one that reaches it stops, and resumes later."""

    calls: int | None = Field(None, ge=1)
    tokens: int | None = Field(None, ge=1)
    money: float | None = Field(None, gt=0)


class Gate(Table):
    """[gate.NAME]: a condition on a report; the whole interval has to keep it."""

    metric: str = Field(description="label, such as mrr@10")
    page: str = Field("", description="only of this page; empty: of every one that has it")
    system: str = Field("", description="only this one; empty: every one")
    at_least: float | None = None
    at_most: float | None = None
    band: Literal["", "good", "excellent"] = ""
    not_worse_by: float | None = Field(None, gt=0, description="than the baseline")
    most_unmeasured: float = Field(0.02, ge=0, le=1)


class Band(Table):
    """[thresholds.SET.METRIC]: from which value on it is good, above which excellent."""

    good: float
    excellent: float | None = None
    scale: tuple[float, float] | None = Field(None, description="that these are written for")


class MetricTable(Table):
    """[metrics.NAME]: a criterion in words, or another prompt and options of a built-in metric."""

    question: str | dict[str, str] = Field("", description="a criterion as a sentence")
    scale: list[float] | list[str] | Literal["yes/no"] = "yes/no"
    higher_is_better: bool = True
    needs: list[str] = Field([], description="fields that the judge is shown")
    prompt: str | dict[str, str] = Field("", description="file or text in place of its own")
    options: dict[str, Any] = {}


class Settings(Table):
    """Everything that ragbench.toml may say."""

    dataset: str = Field("campus", description="folder below data/; NAME:ru; db:NAME; a path")
    data_folder: Path = Path("data")
    reports_folder: Path = Path("reports")
    notebooks_folder: Path = Path("notebooks")
    language: Literal["en", "ru"] = Field("en", description="of pages")
    columns: dict[str, str] = Field({}, description='by field: answer = "bot_answer"')
    baseline: str = Field("", description="that others are compared with; empty: the first")
    threshold_set: str = "specification"
    embedder: str = Field("", description="that metrics embed with; empty: auto")
    aggregate: Aggregate = Field("mean", description="how several judges become one")
    tolerance: float | None = Field(None, ge=0, description="of consensus")
    quorum: int | None = Field(None, ge=1, description="judges that must have measured")
    modules: list[str] = Field([], description="Python modules that declare metrics of yours")
    cluster: str = Field("", description="local:N, or the address of a Dask scheduler")
    database: DatabaseSettings = DatabaseSettings()
    budget: Budget = Budget()
    smallest_difference: dict[str, float] = Field(
        {}, description="by metric, what matters to you: mrr = 0.03; within it is the same"
    )
    providers: dict[str, Endpoint] = {}
    judges: dict[str, JudgeTable] = {}
    embedders: dict[str, EmbedderTable] = {}
    retrievers: dict[str, RetrieverTable] = {}
    rerankers: dict[str, RerankerTable] = {}
    generators: dict[str, GeneratorTable] = {}
    systems: dict[str, SystemTable] = {}
    databases: dict[str, DatabaseTable] = {}
    metrics: dict[str, MetricTable] = {}
    thresholds: dict[str, dict[str, Band]] = {}
    gate: dict[str, Gate] = {}
    sweeps: dict[str, dict[str, Any]] = Field({}, description="[sweeps.NAME] factor = [values]")
    _root: Path = PrivateAttr(default_factory=Path.cwd)

    @property
    def root(self) -> Path:
        """The folder that its paths are relative to: that of ragbench.toml, else where we are."""
        return self._root

    def path(self, relative: Path | str) -> Path:
        """Return a path of the settings as an absolute one."""
        return self._root / relative


def load_settings(path: Path | str | None = None) -> Settings:
    """Read ragbench.toml of a file, else of the folder we are in or one above; or the defaults.

    Raises BenchError with the file, the key, its value and what is legal.
    """
    file = find_file(path)
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8")) if file else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise BenchError(f"{file} cannot be read: {error}") from None
    merge_environment(values)
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        place = file or f"the environment ({PREFIX}…)"
        raise BenchError(f"{place}: {say_what_is_wrong(error, Settings)}") from None
    if file:
        settings._root = file.parent.resolve()
    return settings


def find_file(path: Path | str | None) -> Path | None:
    """Return the file of the settings, or None where there is none."""
    named = path or os.environ.get(f"{PREFIX}CONFIG")
    if named:
        file = Path(named)
        file = file / FILE if file.is_dir() else file
        if not file.is_file():
            raise BenchError(f"there is no {file}; `ragbench init` writes one")
        return file
    for folder in (Path.cwd(), *Path.cwd().parents):
        if (folder / FILE).is_file():
            return folder / FILE
    return None


def merge_environment(values: dict[str, Any]) -> None:
    """Put the environment's values over the file's: RAGBENCH_BUDGET__CALLS is budget.calls."""
    for variable, value in os.environ.items():
        if variable == DATABASE_URL:
            remember(value)
        *tables, key = variable.removeprefix(PREFIX).lower().split("__")
        if not variable.startswith(PREFIX) or [*tables, key][0] not in Settings.model_fields:
            continue
        table = values
        for name in tables:
            table = table.setdefault(name, {})
        table[key] = value


def say_what_is_wrong(error: ValidationError, model: type[BaseModel]) -> str:
    """Say in one sentence what pydantic found: the key, and what is legal."""
    sentences = []
    for found in error.errors(include_input=False, include_url=False):
        place = ".".join(map(str, found["loc"]))
        message = found["msg"].removeprefix("Value error, ")
        if found["type"] == "extra_forbidden":
            known = known_keys(model, found["loc"])
            hint = suggest(str(found["loc"][-1]), known)
            message = f"there is no such key{hint}; there are {', '.join(known)}"
        sentences.append(f"{place}: {message}" if place else message)
    return "; ".join(sentences)


def known_keys(model: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    """Return the keys that are legal at the place of an unknown one."""
    table: Any = model
    for name in place[:-1]:
        if name in getattr(table, "model_fields", {}):
            table = table.model_fields[name].annotation
        else:  # the NAME of a table, in dict[str, Table]
            table = table.__args__[-1]
    return [field.alias or name for name, field in table.model_fields.items()]


def fill_variables(template: str) -> str:
    """Fill "{VARIABLE}" with the environment's values. Raises BenchError for one not set."""
    import re

    def look_up(found: re.Match[str]) -> str:
        if found[1] not in os.environ:
            raise BenchError(f"the environment variable {found[1]} is not set")
        return read_secret(found[1])

    return re.sub(r"\{([A-Za-z_]\w*)\}", look_up, template)


@cache
def threshold_sets() -> Mapping[str, Mapping[str, Band]]:
    """Return the sets of bands that ragbench brings: specification and voproshalych."""
    text = (Path(__file__).parent / "thresholds.toml").read_text(encoding="utf-8")
    return {
        name: {metric: Band(**band) for metric, band in bands.items()}
        for name, bands in tomllib.loads(text).items()
    }
