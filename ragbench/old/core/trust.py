"""What a project would run, open and send, and whether its user has answered for its folder.

Users' own modules are imported here, too, and while a run is only planned something stands for those of a folder that
nobody has answered for.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Literal
from urllib.parse import urlsplit

import platformdirs

from ragbench.old.core import annexes, folders, settings, types
from ragbench.old.core.endings import Ending
from ragbench.old.core.settings import PLAN, TRUST, ConfigurationError, load, project_folder, urls
from ragbench.old.core.settings.endpoints import PRESETS
from ragbench.old.core.settings.tables import SLOT
from ragbench.old.core.terminal import plain

NOTHING_DONE = "Nothing of it was run, opened or sent."
OTHERS_WRITE = 0o022  # the bits of `group` and of `others` that let them write
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
    with _changing():
        _write({**grants(), project: _here[project]})


def revoke() -> bool:
    """Trust this project's folder no more; whether it was. Raises OSError."""
    project = project_folder()
    there = _here.pop(project, None) is not None
    if is_kept := project in grants():
        with _changing():
            _write({folder: hosts for folder, hosts in grants().items() if folder != project})
    return there or is_kept


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


@contextlib.contextmanager
def _changing() -> Iterator[None]:
    """One process at a time changes the answers: what another gives meanwhile would be lost."""
    import fcntl

    kept().parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    kept().parent.chmod(0o700)
    place = os.open(kept().parent, os.O_RDONLY)
    try:
        fcntl.flock(place, fcntl.LOCK_EX)
        yield
    finally:
        os.close(place)


def _write(known: dict[Path, frozenset[str]]) -> None:
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


Kind = Literal["code", "notebook", "server", "database", "storage", "folder", "model", "address"]
HUB = "huggingface.co"
FOLDERS = ("data_folder", "reports_folder", "notebooks_folder")
"""Settings that lead somewhere though nobody names them: what lies at their place may be a link."""
PATHS = (*FOLDERS, "results")
DEEP = 3
"""Levels of folders in which links are looked for: of a data set, or of a run and its parts."""
MOST_BYTES = 2**24
"""Of a notebook that may be one of ragbench's; theirs have no outputs."""


@dataclass(frozen=True, order=True)
class Item:
    """One thing that a project would run, open or send.

    kind: of that thing. name: the key that names it, or a notebook's path. says: what it does, for people. host: who
    gets keys or texts, empty for nobody. own: whether the project's files say so, and not a variable of its user's.
    """

    kind: Kind
    name: str
    says: str
    host: str = ""
    own: bool = True

    def __str__(self) -> str:
        return f"{self.name}: {self.says}"


def named(*keys: str) -> tuple[Item, ...]:
    """What the settings name, under these keys and the tables below them; under all keys if none is given."""
    known = settings.load()
    given = {f"systems.{name}" for name, system in known.systems.items() if system.is_given}
    given |= {f"generators.{name}" for name, generator in known.generators.items() if generator.is_given}
    told = {key: str(getattr(known, key)) for key in FOLDERS} | known.model_dump(mode="json", exclude_unset=True)
    told["providers"] = {
        name: known.providers[name].model_dump(mode="json", exclude_unset=True) for name in _met(known)
    }
    every = _of_table(told, settings.of_environment())
    actions = [action for action in every if action.name.rpartition(".")[0] not in given]
    for key in FOLDERS:
        out = _links_out(_place(told[key]))
        actions += [Item("folder", key, f"{_shown(link)} leads to {link.resolve()}") for link in out]
    meant = (action for action in actions if not keys or any(f"{action.name}.".startswith(f"{key}.") for key in keys))
    return tuple(sorted(meant))


def notebooks(paths: Iterable[Path] | None = None) -> tuple[Item, ...]:
    """Those whose code is not that of a notebook of ragbench; of the project's folder of notebooks if none are
    given."""
    there = (settings.project_folder() / settings.load().notebooks_folder).glob("*.ipynb") if paths is None else paths
    own = (path for path in there if (code := _code(path)) is None or code not in _of_ragbench())
    return tuple(sorted(Item("notebook", _shown(path), "runs this notebook") for path in own))


