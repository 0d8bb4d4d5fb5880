"""What the environment and ragbench.toml say: data set, systems, judges, thresholds, database, language.

Environment variables (`RAGBENCH_LANGUAGE=ru`) win over the file. Secrets are read from the environment alone.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

Language = Literal["en", "ru"]
PREFIX = "RAGBENCH_"
PROCESS_VARIABLES = frozenset({"RAGBENCH_CONFIG", "RAGBENCH_RUN_FOLDER", "RAGBENCH_CHROMIUM", "RAGBENCH_TEST_DATA"})


class ConfigurationError(ValueError):
    """ragbench.toml or an environment variable says something that cannot be followed."""


class Table(BaseModel):
    """A table of ragbench.toml: frozen, and closed to keys that it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class EmbedderSettings(Table):
    """How texts become vectors.

    hashing: character n-grams, weighted by TF-IDF where `tfidf`, reduced by SVD to `dimensions` where that is not 0.
    sentence_transformers: `model` is a name on a hub or a folder.
    openai: `model` at `base_url`, any endpoint that speaks the OpenAI embeddings protocol.
    """

    kind: Literal["hashing", "sentence_transformers", "openai"] = "hashing"
    model: str | None = None
    base_url: str | None = None
    key_variable: str | None = None
    dimensions: int = Field(default=256, ge=0, le=16_000)
    ngrams: tuple[int, int] = (3, 5)
    tfidf: bool = True
    buckets: int = Field(default=2**18, ge=2, le=2**24)
    query_prefix: str = ""
    passage_prefix: str = ""
    batch: int = Field(default=64, ge=1)
    max_characters: int = Field(default=100_000, ge=1)

    @model_validator(mode="after")
    def _complete(self) -> EmbedderSettings:
        if self.kind != "hashing" and not self.model:
            raise ValueError(f"an embedder of kind {self.kind!r} needs `model`")
        if self.kind == "openai" and not self.base_url:
            raise ValueError("an embedder of kind 'openai' needs `base_url`")
        if not 1 <= self.ngrams[0] <= self.ngrams[1]:
            raise ValueError(f"ngrams = {list(self.ngrams)}: the shortest comes first, from 1")
        return self


class SystemSettings(Table):
    """One retrieval system under test: configured parts, your Python callable, or logged results. Exactly one."""

    embedder: str | None = None
    index: Literal["exact", "hnsw"] = "exact"
    m: int = Field(default=16, ge=2, le=100)
    ef_construction: int = Field(default=64, ge=4, le=1000)
    ef_search: int = Field(default=40, ge=1, le=1000)
    callable: str | None = None
    results: Path | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> SystemSettings:
        given = [name for name in ("embedder", "callable", "results") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"a system is one of embedder, callable, results; given: {', '.join(given) or 'none'}")
        if self.callable is not None and ":" not in self.callable:
            raise ValueError(f"callable = {self.callable!r}: write it as module:function")
        return self


Replies = Literal["auto", "json_schema", "json_object", "tool", "text"]


def _web_address(value: str | None) -> str | None:
    if value is None:
        return None
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"base_url = {value!r}: only http and https are spoken")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("base_url holds a user, a password or a query: name the key's variable in `key_variable`")
    return value.rstrip("/")


class EndpointSettings(Table):
    """How an OpenAI-compatible endpoint is reached, and how fast. The key is in the variable that it names.

    concurrency: calls in flight at most; the limiter goes below it when the endpoint asks for less.
    timeout_seconds: one attempt, whole. connect_seconds, read_seconds: its parts; a silent connection ends earlier.
    attempts, patience_seconds: how often, and for how long in all, a call is tried before its value is unmeasured.
    replies: how the shape of a reply is asked for; "auto" steps down from a JSON schema to plain text as refused.
    transport: "aiohttp" posts to the endpoint itself; "openai" goes through the official package (slower).
    """

    base_url: str | None = None
    key_variable: str | None = None
    concurrency: int = Field(default=16, ge=1, le=4096)
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    timeout_seconds: float = Field(default=60.0, gt=0)
    connect_seconds: float = Field(default=10.0, gt=0)
    read_seconds: float | None = Field(default=None, gt=0)
    attempts: int = Field(default=8, ge=1, le=100)
    patience_seconds: float = Field(default=300.0, gt=0)
    replies: Replies = "auto"
    transport: Literal["aiohttp", "openai"] = "aiohttp"

    _http_only = field_validator("base_url")(_web_address)


class ProviderSettings(EndpointSettings):
    """An endpoint that several judges share: one limiter, one key. A judge names it as `provider`."""

    base_url: str

    _http_only = field_validator("base_url")(_web_address)


class JudgeSettings(EndpointSettings):
    """A language model that judges, behind a provider of its own (`base_url`) or a shared one (`provider`)."""

    model: str
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


class Band(Table):
    """Thresholds of one metric: `good` and above (or below, where lower is better) is good, `excellent` excellent."""

    excellent: float
    good: float


