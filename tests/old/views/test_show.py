"""What a page shows: sentences follow verdicts, tables follow estimates, and no text of the data becomes markup."""

from __future__ import annotations

import importlib
import inspect
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragbench.old import views
from ragbench.old.core.measurement import Measurement, NamedComparison, NamedEstimate
from ragbench.old.core.types import Estimate, Verdict
from ragbench.old.views import MIME, Page
from ragbench.old.views.basics.material import BLOCK
from ragbench.old.views.basics.text import anchor, clean, shown
from ragbench.old.views.comparison.question_groups import losses, lowest
from ragbench.old.views.sentences.conclusions import finding
from ragbench.old.views.view import VIEWS
from tests.old.views.measurements import estimate, measurement

HOSTILE = (
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "<svg/onload=alert(1)>", "javascript:alert(1)",
    "[a](javascript:alert(1))", "</script><script>alert(1)</script>", "<a href='javascript:alert(1)'>x</a>",
    "{{7*7}}{% raw %}", "{0} {name} {", "%s %d %(x)s", "\x1b[31mred\x1b[0m\x1b]8;;http://evil\x07link\x1b]8;;\x07",
    "\u202egnp.exe\u202c", "a\x00b\x07c", "&lt;b&gt; &#60;script&#62;", "<!--", "]]>",
    "<style>*{display:none}</style>", "<iframe src=//evil>", "<b>bold</b>",
)  # fmt: skip
ALLOWED = {
    "circle", "g", "line", "rect", "svg", "text", "title",
    "div", "p", "b", "dl", "dt", "dd", "span", "figure", "figcaption", "ul", "ol", "li", "script", "table", "thead",
    "tbody", "tr", "th", "td", "small", "sup", "a", "details", "summary", "h2", "h3", "wbr", "code",
}  # fmt: skip


class Reader(HTMLParser):
    """Collects elements and the text outside of data blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(str(html))
    return reader


def said(view: Any) -> str:
    """A view's text."""
    return read(view.html()).text


def drawn(page: Page) -> dict[str, str]:
    return {name: str(page.view(name).html(frozenset(VIEWS))) for name in VIEWS}


def changed(m: Measurement, **fields: Any) -> Measurement:
    """The measurement with the first comparison of each metric changed."""
    return replace(
        m, comparisons=tuple(NamedComparison(c.metric, replace(c.comparison, **fields)) for c in m.comparisons)
    )


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (Verdict.BETTER, "On mrr, hnsw is better than ivfflat: "),
        (Verdict.WORSE, "On mrr, hnsw is worse than ivfflat: "),
        (Verdict.NOT_SHOWN, "On mrr, a difference between hnsw and ivfflat is not shown: "),
        (Verdict.SAME, "On mrr, hnsw and ivfflat are the same within ±0.050: "),
    ],
)
def test_the_answer_says_the_verdict_and_nothing_else(verdict: Verdict, words: str) -> None:
    page = Page(changed(measurement(), verdict=verdict, margin=0.05, difference=0.203, low=0.125, high=0.28))
    text = said(views.comparison.answer(page))
    assert text.startswith(words)
    assert "+0.203 [+0.125, +0.280]" in text


def test_the_answer_gives_the_corrected_p() -> None:
    page = Page(changed(measurement(), p=0.01, p_adjusted=0.04))
    assert "p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}0.040" in said(views.comparison.answer(page))


def test_a_lower_is_better_metric_is_not_turned_into_words_by_its_sign() -> None:
    worse = changed(measurement(metrics=("latency",)), better="lower", verdict=Verdict.WORSE, difference=0.3)
    assert "is worse than" in said(views.comparison.answer(Page(worse)))
    assert "lower is better" in said(views.comparison.table(Page(worse)))
    assert "Highest latency of hnsw" in said(views.comparison.worst(Page(worse)))


def test_what_is_not_shown_carries_its_power() -> None:
    m = changed(
        measurement(), verdict=Verdict.NOT_SHOWN, n=40, minimum_detectable=0.08, margin=0.05, questions_needed=1040
    )
    for view in (views.comparison.answer(Page(m)), views.comparison.table(Page(m))):
        text = said(view)
        assert "40 questions, a difference of 0.080 or more would have been shown" in text.replace("With", "with")
        assert "the smallest difference of interest, 0.05, about 1,040 questions are needed; there were 40" in text
        assert "questions more" not in text
    for view in (views.comparison.answer(Page(changed(m, n=2000))), views.comparison.table(Page(changed(m, n=2000)))):
        assert "the smallest difference of interest, 0.05, would likely have been shown" in said(view)
    grouped = changed(m, clusters=10)
    text = said(views.comparison.table(Page(grouped)))
    assert "0.05, about 260 independent groups are needed (1,040 questions); there were 10" in text


