"""Files and folders of shared storage, by URL: brought to a local copy and read there; a folder sent whole.

A room of its own below those that read: data sets, tables and runs are then read from the disk by the one reader, with
its limits, and what they say is never taken for a URL.

No socket leads to where machines keep their own credentials.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import shutil
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from secrets import token_hex
from typing import Any
from urllib.parse import unquote

from ragbench.old.core import folders, names
from ragbench.old.core.folders import MARK, files_of, new_folder
from ragbench.old.core.settings import RUN_FOLDER, secrets
from ragbench.old.core.settings.urls import PACKAGES, Url, is_metadata

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


SMALL_BYTES = 2**20
"""Of a small file that is read at once."""


def check(url: Url) -> None:
    """Raises RemoteError where the package for this URL is missing, or a server that has to be connected to is away."""
    opened(url)


def text_at(url: Url) -> str | None:
    """A small text; None where no file is. Raises RemoteError."""
    storage, path = opened(url)
    with refusing(url, "read"):
        try:
            with storage.open(path, "rb") as file:
                content = file.read(SMALL_BYTES + 1)
        except (FileNotFoundError, IsADirectoryError):
            return None
    if len(content) > SMALL_BYTES:
        raise RemoteError(f"{url}: more than {SMALL_BYTES:,} bytes; a small file is expected")
    return bytes(content).decode("utf-8", errors="replace")


def put(url: Url, text: str) -> None:
    """Write a small file. Raises RemoteError."""
    storage, path = opened(url)
    with refusing(url, "written to"):
        storage.pipe_file(path, text.encode())


def send(folder: Path, url: Url, last: Sequence[str] = ()) -> None:
    """Write the files of a folder below a URL, those named last at the end and in their order. Raises RemoteError."""
    storage, root = opened(url)
    ours = files_of(folder)
    with refusing(url, "written to"):
        for name in (*sorted(ours - set(last)), *(last_file for last_file in last if last_file in ours)):
            _write(storage, url, folder / name, f"{root.rstrip('/')}/{name}")


def replace(folder: Path, url: Url, last: Sequence[str] = ()) -> None:
    """`send`, then remove what ragbench wrote there before and does not now; what others put there stays.

    Raises RemoteError where something is there and ragbench wrote none of it.
    """
    known = text_at(url / MARK)
    storage, root = opened(url)
    base = root.rstrip("/")
    with refusing(url, "read"), contextlib.suppress(FileNotFoundError):
        if known is None and any(str(entry["name"]).rstrip("/") != base for entry in storage.ls(root, detail=True)):
            raise RemoteError(f"{url} is there and holds other things: name another folder, or empty it yourself")
    send(folder, url, (*last, MARK))
    gone = {path for path in (known or "").splitlines() if _is_below(path)} - files_of(folder)
    with refusing(url, "written to"):
        for name in sorted(gone):
            with contextlib.suppress(FileNotFoundError):
                storage.rm_file(f"{base}/{name}")


def _is_below(name: str) -> bool:
    """Whether a line of a mark, which may be of anybody, names a file of its folder."""
    return all(part not in ("", ".", "..") and names.fault(part) is None for part in name.split("/"))


def _write(storage: Any, url: Url, source: Path, path: str) -> None:
    if url.scheme in REAL_FOLDERS:
        storage.makedirs(path.rpartition("/")[0], exist_ok=True)
    with source.open("rb") as file, storage.open(path, "wb") as target:
        shutil.copyfileobj(file, target, 2**20)


MOST_FILES, MOST_LISTED = 10_000, 100_000  # a listing without end is a wrong bucket, and is refused before a copy
COPIED_BYTES = 2**36
"""Of one copy: as much as goes by where a local file is read."""
MOST_KEPT = 2**36
"""Bytes of all copies together; those that were not used for longest go."""
IN_USE_SECONDS, KEPT_SECONDS = 3600, 30 * 24 * 3600
"""Since it was last used a copy is safe for so long, and is kept for so long."""
PINS = "copies"
"""In the folder of a run while it runs: the state of each URL that all its notebooks read."""
_PIECE = 2**20  # of one read: memory stays flat, and calls are few
_STATE = (
    *("etag", "e_tag", "content-md5", "md5hash", "md5", "checksum", "digest", "generation", "versionid", "blob_id"),
    *("lastmodified", "last-modified", "last_modified", "mtime", "modified", "modify", "updated", "created"),
)
"""What storage calls that which changes with a file, in small letters."""


@dataclass(frozen=True)
class Wanted:
    """Which files of a folder are brought: those whose path below it fits the pattern. meant: what it is, in words."""

    pattern: re.Pattern[str]
    depth: int
    meant: str
    most_bytes: int = COPIED_BYTES


DATASET = Wanted(re.compile(r"\A(?:dataset\.toml|[^/]+\.jsonl)"), 1, "data set")
FOLDER = Wanted(re.compile(r"(?!\.)(?:(?!/\.).)+"), 8, "folder")
FILE = Wanted(re.compile(""), 0, "file")


@dataclass(frozen=True)
class _Found:
    path: str
    size: int | None
    state: Mapping[str, str]


def brought(url: Url, wanted: Wanted = FILE) -> Path:
    """The local copy of a file, or of the wanted files of a folder; it has the URL's last name.

    Storage is asked for the names, sizes and states of the files; where these are those of a copy, that is the answer.
    Within a run all its notebooks are given the copy that the first of them was. Raises RemoteError for what is not
    there, for names that lead out of a folder, for links, and for more than the limits.
    """
    place = kept() / hashlib.sha256(f"{url} {wanted.meant}".encode()).hexdigest()[:32]
    pin = _pin(place)
    if pin is not None and pin.is_file() and (known := place / folders.text(pin) / url.name).exists():
        return known
    storage, root = opened(url)
    with refusing(url, "read"):
        files = _one(url, storage, root) if wanted.depth == 0 else dict(_below(url, storage, root, wanted))
        if not files:
            raise absent(url, wanted.meant, storage)
        copy = place / _digest(files)
        if not (copy / url.name).exists():
            kept().mkdir(parents=True, exist_ok=True, mode=0o700)
            with new_folder(copy) as made:
                _fetch(url, storage, files, made / url.name, wanted.most_bytes)
    os.utime(copy)
    _clear(place, copy)
    if pin is not None:
        pin.parent.mkdir(exist_ok=True)
        with contextlib.suppress(FileExistsError), pin.open("x", encoding="utf-8") as file:
            file.write(copy.name)
    return copy / url.name


def kept() -> Path:
    """The folder of all copies, in the user's own for caches."""
    from platformdirs import user_cache_path

    return user_cache_path("ragbench") / "remotes"


