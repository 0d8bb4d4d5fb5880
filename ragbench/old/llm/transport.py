"""Bytes to an endpoint and back: limits on time and size, no redirects or cookies, and the key for nobody else.

Models are spoken to by the client of the package `openai` (`ragbench.old.llm.official`), which sends through here; services
and rerankers send through here directly.
"""

from __future__ import annotations

import asyncio
import email.utils
import errno
import json
import os
import re
import secrets
import ssl
import sys
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass_environment  # type: ignore[attr-defined]

from pydantic import SecretStr

from ragbench.old.core.settings import ConfigurationError, WebSettings, project_folder
from ragbench.old.core.settings.endpoints import Patience
from ragbench.old.core.settings.secrets import Mask, excerpt, masker_of, value_of
from ragbench.old.core.trust import UntrustedError
from ragbench.old.core.types.reason import Reason, clause, joined, short
from ragbench.old.data import remotes
from ragbench.old.data.encodings import UnknownEncodingError, encoding_of
from ragbench.old.llm.errors import Fault, Response, late

MAX_BYTES = 8 * 1024 * 1024
"""Of a response, packed and unpacked."""
MOST_FRAMES = 500_000
"""Objects, lists and fields of a response: 8 MB of empty ones are 200 MB of memory, for each call in flight."""
MOST_WAIT_SECONDS = 7 * 24 * 3600
"""A response that asks for a longer wait asks for nothing that anybody means."""
SHORTEST_SECONDS = 0.01
"""What is left of patience below it is no time for an attempt: it would end in a timeout that hides the true fault."""
_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS  # 32: zlib tells by the header which of the two it is
_MODERATED = re.compile(r"content[_ ]filter|content management policy|moderation|was flagged", re.IGNORECASE)
_ABOUT_ASKING = re.compile(
    r"grammar|schema|response_format|guided[ _]|jinja|template|system role|base64", re.IGNORECASE
)
"""Some servers fail on a shape or an encoding that they cannot follow, or on a role that a model's template lacks,
instead of refusing it."""
_NOBODY = re.compile(r"no endpoints found", re.IGNORECASE)
"""Of a router: nobody behind it takes all the parameters."""
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


def _in_utf_8(content: bytes, content_type: str) -> bytes:
    """A text as it is in UTF-8, whatever else it is in by its marks, its header or its letters; as it is where none of
    these tells."""
    with suppress(UnicodeDecodeError):
        if b"\0" not in content[:4]:
            return content.decode().removeprefix("\ufeff").encode()
    named = re.search(r"charset=[\"']?([\w.-]+)", content_type)
    with suppress(UnicodeError, LookupError, UnknownEncodingError):
        encoding = encoding_of([content], lambda: named[1] if named else None)
        return content.decode(encoding).removeprefix("\ufeff").encode()
    return content


