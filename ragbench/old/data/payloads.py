"""What programs put into a record: a question, an answer, passages, numbers, moments, nuggets, citations, calls.

What a field of parts cannot be read as is kept as it stands, so that the metric says of its row what is wrong, and the
others are read.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ragbench.old.core.types import Citation, Message, ToolCall
from ragbench.old.data.cells import fields_of, opened
from ragbench.old.data.files import LATEST, cut, cut_list
from ragbench.old.data.vocabulary import FIELDS, PARTS, RARELY, field_of, key

SILENT = {"system", "tool", "developer", "function"}
"""Roles of those in a dialogue who neither ask nor answer."""
SPEAKERS = {"user", "assistant", *SILENT}
_SIDES = {
    name.casefold(): side
    for side, names in (("user", PARTS.people), ("assistant", PARTS.models), ("tool", PARTS.silent))
    for name in names
}
_SPEAKERS = {key(name): side for name, side in (*_SIDES.items(), *((own, "tool") for own in sorted(SILENT)))}
_PAIRED = {
    key(name): side
    for side, own in (("user", "user_input"), ("assistant", "response"))
    for name in (*FIELDS[own], *RARELY[own])
}
_SPEAKS = re.compile(
    rf"^[#* \t]{{0,9}}+({'|'.join(map(re.escape, ('system', *_SIDES)))})[* \t]{{0,9}}+:[* \t]{{0,9}}+", re.I | re.M
)
_ANYBODY_SAYS = re.compile(r"^[ \t]{0,9}+([^\W\d_][\w .-]{0,29}):[ \t]++(?=\S)", re.M)
_OF_MESSAGES = {key(name): name for name in reversed([*PARTS.roles, *PARTS.says])}
OF_PASSAGES = frozenset({*PARTS.texts, *PARTS.sentences})
"""Names under which the text of a passage stands."""
_PLAIN = {key(name): name for name in reversed([
    *PARTS.ids, *PARTS.texts, *PARTS.sentences, "metadata", "payload", "properties", "document", "node",
])}  # fmt: skip
_NAMING = frozenset({*PARTS.ids, *PARTS.names, *PARTS.pages, *PARTS.addresses, *PARTS.titles})
"""Names of members that tell which passage it is."""
BESIDE = frozenset({"source", "question_source", "category", "note", "system", "user", "value"})
"""Fields that are neither asked nor answered: of an object with one of them alone nothing is said."""
FAULTS = frozenset({"error", "errors", "errorMessage", "detail", "exception", "traceback", "ошибка", "ошибки"})
"""Members of a reply that say why there is none."""
MAX_DEPTH = 12
"""Of lists and objects within each other that a text is looked for in."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that was retrieved, or a document of the knowledge base; it has an id, a text, or both."""

    text: str | None = None
    id: str | None = None
    score: float | None = None
    url: str | None = None
    title: str | None = None


