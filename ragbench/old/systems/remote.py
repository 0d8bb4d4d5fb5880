"""A service over HTTP that answers questions: any address that takes JSON and replies with it.

What a reply holds is found by the JMESPath expressions of the service's table.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from ragbench.old import llm
from ragbench.old.core.settings import ConfigurationError, JudgeSettings, SystemSettings
from ragbench.old.core.settings.endpoints import Patience
from ragbench.old.core.settings.tables import filled
from ragbench.old.core.types import Array, Chunk, Hit, Question, Status
from ragbench.old.core.waves import gather
from ragbench.old.llm import Budget, Client, Completion, Journal, ProviderRefused, ProviderUnreachable, planning
from ragbench.old.llm.planning import DryRun
from ragbench.old.llm.service import Service
from ragbench.old.llm.transport import key_in
from ragbench.old.systems.generation import Generation, GenerationError, Task
from ragbench.old.systems.passages import ItemReader, Passages
from ragbench.old.systems.retrieval import Progress, Retrieval, RetrievalError, counted
from ragbench.old.systems.service_replies import Expressions, Said, lines


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
    """Ask a service one question: the lines of its table that would read the passages in its reply, where none does,
    and the answer, where a text of JSON holds it.

    Raises RetrievalError where it does not answer as the table says.
    """
    journal = llm.MemoryJournal()
    RemoteSystem(name, settings, (), journal=journal).retrieve([Question("probe", question)], 1)
    [reply] = [str(row["text"]) for row in journal.rows.values()]
    found = {} if settings.passages or settings.ids else Expressions(settings).unread(reply)
    is_within = found.get("answer", "").startswith(f"{settings.answer}.")
    return lines({key: found[key] for key in ("answer",) * is_within + ("passages", "ids") if key in found})


def named(settings: SystemSettings) -> tuple[str, str]:
    """What the journal calls a service: its host, and what is asked there; the same for all systems behind it."""
    parts = urlsplit(str(settings.url))
    return parts.netloc, f"{settings.method} {parts.path or '/'}"


def _as_model(settings: SystemSettings, model: str) -> JudgeSettings:
    """The settings as a client takes them."""
    shared = {*Patience.model_fields, "concurrency", "requests_per_minute"}
    address = str(settings.url).partition("?")[0]
    return JudgeSettings(model=model, base_url=address, **settings.model_dump(include=shared))
