"""How a knowledge base is used: which chunks are ever retrieved, and how well each topic of questions is covered."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragbench.old.core.metric import Purpose, Reading, metric
from ragbench.old.core.types import Chunk


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run retrieved of a knowledge base.

    chunks: ids of all chunks that have an embedding. retrieved: chunk ids of each question, at its cut-off.
    """

    chunks: Collection[str]
    retrieved: Sequence[Sequence[str]]

    @property
    def used(self) -> set[str]:
        """The chunks of the base that were retrieved at least once."""
        return set(self.chunks) & {chunk for row in self.retrieved for chunk in row}


COMPARED = 5000
"""Questions on which numbers of topics are compared, at most: each number costs a clustering."""
_COUNT_EDGE = "A count of what was found; it has no scale from bad to good."
_COUNT_DIFF = "Counts distinct passages, however often each was retrieved."
_SOURCE = "the specification, section 12.1"
_count = partial(
    metric, source=_SOURCE, over="set", bounds=(0.0, None), better=None, edges=_COUNT_EDGE, differs=_COUNT_DIFF
)


@metric(
    source=_SOURCE,
    over="set",
    better=None,
    formula="|retrieved passages| / |all passages|",
    edges="An empty base has no value.",
    differs="Grows with the number of questions and with k: compare only at equal numbers of both.",
    reading=Reading(
        (
            "Low: perhaps much of the base is of no use, or out of the search's reach.",
            "Very high while search is poor: perhaps there is noise in the index.",
        ),
        _SOURCE,
    ),
    when=("Whether all of the base is within reach of the search.",),
    purposes=(Purpose("sources", "how much of the base is ever found"),),
)
def utilization_rate(table: Usage) -> float:
    """Share of all passages that were retrieved for at least one question; undefined for an empty base."""
    return len(table.used) / len(set(table.chunks)) if table.chunks else float("nan")


@_count(
    formula="|all passages|",
    when=("Beside utilization_rate: the size of the base.",),
)
def total_chunks(table: Usage) -> float:
    """How many passages with embeddings there are."""
    return float(len(set(table.chunks)))


@_count(
    formula="|retrieved passages|",
    when=("Beside utilization_rate: how much of the base was found.",),
)
def used_chunks(table: Usage) -> float:
    """How many passages were retrieved for at least one question."""
    return float(len(table.used))


@_count(
    formula="|all passages| − |retrieved passages|",
    when=("Beside utilization_rate: how much of the base to look through, or to drop.",),
)
def unused_chunks(table: Usage) -> float:
    """How many passages were never retrieved."""
    return float(len(set(table.chunks)) - len(table.used))


def page_use(retrieved: Sequence[Sequence[Chunk]]) -> dict[str, int]:
    """How many questions each page was retrieved for, most used first; a page counts once a question."""
    counts: dict[str, int] = {}
    for row in retrieved:
        for url in {chunk.url for chunk in row if chunk.url}:
            counts[url] = counts.get(url, 0) + 1
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


@dataclass(frozen=True, slots=True)
class Topic:
    """One cluster of questions and what was retrieved for it."""

    topic_id: int
    question_count: int
    unique_chunks: int
    unique_urls: int


@dataclass(frozen=True, slots=True)
class TopicCoverage:
    """Topics of questions with what was retrieved for each, in the order of their numbers.

    labels: (questions,) the topic of each. silhouettes: mean silhouette by number of topics, where it was chosen so.
    """

    topics: tuple[Topic, ...]
    labels: NDArray[np.int64]
    silhouettes: Mapping[int, float]

    @property
    def n_topics(self) -> int:
        """How many topics there are."""
        return len(self.topics)

    @property
    def total_questions(self) -> int:
        """How many questions there are."""
        return len(self.labels)

    @property
    def avg_chunks_per_topic(self) -> float:
        """Mean number of distinct chunks that were retrieved for a topic."""
        return float(np.mean([topic.unique_chunks for topic in self.topics]))

    def as_dict(self) -> dict[str, Any]:
        """The fields of the specification."""
        return {
            "n_topics": self.n_topics,
            "total_questions": self.total_questions,
            "avg_chunks_per_topic": self.avg_chunks_per_topic,
            "topic_coverage": [asdict(topic) for topic in self.topics],
        }

    def thin(self, share: float = 0.5) -> tuple[Topic, ...]:
        """Topics with fewer distinct chunks a question than `share` of the median topic has, thinnest first."""
        ratios = {topic.topic_id: topic.unique_chunks / topic.question_count for topic in self.topics}
        limit = share * float(np.median(list(ratios.values())))
        thin_topics = [topic for topic in self.topics if ratios[topic.topic_id] < limit]
        return tuple(sorted(thin_topics, key=lambda topic: (ratios[topic.topic_id], topic.topic_id)))


