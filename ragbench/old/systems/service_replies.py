"""What a service replied: read by the JMESPath expressions of its table, told where it is a fault, and looked through
for expressions that would read it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ragbench.old.core.expectations import kind
from ragbench.old.core.settings import SystemSettings
from ragbench.old.core.settings.secrets import excerpt, masked
from ragbench.old.data.cells import TABLE
from ragbench.old.data.payloads import FAULTS, SILENT, number, passage_of, quoted, role_of
from ragbench.old.data.vocabulary import PARTS, field_of
from ragbench.old.llm.reply import storable
from ragbench.old.llm.service import events
from ragbench.old.systems.passages import ItemReader, Passages, by_id
from ragbench.old.systems.retrieval import RetrievalError

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
    """Those of one system, ready to read replies as `ragbench.old.llm.service.Service` keeps them."""

    def __init__(self, settings: SystemSettings, lists: Iterable[str] = LISTS) -> None:
        """lists: those of LISTS that are looked for; a service that was given passages has none to tell of."""
        import jmespath

        self._streams = settings.stream
        given = {name: getattr(settings, name) for name in ("answer", *lists, "latency")}
        self._written = {name: text for name, text in given.items() if text is not None}
        self._compiled = {name: jmespath.compile(text) for name, text in self._written.items()}

    def read(self, text: str) -> Said:
        """Raises RetrievalError, which says what was expected and how the reply begins."""
        try:
            reply = masked(_opened(text, self._written.get("answer") == "@"), storable)
            parts = reply["events"] if self._streams else [reply]
            values = self._of_events(parts) if self._streams else self._of(reply)
        except (ValueError, RecursionError):
            if not text.strip():
                raise RetrievalError("the reply is empty; JSON is expected") from None
            raise RetrievalError(f"the reply is not JSON{_otherwise(text)}; it begins {_beginning(text)}") from None
        if failed := next((part for part in parts if has_failed(part, values.get("answer"))), None):
            raise RetrievalError(
                f"the service says that it failed: {_beginning(json.dumps(failed, ensure_ascii=False))}"
            )
        first = reply["first_ms"] if self._streams else None
        return Said(self._items(values, text), self._answer(values, text), self._own_ms(values, text), first)

    def speaks(self, event: Any) -> bool:
        """Whether an event has a piece of the answer's text."""
        return any(added([], self._of(event, "answer")["answer"], event))

    def _of(self, reply: Any, *names: str) -> dict[str, Any]:
        """What the expressions, or those named, give, also of JSON within texts; None where one gives nothing."""
        found = {name: self._found(name, reply) for name in names or self._compiled}
        if lacking := [name for name, value in found.items() if value in (None, [])]:
            with suppress(RecursionError):
                within = _unpacked(reply)
                found |= {name: self._found(name, within) for name in lacking}
        return found

    def _of_events(self, events: Sequence[Any]) -> dict[str, Any]:
        """The pieces of the answer together, or the last of those that each repeat the one before, or that stand in all
        that was said; of everything else what the last event says that says it."""
        values: dict[str, Any] = {}
        pieces: list[str] = []
        for event in events:
            found = self._of(event)
            pieces = added(pieces, found["answer"], event)
            values |= {name: value for name, value in found.items() if value not in (None, [])}
        return {name: values.get(name) for name in self._compiled} | ({"answer": joined(pieces)} if pieces else {})

    def _found(self, name: str, reply: Any) -> Any:
        """What an expression gives; None where it gives nothing, or cannot be followed in this reply."""
        from jmespath.exceptions import JMESPathError

        with suppress(JMESPathError, RecursionError):
            return self._compiled[name].search(reply)
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
        place, others = f"{name} = {self._written[name]!r}", self.unread(text)
        mend = ""
        if name == "answer" and "answer" not in others and others:
            mend = f"; it has passages alone: write {lines(others)} in place of it"
        elif others.get(name) not in (None, self._written[name]):
            mend = f"; {lines({name: others[name]})} reads one"
        elif job := _JOB.search(text):
            mend = (
                f"; it began a job ({job[0]}) that is to be asked for its answer: write a function that waits for it, "
                "as Client.predict of gradio_client does, and name it as `callable` in place of `url`"
            )
        return RetrievalError(f"{place}: {expected} is expected; got {got}{mend}; the reply begins {_beginning(text)}")

    def unread(self, text: str) -> dict[str, str]:
        """Expressions, by the key of the table, that would find an answer and passages in a reply, by the names that
        tables of answers have for them."""
        reply = _opened(text, self._written.get("answer") == "@")
        found = readable(_unpacked(reply["events"] if self._streams else [reply]))
        return {key: expression for key, expression in found.items() if key != "items"}


