"""What a run's manifest must be, so that a received report can be opened: it names nothing outside its folder.

What is read whole of a received run is small, whatever it is packed into.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ragbench.core import folders
from ragbench.core.language import LANGUAGES
from ragbench.core.names import fault
from ragbench.data import files as reading
from ragbench.data.limits import LATEST, MAX_ROWS
from ragbench.data.rows import look_at_parquet

_UNFIT = re.compile(r"[/\\\x00-\x1f\x7f]")
LONGEST = 200
LONGEST_NAME, LONGEST_NOTE = 60, 500
_BEGINS_AN_ID = re.compile(r"[\dT~-]+")


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


def named(name: str) -> str:
    """What a run is called, without spaces around it; an empty text for no name. Raises ValueError for a name that
    would be taken for something else, that is too long, or that holds signs which nobody sees."""
    text = _one_line(name, "name", LONGEST_NAME)
    if text == "latest" or _BEGINS_AN_ID.fullmatch(text) or text.startswith((".", "-", "/", "~")):
        raise ValueError(f"a run's name is no path, no option, not 'latest' and not digits alone, which begin the id "
                         f"of a run; it is {text!r}")  # fmt: skip
    return text


def noted(note: str) -> str:
    """What is said of a run, in one line. Raises ValueError for what is too long or holds signs that nobody sees."""
    return _one_line(note, "note", LONGEST_NOTE)


def _one_line(given: str, what: str, longest: int) -> str:
    text = given.strip()
    if text and (why := fault(text, longest)) is not None:
        raise ValueError(f"a run's {what} {why}")
    return text


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

    name, note: what its user calls it and says of it; empty for none. started: seconds since 1970; seconds: what it
    took.
    also: the languages in which its pages are drawn besides those that they were run in.
    """

    model_config = ConfigDict(extra="allow")

    format: int = 1
    status: str = "complete"
    name: Annotated[str, AfterValidator(named)] = ""
    note: Annotated[str, AfterValidator(noted)] = ""
    started: Annotated[float, Field(ge=0, lt=LATEST)] | None = None
    seconds: Annotated[float, Field(ge=0, lt=LATEST)] | None = None
    language: Language = "en"
    also: list[Language] = []
    notebooks: list[Described] = []


MOST_TEXT, MOST_WEIGHT = 2**25, 2**27
"""Bytes of a JSON file or a notebook, and what its values take in memory: `{},` takes three of the ones and a hundred
of the others."""
MOST_IN_TABLES = 2**29
"""Bytes of memory that all its tables take."""
TEXTS = (".json", ".ipynb")


def text(path: Path) -> str:
    """The text of a JSON file of a run. Raises ValueError for one that a run does not have."""
    try:
        content = folders.text(path, MOST_TEXT)
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} is no text in UTF-8") from None
    if reading.weight(content) > MOST_WEIGHT:
        raise ValueError(f"{path.name} has more values than a run has: they would take {MOST_WEIGHT:,} bytes")
    return content


def check(folder: Path) -> None:
    """Raises ValueError for a run whose files take more memory than a run does, and for tables that are none."""
    for path in sorted(path for path in folder.rglob("*") if path.suffix in TEXTS and path.is_file()):
        text(path)
    try:
        look_at_parquet(sorted(folder.rglob("*.parquet")), MAX_ROWS * 10, MOST_IN_TABLES)
    except reading.DatasetError as error:
        raise ValueError(f"a table of the run is too large, or none: {error}") from None
