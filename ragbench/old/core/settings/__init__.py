"""What the environment and ragbench.toml say: data set, systems, judges, thresholds, database, language.

Environment variables (`RAGBENCH_LANGUAGE=ru`) win over the file. Secrets are read from the environment alone.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, Field, SecretStr, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from ragbench.old.core import annexes, folders, names
from ragbench.old.core.language import Language
from ragbench.old.core.settings import metric_tables, mistakes, urls
from ragbench.old.core.settings.endpoints import (
    PRESETS,
    Aggregate,
    EmbedderSettings,
    EndpointSettings,
    GeneratorSettings,
    JudgeSettings,
    ProviderSettings,
    WebSettings,
    filled_in,
)
from ragbench.old.core.settings.metric_tables import MetricSettings, MetricsSettings
from ragbench.old.core.settings.systems import (
    ChunkerSettings,
    RerankerSettings,
    RetrieverSettings,
    RewriterSettings,
    SystemSettings,
)
from ragbench.old.core.settings.tables import (
    PARTS,
    Band,
    BudgetSettings,
    ChunkTable,
    DatabaseSettings,
    DifferenceSettings,
    GateSettings,
    IndexSettings,
    QuestionTable,
    SourceSettings,
    Table,
)

OFFLINE = "lexical"
"""The judge that is meant where none is named or configured: it is always there, and asks no model."""
MOST_BYTES = 2**20
"""Of ragbench.toml, which is read whole."""
PREFIX = "RAGBENCH_"
OWN_TABLES = "db:"
"""The name of a data set begins so where it is a user's own tables: `db:NAME` is [databases.NAME]."""
Model = TypeVar("Model", JudgeSettings, GeneratorSettings, EmbedderSettings, RerankerSettings)
RUN_FOLDER = "RAGBENCH_RUN_FOLDER"
"""Names to a notebook's process the folder of the run that it belongs to."""
CLUSTER = "RAGBENCH_CLUSTER"
"""The setting `cluster`, as every process of a run finds it."""
RUN = "RAGBENCH_RUN"
"""Names to processes on several machines the one run that they belong to: they spend from one budget."""
TRUST = "RAGBENCH_TRUST"
"""Names folders that are trusted, with all below them, where nobody can be asked; see `ragbench.old.core.trust`."""
PLAN = "RAGBENCH_PLAN"
"""Names to a process that only plans, and asks nobody, the folder that it tells of its plan in."""
BESIDE = "RAGBENCH_BESIDE"
"""Set for a notebook's process that others run beside: it reads no clock that is not kept already."""
PROCESS_VARIABLES = frozenset(
    {"RAGBENCH_CONFIG", BESIDE, RUN, RUN_FOLDER, TRUST, PLAN, "RAGBENCH_CHROMIUM", "RAGBENCH_TEST_DATA"}
)

MEASURED = frozenset(
    {"dataset", "baseline", "embedders", "retrievers", "chunkers", "rewriters", "rerankers", "systems"}
)
"""What says which data are measured, and by which systems; who names no systems gets those of the sample."""
NAMED = (
    *(("systems", "embedder", "embedders"), ("systems", "generator", "generators")),
    *(("systems", "retriever", "retrievers"), ("retrievers", "embedder", "embedders")),
    *(("systems", part, f"{part}s") for part in PARTS),
    ("rewriters", "generator", "generators"),
    *(("embedders", "database", "databases"), ("embedders", "queries", "embedders")),
    ("judges", "provider", "providers"),
    *((table, "provider", "providers") for table in ("generators", "embedders", "rerankers")),
)
"""Which fields of which tables name one of which others."""


class ConfigurationError(ValueError):
    """ragbench.toml or an environment variable says something that cannot be followed."""


