"""semantic_similarity: cosines by hand, thresholds of every sign, one batch for a whole table."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ragbench.old import embed
from ragbench.old.core.language import translator
from ragbench.old.core.settings import EmbedderSettings
from ragbench.old.core.types import Sample, Score, Status
from ragbench.old.metrics.explanation import explain
from ragbench.old.metrics.semantic_similarity import dot_similarity, euclidean_distance, semantic_similarity
from ragbench.old.metrics.vectors import Batch, cosine
from tests.old.embed.scripted_embedder import ScriptedEmbedder
from tests.old.judge.scripted_judge import score

PAIRS = {
    "paraphrase": {
        "en": (
            "Machine learning is a branch of artificial intelligence.",
            "ML is a part of AI that lets systems learn from data.",
        ),
        "ru": (
            "Машинное обучение - это раздел искусственного интеллекта.",
            "ML - это ветвь ИИ, позволяющая системам учиться на данных.",
        ),
    },
    "other topic": {
        "en": ("It is sunny and warm today.", "Quantum computers use qubits for computation."),
        "ru": ("Сегодня погода солнечная и тёплая.", "Квантовые компьютеры используют кубиты для вычислений."),
    },
    "python": {
        "en": (
            "Python is a programming language for web development.",
            "Python is a general-purpose programming language for web applications.",
        ),
        "ru": (
            "Python - язык программирования для веб-разработки.",
            "Python - универсальный язык программирования для веб-приложений.",
        ),
    },
}
NEAR, FAR = ([1.0, 0.0], [0.8, 0.6]), ([1.0, 0.0], [0.28, 0.96])
SAMPLE = Sample("s", response="a", reference="b")


def of(vectors: Any = NEAR, sample: Sample = SAMPLE, **options: Any) -> Score:
    texts = (sample.response or "", sample.reference or "")
    embedder = ScriptedEmbedder(dict(zip(texts, vectors, strict=True)))
    return score(semantic_similarity(sample, embedder=embedder, **options))


@pytest.mark.parametrize("language", ["en", "ru"])
@pytest.mark.parametrize(
    ("pair", "vectors", "expected"), [("paraphrase", NEAR, 0.8), ("other topic", FAR, 0.28), ("python", NEAR, 0.8)]
)
def test_the_specifications_pairs(language: str, pair: str, vectors: Any, expected: float) -> None:
    response, reference = PAIRS[pair][language]
    found = of(vectors, Sample("s", response=response, reference=reference))
    assert found.value == pytest.approx(expected, abs=1e-7)
    said = explain(found, translator(language))
    assert (f"{expected:.3f}" if language == "en" else f"{expected:.3f}".replace(".", ",")) in said


class TestThreshold:
    @pytest.mark.parametrize(
        ("vectors", "threshold", "expected"),
        [(NEAR, 0.79, 1.0), (NEAR, 0.81, 0.0), (FAR, 0.5, 0.0), (([1, 0], [1, 0]), 1.0, 1.0), (NEAR, -1, 1.0)],
    )
    def test_one_or_zero(self, vectors: Any, threshold: float, expected: float) -> None:
        found = of(vectors, threshold=threshold)
        assert found.value == expected
        assert found.detail["cosine"] == pytest.approx(vectors[1][0], abs=1e-7)

    def test_zero_is_a_threshold(self) -> None:
        """Common software tests the threshold for truth and then returns the cosine."""
        assert of(FAR, threshold=0.0).value == 1.0
        assert of(([1, 0], [-0.6, 0.8]), threshold=0.0).value == 0.0

    def test_what_no_cosine_can_reach(self) -> None:
        with pytest.raises(ValueError, match="a number from -1 to 1 or None is expected"):
            of(threshold=1.5)
        with pytest.raises(ValueError, match="a number from -1 to 1 or None is expected"):
            of(threshold=float("nan"))

    def test_the_explanation_says_which_side(self) -> None:
        assert "reaches the threshold 0.500" in of(threshold=0.5).reason
        assert "below the threshold 0.900" in of(threshold=0.9).reason


def test_several_embedders_each_kept() -> None:
    first = ScriptedEmbedder({"a": [1, 0], "b": [0.8, 0.6]}, "first")
    second = ScriptedEmbedder({"a": [1, 0], "b": [0, 1]}, "second")
    found = score(semantic_similarity(SAMPLE, embedder=[first, second]))
    assert found.detail["embedders"] == {"first": pytest.approx(0.8, abs=1e-7), "second": 0.0}
    assert found.value == pytest.approx(0.4, abs=1e-7)
    with pytest.raises(ValueError, match="its own name"):
        score(semantic_similarity(SAMPLE, embedder=[first, first]))
    with pytest.raises(ValueError, match="at least one"):
        score(semantic_similarity(SAMPLE, embedder=[]))


def test_the_offline_embedder_on_itself_is_exactly_one() -> None:
    texts = [text for pair in PAIRS.values() for language in pair.values() for text in language]
    offline = embed.make("offline", EmbedderSettings(kind="hashing", dimensions=8), texts)
    for text in texts:
        assert score(semantic_similarity(Sample("s", response=text, reference=text), embedder=offline)).value == 1.0
    response, reference = PAIRS["python"]["ru"]
    other = PAIRS["other topic"]["ru"][1]
    near, far = (
        score(semantic_similarity(Sample("s", response=response, reference=text), embedder=offline)).value
        for text in (reference, other)
    )
    assert near > far


class TestBatch:
    def test_a_whole_table_is_one_call(self) -> None:
        embedder = ScriptedEmbedder({f"t{n}": [n, 1.0] for n in range(20)})
        samples = [Sample(str(n), response=f"t{n}", reference=f"t{n + 1}") for n in range(10)]
        samples.append(Sample("missing", response="t1"))

        async def work() -> list[Score]:
            batch = Batch(embedder)
            return await batch.gather([lambda s=s: semantic_similarity(s, embedder=batch) for s in samples])  # type: ignore[misc]

        found = asyncio.run(work())
        assert len(embedder.calls) == 1
        assert sorted(embedder.calls[0][1]) == sorted(f"t{n}" for n in range(11)), "each text once"
        for each, sample in zip(found[:10], samples, strict=False):
            alone = score(semantic_similarity(sample, embedder=embedder))
            assert each.value == alone.value
        assert found[10].status is Status.MISSING_FIELD

    def test_who_never_asks_does_not_hold_up_the_others(self) -> None:
        async def slow() -> Score:
            await asyncio.sleep(0.02)
            return Score(1.0)

        async def work() -> list[Score]:
            batch = Batch(ScriptedEmbedder({"a": [1, 0], "b": [1, 0]}))
            return await asyncio.wait_for(batch.gather([slow, lambda: semantic_similarity(SAMPLE, embedder=batch)]), 5)

        assert [each.value for each in asyncio.run(work())] == [1.0, 1.0]

    def test_an_error_reaches_those_who_wait(self) -> None:
        async def work(**how: Any) -> list[Score]:
            batch = Batch(ScriptedEmbedder({}), **how)
            return await asyncio.wait_for(batch.gather([lambda: semantic_similarity(SAMPLE, embedder=batch)]), 5)

        [found] = asyncio.run(work())
        assert found.status is Status.EMBEDDING_ERROR
        with pytest.raises(KeyError):
            asyncio.run(work(fatal=(KeyError,)))


@given(hnp.arrays(np.float32, 5, elements=st.floats(-10, 10, width=32)).filter(lambda v: float(abs(v).max()) > 1e-3))
def test_a_vector_with_itself_and_its_opposite(vector: Any) -> None:
    assert cosine(vector, vector) == 1.0
    assert cosine(vector, -vector) == -1.0
    assert cosine(vector, 3 * vector) == pytest.approx(1.0, abs=1e-6)


def test_white_space_around_a_text_is_no_part_of_it() -> None:
    embedder = ScriptedEmbedder({"a": [1.0, 0.0], "b": [0.8, 0.6]})
    found = score(semantic_similarity(Sample("s", response=" a\n", reference="\tb "), embedder=embedder))
    assert found.value == pytest.approx(0.8, abs=1e-6)
    assert [text for _, texts in embedder.calls for text in texts] == ["a", "b"]


def test_a_long_text_is_one_text() -> None:
    """It is not cut here: what the embedder's model cannot hold is the embedder's matter."""
    text = "This is a sentence about the response. " * 60
    embedder = ScriptedEmbedder({text.strip(): [1, 0], "b": [1, 0]})
    found = score(semantic_similarity(Sample("s", response=text, reference="b"), embedder=embedder))
    assert found.value == 1.0
    assert embedder.calls == [("passage", [text.strip(), "b"])]


def test_ragas_embeds_a_space_for_an_empty_text() -> None:
    embedder = ScriptedEmbedder({" ": [1, 0], "b": [0.6, 0.8]})
    found = score(semantic_similarity(Sample("s", response="", reference="b"), embedder=embedder, variant="ragas"))
    assert found.value == pytest.approx(0.6, abs=1e-7)
    plain = score(semantic_similarity(Sample("s", response="", reference="b"), embedder=embedder))
    assert (plain.value, plain.reason) == (0.0, "empty answer")


@pytest.mark.parametrize(
    ("vectors", "threshold"),
    [
        (([1.0, 0.0], [0.8, 0.6]), 0.8), (([1.0, 0.0], [0.6, 0.8]), 0.6), (([0.8, 0.6], [0.8, -0.6]), 0.28),
        (([1.0, 0.0], [0.28, 0.96]), 0.28), (([5.0, 12.0], [12.0, 5.0]), 120 / 169),
        (([1.0, 1.0], [0.0, 1.0]), 0.5**0.5),
    ],
)  # fmt: skip
def test_a_cosine_that_is_its_threshold_reaches_it(vectors: tuple[list[float], list[float]], threshold: float) -> None:
    """Also where single precision keeps the vectors a hair nearer or farther; 1e-6 more is not reached."""
    embedder = ScriptedEmbedder({"a": vectors[0], "b": vectors[1]})
    one = Sample("q", response="a", reference="b")
    for scale in (1.0, 0.1, 1 / 3):
        embedder.vectors = {"a": vectors[0], "b": [scale * each for each in vectors[1]]}
        assert score(semantic_similarity(one, embedder=embedder, threshold=threshold)).value == 1.0
        assert score(semantic_similarity(one, embedder=embedder, threshold=threshold + 1e-6)).value == 0.0


def test_texts_that_are_as_like_as_the_threshold_are_alike() -> None:
    from ragbench.old.metrics.contexts import _alike

    for same in range(1, 10):
        one, other = "a" * same + "b" * (10 - same), "a" * 10
        assert _alike(one, other, same / 10), same
        assert not _alike(one, other, same / 10 + 0.01), same


ANSWERED = Sample("s", response="one", reference="other")
LONG = ScriptedEmbedder({"one": [3, 4], "other": [4, 3]}, "long")
UNIT = ScriptedEmbedder({"one": [0.6, 0.8], "other": [0.8, 0.6]}, "unit")


def test_values_by_hand() -> None:
    assert score(dot_similarity(ANSWERED, embedder=LONG)).value == 24.0
    assert score(euclidean_distance(ANSWERED, embedder=LONG)).value == pytest.approx(math.sqrt(2), abs=1e-12)


def test_on_vectors_of_length_one_they_follow_from_the_cosine() -> None:
    cosine = score(semantic_similarity(ANSWERED, embedder=UNIT)).value
    assert score(dot_similarity(ANSWERED, embedder=UNIT)).value == pytest.approx(cosine, abs=1e-7)
    distance = score(euclidean_distance(ANSWERED, embedder=UNIT)).value
    assert distance == pytest.approx(math.sqrt(2 - 2 * cosine), abs=1e-6)


def test_several_embedders_are_kept_side_by_side() -> None:
    found = score(dot_similarity(ANSWERED, embedder=[LONG, UNIT]))
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
    assert score(dot_similarity(ANSWERED, embedder=broken)).status is Status.EMBEDDING_ERROR
    empty = ScriptedEmbedder({"one": [], "other": []}, "empty")
    assert score(dot_similarity(ANSWERED, embedder=empty)).status is Status.EMBEDDING_ERROR
