"""Dialogues: the messages of OpenAI, LangChain, ragas, DeepEval and OpenTelemetry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ragbench.core.errors import BenchError
from ragbench.data.values import Row, as_list, find, first_found, is_missing, unpack
from ragbench.data.vocabulary import LISTS


@dataclass
class Turn:
    """A question in a dialogue, the answer to it, and the passages that the answer names."""

    question: Any
    answer: str | None = None
    contexts: Any = None


def read_messages(value: Any) -> list[Any]:
    """Return a list of messages; LangChain sends lists of dialogues, and the only one is meant."""
    value = unpack(value)
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        return value[0]
    return value if isinstance(value, list) else []


def is_dialogue(value: Any) -> bool:
    """Whether a value is a list of messages, each with the role of who wrote it."""
    messages = read_messages(value)
    return bool(messages) and all(map(role_of, messages))


def role_of(message: Any) -> str:
    """Return `user`, `assistant` or the role as it stands; "" for what is no message."""
    role = str(first_found(message, LISTS["message_roles"]) or "").lower()
    if role == "constructor":  # LangChain's dumpd names the class instead: [..., "HumanMessage"]
        role = str(as_list(find(message, "id"))[-1:]).strip("[]'").removesuffix("Message").lower()
    if role in LISTS["user_roles"]:
        return "user"
    return "assistant" if role in LISTS["assistant_roles"] else role


def content_of(message: Row) -> str | None:
    """Return the text of a message; images and tool calls have none."""
    content = unpack(first_found(message, LISTS["message_texts"]))
    # OpenAI and OpenTelemetry send a text in parts, beside images and tool calls.
    if isinstance(content, list):
        parts = [first_found(part, ("text", "content")) for part in content]
        content = "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def read_turns(dialogue: Any) -> list[Turn]:
    """Return the questions of a dialogue in their order, with their answers.

    The answer is the last thing that the assistant wrote before the next question: what it wrote
    before that goes to its tools. Raises BenchError for a role that may be anybody's.
    """
    turns: list[Turn] = []
    for message in read_messages(dialogue):
        role, text = role_of(message), content_of(message)
        if role == "user" and text:
            turns.append(Turn(text))
        elif role == "assistant" and turns:
            contexts = first_found(message, ("retrieval_context", "context"))
            turn = turns[-1]
            turn.answer = text or turn.answer
            turn.contexts = turn.contexts if is_missing(contexts) else contexts
        elif role not in LISTS["known_roles"]:
            raise BenchError(f"its dialogue has the role {role!r}; user and assistant are expected")
    if not turns:
        raise BenchError("its dialogue has no question of a user")
    return turns


def read_tool_calls(dialogue: Any) -> list[Row]:
    """Return the tool calls of a dialogue's messages, as they were recorded."""
    calls = []
    for message in read_messages(dialogue):
        calls += as_list(first_found(message, ("tool_calls", "kwargs.tool_calls")))
    return calls


def text_inside(value: Any, field: str) -> str | None:
    """Return the text in what a tool recorded as its input (field "question") or output ("answer").

    Of a dialogue it is the last question, or the last thing that the assistant wrote.
    """
    inner = unpack(value)
    if isinstance(inner, str):
        return inner if inner.strip() else None
    messages = read_messages(inner)
    if is_dialogue(messages):
        role = "user" if field == "question" else "assistant"
        texts = [content_of(message) for message in messages if role_of(message) == role]
        return next(filter(None, reversed(texts)), None)
    if len(messages) == 1:
        inner = messages[0]
    for part in LISTS[f"{field}_parts"] if isinstance(inner, dict) else ():
        text = text_inside(find(inner, part), field)
        if text is not None:
            return text
    # A text that is JSON without such parts is the text itself: an answer may be JSON.
    return value if isinstance(value, str) and value.strip() else None
