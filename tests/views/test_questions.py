"""The list of every question: what unfolds, what is packed, and what the script does."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ragbench.core.language import load_language
from ragbench.report.page import Page
from ragbench.report.parts import PAGE_HTML
from ragbench.tiers.blame import OUTCOMES
from ragbench.views.questions import QuestionList, questions

HOSTILE = (
    "<script>window.hit=1</script>",
    '"><img src=x onerror="window.hit=1">',
    "<svg onload=window.hit=1>",
    "</textarea><details open ontoggle=window.hit=1>",
    "javascript:window.hit=1",
    "{{ 7 * 7 }} ${window.hit=1} `x`",
    "</script><script>window.hit=1</script>",
    "<!--<script>",
    "&lt;b&gt;",
    "\u202etxet",
)


def made(
    number: int = 3,
    text: str = "question",
    metric: str = "answer_correctness_rating",
    failures: Sequence[str] = ("good answer", "not retrieved"),
    systems: Sequence[str] = ("old", "new"),
) -> QuestionList:
    """The list of a judged tier: two systems, answers, verdicts, passages, first failures."""
    ids = [f"q{n}" for n in range(number)]
    pairs = [(system, name) for system in ("old", "new") for name in ids]
    keys = pd.DataFrame(pairs, columns=["system", "question_id"])
    values = [(4.0 if system == "old" else 5.0) - (name == "q1") for system, name in pairs]
    ratings = keys.assign(
        metric=metric, value=values, explanation=f"why {text}", reason="",
        status="ok",
    )  # fmt: skip
    ranks = keys.assign(
        metric="mrr@10", value=[float("nan")] + [0.5] * (len(keys) - 1), explanation="",
        reason=[f"no {text}"] + [""] * (len(keys) - 1), status="ok",
    )  # fmt: skip
    frames = SimpleNamespace(
        questions=pd.DataFrame({"question_id": ids, "text": text, "reference": f"right {text}"}),
        scores=pd.concat([ratings, ranks], ignore_index=True),
        answers=keys.assign(repeat=0, answer=[""] + [f"answer {text}"] * (len(keys) - 1),
                            error=[f"no route to {text}"] + [""] * (len(keys) - 1),
                            contexts=[()] * len(keys), context_ids=[()] * len(keys)),
        verdicts=keys.assign(metric="faithfulness", judge="j", item=f"claim {text}",
                             verdict="supported", reason=f"since {text}"),
        failures=keys.assign(failure=np.repeat(failures, len(keys) // len(failures))),
        retrieved=keys.assign(rank=1, passage_id="p1", text=f"passage {text}"),
        passages=None,
        labels=pd.DataFrame({"question_id": ids, "passage_id": "p2", "grade": 1.0}),
    )  # fmt: skip
    result = SimpleNamespace(
        frames=frames,
        systems=systems,
        language=load_language("en"),
        request=SimpleNamespace(primary=metric, baseline="old"),
    )
    return questions(result)


def packed(html: str) -> dict[str, Any]:
    """What a page with many questions holds."""
    text = re.search(r'class="packed">([^<]+)<', html)
    assert text is not None
    return json.loads(gzip.decompress(base64.b64decode(text[1])))


def test_a_question_unfolds_to_all_that_is_known_of_it() -> None:
    html = made().html
    assert html.count("<details id=") == 3
    first = html[html.index('id="question-q0"') : html.index('id="question-q1"')]
    for text in (
        '<span dir="auto">right question</span>',
        "<b>old</b> good answer",
        "<b>new</b> not retrieved",
        '<blockquote dir="auto">answer question</blockquote>',
        '<blockquote dir="auto">no route to question</blockquote>',
        '<div class="metric"><b>4</b>answer_correctness_rating<br>',
        "why question",
        "no question",  # why a value is missing
        "claim question",
        "since question",
        "passage question",
        "labelled relevant",
    ):
        assert text in first


@pytest.mark.parametrize(
    ("metric", "shown"),
    [
        ("answer_correctness_rating", "4"),
        ("show_decision", "4"),
        ("n_doubts", "4"),
        ("n_alone", "4"),
        ("token_f1", "4.000"),
        ("bleu", "4"),
        ("avg_pairwise_distance", "4.000"),
        ("of_ones_own", "4.000"),
    ],
)
def test_ratings_decisions_and_counts_have_no_decimals(metric: str, shown: str) -> None:
    assert f'<div class="metric"><b>{shown}</b>{metric}<br>' in made(metric=metric).html


def test_failures_have_the_colours_of_their_figure() -> None:
    html = made().html
    # Blue is well, and grey is what was not retrieved; the legend goes by the same numbers.
    assert 'style="--systems: 2; --o0: var(--blue1); --o1: var(--grey)"' in html
    assert '<span class="o0">good answer</span> <span class="o1">not retrieved</span>' in html
    # Every failure that there is has a colour of its own.
    colours = re.findall(r"--o\d: var\(--(\w+)\)", made(5, failures=OUTCOMES).html)
    assert len(colours) == len(set(colours)) == len(OUTCOMES)


def test_the_frame_behind_it_has_a_row_a_question() -> None:
    frame = made().content
    assert list(frame.columns) == ["text", "old", "new"]
    assert frame.loc["q1", "new"] == 4.0
    # What is measured of others stands nowhere.
    alone = made(systems=["old"])
    assert alone.content["old"].tolist() == [4, 3, 4]
    assert "<b>old</b> good answer" in alone.html


def test_texts_are_cut_with_an_ellipsis() -> None:
    html = made(2, "y" * 1_600).html
    assert f"passage {'y' * 292}…" in html
    assert f"answer {'y' * 1_493}…" in html


def test_systems_with_the_same_answer_and_values_share_a_card() -> None:
    html = made().html
    assert "<b>old, new</b>" not in html  # their values differ
    assert html.count("<blockquote") == 6


def test_jupyter_shows_the_first_twenty_with_their_style() -> None:
    bundle = made(30)._repr_mimebundle_()
    assert bundle["text/html"].count("<details id=") == 20
    assert "The first 20 of 30 questions; the page has all." in bundle["text/html"]
    assert "<style>" in bundle["text/html"]
    assert "<form" not in bundle["text/html"]
    assert bundle[PAGE_HTML].count("<details id=") == 30


def test_many_questions_are_packed_the_same_way_every_time() -> None:
    assert 'class="packed"' not in made(750).html
    first, second = made(751).html, made(751).html
    assert first == second
    assert first.count('<div id="question-q') == 751
    assert first.count("answer question") == 0
    content = packed(first)
    assert content["systems"] == ["old", "new"]
    assert content["entries"][3]["cards"][0]["answer"] == "answer question"
    assert content["passages"] == [["p1", "passage question"], ["p2", ""]]


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_of_people_are_texts(text: str) -> None:
    html = made(2, text).html
    body = html.replace("<script type=", "")
    for mark in ("<script", "<img", "<svg", "<textarea", "ontoggle=window"):
        assert mark not in body or mark == "ontoggle=window"
    assert "7 * 7" not in text or "{{ 7 * 7 }}" in html


def test_the_first_passages_and_all_labelled_ones_are_shown_with_their_ranks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import ragbench as rb
    from ragbench.views import questions as view

    monkeypatch.setattr(view, "MOST_WRITTEN", 0)
    passages = {f"p{n}": f"text {n}" for n in range(10)}
    systems = {
        "up": lambda question, k: [f"p{n}" for n in range(8)],
        "down": lambda question, k: [f"p{n}" for n in reversed(range(8))],
    }
    asked = [{"text": "one?", "relevant": ["p6", "p9"]}, {"text": "two?", "relevant": ["p9"]}]
    result = rb.tier1(systems, asked, passages, k=8, repeats=1, index_questions=0, draws=200)
    [shown] = [part for part in result.parts if isinstance(part, QuestionList)]
    content = packed(shown.html)
    names = [name for name, _ in content["passages"]]
    first, second = (
        {names[number]: (ranks, bool(label)) for number, ranks, label in entry["passages"]}
        for entry in content["entries"]
    )
    assert second == {f"p{n}": ([n + 1, 8 - n], False) for n in range(8)} | {"p9": ([0, 0], True)}
    assert first["p6"] == ([7, 2], True)
    few = rb.tier1({"up": systems["up"]}, asked, passages, k=8, repeats=1, draws=200)
    entry = packed(questions(few).html)["entries"][0]
    # Five and the labelled ones, also the one that nobody retrieved.
    assert [row[1:] for row in entry["passages"]] == [[[n], 0] for n in range(1, 6)] + [
        [[7], 1], [[0], 1]
    ]  # fmt: skip
    assert ["mrr@8", "0.143"] in entry["table"]


def test_answers_are_listed_with_the_passages_that_they_were_written_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import ragbench as rb
    from ragbench.views import questions as view

    monkeypatch.setattr(view, "MOST_WRITTEN", 0)
    monkeypatch.setattr(view, "MOST_LISTED", 2)
    row = {"question": "Open?", "reference": "Yes."}
    row |= {"contexts": ["It is open.", "x" * 130, "It is open."]}
    table = [{**row, "id": f"q{n}", "answer": "y" * 161 if n else "y" * 160} for n in range(3)]
    html = questions(rb.score(table, ["token_f1", "edit_distance"])).html
    content = packed(html)
    assert len(content["entries"]) == 2
    assert "The first 2 of 3 questions; all of them lie in the folder frames" in html
    assert [text for _, text in content["passages"]] == ["It is open.", "x" * 120 + "…"]
    assert [row[1] for row in content["entries"][0]["passages"]] == [[1], [2]]
    answers = [entry["cards"][0]["answer"] for entry in content["entries"]]
    assert answers == ["y" * 160, "y" * 160 + "…"]


@pytest.fixture(scope="module")
def chromium():
    """Headless Chromium of the system."""
    import shutil

    program = shutil.which("chromium")
    if program is None:
        pytest.skip("there is no chromium")
    playwright = pytest.importorskip("playwright.sync_api")
    options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=program, args=options)
        yield opened
        opened.close()


@pytest.mark.browser
@pytest.mark.parametrize("number", [4, 800])
def test_the_script_searches_filters_sorts_and_unfolds(
    chromium: Any, tmp_path: Path, number: int
) -> None:
    path = Page("Questions", [made(number)]).save(tmp_path / "page.html")
    page = chromium.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.goto(f"file://{path}")

    def choose(name: str, value: str) -> str:
        page.evaluate(
            "([name, value]) => { const form = document.querySelector('form');"
            " form[name].value = value; form.dispatchEvent(new Event('input')); }",
            [name, value],
        )
        page.wait_for_timeout(100)
        return page.evaluate("document.querySelector('output').value")

    page.click("#question-q2 > :first-child")
    page.wait_for_selector("#question-q2[open] blockquote")
    assert "claim question" in page.inner_text("#question-q2")
    assert choose("words", "since question") == f"{number} / {number}"
    assert choose("words", "nowhere") == f"0 / {number}"
    choose("words", "")
    assert choose("filter", "0 0") == f"{number} / {number}"
    assert choose("filter", "0 1") == f"0 / {number}"
    choose("filter", "")
    choose("order", "0")  # the worst of the first system
    first = page.evaluate("document.querySelector('.questions > [id]').id")
    assert first == "question-q1"
    assert problems == []


@pytest.mark.browser
@pytest.mark.parametrize("number", [2, 800])
def test_hostile_texts_run_nothing_and_ask_for_nothing(
    chromium: Any, tmp_path: Path, number: int
) -> None:
    parts = [made(number, text) for text in (HOSTILE if number < 100 else [" ".join(HOSTILE)])]
    path = Page(HOSTILE[0], parts).save(tmp_path / "page.html")
    page = chromium.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: asked.append(dialog.message))
    page.goto(f"file://{path}")
    page.evaluate(
        "document.querySelectorAll('.questions > [id]:first-of-type')"
        ".forEach((row) => row.firstElementChild.click())"
    )
    page.wait_for_timeout(300)
    assert page.evaluate("window.hit") is None
    assert asked == [f"file://{path}"]
