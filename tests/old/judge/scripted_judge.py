"""A judge that says what a test scripts, held to the shapes and slots of the prompts as a model is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragbench.old.core.types import Answer, Prompt, Score, Shape, Status
from ragbench.old.judge.model_judge import render, suspected_injections
from ragbench.old.llm.reply import MalformedError, read

Texts = Mapping[str, "str | Sequence[str]"]
Script = Callable[[Texts], Any] | Mapping[str, Any] | Sequence[Any] | Status


LATENCY = 50
"""Turns of the loop that an answer takes: whoever was to ask in the same round has asked by then."""


class ScriptedJudge:
    """Answers a prompt from the script under its name.

    A script is the reply itself, a function of the slots' texts that gives it, a Status for a failure, or a list of
    these for the calls one after the other. Equal questions are one call, as behind the journal.
    `calls`: (prompt, texts, repeat) of every call, in order; `rounds`: how many waited for others.
    """

    name = "scripted"
    identity = "scripted"

    def __init__(self, **scripts: Script) -> None:
        self.scripts = scripts
        self.calls: list[tuple[str, dict[str, Any], int]] = []
        self.languages: list[str | None] = []
        self._answers: dict[str, Answer[Any]] = {}
        self._rounds: dict[str, int] = {}
        self.rounds = 0

    async def ask(
        self, prompt: Prompt[Shape], texts: Texts, *, language: str | None = None, repeat: int = 0
    ) -> Answer[Shape]:
        for spoken in ("en", "ru"):
            render(prompt, texts, spoken, "direct")
        plain = {name: text if isinstance(text, str) else list(text) for name, text in texts.items()}
        key = json.dumps([prompt.name, plain, repeat], sort_keys=True)
        before = self.rounds
        await asyncio.sleep(0)
        if key not in self._answers:
            self.calls.append((prompt.name, plain, repeat))
            self.languages.append(language)
            self._answers[key] = self._answer(prompt, texts)
            self._rounds[key] = before + 1
        for _ in range(LATENCY):
            await asyncio.sleep(0)
        self.rounds = max(self.rounds, self._rounds[key])
        return self._answers[key]

    def _answer(self, prompt: Prompt[Any], texts: Texts) -> Answer[Any]:
        script = self.scripts[prompt.name]
        if isinstance(script, list):
            place = sum(name == prompt.name for name, _, _ in self.calls) - 1
            script = script[min(place, len(script) - 1)]
        said = script(texts) if callable(script) and not isinstance(script, Status) else script
        if isinstance(said, Status):
            return Answer(None, said, f"scripted {said.value}", 0.5)
        try:
            value = read(json.dumps(said, ensure_ascii=False), prompt.shape)
        except MalformedError as fault:
            return Answer(None, Status.PARSE_ERROR, str(fault), 0.5)
        return Answer(value, seconds=0.5, suspected_injection=suspected_injections(texts))

    def asked(self, prompt: str) -> list[dict[str, Any]]:
        """The texts of each call of a prompt."""
        return [texts for name, texts, _ in self.calls if name == prompt]


def score(work: Any) -> Score:
    """The score that a metric on a sample comes to."""
    return asyncio.run(work)


def claims(*texts: str) -> dict[str, Any]:
    return {"claims": list(texts)}


def entailment(*verdicts: str | int, passages: Sequence[int] = ()) -> dict[str, Any]:
    """Verdicts on statements 1, 2, …: 1 for supported, 0 for neutral, or the word itself."""
    words = [{1: "supported", 0: "neutral"}.get(each, each) for each in verdicts]  # type: ignore[call-overload]
    return {
        "verdicts": [
            {"statement": number, "reason": f"because {number}", "verdict": word, "passages": list(passages)}
            for number, word in enumerate(words, 1)
        ]
    }
