"""What the unit tests of Spring AI RAGAS 0.3.3 ask for, asked of ragbench; every intended difference, on one page."""

from __future__ import annotations

import asyncio
import inspect
import math
import re
from pathlib import Path
from typing import Any

import pytest

from ragbench.core.types import Sample, Score, Status
from ragbench.judge import Rule
from ragbench.metrics import catalogue
from tests.docs import chapters
from tests.embed.scripted_embedder import ScriptedEmbedder
from tests.judge.scripted_judge import ScriptedJudge
from tests.metrics import differences
from tests.metrics.spring_ai_ragas_cases import DEFAULTS, NONE, Case, Expected, Relation
from tests.metrics.spring_ai_ragas_judged import JUDGED
from tests.metrics.spring_ai_ragas_texts import RELATIONS, TEXTS

CASES = [*JUDGED, *TEXTS]
TESTS = Path(__file__).parents[1]
OF_A_HUNDRED = ("bleu", "chrf")


def scored(metric: str, sample: Sample, options: Any, said: Any = None, vectors: Any = None) -> Score:
    bound = catalogue()[metric].with_options(**options)
    embedder: Any = () if vectors is None else ScriptedEmbedder(vectors)
    tools = {"judge": ScriptedJudge(**(said or {})), "embedder": embedder}
    found: Score = asyncio.run(bound(sample, **{need: tools[need] for need in bound.needs}))
    return found


def found_for(case: Case) -> Score | type[ValueError]:
    """The score, of several judges their mean; ValueError where what is asked for cannot be."""
    try:
        each = {
            str(n): scored(case.metric, case.sample, case.options, case.said, case.vectors) for n in range(case.judges)
        }
    except ValueError:
        return ValueError
    return each["0"] if case.judges == 1 else Rule("mean")(each)


def value_of(metric: str, found: Score | type[ValueError]) -> float:
    """On that library's scale, which ends at 1; NaN where there is none."""
    if not isinstance(found, Score):
        return math.nan
    return found.value / 100 if metric in OF_A_HUNDRED else found.value


def agrees(value: float, expected: Expected) -> bool:
    if isinstance(expected, str):
        return math.isnan(value)
    return expected[0] - 1e-12 <= value <= expected[1] + 1e-12


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.metric}-{case.about}")
def test_it_agrees_or_differs_as_intended(case: Case) -> None:
    found = found_for(case)
    value = value_of(case.metric, found)
    if not case.differs:
        assert agrees(value, case.expected), found
        assert isinstance(case.expected, tuple) or found is ValueError or found.status is not Status.OK
        return
    assert not agrees(value, case.expected), f"it agrees: {case.differs!r} is no difference here"
    if isinstance(case.here, Status):
        assert isinstance(found, Score)
        assert found.status is case.here, found
    elif isinstance(case.here, float):
        assert value == case.here
    elif case.here == "computed":
        assert isinstance(found, Score)
        assert found.status is Status.OK
    else:
        assert found is case.here


@pytest.mark.parametrize("one", RELATIONS, ids=lambda one: f"{one.metric}-{one.about}")
def test_it_compares_alike(one: Relation) -> None:
    values = []
    for sample, options in (one.first, one.second):
        named = dict(options)
        values.append(scored(named.pop("kind", one.metric), sample, named).value)
    assert values[0] < values[1] if one.strictly else values[0] <= values[1]


@pytest.mark.parametrize(("metric", "option", "there", "here", "differs"), DEFAULTS)
def test_defaults(metric: str, option: str, there: Any, here: Any, differs: str) -> None:
    default = inspect.signature(catalogue()[metric].function).parameters[option].default
    assert (default, type(default)) == (here, type(here))
    if there != "on":
        assert (default == there) == (not differs)


def test_every_difference_is_shown() -> None:
    used = differences.counted()
    assert set(used) <= set(differences.SPRING), "a case names a difference that is not listed"
    for key, each in {**differences.RAGAS, **differences.SPRING}.items():
        assert set(each.metrics) <= set(catalogue()), key
        if key in differences.SPRING and used[key]:
            continue
        file, _, name = each.test.partition("::")
        assert re.search(rf"def {re.escape(name)}\(", (TESTS / file).read_text(encoding="utf-8")), key


def test_the_options_that_reproduce_are_there() -> None:
    for key, each in differences.RAGAS.items():
        if each.option:
            name, _, value = each.option.partition("=")
            for metric in each.metrics:
                assert name in catalogue()[metric].legal_options, key
                assert value == "ragas"


def test_the_page_is_made_of_them() -> None:
    assert chapters.read(differences.PAGE) == differences.pages(), "run python -m tests.metrics.differences"


def test_cases_are_named_once() -> None:
    named = [(case.metric, case.about) for case in CASES]
    assert len(set(named)) == len(named)
    assert NONE == "no value"
