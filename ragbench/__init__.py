"""How good is a system that answers from retrieved passages, and is its new version better?"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if sys.argv[:1] == ["-m"]:
    import ragbench.old.core.early  # noqa: F401 - `python -m ragbench` deals with signals before it imports the rest

if TYPE_CHECKING:
    from ragbench.old import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """A public name, from the old house while its counterpart is not new."""
    return getattr(import_module("ragbench.old"), name)


def __dir__() -> list[str]:
    return dir(import_module("ragbench.old"))
