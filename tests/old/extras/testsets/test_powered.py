"""A judge grades all, people some: systems' means are people's, whatever the judge says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ragbench.old.core.measurement import RETRIEVED_COLUMNS, Measurement
from ragbench.old.data.files import DatasetError
from ragbench.old.data.records import QuestionRecord
from ragbench.old.extras.testsets.pooling import Judgement, Pool
from ragbench.old.extras.testsets.powered import Powered, estimates

NUMBER = 400
QUESTIONS = [QuestionRecord(id=f"q{n:03d}", text=f"What of {n}?") for n in range(NUMBER)]
PASSAGES = [f"p{m}" for m in range(3)]


def world(lies: bool, people_of_all: bool = False) -> tuple[Measurement, Pool, list[Judgement], float]:
    """Three passages a question, of which one is relevant; the system puts it first in 60 of 100. People grade 58
    questions, or all; the judge is right in 90 of 100, or says the opposite."""
    random = np.random.default_rng(3)
    rows, judgements, firsts = [], [], []
    for number, question in enumerate(QUESTIONS):
        first = bool(random.random() < 0.6)
        firsts.append(first)
        relevant = PASSAGES[0] if first else PASSAGES[1]
        rows += [("s", question.id, rank, name, None, None, 0.0, "") for rank, name in enumerate(PASSAGES, 1)]
        for name in PASSAGES:
            true = 3 if name == relevant else 0
            wrong = lies or random.random() < 0.1
            grades = [
                (3 - true if wrong else true, "j", False),
                *([(true, "anna", True)] if people_of_all or number % 7 == 0 else []),
            ]
            judgements += [
                Judgement(question=question.id, passage=name, grade=grade, by=by, people=people)
                for grade, by, people in grades
            ]
    made = Measurement("tier1_retrieval", {"k": 3}, retrieved=pd.DataFrame(rows, columns=list(RETRIEVED_COLUMNS)))
    pool = Pool.of(made, 3, QUESTIONS, PASSAGES)
    return made, pool, judgements, float(np.mean([1.0 if first else 0.5 for first in firsts]))


@pytest.mark.parametrize("lies", [False, True])
def test_the_estimate_is_peoples_and_the_judge_alone_is_not(lies: bool) -> None:
    made, pool, judgements, truth = world(lies)
    told = {mean.metric: mean for mean in estimates(made, pool, QUESTIONS, judgements)}
    assert set(told) == {"ndcg@3", "recall@3", "mrr@3"}
    mean = told["mrr@3"]
    assert isinstance(mean, Powered)
    assert mean.estimate.n == len(range(0, NUMBER, 7))
    assert mean.estimate.low is not None
    assert mean.estimate.high is not None
    assert mean.estimate.low <= truth <= mean.estimate.high
    low, high = mean.judge
    assert low is not None
    assert high is not None
    if lies:
        assert not low <= truth <= high, "the judge alone is sure of what is wrong"
    else:
        assert mean.people[0] is not None
        assert mean.people[1] is not None
        assert mean.estimate.high - mean.estimate.low < mean.people[1] - mean.people[0]


def test_labels_that_a_judge_put_into_the_set_are_not_taken_for_peoples() -> None:
    made, pool, judgements, _truth = world(True)
    changed = [question.model_copy(update={"relevant": {"p2": 3.0}}) for question in QUESTIONS]
    before = estimates(made, pool, QUESTIONS, judgements)
    assert estimates(made, pool, changed, judgements) == before


def test_a_question_is_peoples_once_they_graded_all_of_its_pool() -> None:
    made, pool, judgements, _truth = world(False)
    left = [each for each in judgements if not (each.people and each.question == "q000" and each.passage == "p2")]
    whole, part = (estimates(made, pool, QUESTIONS, given)[0].estimate.n for given in (judgements, left))
    assert (whole, part) == (58, 57)


def test_without_people_nothing_is_estimated() -> None:
    made, pool, judgements, _truth = world(False)
    with pytest.raises(DatasetError, match="graded all of the pool for 0 questions, and the judge alone for 400"):
        estimates(made, pool, QUESTIONS, [judgement for judgement in judgements if not judgement.people])