class Settings(BaseSettings):
    """Everything that can be set, typed. `load` reads it once."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True, hide_input_in_errors=True
    )

    dataset: str = Field(
        default="campus",
        description="folder below data_folder, in the page's language if it has it; NAME:ru for another; db:NAME for "
        "your own database; s3://bucket/folder and other URLs for shared storage",
    )
    data_folder: Path = Field(default=Path("data"), description="folder of data sets")
    reports_folder: Path = Field(default=Path("reports"), description="folder that runs are written to")
    reports: str | None = Field(
        default=None, description="URL that every run is sent to as well when it is whole: s3://bucket/reports, …"
    )
    notebooks_folder: Path = Field(
        default=Path("notebooks"), description="folder of notebooks that `ragbench run` runs"
    )
    language: Language = Field(default="en", description="of pages")
    encoding: str | None = Field(default=None, description="of data files that are neither UTF-8 nor UTF-16")
    columns: dict[str, str] = Field(default={}, description='of tables, by field: answer = "bot_answer"')
    baseline: str | None = Field(
        default=None, description="the system that the others are compared with; not set: the first"
    )
    threshold_set: str = Field(
        default="specification",
        description="what counts as good: specification, voproshalych, or the NAME of [thresholds.NAME]",
    )
    fail_on_raised: bool = Field(
        default=False, description="whether a run ends with exit code 1 where a system raised at any question"
    )
    ask_first: bool = Field(
        default=True,
        description="whether a run begins with one short question to each model behind an endpoint that it will use "
        "and that has never answered; one that refuses or is not there ends the run before it costs anything",
    )
    decision_seconds: float = Field(
        default=60.0, gt=0, description="of one call of a judge that is your function, module:function"
    )
    database_url: SecretStr | None = Field(
        default=None, description="the address of a PostgreSQL of your own instead of the embedded one"
    )
    cluster: str | None = Field(
        default=None,
        description="a Dask cluster that embeds, searches and judges: local:4 for processes of this machine, "
        "tcp://HOST:8786, tls://HOST:8786, or the FILE.json of a scheduler",
    )
    database: DatabaseSettings = Field(
        default=DatabaseSettings(), description="that ragbench writes: its folder, and how long anything may take"
    )
    embedders: dict[str, EmbedderSettings] = Field(
        default={"hashing": EmbedderSettings(), "auto": EmbedderSettings(kind="auto")},
        description="how texts become vectors; hashing and auto are there without a table",
    )
    embedder: str | None = Field(
        default=None,
        description="the NAME of [embedders.NAME] that metrics embed with where a page, a command or a call names "
        "none, several comma-separated; not set: the first model that a system searches with, else auto",
    )
    retrievers: dict[str, RetrieverSettings] = Field(
        default={"bm25": RetrieverSettings()}, description="how passages are found"
    )
    chunkers: dict[str, ChunkerSettings] = Field(default={}, description="how passages are cut into pieces")
    rewriters: dict[str, RewriterSettings] = Field(default={}, description="what is searched for")
    rerankers: dict[str, RerankerSettings] = Field(default={}, description="who looks at a ranking again")
    systems: dict[str, SystemSettings] = Field(
        default={}, description="the systems under test; none named: bm25, dense and hybrid, as the sample has them"
    )
    providers: dict[str, ProviderSettings] = Field(
        default={}, description="endpoints that several models share; " + ", ".join(PRESETS) + " need no table"
    )
    databases: dict[str, SourceSettings] = Field(default={}, description="your own databases, read and never written")
    judges: dict[str, JudgeSettings] = Field(default={}, description="language models that judge")
    quorum: int | None = Field(
        default=None, ge=1, description="judges of a panel that must have measured; not set: all"
    )
    aggregate: Aggregate = Field(
        default="mean",
        description="how several judges become one: their mean, median, minimum, maximum; majority: the value of more "
        "than half, else unmeasured; binary_majority: 1 where more than half gave 0.5 and above, else 0; consensus: "
        "the mean where they differ by at most `tolerance`, else unmeasured",
    )
    tolerance: float | None = Field(
        default=None, ge=0, description="of consensus: how far apart judges may be, on the metric's scale"
    )
    generators: dict[str, GeneratorSettings] = Field(
        default={"extractive": GeneratorSettings()}, description="who writes answers"
    )
    budget: BudgetSettings = Field(
        default=BudgetSettings(),
        description="what a run may spend on models, all together; one that reaches it stops, and resumes later",
    )
    thresholds: dict[str, dict[str, Band]] = Field(
        default={}, description="sets of bands, by set and metric; of a set that ships single metrics are replaced"
    )
    smallest_difference: DifferenceSettings = Field(
        default=DifferenceSettings(),
        description="the smallest difference that would matter to you: what is not shown is planned for it",
    )
    gate: dict[str, GateSettings] = Field(default={}, description="conditions on a report")
    metrics: MetricsSettings = Field(default=MetricsSettings.model_validate({}), description="metrics of your own")

    _memory: Any = (None, None)

    @property
    def in_memory(self) -> tuple[Any, Any]:
        """The data set, and the table of answers, that a caller gave in place of a name; None without one."""
        given: tuple[Any, Any] = self._memory
        return given

    def holding(self, data: Any, answers: Any) -> Settings:
        """The same settings with data that a caller has in memory."""
        made = self.model_copy()
        made._memory = (data, answers)
        return made

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[Any, ...]:
        read, said = _Read(settings_cls, read_path()), of_environment()
        sample = _of_the_sample({**read(), **said, **init_settings()})
        # functions, since a source of the library's own looks for aliases of every field, which none has
        return init_settings, lambda: said, read, lambda: sample

    @field_validator("encoding", mode="after")
    @classmethod
    def _is_an_encoding(cls, given: str | None) -> str | None:
        try:
            "".encode(given or "utf-8")
        except (LookupError, ValueError):  # ValueError: a null character in it
            raise ValueError(
                f"encoding = {given!r}: one that Python knows is expected: "
                "cp1251, koi8-r, cp866, mac-cyrillic, iso8859-5, cp1252, …"
            ) from None
        return given

    @field_validator("dataset", mode="after")
    @classmethod
    def _is_plain(cls, given: str) -> str:
        if urls.is_url(given):
            urls.with_language(given)
        return given

    @field_validator("reports", mode="after")
    @classmethod
    def _is_written_to(cls, given: str | None) -> str | None:
        return None if given is None else str(urls.target(given))

    @field_validator("embedders", "retrievers", "generators", mode="after")
    @classmethod
    def _offline_one_is_always_there(cls, given: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        return {**cls.model_fields[str(info.field_name)].default, **given}

    @field_validator("providers", mode="before")
    @classmethod
    def _presets_filled_in(cls, given: Any) -> Any:
        return filled_in(given) if isinstance(given, dict) else given

    @model_validator(mode="after")
    def _names_are_names(self) -> Settings:
        for table in dict.fromkeys(name for field in NAMED for name in (field[0], field[2])):
            for name in getattr(self, table):
                if why := names.fault(name):
                    raise ValueError(f"[{table}.{name[:40]!r}]: the name {why}")
                if "," in name:
                    raise ValueError(f"[{table}.{name!r}]: the name holds a comma, which parts names in a list of them")
        return self

    @model_validator(mode="after")
    def _names_exist(self) -> Settings:
        if (self.aggregate == "consensus") != (self.tolerance is not None):
            raise ValueError(
                f"aggregate = {self.aggregate!r}, tolerance = {self.tolerance}: consensus, and nothing else, needs a "
                "tolerance"
            )
        faults = [*self._strange_names(), *self._strange_parts()]
        if faults:
            raise ValueError("\n".join(faults))
        self._providers_filled_in()
        self._parts_fit()
        for name, metric in self.metrics.named.items():
            for judge in metric.judges:
                if judge != OFFLINE and judge not in self.judges:
                    raise ValueError(
                        f"metrics.{name}.judges = {judge!r}: there is no such table; "
                        f"judges are {', '.join((OFFLINE, *sorted(self.judges)))}"
                    )
        for name, embedder in self.embedders.items():
            if embedder.queries is not None and self.embedders[embedder.queries].kind == "database":
                raise ValueError(
                    f"embedders.{name}.queries = {embedder.queries!r}: it takes its vectors from tables, too; "
                    "name a model that embeds any text"
                )
        for name in filter(None, map(str.strip, (self.embedder or "").split(","))):
            if name not in self.embedders:
                meant = names.meant(name, self.embedders) or ";"
                raise ValueError(
                    f"embedder = {name!r}: there is no [embedders.{name}]{meant} embedders are "
                    f"{', '.join(sorted(self.embedders))}"
                )
        if self.baseline is not None and self.baseline not in self.systems:
            raise ValueError(f"baseline = {self.baseline!r}: systems are {', '.join(sorted(self.systems))}")
        metric_tables.bands(self)  # refuses the name of a set that there is not
        if OFFLINE in self.judges:
            raise ValueError(f"judges.{OFFLINE}: this name belongs to the offline judge; choose another")
        return self

    def _providers_filled_in(self) -> None:
        """Embedders and rerankers are used as they stand here; judges and generators by `judge` and `generator`."""
        for name, embedder in self.embedders.items():
            self.embedders[name] = self._with_provider(embedder).model_copy(update={"provider": None})
        for name, reranker in self.rerankers.items():
            self.rerankers[name] = self._with_provider(reranker).model_copy(update={"provider": None})

    def _strange_names(self) -> Iterator[str]:
        for table, field, there in NAMED:
            legal: Mapping[str, Any] = getattr(self, there)
            for name, part in getattr(self, table).items():
                if (given := getattr(part, field)) is not None and given not in legal:
                    meant = names.meant(given, legal) or ";"
                    yield (
                        f"{table}.{name}.{field} = {given!r}: there is no [{there}.{given}]{meant} "
                        f"{there} are {', '.join(sorted(legal)) or 'none: write that table'}"
                    )

    def _strange_parts(self) -> Iterator[str]:
        legal = sorted(name for name, retriever in self.retrievers.items() if retriever.kind != "hybrid")
        for name, hybrid in self.retrievers.items():
            for part in hybrid.retrievers:
                if part in legal:
                    continue
                why = (
                    "a hybrid is made of other kinds" if part in self.retrievers else f"there is no [retrievers.{part}]"
                )
                yield (
                    f"retrievers.{name}.retrievers = {part!r}: {why}{names.meant(part, legal) or ':'} legal are "
                    f"{', '.join(legal)}"
                )

    def _parts_fit(self) -> None:
        for name, rewriter in self.rewriters.items():
            if rewriter.generator is not None and self.generators[rewriter.generator].kind != "openai":
                raise ValueError(
                    f'rewriters.{name}.generator = {rewriter.generator!r}: it asks no model; kind = "openai" does'
                )

        for name, system in self.systems.items():
            whole = self.retriever(name)
            parts = [] if whole is None else [self.retrievers[part] for part in whole.retrievers] or [whole]
            for retriever in parts:
                if retriever.index == "own" and (
                    system.chunker or self.embedders[str(retriever.embedder)].kind != "database"
                ):
                    raise ValueError(
                        f'systems.{name}: index = "own" is the index of your own table: it searches by an embedder of '
                        'kind "database", and by no pieces of a chunker'
                    )

    @property
    def systems_in_order(self) -> list[str]:
        """The names of the systems as they are listed, the baseline first."""
        return sorted(self.systems, key=lambda name: name != self.baseline)

    @property
    def metric_embedder(self) -> str:
        """The NAMEs of embedders, comma-separated, that metrics embed with where nobody names one: any text, so none
        that takes its vectors from tables; `hashing`, which knows no meaning, only where it is what is set."""
        used = [name for system in self.systems_in_order for name in self.embedders_of(system)]
        models = [name for name in used if self.embedders[name].kind not in ("hashing", "database")]
        return self.embedder or next(iter(models), "auto")

    def retriever(self, system: str) -> RetrieverSettings | None:
        """How that system finds passages; None for one that does it itself."""
        chosen = self.systems[system]
        if chosen.embedder is not None:
            index = chosen.model_dump(include=set(IndexSettings.model_fields), exclude_unset=True)
            return RetrieverSettings(kind="dense", embedder=chosen.embedder, **index)
        return None if chosen.retriever is None else self.retrievers[chosen.retriever]

    def embedders_of(self, system: str) -> tuple[str, ...]:
        """The embedders that the system's search is made with; of a hybrid's parts, each once."""
        whole = self.retriever(system)
        if whole is None:
            return ()
        parts = [self.retrievers[name] for name in whole.retrievers] or [whole]
        return tuple(dict.fromkeys(part.embedder for part in parts if part.embedder is not None))

    def is_stand_in(self, embedder: str) -> bool:
        """Whether the embedder of that name, or the one that embeds its questions, only stands in for a model."""
        chosen = self.embedders[embedder]
        return chosen.is_stand_in or (chosen.queries is not None and self.embedders[chosen.queries].is_stand_in)

    def judge_names(self, named: Sequence[str] = ()) -> tuple[str, ...]:
        """The judges that are meant: those that are named, else all configured ones, else the offline one."""
        return tuple(named) or tuple(sorted(self.judges)) or (OFFLINE,)

    def judge(self, name: str) -> JudgeSettings:
        """The judge of that name with its provider's settings filled in where it says nothing itself.

        The result has a `base_url`, and its `provider` is the shared provider's name or None.
        Raises ConfigurationError with the legal names.
        """
        if name not in self.judges:
            legal = ", ".join(sorted(self.judges)) or "none"
            raise ConfigurationError(f"there is no judge {name!r}; judges are {legal} (tables [judges.NAME])")
        return self._with_provider(self.judges[name])

    def generator(self, name: str) -> GeneratorSettings:
        """The generator of that name with its provider's settings filled in where it says nothing itself.

        Raises ConfigurationError with the legal names.
        """
        if name not in self.generators:
            legal = ", ".join(sorted(self.generators))
            raise ConfigurationError(f"there is no generator {name!r}; there are {legal} (tables [generators.NAME])")
        return self._with_provider(self.generators[name])

    def _with_provider(self, model: Model) -> Model:
        if model.provider is None:
            return model
        shared = self.providers[model.provider]
        both = set(type(model).model_fields) & set(EndpointSettings.model_fields)
        filled: dict[str, Any] = {name: getattr(shared, name) for name in both - model.model_fields_set}
        merged = {name: {**getattr(shared, name), **getattr(model, name)} for name in ("headers", "query")}
        return model.model_copy(update=filled | merged)


class _Read(TomlConfigSettingsSource):
    """A project's file, without the tables that annexes read themselves."""

    def __call__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__call__().items() if name not in annexes.offered("tables")}