class Transport:
    """One endpoint's answers to what is sent to it; to be made, used and closed on one event loop.

    connections: at the same time at most. max_bytes: of a response, packed and unpacked. key: that is sent, where the
    endpoint names one. headers: sent besides, or instead of the usual ones; their values may be secret. address: the
    setting that holds the address, for messages; mended: what helps, by the status with which every call is refused.
    client: an AsyncOpenAI of the user's own, which sends by itself, within the same time.
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
        client: Any = None,
    ) -> None:
        self._max_bytes = max_bytes
        self._again_on, self._never_again_on = endpoint.again_on, endpoint.never_again_on
        web = endpoint if isinstance(endpoint, WebSettings) else None
        told = {} if web is None else {401: _place(web.key_variable), 404: at_version(web.base_url)}
        self._mended = mended or MENDED | told
        self._address, self._whole_seconds = address, endpoint.timeout_seconds
        self._hide = hide or masker_of(*(value_of(name) for name in (web.variables if web else ())))
        taken = {name.lower() for name in headers or {}}
        self._headers = {name: value for name, value in _HEADERS.items() if name.lower() not in taken} | {
            **(headers or {})
        }
        self._session: Any = None
        self._client, self._own = client, client is not None
        if self._own:
            return
        if web is not None:
            from ragbench.old.llm import official

            self._client = official.client(web, key, self.whole)
        import aiohttp

        self._within = partial(
            aiohttp.ClientTimeout, sock_connect=endpoint.connect_seconds, sock_read=endpoint.read_seconds
        )
        self._limits = self._within(endpoint.timeout_seconds)
        self._proxies = getproxies_environment()  # once: it reads the whole environment
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=connections, ttl_dns_cache=300, socket_factory=remotes.guarded,
                **_trusting(web.ca_file if web else None),
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,  # a part of a packed response can be of any size once unpacked
        )  # fmt: skip

    async def post(self, path: str, body: Mapping[str, Any], seconds: float) -> bytes:
        """The body of a good response to what is posted to a path of the endpoint, by its client. Raises Fault."""
        from ragbench.old.llm import official

        response = await official.posted(self._client, path, body, seconds, self._hide)
        if self._own and len(response.content) > self._max_bytes:
            raise self._too_long()
        return self._good(response)

    async def ask(
        self, method: str, url: str, data: bytes, seconds: float, heard: Callable[[bytes], object] | None = None
    ) -> bytes:
        """The body of a good response, whole and unpacked within so many seconds. Raises Fault.

        heard: gets the parts of a good response as they arrive.
        """
        return self._good(await self.whole(method, url, data, self._headers, seconds, heard))

    def _good(self, response: Response) -> bytes:
        if response.status // 100 != 2:
            raise self.refusal(response.status, response.headers, response.content)
        return _in_utf_8(response.content, response.headers.get("Content-Type", ""))

    async def whole(
        self,
        method: str,
        url: str,
        data: bytes,
        headers: Mapping[str, str],
        seconds: float,
        heard: Callable[[bytes], object] | None = None,
    ) -> Response:
        """A response of whatever status, within the limits. Raises Fault where there is none."""
        import aiohttp

        assert self._session is not None, "a client of the user's own sends by itself"
        limits = self._limits if seconds == self._whole_seconds else self._within(seconds)
        try:
            sent: dict[str, Any] = {"data": data or None, "allow_redirects": False, "timeout": limits}
            async with self._session.request(
                method, url, headers=headers, proxy=_proxy(url, self._proxies), **sent
            ) as response:
                good = response.status // 100 == 2
                encoding = response.headers.get("Content-Encoding", "").strip().lower()
                parts = self._limited(response.content.iter_any(), heard if good else None)
                content = self._unpacked(await parts, self._hide(encoding))
                if sum(map(content.count, (b"[", b"{", b":"))) > MOST_FRAMES:
                    raise Fault("request", Reason("the response has more values than a reply"))
                return Response(response.status, response.headers, content)
        except aiohttp.ConnectionTimeoutError:
            limit = short(limits.sock_connect or 0)
            raise Fault(
                "timeout", Reason("no connection within {seconds} s (connect_seconds)", seconds=limit)
            ) from None
        except aiohttp.SocketTimeoutError:
            limit = short(limits.sock_read or 0)
            raise Fault("timeout", Reason("nothing was heard for {seconds} s (read_seconds)", seconds=limit)) from None
        except TimeoutError:
            raise late(seconds, seconds == self._whole_seconds) from None
        except aiohttp.ClientConnectorCertificateError as error:
            raise Fault("fatal", _distrust(error.host, error.certificate_error, self._address)) from None
        except aiohttp.ClientSSLError as error:
            raise Fault("fatal", Reason("no secure connection: {said}", said=self._hide(str(error)))) from None
        except aiohttp.ClientProxyConnectionError as error:
            raise Fault(
                "connection",
                Reason(
                    "the proxy {who} cannot be reached: {said}; look at the variables "
                    "HTTP_PROXY, HTTPS_PROXY and NO_PROXY",
                    who=f"{error.host}:{error.port}",
                    said=os.strerror(error.os_error.errno or 0),
                ),
            ) from None
        except aiohttp.ClientHttpProxyError as error:
            raise Fault(
                "connection", Reason("the proxy refuses to connect: HTTP {status}", status=error.status)
            ) from None
        except aiohttp.ClientConnectorError as error:
            if isinstance(error.os_error, remotes.MetadataAddressError):
                raise Fault("fatal", str(error.os_error.strerror)) from None
            raise Fault("connection", _unreached(error, self._address)) from None
        except (aiohttp.ClientError, OSError) as error:
            raise Fault("connection", self._hide(str(error)) or Reason("the connection broke")) from None

    async def close(self) -> None:
        """Let the connections go; those of a client of the user's own stay with it."""
        if self._session is not None:
            await self._session.close()

    async def _limited(self, parts: AsyncIterator[bytes], heard: Callable[[bytes], object] | None) -> bytes:
        """The parts together, whatever length was announced. Raises Fault above the limit."""
        received, size = [], 0
        async for part in parts:
            received.append(part)
            size += len(part)
            if size > self._max_bytes:
                raise self._too_long()
            if heard is not None:
                heard(part)
        return b"".join(received)

    def _unpacked(self, content: bytes, encoding: str) -> bytes:
        """The content without its compression, which we never asked for. Raises Fault above the limit."""
        if encoding in ("", "identity"):
            return content
        if encoding not in ("gzip", "x-gzip", "deflate"):
            told = Reason("the response is packed as {said}, which was not asked for", said=repr(encoding[:20]))
            raise Fault("request", told)
        try:
            unpacked = zlib.decompressobj(wbits=_GZIP_OR_ZLIB).decompress(content, self._max_bytes + 1)
        except zlib.error as error:
            raise Fault("connection", Reason("the response cannot be unpacked: {said}", said=str(error))) from None
        if len(unpacked) > self._max_bytes:
            raise self._too_long()
        return unpacked

    def refusal(self, status: int, headers: Mapping[str, str], content: bytes) -> Fault:
        """What a response means that is no good one; or an error that a good one holds, with the status that it has."""
        said = _message(content, self._hide)
        reason = f"HTTP {status}: {said}" if said else f"HTTP {status}"
        again = status in (408, 409, 425, 429, *self._again_on) or status >= 500
        if again and status not in self._never_again_on:
            if status == 429 and "insufficient_quota" in said:
                return Fault("fatal", joined(reason, MENDED[402]))
            if status >= 500 and _ABOUT_ASKING.search(said):
                return Fault("mechanism", reason, retry_after(headers), otherwise="server")
            kind = "busy" if status in (429, 503, 529) else "server"
            return Fault(kind, reason, retry_after(headers))
        if 300 <= status < 400:
            to = Reason("set {name} to the final address", name=self._address)
            told = Reason("HTTP {status}: a redirect, which is not followed; {said}", status=status, said=to)
            return Fault("fatal", told)
        if status in (400, 403, 422) and _MODERATED.search(said):
            return Fault("refused", reason)
        if status in self._mended:
            kind = "mechanism" if status == 404 and _NOBODY.search(said) else "fatal"
            return Fault(kind, joined(reason, self._mended[status]), otherwise="fatal")
        return Fault("mechanism" if status in (400, 422) else "request", reason)

    def _too_long(self) -> Fault:
        return Fault("request", Reason("the response has more than {count} bytes", count=self._max_bytes))


