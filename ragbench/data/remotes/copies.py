"""Local copies of what lies at a URL, one a state of it: as long as nothing changes there, nothing is brought again."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ragbench.core import folders, names
from ragbench.core.folders import new_folder
from ragbench.core.settings import RUN_FOLDER
from ragbench.core.settings.urls import Url
from ragbench.data.remotes.filesystems import RemoteError, absent, opened, refusing

MOST_FILES, MOST_LISTED = 10_000, 100_000
MOST_BYTES = 2**36
"""Of one copy: as much as goes by where a local file is read."""
MOST_KEPT = 2**36
"""Bytes of all copies together; those that were not used for longest go."""
IN_USE_SECONDS, KEPT_SECONDS = 3600, 30 * 24 * 3600
"""Since it was last used a copy is safe for so long, and is kept for so long."""
PINS = "copies"
"""In the folder of a run while it runs: the state of each URL that all its notebooks read."""
_PIECE = 2**20
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
    most_bytes: int = MOST_BYTES


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
            raise RemoteError(f"{url}: no file can be called {name[:100]!r} on every machine: rename it")


def _described(path: str, about: Mapping[str, Any]) -> _Found:
    state = {key: str(value) for key, value in about.items() if key.lower() in _STATE and value is not None}
    return _Found(path, about.get("size"), state)


def _digest(files: Mapping[str, _Found]) -> str:
    """Of the state of all files; of one that says nothing of its state another each time."""
    if not all(file.state for file in files.values()):
        return secrets.token_hex(16)
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
