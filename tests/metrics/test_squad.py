"""Exact match and F1 in SQuAD's normalization: by hand, by the definition of evaluate-v1.1.py, and in Russian."""

from __future__ import annotations

import gzip
import json
import random
import re
import string
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.core.types import Sample, Status
from ragbench.metrics.squad import normalized, token_f1
from ragbench.metrics.strings import exact_match
from tests.judge.scripted_judge import score

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
