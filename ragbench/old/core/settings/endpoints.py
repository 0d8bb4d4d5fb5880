"""The tables of ragbench.toml that say where models are: embedders, providers, judges, generators.

Any key of them can be said otherwise in the project's own table of that name, or in one whose `preset` names it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import parse_qsl, urlsplit

from pydantic import Field, field_validator, model_validator

from ragbench.old.core.language import Language
from ragbench.old.core.settings.tables import SLOT, Table, refuse_open_secrets
from ragbench.old.core.settings.urls import check_host, without_credentials

PRESETS: Mapping[str, Mapping[str, Any]] = {
    # Models that think refuse max_tokens and a temperature or top_p of another value than 1, each in a sentence of its
    # own that names it, and end by HTTP 400 where their thoughts took all tokens: known by model, so learnt
    # (platform.openai.com/docs/guides/reasoning; openai-python#2072, #2886)
    "openai": {"base_url": "https://api.openai.com/v1", "key_variable": "OPENAI_API_KEY"},
    # The same; its address is each customer's own, and so is the version of the deployments' protocol that is asked
    # for. JSON schemas are taken since 2024-08-01-preview
    # (learn.microsoft.com/azure/ai-foundry/openai/how-to/reasoning)
    "azure": {"key_variable": "AZURE_OPENAI_API_KEY", "api_version": "2024-10-21"},
    # Ignores response_format and seed, cuts a temperature above 1 to 1 (platform.claude.com, "OpenAI SDK
    # compatibility"); models after Opus 4.6 refuse any temperature, and a model that thinks a tool that it has to call
    "anthropic": {
        "base_url": "https://api.anthropic.com/v1",
        "key_variable": "ANTHROPIC_API_KEY",
        "without": ("seed", "json_schema", "json_object"),
    },
    # 'Unknown name "seed": Cannot find field' for a key that it does not know, in a list; takes JSON schemas
    # (ai.google.dev/gemini-api/docs/openai)
    "gemini": {
        "base_url": "https://generativelanguage.googleapis.com/v1beta/openai",
        "key_variable": "GEMINI_API_KEY",
        "without": ("seed",),
    },
    # HTTP 422 "extra_forbidden" for a key that it does not know, and its own is called random_seed
    # (docs.mistral.ai/api; mistralai/platform-docs-public#7)
    "mistral": {"base_url": "https://api.mistral.ai/v1", "key_variable": "MISTRAL_API_KEY", "without": ("seed",)},
    # "This response_format type is unavailable now" for a JSON schema (api-docs.deepseek.com/guides/json_mode).
    # Thinking, as it does unless it is told otherwise, it ignores temperature and refuses a tool that it has to call;
    # its older model that thinks "does not support Json Output" either (…/guides/thinking_mode)
    "deepseek": {
        "base_url": "https://api.deepseek.com/v1",
        "key_variable": "DEEPSEEK_API_KEY",
        "without": ("seed", "json_schema"),
    },
    # Refuses what whoever it hands a question on to refuses, and says so as HTTP 200 or as "Provider returned error"
    # with theirs in `metadata` (openrouter.ai/docs/api/reference/errors-and-debugging)
    "openrouter": {"base_url": "https://openrouter.ai/api/v1", "key_variable": "OPENROUTER_API_KEY"},
    # Reads over keys that it does not know (docs.ollama.com/api/openai-compatibility)
    "ollama": {"base_url": "http://localhost:11434/v1"},
    # Refuses roles that the model's template lacks, and tools unless it was started with --enable-auto-tool-choice
    # (docs.vllm.ai, "OpenAI-Compatible Server")
    "vllm": {"base_url": "http://localhost:8000/v1"},
    # "'response_format.type' must be 'json_schema' or 'text'" (lmstudio.ai/docs/developer; lmstudio-bug-tracker#189)
    "lmstudio": {"base_url": "http://localhost:1234/v1", "without": ("json_object",)},
    # Has neither seed nor tools nor JSON of any shape, and "temperature must be in range (0, +inf)": 0.01 is as near
    # to 0 as it goes (developers.sber.ru/docs/ru/gigachat/api/reference/rest/post-chat; gigachain#237). Its token is
    # of half an hour, and its certificate of an authority that is not among the usual ones (`ca_file`)
    "gigachat": {
        "base_url": "https://gigachat.devices.sberbank.ru/api/v1",
        "key_variable": "GIGACHAT_ACCESS_TOKEN",
        "without": ("seed", "json_schema", "json_object", "tool"),
    },
    # `model` is gpt://FOLDER/yandexgpt/latest (yandex.cloud/docs/ai-studio/concepts/openai-compatibility)
    "yandexgpt": {
        "base_url": "https://llm.api.cloud.yandex.net/v1",
        "key_variable": "YANDEX_API_KEY",
        "without": ("seed",),
    },
}
"""Of each provider its address, the variable of its key, and what it is documented to refuse or to ignore whatever the
model; what hangs on the model is learnt from its first refusal."""


def filled_in(tables: Mapping[str, Any]) -> dict[str, Any]:
    """The tables [providers.NAME], each with what the preset says that it names, or else has the name of, where it does
    not say so itself; and the presets that need no table."""
    whole: dict[str, Any] = {name: preset for name, preset in PRESETS.items() if "base_url" in preset}
    for name, table in tables.items():
        is_table = isinstance(table, dict)
        whole[name] = {**PRESETS.get(str(table.get("preset") or name), {}), **table} if is_table else table
    return whole


MOST_AT_ONCE = 4096
"""Calls in flight that any endpoint may be asked for."""
_PATHS = re.compile(r"/(?:chat/completions|completions|embeddings|rerank|responses|models)/?$")
"""What the client puts behind an address by itself; people copy it along."""


def _web_address(value: str | None) -> str | None:
    if value is None:
        return None
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"base_url = {without_credentials(value)!r}: only http and https are spoken")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError(
            "base_url holds a user, a password or a query: name the key's variable in `key_variable`, and write the "
            "rest in `query`"
        )
    check_host("base_url", value)
    return _PATHS.sub("", value).rstrip("/")


HttpCode = Annotated[int, Field(ge=400, le=599)]


class Patience(Table):
    """How long anything may take, and how often it is tried."""

    timeout_seconds: float = Field(default=60.0, gt=0, description="of one attempt, whole; of one call of a function")
    connect_seconds: float = Field(default=10.0, gt=0, description="of an attempt, to connect")
    read_seconds: float | None = Field(
        default=None, gt=0, description="of an attempt, without a byte that arrives; not set: the whole attempt's"
    )
    attempts: int = Field(default=8, ge=1, le=100, description="how often a call is tried before it is given up")
    patience_seconds: float = Field(default=300.0, gt=0, description="of all attempts of a call together")
    first_wait_seconds: float = Field(
        default=0.25, ge=0, le=3600, description="before the second attempt at most; a random share of it is waited"
    )
    wait_factor: float = Field(default=2.0, ge=1, le=10, description="how much longer each further wait may be")
    longest_wait_seconds: float = Field(default=30.0, ge=0, le=3600, description="that a wait may grow to")
    again_on: tuple[HttpCode, ...] = Field(
        default=(),
        description="HTTP codes after which a call is tried again, besides 408, 409, 425, 429 and those from 500 on",
    )
    never_again_on: tuple[HttpCode, ...] = Field(
        default=(), description="HTTP codes after which it is not, though it would be"
    )

    @model_validator(mode="after")
    def _waits_in_order(self) -> Self:
        if self.longest_wait_seconds < self.first_wait_seconds:
            raise ValueError(
                f"longest_wait_seconds = {self.longest_wait_seconds:g} is below first_wait_seconds = "
                f"{self.first_wait_seconds:g}"
            )
        if both := sorted({*self.again_on} & {*self.never_again_on}):
            raise ValueError(f"again_on and never_again_on both name {both[0]}")
        return self


class WebSettings(Patience):
    """Where an endpoint is, and how long anything may take. The key is in the variable that it names."""

    base_url: str | None = Field(default=None, description="http or https address of the endpoint, without a key")
    key_variable: str | None = Field(default=None, description="environment variable that holds the endpoint's key")
    client: str | None = Field(
        default=None,
        description="instead of an address: your own AsyncOpenAI or AsyncAzureOpenAI, as module:name, taken as it is; "
        "or your function that makes one",
    )
    headers: dict[str, str] = Field(
        default={},
        description='sent with every call; the values of environment variables by their names: "{PROXY_KEY}". A secret '
        "stands in no other way",
    )
    query: dict[str, str] = Field(default={}, description="put behind the address of every call: {api-version = …}")
    api_version: str | None = Field(
        default=None, description="of Azure, whose deployments are then asked: `model` is the deployment's name"
    )
    organization: str | None = Field(default=None, description="of OpenAI's, that calls are counted to")
    project: str | None = Field(default=None, description="of OpenAI's or of Yandex's, that calls are counted to")
    ca_file: Path | None = Field(
        default=None, description="certificates (PEM) of the authorities that are trusted, instead of the usual ones"
    )

    requests_per_minute: int | None = Field(default=None, ge=1, description="calls begun in a minute at most")
    tokens_per_minute: int | None = Field(default=None, ge=1, description="tokens read and written in a minute at most")

    _http_only = field_validator("base_url")(_web_address)
    _no_secrets = field_validator("headers", "query")(refuse_open_secrets)

    @model_validator(mode="before")
    @classmethod
    def _query_apart(cls, given: Any) -> Any:
        """An address as a portal shows it, with api-version in it, taken apart."""
        address = given.get("base_url") if isinstance(given, dict) else None
        if not isinstance(address, str) or not (query := urlsplit(address).query):
            return given
        if (pairs := dict(parse_qsl(query))) and all(name == "api-version" for name in pairs):
            return {**given, "base_url": address.partition("?")[0], "query": {**pairs, **(given.get("query") or {})}}
        return given

    def __hash__(self) -> int:
        """Headers and queries are tables, which have no hash of their own."""
        return hash(self.model_dump_json())

    @property
    def address(self) -> str:
        """Who is asked, in one word: the address, or the client that knows it."""
        return self.base_url or f"client:{self.client}"

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables whose values are sent: the key's, and those that stand in headers and query."""
        named = [name for value in (*self.headers.values(), *self.query.values()) for name in SLOT.findall(value)]
        return tuple(dict.fromkeys([*([self.key_variable] if self.key_variable else []), *named]))

    @model_validator(mode="after")
    def _client_alone(self) -> Self:
        if self.client is not None:
            if ":" not in self.client:
                raise ValueError(f"client = {self.client!r}: write it as module:name")
            its = ("base_url", "key_variable", "headers", "query", "api_version", "organization", "project", "ca_file")
            if both := [name for name in its if getattr(self, name)]:
                raise ValueError(f"{both[0]} goes with an address, and a client has its own: give it to the client")
        return self


