"""Metrics of one's own, and what a metric is told that it cannot read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import ragbench as rb
from ragbench.core.errors import BenchError, Unmeasured
from ragbench.core.metric import CATALOGUE
from ragbench.judge import OfflineJudge
from ragbench.metrics import exact_match, faithfulness, find_metric, mrr, rouge1_f

ROWS = [{"question": "When?", "answer": "At 8.", "reference": "At 8."}]


def nothing(answer: str) -> None:
    return None


def not_a_number(answer: str) -> float:
    return math.nan


def a_gap(answer: str) -> float:
    raise Unmeasured("empty_decomposition", "no claims")


def a_truth(answer: str) -> bool:
    return True


def a_text(answer: str) -> str:
    return "0.5"


def hinted(answer: Nowhere, level: int = 3) -> float:  # type: ignore[name-defined]  # noqa: F821
    return level / 4


async def later(answer: str, judge: Any = None) -> float:
    return 0.25


@pytest.fixture(autouse=True)
def _catalogue() -> Iterator[None]:
    before = set(CATALOGUE)
    yield
    for name in CATALOGUE.keys() - before:
        del CATALOGUE[name]


@pytest.mark.parametrize(
    ("function", "value", "status"),
    [
        (nothing, math.nan, "missing_field"),
        (not_a_number, math.nan, "missing_field"),
        (a_gap, math.nan, "empty_decomposition"),
        (a_truth, 1.0, "ok"),
        (a_text, 0.5, "ok"),
        (hinted, 0.75, "ok"),
        (later, 0.25, "ok"),
        (exact_match, 1.0, "ok"),
    ],
)
def test_what_a_function_returns_is_a_value_or_none(
    function: Any, value: float, status: str
) -> None:
    scores = rb.score(ROWS, function).scores
    assert scores["value"].tolist() == pytest.approx([value], nan_ok=True)
    assert scores["status"].tolist() == [status]


def test_an_own_metric_is_called_as_a_function() -> None:
    assert math.isnan(find_metric(a_gap)("x"))
    assert find_metric(later)("x").value == 0.25
    find_metric(hinted)
    assert find_metric("hinted(level=1)")("x") == 0.25


def odd(answr: str) -> float:
    return 1.0


def word(answer: str) -> str:
    return "good"


REFUSED: dict[str, Callable[[], Any]] = {
    "odd: a metric cannot read answr": lambda: rb.score(ROWS, odd),
    "word returned 'good'; a metric returns a number": lambda: rb.score(ROWS, word),
    "k = 0; a cut-off is a rank from 1": lambda: mrr([1, 0], k=0),
    "k = 1.5; a cut-off": lambda: mrr([1, 0], k=1.5),
    "'ab' are no grades": lambda: mrr("ab"),
    r"grades of shape \(1, 1, 1\)": lambda: mrr([[[1]]]),
    "gains of 2 questions, ideal of 1": lambda: mrr([[1], [0]], [[1]]),
    "1 answers, 2 references": lambda: rouge1_f(["a"], ["a", "b"]),
    "a SimpleNamespace is no judge; give judge=ragbench.judge": lambda: faithfulness(
        question="q", answer="a", contexts=["c"], judge=SimpleNamespace(ask=print)
    ),
    "faithfulness is measured with judge": lambda: faithfulness(
        question="q", answer="a", contexts=["c"], judge=None
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_cannot_be_measured_is_refused(sentence: str) -> None:
    with pytest.raises(BenchError, match=sentence):
        REFUSED[sentence]()


def test_a_judged_metric_on_plain_values_opens_its_judge() -> None:
    opened = []

    class Judge(OfflineJudge):
        async def __aenter__(self) -> Any:
            opened.append(self)
            return self

    score = faithfulness(
        question="When?", answer="It opens at 8.", contexts=["It opens at 8."], judge=Judge()
    )
    assert (score.value, len(opened)) == (1.0, 1)


def test_of_references_that_all_fail_the_first_is_told() -> None:
    async def by_reference(answer: str, reference: str) -> float:
        raise Unmeasured("timeout", f"late for {reference}")

    rows = [{"question": "q", "answer": "a", "reference": ["x", "y"]}]
    scores = rb.score(rows, by_reference).scores
    assert scores["reason"].tolist() == ["late for x"]
