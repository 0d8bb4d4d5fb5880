"""Views of sources and of real users, drawn from what was measured of the small project in the real database."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragbench.old import tiers, views
from ragbench.old.core.measurement import Measurement
from ragbench.old.views import Page
from ragbench.old.views.basics.text import anchor
from tests.old.small_project import write_lines

HOSTILE = "</script><script>alert(1)</script> <img src=x onerror=alert(2)> & $x$"
PAYLOAD = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)
SOURCES = ("answer", "measures", "topics", "unused", "pages", "method", "provenance", "summary")
USERS = ("answer", "proxy", "intervals", "table", "usage", "repeats", "worst", "questions", "method", "summary")


def figures(html: str) -> list[dict[str, Any]]:
    return [json.loads(payload) for payload in PAYLOAD.findall(html)]


@pytest.fixture
def sources(project: Path) -> Measurement:
    """Six questions of two subjects with hostile words; chunk a2 is needed and never retrieved by `good`."""
    folder = project / "data" / "small"
    texts = [f"rent of room {i} {HOSTILE}" for i in range(3)] + [f"exams in subject {i}" for i in range(3)]
    questions = [{"id": f"q{i}", "text": text, "relevant": {"a2": 1}} for i, text in enumerate(texts)]
    write_lines(folder / "questions.en.jsonl", questions)
    lists = [{"id": q["id"], "retrieved": ["a1"] if i < 3 else ["b1", "c1", "d1"]} for i, q in enumerate(questions)]
    write_lines(project / "good.jsonl", lists)
    chunks = [json.loads(line) for line in (folder / "chunks.en.jsonl").read_text(encoding="utf-8").splitlines()]
    write_lines(folder / "chunks.en.jsonl", [{**chunk, "title": f"Title {HOSTILE}"} for chunk in chunks])
    return tiers.sources(systems="good,poor", n_topics=2)


@pytest.fixture
def users(project: Path) -> Measurement:
    """Four logged questions, two of them the same, with hostile words."""
    ask = {"answer": HOSTILE, "url": "/b", "score": 4, "asked_at": "2025-09-01T10:30"}
    texts = [f"Where is it? {HOSTILE if i < 2 else i}" for i in range(4)]
    names = ("h0&", "h1", "h2", "h3")
    rows = [{"id": names[i], "question": text, "user": f"u{i}", **ask} for i, text in enumerate(texts)]
    write_lines(project / "data" / "small" / "history.en.jsonl", rows)
    write_lines(
        project / "good.jsonl", [{"id": name, "retrieved": ["b1"] if i else []} for i, name in enumerate(names)]
    )
    return tiers.real_users(systems="good,ngrams")


@pytest.mark.fault("markup", tried="texts in views, looked for in their HTML", count=4)
@pytest.mark.parametrize("language", ["en", pytest.param("ru", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("which", "names"), [("sources", SOURCES), ("users", USERS)])
def test_hostile_texts_stay_texts_and_pages_are_drawn_again_alike(
    which: str, names: tuple[str, ...], language: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    made = request.getfixturevalue(which)
    made.save(tmp_path / "kept")
    for view in names:
        html = str(Page(made, language=language).view(view).html())
        outside = PAYLOAD.sub("", html)
        assert "<script" not in outside
        assert "<img" not in outside
        assert not any(re.search(r"[<>&]", payload) for payload in PAYLOAD.findall(html))
        for again in (made, Measurement.load(tmp_path / "kept")):
            assert str(Page(again, language=language).view(view).html()) == html, view


def test_every_topic_leads_to_its_questions(sources: Measurement) -> None:
    html = str(views.retrieval.topics(Page(sources)).html())
    assert {f"q{i}" for i in range(6)} == set(re.findall(r'id="topic-question-(q\d)"', html))
    assert 'id="topic-1"' in html
    [figure] = figures(html)
    good = next(trace for trace in figure["data"] if trace["name"] == "good")
    assert sorted(good["x"]) == pytest.approx([1 / 3, 1])
    assert not any(trace["cliponaxis"] for trace in figure["data"]), (
        "the mark of a topic of which nothing was found is whole"
    )
    thin = sources.extra["coverage"].query("thin")["topic_id"]
    [word] = {sources.extra["topics"].set_index("topic")["words"][number][0] for number in thin}
    assert f"Thin beside the others: “{word}" in html


def test_chunks_that_are_needed_and_never_found_come_first_and_a_list_says_what_it_leaves_out(
    sources: Measurement,
) -> None:
    html = str(views.retrieval.unused(Page(sources), 5).html())
    assert "needed by 6 questions" in html
    first = re.findall(r'id="unused1-(\w+)"', html)[0]
    assert first == "a2", "the second system is good"
    everything = replace(sources, extra={**sources.extra, "uses": sources.extra["uses"].assign(questions=1)})
    assert "Every passage is retrieved at least once." in views.retrieval.unused(Page(everything)).html()
    nothing = replace(sources, extra={**sources.extra, "uses": sources.extra["uses"].assign(questions=0)})
    text = views.retrieval.unused(Page(nothing), 2).html().striptags()
    assert "good: 5 passages are never retrieved" in text
    assert "3 more are in the tables of this run." in text


def test_pages_are_counted_against_their_share_and_nothing_is_called_better(sources: Measurement) -> None:
    text = views.retrieval.pages(Page(sources)).html().striptags()
    assert "pages retrieved for most questions" in text
    assert "3 50%6×0.62" in re.sub(r"\s*([×6])", r"\1", text), (
        "3 of 6 questions, 6 labels, 3 of 12 places, 2 of 5 chunks"
    )
    said = views.comparison.answer(Page(sources)).html().striptags()
    assert "good retrieves 4 of 5 passages (80%) among the first 5 for 6 questions." in said
    assert not re.search(r"better|worse", said)


def test_usage_counts_what_was_asked_and_a_question_leads_to_its_values(users: Measurement) -> None:
    page = Page(users)
    drawn = figures(str(views.retrieval.usage(page).html()))
    assert [sum(figure["data"][0]["y"]) for figure in drawn] == [4, 4, 4, 4, 4], "words, score, month, weekday, hour"
    assert drawn[1]["data"][0]["y"] == [0, 0, 0, 4, 0]
    assert drawn[4]["data"][0]["y"][10] == 4
    assert drawn[2]["data"][0]["x"] == ["Sep 2025"]
    assert len(views.retrieval.usage(page).figure["data"]) == 5
    assert (
        "1 question was asked more than once in the same words (2 times in all)" in views.retrieval.repeats(page).html()
    )
    assert "h0&amp;, h1" in views.retrieval.repeats(page).html(), "escaped once"
    links = set(re.findall(r'href="#(q-[^"]+)"', str(views.comparison.worst(page, 5).html(frozenset({"questions"})))))
    assert links
    assert links <= {anchor("q", name) for name in page.material.question_rows}