Provider = Annotated[
    str | None,
    Field(description="the NAME of [providers.NAME] instead of base_url; without a table: " + ", ".join(PRESETS)),
]


def _refuse_models(table: Any, what: str, kinds: str) -> None:
    """Raise ValueError for a model without a `kind`: the stand-in, which is the default, would be measured for it."""
    for name in ("model", "base_url", "provider", "client"):
        if "kind" not in table.model_fields_set and (value := getattr(table, name)) is not None:
            raise ValueError(f"{name} = {str(value)!r} is of {what} of kind {kinds}: write kind = {kinds.split()[0]}")


class EmbedderSettings(WebSettings):
    """How texts become vectors. `hashing` is there without a table."""

    kind: Literal["hashing", "auto", "minilm", "navec", "sentence_transformers", "openai", "database"] = Field(
        default="hashing",
        description="hashing: character n-grams, offline; minilm, navec: an English model of sentences, Russian "
        "vectors of words, both installed with the extra models; auto: that of these which is of the data set's "
        "language, else hashing; sentence_transformers: a model on this machine; openai: any endpoint of that "
        "protocol; database: the vectors beside the texts in the tables of [databases.NAME]",
    )
    model: str | None = Field(default=None, description="of an endpoint, of a hub, or a folder with a model")
    provider: Provider = None
    database: str | None = Field(default=None, description="the NAME of [databases.NAME], for kind database")
    queries: str | None = Field(
        default=None,
        description="of kind database: the NAME of [embedders.NAME] that embeds all questions, the model that made the "
        "vectors; not set: the vectors of the questions in the tables",
    )
    dimensions: int = Field(default=256, ge=0, le=16_000, description="of hashing, after SVD; 0: no SVD")
    ngrams: tuple[int, int] = Field(default=(3, 5), description="of hashing: shortest and longest, in characters")
    tfidf: bool = Field(default=True, description="of hashing: whether n-grams are weighted by TF-IDF")
    buckets: int = Field(default=2**18, ge=2, le=2**24, description="of hashing: columns that n-grams are hashed to")
    query_prefix: str = Field(default="", description="put before every question, where the model wants one")
    passage_prefix: str = Field(default="", description="put before every passage, where the model wants one")
    batch: int = Field(default=64, ge=1, description="texts embedded together")
    batch_characters: int = Field(
        default=200_000, ge=1, description="of an endpoint: of all texts of a call at most; a longer text goes alone"
    )
    concurrency: int = Field(
        default=32,
        ge=1,
        le=MOST_AT_ONCE,
        description="of an endpoint: calls in flight at most; fewer while it asks for less",
    )
    max_characters: int = Field(default=100_000, ge=1, description="of a text; a longer one is refused")

    @property
    def is_stand_in(self) -> bool:
        """Whether it only stands in for a model."""
        return self.kind == "hashing"

    @model_validator(mode="after")
    def _complete(self) -> EmbedderSettings:
        if self.kind == "database" and not self.database:
            raise ValueError("an embedder of kind 'database' needs `database`, the name of a table [databases.NAME]")
        if self.queries is not None and self.kind != "database":
            raise ValueError(
                f"queries = {self.queries!r} is of embedders of kind 'database', and this is {self.kind!r}"
            )
        _refuse_models(self, "an embedder", "'openai' or 'sentence_transformers'")
        if self.kind in ("sentence_transformers", "openai") and not self.model:
            raise ValueError(f"an embedder of kind {self.kind!r} needs `model`")
        if self.kind == "openai" and [self.base_url, self.provider, self.client].count(None) != 2:
            raise ValueError("an embedder of kind 'openai' needs `base_url`, a shared `provider`, or your `client`")
        if not 1 <= self.ngrams[0] <= self.ngrams[1]:
            raise ValueError(f"ngrams = {list(self.ngrams)}: the shortest comes first, from 1")
        return self