def _of_the_sample(named: Mapping[str, Any]) -> dict[str, Any]:
    """The sample's systems with their parts, and its data, where nobody has named systems: there is one set of defaults
    for a file with a judge alone, or a language, or a data set. Tables of the same name that a project has are its own
    whole."""
    measured = {} if "systems" in named else dict(_sample())
    for name, value in measured.items():
        if isinstance(value, Mapping) and isinstance(own := named.get(name), Mapping):
            measured[name] = {table: entry for table, entry in value.items() if table not in own}
    return measured


@lru_cache(maxsize=1)
def _sample() -> dict[str, Any]:
    """Of the file that comes with ragbench what says which data are measured, and by which systems."""
    whole = folders.toml(folders.text(annexes.CONFIGURATION))
    return {name: value for name, value in whole.items() if name in MEASURED}


def key_variables(settings: Settings) -> set[str]:
    """The variables that these settings name as holding keys."""
    tables = (settings.judges, settings.generators, settings.providers, settings.embedders, settings.rerankers)
    named = {name for table in tables for part in table.values() for name in part.variables}
    return named | {name for system in settings.systems.values() for name in system.header_variables}


def config_path() -> Path:
    """The project's file: `RAGBENCH_CONFIG`, else ragbench.toml in this folder or the nearest one above it."""
    named = os.environ.get("RAGBENCH_CONFIG")
    if named:
        return Path(named)
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "ragbench.toml").is_file():
            return folder / "ragbench.toml"
    return here / "ragbench.toml"


