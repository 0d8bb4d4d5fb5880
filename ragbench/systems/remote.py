"""A service over HTTP that answers questions: any address that takes JSON and replies with it.

What a reply holds is found by the JMESPath expressions of the service's table.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from ragbench import llm
from ragbench.core.expectations import kind
from ragbench.core.settings import ConfigurationError, JudgeSettings, SystemSettings
from ragbench.core.settings.endpoints import Patience
from ragbench.core.settings.secrets import excerpt, masked
from ragbench.core.settings.tables import filled
from ragbench.core.types import Array, Chunk, Hit, Question, Status
from ragbench.core.waves import gather
from ragbench.data.payloads import quoted, role_of
from ragbench.data.vocabulary import PARTS, field_of
from ragbench.llm import Budget, Client, Completion, Journal, ProviderRefused, ProviderUnreachable, planning
from ragbench.llm.planning import DryRun
from ragbench.llm.reply import storable
from ragbench.llm.service import Service, events
from ragbench.llm.transport import key_in
from ragbench.systems.generation import Generation, GenerationError, Task
from ragbench.systems.passages import ItemReader, Passages
from ragbench.systems.retrieval import Progress, Retrieval, RetrievalError, counted

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
            values = self._of_events(reply["events"]) if self._streams else self._of(reply)
        except (ValueError, RecursionError):
            raise RetrievalError(f"the reply is not JSON{_otherwise(text)}; it begins {_beginning(text)}") from None
        first = reply["first_ms"] if self._streams else None
        return Said(self._items(values, text), self._answer(values, text), self._own_ms(values, text), first)

    def speaks(self, event: Any) -> bool:
        """Whether an event has a piece of the answer's text."""
        piece = self._found("answer", event)
        return isinstance(piece, str) and bool(piece)

    def _of(self, reply: Any) -> dict[str, Any]:
        return {name: self._found(name, reply) for name in self._compiled}

    def _of_events(self, events: Sequence[Any]) -> dict[str, Any]:
        """The pieces of the answer together, or the last of those that each repeat the one before; of everything else
        what the last event says that says it."""
        values: dict[str, Any] = {}
        pieces: list[str] = []
        for event in events:
            for name, value in self._of(event).items():
                if name == "answer" and isinstance(value, str):
                    pieces.append(value)
                elif value is not None and value != []:
                    values[name] = value
        if pieces:
            grown = pieces[:-1] if len(pieces) > 3 else pieces  # into the last, citations may be set
            repeats = len(pieces) > 2 and all(later.startswith(piece) for piece, later in pairwise(grown))
            is_whole = pieces[-1].startswith(pieces[0]) and len(pieces[-1]) >= len(grown[-1])
            values["answer"] = pieces[-1] if repeats and grown[0] != grown[-1] and is_whole else "".join(pieces)
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
        place, other = f"{name} = {self._written[name]!r}", self.unread(text).get(name)
        mend = f"; {name} = {json.dumps(other)} reads one" if other not in (None, self._written[name]) else ""
        return RetrievalError(f"{place}: {expected} is expected; got {got}{mend}; the reply begins {_beginning(text)}")

    def unread(self, text: str) -> dict[str, str]:
        """Expressions, by the key of the table, that would find an answer and passages in a reply, by the names that
        tables of answers have for them."""
        reply = _opened(text)
        return _readable(reply["events"] if self._streams else [reply])


def _opened(text: str, as_it_is: bool = False) -> Any:
    """What a reply holds, also where that is JSON within a text of JSON. as_it_is: whether it may be a text of none."""
    try:
        value = json.loads(text, parse_constant=_refused)
    except ValueError:
        if not as_it_is or text.lstrip().startswith("<"):
            raise
        return text
    return value if as_it_is else quoted(value)