Aggregate = Literal["mean", "median", "minimum", "maximum", "majority", "binary_majority", "consensus"]
"""How several judges' scores become one: see `ragbench.old.judge.Rule`."""
Parameter = Literal[
    "temperature", "top_p", "max_tokens", "seed", "system", "json_schema", "json_object", "tool"
]  # fmt: skip
"""What an endpoint may refuse and be asked without; "system": the role, whose text then goes before the user's; the
last three are ways of asking for a shape."""
Replies = Literal["auto", "json_schema", "json_object", "tool", "text"]


PresetName = Literal[
    "openai", "azure", "anthropic", "gemini", "mistral", "deepseek", "openrouter", "ollama", "vllm", "lmstudio",
    "gigachat", "yandexgpt",
]  # fmt: skip


class EndpointSettings(WebSettings):
    """How a language model is reached, and how fast; its limits hold over all processes of a run."""

    concurrency: int = Field(
        default=16,
        ge=1,
        le=MOST_AT_ONCE,
        description="calls in flight at most, all processes of a run together; fewer while the endpoint asks for less",
    )
    replies: Replies = Field(
        default="auto",
        description="how the shape of a reply is asked for; auto: by a JSON schema, down to plain text as refused",
    )
    without: tuple[Parameter, ...] = Field(
        default=(),
        description="what the endpoint is known to refuse and is never sent; what it refuses besides is learnt",
    )
    unusable_replies: int = Field(
        default=20, ge=1, description="so many first replies, none of which could be read, end the asking"
    )

    @property
    def is_priced(self) -> bool:
        """Whether somebody said what its calls cost, be it nothing; else their cost is unknown, not 0."""
        return bool(self.model_fields_set & {"input_price", "output_price"})


