"""Users' own functions, found by module:function beside ragbench.toml, and called with a limit on their time."""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from ragbench.core import settings, trust, waves
from ragbench.core.expectations import kind
from ragbench.core.folders import write
from ragbench.core.settings.secrets import excerpt
from ragbench.core.trust import answers
from ragbench.llm.loop import run
from ragbench.systems.frameworks import adapted
from ragbench.systems.function_thread import Hands, OutOfTimeError

SHOWN_CHARACTERS = 300
IN_A_ROW = 5
"""Calls that ran out of time one after the other, after which a function is called no more."""


def find(
    path: str, parameters: str, seconds: float, limit: str, adapt: Callable[[Any], Any] = lambda function: function
) -> Callable[..., Any]:
    """The function at module:function, its answer awaited where it is a coroutine's.

    The module is one of an installed package, or lies beside ragbench.toml.

    parameters: what it takes, for the message. seconds: of one call at most; limit: the setting that says so. adapt:
    makes a function of what is found, where it is none. Raises ValueError where it cannot be imported, is not there, or
    is no function; UntrustedError, before anything is imported, where its user does not trust it. A call raises
    OutOfTimeError when its time is over: what hangs is left behind in a thread that keeps no process from ending.
    """
    trust.require(trust.Item("code", path, "runs this function"))
    module_name, _, function_name = path.partition(":")
    target: Any = module(module_name)
    for part in function_name.split("."):
        if not hasattr(target, part):
            offered = [word for word in dir(target) if not word.startswith("_") and callable(getattr(target, word))]
            raise ValueError(f"there is no {part}; there are {', '.join(offered) or 'no functions'}")
        target = getattr(target, part)
    return limited(target, parameters, seconds, limit, adapt)


def limited(
    function: Any, parameters: str, seconds: float, limit: str, adapt: Callable[[Any], Any] = lambda function: function
) -> Callable[..., Any]:
    """The function that is found, or that `adapt` makes of it, with a limit on its time; see `find`."""
    function = adapt(function)
    if not callable(function):
        raise ValueError(f"that is {kind(function)}, not a function of {parameters}")
    if not _takes(function, parameters.count(",") + 1):
        raise ValueError(f"it takes {inspect.signature(function)}, and is called with {parameters}")

    late = 0
    over = f"no answer within {seconds:g} s; look what it waits for, or raise {limit}"

    async def awaited(answer: Awaitable[Any]) -> Any:
        try:
            async with asyncio.timeout(seconds) as limited:
                return await answer
        except TimeoutError:
            if limited.expired():
                raise OutOfTimeError(over) from None
            raise

    def called(*arguments: Any) -> Any:
        nonlocal late
        if late >= IN_A_ROW:
            raise OutOfTimeError(f"not asked: {late} calls before it ran out of time one after the other ({limit})")
        hands = Hands.shared()

        def work() -> Any:
            answer = function(*arguments)
            return run(awaited(answer), hands.loop) if inspect.isawaitable(answer) else answer

        try:
            answer = hands.do(work, seconds, over)
        except OutOfTimeError:
            late += 1
            raise
        except BaseException:
            late = 0
            raise
        late = 0
        return answer

    return called


def module(name: str) -> ModuleType:
    """The module of that name, of an installed package or beside ragbench.toml; whoever calls has asked whether the
    project is trusted.

    Raises ValueError where it cannot be imported.
    """
    try:
        return Hands.shared().do(lambda: answers.imported(name, str(settings.project_folder())))
    except (Exception, SystemExit) as error:
        said = f"{error}; put it beside ragbench.toml, or install it"
        if not isinstance(error, ModuleNotFoundError):
            said = told(error) if isinstance(error, Exception) else f"SystemExit: {error}"
        raise ValueError(f"{name} cannot be imported: {said}") from error


def of_table(
    table: str, path: str, parameters: str, seconds: float, refused: type[ValueError],
    adapt: Callable[[Any], Any] = lambda function: function, given: Any = None,
) -> Callable[..., Any]:  # fmt: skip
    """`find` of the `callable` of a table of ragbench.toml, such as `systems.mine`, and of its `timeout_seconds`.

    given: the object itself, which is looked for nowhere: a caller has handed it over; one that takes no more than a
    question is asked nothing else.
    Raises `refused`, naming table and value, where `find` raises ValueError.
    """
    limit = f"{table}.timeout_seconds"
    try:
        if given is None:
            return find(path, parameters, seconds, limit, adapt)
        return limited(given, parameters, seconds, limit, lambda function: asked(function, adapt))
    except ValueError as error:
        raise refused(f"{table}.callable = {path!r}: {error}") from error


def asked(given: Any, adapt: Callable[[Any], Any] = adapted) -> Any:
    """What `adapt` makes of an object, or a function of two values that asks it by the first, where it takes no
    more."""
    function = adapt(given)
    if not callable(function) or _takes(function, 2) or not _takes(function, 1):
        return function
    return lambda question, _: function(question)


def named(given: Any) -> str:
    """What a page calls an object that has no name of its own: `my_package.search:retrieve`."""
    own = given if hasattr(given, "__qualname__") else getattr(given, "func", type(given))
    own = own if hasattr(own, "__qualname__") else type(own)
    return f"{getattr(own, '__module__', None) or 'builtins'}:{own.__qualname__}"


def tell_missing() -> None:
    """Write which functions are not there or cannot be called, and why: an object of JSON.

    This process's argument: the file that takes it. At its input: an object of functions and what each takes.
    """
    missing = {}
    for path, parameters in json.load(sys.stdin).items():
        try:
            find(path, parameters, 0, "", adapted)
        except ValueError as error:
            missing[path] = str(error)
    write(Path(sys.argv[1]), json.dumps(missing))


def _takes(function: Callable[..., Any], number: int) -> bool:
    """Whether it can be called with so many values; True where it does not tell."""
    try:
        inspect.signature(function).bind(*[None] * number)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def told(raised: Exception) -> str:
    """One error of a user's function, of several at once the first, in one line of SHOWN_CHARACTERS at most."""
    error = waves.first(raised)
    name = "" if type(error).__module__.startswith("ragbench.") else f"{type(error).__name__}: "
    return excerpt(f"{name}{error}", SHOWN_CHARACTERS)
