"""Views of embedding spaces: hostile texts stay texts, figures hold the numbers, nothing is called better."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ragbench.old import views
from ragbench.old.core.measurement import Measurement, NamedEstimate
from ragbench.old.core.types import Estimate
from ragbench.old.views import Page
from tests.old.views.measurements import measurement

HOSTILE = "<script>alert(1)</script> </script><img src=x onerror=alert(2)> & \u202egnol $x$"
PAYLOAD = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)


def bare(value: float, note: str = "") -> Estimate:
    return Estimate(value, None, None, 0.95, "none", 40, note=note)


def space(systems: tuple[str, ...] = ("plain", "deep"), texts: int = 30, hostile: str = "") -> Measurement:
    """A made-up measurement of Tier 0."""
    rng = np.random.default_rng(0)
    ids = [f"t{i}" for i in range(texts)]
    tables: dict[str, list[pd.DataFrame]] = {}
    estimates = []
    for place, name in enumerate(systems):
        estimates += [
            NamedEstimate(name, "total_samples", bare(texts, "count")),
            NamedEstimate(name, "avg_nn_distance", Estimate(0.5 + place, 0.4, 1.9, 0.95, "bca", texts)),
            NamedEstimate(name, "effective_dimensionality", bare(7 + place, "dimensions")),
            NamedEstimate(name, "avg_pairwise_distance", Estimate(1.0 + place, 0.9, 2.1, 0.95, "u_statistic", texts)),
            NamedEstimate(name, "max_pairwise_distance", bare(2.5, "extreme")),
        ]
        edges = np.linspace(0.2, 1.2, 6)
        classes = list(zip(edges[:-1], edges[1:], [0, 2, 5, 3, 0], strict=True))
        axes = {axis: rng.normal(size=texts).round(4) for axis in ("x2", "y2", "x3", "y3", "z3")}
        pairs = [(1, "t0", "t2", 0.1, True), (2, "t1", "t3", 0.4, False)]
        made = {
            "histograms": pd.DataFrame(
                [(kind, *each) for kind in ("nearest", "pairs") for each in classes],
                columns=["kind", "low", "high", "count"],
            ),
            "spectrum": pd.DataFrame({"components": range(1, 11), "share": np.linspace(0.5, 1, 10)}),
            "closest": pd.DataFrame(pairs, columns=["rank", "first", "second", "distance", "near"]),
            "outliers": pd.DataFrame({"rank": [1], "text": ["t4"], "nearest": ["t5"], "distance": [1.1]}),
            "projection": pd.DataFrame({"text": ids, "cluster": [i % 2 + 1 for i in range(texts)], **axes}),
            "clusters": pd.DataFrame({"cluster": [1, 2], "words": [["rent", hostile], ["exams"]]}),
        }
        for key, table in made.items():
            tables.setdefault(key, []).append(table.assign(system=name))
    rows = [(key, f"Text {key}. {hostile}", f"https://x.example/{'ab'[i % 2]}/{i}") for i, key in enumerate(ids)]
    known = pd.DataFrame(rows, columns=["id", "text", "url"]).assign(**dict.fromkeys(("title", "section", "kind")))
    described = [{"name": n, "width": 40, "near_duplicates": 1, "near_distance": 0.25} for n in systems]
    facts = {
        "describes": "space", "baseline": None, "primary": "effective_dimensionality", "systems": described,
        "n_texts": texts, "projected": texts, "distance": "cosine", "near": 0.25, "neighbors": 1,
    }  # fmt: skip
    return replace(
        measurement(systems, ("mrr",), 2, facts=facts, notebook="tier0_embeddings"),
        estimates=tuple(estimates),
        comparisons=(),
        extra={**{key: pd.concat(parts, ignore_index=True) for key, parts in tables.items()}, "texts": known},
    )


def figures(html: str) -> list[dict[str, Any]]:
    return [json.loads(payload) for payload in PAYLOAD.findall(html)]


VIEWS = ("answer", "measures", "distances", "spectrum", "closest", "outliers", "map", "method", "provenance", "summary")


@pytest.mark.parametrize("language", ["en", "ru"])
@pytest.mark.parametrize("view", VIEWS)
def test_texts_from_data_stay_texts(language: str, view: str) -> None:
    page = Page(space(hostile=HOSTILE), language=language)
    html = str(page.view(view).html())
    outside = PAYLOAD.sub("", html)
    assert "<script" not in outside
    assert "<img" not in outside
    assert "\u202e" not in html
    for payload in PAYLOAD.findall(html):
        assert not re.search(r"[<>&]", payload)
        for text in re.findall(r'"[^"]*"', json.dumps(json.loads(payload))):
            assert not re.search(r"<(?!/?b>|br>|/?extra>)", text), "Plotly reads a little HTML"
    again = Page(space(hostile=HOSTILE), language=language).view(view)
    assert str(again.html()) == html


def test_the_answer_compares_nothing_and_measures_have_dashes_with_reasons() -> None:
    said = views.comparison.answer(Page(space())).html().striptags()
    assert "plain needs 7 of its 40 dimensions for 95% of the variance" in said
    assert "0.500 away, 50% of the mean distance between two texts" in said
    assert "1 pair of texts is nearly the same." in said
    assert "cosine distance" in said
    assert not re.search(r"better|worse", said)
    text = views.about.measures(Page(space())).html().striptags()
    assert re.search(r"total_samples.*?30 —", text)
    assert "a count has no uncertainty of sampling" in text
    assert "copies span fewer dimensions" in text
    assert "cannot go beyond the extreme" in text
    assert "0.500 [0.400, 1.900]" in text


def test_curves_have_an_area_of_one_and_the_spectrum_marks_where_95_percent_is_reached() -> None:
    [figure] = figures(str(views.retrieval.distances(Page(space())).html()))
    assert len(figure["data"]) == 4
    for trace in figure["data"]:
        x, y = np.array(trace["x"]), np.array(trace["y"])
        assert (y[:-1] * np.diff(x)).sum() == pytest.approx(1, abs=1e-4)
        assert len(trace["text"]) == len(x)
    [figure] = figures(str(views.retrieval.spectrum(Page(space())).html()))
    marks = [trace for trace in figure["data"] if trace["mode"] == "markers"]
    assert [trace["x"] for trace in marks] == [[7], [8]]
    assert figure["layout"]["shapes"][0]["y0"] == 0.95


@pytest.mark.parametrize(("dimensions", "kind"), [(2, "scatter"), (3, "scatter3d")])
def test_every_text_is_a_point_with_its_words(dimensions: int, kind: str) -> None:
    drawn = figures(str(views.retrieval.projection(Page(space()), dimensions).html()))
    assert len(drawn) == 2, "one picture an embedder"
    for figure in drawn:
        assert {trace["type"] for trace in figure["data"]} == {kind}
        assert sum(len(trace["x"]) for trace in figure["data"]) == 30
        hovers = [text for trace in figure["data"] for text in trace["text"]]
        assert any("Text t7." in text for text in hovers)
    combined = views.retrieval.projection(Page(space()), dimensions).figure
    assert combined is not None
    assert sum(len(trace["x"]) for trace in combined["data"]) == 60


def test_colours_follow_the_site_or_the_cluster_and_a_picture_that_was_not_drawn_says_so() -> None:
    html = str(views.retrieval.projection(Page(space())).html())
    assert "coloured by part of the site" in html
    assert re.search(r">a <small>15</small>", html.replace("</span>a", "</span>>a"))
    assert "rent" in views.retrieval.projection(Page(space(hostile="x")), 2, "cluster").html()
    empty = space()
    empty = replace(empty, extra={**empty.extra, "projection": empty.extra["projection"].iloc[:0]})
    assert "too few texts" in views.retrieval.projection(Page(empty)).html()
    sampled = replace(space(), facts={**space().facts, "n_texts": 900})
    assert "30 of 900 texts are drawn, chosen at random." in views.retrieval.projection(Page(sampled)).html()


@pytest.mark.parametrize("wrong", [{"dimensions": 4}, {"colour": "red"}])
def test_a_wrong_picture_names_the_right_ones(wrong: dict) -> None:
    with pytest.raises(ValueError, match="auto, page, folder, section, kind, cluster"):
        views.retrieval.projection(Page(space()), **wrong)


def test_near_duplicates_show_both_texts_and_counts_no_decimals() -> None:
    html = str(views.retrieval.closest(Page(space())).html())
    assert html.index("Text t0.") < html.index("Text t2.")
    assert html.count("nearly the same</span>") == 2, "one marked pair for each of two embedders"
    assert 'id="near0-t0--t2"' in html
    assert "Its nearest neighbour" in views.retrieval.outliers(Page(space())).html()
    with pytest.raises(ValueError, match=r"closest\(0\)"):
        views.retrieval.closest(Page(space()), 0)
    text = views.about.summary(Page(space())).html().striptags()
    assert re.search(r"effective_dimensionality.*?7 —", text)
    assert "7.0" not in text
