"""The catalogue's pages: one file per judged metric, one per family of formulas."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterable, Mapping

from ragbench.old.core import annexes
from ragbench.old.core.metric import Metric, parse, registered


def catalogue() -> Mapping[str, Metric]:
    """Every metric by its name. A file added to this folder is in the catalogue, as is a module that an annex offers;
    nothing else needs a change."""
    _imported()
    return registered()


@functools.cache
def _imported() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    for name in annexes.offered("metrics"):
        annexes.taken("metrics", name)


def declaration(label: str) -> Metric | None:
    """How the metric of a label is declared; None for a label that the catalogue does not know."""
    _imported()
    try:
        return parse(label)
    except (ValueError, TypeError):
        return None


def published(label: str) -> str:
    """The name under which tables of the specification have a number: the first that it goes by beside its label, or
    the label where there is no other."""
    metric = declaration(label)
    return next((name for name in metric.names if name != label), label) if metric is not None else label


def meant(name: str, labels: Iterable[str]) -> tuple[str, ...]:
    """Of these labels those that a name means: the label itself where it is there, else all that go by that name."""
    there = tuple(dict.fromkeys(labels))
    if name in there:
        return (name,)
    return tuple(label for label in there if (metric := declaration(label)) is not None and name in metric.names)
