"""Bytes to an endpoint and back, for the clients of `openai`: limits, proxies, no redirects.

openai's own transports accept a packed response without its end, a response of any length, and
addresses inside the machine's own cloud.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import urllib.request
import zlib
from typing import Any

import aiohttp
import httpx2

from ragbench.core.secrets import shorten
from ragbench.llm.errors import Fault, StopError

MOST_BYTES = 64 * 2**20  # of a response, unpacked


class Transport(httpx2.AsyncBaseTransport):
    """Sends the requests of an `openai` client by aiohttp, at half of the CPU of its default.

    Make it, use it and close it on one event loop. in_flight: connections at most. ca_file:
    certificates (PEM) of the authorities that are trusted; "" for the usual ones.
    """

    def __init__(self, in_flight: int, ca_file: str = "") -> None:
        try:
            context = ssl.create_default_context(cafile=ca_file) if ca_file else True
        except OSError as error:
            raise StopError(f"ca_file {ca_file} cannot be read: {error}") from None
        connector = aiohttp.TCPConnector(
            limit=in_flight,
            ssl=context,
            socket_factory=_open_socket,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
        )
        self._proxies = urllib.request.getproxies()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the response, whole. Raises Fault where there is none, StopError for distrust."""
        limits = request.extensions.get("timeout", {})
        timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=limits.get("connect"), sock_read=limits.get("read")
        )
        url = str(request.url)
        try:
            async with self._session.request(
                request.method,
                url,
                headers=request.headers,
                data=request.content or None,
                allow_redirects=False,
                timeout=timeout,
                proxy=self._find_proxy(request.url),
            ) as response:
                packed = await _read_all(response)
        except aiohttp.ServerTimeoutError:
            reason = "nothing came within connect_seconds or read_seconds"
            raise Fault(reason, "timeout", "silent") from None
        except aiohttp.ClientConnectorCertificateError as error:
            raise StopError(
                f"the certificate of {error.host} is not trusted "
                f"({error.certificate_error}); the file of an own authority is named by ca_file"
            ) from None
        except aiohttp.ClientSSLError as error:
            raise StopError(
                f"no secure connection to {error.host}; does base_url begin with http instead of "
                f"https? ({shorten(error, 120)})"
            ) from None
        except (aiohttp.ClientError, OSError) as error:
            raise Fault(f"no connection: {shorten(error)}", kind="silent") from None
        kept = {"content-encoding", "content-length", "transfer-encoding", "set-cookie"}
        headers = [pair for pair in response.headers.items() if pair[0].lower() not in kept]
        content = _unpack(packed, response.headers.get("Content-Encoding", ""))
        return httpx2.Response(response.status, headers=headers, content=content)

    def _find_proxy(self, url: httpx2.URL) -> str | None:
        """Return the proxy that the environment names for an address.

        aiohttp would do so (trust_env), and look through ~/.netrc for every call.
        """
        if not self._proxies or urllib.request.proxy_bypass(url.host):
            return None  # the second reads the whole environment
        proxy = self._proxies.get(url.scheme) or self._proxies.get("all")
        return f"http://{proxy}" if proxy and "://" not in proxy else proxy

    async def aclose(self) -> None:
        """Close the connections."""
        await self._session.close()


async def _read_all(response: aiohttp.ClientResponse) -> bytes:
    parts = []
    size = 0
    async for part in response.content.iter_any():
        parts.append(part)
        size += len(part)
        if size > MOST_BYTES:
            raise Fault(f"the response has more than {MOST_BYTES} bytes")
    return b"".join(parts)


def _unpack(content: bytes, encoding: str) -> bytes:
    """Return a response without its packing, which was not asked for."""
    if encoding.lower() in ("", "identity") or not content:
        return content
    unpacker = zlib.decompressobj(wbits=32 + zlib.MAX_WBITS)  # 32: gzip or zlib, by its header
    try:
        unpacked = unpacker.decompress(content, MOST_BYTES)
    except zlib.error as error:
        reason = f"the response is packed as {encoding!r} and cannot be unpacked: {error}"
        raise Fault(reason, kind="passes") from None
    if unpacker.unconsumed_tail:
        raise Fault(f"the response has more than {MOST_BYTES} bytes")
    if not unpacker.eof:
        raise Fault("the packed response ends in its middle", kind="passes")
    return unpacked


def _open_socket(address: Any) -> socket.socket:
    """Open a socket, but never to where machines of a cloud keep their credentials."""
    family, kind, protocol, _, place = address
    host = ipaddress.ip_address(place[0].partition("%")[0])
    if (getattr(host, "ipv4_mapped", None) or host).is_link_local:
        raise StopError(f"{host} is a link-local address, where no model is; correct base_url")
    return socket.socket(family, kind, protocol)
