"""What stands for the functions and models of a folder that nobody has answered for, while a run is only planned."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from typing import Any

from ragbench.core import settings
from ragbench.core.trust.answers import is_trusted, planning
from ragbench.core.trust.items import named

WITHOUT = {
    "systems": {"callable": None, "retriever": "bm25"},
    "generators": {"callable": None, "kind": "extractive"},
    "embedders": {"kind": "hashing"},
}


@contextlib.contextmanager
def planned() -> Iterator[None]:
    """Settings that run, start and send nothing of the project, in this process and those that it starts.

    They are as they stand where somebody has answered for the folder.
    """
    instead = {} if is_trusted() else _instead()
    before = {name: os.environ.get(name) for name in instead}
    os.environ.update(instead)
    settings.load.cache_clear()
    try:
        with planning():
            yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        settings.load.cache_clear()


def _instead() -> dict[str, str]:
    """Variables that lay tables over those of ragbench.toml."""
    known = settings.load()
    own = {tuple(item.name.split(".")[:2]) for item in named() if item.own and item.kind in ("code", "model")}
    tables: dict[str, Any] = {"metrics": {"modules": [], "listeners": []}, "database": {}}
    if any(item.kind == "server" for item in named("database")):
        tables["database"] = {"folder": None}
    for table, *inner in own:
        if table in WITHOUT:
            tables.setdefault(table, {})[inner[0]] = WITHOUT[table]
    for name, system in known.systems.items():
        if gone := {part: None for part in settings.PARTS if (f"{part}s", getattr(system, part)) in own}:
            tables.setdefault("systems", {})[name] = gone
    return {f"{settings.PREFIX}{table.upper()}": json.dumps(content) for table, content in tables.items()}
