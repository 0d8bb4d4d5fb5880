"""context_entity_recall: the specification's examples, and names in every spelling."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import pytest

from ragbench.core.language import translator
from ragbench.core.types import Chunk, Sample, Score, Status
from ragbench.judge import LexicalJudge
from ragbench.metrics.context_entity_recall import context_entity_recall
from ragbench.metrics.explanation import explain
from tests.judge.scripted_judge import ScriptedJudge, score


def chunks(*texts: str) -> tuple[Chunk, ...]:
    return tuple(Chunk(f"c{number}", text) for number, text in enumerate(texts, 1))


TOWER = {
    "en": Sample(
        "tower",
        reference="The Eiffel Tower stands in Paris, France. It was completed in 1889 for the World's Fair.",
        contexts=chunks(
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
        contexts=chunks(
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
        contexts=chunks(
            "Physics is the basic science of matter and energy.",
            "Scientists have made many important discoveries throughout history.",
        ),
        language="en",
    ),
    "ru": Sample(
        "einstein",
        reference="Альберт Эйнштейн родился в Ульме, Германия, 14 марта 1879 года. Он получил Нобелевскую премию по "
        "физике в 1921 году.",
        contexts=chunks(
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


def of(reference: Sequence[Any], contexts: Sequence[Any], sample: Sample = TOWER["en"], **options: Any) -> Score:
    return score(context_entity_recall(sample, judge=judge_of(sample, reference, contexts), **options))


@pytest.mark.parametrize("language", ["en", "ru"])
class TestTheSpecification:
    def test_high_coverage(self, language: str) -> None:
        names = TOWER_NAMES[language]
        found = of(names, names[:4], TOWER[language])
        assert found.value == 0.8 >= 0.7
        said = explain(found, translator(language))
        assert ("4 / 5 = 0.800" if language == "en" else "4 / 5 = 0,800") in said
        assert names[4] in said
        assert found.detail["matched"] == names[:4]
        assert found.detail["missing"] == names[4:]
        assert of(names, names, TOWER[language]).value == 1.0

    def test_poor_coverage(self, language: str) -> None:
        assert of(EINSTEIN_NAMES[language], [], EINSTEIN[language]).value == 0.0 <= 0.3

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
    assert of([one], [other]).value == 1.0
    assert of([one], [other], variant="ragas").value == 0.0


def test_other_names_stay_other() -> None:
    assert of(["1889"], ["1890"]).value == 0.0
    assert of(["Paris"], ["Paris, France"]).value == 0.0


def test_copies_count_once() -> None:
    assert of(["Paris", "paris", "Ulm"], ["PARIS"]).value == 0.5


def test_all_of_all_is_exactly_one() -> None:
    assert of(["a", "b"], ["b", "a"]).value == 1.0
    assert of(["a", "b"], ["b", "a"], variant="ragas").value == pytest.approx(2 / (2 + 1e-8), abs=1e-15) != 1.0
    assert of(["a", "a"], ["a"], variant="ragas").value == pytest.approx(1 / (2 + 1e-8), abs=1e-15)


class TestUnmeasured:
    def test_no_entities_in_the_reference(self) -> None:
        """Common software gives 0."""
        assert of([], ["Paris"]).status is Status.EMPTY_DECOMPOSITION
        assert of([" ", ""], ["Paris"]).status is Status.EMPTY_DECOMPOSITION

    def test_no_entities_in_the_contexts_is_zero(self) -> None:
        assert of(["Paris"], []).value == 0.0

    @pytest.mark.parametrize("reply", [[1], [None], [["Paris"]], [True]])
    def test_entities_are_texts(self, reply: list[Any]) -> None:
        assert of(reply, ["a"]).status is Status.PARSE_ERROR

    def test_a_failed_call_is_no_empty_set(self) -> None:
        """Common software takes a reply that it cannot read for a text without entities."""
        judge = ScriptedJudge(entities=[{"entities": ["Paris"]}, Status.TRUNCATED])
        assert score(context_entity_recall(TOWER["en"], judge=judge)).status is Status.TRUNCATED
