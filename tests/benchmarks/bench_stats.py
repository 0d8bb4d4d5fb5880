"""CPU seconds of what a page states: 14 intervals and 14 comparisons of several sizes.

`OMP_NUM_THREADS=1 python -m tests.benchmarks.bench_stats`
"""

from __future__ import annotations

import resource
import time

import numpy as np

from ragbench.stats import compare, mean_intervals
from ragbench.stats.resampling import count_draws

METRICS = 14
LIMITS = {1_000: 0.3, 100_000: 1.0, 1_000_000: 10.0}  # CPU seconds with 10,000 draws


def measure(n: int) -> tuple[float, float]:
    """CPU seconds of both, on scores that are nearly continuous, with nothing drawn before."""
    generator = np.random.default_rng(0)
    baseline = generator.random((n, METRICS))
    challenger = np.clip(baseline + generator.normal(0.01, 0.2, baseline.shape), 0, 1)
    count_draws.cache_clear()
    start = time.process_time()
    mean_intervals(challenger, None, (0, 1))
    middle = time.process_time()
    compare(baseline, challenger, bounds=(0, 1))
    return middle - start, time.process_time() - middle


def main() -> None:
    """Print a line a size."""
    measure(100)  # imports
    for n, limit in LIMITS.items():
        intervals, comparisons = measure(n)
        together = intervals + comparisons
        verdict = "within" if together <= limit else "ABOVE"
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{n:>9,} questions: {intervals:.2f} s intervals + {comparisons:.2f} s comparisons = "
            f"{together:.2f} s, {verdict} {limit:g} s; {memory:,.0f} MB at most"
        )


if __name__ == "__main__":
    main()
