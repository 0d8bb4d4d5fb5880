"""Search of which parts of the questions go elsewhere, as workers would do it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NoReturn

import cloudpickle

from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Vectors
from ragbench.old.store import database


class Cuts:
    """Stands for workers: parts of the questions between these places, each by a function that has travelled."""

    def __init__(self, known: Settings, cuts: Sequence[int] = ()) -> None:
        self.known, self.cuts, self.parts = known, cuts, 0

    def search(self, find: database.Find, queries: Vectors, connections: int, progress: Any) -> list[Any]:
        found = []
        for start, end in itertools.pairwise(sorted({0, len(queries), *self.cuts})):
            one, part = cloudpickle.loads(cloudpickle.dumps((find, queries[start:end])))
            found.append(one(self.known, part, progress))
        self.parts += len(found)
        return found

    def nearest(self, *given: Any) -> NoReturn:
        raise AssertionError("exact search of so few vectors is done here")

    embed = nearest
