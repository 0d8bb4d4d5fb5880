"""Real users' questions: pages as proxy labels, what is counted and left out, and nobody named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragbench.old import tiers, views
from ragbench.old.core import settings
from ragbench.old.core.segmentation import plain
from ragbench.old.tiers.data.persons import MASK, Masker
from ragbench.old.tiers.retrieval.real_users import when
from ragbench.old.views import Page
from tests.old.small_project import write_lines
from tests.old.views.measurements import values

ROWS = [
    ("h1", "Where is b?", "There.", "/b", 5, "ann.lee", "2025-09-01T10:30"),
    ("h2", "where is B", None, "/b", 1, "bob77", "2025-09-02"),
    ("h3", "Call +7 900 123-45-67 or a.b@c.ru", "Ask bob77.", "/a", None, "bob77", "soon"),
    ("h4", "Is there nothing?", None, None, 1, None, None),
    ("h5", "Where did it go?", None, "/gone", 4, "ann.lee", "2026-01-31"),
]
FIELDS = ("id", "question", "answer", "url", "score", "user", "asked_at")
HISTORY = [dict(zip(FIELDS, row, strict=True)) for row in ROWS]
FOUND = {"h1": ["b1", "a1"], "h2": ["a2", "a1", "b1"], "h3": ["c1"]}


@pytest.fixture
def log(project: Path) -> Path:
    """The small project with a log of five questions, three of them with a page that is there."""
    write_lines(project / "data" / "small" / "history.en.jsonl", HISTORY)
    write_lines(project / "good.jsonl", [{"id": q, "retrieved": ids} for q, ids in FOUND.items()])
    return project


@pytest.mark.usefixtures("log")
def test_the_page_that_was_shown_is_the_label_and_what_has_none_is_counted() -> None:
    found = tiers.real_users(systems="good", k=5)
    assert values(found, "good", "mrr@5") == {"h1": 1.0, "h2": 0.5, "h3": 0.0}
    assert values(found, "good", "hit_rate@5") == {"h1": 1.0, "h2": 1.0, "h3": 0.0}
    assert found.facts["unit"] == "url"
    assert found.facts["proxy"] is True
    labels = found.questions.set_index("sample")["relevant"]
    assert {sample: list(pages) for sample, pages in labels.items()} == {"h1": ["/b"], "h2": ["/b"], "h3": ["/a"]}
    counted = {
        key: found.facts[key] for key in ("n_history", "n_without_page", "n_page_gone", "n_questions", "n_users")
    }
    assert counted == {"n_history": 5, "n_without_page": 1, "n_page_gone": 1, "n_questions": 3, "n_users": 2}
    said = views.retrieval.proxy(Page(found)).html().striptags()
    assert "The label is a proxy" in said
    assert "5 questions were logged by 2 users: 1 has no page; the page of 1 is not in the base any more; 3 are" in said
    # pages: h1 /b /a, h2 /a /b, h3 /c; one of each is judged, or none
    judged = views.retrieval.unjudged(Page(found)).html().striptags()
    assert "Of the first 5 that a system retrieved, 33% were judged" in judged
    users, none = found.estimates, tiers.real_users(systems="good", cluster_by="none").estimates
    assert ({e.estimate.clusters for e in users}, {e.estimate.clusters for e in none}) == ({2}, {None})


@pytest.mark.fault("personal-data", tried="what a measurement of a log keeps and shows", count=2)
@pytest.mark.usefixtures("log")
@pytest.mark.parametrize("language", ["en", "ru"])
def test_nobody_is_named_in_what_is_kept_or_shown(log: Path, monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    monkeypatch.setenv("RAGBENCH_RUN_FOLDER", str(log / "run"))
    found = tiers.real_users(systems="good,ngrams")
    page = Page(found, language=language)
    names = ("answer", "proxy", "table", "usage", "repeats", "worst", "questions", "method", "provenance")
    shown = "".join(str(page.view(name).html()) for name in names)
    kept = (found.questions, found.retrieved, *found.extra.values())
    tables = "".join(table.to_json(force_ascii=False) for table in kept)
    for secret in ("ann.lee", "bob77", "900 123", "a.b@c.ru"):
        assert secret not in shown, secret
        assert secret not in tables, secret
        assert secret not in json.dumps(dict(found.facts)), secret
    assert f"Call {MASK} or {MASK}@{MASK}" in found.questions.set_index("sample")["text"]["h3"]
    assert set(found.questions["cluster"]) == {"1", "2"}


@pytest.mark.fault("personal-data", tried="a system whose error repeats the question", count=1)
@pytest.mark.usefixtures("log")
def test_an_error_that_repeats_the_question_names_nobody(log: Path) -> None:
    (log / "own.py").write_text(
        "def find(question, k):\n    if '@' in question: raise OSError(question)\n    return ['a1']\n"
    )
    with (log / "ragbench.toml").open("a", encoding="utf-8") as file:
        file.write('[systems.own]\ncallable = "own:find"\n')
    settings.load.cache_clear()
    found = tiers.real_users(systems="own")
    said = found.scores.to_json(force_ascii=False)
    assert "a.b@c.ru" not in said
    assert f"{MASK}@{MASK}" in said


@pytest.mark.fault("personal-data", tried="masking switched off, and said", count=1)
@pytest.mark.usefixtures("log")
def test_masking_can_be_switched_off_and_the_page_says_so() -> None:
    found = tiers.real_users(systems="good", mask=False)
    assert "a.b@c.ru" in found.questions.set_index("sample")["text"]["h3"]
    assert "keep this page to yourself" in views.retrieval.proxy(Page(found)).html()


@pytest.mark.usefixtures("log")
def test_the_log_is_described_whole() -> None:
    found = tiers.real_users(systems="good")
    extra = found.extra
    asked = extra["asked"].set_index("sample")
    assert asked["words"].to_dict() == {"h1": 3, "h2": 3, "h3": 9, "h4": 3, "h5": 4}
    assert asked["day"].fillna("").to_list() == ["2025-09-01", "2025-09-02", "", "", "2026-01-31"]
    assert asked["hour"].dropna().to_dict() == {"h1": 10}
    assert asked["weekday"].dropna().to_dict() == {"h1": 0, "h2": 1, "h5": 5}
    [repeat] = extra["repeats"].to_dict("records")
    known = (repeat["text"], repeat["count"], repeat["users"], list(repeat["samples"]))
    assert known == ("Where is b?", 2, 2, ["h1", "h2"])
    pages = extra["asked_pages"].set_index("page")
    assert pages["count"].to_dict() == {"/b": 2, "/a": 1, "/gone": 1}
    assert pages["in_base"].to_dict() == {"/b": True, "/a": True, "/gone": False}
    lengths = {one.where["probability"]: one.estimate.value for one in found.estimates_by("asked", "probability")}
    assert lengths == {0.1: 3.0, 0.5: 3.0, 0.9: pytest.approx(7.0)}
    shares = {one.where["asked"]: one.estimate for one in found.estimates_by("asked")}
    score, answered = shares["score"], shares["answered"]
    assert (answered.value, answered.n) == (0.4, 5), "h1 and h3 have an answer"
    assert score.value == 2.75
    assert (score.low or 5) < 2.75 < (score.high or 0)


@pytest.mark.usefixtures("project")
def test_a_data_set_without_a_log_measures_nothing_and_says_so() -> None:
    found = tiers.real_users()
    assert found.estimates == ()
    assert found.facts["n_history"] == 0
    page = Page(found)
    assert "no log of real questions" in views.retrieval.proxy(page).html()
    for name in ("answer", "intervals", "table", "usage", "repeats", "worst"):
        assert page.view(name).html(), name
    assert "twice" not in views.retrieval.repeats(page).html()


@pytest.mark.fault("personal-data", tried="texts with addresses, telephones and numbers", count=18)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("write to ivan.petrov+x@mail.example.ru!", f"write to {MASK}@{MASK}!"),
        ("тел. +7 (900) 123-45-67, 8 800 555 35 35", f"тел. {MASK}, {MASK}"),
        ("card 4276 1234 5678 9012", f"card {MASK}"),
        ("паспорт 4510 123456", f"паспорт {MASK}"),
        ("login s123456", f"login {MASK}"),
        ("ask @ivan_p", f"ask @{MASK}"),
        ("from u001, not u0012", f"from {MASK}, not u0012"),
        ("from U001", f"from {MASK}"),
        ("иван@почта.рф, ivan＠mail.ru", f"{MASK}@{MASK}, {MASK}@{MASK}"),
        ("ivan (at) mail.ru or ivan[at]mail.ru", f"{MASK}@{MASK} or {MASK}@{MASK}"),
        ("ivan\u200b@\u2060mail\u00ad.ru", f"{MASK}@{MASK}"),
        ("ask ＠ivan_p or t.me/ivan_p", f"ask @{MASK} or t.me/{MASK}"),
        ("https://vk.com/ivan.petrov?from=1", f"https://vk.com/{MASK}?from=1"),
        ("8.900.123.45.67 on 01.09.2025", f"{MASK} on 01.09.2025"),
        ("８９００１２３４５６７, ٠٩١٢٣٤٥٦٧٨٩", f"{MASK}, {MASK}"),
        ("version 10.2.33.4, meet (at) the office", "version 10.2.33.4, meet (at) the office"),
        ("1 000 000 roubles on 2025-09-02 or 01.09.2025", "1 000 000 roubles on 2025-09-02 or 01.09.2025"),
        ("term 2024-2025, room 101, 8:30-19:00", "term 2024-2025, room 101, 8:30-19:00"),
    ],
)
def test_what_is_masked_and_what_is_not(text: str, expected: str) -> None:
    assert Masker(["u001"]).text(text) == expected


def test_users_become_numbers_in_their_order() -> None:
    masker = Masker(["zoe", "adam"])
    assert [masker.user(name) for name in ("adam", "zoe", "new", "adam", None)] == ["2", "1", "3", "2", None]


def test_questions_are_equal_by_their_words() -> None:
    assert plain("Где  ЁЛКА?!") == plain("где елка")
    assert plain("where is a") != plain("where is b")


def test_times() -> None:
    at, hour = when("2025-09-02T08:15:00+03:00")
    assert at is not None
    assert (at.date().isoformat(), hour) == ("2025-09-02", 8)
    assert when("2025-09-02")[1] is None
    assert when("yesterday") == when(None) == (None, None)