def added(pieces: list[str], piece: Any, event: Any) -> list[str]:
    """The pieces of an answer with that of an event: in place of all before it where the event has all that was said,
    as the states of a graph do; not where its last message is no answer: what was asked, what a tool gave, what a
    model says before it calls one."""
    places = [own for own in (event, *event.values()) if isinstance(own, Mapping)] if isinstance(event, Mapping) else []
    listed = next((place[name] for name in ("messages", "data") for place in places if name in place), None)
    messages = [own for own in listed if role_of(own) is not None] if isinstance(listed, list) else []
    if isinstance(piece, str) and not any(role_of(own) in NOT_SAID or own.get("tool_calls") for own in messages[-1:]):
        pieces = [] if "user" in map(role_of, messages) else pieces
        pieces.append(piece)
    return pieces


def has_failed(reply: Any, answer: Any) -> bool:
    """Whether a reply says, beside a good status, that there is none: by an error, by its state, or, without an answer,
    by several errors or no success."""
    if not isinstance(reply, Mapping):
        return False
    for name in FAULTS:
        said = reply.get(name)
        if isinstance(said, Mapping):
            said = next((own for own in said.values() if str(own).casefold() not in _FINE), None)
        if isinstance(said, str | bool) and str(said).strip().casefold() not in _FINE:
            return name != "detail" or not answer
        if isinstance(said, list) and said and not answer:
            return True
    if any(str(reply.get(name)).casefold() in _FAILED for name in ("status", "state", "type", "event", "статус")):
        return True
    code = number(next((reply[name] for name in ("code", "statusCode", "status") if name in reply), None))
    is_empty = reply.get("data", "") in (False, None)
    is_bad = code is not None and (400 <= code < 600 or (is_empty and code not in (0, 200)))
    return not answer and (is_bad or False in (reply.get("success"), reply.get("ok")))


def lines(expressions: Mapping[str, str]) -> str:
    """As a table of ragbench.toml has them."""
    return ", ".join(f"{key} = {json.dumps(text, ensure_ascii=False)}" for key, text in expressions.items())


def _opened(text: str, as_it_is: bool = False) -> Any:
    """What a reply holds, also where that is JSON within a text of JSON. as_it_is: whether it may be a text of none."""
    try:
        value = json.loads(text, parse_constant=_refused)
    except ValueError:
        if not as_it_is or _PAGE.match(text):
            raise
        return text
    return value if as_it_is else quoted(value)


def _unpacked(value: Any) -> Any:
    """A reply whose texts that hold a list or an object of JSON are these, as Lambda's `body` is one."""
    inner = quoted(value)
    value = value if isinstance(inner, str) else inner
    if isinstance(value, Mapping):
        return {name: _unpacked(own) for name, own in value.items()}
    return [*map(_unpacked, value)] if isinstance(value, list) else value


