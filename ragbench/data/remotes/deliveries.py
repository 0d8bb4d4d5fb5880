"""A folder sent to a URL: its files first, what leads to them last, so that who reads there finds it whole or not."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ragbench.core import names
from ragbench.core.folders import MARK, files_of
from ragbench.core.settings.urls import Url
from ragbench.data.remotes.filesystems import REAL_FOLDERS, RemoteError, opened, refusing

MOST_BYTES = 2**20
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
                content = file.read(MOST_BYTES + 1)
        except (FileNotFoundError, IsADirectoryError):
            return None
    if len(content) > MOST_BYTES:
        raise RemoteError(f"{url}: more than {MOST_BYTES:,} bytes; a small file is expected")
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
