"""Bytes to an endpoint and back: limits on time and size, no redirects, and the key for nobody else."""

from __future__ import annotations

import asyncio
import email.utils
import json
import os
import re
import secrets
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from itertools import count
from typing import Any, TypeVar

from pydantic import SecretStr
from pydantic_core import to_json

from ragbench.llm.errors import Fault
from ragbench.settings import ConfigurationError, WebSettings
from ragbench.settings.secrets import Mask, masker_of

MAX_BYTES = 8 * 1024 * 1024
"""Of a response, packed and unpacked."""
BACKOFF_SECONDS, LONGEST_BACKOFF_SECONDS = 0.25, 30.0
SHORTEST_SECONDS = 0.01
"""What is left of patience below it is no time for an attempt: it would end in a timeout that hides the true fault."""
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_MODERATED = re.compile(r"content[_ ]filter|content management policy|moderation|was flagged", re.IGNORECASE)
_UNTRUSTED = {
    9: "it is not valid yet; is the clock of this machine right?",
    10: "it has expired; the endpoint needs a new one (or is the clock of this machine wrong?)",
    18: "it is signed by itself; name its file in the variable SSL_CERT_FILE if it is your own",
    19: "its authority is unknown here; name the file of your authority's certificate in the variable SSL_CERT_FILE",
    20: "its authority is unknown here; name the file of your authority's certificate in the variable SSL_CERT_FILE",
    62: "it was made for another host; set base_url to the name that it was made for",
    64: "it was made for another host; set base_url to the name that it was made for",
}
"""What OpenSSL's reasons of distrust mean, and what can be done; the numbers are its own (X509_V_ERR_…)."""
_MENDED = {
    401: "{key}",
    402: "the account has no money left: add some, then run again",
    403: "ask the provider for the right to this model, or name another `model`",
    404: "look at `model` and `base_url`",
    405: "look at `base_url`",
}
"""What helps where every call is refused. {key}: where the key is looked for."""
_random = secrets.SystemRandom()
Result = TypeVar("Result")


