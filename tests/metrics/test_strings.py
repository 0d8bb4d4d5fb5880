"""exact_match, string_similarity, chrf: by hand, in both alphabets, and against the library."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
import sacrebleu

from ragbench.core.language import translator
from ragbench.core.metric import Metric, parse
from ragbench.core.types import Sample
from ragbench.metrics.explanation import explain
from ragbench.metrics.strings import chrf, exact_match, string_similarity
from tests.judge.scripted_judge import score

ALL = [exact_match, string_similarity, chrf]


def of(each: Metric, response: str | None, reference: str | None) -> float:
    return score(each(Sample("s", response=response, reference=reference))).value


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
    with pytest.raises(ValueError, match="words = -1: a whole number from 0 to 20 is expected"):
        score(chrf(Sample("s", response="a", reference="b"), words=-1))


def test_chrf_without_options_counts_no_words() -> None:
    response, reference = "the cat sat on a mat", "a cat is sitting on the mat"
    expected = sacrebleu.sentence_chrf(response, [reference], word_order=0).score
    assert of(chrf, response, reference) == pytest.approx(expected, abs=1e-9)
    assert abs(expected - sacrebleu.sentence_chrf(response, [reference], word_order=1).score) > 1


@pytest.mark.parametrize(
    ("measure", "value", "said"),
    [
        ("levenshtein", 1 - 2 / 6, "расстояние"),
        ("hamming", 1 - 2 / 6, "мест"),
        ("jaro", 17 / 18, "перестановок"),
        ("jaro_winkler", 17 / 18 + 4 * 0.1 / 18, "общее начало"),
    ],
)
def test_measures_by_hand_and_in_russian(measure: str, value: float, said: str) -> None:
    """All six letters are common, two of them in another order, and the first four agree."""
    found = score(parse(f"string_similarity(measure={measure})")(Sample("s", response="МАРТЫН", reference="мартны")))
    assert found.value == pytest.approx(value, abs=1e-15)
    assert said in explain(found, translator("ru"))


def test_places_beyond_the_shorter_text_differ() -> None:
    hamming = string_similarity.with_options(measure="hamming")
    assert of(hamming, "hello", "hello world") == pytest.approx(1 - 6 / 11, abs=1e-15)


def test_a_common_beginning_counts_only_in_texts_that_are_alike() -> None:
    near = string_similarity.with_options(measure="jaro_winkler")
    apart = score(near(Sample("s", response="ITMAN", reference="SMITH")))
    assert apart.value == pytest.approx(0.467, abs=6e-4)
    assert "too little" in apart.reason


@pytest.mark.parametrize("measure", ["levenshtein", "hamming", "jaro", "jaro_winkler"])
def test_letter_case_and_yo(measure: str) -> None:
    each = string_similarity.with_options(measure=measure)
    assert of(each, "ЁЖИК", "ёжик") == 1.0
    assert of(each.with_options(case=True), "ёжик", "ЁЖИК") == 0.0
    assert of(each, "ёжик", "ежик") < of(each.with_options(fold_yo=True), "ёжик", "ежик") == 1.0
    decomposed = unicodedata.normalize("NFD", "ёжик")
    assert of(each.with_options(fold_yo=True, case=True), decomposed, "ежик") == 1.0


def test_the_reference_within_the_answer() -> None:
    within = exact_match.with_options(within=True)
    assert of(within, "Столица — МОСКВА.", "москва") == 1.0
    assert of(within.with_options(case=True), "Столица — МОСКВА.", "москва") == 0.0
    assert of(within, "Москва", "Столица — Москва") == 0.0
    assert of(exact_match.with_options(fold_yo=True), "Ёлка", "елка") == 1.0
    assert of(exact_match, "Ёлка", "елка") == 0.0
    assert "содержится в ответе" in explain(score(within(Sample("s", response="да", reference="да"))), translator("ru"))


@pytest.mark.parametrize(
    ("options", "theirs"),
    [
        ({"chars": 4}, {"char_order": 4}),
        ({"beta": 3}, {"beta": 3}),
        ({"beta": 0.5, "words": 2}, {"beta": 0.5, "word_order": 2}),
        ({"lowercase": True}, {"lowercase": True}),
        ({"whitespace": True}, {"whitespace": True}),
        ({"chars": 2, "words": 1, "lowercase": True, "whitespace": True},
         {"char_order": 2, "word_order": 1, "lowercase": True, "whitespace": True}),
    ],
    ids=str,
)  # fmt: skip
def test_chrf_has_the_librarys_options(options: dict[str, Any], theirs: dict[str, Any]) -> None:
    response, reference = "ЁЛКА стояла  в углу", "Ёлка в углу стоит"
    found = score(chrf.with_options(**options)(Sample("s", response=response, reference=reference)))
    scorer = sacrebleu.CHRF(**theirs)
    assert found.value == pytest.approx(scorer.sentence_score(response, [reference]).score, abs=1e-9)
    assert found.value != pytest.approx(of(chrf, response, reference), abs=1e-6)
    signature = str(found.detail["signature"])
    assert signature.startswith(str(scorer.get_signature()))
    assert chrf.with_options(**options).signature == signature
    assert signature.endswith(f"|beta:{options['beta']:g}") if "beta" in options else "beta" not in signature


def test_chrf_folds_yo_and_forms_of_unicode() -> None:
    response = unicodedata.normalize("NFD", "Ёлка, ёлочка")
    assert of(chrf, response, "Ёлка, ёлочка") == pytest.approx(100)
    folded = chrf.with_options(fold_yo=True)
    assert of(chrf, response, "Елка, елочка") < 80
    assert of(folded, response, "Елка, елочка") == pytest.approx(100)
    assert folded.signature.endswith("|yo:e")


@pytest.mark.parametrize(
    ("each", "options", "message"),
    [
        (chrf, {"chars": 0}, "chars = 0"),
        (chrf, {"beta": 0}, "beta = 0"),
        (chrf, {"beta": True}, "beta = True"),
        (chrf, {"whitespace": 1}, "whitespace = 1: True or False"),
        (string_similarity, {"measure": "cosine"}, "levenshtein, hamming, jaro or jaro_winkler"),
        (string_similarity, {"case": "no"}, "case = 'no'"),
        (exact_match, {"within": 1}, "within = 1"),
    ],
    ids=str,
)
def test_wrong_options_are_named(each: Metric, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        of(each.with_options(**options), "a", "b")
