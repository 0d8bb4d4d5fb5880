"""exact_match, string_similarity, chrf: by hand, in both alphabets, and against the library."""

from __future__ import annotations

import unicodedata

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from ragbench.metric import Metric
from ragbench.metrics.alignment import edit_distance
from ragbench.metrics.strings import chrf, exact_match, string_similarity
from ragbench.types import Sample
from tests.scripted_judge import score

ALL = [exact_match, string_similarity, chrf]


def of(each: Metric, response: str | None, reference: str | None) -> float:
    return score(each(Sample("s", response=response, reference=reference))).value


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [("kitten", "sitting", 3), ("", "abc", 3), ("flaw", "lawn", 2), ("Москва", "Москва", 0), ("кот", "кит", 1)],
)
def test_edit_distances_by_hand(one: str, other: str, distance: int) -> None:
    assert edit_distance(one, other) == edit_distance(other, one) == distance


def test_long_texts_take_no_time_to_speak_of() -> None:
    assert edit_distance("а" * 4000 + "б" * 4000, "а" * 4000 + "в" * 4000) == 4000


def test_similarity_is_its_share() -> None:
    assert of(string_similarity, "kitten", "sitting") == pytest.approx(1 - 3 / 7, abs=1e-15)
    assert of(string_similarity, "КОТ", "кит") == pytest.approx(2 / 3, abs=1e-15)
    assert of(string_similarity, "abc", "xyz") == 0.0


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Paris", " paris ", 1.0),
        ("Два  слова", "два\nслова", 1.0),
        ("Й", unicodedata.normalize("NFD", "й"), 1.0),
        ("Paris.", "Paris", 0.0),
        ("1889", "1890", 0.0),
    ],
)
def test_exact_match(one: str, other: str, expected: float) -> None:
    assert of(exact_match, one, other) == expected


@pytest.mark.parametrize("text", ["Russian: Москва — столица России.", "Москва — столица России.", "да"])
def test_a_text_with_itself_is_perfect(text: str) -> None:
    assert [of(each, text, text) for each in ALL] == [1.0, 1.0, 100.0]


@pytest.mark.parametrize("words", [0, 2])
def test_chrf_is_the_librarys(words: int) -> None:
    response, reference = "Москва является столицей.", "Москва — столица России."
    found = score(chrf.with_options(words=words)(Sample("s", response=response, reference=reference)))
    expected = sacrebleu.sentence_chrf(response, [reference], word_order=words).score
    assert found.value == pytest.approx(expected, abs=1e-9)
    assert 0 < found.value < 100
    assert f"nw:{words}" in found.detail["signature"]


def test_wrong_options() -> None:
    with pytest.raises(ValueError, match="0 for chrF"):
        score(chrf(Sample("s", response="a", reference="b"), words=-1))


@settings(deadline=None)
@given(st.text(max_size=12), st.text(max_size=12), st.text(max_size=12))
def test_the_distance_is_a_metric(one: str, other: str, third: str) -> None:
    assert (edit_distance(one, other) == 0) == (one == other)
    assert edit_distance(one, third) <= edit_distance(one, other) + edit_distance(other, third)
    assert abs(len(one) - len(other)) <= edit_distance(one, other) <= max(len(one), len(other))


def test_chrf_without_options_counts_no_words() -> None:
    response, reference = "the cat sat on a mat", "a cat is sitting on the mat"
    expected = sacrebleu.sentence_chrf(response, [reference], word_order=0).score
    assert of(chrf, response, reference) == pytest.approx(expected, abs=1e-9)
    assert abs(expected - sacrebleu.sentence_chrf(response, [reference], word_order=1).score) > 1
