"""Metrics of repeats in parts: no question's repeats are divided, and each score is that of one process."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import cloudpickle
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragbench.old import embed
from ragbench.old.core import settings as configuration
from ragbench.old.core.metric import Metric, parse
from ragbench.old.core.settings import EmbedderSettings
from ragbench.old.core.types import Sample, Status
from ragbench.old.metrics import catalogue
from ragbench.old.store import pool
from ragbench.old.tiers.scoring import own_metrics, sets
from tests.old import small_project

STYLE = '''
from collections.abc import Sequence
from ragbench.old.core.metric import metric
from ragbench.old.core.types import Sample, Score

@metric(source="the house style", bounds=(None, None))
def lengths(turns: Sequence[Sample]) -> Score:
    """How much longer the longest answer is than the shortest, in words; none where one is empty."""
    counts = [len(turn.response.split()) for turn in turns]
    if not min(counts):
        raise ValueError(f"an answer of {turns[0].id} is empty")
    return Score(max(counts) / min(counts))

@metric(source="the house style", bounds=(None, None))
def vectors(turns: Sequence[Sample], embedder) -> Score:
    """How wide vectors are."""
    return Score(float(len(embedder.embed([turns[0].response or "."])[0])))
'''
ANSWERS = {
    "q1": ("one two three", "one"),
    "q2": ("one two", "three four"),
    "q3": ("one", ""),
    "q4": ("one two three four five", "one two three"),
}
EXPECTED = (3.0, 1.0, math.nan, 5 / 3)


@pytest.fixture
def style(bare: Path, database_folder: Path) -> list[Metric]:
    """Of the house one of repeats, and of a project's own one without an embedder and one with."""
    catalogue()
    small_project.add(bare, f'[database]\nfolder = "{database_folder}"\n[metrics]\nmodules = ["style"]\n')
    (bare / "style.py").write_text(STYLE, encoding="utf-8")
    own_metrics.check()
    return [parse(name) for name in ("response_exact_match_rate", "lengths", "vectors")]


def works(metrics: Sequence[Metric]) -> list[sets.Work]:
    repeats = [[Sample(name, user_input="?", response=each) for each in own] for name, own in ANSWERS.items()]
    return [(metric, own) for own, metric in itertools.product(repeats, metrics)]


def scored(metrics: Sequence[Metric]) -> list[str]:
    embedder = embed.make("hashing", EmbedderSettings(), ["one two three", "four five"])
    found = sets.scored_groups(works(metrics), embedder, configuration.load())
    return [repr(one) for one in found]


class Workers:
    """Stands for workers: parts travel, and are done here."""

    def __init__(self, count: int) -> None:
        self.count, self.parts = count, list[Any]()

    def map(self, work: Callable[..., Any], common: Any, parts: Sequence[Any]) -> list[Any]:
        self.parts = [cloudpickle.loads(cloudpickle.dumps(part)) for part in parts]
        return [cloudpickle.loads(cloudpickle.dumps(work(common, part, lambda _: None))) for part in self.parts]


def test_scores_are_those_of_one_process_for_any_number_of_workers(
    style: list[Metric], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = scored(style)
    lengths = sets._part(None, works([style[1]]), lambda _: None)
    assert [one.value for one in lengths] == pytest.approx(EXPECTED, nan_ok=True)
    assert lengths[2].status is Status.FUNCTION_ERROR
    assert "an answer of q3 is empty" in lengths[2].reason
    assert list(map(repr, lengths)) == whole[1::3]
    for count in (1, 2, 50):
        workers = Workers(count)

        @contextlib.contextmanager
        def opened(_: Any, workers: Workers = workers) -> Iterator[Workers]:
            yield workers

        with monkeypatch.context() as patch:
            patch.setattr(pool, "opened", opened)
            patch.setenv("RAGBENCH_CLUSTER", "local:1")
            configuration.load.cache_clear()
            assert scored(style) == whole
        configuration.load.cache_clear()
        own = [(metric.label, [turn.response for turn in group]) for part in workers.parts for metric, group in part]
        assert own == [("lengths", list(each)) for each in ANSWERS.values()], "whole questions, and nothing else"


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(1, 11), max_size=6))
def test_scores_hang_on_no_parting(style: list[Metric], cuts: list[int]) -> None:
    own = works([style[1]]) * 3
    found = []
    for start, end in itertools.pairwise(sorted({0, len(own), *cuts})):
        found += sets._part(None, cloudpickle.loads(cloudpickle.dumps(own[start:end])), lambda _: None)
    assert [one.value for one in found] == pytest.approx(EXPECTED * 3, rel=0, abs=0, nan_ok=True)
