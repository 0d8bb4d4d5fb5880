"""Bytes to an endpoint and back: limits on time and size, no redirects, and the key for nobody else."""

from __future__ import annotations

import asyncio
import email.utils
import errno
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
from pydantic_core import PydanticSerializationError, to_json

from ragbench.core.settings import ConfigurationError, WebSettings
from ragbench.core.settings.endpoints import Patience
from ragbench.core.settings.secrets import Mask, masker_of
from ragbench.core.types.reason import Reason, joined, short
from ragbench.data.remotes import sockets
from ragbench.llm.errors import Fault

MAX_BYTES = 8 * 1024 * 1024
"""Of a response, packed and unpacked."""
MOST_FRAMES = 500_000
"""Objects, lists and fields of a response: 8 MB of empty ones are 200 MB of memory, for each call in flight."""
MOST_WAIT_SECONDS = 7 * 24 * 3600
"""A response that asks for a longer wait asks for nothing that anybody means."""
SHORTEST_SECONDS = 0.01
"""What is left of patience below it is no time for an attempt: it would end in a timeout that hides the true fault."""
_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_MODERATED = re.compile(r"content[_ ]filter|content management policy|moderation|was flagged", re.IGNORECASE)
_UNKNOWN_AUTHORITY = Reason(
    "its authority is unknown here; name the file of your authority's certificate in the variable SSL_CERT_FILE"
)
_UNTRUSTED = {
    9: Reason("it is not valid yet; is the clock of this machine right?"),
    10: Reason("it has expired; the endpoint needs a new one (or is the clock of this machine wrong?)"),
    18: Reason("it is signed by itself; name its file in the variable SSL_CERT_FILE if it is your own"),
    19: _UNKNOWN_AUTHORITY,
    20: _UNKNOWN_AUTHORITY,
}
_OF_ANOTHER_HOST = (62, 64)
"""What OpenSSL's reasons of distrust mean, and what can be done; the numbers are its own (X509_V_ERR_…)."""
MENDED = {
    402: Reason("the account has no money left: add some, then run again"),
    403: Reason("ask the provider for the right to this model, or name another `model`"),
    404: Reason("look at `model` and `base_url`"),
    405: Reason("look at `base_url`"),
}
"""What helps where every call to a model is refused; with 401 it is where the key is looked for."""
_random = secrets.SystemRandom()
Result = TypeVar("Result")


