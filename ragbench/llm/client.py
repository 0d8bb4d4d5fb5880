"""One client for every model behind the chat-completions protocol."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from pydantic import BaseModel

from ragbench.core.errors import Unmeasured
from ragbench.core.settings import Budget, Model
from ragbench.llm.calling import Caller, Function
from ragbench.llm.dialect import Dialect, schema_in_words
from ragbench.llm.endpoints import check_client
from ragbench.llm.errors import Fault, UnusableReplyError
from ragbench.llm.journal import Journal
from ragbench.llm.limits import Spending
from ragbench.llm.replies import (
    read_reply,
    read_vectors,
    storable,
    text_of,
)
from ragbench.llm.types import Plan, Reply, Request, Shape, Stored

# Raised when the reading of replies changes what a journaled one means: it is part of every key.
READER_VERSION = 1
# Judges are asked for their likeliest words, so that a second run says the same.
OPTIONS = {"temperature": 0.0, "max_tokens": 2048}
PARAMETERS = {"temperature", "top_p", "max_tokens", "seed"}
REPAIR = "Your reply could not be used: {reason}. Reply to the same task once more.\n\n{schema}"
# For estimates alone, between English (4) and Russian (2.5); what is billed comes from `usage`.
CHARACTERS_PER_TOKEN = 3.0
USUAL_TOKENS_OUT = 300.0
CUT = "the reply was cut at the limit of tokens; raise max_tokens"


class Client:
    """Asks one model: so many requests at once, each reply journaled before it is read.

    model: a table of ragbench.toml, with its provider resolved (`endpoints.resolve`).
    name: who is asked, part of every journal key. journal: see `Journal`. spending: shared by the
    clients of a run. openai_client: the user's own. function: asked instead of an endpoint.

    Enter it anew on every event loop.

    >>> async with Client(model, journal="replies.sqlite") as client:
    ...     reply = await client.ask(Request(messages, Verdict))
    """

    def __init__(
        self,
        model: Model,
        journal: Journal | str | Path | None = None,
        *,
        name: str = "",
        spending: Spending | None = None,
        openai_client: Any = None,
        function: Function | None = None,
    ) -> None:
        self.model = model
        self.name = name or model.model
        self.journal = journal if isinstance(journal, Journal) else Journal(journal)
        self.spending = spending or Spending(Budget())
        self.usage = Plan(self.name)
        self._function = function
        self._own_client = None if openai_client is None else check_client(openai_client)
        self._address = model.base_url
        if openai_client is not None:
            self._address += f"{openai_client.base_url} {openai_client.default_query}"
        self._dialect = Dialect(model)
        self._options = read_options(model)
        # What a function costs is not ours to say.
        self._prices = (0.0, 0.0) if function is not None else read_prices(model)
        self._left_out: set[str] = set()
        self._planned: dict[str, Request[Any] | None] = {}
        self._under_way: dict[str, asyncio.Task[Reply[Any]]] = {}
        self._mean_tokens_out = USUAL_TOKENS_OUT

    async def __aenter__(self) -> Self:
        await self.journal.__aenter__()
        self._caller = Caller(
            self.name, self.model, self.spending, self._own_client, self._function
        )
        mean = self.journal.mean_tokens_out(self.model.model)
        self._mean_tokens_out = mean or USUAL_TOKENS_OUT
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *error: object) -> None:
        """Keep what was received, and close the connections.

        Calls in flight are paid for, so they are waited for, unless it was the user who stopped.
        """
        tasks = list(self._under_way.values())
        if kind is not None and not issubclass(kind, Exception):
            for task in tasks:
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.journal.__aexit__()
        await self._caller.close()

    @property
    def notes(self) -> list[str]:
        """What the reader of results must know: what replies were asked for without."""
        left_out = ", ".join(sorted(self._left_out))
        return [f"{self.name} was asked without {left_out}"] if left_out else []

    async def ask(self, request: Request[Shape]) -> Reply[Shape]:
        """Return the model's value, asking once more where the first reply cannot be used.

        A reply that was cut is asked for again with twice the length, another one with the reason
        why it could not be read. Raises StopError where no further call can succeed.
        """
        reply = await self._attempt(request)
        again = self._repair(request, reply)
        return reply if again is None else await self._attempt(again)

    async def embed(self, texts: Sequence[str], dimensions: int | None = None) -> np.ndarray:
        """Return (texts, width) float32 vectors as the endpoint gives them.

        dimensions: a shorter width, of models that can be cut. One call; nothing is journaled,
        since vectors are cached where they are used. Raises Unmeasured, StopError.
        """
        cleaned = [storable(text) for text in texts]
        body: dict[str, Any] = {"model": self.model.model, "input": cleaned, **self.model.options}
        width = dimensions or self.model.dimensions
        if width:
            body["dimensions"] = width
        tokens = sum(map(len, texts)) / CHARACTERS_PER_TOKEN
        cost = self._price(tokens, 0)

        try:
            answer = await self._caller.persist(
                lambda: self._caller.post("/embeddings", body), tokens, cost
            )
        except Fault as fault:
            raise Unmeasured(fault.status, str(fault)) from None
        self._caller.notice("ok")
        self.spending.add(1, tokens, cost)
        return read_vectors(answer, len(texts))

    def look_up(self, request: Request[Shape]) -> Reply[Shape] | None:
        """Return the reply that the journal has, or None; nothing is asked.

        What it lacks is counted in `plan`, each request once.
        """
        key = self._key(request)
        stored = self.journal.get(key)
        self._planned[key] = request if stored is None else None
        if stored is None:
            return None
        reply = self._read(stored, request)
        again = self._repair(request, reply)
        return reply if again is None else self.look_up(again)

    def plan(self) -> Plan:
        """Return what asking all that was looked up would take."""
        plan = Plan(self.name)
        for missing in self._planned.values():
            if missing is None:
                plan.journaled += 1
            else:
                tokens_in = count_tokens(missing)
                cost = self._price(tokens_in, self._mean_tokens_out)
                plan.add_call(tokens_in, self._mean_tokens_out, cost)
        return plan

    async def _attempt(self, request: Request[Shape]) -> Reply[Shape]:
        """Return one reply, out of the journal or of a call."""
        key = self._key(request)
        stored = self.journal.get(key)
        if stored is not None:
            self.usage.journaled += 1
            self._left_out.update(stored.left_out.split())
            return self._read(stored, request)
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.create_task(self._send(key, request))
            self._under_way[key] = task
            task.add_done_callback(lambda done: self._finish(key, done))
        # The call goes on when whoever waits is cancelled: it is paid for and will be journaled.
        return await asyncio.shield(task)

    def _finish(self, key: str, task: asyncio.Task[Reply[Any]]) -> None:
        del self._under_way[key]
        if not task.cancelled():
            task.exception()  # whoever waited may be gone, and asyncio would complain of it

    async def _send(self, key: str, request: Request[Shape]) -> Reply[Shape]:
        """Send a request, and read its reply when that is on disk."""
        reply: Reply[Shape]
        tokens_in = count_tokens(request)
        tokens = tokens_in + self._mean_tokens_out
        cost = self._price(tokens_in, self._mean_tokens_out)
        try:
            stored, form = await self._caller.persist(lambda: self._pay(key, request), tokens, cost)
        except (Fault, UnusableReplyError) as error:
            # Nothing was said: there is nothing to keep or to repair, and the next run asks again.
            if isinstance(error, UnusableReplyError):
                self.spending.add(1, tokens, cost)  # it is billed all the same
            reply = Reply(None, error.status, str(error))
        else:
            reply = self._read(stored, request)
            if request.shape is not None and not request.is_repair and reply.status != "truncated":
                self._dialect.hear(form, reply.status == "ok")
        self._caller.notice(reply.status, reply.reason)
        return reply

    async def _pay(self, key: str, request: Request[Any]) -> tuple[Stored, str]:
        """Ask once, and return the reply when it is on disk, with the form that was asked for."""
        options = self._options_of(request)
        while True:
            sent = self._dialect.put(request, options)
            began = time.perf_counter()
            try:
                completion = await self._caller.complete(sent.body)
                break
            except Fault as fault:
                # However many refusals it takes to learn the form.
                if fault.kind != "refusal" or not self._dialect.learn(str(fault), sent):
                    raise
        seconds = time.perf_counter() - began
        # What the endpoint does not say is estimated.
        tokens_in, tokens_out = completion.tokens_in, completion.tokens_out
        if tokens_in is None or tokens_out is None:
            tokens_in = round(count_tokens(request))
            tokens_out = round(len(completion.text) / CHARACTERS_PER_TOKEN)
        stored = Stored(
            key,
            self.name,
            self.model.model,
            completion.text,
            completion.finish,
            tokens_in,
            tokens_out,
            seconds,
            sent.left_out,
        )
        cost = self._price(tokens_in, tokens_out)
        self.spending.add(1, tokens_in + tokens_out, cost)
        self.usage.add_call(tokens_in, tokens_out, cost)
        self._mean_tokens_out = self.usage.tokens_out / self.usage.calls
        self.journal.put(stored)
        self._left_out.update(sent.left_out.split())
        return stored, sent.form

    def _read(self, stored: Stored, request: Request[Shape]) -> Reply[Shape]:
        is_cut = stored.finish == "length"
        value = None
        status, reason = ("truncated", CUT) if is_cut else ("ok", "")
        if request.shape is not None:
            try:
                value = read_reply(stored.text, request.shape)
                status, reason = "ok", ""
            except UnusableReplyError as error:
                if not is_cut:
                    status, reason = error.status, str(error)
        return Reply(value, status, reason, stored.text, stored.seconds)

    def _repair(self, request: Request[Shape], reply: Reply[Shape]) -> Request[Shape] | None:
        """Return the request that may bring a usable reply; None where there is no need or hope."""
        if reply.status not in ("parse_error", "truncated") or request.is_repair:
            return None
        options = self._options_of(request)
        if reply.status == "truncated":
            options["max_tokens"] *= 2
            return dataclasses.replace(request, options=options, is_repair=True)
        shape: type[BaseModel] | None = request.shape
        words = REPAIR.format(reason=reply.reason, schema=schema_in_words(shape))
        messages = [
            *request.messages,
            {"role": "assistant", "content": reply.text or "(nothing)"},
            {"role": "user", "content": words},
        ]
        return dataclasses.replace(request, messages=messages, options=options, is_repair=True)

    def _options_of(self, request: Request[Any]) -> dict[str, Any]:
        """Return the parameters of a request: the model's own table wins."""
        if request.is_repair:
            return dict(request.options)  # those of the request that it repairs
        return {**OPTIONS, **request.options, **self._options}

    def _key(self, request: Request[Any]) -> str:
        """Return the hash of all that a reply depends on, whatever the endpoint refuses of it."""
        shape: type[BaseModel] | None = request.shape
        parts = [
            READER_VERSION,
            self.name,
            self._address,
            self.model.query,
            self.model.model,
            self.model.replies,
            self._options_of(request),
            request.messages,
            schema_in_words(shape),
            request.repeat,
        ]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def _price(self, tokens_in: float, tokens_out: float) -> float:
        """Return what so many tokens cost; NaN where the model has no price."""
        return (tokens_in * self._prices[0] + tokens_out * self._prices[1]) / 1e6


def read_prices(model: Model) -> tuple[float, float]:
    """Return what a million tokens read and written cost; NaN where nobody has said."""
    if model.model_fields_set & {"input_price", "output_price"}:
        return model.input_price, model.output_price
    return model.prices.get(model.model, (math.nan, math.nan))


def count_tokens(request: Request[Any]) -> float:
    """Return about how many tokens a request has."""
    characters = sum(len(text_of(message)) for message in request.messages)
    return characters / CHARACTERS_PER_TOKEN


def read_options(model: Model) -> dict[str, Any]:
    """Return the parameters that a model's table sets."""
    named = model.model_dump(include=PARAMETERS, exclude_none=True)
    return {**named, **model.options}
