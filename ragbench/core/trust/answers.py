"""Whether a folder's user has answered for it: one question a folder, and one more for whom it newly sends to.

Users' own modules are imported here, too, and while a run is only planned something stands for those of a folder that
nobody has answered for.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import platformdirs

from ragbench.core import folders, settings
from ragbench.core.endings import Ending
from ragbench.core.settings import PLAN, TRUST, ConfigurationError, load, project_folder
from ragbench.core.terminal import plain
from ragbench.core.trust.items import Item, named, notebooks

NOTHING_DONE = "Nothing of it was run, opened or sent."
OTHERS_WRITE = 0o022
UNUSED_BY_PLANS = ("address", "folder")
"""Kinds of what a plan needs no answer for: it sends nothing, and counts what lies elsewhere without showing it."""
_plans: list[None] = []
"""One for each plan that is being made in this process."""
_here: dict[Path, frozenset[str]] = {}
"""What was answered in this process; kept even where the state folder cannot be written to."""
_joined: list[str] = []
"""Folders that were put into sys.path, which are those of one project at a time."""


class UntrustedError(ConfigurationError):
    """A folder would run code, open data that lie elsewhere or send something, and nobody has answered for it."""

    exit_code = Ending.UNTRUSTED

    def __init__(self, asked: str, items: tuple[Item, ...]) -> None:
        """asked: which folder it is, and what of it. items: what is to be answered for."""
        how = f"`ragbench trust`, or the same command with --trust; in a pipeline {TRUST}={project_folder()}"
        super().__init__(f"{asked}: {'; '.join(map(plain, items))}. {NOTHING_DONE} If you trust it: {how}")
        self.asked, self.items = asked, items


def kept() -> Path:
    """The file of answers in the user's state folder ($XDG_STATE_HOME): folders, each with whom it may send to."""
    return Path(platformdirs.user_state_dir("ragbench")) / "trusted" / "folders.json"


def grants() -> dict[Path, frozenset[str]]:
    """All folders that this user answered for, with their hosts; none where the file is another user's, where others
    may write to it, or where it cannot be read."""
    try:
        states = [place.stat() for place in (kept(), kept().parent)]
        if any(state.st_mode & OTHERS_WRITE or state.st_uid != os.geteuid() for state in states):
            return {}
        known = json.loads(folders.text(kept()))
        return {Path(project): frozenset(map(str, hosts)) for project, hosts in sorted(known.items())}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def grant(*needed: Item) -> None:
    """Trust this project's folder from now on, and all hosts that it names or that are needed.

    Raises OSError where that cannot be written; for this process it is trusted all the same.
    """
    project = project_folder()
    hosts = {item.host for item in (*named(), *needed) if item.host}
    _here[project] = (_agreed(project) or frozenset()) | hosts
    _write({**grants(), project: _here[project]})


def revoke() -> bool:
    """Trust this project's folder no more; whether it was. Raises OSError."""
    project, known = project_folder(), grants()
    there = _here.pop(project, None) is not None
    if project in known:
        _write({folder: hosts for folder, hosts in known.items() if folder != project})
    return there or project in known


def is_trusted() -> bool:
    """Whether somebody has answered for this project's folder: once, or by RAGBENCH_TRUST, which names it or one above
    it."""
    return _vouched() or _agreed(project_folder()) is not None


@contextlib.contextmanager
def planning() -> Iterator[None]:
    """Nothing is sent meanwhile."""
    _plans.append(None)
    try:
        yield
    finally:
        _plans.pop()


def only_planned() -> bool:
    """Whether this process only plans."""
    return bool(_plans or os.environ.get(PLAN))


def doubts(*needed: Item) -> tuple[Item, ...]:
    """What of it nobody has answered for: all that is the project's own or, once its folder is trusted, new hosts."""
    unused = UNUSED_BY_PLANS if only_planned() else ()
    own = tuple(item for item in needed if item.own and item.kind not in unused)
    if not own or _vouched():
        return ()
    hosts = _agreed(project_folder())
    return own if hosts is None else tuple(item for item in own if item.host and item.host not in hosts)