def _otherwise(text: str) -> str:
    """How what is not JSON would be read: a stream by its events, a text as the answer; or what came instead."""
    if parts := list(events(text)):
        answer = "@" if isinstance(parts[0], str) else readable(parts).get("answer")
        return "; stream = true reads its events" + (f", with {lines({'answer': answer})}" if answer else "")
    if _PAGE.match(text):
        return ", but a page, as for a browser: look at `url`, and at what `headers` say of a key"
    return "" if _CUT.match(text) else '; answer = "@" takes it as it is'


def joined(pieces: Sequence[str]) -> str:
    """The pieces of a streamed answer together, or the last of those that each repeat the one before, or all before."""
    grown = pieces[:-1] if len(pieces) > 3 else pieces  # into the last, citations may be set
    is_told = " " in "".join(pieces[:1]).strip() or (
        len(pieces) > 2 and grown[0] != grown[-1]
    )  # no chance, as "1", "10"
    repeats = len(pieces) > 1 and is_told and all(later.startswith(piece) for piece, later in pairwise(grown))
    if repeats and pieces[-1].startswith(pieces[0]) and len(pieces[-1]) >= len(grown[-1]):
        return pieces[-1]
    whole = "".join(pieces[:-1])
    return pieces[-1] if len(pieces) > 2 and pieces[-1].strip() == whole.strip() else "".join(pieces)


def readable(parts: Iterable[Any], is_named: bool = False) -> dict[str, str]:
    """Expressions that find passages, ids and an answer in a reply, or in the events of one, by the key of a service's
    table; of several answers the likeliest, and of equally likely ones that which most events have. `items` finds the
    passages with all that is told of each. is_named: an answer is called so."""
    found: dict[str, str] = {}
    answers = Counter[tuple[float, int, str]]()
    parts = [part for part in parts if not has_failed(part, None)]
    for part in parts:
        said = [text for rank, _, _, text in _answers(part) if rank < UNNAMED]
        for key, expression in _listed(part, said).items():
            found.setdefault(key, expression)
        within = re.sub(r"\[\*?\](\[0\])?[^\[\]]*$", "", found["passages"]) if "passages" in found else None
        answers.update({own[:3]: 1 for own in _answers(part, within) if own[0] < UNNAMED or not is_named})
    if answers:
        *_, found["answer"] = min(answers, key=lambda own: (own[0], -answers[own], own[1]))
        found["answer"] = _of_a_kind(found["answer"], parts) if len(parts) > 1 else found["answer"]
    return found


def _of_a_kind(expression: str, events: Sequence[Any]) -> str:
    """The expression of a piece of the answer, for events of the likeliest kind alone, where others say something
    there, too: how far a search is, what a model thinks."""
    import jmespath

    if expression == "@":
        return expression
    speaking = [event for event in events if isinstance(event, Mapping) and jmespath.search(expression, event)]
    for mark in ("type", "event"):
        kinds = Counter(str(event[mark]) for event in speaking if mark in event)
        if len(kinds) > 1:
            words = [*PARTS.answered, *PARTS.pieces]
            is_known = {kind: any(word in kind for word in words) and not _THINKS.search(kind) for kind in kinds}
            kind = max(kinds, key=lambda own: (is_known[own], "text" in own, kinds[own]))
            return f"{mark} == '{kind}' && {expression}"
    return expression


