"""dot_similarity and euclidean_distance on vectors written down by hand."""

from __future__ import annotations

import math

import pytest

from ragbench.core.types import Sample, Status
from ragbench.metrics.answer_vectors import dot_similarity, euclidean_distance
from ragbench.metrics.semantic_similarity import semantic_similarity
from tests.embed.scripted_embedder import ScriptedEmbedder
from tests.judge.scripted_judge import score

SAMPLE = Sample("s", response="one", reference="other")
LONG = ScriptedEmbedder({"one": [3, 4], "other": [4, 3]}, "long")
UNIT = ScriptedEmbedder({"one": [0.6, 0.8], "other": [0.8, 0.6]}, "unit")


def test_values_by_hand() -> None:
    assert score(dot_similarity(SAMPLE, embedder=LONG)).value == 24.0
    assert score(euclidean_distance(SAMPLE, embedder=LONG)).value == pytest.approx(math.sqrt(2), abs=1e-12)


def test_on_vectors_of_length_one_they_follow_from_the_cosine() -> None:
    cosine = score(semantic_similarity(SAMPLE, embedder=UNIT)).value
    assert score(dot_similarity(SAMPLE, embedder=UNIT)).value == pytest.approx(cosine, abs=1e-7)
    distance = score(euclidean_distance(SAMPLE, embedder=UNIT)).value
    assert distance == pytest.approx(math.sqrt(2 - 2 * cosine), abs=1e-6)


def test_several_embedders_are_kept_side_by_side() -> None:
    found = score(dot_similarity(SAMPLE, embedder=[LONG, UNIT]))
    assert found.detail["embedders"] == pytest.approx({"long": 24.0, "unit": 0.96}, abs=1e-6)
    assert found.value == pytest.approx((24 + 0.96) / 2, abs=1e-6)
    assert "24.000" in found.reason
    assert "0.960" in found.reason


def test_directions_and_scales() -> None:
    assert (dot_similarity.better, dot_similarity.bounds) == ("higher", (None, None))
    assert (euclidean_distance.better, euclidean_distance.bounds) == ("lower", (0.0, None))


NOTHING = ScriptedEmbedder({"one": [0, 0], "other": [3, 4], "nothing": [0, 0]}, "nothing")


@pytest.mark.parametrize(
    ("response", "reference", "product", "distance"),
    [("one", "other", 0.0, 5.0), ("other", "one", 0.0, 5.0), ("one", "nothing", 0.0, 0.0)],
)
def test_a_zero_vector_has_a_product_and_a_distance_and_no_direction(
    response: str, reference: str, product: float, distance: float
) -> None:
    sample = Sample("s", response=response, reference=reference)
    for metric, expected in ((dot_similarity, product), (euclidean_distance, distance)):
        found = score(metric(sample, embedder=NOTHING))
        assert (found.value, found.status) == (expected, Status.OK)
        assert "has a zero vector: the embedder knows nothing of it" in found.reason
    cosine = score(semantic_similarity(sample, embedder=NOTHING))
    assert math.isnan(cosine.value)
    assert cosine.status is Status.EMBEDDING_ERROR
    assert "a zero vector, which has no direction" in cosine.reason


def test_an_empty_answer_is_not_at_the_place_of_a_zero_reference() -> None:
    """Unrelated to it, at its length of 0, would be distance 0: the best there is."""
    silent = Sample("s", response="", reference="one")
    assert score(dot_similarity(silent, embedder=NOTHING)).value == 0.0
    found = score(euclidean_distance(silent, embedder=NOTHING))
    assert math.isnan(found.value)
    assert found.status is Status.EMBEDDING_ERROR
    assert "The reference has a zero vector" in found.reason


def test_a_vector_of_nan_stays_unmeasured() -> None:
    broken = ScriptedEmbedder({"one": [math.nan, 0], "other": [3, 4]}, "broken")
    assert score(dot_similarity(SAMPLE, embedder=broken)).status is Status.EMBEDDING_ERROR
    empty = ScriptedEmbedder({"one": [], "other": []}, "empty")
    assert score(dot_similarity(SAMPLE, embedder=empty)).status is Status.EMBEDDING_ERROR
