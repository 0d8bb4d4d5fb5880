"""Nothing secret leaves a run: values of key variables and passwords of database URLs are masked wherever texts go."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from ragbench import settings
from ragbench.report.pages import Measurements

if TYPE_CHECKING:
    import pandas as pd

MASK = "••••"
_SECRET_NAME = re.compile(r"(API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|PRIVATE_?KEY|ACCESS_?KEY)", re.IGNORECASE)
_URL_PASSWORD = re.compile(r"(\b[a-z][a-z0-9+.-]*://[^\s:/@'\"]*:)([^\s@/'\"]+)(@)", re.IGNORECASE)
_BEARER = re.compile(r"(Bearer\s+)[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE)
SHORTEST = 6


def masker() -> Callable[[str], str]:
    """A function that masks the secrets of this process in a text, and the password of any URL."""
    exact = exact_masker()

    def mask(text: str) -> str:
        masked = exact(text) if exact else text
        return _BEARER.sub(rf"\1{MASK}", _URL_PASSWORD.sub(rf"\1{MASK}\3", masked))

    return mask


def exact_masker() -> Callable[[str], str] | None:
    """A function that masks only the secrets that this process holds, for data that must stay as it is otherwise.

    None where the process holds no secret.
    """
    found = sorted(_values(), key=len, reverse=True)
    if not found:
        return None
    pattern = re.compile("|".join(re.escape(value) for value in found))
    return lambda text: pattern.sub(MASK, text)


def _values() -> set[str]:
    """Secret values: of variables whose names say so, of the variables that judges and embedders name, of URLs."""
    named = {name for name in os.environ if _SECRET_NAME.search(name)}
    try:
        known = settings.load()
    except settings.ConfigurationError:
        known = None
    if known is not None:
        keys = [judge.key_variable for judge in known.judges.values()]
        keys += [embedder.key_variable for embedder in known.embedders.values()]
        keys += [provider.key_variable for provider in known.providers.values()]
        keys += [generator.key_variable for generator in known.generators.values()]
        named |= {key for key in keys if key}
    values = {os.environ[name] for name in named if name in os.environ}
    for value in os.environ.values():
        if "://" in value and "@" in value:
            values |= _passwords(value)
    return {value for value in values if len(value) >= SHORTEST}


def _passwords(url: str) -> set[str]:
    try:
        password = urlsplit(url).password
    except ValueError:
        return set()
    return {password, unquote(password)} if password else set()


def masked(value: Any, mask: Callable[[str], str]) -> Any:
    """A JSON value with every text in it masked."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {key: masked(item, mask) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [masked(item, mask) for item in value]
    return value


def mask_kept(kept: Measurements) -> None:
    """Mask the secrets that this process holds in what a run has kept: in facts and in every text of its tables."""
    mask = exact_masker()
    if mask is None:
        return
    for name in kept.names():
        known = kept[name]
        better = replace(
            known,
            facts=masked(known.facts, mask),
            scores=_table(known.scores, mask),
            questions=_table(known.questions, mask),
            retrieved=_table(known.retrieved, mask),
            extra={part: _table(table, mask) for part, table in known.extra.items()},
        )
        if better.facts != known.facts or any(
            one is not other
            for one, other in zip(
                (better.scores, better.questions, better.retrieved, *better.extra.values()),
                (known.scores, known.questions, known.retrieved, *known.extra.values()),
                strict=True,
            )
        ):
            kept.replace(name, better)


def _table(table: pd.DataFrame, mask: Callable[[str], str]) -> pd.DataFrame:
    """The same table where nothing had to be masked, else a copy."""
    changed = {}
    for column in table.columns:
        texts = {value for value in table[column] if isinstance(value, str)}
        hidden = {text: better for text in texts if (better := mask(text)) != text}
        if hidden:
            changed[column] = table[column].map(
                lambda value, known=hidden: known.get(value, value) if isinstance(value, str) else value
            )
    return table.assign(**changed) if changed else table
