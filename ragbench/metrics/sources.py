"""How a base of passages is used: which are ever retrieved, and how topics are covered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ragbench.core.errors import BenchError
from ragbench.core.metric import metric
from ragbench.core.progress import progress

MOST_COMPARED = 5_000  # questions on which numbers of topics are compared: each costs a clustering
CHOICES = tuple(range(2, 21))  # numbers of topics that are compared
SOURCE = "definition, as «Вопрошалыч» publishes it"
of_base = partial(metric, kind="set", better="describes", source=SOURCE)
of_counts = partial(of_base, bounds=(0.0, np.inf))


@of_base()
def utilization_rate(passage_ids: Iterable[str], retrieved_ids: Iterable[str]) -> float:
    """Share of all passages that were retrieved for at least one question.

    Grows with questions and k: compare it at equal numbers of both. NaN for an empty base. Where it
    is low, much of the base may be superfluous or out of the search's reach; where it is very high
    and little is found, noise.
    """
    passages = set(passage_ids)
    return len(passages & set(retrieved_ids)) / len(passages) if passages else float("nan")


@of_counts()
def total_chunks(passage_ids: Iterable[str], retrieved_ids: Iterable[str] = ()) -> float:
    """How many passages the base has."""
    return float(len(set(passage_ids)))


@of_counts()
def used_chunks(passage_ids: Iterable[str], retrieved_ids: Iterable[str]) -> float:
    """How many passages were retrieved for at least one question."""
    return float(len(set(passage_ids) & set(retrieved_ids)))


@of_counts()
def unused_chunks(passage_ids: Iterable[str], retrieved_ids: Iterable[str]) -> float:
    """How many passages were never retrieved."""
    return float(len(set(passage_ids) - set(retrieved_ids)))


@dataclass(frozen=True)
class TopicCoverage:
    """Topics of questions, and what was retrieved for each.

    topics: a row a topic, columns topic_id, question_count, unique_chunks, unique_urls, the
    largest first. topic_ids: (questions,) the topic of each. silhouettes: by number of topics,
    where that was chosen.
    """

    topics: pd.DataFrame
    topic_ids: NDArray[np.int64]
    silhouettes: dict[int, float]

    def summary(self) -> dict[str, float]:
        """Return n_topics, total_questions and avg_chunks_per_topic."""
        return {
            "n_topics": len(self.topics),
            "total_questions": len(self.topic_ids),
            "avg_chunks_per_topic": float(self.topics["unique_chunks"].mean()),
        }


def topic_coverage(
    vectors: ArrayLike,
    retrieved: pd.DataFrame,
    question_ids: Sequence[str],
    n_topics: int | None = None,
    seed: int = 0,
) -> TopicCoverage:
    """Cluster questions by KMeans, and count what was retrieved for each cluster.

    vectors: (questions, width) of question_ids. retrieved: columns question_id, passage_id and,
    where pages are known, url. n_topics: None takes the number from 2 to 20 with the highest mean
    silhouette (Rousseeuw 1987). Raises BenchError for no questions, and for more topics than those.
    """
    matrix = np.asarray(vectors, dtype=float)
    if matrix.ndim != 2 or not len(matrix) or len(matrix) != len(question_ids):
        raise BenchError(f"vectors of shape {matrix.shape} for {len(question_ids)} questions")
    if n_topics is not None and not 1 <= n_topics <= len(matrix):
        raise BenchError(f"n_topics = {n_topics}; it goes from 1 to {len(matrix)}, the questions")
    silhouettes = compare_numbers(matrix, seed) if n_topics is None else {}
    chosen = n_topics or max(silhouettes, key=lambda number: silhouettes[number], default=1)
    topic_ids = number_by_size(cluster(matrix, chosen, seed))
    topic_by_question = pd.Series(topic_ids, index=list(question_ids))
    rows = retrieved.assign(topic_id=retrieved["question_id"].map(topic_by_question))
    urls = rows["url"].replace("", np.nan) if "url" in rows else pd.Series(np.nan, rows.index)
    by_topic = rows.assign(url=urls).groupby("topic_id")
    topics = pd.DataFrame({"question_count": np.bincount(topic_ids)})
    topics["unique_chunks"] = by_topic["passage_id"].nunique()
    topics["unique_urls"] = by_topic["url"].nunique()
    topics = topics.fillna(0).astype(int).rename_axis("topic_id").reset_index()
    return TopicCoverage(topics, topic_ids, silhouettes)


def cluster(matrix: NDArray[np.float64], n_topics: int, seed: int) -> NDArray[np.int64]:
    """Return the cluster of each row."""
    from sklearn.cluster import KMeans

    model: Any = KMeans(n_clusters=n_topics, n_init=10, random_state=seed)
    return model.fit_predict(matrix).astype(np.int64)


def compare_numbers(matrix: NDArray[np.float64], seed: int) -> dict[int, float]:
    """Return the mean silhouette by number of topics, of a sample where there are many rows."""
    from sklearn.metrics import silhouette_score

    if len(matrix) > MOST_COMPARED:
        drawn = np.random.default_rng(seed).choice(len(matrix), MOST_COMPARED, replace=False)
        matrix = matrix[np.sort(drawn)]
    most = min(len(np.unique(matrix, axis=0)), len(matrix) - 1)
    choices = [number for number in CHOICES if number <= most]
    return {
        number: float(silhouette_score(matrix, cluster(matrix, number, seed)))
        for number in progress(choices, "grouping questions by topic")
    }


def number_by_size(clusters: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number clusters anew, the largest first, equal ones by their first row."""
    # KMeans numbers them by chance.
    numbers, first, counts = np.unique(clusters, return_index=True, return_counts=True)
    order = np.lexsort((first, -counts))
    new_numbers = np.empty(numbers.max() + 1, dtype=np.int64)
    new_numbers[numbers[order]] = np.arange(len(numbers))
    return new_numbers[clusters]