class ProviderSettings(EndpointSettings):
    """An endpoint that several models share: one limiter, one key. A judge, generator, embedder or reranker names it as
    `provider`."""

    preset: PresetName | None = Field(
        default=None, description="whose address, key and ways these are, where the table does not say otherwise"
    )

    @model_validator(mode="after")
    def _addressed(self) -> ProviderSettings:
        if (self.base_url is None) == (self.client is None):
            raise ValueError("give `base_url`, a `preset` that has one, or your `client`")
        return self


Temperature = Annotated[float | None, Field(ge=0, le=2, description="of sampling; 0: the likeliest words")]
TopP = Annotated[float | None, Field(gt=0, le=1, description="share of likely words that are sampled from")]
MaxTokens = Annotated[int, Field(ge=1, description="of one reply at most")]
Seed = Annotated[int | None, Field(description="sent with every call, where the endpoint takes one")]
InputPrice = Annotated[float, Field(ge=0, description="money per million tokens read")]
OutputPrice = Annotated[float, Field(ge=0, description="money per million tokens written")]


class JudgeSettings(EndpointSettings):
    """A language model that judges, behind an endpoint of its own (`base_url`) or a shared one (`provider`)."""

    model: str = Field(description="its name at the endpoint")
    family: str | None = Field(
        default=None,
        description="of the model, where its name does not tell; tier_judge asks whether a judge prefers its own",
    )
    provider: Provider = None
    mode: Literal["direct", "reasoned"] = Field(
        default="direct", description="direct: the verdict at once; reasoned: its reasons first, for more tokens"
    )
    temperature: Temperature = 0.0
    top_p: TopP = None
    max_tokens: MaxTokens = 1024
    seed: Seed = None
    input_price: InputPrice = 0.0
    output_price: OutputPrice = 0.0

    @property
    def own_decoding(self) -> dict[str, float | int]:
        """What the table itself says of how words are chosen: it holds for every prompt, whatever that asks for."""
        own = {name: getattr(self, name) for name in ("temperature", "top_p", "max_tokens", "seed")}
        return {name: value for name, value in own.items() if name in self.model_fields_set and value is not None}

    @model_validator(mode="after")
    def _one_address(self) -> JudgeSettings:
        if [self.base_url, self.provider, self.client].count(None) != 2:
            raise ValueError(
                f"judge of model {self.model!r}: give `base_url`, the name of a shared `provider`, or your `client`"
            )
        return self


