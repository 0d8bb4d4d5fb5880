"""How many notebooks run at the same time where nobody says: as many as cores and memory allow, if no number changes.

A clock is read with nothing beside it, so that notebooks that read one come first and one by one. What a project sends,
and what of its own code it runs, has limits and habits that hold within one process: then notebooks run one by one.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence

from ragbench import trust

CLOCK = "fresh_timings"
"""The parameter of every notebook that reads the clock."""
MEMORY = 2**31
"""Bytes that a notebook's process may take, with a model of embeddings in it, and what the others need beside it."""
HARMLESS = frozenset({"server", "storage"})
"""Kinds of what a project reaches that every notebook shares: the database's own server, the copy of a data set."""

Round = tuple[tuple[str, ...], int]
"""Notebooks by name, and how many of them run at the same time."""


def rounds(parameters: Mapping[str, Collection[str]], jobs: int | None, reach: trust.Reach) -> Sequence[Round]:
    """The notebooks in the rounds that they run in, one after the other.

    parameters: the names of each notebook's. jobs: as somebody said; all are one round then. reach: what the run would
    run and send.
    """
    if jobs is None and any(item.kind not in HARMLESS for item in reach.items):
        jobs = 1
    if jobs is not None:
        return [(tuple(parameters), jobs)]
    timed = tuple(name for name, known in parameters.items() if CLOCK in known)
    others = tuple(name for name in parameters if name not in timed)
    return [one for one in ((timed, 1), (others, affordable())) if one[0]]


def affordable() -> int:
    """How many processes of notebooks this one's cores and the memory that is free allow, one at least."""
    import psutil

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, psutil.virtual_memory().available // MEMORY))
