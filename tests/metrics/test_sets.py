"""What is measured of whole sets: embedding spaces, decisions, judges, caches, sources."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn import metrics as peer

from ragbench.metrics import (
    accuracy,
    balanced_accuracy,
    decision_precision,
    decision_recall,
    f1_score,
)
from ragbench.metrics.cache import is_wrong_answer, nearest_cached, served_wrongly
from ragbench.metrics.decisions import DECISIONS, count_decisions, read_decision
from ragbench.metrics.judges import chosen_consistently, chosen_rightly, share_within
from ragbench.metrics.sources import topic_coverage
from ragbench.metrics.space import Space, measure_space

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def make_vectors(count: int = 150, width: int = 12) -> np.ndarray:
    generator = np.random.default_rng(0)
    centres = generator.normal(size=(5, width))[generator.integers(0, 5, count)]
    return (centres + 0.3 * generator.normal(size=(count, width)) + 2).astype(np.float32)


def test_a_square_by_hand() -> None:
    mean = (4 + 2 * 2**0.5) / 6
    expected = {
        "total_samples": 4,
        "avg_nn_distance": 1,
        "std_nn_distance": 0,
        "density_score": 1 / (1 + 1e-12),
        "avg_spread": 0.5**0.5,
        "max_spread": 0.5**0.5,
        "spread_std": 0,
        "effective_dimensionality": 2,
        "avg_pairwise_distance": mean,
        "std_pairwise_distance": ((4 * (1 - mean) ** 2 + 2 * (2**0.5 - mean) ** 2) / 6) ** 0.5,
        "min_pairwise_distance": 1,
        "max_pairwise_distance": 2**0.5,
    }
    assert measure_space(SQUARE) == pytest.approx(expected, abs=1e-12)
    edges = Space(SQUARE).pairs.edges
    assert (len(edges), edges[-1]) == (61, pytest.approx(2**0.5))


def test_cosine_by_hand() -> None:
    space = Space([[2.0, 0.0], [0.0, 0.5], [-3.0, 0.0]], "cosine", neighbors=2)
    found = measure_space(space)
    assert found["avg_pairwise_distance"] == pytest.approx(4 / 3)
    assert found["std_pairwise_distance"] == pytest.approx(2**0.5 / 3)
    assert (found["min_pairwise_distance"], found["max_pairwise_distance"]) == pytest.approx((1, 2))
    assert found["avg_nn_distance"] == pytest.approx(4 / 3)
    assert found["avg_spread"] == pytest.approx(2 / 3)  # the mean direction is (0, 1)


@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
def test_all_pairs_have_the_distances_of_scipy_block_by_block(
    distance: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragbench.metrics.space.WORKING_MEMORY", 0.02)  # MB: 17 rows at once
    vectors = make_vectors()
    expected = pdist(vectors.astype(float), distance)
    space = Space(vectors, distance)  # type: ignore[arg-type]
    found = measure_space(space)
    assert found["avg_pairwise_distance"] == pytest.approx(expected.mean(), rel=1e-12)
    assert found["std_pairwise_distance"] == pytest.approx(expected.std(), rel=1e-9)
    assert found["min_pairwise_distance"] == pytest.approx(expected.min(), rel=1e-9)
    assert found["max_pairwise_distance"] == pytest.approx(expected.max(), rel=1e-9)
    np.testing.assert_allclose(space.pair_means, squareform(expected).sum(axis=1) / 149)
    np.testing.assert_allclose(space.pair_squares, (squareform(expected) ** 2).sum(axis=1) / 149)
    counts, _ = np.histogram(expected, space.pairs.edges)
    assert space.pairs.counts.tolist() == counts.tolist()


def test_copies_are_neighbours_at_a_distance_of_0() -> None:
    vectors = np.vstack([make_vectors(20), make_vectors(20)[:2]])
    space = Space(vectors)
    pairs, distances = space.closest(2)
    assert pairs.tolist() == [[0, 20], [1, 21]]
    assert distances.tolist() == [0.0, 0.0]
    assert measure_space(vectors)["min_pairwise_distance"] == 0.0
    assert measure_space(np.ones((3, 2)))["density_score"] == 1e12
    far = np.vstack([make_vectors(20), np.full((1, 12), 99.0)])
    assert Space(far).outliers(1)[0].tolist() == [20]


def test_a_single_vector_has_no_distances() -> None:
    space = Space([[1.0, 2.0]])
    assert np.isnan(space.pair_means).all()
    assert np.isnan(space.pair_squares).all()
    for rows, distances in (space.closest(1), space.outliers(1)):
        assert (len(rows), len(distances)) == (0, 0)


@pytest.mark.parametrize(
    ("vectors", "options", "message"),
    [
        ([[1.0, np.nan]], {}, "finite numbers are needed"),
        ([1.0, 2.0], {}, "finite numbers are needed"),
        ([[0.0, 0.0], [1.0, 0.0]], {"distance": "cosine"}, "has no direction"),
        ([[1.0]], {"distance": "manhattan"}, "it is euclidean or cosine"),
        ([[1.0]], {"neighbors": 0}, "at least 1"),
    ],
)
def test_what_is_no_space_is_refused(vectors: object, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Space(vectors, **options)  # type: ignore[arg-type]


def test_decisions_have_the_values_of_scikit_learn() -> None:
    generator = np.random.default_rng(0)
    labels = generator.random(300) < 0.7
    decisions = np.where(generator.random(300) < 0.8, labels, ~labels)
    assert accuracy(labels, decisions) == pytest.approx(peer.accuracy_score(labels, decisions))
    expected = peer.balanced_accuracy_score(labels, decisions)
    assert balanced_accuracy(labels, decisions) == pytest.approx(expected)
    assert decision_precision(labels, decisions) == pytest.approx(
        peer.precision_score(labels, decisions)
    )
    assert decision_recall(labels, decisions) == pytest.approx(peer.recall_score(labels, decisions))
    assert f1_score(labels, decisions) == pytest.approx(peer.f1_score(labels, decisions))
    counts = count_decisions(labels, decisions)
    assert DECISIONS["f1_score"](counts.sum(axis=0)) == pytest.approx(f1_score(labels, decisions))


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("No: … yesterday", False),
        ("**Yes**, show it", True),
        ("Да.", True),
        ("нет, не показывать", False),
        ('{"reason": "no source", "show": "yes"}', True),
        ({"verdict": "no"}, False),
        ("1", True),
        ("1. yes", None),
        ("1,5", None),
        ("Perhaps yes", None),
        ("", None),
        ("{broken", None),
        (True, True),
        (np.False_, False),
        (0, False),
        (2, None),
        (1.0, True),
        (0.5, None),
        ({"say": "yes"}, None),
        (None, None),
    ],
)
def test_a_reply_decides_by_its_first_word_or_its_field(
    reply: object, expected: bool | None
) -> None:
    assert read_decision(reply) is expected


def test_a_judges_pairs_one_by_one() -> None:
    scores = [[0.0, 0.0, 1.0], [1.0, np.nan, 1.0], [np.nan, np.nan, 1.0]]
    np.testing.assert_array_equal(share_within(scores), [1 / 3, 1.0, np.nan])
    choices = [[1, -1], [1, 0], [np.nan, -1], [1, 1], [-1, 1], [0, 0], [np.nan, np.nan], [-1, 1]]
    labels = [1, 1, 1, 1, 1, 1, 1, -1]
    expected = [1, 1, 1, 0, 0, 0, np.nan, 1]
    np.testing.assert_array_equal(chosen_rightly(choices, labels), expected)
    expected = [1, 0, np.nan, 0, 1, 1, np.nan, 1]
    np.testing.assert_array_equal(chosen_consistently(choices), expected)


def test_the_nearest_cached_question_is_never_the_question_itself() -> None:
    asked, cached = [[1, 0], [3, 4], [0, 1], [-1, 0]], [[2, 0], [0, 5]]
    similarities, rows = nearest_cached(asked, cached)
    assert similarities == pytest.approx([1.0, 0.8, 1.0, 0.0])
    assert rows.tolist() == [0, 1, 1, 1]
    similarities, rows = nearest_cached(cached, cached, left_out=[0, None])
    assert rows.tolist() == [1, 1]
    similarities, rows = nearest_cached(cached[:1], cached[:1], left_out=[0])
    assert (np.isnan(similarities[0]), rows[0]) == (True, -1)
    similarities, rows = nearest_cached(asked, np.empty((0, 2)))
    assert np.isnan(similarities).all()
    assert (rows == -1).all()
    np.testing.assert_array_equal(served_wrongly([0.9, 0.9, 0.1], [1, np.nan, 1]), [1, np.nan, 0])


def test_topics_are_numbered_by_size_with_what_was_retrieved_for_each() -> None:
    vectors = [[0, 0], [0, 0.1], [0.1, 0], [9, 9], [9, 9.1]]
    retrieved = pd.DataFrame(
        [("a", "p1", "u"), ("b", "p2", "u"), ("c", "p1", ""), ("d", "p3", "v")],
        columns=["question_id", "passage_id", "url"],
    )
    coverage = topic_coverage(vectors, retrieved, list("abcde"))
    assert coverage.topics.to_dict("list") == {
        "topic_id": [0, 1],
        "question_count": [3, 2],
        "unique_chunks": [2, 1],
        "unique_urls": [1, 1],
    }
    assert coverage.topic_ids.tolist() == [0, 0, 0, 1, 1]
    assert coverage.summary()["avg_chunks_per_topic"] == 1.5
    assert max(coverage.silhouettes, key=lambda number: coverage.silhouettes[number]) == 2
    for wrong in (0, 6):
        with pytest.raises(ValueError, match=f"n_topics = {wrong}; it goes from 1 to 5"):
            topic_coverage(vectors, retrieved, list("abcde"), n_topics=wrong)
    for wrong_vectors in ([], vectors[:4], [1.0] * 5):
        with pytest.raises(ValueError, match="for 5 questions"):
            topic_coverage(wrong_vectors, retrieved, list("abcde"))
    assert topic_coverage(vectors, retrieved, list("abcde"), n_topics=1).summary()["n_topics"] == 1
    without = topic_coverage(vectors, retrieved.drop(columns="url"), list("abcde"))
    assert without.topics["unique_urls"].tolist() == [0, 0]


@pytest.mark.parametrize(("compared", "most"), [(6, 5), (22, 20)])
def test_of_many_questions_some_tell_the_number_of_topics(
    monkeypatch: pytest.MonkeyPatch, compared: int, most: int
) -> None:
    monkeypatch.setattr("ragbench.metrics.sources.MOST_COMPARED", compared)
    vectors = [[9 * (number % 2), 0.1 * number] for number in range(24)]
    names = [str(number) for number in range(24)]
    retrieved = pd.DataFrame({"question_id": names, "passage_id": names})
    coverage = topic_coverage(vectors, retrieved, names)
    assert set(coverage.silhouettes) == set(range(2, most + 1))
    assert coverage.topics["question_count"].tolist() == [12, 12]


@pytest.mark.parametrize(
    ("known", "cached", "expected"),
    [
        (("q?", "at 9", "", None), ("r?", "at 9", ""), 0),  # word for word the right answer
        (("q?", "", "at 9", None), ("r?", "at 9", "/a"), 1),  # word for word a disliked one
        (("q?", "", "", None), ("r?", "at 9", "/a"), np.nan),  # nobody knows the right one
        (("q?", "", "", None), ("r?", "", "/a"), np.nan),
        (("q?", "", "", {"/a"}), ("r?", "at 9", "/a"), 0),
        (("q?", "", "", {"/a"}), ("r?", "at 9", "/b"), 1),
        (("q?", "", "", {"/a"}), ("r?", "at 9", ""), 1),
        (("q?", "", "", set()), ("r?", "not told", ""), 0),  # right: it stands nowhere
        (("q?", "", "", set()), ("r?", "at 9", "/a"), 1),
        (("in 2 parts?", "", "", {"/a"}), ("in 3 parts?", "yes", "/a"), np.nan),  # other numbers
        (("q?", "from 9 to 10", "", {"/a"}), ("r?", "from 9", "/a"), 0),  # part of them
    ],
)
def test_whether_a_cached_answer_is_wrong(known: Any, cached: Any, expected: float) -> None:
    assert is_wrong_answer(*known, *cached) == pytest.approx(expected, nan_ok=True)
