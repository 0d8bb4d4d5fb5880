"""What views return is written by one renderer an output, and says the same in each."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from bs4 import BeautifulSoup

from ragbench.old import views
from ragbench.old.core.language import translator
from ragbench.old.core.parts import (
    Chip,
    Column,
    Drawn,
    Entries,
    Entry,
    Figure,
    Group,
    Latex,
    Link,
    Markdown,
    Number,
    P,
    Plain,
    Plot,
    Row,
    Section,
    System,
    Table,
    Text,
    Value,
    bold,
    filled,
    joined,
    small,
    spoken,
    within,
)
from ragbench.old.core.types import Verdict
from ragbench.old.views import view
from ragbench.old.views.basics.web import Web
from tests.old.views.measurements import measurement

ENGLISH, RUSSIAN = translator("en"), translator("ru")
HOSTILE = "<script>\\end{x}|`**[a](b)\x1b[31m"


def table(language: str = "en") -> Table:
    columns = (
        Column("metric"), Column("mean", "interval"), Column("p", "p"), Column("verdict", "verdict"),
        Column("n", "count"),
    )  # fmt: skip
    better = Chip.of(Verdict.BETTER, "better")
    rows = (
        Group("first"),
        Row(("mrr", (Link(Value(0.70312, 0.6451, 0.7584), "#there"), " more"), P(0.0004), better, 1234), under="said"),
        ("rank", None, P(None), better, (3, 4)),
    )
    return Table(columns, rows, "Values", language=language)


def test_a_value_is_the_same_in_every_output() -> None:
    made = table()
    page = BeautifulSoup(Web(ENGLISH).table(made), "html.parser")
    cells = [cell.get_text() for cell in page.select("td")]
    assert cells == [
        "0.703 [0.645, 0.758] more",
        "<\xa00.001",
        "▲ better",
        "1,234",
        "said",
        "—",
        "—",
        "▲ better",
        "3 / 4",
    ]
    assert [head.get_text() for head in page.select("tbody th")] == ["first", "mrr", "rank"]
    assert page.select("td a")[0]["href"] == "#there"
    plain = Plain(ENGLISH).table(made)
    assert "mrr     0.703 [0.645, 0.758] more  <\xa00.001  ▲ better  1,234" in plain
    assert plain.splitlines()[2] == "first"
    assert "| mrr | 0.703 [0.645, 0.758] more |" in Markdown(ENGLISH).table(made)
    assert r"\num{0.703}" in made.latex("x")
    assert r"\num{<0.001}" in made.latex("x")
    [head, first, second] = csv.reader(io.StringIO(made.csv()))
    assert head == ["", "metric", "mean", "mean low", "mean high", "p", "verdict", "n"]
    assert first == ["first", "mrr", "0.70312", "0.6451", "0.7584", "0.0004", "▲ better", "1234"], "nothing is rounded"
    assert second[2:6] == ["", "", "", ""]
    frame = made.to_pandas()
    assert frame["mean low"].tolist()[0] == 0.6451
    assert frame["n"].tolist() == [1234, "3 / 4"]


def test_numbers_have_their_languages_form() -> None:
    assert spoken(RUSSIAN).phrase(Value(0.7, 0.645, 0.758)) == "0,700 [0,645; 0,758]"
    assert spoken(ENGLISH).phrase(Value(0.2, 0.0000001, 0.3, signed=True)) == "+0.200 [>0, +0.300]"
    assert spoken(ENGLISH).phrase(Value(0.73, 0.64, 0.81, percent=True)) == "73% [64%, 81%]"
    assert spoken(ENGLISH).phrase(Value(12.0, None, 15.0, digits=1, open=True)) == "12.0 […, 15.0]"
    assert spoken(ENGLISH).phrase(Value(0.5)) == "0.500 —"
    assert spoken(ENGLISH).phrase(Value(0.5, bare=True)) == "0.500"
    assert spoken(ENGLISH).phrase(Number(float("nan"))) == "—"


def test_a_sentence_is_filled_in_every_output() -> None:
    said = filled(
        "On {metric}, <b>{system}</b> reaches {value}.", metric="a_b", system=HOSTILE, value=Value(0.5, 0.4, 0.6)
    )
    web = Web(ENGLISH).phrase(said)
    assert "<script" not in web
    assert BeautifulSoup(web, "html.parser").select_one("b") is not None
    assert "\x1b" not in Plain(ENGLISH).phrase(said)
    assert Markdown(ENGLISH).phrase(said).startswith(r"On a\_b, **\<script\>")
    assert r"\textbf{\textless{}script" in Latex(ENGLISH).phrase(said)
    assert [value.low for value in within([said, (Link(Value(0.5, 0.4), None),)], Value)] == [0.4], "wherever it stands"
    assert joined(", ", ["a", "", Number(1.0)]) == ("a", ", ", Number(1.0))


FROM_RIGHT = "מי כתב את האמנה?"


def test_a_text_from_the_right_runs_from_the_right_wherever_it_stands() -> None:
    """Its own element says so, and a sentence of ours around it stays as it is."""
    table = Table([Column(FROM_RIGHT), Column("answer")], [[FROM_RIGHT, FROM_RIGHT]])
    parts = [
        Text(FROM_RIGHT), Text(Link(FROM_RIGHT, "#a")), Text((bold(FROM_RIGHT), " ends it.")), Text(small(FROM_RIGHT)),
        Entries([FROM_RIGHT]), Entries([Entry("a", FROM_RIGHT, None, [Text(FROM_RIGHT)])]), table,
    ]  # fmt: skip
    page = BeautifulSoup(Web(translator("en")).blocks(parts), "html.parser")
    held = [node.parent for node in page.find_all(string=FROM_RIGHT)]
    assert {element.name for element in held} == {"p", "a", "b", "small", "li", "span", "th"}
    assert all(element.get("dir") == "auto" for element in held)
    assert not BeautifulSoup(Web(translator("en")).blocks(Text("Кто написал?")), "html.parser").find(dir=True)


def test_lists_and_folds_are_read_at_once_where_nothing_unfolds() -> None:
    entry = Entry("q-1", "asked", Number(0.5), [Text("the body")])
    parts = [
        Section([Entries([entry, "a phrase"], "rb-questions", ordered=True)], "more"),
        Drawn("<i>x</i>", [Text("in words")]),
    ]
    for style in (Plain(ENGLISH), Markdown(ENGLISH), Latex(ENGLISH)):
        written = style.blocks(parts)
        assert all(words in written for words in ("more", "asked", "the body", "a phrase", "in words"))
        assert "<i>" not in written
    page = BeautifulSoup(Web(ENGLISH).blocks(parts), "html.parser")
    assert page.select_one("details > summary").get_text() == "more"
    assert page.select_one("ol.rb-questions > li#q-1 details").get_text() == "asked0.500the body"


def chart(name: str, **layout: Any) -> dict[str, Any]:
    return {
        "data": [{"type": "scatter", "name": name, "x": [1, 2], "y": [3, 4]}],
        "layout": {"height": 100, "xaxis": {}, "yaxis": {}, **layout},
    }


def test_charts_beside_each_other_are_one_figure_with_axes_of_their_own() -> None:
    shape = {"type": "line", "x0": 1, "x1": 1, "y0": 0, "y1": 1}
    plots = [Plot(chart("a"), "first", "left"), Plot(chart("a", shapes=[shape]), "second", "right")]
    made = view.in_one(Figure(filled("<b>{n}</b> lines", n=2), plots, [System("a", 1)]), ENGLISH)
    assert [(trace["xaxis"], trace["yaxis"]) for trace in made["data"]] == [("x", "y"), ("x2", "y2")]
    assert made["layout"]["xaxis2"]["anchor"] == "y2"
    assert made["layout"]["xaxis"]["domain"][1] < made["layout"]["xaxis2"]["domain"][0]
    assert made["layout"]["shapes"][0]["xref"] == "x2"
    assert [trace["showlegend"] for trace in made["data"]] == [True, False], "a name stands in the legend once"
    assert made["layout"]["title"]["text"] == "2 lines"
    assert "showlegend" not in plots[0].chart["data"][0], "the page's own chart stays as it is"


@pytest.mark.parametrize("language", ["en", "ru"])
def test_a_view_is_written_for_every_output(language: str) -> None:
    page = views.Page(measurement(("v1", "v2", "v3")), language=language)
    shown = page.view("table")
    [value] = {material_value(page, "v2")}
    for output in (str(shown), shown.markdown().replace("\\", ""), str(shown.html().striptags())):
        assert value in output
    assert "\\num{" in shown.latex()
    frame = shown.tables()[0]
    estimate = page.material.estimate("v2", page.material.metrics[0])
    assert estimate is not None
    assert estimate.value in frame.iloc[:, 2].tolist(), "a column of groups, one of systems, then means"


@pytest.mark.parametrize("name", ["table", "summary", "worst"])
def test_what_a_style_sheet_sets_apart_is_apart_in_texts_too(name: str) -> None:
    page = views.Page(measurement(("v1", "v2", "v3"), ("mrr", "faithfulness")))
    shown = page.view(name)
    for written in (str(shown), shown.markdown()):
        assert not re.findall(r"\][A-Za-z0-9+−▲▼○]|\d(?:v[123]|good|attention)|(?:mrr|faithfulness)\**v1", written)
    if name == "summary":
        metric = page.material.key_metrics[0]
        assert f"- {metric} v1 {material_value(page, 'v1')}; v2 {material_value(page, 'v2')}" in str(shown)
        values = BeautifulSoup(shown.html(), "html.parser").select_one("ul.rb-keys .rb-row")
        assert "; " not in values.get_text(), "the page's style sheet does it"


def material_value(page: views.Page, system: str) -> str:
    metric = page.material.metrics[0]
    estimate = page.material.estimate(system, metric)
    assert estimate is not None
    return page.material.value(estimate, metric)
