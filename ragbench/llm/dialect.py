"""What an endpoint accepts, learned from its refusals and remembered for all further calls."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from ragbench.core.settings import Model
from ragbench.llm.types import Message, Request

# How a reply's shape is asked for, the strictest first.
FORMS = ("json_schema", "json_object", "text")
IN_WORDS = (
    "Reply with exactly one JSON object of this JSON schema, and with nothing else:\n{schema}"
)
# So many unreadable replies in a row show that an endpoint passes a form over; a single one may be
# the model's mistake.
PASSED_OVER = 3
SYSTEM = "system"
ABOUT_FORM = re.compile(
    r"response_format|json_object|json[ _-]?(mode|output|schema)|structured|schema|grammar|"
    r"guided|generate parser|no endpoints found"
)
ABOUT_SYSTEM = re.compile(
    r"\b(system|developer)\b[^.\n]{0,20}\b(roles?|messages?|prompts?|instructions?)\b|"
    r"\broles?\b[^\n]{0,80}\b(system|alternate)\b|\bsystem\W{0,3}\bis not one of\b"
)
# One question is too long; whatever parameters such a refusal names, none is to blame.
ABOUT_LENGTH = re.compile(r"context[ _]?(length|window|size)|maximum context|prompt is too long")


@dataclass(frozen=True)
class Sent:
    """How a request was put: what is learned from its end is learned of this way alone."""

    body: Mapping[str, Any]
    form: str
    left_out: str


class Dialect:
    """The form of requests to one model."""

    def __init__(self, model: Model) -> None:
        self.model = model.model
        self.left_out = set(model.without)
        # The form of now comes first, then those that are tried when it is refused.
        self.forms = [form for form in FORMS if form not in model.without]
        if model.replies != "auto":
            self.forms = [model.replies]
        self.length_name = "max_tokens"
        self._unreadable_in_a_row = 0

    def put(self, request: Request[Any], options: Mapping[str, Any]) -> Sent:
        """Return the request as this endpoint accepts it."""
        form = self.forms[0]
        body: dict[str, Any] = {"model": self.model, "messages": self._messages(request)}
        left_out = [name for name in (SYSTEM, *options) if name in self.left_out]
        for name, value in options.items():
            if name not in self.left_out:
                body[self.length_name if name == "max_tokens" else name] = value
        shape: type[BaseModel] | None = request.shape
        if shape is not None:
            schema = schema_of(shape)
            if form == "json_schema":
                named = {"name": shape.__name__, "strict": True, "schema": schema}
                body["response_format"] = {"type": "json_schema", "json_schema": named}
            elif form == "json_object":
                body["response_format"] = {"type": "json_object"}
            if form != FORMS[0]:
                left_out.append(FORMS[0])
        return Sent(body, form, " ".join(left_out))

    def _messages(self, request: Request[Any]) -> list[dict[str, Any]]:
        messages = [dict(message) for message in request.messages]
        if SYSTEM in self.left_out and _has_system(messages):
            # The rules go before the first question, since roles have to alternate.
            rules, *messages = messages
            messages[0]["content"] = put_before(rules["content"], messages[0]["content"])
        shape: type[BaseModel] | None = request.shape
        if shape is not None and self.forms[0] != FORMS[0]:
            words = schema_in_words(shape)
            messages[0]["content"] = put_before(words, messages[0]["content"])
        return messages

    def learn(self, refusal: str, sent: Sent) -> bool:
        """Learn from a refusal; return whether the request should be sent again in another form.

        Requests in flight were put alike: what the first of them teaches is not learned again
        from the next, which is only sent again.
        """
        words = refusal.lower()
        if ABOUT_LENGTH.search(words):
            return False
        if "max_completion_tokens" in words and "max_tokens" in sent.body:
            self.length_name = "max_completion_tokens"  # of OpenAI's newer models
            return True
        parameters = set(sent.body) - {"model", "messages", "response_format"}
        named = [name for name in parameters if re.search(rf"(?<!\w){name}(?!\w)", words)]
        if self.length_name in named:
            named.append("max_tokens")  # as our options call it
        if named:
            self.left_out.update(named)
            return True
        if _has_system(sent.body["messages"]) and ABOUT_SYSTEM.search(words):
            self.left_out.add(SYSTEM)
            return True
        if "response_format" in sent.body and ABOUT_FORM.search(words):
            return self._step_down(sent.form)
        return False

    def hear(self, form: str, is_readable: bool) -> None:
        """Note whether a first reply was of the shape that was asked for in this form."""
        if form == self.forms[0]:
            self._unreadable_in_a_row = 0 if is_readable else self._unreadable_in_a_row + 1
            if self._unreadable_in_a_row >= PASSED_OVER:
                self._step_down(form)

    def _step_down(self, form: str) -> bool:
        """Leave a form; return whether there is another one."""
        if form != self.forms[0]:
            return True  # another request led there already
        if len(self.forms) == 1:
            return False
        self.forms.pop(0)
        self._unreadable_in_a_row = 0
        return True


@functools.cache
def schema_of(shape: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a shape as strict endpoints want it: every object closed."""
    schema = shape.model_json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        if part.get("type") == "object":
            part["additionalProperties"] = False
            part["required"] = list(part.get("properties", {}))
            for field in part.get("properties", {}).values():
                field.pop("default", None)  # refused beside "required"
    return schema


@functools.cache
def schema_in_words(shape: type[BaseModel] | None) -> str:
    """Say the schema of a shape, where nothing else does; "" for none."""
    if shape is None:
        return ""
    return IN_WORDS.format(schema=json.dumps(schema_of(shape), ensure_ascii=False))


def put_before(words: str, content: Any) -> Any:
    """Put words before the content of a message, which may be a list of parts with images."""
    if isinstance(content, str):
        return f"{words}\n\n{content}"
    return [{"type": "text", "text": words}, *content]


def _has_system(messages: Sequence[Message]) -> bool:
    return bool(messages[0]["role"] == SYSTEM)
