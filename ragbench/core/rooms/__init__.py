"""How a room offers what lies in its modules: imported when it is first asked for, since a command needs little of it.

A room says under TYPE_CHECKING what its names are, for whoever reads types, and here where they lie.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def offers(room: str, places: Mapping[str, str]) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """A room's `__all__`, `__getattr__` and `__dir__`, by which Python finds names that it does not hold yet (PEP 562).

    room: the package's dotted name. places: the module below it that each name is of; "" where it is a module itself.
    The second raises AttributeError for a name that is not among them.
    """

    def found(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        place = places[name]
        attribute = getattr(import_module(f"{room}.{place}"), name) if place else import_module(f"{room}.{name}")
        setattr(sys.modules[room], name, attribute)
        return attribute

    def names() -> list[str]:
        return sorted({*vars(sys.modules[room]), *places})

    return sorted(places), found, names
