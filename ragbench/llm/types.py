"""What the client takes and gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

Shape = TypeVar("Shape", bound=BaseModel)
# {"role": "user", "content": text}, or a list of parts where images are shown.
Message = Mapping[str, Any]


@dataclass(frozen=True)
class Request(Generic[Shape]):
    """A question to a model.

    shape: the pydantic class that its reply must fit; None asks for plain text. options: what it
    wants of the model where the model's own table says nothing, such as max_tokens. repeat: tells
    apart requests that are meant to be asked again, word for word. is_repair: whether it follows
    a reply that could not be used.
    """

    messages: Sequence[Message]
    shape: type[Shape] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    repeat: int = 0
    is_repair: bool = False


@dataclass(frozen=True)
class Reply(Generic[Shape]):
    """What a model said.

    value: None where it could not be used; then status and reason say why. text: as it came; of a
    request without a shape it is the reply. seconds: the model's time, also of a journaled reply.
    """

    value: Shape | None = None
    status: str = "ok"
    reason: str = ""
    text: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Stored:
    """A reply as the journal keeps it: unread, so that a better reader finds it as it was.

    finish: "length" where it was cut, else "stop". left_out: what the request was sent without,
    since the endpoint refuses it.
    """

    key: str
    name: str
    model: str
    text: str
    finish: str
    tokens_in: int
    tokens_out: int
    seconds: float
    left_out: str


@dataclass
class Plan:
    """What was asked, or would be: calls that are paid for, beside replies that the journal has.

    cost: of the calls, NaN where the model has no price. Of a plan tokens_out and cost are
    expected values, and repairs are not in it.
    """

    name: str
    calls: int = 0
    journaled: int = 0
    tokens_in: float = 0.0
    tokens_out: float = 0.0
    cost: float = 0.0

    def add_call(self, tokens_in: float, tokens_out: float, cost: float) -> None:
        """Count one call."""
        self.calls += 1
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        self.cost += cost
