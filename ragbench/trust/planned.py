"""What stands for the functions and models of a folder that nobody has answered for, while a run is only planned."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from typing import Any

from ragbench import settings as configuration
from ragbench.settings import PREFIX, Settings
from ragbench.trust.reach import MODELS
from ragbench.trust.verdict import is_trusted, planning


@contextlib.contextmanager
def planned() -> Iterator[None]:
    """Settings that run and open nothing of the project, in this process and those that it starts.

    They are as they stand where somebody has answered for the folder.
    """
    tables = {} if is_trusted() else _instead(configuration.load())
    instead = {f"{PREFIX}{table.upper()}": json.dumps(one) for table, one in tables.items()}
    before = {name: os.environ.get(name) for name in instead}
    os.environ.update(instead)
    configuration.load.cache_clear()
    try:
        with planning():
            yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        configuration.load.cache_clear()


def _instead(settings: Settings) -> dict[str, Any]:
    """Tables as variables of the environment lay them over those of ragbench.toml."""
    gone: dict[str, Any] = {}
    systems = {
        name: {
            **({"callable": None, "retriever": "bm25"} if one.callable else {}),
            **({"chunker": None} if one.chunker and settings.chunkers[one.chunker].callable else {}),
            **({"rewriter": None} if one.rewriter and settings.rewriters[one.rewriter].callable else {}),
            **({"reranker": None} if one.reranker and settings.rerankers[one.reranker].kind != "endpoint" else {}),
        }
        for name, one in settings.systems.items()
    }
    writers = {
        name: {"kind": "extractive", "callable": None} for name, one in settings.generators.items() if one.callable
    }
    models = {name: {"kind": "hashing"} for name, one in settings.embedders.items() if one.kind in MODELS}
    tables = (("systems", systems), ("generators", writers), ("embedders", models))
    gone |= {table: one for table, one in tables if any(one.values())}
    if settings.metrics.modules or settings.metrics.listeners:
        gone["metrics"] = {"modules": [], "listeners": []}
    if settings.database.folder is not None:
        gone["database"] = {"folder": None}
    return gone | ({"cluster": None} if settings.cluster is not None else {})
