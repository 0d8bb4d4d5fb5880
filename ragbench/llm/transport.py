"""Bytes to an endpoint and back: limits on time and size, no redirects, and the key for nobody else."""

from __future__ import annotations

import asyncio
import email.utils
import json
import re
import time
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import SecretStr
from pydantic_core import to_json

from ragbench.llm.errors import Fault
from ragbench.settings import EndpointSettings

if TYPE_CHECKING:
    import aiohttp
    import openai

MAX_BYTES = 8 * 1024 * 1024
_MODERATED = re.compile(r"content[_ ]filter|content management policy|moderation|was flagged", re.IGNORECASE)


class Transport(Protocol):
    """One endpoint's chat completions."""

    async def post(self, body: Mapping[str, Any], seconds: float) -> bytes:
        """The body of a good response, whole within so many seconds. Raises Fault."""
        ...

    async def close(self) -> None:
        """Let the connections go."""
        ...


def open_transport(endpoint: EndpointSettings, key: SecretStr | None) -> Transport:
    """The transport that the settings name; to be called, used and closed on one event loop."""
    kind = OfficialTransport if endpoint.transport == "openai" else DirectTransport
    return kind(endpoint, key)


class DirectTransport:
    """aiohttp alone: a fraction of the official client's cost a call (tests/benchmarks/bench_llm.py measures it)."""

    def __init__(self, endpoint: EndpointSettings, key: SecretStr | None) -> None:
        import aiohttp

        self._url = f"{endpoint.base_url}/chat/completions"
        self._key = key
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=endpoint.concurrency, ttl_dns_cache=300),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"Content-Type": "application/json"}
            | ({"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}),
        )
        self._within = partial(
            aiohttp.ClientTimeout, sock_connect=endpoint.connect_seconds, sock_read=endpoint.read_seconds
        )
        self._limits = self._within(endpoint.timeout_seconds)

    async def post(self, body: Mapping[str, Any], seconds: float) -> bytes:
        """See `Transport`."""
        import aiohttp

        data = to_json(body)
        try:
            limits = self._limits if seconds == self._limits.total else self._within(seconds)
            async with self._session.post(self._url, data=data, allow_redirects=False, timeout=limits) as response:
                content = await _limited(response)
                if response.status != 200:
                    raise _refusal(response.status, response.headers, content, self._key)
                return content
        except aiohttp.ConnectionTimeoutError:
            raise Fault("timeout", "no connection within the limit") from None
        except TimeoutError:
            raise Fault("timeout", "no whole response within the limit") from None
        except aiohttp.ClientSSLError as error:
            raise Fault("fatal", f"no secure connection: {_hide(str(error), self._key)}") from None
        except (aiohttp.ClientError, OSError) as error:
            raise Fault("connection", f"{type(error).__name__}: {_hide(str(error), self._key)}") from None

    async def close(self) -> None:
        """See `Transport`."""
        await self._session.close()


class OfficialTransport:
    """The `openai` package with its aiohttp transport; its own retries and redirects are off, ours are one for all."""

    def __init__(self, endpoint: EndpointSettings, key: SecretStr | None) -> None:
        import httpx2
        import openai

        limits = httpx2.Limits(max_connections=endpoint.concurrency, max_keepalive_connections=endpoint.concurrency)
        self._key = key
        self._client: openai.AsyncOpenAI = openai.AsyncOpenAI(
            api_key=key.get_secret_value() if key else "none",
            base_url=endpoint.base_url,
            max_retries=0,
            http_client=openai.DefaultAioHttpClient(
                limits=limits,
                follow_redirects=False,
                timeout=httpx2.Timeout(
                    endpoint.timeout_seconds, connect=endpoint.connect_seconds, read=endpoint.read_seconds
                ),
            ),
        )

    async def post(self, body: Mapping[str, Any], seconds: float) -> bytes:
        """See `Transport`."""
        import openai

        try:
            async with asyncio.timeout(seconds):
                raw = await self._client.chat.completions.with_raw_response.create(**body)
                return bytes(raw.http_response.content)
        except openai.APIStatusError as error:
            raise _refusal(
                error.status_code, error.response.headers, error.response.content[:MAX_BYTES], self._key
            ) from None
        except (openai.APITimeoutError, TimeoutError):
            raise Fault("timeout", "no whole response within the limit") from None
        except openai.APIConnectionError as error:
            raise Fault("connection", _hide(str(error.__cause__ or error), self._key)) from None

    async def close(self) -> None:
        """See `Transport`."""
        await self._client.close()


async def _limited(response: aiohttp.ClientResponse) -> bytes:
    if response.content_length is not None and response.content_length <= MAX_BYTES:
        return await response.read()
    parts, size = [], 0
    async for part in response.content.iter_any():
        parts.append(part)
        size += len(part)
        if size > MAX_BYTES:
            raise Fault("request", f"the response has more than {MAX_BYTES} bytes")
    return b"".join(parts)


def _refusal(status: int, headers: Mapping[str, str], content: bytes, key: SecretStr | None) -> Fault:
    said = _hide(_message(content), key)
    reason = f"HTTP {status}: {said}" if said else f"HTTP {status}"
    if status in (408, 409, 425) or status >= 500 or status == 429:
        if status == 429 and "insufficient_quota" in said:
            return Fault("fatal", reason)
        kind = "busy" if status in (429, 503, 529) else "server"
        return Fault(kind, reason, retry_after(headers))
    if 300 <= status < 400:
        return Fault("fatal", f"HTTP {status}: a redirect, which is not followed; set base_url to the final address")
    if status in (400, 403, 422) and _MODERATED.search(said):
        return Fault("refused", reason)
    if status in (401, 402, 403, 404, 405):
        return Fault("fatal", reason)
    if status in (400, 422):
        return Fault("mechanism", reason)
    return Fault("request", reason)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the headers ask to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) / unit
        except ValueError:
            parsed = email.utils.parsedate_tz(value)
            if parsed is None:
                continue
            seconds = email.utils.mktime_tz(parsed) - time.time()
        if 0 <= seconds < float("inf"):
            return seconds
    return None


def _message(content: bytes) -> str:
    try:
        document = json.loads(content)
        inner = document.get("error", document) if isinstance(document, dict) else document
        if isinstance(inner, dict):
            said = " ".join(str(inner[name]) for name in ("code", "message", "detail") if inner.get(name))
        else:
            said = str(inner)
    except (ValueError, RecursionError):
        said = content[:300].decode("utf-8", "replace")
    return "".join(letter if letter.isprintable() else " " for letter in said[:500]).strip()


def _hide(text: str, key: SecretStr | None) -> str:
    return text.replace(key.get_secret_value(), "[key]") if key else text
