"""How sources are used, against counts made by hand in the real database."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest

from ragbench.old import tiers, views
from ragbench.old.tiers import BenchError
from tests.old.small_project import write_lines
from tests.old.views.measurements import value


@pytest.mark.usefixtures("project")
def test_used_and_unused_chunks_of_the_first_k_are_those_counted_by_hand() -> None:
    found = tiers.sources(systems="good,poor", n_topics=1)
    expected = {"total_chunks": 5, "used_chunks": 4, "unused_chunks": 1, "utilization_rate": 0.8, "total_questions": 4}
    assert {name: value(found, "good", name) for name in expected} == pytest.approx(expected)
    assert value(found, "poor", "used_chunks") == 4
    uses = found.extra["uses"].query("system == 'good'").set_index("chunk")["questions"]
    assert uses.to_dict() == {"a1": 4, "a2": 0, "b1": 2, "c1": 1, "d1": 1}
    assert found.comparisons == ()
    found = tiers.sources(systems="good", k=1, n_topics=1)
    assert value(found, "good", "used_chunks") == 2
    assert found.retrieved["rank"].max() == 1


@pytest.mark.usefixtures("project")
def test_share_and_count_have_one_interval_and_pages_are_counted_once_a_question_against_their_share() -> None:
    made = tiers.sources(systems="good", n_topics=1)
    found = {e.metric: e.estimate for e in made.estimates}
    used, rate, unused = found["used_chunks"], found["utilization_rate"], found["unused_chunks"]
    assert None not in (used.low, used.high)
    assert rate.low == pytest.approx(used.low / 5)
    assert (unused.low, unused.high) == pytest.approx((5 - used.high, 5 - used.low))
    assert found["n_topics"].note == "count"
    assert found["avg_chunks_per_topic"].note == "topics"
    pages = made.extra["pages"].set_index("page")
    assert pages["questions"].to_dict() == {"/a": 4, "/b": 2, "/c": 1, "/d": 1}
    assert pages["chunks"]["/a"] == 2
    assert pages["needed"].to_dict() == {"/a": 1, "/b": 1, "/c": 1, "/d": 1}
    assert pages["excess"]["/a"] == pytest.approx((4 / 8) / (2 / 5))


@pytest.fixture
def two_subjects(project: Path) -> Path:
    """Twelve questions of two subjects; those on rent find one chunk, those on exams find many."""
    folder = project / "data" / "small"
    rent = [f"how high is the rent of room {i}" for i in range(6)]
    exams = [f"exams timetable for subject {i} please" for i in range(6)]
    questions = [{"id": f"q{i:02}", "text": text, "relevant": {"a1": 1}} for i, text in enumerate(rent + exams)]
    write_lines(folder / "questions.en.jsonl", questions)
    lists = {q["id"]: ["a1"] if i < 6 else ["a2", "b1", "c1", "d1"] for i, q in enumerate(questions)}
    write_lines(project / "good.jsonl", [{"id": q, "retrieved": ids} for q, ids in lists.items()])
    return project


@pytest.mark.usefixtures("two_subjects")
def test_a_topic_that_finds_few_chunks_is_thin_and_named_by_its_words() -> None:
    found = tiers.sources(systems="good,ngrams", n_topics=2)
    topics = found.extra["topics"].set_index("topic")
    [rent] = [number for number, words in topics["words"].items() if "rent" in words]
    coverage = found.extra["coverage"].query("system == 'good'").set_index("topic_id")
    assert coverage.loc[rent, ["question_count", "unique_chunks", "unique_urls"]].tolist() == [6, 1, 1]
    assert coverage.loc[3 - rent, ["question_count", "unique_chunks", "unique_urls"]].tolist() == [6, 4, 4]
    assert coverage["thin"].to_dict() == {rent: True, 3 - rent: False}
    assert set(topics["samples"][rent]) == {f"q{i:02}" for i in range(6)}
    labels = found.extra["question_topics"].set_index("sample")["topic"]
    assert labels["q00"] == rent != labels["q11"]
    assert value(found, "good", "avg_chunks_per_topic") == 2.5


@pytest.mark.usefixtures("two_subjects")
def test_the_number_of_topics_is_chosen_by_silhouette() -> None:
    found = tiers.sources(systems="ngrams", most_topics=4)
    table = found.extra["silhouettes"].set_index("topics")["silhouette"]
    assert set(table.index) <= {2, 3, 4}
    assert found.facts["n_topics"] == table.idxmax() == 2
    assert not found.facts["n_topics_given"]


def test_questions_of_one_cluster_are_left_out_together(project: Path) -> None:
    path = project / "data" / "small" / "questions.en.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    write_lines(path, [{**row, "cluster": row["id"] if row["id"] in ("q1", "q2") else "rest"} for row in rows])
    found = {e.metric: e.estimate for e in tiers.sources(systems="good", n_topics=1).estimates}
    assert found["used_chunks"].clusters == 3


@pytest.fixture
def with_log(project: Path) -> Path:
    """A folder whose log names a user, an address, and one page that is not in the base."""
    log = [
        {"id": "h1", "question": "What of a1, says ann@example.org?", "url": "/a", "score": 5, "user": "ann-77"},
        {"id": "h2", "question": "What of b1?", "url": "/gone", "score": 2, "user": "ann-77"},
        {"id": "h3", "question": "What of c1, asks ann-77?", "user": "bob-12"},
    ]
    write_lines(project / "data" / "small" / "history.en.jsonl", log)
    lists = {"h1": ["a1", "b1"], "h2": ["b1"], "h3": ["b1", "c1"], "q1": ["d1"]}
    write_lines(project / "good.jsonl", [{"id": q, "retrieved": ids} for q, ids in lists.items()])
    return project


@pytest.mark.usefixtures("with_log")
def test_the_log_of_a_folder_is_searched_in_place_of_its_questions_and_persons_are_masked() -> None:
    made = tiers.sources(systems="good", users_log=True, n_topics=1)
    expected = {"total_chunks": 5, "used_chunks": 3, "unused_chunks": 2, "utilization_rate": 0.6, "total_questions": 3}
    assert {name: value(made, "good", name) for name in expected} == pytest.approx(expected)
    found = {e.metric: e.estimate for e in made.estimates}
    assert found["used_chunks"].clusters == 2, "questions of one user are left out together"
    [topic] = made.tables["topic_coverage"].drop(columns="words").to_dict("records")
    assert topic == {
        "system": "good", "topic_id": 1, "question_count": 3, "unique_chunks": 3, "unique_urls": 3, "thin": False,
    }  # fmt: skip
    shown = made.questions.set_index("sample")["text"].to_dict()
    assert shown == {"h1": "What of a1, says •••@•••?", "h2": "What of b1?", "h3": "What of c1, asks •••?"}
    assert made.questions["cluster"].tolist() == ["1", "1", "2"]
    assert not made.tables["topic_coverage"]["words"].str.contains("ann").any()
    page = views.Page(made)
    assert "for 3 questions of the users' log" in views.comparison.answer(page).html().unescape()
    assert "are the 3 questions of the users' log" in views.about.method(page).html().unescape()
    bare = tiers.sources(systems="good", users_log=True, n_topics=1, mask=False)
    assert "ann@example.org" in bare.questions.set_index("sample")["text"]["h1"]
    assert value(tiers.sources(systems="good", n_topics=1), "good", "used_chunks") == 1, "else its own questions"


@pytest.mark.usefixtures("project")
def test_a_folder_without_a_log_says_so() -> None:
    with pytest.raises(BenchError, match=r"small:en has no questions in its users' log \(users_log = True; 0 stand"):
        tiers.sources(systems="good", users_log=True)


@pytest.mark.usefixtures("two_subjects")
def test_the_topics_stand_on_the_page_as_a_table() -> None:
    page = views.Page(tiers.sources(systems="good,ngrams", n_topics=2))
    html = views.retrieval.topic_coverage(page).html()
    table = pd.read_html(io.StringIO(html))[0]
    assert table.columns.tolist() == [
        "topic",
        "system",
        "questions",
        "distinct passages",
        "passages a question",
        "pages",
    ]
    own = table[table["system"].str.contains("good")]
    assert sorted(map(tuple, own.iloc[:, 2:].to_numpy().tolist())) == [(6, 1, 0.2, 1), (6, 4, 0.7, 4)]
    assert own[own["distinct passages"] == 1]["topic"].str.endswith("thin").all()
