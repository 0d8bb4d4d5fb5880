"""The page of sources by its front: functions that retrieve in, what they use of a base out."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ragbench as rb
from ragbench.core.errors import BenchError

PASSAGES = [
    {"id": f"p{n}", "text": f"Passage {n} tells of it.", "url": f"https://x/{n // 2}"}
    for n in range(10)
]
# Three subjects of three questions each.
SUBJECTS = ["parking garage", "library books", "swimming pool"]
QUESTIONS = [
    {"id": f"q{n}", "question": f"Where is the {SUBJECTS[n // 3]} {n}?", "relevant": [f"p{n}"]}
    for n in range(9)
]
FEW = {"draws": 200, "n_topics": 3, "k": 2}


def number_of(question: str) -> int:
    return int(question.rstrip("?").split()[-1])


def own_and_first(question: str, k: int) -> list[str]:
    """The passage of the question, and p0."""
    return [f"p{number_of(question)}", "p0"][:k]


@pytest.fixture(autouse=True)
def embedder(empty_folder: Path) -> None:
    """Subjects are directions."""
    (empty_folder / "vectors.py").write_text(
        "def embed(texts):\n"
        "    names = ['parking', 'library', 'swimming']\n"
        "    return [[1.0 if name in text else 0.001 * (i + len(text)) for i, name in"
        " enumerate(names)] for text in texts]\n"
    )
    (empty_folder / "ragbench.toml").write_text(
        'embedder = "own"\n[embedders.other]\ncallable = "vectors:none"\n'
        '[embedders.own]\ncallable = "vectors:embed"\n'
    )
    from ragbench.core.trust import trust

    trust(empty_folder)


def values(result: Any, system: str) -> pd.Series:
    return result.estimates[result.estimates["system"] == system].set_index("metric")["value"]


def test_use_is_counted_by_hand() -> None:
    result: Any = rb.sources({"v1": own_and_first}, QUESTIONS, PASSAGES, **FEW)
    value = values(result, "v1")
    assert result.about.stand_ins == ()
    assert value["total_chunks"] == 10
    assert value["used_chunks"] == 9
    assert value["unused_chunks"] == 1
    assert value["utilization_rate"] == 0.9
    assert value["n_topics"] == 3
    # p0 is found for all topics: 3, 4 and 4 distinct passages.
    assert value["avg_chunks_per_topic"] == pytest.approx(11 / 3)
    assert result.statement.uses.query("name == 'p0'")[
        ["questions", "labelled"]
    ].values.tolist() == [[9, 1]]
    never = result.statement.uses.query("unit == 'passage' and questions == 0")
    assert never["name"].tolist() == ["p9"]
    assert "Never retrieved: passages 1, of which questions need 0; pages 0." in str(result)


def test_ids_outside_the_base_cover_nothing() -> None:
    def with_strangers(question: str, k: int) -> list[str]:
        return [*own_and_first(question, k), f"stranger {question}"]

    systems = {"v1": own_and_first, "v2": with_strangers}
    result: Any = rb.sources(systems, QUESTIONS, PASSAGES, **FEW)
    first, second = (
        rows["unique_chunks"].tolist() for _, rows in result.frames.coverage.groupby("system")
    )
    assert first == second


def test_the_interval_leaves_questions_out_one_by_one() -> None:
    result: Any = rb.sources({"v1": own_and_first}, QUESTIONS, PASSAGES, **FEW)
    # Without q1 … q8 one passage less is found, without q0 none.
    without = np.array([9] + [8] * 8)
    half = 2.3060041352 * math.sqrt(8 * without.var())
    row = result.estimates.set_index("metric").loc["used_chunks"]
    assert row["low"] == pytest.approx(9 - half)
    assert row["high"] == 10  # all there are
    assert result.scores["value"].tolist() == [0, 1, 1, 1, 1, 1, 1, 1, 1]


def test_topics_hold_together_what_is_asked_about_one_subject() -> None:
    result: Any = rb.sources({"v1": own_and_first}, QUESTIONS, PASSAGES, **FEW)
    topics = result.frames.questions.groupby("topic_id")["question_id"].agg(list).tolist()
    assert sorted(topics) == [["q0", "q1", "q2"], ["q3", "q4", "q5"], ["q6", "q7", "q8"]]
    words = result.frames.topics["words"]
    assert set(words) == {"garage, parking", "books, library", "pool, swimming"}
    coverage = result.frames.coverage
    assert coverage["question_count"].tolist() == [3, 3, 3]
    assert sorted(coverage["unique_chunks"]) == [3, 4, 4]
    assert sorted(coverage["unique_urls"]) == [2, 3, 3]
    # Nobody says how many: as many as hold together best.
    by_itself: Any = rb.sources(
        {"v1": own_and_first}, QUESTIONS, PASSAGES, **{**FEW, "n_topics": 0}
    )
    assert by_itself.frames.topics["topic_id"].tolist() == [0, 1, 2]
    three: Any = rb.sources({"v1": own_and_first}, QUESTIONS[::3], PASSAGES, **FEW)
    assert three.frames.topics["topic_id"].tolist() == [0, 1, 2]
    two = rb.sources({"v1": own_and_first}, QUESTIONS, PASSAGES, **{**FEW, "n_topics": 2})
    assert two.frames.topics["topic_id"].tolist() == [0, 1]


def test_a_system_that_fails_or_is_empty_is_said_to_be_so() -> None:
    def dead(question: str, k: int) -> list[str]:
        raise ConnectionError("connection refused")

    systems = {"good": own_and_first, "dead": dead, "empty": lambda question, k: []}
    result: Any = rb.sources(systems, QUESTIONS, PASSAGES, **FEW)
    rows = result.estimates[result.estimates["metric"] == "used_chunks"].set_index("system")
    assert rows.loc["dead", ["n", "n_unmeasured"]].tolist() == [0, 9]
    assert math.isnan(rows.loc["dead", "value"])
    assert rows.loc["empty", "value"] == 0
    text = str(result)
    assert "dead failed at 9 of 9 questions: " in text
    assert "empty returned nothing at 9 of 9 questions." in text
    assert "Passages that are never retrieved" in str(result.page)


def test_a_topic_is_not_poor_because_a_system_failed_at_it() -> None:
    def once(question: str, k: int) -> list[str]:
        if question not in {QUESTIONS[n]["question"] for n in (0, 3, 6)}:
            raise ConnectionError("connection refused")
        return own_and_first(question, k)

    result: Any = rb.sources({"once": once}, QUESTIONS, PASSAGES, **{**FEW, "n_topics": 1})
    found = len({name for n in (0, 3, 6) for name in own_and_first(QUESTIONS[n]["question"], 2)})
    (shown,) = result.figure.data
    assert shown.customdata == (f"{found} / 3",)
    assert shown.x.tolist() == [found / 3]
    # A topic at whose questions it always failed has no point.
    options = {**FEW, "n_topics": 2}
    (shown,) = rb.sources({"once": once}, QUESTIONS[1:4], PASSAGES, **options).figure.data
    assert shown.customdata == ("2 / 1",)


def test_more_topics_than_questions_are_refused() -> None:
    with pytest.raises(BenchError, match="lacks questions or passages"):
        rb.sources({"v1": own_and_first}, QUESTIONS)
    with pytest.raises(BenchError, match="n_topics = 20, but there are 9 questions"):
        rb.sources({"v1": own_and_first}, QUESTIONS, PASSAGES, n_topics=20)


def test_every_question_may_find_passages_that_no_other_finds() -> None:
    alone = {"v1": lambda question, k: [f"p{number_of(question)}"]}
    result = rb.sources(alone, QUESTIONS, PASSAGES, **FEW)
    assert result.scores["value"].tolist() == [1.0] * len(QUESTIONS)


@pytest.mark.filterwarnings("error")
def test_a_page_is_made_where_every_system_failed() -> None:
    def fail(question: str, k: int) -> list[str]:
        raise RuntimeError("no such index")

    result = rb.sources({"v1": fail}, QUESTIONS, PASSAGES, **FEW)
    assert "failed at 9 of 9 questions" in str(result.page)
