"""Tier 0 by its front: vectors, texts and functions in, the twelve measures out."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ragbench as rb
from ragbench.core.errors import BenchError
from ragbench.data import from_objects
from ragbench.tiers import tier0_embeddings as tier

FEW = {"draws": 200, "projected": 0}
# A right triangle with sides 3, 4 and 5; its centroid is (1, 4/3).
TRIANGLE = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
BY_HAND = {
    "total_samples": 3,
    "avg_nn_distance": 10 / 3,
    "std_nn_distance": math.sqrt(2) / 3,
    "density_score": 0.3,
    "avg_spread": (5 / 3 + math.sqrt(52) / 3 + math.sqrt(73) / 3) / 3,
    "max_spread": math.sqrt(73) / 3,
    "effective_dimensionality": 2,
    "avg_pairwise_distance": 4,
    "std_pairwise_distance": math.sqrt(2 / 3),
    "min_pairwise_distance": 3,
    "max_pairwise_distance": 5,
}


def rows(result: Any) -> pd.DataFrame:
    """The estimates of the only embedder, by metric."""
    return result.estimates.set_index("metric")


def test_the_measures_are_those_computed_by_hand() -> None:
    values = rows(rb.tier0(vectors=TRIANGLE, **FEW))["value"]
    assert len(values) == 12
    for metric, expected in BY_HAND.items():
        assert values[metric] == pytest.approx(expected, abs=1e-9), metric


def test_copies_are_neighbours_at_distance_0_and_cosine_is_an_option() -> None:
    vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    values = rows(rb.tier0(vectors=vectors, **FEW))["value"]
    assert values["min_pairwise_distance"] == 0.0
    by_cosine = rb.tier0(vectors=vectors, distance="cosine", **FEW)
    assert rows(by_cosine)["value"]["max_pairwise_distance"] == pytest.approx(1.0)
    assert "cosine distance" in str(by_cosine)


def test_counts_and_extremes_have_no_interval_and_the_others_hold_their_value() -> None:
    vectors = np.random.default_rng(0).normal(size=(60, 12)) * np.linspace(2, 0.3, 12)
    estimates = rows(rb.tier0(vectors=vectors, **FEW))
    without = {"total_samples", "max_spread", "min_pairwise_distance", "max_pairwise_distance"}
    assert set(estimates.index[estimates["low"].isna()]) == without
    known = estimates.drop(list(without))
    assert ((known["low"] <= known["value"]) & (known["value"] <= known["high"])).all()
    mean, density = estimates.loc["avg_nn_distance"], estimates.loc["density_score"]
    assert density["low"] == pytest.approx(1 / mean["high"], rel=1e-3)


def test_the_interval_over_pairs_leaves_texts_out_one_by_one() -> None:
    vectors = np.random.default_rng(1).normal(size=(12, 3))

    def mean_distance(points: np.ndarray) -> float:
        pairs = itertools.combinations(points, 2)
        return float(np.mean([np.linalg.norm(first - second) for first, second in pairs]))

    without = [mean_distance(np.delete(vectors, row, axis=0)) for row in range(12)]
    error = math.sqrt(11 * np.var(without))
    estimate = rows(rb.tier0(vectors=vectors, **FEW)).loc["avg_pairwise_distance"]
    assert estimate["high"] - estimate["value"] == pytest.approx(2.2009851600829 * error)


def test_texts_are_embedded_by_functions_side_by_side() -> None:
    texts = {"a": "one", "b": "two words", "c": "three more words", "d": "four words of it"}

    def lengths(texts: list[str]) -> list[list[float]]:
        return [[len(text), len(text.split())] for text in texts]

    def vowels(texts: list[str]) -> list[list[float]]:
        return [[1 + text.count("o"), 1 + text.count("e")] for text in texts]

    result = rb.tier0(texts, {"lengths": lengths, "vowels": vowels}, listed=2, **FEW)
    assert result.systems == ["lengths", "vowels"]
    assert len(result.estimates) == 24
    closest = result.frames.closest
    assert closest.groupby("system").size().tolist() == [2, 2]
    assert set(closest["first"]) <= set(texts)
    assert len(result.scores) == 2 * 4


def test_lists_histogram_and_spectrum_are_those_computed_by_hand() -> None:
    frames = rb.tier0(vectors=TRIANGLE, listed=1, **FEW).frames
    assert frames.closest[["first", "second", "distance"]].to_numpy().tolist() == [["0", "1", 3.0]]
    assert frames.outliers[["text_id", "nearest", "distance"]].to_numpy().tolist() == [
        ["2", "0", 4.0]
    ]
    # The nearest are at 3, 3 and 4; of three values there are two classes.
    nearest = frames.histograms[frames.histograms["kind"] == "nearest"]
    assert nearest[["low", "high", "count"]].to_numpy().tolist() == [[3.0, 3.5, 2], [3.5, 4.0, 1]]
    # Of the centred matrix the squares are 6, 32 / 3 and -4 across.
    first = (50 / 3 + math.sqrt((14 / 3) ** 2 + 64)) / 2 / (50 / 3)
    assert frames.spectrum["components"].tolist() == [1, 2]
    assert frames.spectrum["share"].tolist() == pytest.approx([first, 1.0])
    same = rb.tier0(vectors=np.ones((3, 2)), **FEW)
    assert rows(same)["value"]["effective_dimensionality"] == 0
    assert same.frames.spectrum["share"].tolist() == [1.0, 1.0]


class Questions:
    """As LangChain's embedders; it embeds questions alone."""

    def embed_query(self, text: str) -> list[float]:
        return [1.0, float(text[0])]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise AssertionError


