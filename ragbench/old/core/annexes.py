"""What is imported when it is first asked for: names that a room offers, annexes, and what else can be installed.

An annex is found by being there. Without its folder what it offers is not offered, and nothing else changes.

A room says under TYPE_CHECKING what its names are and where they lie, once for whoever reads types and for Python.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

Seam = Literal[
    "commands", "examined", "front", "load", "metrics", "notebooks", "page", "pool", "published", "readers", "scores",
    "tables", "views",
]  # fmt: skip
"""commands: of the command line, by name. examined: what the page of a data set says besides, a module with `tables`
of the data set and `parts` from them. front: names of `ragbench` itself. load: subcommands of `ragbench load`.
metrics: modules whose metrics belong to the catalogue, and are measured where they are named. notebooks: what measures
for a notebook that lies in the annex's folder, by the notebook's name. page, scores: what later rooms do with a page,
and with scores. pool: what the setting `cluster` needs. published: what there is to publish
besides runs. readers: what recognizes files of a foreign kind, for `ragbench init`. tables: of ragbench.toml, which the
annex reads itself. views: by name."""


ROOMS: Mapping[Seam, Mapping[str, str]] = {
    "page": {
        "save": "ragbench.old.report.pages.sheets:save",
        **{name: f"ragbench.old.report.papers:{name}" for name in ("latex", "markdown", "typst")},
    },
    "scores": {
        "page": "ragbench.old.report.pages.sheets:page_of",
        "said": "ragbench.old.views.sentences.conclusions:said",
    },
}
"""What rooms offer to those before them, which may not import them: it is there whatever annexes are."""


@functools.cache
def offered(seam: Seam) -> Mapping[str, str]:
    """What annexes offer there: names, and where each lies: `module:attribute`, or a module."""
    folder = Path(__file__).parents[1] / "extras"
    places = sorted(path.parent.name for path in folder.glob("*/__init__.py"))
    return dict(ROOMS.get(seam, {})) | {
        name: place
        for annex in places
        for name, place in getattr(import_module(f"ragbench.old.extras.{annex}"), "OFFERS", {}).get(seam, {}).items()
    }


def taken(seam: Seam, name: str) -> Any:
    """What is offered there under that name, imported now; None where no annex offers it."""
    place = offered(seam).get(name)
    if place is None:
        return None
    module, _, attribute = place.partition(":")
    loaded = import_module(module)
    return getattr(loaded, attribute) if attribute else loaded


def notebooks() -> dict[str, Path]:
    """The notebooks that annexes bring, by name: each lies in the folder of its annex."""
    folder = Path(__file__).parents[1] / "extras"
    return {name: folder / place.split(".")[3] / f"{name}.ipynb" for name, place in offered("notebooks").items()}


def offers(room: str) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """A room's `__all__`, `__getattr__` and `__dir__`, by which Python finds names that it does not hold yet (PEP 562).

    room: the package's dotted name. Its names are those that it imports for whoever reads types, `if TYPE_CHECKING`:
    they are written once. The second raises AttributeError for a name that is not among them.
    """
    source = Path(str(sys.modules[room].__file__)).read_text(encoding="utf-8")
    told = next(node.body for node in ast.parse(source).body if isinstance(node, ast.If))
    places = {
        alias.asname or alias.name: str(node.module)
        for node in told if isinstance(node, ast.ImportFrom) for alias in node.names
    }  # fmt: skip

    def found(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        place = places[name]
        attribute = import_module(f"{room}.{name}") if place == room else getattr(import_module(place), name)
        setattr(sys.modules[room], name, attribute)
        return attribute

    def names() -> list[str]:
        return sorted({*vars(sys.modules[room]), *places})

    return sorted(places), found, names


INSTALL = "pip install 'PATH[{extra}]'"
"""PATH: the folder of a checkout, or a wheel. Every message and page that names the command has it from here."""


def install(extra: str) -> str:
    """The command for one of the extras of pyproject.toml."""
    return INSTALL.format(extra=extra)


_PACKAGE = Path(__file__).parents[2]
NAME = "shipped"
"""The folder of an installed package that holds it; a checkout has it beside the package."""
FOLDER = _PACKAGE / NAME if (_PACKAGE / NAME).is_dir() else _PACKAGE.parent
"""It is read and never written."""
CONFIGURATION = FOLDER / "ragbench.toml"
NOTEBOOKS = FOLDER / "notebooks"
DATA = FOLDER / "data"
