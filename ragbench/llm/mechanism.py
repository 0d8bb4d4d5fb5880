"""The ways in which a shape can be asked for, best first, and the body of the request that asks in each."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from ragbench.llm.request import Request, schema_of

Mechanism = Literal["json_schema", "json_object", "tool", "text"]
LADDER: tuple[Mechanism, ...] = ("json_schema", "json_object", "tool", "text")
_IN_WORDS = "Reply with one JSON object that follows this JSON schema, and with nothing before or after it:"
_ABOUT_SHAPES = re.compile(
    r"response_format|json_object|json mode|structured|tool_choice|tool use|\btools?\b|function call|schema",
    re.IGNORECASE,
)


@dataclass
class Dialect:
    """What one endpoint and model understand, learnt from their refusals.

    mechanism: the present rung of the ladder. fixed: it was configured, and is never left.
    length_parameter: `max_tokens`, or the name by which newer models call it.
    """

    mechanism: Mechanism = "json_schema"
    fixed: bool = False
    length_parameter: str = "max_tokens"

    def body(self, model: str, request: Request) -> dict[str, Any]:
        """The chat-completions request as JSON values."""
        messages = [{"role": role, "content": text} for role, text in request.messages]
        decoding = request.decoding.as_json()
        if self.length_parameter != "max_tokens":
            decoding[self.length_parameter] = decoding.pop("max_tokens")
        body: dict[str, Any] = {"model": model, "messages": messages, **decoding}
        if request.shape is None:
            return body
        schema = schema_of(request.shape)
        name = re.sub(r"[^A-Za-z0-9_-]", "_", request.shape.__name__)[:64]
        if self.mechanism == "json_schema":
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": name, "strict": True, "schema": schema},
            }
        elif self.mechanism == "tool":
            body["tools"] = [{"type": "function", "function": {"name": name, "strict": True, "parameters": schema}}]
            body["tool_choice"] = {"type": "function", "function": {"name": name}}
        else:
            if self.mechanism == "json_object":
                body["response_format"] = {"type": "json_object"}
            said = f"{messages[0]['content']}\n\n{_IN_WORDS}\n{json.dumps(schema, ensure_ascii=False)}"
            messages[0] = {**messages[0], "content": said}
        return body

    def learn(self, reason: str, asked: Mechanism, length_parameter: str) -> bool:
        """Step down or rename after a refusal that speaks of shapes or lengths; whether a second try makes sense.

        asked, length_parameter: how the refused request was put; another call may have learnt the same meanwhile.
        """
        if "max_completion_tokens" in reason and length_parameter == "max_tokens":
            self.length_parameter = "max_completion_tokens"
            return True
        if not _ABOUT_SHAPES.search(reason) or self.fixed:
            return False
        if asked != self.mechanism:
            return True
        rung = LADDER.index(self.mechanism) + 1
        if rung == len(LADDER):
            return False
        self.mechanism = LADDER[rung]
        return True
