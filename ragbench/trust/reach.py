"""What a project would run and send: its own code, the variables that it sends as keys, and to whom.

Everything is found by reading; nothing of the project is imported or executed.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import PathFinder, all_suffixes
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from ragbench import settings as configuration
from ragbench.settings import Settings, urls
from ragbench.trust import sources

Kind = Literal["callable", "file", "notebook", "key", "database", "storage", "server", "texts"]
UNASKED: frozenset[Kind] = frozenset({"texts"})
"""Kinds that are named, and for which alone nobody is asked."""
OWN_NOTEBOOKS = "own_notebooks.txt"
"""The digests of the notebooks that come with ragbench, written by `python -m tests.own_notebooks`."""
TEXT_CELLS = frozenset({"markdown", "raw"})


@dataclass(frozen=True, order=True)
class Item:
    """One thing that a project would run or send.

    kind, name: which thing it is, the same after a change. says: what it does, for people. digest: changes exactly
    when the thing does.
    """

    kind: Kind
    name: str
    says: str
    digest: str

    @property
    def title(self) -> str:
        """Tells the thing from all others of its project."""
        return f"{self.kind} {self.name}"

    @property
    def asks(self) -> bool:
        """Whether its user has to trust it."""
        return self.kind not in UNASKED


@dataclass(frozen=True)
class Reach:
    """Items of one project, in the order of their kinds and names."""

    project: Path
    items: tuple[Item, ...] = ()

    @property
    def asked(self) -> tuple[Item, ...]:
        """The items that have to be trusted."""
        return tuple(item for item in self.items if item.asks)

    @property
    def digest(self) -> str:
        """Of all items that have to be trusted, together; empty where there are none."""
        return _digest(*(f"{item.title} {item.digest}" for item in self.asked)) if self.asked else ""

    def __or__(self, other: Reach) -> Reach:
        return _reach(self.project, (*self.items, *other.items))


def of_project(settings: Settings) -> Reach:
    """All of it: what its settings name, and the notebooks in its notebooks folder that are not ragbench's own."""
    folder = configuration.project_folder() / settings.notebooks_folder
    return of_settings(settings) | of_notebooks(sorted(folder.glob("*.ipynb")))


def of_settings(settings: Settings) -> Reach:
    """What ragbench.toml names: callables with their files, keys with their hosts, databases, a database's files."""
    callables: dict[str, list[str]] = {}
    for table in ("systems", "generators", "chunkers", "rewriters", "rerankers"):
        for name, one in getattr(settings, table).items():
            if one.callable is not None:
                callables.setdefault(one.callable, []).append(f"{table}.{name}")
    found = [item for path, places in callables.items() for item in of_callable(path, places).items]
    found += of_metrics(settings).items
    endpoints: dict[str, Any] = {f"judges.{name}": settings.judge(name) for name in settings.judges}
    endpoints |= {f"generators.{name}": settings.generator(name) for name in settings.generators}
    endpoints |= {f"embedders.{name}": one for name, one in settings.embedders.items()}
    endpoints |= {f"rerankers.{name}": one for name, one in settings.rerankers.items()}
    found += [_endpoint(name, one.base_url, one.key_variable) for name, one in endpoints.items() if one.base_url]
    found += [
        _endpoint(f"systems.{name}", one.url, *one.header_variables)
        for name, one in settings.systems.items()
        if one.url
    ]
    found += [
        Item("texts", f"{table}.{name}", f"may download the model {one.model} from its hub", _digest(str(one.model)))
        for table, kind in (("embedders", "sentence_transformers"), ("rerankers", "cross_encoder"))
        for name, one in getattr(settings, table).items()
        if one.kind == kind and not (configuration.project_folder() / str(one.model)).is_dir()
    ]
    found += [
        Item("database", f"databases.{name}", f"opens the database that the variable {one.url_variable} names",
             _digest(one.url_variable))
        for name, one in settings.databases.items()
        if one.url_variable
    ]  # fmt: skip
    return _reach(configuration.project_folder(), found) | of_server(settings) | of_storage(settings)


def of_storage(settings: Settings) -> Reach:
    """The storage that ragbench.toml names by URL, which is opened as who runs it."""
    named = {"dataset": settings.dataset if urls.is_url(settings.dataset) else None, "reports": settings.reports}
    says = {"dataset": "reads {} with your access", "reports": "sends every run to {} with your access"}
    items = [Item("storage", key, says[key].format(url), _digest(url)) for key, url in named.items() if url]
    return _reach(configuration.project_folder(), items)