class Transport:
    """One endpoint's answers to what is sent to it; to be made, used and closed on one event loop.

    aiohttp alone: a fraction of the official client's cost a call (benchmarks/bench_llm.py measures it).
    connections: at the same time at most. max_bytes: of a response, packed and unpacked. headers: sent besides, or
    instead of the usual ones; their values may be secret. address: the setting that holds the address, for messages;
    mended: what helps, by the status with which every call is refused.
    """

    def __init__(
        self,
        endpoint: Patience,
        key: SecretStr | None,
        connections: int,
        max_bytes: int = MAX_BYTES,
        *,
        headers: Mapping[str, str] | None = None,
        address: str = "base_url",
        mended: Mapping[int, Reason] | None = None,
        hide: Mask | None = None,
    ) -> None:
        import aiohttp

        self._max_bytes = max_bytes
        self._again_on, self._never_again_on = endpoint.again_on, endpoint.never_again_on
        self._base, variable = "", None
        if isinstance(endpoint, WebSettings):
            self._base, variable = str(endpoint.base_url).rstrip("/"), endpoint.key_variable
        self._mended, self._address = mended or {**MENDED, 401: _place(variable)}, address
        self._hide = hide or masker_of(key.get_secret_value() if key else "")
        own = dict(headers or {}) | ({"Authorization": f"Bearer {key.get_secret_value()}"} if key else {})
        taken = {name.lower() for name in own}
        usual = {name: value for name, value in _HEADERS.items() if name.lower() not in taken}
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=connections, ttl_dns_cache=300, socket_factory=sockets.opened),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,  # a part of a packed response can be of any size once unpacked
            headers=usual | own,
        )
        self._within = partial(
            aiohttp.ClientTimeout, sock_connect=endpoint.connect_seconds, sock_read=endpoint.read_seconds
        )
        self._limits = self._within(endpoint.timeout_seconds)

    async def post(self, path: str, body: Mapping[str, Any], seconds: float) -> bytes:
        """The body of a good response to what is posted to a path of the endpoint; see `ask`."""
        try:
            asked = to_json(body)
        except PydanticSerializationError:
            raise Fault(
                "request", Reason("the question holds what no JSON does, such as half a pair of signs")
            ) from None
        return await self.ask("POST", f"{self._base}/{path}", asked, seconds)

    async def ask(
        self, method: str, url: str, data: bytes, seconds: float, heard: Callable[[bytes], object] | None = None
    ) -> bytes:
        """The body of a good response, whole and unpacked within so many seconds. Raises Fault.

        heard: gets the parts of a good response as they arrive.
        """
        import aiohttp

        try:
            limits = self._limits if seconds == self._limits.total else self._within(seconds)
            sent: dict[str, Any] = {"data": data or None, "allow_redirects": False, "timeout": limits}
            async with self._session.request(method, url, **sent) as response:
                good = response.status // 100 == 2
                encoding = response.headers.get("Content-Encoding", "").strip().lower()
                parts = self._limited(response.content.iter_any(), heard if good else None)
                content = self._unpacked(await parts, self._hide(encoding))
                if sum(map(content.count, (b"[", b"{", b":"))) > MOST_FRAMES:
                    raise Fault("request", Reason("the response has more values than a reply"))
                if not good:
                    raise self._refusal(response.status, response.headers, content)
                return content
        except aiohttp.ConnectionTimeoutError:
            limit = short(self._limits.sock_connect or 0)
            raise Fault(
                "timeout", Reason("no connection within {seconds} s (connect_seconds)", seconds=limit)
            ) from None
        except aiohttp.SocketTimeoutError:
            limit = short(self._limits.sock_read or 0)
            raise Fault("timeout", Reason("nothing was heard for {seconds} s (read_seconds)", seconds=limit)) from None
        except TimeoutError:
            whole = seconds == self._limits.total
            where = "timeout_seconds" if whole else Reason("what patience_seconds left of timeout_seconds")
            told = Reason("no whole response within {seconds} s ({said})", seconds=short(seconds, 3), said=where)
            raise Fault("timeout", told) from None
        except aiohttp.ClientConnectorCertificateError as error:
            raise Fault("fatal", _distrust(error.host, error.certificate_error, self._address)) from None
        except aiohttp.ClientSSLError as error:
            raise Fault("fatal", Reason("no secure connection: {said}", said=self._hide(str(error)))) from None
        except aiohttp.ClientConnectorError as error:
            if isinstance(error.os_error, sockets.MetadataAddressError):
                raise Fault("fatal", str(error.os_error.strerror)) from None
            raise Fault("connection", _unreached(error, self._address)) from None
        except (aiohttp.ClientError, OSError) as error:
            raise Fault("connection", self._hide(str(error)) or Reason("the connection broke")) from None

    async def close(self) -> None:
        """Let the connections go."""
        await self._session.close()

    async def _limited(self, parts: AsyncIterator[bytes], heard: Callable[[bytes], object] | None) -> bytes:
        """The parts together, whatever length was announced. Raises Fault above the limit."""
        found, size = [], 0
        async for part in parts:
            found.append(part)
            size += len(part)
            if size > self._max_bytes:
                raise self._too_long()
            if heard is not None:
                heard(part)
        return b"".join(found)

    def _unpacked(self, content: bytes, encoding: str) -> bytes:
        """The content without its compression, which we never asked for. Raises Fault above the limit."""
        if encoding in ("", "identity"):
            return content
        if encoding not in ("gzip", "x-gzip", "deflate"):
            told = Reason("the response is packed as {said}, which was not asked for", said=repr(encoding[:20]))
            raise Fault("request", told)
        try:
            found = zlib.decompressobj(wbits=_GZIP_OR_ZLIB).decompress(content, self._max_bytes + 1)
        except zlib.error as error:
            raise Fault("connection", Reason("the response cannot be unpacked: {said}", said=str(error))) from None
        if len(found) > self._max_bytes:
            raise self._too_long()
        return found

    def _refusal(self, status: int, headers: Mapping[str, str], content: bytes) -> Fault:
        said = _message(content, self._hide)
        reason = f"HTTP {status}: {said}" if said else f"HTTP {status}"
        again = status in (408, 409, 425, 429, *self._again_on) or status >= 500
        if again and status not in self._never_again_on:
            if status == 429 and "insufficient_quota" in said:
                return Fault("fatal", joined(reason, MENDED[402]))
            kind = "busy" if status in (429, 503, 529) else "server"
            return Fault(kind, reason, retry_after(headers))
        if 300 <= status < 400:
            to = Reason("set {name} to the final address", name=self._address)
            told = Reason("HTTP {status}: a redirect, which is not followed; {said}", status=status, said=to)
            return Fault("fatal", told)
        if status in (400, 403, 422) and _MODERATED.search(said):
            return Fault("refused", reason)
        if status in self._mended:
            return Fault("fatal", joined(reason, self._mended[status]))
        return Fault("mechanism" if status in (400, 422) else "request", reason)

    def _too_long(self) -> Fault:
        return Fault("request", Reason("the response has more than {count} bytes", count=self._max_bytes))


