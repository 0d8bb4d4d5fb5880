"""One answer to which band is a number's, by whatever name a set has it: for gates, the overview and every page."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragbench.old import views
from ragbench.old.core import settings
from ragbench.old.core.measurement import Measurement, NamedEstimate
from ragbench.old.core.metric import parse
from ragbench.old.core.settings import Band, GateSettings, Settings, metric_tables
from ragbench.old.core.types import Estimate
from ragbench.old.metrics import catalogue
from ragbench.old.tiers.basics import bands
from ragbench.old.tiers.basics.session import kept
from ragbench.old.tiers.run import gates
from ragbench.old.tiers.run.overview import over
from ragbench.old.views import Page
from ragbench.old.views.basics import interpretation
from tests.old import small_project
from tests.old.views.measurements import measurement

VOPROSHALYCH = metric_tables.bands(Settings(), "voproshalych")


def made(*numbers: tuple[str, float, float, float], notebook: str = "tier1_retrieval") -> Measurement:
    """One system, and of each metric its value and interval."""
    empty = measurement(("a",), ("mrr",), 5, notebook=notebook)
    estimates = [NamedEstimate("a", m, Estimate(v, low, high, 0.95, "bca", 50, 0)) for m, v, low, high in numbers]
    return replace(empty, estimates=tuple(estimates), comparisons=())


def words_of(material: Any, one: NamedEstimate) -> tuple[str, ...]:
    return tuple(each.word for each in interpretation.reached(material, one.metric, one.estimate).stretches)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that is held to the set of «Вопрошалыч»."""
    return small_project.enter(tmp_path, monkeypatch, 'threshold_set = "voproshalych"\n')


def test_every_threshold_is_of_a_metric_of_the_catalogue_on_its_scale() -> None:
    catalogue()
    for name, known in metric_tables.SETS.items():
        for metric in known:
            found = bands.band_for(known, metric)
            assert found is not None, f"{name}: {metric} has no band on the scale {parse(metric).bounds}"
            assert parse(metric).better in (found.better, None), metric


@pytest.mark.parametrize(
    ("label", "good"),
    [
        ("mrr@10", 0.8), ("mrr@5", 0.8), ("faithfulness_rating", 4.5), ("avg_faithfulness", 4.5),
        ("faithfulness", None),
        ("avg_e2e_score", 4.2), ("avg_bleu", 30.0), ("bleu", 30.0), ("corpus_bleu", None), ("precision@5", None),
        ("decision_precision", 0.85), ("cache_hit_rate", 0.4), ("hit_rate@3", None), ("nobody's", None),
    ],
)  # fmt: skip
def test_a_band_is_found_by_every_name(label: str, good: float | None) -> None:
    found = bands.band_for(VOPROSHALYCH, label)
    assert (None if found is None else found.good) == good


@pytest.mark.parametrize("name", ["mrr", "avg_rouge1_f", "avg_semantic_similarity", "avg_faithfulness", "precision"])
def test_a_set_of_ones_own_may_use_the_specifications_names(name: str) -> None:
    labels = {"mrr": "mrr@10", "avg_faithfulness": "faithfulness_rating", "precision": "decision_precision"}
    own = {name: Band(good=0.3)}
    assert bands.band_for(own, labels.get(name, name.removeprefix("avg_"))) == own[name]


