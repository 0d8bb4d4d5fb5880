"""What is wrong in ragbench.toml, in words: the key, the value and what is legal."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from ragbench.old.core import names
from ragbench.old.core.expectations import expectation
from ragbench.old.core.settings.metric_tables import MetricSettings, MetricsSettings
from ragbench.old.core.settings.urls import without_passwords


def explain(fault: Mapping[str, Any], whole: type[BaseModel]) -> str:
    """A fault that pydantic found, in a line: the key, its value and what is legal. whole: the model of the file."""
    place = ".".join(str(part) for part in fault["loc"])
    if fault["type"] != "extra_forbidden":
        message = expectation(fault)
        if fault["type"] == "missing":  # the input is the whole table, a key that was put there among it
            return f"{place}: {message}"
        if fault["type"] == "value_error" and fault["loc"][:1] == ("metrics",) and len(fault["loc"]) > 1:
            return f"[metrics.{fault['loc'][1]}] {message}"
        given = without_passwords(repr(fault["input"]))
        if fault["type"] == "value_error":
            return f"{place}: {message}" if place and place not in message else message
        legal = re.findall("'([^']*)'", str(fault.get("ctx", {}).get("expected", "")))
        meant = names.meant(str(fault["input"]), legal)
        return f"{place} = {given}: {message}{meant}" if place else message
    model = _table(tuple(fault["loc"]), whole)
    legal = sorted(name for name in model.model_fields if name != "database_url")
    near = _near(str(fault["loc"][-1]), legal, model)
    hint = f"; did you mean {near}?" if near else ""
    return f"there is no key {place!r}{hint} Legal here: {', '.join(legal)}"


def _near(given: str, legal: Sequence[str], model: type[BaseModel]) -> str:
    """The key that was misspelt, else the only one that is about what was written, else one that looks like it."""
    looks = [*difflib.get_close_matches(given, legal, n=1, cutoff=0.8), ""]
    word = re.compile(rf"\b{re.escape(given.replace('_', ' '))}\b", re.IGNORECASE)
    about = [name for name in legal if word.search(model.model_fields[name].description or "")]
    return looks[0] or (about[0] if len(about) == 1 else next(iter(difflib.get_close_matches(given, legal, n=1)), ""))


def _table(place: tuple[int | str, ...], whole: type[BaseModel]) -> type[BaseModel]:
    """The model of the table that the last part of `place` was found in."""
    model = whole
    rest = list(place[:-1])
    while rest:
        field = model.model_fields.get(str(rest.pop(0)))
        inner: Any = field.annotation if field is not None else None
        if field is None and model is MetricsSettings:
            inner = MetricSettings
        while get_origin(inner) is dict:
            inner = get_args(inner)[1]
            rest = rest[1:]
        if get_origin(inner) is tuple:
            rest = rest[1:]  # the place of one of them
        models = [each for each in (inner, *get_args(inner)) if isinstance(each, type) and issubclass(each, BaseModel)]
        if not models:
            break
        model = models[0]
    return model


def with_null(value: Any, *place: str) -> tuple[str, ...]:
    """Where a text with a null character stands, which no path and no database takes; empty where none does."""
    if isinstance(value, Mapping):
        return next((found for key, own in value.items() if (found := with_null(own, *place, str(key)))), ())
    if isinstance(value, list):
        return next((found for own in value if (found := with_null(own, *place))), ())
    return place if isinstance(value, str) and "\0" in value else ()