def of_server(settings: Settings) -> Reach:
    """The database server whose files lie in the project: they say which programs it runs."""
    project, folder = configuration.project_folder(), settings.database.folder
    if folder is None or settings.database_url is not None:
        return Reach(project)
    place = folder.expanduser().resolve()
    if project not in (place, *place.parents):
        return Reach(project)
    says = f"runs a database server with the files of {place.relative_to(project)}"
    return _reach(project, [Item("server", "database.folder", says, _digest(str(place)))])


def of_callable(path: str, places: Sequence[str] = ()) -> Reach:
    """A function at module:function, with all files of the project that importing it runs."""
    project = configuration.project_folder()
    files = sources.of_module(path.partition(":")[0], project)
    where = "of the project" if files else "of an installed package"
    named = f", named by {', '.join(places)}" if places else ""
    item = Item("callable", path, f"a function {where}{named}", _digest(path, where))
    return _reach(project, [item, *_files(files, project)])


def of_metrics(settings: Settings) -> Reach:
    """The modules of metrics, and the listeners, that the settings name."""
    items = [item for name in settings.metrics.modules for item in of_module(name).items]
    items += [item for path in settings.metrics.listeners for item in of_callable(path, ["metrics.listeners"]).items]
    return _reach(configuration.project_folder(), items)


def of_module(name: str) -> Reach:
    """A module of metrics, with all files of the project that importing it runs."""
    project = configuration.project_folder()
    files = sources.of_module(name, project)
    where = "of the project" if files else "of an installed package"
    item = Item("callable", name, f"metrics {where}, named by metrics.modules", _digest(name, where))
    return _reach(project, [item, *_files(files, project)])


def of_notebooks(paths: Iterable[Path]) -> Reach:
    """Those of the notebooks that are not ragbench's own, with the files of the project that their cells import."""
    project = configuration.project_folder()
    found: list[Item] = []
    for path in paths:
        content = path.read_bytes()
        digest = notebook_digest(content)
        if digest in own_notebooks():
            continue
        found.append(Item("notebook", _shown(path, project), "a notebook", digest))
        imported = {file for cell in _code(content) or () for file in sources.of_code(cell, project)}
        found += _files(imported, project)
    return _reach(project, found)


def of_namesakes(folder: Path) -> Reach:
    """Files of a folder that JupyterLab would import in the place of a package, if a notebook lies beside them."""
    project = configuration.project_folder()
    elsewhere = [place for place in sys.path if place and Path(place).resolve() not in (folder.resolve(), project)]
    found = []
    for path in sorted([*folder.glob("*.*"), *folder.glob("*/__init__.*")]):
        name = path.parent.name if path.stem == "__init__" else path.name.partition(".")[0]
        if path.name.endswith(tuple(all_suffixes())) and PathFinder.find_spec(name, elsewhere) is not None:
            found.append(path)
    return _reach(project, _files(found, project, "code in the place of an installed package"))


def notebook_digest(content: bytes) -> str:
    """Of a notebook's code alone: texts, outputs and what an editor notes of itself run nothing."""
    cells = _code(content)
    return _digest(*cells) if cells is not None else hashlib.sha256(content).hexdigest()


@lru_cache(maxsize=1)
def own_notebooks() -> frozenset[str]:
    """The digests of the notebooks that come with ragbench."""
    lines = files("ragbench.trust").joinpath(OWN_NOTEBOOKS).read_text(encoding="utf-8").splitlines()
    return frozenset(line.split()[0] for line in lines if line.strip())


def _code(content: bytes) -> list[str] | None:
    """The cells that run, None where the content is no notebook of the present format."""
    try:
        notebook = json.loads(content)
        if notebook["nbformat"] != 4:
            return None
        running = [cell for cell in notebook["cells"] if cell["cell_type"] not in TEXT_CELLS]
        return ["".join(cell["source"]) for cell in running]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _endpoint(name: str, address: str, *variables: str | None) -> Item:
    sent = [variable for variable in variables if variable]
    if not sent:
        return Item("texts", name, f"sends texts to {address}, without a key", _digest(address))
    values = f"value{'s' if len(sent) > 1 else ''} of {', '.join(sent)}"
    return Item("key", name, f"sends the {values} to {address}", _digest(*sent, address))


def _files(paths: Iterable[Path], project: Path, says: str = "code of the project") -> list[Item]:
    return [
        Item("file", _shown(path, project), says, hashlib.sha256(path.read_bytes()).hexdigest())
        for path in sorted(paths)
    ]


def _shown(path: Path, project: Path) -> str:
    place = path.resolve()
    return place.relative_to(project).as_posix() if project in place.parents else str(place)


def _reach(project: Path, items: Iterable[Item]) -> Reach:
    once: Mapping[str, Item] = {item.title: item for item in reversed(list(items))}
    return Reach(project, tuple(sorted(once.values())))


def _digest(*parts: str | None) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()