def quoted(value: Any) -> Any:
    """What a text holds that is a text, a list or an object in JSON, as attributes may be written; else as it is."""
    if not isinstance(value, str) or not value.startswith(('"', "[", "{")):
        return value
    try:
        return json.loads(value, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return value


def question_of(value: Any) -> str | None:
    """The question in what went into a step: a text, the last message of a person, the field that is named so."""
    return _text(value, PARTS.asked, "user", 0)


def answer_of(value: Any) -> str | None:
    """The answer in what came out of a step: a text, the last message of a model, the field that is named so."""
    return _text(value, PARTS.answered, "assistant", 0)


def passages_of(value: Any) -> tuple[Passage, ...] | None:
    """The passages in what a retriever gave, in their order; None where there is no list of any."""
    entries = entries_of(value)
    return None if entries is None else tuple(passage for item in entries if (passage := passage_of(item)) is not None)


def passage_of(item: Any) -> Passage | None:
    """A passage out of a text, a document of LangChain, LlamaIndex or OpenInference, or a pair with its score."""
    score = None
    if isinstance(item, list | tuple) and len(item) == 2 and (score := number(item[1])) is not None:
        item = item[0]
    if isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], str) and isinstance(item[1], list):
        item = {"title": item[0], "sentences": item[1]}  # as HotpotQA writes a paragraph
    if isinstance(item, list) and all(isinstance(message, dict) for message in item):  # a session of a dialogue
        item = "\n".join(f"{role_of(message)}: {text}" for message in item if (text := message_text(message)))
    if isinstance(item, str) and item.startswith("page_content="):
        item = opened(item)
    if isinstance(item, str):
        return Passage(text=item, score=score) if item.strip() else None
    if not isinstance(item, Mapping):
        item = fields_of(item)
    if item is None:
        return None
    if not item.keys() & {*_PLAIN.values(), "kwargs"} - {"metadata"}:
        item = {_PLAIN.get(key(name), name): part for name, part in item.items()}
    score = number(_first(item, PARTS.scores)) if score is None else score
    for wrapper in ("document", "node", "kwargs"):
        inner = item.get(wrapper)
        inner = inner if isinstance(inner, Mapping) else fields_of(inner)
        if inner is not None and (_first(item, PARTS.texts) is None or _first(inner, PARTS.texts) is not None):
            item = inner
            score = number(_first(item, PARTS.scores)) if score is None else score
    about = opened(_first(item, PARTS.abouts))
    about = about if isinstance(about, dict) else {}

    def named(names: Sequence[str]) -> str | None:
        return label(_first(item, names)) or label(_first(about, names))

    text = _first(item, PARTS.texts)
    text = _first(about, PARTS.texts) if text is None else text
    text = _first(text, PARTS.texts) if isinstance(text, Mapping) else text
    text = message_text(text) if isinstance(text, list) else text
    if text is None and isinstance(parts := _first(item, PARTS.sentences), list):
        text = "".join(f"{part.strip()} " for part in parts if isinstance(part, str)).strip()
    text = text if isinstance(text, str) and text.strip() else None
    if text is None and named(PARTS.ids) is None:
        return None
    score = number(_first(about, PARTS.scores)) if score is None else score
    return Passage(text, named(PARTS.ids), score, named(PARTS.addresses), named(PARTS.titles))


def names_of(value: Any) -> list[str] | None:
    """The ids of passages in a list of objects that name them, or their file and page, and hold no text; None for
    anything else."""
    if not isinstance(value, list) or not value or not all(map(_is_name, value)):
        return None
    names = [label(_first(item, PARTS.ids)) or _of_file(item) for item in value]
    return [name for name in names if name] if all(names) else None


def _is_name(item: Any) -> bool:
    """Whether an object has nothing but numbers beside what names it."""
    return isinstance(item, Mapping) and all(name in _NAMING or _is_of_numbers(own) for name, own in item.items())


def _is_of_numbers(value: Any) -> bool:
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return not isinstance(value, str) and all(map(_is_of_numbers, parts))


def _of_file(item: Mapping[str, Any]) -> str | None:
    """A file, and its page, as an id."""
    file, page = label(_first(item, PARTS.names)), label(_first(item, PARTS.pages))
    return f"{file}:{page}" if file and page else file


