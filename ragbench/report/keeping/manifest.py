"""What a run's manifest must be, so that a received report can be opened: it names nothing outside its folder."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict

from ragbench.language import LANGUAGES

_UNFIT = re.compile(r"[/\\\x00-\x1f\x7f]")
LONGEST = 200


def plain(name: str) -> str:
    """The name itself, if it is one of a file in a folder. Raises ValueError for one that leads elsewhere."""
    if not name or name.startswith(".") or _UNFIT.search(name) or len(name) > LONGEST:
        raise ValueError("a page's name is a file's name, without slashes, control characters or a dot in front")
    return name


def spoken(language: str) -> str:
    """The language itself, if pages can be written in it. Raises ValueError for another."""
    if language not in LANGUAGES:
        raise ValueError(f"pages are written in {' or '.join(LANGUAGES)}")
    return language


Language = Annotated[str, AfterValidator(spoken)]


class Described(BaseModel):
    """A notebook of a run: its name, how it ended, the language of its page, the parameters that it had."""

    model_config = ConfigDict(extra="allow")

    name: Annotated[str, AfterValidator(plain)]
    status: str = "complete"
    failure: str = ""
    language: Language = "en"
    parameters: dict[str, Any] = {}


class Manifest(BaseModel):
    """A run's manifest; fields that are not named here are kept as they are.

    also: the languages in which its pages are drawn besides those that they were run in.
    """

    model_config = ConfigDict(extra="allow")

    format: int = 1
    status: str = "complete"
    language: Language = "en"
    also: list[Language] = []
    notebooks: list[Described] = []
