"""The worked examples of the metrics' pages: the value that is worked out by hand is what the metric gives."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ragbench.core.metric import parse
from ragbench.core.types import Chunk, Ranking, Sample
from ragbench.metrics import catalogue, ranking_arrays
from ragbench.metrics.cache import Nearest
from ragbench.metrics.decisions import cell
from ragbench.metrics.embedding_space import measure
from ragbench.metrics.sources import Usage
from tests import metrics_page
from tests.scripted_embedder import ScriptedEmbedder
from tests.scripted_judge import ScriptedJudge


def of(label: str, given: Any, **more: Any) -> float:
    """The value of a metric by its label."""
    made = parse(label)(given, **more)
    if inspect.isawaitable(made):
        made = asyncio.run(_awaited(made))
    return float(np.ravel(getattr(made, "value", made))[0])


async def _awaited(work: Any) -> Any:
    return await work


def ranked(documents: str, **known: float) -> Ranking:
    """One letter a retrieved document; known: the grades of the relevant ones."""
    return ranking_arrays.from_lists([list(documents)], [known])


def answer(response: str, reference: str) -> Sample:
    return Sample("s", "When?", response, reference, (Chunk("c", "Text."),))


def decided(**counts: int) -> Any:
    """tp, tn, fp, fn: how many decisions of each kind."""
    truths = {"tp": (True, True), "tn": (False, False), "fp": (False, True), "fn": (True, False)}
    table = np.zeros(1 + max(cell(*pair) for pair in [*truths.values(), (True, None), (False, None)]))
    for name, count in counts.items():
        table[cell(*truths[name])] = count
    return table


def vectors(**by_text: Sequence[float]) -> ScriptedEmbedder:
    return ScriptedEmbedder(by_text)


def says(**scripts: Any) -> ScriptedJudge:
    return ScriptedJudge(**scripts)


def verdict(statement: int, word: str, *passages: int) -> dict[str, Any]:
    return {"statement": statement, "reason": "so", "verdict": word, "passages": list(passages)}


def used(chunks: str, retrieved: Sequence[str]) -> Usage:
    return Usage(list(chunks), [list(row) for row in retrieved])


def nearest(*cosines: float) -> Nearest:
    return Nearest(np.array(cosines), np.arange(len(cosines)))


WORDS = {each.__name__: each for each in (of, ranked, answer, decided, vectors, says, verdict, used, nearest)}


@pytest.mark.parametrize("name", sorted(metrics_page.examples()))
def test_the_example_by_hand_is_what_the_metric_gives(name: str) -> None:
    example = metrics_page.examples()[name]
    value = eval(example["call"], {**WORDS, "geometry": measure})
    assert round(value, 3) == example["value"]
    said = example["said"]
    assert f"{example['value']:.3f}" in said or f" {example['value']:g}" in said, "it is said what comes out"
    assert name in catalogue()
    assert name in example["call"]
    assert said in metrics_page.section(catalogue()[name])
