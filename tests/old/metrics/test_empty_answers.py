"""Silence cannot raise a mean: an empty answer held against a reference is worth nothing, and nobody is asked."""

from __future__ import annotations

import asyncio
import inspect
import math
from typing import Any

import numpy as np
import pytest

from ragbench.old.core.metric import Metric
from ragbench.old.core.types import Chunk, Sample, Score, Status
from ragbench.old.metrics import catalogue, declaration
from ragbench.old.metrics.overlap import CORPUS
from tests.old.embed.scripted_embedder import ScriptedEmbedder
from tests.old.judge.scripted_judge import ScriptedJudge

REFERENCE = "Lunch costs 250 roubles."
SILENT = Sample(
    "s", "What is lunch?", " \n", REFERENCE, (Chunk("c", REFERENCE),), rubric={1: "wrong", 2: "right"}, language="en"
)
LOWEST = {
    "answer_accuracy": 0.0, "answer_correctness": 0.0, "answer_correctness_rating": 1.0, "bert_score": 0.0,
    "bleu": 0.0, "chrf": 0.0,
    "dot_similarity": 0.0, "e2e_score": 1.0, "euclidean_distance": math.sqrt(2) * 5, "exact_match": 0.0,
    "factual_correctness": 0.0, "rouge1_f": 0.0, "rouge2_f": 0.0, "rougeL_f": 0.0, "semantic_similarity": 0.0,
    "string_similarity": 0.0, "token_f1": 0.0,
}  # fmt: skip
JUDGES_THE_ANSWER = {"noise_sensitivity"}
"""Its fields hold a reference, yet it asks what led to the answer's own claims: without claims it is undefined."""


def measured(metric: Metric, sample: Sample = SILENT) -> Score:
    """The score, by a judge that has no reply to anything, and an embedder that knows the reference alone."""
    tools: dict[str, Any] = {"judge": ScriptedJudge(), "embedder": ScriptedEmbedder({REFERENCE: [3.0, 4.0]})}
    found = metric(sample, **{need: tools[need] for need in metric.needs})
    made: Score = asyncio.run(_awaited(found)) if inspect.isawaitable(found) else found
    assert tools["judge"].calls == []
    return made


async def _awaited(found: Any) -> Any:
    return await found


def test_every_metric_that_holds_an_answer_against_a_reference_is_here() -> None:
    """Of the core's own: what annexes add is held to this where they are tested."""
    needed = {
        name
        for name, one in catalogue().items()
        if one.grain == "sample"
        and {"response", "reference"} <= set(one.fields)
        and one.function.__module__.startswith("ragbench.old.metrics.")
    }
    assert needed - JUDGES_THE_ANSWER == set(LOWEST)


@pytest.mark.parametrize("name", LOWEST)
def test_an_empty_answer_is_worth_what_an_unrelated_one_is(name: str) -> None:
    found = measured(catalogue()[name])
    assert (found.status, found.value) == (Status.OK, pytest.approx(LOWEST[name]))
    assert found.reason.startswith("empty answer")


@pytest.mark.parametrize(
    "label",
    ["faithfulness", "faithfulness_rating", "response_groundedness", "answer_relevance", "response_relevancy",
     "rubrics_score", "noise_sensitivity", "factual_correctness(mode=precision)"],
)  # fmt: skip
def test_what_judges_the_answer_itself_stays_undefined(label: str) -> None:
    metric = declaration(label)
    assert metric is not None
    assert measured(metric).status is Status.EMPTY_INPUT


@pytest.mark.parametrize("label", ["factual_correctness(mode=recall)", "semantic_similarity(threshold=0)"])
def test_options_do_not_help_the_silent(label: str) -> None:
    metric = declaration(label)
    assert metric is not None
    assert (measured(metric).status, measured(metric).value) == (Status.OK, 0.0)


@pytest.mark.parametrize("name", LOWEST)
def test_without_a_reference_there_is_nothing_to_miss(name: str) -> None:
    for reference, status in ((None, Status.MISSING_FIELD), ("", Status.EMPTY_INPUT)):
        sample = Sample("s", SILENT.user_input, "", reference)
        assert measured(catalogue()[name], sample).status is status


def test_a_pair_of_words_that_the_reference_has_not_cannot_be_missed() -> None:
    assert measured(catalogue()["rouge2_f"], Sample("s", response="", reference="yes")).status is Status.EMPTY_INPUT


@pytest.mark.parametrize("each", CORPUS, ids=str)
def test_silence_lowers_a_corpus_measure(each: Metric) -> None:
    said = [Sample(str(n), response="the cat sat on the mat", reference="the cat sat on the mat") for n in range(3)]
    silent = [*said[:2], Sample("2", response="", reference="the cat sat on the mat")]
    assert each(said) == pytest.approx(each.bounds[1])
    assert each(silent) < 0.9 * each(said)
    if each.name != "corpus_bleu":  # 2 of 3 references recalled, nothing else said
        assert each(silent) == pytest.approx(2 * 1 * (2 / 3) / (1 + 2 / 3))
    else:
        assert each(silent) == pytest.approx(100 * np.exp(1 - 18 / 12))
