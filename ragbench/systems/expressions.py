"""What a service's reply holds, found by the JMESPath expressions of its table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragbench.core.expectations import kind
from ragbench.core.settings import SystemSettings
from ragbench.core.settings.secrets import excerpt, masked
from ragbench.llm.reply import storable
from ragbench.systems.items import ItemReader
from ragbench.systems.passages import Passages
from ragbench.systems.retrieval import RetrievalError

MOST_MS = 24 * 3600 * 1000
"""What a service says that it took: a day. More is no time of one answer."""
SHOWN_CHARACTERS = 200  # of a reply that is not what was expected
LISTS = {"ids": "id", "passages": "text", "scores": "score"}
"""Expressions that give a list, and what one of its items is called in what is retrieved."""


@dataclass(frozen=True)
class Said:
    """What one reply says. items: in rank order, as `ItemReader` takes them; None where the expressions look for none,
    and the same of the answer.

    own_ms: the milliseconds that the service says it took; first_ms: until the first piece of a streamed answer. Both
    None where nobody says.
    """

    items: list[dict[str, Any]] | None
    answer: str | None = None
    own_ms: float | None = None
    first_ms: float | None = None


class Expressions:
    """Those of one system, ready to read replies as `ragbench.llm.service.Service` keeps them."""

    def __init__(self, settings: SystemSettings) -> None:
        import jmespath

        self._streams = settings.stream
        given = {name: getattr(settings, name) for name in ("answer", *LISTS, "latency")}
        self._written = {name: text for name, text in given.items() if text is not None}
        self._compiled = {name: jmespath.compile(text) for name, text in self._written.items()}

    def read(self, text: str) -> Said:
        """Raises RetrievalError, which says what was expected and how the reply begins."""
        try:
            reply = masked(json.loads(text, parse_constant=_refused), storable)
            values = self._of_events(reply["events"]) if self._streams else self._of(reply)
        except (ValueError, RecursionError):
            raise RetrievalError(f"the reply is not JSON; it begins {_beginning(text)}") from None
        first = reply["first_ms"] if self._streams else None
        return Said(self._items(values, text), self._answer(values, text), self._own_ms(values, text), first)

    def speaks(self, event: Any) -> bool:
        """Whether an event has a piece of the answer's text."""
        piece = self._found("answer", event)
        return isinstance(piece, str) and bool(piece)

    def _of(self, reply: Any) -> dict[str, Any]:
        return {name: self._found(name, reply) for name in self._compiled}

    def _of_events(self, events: Sequence[Any]) -> dict[str, Any]:
        """The pieces of the answer together; of everything else what the last event says that says it."""
        values: dict[str, Any] = {}
        for event in events:
            for name, value in self._of(event).items():
                if name == "answer" and isinstance(value, str):
                    values[name] = values.get(name, "") + value
                elif value is not None and value != []:
                    values[name] = value
        return {name: values.get(name) for name in self._compiled}

    def _found(self, name: str, reply: Any) -> Any:
        """What an expression gives; None where it gives nothing, or cannot be followed in this reply."""
        from jmespath.exceptions import JMESPathError

        try:
            return self._compiled[name].search(reply)
        except (JMESPathError, RecursionError):
            return None

    def _answer(self, values: Mapping[str, Any], text: str) -> str | None:
        if "answer" in values and not isinstance(values["answer"], str):
            raise self._misfit("answer", "a text", values["answer"], text)
        return values.get("answer")

    def _own_ms(self, values: Mapping[str, Any], text: str) -> float | None:
        if "latency" not in values:
            return None
        taken = values["latency"]
        if not isinstance(taken, int | float) or isinstance(taken, bool) or not 0 <= taken <= MOST_MS:
            raise self._misfit("latency", f"milliseconds from 0 to {MOST_MS:,}", taken, text)
        return float(taken)

    def _items(self, values: Mapping[str, Any], text: str) -> list[dict[str, Any]] | None:
        lists = {name: values[name] for name in LISTS if name in values}
        if not lists:
            return None
        for name, column in lists.items():
            if not isinstance(column, list):
                raise self._misfit(name, "a list", column, text)
            if name == "passages" and (wrong := [passage for passage in column if not isinstance(passage, str)]):
                raise self._misfit(name, "a list of texts", wrong[0], text)
        if len({len(column) for column in lists.values()}) > 1:
            counts = ", ".join(f"{name} {len(column)}" for name, column in lists.items())
            raise RetrievalError(f"lists of one length are expected; got {counts}; the reply begins {_beginning(text)}")
        rows = zip(*lists.values(), strict=True)
        items = [dict(zip((LISTS[name] for name in lists), row, strict=True)) for row in rows]
        ItemReader(Passages(())).hits(items, len(items))  # refuses ids and scores that are none
        return items

    def _misfit(self, name: str, expected: str, value: Any, text: str) -> RetrievalError:
        got = "nothing" if value is None else kind(value)
        place = f"{name} = {self._written[name]!r}"
        return RetrievalError(f"{place}: {expected} is expected; got {got}; the reply begins {_beginning(text)}")


def _refused(name: str) -> float:
    raise ValueError(name)


def _beginning(text: str) -> str:
    begins = excerpt(text, SHOWN_CHARACTERS)
    return "".join(letter if letter.isprintable() else " " for letter in begins)