def _trusting(ca_file: Path | None) -> dict[str, Any]:
    if ca_file is None:
        return {}
    path = project_folder() / ca_file.expanduser()
    try:
        return {"ssl": ssl.create_default_context(cafile=str(path))}
    except (OSError, ssl.SSLError) as error:
        said = "there is no such file" if isinstance(error, FileNotFoundError) else str(error)
        raise Fault("fatal", Reason("ca_file = {name}: {said}", name=str(ca_file), said=said)) from None


def _proxy(url: str, proxies: Mapping[str, str]) -> str | None:
    """Of the variables HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, as the client itself reads them."""
    if not proxies:
        return None
    parts = urlsplit(url)
    if proxy_bypass_environment(parts.netloc, proxies):
        return None
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy:
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if (spoken := urlsplit(proxy).scheme.lower()) not in ("http", "https"):
        raise Fault(
            "fatal",
            Reason(
                "a proxy is named that speaks {what}, and only http and https are spoken to one: name one of these in "
                "HTTPS_PROXY or HTTP_PROXY, or the host in NO_PROXY",
                what=spoken,
            ),
        )
    return proxy


def own_client(who: str, settings: Patience) -> Any:
    """The user's own client that the settings name as module:name; None where they name an address.

    Raises Fault ("fatal") where it cannot be imported or is none, UntrustedError where its user does not trust it.
    """
    if not isinstance(settings, WebSettings) or settings.client is None:
        return None
    from ragbench.old.llm import official

    try:
        return official.named(settings.client)
    except UntrustedError:
        raise
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise Fault("fatal", f"{who}: client = {settings.client!r}: {excerpt(error, 200)}") from None