def require(*needed: Item) -> None:
    """Raises UntrustedError where there are doubts, which names all of the folder that is to be answered for."""
    if not (doubtful := doubts(*needed)):
        return
    is_known = is_trusted()
    asked = "names other addresses than you agreed to" if is_known else "is a folder that you have not answered for"
    every = doubtful if is_known else doubts(*dict.fromkeys((*named(), *notebooks(), *needed)))
    raise UntrustedError(f"{project_folder()} {asked}", every)


def folder_of(key: Literal["data_folder", "reports_folder"]) -> Path:
    """The project's folder of data sets, or of reports. Raises UntrustedError where it is none of its own, and nobody
    has answered for it."""
    require(*named(key))
    return project_folder() / (load().data_folder if key == "data_folder" else load().reports_folder)


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


def _agreed(project: Path) -> frozenset[str] | None:
    """Whom a project may send to; None where nobody has answered for it."""
    both = [known[project] for known in (grants(), _here) if project in known]
    return frozenset().union(*both) if both else None


def _vouched() -> bool:
    above = (project_folder(), *project_folder().parents)
    return any(Path(part).resolve() in above for part in os.environ.get(TRUST, "").split(os.pathsep) if part.strip())


def _write(known: dict[Path, frozenset[str]]) -> None:
    kept().parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    kept().parent.chmod(0o700)
    folders.write(kept(), json.dumps({str(project): sorted(hosts) for project, hosts in known.items()}))
    kept().chmod(0o600)


WITHOUT = {
    "systems": {"callable": None, "retriever": "bm25"},
    "generators": {"callable": None, "kind": "extractive"},
    "embedders": {"kind": "hashing"},
}


@contextlib.contextmanager
def planned() -> Iterator[None]:
    """Settings that run, start and send nothing of the project, in this process and those that it starts.

    They are as they stand where somebody has answered for the folder.
    """
    instead = {} if is_trusted() else _instead()
    before = {name: os.environ.get(name) for name in instead}
    os.environ.update(instead)
    settings.load.cache_clear()
    try:
        with planning():
            yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        settings.load.cache_clear()


def _instead() -> dict[str, str]:
    """Variables that lay tables over those of ragbench.toml."""
    known = settings.load()
    own = {tuple(item.name.split(".")[:2]) for item in named() if item.own and item.kind in ("code", "model")}
    tables: dict[str, Any] = {"metrics": {"modules": [], "listeners": []}, "database": {}}
    if any(item.kind == "server" for item in named("database")):
        tables["database"] = {"folder": None}
    for table, *inner in own:
        if table in WITHOUT:
            tables.setdefault(table, {})[inner[0]] = WITHOUT[table]
    for name, system in known.systems.items():
        if gone := {part: None for part in settings.PARTS if (f"{part}s", getattr(system, part)) in own}:
            tables.setdefault("systems", {})[name] = gone
    return {f"{settings.PREFIX}{table.upper()}": json.dumps(content) for table, content in tables.items()}


def imported(name: str, folder: str) -> ModuleType:
    """The module. The project's folder is looked into last: else a file `json.py` there would be run by whoever reads
    JSON. A module there whose name is found before it is refused, so that nobody measures another one."""
    join_path()
    first = name.partition(".")[0]
    mine = _origin(PathFinder.find_spec(first, [folder]))
    if mine is not None and _origin(find_spec(first)) != mine == _origin(PathFinder.find_spec(first)):
        _forget(first)  # a module of another project, which this process has left
    other = _origin(find_spec(first))
    if mine is not None and mine != (other or mine):
        raise ValueError(f"{first} is also the name of a module that is found first ({other}): rename yours")
    return importlib.import_module(name)


def _origin(spec: ModuleSpec | None) -> Path | None:
    return Path(spec.origin).resolve() if spec and spec.origin else None


def _forget(package: str) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]
