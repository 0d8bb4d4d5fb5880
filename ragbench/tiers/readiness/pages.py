"""Which pages cannot be made for want of data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from ragbench.core.settings import OWN_TABLES, Settings
from ragbench.data import Dataset, available, places
from ragbench.tiers.basics.needs import Lack
from ragbench.tiers.basics.requests import Request
from ragbench.tiers.basics.session import dataset_of

Read = Callable[[str, str], Dataset]
"""Gives the data set of a name, in the language of a page where none is asked for."""


def lacking(
    asked: Mapping[str, Sequence[Request]], settings: Settings, dataset: str = "", read: Read | None = None
) -> tuple[Lack, ...]:
    """Pages that lack something, each with the first thing that it lacks.

    asked: by page what it asks of the tiers. dataset: that is named for all of them; empty: as in the settings. read:
    gives a data set, see `reader`.
    Raises DatasetError for a data set that cannot be read, and for one that is not there though somebody named it.
    """
    read = read or reader(settings)

    def data(name: str, language: str = "") -> Dataset | None:
        return read(name, language) if is_there(name, settings) else None

    data(dataset or settings.dataset)
    lacks: dict[str, Lack] = {}
    for page, requests in asked.items():
        for request in requests:
            name, language = request.place(dataset or settings.dataset)
            for needed in request.needed(settings):
                own = data(name, language)
                lack = needed.lack(page, own, name if own is None else own.label)
                if lack is not None:
                    lacks.setdefault(page, lack)
    return tuple(lacks.values())


def reader(settings: Settings) -> Read:
    """Reads each data set once."""
    return cache(lambda name, language: dataset_of(name, settings, language))


def is_there(name: str, settings: Settings) -> bool:
    """Whether the data set is there, or is to be there: only the one that nobody named may be missing.

    The sample data stand in for none: a project that names them measures them.
    """
    if "dataset" in settings.model_fields_set or name != settings.dataset or name.startswith(OWN_TABLES):
        return True
    return name in available(places.own_data())