def settle(run: Path) -> None:
    """Nothing more is read for the run in a folder."""
    shutil.rmtree(run / PINS, ignore_errors=True)


def _pin(place: Path) -> Path | None:
    run = os.environ.get(RUN_FOLDER)
    return Path(run) / PINS / place.name if run else None


def _one(url: Url, storage: Any, root: str) -> dict[str, _Found]:
    try:
        about = storage.info(root)
    except FileNotFoundError:
        raise absent(url, "file", storage) from None
    if about["type"] == "directory":
        raise RemoteError(f"{url}: this is a folder; a file is expected")
    _refuse(url, url.name, about)
    return {"": _described(root, about)}


def _below(url: Url, storage: Any, root: str, wanted: Wanted) -> Iterator[tuple[str, _Found]]:
    """Path below the folder → what is known of it, of all that is wanted, folder by folder."""
    base, folders, listed = root.rstrip("/"), [(root, 1)], 0
    seen: set[str] = set()
    while folders:
        folder, depth = folders.pop()
        try:
            entries = storage.ls(folder, detail=True)
        except (FileNotFoundError, NotADirectoryError):
            raise absent(url, wanted.meant, storage) from None
        listed += len(entries)
        if listed > MOST_LISTED or len(seen) > MOST_FILES:
            raise RemoteError(f"{url}: more than {MOST_FILES:,} files, or {MOST_LISTED:,} names; split it")
        for about in entries:
            path = str(about["name"])
            if not path.startswith(f"{base}/") or path.rstrip("/") in (base, folder.rstrip("/")):
                continue  # a page of the web may lead anywhere, and a bucket lists a folder in itself
            name = _named(url, path.removeprefix(f"{base}/").rstrip("/"))
            is_link = about.get("islink") or about["type"] == "link"
            if about["type"] == "directory" and not is_link:
                if depth < wanted.depth:
                    folders.append((path, depth + 1))
            elif wanted.pattern.fullmatch(name):
                _refuse(url, name, about)
                if name.casefold() in seen:
                    raise RemoteError(f"{url}: {name!r} is there twice, in small and in capital letters")
                seen.add(name.casefold())
                yield name, _described(path, storage.info(path) if about.get("size") is None else about)