def _otherwise(text: str) -> str:
    """How what is not JSON would be read: a stream by its events, a text as the answer; empty for a page."""
    if parts := list(events(text)):
        answer = "@" if isinstance(parts[0], str) else _readable(parts).get("answer")
        return "; stream = true reads its events" + (f", with answer = {json.dumps(answer)}" if answer else "")
    return "" if text.strip()[:1] in "<[{" else '; answer = "@" takes it as it is'


def _readable(parts: Iterable[Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, expression in (pair for part in parts for pair in _offered(part)):
        found.setdefault(key, expression)
    return found


def _offered(value: Any, place: str = "", name: str = "") -> Iterator[tuple[str, str]]:
    """Keys of a service's table and what they could be for this part of a reply, the likeliest first."""
    if isinstance(value, Mapping):
        members = {
            key: f"{place}{'.' if place else ''}{key if _PLAIN.fullmatch(key) else json.dumps(key)}" for key in value
        }
        for key in sorted(value.keys() - _FAULTS, key=lambda key: (field_of(key) != "response", [*value].index(key))):
            yield from _offered(value[key], members[key], key)
    elif isinstance(value, list) and value and place and _may_list(name) and not _is_said(value[0]):
        if isinstance(value[0], str) and (name not in PARTS.beside or len(value[0].split()) > 1):
            yield "passages", place
        elif isinstance(value[0], Mapping):
            ids = [own for own in PARTS.ids if len({str(item.get(own)) for item in value}) == len(value)]
            for key, names in (("passages", PARTS.texts), ("ids", ids)):
                yield from ((key, f"{place}[].{own}") for own in names if isinstance(value[0].get(own), str))
    elif isinstance(value, list) and value:
        last = -1 if _is_said(value[0]) else 0
        yield from _offered(value[last], f"{place}[{last}]", name)
    elif isinstance(value, str) and not place:
        yield "answer", "@"
    elif isinstance(value, str) and (field_of(name) == "response" or name in (*PARTS.answered, *PARTS.pieces)):
        yield "answer", place


def _may_list(name: str) -> bool:
    return field_of(name) == "contexts" or name in (*PARTS.lists, *PARTS.beside)


def _is_said(part: Any) -> bool:
    """Whether a part of a list is a message, or a piece of one."""
    return role_of(part) in (*PARTS.people, *PARTS.models, "message", "text", "reasoning", "thinking")


_FAULTS = {"error", "errors", "detail"}
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def _refused(name: str) -> float:
    raise ValueError(name)


def _beginning(text: str) -> str:
    begins = excerpt(text, SHOWN_CHARACTERS)
    return "".join(letter if letter.isprintable() else " " for letter in begins)


@dataclass(frozen=True)
class _Outcome:
    """What came of one question: what was said and how many seconds it took, or why there is nothing."""

    said: Said | None = None
    seconds: float = np.nan
    error: str = ""

    @property
    def taken_ms(self) -> float:
        """As the service says it, else as it was waited for."""
        own = None if self.said is None else self.said.own_ms
        return self.seconds * 1000 if own is None else own


@dataclass(frozen=True)
class _Call:
    """One request, and what a plan goes on with in place of its reply."""

    request: llm.Request
    stand_in: Callable[[], Said]


class RemoteSystem:
    """Asked once a question, as many in flight as its table says; each good reply is in the journal before it is used.

    Its latencies are those of the one attempt that was answered, waiting in line not counted, and stay what they were
    when a reply comes out of the journal. A reply that is not what the expressions say is no reply: it is not kept, and
    its question is kept as an error without hits. A service that refuses every question, or that is not there, is not
    asked to the end. When every question fails, nothing was measured, and that is an error as a whole.
    One whose body takes contexts is a generator, too.

    journal: where replies are kept; None: in memory. Raises RetrievalError where a variable of its headers is not set.
    """

    is_stand_in = False
    keeps_readings = True
    max_context_characters: int | None = None

    def __init__(
        self,
        name: str,
        settings: SystemSettings,
        chunks: Sequence[Chunk],
        *,
        journal: Journal | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.name, self.settings, self.chunks, self._passages = name, settings, chunks, Passages.of(chunks)
        self._journal, self._budget = journal, budget or Budget()
        self._repeat = 0
        try:
            self._secrets = {
                variable: key_in(f"systems.{name}.headers", variable) for variable in settings.header_variables
            }
        except ConfigurationError as error:
            raise RetrievalError(str(error)) from None

    @property
    def takes_contexts(self) -> bool:
        return self.settings.takes_contexts

    @property
    def description(self) -> Mapping[str, Any]:
        return {"kind": "http", "url": self.settings.url, "in_flight": self.settings.concurrency}

    def retrieve(
        self, questions: Sequence[Question], k: int, *, progress: Progress | None = None, fresh: bool = False
    ) -> Retrieval:
        """Raises RetrievalError when every question fails, BudgetSpent where the budget admits no further call."""
        self._repeat = self._repeat + 1 if fresh else 0
        if progress is not None and not fresh:
            progress(len(self.chunks))
        calls = [_Call(self._request(q, k, None, self._repeat), partial(self._stand_in, q, k)) for q in questions]
        advance = None if progress is None else partial(progress, 2)
        outcomes = llm.run(self._all(calls, Expressions(self.settings), advance))
        reader, untold = ItemReader(self._passages), []
        answers: dict[str, tuple[Generation, ...]] = {}
        errors: dict[str, str] = {}
        hits: list[list[Hit]] = []
        call, first = np.full(len(questions), np.nan), np.full(len(questions), np.nan)
        for place, (question, outcome) in enumerate(zip(questions, outcomes, strict=True)):
            try:
                if outcome.said is None:
                    raise RetrievalError(outcome.error)
                said = outcome.said
                hits.append([] if said.items is None else reader.hits(said.items, k, question.relevant))
            except RetrievalError as error:
                hits.append([])
                errors[question.id] = str(error)
                continue
            if said.items is None:
                untold.append(question.id)
            call[place] = outcome.taken_ms
            first[place] = np.nan if said.first_ms is None else said.first_ms
            if said.answer is not None:
                answers[question.id] = (Generation.of(said.answer, self.name, seconds=float(call[place]) / 1000),)
        facts = {
            **self.description,
            **reader.facts(),
            **counted(f"systems.{self.name} ({self.settings.url})", questions, errors),
        }
        stages: dict[str, Array] = {"call": call, **({"first_token": first} if self.settings.stream else {})}
        return Retrieval(
            hits,
            search_ms=call,
            logged_ms=stages,
            errors=errors,
            untold=frozenset(untold),
            facts=facts,
            answers=answers,
        )

    def generate(self, tasks: Sequence[Task], *, progress: Progress | None = None) -> list[Generation]:
        """Asked with the contexts of each task; of a reply its answer alone is read. Raises GenerationError when every
        task fails, BudgetSpent where the budget admits no further call."""
        calls = [
            _Call(
                self._request(
                    task.question, len(task.contexts) or 1, [chunk.text for chunk in task.contexts], task.repeat
                ),
                partial(Said, None, task.question.reference or task.question.text),
            )
            for task in tasks
        ]
        advance = None if progress is None else partial(progress, 1)
        outcomes = llm.run(self._all(calls, Expressions(self.settings, ()), advance))
        if tasks and not any(outcome.said for outcome in outcomes):
            raise GenerationError(
                f"systems.{self.name} ({self.settings.url}) failed for all {len(tasks)} tasks: {outcomes[0].error}"
            )
        return [
            Generation.failed(Status.MISSING_FIELD, outcome.error)
            if outcome.said is None
            else Generation.of(outcome.said.answer, self.name, seconds=outcome.taken_ms / 1000)
            for outcome in outcomes
        ]

    async def _all(
        self, calls: Sequence[_Call], expressions: Expressions, advance: Callable[[], object] | None
    ) -> list[_Outcome]:
        """In a plan the journal is asked alone: a stand-in answers what would have been asked."""
        name, model = named(self.settings)
        endpoint = _as_model(self.settings, model)
        dry_run = DryRun(name, endpoint, self._journal) if planning.folder() is not None else None
        client = self._client(name, endpoint, expressions) if dry_run is None else dry_run.client

        async def one(call: _Call) -> _Outcome:
            try:
                completion = await client.complete(lambda: call.request)
            except (ProviderRefused, ProviderUnreachable) as error:
                return _Outcome(error=str(error))
            if dry_run is not None and dry_run.is_missing(completion):
                return _Outcome(call.stand_in(), 0.0)
            if advance is not None:
                advance()
            return _outcome(completion, expressions)

        try:
            outcomes = await gather([one(call) for call in calls])
            if dry_run is not None:
                known = await asyncio.to_thread(planning.experience, self._journal, name, model)
                outlook = dry_run.outlook(known)
                planning.keep([replace(outlook, name=self.name, missing=dict.fromkeys(outlook.missing, (0, 0)))])
        finally:
            await client.close()
        return outcomes

    def _client(self, name: str, endpoint: JudgeSettings, expressions: Expressions) -> Client:
        values = {variable: secret.get_secret_value() for variable, secret in self._secrets.items()}
        headers = {header: filled(value, values) for header, value in self.settings.headers.items()}
        if self.settings.stream:
            headers = {"Accept": "text/event-stream", **headers}
        service = Service(
            "the service", endpoint, headers, tuple(self._secrets.values()), expressions.read,
            expressions.speaks if self.settings.stream else None, self._budget, self._journal,
        )  # fmt: skip
        return Client(name, endpoint, journal=self._journal, budget=self._budget, sender=service)

    def _request(self, question: Question, k: int, contexts: Sequence[str] | None, repeat: int) -> llm.Request:
        names = [*self.settings.headers, *(["text/event-stream"] if self.settings.stream else [])]
        return Service.request(self.settings.method, *self.settings.asked(question.text, k, contexts), names, repeat)

    def _stand_in(self, question: Question, k: int) -> Said:
        """What a plan goes on with: the relevant chunks, else the first ones, and the reference as the answer."""
        chosen = [chunk for chunk in self.chunks if chunk.id in question.relevant] or list(self.chunks)
        looked_for = self.settings.ids or self.settings.passages
        items = [{"id": chunk.id} for chunk in chosen[:k]] if looked_for else None
        return Said(items, (question.reference or question.text) if self.settings.answer else None)


def _outcome(completion: Completion, expressions: Expressions) -> _Outcome:
    if completion.value is None:
        return _Outcome(error=completion.reason)
    try:
        return _Outcome(expressions.read(completion.value), completion.seconds)
    except RetrievalError as error:
        return _Outcome(error=f"of the journal: {error}")


def unread(name: str, settings: SystemSettings, question: str) -> str:
    """Ask a service one question: the lines of its table that would read the passages in its reply, where none does.

    Raises RetrievalError where it does not answer as the table says.
    """
    journal = llm.MemoryJournal()
    RemoteSystem(name, settings, (), journal=journal).retrieve([Question("probe", question)], 1)
    [reply] = [str(row["text"]) for row in journal.rows.values()]
    found = {} if settings.passages or settings.ids else Expressions(settings).unread(reply)
    return ", ".join(f"{key} = {json.dumps(found[key])}" for key in ("passages", "ids") if key in found)


def named(settings: SystemSettings) -> tuple[str, str]:
    """What the journal calls a service: its host, and what is asked there; the same for all systems behind it."""
    parts = urlsplit(str(settings.url))
    return parts.netloc, f"{settings.method} {parts.path or '/'}"


def _as_model(settings: SystemSettings, model: str) -> JudgeSettings:
    """The settings as a client takes them."""
    shared = {*Patience.model_fields, "concurrency", "requests_per_minute"}
    address = str(settings.url).partition("?")[0]
    return JudgeSettings(model=model, base_url=address, **settings.model_dump(include=shared))
