"""Tier 0 beside scikit-learn, CPU seconds and peak memory on one thread.

Run `python -m benchmarks.bench_embedding_space`. Each measurement is a process of its own, so that peaks do not
mix. scikit-learn is shown twice: in double precision, which is as exact as ours, and on the vectors as they come.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

WIDTH = 384
WORK = {
    "pairs, ragbench": 20_000,
    "pairs, scikit-learn": 20_000,
    "pairs, scikit-learn, single": 20_000,
    "neighbours, ragbench": 20_000,
    "neighbours, scikit-learn": 20_000,
    "pairs, ragbench, 100,000": 100_000,
}


def clustered(n: int, width: int = WIDTH, seed: int = 0) -> np.ndarray:
    """Unit vectors around 50 centres, as text embeddings lie: float32."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(50, width)).astype(np.float32)
    vectors = np.empty((n, width), dtype=np.float32)
    for start in range(0, n, 4096):
        here = vectors[start : start + 4096]
        here[:] = (
            0.6 * centres[rng.integers(0, 50, len(here))] + rng.standard_normal(here.shape, dtype=np.float32) + 0.3
        )
        here /= np.linalg.norm(here, axis=1, keepdims=True)
    return vectors


def ragbench_pairs(vectors: np.ndarray) -> list[float]:
    from ragbench.old.metrics.embedding_space import Geometry

    found = Geometry(vectors).pairs
    return [found.mean, found.std, found.minimum, found.maximum]


def sklearn_pairs(vectors: np.ndarray) -> list[float]:
    return sklearn_pairs_single(vectors.astype(float))


def sklearn_pairs_single(vectors: np.ndarray) -> list[float]:
    from sklearn.metrics import pairwise_distances

    distances = pairwise_distances(vectors)
    upper = distances[np.triu_indices(len(vectors), 1)]
    return [float(upper.mean()), float(upper.std()), float(upper.min()), float(upper.max())]


def ragbench_neighbours(vectors: np.ndarray) -> list[float]:
    from ragbench.old.metrics.embedding_space import Geometry

    found = Geometry(vectors, neighbors=5).nn_distances
    return [float(found.mean()), float(found.std())]


def sklearn_neighbours(vectors: np.ndarray) -> list[float]:
    from sklearn.neighbors import NearestNeighbors

    found, _ = NearestNeighbors(n_neighbors=6, algorithm="brute", n_jobs=1).fit(vectors).kneighbors(vectors)
    return [float(found[:, 1:].mean()), float(found[:, 1:].std())]


def one(work: str) -> None:
    """Measure one piece of work in this process and print it as JSON."""
    vectors = clustered(WORK[work])
    function = {
        "pairs, ragbench": ragbench_pairs,
        "pairs, ragbench, 100,000": ragbench_pairs,
        "pairs, scikit-learn": sklearn_pairs,
        "pairs, scikit-learn, single": sklearn_pairs_single,
        "neighbours, ragbench": ragbench_neighbours,
        "neighbours, scikit-learn": sklearn_neighbours,
    }[work]
    function(vectors[:200])  # imports
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.process_time()
    values = function(vectors)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "before": before, "peak": peak, "values": values}))


def main(repeats: int = 3) -> None:
    """Every piece of work in fresh processes, medians of the time, largest peak."""
    for work, n in WORK.items():
        runs = []
        for _ in range(1 if n > 20_000 else repeats):
            done = subprocess.run(
                [sys.executable, str(Path(__file__)), work], capture_output=True, text=True, check=True
            )
            runs.append(json.loads(done.stdout))
        seconds = statistics.median(run["seconds"] for run in runs)
        peak, before = max(run["peak"] for run in runs), max(run["before"] for run in runs)
        values = ", ".join(f"{value:.12f}" for value in runs[0]["values"])
        print(f"{work:28} {n:>7,} × {WIDTH}  {seconds:7.2f} s  peak {peak:6.0f} MB (before {before:4.0f})  {values}")


if __name__ == "__main__":
    with threadpool_limits(1):
        one(sys.argv[1]) if len(sys.argv) > 1 else main()