class GeneratorSettings(EndpointSettings):
    """Who writes answers from a question and its contexts. `extractive` is there without a table."""

    kind: Literal["extractive", "openai", "callable"] = Field(
        default="extractive",
        description="extractive: the best sentences of the contexts, without a model, a stand-in; openai: a model "
        "behind base_url or provider; callable: your function",
    )
    model: str | None = Field(default=None, description="its name at the endpoint, for kind openai")
    provider: Provider = None
    callable: str | None = Field(
        default=None, description="your function of (question, texts of the contexts), as module:function"
    )
    prompt: Path | None = Field(
        default=None, description="file with the slots {question} and {contexts}; not set: the built-in prompt"
    )
    language: Language | None = Field(default=None, description="of the built-in prompt; not set: the question's own")
    temperature: Temperature = 0.0
    top_p: TopP = None
    max_tokens: MaxTokens = 1024
    seed: Seed = None
    max_context_characters: int | None = Field(
        default=None, ge=1, description="of contexts that are given at most; the rest is counted as cut"
    )
    sentences: int = Field(default=2, ge=1, le=20, description="of an extractive answer")
    refuse_below: float = Field(
        default=0.49,
        ge=0,
        le=1,
        description="of an extractive answer: how much of what the passages have of the question has to stand about "
        "its best sentence, else it refuses; 0: it answers wherever a word fits",
    )
    input_price: InputPrice = 0.0
    output_price: OutputPrice = 0.0

    @model_validator(mode="after")
    def _complete(self) -> GeneratorSettings:
        addresses = [self.base_url, self.provider, self.client]
        _refuse_models(self, "a generator", "'openai'")
        if self.kind == "openai" and (not self.model or addresses.count(None) != 2):
            raise ValueError(
                "a generator of kind 'openai' needs `model`, and `base_url`, the name of a shared `provider`, or your "
                "`client`"
            )
        if (self.kind == "callable") != (self.callable is not None):
            raise ValueError("a generator of kind 'callable', and no other, needs `callable`: write it module:function")
        if self.callable is not None and ":" not in self.callable:
            raise ValueError(f"callable = {self.callable!r}: write it as module:function")
        return self
