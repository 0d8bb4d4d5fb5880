"""What a project would run, open and send, as its own files name it: found by reading, nothing of it is imported."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from ragbench.core import annexes, folders, settings
from ragbench.core.settings import shipped, urls
from ragbench.core.settings.presets import PRESETS
from ragbench.core.settings.tables import SLOT

Kind = Literal["code", "notebook", "server", "database", "storage", "folder", "model", "address"]
HUB = "huggingface.co"
PATHS = ("data_folder", "reports_folder", "results", "prompt")
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
    told = known.model_dump(mode="json", exclude_unset=True)
    told["providers"] = {
        name: known.providers[name].model_dump(mode="json", exclude_unset=True) for name in _met(known)
    }
    every = _of_table(told, settings.of_environment())
    actions = [action for action in every if action.name.rpartition(".")[0] not in given]
    data = _place(known.data_folder)
    there = [*data.glob("*"), *data.glob("*/*")] if _is_inside(data) else []
    out = [link for link in there if link.is_symlink() and not _is_inside(link)]
    actions += [Item("folder", "data_folder", f"{_shown(link)} leads to {link.resolve()}") for link in out]
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
    is_prompt = "prompt" in place
    for key, setting in table.items():
        name = ".".join((*place, key))
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
            yield item("server", name, f"starts a database server with the files of {_place(setting).resolve()}")
        elif name == "cluster" and not setting.startswith("local:"):
            yield item(
                "address", name, f"sends texts to the cluster {setting}, which can run code here", _host(setting)
            )
        elif name in ("dataset", "reports") and urls.is_url(setting):
            says = f"reads {setting}, as you" if name == "dataset" else f"sends every run to {setting}, as you"
            yield item("storage", name, says, _host(setting))
        elif (key in PATHS or is_prompt) and not re.search("[\\n{]", setting) and not _is_inside(_place(setting)):
            does = "writes to" if key == "reports_folder" else "reads"  # with a slot or a second line it is a prompt
            yield item("folder", name, f"{does} {_place(setting).resolve()}")


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
    return frozenset(map(_code, (*shipped.NOTEBOOKS.glob("*.ipynb"), *annexes.notebooks().values())))


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


def _is_inside(path: Path) -> bool:
    return path.resolve().is_relative_to(settings.project_folder())


def _shown(path: Path) -> str:
    """A path below the project as it is seen from there, any other whole."""
    project, whole = settings.project_folder(), Path.cwd() / path
    return whole.relative_to(project).as_posix() if whole.is_relative_to(project) else str(path.resolve())


def _host(address: str) -> str:
    """Who is behind an address: the host; of storage the bucket with its scheme; of a file, the file."""
    parts = urlsplit(address)
    is_web = parts.scheme in ("", "http", "https", "tcp", "tls")
    return (parts.hostname or address) if is_web else f"{parts.scheme}://{parts.netloc}"
