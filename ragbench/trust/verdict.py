"""Whether a folder's user has answered for it: one question a folder, and one more for whom it newly sends to."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from ragbench.settings import PLAN, TRUST, ConfigurationError, load, project_folder
from ragbench.trust.reach import Item, Reach, of_settings
from ragbench.trust.record import agreed

EXIT = 5
"""The exit code of a command that ends because nobody has answered for a folder."""
NOT_OF_A_PLAN = ("address", "folder")
"""Kinds of what a plan may look at, as it sends nothing."""
_plans: list[None] = []
"""One for each plan that is being made in this process."""
_joined: list[str] = []
"""Folders that were put into sys.path, which are those of one project at a time."""


class UntrustedError(ConfigurationError):
    """A folder would run code, open data that lie elsewhere or send something, and nobody has answered for it."""

    exit_code = EXIT


@contextlib.contextmanager
def planning() -> Iterator[None]:
    """Nothing is sent meanwhile: nobody need answer for addresses, and for data that are only counted."""
    _plans.append(None)
    try:
        yield
    finally:
        _plans.pop()


def only_planned() -> bool:
    """Whether this process only plans."""
    return bool(_plans or os.environ.get(PLAN))


def is_trusted(project: Path | None = None) -> bool:
    """Whether somebody has answered for a folder, this project's by default: once, or by the variable RAGBENCH_TRUST,
    which names it or a folder above it."""
    known = project or project_folder()
    return _vouched(known) or agreed(known) is not None


def doubts(needed: Reach) -> tuple[Item, ...]:
    """What nobody has answered for: all that the folder names, or, once it is trusted, whom it newly sends to."""
    unused = NOT_OF_A_PLAN if only_planned() else ()
    own = tuple(item for item in needed.items if item.own and item.kind not in unused)
    if not own or _vouched(needed.project):
        return ()
    hosts = agreed(needed.project)
    return own if hosts is None else tuple(item for item in own if item.host and item.host not in hosts)


def require(needed: Reach) -> None:
    """Raises UntrustedError, which names what nobody has answered for and how to go on."""
    if found := doubts(needed):
        asked = "names new addresses" if is_trusted(needed.project) else "is a folder that nobody has answered for"
        raise UntrustedError(
            f"{needed.project} {asked}: {'; '.join(map(str, found))}. Nothing of it was run, opened or sent. Look at "
            f"these, then: ragbench trust; in a pipeline {TRUST}={needed.project}"
        )


def folder_of(key: Literal["data_folder", "reports_folder"]) -> Path:
    """The project's folder of data sets, or of reports. Raises UntrustedError where it is none of its own, and nobody
    has answered for it."""
    known = load()
    require(of_settings(known, lambda item: item.name == key))
    return project_folder() / (known.data_folder if key == "data_folder" else known.reports_folder)


def passed_on() -> dict[str, str]:
    """The variable by which a process that is started trusts this project as this one does; nothing where it does
    not."""
    return {TRUST: str(project_folder())} if is_trusted() else {}


def join_path() -> None:
    """Let modules of the project, and of the current folder within it, be found: last, and where it is trusted alone.

    Else a file named like a package that others look for, be it there or not, would run.
    """
    for place in [place for place in _joined if place in sys.path]:
        sys.path.remove(place)
    project = project_folder()
    wanted = [place for place in (project, Path.cwd()) if place.is_relative_to(project)] if is_trusted() else []
    _joined[:] = [place for place in dict.fromkeys(map(str, wanted)) if place not in sys.path]
    sys.path += _joined


def _vouched(project: Path) -> bool:
    named = [Path(part).resolve() for part in os.environ.get(TRUST, "").split(os.pathsep) if part.strip()]
    return any(project == one or one in project.parents for one in named)