def read_path() -> Path:
    """The file whose settings hold: the project's, else the one that comes with ragbench, for its sample data."""
    path = config_path()
    return path if path.is_file() and not _is_bare else annexes.CONFIGURATION


def project_folder() -> Path:
    """The folder that relative paths start from: the configuration file's, or this one where a project has none."""
    return config_path().parent.resolve()


@lru_cache(maxsize=1)
def load() -> Settings:
    """The settings of this process; `load.cache_clear()` makes the next call read them anew.

    Raises ConfigurationError, one line a fault, each with the key, the value and what is legal.
    """
    if _held is not None:
        return _held
    path = read_path()
    if os.environ.get("RAGBENCH_CONFIG") and not config_path().is_file():
        raise ConfigurationError(f"RAGBENCH_CONFIG = {config_path()}: there is no such file")
    _refuse_at_sight(path)
    try:
        loaded = Settings()
    except ValidationError as error:
        said = [line for fault in error.errors() for line in mistakes.explain(fault, Settings).split("\n")]
        raise ConfigurationError("\n".join(f"{path.name}: {line}" for line in said)) from None
    except ValueError as error:
        raise ConfigurationError(f"{path.name}: {error}") from None
    _refuse_unknown_variables(loaded)
    return loaded


_held: Settings | None = None
_is_bare = False