def test_the_finding_counts_verdicts() -> None:
    m = measurement()
    words = [Verdict.BETTER, Verdict.BETTER, Verdict.WORSE, Verdict.NOT_SHOWN]
    mixed = replace(
        m,
        comparisons=tuple(
            NamedComparison(c.metric, replace(c.comparison, verdict=word))
            for c, word in zip(m.comparisons, words, strict=True)
        ),
    )
    three = measurement(("a", "b", "c"))
    for made, title in (
        (mixed, "hnsw is better than ivfflat on 2, worse on 1 of 4 metrics"),
        (changed(m, verdict=Verdict.NOT_SHOWN), "No difference between hnsw and ivfflat is shown"),
        (changed(m, verdict=Verdict.BETTER), "hnsw is better than ivfflat on 4 of 4 metrics"),
        (changed(three, verdict=Verdict.NOT_SHOWN), "No challenger is shown to be better than a"),
    ):
        assert finding(Page(made).material) == title


@pytest.mark.parametrize(
    ("b", "c", "title"),
    [
        ("NNNN", "WWWN", "No challenger is shown to be better than a; worse: c on 3 of 4 metrics"),
        ("BBNN", "WNNN", "Better than a: b on 2 of 4 metrics; worse: c on 1 of 4 metrics"),
        ("BBWN", "NNNW", "Better than a: b on 2 of 4 metrics; worse: b on 1 and c on 1 of 4 metrics"),
        ("BBNN", "NNNN", "Better than a: b on 2 of 4 metrics"),
        ("SNNN", "NNNN", "No challenger is shown to be better than a by as much as matters"),
        ("SNNN", "BNNN", "Better than a: c on 1 of 4 metrics"),
    ],
)
def test_the_finding_names_who_is_worse_too(b: str, c: str, title: str) -> None:
    words = {"B": Verdict.BETTER, "W": Verdict.WORSE, "N": Verdict.NOT_SHOWN, "S": Verdict.SLIGHTLY_BETTER}
    left = {"b": list(b), "c": list(c)}
    three = measurement(("a", "b", "c"))
    told = tuple(
        NamedComparison(o.metric, replace(o.comparison, verdict=words[left[o.comparison.challenger].pop(0)]))
        for o in three.comparisons
    )
    assert finding(Page(replace(three, comparisons=told)).material) == title
    many = measurement("abcdefg")
    assert finding(Page(changed(many, verdict=Verdict.WORSE)).material) == (
        "No challenger is shown to be better than a; worse on at least one: 6"
    )


def test_one_system_alone_is_shown_without_a_comparison() -> None:
    page = Page(measurement(("only",)))
    text = said(views.comparison.answer(page))
    assert "On mrr, only reaches" in text
    assert "Only one system was measured" in text
    table = said(views.comparison.table(page))
    assert "verdict" not in table
    assert "p (Holm)" not in table
    assert "Lowest mrr of only" in said(views.comparison.worst(page))


@pytest.mark.parametrize(
    ("systems", "metrics", "language"),
    [
        pytest.param(*case, marks=() if case in ((1, 20, "en"), (2, 4, "ru"), (12, 1, "en")) else pytest.mark.slow)
        for case in product((1, 2, 3, 12), (1, 4, 20), ("en", "ru"))
    ],
)
def test_any_number_of_systems_and_metrics(systems: int, metrics: int, language: str) -> None:
    names = [f"a system with a rather long name, number {i}" for i in range(systems)]
    page = Page(measurement(names, [f"metric_{i}@10" for i in range(metrics)], 12), language=language)
    for name, html in drawn(page).items():
        assert_clean(html, name)
    table = read(views.comparison.table(page).html())
    assert all(name in table.text for name in names)
    rows = [e for e in table.elements if e[0] == "tr" and e[1].get("class") != "rb-under"]
    assert len(rows) == 1 + (metrics if systems <= 2 else metrics * (systems + 1))