def _answers(
    value: Any, within: str | None = None, place: str = "", name: str = ""
) -> Iterator[tuple[float, int, str, str]]:
    """Texts that may be the answer: how likely by their names, from 0, the less the likelier; in how many lists; the
    expression; the text. within: the list of the passages, among which none is looked for."""
    if isinstance(value, Mapping):
        for key, member in value.items() if role_of(value) not in NOT_SAID else ():
            is_asked = field_of(key) == "user_input" or (isinstance(member, list) and "history" in key.casefold())
            if key not in FAULTS and not is_asked:
                yield from _answers(member, within, _member(place, key), key)
    elif isinstance(value, list) and value and _AT.sub("[]", place) != within:
        said = [-1 if own is value[-1] else at for at, own in enumerate(value) if _is_said(own)]
        if all(isinstance(own, list) and [*map(type, own)] == [str, str] for own in value):  # questions and answers
            yield from _answers(value[-1][1], within, f"{place}[-1][1]", name)
            return
        for at in said[-1:] or (range(len(value)) if len({*map(type, value)}) > 1 else [0]):
            yield from _answers(value[at], within, f"{place}[{at}]", name)
    elif isinstance(value, str) and isinstance(quoted(value), str):
        named = [*PARTS.answered, *PARTS.pieces]
        rank = 1.0 + named.index(name) if name in named else UNNAMED
        if not place or field_of(name) == "response":
            rank = 0
        elif len(value.split()) > 1 and any(hint in name.casefold() for hint in TABLE["hints"]["response"]):
            rank = 1
        if value.casefold() not in _FINE and (rank < UNNAMED or len(value.split()) > 1):
            yield rank, place.count("["), place or "@", value


def _listed(reply: Any, said: Sequence[str]) -> dict[str, str]:
    """Where the texts of passages stand, and their ids: of lists that are called so, else of such as tell a score or an
    address beside a text; without texts the ids alone. said: answers; what quotes one of them is no passage."""
    found = [own for place in _places([reply]) if (own := _passages(*place, said)) is not None]
    return min(found, key=lambda own: own[0])[1] if found else {}


def _places(
    values: Sequence[Any], place: str = "", names: tuple[str, ...] = ()
) -> Iterator[tuple[str, tuple[str, ...], Sequence[Any]]]:
    """The places of a reply within lists, by their expressions: the names that lead there, and what stands there, of
    lists within a list one after the other."""
    if all(isinstance(value, list) for value in values):
        items = [item for value in values for item in value]
        if len(values) == 1 and list(map(type, items)) == [str, list]:  # an answer and its passages
            yield from _places(items[1:], f"{place}[1]", names)
        elif items and all(isinstance(own, list) and len(own) == 2 and number(own[1]) is not None for own in items):
            yield from _places(
                [own for own, _ in items],
                place + ("[*][0]" if "[" not in place else "[0]" if place[-1] == "]" else "[][0]"),
                names,
            )
        elif items:
            yield from _places(items, f"{place}[]", names)
        return
    if "[" in place:
        yield place, names, values
    members: dict[str, list[Any]] = {}
    for value in values:
        for name, member in value.items() if isinstance(value, Mapping) else ():
            if member is not None and name not in FAULTS:
                members.setdefault(name, []).append(member)
    for name, own in members.items():
        at = _member(place, name)
        if "[" not in at and _may_list(name) and isinstance(own[0], Mapping) and by_id(own[0]) is not None:
            yield f"{at}.*", (*names, name), [*own[0].values()]
        else:
            yield from _places(own, at, (*names, name))


def _passages(
    place: str, names: Sequence[str], values: Sequence[Any], said: Sequence[str]
) -> tuple[int, dict[str, str]] | None:
    """How likely passages stand at a place, from 0, the less the likelier, and what reads them; None where none do."""
    is_named = bool(names) and _may_list(names[-1])
    keys = {"ids": f"keys({place[:-2]})"} if place.endswith(".*") else {}
    if all(isinstance(value, str) for value in values):
        is_text = any(len(value.split()) > 1 for value in values) and not all(map(_FILE.search, values))
        may_be = is_text or field_of(names[-1]) == "contexts" if is_named else is_text and not names
        if place[-1] not in "]*" or not may_be or _quotes(values, said):
            return None
        place = place if "[" in place[:-2] or keys else place[:-2] or "@"
        return int(not is_named), {"passages": place, "items": place, **keys}
    if not all(isinstance(value, Mapping) for value in values) or any(map(_is_said, values)):
        return None
    leaves = [dict(_leaves(value)) for value in values]
    read = [passage for value in values if (passage := passage_of(value)) is not None]
    texts = [passage.text for passage in read if passage.text is not None]
    is_told = any((own.id, own.score, own.url, own.title) != (None, None, None, None) for own in read)
    ids = [at for name in PARTS.ids for at in leaves[0] if at.rpartition(".")[2] == name and _are_ids(at, leaves)]
    found = {"ids": f"{place}.{ids[0]}"} if ids else keys
    if not texts or _quotes(texts, said):
        return (2, found) if is_named and found and not texts else None
    for at in leaves[0] if is_named or is_told else ():
        if [own[at] for own in leaves if at in own] == texts:
            texts_at = {"passages": f"{place}.{at}", "items": place}
            return int(not is_named), {**texts_at, **(found if len(texts) == len(values) else {})}
    return None


