"""Every metric says how it is made, what happens at its edges, and how it differs; reports show it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ragbench.old.core.language import translator
from ragbench.old.core.metric import registered
from ragbench.old.metrics import catalogue
from ragbench.old.report.pages import drawing
from ragbench.old.report.pages.drawing import Edition
from ragbench.old.views.about import metric_page
from tests.old.report.visits import build
from tests.old.views.measurements import measurement

FRAME = Edition("en").frame("metrics/ndcg.html", ())


def test_a_declaration_says_what_a_reader_must_know() -> None:
    for metric in catalogue().values():
        assert metric.formula, metric
        assert metric.edges.endswith("."), metric
        assert metric.differs.endswith("."), metric
        assert metric.source, metric


def test_a_page_is_made_from_the_declaration() -> None:
    ndcg = registered()["ndcg"]
    page = drawing.html(ndcg, {"tier1": {"ndcg@10": "metric-x"}}, {"tier1": "Does it <find>?"}, "en", {}, FRAME)
    text = re.sub(r"<[^>]+>", " ", page)
    for part in (ndcg.summary, "DCG = Σ", "from 0 to 1", "higher is better", "counts 0.", "@5, @10", "gain, ideal"):
        assert part in text
    assert "Does it &lt;find&gt;?" in page
    assert 'href="../tier1.html#metric-x"' in page
    assert 'href="../ragbench.css"' in page


def test_scales_and_directions_in_words() -> None:
    _, known = translator("en"), registered()
    assert metric_page.scale(known["density_score"], _) == "from 0 to 10¹²"
    assert metric_page.scale(known["avg_spread"], _) == "0 and above"
    assert metric_page.scale(known["dot_similarity"], _) == "without bounds"
    assert metric_page.scale(known["faithfulness_rating"], _) == "from 1 to 5"
    assert metric_page.direction(known["noise_sensitivity"], _) == "lower is better"
    assert metric_page.direction(known["avg_spread"], _).startswith("it describes")


@pytest.mark.parametrize("language", ["en", "ru"])
def test_a_report_has_a_page_for_each_metric_it_shows_and_leads_there(tmp_path: Path, language: str) -> None:
    build(tmp_path, measurement(metrics=("hit_rate@1", "hit_rate@10", "ndcg(gain=exponential)@10", "mine")), language)
    assert {path.stem for path in (tmp_path / "metrics").iterdir()} == {"hit_rate", "ndcg"}
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    links = set(re.findall(r'class="rb-metric" href="([^"]+)"', page))
    assert links == {"metrics/hit_rate.html", "metrics/ndcg.html"}, "a metric of the data's own has no page"
    told = (tmp_path / "metrics" / "hit_rate.html").read_text(encoding="utf-8")
    assert f'<html lang="{language}">' in told
    for label in ("hit_rate@1", "hit_rate@10"):
        anchor = re.search(rf'href="\.\./page\.html#([^"]+)">{label}<', told)
        assert anchor is not None
        assert f'id="{anchor[1]}"' in page