def test_nothing_measured_is_said() -> None:
    m = replace(measurement(), estimates=(), comparisons=())
    for name in ("answer", "intervals", "table", "worst"):
        view = Page(m).view(name)
        assert ("Nothing was measured" in said(view)) == (name != "worst")
        assert_clean(str(view.html()), name)


@pytest.mark.fault("flattering", tried="unmeasured values beside a mean", count=1)
def test_where_nothing_was_asked_no_reason_is_looked_for() -> None:
    nothing = Estimate(math.nan, None, None, 0.95, "none", 0, 0, note="empty")
    alone = replace(measurement(("a",), ("mrr",), 3), estimates=(NamedEstimate("a", "mrr", nothing),))
    assert "On mrr, a reaches — (n 0)." in said(views.comparison.answer(Page(alone)))


def test_unmeasured_values_are_counted_and_nan_is_a_dash() -> None:
    m = measurement(metrics=("mrr",))
    nothing = Estimate(math.nan, None, None, 0.95, "none", 0, 40, note="empty")
    some = replace(m.estimates[1].estimate, n=37, n_unmeasured=3)
    m = replace(m, estimates=(NamedEstimate("ivfflat", "mrr", nothing), NamedEstimate("hnsw", "mrr", some)))
    text = said(views.comparison.table(Page(m)))
    assert "— not measured" in text
    assert "40 / 3" in text
    assert "43 values could not be measured" in text
    chart = views.comparison.intervals(Page(m)).figure
    assert [len(trace["x"]) for trace in chart["data"]] == [0, 1]


def test_an_estimate_without_an_interval_has_a_dash() -> None:
    m = measurement(("only",), ("mrr",))
    least = replace(m.estimates[0].estimate, low=None, high=None, method="none")
    text = read(views.comparison.table(Page(replace(m, estimates=(NamedEstimate("only", "mrr", least),)))).html()).text
    assert f"{least.value:.3f} —" in text


def test_guarded_intervals_are_marked_and_explained() -> None:
    m = measurement(metrics=("mrr", "ndcg@10"))
    few = replace(m.estimates[0].estimate, note="few", method="wilson")
    ceiling = replace(m.estimates[1].estimate, note="ceiling", method="wilson")
    m = replace(
        m,
        estimates=(
            NamedEstimate("ivfflat", "mrr", few), NamedEstimate("ivfflat", "ndcg@10", few),
            NamedEstimate("hnsw", "mrr", ceiling), NamedEstimate("hnsw", "ndcg@10", m.estimates[3].estimate),
        ),
    )  # fmt: skip
    reader = read(views.comparison.table(Page(m)).html())
    marks = [e[1]["href"] for e in reader.elements if e[0] == "a"]
    assert marks == ["#note-1", "#note-2", "#note-1"]
    assert {e[1]["id"] for e in reader.elements if e[1].get("id", "").startswith("note")} == {"note-1", "note-2"}
    assert "a Wilson's interval; few questions" in reader.text
    assert "Wilson's interval is printed" not in reader.text
    assert "is printed and marked" in said(views.about.method(Page(m)))


def test_stand_ins_are_named_where_their_numbers_are() -> None:
    page = Page(measurement(facts={"stand_ins": ["hashing"]}))
    for view in (views.comparison.answer(page), views.about.summary(page)):
        assert "offline stand-ins: hashing" in said(view)
    assert "stand-ins" not in said(views.comparison.answer(Page(measurement())))


def test_what_is_shown_is_said_before_what_is_not() -> None:
    made = measurement("abcd")
    told = tuple(
        NamedComparison(o.metric, replace(o.comparison, verdict=word[o.comparison.challenger]))
        for o in made.comparisons
        for word in [{"b": Verdict.NOT_SHOWN, "c": Verdict.WORSE, "d": Verdict.BETTER}]
    )
    text = said(views.comparison.answer(Page(replace(made, comparisons=told))))
    assert text.index("c is worse than a") < text.index("d is better than a") < text.index("between b and a")


def test_an_index_shows_one_metric_of_each_kind() -> None:
    m = measurement(metrics=("hit_rate@1", "hit_rate@5", "mrr", "ndcg@5", "ndcg@10", "ndcg(gain=exponential)@10"))
    assert Page(m).material.key_metrics == ["mrr", "hit_rate@5", "ndcg(gain=exponential)@10"]


