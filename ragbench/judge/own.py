"""A judge that stands in no file: a model at an address, or a function, described where it is used."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from ragbench.core import names
from ragbench.core.expectations import expectation
from ragbench.core.settings import JudgeSettings
from ragbench.core.settings.secrets import excerpt
from ragbench.judge.offline import OFFLINE_JUDGES

FUNCTION = "function"


@dataclass(frozen=True)
class OwnJudge:
    """A judge as ragbench.toml would have it, to be named wherever a judge is.

    client: an AsyncOpenAI of the user's own that is asked. function: asked instead of an endpoint, with a prompt's
    text. kept: whether its replies are kept in the journal; of a function only where it says which model answers, since
    another version of it is not seen.
    """

    name: str
    settings: JudgeSettings
    function: Callable[[str], Any] | None = field(default=None, compare=False)
    kept: bool = True
    client: Any = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.name


def own_judge(
    function: Callable[[str], Any] | None = None, *, name: str = "", client: Any = None, **table: Any
) -> OwnJudge:
    """A judge from what a table [judges.NAME] would say, from a client, or from a function. Raises ValueError, naming
    the key."""
    if isinstance(client, str):
        table["client"] = client
    elif client is not None:
        if function is not None:
            raise ValueError("judge: client goes with a model, not with a function")
        if both := {"base_url", "provider", "key_variable"} & set(table):
            raise ValueError(f"judge: {min(both)} goes with an address, and a client has its own")
        from ragbench.llm import official

        try:
            table["base_url"] = str(official.checked(client).base_url).rstrip("/")
        except ValueError as error:
            raise ValueError(f"judge: client: {error}") from None
    if function is not None and not callable(function):
        raise ValueError(
            f"judge: {excerpt(repr(function), 80)} is no function of a prompt's text; name a model by "
            "model=…, base_url=…"
        )
    if function is None and "model" not in table:
        raise ValueError("judge: give model=… and base_url=… or client=…, or a function of a prompt's text")
    model = str(table.get("model") or FUNCTION)
    called = name or (getattr(function, "__name__", FUNCTION) if function is not None else model)
    called = called.replace(",", " ")
    if why := names.fault(called):
        raise ValueError(f"judge: name = {called!r}: the name {why}")
    if called in OFFLINE_JUDGES:
        raise ValueError(f"judge: name = {called!r}: this name belongs to the offline judge; choose another")
    place = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', FUNCTION)}"
    given = dict(table)
    if function is not None:
        for key in ("base_url", "key_variable", "provider", "client", "replies"):
            if key in given:
                raise ValueError(f"judge: {key} goes with a model at an address, not with a function")
        given |= {"model": model, "base_url": "http://function.invalid"}
        given.setdefault("concurrency", 16 if inspect.iscoroutinefunction(function) else 1)
        given.setdefault("attempts", 1)
    try:
        settings = JudgeSettings.model_validate(given)
    except ValidationError as error:
        fault = error.errors()[0]
        key = ".".join(map(str, fault["loc"]))
        if fault["type"] == "extra_forbidden":
            legal = sorted(JudgeSettings.model_fields)
            raise ValueError(
                f"judge: there is no key {key!r}{names.meant(key, legal)} Legal: {', '.join(legal)}"
            ) from None
        said = f"{key} = {fault['input']!r}: " if key and fault["type"] not in ("missing", "value_error") else ""
        raise ValueError(f"judge: {said or (key + ': ' if key else '')}{expectation(fault)}") from None
    if function is None:
        return OwnJudge(called, settings, client=None if isinstance(client, str) else client)
    settings = settings.model_copy(update={"base_url": f"{FUNCTION}:{place}"})
    return OwnJudge(called, settings, function, kept="model" in table)
