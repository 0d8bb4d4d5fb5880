"""Work in parts on other processes: a Dask cluster on this machine or beyond it, with the numbers of a single process.

A part is a pure function's argument: what it gives depends on nothing that another part does. What parts share lies in
PostgreSQL: replies that were paid for, vectors, budgets and limits.
"""

from typing import TYPE_CHECKING

from ragbench.rooms import offers

if TYPE_CHECKING:  # what _PLACES says, for whoever reads types
    from ragbench.workers.crew import Crew as Crew
    from ragbench.workers.crew import opened as opened
    from ragbench.workers.crew import shared as shared
    from ragbench.workers.errors import ClusterError as ClusterError
    from ragbench.workers.errors import UnfitError as UnfitError

_PLACES = {"ClusterError": "errors", "UnfitError": "errors", "Crew": "crew", "opened": "crew", "shared": "crew"}
__all__, __getattr__, __dir__ = offers(__name__, _PLACES)