def load() -> None:
    """Load the client of models, which takes a second or two."""
    import_module("ragbench.old.llm.official")


async def loaded() -> None:
    """The same without holding up anybody else on this loop."""
    if "ragbench.old.llm.official" not in sys.modules:
        await asyncio.to_thread(load)


def read_key(who: str, settings: WebSettings) -> SecretStr | None:
    """The key in the variable that the settings name; None where they name none. Raises ConfigurationError, also for
    the variables of headers and query."""
    keys = {name: key_in(who, name) for name in settings.variables}
    return keys.get(settings.key_variable or "")


def key_in(who: str, variable: str) -> SecretStr:
    """The key in a variable. Raises ConfigurationError where there is none."""
    key = SecretStr(value_of(variable))  # no traceback that shows variables shows it
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
        return Reason(
            "no key was sent: name the variable that holds it as `key_variable`, or its own header in `headers`"
        )
    return Reason("look at the key in the variable {name}", name=key_variable)


def at_version(base: str | None) -> Reason:
    """What helps where an address is asked by its path in vain, or replies in a protocol of its own: Ollama, LM Studio
    and vLLM speak OpenAI's below a version, Cohere beside its own."""
    parts = urlsplit(base or "")
    is_coheres = parts.netloc in ("api.cohere.com", "api.cohere.ai")
    has_one = "/compatibility" in parts.path if is_coheres else re.search(r"/v\d|/openai", base or "")
    if base is None or has_one:
        return MENDED[404]
    own = "https://api.cohere.ai/compatibility" if is_coheres else f"{parts.scheme}://{parts.netloc}"
    return Reason("look at `model` and `base_url`: most end with /v1, as {address}", address=f"{own}/v1")


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
        said = _said(json.loads(content))
    except (ValueError, RecursionError):
        said = hide(content.decode("utf-8", "replace"))[:300]
    return clause("".join(letter if letter.isprintable() else " " for letter in hide(said)[:500]).strip())


def _said(document: Any) -> str:
    """What the JSON value of a refusal says, also in the list that Google's stands in."""
    if isinstance(document, list) and len(document) == 1:
        return _said(document[0])
    error = document.get("error", document) if isinstance(document, dict) else document
    if not isinstance(error, dict):
        return str(error)
    said = [str(error[name]) for name in ("code", "param", "message", "detail") if error.get(name)]
    fields = error.get("detail") or error.get("details")  # of FastAPI, and of Azure's own
    if isinstance(fields, list) and fields and all(isinstance(each, dict) and "loc" in each for each in fields):
        said = [f"{'.'.join(map(str, each.get('loc', ())))}: {each.get('msg')}" for each in fields]
    routed = error.get("metadata")  # of a router, whose own message says only that somebody behind it refused
    if isinstance(routed, dict) and routed.get("raw"):
        said.append(str(routed["raw"]))
    return " ".join(said) or json.dumps(error, ensure_ascii=False)