def _named(url: Url, path: str) -> str:
    return unquote(path) if url.scheme in ("http", "https") else path


def _refuse(url: Url, name: str, about: Mapping[str, Any]) -> None:
    """Raise RemoteError for a link, and for a name that is none below a folder of any machine."""
    if about.get("islink") or about["type"] == "link":
        raise RemoteError(f"{url}: {name!r} is a link; put the file itself there")
    for part in name.split("/"):
        if re.search(r'[\\:<>"|?*]', part) or names.fault(part) or names.folder_fault(part):  # . and .. end with a dot
            raise RemoteError(
                f"{url}: no file can be called {secrets.excerpt(name, 100)!r} on every machine: rename it"
            )


def _described(path: str, about: Mapping[str, Any]) -> _Found:
    state = {key: str(value) for key, value in about.items() if key.lower() in _STATE and value is not None}
    return _Found(path, about.get("size"), state)


def _digest(files: Mapping[str, _Found]) -> str:
    """Of the state of all files; of one that says nothing of its state another each time."""
    if not all(file.state for file in files.values()):
        return token_hex(16)
    told = sorted([name, file.size, sorted(file.state.items())] for name, file in files.items())
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:32]


def _fetch(url: Url, storage: Any, files: Mapping[str, _Found], to: Path, most: int) -> None:
    """Write the files; never more bytes than a copy may have, whatever storage says of their sizes."""
    how = {"block_size": 0} if url.scheme in ("http", "https") else {}  # as a stream: a server may not know ranges
    whole = 0
    for name, remote in files.items():
        target = to / name if name else to
        target.parent.mkdir(parents=True, exist_ok=True)
        size = 0
        with storage.open(remote.path, "rb", **how) as source, target.open("xb") as file:
            while piece := source.read(_PIECE):
                size += len(piece)
                whole += len(piece)
                if whole > most:
                    raise RemoteError(f"{url}: more than {most:,} bytes; split it")
                file.write(piece)
        if remote.size is not None and size != remote.size:
            raise RemoteError(f"{url}: {name or url.name} changed while it was read, or was cut; try again")


def _clear(place: Path, current: Path) -> None:
    """Remove copies of what this URL held before, those of long ago, and the oldest where all take too much."""
    now = time.time()
    left: list[tuple[float, int, Path]] = []
    for copy in kept().glob("*/*"):
        with contextlib.suppress(OSError):
            idle = now - copy.stat().st_mtime
            if copy == current or idle < IN_USE_SECONDS:
                left.append((0.0, _bytes(copy), copy))
            elif copy.parent == place or idle > KEPT_SECONDS:
                shutil.rmtree(copy, ignore_errors=True)
            else:
                left.append((idle, _bytes(copy), copy))
    whole = sum(size for _, size, _ in left)
    for idle, size, copy in sorted(left, reverse=True):
        if whole > MOST_KEPT and idle:
            shutil.rmtree(copy, ignore_errors=True)
            whole -= size


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
