"""A slider over depths and thresholds: the page's own numbers at each place, and nothing is measured."""

from __future__ import annotations

from pathlib import Path

import pytest

import ragbench.old as rb
from ragbench.old import tiers
from ragbench.old.views import Page
from tests.old.tiers.test_ux import talking as talking


@pytest.mark.usefixtures("project")
def test_the_slider_over_k_shows_what_the_curves_have(monkeypatch: pytest.MonkeyPatch) -> None:
    made = tiers.tier1_retrieval(systems="good,ngrams", k=5, resamples=200)
    single = tiers.tier1_retrieval(systems="good", k=1, resamples=200)
    monkeypatch.setattr("ragbench.old.store.Store.open", None)  # whoever measured would fail
    slide = rb.slide(Page(made))
    assert (slide.over, slide.places, slide.place) == ("k", [1, 2, 3, 4, 5], 5)
    known = {(each.system, each.metric, each.where["k"]): each.estimate for each in made.estimates_by("k")}
    rows = slide.to_pandas()
    assert {(row.system, row.metric, row.k): row.value for row in rows.itertuples()} == {
        place: estimate.value for place, estimate in known.items()
    }
    shown = []
    for place in slide.places:
        slide.place = place
        _, table = slide.children
        shown.append(table.value)
        assert f"{known['good', 'recall', place].value:.3f}" in table.value
    assert len(set(shown)) > 1
    with pytest.raises(ValueError, match="place = 9: there are 1, 2, 3, 4, 5"):
        slide.place = 9
    with pytest.raises(ValueError, match="over = 'threshold'; this page has k"):
        rb.slide(Page(made), "threshold")
    with pytest.raises(ValueError, match="no number of this page is known at several depths or thresholds"):
        rb.slide(Page(single))


def test_the_slider_over_the_threshold_begins_at_the_one_that_is_used(talking: Path) -> None:
    made = tiers.tier_ux(embedders="hashing", threshold=0.6, resamples=100)
    slide = rb.slide(Page(made, language="ru"))
    assert (slide.over, slide.place) == ("threshold", 0.6)
    rates = slide.to_pandas().query("metric == 'cache_hit_rate' and asked == 'dialogues'").sort_values("threshold")
    assert rates["value"].is_monotonic_decreasing
    assert "реплики диалогов" in slide.children[1].value
