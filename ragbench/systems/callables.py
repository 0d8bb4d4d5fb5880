"""Users' own functions, found by module:function beside ragbench.toml."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Awaitable, Callable
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from types import ModuleType
from typing import Any

from ragbench import settings, trust, waves
from ragbench.expectations import kind
from ragbench.llm.loop import run

SHOWN_CHARACTERS = 300
LOOP = "ragbench-callables"
"""A notebook's cell runs inside a loop, and a judge is asked on another: a user's coroutine needs one of its own."""


def find(path: str, parameters: str) -> Callable[..., Any]:
    """The function at module:function, its answer awaited where it is a coroutine's.

    The module is looked for beside ragbench.toml first.

    parameters: what it takes, for the message. Raises ValueError where it cannot be imported, is not there, or is no
    function; UntrustedError, before anything is imported, where its user does not trust it.
    """
    trust.require(trust.of_callable(path), lambda: trust.of_project(settings.load()))
    module_name, _, function_name = path.partition(":")
    try:
        found: Any = _imported(module_name, str(settings.project_folder()))
    except Exception as error:
        said = (
            f"{error}; put it beside ragbench.toml, or install it"
            if isinstance(error, ModuleNotFoundError)
            else told(error)
        )
        raise ValueError(f"{module_name} cannot be imported: {said}") from error
    for part in function_name.split("."):
        if not hasattr(found, part):
            offered = [word for word in dir(found) if not word.startswith("_") and callable(getattr(found, word))]
            raise ValueError(f"there is no {part}; there are {', '.join(offered) or 'no functions'}")
        found = getattr(found, part)
    if not callable(found):
        raise ValueError(f"that is {kind(found)}, not a function of {parameters}")

    async def awaited(answer: Awaitable[Any]) -> Any:
        return await answer

    def called(*arguments: Any) -> Any:
        answer = found(*arguments)
        return run(awaited(answer), LOOP) if inspect.isawaitable(answer) else answer

    return called


def told(raised: Exception) -> str:
    """One error of a user's function, of several at once the first, in one line of SHOWN_CHARACTERS at most."""
    error = waves.first(raised)
    name = "" if type(error).__module__.startswith("ragbench.") else f"{type(error).__name__}: "
    return " ".join(f"{name}{error}".split())[:SHOWN_CHARACTERS]


def _imported(name: str, folder: str) -> ModuleType:
    """The module; of the folder if it is there. What it imports besides comes from the folder only where nothing that
    is installed has that name: else a file `json.py` there would be run by whoever reads JSON.
    """
    if folder not in sys.path:
        sys.path.append(folder)
    first = name.partition(".")[0]
    spec = None if first in sys.modules else PathFinder.find_spec(first, [folder])
    if spec is not None and spec.loader is not None:
        sys.modules[first] = module_from_spec(spec)
        try:
            spec.loader.exec_module(sys.modules[first])
        except BaseException:
            del sys.modules[first]
            raise
    return importlib.import_module(name)
