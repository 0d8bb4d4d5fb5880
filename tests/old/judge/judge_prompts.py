"""Prompts and judges that the tests of judging share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field

from ragbench.old.core.types import LexicalReader, Prompt
from ragbench.old.judge import ModelJudge
from ragbench.old.llm import Client
from tests.old.llm.chat_server import ChatServer
from tests.old.llm.llm_shapes import settings


class Verdict(BaseModel):
    """One claim's verdict."""

    verdict: Literal["supported", "not supported"]
    score: int = Field(ge=1, le=5)


class Claims(BaseModel):
    """The claims of a text."""

    claims: list[str] = Field(min_length=1)


def by_words(reader: LexicalReader, texts: Mapping[str, Any]) -> Verdict:
    good = reader.supported(texts["claim"], texts["contexts"])
    return Verdict(verdict="supported" if good else "not supported", score=5 if good else 1)


SUPPORT = Prompt(
    "support",
    3,
    Verdict,
    {
        "en": 'Is the claim carried by the contexts? {"example": 1}\nClaim:\n{claim}\nContexts:\n{contexts}',
        "ru": "Подтверждают ли контексты утверждение? Контексты:\n{contexts}\nУтверждение:\n{claim}",
    },
    offline=by_words,
)
CLAIMS = Prompt(
    "claims", 1, Claims, {"en": "List the claims:\n{text}"}, offline=lambda r, t: Claims(claims=r.sentences(t["text"]))
)
TEXTS = {"claim": "Moscow is a capital.", "contexts": ["Moscow is the capital of Russia.", "It is a city."]}


def judge_at(server: ChatServer, name: str = "a", **more: Any) -> ModelJudge:
    return ModelJudge(Client(name, settings(server, **more)))


def with_judge(server: ChatServer, work: Callable[[ModelJudge], Any], **more: Any) -> Any:
    async def inside() -> Any:
        judge = judge_at(server, **more)
        try:
            return await work(judge)
        finally:
            await judge.close()

    return asyncio.run(inside())
