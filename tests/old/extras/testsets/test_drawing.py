"""Questions are drawn for people where the judge's doubt moves numbers, and the estimate knows their chances."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ragbench.old.data.files import DatasetError
from ragbench.old.extras.testsets import powered
from ragbench.old.extras.testsets.pooling import Judgement
from ragbench.old.extras.testsets.powered import Drawn
from tests.old.extras.testsets.test_powered import PASSAGES, QUESTIONS, world

DOUBTS = {f"q{n:03d}": float(n < 40) for n in range(200)}


def test_doubtful_questions_are_likelier_and_what_people_graded_is_certain() -> None:
    made = powered.drawn(DOUBTS, {"q000", "q199"}, 40, 1)
    by_name = {record.question: record for record in made}
    assert by_name["q000"] == by_name["q199"].model_copy(update={"question": "q000"})
    assert (by_name["q000"].chance, by_name["q000"].chosen) == (1.0, True)
    # 198 are left, 39 of them in doubt: seven tenths of 40 evenly, the rest among those
    assert by_name["q001"].chance == pytest.approx(40 * (0.7 / 198 + 0.3 / 39))
    assert by_name["q100"].chance == pytest.approx(40 * 0.7 / 198)
    assert sum(record.chosen for record in made) - 2 == pytest.approx(40, abs=15)
    assert powered.drawn(DOUBTS, {"q000", "q199"}, 40, 1) == made
    again = {record.question for record in powered.drawn(DOUBTS, {"q000", "q199"}, 40, 2) if record.chosen}
    assert again != {record.question for record in made if record.chosen}
    with pytest.raises(DatasetError, match="have not graded the pools of 198 questions"):
        powered.drawn(DOUBTS, {"q000", "q199"}, 199, 1)


def test_the_last_drawing_is_what_is_read(tmp_path: Path) -> None:
    assert powered.read(tmp_path, "en") == []
    first = [Drawn(question=name, chance=0.5, chosen=True, round=1) for name in ("a", "b")]
    powered.keep(tmp_path, "en", first)
    assert powered.read(tmp_path, "en") == first
    powered.keep(tmp_path, "en", second := [Drawn(question="b", chance=0.1, chosen=False, round=2)])
    assert powered.read(tmp_path, "en") == second


def test_a_judges_doubt_is_how_far_its_neighbouring_grades_move_values() -> None:
    """One system puts p0, p1, p2; relevant from 2 on. A grade of 2 at the first place is relevant by two readings of
    three; of 3, by all."""
    made, pool, _judgements, _truth = world(False)

    def doubt(*grades: int, by: str = "j") -> list[Judgement]:
        return [Judgement(question="q000", passage=name, grade=grade, by=by)
                for name, grade in zip(PASSAGES, grades, strict=True)]  # fmt: skip

    def of(*judgements: Judgement) -> dict[str, float]:
        return powered.doubts(made, pool, QUESTIONS, judgements, level=2)

    assert of(*doubt(3, 0, 0)) == {"q000": 0.0}
    assert of(*doubt(2, 0, 0)) == {"q000": 1.0}, "nothing, or the best list"
    # by level 3 the only relevant one is second: MRR ½ and 1; recall 1 always; nDCG 1/log2(3), (2, 3) less than ideal
    dcg, ideal = 2 + 3 / np.log2(3), 3 + 2 / np.log2(3)
    assert of(*doubt(2, 3, 0))["q000"] == pytest.approx((0.5 + 0 + dcg / ideal - 1 / np.log2(3)) / 3)
    assert of(*doubt(3, 0, 0), *doubt(0, 3, 0, by="k"))["q000"] == pytest.approx((0.5 + 1 - 1 / np.log2(3)) / 3)
    assert of(*doubt(3, 0, 0)[:2]) == {}, "a pool that is graded in part has no value"


@pytest.mark.parametrize("lies", [False, True])
def test_the_estimate_reckons_with_chances(lies: bool) -> None:
    made, pool, judgements, truth = world(lies, people_of_all=True)
    chosen = [
        Drawn(question=question.id, chance=0.6 if number % 5 == 0 else 0.1, chosen=False, round=1)
        for number, question in enumerate(QUESTIONS)
    ]
    random = np.random.default_rng(8)
    chosen = [record.model_copy(update={"chosen": bool(random.random() < record.chance)}) for record in chosen]
    names = {record.question for record in chosen if record.chosen}
    given = [each for each in judgements if not each.people or each.question in names]
    mean = {each.metric: each for each in powered.estimates(made, pool, QUESTIONS, given, drawing=chosen)}["mrr@3"]
    assert (mean.estimate.method, mean.estimate.n) == ("active", len(names))
    assert mean.estimate.low is not None
    assert mean.estimate.high is not None
    assert mean.estimate.low <= truth <= mean.estimate.high
    assert mean.people[0] is not None
    assert mean.people[1] is not None
    assert mean.judge[1] is not None
    if lies:
        assert mean.judge[1] < truth, "the judge alone is sure of what is wrong"
    else:
        assert mean.estimate.high - mean.estimate.low < mean.people[1] - mean.people[0]
    # the same with people's grades of what was not drawn: they are left aside
    given += [each for each in judgements if each.people and each.question not in names and each.question < "q300"]
    assert {each.metric: each for each in powered.estimates(made, pool, QUESTIONS, given, drawing=chosen)}[
        "mrr@3"
    ].estimate == mean.estimate


def test_what_was_drawn_and_not_graded_is_like_the_rest() -> None:
    drawn = (("a", 1.0, True), ("b", 0.5, True), ("c", 0.2, True), ("d", 0.4, False))
    records = {name: Drawn(question=name, chance=pi, chosen=chosen, round=1) for name, pi, chosen in drawn}
    assert powered.answered(records, {"a", "b", "c"}).tolist() == [1.0, 0.5, 0.2, 0.4]
    assert powered.answered(records, {"a", "b"}).tolist() == [1.0, 0.25, 0.1, 0.2]
