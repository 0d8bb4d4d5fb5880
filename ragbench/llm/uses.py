"""Which kept replies a run is made of: what it needs on another machine, and what must not be pruned."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from ragbench.core import folders
from ragbench.core.folders import write
from ragbench.core.settings import RUN_FOLDER

FILE = "replies.txt"
"""In the folder of a run: the journal's keys of all replies that its numbers were made of, one a line."""
MOST_BYTES = 2**26
"""Of that file, which is read whole: a million replies."""
_KEY = re.compile(r"[0-9a-f]{64}")


class Uses:
    """Notes keys in the folder of the run that this process belongs to; outside of a run it notes nothing.

    kept: whether the replies are in a journal that outlives the process; else nothing is noted either.
    """

    def __init__(self, *, kept: bool = True) -> None:
        folder = os.environ.get(RUN_FOLDER) if kept else None
        self._path = None if folder is None else Path(folder) / FILE
        self._known: set[str] = set()
        self._handle: int | None = None

    def note(self, key: str) -> None:
        """A reply of this key was used. Processes of one run write into one file: a key is one write at its end."""
        if self._path is None or key in self._known:
            return
        if self._handle is None:
            self._handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        os.write(self._handle, f"{key}\n".encode())
        self._known.add(key)

    def close(self) -> None:
        """Let the file go."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def note(keys: Iterable[str]) -> None:
    """Replies of these keys were used by others, for the run that this process belongs to."""
    known = Uses()
    for key in keys:
        known.note(key)
    known.close()


def of_run(folder: Path) -> tuple[str, ...] | None:
    """The keys that a run has noted, each once, in order; None where the run does not say what it used.

    A last line that a kill has cut is none. Raises ValueError for a file that is no list of keys.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    whole = folders.content(path, MOST_BYTES).rpartition(b"\n")[0].decode("ascii", "replace").split()
    for line in whole:
        if not _KEY.fullmatch(line):
            raise ValueError(f"{path}: {line[:80]!r} is no key of a reply")
    return tuple(sorted(set(whole)))


def settle(folder: Path) -> None:
    """Write the list of a run that is at its end: sorted, each key once; empty for a run that asked no model."""
    keys = of_run(folder) or ()
    write(folder / FILE, "".join(f"{key}\n" for key in keys))
