"""How judges on trial are asked: the scale turned, repeats apart, and what went wrong kept by its name."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ragbench.old.core.types import Answer, Prompt, Sample, Status
from ragbench.old.judge.pairwise import Again, scale_turned
from ragbench.old.llm import BudgetSpent, ModelError
from ragbench.old.metrics.claims import CLAIMS
from ragbench.old.metrics.ratings import ACCURACY, Rating, answer_accuracy
from ragbench.old.metrics.response_groundedness import GROUNDEDNESS
from ragbench.old.tiers.judges import asking, numbers
from ragbench.old.tiers.judges.asking import Trial
from ragbench.old.tiers.judges.items import NOTHING, Answers


class TestAsking:
    def test_a_scale_is_turned_and_nothing_else(self) -> None:
        for prompt in (*ACCURACY, GROUNDEDNESS):
            turned = scale_turned(prompt)
            assert turned is not None
            assert turned.name != prompt.name
            for language, text in turned.texts.items():
                lines, before = text.splitlines(), prompt.texts[language].splitlines()
                assert sorted(lines) == sorted(before)
                levels = [line[:4] for line in before if line.startswith("- ")]
                assert [line[:4] for line in lines if line.startswith("- ")] == levels[::-1]
                assert len(set(levels)) == 3

    def test_a_level_of_several_lines_stays_whole(self) -> None:
        prompt = replace(ACCURACY[0], texts={"en": "Rate:\n- 2: all\n  of it\n- 1: some\n- 0: none\n\nGo: {response}"})
        turned = scale_turned(prompt)
        assert turned is not None
        assert turned.texts["en"] == "Rate:\n- 0: none\n- 1: some\n- 2: all\n  of it\n\nGo: {response}"

    def test_a_prompt_without_levels_is_not_asked(self) -> None:
        assert scale_turned(CLAIMS) is None
        found = asyncio.run(Again(_Judge(), turned=True).ask(CLAIMS, {"question": "", "text": ""}))
        assert (found.value, found.status) == (None, Status.EMPTY_INPUT)

    def test_repeats_are_asked_apart(self) -> None:
        judge = _Judge()
        trial = Trial(answer_accuracy, _samples(2), NOTHING, repeats=3)
        found = asyncio.run(asking.hear(judge, trial))
        assert found.answers.scores.shape == (2, 3)
        assert sorted(judge.repeats) == sorted([0, 1000, 2000] * 4 + [0] * 4)  # and once with the scale turned

    def test_what_went_wrong_is_kept_by_its_name(self) -> None:
        found = asyncio.run(asking.hear(_Judge({1: Status.REFUSED, 2: Status.TRUNCATED}), _trial(4)))
        assert found.statuses[:, 0].tolist() == ["ok", "refused", "truncated", "ok"]
        counts = {name: hit.sum() for name, hit in numbers.outcomes(found).items()}
        assert counts == {"valid": 4, "unparseable": 0, "refused": 2, "truncated": 2, "failed": 0}
        assert sum(counts.values()) == found.answers.asked.sum() == 8

    def test_an_answer_that_is_not_there_was_not_asked(self) -> None:
        samples = _samples(3)
        empty = replace(samples, samples=(replace(samples.samples[0], response=" "), *samples.samples[1:]))
        found = asyncio.run(asking.hear(_Judge(), Trial(answer_accuracy, empty, NOTHING)))
        assert found.answers.asked.sum() == 4
        assert numbers.outcomes(found)["valid"].sum() == 4

    @pytest.mark.fault("denied", tried="a provider that stops in the middle of a trial of judges", count=1)
    def test_a_provider_that_stops_is_a_judge_that_failed(self) -> None:
        found = asyncio.run(asking.hear(_Judge(error=ModelError("no such model")), _trial(3)))
        assert set(found.statuses.ravel()) == {"judge_error"}
        with pytest.raises(BudgetSpent):
            asyncio.run(asking.hear(_Judge(error=BudgetSpent("spent")), _trial(3)))


class _Judge:
    """Rates everything 2; sample number → status for those it fails on."""

    name = identity = "scripted"

    def __init__(self, failing: dict[int, Status] | None = None, error: Exception | None = None) -> None:
        self.failing, self.error, self.repeats = failing or {}, error, list[int]()

    async def ask(
        self, prompt: Prompt[Any], texts: Any, *, language: str | None = None, repeat: int = 0
    ) -> Answer[Any]:
        if self.error is not None:
            raise self.error
        self.repeats.append(repeat)
        status = self.failing.get(int(str(texts.get("question", "0")) or 0))
        return Answer(Rating(reason="", rating=2), seconds=0.1) if status is None else Answer(None, status)


def _samples(number: int) -> Answers:
    made = tuple(Sample(f"s{n}", str(n), "An answer.", "A reference.") for n in range(number))
    return Answers(made, tuple(one.id for one in made), (), np.zeros((number, 0)))


def _trial(number: int) -> Trial:
    return Trial(answer_accuracy, _samples(number), NOTHING)
