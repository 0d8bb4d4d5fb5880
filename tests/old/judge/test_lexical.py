"""The offline judge: words, sentences, numbers and negations in two languages, and what it is worth on real labels."""

from __future__ import annotations

import asyncio
import csv
import gzip
import json
import random
import unicodedata
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel

from ragbench.old.core.segmentation import apart, language_of, sentences
from ragbench.old.core.types import Judge, LexicalReader, Prompt, Status
from ragbench.old.judge import LexicalJudge, WordReader
from ragbench.old.judge import words as reading
from ragbench.old.judge.lexical import FLIPPED_NEGATION, FUNCTION_WORD_WEIGHT, MISSING_NUMBER
from ragbench.old.judge.words import FUNCTION_WORDS, grams, numbers, polarity, stem, words

READER = WordReader()
CONTEXT = [
    "Деканат факультета открыт с 9:00 до 17:00. Перерыв с 13 до 14. Справки не выдаются по пятницам.",
    "The library has 12 reading rooms. Students cannot smoke inside. It opens at 8.",
]


class TestSentences:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("One. Two! Three?", ["One.", "Two!", "Three?"]),
            ("Mr. Smith came. He left.", ["Mr. Smith came.", "He left."]),
            (
                "А. С. Пушкин родился в Москве. Умер в Петербурге.",
                ["А. С. Пушкин родился в Москве.", "Умер в Петербурге."],
            ),
            ("См. рис. 5 и табл. 2. Далее — выводы.", ["См. рис. 5 и табл. 2.", "Далее — выводы."]),
            ("Адрес: г. Тюмень, ул. Ленина, д. 25. Звоните!", ["Адрес: г. Тюмень, ул. Ленина, д. 25.", "Звоните!"]),
            ("Цена 3.5 руб. за штуку.", ["Цена 3.5 руб. за штуку."]),
            ("Он сказал: «Да.» Она ушла.", ["Он сказал: «Да.»", "Она ушла."]),
            ("Список:\n- один\n- два", ["Список:", "- один", "- два"]),
            ("First part\n\nsecond part", ["First part", "second part"]),
            ("…", []),
            ("", []),
            ("one two", ["one two"]),
        ],
    )
    def test_by_hand(self, text: str, expected: list[str]) -> None:
        assert sentences(text) == expected

    @given(st.text())
    @example("🄐 №")
    def test_no_word_is_lost(self, text: str) -> None:
        assert words(" ".join(sentences(text))) == words(" ".join(text.split()))


class TestWords:
    def test_forms_of_a_word_are_one(self) -> None:
        assert len({stem(word) for word in words("деканат деканата деканату")}) == 1
        assert len({stem(word) for word in words("opens opening opened")}) == 1
        assert words("ЁЛКА") == words("елка")

    def test_numbers_in_either_notation(self) -> None:
        assert numbers("3,5 и 3.5; 9:00, 1992 года") == {"3.5", "9:00", "1992"}

    def test_a_negation_denies_the_next_content_word(self) -> None:
        assert polarity("Справки не выдаются по пятницам") == ({stem("справки"), stem("пятницам")}, {stem("выдаются")})
        assert stem("smoke") in polarity("You cannot smoke here")[1]
        assert polarity("He isn't rich")[1] == {"rich"}

    @pytest.mark.parametrize(
        ("expected", "texts"),
        [("ru", ("Привет", "а", "я", "ё", "абc", "аb")), ("en", ("Hello", "Hello all, мир", "аbc"))],
    )
    def test_more_than_a_third_of_its_letters_make_a_text_russian(self, expected: str, texts: list[str]) -> None:
        assert {language_of(text, otherwise="none") for text in texts} == {expected}
        assert language_of("1 2", otherwise="ru") == "ru"


