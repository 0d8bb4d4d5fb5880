"""answer_accuracy and context_relevance: two ratings, both needed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ragbench.old.core.language import translator
from ragbench.old.core.metric import Metric
from ragbench.old.core.types import Chunk, Sample, Score, Status
from ragbench.old.judge import LexicalJudge
from ragbench.old.metrics.explanation import explain
from ragbench.old.metrics.ratings import answer_accuracy, context_relevance
from tests.old.judge.scripted_judge import ScriptedJudge, score

SAMPLE = Sample("s", "Who wrote it?", "Pushkin wrote it.", "Pushkin wrote it.", (Chunk("c", "Pushkin wrote it."),))
BOTH = [answer_accuracy, context_relevance]


def of(each: Metric, first: Any, second: Any, sample: Sample = SAMPLE) -> Score:
    def reply(rating: Any) -> Any:
        return rating if isinstance(rating, Status) else {"reason": f"rated {rating}", "rating": rating}

    scripts = {each.name: reply(first), f"{each.name}_turned": reply(second)}
    return score(each(sample, judge=ScriptedJudge(**scripts)))


@pytest.mark.parametrize("each", BOTH, ids=str)
class TestBoth:
    @pytest.mark.parametrize(("first", "second", "value"), [(0, 0, 0.0), (2, 2, 1.0), (2, 1, 0.75), (0, 1, 0.25)])
    def test_the_mean_of_two(self, each: Metric, first: int, second: int, value: float) -> None:
        found = of(each, first, second)
        assert found.value == value
        assert found.detail["ratings"] == [first, second]
        assert f"({first} + {second}) / 4 = {value:.3f}".replace(".", ",") in explain(found, translator("ru"))

    def test_one_rating_is_not_the_mean(self, each: Metric) -> None:
        """Common software takes the one rating that came for both."""
        assert of(each, 2, Status.TIMEOUT).status is Status.TIMEOUT
        assert of(each, Status.REFUSED, 2).status is Status.REFUSED

    @pytest.mark.parametrize("rating", [-1, 3, 4, 1.0, True, "2", None])
    def test_nothing_else_is_a_rating(self, each: Metric, rating: Any) -> None:
        assert of(each, rating, 2).status is Status.PARSE_ERROR

    def test_both_at_once(self, each: Metric) -> None:
        reply = {"reason": "", "rating": 2}
        judge = ScriptedJudge(**{each.name: reply, f"{each.name}_turned": reply})
        score(each(SAMPLE, judge=judge))
        assert (len(judge.calls), judge.rounds) == (2, 1)


@pytest.mark.parametrize(
    ("response", "expected"),
    [("Pushkin wrote it.", 1.0), ("Pushkin wrote it. Bananas grow in summer.", 0.75), ("Bananas grow.", 0.0)],
)
def test_offline_accuracy(response: str, expected: float) -> None:
    assert score(answer_accuracy(replace(SAMPLE, response=response), judge=LexicalJudge())).value == expected


def test_offline_relevance() -> None:
    near = replace(SAMPLE, contexts=(Chunk("c", "Who wrote it? Pushkin."),))
    far = replace(SAMPLE, contexts=(Chunk("c", "Bananas grow in summer."),))
    assert score(context_relevance(near, judge=LexicalJudge())).value == 1.0
    assert score(context_relevance(far, judge=LexicalJudge())).value == 0.0


class TestOneRating:
    def rated(self, *ratings: Any, ratings_by: str = "confirmed") -> Score:
        prompts = ("answer_accuracy", "answer_accuracy_confirmed")
        said = [one if isinstance(one, Status) else {"reason": f"rated {one}", "rating": one} for one in ratings]
        judge = ScriptedJudge(**dict(zip(prompts, said, strict=False)))
        return score(answer_accuracy(SAMPLE, judge=judge, ratings=ratings_by))

    def test_by_the_first_template(self) -> None:
        found = self.rated(1, ratings_by="one")
        assert (found.value, found.detail["ratings"]) == (0.5, [1])
        assert "1 / 2 = 0,500" in explain(found, translator("ru"))

    @pytest.mark.parametrize(("first", "last", "value", "word"), [(1, 2, 1.0, "изменена"), (2, 2, 1.0, "подтверждена")])
    def test_the_one_that_was_looked_at_again_counts(self, first: int, last: int, value: float, word: str) -> None:
        found = self.rated(first, last)
        assert (found.value, found.detail["ratings"]) == (value, [first, last])
        assert word in explain(found, translator("ru"))

    def test_the_judge_is_shown_the_first_rating_and_its_reason(self) -> None:
        said = {"reason": "nearly", "rating": 1}
        judge = ScriptedJudge(answer_accuracy=said, answer_accuracy_confirmed=said)
        score(answer_accuracy(SAMPLE, judge=judge, ratings="confirmed"))
        [texts] = judge.asked("answer_accuracy_confirmed")
        assert (texts["rating"], texts["reason"]) == ("1", "nearly")

    def test_a_rating_that_was_to_be_confirmed_is_not(self) -> None:
        assert self.rated(2, Status.TIMEOUT).status is Status.TIMEOUT
        assert self.rated(Status.REFUSED, 2).status is Status.REFUSED

    def test_the_offline_judge_cannot_look_again(self) -> None:
        found = score(answer_accuracy(SAMPLE, judge=LexicalJudge(), ratings="confirmed"))
        assert (found.status, "answer_accuracy_confirmed" in found.reason) == (Status.JUDGE_ERROR, True)


class TestEachContext:
    CONTEXTS = tuple(Chunk(f"c{n}", text) for n, text in enumerate(("full", "half", "none", " ")))

    def of(self, ratings: str) -> tuple[Score, ScriptedJudge]:
        def reply(texts: Any) -> Any:
            return {"reason": "", "rating": {"full": 2, "half": 1, "none": 0}[texts["contexts"][0]]}

        judge = ScriptedJudge(context_relevance=reply, context_relevance_turned={"reason": "", "rating": 1})
        sample = replace(SAMPLE, contexts=self.CONTEXTS)
        return score(context_relevance(sample, judge=judge, ratings=ratings, each=True)), judge

    def test_the_mean_over_contexts_and_one_without_text_is_worth_nothing(self) -> None:
        found, judge = self.of("one")
        assert found.value == (2 + 1 + 0 + 0) / 8
        assert (len(judge.calls), judge.rounds) == (3, 1)
        assert "3 / 8 = 0,375" in explain(found, translator("ru"))
        assert self.of("two")[0].value == (2 + 1 + 1 + 1 + 0 + 1) / 16

    def test_together_by_one_template(self) -> None:
        judge = ScriptedJudge(context_relevance={"reason": "", "rating": 1})
        assert score(context_relevance(SAMPLE, judge=judge, ratings="one")).value == 0.5


def test_ragas_lets_the_first_rating_stand_for_both() -> None:
    for each in BOTH:
        ragas = each.with_options(variant="ragas")
        said = {"reason": "", "rating": 1}
        judge = ScriptedJudge(**{each.name: said, f"{each.name}_turned": Status.TIMEOUT})
        assert score(ragas(SAMPLE, judge=judge)).value == 0.5
        judge = ScriptedJudge(**{each.name: Status.TIMEOUT, f"{each.name}_turned": said})
        assert score(ragas(SAMPLE, judge=judge)).status is Status.TIMEOUT


@pytest.mark.parametrize(
    ("each", "options", "message"),
    [
        (answer_accuracy, {"ratings": "three"}, "ratings = 'three': two, one or confirmed"),
        (context_relevance, {"ratings": "confirmed"}, "ratings = 'confirmed': two or one"),
        (context_relevance, {"each": 1}, "each = 1: True or False"),
        (context_relevance, {"each": True, "variant": "ragas"}, "leave each=True out"),
        (answer_accuracy, {"ratings": "one", "variant": "ragas"}, "leave ratings=one out"),
    ],
    ids=str,
)
def test_wrong_options_are_refused_before_a_call(each: Metric, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score(each.with_options(**options)(SAMPLE, judge=ScriptedJudge()))
