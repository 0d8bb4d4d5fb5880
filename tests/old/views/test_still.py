"""Figures without a script: the same marks at the same places, in whatever shows a notebook."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import pytest

from ragbench.old import tiers as bench
from ragbench.old import views
from ragbench.old.core import settings
from ragbench.old.views import Page
from ragbench.old.views.basics import chart, still
from ragbench.old.views.view import VIEWS
from tests.old import small_project
from tests.old.views.measurements import measurement
from tests.old.views.test_blame import blamed

BLAMED = ("good", "missing", "too_low", "invented", "right_refusal", "unmeasured", "good")
SVG = "{http://www.w3.org/2000/svg}"
PLAIN: dict[str, Any] = {
    "height": 240, "margin": {"l": 100, "r": 60, "t": 20, "b": 20},
    "xaxis": {"range": [0, 1], "tickvals": [0, 0.5, 1], "automargin": False},
    "yaxis": {"range": [0, 10], "showticklabels": False},
}  # fmt: skip


def elements(figure: dict[str, Any], tag: str) -> list[dict[str, str]]:
    root = ElementTree.fromstring(str(still.drawn(figure, 760)))
    return [dict(one.attrib) for one in root.iter(SVG + tag)]


def test_a_label_from_the_right_runs_so_and_others_are_as_they_were() -> None:
    bars = {"type": "bar", "orientation": "h", "x": [1, 2], "y": ["חיפוש (א)", "bm25"]}
    said = elements({"data": [bars], "layout": {"height": 240}}, "text")
    assert [one["unicode-bidi"] for one in said if "unicode-bidi" in one] == ["plaintext"]


def test_marks_lines_and_intervals_stand_where_their_numbers_are() -> None:
    trace = {
        "type": "scatter", "mode": "markers+lines", "x": [0, 0.5, 1], "y": [0, 5, 10], "marker": {"color": "#111111"},
        "line": {"color": "#222222"}, "error_x": {"array": [0.25, 0, 0], "arrayminus": [0, 0.5, 0], "color": "#333333"},
    }  # fmt: skip
    figure = {"data": [trace], "layout": PLAIN}
    left, width, floor, height = 100.0, 760 - 100 - 60.0, 240 - 23.0, 240 - 20 - 23.0
    marks = [(float(one["cx"]), float(one["cy"])) for one in elements(figure, "circle")]
    wanted = [(left, floor), (left + width / 2, floor - height / 2), (left + width, floor - height)]
    assert marks == [pytest.approx(one) for one in wanted], "23: a line of tick labels, and the room above it"
    spans = [one for one in elements(figure, "line") if one["stroke"] == "#333333"]
    ends = [(float(one["x1"]), float(one["x2"])) for one in spans]
    assert ends == [pytest.approx((left, left + width / 4)), pytest.approx((left, left + width / 2))]
    [line] = [one for one in elements(figure, "path") if one.get("stroke") == "#222222"]
    assert len(re.findall("[ML]", line["d"])) == 3


def test_bars_begin_at_their_base_and_gaps_are_left_open() -> None:
    bars = {"type": "bar", "orientation": "h", "x": [0.25, None, 0.5], "y": [1, 2, 3], "base": [0.5, 0, 0],
            "marker": {"color": "#444444"}}  # fmt: skip
    found = [one for one in elements({"data": [bars], "layout": PLAIN}, "rect") if one["fill"] == "#444444"]
    assert [float(one["x"]) for one in found] == [pytest.approx(100 + 300), pytest.approx(100)]
    assert [float(one["width"]) for one in found] == [pytest.approx(150), pytest.approx(300)]
    gap = {"type": "scatter", "mode": "lines", "x": [0, 1, 2, 3], "y": [1, 2, float("nan"), 4], "line": {"color": "#5"}}
    [line] = [one for one in elements({"data": [gap], "layout": {"height": 200}}, "path") if one.get("fill") == "none"]
    assert line["d"].count("M") == 2


def test_what_has_no_logarithm_has_no_place_on_its_axis() -> None:
    """Of 0, 1 and 100 the last two are marked, at both ends of an axis from 1 to 100; 10 of it is in the middle."""
    trace = {"type": "scatter", "mode": "markers", "x": [0, 1, 10, 100], "y": [5, 5, 5, 5], "marker": {"color": "#1"}}
    layout = {**PLAIN, "xaxis": {"type": "log", "range": [0, 2], "tickvals": [1, 10, 100], "automargin": False}}
    found = [float(one["cx"]) for one in elements({"data": [trace], "layout": layout}, "circle")]
    assert found == [pytest.approx(100), pytest.approx(400), pytest.approx(700)]


def test_texts_are_escaped_and_what_is_not_known_is_refused() -> None:
    hostile = "<script>alert(1)</script>&\"'"
    layout = {**PLAIN, "title": {"text": hostile}, "xaxis": {"tickvals": [0], "ticktext": [hostile], "range": [0, 1]}}
    text = str(still.drawn({"data": [], "layout": layout}))
    assert "<script" not in text
    ElementTree.fromstring(text)
    with pytest.raises(ValueError, match=r"pie: figures are made of scatter, bar"):
        still.drawn({"data": [{"type": "pie"}], "layout": {}})


@pytest.fixture
def pages(tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[views.Page]:
    """Pages of every kind that a few lines make: a search, answers by many metrics, blame."""
    path = small_project.make(tmp_path, database_folder)
    monkeypatch.setenv("RAGBENCH_CONFIG", str(path))
    settings.load.cache_clear()
    answers = [
        {"question": f"What of {n}?", "answer": f"It is {n % 7}.", "contexts": [f"It is {n % 5}."]} for n in range(9)
    ]
    tiers = (
        bench.tier1_retrieval(systems="good, poor", repeats=1, resamples=200),
        bench.rag_metrics(answers=answers, metrics="faithfulness, answer_relevance", judges="lexical", resamples=200),
        bench.dataset(),
    )
    return [views.Page(made) for made in (measurement(), *tiers, blamed(BLAMED))]


def test_every_figure_of_every_page_is_drawn_without_a_script(pages: list[views.Page]) -> None:
    drawn: set[str] = set()
    heat = {"type": "heatmap", "z": [[0.5, -1]], "x": [0, 1], "y": [0], "zmin": -1, "zmax": 1,
            "colorscale": [[0, "#cf9a20"], [0.5, "rgba(0,0,0,0)"], [1, "#3f8fd9"]]}  # fmt: skip
    fills = [one["fill"] for one in elements({"data": [heat], "layout": {"height": 100}}, "rect")]
    assert fills == ["rgba(63,143,217,0.50)", "rgba(207,154,32,1.00)"], "between nothing and the end of its side"
    for page in pages:
        for name in VIEWS:
            view = page.view(name)
            if view.figure is None or not chart.numbers(view.figure):
                continue
            drawn.add(name)
            root = ElementTree.fromstring(str(still.drawn(view.figure)))
            assert {one.tag.removeprefix(SVG) for one in root.iter()} & {"circle", "rect", "path", "line"}, name
            html = str(view.without_script())
            assert "application/json" not in html, name
            bundle = view._repr_mimebundle_()
            assert {"text/html", "image/svg+xml", "application/vnd.plotly.v1+json"} <= bundle.keys()
            assert '{"data"' not in bundle["text/plain"], "a wall of JSON"
            assert still.drawn(view.figure) == still.drawn(view.figure)
    assert drawn >= {"intervals", "curves", "correlations", "sizes", "blame"}, "and whatever else the pages have"


@pytest.mark.browser
def test_plain_papermill_and_plain_nbconvert_show_figures_tables_and_words(
    tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = small_project.make(tmp_path, database_folder)
    monkeypatch.setenv("RAGBENCH_CONFIG", str(path))
    for name in ("JPY_SESSION_NAME", "VSCODE_PID", "RAGBENCH_RUN_FOLDER"):
        monkeypatch.delenv(name, raising=False)
    notebook, out = str(small_project.NOTEBOOKS / "tier1_retrieval.ipynb"), str(tmp_path / "out.ipynb")
    words = [
        "-p",
        "k",
        "5",
        "-p",
        "systems",
        "good, poor",
        "-p",
        "repeats",
        "1",
        "--no-progress-bar",
        "--no-log-output",
    ]
    for command in (["papermill", notebook, out, *words], ["nbconvert", "--to", "html", out]):
        done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert page.count('xmlns="http://www.w3.org/2000/svg"') >= 2, "the figures of means and of depths"
    assert "mrr@5" in page
    assert "How deep one must look" in page, "words"
    assert "rb-wait" not in page, "nothing waits for a script"
    shown = [
        output.data for cell in nbformat.read(out, 4).cells for output in cell.get("outputs", ()) if "data" in output
    ]
    figures = [data for data in shown if "application/vnd.plotly.v1+json" in data]
    assert figures
    assert all("image/svg+xml" in data and "text/html" in data for data in figures), "of GitHub, of VS Code"
    assert not [data for data in shown if "widget-view" in json.dumps(list(data))], "nobody could open one"


@pytest.mark.parametrize(("count", "labelled"), [(3, None), (4, None), (5, 3), (15, 4)])
def test_a_small_chart_has_few_labels_and_none_is_turned(count: int, labelled: int | None) -> None:
    """Turned ones reach into the title of the chart below."""
    names = [f"{1000 * n}–{1000 * n + 999}" for n in range(count)]
    [plot] = chart.plots(Page(measurement()).material, [chart.Bars("words", names, [1] * count, ["1 text"] * count)])
    own = plot.chart["layout"]["xaxis"]
    assert (len(own["tickvals"]) if labelled else own.get("tickvals")) == labelled
    if labelled:
        assert own["tickangle"] == 0
        assert set(own["tickvals"]) <= set(names)
        text = str(still.drawn(plot.chart, 320))
        assert set() < {name for name in names if name in text} <= set(own["tickvals"])
        assert "rotate(" not in text