class TestSupport:
    @pytest.mark.parametrize(
        ("claim", "supported"),
        [
            ("Деканат открыт с 9:00 до 17:00.", True),
            ("Деканат факультета открывают с 9:00", True),
            ("Деканат открыт с 8:30 до 17:00.", False),
            ("Справки выдаются по пятницам.", False),
            ("Справки не выдаются по пятницам.", True),
            ("Столовая закрыта на ремонт.", False),
            ("The library has 12 reading rooms.", True),
            ("The library has 40 reading rooms.", False),
            ("Students can smoke inside.", False),
            ("Students cannot smoke inside.", True),
            ("The cafeteria serves soup.", False),
            ("", False),
            ("?!", False),
        ],
    )
    def test_by_hand(self, claim: str, supported: bool) -> None:
        assert READER.supported(claim, CONTEXT) is supported

    @given(st.text(), st.lists(st.text(), max_size=3))
    def test_it_is_a_share(self, claim: str, texts: list[str]) -> None:
        assert 0.0 <= READER.support(claim, texts) <= 1.0

    @given(st.text(min_size=1))
    def test_a_text_carries_itself(self, text: str) -> None:
        assert READER.support(text, [text]) == pytest.approx(1.0 if words(text) else 0.0)

    @given(st.text(), st.text())
    def test_similarity_is_symmetric(self, one: str, other: str) -> None:
        assert READER.similarity(one, other) == READER.similarity(other, one)

    def test_entities(self) -> None:
        text = "Вчера Анна Петрова приехала в Санкт-Петербург. NASA launched Apollo 11 in 1969, said Neil Armstrong."
        names = ["Анна Петрова", "Санкт-Петербург", "NASA", "Apollo 11", "1969", "Neil Armstrong"]
        assert READER.entities(text) == names


class Sentences(BaseModel):
    """Claims."""

    claims: list[str]


class TestJudge:
    PROMPT = Prompt(
        "claims", 1, Sentences, {"en": "{text}"}, offline=lambda r, t: Sentences(claims=r.sentences(t["text"]))
    )

    def test_it_has_the_interface_of_a_judge(self) -> None:
        judge = LexicalJudge()
        assert isinstance(judge, Judge)
        assert "lexical" in judge.identity
        answer = asyncio.run(judge.ask(self.PROMPT, {"text": "One. Two."}, language="en", repeat=3))
        assert answer.value == Sentences(claims=["One.", "Two."])

    def test_what_it_cannot_answer_is_unmeasured(self) -> None:
        answer = asyncio.run(LexicalJudge().ask(Prompt("other", 1, Sentences, {"en": "{text}"}), {"text": "x"}))
        assert (answer.value, answer.status) == (None, Status.JUDGE_ERROR)
        assert "name a model" in answer.reason

    def test_slots_are_checked_as_for_a_model(self) -> None:
        with pytest.raises(ValueError, match="slots"):
            asyncio.run(LexicalJudge().ask(self.PROMPT, {}))

    def test_a_threshold_is_part_of_the_identity(self) -> None:
        assert LexicalJudge(WordReader(0.5)).identity != LexicalJudge().identity
        reader: LexicalReader = WordReader(0.5)
        assert reader.supported("one two", ["one"])


