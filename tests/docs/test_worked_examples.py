"""The worked examples of the metrics' pages: the value that is worked out by hand is what the metric gives."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ragbench.core.metric import parse
from ragbench.core.types import Chunk, Message, Ranking, Sample, ToolCall
from ragbench.metrics import catalogue, ranking_arrays
from ragbench.metrics.cache import Nearest, Serving
from ragbench.metrics.decisions import cell
from ragbench.metrics.embedding_space import measure
from ragbench.metrics.judging import Choices, Sitting
from ragbench.metrics.source_use import Usage
from tests.docs import metrics_page
from tests.embed.scripted_embedder import ScriptedEmbedder
from tests.judge.scripted_judge import ScriptedJudge


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


def served(*said: str) -> Nearest:
    """Cached answers that all lie near enough: what each would be to the one who asked."""
    return replace(nearest(*[0.99] * len(said)), servings=[Serving(word) for word in said])


def sat(*rows: Sequence[float], seconds: Sequence[Sequence[float]] | None = None) -> Sitting:
    """A row an answer, with the scores of its repeats; nan for a question without one."""
    scores = np.array(rows, dtype=float)
    return Sitting(scores, np.ones(scores.shape, dtype=bool), None if seconds is None else np.array(seconds))


def chose(*places: Sequence[float]) -> Choices:
    """A pair each, its first answer the better: which place won in its own order, and the other way round."""
    return Choices(np.array(places, dtype=float), np.ones(len(places)))


def turns(*texts: str) -> list[Sample]:
    """Questions of a dialogue, or answers to one question: each text is both."""
    return [Sample(str(place), text, text, contexts=()) for place, text in enumerate(texts)]


def retrieved(*lists: str, labelled: str = "") -> list[Sample]:
    """One letter a passage, a text a time that the question was asked; labelled: those that belong to it."""
    chunks = {letter: Chunk(letter, f"Text {letter}.") for letters in (*lists, labelled) for letter in letters}
    wanted = tuple(chunks[letter] for letter in labelled)
    asked = Sample("s", "When?", "At nine.", "At nine.", reference_contexts=wanted)
    return [replace(asked, contexts=tuple(chunks[letter] for letter in letters)) for letters in lists]


def alike(reply: Any, *names: str) -> ScriptedJudge:
    """A judge that says the same to each of these prompts."""
    return ScriptedJudge(**dict.fromkeys(names, reply))


def roles(of_answer: str, of_truth: str, *, supported: dict[str, str]) -> ScriptedJudge:
    """One letter a claim of the answer and of the reference; supported: by which text which claims are."""

    def entailment(texts: Any) -> Any:
        (passage,) = texts["passages"]
        words = ["supported" if claim in supported.get(passage, "") else "neutral" for claim in texts["statements"]]
        return {"verdicts": [verdict(place, word, 1) for place, word in enumerate(words, 1)]}

    return ScriptedJudge(
        claims=lambda texts: {"claims": list(of_answer if texts["text"] == "the answer" else of_truth)},
        entailment=entailment,
    )


def called(tools: str, wanted: str) -> Sample:
    """One letter a call of a tool, all with the same arguments; wanted: those of the reference."""
    made, reference = (tuple(ToolCall(name, {"day": 1}, "") for name in letters) for letters in (tools, wanted))
    said = (Message("user", "Do it."), Message("assistant", "", made), Message("assistant", "Done."))
    return Sample("s", trajectory=said, reference_tool_calls=reference, language="en")


WORDS = {
    each.__name__: each
    for each in (
        of, ranked, answer, decided, vectors, says, verdict, used, nearest, served, sat, chose, turns, retrieved, alike,
        roles, called, replace,
    )
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(metrics_page.examples()))
def test_the_example_by_hand_is_what_the_metric_gives(name: str) -> None:
    example = metrics_page.examples()[name]
    assert name in catalogue()
    value = eval(example["call"], {**WORDS, "geometry": measure, "nan": np.nan})
    assert round(value, 3) == example["value"]
    said = example["said"]
    assert f"{example['value']:.3f}" in said or f" {example['value']:g}" in said, "it is said what comes out"
    assert name in example["call"]
    assert said in metrics_page.section(catalogue()[name])
