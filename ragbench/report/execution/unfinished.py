"""Runs that never came to their end: marked while their process lives, and found again once it is gone."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any

from ragbench.core import folders
from ragbench.report.keeping import files, kept, results
from ragbench.report.pages.assembly import Measurements

MARK = ".running"
"""The file in a run's folder that its process holds locked; the system lets go of it however the process ends."""


@contextlib.contextmanager
def marked(folder: Path, begun: Mapping[str, Any]) -> Iterator[None]:
    """Meanwhile the run's folder says that it is under way; without an exception the mark goes away again.

    begun: when the run was `started`, in whole seconds since 1970, and the names of its `notebooks`.
    Where files cannot be locked, nothing is marked, and a killed run is not noticed.
    """
    handle = _mark(folder, begun)
    try:
        yield
        (folder / MARK).unlink(missing_ok=True)
    finally:
        if handle is not None:
            handle.close()


def interrupt(folder: Path, begun: Mapping[str, Any], *, keep: bool) -> None:
    """Say in a run's folder that it was interrupted, and which notebooks have not come to their numbers.

    begun: see `marked`. keep: record the run in the database, with what its other notebooks have measured; the mark
    goes away with that. Raises StoreError where the database cannot be reached: the mark then stays, and the next
    `notice` tries again.
    """
    measured = Measurements(folder)
    state = {
        "format": results.FORMAT,
        "status": "interrupted",
        "notebooks": [],
        "started": begun["started"],
        "unfinished": [name for name in begun["notebooks"] if name not in measured.names()],
        **{key: begun[key] for key in ("name", "note") if begun.get(key)},
    }
    results.write_json(folder / results.MANIFEST, state)
    if keep:
        kept.record(folder)
        (folder / MARK).unlink(missing_ok=True)


def notice(reports: Path) -> dict[str, str]:
    """Interrupt the runs in a folder of reports whose process is gone, such as those that were killed.

    Returns their names, each with the reason why the database does not have it, empty where it has. A run that is
    under way, or that another process looks at just now, is left alone.
    """
    refusals = {}
    for folder in sorted(reports.glob(f"*{files.PARTIAL}")):
        with _left(folder) as left:
            if left:
                work = partial(interrupt, folder, _begun(folder), keep=True)
                refusals[folder.name.removesuffix(files.PARTIAL)] = kept.refusal(work)
    return refusals


def _mark(folder: Path, content: Mapping[str, Any]) -> IO[str] | None:
    """The mark, locked before it gets its name; None where there are no locks, or no place."""
    unnamed = folder / f"{MARK}-{os.getpid()}"
    handle: IO[str] | None = None
    with contextlib.suppress(OSError):
        handle = unnamed.open("w", encoding="utf-8")
        if _lock(handle):
            handle.write(json.dumps(content))
            handle.flush()
            unnamed.replace(folder / MARK)
            return handle
    if handle is not None:
        with contextlib.suppress(OSError):
            handle.close()
        unnamed.unlink(missing_ok=True)
    return None


@contextlib.contextmanager
def _left(folder: Path) -> Iterator[bool]:
    """Whether the folder is marked and nobody holds the mark; meanwhile we do."""
    try:
        handle = (folder / MARK).open("r+", encoding="utf-8")
    except OSError:
        yield False
        return
    with handle:
        # looked for once more: another process may have dealt with it between opening and locking
        yield _lock(handle) and (folder / MARK).exists()


def _lock(handle: IO[str]) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _begun(folder: Path) -> Mapping[str, Any]:
    path = folder / MARK
    known: dict[str, Any] = {"started": round(path.stat().st_mtime), "notebooks": []}
    with contextlib.suppress(ValueError):
        known |= json.loads(folders.text(path))
    return known
