"""answer_accuracy and context_relevance: two ratings, both needed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ragbench.judge import LexicalJudge
from ragbench.language import translator
from ragbench.metric import Metric
from ragbench.metrics.explanation import explain
from ragbench.metrics.ratings import answer_accuracy, context_relevance
from ragbench.types import Chunk, Sample, Score, Status
from tests.scripted_judge import ScriptedJudge, score

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
