"""Which endpoint a table of ragbench.toml means, and openai's client for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from ragbench.core.errors import BenchError, suggest
from ragbench.core.settings import Endpoint, Model, fill_variables
from ragbench.llm.providers import PRESETS

if TYPE_CHECKING:
    import httpx2
    import openai

AnyModel = TypeVar("AnyModel", bound=Model)
# What openai's client puts behind an address by itself; people copy it along.
COPIED_PATH = re.compile(r"/(chat/completions|completions|embeddings|responses|models)/?$")


def resolve(who: str, table: AnyModel, providers: Mapping[str, Endpoint]) -> AnyModel:
    """Return the table with what its provider says, where it does not say so itself.

    A provider is a preset, a table [providers.NAME], or both. who: for errors, "judges.mine".
    Raises BenchError for a provider that there is not, and for an address that cannot be.
    """
    values = table.model_dump(exclude_unset=True)
    if table.provider:
        shared = read_provider(who, table.provider, providers)
        for name in ("headers", "query", "options"):
            values[name] = {**shared.get(name, {}), **values.get(name, {})}
        values = {**shared, **values}
    if values.get("base_url"):
        values["base_url"] = check_address(who, values["base_url"])
    elif not values.get("client"):
        raise BenchError(f"{who}: set its base_url, or a provider: {', '.join(PRESETS)}")
    return type(table).model_validate(values)


def read_provider(who: str, name: str, providers: Mapping[str, Endpoint]) -> dict[str, Any]:
    """Return what a provider says: its preset, and over it the project's own table."""
    own = providers[name].model_dump(exclude_unset=True) if name in providers else {}
    preset = own.pop("preset", "") or name
    if not own and preset not in PRESETS:
        known = [*PRESETS, *providers]
        raise BenchError(f"{who}: there is no provider {name!r}{suggest(name, known)}")
    return {**PRESETS.get(preset, {}), **own}


def check_address(who: str, url: str) -> str:
    """Return an address without what the client adds to it.

    Raises BenchError for a query, which may hold a secret, and for a password.
    """
    if urlsplit(url).password or "?" in url:
        raise BenchError(
            f"{who}: base_url holds a query or a password; write query = {{api-version = …}} "
            "beside it, and name the variable of a secret in key_variable or in headers"
        )
    return COPIED_PATH.sub("", url.rstrip("/"))


def read_key(who: str, model: Model) -> str:
    """Return the key of a model; "" where it needs none.

    Raises BenchError where its variable is not set, or holds what no key has.
    """
    if not model.key_variable:
        return ""
    key = model.key.strip()
    if not key:
        variable = model.key_variable
        raise BenchError(f"{who}: the variable {variable} is not set; export {variable}=KEY")
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise BenchError(f"{who}: {model.key_variable} holds characters that no key has")
    return key


def open_client(
    who: str, model: Model, own: openai.AsyncOpenAI | None = None
) -> openai.AsyncOpenAI:
    """Return openai's client for a model, over our transport. How often it tries is ours to say.

    own: a client of the user's, which is taken instead with its keys, addresses and headers, and
    with its own connections where it was given some.
    """
    import httpx2
    import openai

    from ragbench.llm.transport import Transport

    if own is not None and type(own._client).__name__ != "AsyncHttpxClientWrapper":
        return own
    key = read_key(who, model)
    headers = model.filled_headers()
    is_keyless = own is None and not key and "authorization" not in map(str.lower, headers)
    http_client = httpx2.AsyncClient(
        transport=Transport(model.concurrency, str(model.ca_file or "")),
        headers={"Accept-Encoding": "identity"},
        event_hooks={"request": [remove_key]} if is_keyless else {},
    )
    if own is not None:
        return own.copy(http_client=http_client)
    settings: dict[str, Any] = {
        "api_key": key or "none",
        "base_url": model.base_url,
        "default_headers": headers,
        "default_query": {name: fill_variables(value) for name, value in model.query.items()},
        "http_client": http_client,
    }
    if model.api_version and not model.base_url.endswith("/v1"):
        if not urlsplit(model.base_url).path.startswith("/openai"):
            settings["base_url"] = f"{model.base_url}/openai"
        settings["api_version"] = model.api_version
        client: openai.AsyncOpenAI = openai.AsyncAzureOpenAI(**settings)
    else:
        client = openai.AsyncOpenAI(**settings)
    if urlsplit(model.base_url).hostname != "api.openai.com":
        # OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS are meant for OpenAI alone.
        client.organization = client.project = None
        client._custom_headers = headers
    return client


async def remove_key(request: httpx2.Request) -> None:
    """Send no key where there is none: openai's client wants one in any case."""
    request.headers.pop("authorization", None)


def check_client(client: Any) -> openai.AsyncOpenAI:
    """Return a client of the user's own. Raises BenchError for any but an asynchronous one."""
    import openai

    if isinstance(client, openai.AsyncOpenAI):
        return client
    kind = type(client).__name__
    raise BenchError(f"client is a {kind}; give openai's AsyncOpenAI or AsyncAzureOpenAI")