def test_the_finding_counts_only_metrics_that_were_compared() -> None:
    """Of four metrics ndcg@10 is compared for nobody: b and c are better on all three that are."""
    three = changed(measurement(("a", "b", "c")), verdict=Verdict.BETTER)
    kept = tuple(one for one in three.comparisons if one.metric != "ndcg@10")
    assert finding(Page(replace(three, comparisons=kept)).material) == "Better than a: b on 3 and c on 3 of 3 metrics"


def test_worst_questions_by_hand() -> None:
    m = measurement(metrics=("mrr",), questions=5)
    values = {"ivfflat": [1.0, 0.5, 1.0, 0.2, 0.9], "hnsw": [0.0, 0.0, 0.5, 0.2, 1.0]}
    scores = m.scores.copy()
    for name, column in values.items():
        scores.loc[scores.system == name, "value"] = column
    material = Page(replace(m, scores=scores)).material
    assert lowest(material, "hnsw", "mrr", 3) == ["q0", "q1", "q3"]  # q0 before q1: it lost more
    assert lowest(material, "hnsw", "mrr", 10) == ["q0", "q1", "q3", "q2"]  # q4 has the best value there is
    assert losses(material, "hnsw", "mrr", 10) == ["q0", "q1", "q2"]
    assert losses(material, "hnsw", "mrr", 1) == ["q0"]


def test_worst_ignores_the_unmeasured() -> None:
    m = measurement(metrics=("mrr",), questions=4)
    scores = m.scores.copy()
    scores.loc[(scores.system == "hnsw") & (scores["sample"] == "q1"), ["value", "status"]] = [np.nan, "judge_error"]
    material = Page(replace(m, scores=scores)).material
    assert "q1" not in lowest(material, "hnsw", "mrr", 4)
    assert "q1" not in losses(material, "hnsw", "mrr", 4)


def test_worst_says_what_was_retrieved_instead_and_where_the_right_passage_was() -> None:
    text = said(views.comparison.worst(Page(measurement()), 1))
    assert "hnsw retrieved first" in text
    assert "not relevant" in text
    assert "It needed" in text
    assert "ivfflat: rank 3" in text
    with pytest.raises(ValueError, match="from 1"):
        views.comparison.worst(Page(measurement()), 0)


def test_pages_count_by_address_where_pages_are_ranked() -> None:
    m = measurement(facts={"unit": "url"})
    retrieved = m.retrieved.assign(url="https://example.org/" + m.retrieved["chunk"], gain=0.0)
    questions = m.questions.assign(
        relevant=[["https://example.org/" + json.loads(r).popitem()[0]] for r in m.questions.relevant]
    )
    text = said(views.comparison.worst(Page(replace(m, retrieved=retrieved, questions=questions)), 1))
    assert "ivfflat: rank 3" in text


def test_links_to_questions_only_where_the_page_has_them() -> None:
    page = Page(measurement())
    worst = views.comparison.worst(page, 5)
    links = {e[1]["href"] for e in read(worst.html(frozenset({"questions"}))).elements if e[0] == "a"}
    ids = {anchor("q", name) for name in page.material.question_rows}
    assert links
    assert {link[1:] for link in links} <= ids
    assert not [e for e in read(worst.html()).elements if e[0] == "a"]


def test_ids_are_unique_on_a_page() -> None:
    html = "".join(drawn(Page(measurement(("a", "b", "c"), identifier="вопрос {i} ?"))).values())
    ids = [e[1]["id"] for e in read(html).elements if "id" in e[1]]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[A-Za-z0-9._@-]+", name) for name in ids)


@pytest.mark.fault("secrets", tried="paths of this machine on a page", count=1)
def test_provenance_holds_no_path() -> None:
    inner = {"results": "/home/somebody/secret/results.jsonl", "nested": {"folder": "C:\\Users\\x\\data.txt"}}
    facts = {"parameters": inner}
    text = said(views.about.provenance(Page(measurement(facts=facts))))
    assert "results.jsonl" in text
    assert "somebody" not in text
    assert "Users" not in text
    assert "20261122" in text


ASKED = [
    {"name": "dataset", "value": "", "default": "", "help": "bootstrap and randomization draws"},
    {"name": "labels", "value": "<b>x</b>", "default": "", "help": "a <script>"},
    {"name": "seed", "value": 123456, "default": 0, "help": "of every random draw"},
    {"name": "length_limit", "value": None, "default": None, "help": "{none}"},
    {"name": "mask", "value": False, "default": True, "help": ""},
]


