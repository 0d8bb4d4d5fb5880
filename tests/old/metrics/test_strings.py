"""exact_match, string_similarity, chrf: by hand, in both alphabets, and against the library."""

from __future__ import annotations

import gzip
import json
import random
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from ragbench.old.core.language import translator
from ragbench.old.core.metric import Metric, parse
from ragbench.old.core.types import Sample, Status
from ragbench.old.metrics.explanation import explain
from ragbench.old.metrics.strings import chrf, exact_match, normalized, string_similarity, token_f1
from tests.old.judge.scripted_judge import score

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


EXACT = exact_match.with_options(squad=True)


def f1(response: str, *references: str, language: str | None = None) -> float:
    one = Sample("s", response=response, reference=references[0], references=references, language=language)
    return score(token_f1(one)).value


def exact(response: str, *references: str, language: str | None = None) -> float:
    one = Sample("s", response=response, reference=references[0], references=references, language=language)
    return score(EXACT(one)).value


@pytest.mark.parametrize(
    ("response", "references", "same", "overlap"),
    [
        ("The Eiffel Tower!", ["Eiffel Tower"], 1.0, 1.0),
        ("in the city of Paris", ["Paris"], 0.0, 2 * (1 / 4) / (1 / 4 + 1)),  # in, city, of, paris
        ("U.S. dollars", ["US dollar"], 0.0, 0.5),
        ("a the an", ["Paris"], 0.0, 0.0),
        ("no no yes", ["no yes"], 0.0, 0.8),  # shared 2, of 3 and of 2
        ("1,577", ["1577"], 1.0, 1.0),
        ("8 a.m.", ["8:00", "8 am"], 1.0, 1.0),
        ("", ["Paris"], 0.0, 0.0),
        ("Denver Broncos", ["Denver Broncos", "Broncos", "the Broncos of Denver"], 1.0, 1.0),
    ],
)
def test_values_by_hand(response: str, references: list[str], same: float, overlap: float) -> None:
    assert exact(response, *references) == same
    assert f1(response, *references) == pytest.approx(overlap, abs=1e-12)


@pytest.mark.parametrize(
    ("response", "reference", "same", "overlap"),
    [
        ("«Война и мир»", "Война и мир", 1.0, 1.0),
        ("в 1869 году — Лев Толстой", "Лев Толстой", 0.0, 2 * (2 / 5) / (2 / 5 + 1)),
        ("Ещё не открылся…", "еще не открылся", 1.0, 1.0),
        ("а", "а", 1.0, 1.0),  # the Cyrillic word is no article
        ("The Beatles", "группа The Beatles", 0.0, 0.8),  # a Latin article in a Russian text stays a word
        ("ПАРИЖ.", "Париж", 1.0, 1.0),
    ],
)
def test_russian_has_no_articles_and_loses_all_punctuation(
    response: str, reference: str, same: float, overlap: float
) -> None:
    for language in (None, "ru"):
        assert exact(response, reference, language=language) == same
        assert f1(response, reference, language=language) == pytest.approx(overlap, abs=1e-12)


@pytest.mark.parametrize(
    ("response", "reference", "same", "overlap"),
    [
        ("图书馆八点开门。", "图书馆九点开门", 0.0, 6 / 7),
        ("八点。", "八点", 1.0, 1.0),
        ("ห้องสมุด", "ห้องเรียน", 0.0, 6 / 13),  # three of six, and of seven, signs with their marks
        ("在 GitHub 上", "GitHub", 0.0, 0.5),  # words of other alphabets stay whole
    ],
)
def test_scripts_without_blanks_are_compared_by_characters(
    response: str, reference: str, same: float, overlap: float
) -> None:
    assert exact(response, reference) == same
    assert f1(response, reference) == pytest.approx(overlap, abs=1e-12)


def test_what_has_no_words_is_unmeasured() -> None:
    for reference in ("the", "…", ""):
        found = score(token_f1(Sample("s", response="the", reference=reference, language="en")))
        assert (found.status is Status.EMPTY_INPUT) == (reference != "…")  # that is no ASCII punctuation
    assert score(token_f1(Sample("s", response="the"))).status is Status.MISSING_FIELD


