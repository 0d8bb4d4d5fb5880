"""A Dask cluster on this machine or beyond it, that takes work in parts and gives the numbers of a single process."""

from ragbench.extras.cluster.address import check
from ragbench.extras.cluster.storage import elsewhere
from ragbench.extras.cluster.worker_pool import opened, shared

__all__ = ["check", "elsewhere", "opened", "shared"]
