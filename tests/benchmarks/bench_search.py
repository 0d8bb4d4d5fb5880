"""Exact search of 3,000 questions in 100,000 vectors, beside faiss; PostgreSQL by each index.

faiss (`pip install faiss-cpu`) is left out where it is not there. Vectors are drawn around 1,000
centres, so that neighbourhoods exist, as in real embeddings.
`OMP_NUM_THREADS=1 python -m tests.benchmarks.bench_search [PASSAGES] [QUESTIONS] [WIDTH]`
"""

from __future__ import annotations

import shutil
import sys
import time

import numpy as np

from ragbench.store import Store, compare_indexes, nearest_in_memory
from tests.fixtures import open_folder

K = 10
CENTRES, NOISE = 1_000, 0.7
REPEATS = 3  # the fastest counts
TIMED = 200  # questions that PostgreSQL is asked one by one


def draw(generator: np.random.Generator, centres: np.ndarray, count: int) -> np.ndarray:
    """Unit vectors around the centres."""
    noise = generator.standard_normal((count, centres.shape[1]), dtype=np.float32)
    vectors = centres[generator.integers(len(centres), size=count)] + NOISE * noise
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def main(passages: int = 100_000, questions: int = 3_000, width: int = 384) -> None:
    """Print the CPU seconds of both, that they agree, and what the indexes in PostgreSQL take."""
    generator = np.random.default_rng(0)
    centres = generator.standard_normal((CENTRES, width), dtype=np.float32)
    vectors, queries = draw(generator, centres, passages), draw(generator, centres, questions)

    ours = theirs = np.inf
    for _ in range(REPEATS):
        start = time.process_time()
        positions, similarities = nearest_in_memory(queries, vectors, K)
        ours = min(ours, time.process_time() - start)
    print(f"in memory {ours:.2f} CPU s")
    try:
        import faiss
    except ImportError:
        print("faiss is not installed")
    else:
        faiss.omp_set_num_threads(1)
        for _ in range(REPEATS):
            start = time.process_time()
            index = faiss.IndexFlatIP(width)
            index.add(vectors)
            peer_similarities, peer = index.search(queries, K)
            theirs = min(theirs, time.process_time() - start)
        same = (peer == positions).mean()
        off = np.abs(peer_similarities - similarities).max()
        print(f"faiss     {theirs:.2f} CPU s: ours takes {ours / theirs:.2f} of it; "
              f"same places {same:.4f}, similarities within {off:.1e}")  # fmt: skip

    folder = open_folder()
    with Store(folder=folder / "database") as store:
        print(compare_indexes(store, vectors, queries[:TIMED], K).to_string(index=False))
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
