"""Vectors that cannot be used, and embedders that fail: the rows concerned say so, and the others are measured."""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragbench.old
from ragbench.old.core import settings
from ragbench.old.core.settings import EmbedderSettings, Settings
from ragbench.old.core.types import EmbeddingError, Sample, Score, Status
from ragbench.old.metrics.answer_correctness import answer_correctness
from ragbench.old.metrics.dialogue import answer_consistency, context_preservation, response_semantic_consistency
from ragbench.old.metrics.response_relevancy import response_relevancy
from ragbench.old.metrics.semantic_similarity import dot_similarity, euclidean_distance, semantic_similarity
from ragbench.old.metrics.vectors import HOPELESS, Batch, cosine, embedded, single_cosine
from tests.old.embed.scripted_embedder import ScriptedEmbedder
from tests.old.embed.servers import EmbeddingsServer, embeddings_server
from tests.old.judge.scripted_judge import ScriptedJudge, score

UNUSABLE = {
    "nan": ([math.nan, 1.0], "NaN or infinity"),
    "infinite": ([math.inf, 1.0], "NaN or infinity"),
    "beyond 32 bits": ([1e39, 1.0], "NaN or infinity"),
    "zero": ([0.0, 0.0], "a zero vector, which has no direction"),
    "below 32 bits": ([1e-60, 0.0], "a zero vector, which has no direction"),
    "empty": ([], "a vector of another dimension"),
    "short": ([1.0], "a vector of another dimension"),
    "booleans": ([True, False], "booleans, which are no numbers"),
    "a boolean": ([1.0, True], "booleans, which are no numbers"),
    "texts": (["1", "2"], "texts, which are no numbers"),
    "lists": ([[1.0], [2.0]], "something that is no vector"),
    "a text": ("12", "something that is no vector"),
    "mappings": ([{}, {}], "something that is no number"),
    "complex": ([1j, 2.0], "something that is no number"),
}


class Given:
    """Gives what is written down, without looking at it."""

    name = identity = "given"

    def __init__(self, vectors: dict[str, Any]) -> None:
        self.vectors = vectors

    def embed(self, texts: Sequence[str], *, kind: str = "passage") -> Any:
        return [self.vectors[text] for text in texts]


WITHOUT_DIRECTION = [
    lambda sample, embedder: dot_similarity(sample, embedder=embedder),
    lambda sample, embedder: euclidean_distance(sample, embedder=embedder),
]
"""Metrics that are defined for zero vectors too."""
BY_DIRECTION = [
    lambda sample, embedder: semantic_similarity(sample, embedder=embedder),
    lambda sample, embedder: semantic_similarity(sample, embedder=embedder, threshold=-1.0),
    lambda sample, embedder: answer_correctness(
        sample, judge=ScriptedJudge(), embedder=embedder, factual_weight=0.0, semantic_weight=1.0
    ),
    lambda sample, embedder: response_relevancy(
        sample,
        judge=ScriptedJudge(response_relevancy={"questions": [{"question": "b", "manner": "committal"}]}),
        embedder=embedder,
    ),
    lambda sample, embedder: context_preservation([sample, Sample("2", user_input="b")], embedder=embedder),
    lambda sample, embedder: answer_consistency([sample, Sample("2", response="b")], embedder=embedder),
    lambda sample, embedder: response_semantic_consistency([sample, Sample("2", response="b")], embedder=embedder),
]


@pytest.mark.fault("vectors", tried="vectors that metrics cannot use", count=63)
@pytest.mark.parametrize(
    ("bad", "metric"),
    [
        *((bad, metric) for bad in UNUSABLE for metric in BY_DIRECTION),
        *((bad, metric) for bad in UNUSABLE if "zero vector" not in UNUSABLE[bad][1] for metric in WITHOUT_DIRECTION),
    ],
)
def test_an_unusable_vector_leaves_its_row_unmeasured(bad: str, metric: Callable[..., Any]) -> None:
    vector, why = UNUSABLE[bad]
    embedder = Given({"good": [1.0, 0.0], "bad": vector, "b": [0.0, 1.0]})

    async def table() -> list[Score]:
        batch = Batch(embedder)
        rows = [Sample(name, user_input=name, response=name, reference="b") for name in ("good", "bad")]
        return await batch.gather([lambda row=row: metric(row, batch) for row in rows])  # type: ignore[misc]

    good, unusable = asyncio.run(table())
    assert good.status is Status.OK
    assert (unusable.status, math.isnan(unusable.value)) == (Status.EMBEDDING_ERROR, True)
    assert f"given gives no vector of “bad”: {why}" in unusable.reason