def label(value: Any) -> str | None:
    """A name: a text that is not blank, or a whole number; None for anything else."""
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, float) and value.is_integer():  # as pandas holds it where others are missing
        value = int(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def number(value: Any) -> float | None:
    """A finite number, also one written as a text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        parsed = float(value)
    except (ValueError, OverflowError):
        return None
    return parsed if math.isfinite(parsed) else None


def count(value: Any) -> int | None:
    """A whole number from 0; None for anything else."""
    parsed = number(value)
    return int(parsed) if parsed is not None and parsed >= 0 and parsed == int(parsed) else None


def moment(value: Any) -> float | None:
    """Seconds since 1970 of ISO 8601 (without a zone: UTC), or of a number of seconds, ms, µs or ns by its size.

    None for what is none, and for a moment before 1970 or after the year 9999, which no calendar here has.
    """
    if isinstance(value, str) and not value.isdigit():
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, datetime):
        seconds: float | None = (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    else:
        seconds = number(value)
        for size, unit in ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3)):
            if seconds is not None and seconds >= size:
                seconds /= unit
                break
    return seconds if seconds is not None and 0 < seconds < LATEST else None


def message_text(message: Any) -> str | None:
    """The words of one message of a chat, whoever wrote it; images and calls of tools are none."""
    if isinstance(message, dict):
        message = next((own for name in ("kwargs", "data") if isinstance(own := message.get(name), dict)), message)
        given = _first(message, PARTS.says)
    else:
        given = message
    if isinstance(given, list):
        parts = [part if isinstance(part, str) else _part(part) for part in given]
        given = "\n".join(part for part in parts if part)
    return given.strip() or None if isinstance(given, str) else None


def _part(part: Any) -> str | None:
    if not isinstance(part, dict) or part.get("type") in ("reasoning", "thinking"):
        return None
    text = _first(part, ("text", "content", "message_content.text"))
    return text if isinstance(text, str) else None


def role_of(message: Any) -> str | None:
    """Who wrote a message: user or assistant, else what it names; None where it names nobody."""
    if not isinstance(message, Mapping):
        return None
    if isinstance(inner := message.get("kwargs"), Mapping):
        kinds = message.get("id")
        role = inner.get("type") or inner.get("role") or (kinds[-1] if isinstance(kinds, list) and kinds else "")
    else:
        role = _first(message, PARTS.roles)
    return _SIDES.get(role.casefold(), role) if isinstance(role, str) else None


def _text(value: Any, names: Sequence[str], role: str, depth: int) -> str | None:
    value = opened(value)
    value = value if (own := fields_of(value)) is None else own
    if isinstance(value, str):
        return value.strip() or None
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, list):
        return _of_list(value, names, role, depth + 1)
    if not isinstance(value, dict):
        return None
    if role_of(value) == role:
        return message_text(value)
    for name in ("messages", "choices", "generations", "kwargs", "args", "body", *names):
        inner = value.get(name)
        if inner not in (None, "", []) and (text := _text(inner, names, role, depth + 1)):
            return text
    if len(value) == 1 and not value.keys() & FAULTS and field_of(next(iter(value))) not in BESIDE:
        return _text(next(iter(value.values())), names, role, depth + 1)
    return None


def _of_list(values: list[Any], names: Sequence[str], role: str, depth: int) -> str | None:
    """The last message that this role wrote; of a list without messages its only item."""
    roles = [role_of(message) for message in values]
    if SPEAKERS.intersection(roles):
        said = [message for message, own in zip(values, roles, strict=True) if own == role]
        return next((text for message in reversed(said) if (text := message_text(message))), None)
    return _text(values[0], names, role, depth) if len(values) == 1 else None


class Said(NamedTuple):
    """A turn of a dialogue: what was asked, what was answered, and the passages that it was answered from."""

    question: str
    answer: str | None = None
    contexts: Any = None


def turns_of(value: Any, guessed: dict[str, dict[str, None]] | None = None) -> list[Said] | None:
    """The turns, where the value is a dialogue: a list of messages, such a list in a cell, or a tree of them.

    A message has a `role`, `type` or `from` (human or user; ai, assistant or gpt) and a `content` or `value`; what
    tools and systems say is passed over, and of several answers to a question the last is its answer. guessed: of a
    field that is a dialogue's own, whose texts may be said in turn; is told who is taken for a user, and who for an
    assistant, where at most names say who speaks; without it such messages are none. None for anything else.
    """
    value = opened(value)
    value = _thread(value if guessed is None else _in_turn(value))
    if not isinstance(value, list) or not value:
        return None
    if all(isinstance(entry, list | tuple) and len(entry) == 2 for entry in value):
        value = [dict(zip(("user", "assistant"), pair, strict=True)) for pair in value]
    value = [entry if isinstance(entry, Mapping) else fields_of(entry) for entry in value]
    if not all(value):
        return None
    value = [message for entry in value for message in _messages(entry)]
    if not all(message.keys() & {*PARTS.says, "kwargs", "data"} for message in value):
        return None
    said = [(role_of(message), _words(message), message) for message in value]
    if any(role is None and text for role, text, _ in said):
        return None
    sides = {} if guessed is None else _guessed([str(role) for role, text, _ in said if text], guessed)
    turns: list[Said] = []
    is_asked = False
    for role, content, message in said:
        side = sides.get(role, role)
        if side == "user" and content:
            turns.append(Said(content))
            is_asked = True
        elif side == "user" and content is None:
            is_asked = is_asked and turns[-1].answer is None  # what answers an image, or words that are gone, is none
        elif side == "assistant" and content and is_asked:
            retrieved = next((own for name, own in message.items() if own and field_of(name) == "contexts"
                              and name not in PARTS.says), None)  # fmt: skip
            turns[-1] = Said(turns[-1].question, content, retrieved)
    return turns or None


def _in_turn(value: Any) -> Any:
    """Texts of a dialogue as its messages: said in turn, the first of one who asks, or, as in `User: … Bot: …`, by whom
    is named before it, two people of any names too; anything else as it is."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        return value
    before, *said = _SPEAKS.split("\n".join(texts))
    named = list(zip(said[::2], said[1::2], strict=True))
    is_told = not before.strip() and len({_SIDES.get(name.casefold()) for name, _ in named}) > 1
    if isinstance(value, str) and not is_told:
        before, *said = _ANYBODY_SAYS.split(value)
        if before.strip() or len({*said[::2]}) != 2:
            return value
        named, is_told = list(zip(said[::2], said[1::2], strict=True)), True
    if not is_told:
        names = ("every first of two texts", "every second") if len(texts) > 1 else ("user",)
        named = list(zip(itertools.cycle(names), texts, strict=False))
    return [{"role": name, "content": text} for name, text in named]


def guess_of(guessed: Mapping[str, Iterable[str]]) -> list[str]:
    """A sentence on who is taken for whom, where there is any: of `turns_of`."""
    does = {"user": "asks", "assistant": "answers"}
    sides = ", ".join(f"{cut_list(names)} for the one who {does[side]}" for side, names in guessed.items())
    return [f"no message says who asks and who answers; taken is {sides}"] if sides else []


def _messages(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The messages of an object that names what is asked and what is answered, or that calls what is said as who says
    it; any other as it is."""
    if not entry.keys() & {*PARTS.says, "kwargs"}:
        entry = {_OF_MESSAGES.get(key(name), name): value for name, value in entry.items()}
    for sides in (_PAIRED, _SPEAKERS) if role_of(entry) is None else ():
        own = {side: entry[name] for name in entry if (side := sides.get(key(name)))}
        if own.keys() >= {"user", "assistant"} or (own and not entry.keys() & {*PARTS.says}):
            return [{**entry, "role": side, "content": own[side]} for side in ("user", "assistant") if side in own]
    return [entry]


def _words(message: Mapping[str, Any]) -> str | None:
    """What one says who asks or answers; None for an image alone, and what was deleted; empty for what a tool gave."""
    parts = message.get("content")
    if isinstance(parts, list) and any(isinstance(one, Mapping) and one.get("type") == "tool_result" for one in parts):
        return ""
    text = message_text(message) or ""
    is_gone = any(map(message.get, PARTS.deleted)) or text.strip(" .<>[]").casefold() in ("", *PARTS.gone)
    return None if is_gone else text


def _guessed(speakers: Sequence[str], told: dict[str, dict[str, None]]) -> dict[str | None, str]:
    """Name → user or assistant, of those whose role is not said: the other side than those of whom it is; of two
    without any the first to speak asks."""
    others = [name for name in dict.fromkeys(speakers) if name not in SPEAKERS]
    known = {"user", "assistant"}.intersection(speakers)
    if not others or len(known) == 2 or (not known and len(others) != 2):
        return {}
    sides = ["assistant" if "user" in known else "user" for _ in others] if known else ["user", "assistant"]
    for name, side in zip(others, sides, strict=True):
        told.setdefault(side, {})[name] = None
    return dict(zip(others, sides, strict=True))


def _thread(value: Any) -> Any:
    """The messages of one branch of a tree: from the current one of its nodes back by their parents, or on by the first
    of the replies that stand within each; anything else as it is."""
    thread: list[Any] = []
    if isinstance(value, Mapping) and isinstance(nodes := value.get("nodes"), list) and nodes:
        by_id, at = {str(node.get("id")): node for node in nodes}, str(value.get("current"))
        while (node := by_id.pop(at, None)) is not None:
            thread.insert(0, node)
            at = str(node.get("parent"))
        return thread
    while isinstance(value, list) and len(value) and isinstance(value[0], Mapping):
        inner = value[0].get("replies", value[0].get("children"))
        if not thread and (len(value) > 1 or not isinstance(inner, list)):
            break
        thread.append(value[0])
        value = inner
    return thread or value


def entries_of(value: Any, depth: int = 0) -> list[Any] | None:
    """The list of passages that a reply of a search is, or holds under one of their names; None where there is none."""
    value = opened(value)
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], list):  # a batch of one query
            return entries_of(value[0], depth + 1)
        return value
    if isinstance(value, dict) and depth <= MAX_DEPTH:
        for name in PARTS.lists:
            if name in value and (entries := entries_of(value[name], depth + 1)) is not None:
                return entries
    return None


def _first(item: Mapping[str, Any], names: Sequence[str]) -> Any:
    for name in names:
        if (value := item.get(name)) is not None:
            return value
    return None


VITAL = "vital"
EXPECTED = frozenset({"reference_tool_calls", "reference_topics"})
"""Fields that tell a dialogue of an agent from any other."""


def of_agent(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row with its dialogue as the field `trajectory`, where calls or subjects are expected of it, and with its first
    question and last answer; any other as it is."""
    if "trajectory" not in item and item.keys() & EXPECTED:
        for name in ("messages", "user_input"):
            if isinstance(value := _lines(item.get(name)), list) and any(isinstance(one, Mapping) for one in value):
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

    None where nothing was given; none at all where nothing that was given is a text, or names a role or a tool.
    """
    if (items := _entries(value)) is None:
        return None
    if not any(isinstance(one, str) or role_of(one) or _names_a_tool(one) for one in items):
        return ()
    if items and all(isinstance(one, Mapping) and role_of(one) in (None, "function") for one in items):
        return (Message("assistant", "", calls_of(items) or ()),)
    return tuple(_message(one) for one in items)


def _names_a_tool(given: Any) -> bool:
    return isinstance(given, Mapping) and any(
        isinstance(one, Mapping) and one.get("name") for one in (given, given.get("function"))
    )


def _message(given: Any) -> Message:
    if not isinstance(given, Mapping):
        return Message("user", str(given))
    kwargs = given.get("kwargs")
    inner = kwargs if isinstance(kwargs, Mapping) else given
    parts = inner.get("content")
    used = [one for one in parts if isinstance(one, Mapping) and one.get("type") == "tool_use"] if isinstance(
        parts, list
    ) else []  # fmt: skip
    calls = calls_of(inner.get("tool_calls")) or calls_of(used) or ()
    return Message((role_of(given) or "user").casefold(), message_text(dict(given)) or "", calls)


def calls_of(value: Any) -> tuple[ToolCall, ...] | None:
    """The calls of a field as OpenAI, Anthropic, LangChain, ragas and DeepEval write them; None where none was given.

    One whose arguments are no object, or no JSON, has none.
    """
    if (entries := _entries(value)) is None:
        return None
    calls = []
    for one in entries:
        given = one.get("function", one) if isinstance(one, Mapping) else {"name": str(one), "args": {}}
        given = given if isinstance(given, Mapping) else one
        arguments = _first(given, PARTS.arguments)
        written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, default=str)
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except ValueError:
                arguments = None
        elif arguments is None:
            arguments, written = {}, ""
        known = arguments if isinstance(arguments, Mapping) else None
        calls.append(ToolCall(str(given.get("name", "")), known, written))
    return tuple(calls)


def topics_of(value: Any) -> tuple[str, ...] | None:
    """The subjects of a field: a list of texts, or a text with one a line. None where nothing was given."""
    return None if (entries := _entries(value)) is None else tuple(map(str, entries))


def nuggets_of(value: Any) -> dict[str, str] | None:
    """The nuggets of a field with their importances: a list of texts, which are vital, or of objects, a mapping of
    texts to importances, or one of these as a text; a line of any other text is a nugget. None where nothing was given.
    """
    value = _lines(value)
    if value is None:
        return None
    if isinstance(value, Mapping):
        value = [{"text": text, "importance": importance} for text, importance in value.items()]
    found: dict[str, str] = {}
    for one in value if isinstance(value, list | tuple) else [{"text": cut(value), "importance": "?"}]:
        given = one if isinstance(one, Mapping) else {"text": one}
        text, mark = _first(given, PARTS.nuggets), _first(given, PARTS.importances)
        importance = str(mark or VITAL).strip().casefold()
        if not isinstance(text, str) or not text.strip():
            text, importance = cut(one), "?"
        text = text.strip()
        found[text] = importance if found.get(text, importance) == importance else f"{found[text]}, {importance}"
    return found


def citations_of(value: Any) -> tuple[Citation, ...] | None:
    """The citations of a field: a list of objects with start, end and a passage's id or number, or several of them.

    None where nothing was given.
    """
    if (entries := _entries(value)) is None:
        return None
    found = []
    for one in entries:
        given = one if isinstance(one, Mapping) else {}
        start, end, names = (_first(given, keys) for keys in (PARTS.starts, PARTS.ends, PARTS.cited))
        if not (isinstance(start, int) and isinstance(end, int)) or names is None:
            start, end, names = -1, -1, cut(one)
        found += [Citation(start, end, str(name)) for name in (names if isinstance(names, list) else [names])]
    return tuple(sorted(found, key=lambda one: (one.start, one.end)))


def _entries(value: Any) -> Sequence[Any] | None:
    """What a field lists; of one value by itself that alone, None where nothing was given."""
    value = _lines(value)
    return value if value is None or isinstance(value, list | tuple) else [value]


def _lines(value: Any) -> Any:
    """The value that a cell holds; its lines where it holds none, None where it is blank."""
    value = opened(value)
    return [line for line in value.splitlines() if line.strip()] or None if isinstance(value, str) else value


def rubric_of(value: Any) -> dict[int, str] | None:
    """The criteria by level. What is no rubric is kept under the texts that it has for levels, so that the metric says
    of its row what is wrong, and the others are read."""
    value = opened(value)
    if not value:
        return None
    if not isinstance(value, Mapping):
        return {str(value): ""}  # type: ignore[dict-item]
    given = {key: str(criteria) for key, criteria in value.items() if criteria is not None}
    try:
        return {_level(key): criteria for key, criteria in given.items()}
    except ValueError:
        return {str(key): criteria for key, criteria in given.items()}  # type: ignore[misc]


def _level(key: Any) -> int:
    return int(str(key).removeprefix("score").removesuffix("_description"))


OF_PARTS: Mapping[str, Callable[[Any], Any]] = {
    "rubric": rubric_of, "nuggets": nuggets_of, "citations": citations_of, "trajectory": messages_of,
    "reference_tool_calls": calls_of, "reference_topics": topics_of,
}  # fmt: skip
"""Fields of a sample that are read part by part."""