class Settings(BaseSettings):
    """Everything that can be set, typed. `load` reads it once."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True)

    dataset: str = "campus"
    data_folder: Path = Path("data")
    reports_folder: Path = Path("reports")
    notebooks_folder: Path = Path("notebooks")
    language: Language = "en"
    baseline: str | None = None
    seed: int = Field(default=0, ge=0)
    threshold_set: str = "specification"
    database_url: SecretStr | None = None
    database: DatabaseSettings = DatabaseSettings()
    embedders: dict[str, EmbedderSettings] = {"hashing": EmbedderSettings()}
    systems: dict[str, SystemSettings] = {"hashing": SystemSettings(embedder="hashing")}
    providers: dict[str, ProviderSettings] = {}
    judges: dict[str, JudgeSettings] = {}
    budget: BudgetSettings = BudgetSettings()
    thresholds: dict[str, dict[str, Band]] = {}

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings, env_settings, TomlConfigSettingsSource(settings_cls, config_path()))

    @model_validator(mode="after")
    def _names_exist(self) -> Settings:
        for name, system in self.systems.items():
            if system.embedder is not None and system.embedder not in self.embedders:
                raise ValueError(
                    f"systems.{name}.embedder = {system.embedder!r}: there is no such table; "
                    f"embedders are {', '.join(sorted(self.embedders))}"
                )
        if self.baseline is not None and self.baseline not in self.systems:
            raise ValueError(f"baseline = {self.baseline!r}: systems are {', '.join(sorted(self.systems))}")
        for name, judge in self.judges.items():
            if judge.provider is not None and judge.provider not in self.providers:
                raise ValueError(
                    f"judges.{name}.provider = {judge.provider!r}: there is no such table; "
                    f"providers are {', '.join(sorted(self.providers)) or 'none'}"
                )
        if "lexical" in self.judges:
            raise ValueError("judges.lexical: this name belongs to the offline judge; choose another")
        return self

    def judge(self, name: str) -> JudgeSettings:
        """The judge of that name with its provider's settings filled in where it says nothing itself.

        The result has a `base_url`, and its `provider` is the shared provider's name or None.
        Raises ConfigurationError with the legal names.
        """
        if name not in self.judges:
            legal = ", ".join(["lexical", *sorted(self.judges)])
            raise ConfigurationError(f"there is no judge {name!r}; judges are {legal} (tables [judges.NAME])")
        judge = self.judges[name]
        if judge.provider is None:
            return judge
        shared = self.providers[judge.provider]
        own = judge.model_fields_set & set(EndpointSettings.model_fields)
        return judge.model_copy(update=shared.model_dump(exclude=own))


def config_path() -> Path:
    """The file that is read: `RAGBENCH_CONFIG`, else ragbench.toml in this folder or the nearest one above it."""
    named = os.environ.get("RAGBENCH_CONFIG")
    if named:
        return Path(named)
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "ragbench.toml").is_file():
            return folder / "ragbench.toml"
    return here / "ragbench.toml"


def project_folder() -> Path:
    """The folder that relative paths start from: the configuration file's."""
    return config_path().parent.resolve()


@lru_cache(maxsize=1)
def load() -> Settings:
    """The settings of this process; `load.cache_clear()` makes the next call read them anew.

    Raises ConfigurationError, one line a fault, each with the key, the value and what is legal.
    """
    path = config_path()
    if os.environ.get("RAGBENCH_CONFIG") and not path.is_file():
        raise ConfigurationError(f"RAGBENCH_CONFIG = {path}: there is no such file")
    _refuse_secrets(path)
    try:
        found = Settings()
    except ValidationError as error:
        raise ConfigurationError("\n".join(f"{path.name}: {_explain(fault)}" for fault in error.errors())) from None
    except ValueError as error:
        raise ConfigurationError(f"{path.name}: {error}") from None
    _refuse_unknown_variables(found)
    return found


def _refuse_secrets(path: Path) -> None:
    import tomllib

    if not path.is_file():
        return
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: not a TOML file: {error}") from None
    if "database_url" in table:
        raise ConfigurationError(
            f"{path.name}: database_url may hold a password: set the variable RAGBENCH_DATABASE_URL instead"
        )


def _explain(fault: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in fault["loc"])
    if fault["type"] != "extra_forbidden":
        message = str(fault["msg"]).removeprefix("Value error, ")
        return f"{place} = {fault['input']!r}: {message}" if place and fault["type"] != "value_error" else message
    legal = _legal_keys(tuple(fault["loc"]))
    near = difflib.get_close_matches(str(fault["loc"][-1]), legal, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"there is no key {place!r}{hint} Legal here: {', '.join(legal)}"


def _legal_keys(place: tuple[int | str, ...]) -> list[str]:
    tables: dict[str, type[BaseModel]] = {
        "embedders": EmbedderSettings,
        "systems": SystemSettings,
        "providers": ProviderSettings,
        "judges": JudgeSettings,
        "budget": BudgetSettings,
        "database": DatabaseSettings,
        "thresholds": Band,
    }
    model = Settings if len(place) == 1 else tables.get(str(place[0]), Settings)
    return sorted(name for name in model.model_fields if name != "database_url")


def _refuse_unknown_variables(found: Settings) -> None:
    keys = {judge.key_variable for judge in found.judges.values()}
    keys |= {provider.key_variable for provider in found.providers.values()}
    keys |= {embedder.key_variable for embedder in found.embedders.values()}
    legal = {PREFIX + name.upper() for name in Settings.model_fields} | PROCESS_VARIABLES
    for name in sorted(os.environ):
        if name.startswith(PREFIX) and name.split("__")[0] not in legal and name not in keys:
            raise ConfigurationError(
                f"there is no setting behind the variable {name}; legal: {', '.join(sorted(legal))}"
            )
