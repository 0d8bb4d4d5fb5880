"""Doubtful labels and copies."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragbench.data import from_objects, read_dataset
from ragbench.metrics.doubts import find_doubts, find_duplicates

DATA = Path(__file__).parents[2] / "data"


def test_doubts() -> None:
    documents = {"a": "The fee is 5 euros.", "b": "the fee: is 5 EUROS", "c": "When does it open?"}
    questions = [
        {"id": "copied", "question": "Fee?", "reference": "5 euros", "relevant": "a"},
        {"id": "number", "question": "Fee?", "reference": "It is 7 euros", "relevant": "c"},
        {"id": "words", "question": "Fee?", "reference": "Five roubles", "relevant": "c"},
        {"id": "itself", "question": "When does it open", "relevant": "c"},
        {"id": "nowhere", "question": "Who?", "relevant": "z"},
    ]
    dataset = from_objects(questions, documents)
    doubts = find_doubts(dataset)
    assert list(doubts.itertuples(index=False, name=None)) == [
        ("passage_copied", "copied", "a"),
        ("answer_not_in_passage", "number", "c"),
        ("answer_not_in_passage", "words", "c"),
        ("question_is_passage", "itself", "c"),
        ("label_unknown", "nowhere", "z"),
    ]
    assert find_duplicates(dataset.passages).values.tolist() == [["b", "a"]]


TEN = "alpha bravo charlie delta echo foxtrot golf hotel india juliet"


@pytest.mark.parametrize(
    ("reference", "passage", "is_doubtful"),
    [
        ("Closes", "It is closed today.", False),  # by the first five letters
        ("Opens", "It is opened today.", True),
        ("Yes", "It is open.", False),  # words of three letters say nothing
        ("Nine", "It is open.", True),
        (TEN, "Alpha, bravo and charlie.", False),  # three of ten words
        (TEN, "Alpha and bravo.", True),
    ],
)
def test_a_passage_holds_enough_of_the_answer(
    reference: str, passage: str, is_doubtful: bool
) -> None:
    question = {"id": "q", "question": "When?", "reference": reference, "relevant": "a"}
    assert len(find_doubts(from_objects([question], {"a": passage}))) == is_doubtful


@pytest.mark.parametrize("name", ["campus", "campus:ru"])
def test_the_sample_data_have_none(name: str) -> None:
    assert find_doubts(read_dataset(name, data_folder=DATA)).empty
