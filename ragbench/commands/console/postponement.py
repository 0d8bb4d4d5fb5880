"""Modules that libraries import and no command needs: their code runs when something of them is first used.

Importing SciPy imports every part of NumPy, its Fortran compiler's front end too, and sacrebleu what downloads and
parses its data sets: together an eighth of the time that a small command takes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

POSTPONED = frozenset({"lxml.etree", "numpy.f2py", "numpy.polynomial", "numpy.testing", "portalocker", "wcwidth"})


class _Finder:
    """Finds them where they are, and makes them modules that load themselves (importlib.util.LazyLoader)."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in POSTPONED:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


def postpone() -> None:
    """From now on, in this process."""
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
