"""A language model as a judge: prompts rendered, shapes checked, answers with a status."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ragbench.core.settings import JudgeSettings
from ragbench.core.types import Answer, Prompt, Shape
from ragbench.judge import rendering
from ragbench.judge.injections import AT_ONCE
from ragbench.judge.rendering import Texts, length, render, suspected_injections
from ragbench.llm import Client, Completion, Decoding, Request

if TYPE_CHECKING:
    from pydantic import BaseModel

REASONING_FACTOR = 2
"""The reasoned mode may write so many times the tokens of the direct one."""


class ModelJudge:
    """Judges through one client; see `ragbench.core.types.Judge`.

    language: of prompts for which `ask` is given none.
    """

    def __init__(self, client: Client, *, language: str = "en") -> None:
        self.client = client
        self.name = client.name
        self.language = language

    @property
    def settings(self) -> JudgeSettings:
        """The judge's settings, as its client has them."""
        return self.client.settings

    @property
    def identity(self) -> str:
        """Name, endpoint, model, decoding and mode, as one line of JSON."""
        decoding = _decoding(self.settings).as_json()
        known = {**self.client.identity, "mode": self.settings.mode, "decoding": decoding}
        return json.dumps(known, ensure_ascii=False, sort_keys=True)

    def request(self, prompt: Prompt[Any], texts: Texts, language: str | None = None, repeat: int = 0) -> Request:
        """What `ask` sends: what the settings say wins over what the prompt asks for, which wins over what is usual.

        Raises ValueError for slots missing or unknown.
        """
        spoken = next(name for name in (language or "", self.language, *prompt.texts) if name in prompt.texts)
        decoding, own = _decoding(self.settings), self.settings.model_fields_set
        if prompt.temperature is not None and "temperature" not in own:
            decoding = replace(decoding, temperature=prompt.temperature)
        shape: type[BaseModel] = prompt.shape
        if self.settings.mode == "reasoned":
            shape = reasoned(shape)
        if "max_tokens" not in own:
            factor = REASONING_FACTOR if self.settings.mode == "reasoned" else 1
            decoding = replace(decoding, max_tokens=factor * (prompt.max_tokens or decoding.max_tokens))
        return Request(
            messages=render(prompt, texts, spoken, self.settings.mode),
            prompt=prompt.name,
            version=1000 * rendering.VERSION + prompt.version,
            shape=shape,
            decoding=decoding,
            repeat=repeat,
        )

    async def ask(
        self, prompt: Prompt[Shape], texts: Texts, *, language: str | None = None, repeat: int = 0
    ) -> Answer[Shape]:
        """See `ragbench.core.types.Judge`. Raises ModelError when the whole run has to stop."""
        completion = await self.client.complete(lambda: self.request(prompt, texts, language, repeat))
        if length(texts) > AT_ONCE:  # those of other questions, whose time runs, do not wait for it
            return await asyncio.to_thread(self.answer, completion, texts)
        return self.answer(completion, texts)

    def answer(self, completion: Completion, texts: Texts) -> Answer[Any]:
        """The metric's answer in what the client brought."""
        value = completion.value
        if value is not None and self.settings.mode == "reasoned":
            value = value.answer
        flags = suspected_injections(texts)
        return Answer(value, completion.status, completion.reason, completion.seconds, flags)

    async def close(self) -> None:
        """Keep what was received, and let connections go."""
        await self.client.close()


@lru_cache(maxsize=512)
def reasoned(shape: type[BaseModel]) -> type[BaseModel]:
    """The shape inside one whose first field is the reasoning, so that the model writes it before the verdict."""
    from pydantic import Field, create_model

    return create_model(
        f"Reasoned{shape.__name__}",
        reasoning=(str, Field(min_length=1, description="step-by-step reasoning, short")),
        answer=(shape, ...),
    )


def _decoding(settings: JudgeSettings) -> Decoding:
    return Decoding(settings.temperature, settings.top_p, settings.max_tokens, settings.seed)
