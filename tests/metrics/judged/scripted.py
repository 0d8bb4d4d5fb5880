"""A judge and an embedder that say what a test scripts, held to prompts and shapes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from pydantic import ValidationError

from ragbench.core.errors import STATUSES, Unmeasured
from ragbench.core.types import Score
from ragbench.metrics import find_metric
from ragbench.metrics.judging import AskOnce, Prompt


class ScriptedJudge:
    """Answers a prompt from the script under its name.

    A script is the reply, a function of the slots' texts that gives it, a status of a failure, or
    a list of these for one call after the other. calls: (prompt's name, texts, repeat), in order.
    waves: how many replies the last one had to wait for, one after the other.
    """

    name = "scripted"
    sees_images = False

    def __init__(self, **scripts: Any) -> None:
        self.scripts = scripts
        self.calls: list[tuple[str, dict[str, Any], int]] = []
        self.waves = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None: ...

    async def ask(self, prompt: Prompt[Any], *, repeat: int = 0, **values: Any) -> Any:
        for language in ("en", "ru"):
            prompt.fill(language, values)
        wave = self.waves + 1
        self.calls.append((prompt.name, values, repeat))
        said = self.scripts[prompt.name]
        if isinstance(said, list):
            number = len(self.asked(prompt.name))
            said = said[min(number, len(said)) - 1]
        if callable(said):
            said = said(values)
        # Whoever asks at the same time has asked by then.
        for _ in range(20):
            await asyncio.sleep(0)
        self.waves = max(self.waves, wave)
        if said in STATUSES:
            raise Unmeasured(said, f"scripted {said}")
        try:
            return prompt.shape.model_validate(said)
        except ValidationError as error:
            raise Unmeasured("parse_error", str(error)) from None

    def asked(self, prompt: str) -> list[dict[str, Any]]:
        """Return the texts of each call of a prompt."""
        return [values for name, values, _ in self.calls if name == prompt]


class ScriptedEmbedder:
    """Vectors by text, made as long as 1."""

    name = "scripted"
    is_stand_in = True

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        self.vectors = vectors
        self.batches: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.batches.append(list(texts))
        rows = np.array([self.vectors[text] for text in texts], dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def measure(label: str, judge: ScriptedJudge | None = None, **fields: Any) -> Score:
    """Score one sample by the label of a metric, as a run does it."""
    services = {} if judge is None else {"judge": AskOnce(judge)}
    return asyncio.run(find_metric(label).measure(**services, **fields))


def claims(*texts: str) -> dict[str, Any]:
    return {"claims": list(texts)}


def verdicts(*words: str | int, passages: Sequence[int] = ()) -> dict[str, Any]:
    """Verdicts on statements 1, 2, …: 1 is supported, 0 neutral, or the word itself."""
    named = {1: "supported", 0: "neutral"}
    return {
        "verdicts": [
            {
                "index": index,
                "reason": f"because {index}",
                "verdict": named.get(word, word),
                "passages": list(passages),
            }
            for index, word in enumerate(words, 1)
        ]
    }


def rated(name: str, *values: Any, field: str = "rating") -> dict[str, Any]:
    """A script of one reply a call: a reason and the value of one field."""
    return {name: [{"reason": "so", field: value} for value in values]}


def holding(claims_of: Mapping[str, Any], supported_by: Mapping[str, Any]) -> ScriptedJudge:
    """A judge of claims. claims_of: by text; supported_by: which ones, by passage."""

    def judge_statements(values: Any) -> Any:
        (passage,) = values["passages"]
        supported = supported_by.get(passage, ())
        return verdicts(*[int(item in supported) for item in values["statements"]])

    return ScriptedJudge(
        claims=lambda values: claims(*claims_of[values["text"]]), entailment=judge_statements
    )


def judging_both(sample: Mapping[str, Any], answer: Any, reference: Any) -> ScriptedJudge:
    """A judge of the verdicts on the answer's claims by the reference, and of the reverse."""

    def split(values: Any) -> Any:
        words = answer if values["text"] == sample["answer"] else reference
        return claims(*[f"{values['text']} {number}" for number in range(len(words))])

    def judge_statements(values: Any) -> Any:
        is_answer = values["passages"] == [sample["reference"]]
        return verdicts(*(answer if is_answer else reference))

    return ScriptedJudge(claims=split, entailment=judge_statements)
