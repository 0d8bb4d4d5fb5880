"""Which folders a user has answered for, and whom they may send to: a file each in the user's state folder."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from ragbench import folders
from ragbench.trust.reach import Reach

_here: dict[Path, frozenset[str]] = {}
"""What was answered in this process; kept even where the state folder cannot be written to."""


def folder() -> Path:
    """Where answers are kept: `ragbench/trusted` in the user's state folder ($XDG_STATE_HOME)."""
    import platformdirs

    return Path(platformdirs.user_state_dir("ragbench")) / "trusted"


def agreed(project: Path) -> frozenset[str] | None:
    """The hosts that a project may send to; None where nobody has answered for it, or the answer cannot be read."""
    kept, here = grants().get(project), _here.get(project)
    return None if kept is None and here is None else (kept or frozenset()) | (here or frozenset())


def grant(reach: Reach) -> None:
    """Trust a folder from now on, and all hosts of the reach.

    Raises OSError where that cannot be written; for this process it is trusted all the same.
    """
    hosts = (agreed(reach.project) or frozenset()) | reach.hosts
    _here[reach.project] = hosts
    path = _path(reach.project)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    folders.write(path, json.dumps({"project": str(reach.project), "hosts": sorted(hosts)}))
    path.chmod(0o600)


def revoke(project: Path) -> bool:
    """Trust a folder no more; whether it was. Raises OSError."""
    there = agreed(project) is not None
    _here.pop(project, None)
    _path(project).unlink(missing_ok=True)
    return there


def grants() -> dict[Path, frozenset[str]]:
    """All folders that somebody answered for, by their paths, with their hosts."""
    found = {}
    for path in sorted(folder().glob("*.json")):
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            project, hosts = Path(known["project"]), frozenset(map(str, known["hosts"]))
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            continue
        if path == _path(project):
            found[project] = hosts
    return dict(sorted(found.items()))


def _path(project: Path) -> Path:
    return folder() / f"{hashlib.sha256(os.fsencode(project)).hexdigest()[:32]}.json"
