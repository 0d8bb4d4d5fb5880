"""context_precision, context_recall, both by label, context_entity_recall: by hand, and what is unmeasured."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from ragbench.old.core.language import translator
from ragbench.old.core.segmentation import sentences
from ragbench.old.core.types import Chunk, Sample, Score, Status
from ragbench.old.judge import LexicalJudge, WordReader
from ragbench.old.metrics.contexts import (
    USEFULNESS,
    average_precision,
    context_entity_recall,
    context_precision,
    context_precision_by_label,
    context_recall,
    context_recall_by_label,
)
from ragbench.old.metrics.explanation import explain
from tests.old.judge.scripted_judge import ScriptedJudge, entailment, score


def chunks(*texts: str) -> tuple[Chunk, ...]:
    return tuple(Chunk(f"c{number}", text) for number, text in enumerate(texts, 1))


PHOTOSYNTHESIS = {
    "en": Sample(
        "p",
        user_input="What is photosynthesis?",
        reference="Photosynthesis is the process in which plants use sunlight, carbon dioxide and water to produce "
        "glucose and oxygen.",
        contexts=chunks(
            "Photosynthesis is a biological process in which plants convert light energy.",
            "The process includes: 6CO2 + 6H2O + light → C6H12O6 + 6O2.",
            "Plants are autotrophs that make their own food.",
        ),
        language="en",
    ),
    "ru": Sample(
        "p",
        user_input="Что такое фотосинтез?",
        reference="Фотосинтез — это процесс, при котором растения используют солнечный свет, углекислый газ и воду для "
        "производства глюкозы и кислорода.",
        contexts=chunks(
            "Фотосинтез — биологический процесс, при котором растения преобразуют световую энергию.",
            "Процесс включает: 6CO2 + 6H2O + свет → C6H12O6 + 6O2.",
            "Растения — автотрофы, производящие собственную пищу.",
        ),
        language="ru",
    ),
}
QUANTUM = {
    "en": Sample(
        "q",
        user_input="What is quantum computing?",
        response="Quantum computing uses the phenomena of quantum mechanics.",
        contexts=chunks(
            "Food prices rose this year.",
            "Quantum computers use qubits instead of classical bits.",
            "Quantum computing uses superposition and entanglement.",
        ),
        language="en",
    ),
    "ru": Sample(
        "q",
        user_input="Что такое квантовые вычисления?",
        response="Квантовые вычисления используют квантовомеханические явления.",
        contexts=chunks(
            "Цены на продукты выросли в этом году.",
            "Квантовые компьютеры используют кубиты вместо классических битов.",
            "Квантовые вычисления используют суперпозицию и запутанность.",
        ),
        language="ru",
    ),
}


def useful(*flags: int, contexts: tuple[Chunk, ...]) -> Any:
    """A script that judges each context by its place."""
    by_text = {chunk.text: flag for chunk, flag in zip(contexts, flags, strict=True)}
    return lambda texts: {"reason": "so", "verdict": "useful" if by_text[texts["context"]] else "useless"}


def of(sample: Sample, *flags: int, **options: Any) -> Score:
    assert sample.contexts is not None
    judge = ScriptedJudge(context_precision=useful(*flags, contexts=sample.contexts))
    return score(context_precision(sample, judge=judge, **options))


@pytest.mark.parametrize("language", ["en", "ru"])
def test_useful_chunks_first(language: str) -> None:
    found = of(PHOTOSYNTHESIS[language], 1, 1, 0, strategy="reference")
    assert found.value == 1.0
    assert found.detail["strategy"] == "reference"


@pytest.mark.parametrize(("language", "number"), [("en", "0.583"), ("ru", "0,583")])
def test_a_useless_chunk_first(language: str, number: str) -> None:
    found = of(QUANTUM[language], 0, 1, 1, strategy="response")
    assert found.value == pytest.approx((1 / 2 + 2 / 3) / 2, abs=1e-15)
    assert found.value <= 0.7
    assert f"(1/2 + 2/3) / 2 = {number}" in explain(found, translator(language))
    assert [each["verdict"] for each in found.detail["chunks"]] == ["useless", "useful", "useful"]


class TestStrategies:
    BOTH = replace(QUANTUM["en"], reference="The reference.")

    @pytest.mark.parametrize(
        ("asked", "changed", "expected"),
        [
            ("auto", {}, "reference"),
            ("auto", {"reference": None}, "response"),
            ("auto", {"reference": " "}, "response"),
            ("reference", {}, "reference"),
            ("response", {}, "response"),
        ],
    )
    def test_what_the_chunks_are_judged_by(self, asked: Any, changed: dict[str, Any], expected: str) -> None:
        sample = replace(self.BOTH, **changed)
        judge = ScriptedJudge(context_precision={"reason": "", "verdict": "useful"})
        found = score(context_precision(sample, judge=judge, strategy=asked))
        assert found.detail["strategy"] == expected
        assert {call["answer"] for call in judge.asked("context_precision")} == {getattr(sample, expected)}

    def test_what_is_not_there_is_not_replaced(self) -> None:
        assert of(replace(self.BOTH, reference=None), 1, 1, 1, strategy="reference").status is Status.MISSING_FIELD
        assert of(replace(self.BOTH, response=None), 1, 1, 1, strategy="response").status is Status.MISSING_FIELD
        assert of(replace(self.BOTH, response=None, reference=None), 1, 1, 1).status is Status.MISSING_FIELD
        assert of(replace(self.BOTH, response="", reference=None), 1, 1, 1).status is Status.EMPTY_INPUT

    def test_unknown_words_are_refused(self) -> None:
        with pytest.raises(ValueError, match="auto, reference or response"):
            of(self.BOTH, 1, 1, 1, strategy="best")


class TestEdges:
    def test_none_useful_is_zero(self) -> None:
        found = of(QUANTUM["en"], 0, 0, 0)
        assert (found.value, found.status) == (0.0, Status.OK)
        assert "None of the 3 passages" in found.reason

    def test_an_empty_chunk_takes_its_rank_and_no_call(self) -> None:
        sample = replace(QUANTUM["en"], contexts=chunks(" ", "good"))
        judge = ScriptedJudge(context_precision={"reason": "", "verdict": "useful"})
        assert score(context_precision(sample, judge=judge)).value == 0.5
        assert len(judge.calls) == 1

    def test_all_chunks_are_asked_about_at_once(self) -> None:
        judge = ScriptedJudge(context_precision={"reason": "", "verdict": "useful"})
        score(context_precision(QUANTUM["en"], judge=judge))
        assert (len(judge.calls), judge.rounds) == (3, 1)

    def test_one_failure_is_not_averaged_away(self) -> None:
        """Common software scores the chunks that got a verdict: a judge that fails on the useless one reads 1.0."""
        replies = [{"reason": "", "verdict": "useful"}, Status.TIMEOUT, {"reason": "", "verdict": "useful"}]
        found = score(context_precision(QUANTUM["en"], judge=ScriptedJudge(context_precision=replies)))
        assert found.status is Status.TIMEOUT
        assert math.isnan(found.value)

    @pytest.mark.parametrize("word", [1, "1", True, "yes", "Usefully", None, "partly"])
    def test_a_verdict_is_one_of_two_words(self, word: Any) -> None:
        judge = ScriptedJudge(context_precision={"reason": "", "verdict": word})
        assert score(context_precision(QUANTUM["en"], judge=judge)).status is Status.PARSE_ERROR

    @pytest.mark.parametrize(("word", "value"), [("Useful", 1.0), ("USELESS", 0.0)])
    def test_its_letters_may_be_large(self, word: str, value: float) -> None:
        judge = ScriptedJudge(context_precision={"reason": "", "verdict": word})
        assert score(context_precision(QUANTUM["en"], judge=judge)).value == value

    def test_all_useful_is_exactly_one_and_ragas_is_not(self) -> None:
        assert of(QUANTUM["en"], 1, 1, 1).value == 1.0
        assert of(QUANTUM["en"], 1, 1, 1, variant="ragas").value == pytest.approx(3 / (3 + 1e-10), abs=1e-15)
        assert of(QUANTUM["en"], 1, 1, 1, variant="ragas").value < 1.0
        assert of(QUANTUM["en"], 0, 0, 0, variant="ragas").value == 0.0


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_average_precision_is_that_of_the_field(flags: list[bool]) -> None:
    ranks = -np.arange(len(flags))
    expected = average_precision_score(flags, ranks) if any(flags) else 0.0
    assert average_precision(flags) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_offline_judge_finds_the_copied_chunk(language: str) -> None:
    sample = QUANTUM[language]
    assert sample.contexts is not None
    turned = replace(sample, contexts=(*sample.contexts[:1], Chunk("copy", sample.response or "")))
    assert score(context_precision(turned, judge=LexicalJudge())).value == 0.5


@pytest.mark.parametrize(
    ("context", "verdict"),
    [
        ("Dogs bark loudly at night. The fee is 500 roubles.", "useful"),
        ("Dogs bark loudly at night. Cats sleep through the winter.", "useless"),
    ],
)
def test_offline_one_sentence_that_the_answer_took_up_is_enough(context: str, verdict: str) -> None:
    """The answer says far more than the context, and the context speaks of other things too."""
    answer = (
        "Students of every faculty pay: the fee is 500 roubles, transferred through any bank before September ends."
    )
    reader = WordReader()
    assert not reader.supported(answer, [context])
    assert USEFULNESS.offline is not None
    found = USEFULNESS.offline(reader, {"question": "What is the fee?", "context": context, "answer": answer})
    assert found.verdict == verdict


OF_LIGHT = {
    "en": Sample(
        "p",
        user_input="Tell me about photosynthesis",
        reference="Photosynthesis converts light energy into chemical energy. It takes place in chloroplasts. The "
        "process needs CO₂, water and sunlight. Oxygen is released as a by-product.",
        contexts=(
            Chunk("c1", "Photosynthesis is the process by which plants turn sunlight into chemical energy."),
            Chunk("c2", "Chloroplasts are organelles of plant cells in which photosynthesis takes place."),
            Chunk("c3", "During photosynthesis oxygen is produced as a by-product."),
            Chunk("c4", "The process needs carbon dioxide, water and light energy."),
        ),
        language="en",
    ),
    "ru": Sample(
        "p",
        user_input="Расскажите о фотосинтезе",
        reference="Фотосинтез преобразует световую энергию в химическую. Он происходит в хлоропластах. Процесс требует "
        "CO₂, воды и солнечного света. Кислород выделяется как побочный продукт.",
        contexts=(
            Chunk("c1", "Фотосинтез — процесс, при котором растения преобразуют солнечный свет в химическую энергию."),
            Chunk("c2", "Хлоропласты — органеллы в растительных клетках, где происходит фотосинтез."),
            Chunk("c3", "Во время фотосинтеза кислород производится как побочный продукт."),
            Chunk("c4", "Процесс требует углекислого газа, воды и световой энергии."),
        ),
        language="ru",
    ),
}


def recall_of(judge: ScriptedJudge, sample: Sample = OF_LIGHT["en"]) -> Score:
    return score(context_recall(sample, judge=judge))


@pytest.mark.parametrize("language", ["en", "ru"])
def test_photosynthesis_is_all_there(language: str) -> None:
    judge = ScriptedJudge(entailment=entailment(1, 1, 1, 1, passages=[1]))
    sample = OF_LIGHT[language]
    assert recall_of(judge, sample).value == 1.0
    assert len(judge.calls) == 1
    asked = judge.asked("entailment")[0]
    assert " ".join(asked["statements"]) == sample.reference
    assert len(asked["statements"]) == 4
    assert asked["passages"] == [chunk.text for chunk in sample.contexts or ()]


@pytest.mark.parametrize(("language", "number"), [("en", "3 / 4 = 0.750"), ("ru", "3 / 4 = 0,750")])
def test_what_is_missing_is_named(language: str, number: str) -> None:
    found = recall_of(ScriptedJudge(entailment=entailment(1, 1, 1, 0, passages=[4, 4])), OF_LIGHT[language])
    assert found.value == 0.75
    said = explain(found, translator(language))
    assert number in said
    assert sentences(OF_LIGHT[language].reference or "")[3] in said
    assert found.detail["statements"][0]["chunks"] == ["c4"]


def test_the_judge_cannot_change_what_is_divided_by() -> None:
    """Common software divides by the sentences that the judge cares to return."""
    one_short = recall_of(ScriptedJudge(entailment=[entailment(1, 1, 1), {"verdicts": []}]))
    assert one_short.status is Status.VERDICT_MISMATCH
    one_more = recall_of(ScriptedJudge(entailment=entailment(1, 1, 1, 1, 1)))
    assert one_more.status is Status.VERDICT_MISMATCH
    made_good = recall_of(ScriptedJudge(entailment=[entailment(1, 1, 1), entailment(0)]))
    assert made_good.value == 0.75


def test_a_reference_without_a_sentence_is_unmeasured() -> None:
    assert recall_of(ScriptedJudge(), replace(OF_LIGHT["en"], reference="— …")).status is Status.EMPTY_DECOMPOSITION


def test_the_judges_failure() -> None:
    assert recall_of(ScriptedJudge(entailment=Status.TIMEOUT)).status is Status.TIMEOUT


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_offline_judge_misses_what_is_not_there(language: str) -> None:
    sample = OF_LIGHT[language]
    copied = replace(sample, contexts=(Chunk("c", sample.reference or ""),))
    half = replace(sample, contexts=(Chunk("c", " ".join(sentences(sample.reference or "")[:2])),))
    assert score(context_recall(copied, judge=LexicalJudge())).value == 1.0
    assert score(context_recall(half, judge=LexicalJudge())).value == 0.5


CASES = [
    ("One. Two! Three? Four…", ["One.", "Two!", "Three?", "Four…"]),
    ("Dr. Smith paid 12.5 roubles. He left.", ["Dr. Smith paid 12.5 roubles.", "He left."]),
    ("А. С. Пушкин родился в 1799 г. в Москве. Он поэт.", ["А. С. Пушкин родился в 1799 г. в Москве.", "Он поэт."]),
    ("А.С. Пушкин родился в Москве. Он поэт.", ["А.С. Пушкин родился в Москве.", "Он поэт."]),
    ("They may claim to be a U.S. Marshal. Hang up.", ["They may claim to be a U.S. Marshal.", "Hang up."]),
    ("It stands on the 1099-B. Brokers send it.", ["It stands on the 1099-B.", "Brokers send it."]),
    ("Стоит 5 тыс. руб. Дорого.", ["Стоит 5 тыс. руб. Дорого."]),
    ("List:\n- first item\n- second item", ["List:", "- first item", "- second item"]),
    ("He said “Go.” She went.", ["He said “Go.”", "She went."]),
    ("no end", ["no end"]),
    ("  \n … ", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_sentences_by_hand(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(alphabet="АбвGhi 12.!?…\n-«»", max_size=80))
def test_no_sign_is_lost(text: str) -> None:
    def signs(recall_of: str) -> str:
        return "".join(sign for sign in recall_of if sign.isalnum())

    assert signs("".join(sentences(text))) == signs(text)


def named_chunks(*texts: str) -> tuple[Chunk, ...]:
    return tuple(Chunk(f"c{number}", text) for number, text in enumerate(texts, 1))


TOWER = {
    "en": Sample(
        "tower",
        reference="The Eiffel Tower stands in Paris, France. It was completed in 1889 for the World's Fair.",
        contexts=named_chunks(
            "The Eiffel Tower in Paris, France, is one of the best-known sights.",
            "Completed in 1889, it was built for the World's Fair of 1889.",
            "Millions of visitors are drawn to it each year by its breathtaking views.",
        ),
        language="en",
    ),
    "ru": Sample(
        "tower",
        reference="Эйфелева башня расположена в Париже, Франция. Она была завершена в 1889 году для Всемирной "
        "выставки.",
        contexts=named_chunks(
            "Эйфелева башня, расположенная в Париже, Франция, является одной из самых знаковых достопримечательностей.",
            "Завершённая в 1889 году, она была построена для Всемирной выставки 1889 года.",
            "Миллионы посетителей ежегодно привлекаются к ней захватывающими видами.",
        ),
        language="ru",
    ),
}
TOWER_NAMES = {
    "en": ["Eiffel Tower", "Paris", "France", "1889", "World's Fair"],
    "ru": ["Эйфелева башня", "Париж", "Франция", "1889", "Всемирная выставка"],
}
EINSTEIN = {
    "en": Sample(
        "einstein",
        reference="Albert Einstein was born in Ulm, Germany, on 14 March 1879. He won the Nobel Prize in Physics "
        "in 1921.",
        contexts=named_chunks(
            "Physics is the basic science of matter and energy.",
            "Scientists have made many important discoveries throughout history.",
        ),
        language="en",
    ),
    "ru": Sample(
        "einstein",
        reference="Альберт Эйнштейн родился в Ульме, Германия, 14 марта 1879 года. Он получил Нобелевскую премию по "
        "физике в 1921 году.",
        contexts=named_chunks(
            "Физика — фундаментальная наука, изучающая материю и энергию.",
            "Учёные сделали множество важных открытий на протяжении истории.",
        ),
        language="ru",
    ),
}
EINSTEIN_NAMES = {
    "en": ["Albert Einstein", "Ulm", "Germany", "14 March 1879", "Nobel Prize in Physics", "1921"],
    "ru": ["Альберт Эйнштейн", "Ульм", "Германия", "14 марта 1879", "Нобелевская премия по физике", "1921"],
}


def judge_of(sample: Sample, reference: Sequence[Any], contexts: Sequence[Any]) -> ScriptedJudge:
    def script(texts: Any) -> Any:
        return {"entities": list(reference if list(texts["texts"]) == [sample.reference] else contexts)}

    return ScriptedJudge(entities=script)


def entities_of(
    reference: Sequence[Any], contexts: Sequence[Any], sample: Sample = TOWER["en"], **options: Any
) -> Score:
    return score(context_entity_recall(sample, judge=judge_of(sample, reference, contexts), **options))


@pytest.mark.parametrize("language", ["en", "ru"])
class TestTheSpecification:
    def test_high_coverage(self, language: str) -> None:
        names = TOWER_NAMES[language]
        found = entities_of(names, names[:4], TOWER[language])
        assert found.value == 0.8 >= 0.7
        said = explain(found, translator(language))
        assert ("4 / 5 = 0.800" if language == "en" else "4 / 5 = 0,800") in said
        assert names[4] in said
        assert found.detail["matched"] == names[:4]
        assert found.detail["missing"] == names[4:]
        assert entities_of(names, names, TOWER[language]).value == 1.0

    def test_poor_coverage(self, language: str) -> None:
        assert entities_of(EINSTEIN_NAMES[language], [], EINSTEIN[language]).value == 0.0 <= 0.3

    def test_two_questions_at_once(self, language: str) -> None:
        sample = TOWER[language]
        judge = judge_of(sample, ["a"], ["a"])
        score(context_entity_recall(sample, judge=judge))
        assert judge.rounds == 1
        assert judge.asked("entities") == [
            {"texts": [sample.reference]},
            {"texts": [chunk.text for chunk in sample.contexts or ()]},
        ]

    def test_the_offline_judge_ranks_them(self, language: str) -> None:
        high, poor = (
            score(context_entity_recall(sample[language], judge=LexicalJudge())).value for sample in (TOWER, EINSTEIN)
        )
        assert high >= 0.7 > 0.3 >= poor


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Eiffel Tower", "EIFFEL  tower"),
        ("Королёв", "КОРОЛЕВ"),
        (" Париж ", "париж"),
        ("Straße", "STRASSE"),
        ("１８８９", "1889"),
        ("Й", unicodedata.normalize("NFD", "й")),
        ("10\u00a0000 km", "10 000 km"),
    ],
)
def test_spellings_of_one_name(one: str, other: str) -> None:
    """Common software compares letter by letter."""
    assert entities_of([one], [other]).value == 1.0
    assert entities_of([one], [other], variant="ragas").value == 0.0


def test_other_names_stay_other() -> None:
    assert entities_of(["1889"], ["1890"]).value == 0.0
    assert entities_of(["Paris"], ["Paris, France"]).value == 0.0


def test_copies_count_once() -> None:
    assert entities_of(["Paris", "paris", "Ulm"], ["PARIS"]).value == 0.5


def test_all_of_all_is_exactly_one() -> None:
    assert entities_of(["a", "b"], ["b", "a"]).value == 1.0
    assert entities_of(["a", "b"], ["b", "a"], variant="ragas").value == pytest.approx(2 / (2 + 1e-8), abs=1e-15) != 1.0
    assert entities_of(["a", "a"], ["a"], variant="ragas").value == pytest.approx(1 / (2 + 1e-8), abs=1e-15)


class TestUnmeasured:
    def test_no_entities_in_the_reference(self) -> None:
        """Common software gives 0."""
        assert entities_of([], ["Paris"]).status is Status.EMPTY_DECOMPOSITION
        assert entities_of([" ", ""], ["Paris"]).status is Status.EMPTY_DECOMPOSITION

    def test_no_entities_in_the_contexts_is_zero(self) -> None:
        assert entities_of(["Paris"], []).value == 0.0

    @pytest.mark.parametrize("reply", [[1], [None], [["Paris"]], [True]])
    def test_entities_are_texts(self, reply: list[Any]) -> None:
        assert entities_of(reply, ["a"]).status is Status.PARSE_ERROR

    def test_a_failed_call_is_no_empty_set(self) -> None:
        """Common software takes a reply that it cannot read for a text without entities."""
        judge = ScriptedJudge(entities=[{"entities": ["Paris"]}, Status.TRUNCATED])
        assert score(context_entity_recall(TOWER["en"], judge=judge)).status is Status.TRUNCATED


def labelled_sample(retrieved: list[str], labelled: list[str]) -> Sample:
    """Chunks "id:text"."""

    def chunks(items: list[str]) -> tuple[Chunk, ...]:
        return tuple(Chunk(*item.split(":")) for item in items)

    return Sample("s", contexts=chunks(retrieved), reference_contexts=chunks(labelled))


def by_label(answer: Sample, **options: Any) -> tuple[Score, Score]:
    return score(context_precision_by_label(answer, **options)), score(context_recall_by_label(answer, **options))


def test_by_identifier() -> None:
    precision, recall = by_label(labelled_sample(["a:x", "b:x", "c:x"], ["a:y", "d:y"]))
    assert (precision.value, recall.value) == (1 / 3, 0.5)
    assert precision.detail["matched"] == ["a"]
    assert recall.detail["missing"] == ["d"]
    assert "1 / 3 = 0.333" in precision.reason


def test_copies_of_a_label_count_once() -> None:
    precision, recall = by_label(labelled_sample(["a:x", "a:x", "a:x", "b:x"], ["a:y", "a:y"]))
    assert (precision.value, recall.value) == (0.5, 1.0)


@pytest.mark.parametrize(
    ("retrieved", "labelled", "threshold", "expected"),
    [
        ("Москва — столица.", "МОСКВА — СТОЛИЦА", 0.9, 1.0),
        ("kitten", "sitting", 0.57, 1.0),
        ("kitten", "sitting", 0.58, 0.0),
        ("ab", "ax", 0.5, 1.0),
        ("same", "same", 1.0, 1.0),
        ("short", "a very much longer text", 0.5, 0.0),
    ],
)
def test_by_text(retrieved: str, labelled: str, threshold: float, expected: float) -> None:
    found = by_label(labelled_sample([f"a:{retrieved}"], [f"z:{labelled}"]), by="text", threshold=threshold)
    assert [each.value for each in found] == [expected, expected]
    assert [each.value for each in by_label(labelled_sample([f"a:{retrieved}"], [f"z:{labelled}"]))] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"by": "url"}, "id or text is expected"), ({"threshold": 0.0}, "above 0"), ({"threshold": 2}, "1")],
)
def test_wrong_options(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        by_label(labelled_sample(["a:x"], ["a:x"]), **wrong)


def test_by_text_one_of_several_is_enough() -> None:
    """One of the two retrieved texts is labelled, and one of the three labelled texts was retrieved."""
    precision, recall = by_label(
        labelled_sample(["a:same", "b:other"], ["x:far away", "y:same", "z:unlike"]), by="text"
    )
    assert (precision.value, recall.value) == (0.5, pytest.approx(1 / 3))
    assert precision.detail["matched"] == ["a"]
    assert recall.detail["missing"] == ["x", "z"]