def test_without_direction_there_is_no_cosine() -> None:
    """It was −1: the least alike that two texts can be."""
    assert math.isnan(cosine(np.array([math.nan, 1.0]), np.array([1.0, 0.0])))
    assert math.isnan(cosine(np.zeros(2), np.array([1.0, 0.0])))


@pytest.mark.parametrize("length", [1e-44, 1e-30, 1e-20, 1.0, 1e19, 3e38])
@pytest.mark.parametrize("like", [cosine, single_cosine])
def test_a_cosine_does_not_depend_on_how_long_vectors_are(like: Callable[..., float], length: float) -> None:
    """Squares of a length that 32 bits can just hold are 0 or infinite in 32 bits."""
    vector, other = np.array([length, length], np.float32), np.array([length, -length], np.float32)
    assert like(vector, vector) == pytest.approx(1.0, abs=1e-6)
    assert like(vector, np.array([1.0, 0.0], np.float32)) == pytest.approx(math.sqrt(0.5), abs=1e-6)
    assert like(vector, other) == 0.0


def test_of_several_embedders_the_others_keep_their_values() -> None:
    sample = Sample("s", response="a", reference="b")
    sound = ScriptedEmbedder({"a": [1, 0], "b": [0.6, 0.8]}, "sound")
    found = score(semantic_similarity(sample, embedder=[ScriptedEmbedder({}, "dead"), sound]))
    assert found.status is Status.EMBEDDING_ERROR
    assert found.detail["embedders"] == {"sound": pytest.approx(0.6)}
    assert "dead gives no vector of “a”" in found.reason


class Choosy:
    """Refuses a request with one of these texts, and may say which; counts what it was asked."""

    name = identity = "choosy"

    def __init__(self, refused: Sequence[str], says: bool) -> None:
        self.refused, self.says, self.calls = set(refused), says, 0

    def embed(self, texts: Sequence[str], *, kind: str = "passage") -> Any:
        self.calls += 1
        places = [place for place, text in enumerate(texts) if text in self.refused]
        if places:
            raise EmbeddingError("refused", places, reason="it is refused") if self.says else RuntimeError("refused")
        return np.array([[1.0, float(text)] for text in texts], dtype=np.float32)


@given(st.integers(1, 40), st.sets(st.integers(0, 39)), st.booleans())
def test_whatever_is_refused_the_rest_is_embedded(n: int, refused: set[int], says: bool) -> None:
    texts = [str(number) for number in range(n)]
    wrong = [text for text in texts if int(text) in refused]
    embedder = Choosy(wrong, says)
    found = embedded(embedder.embed, texts, "passage")
    assert set(found.vectors) | set(found.faults) == set(texts)
    assert set(found.faults) >= set(wrong)
    assert all(found.vectors[text][1] == float(text) for text in found.vectors)
    if says:
        assert set(found.faults) == set(wrong)
        assert embedder.calls <= 2
        assert set(found.faults.values()) <= {"it is refused"}
    elif len(wrong) < HOPELESS:
        assert set(found.faults) == set(wrong)
        assert embedder.calls <= 1 + 2 * len(wrong) * math.ceil(math.log2(max(n, 2)))


@pytest.mark.parametrize(("error", "most"), [(EmbeddingError("gone", dead=True), 1), (ConnectionError("gone"), 24)])
def test_a_dead_embedder_is_not_asked_for_every_text(error: Exception, most: int) -> None:
    calls = []

    def embed(texts: Sequence[str], *, kind: str) -> Any:
        calls.append(len(texts))
        raise error

    found = embedded(embed, [str(number) for number in range(1000)], "passage")
    assert len(found.faults) == 1000
    assert "gone" in found.faults["999"]
    assert len(calls) <= most


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingsServer]:
    """An endpoint, with embedders `remote` there, `short` for texts up to 20 signs, and `down` where nobody listens."""
    with embeddings_server() as server:
        at = EmbedderSettings(kind="openai", model="m", base_url=server.url, batch=4, attempts=1)
        known = Settings(
            embedders={
                "remote": at,
                "short": at.model_copy(update={"max_characters": 20}),
                "down": at.model_copy(update={"base_url": "http://127.0.0.1:9/v1"}),
                "offline": EmbedderSettings(max_characters=20),
            }
        )
        monkeypatch.setattr(settings, "load", lru_cache(lambda: known))
        yield server


