"""What the processes of a run keep together, what they spend and how fast they ask: the protocol that a store keeps."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from ragbench.core.settings import RUN, RUN_FOLDER

Parts = tuple[float, float, float]
"""Calls, tokens and money."""


class Told(NamedTuple):
    """Something that was spent. key: it counts once in a run, whoever tells it and however often. spent: what it cost.
    released: what had been reserved for it."""

    key: str
    spent: Parts = (0, 0.0, 0.0)
    released: Parts = (0, 0.0, 0.0)


class Accounts(Protocol):
    """Budgets and limits that several processes share; values are plain, so that a store need not know this room."""

    async def spend(
        self,
        run: str,
        limits: tuple[float | None, float | None, float | None],
        told: Sequence[Told],
        wanted: Parts | None,
    ) -> tuple[bool, Parts, Parts, float]:
        """Count what is told, then reserve what is wanted if it fits within what is spent and reserved.

        Whether it was reserved; what the run has spent, and what it has reserved; seconds since either changed.
        """

    async def sit(
        self, endpoint: str, places: int, held: Sequence[int], rates: tuple[float | None, float | None], tokens: float
    ) -> tuple[int | None, float]:
        """A place among so many, none of those held already, until `rise` or the end of this process; None where all
        are taken. And so many seconds to wait before the call. rates: requests and tokens a minute."""

    async def rise(self, endpoint: str, place: int, spare: float, pause: float) -> None:
        """Give a place back. spare: seconds of the rate of tokens that the call did not use. pause: seconds for which
        the endpoint wants no call."""

    async def close(self) -> None:
        """Let connections go; the next call takes them up again."""


def run_of_this_process() -> str | None:
    """The run that this process belongs to with others; None where it is on its own.

    RAGBENCH_RUN names it to processes of several machines; else it is the run whose folder RAGBENCH_RUN_FOLDER names.
    """
    named, folder = os.environ.get(RUN), os.environ.get(RUN_FOLDER)
    return named or (f"{platform.node()}:{Path(folder).resolve()}" if folder else None)
