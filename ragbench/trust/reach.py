"""What a project would run, open and send, as its own files name it: found by reading, nothing of it is imported."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from ragbench import settings as configuration
from ragbench.settings import OWN_TABLES, Settings, shipped, urls

Kind = Literal["code", "notebook", "server", "database", "storage", "folder", "model", "address"]
HUB = "huggingface.co"
MODELS = ("sentence_transformers", "cross_encoder")
PATHS = ("data_folder", "reports_folder", "results", "prompt")
TEXT_CELLS = frozenset({"markdown", "raw"})
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, order=True)
class Item:
    """One thing that a project would run, open or send.

    kind, name: which thing it is. says: what it does, for people. host: who gets keys or texts, empty for nobody.
    own: whether the project's files say so, and not a variable of its user's.
    """

    kind: Kind
    name: str
    says: str
    host: str = ""
    own: bool = True

    def __str__(self) -> str:
        return f"{self.name}: {self.says}"


@dataclass(frozen=True)
class Reach:
    """Items of one project, in the order of their kinds and names."""

    project: Path
    items: tuple[Item, ...] = ()

    @property
    def hosts(self) -> frozenset[str]:
        """Who gets keys or texts."""
        return frozenset(item.host for item in self.items if item.host)

    def __or__(self, other: Reach) -> Reach:
        return Reach(self.project, tuple(sorted({*self.items, *other.items})))


def of_project(settings: Settings) -> Reach:
    """All of it: what its settings name, and the notebooks in its notebooks folder that are not ragbench's own."""
    folder = configuration.project_folder() / settings.notebooks_folder
    return of_settings(settings) | of_notebooks(sorted(folder.glob("*.ipynb")))


def of_settings(settings: Settings, which: Callable[[Item], bool] = lambda item: True) -> Reach:
    """What ragbench.toml names: code, models, addresses, databases, and folders that are not the project's own."""
    tables = _tables(settings.model_dump(mode="json", exclude_unset=True))
    found = [item for place, table in tables for item in _of_table(place, table)]
    if settings.database_url is not None:
        found = [item for item in found if item.kind != "server"]
    return _reach(item for item in (*found, *_links(settings)) if which(item))


def of_metrics(settings: Settings) -> Reach:
    """The modules of metrics, and the listeners, that the settings name."""
    return of_settings(settings, lambda item: item.kind == "code" and item.says.startswith("runs this code"))


def of_server(settings: Settings) -> Reach:
    """The database server whose files the project names: they say which programs it runs."""
    return of_settings(settings, lambda item: item.kind == "server")


def of_data(settings: Settings, name: str) -> Reach:
    """What the data set of that name is read from, where it is not the project's own folder."""
    table = f"databases.{name.removeprefix(OWN_TABLES)}" if name.startswith(OWN_TABLES) else ""
    if table or urls.is_url(name):
        key = table or ("dataset" if name == settings.dataset else "")
        return of_settings(settings, lambda item: item.name == key)
    return of_settings(settings, lambda item: item.kind == "folder")


def of_callable(path: str) -> Reach:
    """A function at module:function, or a module, whoever names it: its file is the project's."""
    return _reach([Item("code", path, "runs this function")])


def of_notebooks(paths: Iterable[Path]) -> Reach:
    """Those of the notebooks whose code is not that of a notebook of ragbench."""
    return _reach(Item("notebook", _shown(path), "runs this notebook") for path in paths if not _is_shipped(path))