@pytest.mark.usefixtures("project")
def test_whatever_a_gate_applies_stands_in_the_overview_and_on_the_page() -> None:
    """A rate of hits and the context of a dialogue describe; which way is good the set says, to all alike."""
    page = made(("cache_hit_rate", 0.5, 0.45, 0.6), ("context_preservation", 0.5, 0.4, 0.6), notebook="tier_ux")
    found = over({"tier_ux": page})
    material = Page(found).material
    words = {one.metric: words_of(material, one) for one in found.estimates_by("page")}
    assert words == {"cache_hit_rate": ("good",), "context_preservation": ("attention",)}
    known = interpretation.of(material)
    assert {name: band.good for name, band in known.items()} == {"cache_hit_rate": 0.4, "context_preservation": 0.7}
    assert {interpretation.direction(material, name, ()) for name in known} == {"higher"}
    wanted = {name: GateSettings(metric=name, band="good") for name in ("cache_hit_rate", "context_preservation")}
    decided = gates.decide({"tier_ux": page}, Settings(threshold_set="voproshalych", gate=wanted))
    assert [str(check.outcome) for check in decided.checks] == ["holds", "fails"]
    for view in ("measures", "table"):
        html = Page(kept("tier_ux", lambda: page)).view(view).html()
        assert re.findall(r'rb-band rb-band-(\w+)"', html) == ["good", "attention"], view


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(("language", "number"), [("en", "0.875"), ("ru", "0,875")])
def test_a_threshold_is_printed_as_it_was_written(
    project: Path, language: str, number: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = 'threshold_set = "own"\n[thresholds.own.mrr]\ngood = 0.875\nexcellent = 0.9125\n'
    small_project.enter(project, monkeypatch, own)
    page = made(("mrr@10", 0.89, 0.88, 0.9))
    overview = views.about.limits(Page(over({"tier1_retrieval": page}), language=language)).html()
    table = views.comparison.table(Page(kept("tier1_retrieval", lambda: page), language=language)).html()
    for html in (overview, table):
        assert number in html
        assert number.replace("875", "9125") in html
        assert not re.search(r"0[.,](88|9|91)\b(?! )[^0-9]*(or more|и выше)", html)
    wanted = {"one": GateSettings(metric="mrr", band="good")}
    known = settings.load().model_copy(update={"gate": wanted})
    assert gates.decide({"tier1_retrieval": page}, known).checks[0].condition == "mrr@10 >= 0.875 (good)"


def test_a_page_that_was_kept_is_held_to_what_it_was_measured_under(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = kept("tier1_retrieval", lambda: made(("mrr@10", 0.79, 0.78, 0.795)))
    page.save(tmp_path / "stored")
    small_project.enter(project, monkeypatch)
    html = views.comparison.table(Page(Measurement.load(tmp_path / "stored"))).html()
    assert html == views.comparison.table(Page(page)).html()
    assert "“voproshalych”" in html
    assert 'rb-band-attention">attention<' in html
    anew = kept("tier1_retrieval", lambda: made(("mrr@10", 0.79, 0.78, 0.795)))
    assert 'rb-band-good">good<' in views.comparison.table(Page(anew)).html()


@pytest.mark.usefixtures("project")
def test_rules_of_thumb_stand_beside_the_numbers_with_their_source() -> None:
    page = kept("tier1_retrieval", lambda: made(("mrr@10", 0.5, 0.4, 0.6)))
    html = views.comparison.table(Page(page)).html()
    assert "0.5: on average the first relevant passage stands at rank 2." in html
    assert "<small>the specification, section 4.4.2</small>" in html
    assert "спецификация, раздел 4.4.2" in views.comparison.table(Page(page, language="ru")).html()
    bare = views.comparison.table(Page(measurement(("a",), ("mine",), 5))).html()
    assert "Rules of thumb" not in bare


@pytest.mark.parametrize(
    ("low", "high", "words", "whole"),
    [(0.92, 0.97, ("excellent",), True), (0.65, 0.95, ("needs attention", "good", "excellent"), False),
     (0.72, 0.88, ("good",), True)],
)  # fmt: skip
def test_the_bands_are_those_that_the_interval_reaches(
    low: float, high: float, words: tuple[str, ...], whole: bool
) -> None:
    """Good from 0.7 on, excellent above 0.9: the number itself, 0.8 or 0.95, lies in one of them."""
    known = bands.stretches(None, Band(good=0.7, excellent=0.9))
    found = bands.met(known, Estimate((low + high) / 2, low, high, 0.95, "bca", 50))
    assert (len(found.stretches), found.whole) == (len(words), whole)
    alone = bands.met(known, Estimate(0.8, None, None, 0.95, "none", 50))
    assert (alone.stretches, alone.whole) == ((), False)
