"""What a field of a table says of parts: nuggets that an answer should hold, places that cite, an agent's messages.

What is no such field is kept as it stands, so that the metric says of its row what is wrong, and the others are read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ragbench.core.types import Citation, Message, ToolCall
from ragbench.data.cells import held
from ragbench.data.payloads import MODELS, PEOPLE, message_text, role_of
from ragbench.data.rows import cut

VITAL = "vital"
TEXTS, MARKS = ("text", "nugget", "fact"), ("importance", "label", "grade")
STARTS, ENDS, NAMES = ("start", "start_index"), ("end", "end_index"), ("passage", "id", "chunk_id", "citations", "ids")

ARGUMENTS = ("arguments", "args", "input", "input_parameters", "parameters")
EXPECTED = frozenset({"reference_tool_calls", "reference_topics"})
"""Fields that tell a dialogue of an agent from any other."""


def of_agent(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row with its dialogue as the field `trajectory`, where calls or subjects are expected of it, and with its first
    question and last answer; any other as it is."""
    if "trajectory" not in item and item.keys() & EXPECTED:
        for name in ("messages", "user_input"):
            if isinstance(value := _opened(item.get(name)), list) and any(isinstance(one, Mapping) for one in value):
                rest = {key: one for key, one in item.items() if key not in ("messages", "user_input")}
                item = {**rest, "trajectory": value}
                break
    said = messages_of(item.get("trajectory")) or ()
    asked = next((one.text for one in said if one.role == "user"), None)
    answer = next((one.text for one in reversed(said) if one.role == "assistant" and one.text), None)
    found = {"user_input": asked, "response": answer}
    return {**{name: text for name, text in found.items() if text}, **item} if said else item


def messages_of(value: Any) -> tuple[Message, ...] | None:
    """The messages of a field, each with its role, text and calls; a list of calls alone is one message of the agent.

    None where nothing was given.
    """
    value = _opened(value)
    if value is None:
        return None
    items = value if isinstance(value, list | tuple) else [value]
    if items and all(isinstance(one, Mapping) and role_of(one) in (None, "function") for one in items):
        return (Message("assistant", "", calls_of(items) or ()),)
    return tuple(_message(one) for one in items)


def _message(given: Any) -> Message:
    if not isinstance(given, Mapping):
        return Message("user", str(given))
    role = (role_of(given) or "").casefold()
    kinds = {**dict.fromkeys(PEOPLE, "user"), **dict.fromkeys(MODELS, "assistant")}
    kwargs = given.get("kwargs")
    inner = kwargs if isinstance(kwargs, Mapping) else given
    parts = inner.get("content")
    used = [one for one in parts if isinstance(one, Mapping) and one.get("type") == "tool_use"] if isinstance(
        parts, list
    ) else []  # fmt: skip
    calls = calls_of(inner.get("tool_calls")) or calls_of(used) or ()
    return Message(kinds.get(role, role or "user"), message_text(dict(given)) or "", calls)


def calls_of(value: Any) -> tuple[ToolCall, ...] | None:
    """The calls of a field as OpenAI, Anthropic, LangChain, ragas and DeepEval write them; None where none was given.

    One whose arguments are no object, or no JSON, has none.
    """
    value = _opened(value)
    if value is None:
        return None
    found = []
    for one in value if isinstance(value, list | tuple) else [value]:
        given = one.get("function", one) if isinstance(one, Mapping) else {"name": str(one), "args": {}}
        given = given if isinstance(given, Mapping) else one
        arguments = _first(given, ARGUMENTS)
        written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, default=str)
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except ValueError:
                arguments = None
        elif arguments is None:
            arguments, written = {}, ""
        known = arguments if isinstance(arguments, Mapping) else None
        found.append(ToolCall(str(given.get("name", "")), known, written))
    return tuple(found)


def topics_of(value: Any) -> tuple[str, ...] | None:
    """The subjects of a field: a list of texts, or a text with one a line. None where nothing was given."""
    value = _opened(value)
    return None if value is None else tuple(map(str, value if isinstance(value, list | tuple) else [value]))


def nuggets_of(value: Any) -> dict[str, str] | None:
    """The nuggets of a field with their importances: a list of texts, which are vital, or of objects, a mapping of
    texts to importances, or one of these as a text; a line of any other text is a nugget. None where nothing was given.
    """
    value = _opened(value)
    if value is None:
        return None
    if isinstance(value, Mapping):
        value = [{"text": text, "importance": importance} for text, importance in value.items()]
    found: dict[str, str] = {}
    for one in value if isinstance(value, list | tuple) else [{"text": cut(value), "importance": "?"}]:
        given = one if isinstance(one, Mapping) else {"text": one}
        text, importance = _first(given, TEXTS), str(_first(given, MARKS) or VITAL).strip().casefold()
        if not isinstance(text, str) or not text.strip():
            text, importance = cut(one), "?"
        text = text.strip()
        found[text] = importance if found.get(text, importance) == importance else f"{found[text]}, {importance}"
    return found


def citations_of(value: Any) -> tuple[Citation, ...] | None:
    """The citations of a field: a list of objects with start, end and a passage's id or number, or several of them.

    None where nothing was given.
    """
    value = _opened(value)
    if value is None:
        return None
    found = []
    for one in value if isinstance(value, list | tuple) else [value]:
        given = one if isinstance(one, Mapping) else {}
        start, end, names = (_first(given, keys) for keys in (STARTS, ENDS, NAMES))
        if not (isinstance(start, int) and isinstance(end, int)) or names is None:
            start, end, names = -1, -1, cut(one)
        found += [Citation(start, end, str(name)) for name in (names if isinstance(names, list) else [names])]
    return tuple(sorted(found, key=lambda one: (one.start, one.end)))


def _opened(value: Any) -> Any:
    """The value that a cell holds; its lines where it holds none."""
    if not isinstance(value, str):
        return value
    if not value.strip():
        return None
    try:
        inside = held(value)
    except ValueError:
        inside = None
    return [line for line in value.splitlines() if line.strip()] if inside is None else inside[0]


def _first(given: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((given[key] for key in keys if given.get(key) is not None), None)
