"""Thresholds: the sets that come with ragbench, a project's own, and bands stated only for whole intervals."""

from __future__ import annotations

import pytest

from ragbench.old.core.metric_reading import Met
from ragbench.old.core.settings import Band, GateSettings, Settings, metric_tables

UNIT, RATING = (0.0, 1.0), (1.0, 5.0)


def spanned(band: Band, low: float, high: float) -> tuple[str, ...]:
    return tuple(one.word for one in Met.by(band.stretches, low, high).stretches)


def test_the_specifications_table_is_the_default() -> None:
    found = metric_tables.bands(Settings())
    table = {name: (band.excellent, band.good) for name, band in found.items()}
    assert table == {
        "hit_rate@1": (0.8, 0.5), "mrr": (0.8, 0.5), "ndcg@10": (0.8, 0.5), "faithfulness": (0.9, 0.7),
        "e2e_score": (0.8, 0.6), "accuracy": (0.95, 0.85), "consistency_score": (0.95, 0.85),
    }  # fmt: skip
    assert {band.scale for band in found.values()} == {UNIT}


def test_the_other_set_has_one_threshold_a_metric_on_its_own_scale() -> None:
    found = metric_tables.bands(Settings(threshold_set="voproshalych"))
    assert all(band.excellent is None for band in found.values())
    assert {name: found[name].good for name in ("hit_rate@1", "hit_rate@5", "hit_rate@10", "ndcg@5", "bleu")} == {
        "hit_rate@1": 0.7, "hit_rate@5": 0.9, "hit_rate@10": 0.95, "ndcg@5": 0.8, "bleu": 30.0,
    }  # fmt: skip
    assert (found["faithfulness_rating"].good, found["faithfulness_rating"].scale) == (4.5, RATING)
    assert found["error_rate"].better == found["avg_latency_ms"].better == "lower"
    assert len(found) == 26


def test_a_projects_own_set_replaces_single_metrics_of_one_that_ships() -> None:
    own = {"specification": {"mrr": Band(good=0.4, excellent=0.6)}, "strict": {"mrr": Band(good=0.9)}}
    settings = Settings(thresholds=own)
    assert metric_tables.bands(settings)["mrr"].excellent == 0.6
    assert metric_tables.bands(settings)["ndcg@10"].excellent == 0.8
    assert metric_tables.bands(settings, "strict") == own["strict"]
    with pytest.raises(ValueError, match=r"'lax': there are specification, voproshalych, strict"):
        metric_tables.bands(settings, "lax")
    with pytest.raises(ValueError, match="there are specification, voproshalych"):
        Settings(threshold_set="lax")


@pytest.mark.parametrize(
    ("names", "bounds", "good"),
    [
        (("faithfulness_rating",), RATING, 4.5), (("faithfulness_rating",), UNIT, 0.875),
        (("faithfulness",), UNIT, None),
        (("mine", "e2e_score"), UNIT, 0.8), (("answer_correctness",), (-1.0, 1.0), None), (("bleu",), UNIT, None),
        (("avg_latency_ms",), (0.0, None), 3000.0), (("precision@5",), UNIT, None),
    ],
)  # fmt: skip
def test_a_band_is_on_the_metrics_own_scale(
    names: tuple[str, ...], bounds: tuple[float, float], good: float | None
) -> None:
    found = metric_tables.band_of(metric_tables.bands(Settings(), "voproshalych"), names, bounds)
    assert (None if found is None else found.good) == (None if good is None else pytest.approx(good))


def test_the_specifications_shares_become_ratings() -> None:
    found = metric_tables.band_of(metric_tables.bands(Settings()), ("faithfulness_rating",), RATING)
    assert found is not None
    assert (found.good, found.excellent, found.scale) == (pytest.approx(3.8), pytest.approx(4.6), RATING)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.81, 0.9, ("excellent",)), (0.8, 0.8, ("good",)), (0.5, 0.8, ("good",)), (0.49, 0.5, ("attention", "good")),
        (0.1, 0.4, ("attention",)), (0.4, 0.9, ("attention", "good", "excellent")), (0.7, 0.81, ("good", "excellent")),
    ],
)  # fmt: skip
def test_an_interval_spans_bands(low: float, high: float, words: tuple[str, ...]) -> None:
    assert spanned(Band(excellent=0.8, good=0.5), low, high) == words


def test_lower_can_be_better_and_one_threshold_is_enough() -> None:
    band = Band(good=0.05, better="lower")
    assert spanned(band, 0.01, 0.04) == spanned(band, 0.05, 0.05) == ("good",)
    assert spanned(band, 0.01, 0.06) == ("attention", "good")
    narrow = Band(good=0.2, excellent=0.1, better="lower")
    assert [spanned(narrow, at, at) for at in (0.05, 0.1, 0.2, 0.21)] == [
        ("excellent",), ("good",), ("good",), ("attention",)
    ]  # fmt: skip
    assert spanned(narrow, 0.05, 0.3) == ("attention", "good", "excellent")
    with pytest.raises(ValueError, match="not beyond good"):
        Band(good=0.05, excellent=0.1, better="lower")
    with pytest.raises(ValueError, match="not beyond good"):
        Band(good=0.5, excellent=0.1)


def test_a_gate_asks_something() -> None:
    with pytest.raises(ValueError, match="asks nothing"):
        GateSettings(metric="mrr")
    with pytest.raises(ValueError, match="not_worse_by"):
        GateSettings(metric="mrr", at_least=0.5, baseline="old")
    assert GateSettings(metric="mrr", band="good").most_unmeasured == 0.02
