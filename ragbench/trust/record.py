"""What a user has trusted: one file a project in the user's state folder, never in the project itself."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragbench.trust.reach import Reach

_here: dict[Path, dict[str, Entry]] = {}
"""What was trusted in this process; kept even where the state folder cannot be written to."""


@dataclass(frozen=True)
class Entry:
    """A trusted item: its digest, and what it did then."""

    digest: str
    says: str


@dataclass(frozen=True)
class Grant:
    """A project with the items that its user has trusted, by their titles."""

    project: Path
    items: Mapping[str, Entry] = field(default_factory=dict)


def folder() -> Path:
    """Where grants are kept: `ragbench/trusted` in the user's state folder ($XDG_STATE_HOME)."""
    import platformdirs

    return Path(platformdirs.user_state_dir("ragbench")) / "trusted"


def granted(project: Path) -> Grant:
    """What is trusted of a project; nothing where its file is not there or cannot be read."""
    kept = _read(_path(project))
    stored = kept.items if kept is not None and kept.project == project else {}
    return Grant(project, {**stored, **_here.get(project, {})})


def grant(reach: Reach) -> None:
    """Trust all items of a reach from now on, besides what was trusted of the project before.

    Raises OSError where that cannot be written; for this process they are trusted all the same.
    """
    remember(reach)
    items = {title: [one.digest, one.says] for title, one in granted(reach.project).items.items()}
    path = _path(reach.project)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = path.with_suffix(f".{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump({"project": str(reach.project), "items": items}, file, ensure_ascii=True, indent=1)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def remember(reach: Reach) -> None:
    """Trust all items of a reach in this process."""
    fresh = {item.title: Entry(item.digest, item.says) for item in reach.asked}
    _here.setdefault(reach.project, {}).update(fresh)


def revoke(project: Path) -> bool:
    """Trust nothing of a project any more; whether there was anything. Raises OSError."""
    here = _here.pop(project, None)
    path = _path(project)
    there = path.exists()
    path.unlink(missing_ok=True)
    return there or here is not None


def grants() -> list[Grant]:
    """All projects that are trusted, by their paths."""
    found = [one for path in folder().glob("*.json") if (one := _read(path)) is not None]
    return sorted(found, key=lambda one: str(one.project))


def _path(project: Path) -> Path:
    return folder() / f"{hashlib.sha256(os.fsencode(project)).hexdigest()[:32]}.json"


def _read(path: Path) -> Grant | None:
    try:
        known: Any = json.loads(path.read_text(encoding="utf-8"))
        items = {str(title): Entry(str(digest), str(says)) for title, (digest, says) in known["items"].items()}
        return Grant(Path(known["project"]), items)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