def _leaves(item: Mapping[str, Any], place: str = "", depth: int = 0) -> Iterator[tuple[str, str | int]]:
    """Texts and whole numbers of an object and of those within it, by their expressions, its own first."""
    for name, value in item.items():
        if isinstance(value, str | int) and not isinstance(value, bool):
            yield _member(place, name), value
    for name, value in item.items() if depth < NESTED else ():
        if isinstance(value, Mapping):
            yield from _leaves(value, _member(place, name), depth + 1)


def _are_ids(at: str, leaves: Sequence[Mapping[str, str | int]]) -> bool:
    """Whether each item has another value there, and these are no numbers of their places."""
    own = [str(each.get(at, "")) for each in leaves]
    counted = (list(map(str, range(first, first + len(own)))) for first in (0, 1))
    return "" not in own and len({*own}) == len(own) and (len(own) == 1 or own not in counted)


def _quotes(texts: Sequence[str], said: Sequence[str]) -> bool:
    return any(len(answer) > len(text) and text in answer for answer in said for text in texts)


def _member(place: str, name: str) -> str:
    return f"{place}{'.' if place else ''}{name if _PLAIN.fullmatch(name) else json.dumps(name, ensure_ascii=False)}"


def _may_list(name: str) -> bool:
    hints = TABLE["hints"]["contexts"]
    is_hinted = any(hint in name.casefold() for hint in hints)
    return is_hinted or field_of(name) == "contexts" or name in (*PARTS.lists, *PARTS.beside)


def _is_said(part: Any) -> bool:
    """Whether a part of a list is a message, or a piece of one."""
    role = role_of(part) or ""
    return role in (*NOT_SAID, *PARTS.models, "message", "reasoning", "thinking") or role.endswith("text")


_THINKS = re.compile("think|thought|reason|status|final|done|end$")
_FAILED = {"error", "errored", "failed", "failure", "exception", "ошибка"}
_FINE = {"", "none", "null", "false", "no", "ok", "0", "200", "success", "нет"}
_CUT = re.compile(r'\s*+(\{|\[\s*+[\[{"])')  # JSON that is not whole
_PAGE = re.compile(r"\s*+<(!doctype|html|head|body|\?xml)\b", re.IGNORECASE)
_JOB = re.compile(
    r'"(event|job|task)_?id": *"[^"]{0,64}"|"status": *"(queued|pending|starting|processing|accepted)"', re.IGNORECASE
)
"""How a reply says that the answer is still to come."""
_AT = re.compile(r"\[-?\d+\]")
_FILE = re.compile(r"^\w+://\S+$|\.\w{2,4}$")
NOT_SAID = frozenset({"user", *SILENT})
"""Who writes messages that are no answer."""
UNNAMED = 100.0
"""How likely a text is the answer that is not called so."""
NESTED = 3
"""Objects within each other that a passage's text and id are looked for in."""
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def _refused(name: str) -> float:
    raise ValueError(name)


def _beginning(text: str) -> str:
    begins = excerpt(text, SHOWN_CHARACTERS)
    return "".join(letter if letter.isprintable() else " " for letter in begins)