def official(response: str, references: list[str]) -> tuple[float, float]:
    """As the script defines them: the maximum over the ground truths of exact match and of F1."""

    def normal(text: str) -> str:
        text = "".join(sign for sign in text.lower() if sign not in set(string.punctuation))
        return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())

    def overlap(one: str, other: str) -> float:
        first, second = normal(one).split(), normal(other).split()
        same = sum((Counter(first) & Counter(second)).values())
        if not same:
            return 0.0
        precision, recall = same / len(first), same / len(second)
        return 2 * precision * recall / (precision + recall)

    return (
        max(float(normal(response) == normal(one)) for one in references),
        max(overlap(response, one) for one in references),
    )


WORDS = st.lists(st.sampled_from(["the", "a", "Paris", "paris,", "U.S.", "8:00", "an apple", "-", "of"]), min_size=1)


@given(WORDS.map(" ".join), st.lists(WORDS.map(" ".join), min_size=1, max_size=3))
def test_any_english_text_has_the_value_of_the_script(response: str, references: list[str]) -> None:
    kept = [one for one in references if normalized(one, russian=False)]
    if not kept:
        return
    wanted = official(response, references)
    assert f1(response, *references) == pytest.approx(wanted[1], abs=1e-12)
    assert exact(response, *kept) == official(response, kept)[0]


@pytest.mark.parametrize(
    ("answer", "reference", "same"),
    [
        ("İSTANBUL", "istanbul", 1.0), ("in \uff11\uff19\uff19\uff18", "in 1998", 1.0),
        ("\uff21\uff22\uff23", "abc", 1.0), ("\uff11\uff19\uff19\uff18年", "1998年", 1.0), ("10²", "102", 0.0),
        ("Straße", "Strasse", 0.0),
    ],
)  # fmt: skip
def test_letters_are_the_same_in_any_width_and_i_with_its_dot(answer: str, reference: str, same: float) -> None:
    assert (exact(answer, reference), f1(answer, reference) == 1.0) == (same, bool(same))
    if same:
        assert of(exact_match, answer, reference) == 1.0


@pytest.mark.parametrize("language", ["en", "ru"])
def test_real_answers_with_words_about_them(language: str, shared_data: Callable[[str], Path]) -> None:
    with gzip.open(shared_data(f"xquad/xquad.{language}.json.gz"), "rt", encoding="utf-8") as file:
        articles = json.load(file)["data"]
    items = [item for article in articles for paragraph in article["paragraphs"] for item in paragraph["qas"]]
    draw = random.Random(5)
    lead = {"en": "It is the", "ru": "Это —"}[language]
    for item in draw.sample(items, 60):
        reference = item["answers"][0]["text"]
        words = len(normalized(reference, russian=language == "ru").split())
        more = len(normalized(lead, russian=language == "ru").split())
        shared = f1(f"{lead} {reference}.", reference, language=language)
        counted = Counter(normalized(f"{lead} {reference}.", russian=language == "ru").split())
        assert counted.total() == words + more
        assert shared == pytest.approx(2 * words / (2 * words + more), abs=1e-12), reference
        assert exact(f"{reference}.", reference, language=language) == 1.0
        if language == "en":
            assert shared == pytest.approx(official(f"{lead} {reference}.", [reference])[1], abs=1e-12)


def test_real_russian_questions_with_their_answers(shared_data: Callable[[str], Path]) -> None:
    with gzip.open(shared_data("rubq-dev/RuBQ_1.0_dev.json.gz"), "rt", encoding="utf-8") as file:
        items = [item for item in json.load(file) if item["answer_text"] and item["answer_text"].strip()]
    assert len(items) > 250
    for item in items:
        answer = item["answer_text"]
        assert exact(f"«{answer.upper()}».", "что-то другое", answer, language="ru") == 1.0, answer
        assert f1(answer, answer, language="ru") == 1.0