def test_the_method_tells_a_generator_by_its_name_where_it_has_answered_nothing() -> None:
    told = {"name": "writer", "kind": "openai", "model": "m", "temperature": 0.5}
    systems = [{"name": "a", "generator": "extractive"}, {"name": "b", "generator": told}]
    text = said(views.about.method(Page(measurement(("a", "b"), facts={"systems": systems}))))
    assert "generator extractive" in text
    assert "generator writer, model m, temperature 0.5" in text


def test_the_method_shows_what_was_asked_for_and_provenance_does_not_repeat_it() -> None:
    page = Page(measurement(facts={"dataset": "campus", "request": ASKED}))
    html = str(views.about.method(page).html())
    rows = [re.sub(r"<[^>]*>", " ", row).split() for row in html[html.index("<table") :].split("<tr>")[2:]]
    assert [row[:4] for row in rows] == [
        ["dataset", "campus", "the", "same"], ["labels", "&lt;b&gt;x&lt;/b&gt;", "&#34;&#34;", "a"],
        ["seed", "123456", "0", "of"], ["length_limit", "None", "the", "same"], ["mask", "False", "True", "What"],
    ]  # fmt: skip
    assert "Parameters of this measurement: 3 differ from their defaults" in html
    assert "<script>" not in html
    assert "draws" not in said(views.about.provenance(page))
    russian = str(views.about.method(Page(page.measurement, language="ru")).html())
    assert "число повторных выборок бутстрепа и рандомизации" in russian


def test_an_empty_parameter_is_not_said_to_be_what_another_one_named() -> None:
    asked = [{"name": "answers", "value": "a.csv", "default": "", "help": ""}, ASKED[0]]
    html = str(views.about.method(Page(measurement(facts={"dataset": "a.csv", "request": asked}))).html())
    assert html.count("a.csv") == 1


def test_a_measurement_that_kept_no_request_has_no_table_of_parameters() -> None:
    assert "Parameters" not in said(views.about.method(Page(measurement())))
    kept = [{**one, "value": one["default"]} for one in ASKED]
    assert "all at their defaults" in said(views.about.method(Page(measurement(facts={"request": kept}))))


@pytest.mark.fault("determinism", tried="two writings to the byte", count=1)
def test_the_same_measurement_gives_the_same_bytes_and_survives_the_disk(tmp_path: Any) -> None:
    m = measurement()
    m.save(tmp_path)
    assert drawn(Page(m)) == drawn(Page(m)) == drawn(Page(Measurement.load(tmp_path)))


def test_views_ask_for_themselves_in_a_notebook() -> None:
    page = Page(measurement(), language="ru")
    bundle = views.comparison.worst(page, 3)._repr_mimebundle_()
    assert bundle[MIME] == {
        "view": "worst", "language": "ru", "options": {"count": 3},
        "measurement": "tier1_retrieval",
    }  # fmt: skip
    assert "<style>" in bundle["text/html"]
    figure = views.comparison.intervals(page)._repr_mimebundle_()["application/vnd.plotly.v1+json"]
    assert "@series" not in json.dumps(figure)
    assert figure["layout"]["title"]["text"]
    assert json.loads(json.dumps(bundle[MIME])) == bundle[MIME]


def test_the_figure_is_one_that_plotly_accepts() -> None:
    import plotly.graph_objects as go

    m = measurement(metrics=("mrr", "latency", "ndcg@10"))
    slow = estimate(np.array([120.0, 340.0, 95.5]))
    m = replace(m, estimates=tuple(replace(e, estimate=slow) if e.metric == "latency" else e for e in m.estimates))
    figure = go.Figure(views.comparison.intervals(Page(m)).figure)
    assert len(figure.data) == 4  # two systems on two panels: shares, and milliseconds
    assert figure.layout.xaxis2.range is None
    assert tuple(figure.layout.xaxis.range) == (-0.015, 1.015)


def test_unknown_views_metrics_and_languages_are_refused() -> None:
    with pytest.raises(ValueError, match=r"there are .*answer, blame"):
        Page(measurement()).view("__class__")
    with pytest.raises(ValueError, match="there are en, ru"):
        Page(measurement(), language="tlh")


