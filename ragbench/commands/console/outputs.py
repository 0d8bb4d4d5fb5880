"""Where and in which language a command shall write, looked at before anything is paid for; what goes with numbers."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ragbench import terminal

if TYPE_CHECKING:
    from ragbench.answered_by import AnsweredBy
    from ragbench.stand_ins import StandIn


def file(path: Path | None, option: str) -> None:
    """Refuse a path that no file can be written to; None and - (the screen) are fine.

    Raises typer.BadParameter, naming the option, the path and what is in the way.
    """
    if path is None or str(path) == "-":
        return
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a folder; name a file in it", param_hint=option)
    if not path.parent.is_dir():
        raise typer.BadParameter(f"{path}: there is no folder {path.parent}; make it first", param_hint=option)
    _writable(path.parent, path, option)


def folder(path: Path | None, option: str) -> None:
    """Refuse a path where no folder is and none can be made, and one that cannot be written to; None is fine.

    Raises typer.BadParameter, naming the option, the path and what is in the way.
    """
    if path is None:
        return
    there = next(each for each in (path, *path.absolute().parents) if each.exists())
    if not there.is_dir():
        raise typer.BadParameter(f"{path}: {there} is a file; name a folder", param_hint=option)
    _writable(there, path, option)


def write(path: Path, value: Any) -> None:
    """Write a value as JSON to a file, or to the screen for -; NaN becomes null."""
    from ragbench.measurement import without_nan
    from ragbench.report.keeping import results

    if str(path) == "-":
        terminal.dump(without_nan(value))
    else:
        results.write_json(path, value)


def language(name: str) -> None:
    """Refuse a language that no page is written in; empty is fine. Raises typer.BadParameter with those there are."""
    from ragbench.language import LANGUAGES

    if name and name not in LANGUAGES:
        raise typer.BadParameter(f"{name!r}: {' or '.join(LANGUAGES)} is expected", param_hint="--language")


def caveat(found: Iterable[StandIn], *, err: bool = True) -> None:
    """Say which parts only stood in for a model, where numbers are said; nothing where none did."""
    from ragbench.language import translator
    from ragbench.stand_ins import caveat

    if text := caveat(found, translator("en")):
        terminal.tell(text, err=err, colour="yellow")


def answered(found: Iterable[AnsweredBy], *, err: bool = True) -> None:
    """Say which models answered under another name than they were asked by, a warning for another model."""
    from ragbench import answered_by
    from ragbench.language import translator

    for one in found:
        if text := answered_by.sentence(one, translator("en")):
            terminal.say(text, err=err, colour="yellow" if one.kinship == "other" else None)


def _writable(there: Path, path: Path, option: str) -> None:
    if not os.access(there, os.W_OK | os.X_OK):
        raise typer.BadParameter(f"{path}: this user may not write in {there.absolute()}", param_hint=option)
