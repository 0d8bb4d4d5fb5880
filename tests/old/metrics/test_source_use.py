"""How a knowledge base is used: counts by hand, topics that are there by construction."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ragbench.old.core.types import Chunk
from ragbench.old.metrics.source_use import (
    Topic,
    TopicCoverage,
    Usage,
    page_use,
    topic_coverage,
    total_chunks,
    unused_chunks,
    used_chunks,
    utilization_rate,
)


def test_utilization_counts_each_chunk_once_and_strangers_never() -> None:
    usage = Usage(["a", "b", "c", "d", "e"], [["b", "a"], ["b", "removed since"], []])
    assert utilization_rate(usage) == 2 / 5
    assert (total_chunks(usage), used_chunks(usage), unused_chunks(usage)) == (5, 2, 3)
    assert math.isnan(utilization_rate(Usage([], [["a"]])))


def test_a_page_is_used_once_a_question() -> None:
    one, two, other = Chunk("1", "", "A"), Chunk("2", "", "A"), Chunk("3", "", "B")
    assert page_use([[one, two], [two, other], [Chunk("4", "")]]) == {"A": 2, "B": 1}


def three_topics() -> tuple[np.ndarray, list[list[Chunk]]]:
    """30, 20 and 10 questions about points far apart; the second topic has only one chunk."""
    rng = np.random.default_rng(0)
    sizes = (20, 30, 10)
    centres = np.eye(3) * 10
    vectors = np.repeat(centres, sizes, axis=0) + 0.1 * rng.normal(size=(60, 3))
    retrieved = [[Chunk(f"s{i % 10}", "", f"S{i % 5}")] for i in range(20)]
    retrieved += [[Chunk("l", "", "L"), Chunk("l2", "", "L")] for _ in range(30)]
    retrieved += [[Chunk(f"t{i}", "", None)] for i in range(10)]
    return vectors, retrieved


def test_topics_by_silhouette_are_those_that_are_there() -> None:
    found = topic_coverage(*three_topics(), choices=range(2, 8))
    assert max(found.silhouettes, key=lambda k: found.silhouettes[k]) == 3
    assert found.as_dict() == {
        "n_topics": 3,
        "total_questions": 60,
        "avg_chunks_per_topic": pytest.approx((2 + 10 + 10) / 3),
        "topic_coverage": [
            {"topic_id": 0, "question_count": 30, "unique_chunks": 2, "unique_urls": 1},
            {"topic_id": 1, "question_count": 20, "unique_chunks": 10, "unique_urls": 5},
            {"topic_id": 2, "question_count": 10, "unique_chunks": 10, "unique_urls": 0},
        ],
    }
    assert found.labels.tolist() == [1] * 20 + [0] * 30 + [2] * 10
    assert [topic.topic_id for topic in found.thin()] == [0]


def test_topics_as_many_as_given() -> None:
    vectors, retrieved = three_topics()
    assert topic_coverage(vectors, retrieved, n_topics=5).n_topics == 5
    assert topic_coverage(vectors, retrieved, n_topics=5).silhouettes == {}
    assert topic_coverage(vectors[:1], retrieved[:1]).n_topics == 1
    assert topic_coverage(np.ones((4, 2)), retrieved[:4]).n_topics == 1


def test_topics_that_cannot_be_found() -> None:
    vectors, retrieved = three_topics()
    for arguments, options in (
        ((vectors, retrieved[:5]), {}),
        ((vectors[:0], []), {}),
        ((vectors, retrieved), {"n_topics": 61}),
        ((vectors, retrieved), {"n_topics": 0}),
    ):
        with pytest.raises(ValueError, match="questions"):
            topic_coverage(*arguments, **options)  # type: ignore[arg-type]


def test_the_number_of_topics_is_chosen_on_a_sample_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 9.0], [9.0, 0.0], [9.0, 9.0]])
    vectors = np.repeat(centres, 100, axis=0) + rng.normal(size=(300, 2))
    whole = topic_coverage(vectors, [()] * 300, choices=(2, 3, 4))
    monkeypatch.setattr("ragbench.old.metrics.source_use.COMPARED", 60)
    sampled = topic_coverage(vectors, [()] * 300, choices=(2, 3, 4))
    assert whole.n_topics == sampled.n_topics == 3
    assert sampled.silhouettes != whole.silhouettes
    assert [topic.question_count for topic in sampled.topics] == [100, 100, 100], "all questions are clustered"


def test_as_many_topics_as_there_are_different_questions_can_be_tried() -> None:
    """Three points, each asked about twice: two and three topics have a silhouette, and three separate them wholly."""
    vectors = np.repeat(np.eye(3) * 10, 2, axis=0)
    found = topic_coverage(vectors, [[Chunk(str(n), "")] for n in range(6)], choices=range(1, 6))
    assert set(found.silhouettes) == {2, 3}
    assert found.silhouettes[3] == pytest.approx(1.0)
    assert found.n_topics == 3


def test_thin_topics_have_less_than_half_of_the_median_topic() -> None:
    """Chunks a question: 1.0, 0.9, 0.48 and 0.44; the median is 0.69, half of it 0.345, three quarters 0.5175."""
    chunks = (100, 90, 48, 44)
    topics = tuple(Topic(place, 100, number, 0) for place, number in enumerate(chunks))
    coverage = TopicCoverage(topics, np.repeat(np.arange(4), 100), {})
    assert coverage.thin() == ()
    assert [topic.topic_id for topic in coverage.thin(0.75)] == [3, 2]
    edge = TopicCoverage((*topics[:2], Topic(2, 100, 90, 0), Topic(3, 100, 44, 0)), coverage.labels, {})
    assert [topic.topic_id for topic in edge.thin()] == [3], "0.44 is below half of 0.9"
