"""What the processes of a run keep together, what they spend and how fast they ask: the protocol that a store keeps."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from ragbench.settings import RUN, RUN_FOLDER

LEASE_SECONDS = 10.0
"""So long a process that is not heard of keeps what it holds, by the database's clock."""

Parts = tuple[float, float, float]
"""Calls, tokens and money."""


class Spent(NamedTuple):
    """What came of `Accounts.spend`.

    admitted: so many of the wanted calls, the first ones. spent: of all processes, with what those that are gone had
    reserved. reserved: of those that are there, the admitted calls included.
    """

    admitted: int
    spent: Parts
    reserved: Parts


class Share(NamedTuple):
    """What came of `Accounts.share`.

    places, part: what the holder has now. pause: seconds for which the endpoint wants no call. rested: seconds since
    the endpoint was last held by anybody. wanted: by holder, how many calls each has waiting and in flight.
    """

    places: int
    part: float
    pause: float
    rested: float
    wanted: Mapping[str, int]


class Accounts(Protocol):
    """Budgets and limits that several processes share; values are plain, so that a store need not know this room."""

    async def spend(
        self,
        run: str,
        holder: str,
        limits: tuple[float | None, float | None, float | None],
        spent: Parts,
        reserved: Parts,
        wanted: Sequence[Parts],
        replies: Sequence[tuple[str, Parts | None]],
    ) -> tuple[int, Parts, Parts]:
        """Tell what a holder has spent and reserved so far, and reserve as many of the wanted calls as fit: `Spent`.

        spent, reserved: as a whole, not as a change, so that nothing counts twice when a step is tried again. replies:
        by key, those that came out of the journal with what each had cost, counted once in a run; those that the holder
        has paid for itself with None, which are in `spent` and count nowhere else.
        """

    async def share(
        self,
        endpoint: str,
        holder: str,
        limit: int,
        places: tuple[int, int],
        part: tuple[float, float],
        wanted: int,
        pause: float,
    ) -> tuple[int, float, float, float, Mapping[str, int]]:
        """Hold places of an endpoint's `limit`, and a part of its rates, for the time of a lease: `Share`.

        places, part: at least, which the holder has already and still uses; and at most, which it gets as far as others
        have left it. pause: seconds for which the endpoint asked to be left alone, for all holders; else 0.
        """

    async def leave(self, endpoint: str, holder: str) -> None:
        """Give back all that is held."""

    async def close(self) -> None:
        """Let connections go; the next call takes them up again."""


def run_of_this_process() -> str | None:
    """The run that this process belongs to with others; None where it is on its own.

    RAGBENCH_RUN names it to processes of several machines; else it is the run whose folder RAGBENCH_RUN_FOLDER names.
    """
    named, folder = os.environ.get(RUN), os.environ.get(RUN_FOLDER)
    return named or (f"{platform.node()}:{Path(folder).resolve()}" if folder else None)
