"""A Dask cluster on this machine or beyond it, that takes work in parts and gives the numbers of a single process."""

from ragbench.workers.address import check
from ragbench.workers.crew import opened, shared
from ragbench.workers.storage import elsewhere

__all__ = ["check", "elsewhere", "opened", "shared"]