def assert_clean(html: str, where: str) -> None:
    for tag, attributes in read(html).elements:
        assert tag in ALLOWED, f"{where}: <{tag}>"
        for name, value in attributes.items():
            assert not name.startswith("on"), f"{where}: {name}={value}"
            if name in ("href", "src"):
                assert value is not None
                assert value.startswith("#"), f"{where}: {name}={value}"
        if tag == "script":
            assert attributes == {"type": "application/json"}
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", html), where
    html.encode("utf-8")


@pytest.mark.fault("markup", tried="texts in views, looked for in their HTML", count=19)
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_texts(text: str) -> None:
    m = measurement(
        (f"base {text}", f"new {text}"), (f"m {text}",), 6, question=f"{text} {{i}}", chunk=text, reason=text,
        identifier=f"{text}{{i}}", notebook=text,
        facts={"dataset": text, "stand_ins": [text], "commit": text, "unit": text, f"key {text}": {text: [text]},
               "systems": [{"name": f"base {text}", "description": text, text: text}]},
    )  # fmt: skip
    for language in ("en", "ru"):
        for name, html in drawn(Page(m, language=language)).items():
            assert_clean(html, name)


@pytest.mark.fault("markup", tried="random texts in a view", count=10)
@given(text=st.text(max_size=60))
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_text_stays_a_text(text: str) -> None:
    m = measurement(("a" + text, "b" + text), ("mrr",), 4, question=text, chunk=text, facts={"dataset": text})
    for name, html in drawn(Page(m)).items():
        assert_clean(html, name)


@given(st.text())
def test_cleaning_is_idempotent_and_leaves_plain_text_alone(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert clean("\ud800") == "\N{REPLACEMENT CHARACTER}"
    assert clean("Привет, \tмир 1 < 2\n") == "Привет, \tмир 1 < 2\n"


def test_what_a_system_retrieved_for_a_question_is_its_rows_in_rank_order() -> None:
    kept = measurement(questions=60).retrieved
    found = Page(replace(measurement(), retrieved=kept.sample(frac=1, random_state=0))).material.retrieved
    assert len(kept) > 2 * BLOCK
    expected = {place: rows.to_dict("records") for place, rows in kept.groupby(["system", "sample"])}
    assert repr({place: found[place] for place in expected}) == repr(expected)
    assert set(found) == set(expected)


def test_texts_are_cut_at_a_word_and_anchors_are_plain_and_stable() -> None:
    assert shown("one two three four", 12) == "one two…"
    assert shown("a" * 20, 12) == "a" * 12 + "…"
    assert shown(None) == shown(float("nan")) == ""
    assert anchor("q", "a-1") == "q-a-1"
    assert anchor("q", "a b") == anchor("q", "a b") != anchor("q", "a c")
    assert re.fullmatch(r"q-[0-9a-f]{16}", anchor("q", '"><script>'))


def test_every_view_is_a_function_of_its_topic_that_says_what_it_shows() -> None:
    for name, view in VIEWS.items():
        topic = importlib.import_module(view.__module__.rpartition(".")[0])
        if topic.__name__.startswith("ragbench.old.views."):  # an annex's, once asked for, stand in modules of its own
            assert getattr(topic, view.__name__) is view, name
            assert view.__name__ in topic.__all__, name
        assert view.__doc__, name
        assert next(iter(inspect.signature(view).parameters)) == "page", name
    assert str(inspect.signature(views.comparison.worst)) == "(page: 'Page', count: 'int' = 10) -> 'View'"


def test_a_page_prints_as_a_card_of_what_it_has_to_show() -> None:
    page = Page(measurement(facts={"primary": "ndcg@10"}), language="ru")
    assert repr(page).splitlines() == [
        "блокнот: tier1_retrieval", "набор данных: synthetic", "системы: ivfflat, hnsw",
        "главная метрика: ndcg@10", "язык: ru",
    ]  # fmt: skip
    assert page.shows["comparison"] == ["answer", "forest", "intervals", "table", "worst"]
    assert "blame" not in page.shows
    assert_clean(page._repr_html_().split("</style>")[1], "card")
    assert "<dt>views.comparison</dt><dd>answer, forest, intervals, table, worst</dd>" in page._repr_html_()


def test_an_option_that_a_view_has_no_more_is_told_with_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"'table' has no option at; .*measured anew by `ragbench run`"):
        Page(measurement()).view("table", at=1)
