"""Options that several commands have, each declared once; what will not do, a time or a path, is refused at once."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import typer

from ragbench.old.core.language import LANGUAGES


def spoken(name: str) -> str:
    """The language itself, or an empty text. Raises typer.BadParameter for one that no page is written in."""
    if name and name not in LANGUAGES:
        raise typer.BadParameter(f"{name!r}: {' or '.join(LANGUAGES)} is expected")
    return name


def file(path: Path | None) -> Path | None:
    """The path itself; None and - (the screen) are fine. Raises typer.BadParameter where no file can be written."""
    if path is None or str(path) == "-":
        return path
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a folder; name a file in it")
    if not path.parent.is_dir():
        raise typer.BadParameter(f"{path}: there is no folder {path.parent}; make it first")
    return _writable(path.parent, path)


def folder(path: Path | None) -> Path | None:
    """The path itself; None is fine. Raises typer.BadParameter where no folder is and none can be made or written."""
    if path is None:
        return None
    there = next(each for each in (path, *path.absolute().parents) if each.exists())
    if not there.is_dir():
        raise typer.BadParameter(f"{path}: {there} is a file; name a folder")
    return _writable(there, path)


def columns(given: Iterable[str] | None) -> dict[str, str]:
    """Field → column, of `field=column`. Raises typer.BadParameter."""
    by_field = {}
    for pair in given or ():
        field, equals, column = (part.strip() for part in pair.partition("="))
        if not (field and equals and column):
            raise typer.BadParameter(f"--column {pair!r}: FIELD=COLUMN is expected, such as answer=bot_answer")
        by_field[field] = column
    return by_field


def source(text: str) -> Path:
    """The file that a command reads: a path as it is, of a URL its local copy. Raises typer.BadParameter."""
    return _local(text, folder=False)


def source_folder(text: str) -> Path:
    """`source` for a folder with all its files."""
    return _local(text, folder=True)


def url(text: str) -> str:
    """A URL that can be written to, or an empty text. Raises typer.BadParameter, also where its package is missing."""
    from ragbench.old.core.settings import urls
    from ragbench.old.data import remotes

    try:
        if text:
            remotes.check(urls.target(text))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return text.rstrip("/")


def pattern(text: str, option: str) -> re.Pattern[str] | None:
    """A regular expression; None for an empty text. Raises typer.BadParameter."""
    try:
        return re.compile(text) if text else None
    except re.error as error:
        raise typer.BadParameter(f"{text!r} is not a regular expression: {error}", param_hint=option) from None


def _local(text: str, *, folder: bool) -> Path:
    from ragbench.old.core.settings import urls

    if not urls.is_url(text):
        return Path(text)
    from ragbench.old.data import remotes

    try:
        return remotes.brought(urls.Url.of(text), remotes.FOLDER if folder else remotes.FILE)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def line(check: Callable[[str], str], text: str, option: str) -> str:
    """What `check` makes of the text. Raises typer.BadParameter with the words of its ValueError."""
    try:
        return check(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def _writable(there: Path, path: Path) -> Path:
    if not os.access(there, os.W_OK | os.X_OK):
        raise typer.BadParameter(f"{path}: this user may not write in {there.absolute()}")
    return path


def cluster(text: str) -> str:
    """The text itself, from now on in the settings of this process and of those that it starts."""
    if text:
        from ragbench.old.core import settings
        from ragbench.old.store import pool

        try:
            pool.cluster().check(text)
        except pool.ClusterError as error:
            raise typer.BadParameter(str(error)) from None
        os.environ[settings.CLUSTER] = text
        settings.load.cache_clear()
    return text


Cluster = Annotated[
    str,
    typer.Option(
        "--cluster",
        help="A Dask cluster that embeds, searches and judges, with the same numbers: local:4 for processes of this "
        "machine, tcp://HOST:8786, or a scheduler's FILE.json.",
        callback=cluster,
    ),
]
Primary = Annotated[
    str, typer.Option(help="The metric whose comparisons are a family of their own; if none, all are one family.")
]
Run = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run: its name or id, the beginning of an id, latest, a folder or its URL; see `ragbench runs`.",
    ),
]
Target = Annotated[Path, typer.Argument(help="Where to write; a file of that name is replaced.", callback=file)]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the pages.", callback=folder)]
JsonFile = Annotated[
    Path | None, typer.Option("--json", help="Also write everything as JSON; - for the screen.", callback=file)
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]
Language = Annotated[
    str,
    typer.Option(
        "--language",
        "-l",
        help="Language of the pages: en or ru; else the settings' or the run's own.",
        callback=spoken,
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        help="A sample of so many questions, by a hash of their ids: the same for every system and every run.",
        min=1,
    ),
]
Level = Annotated[float, typer.Option(help="Nominal coverage of the intervals.")]
Resamples = Annotated[int, typer.Option(help="Draws of the bootstrap and of randomizations.", min=100)]
Seed = Annotated[int, typer.Option(help="Seed of all draws: the same seed gives the same bytes.", min=0)]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Without asking.")]
Judge = Annotated[str, typer.Option("--judge", "-j", help="Only this judge's replies.")]
PlanOnly = Annotated[bool, typer.Option("--plan", help="Only say what models would be asked, and its cost.")]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column", help="Which column is a field, where its name does not tell: answer=bot_answer. Repeat it."
    ),
]


DAYS = {"h": 1 / 24, "d": 1.0, "w": 7.0, "y": 365.0}
BYTES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_WRITTEN = re.compile(r"(\d+(?:\.\d+)?)\s*([a-zA-Z]*)")


def duration(text: str, option: str) -> datetime.timedelta | None:
    """A time such as 90d or 12h; None for an empty text. Raises typer.BadParameter with what is legal."""
    if not text:
        return None
    match = _WRITTEN.fullmatch(text.strip())
    if match is None or match[2].lower() not in DAYS or float(match[1]) * DAYS[match[2].lower()] > 365 * 1000:
        raise typer.BadParameter(f"{text!r}: a number with h, d, w or y is expected, as in 90d", param_hint=option)
    return datetime.timedelta(days=float(match[1]) * DAYS[match[2].lower()])


def size(text: str, option: str) -> int | None:
    """Bytes, such as 5GB or 200kB; None for an empty text. Raises typer.BadParameter with what is legal."""
    if not text:
        return None
    match = _WRITTEN.fullmatch(text.strip())
    if match is None or match[2].lower() not in BYTES or float(match[1]) > 10**15:
        raise typer.BadParameter(f"{text!r}: bytes, or a number with kB, MB, GB or TB, as in 5GB", param_hint=option)
    return round(float(match[1]) * BYTES[match[2].lower()])


def told(count: int) -> str:
    """A number of bytes for people."""
    for name, unit in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= unit:
            return f"{count / unit:,.1f} {name}"
    return f"{count} bytes"


def counted(number: int, name: str, several: str = "") -> str:
    """`1 question`, `2 questions`."""
    return f"{number} {name if number == 1 else several or f'{name}s'}"