def _tables(table: Mapping[str, Any], place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield place, table
    for name, one in table.items():
        if isinstance(one, Mapping):
            yield from _tables(one, (*place, str(name)))


def _of_table(place: tuple[str, ...], table: Mapping[str, Any]) -> Iterator[Item]:
    """What one table of the settings names, by its keys."""

    def item(kind: Kind, key: str, says: str, *, name: str = "", host: str = "") -> Item:
        return Item(kind, name or ".".join(place) or key, says, host, _is_own(*place, *([key] if key else [])))

    def given(key: str) -> str:
        return str(table.get(key) or "")

    if path := given("callable"):
        yield item("code", "callable", f"runs this function ({'.'.join(place)})", name=path)
    if place == ("metrics",):
        for key in ("modules", "listeners"):
            for path in table.get(key) or ():
                yield item("code", key, f"runs this code (metrics.{key})", name=path)
    for key in ("base_url", "url"):
        if address := given(key):
            sent = [*filter(None, [given("key_variable")]), *_SLOT.findall(json.dumps(table.get("headers") or ""))]
            what = f"texts and the value of {', '.join(sent)}" if sent else "texts"
            yield item("address", key, f"sends {what} to {address}", host=_host(address))
    if given("kind") in MODELS:
        here = _place(given("model")).is_dir()
        yield item("model", "model", f"loads the model {given('model')}", host="" if here else HUB)
    if len(place) == 2 and place[0] == "databases":
        variable = given("url_variable")
        yield item("database", "", f"reads the database {f'that {variable} names' if variable else 'of ragbench'}")
    if place == ("database",) and (folder := given("folder")):
        says = f"starts a database server with the files of {_place(folder).resolve()}"
        yield item("server", "folder", says, name="database.folder")
    if not place:
        if (cluster := given("cluster")) and not cluster.startswith("local:"):
            says = f"sends texts to the cluster {cluster}, which can run code here"
            yield item("address", "cluster", says, host=_host(cluster))
        for key, says in (("dataset", "reads {}, as you"), ("reports", "sends every run to {}, as you")):
            if urls.is_url(url := given(key)):
                yield item("storage", key, says.format(url), host=_host(url))
    for key in PATHS:
        for path in _texts(table.get(key)):
            if "\n" not in path and "{" not in path and not _is_inside(_place(path)):  # else it is a prompt itself
                says = f"{'writes to' if key == 'reports_folder' else 'reads'} {_place(path).resolve()}"
                yield item("folder", key, says, name=".".join((*place, key)))


def _links(settings: Settings) -> Iterator[Item]:
    """Links among the project's data that lead out of it."""
    data = _place(settings.data_folder)
    for link in sorted([*data.glob("*"), *data.glob("*/*")]) if _is_inside(data) else ():
        if link.is_symlink() and not _is_inside(link):
            yield Item("folder", _shown(link), f"leads to {link.resolve()}")


def _texts(given: Any) -> Iterator[str]:
    """A text, or all of a table's."""
    if isinstance(given, Mapping):
        for one in given.values():
            yield from _texts(one)
    elif given:
        yield str(given)


@lru_cache(maxsize=1)
def _of_ragbench() -> frozenset[tuple[str, ...] | None]:
    return frozenset(_code(path) for path in shipped.NOTEBOOKS.glob("*.ipynb"))


def _is_shipped(path: Path) -> bool:
    """Whether a notebook's code is that of one of ragbench's: texts, outputs and an editor's notes run nothing."""
    return (code := _code(path)) is not None and code in _of_ragbench()


def _code(path: Path) -> tuple[str, ...] | None:
    """The cells that run; None where the file is no notebook of the present format."""
    try:
        notebook = json.loads(path.read_bytes())
        running = [cell for cell in notebook["cells"] if cell["cell_type"] not in TEXT_CELLS]
        return tuple("".join(cell["source"]) for cell in running) if notebook["nbformat"] == 4 else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _is_own(*place: str) -> bool:
    """Whether ragbench.toml says it, and no variable of the environment says something else."""
    path = configuration.config_path()
    table: Any = _parsed(path.read_text(encoding="utf-8")) if path.is_file() else {}
    for part in place:
        if not isinstance(table, Mapping) or part not in table:
            return False
        table = table[part]
    return f"{configuration.PREFIX}{'__'.join(place)}".upper() not in {name.upper() for name in os.environ}


@lru_cache(maxsize=4)
def _parsed(text: str) -> Mapping[str, Any]:
    import tomllib

    return tomllib.loads(text)


def _place(path: Path | str) -> Path:
    return configuration.project_folder() / Path(path).expanduser()


def _is_inside(path: Path) -> bool:
    return path.resolve().is_relative_to(configuration.project_folder())


def _shown(path: Path) -> str:
    """A path below the project as it is seen from there, any other whole."""
    project, whole = configuration.project_folder(), Path.cwd() / path
    return whole.relative_to(project).as_posix() if whole.is_relative_to(project) else str(path.resolve())


def _host(address: str) -> str:
    """Who is behind an address: the host; of storage the bucket with its scheme; of a file, the file."""
    parts = urlsplit(address)
    is_web = parts.scheme in ("", "http", "https", "tcp", "tls")
    return (parts.hostname or address) if is_web else f"{parts.scheme}://{parts.netloc}"


def _reach(items: Iterable[Item]) -> Reach:
    return Reach(configuration.project_folder(), tuple(sorted(set(items))))
