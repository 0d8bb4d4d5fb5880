"""Tier 0 from a folder of data to a measurement: all twelve measures, their intervals, and the lists behind them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from threadpoolctl import threadpool_limits

from ragbench.old import stats, tiers
from ragbench.old.core import settings
from ragbench.old.core.measurement import NamedEstimate
from ragbench.old.metrics.embedding_space import MEASURES, Geometry
from ragbench.old.tiers import BenchError
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.retrieval import sources, tier0_embeddings
from tests.old.report.published import Published, site_of
from tests.old.small_project import write_lines
from tests.old.views.measurements import value, values

SURE = Sureness(0.95, 2000, 0)
NAMES = [each.name for each in MEASURES]


def estimated(geometry: Geometry) -> list[NamedEstimate]:
    """What is stated of a space, of the tables that are kept of it."""
    ids = np.array([str(row) for row in range(len(geometry))], dtype=object)
    tables = tier0_embeddings.distances("x", geometry, ids), tier0_embeddings.readings("x", geometry)
    return tier0_embeddings.estimates("x", *tables, geometry.neighbors, SURE)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def corpus(project: Path) -> Path:
    """The small project with thirty texts on three pages, two of them the same, and a second embedder."""
    subjects = ("the library opens at nine", "a scholarship is paid monthly", "the sports hall is closed")
    rows = [{"id": f"t{i:02}", "text": f"{subjects[i % 3]} in week {i} of term {'abc'[i % 2]}",
             "url": f"https://x.example/{'abc'[i % 3]}/{i}"} for i in range(28)]  # fmt: skip
    rows += [
        {"id": "twin1", "text": "Keys are handed out at the front desk.", "url": "https://x.example/a/k"},
        {"id": "twin2", "text": "Keys are handed out at the front desk.", "url": "https://x.example/a/l"},
        {"id": "stray", "text": "Ωμέγα ζήτα ψι", "url": "https://x.example/b/s"},
    ]
    write_lines(project / "data" / "small" / "chunks.en.jsonl", rows)
    questions = [{"id": f"q{i}", "text": f"When is week {i}?", "relevant": {"t01": 1}} for i in range(4)]
    write_lines(project / "data" / "small" / "questions.en.jsonl", questions)
    toml = project / "ragbench.toml"
    text = toml.read_text(encoding="utf-8") + (
        '[embedders.plain]\nkind = "hashing"\ntfidf = false\ndimensions = 0\nbuckets = 512\n'
        '[systems.plain]\nembedder = "plain"\n'
    )
    toml.write_text(text, encoding="utf-8")
    settings.load.cache_clear()
    return project


@pytest.mark.usefixtures("corpus")
def test_every_embedder_has_all_twelve_measures_of_the_same_texts() -> None:
    found = tiers.tier0_embeddings(projected=0, resamples=500)
    assert [e.metric for e in found.estimates] == NAMES * 2
    assert [s["name"] for s in found.facts["systems"]] == ["hashing", "plain"]
    assert {e.estimate.n for e in found.estimates} == {31}
    assert found.facts["n_texts"] == 31
    assert found.comparisons == (), "a number that describes is compared with nothing"
    assert [one["name"] for one in found.facts["stand_ins"]] == ["hashing", "plain"]


@pytest.mark.usefixtures("corpus")
def test_lists_and_curves_hold_what_the_numbers_are_made_of() -> None:
    """Twins come first and count as nearly the same; the stray text is the first outlier."""
    found = tiers.tier0_embeddings(embedders="plain", projected=0, resamples=500, listed=5, neighbors=2)
    for metric in ("avg_nn_distance", "avg_spread", "avg_pairwise_distance"):
        rows = values(found, "plain", metric)
        assert len(rows) == 31
        assert np.mean(list(rows.values())) == pytest.approx(value(found, "plain", metric), abs=1e-12)
    closest = found.extra["closest"]
    assert (closest["first"][0], closest["second"][0], closest["distance"][0]) == ("twin1", "twin2", 0.0)
    assert bool(closest["near"][0])
    assert value(found, "plain", "min_pairwise_distance") == 0
    assert closest["distance"].is_monotonic_increasing
    assert len(closest) == 5
    counts = found.extra["histograms"].groupby("kind")["count"].sum()
    assert counts.to_dict() == {"nearest": 2 * 31, "pairs": 31 * 30 // 2}
    table = found.extra["spectrum"].set_index("components")["share"]
    dimensions = int(value(found, "plain", "effective_dimensionality"))
    assert table[dimensions] >= 0.95 > table[: dimensions - 1].max()
    assert table.is_monotonic_increasing
    [facts] = found.facts["systems"]
    every = tiers.tier0_embeddings(embedders="plain", projected=0, resamples=500, listed=31 * 15)
    near = every.extra["closest"]
    assert len(near) == 31 * 15
    assert facts["near_duplicates"] == int(near["near"].sum()) > 5
    assert facts["near_distance"] == pytest.approx(0.25 * value(found, "plain", "avg_pairwise_distance"), abs=1e-6)
    texts = found.extra["texts"].set_index("id")["text"]
    assert texts["twin1"].startswith("Keys are handed out")
    first = every.extra["outliers"].iloc[0]
    assert first["text"] == "stray"
    assert first["distance"] == pytest.approx(values(every, "plain", "avg_nn_distance")["stray"])
    assert {first["text"], first["nearest"]} <= set(every.extra["texts"]["id"])
    asked = tiers.tier0_embeddings(embedders="plain", texts="questions", projected=0, resamples=500)
    assert value(asked, "plain", "total_samples") == 4


def test_questions_alone_are_a_space_too(corpus: Path) -> None:
    """An embedder that is fitted to passages is fitted to them."""
    write_lines(corpus / "data" / "small" / "chunks.en.jsonl", [])
    questions = [{"id": f"q{i}", "text": f"When is week {i}?"} for i in range(4)]
    write_lines(corpus / "data" / "small" / "questions.en.jsonl", questions)
    asked = tiers.tier0_embeddings(embedders="hashing", texts="questions", projected=0, resamples=500)
    assert value(asked, "hashing", "total_samples") == 4
    assert value(asked, "hashing", "avg_pairwise_distance") > 0


def test_the_last_digit_does_not_depend_on_the_number_of_threads(corpus: Path) -> None:
    words = np.random.default_rng(0).integers(0, 10**6, (300, 20)).tolist()
    rows = [
        {"id": f"t{i}", "text": " ".join(map(str, row)), "url": f"https://x.example/{i}"} for i, row in enumerate(words)
    ]
    write_lines(
        corpus / "data" / "small" / "chunks.en.jsonl",
        [*rows, {"id": "t01", "text": "week", "url": "https://x.example/"}],
    )
    found = []
    for threads in (1, 2, 3):
        with threadpool_limits(threads, "blas"):
            found.append(tiers.tier0_embeddings(embedders="plain", projected=0, resamples=100))
    for one in found[1:]:
        assert one.scores.equals(found[0].scores)
        assert one.extra["spectrum"].equals(found[0].extra["spectrum"])
        assert one.estimates == found[0].estimates


@pytest.mark.usefixtures("corpus")
def test_more_neighbours_than_there_are_texts_are_refused() -> None:
    with pytest.raises(BenchError, match="at least 32 are needed"):
        tiers.tier0_embeddings(neighbors=31)


@pytest.mark.usefixtures("corpus")
@pytest.mark.slow
def test_the_picture_is_the_same_twice_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = tiers.tier0_embeddings(embedders="plain", resamples=500)
    picture = first.extra["projection"]
    assert len(picture) == 31
    assert np.isfinite(picture[["x2", "y2", "x3", "y3", "z3"]].to_numpy()).all()
    assert len(list((tmp_path / "cache").rglob("*.npy"))) == 2
    with monkeypatch.context() as no_work:
        no_work.setattr(tier0_embeddings, "_umap", lambda *_: pytest.fail("the picture was kept"))
        assert tiers.tier0_embeddings(embedders="plain", resamples=500).extra["projection"].equals(picture)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
    assert tiers.tier0_embeddings(embedders="plain", resamples=500).extra["projection"].equals(picture)


def test_a_large_set_is_sampled_in_its_order() -> None:
    rows = tier0_embeddings.sampled(1000, 50, seed=3)
    assert len(set(rows.tolist())) == 50
    assert (np.diff(rows) > 0).all()
    assert tier0_embeddings.sampled(40, 50, seed=3).tolist() == list(range(40))
    assert tier0_embeddings.project(np.ones((5, 3), dtype=np.float32)) == {}


def test_intervals_are_there_where_they_are_valid_and_say_why_where_not() -> None:
    rng = np.random.default_rng(1)
    found = {e.metric: e.estimate for e in estimated(Geometry(rng.normal(size=(80, 5))))}
    assert list(found) == NAMES
    reasons = {name: e.note for name, e in found.items() if e.low is None}
    assert reasons == {
        "total_samples": "count",
        "max_spread": "extreme",
        "effective_dimensionality": "dimensions",
        "min_pairwise_distance": "extreme",
        "max_pairwise_distance": "extreme",
    }
    assert all(e.low < e.value < e.high for e in found.values() if e.low is not None)
    assert found["avg_pairwise_distance"].method == found["std_pairwise_distance"].method == "u_statistic"


def test_values_equal_the_formulas() -> None:
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(40, 6))
    found = {e.metric: e.estimate.value for e in estimated(Geometry(vectors, neighbors=3))}
    distances = squareform(pdist(vectors))
    nearest = np.sort(distances, axis=1)[:, 1:4]
    radii = np.linalg.norm(vectors - vectors.mean(axis=0), axis=1)
    pairs = pdist(vectors)
    expected = {
        "total_samples": 40,
        "avg_nn_distance": nearest.mean(),
        "std_nn_distance": nearest.std(),
        "density_score": 1 / (nearest.mean() + 1e-12),
        "avg_spread": radii.mean(),
        "max_spread": radii.max(),
        "spread_std": radii.std(),
        "avg_pairwise_distance": pairs.mean(),
        "std_pairwise_distance": pairs.std(),
        "min_pairwise_distance": pairs.min(),
        "max_pairwise_distance": pairs.max(),
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-9)


def test_the_density_interval_is_that_of_the_neighbour_distance_turned_over_and_copies_have_none() -> None:
    rng = np.random.default_rng(3)
    found = {e.metric: e.estimate for e in estimated(Geometry(rng.normal(size=(50, 4))))}
    mean, density = found["avg_nn_distance"], found["density_score"]
    assert density.low == pytest.approx(1 / mean.high)
    assert density.high == pytest.approx(1 / mean.low)
    assert density.method == mean.method
    found = {e.metric: e.estimate for e in estimated(Geometry(np.ones((6, 3))))}
    assert found["density_score"].low is None
    assert found["effective_dimensionality"].value == 0


@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
def test_mean_squared_distances_in_closed_form(distance: str) -> None:
    rng = np.random.default_rng(4)
    vectors = rng.normal(size=(25, 7)) + 0.5
    square = squareform(pdist(vectors, distance)) ** 2
    found = tier0_embeddings.mean_squares(Geometry(vectors, distance=distance))
    np.testing.assert_allclose(found, square.sum(axis=1) / 24, rtol=1e-9)


def test_resampling_vectors_would_lose_dimensions() -> None:
    """Why effective_dimensionality has a dash and no bootstrap interval."""
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(100, 200))
    whole = MEASURES[7](Geometry(vectors))
    drawn = [MEASURES[7](Geometry(vectors[rng.integers(0, 100, 100)])) for _ in range(50)]
    assert MEASURES[7].name == "effective_dimensionality"
    assert max(drawn) < whole, "every resample says fewer dimensions than the set has"


def test_clusters_part_what_lies_apart_and_words_name_them() -> None:
    rng = np.random.default_rng(6)
    centres = np.eye(3)[np.repeat([0, 1, 2], [12, 8, 5])]
    labels = sources.clusters(centres + rng.normal(scale=0.05, size=centres.shape), seed=0)
    assert labels.tolist() == [0] * 12 + [1] * 8 + [2] * 5, "numbered by size"
    texts = [f"what about {('rent', 'exams', 'trains')[label]} now" for label in labels]
    assert [words[0] for words in sources.typical_words(texts, labels)] == ["rent", "exams", "trains"]
    assert not {"what", "about", "now"} & {word for words in sources.typical_words(texts, labels) for word in words}


def test_words_of_one_text_alone_and_of_too_many_texts_come_last() -> None:
    """Of 24 texts `rent` and `trains` stand in more than 3, `nothing` and `once` in one; by share, `rent` would be
    .75 · ln(.76 / .06) = 1.90, `nothing` and `once` .25 · ln(.26 / .01) = .81, `fee` .5 · ln(.51 / .01) = 1.97."""
    texts = ["rent fee once", "rent fee", "rent", "nothing", "rent", *["trains"] * 19]
    found = sources.typical_words(texts, np.array([0] * 4 + [1] * 20))
    assert found == [["fee", "rent", "nothing", "once"], ["trains", "rent"]]


def test_central_rows_come_first() -> None:
    vectors = np.array([[1.0, 0.3], [1.0, 0.0], [1.0, -0.25], [0.0, 1.0]])
    assert sources.central(vectors, np.array([0, 0, 0, 1])) == [[1, 2, 0], [3]]


@pytest.mark.parametrize("distance", ["euclidean", pytest.param("cosine", marks=pytest.mark.slow)])
def test_every_interval_follows_from_what_is_published_of_each_text(corpus: Path, distance: str) -> None:
    made = tiers.tier0_embeddings(projected=0, resamples=300, neighbors=2, distance=distance)
    published = Published(site_of(corpus, made))
    texts, spectrum = published["text_distances"], published["spectrum"]
    again = [one for one in made.estimates if one.estimate.method == "none"]  # values without an interval
    for system, own in texts.groupby("system", sort=False):
        columns = {name: own[name].to_numpy() for name in own.columns[3:]}
        near, squares = columns["nearest"], columns["nearest_squares"]
        means = stats.estimate_many({"near": near, "centroid": columns["centroid"]}, **published.sure)
        numbers = {
            "avg_nn_distance": means["near"],
            "density_score": tier0_embeddings.inverse(means["near"]),
            "std_nn_distance": _deviation(near, squares, published.sure),
            "avg_spread": means["centroid"],
            "spread_std": _deviation(columns["centroid"], columns["centroid"] ** 2, published.sure),
            "avg_pairwise_distance": stats.pairwise_mean(columns["others"], level=0.95),
            "std_pairwise_distance": stats.pairwise_std(columns["others"], columns["others_squares"], level=0.95),
        }
        again += [NamedEstimate(str(system), name, one) for name, one in numbers.items() if one.method != "none"]
        shares = spectrum[spectrum["system"] == system].set_index("share")["components"]
        assert shares[shares.index >= 0.95].iloc[0] == value(made, str(system), "effective_dimensionality")
    assert published.holds(again, 1e-9) == len(made.estimates)


def _deviation(means: np.ndarray, squares: np.ndarray, how: dict[str, Any]) -> stats.Estimate:
    centre = means.mean()
    sums = np.column_stack([means - centre, squares - 2 * centre * means + centre**2, np.ones(len(means))])

    def deviation(totals: np.ndarray) -> np.ndarray:
        return np.sqrt(totals[..., 1] / totals[..., 2] - (totals[..., 0] / totals[..., 2]) ** 2)

    return stats.resample(deviation, sums, **how)
