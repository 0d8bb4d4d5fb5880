"""The page of a data set by its front: questions and documents in, what is odd in them out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ragbench as rb
from ragbench.core.errors import BenchError

DOCUMENTS = [
    {"id": "lib", "text": "The library opens at 8:00 on working days.", "url": "https://x/lib"},
    {"id": "copy", "text": "the LIBRARY opens at 8:00, on working days", "url": "https://x/old"},
    {"id": "faq", "text": "How much is parking?"},
    {"id": "ru", "text": "Каждый студент получает новую карту."},
    {"id": "park", "text": "Parking behind the hall costs 1500 roubles a semester, a pass 90."},
]
QUESTIONS = [
    {"id": "q1", "question": "When does the library open?", "relevant": ["lib"]},
    {"id": "q2", "question": "How much is parking?", "relevant": ["faq"]},
    {"id": "q3", "question": "What is a pass?", "relevant": ["park"], "reference": "It costs 75."},
    {"id": "q4", "question": "how much is PARKING", "relevant": ["gone"]},
    {"id": "q5", "question": "Who is the rector?", "answerable": False, "relevant": {"lib": 0}},
]


@pytest.fixture(scope="module")
def result() -> Any:
    """Everything odd once."""
    return rb.dataset(QUESTIONS, DOCUMENTS)


def test_every_way_of_being_odd_is_counted(result: Any) -> None:
    found = result.frames.findings.set_index("kind")
    assert found["count"].to_dict() == {
        "label_unknown": 1,
        "question_is_passage": 1,
        "passage_copied": 1,
        "answer_not_in_passage": 1,
        "question_copied": 1,
        "passage_repeated": 1,
        "question_language": 0,
        "passage_language": 1,
    }
    assert found.loc["label_unknown", "total"] == 4


def test_counts_and_lengths_are_those_of_the_texts(result: Any) -> None:
    counts = result.frames.counts.set_index("name")["count"]
    assert counts.to_dict() == {
        "questions": 5,
        "answerable": 4,
        "labelled": 4,
        "with a reference answer": 1,
        "independent groups": 5,
        "passages": 5,
        "pages": 2,
        "relevance labels": 5,
    }
    sizes = result.frames.sizes.set_index("table")
    assert sizes.loc["passages", ["texts", "q50"]].tolist() == [5, 8]


def test_every_question_is_listed_with_what_is_doubtful_of_it(result: Any) -> None:
    scores = result.scores.set_index("question_id")
    assert scores["value"].to_dict() == {"q1": 1, "q2": 1, "q3": 1, "q4": 1, "q5": 0}
    assert scores.loc["q3", "explanation"] == "the labelled passages lack the answer"
    page = str(result.page)
    assert "Questions that can be answered: 4 of 5" in page
    assert "a label names a passage that the data set does not have" in page


def test_a_language_is_told_of_five_words_and_with_certainty() -> None:
    told = {
        "Öffnungszeiten der Bibliothek": "",  # three words
        "Каждый студент получает новую карту.": "ru",
        "Wo ist der Saal im Haus": "de",
        "La salle est au premier etage": "",  # .89 sure, and another language needs .9
        "Exam retake in room A two": "en",  # .56 sure of the language that is expected
        "Total cost is 90 euro per person": "",
        "Wetin dey happen for the big market today": "",  # nobody writes Pidgin, nor Latin
    }
    texts = rb.dataset(["When?"], list(told), language="en").frames.languages
    assert texts.loc[texts["table"] == "passages", "language"].tolist() == list(told.values())


def test_the_language_of_the_data_is_expected_whatever_that_of_the_page(tmp_path: Path) -> None:
    file = tmp_path / "questions.ru.jsonl"
    file.write_text('{"question": "Карта стоит сто рублей в год"}', encoding="utf-8")
    frames = rb.dataset(dataset=str(tmp_path), language="en").frames
    assert frames.languages["language"].tolist() == ["ru"]  # .55 sure


def test_the_sample_data_have_nothing_odd_in_either_language(project: Path) -> None:
    for language, said in (("en", "Nothing was found"), ("ru", "Не нашлось ничего")):
        sample = rb.dataset(language=language)
        assert (sample.frames.findings["count"] == 0).all()
        assert said in str(sample)
        assert {"dialogues", "history"} <= set(sample.frames.sizes["table"])


def test_a_set_without_texts_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ratings.jsonl").write_text('{"answer": "At 8.", "rater": "ann", "value": 5}')
    with pytest.raises(BenchError, match="has neither passages nor questions"):
        rb.dataset(dataset=str(tmp_path))
    with pytest.raises(BenchError, match="there are no rows"):
        rb.dataset([], [])


def test_a_limit_keeps_the_same_questions_when_others_are_added() -> None:
    few, many = [
        rb.dataset([{"id": str(number), "question": "?"} for number in range(count)], limit=10)
        for count in (50, 60)
    ]
    chosen, chosen_of_many = (set(result.frames.questions["question_id"]) for result in (few, many))
    assert len(chosen) == len(chosen_of_many) == 10
    assert chosen_of_many - set(map(str, range(50, 60))) <= chosen


def test_relevant_ids_that_no_document_has_are_refused() -> None:
    with pytest.raises(BenchError, match="relevant names 'p9', which is the id of no document"):
        rb.tier1("bm25", [{"question": "When?", "relevant": "p9"}], documents=["At 8."])
