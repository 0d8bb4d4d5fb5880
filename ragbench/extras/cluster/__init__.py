"""Scoring on a Dask cluster: the same function on partitions of the samples, the same numbers.

`cluster = "local:4"` in ragbench.toml takes four processes of this machine, an address such as
tcp://scheduler:8786 a cluster of yours. Workers open judges and embedders by the same settings; on
several machines they share replies through RAGBENCH_DATABASE_URL, which is set on all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ragbench.core.errors import BenchError

LOCAL = re.compile(r"local:([1-9]\d?)")
SECONDS = 10  # to reach the scheduler


@contextmanager
def open_pool(address: str) -> Iterator[Callable[..., Iterator[Any]]]:
    """Open a pool that maps a function over partitions; results come in the order of these.

    address: local:N, or that of a scheduler. Raises BenchError for another form, without Dask, and
    for a scheduler that does not answer.
    """
    try:
        import distributed
    except ImportError:
        raise BenchError("a cluster needs Dask: pip install 'ragbench[cluster]'") from None
    local = LOCAL.fullmatch(address)
    if local is None and not address.startswith(("tcp://", "tls://")):
        raise BenchError(f"cluster {address!r}: write local:N or tcp://HOST:PORT")
    cluster = None
    if local is not None:
        # Only this machine may reach the scheduler, and no dashboard is served.
        cluster = distributed.LocalCluster(
            n_workers=int(local[1]),
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
        )
    try:
        client = distributed.Client(cluster or address, timeout=SECONDS)
    except OSError as error:
        if cluster is not None:
            cluster.close()
        raise BenchError(f"cluster {address}: nobody answers there ({error})") from None

    def map_partitions(function: Callable[[Any], Any], partitions: Iterable[Any]) -> Iterator[Any]:
        # A partition is sent once; pure=False: a repeat is meant to be computed anew.
        futures = [client.submit(function, partition, pure=False) for partition in partitions]
        for future in futures:
            yield future.result()

    try:
        yield map_partitions
    finally:
        client.close()
        if cluster is not None:
            cluster.close()