def _of_table(table: Mapping[str, Any], by_user: Any, *place: str) -> Iterator[Item]:
    """by_user: what the environment says of the same table."""

    def item(kind: Kind, name: str, says: str, host: str = "") -> Item:
        return Item(kind, name, says, host, not (isinstance(by_user, Mapping) and key in by_user))

    here = ".".join(place)
    for key, setting in table.items():
        name = ".".join((*place, key))
        is_prompt = "prompt" in (*place, key)
        if isinstance(setting, Mapping):
            said = by_user.get(key) if isinstance(by_user, Mapping) else None
            if here == "databases":
                variable = setting.get("url_variable")
                whose = f"that {variable} names" if variable else "of ragbench"
                yield item("database", name, f"reads the database {whose}")
            yield from _of_table(setting, said, *place, key)
        elif not setting:
            continue
        elif key in ("callable", "client") or name in ("metrics.modules", "metrics.listeners"):
            yield item("code", name, f"runs {setting if isinstance(setting, str) else ', '.join(setting)}")
        elif key == "base_url" or (key == "url" and place[0] != "databases"):
            yield item("address", here, _sends(table, setting), _host(setting))
        elif key == "model" and table.get("kind") in ("sentence_transformers", "cross_encoder"):
            yield item("model", here, f"loads the model {setting}", "" if _place(setting).is_dir() else HUB)
        elif name == "database.folder" and settings.load().database_url is None:
            yield item("server", name, f"starts a database server with the files of {_real(_place(setting))}")
        elif name == "cluster" and not setting.startswith("local:"):
            yield item(
                "address", name, f"sends texts to the cluster {setting}, which can run code here", _host(setting)
            )
        elif name in ("dataset", "reports") and urls.is_url(setting):
            says = f"reads {setting}, as you" if name == "dataset" else f"sends every run to {setting}, as you"
            yield item("storage", name, says, _host(setting))
        elif key == "notebooks_folder" and _real(_place(setting)) == annexes.NOTEBOOKS:
            continue
        elif is_prompt and place[0] == "metrics" and ("\n" in setting or types.SLOT.search(setting)):
            continue  # the text itself
        elif (key in PATHS or is_prompt) and not _is_inside(_place(setting)):
            does = "writes to" if key in FOLDERS[1:] else "reads"
            yield item("folder", name, f"{does} {_real(_place(setting))}")


def _met(known: settings.Settings) -> list[str]:
    """The providers that a model names, or that the project has said anything of: the others are ragbench's own."""
    used = {judge.provider for judge in known.judges.values()} | {
        generator.provider for generator in known.generators.values()
    }
    shipped_ones = {
        name
        for name, provider in known.providers.items()
        if provider.model_dump(exclude_unset=True) == PRESETS.get(name)
    }
    return sorted(name for name in known.providers if name in used or name not in shipped_ones)


def _sends(table: Mapping[str, Any], address: str) -> str:
    slots = SLOT.findall(json.dumps([table.get("headers"), table.get("query")]))
    sent = [*filter(None, [table.get("key_variable")]), *slots]
    what = f"texts and the value of {', '.join(sent)}" if sent else "texts"
    return f"sends {what} to {address}"


@lru_cache(maxsize=1)
def _of_ragbench() -> frozenset[tuple[str, ...] | None]:
    return frozenset(map(_code, (*annexes.NOTEBOOKS.glob("*.ipynb"), *annexes.notebooks().values())))


def _code(path: Path) -> tuple[str, ...] | None:
    """The cells that run: texts, outputs and an editor's notes run nothing. None where the file is no notebook of the
    present format."""
    try:
        notebook = json.loads(folders.content(path, MOST_BYTES))
        running = [cell for cell in notebook["cells"] if cell["cell_type"] not in ("markdown", "raw")]
        return tuple("".join(cell["source"]) for cell in running) if notebook["nbformat"] == 4 else None
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _place(path: Path | str) -> Path:
    return settings.project_folder() / Path(path).expanduser()


def _real(path: Path) -> Path:
    """Without links; where they lead round in a circle, the path itself, which Path.resolve raises an error for."""
    return Path(os.path.realpath(path))


def _is_inside(path: Path) -> bool:
    return _real(path).is_relative_to(settings.project_folder())


def _links_out(folder: Path, deep: int = DEEP) -> Iterator[Path]:
    """The links in a folder of the project's that lead out of the project."""
    if not _is_inside(folder) or not folder.is_dir():
        return
    with os.scandir(folder) as there:
        for entry in sorted(there, key=lambda entry: entry.name):
            if entry.is_symlink() and not _is_inside(Path(entry)):
                yield Path(entry)
            elif deep > 1 and entry.is_dir(follow_symlinks=False):
                yield from _links_out(Path(entry), deep - 1)


def _shown(path: Path) -> str:
    """A path below the project as it is seen from there, any other whole."""
    project, whole = settings.project_folder(), Path.cwd() / path
    return whole.relative_to(project).as_posix() if whole.is_relative_to(project) else str(path.resolve())


def _host(address: str) -> str:
    """Who is behind an address: the host; of storage the bucket with its scheme; of a file, the file."""
    parts = urlsplit(address)
    is_web = parts.scheme in ("", "http", "https", "tcp", "tls")
    return (parts.hostname or address) if is_web else f"{parts.scheme}://{parts.netloc}"
