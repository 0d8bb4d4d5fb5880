"""Users' own modules, of an installed package or beside ragbench.toml; whoever imports one has asked for trust."""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from ragbench.core.trust.answers import join_path


def imported(name: str, folder: str) -> ModuleType:
    """The module. The project's folder is looked into last: else a file `json.py` there would be run by whoever reads
    JSON. A module there whose name is found before it is refused, so that nobody measures another one."""
    join_path()
    first = name.partition(".")[0]
    mine = _origin(PathFinder.find_spec(first, [folder]))
    if mine is not None and _origin(find_spec(first)) != mine == _origin(PathFinder.find_spec(first)):
        _forget(first)  # a module of another project, which this process has left
    other = _origin(find_spec(first))
    if mine is not None and mine != (other or mine):
        raise ValueError(f"{first} is also the name of a module that is found first ({other}): rename yours")
    return importlib.import_module(name)


def _origin(spec: ModuleSpec | None) -> Path | None:
    return Path(spec.origin).resolve() if spec and spec.origin else None


def _forget(package: str) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]
