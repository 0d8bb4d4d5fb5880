"""Users' own functions, found by module:function beside ragbench.toml."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from ragbench.settings import project_folder


async def awaited(answer: Any) -> Any:
    """What an awaitable gives."""
    return await answer


def find(path: str, parameters: str) -> Callable[..., Any]:
    """The function at module:function; the module is looked for beside ragbench.toml first.

    parameters: what it takes, for the message. Raises ValueError where it cannot be imported, is not there, or is no
    function.
    """
    module_name, _, function_name = path.partition(":")
    folder = str(project_folder())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:
        raise ValueError(f"{module_name} cannot be imported: {type(error).__name__}: {error}") from error
    for part in function_name.split("."):
        if not hasattr(found, part):
            offered = [word for word in dir(found) if not word.startswith("_") and callable(getattr(found, word))]
            raise ValueError(f"there is no {part}; there are {', '.join(offered) or 'no functions'}")
        found = getattr(found, part)
    if not callable(found):
        raise ValueError(f"that is a {type(found).__name__}, not a function of {parameters}")
    function: Callable[..., Any] = found
    return function