class Transport:
    """One endpoint's answers to what is posted to a path of it; to be made, used and closed on one event loop.

    aiohttp alone: a fraction of the official client's cost a call (tests/benchmarks/bench_llm.py measures it).
    connections: at the same time at most. max_bytes: of a response, packed and unpacked.
    """

    def __init__(
        self, endpoint: WebSettings, key: SecretStr | None, connections: int, max_bytes: int = MAX_BYTES
    ) -> None:
        import aiohttp

        self._base = str(endpoint.base_url).rstrip("/")
        self._max_bytes = max_bytes
        self._key_place = _place(endpoint.key_variable)
        self._hide = masker_of(key.get_secret_value() if key else "")
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=connections, ttl_dns_cache=300),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,  # a part of a packed response can be of any size once unpacked
            headers={"Content-Type": "application/json", "Accept-Encoding": "identity"}
            | ({"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}),
        )
        self._within = partial(
            aiohttp.ClientTimeout, sock_connect=endpoint.connect_seconds, sock_read=endpoint.read_seconds
        )
        self._limits = self._within(endpoint.timeout_seconds)

    async def post(self, path: str, body: Mapping[str, Any], seconds: float) -> bytes:
        """The body of a good response, whole and unpacked within so many seconds. Raises Fault."""
        import aiohttp

        data = to_json(body)
        try:
            limits = self._limits if seconds == self._limits.total else self._within(seconds)
            url = f"{self._base}/{path}"
            async with self._session.post(url, data=data, allow_redirects=False, timeout=limits) as response:
                encoding = response.headers.get("Content-Encoding", "").strip().lower()
                content = self._unpacked(await self._limited(response.content.iter_any()), self._hide(encoding))
                if response.status != 200:
                    raise _refusal(response.status, response.headers, content, self._hide, self._key_place)
                return content
        except aiohttp.ConnectionTimeoutError:
            raise Fault("timeout", f"no connection within {self._limits.sock_connect:g} s (connect_seconds)") from None
        except aiohttp.SocketTimeoutError:
            raise Fault("timeout", f"nothing was heard for {self._limits.sock_read:g} s (read_seconds)") from None
        except TimeoutError:
            limit = self._limits.total
            where = "timeout_seconds" if seconds == limit else "what patience_seconds left of timeout_seconds"
            raise Fault("timeout", f"no whole response within {seconds:.3g} s ({where})") from None
        except aiohttp.ClientConnectorCertificateError as error:
            raise Fault("fatal", _distrust(error.host, error.certificate_error)) from None
        except aiohttp.ClientSSLError as error:
            raise Fault("fatal", f"no secure connection: {self._hide(str(error))}") from None
        except aiohttp.ClientConnectorError as error:
            raise Fault("connection", _unreached(error)) from None
        except (aiohttp.ClientError, OSError) as error:
            raise Fault("connection", self._hide(str(error)) or "the connection broke") from None

    async def close(self) -> None:
        """Let the connections go."""
        await self._session.close()

    async def _limited(self, parts: AsyncIterator[bytes]) -> bytes:
        """The parts together, whatever length was announced. Raises Fault above the limit."""
        found, size = [], 0
        async for part in parts:
            found.append(part)
            size += len(part)
            if size > self._max_bytes:
                raise self._too_long()
        return b"".join(found)

    def _unpacked(self, content: bytes, encoding: str) -> bytes:
        """The content without its compression, which we never asked for. Raises Fault above the limit."""
        if encoding in ("", "identity"):
            return content
        if encoding not in ("gzip", "x-gzip", "deflate"):
            raise Fault("request", f"the response is packed as {encoding[:20]!r}, which was not asked for")
        try:
            found = zlib.decompressobj(wbits=_GZIP_OR_ZLIB).decompress(content, self._max_bytes + 1)
        except zlib.error as error:
            raise Fault("connection", f"the response cannot be unpacked: {error}") from None
        if len(found) > self._max_bytes:
            raise self._too_long()
        return found

    def _too_long(self) -> Fault:
        return Fault("request", f"the response has more than {self._max_bytes} bytes")


def read_key(who: str, settings: WebSettings) -> SecretStr | None:
    """The key in the variable that the settings name; None where they name none. Raises ConfigurationError."""
    if settings.key_variable is None:
        return None
    key = SecretStr(os.environ.get(settings.key_variable, "").strip())  # no traceback that shows variables shows it
    if not key:
        raise ConfigurationError(
            f"{who} needs its key in the variable {settings.key_variable}, which is not set: "
            f"export {settings.key_variable}=…"
        )
    if not re.fullmatch(r"[\x21-\x7e]+", key.get_secret_value()):
        raise ConfigurationError(f"the variable {settings.key_variable} holds characters that no key has")
    return key


async def patiently(
    settings: WebSettings,
    attempt: Callable[[float], Awaitable[Result]],
    again: Callable[[], object] = lambda: None,
) -> Result:
    """What an attempt gives, tried again after faults that pass, within the settings' attempts and patience.

    attempt: called with the seconds that it may take. again: called before each attempt but the first.
    Raises the last Fault.
    """
    patience = settings.patience_seconds
    for number in count(1):
        began = time.monotonic()
        try:
            return await attempt(min(patience, settings.timeout_seconds))
        except Fault as fault:
            pause = pause_after(fault, number)
            patience -= pause + (time.monotonic() - began if fault.seconds is None else fault.seconds)
            if not fault.passes or patience < SHORTEST_SECONDS or number == settings.attempts:
                fault.attempts = number
                raise
        again()
        await asyncio.sleep(pause)
    raise AssertionError("the last attempt returns or raises")


def pause_after(fault: Fault, attempt: int) -> float:
    """Seconds before the next attempt: full jitter over a doubling span, after what the endpoint asked for."""
    span = min(LONGEST_BACKOFF_SECONDS, BACKOFF_SECONDS * 2 ** (attempt - 1))
    return (fault.retry_after or 0.0) + _random.uniform(0, span)


def _distrust(host: str, error: Exception) -> str:
    said = _UNTRUSTED.get(getattr(error, "verify_code", 0)) or str(error)
    return f"the certificate of {host} is not trusted: {said}"


def _unreached(error: Any) -> str:
    number = error.os_error.errno or 0
    said = os.strerror(number) if number > 0 else error.os_error.strerror or "no such host"
    return f"Cannot connect to host {error.host}:{error.port} ({said}); look whether it runs, and at base_url"


def _place(key_variable: str | None) -> str:
    if key_variable is None:
        return "no key was sent: name the variable that holds it as `key_variable`"
    return f"look at the key in the variable {key_variable}"


def _refusal(status: int, headers: Mapping[str, str], content: bytes, hide: Mask, key: str) -> Fault:
    said = _message(content, hide)
    reason = f"HTTP {status}: {said}" if said else f"HTTP {status}"
    if status in (408, 409, 425) or status >= 500 or status == 429:
        if status == 429 and "insufficient_quota" in said:
            return Fault("fatal", f"{reason}; {_MENDED[402]}")
        kind = "busy" if status in (429, 503, 529) else "server"
        return Fault(kind, reason, retry_after(headers))
    if 300 <= status < 400:
        return Fault("fatal", f"HTTP {status}: a redirect, which is not followed; set base_url to the final address")
    if status in (400, 403, 422) and _MODERATED.search(said):
        return Fault("refused", reason)
    if status in _MENDED:
        return Fault("fatal", f"{reason}; {_MENDED[status].format(key=key)}")
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


def _message(content: bytes, hide: Mask) -> str:
    """What a refusal says, cut; the key is hidden before that, or its beginning would be left."""
    try:
        document = json.loads(content)
        inner = document.get("error", document) if isinstance(document, dict) else document
        if isinstance(inner, dict):
            said = " ".join(str(inner[name]) for name in ("code", "message", "detail") if inner.get(name))
        else:
            said = str(inner)
    except (ValueError, RecursionError):
        said = hide(content.decode("utf-8", "replace"))[:300]
    return "".join(letter if letter.isprintable() else " " for letter in hide(said)[:500]).strip()