def read_key(who: str, settings: WebSettings) -> SecretStr | None:
    """The key in the variable that the settings name; None where they name none. Raises ConfigurationError."""
    return None if settings.key_variable is None else key_in(who, settings.key_variable)


def key_in(who: str, variable: str) -> SecretStr:
    """The key in a variable. Raises ConfigurationError where there is none."""
    key = SecretStr(os.environ.get(variable, "").strip())  # no traceback that shows variables shows it
    if not key:
        raise ConfigurationError(
            f"{who} needs its key in the variable {variable}, which is not set: export {variable}=…"
        )
    if not re.fullmatch(r"[\x21-\x7e]+", key.get_secret_value()):
        raise ConfigurationError(f"the variable {variable} holds characters that no key has")
    return key


async def patiently(
    settings: Patience,
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
            pause = pause_after(fault, number, settings)
            patience -= pause + (time.monotonic() - began if fault.seconds is None else fault.seconds)
            if not fault.passes or patience < SHORTEST_SECONDS or number == settings.attempts:
                fault.attempts = number
                raise
        again()
        await asyncio.sleep(pause)
    raise AssertionError("the last attempt returns or raises")


def pause_after(fault: Fault, attempt: int, settings: Patience) -> float:
    """Seconds before the next attempt: full jitter over a growing span, after what the endpoint asked for."""
    span = min(settings.longest_wait_seconds, settings.first_wait_seconds * settings.wait_factor ** (attempt - 1))
    return (fault.retry_after or 0.0) + _random.uniform(0, span)


def _distrust(host: str, error: Exception, address: str) -> Reason:
    code = getattr(error, "verify_code", 0)
    of_another = Reason("it was made for another host; set {name} to the name that it was made for", name=address)
    said = of_another if code in _OF_ANOTHER_HOST else _UNTRUSTED.get(code, str(error))
    return Reason("the certificate of {who} is not trusted: {said}", who=host, said=said)


def _unreached(error: Any, address: str) -> Reason:
    number = error.os_error.errno or 0
    said = os.strerror(number) if number > 0 else error.os_error.strerror or Reason("no such host")
    if number == errno.ECONNREFUSED:
        said = Reason("Connection refused")
    return Reason(
        "Cannot connect to host {who} ({said}); look whether it runs, and at {name}",
        who=f"{error.host}:{error.port}",
        said=said,
        name=address,
    )


def _place(key_variable: str | None) -> Reason:
    if key_variable is None:
        return Reason("no key was sent: name the variable that holds it as `key_variable`")
    return Reason("look at the key in the variable {name}", name=key_variable)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the headers ask to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date.

    None where they ask for nothing, for what is no time, or for more than MOST_WAIT_SECONDS.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) / unit
        except ValueError:
            try:
                seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
            except (ValueError, OverflowError):  # no date, or one of a year that there is not
                continue
        if 0 <= seconds <= MOST_WAIT_SECONDS:
            return seconds
    return None


def _message(content: bytes, hide: Mask) -> str:
    """What a refusal says, cut; the key is hidden before that, or its beginning would be left."""
    try:
        document = json.loads(content)
        inner = document.get("error", document) if isinstance(document, dict) else document
        if isinstance(inner, dict):
            said = " ".join(str(inner[name]) for name in ("code", "message", "detail") if inner.get(name))
            said = said or json.dumps(inner, ensure_ascii=False)
        else:
            said = str(inner)
    except (ValueError, RecursionError):
        said = hide(content.decode("utf-8", "replace"))[:300]
    return "".join(letter if letter.isprintable() else " " for letter in hide(said)[:500]).strip()