def hold(given: Settings, folder: Path) -> None:
    """Let `load` give these from now on, whatever this process's files say: those of a process that it works for.

    folder: of that process's project, which relative paths start from.
    """
    global _held
    _held = given
    os.environ["RAGBENCH_CONFIG"] = str(folder / "ragbench.toml")
    load.cache_clear()


@contextlib.contextmanager
def held(given: Settings | None) -> Iterator[None]:
    """Let `load` give these for a while, in this process; None: what holds where no folder has a file of them."""
    global _held, _is_bare
    before, _held, _is_bare = _held, given, given is None and not os.environ.get("RAGBENCH_CONFIG")
    load.cache_clear()
    try:
        yield
    finally:
        _held, _is_bare = before, False
        load.cache_clear()


def of_environment() -> dict[str, Any]:
    """What variables say, in the form of tables: it wins over what ragbench.toml says under the same key."""
    return deepcopy(_said(frozenset(each for each in os.environ.items() if each[0].upper().startswith(PREFIX))))


@lru_cache(maxsize=8)
def _said(_variables: frozenset[tuple[str, str]]) -> dict[str, Any]:
    """_variables: those of ours, which are read anew where one has changed: it takes longer than all the rest."""
    return EnvSettingsSource(Settings)()


def own_database_url() -> SecretStr | None:
    """The address of a PostgreSQL that this process's own environment names."""
    given = os.environ.get("RAGBENCH_DATABASE_URL")
    return SecretStr(given) if given else None


