"""Groups of vectors by KMeans, their number given or chosen by silhouette, and words that tell them apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragbench.bench.session import BenchError
from ragbench.types import Array, Vectors

MOST_SCORED = 5000  # vectors that a silhouette is computed on: it grows with their square
STARTS = 10
_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True)
class Groups:
    """labels: (N,) group of each vector, numbered from 0 by size, largest first; central: rows nearest their centre.

    silhouettes: mean silhouette by number of groups, of those that were tried.
    """

    labels: NDArray[np.int64]
    distances: Array
    silhouettes: dict[int, float]

    @property
    def count(self) -> int:
        return int(self.labels.max()) + 1 if len(self.labels) else 0

    def members(self, group: int) -> NDArray[np.int64]:
        """Rows of a group, those nearest its centre first."""
        rows = np.flatnonzero(self.labels == group)
        return rows[np.argsort(self.distances[rows], kind="stable")]


def cluster(vectors: Vectors, count: int = 0, between: tuple[int, int] = (2, 20), seed: int = 0) -> Groups:
    """KMeans on directions (rows of length 1): the cosine is what search compares.

    count: how many groups; 0 chooses the number in `between` with the highest mean silhouette (Rousseeuw 1987).
    Raises BenchError for a count that the vectors cannot be parted into.
    """
    from threadpoolctl import threadpool_limits

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=float)
    distinct = len(np.unique(rows, axis=0))
    if count and not 1 <= count <= distinct:
        raise BenchError(f"n_topics = {count}: from 1 to {distinct}, as many as there are different texts")
    low, high = between
    if not 2 <= low <= high:
        raise BenchError(f"a range of topics is (lowest, highest) from 2; got {between}")
    with threadpool_limits(1):  # sums in one order: the same groups on every machine
        tried = [count] if count else range(low, min(high, distinct - 1) + 1)
        fitted = {number: _fit(rows, number, seed) for number in tried} or {1: _fit(rows, 1, seed)}
        scores = {number: _silhouette(rows, labels, seed) for number, (labels, _) in fitted.items() if number > 1}
    best = max(scores, key=lambda number: (scores[number], -number)) if scores else next(iter(fitted))
    labels, distances = fitted[best]
    return Groups(_by_size(labels), distances, scores)


def _fit(rows: Array, count: int, seed: int) -> tuple[NDArray[np.int64], Array]:
    from sklearn.cluster import KMeans

    made = KMeans(n_clusters=count, n_init=STARTS, random_state=seed).fit(rows)
    distances = np.linalg.norm(rows - made.cluster_centers_[made.labels_], axis=1)
    return made.labels_.astype(np.int64), np.round(distances, 9)


def _silhouette(rows: Array, labels: NDArray[np.int64], seed: int) -> float:
    from sklearn.metrics import silhouette_score

    if not 1 < len(np.unique(labels)) < len(rows):
        return -1.0
    limit = MOST_SCORED if len(rows) > MOST_SCORED else None
    return float(silhouette_score(rows, labels, sample_size=limit, random_state=seed))


def _by_size(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same groups, numbered from the largest; among equals from the one that a row names first."""
    groups, first, counts = np.unique(labels, return_index=True, return_counts=True)
    order = groups[np.lexsort((first, -counts))]
    places = np.empty(int(groups.max()) + 1, dtype=np.int64)
    places[order] = np.arange(len(order))
    return places[labels]


def typical_words(texts: Sequence[str], labels: NDArray[np.int64], most: int = 5) -> list[list[str]]:
    """For each group the words that stand in it far more often than in the others (class-based TF-IDF).

    A word counts once a text. Words of one text only are no sign of a group unless the group has nothing else.
    """
    seen = [Counter(set(_words(text))) for text in texts]
    groups = int(labels.max()) + 1 if len(labels) else 0
    counts = [Counter[str]() for _ in range(groups)]
    for words, label in zip(seen, labels, strict=True):
        counts[int(label)].update(words)
    total = Counter[str]()
    for one in counts:
        total.update(one)
    sizes = np.bincount(labels, minlength=groups)
    found = []
    for group, one in enumerate(counts):
        rest = max(len(texts) - int(sizes[group]), 1)
        scored = sorted(
            one, key=lambda word: (one[word] < 2, -_lift(one[word], sizes[group], total[word], rest), word)
        )  # fmt: skip
        found.append(scored[:most])
    return found


def _lift(inside: int, size: int, everywhere: int, rest: int) -> float:
    """Share of the group's texts with the word, weighted by how much rarer it is outside."""
    share, other = inside / max(size, 1), (everywhere - inside) / rest
    return float(share * np.log((share + 0.01) / (other + 0.01)))


def _words(text: str) -> list[str]:
    return [word.replace("ё", "е") for word in _WORD.findall(text.casefold())]
