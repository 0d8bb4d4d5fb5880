"""How many notebooks run at the same time where nobody says: as many as cores and memory allow, if no number changes.

A clock is read with nothing beside it. Where readings of the data are kept, all notebooks run side by side, and one
that finds that it has to read a clock after all is executed again, alone; else those that may read one come first and
one by one. What a project sends, and what of its own code it runs, has limits and habits that hold within one process:
then notebooks run one by one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ragbench.core import trust
from ragbench.core.settings import BESIDE

CLOCK = "fresh_timings"
"""The parameter of every notebook that reads the clock."""
MEMORY = 2**31
"""Bytes that a notebook's process may take, with a model of embeddings in it, and what the others need beside it."""
HARMLESS = frozenset({"server", "storage", "folder"})
"""Kinds of what a project reaches that every notebook shares: the database's own server, the copy of a data set."""


THREADS = "OPENBLAS_NUM_THREADS"
"""How many threads of a process multiply matrices. Where each notebook had one a core, they would wait for each other:
a run of all would take a fifth longer.

Last digits depend on it: of Tier 0 on more than 4,096 texts (4,500 random ones: 3,104 of 13,500 values differ between
one thread and two, by 2e-9 at most), and on the sample data 9 of Tier 3's 3,870 scores, by 6e-14, and what is nearest
in the cache of tier_ux. So a notebook keeps its share to its end, also where it is the last one left: raised when
others have ended, the same command would give other bytes as they end sooner or later. Exact search gives the same
bytes with any number of threads."""


class Round(NamedTuple):
    """Notebooks by name, how many of them run at the same time, and whether they may read a clock."""

    names: tuple[str, ...]
    jobs: int
    clock: bool = True

    @property
    def environment(self) -> dict[str, str]:
        """Variables of their processes. How many threads is not said where somebody has said so, or one runs alone."""
        alone = THREADS in os.environ or self.jobs < 2
        threads = {} if alone else {THREADS: str(max(1, cores() // self.jobs))}
        return threads if self.clock else {BESIDE: "1", **threads}


def rounds(
    parameters: Mapping[str, Mapping[str, Any]],
    jobs: int | None,
    reach: Iterable[trust.Item],
    kept: Callable[[], bool],
    late: Collection[str] = (),
) -> Sequence[Round]:
    """The notebooks in the rounds that they run in, one after the other.

    parameters: each notebook's, with their values. jobs: as somebody said; all are one round then. reach: what the run
    would run and send. kept: whether there are readings of what these notebooks measure. late: those whose processes
    take long to begin: of notebooks that run side by side, twice as many others as run at a time go before them.
    """
    if jobs is None and any(item.kind not in HARMLESS for item in reach):
        jobs = 1
    if jobs is not None:
        return [Round(tuple(parameters), jobs)]
    timed = tuple(name for name, values in parameters.items() if CLOCK in values)
    others, at_once = tuple(name for name in parameters if name not in timed), affordable()
    if timed and at_once > 1 and not any(parameters[name][CLOCK] for name in timed) and kept():
        soon = [name for name in (*timed, *others) if name not in late]
        slow = (name for name in parameters if name in late)
        return [Round((*soon[: 2 * at_once], *slow, *soon[2 * at_once :]), at_once, clock=False)]
    return [turn for turn in (Round(timed, 1), Round(others, at_once)) if turn.names]


def affordable() -> int:
    """How many processes of notebooks this one's cores and the memory that is free allow, one at least."""
    import psutil

    return max(1, min(cores(), psutil.virtual_memory().available // MEMORY))


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def limit_threads() -> None:
    """What THREADS says, for a process that was begun without it; at its begin a library reads it by itself."""
    from threadpoolctl import threadpool_limits

    said = os.environ.get(THREADS, "")
    if said.isdecimal() and int(said):  # of all else a library takes no notice
        threadpool_limits(int(said), "blas")
