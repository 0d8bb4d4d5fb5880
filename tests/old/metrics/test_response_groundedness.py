"""response_groundedness: Moscow, the scale, and the shortcuts that cost nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ragbench.old.core.language import translator
from ragbench.old.core.types import Chunk, Sample, Score, Status
from ragbench.old.judge import LexicalJudge
from ragbench.old.metrics import catalogue
from ragbench.old.metrics.explanation import explain
from ragbench.old.metrics.response_groundedness import GROUNDEDNESS, response_groundedness
from tests.old.judge.scripted_judge import ScriptedJudge, score

MOSCOW = {
    "en": Sample(
        "moscow",
        response="Moscow is the capital of Russia with a population of about 12 million people.",
        contexts=(Chunk("c1", "Moscow is the capital and largest city of Russia. It stands on the Moskva river."),),
        language="en",
    ),
    "ru": Sample(
        "moscow",
        response="Москва — столица России с населением около 12 миллионов человек.",
        contexts=(
            Chunk("c1", "Москва является столицей и крупнейшим городом России. Она расположена на реке Москва."),
        ),
        language="ru",
    ),
}


def rating(number: Any, reason: str = "The population is not in the context.") -> dict[str, Any]:
    return {"reason": reason, "rating": number}


def of(reply: Any, sample: Sample = MOSCOW["en"], **options: Any) -> Score:
    return score(response_groundedness(sample, judge=ScriptedJudge(response_groundedness=reply), **options))


@pytest.mark.parametrize(("language", "number"), [("en", "1 / 2 = 0.500"), ("ru", "1 / 2 = 0,500")])
def test_moscow(language: str, number: str) -> None:
    judge = ScriptedJudge(response_groundedness=rating(1, "Населения в контексте нет."))
    found = score(response_groundedness(MOSCOW[language], judge=judge))
    assert found.value == 0.5
    assert (found.detail["rating"], found.detail["shortcut"]) == (1, None)
    said = explain(found, translator(language))
    assert number in said
    assert "Населения в контексте нет." in said
    assert len(judge.calls) == 1


@pytest.mark.parametrize(("number", "value"), [(0, 0.0), (1, 0.5), (2, 1.0)])
def test_the_scale(number: int, value: float) -> None:
    assert of(rating(number)).value == value


def test_what_is_said_is_what_is_computed() -> None:
    """The rating is halved; only ratings from 1 to 5 are said to become shares by (rating − 1) / 4."""
    assert response_groundedness.formula == "rating of 0, 1 or 2 / 2"
    assert "divided by 2" in response_groundedness.differs
    for each in catalogue().values():
        assert "(rating − 1) / 4" not in each.differs or each.bounds == (1.0, 5.0), each.label


@pytest.mark.parametrize("number", [-1, 3, 1.0, 0.5, True, "1", None, [1]])
def test_nothing_else_is_a_rating(number: Any) -> None:
    """Nothing is clamped: 3 is not 2, and true is not 1."""
    assert of(rating(number)).status is Status.PARSE_ERROR


def test_the_temperature_is_that_of_the_specification() -> None:
    assert GROUNDEDNESS.temperature == 0.1


class TestShortcuts:
    @pytest.mark.parametrize(
        ("response", "context", "way"),
        [
            ("Moscow.", "Moscow.", "equal"),
            ("MOSCOW  is\na city", "moscow is a city", "equal"),
            ("Москва", "москва", "equal"),
            ("is a city", "Moscow is a  city on a river", "contained"),
            ("ﬁne", "fine weather", "contained"),
        ],
    )
    def test_a_copy_is_grounded_without_a_call(self, response: str, context: str, way: str) -> None:
        sample = Sample("s", response=response, contexts=(Chunk("other", "x"), Chunk("c2", context)))
        judge = ScriptedJudge()
        found = score(response_groundedness(sample, judge=judge))
        assert found.value == 1.0
        assert (found.detail["shortcut"], found.detail["chunk"], found.detail["rating"]) == (way, "c2", None)
        assert found.seconds is None
        assert not judge.calls
        assert "no judge was asked" in found.reason

    def test_they_can_be_left_out(self) -> None:
        sample = Sample("s", response="a", contexts=(Chunk("c", "a"),))
        assert of(rating(1), sample, shortcuts=False).value == 0.5

    def test_a_context_inside_the_response_is_none(self) -> None:
        sample = Sample("s", response="Moscow is a city of 12 million", contexts=(Chunk("c", "Moscow is a city"),))
        assert of(rating(1), sample).value == 0.5


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_offline_judge_rates_a_half_invented_answer_in_the_middle(language: str) -> None:
    sample = MOSCOW[language]
    assert sample.contexts is not None
    context = sample.contexts[0].text
    invented = {"en": " Bananas were eaten by 400 elephants.", "ru": " Бананы съели 400 слонов."}[language]
    values = [
        score(response_groundedness(replace(sample, response=text), judge=LexicalJudge(), shortcuts=False)).value
        for text in (context, context + invented, invented)
    ]
    assert values == [1.0, 0.5, 0.0]


def by_ragas(first: Any, second: Any, response: str = "Said.", contexts: tuple[str, ...] = ("One.", "Two.")) -> Score:
    reply = [rating if isinstance(rating, Status) else {"reason": "", "rating": rating} for rating in (first, second)]
    judge = ScriptedJudge(response_groundedness=reply[0], response_groundedness_turned=reply[1])
    chunks = tuple(Chunk(f"c{n}", text) for n, text in enumerate(contexts))
    return score(response_groundedness(Sample("s", response=response, contexts=chunks), judge=judge, variant="ragas"))


def test_ragas_asks_two_raters() -> None:
    assert by_ragas(2, 1).value == 0.75
    assert by_ragas(1, Status.REFUSED).value == 0.5, "the first stands for both"
    assert by_ragas(Status.REFUSED, 1).status is Status.REFUSED
    assert by_ragas(0, 0, "One.\nTwo.").value == 1.0, "in all contexts joined"
    assert by_ragas(0, 0, "ne.\nTw").value == 1.0
    assert by_ragas(0, 0, "one.").value == 0.0, "letter case counts"
    assert by_ragas(2, 2, " ").value == by_ragas(2, 2, contexts=(" ",)).value == 0.0