@pytest.mark.parametrize(
    ("urls", "groups"),
    [
        (["https://x/a/1", "https://x/b/2", "https://x/3"], ["a", "b", ""]),
        (["https://x/a/1", "https://x/a/2", "https://x/a/3"], ["T0", "T1", "T2"]),
    ],
)
def test_texts_are_told_apart_by_folder_else_by_title(urls: list[str], groups: list[str]) -> None:
    documents = [
        {"id": str(n), "text": f"text {n}", "url": url, "title": f"T{n}"}
        for n, url in enumerate(urls)
    ]
    questions = [{"id": f"q{n}", "question": f"{n}?", "kind": f"k{n}"} for n in range(3)]
    data_set = from_objects(questions, documents)
    lengths: Any = lambda texts: [[1.0, n] for n in range(len(texts))]  # noqa: E731
    assert rb.tier0(data_set, lengths, **FEW).frames.texts["group"].tolist() == groups
    texts = rb.tier0(data_set, Questions(), embedded="questions", **FEW).frames.texts
    assert texts[["text_id", "text", "group"]].to_numpy().tolist() == [
        ["q0", "0?", "k0"],
        ["q1", "1?", "k1"],
        ["q2", "2?", "k2"],
    ]


def test_vectors_may_have_names_and_texts(tmp_path: Any) -> None:
    vectors = {"small": TRIANGLE, "turned": TRIANGLE[:, ::-1]}
    result = rb.tier0(vectors=vectors, texts=["<b>zero</b>", "three", "four"], **FEW)
    page = result.save(tmp_path).read_text(encoding="utf-8")
    assert "&lt;b&gt;zero" in page
    assert (tmp_path / "frames" / "tier0_embeddings" / "distances.parquet").is_file()
    assert "small needs 2" in str(result)


def test_a_picture_is_drawn_once_and_then_kept_beside_the_vectors(
    monkeypatch: pytest.MonkeyPatch, database_url: str
) -> None:
    drawn = []

    def draw(vectors: np.ndarray, n_axes: int, distance: str, seed: int) -> np.ndarray:
        drawn.append(n_axes)
        return np.arange(len(vectors) * n_axes, dtype=float).reshape(-1, n_axes)

    monkeypatch.setattr(tier, "compute_umap", draw)
    monkeypatch.setenv("RAGBENCH_DATABASE_URL", database_url)
    texts = [f"text {number} of {number % 4} kinds" for number in range(14)]
    first, second = (rb.tier0(texts, "hashing", draws=200) for _ in range(2))
    assert drawn == [2, 3]
    pd.testing.assert_frame_equal(first.frames.projection, second.frames.projection)
    assert first.about.stand_ins == ("embedder hashing",)
    passages = from_objects(None, texts)
    data_set = rb.tier0(passages, "hashing", draws=200, projected=0)
    assert data_set.estimates.equals(first.estimates)
    assert "in 3 dimensions" in str(first.page)
    for most, given, shown in ((14, 14, 14), (12, 14, 12), (13, 12, 12), (13, 11, 0)):
        few = rb.tier0(texts[:given], "hashing", draws=200, projected=most)
        assert len(few.frames.projection) == shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"texts": ["one", "two"]}, "2 passages: at least 3 are needed"),
        ({"vectors": TRIANGLE, "neighbors": 5}, "at least 6 are needed"),
        ({"vectors": TRIANGLE, "distance": "manhattan"}, "euclidean"),
        ({"vectors": TRIANGLE, "texts": ["a", "b", "c", "d"]}, "3 vectors for 4 texts"),
        ({"vectors": TRIANGLE, "metrics": "mrr"}, "no such key"),
    ],
)
def test_what_cannot_be_measured_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BenchError, match=message):
        rb.tier0(embedders=lambda texts: [[len(text)] for text in texts], **options)
