"""What pages show of answers: who wrote them from what, what was cut and what failed, lengths, refusals, time."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from ragbench.old import views
from ragbench.old.core.measurement import Measurement, NamedEstimate
from ragbench.old.core.types import Estimate, Verdict
from ragbench.old.tiers.answers.written_answers import ANSWER_COLUMNS
from ragbench.old.views import Page
from tests.old.views.measurements import measurement
from tests.old.views.test_show import HOSTILE, assert_clean, read

VIEWS = ("writers", "refusals", "lengths", "stages")


def page_of(text: str = "plain", language: str = "en", **facts: Any) -> Page:
    return Page(measured(text, **facts), language=language)


def measured(text: str = "plain", **facts: Any) -> Measurement:
    """Two systems: the first refused what it could answer, the second invented what it could not."""
    first, second = f"base {text}", f"new {text}"
    known = {
        "context": "ideal",
        "length_limit": 1500,
        "generators": {
            first: {"name": text, "stand_in": False, "own": False, "kind": "openai", "model": text, "prompt": text},
            second: {"name": text, "stand_in": True, "own": False, "kind": "extractive", "sentences": 2},
            f"third {text}": {"name": text, "stand_in": False, "own": False, "kind": "callable", "callable": text},
            f"fourth {text}": {"name": text, "stand_in": False, "own": True},
        },
        "cut": {first: {"answers": 1, "contexts": 2, "characters": 3456}},
        "failed": {first: {"timeout": 2, "refused": 1}},
        "shared": {first: [text, "twin"]},
        "left_out_systems": {text: "answers by itself"},
    }
    m = measurement(
        (first, second, f"third {text}", f"fourth {text}"),
        ("mrr",),
        3,
        question=f"{text} {{i}}",
        facts={**known, **facts},
    )
    questions = m.questions.assign(answerable=[True, True, False])
    answers = pd.DataFrame(
        [
            (system, f"q{i}", 0, f"{text} {system.split()[0]} says {i}", "ok", "", refused, 0.1, 10, 5, ["c1"], 2, 0, 0)
            for system, refusals in ((first, (True, False, True)), (second, (False, False, False)))
            for i, refused in enumerate(refusals)
        ],
        columns=list(ANSWER_COLUMNS),
    )
    placed = [
        NamedEstimate(system, "refusals", Estimate(*share, n, failed, note="few"), {"group": group})
        for system, group, n, failed, share in (
            (first, "answerable", 2, 0, (0.5, 0.1, 0.9, 0.95, "wilson")),
            (second, "unanswerable", 1, 0, (0.0, 0.0, 0.8, 0.95, "wilson")),
            (second, "answerable", 0, 2, (float("nan"), None, None, 0.95, "none")),
        )
    ]
    for p in (0.1, 0.5, 0.9):
        long = Estimate(1234.0 * p, 1.0, None, 0.95, "order_statistics", 30)
        placed.append(NamedEstimate(first, "length", long, {"of": "answer", "probability": p}))
    open_above = Estimate(12.345, 10.0, None, 0.95, "order_statistics", 30, note="open_above")
    where = [{"stage": stage, "probability": 0.5} for stage in ("embed", "generate")]
    placed += [NamedEstimate(first, "latency", open_above, each) for each in where]
    return replace(m, questions=questions, extra={"answers": answers}, placed=tuple(placed))


def text_of(page: Page, view: str) -> str:
    return " ".join(str(page.view(view).html().striptags()).split())


def test_the_limit_and_what_it_cut_are_stated_in_figures() -> None:
    said = text_of(page_of(), "writers")
    assert "At most 1,500 characters of them were given." in said
    assert (
        "1 answer was written from less than there was; passages shortened or left out: 2, characters lost: 3,456."
        in said
    )
    assert "Nothing was cut." in said, "of the second system"
    assert "3 answers failed and are unmeasured, not 0: timeout 2, refused 1." in said
    assert "Would answer alike, with the same generator: plain and twin." in said
    assert "plain is not measured here" in said


def test_without_a_limit_the_page_says_so() -> None:
    said = text_of(page_of(length_limit=None, cut={}), "writers")
    assert "No limit was set on their length." in said
    assert "Nothing was cut" not in said


def test_of_own_answers_nobody_says_what_they_were_written_from() -> None:
    alone = {"base plain": {"name": "x", "stand_in": False, "own": True}}
    said = text_of(page_of(generators=alone, cut={}), "writers")
    assert "gave its own answers" in said
    assert "Every answer was written" not in said


def test_refusals_are_counted_apart_with_their_examples() -> None:
    said = text_of(page_of(), "refusals")
    assert "base plain refused although there is an answer · 1" in said
    assert "new plain answered although the base holds no answer · 1" in said
    assert "new plain refused although" not in said
    assert "plain base says 0" in said
    assert "plain new says 2" in said
    assert "0.500 [0.100, 0.900]" in said
    assert "the base holds the answer0—22" in said, "all failed: none is known to have refused"
    assert "nan" not in said.casefold()


def test_open_ends_and_thousands() -> None:
    assert "1,111" in text_of(page_of(), "lengths")
    stages = text_of(page_of(), "stages")
    assert "12.3 [10.0, …]" in stages
    assert "writing the answer" in stages
    russian = text_of(page_of(language="ru"), "stages")
    assert "написание ответа" in russian
    assert "12,3 [10,0; …]" in russian


def test_a_page_of_something_else_shows_nothing_of_it() -> None:
    page = Page(measurement())
    assert all(not text_of(page, view) for view in VIEWS)
    with pytest.raises(ValueError, match="a whole number from 1"):
        views.answers.refusals(page_of(), 0)


@pytest.mark.fault("markup", tried="texts in views, looked for in their HTML", count=38)
@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("language", ["en", "ru"])
def test_hostile_texts_stay_texts(text: str, language: str) -> None:
    page = page_of(text, language)
    for view in VIEWS:
        html = page.view(view).html()
        assert_clean(html, view)
        assert read(html).elements


def test_of_challengers_alike_on_the_first_metric_one_with_another_verdict_is_told_first() -> None:
    """The one better on 14 of 27 metrics was folded below those of which nothing was shown."""
    made = measurement(("base", "same", "better", "leads"), ("first", "second"), 20)
    told = {("better", "second"), ("leads", "first")}
    compared = [
        replace(one, comparison=replace(one.comparison, verdict=Verdict.BETTER if place in told else Verdict.NOT_SHOWN))
        for one in made.comparisons
        for place in [(one.comparison.challenger, one.metric)]
    ]
    page = Page(replace(made, comparisons=tuple(compared)))
    names = re.findall(r"<b>(\w+)</b>", str(page.view("answer").html()))
    assert names == ["leads", "better", "same"]
