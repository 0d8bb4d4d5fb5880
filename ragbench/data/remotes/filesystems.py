"""The one place that speaks with storage, by fsspec; what it refuses becomes one sentence with the URL in it.

No socket leads to where machines keep their own credentials.
"""

from __future__ import annotations

import contextlib
import errno
import socket
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from ragbench.core.settings import secrets
from ragbench.core.settings.urls import PACKAGES, Url, is_metadata

NAMED = 10
"""Neighbours that are named where something is not there."""
CONNECT_SECONDS, SILENT_SECONDS = 30, 120
"""Of a web server: until it answers, and between two pieces of its answer."""
REAL_FOLDERS = frozenset({"file", "memory", "ftp", "sftp", "ssh", "smb", "hdfs", "webhdfs"})
"""Where a folder has to be made before a file can lie in it; elsewhere making one could make a bucket."""


class RemoteError(ValueError):
    """Shared storage does not have, give or take what was asked for; the message names the URL, and no secret."""


def opened(url: Url) -> tuple[Any, str]:
    """The file system of a URL, which asks anew each time, and its path there. Raises RemoteError without a package."""
    import fsspec

    given: dict[str, Any] = {"skip_instance_cache": True, "use_listings_cache": False}
    if url.scheme in ("http", "https"):
        from aiohttp import ClientTimeout

        limits = ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=SILENT_SECONDS)
        given |= {"client_kwargs": {"timeout": limits}, "get_client": _client}
    with refusing(url, "read"):
        try:
            kind = fsspec.get_filesystem_class(url.scheme)
        except ImportError:
            package = PACKAGES[url.scheme]
            raise RemoteError(
                f"{url}: {url.scheme}:// needs a package that is not here: pip install {package}"
            ) from None
        given |= kind._get_kwargs_from_urls(str(url))
        return kind(**given), str(kind._strip_protocol(str(url)))


async def _client(**given: Any) -> Any:
    from aiohttp import ClientSession, TCPConnector

    return ClientSession(**given, connector=TCPConnector(socket_factory=guarded))


@contextlib.contextmanager
def refusing(url: Url, what: str) -> Iterator[None]:
    """Whatever storage raises meanwhile, of any package, as RemoteError. what: "read" or "written to"."""
    try:
        yield
    except RemoteError:
        raise
    except (FileNotFoundError, PermissionError) as error:
        if error.filename is not None and url.scheme != "file":
            raise  # of the own disk
        is_there = isinstance(error, PermissionError)
        raise RemoteError(f"{url}: {no_permission(what) if is_there else 'there is no such file or folder'}") from None
    except Exception as error:
        if getattr(error, "status", None) in (401, 403):
            raise RemoteError(f"{url}: {no_permission(what)}") from None
        if isinstance(error, OSError) and error.filename is not None:
            raise
        said = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}".removesuffix(": ")
        reason = secrets.excerpt(said, 300)
        raise RemoteError(f"{url}: cannot be {what}: {reason}") from None


def no_permission(what: str) -> str:
    """Said where storage knows who asks, and does not let them."""
    return f"cannot be {what}: no permission; the storage's own variables and files say who asks"


def absent(url: Url, meant: str, storage: Any) -> RemoteError:
    """What is said where nothing is: the URL, and what the nearest folder above it has."""
    said = f"{url}: there is no such {meant}"
    with contextlib.suppress(Exception):
        above = url.parent
        path = str(storage._strip_protocol(str(above)))
        there = sorted({PurePosixPath(str(entry["name"])).name for entry in storage.ls(path, detail=True)} - {""})
        more = ", …" if len(there) > NAMED else ""
        said += f"; {above} has {', '.join(there[:NAMED])}{more}" if there else f"; {above} is empty"
    return RemoteError(said)


class MetadataAddressError(OSError):
    """A name led to a link-local address, where clouds hand out a machine's credentials."""


def guarded(address: tuple[Any, ...]) -> socket.socket:
    """An unconnected socket for an address that a name was resolved to. Raises MetadataAddressError."""
    family, kind, protocol, _, place = address
    if is_metadata(str(place[0])):
        raise MetadataAddressError(
            errno.EACCES, f"{place[0]} is link-local, where clouds keep a machine's credentials: it is never asked"
        )
    return socket.socket(family, kind, protocol)
