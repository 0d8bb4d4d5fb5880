"""One short question to each configured model: whether it answers, and which model it says it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragbench.answered_by import Role
    from ragbench.settings import EmbedderSettings, GeneratorSettings, JudgeSettings, Settings

Probe = tuple["Role", str, str, Callable[[], str | None]]
"""What is asked, its name in ragbench.toml, its model's name there, and a call that gives the name of its reply."""
QUESTION = "Answer with the word yes."
SHORT: dict[str, Any] = {"attempts": 2, "patience_seconds": 30.0, "timeout_seconds": 20.0, "max_tokens": 16}


def probes(settings: Settings) -> Iterator[Probe]:
    """A probe of each judge, generator and embedder behind an endpoint. Each call raises what its room raises."""
    for name in settings.judges:
        judge = settings.judge(name)
        yield "judge", name, judge.model, partial(_judge, name, judge)
    for name in settings.generators:
        generator = settings.generator(name)
        if generator.kind == "openai":
            yield "generator", name, str(generator.model), partial(_generator, name, generator)
    for name, embedder in settings.embedders.items():
        if embedder.kind == "openai":
            yield "embedder", name, str(embedder.model), partial(_embedder, name, embedder)


def _judge(name: str, settings: JudgeSettings) -> str | None:
    from ragbench import llm

    client = llm.Client(name, settings.model_copy(update=SHORT))

    async def ask() -> llm.Completion:
        try:
            return await client.complete(llm.Request((("user", QUESTION),), "probe", 1))
        finally:
            await client.close()

    found = llm.run(ask())
    if found.calls == 0:
        raise RuntimeError(found.reason)
    return found.answered_by


def _generator(name: str, settings: GeneratorSettings) -> str | None:
    from ragbench.systems.chat import ChatGenerator
    from ragbench.systems.generation import Task
    from ragbench.types import Question

    (found,) = ChatGenerator(name, settings.model_copy(update=SHORT)).generate([Task(Question("probe", QUESTION), ())])
    if found.answer is None:
        raise RuntimeError(found.reason)
    return found.answered_by


def _embedder(name: str, settings: EmbedderSettings) -> str | None:
    from ragbench.embed.endpoint import EndpointEmbedder

    embedder = EndpointEmbedder(name, settings.model_copy(update=SHORT))
    embedder.embed([QUESTION])
    return next(iter(embedder.answered_by), None)
