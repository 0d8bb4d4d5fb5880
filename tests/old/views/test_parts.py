"""Curves, slices and speed as views: the numbers of the tables, ways to the questions, nothing from data unescaped."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from html import unescape
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pandas as pd
import pytest

from ragbench.old import views
from ragbench.old.core.measurement import Measurement, NamedEstimate
from ragbench.old.core.metric import parse
from ragbench.old.core.types import Estimate, Question, Ranking
from ragbench.old.metrics import catalogue
from ragbench.old.tiers.basics import design
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.retrieval import reading, timing
from ragbench.old.views import Page
from tests.old.views.measurements import measurement, placed

SURE = Sureness(0.95, 500, 0)
HOSTILE = "<script>alert(1)</script>\"'&\u202e"
NEW = ("new", "kind:one")
VIEWS = ("curves", "reading", "slices", "speed")
AT = (50, 100, 200)


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "that of hit_rate@5 is taken"), ("ru", "взят разброс у hit_rate@5")],
)
def test_a_borrowed_spread_names_its_lender(language: str, said: str) -> None:
    m = measurement(("only",), ("hit_rate@5", "hit_rate@10", "hit_rate@20"))
    lent = [
        replace(one.estimate, note="borrowed_spread", method="wilson", lender=lender)
        for one, lender in zip(m.estimates, ("", "hit_rate@5", "hit_rate@10, " + HOSTILE), strict=True)
    ]
    m = replace(m, estimates=tuple(replace(one, estimate=e) for one, e in zip(m.estimates, lent, strict=True)))
    page = str(views.comparison.table(Page(m, language=language)).html())
    assert said in page
    assert page.count('<li id="note-') == 3, "each lender has its own footnote"
    assert "<script>" not in page


def full(systems: tuple[str, ...] = ("base", "new"), kinds: tuple[str | None, ...] = ("one", "two")) -> Measurement:
    """A measurement of 60 questions with every part that Tier 1 makes; the second kind has 12 questions."""
    catalogue()
    made = measurement(systems, ("mrr", "retrieval_consistency"), 60, question="What of {i} " + HOSTILE)
    kind = [kinds[1] if n % 5 == 0 else kinds[0] for n in range(60)]
    questions = made.questions.assign(kind=kind)
    asked = [
        Question(row["sample"], row["text"], relevant={"c": 1}, kind=row["kind"], language="en")
        for row in questions.to_dict("records")
    ]
    rng = np.random.default_rng(0)
    found = {}
    for place, name in enumerate(systems):
        gains = np.zeros((60, 12))
        gains[np.arange(60), np.minimum(rng.integers(0, 12 - 4 * min(place, 2), 60), 11)] = 1
        found[name] = Ranking(gains, np.ones((60, 1)), np.full(60, 12))
    parts = [(name, part) for name in systems for part in ("embed", "search")]
    readings = pd.DataFrame(
        [(name, q.id, part, 1.0 + n / 7) for name, part in parts for n, q in enumerate(asked)],
        columns=list(timing.LATENCIES),
    )
    ways = ((None, None, 1), (10, Estimate(0.9, 0.8, 0.95, 0.95, "bca", 60), 2),
            (40, Estimate(1.0, 0.94, 1.0, 0.95, "wilson", 60), 1))  # fmt: skip
    index = []
    for name, (ef, recall, factor) in itertools.product(systems, ways):
        how = {"index": "hnsw", "m": 16, "ef_construction": 64, "ef_search": ef} if ef else {"index": "exact"}
        median = Estimate(4.0 / factor, 3.0 / factor, 5.0 / factor, 0.95, "order_statistics", 60)
        index.append(NamedEstimate(name, "median_latency", median, how))
        index += [NamedEstimate(name, "recall_against_exact", recall, how)] if recall else []
    parted = design.of_slices(made.scores, parse("mrr"), list(systems), asked, ("kind", "language"), None, SURE)
    shares = {name: rng.uniform(0.2, 0.8, (60, 3)).cumsum(axis=1) / 3 for name in systems}
    words = {limit: {name: own[:, n] for name, own in shares.items()} for n, limit in enumerate(AT)}
    read = [
        NamedEstimate(name, "words", Estimate(300.0, 290.0, 310.0, 0.95, "t", 60), {"first": 12}) for name in systems
    ]
    read += reading.findings(words, AT[:2], None, SURE)
    told = {"chunkers": dict.fromkeys(systems[1:], "c" + HOSTILE), "found_from": 0.5, "n_with_spans": 0}
    described = [{"name": name, "embedder": "e" + HOSTILE} for name in systems]
    known = {
        "labelled_text": told,
        "words": list(AT[:2]),
        "systems": described,
        "k": 12,
        "repeats": 3,
        "timed_questions": 60,
    }
    return replace(
        made,
        questions=questions,
        facts={**made.facts, **known, "slices_left_out": {"kind": 2}},
        extra={
            "latencies": readings,
            "misses": pd.DataFrame([(systems[0], "", 10, "q3", 0.5)], columns=list(timing.MISSES)),
        },
        placed=(*index, *timing.quantiles(readings, 0.95), *parted, *reading.by_depth(found, 12, None, SURE), *read),
    )


def html(found: Measurement, *names: str, language: str = "en") -> str:
    page = Page(found, language=language)
    present = frozenset((*names, "questions"))
    return "".join(str(page.view(name).html(present)) for name in (*names, "questions"))


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))


@pytest.mark.parametrize(
    ("systems", "language"),
    [
        (("base", "new"), "en"), (("base", "new", "other", "fourth"), "ru"), (("alone",), "en"),
        *(pytest.param(systems, language, marks=pytest.mark.slow) for systems, language in [
            (("base", "new"), "ru"), (("base", "new", "other", "fourth"), "en"), (("alone",), "ru"),
        ]),
    ],
)  # fmt: skip
def test_every_link_leads_somewhere_and_every_id_is_there_once(systems: tuple[str, ...], language: str) -> None:
    text = html(full(systems), *VIEWS, language=language)
    ids = re.findall(r'id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    links = [unescape(link) for link in re.findall(r'href="#([^"]+)"', text)]
    asked = [dict(parse_qsl(link.partition("?")[2])) for link in links if link.startswith("questions?")]
    assert asked
    assert {one["slice"] for one in asked if "slice" in one} == {"kind:one", "kind:two"}
    assert {one["system"] for one in asked} <= set(systems)
    assert {link for link in links if link.startswith("q-")} <= {f"q-q{n}" for n in range(60)}
    assert {link for link in links if not link.startswith(("questions?", "q-"))} <= set(ids)


def test_recall_by_words_stands_in_a_table_beside_that_at_k_with_verdicts() -> None:
    made = full()
    text = plain(html(made, "reading"))
    for name, words in itertools.product(("base", "new"), AT[:2]):
        [one] = [e.estimate for e in made.estimates_by("words") if (e.system, e.where["words"]) == (name, words)]
        assert f"{one.value:.3f}" in text
    assert "the first 12 hold 300 to 300 words on average" in text
    assert "over these 2 comparisons" in text
    figure = views.retrieval.reading(Page(made)).figure
    assert figure is not None
    assert [list(trace["x"]) for trace in figure["data"][2:]] == [list(AT)] * 2
    nothing = replace(made, placed=tuple(one for one in made.placed if "words" not in one.where))
    assert views.retrieval.reading(Page(nothing)).figure is None
    assert "How much one must read" not in html(nothing, "reading")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "by which 50% of its labelled text is shown"),
        ({"found_from": 0.0}, "with the first piece that shows some of its labelled text (MaxP"),
        ({"n_with_spans": 60}, "Labelled are the spans of relevant passages that the data set names."),
        ({"n_with_spans": 3}, "names, for 3 of 60 questions; for the others all text"),
    ],
)
def test_the_rule_of_pieces_stands_in_the_method_where_passages_are_cut(changed: dict[str, Any], said: str) -> None:
    made = full()
    facts = {**made.facts, "n_questions": 60, "labelled_text": {**made.facts["labelled_text"], **changed}}
    assert said in plain(html(replace(made, facts=facts), "method"))
    assert "labels stay" not in plain(html(replace(made, facts={**facts, "labelled_text": None}), "method"))


@pytest.mark.fault("markup", tried="texts in views, looked for in their HTML", count=1)
def test_nothing_from_data_is_unescaped() -> None:
    hostile = full(("base" + HOSTILE, "new"), (HOSTILE, "two"))
    text = html(hostile, *VIEWS)
    assert "<script>alert" not in text
    assert "\u202e" not in text
    for payload in re.findall(r'<script type="application/json">(.*?)</script>', text, re.DOTALL):
        assert "<" not in payload
        json.loads(payload)


def test_curves_show_the_numbers_of_their_table() -> None:
    found = full()
    text = html(found, "curves")
    row = placed(found.placed).query("system == 'new' and metric == 'recall' and k == 12").iloc[0]
    assert f"new {row['value']:.3f}" in plain(text)
    assert f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]" in plain(text)
    [first, *_] = [
        json.loads(p) for p in re.findall(r'<script type="application/json">(.*?)</script>', text, re.DOTALL)
    ]
    lines = [trace for trace in first["data"] if trace["mode"] == "lines+markers"]
    assert [trace["name"] for trace in lines] == ["base", "new"]
    assert lines[1]["x"] == list(range(1, 13))
    assert lines[1]["y"][-1] == row["value"]
    [band] = [trace for trace in first["data"] if trace["mode"] == "lines" and trace["name"] == "new"]
    assert band["y"][11] == row["high"]
    assert band["y"][12] == row["low"], "back along the lower ends"


def test_a_curve_in_the_notebook_has_both_panels_and_no_named_colour() -> None:
    figure = views.retrieval.curves(Page(full())).figure
    assert figure is not None
    assert {trace["xaxis"] for trace in figure["data"]} == {"x", "x2"}
    assert "@" not in json.dumps([trace["line"] for trace in figure["data"]])
    assert sum(trace["showlegend"] for trace in figure["data"]) == 2
    layout = figure["layout"]
    legend, (title, *_) = layout["legend"], layout["annotations"]
    assert (legend["yref"], legend["yanchor"], title["yanchor"]) == ("container", "top", "bottom")
    bottom = (1 - legend["y"]) * layout["height"] + 26  # pixels from above: a line of 12 with what is around it
    assert bottom <= layout["margin"]["t"] - 18, "where the title of a panel begins"


def test_slices_show_verdicts_and_small_ones_none() -> None:
    found = full()
    text = plain(html(found, "slices"))
    [large] = [one.estimate for one in found.estimates_by("slice") if (one.system, *one.where.values()) == NEW]
    [against] = [one.comparison for one in found.comparisons_by("slice")]
    assert f"{large.value:.3f} [{large.low:.3f}, {large.high:.3f}]" in text
    assert f"+{against.difference:.3f}" in text
    assert against.verdict in text
    assert "too few questions" in text
    assert "this 1 comparison" in text
    assert "By kind of question, 2 smaller slices are not shown." in text


def test_the_questions_of_a_slice_are_listed_with_their_values() -> None:
    text = str(views.comparison.slices(Page(full())).html())
    listed = re.search(r'<details class="rb-fold" id="slice-kind-two">(.*?)</details>', text, re.DOTALL)
    assert listed is not None
    assert re.findall(r"What of (\d+)", listed[1]) == [str(n) for n in range(0, 60, 5)]
    assert 'id="slice-kind-two"' not in html(full(), "slices"), "a page with a table of questions leads there instead"


def test_a_slice_without_a_value_is_called_so() -> None:
    text = plain(str(views.comparison.slices(Page(full(kinds=("one", None)))).html()))
    assert "not given" in text
    assert "Kind of question: not given, 12 questions" in text


def test_speed_says_what_was_timed_and_leads_from_the_slowest_and_missed_to_all_that_is_known() -> None:
    once = full()
    markup = html(once, "speed")
    text = plain(markup)
    for name, first in (("slowest", "q59"), ("missed", "q3")):
        folded = re.search(rf'id="{name}">(.*?)</details>', markup, re.DOTALL)
        assert folded is not None
        links = re.findall(r'href="#q-(\w+)"', folded[1])
        assert links[0] == first
    assert links == ["q3"], "one question was missed"
    assert "60 questions were timed one by one" in text
    assert "fresh_timings\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}True" in markup
    assert re.search(r"\[\d+\.\d+, …\]", text), "the 99th percentile of 60 readings has no upper end"
    assert "0.900 [0.800, 0.950]" in text
    assert "2.00 [1.50, 2.50]" in text
    assert "2.0" in text, "twice as fast as exact search"
    assert "Every question was asked 3 times" in text
    text = plain(html(replace(once, facts={**once.facts, "repeats": 1}), "speed"))
    assert "asked once, so retrieval_consistency is not measured" in text


def test_what_was_not_measured_is_not_shown() -> None:
    bare = measurement(("base", "new"), ("mrr",), 30)
    for name in VIEWS:
        assert plain(str(Page(bare).view(name).html())).strip() == ""
    assert views.retrieval.curves(Page(bare)).figure is None


def test_views_are_the_same_after_a_round_through_files(tmp_path) -> None:
    found = full(("base", "new", "other"))
    found.save(tmp_path)
    assert html(Measurement.load(tmp_path), *VIEWS) == html(found, *VIEWS)


def test_families_are_told_in_the_method() -> None:
    found = full(("base", "new", "other"))
    title = {name: "primary: 2" if name == "mrr" else "secondary: 2" for name in ("mrr", "recall")}
    told = tuple(
        replace(c, comparison=replace(c.comparison, family=f"{title.get(c.metric, 'secondary: 2')}, max-T"))
        for c in found.comparisons
    )
    page = Page(replace(found, comparisons=told))
    text = plain(str(views.about.method(page).html()))
    assert "secondary metrics, adjusted for 2 comparisons (max-T)" in text
    assert "studentized step-down max-T over sign flips" in text
    assert "at most 5%" in text
    assert "p (max-T)" in plain(str(views.comparison.table(page).html()))
