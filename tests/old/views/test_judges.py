"""What a page says of its judges: by name, with failures, stand-ins and influence; in both languages."""

from __future__ import annotations

from typing import Any

import pytest

from ragbench.old import views
from ragbench.old.views import Page
from tests.old.views.measurements import measurement

HOSTILE = "<script>alert(1)</script>"
USAGE = {"replies": 1204, "input_tokens": 1_200_000, "output_tokens": 34_000, "cost": 3.14159, "estimated": 2}


def judge(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "asked": 240, "failed": 0, "statuses": {}, "suspected": 0, "stand_in": False, **more}


def page(*judges: dict[str, Any], aggregate: str | None = None, language: str = "en") -> Page:
    return Page(measurement(facts={"judges": list(judges), "aggregate": aggregate}), language=language)


def test_a_failing_judge_is_named_with_its_share() -> None:
    failing = judge("gpt", model="gpt-4o", mode="reasoned", failed=12, statuses={"timeout": 10, "parse_error": 2})
    html = views.answers.judges(page(failing, judge("good"))).html()
    assert "<b>gpt</b> (gpt-4o, reasons first, then the verdict)" in html
    assert "<b>gpt</b> failed: it gave no score in 12 of 240 cases (5.0%)" in html
    assert "no reply in time (10) and a reply of the wrong shape (2)" in html
    assert html.count("failed:") == 1


@pytest.mark.parametrize(("language", "words"), [("en", "offline baseline"), ("ru", "автономная точка отсчёта")])
def test_the_offline_judge_is_said_to_be_a_baseline_wherever_its_numbers_are(language: str, words: str) -> None:
    made = page(judge("lexical", stand_in=True), language=language)
    for view in (views.answers.judges(made), views.comparison.answer(made)):
        assert words.lower() in view.html().lower()
    assert "lexical" not in views.comparison.answer(page(judge("gpt", model="m"))).html()


def test_of_another_offline_judge_nothing_is_said_that_holds_for_the_lexical_one_alone() -> None:
    html = views.comparison.answer(page(judge("strict", stand_in=True))).html()
    assert "Offline judges are a baseline" in html
    assert "compares words" not in html


def test_tokens_and_cost_are_those_of_the_replies_used() -> None:
    html = views.answers.judges(page(judge("gpt", model="m", usage=USAGE), judge("lexical", stand_in=True))).html()
    assert "1,204" in html
    assert "3.1416" in html
    assert "for 2 replies" in html
    assert "tokens read" not in views.answers.judges(page(judge("lexical", stand_in=True))).html()


def test_what_replies_without_a_price_cost_is_unknown_and_not_nothing() -> None:
    free = {**USAGE, "cost": 0.0}
    told = views.answers.judges(page(judge("gpt", model="m", usage={**free, "unpriced": 1204}))).html()
    assert "0.0000" not in told
    assert "The cost of 1,204 replies is unknown" in told
    told = views.answers.judges(page(judge("gpt", model="m", usage=free))).html()
    assert "0.0000" in told
    assert "unknown" not in told


@pytest.mark.parametrize(
    ("aggregate", "words"),
    [
        ("mean", "their mean."),
        ("consensus(0.25)", "differ by at most 0.25"),
        ("majority", "more than half"),
        ("binary_majority", "its middle or more, else its bottom"),
    ],
)
def test_a_panel_says_its_rule_and_each_judges_influence(aggregate: str, words: str) -> None:
    line = {"metric": "mrr", "whole": 0.8, "without": 0.75, "shift": -0.05, "largest": 0.5, "n": 40}
    html = views.answers.judges(
        page(judge("a", influence=[line]), judge("b", influence=[line]), aggregate=aggregate)
    ).html()
    assert words in html
    assert html.count("\N{MINUS SIGN}0.050") == 2
    unmeasured = {**line, "without": None, "shift": None, "whole": None, "n": 0}
    assert "\N{EM DASH}" in views.answers.judges(page(judge("a", influence=[unmeasured]))).html()


def test_suspected_injections_are_counted() -> None:
    assert "In 3 answers or their passages" in views.answers.judges(page(judge("a", suspected=3))).html()
    assert "address the judge" not in views.answers.judges(page(judge("a"))).html()


@pytest.mark.fault("markup", tried="texts in views, looked for in their HTML", count=1)
def test_names_are_escaped_and_what_is_unknown_is_left_out() -> None:
    html = views.answers.judges(page({"name": HOSTILE, "model": HOSTILE, "stand_in": False})).html()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "asked for scores" not in html
    assert "Nothing on this page was judged." in views.answers.judges(page()).html()


def test_the_method_says_it_where_no_view_of_its_own_does() -> None:
    made = page(judge("gpt", model="m", failed=3, statuses={"timeout": 3}))
    assert "<b>gpt</b> failed" in views.about.method(made).html(frozenset({"method"}))
    assert "<b>gpt</b> failed" not in views.about.method(made).html(frozenset({"method", "judges"}))
    assert "Who judged" not in views.about.method(Page(measurement())).html()