def topic_coverage(
    vectors: ArrayLike,
    retrieved: Sequence[Sequence[Chunk]],
    *,
    n_topics: int | None = None,
    choices: Sequence[int] = tuple(range(2, 21)),
    seed: int = 0,
) -> TopicCoverage:
    """Questions clustered by KMeans, and the distinct chunks and pages that were retrieved for each cluster.

    vectors: (questions, width) embeddings. retrieved: the chunks of each question, at its cut-off.
    n_topics: how many clusters; None takes the one of `choices` with the highest mean silhouette (Rousseeuw 1987), on a
        random sample of COMPARED questions where there are more.

    Clusters are numbered by size, largest first, so that the numbers do not depend on the algorithm's.
    Raises ValueError for no questions, for lengths that differ, and for more topics than questions.
    """
    matrix = np.asarray(vectors, dtype=float)
    if matrix.ndim != 2 or len(matrix) != len(retrieved) or not len(matrix):
        raise ValueError(f"vectors have shape {matrix.shape} for {len(retrieved)} questions: one row each is needed")
    if n_topics is not None and not 1 <= n_topics <= len(matrix):
        raise ValueError(f"n_topics = {n_topics} for {len(matrix)} questions: it goes from 1 to their number")
    silhouettes: dict[int, float] = {}
    if n_topics is None:
        silhouettes = _silhouettes(matrix, choices, seed)
        n_topics = max(silhouettes, key=lambda k: (silhouettes[k], -k), default=1)
    labels = _by_size(_clusters(matrix, n_topics, seed))
    topics = []
    for number in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == number)
        chunks = [chunk for member in members.tolist() for chunk in retrieved[member]]
        urls = {chunk.url for chunk in chunks if chunk.url}
        topics.append(Topic(number, len(members), len({chunk.passage for chunk in chunks}), len(urls)))
    return TopicCoverage(tuple(topics), labels, silhouettes)


def _clusters(matrix: NDArray[np.float64], k: int, seed: int) -> NDArray[np.int64]:
    from sklearn.cluster import KMeans

    return np.asarray(KMeans(n_clusters=k, n_init=10, random_state=seed).fit_predict(matrix), dtype=np.int64)


def _silhouettes(matrix: NDArray[np.float64], choices: Sequence[int], seed: int) -> dict[int, float]:
    from sklearn.metrics import silhouette_score

    if len(matrix) > COMPARED:
        matrix = matrix[np.sort(np.random.default_rng(seed).choice(len(matrix), COMPARED, replace=False))]
    silhouettes: dict[int, float] = {}
    distinct = len(np.unique(matrix, axis=0))
    for k in choices:
        if 2 <= k <= min(distinct, len(matrix) - 1):
            silhouettes[k] = float(silhouette_score(matrix, _clusters(matrix, k, seed)))
    return silhouettes


def _by_size(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Clusters renumbered by falling size, equal ones by their first question; empty ones vanish."""
    numbers, first, counts = np.unique(labels, return_index=True, return_counts=True)
    order = np.lexsort((first, -counts))  # KMeans numbers clusters by chance
    place = np.empty(int(numbers.max()) + 1, dtype=np.int64)
    place[numbers[order]] = np.arange(len(numbers))
    return place[labels]