def metric_table(name: str, table: Mapping[str, Any]) -> MetricSettings:
    """A table [metrics.NAME] that stands in no file. Raises ConfigurationError as `load` does."""
    try:
        return MetricsSettings.model_validate({name: table}).named[name]
    except ValidationError as error:
        faults = [{**fault, "loc": ("metrics", *fault["loc"])} for fault in error.errors()]
        raise ConfigurationError("\n".join(mistakes.explain(fault, Settings) for fault in faults)) from None


def _refuse_at_sight(path: Path) -> None:
    try:
        table = folders.toml(folders.text(path, MOST_BYTES))
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{path}: not a TOML file: {error}") from None
    if "database_url" in table:
        raise ConfigurationError(f"{path.name}: database_url may hold a password: set RAGBENCH_DATABASE_URL instead")
    if place := mistakes.with_null(table):
        raise ConfigurationError(f"{path.name}: {'.'.join(place)}: it has a null character, \\u0000; no text may")


def _refuse_unknown_variables(settings: Settings) -> None:
    keys = key_variables(settings)
    legal = {PREFIX + name.upper() for name in Settings.model_fields} | PROCESS_VARIABLES
    for name in sorted(os.environ):
        if name.startswith(PREFIX) and name.split("__")[0] not in legal and name not in keys:
            raise ConfigurationError(
                f"there is no setting behind the variable {name}; legal: {', '.join(sorted(legal))}"
            )
