"""The client of the package `openai` over our own transport, so that what it sends has our limits.

It knows deployments and versions of Azure's, headers and queries; how often a call is tried is ours to say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai
from pydantic import SecretStr

from ragbench.old.core import trust
from ragbench.old.core.expectations import kind
from ragbench.old.core.settings import ConfigurationError, WebSettings, project_folder
from ragbench.old.core.settings.secrets import Mask, excerpt, value_of
from ragbench.old.core.settings.tables import filled
from ragbench.old.core.types.reason import Reason
from ragbench.old.llm.errors import Fault, Response, late

OWN_HOST = "api.openai.com"
"""OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS are meant for it, and sent nowhere else."""


_OF_THE_WAY = frozenset({"host", "connection", "content-length"})
"""Headers that our transport sets itself."""
_NOT_KEPT = frozenset({"set-cookie", "content-encoding", "content-length", "transfer-encoding"})
"""Headers of responses that are unpacked already, and whose cookies nobody keeps."""
_KEYS = frozenset({"authorization", "api-key"})


Send = Callable[[str, str, bytes, Mapping[str, str], float], Awaitable[Response]]
"""Sends method, address, body and headers, and gets the whole response within so many seconds."""


class Wire(httpx2.AsyncBaseTransport):
    """Sends what the client has made through our transport. unsent: names of headers, in small letters."""

    def __init__(self, send: Send, unsent: frozenset[str]) -> None:
        self._send, self._unsent = send, _OF_THE_WAY | unsent

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response, whole."""
        headers = {name: value for name, value in request.headers.items() if name not in self._unsent}
        seconds = request.extensions["timeout"]["pool"]
        response = await self._send(request.method, str(request.url), request.content, headers, seconds)
        kept = [(name, value) for name, value in response.headers.items() if name.lower() not in _NOT_KEPT]
        return httpx2.Response(response.status, headers=kept, content=response.content)


def client(settings: WebSettings, key: SecretStr | None, send: Send) -> openai.AsyncOpenAI:
    """The client that settings describe; nothing of this process's environment goes to others than it is meant for."""
    values = {name: value_of(name) for name in settings.variables}
    headers = {name: filled(value, values) for name, value in settings.headers.items()}
    own = {name.lower(): value for name, value in headers.items()}
    unsent = frozenset() if key else _KEYS - set(own)
    given: dict[str, Any] = {
        "api_key": key.get_secret_value() if key else own.get("api-key", "none"),
        "base_url": settings.base_url,
        "organization": settings.organization,
        "project": settings.project,
        "default_headers": headers,
        "default_query": {name: filled(value, values) for name, value in settings.query.items()},
        "max_retries": 0,
        "http_client": httpx2.AsyncClient(
            transport=Wire(send, unsent), headers={"Accept-Encoding": "identity"}, trust_env=False
        ),
    }
    try:
        made = _azure(settings, given) if settings.api_version else openai.AsyncOpenAI(**given)
    except httpx2.InvalidURL as error:
        raise ConfigurationError(f"base_url = {settings.base_url!r}: {excerpt(error, 200)}") from None
    if urlsplit(str(settings.base_url)).hostname != OWN_HOST:
        made.organization, made.project = settings.organization, settings.project
        made._custom_headers = headers  # without those of OPENAI_CUSTOM_HEADERS
    return made


def _azure(settings: WebSettings, given: dict[str, Any]) -> openai.AsyncOpenAI:
    base = str(settings.base_url)
    if base.endswith("/v1"):  # its newer protocol, which has no deployments
        return openai.AsyncOpenAI(
            **given | {"default_query": {**given["default_query"], "api-version": settings.api_version}}
        )
    if "/openai" not in urlsplit(base).path:
        given["base_url"] = f"{base}/openai"
    return openai.AsyncAzureOpenAI(**given, api_version=settings.api_version)


async def posted(
    client: openai.AsyncOpenAI, path: str, body: Mapping[str, Any], seconds: float, hide: Mask
) -> Response:
    """What a client gets for what it posts, of whatever status, within so many seconds. Raises Fault where it is
    nothing."""
    try:
        async with asyncio.timeout(seconds + 1):  # a client of the user's own may count each of its waits alone
            response: httpx2.Response = await client.post(
                f"/{path}", cast_to=httpx2.Response, body=dict(body), options={"timeout": seconds, "max_retries": 0}
            )
        return Response(response.status_code, response.headers, response.content)
    except openai.APIStatusError as error:
        return Response(error.status_code, error.response.headers, error.response.content)
    except (openai.APITimeoutError, TimeoutError):
        raise late(seconds, True) from None
    except openai.APIConnectionError as error:
        if isinstance(error.__cause__, Fault):
            raise error.__cause__ from None
        raise Fault("connection", hide(str(error.__cause__ or error)) or Reason("the connection broke")) from None
    except UnicodeEncodeError:
        raise Fault("request", Reason("the question holds what no JSON does, such as half a pair of signs")) from None
    except openai.OpenAIError as error:
        raise Fault("fatal", hide(str(error))) from None


def named(path: str) -> openai.AsyncOpenAI:
    """The client at module:name, or what the function there makes. Raises what its module raises, ValueError for what
    is no client, UntrustedError, before anything is imported, where its user does not trust it."""
    trust.require(trust.Item("code", path, "runs this client"))
    module, _, name = path.partition(":")
    client: Any = trust.imported(module, str(project_folder()))
    for part in name.split("."):
        client = getattr(client, part)
    return checked(client() if callable(client) else client)


def checked(client: Any) -> openai.AsyncOpenAI:
    """The same. Raises ValueError for anything but an AsyncOpenAI, of which AsyncAzureOpenAI is one."""
    if isinstance(client, openai.AsyncOpenAI):
        return client
    hint = ": many questions are asked at once, so it has to be the asynchronous one" * isinstance(
        client, openai.OpenAI
    )
    raise ValueError(f"that is {kind(client)}, not an AsyncOpenAI or AsyncAzureOpenAI{hint}")