ROWS = [
    {"id": f"s{n}", "response": f"answer {n}", "reference": f"answer {n}", "contexts": ["A passage of many words."]}
    for n in range(9)
]
METRICS = ["semantic_similarity", "exact_match"]


def values(found: Any, metric: str = "semantic_similarity") -> dict[str, Score]:
    return {row.sample.id: row.score for row in found.rows if row.metric.label == metric}


class TestAnEndpoint:
    def test_that_refuses_one_text_loses_its_row_alone(self, served: EmbeddingsServer) -> None:
        served.refuses = lambda text: text == "answer 3"
        found = values(ragbench.old.score(ROWS, METRICS, embedder="remote"))
        assert found.pop("s3").status is Status.EMBEDDING_ERROR
        assert {one.value for one in found.values()} == {1.0}
        assert len(served.requests) <= 12

    @pytest.mark.fault("vectors", tried="vectors that metrics cannot use", count=1)
    def test_whose_vector_is_not_finite_loses_its_row_alone(self, served: EmbeddingsServer) -> None:
        def spoilt(reply: dict[str, Any]) -> dict[str, Any]:
            for item, text in zip(reply["data"], served.requests[-1]["input"], strict=True):
                item["embedding"] = [math.nan] * 12 if text == "answer 3" else item["embedding"]
            return reply

        served.change = spoilt
        found = ragbench.old.score(ROWS, METRICS, embedder="remote", language="ru")
        assert values(found)["s3"].reason == "remote не даёт вектора для «answer 3»: NaN или бесконечность"
        assert found.means["answers", "semantic_similarity"].n_unmeasured == 1

    @pytest.mark.fault("hang", tried="an endpoint of embeddings that does not recover", count=1)
    def test_that_is_down_loses_no_other_metric(self, served: EmbeddingsServer) -> None:
        alone = ragbench.old.score(ROWS, METRICS, embedder="down")
        assert {one.status for one in values(alone).values()} == {Status.EMBEDDING_ERROR}
        assert {one.value for one in values(alone, "exact_match").values()} == {1.0}
        found = ragbench.old.score(ROWS, METRICS, embedder=["remote", "down"])
        assert {one.status for one in values(found).values()} == {Status.EMBEDDING_ERROR}
        assert {one.detail["embedders"]["remote"] for one in values(found).values()} == {1.0}
        assert all("down" in one.reason and "Cannot connect to host" in one.reason for one in values(found).values())
        assert {one.value for one in values(found, "exact_match").values()} == {1.0}

    @pytest.mark.parametrize("embedder", ["short", "offline"])
    def test_for_short_texts_loses_the_long_ones(self, served: EmbeddingsServer, embedder: str) -> None:
        rows = [
            *ROWS,
            {"id": "long", "response": "a word " * 9, "reference": "answer", "contexts": ["A long one " * 9]},
        ]
        found = values(ragbench.old.score(rows, METRICS, embedder=embedder))
        assert found["long"].status is Status.EMBEDDING_ERROR
        assert found.pop("long").reason.endswith("longer than max_characters = 20")
        assert {one.status for one in found.values()} == {Status.OK}


def test_the_looks_at_those_that_wait_grow_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """One look at each of 2,000, and not one at each for each of the others."""
    looks = 0

    class Watched(asyncio.Future):  # type: ignore[type-arg]
        def cancelled(self) -> bool:
            nonlocal looks
            looks += sys._getframe(1).f_code.co_name in ("<listcomp>", "_embed_if_all_wait")
            return super().cancelled()

    async def measured() -> None:
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(loop, "create_future", lambda: Watched(loop=loop), raising=False)
        batch = Batch(ScriptedEmbedder({f"text {k}": [1.0, k] for k in range(50)}))
        await batch.gather([partial(batch.wait_for, [f"text {k % 50}"], "passage") for k in range(2000)])

    asyncio.run(measured())
    assert 2000 <= looks <= 4000


def test_a_cosine_in_the_precision_that_the_vectors_have() -> None:
    one, other = np.array([1.0, 0.1, 0.7], np.float32), np.array([0.3, 1.0, 0.2], np.float32)
    expected = np.float32(one / np.linalg.norm(one)) @ np.float32(other / np.linalg.norm(other))
    assert single_cosine(one, other) == float(expected)
    assert 0 < abs(single_cosine(one, other) - cosine(one, other)) < 1e-6
    assert single_cosine(one.astype(float), other.astype(float)) == pytest.approx(cosine(one, other), abs=1e-15)