def begin(folder: Path, name: str) -> list[dict[str, str]]:
    """Rows of the BEGIN set: tab-separated, quotes are plain letters."""
    with gzip.open(folder / f"begin_dev_{name}.tsv.gz", "rt", encoding="utf-8", newline="\n") as lines:
        return list(csv.DictReader((line.rstrip("\r\n") for line in lines), delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.parametrize(("name", "least", "n"), [("wow", 0.94, 430), ("cmu", 0.96, 416)])
def test_it_tells_attributable_answers_from_others(
    name: str, least: float, n: int, shared_data: Callable[[str], Path]
) -> None:
    from sklearn.metrics import roc_auc_score

    rows = begin(shared_data("begin-groundedness"), name)
    assert len(rows) == n
    labels = np.array([row["begin_label"] == "Fully attributable" for row in rows])
    support = np.array([READER.support(row["response"], [row["knowledge"]]) for row in rows])
    assert roc_auc_score(labels, support) > least
    assert np.mean((support >= READER.threshold) == labels) > 0.87


def test_russian_answers_are_found_in_their_paragraph(shared_data: Callable[[str], Path]) -> None:
    from sklearn.metrics import roc_auc_score

    with gzip.open(shared_data("xquad/xquad.ru.json.gz"), "rt", encoding="utf-8") as file:
        articles = json.load(file)["data"]
    source, labels, support = random.Random(0), [], []
    for article in articles:
        pairs = [(p["context"], qa["answers"][0]["text"]) for p in article["paragraphs"] for qa in p["qas"]]
        for context, answer in pairs:
            wrong = source.choice([other for _, other in pairs if other != answer])
            labels += [True, False]
            support += [READER.support(text, [context]) for text in (answer, wrong)]
    assert roc_auc_score(labels, support) > 0.90


class TestNumbersByHand:
    def test_grams_have_a_space_on_either_side(self) -> None:
        assert set(grams("ab")) == {" ab", "ab ", " ab "}
        assert set(grams("cat")) == {" ca", "cat", "at ", " cat", "cat ", " cat "}

    def test_support_is_the_mean_of_words_and_grams_and_function_words_count_half(self) -> None:
        """Of "the red cat" the text has 1 of 0.5 + 1 + 1 words, and 6 of 3 · 6 character n-grams."""
        assert READER.support("the red cat", ["cat"]) == pytest.approx((1 / 2.5 + 6 / 18) / 2)
        assert READER.support("the red cat", ["the", "cat"]) == pytest.approx((1.5 / 2.5 + 12 / 18) / 2)
        assert READER.support("red cat", ["a red cat"]) == 1.0

    def test_similarity_is_dices_coefficient(self) -> None:
        assert READER.similarity("cat", "cat dog") == pytest.approx(2 * 6 / (6 + 12))
        assert READER.similarity("cat", "cab") == pytest.approx(2 * 1 / (6 + 6))
        assert READER.similarity("cat", "") == 0.0


def by_definition(claim: str, texts: list[str]) -> float:
    """`WordReader.support` as its docstring says it: of all texts together, nothing left out and nothing kept."""
    asked = words(claim)
    if not asked or not texts:
        return 0.0
    known = [word for text in texts for word in words(text)]
    known_stems, known_grams = set(map(stem, known)), {gram for word in known for gram in grams(word)}
    weights = [FUNCTION_WORD_WEIGHT if word in FUNCTION_WORDS else 1.0 for word in asked]
    hits = sum(weight for weight, word in zip(weights, asked, strict=True) if stem(word) in known_stems)
    own = {gram for word in asked for gram in grams(word)}
    support = (hits / sum(weights) + len(own & known_grams) / len(own)) / 2
    if not numbers(claim) <= {number for text in texts for number in numbers(text)}:
        support *= MISSING_NUMBER
    affirmed, denied = polarity(claim)
    known_affirmed = {word for text in texts for word in polarity(text)[0]}
    known_denied = {word for text in texts for word in polarity(text)[1]}
    if denied & (known_affirmed - known_denied) or (affirmed - denied) & (known_denied - known_affirmed):
        support *= FLIPPED_NEGATION
    return support


SPOKEN = st.lists(
    st.sampled_from(
        ["not", "не", "the", "в", "cats", "cat", "library", "12", "1,5", "кошки", "кошка", "a" * 40, "open", "—"]
    ),
    max_size=9,
).map(" ".join)


class TestByDefinition:
    """The support is the definition's, to the last bit, and a claim is supported where that reaches the threshold."""

    @given(SPOKEN | st.text(max_size=30), st.lists(SPOKEN | st.text(max_size=30), max_size=4), st.floats(0, 1))
    def test_any_texts(self, claim: str, texts: list[str], threshold: float) -> None:
        expected = by_definition(claim, texts)
        assert READER.support(claim, texts) == expected
        for limit in (threshold, expected, 0.8):
            assert WordReader(limit).supported(claim, texts) == (expected >= limit)


SIGNS = st.text(st.sampled_from("aZ ёЯж09.,:-’ʼ'_²½№‿ßİ́éꙮ…\u200b\xad\xa0\n"), max_size=40) | st.text(max_size=40)


@given(SIGNS)
def test_plain_texts_have_the_words_of_any_text(text: str) -> None:
    folded = reading.fold(text)
    assert folded == unicodedata.normalize("NFKC", text).casefold().replace("ё", "е")
    found = reading.words_of(folded)
    assert found == reading._WORD.findall(apart(folded)), "scripts without blanks by characters"
    assert reading.numbers(text) == {one.replace(",", ".") for one in found if one[0].isdecimal()}


@given(SIGNS, st.lists(SIGNS, max_size=5), st.sampled_from([0.1, 0.5, 0.6, 1.0]))
def test_the_nearest_text_is_the_last_of_the_most_similar(text: str, others: list[str], least: float) -> None:
    near = max(((READER.similarity(text, other), place) for place, other in enumerate(others)), default=(0.0, -1))
    assert READER.nearest(text, others, least) == (near[1] if near[0] >= least else None)
