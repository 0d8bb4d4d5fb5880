"""Judges of the user's own: functions, chat models of LangChain, objects with `ask`."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Self

from pydantic import BaseModel

from ragbench.core.errors import BenchError, Unmeasured
from ragbench.llm.calling import Function
from ragbench.llm.errors import UnusableReplyError
from ragbench.llm.replies import read_reply, text_of
from ragbench.llm.types import Message
from ragbench.metrics.judging import Prompt, Shape, Texts


def adapt_function(function: Callable[[str], Any]) -> Function:
    """Make a function of a prompt's text what a client asks in the place of an endpoint.

    It may return a text, a dict, a pydantic object, or a message object with `content`, and it may
    be asynchronous; a plain one runs in a thread.
    """

    async def ask(messages: Sequence[Message]) -> str:
        prompt = "\n\n".join(text_of(message) for message in messages)
        return read_said(await call(function, prompt))

    return ask


async def call(function: Callable[..., Any], *values: Any, **named: Any) -> Any:
    """Call a function of the user's in a thread, so that it holds up nobody."""
    result = await asyncio.to_thread(function, *values, **named)
    return await result if inspect.isawaitable(result) else result


def read_said(value: Any) -> str:
    """Return what a judge said as text. Raises UnusableReplyError for what says nothing."""
    content = getattr(value, "content", value)
    if isinstance(content, BaseModel):
        content = content.model_dump(mode="json")
    text = text_of({"content": content})
    if not text.strip():
        kind = type(value).__name__
        raise UnusableReplyError(
            f"a {kind} came back that says nothing; return a text, a dict or a message"
        )
    return text


def find_function(given: Any) -> Callable[[str], Any]:
    """Return what asks a chat model of LangChain, or a function itself. Raises BenchError else."""
    for function in (getattr(given, "ainvoke", None), getattr(given, "invoke", None), given):
        if callable(function):
            return function
    raise BenchError(
        f"a {type(given).__name__} is no judge: give a name, a function of the prompt, a chat "
        "model of LangChain, or an object with ask(prompt, **values)"
    )


class OpenJudge:
    """A judge that has nothing to open and to close."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        """Nothing is open."""


class ObjectJudge(OpenJudge):
    """An object of the user's with `ask(prompt, **values)`, held to the shapes of prompts.

    prompt: `ragbench.metrics.judging.Prompt`; `prompt.fill("en", values)` makes messages of it.
    `repeat` is among them where the same is asked anew. It may return the prompt's shape, a dict, a
    text or a message, and may be asynchronous.
    """

    def __init__(self, given: Any, name: str = "") -> None:
        self.given = given
        self.name = name or str(getattr(given, "name", type(given).__name__))
        self.is_stand_in = bool(getattr(given, "is_stand_in", False))
        self.sees_images = bool(getattr(given, "sees_images", False))

    async def ask(self, prompt: Prompt[Shape], *, repeat: int = 0, **values: Texts) -> Shape:
        """See `ragbench.metrics.judging.Judge`."""
        again = {"repeat": repeat} if repeat else {}
        try:
            said = await call(self.given.ask, prompt, **values, **again)
            return read_reply(read_said(said), prompt.shape)
        except UnusableReplyError as error:
            raise Unmeasured(error.status, str(error)) from None
        except (Unmeasured, BenchError):
            raise
        except Exception as error:
            kind = type(error).__name__
            raise Unmeasured("judge_error", f"{self.name} raised {kind}: {error}") from error
