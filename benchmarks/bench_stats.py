"""Intervals and tests beside SciPy: CPU seconds and peak memory on one thread, each workload in a process of its own.

Run `python -m benchmarks.bench_stats`. Medians of three (one for SciPy's slow ones), and the first of them: it
draws what later calls share. SciPy's paired test runs on three of the fourteen metrics and is counted 14 / 3 times.
Peak memory is the process's, without the interpreter with the libraries loaded.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402

from ragbench.old import stats  # noqa: E402

RESAMPLES = 10_000
Metrics = dict[str, np.ndarray]


def gains(n: int, seed: int, first: float) -> np.ndarray:
    """Binary relevance in the top 10: two relevant documents a question at geometric ranks."""
    rng = np.random.default_rng(seed)
    found = np.zeros((n, 10), dtype=np.uint8)
    for _ in range(2):
        rank = rng.geometric(first, n) - 1
        inside = rank < 10
        found[np.flatnonzero(inside), rank[inside]] = 1
    return found


def metrics(matrix: np.ndarray) -> Metrics:
    """Fourteen retrieval metrics of a gain matrix, for two relevant documents a question."""
    discount = 1 / np.log2(np.arange(2, 12))
    first = np.where(matrix.any(axis=1), matrix.argmax(axis=1) + 1.0, np.inf)
    found: Metrics = {}
    for k in (1, 3, 5, 10):
        found[f"hit@{k}"] = matrix[:, :k].any(axis=1).astype(float)
        found[f"recall@{k}"] = matrix[:, :k].sum(axis=1) / 2
        found[f"precision@{k}"] = matrix[:, :k].mean(axis=1)
    found["mrr@10"] = 1 / first
    found["ndcg@10"] = matrix @ discount / discount[:2].sum()
    return found


def continuous(n: int, seed: int) -> Metrics:
    values = np.random.default_rng(seed).beta(5, 2, (n, 14))
    return {f"score {k}": values[:, k] for k in range(14)}


def peer_intervals(values: Metrics, resamples: int = RESAMPLES) -> None:
    import scipy.stats

    for column in values.values():
        if np.ptp(column) > 0:
            scipy.stats.bootstrap((column,), np.mean, n_resamples=resamples, method="BCa", batch=500, rng=0)


def peer_tests(first: Metrics, second: Metrics) -> None:
    import scipy.stats

    for name in list(first)[:3]:
        scipy.stats.permutation_test(
            (second[name] - first[name],), np.mean, permutation_type="samples", n_resamples=RESAMPLES, batch=500, rng=0,
            vectorized=True,
        )  # fmt: skip


def our_tests(first: Metrics, second: Metrics) -> None:
    stats.randomization_p(np.column_stack([second[name] - first[name] for name in first]), resamples=RESAMPLES)


def work(name: str) -> tuple[Callable[[], object], int, float]:
    """What to run, how often, and by which factor the time counts."""
    kind, _, size = name.rpartition(" ")
    n = int(size.replace(",", ""))
    if kind == "cells, 14 intervals, ragbench":
        rows, counts = stats.cells(gains(n, 0, 0.15))
        short = metrics(rows)
        return lambda: stats.estimate_many(short, counts=counts, bounds=(0, 1)), 3, 1
    if kind.startswith("continuous"):
        values, other = continuous(n, 0), continuous(n, 1)
    else:
        values, other = metrics(gains(n, 0, 0.15)), metrics(gains(n, 1, 0.16))
    if kind.endswith("14 intervals, ragbench"):
        return lambda: stats.estimate_many(values, bounds=(0, 1)), 3, 1
    if kind.endswith("14 intervals, scipy.stats.bootstrap"):
        return lambda: peer_intervals(values), 1, 1
    if kind.endswith("one interval, ragbench"):
        one = {"score": next(iter(values.values()))}
        return lambda: stats.estimate_many(one, bounds=(0, 1)), 3, 1
    if kind.endswith("one interval, scipy.stats.bootstrap"):
        one = {"score": next(iter(values.values()))}
        return lambda: peer_intervals(one), 1, 1
    if kind.endswith("14 tests, ragbench"):
        return lambda: our_tests(values, other), 3, 1
    if kind.endswith("14 tests, scipy.stats.permutation_test"):
        return lambda: peer_tests(values, other), 1, 14 / 3
    if kind.endswith("14 comparisons, ragbench"):
        return lambda: stats.compare_metrics(values, other), 3, 1
    if kind.endswith("14 comparisons in a family, ragbench"):
        return lambda: stats.jointly(list(stats.hypotheses(values, other).values())), 3, 1
    raise SystemExit(f"no such work: {name}")


NAMES = [
    "ties, 14 intervals, ragbench 1,000",
    "ties, 14 intervals, scipy.stats.bootstrap 1,000",
    "continuous, 14 intervals, ragbench 1,000",
    "continuous, 14 intervals, scipy.stats.bootstrap 1,000",
    "ties, 14 intervals, ragbench 10,000",
    "ties, 14 intervals, scipy.stats.bootstrap 10,000",
    "ties, 14 intervals, ragbench 100,000",
    "cells, 14 intervals, ragbench 10,000",
    "cells, 14 intervals, ragbench 100,000",
    "cells, 14 intervals, ragbench 1,000,000",
    "continuous, 14 intervals, ragbench 10,000",
    "continuous, 14 intervals, scipy.stats.bootstrap 10,000",
    "continuous, one interval, ragbench 10,000",
    "continuous, one interval, scipy.stats.bootstrap 10,000",
    "continuous, 14 intervals, ragbench 100,000",
    "ties, 14 tests, ragbench 10,000",
    "ties, 14 tests, scipy.stats.permutation_test 10,000",
    "continuous, 14 tests, ragbench 10,000",
    "continuous, 14 tests, scipy.stats.permutation_test 10,000",
    "continuous, 14 comparisons, ragbench 10,000",
    "continuous, 14 comparisons, ragbench 100,000",
    "continuous, 14 comparisons, ragbench 1,000,000",
    "continuous, 14 comparisons in a family, ragbench 100,000",
    "ties, 14 comparisons, ragbench 10,000",
    "ties, 14 comparisons, ragbench 100,000",
]


def measure(name: str) -> None:
    """Run one workload in this process and print its figures."""
    stats.estimate([0.1, 0.4, 0.3] * 20, resamples=100)  # loads what loads on first use
    run, times, factor = work(name)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    spent = []
    for _ in range(times):
        began = time.process_time()
        run()
        spent.append(time.process_time() - began)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, first = statistics.median(spent) * factor, spent[0] * factor
    print(json.dumps({"seconds": seconds, "first": first, "peak": after / 1024, "more": (after - before) / 1024}))


def main() -> None:
    """Every workload in its own process, then how often ours fits into the peer's."""
    found: dict[str, dict[str, float]] = {}
    for name in NAMES:
        done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, check=True)
        found[name] = json.loads(done.stdout)
        one = found[name]
        print(
            f"{name:58s} {one['seconds']:9.3f} s, first {one['first']:9.3f} s  "
            f"peak {one['peak']:6.0f} MB, {one['more']:5.0f} MB for the work",
            flush=True,
        )
    for ours in NAMES:
        kind = ours.split(", ragbench")[0] + ", "
        for peer in NAMES:
            if peer.startswith(f"{kind}scipy") and ", ragbench" in ours and ours.split()[-1] == peer.split()[-1]:
                print(f"{ours}: {found[peer]['seconds'] / found[ours]['seconds']:.0f} times faster than {peer}")


if __name__ == "__main__":
    measure(sys.argv[1]) if len(sys.argv) > 1 else main()
