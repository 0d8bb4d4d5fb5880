"""One model at one endpoint, or a function in its place: asked within limits, and again until there is an end."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pydantic import SecretStr

from ragbench.old.core.settings import JudgeSettings
from ragbench.old.core.settings.secrets import excerpt, masker_of, value_of
from ragbench.old.core.types import Status
from ragbench.old.core.types.reason import Reason, clause, rounded, short
from ragbench.old.core.waves import first
from ragbench.old.llm.budget import Amount, Budget, Price, Tally
from ragbench.old.llm.errors import CallFailed, Fault, ModelError, ProviderRefused, ProviderUnreachable
from ragbench.old.llm.journal import Journal
from ragbench.old.llm.limiter import Limiter, line_of
from ragbench.old.llm.reply import Reply, parse_envelope, storable
from ragbench.old.llm.request import Dialect, Request, estimate_tokens, finish_in
from ragbench.old.llm.transport import Transport, loaded, own_client, patiently

SILENT = ("timeout", "connection")
"""Kinds of faults that an endpoint has which says nothing at all."""
MOST_LESSONS = 10
"""Of one request: every parameter that there is, refused one after the other, and every rung."""
UNREACHABLE_AFTER = 8
"""So many calls in a row that failed in all their attempts stop a run."""


@dataclass(frozen=True, slots=True)
class Received:
    """A reply with what it took: tokens as reported (`estimated`: guessed), money, seconds of its one attempt."""

    reply: Reply
    input_tokens: int
    output_tokens: int
    estimated: bool
    cost: float
    seconds: float


Kept = TypeVar("Kept")
Keep = Callable[[Received], Awaitable[Kept]]
"""What is done with a reply before its call counts as over: the journal's part."""


class Endpoint:
    """Sends requests; knows nothing of journals and shapes of values. Bound to one event loop.

    who: how messages name it. key: the API key, or None. client: an AsyncOpenAI of the user's own that is asked, or
    None for one that the settings describe. journal: whose users share its limits. budget, tally: shared with others
    at will.
    """

    def __init__(
        self,
        who: str,
        settings: JudgeSettings,
        key: SecretStr | None,
        budget: Budget,
        tally: Tally,
        journal: Journal | None = None,
        client: Any = None,
    ) -> None:
        self._who, self._settings, self._key, self._client = who, settings, key, client
        # a key that was sent back is to be in no journal, and in nothing that is made of one
        self._hide = masker_of(*map(value_of, settings.variables))
        self._limiter: Limiter | None = None
        self._journal, self._budget, self._tally = journal, budget, tally
        self._price = Price(settings.input_price, settings.output_price)
        known = frozenset(settings.without)
        rung = settings.replies
        self.dialect = Dialect(without=known) if rung == "auto" else Dialect(rung, fixed=True, without=known)
        self._transport: Transport | None = None
        self._stopped: ModelError | None = None
        self._failures = self._pages = 0
        self._ever_answered = False
        self._silent_since: float | None = None
        self._under_way: set[asyncio.Task[Any]] = set()

    async def send(self, request: Request, keep: Keep[Kept]) -> Kept:
        """What `keep` makes of the reply, within the settings' attempts and patience (waiting in line does not count).

        A call stays in flight until `keep` is done: so no more replies than `concurrency` are ever paid for and not
        yet kept.
        Raises CallFailed for this request alone; ProviderRefused, ProviderUnreachable, BudgetSpent for the whole run.
        """
        read_tokens = self._tokens(request)
        await self._loaded()
        try:
            kept = await patiently(
                self._settings,
                lambda seconds: self._attempt(request, read_tokens, seconds, keep),
                again=lambda: self._tally.add(retries=1),
            )
        except Fault as fault:
            raise self._given_up(fault) from None
        self._failures, self._ever_answered = 0, True
        return kept

    async def close(self) -> None:
        """Wait for the calls that were sent, then let the connections go."""
        await asyncio.gather(*self._under_way, return_exceptions=True)
        if self._limiter is not None:
            await self._limiter.close()
        if self._transport is not None:
            await self._transport.close()
            self._transport = None

    async def _attempt(self, request: Request, read_tokens: int, seconds: float, keep: Keep[Kept]) -> Kept:
        """One call, once there is a place for it."""
        longest = request.decoding.max_tokens
        worst = Amount(1, read_tokens + longest, self._price.of(read_tokens, longest))
        limiter = self._limiter = self._limiter or line_of(self._settings, self._journal)
        ticket = await limiter.acquire(worst.tokens)
        try:
            self._stop_if_silent()
            if self._stopped is not None:
                raise self._stopped
            await self._budget.reserve(worst)
        except BaseException:
            limiter.cancelled(ticket)
            raise

        async def to_the_end() -> Kept:
            """Whoever still waits for it: it is paid for, so its reply is kept and counted."""
            self._tally.add(in_flight=1, calls=1)
            began = time.monotonic()
            self._silent_since = began if self._silent_since is None else self._silent_since
            actual = Amount(calls=1)
            try:
                with limiter.leaving(ticket, self._settings.patience_seconds):
                    reply = await self._ask(request, seconds)
                    self._silent_since = None
                    received = self._received(reply, read_tokens, time.monotonic() - began)
                    actual = Amount(1, received.input_tokens + received.output_tokens, received.cost)
                    kept = await keep(received)
                limiter.succeeded(ticket, actual.tokens)
                return kept
            except Fault as fault:
                if fault.kind not in SILENT:
                    self._silent_since = None
                self._stop_if_hopeless(fault)
                raise
            finally:
                self._budget.settle(worst, actual)
                self._tally.add(in_flight=-1)

        sent = asyncio.create_task(to_the_end())
        self._under_way.add(sent)
        sent.add_done_callback(self._ended)
        return await asyncio.shield(sent)

    def _ended(self, sent: asyncio.Task[Any]) -> None:
        self._under_way.discard(sent)
        if not sent.cancelled():
            sent.exception()  # looked at, so that asyncio does not report it where nobody waits any more

    async def _loaded(self) -> None:
        """Load what asks, so that it is no part of the first call's time."""
        if self._transport is None:
            await loaded()

    def _tokens(self, request: Request) -> int:
        """About how many are read."""
        return sum(estimate_tokens(text) for _, text in request.messages)

    async def _ask(self, request: Request, seconds: float) -> Reply:
        """Ask in the best way that the endpoint is known to understand, and learn from its refusals."""
        if self._transport is None:
            own, hide = self._client or own_client(self._who, self._settings), self._hide
            self._transport = Transport(self._settings, self._key, self._settings.concurrency, hide=hide, client=own)
        for _ in range(MOST_LESSONS):
            asked = self.dialect.asked(request)
            try:
                asking = self.dialect.body(self._settings.model, request)
                content = await self._transport.post("chat/completions", asking, seconds)
                return replace(parse_envelope(content, self._hide, self._transport.refusal), asked=asked)
            except Fault as fault:
                if fault.kind != "mechanism":
                    raise
                if (finish := finish_in(fault.reason)) is not None:
                    longest = request.decoding.max_tokens if finish == "length" else None
                    return Reply("", finish, output_tokens=longest, asked=asked)
                if not self.dialect.learn(fault.reason, asked):
                    raise Fault(fault.otherwise, fault.reason, fault.retry_after) from None
                self._tally.add(calls=1)
        raise Fault("request", Reason("the endpoint accepts no known way of asking"))

    def _stop_if_silent(self) -> None:
        """End the run before a call that would meet the silence that others have waited through, all together."""
        patience = self._settings.patience_seconds
        if self._silent_since is not None and time.monotonic() - self._silent_since > patience:
            self._stopped = self._stopped or ProviderUnreachable(
                Reason(
                    "{who} has not answered any call for {seconds} s (patience_seconds). Replies so far are in the "
                    "journal: run again to go on",
                    who=self._who,
                    seconds=short(patience),
                )
            )

    def _stop_if_hopeless(self, fault: Fault) -> None:
        """End the run after a fault that the next call would meet too."""
        self._pages += fault.otherwise == "fatal"
        if fault.kind == "fatal" or (self._pages >= UNREACHABLE_AFTER and not self._ever_answered):
            self._stopped = ProviderRefused(Reason("{who} refuses all calls: {said}", who=self._who, said=fault.reason))
        elif (fault.retry_after or 0.0) > self._settings.patience_seconds:
            self._stopped = ProviderUnreachable(
                Reason(
                    "{who} asks to wait {seconds} s ({said}); run again then, or raise patience_seconds. Replies so "
                    "far are in the journal",
                    who=self._who,
                    seconds=rounded(fault.retry_after or 0.0, 0),
                    said=fault.reason,
                )
            )
        if self._stopped is not None:
            raise self._stopped from None

    def _given_up(self, fault: Fault) -> Exception:
        """What a request without a reply becomes: one unmeasured value or, after too many in a row, the end."""
        if fault.kind == "refused":
            return CallFailed(Status.REFUSED, fault.reason)
        if fault.kind != "request" or not self._ever_answered:
            self._failures += 1
        if self._failures >= UNREACHABLE_AFTER:
            self._stopped = ProviderUnreachable(
                Reason(
                    "{who} failed {count} calls in a row, each after all its attempts; the last: {said}. Replies so "
                    "far are in the journal: run again to go on",
                    who=self._who,
                    count=self._failures,
                    said=fault.reason,
                )
            )
            return self._stopped
        return CallFailed(Status.TIMEOUT if fault.kind == "timeout" else Status.JUDGE_ERROR, fault.reason)

    def _received(self, reply: Reply, read_tokens: int, seconds: float) -> Received:
        taken = reply.input_tokens if reply.input_tokens is not None else read_tokens
        written = reply.output_tokens if reply.output_tokens is not None else estimate_tokens(reply.text)
        cost = self._price.of(taken, written)
        self._tally.add(input_tokens=taken, output_tokens=written, cost=cost, unpriced=not self._settings.is_priced)
        estimated = reply.input_tokens is None or reply.output_tokens is None
        return Received(reply, taken, written, estimated, cost, seconds)


Function = Callable[[str], Any]
SHOWN = 300  # what a server says of a fault, without its page of HTML


class FunctionEndpoint(Endpoint):
    """Calls a function of the prompt's text that returns the reply: a text, or an object for JSON; plain or awaited.

    A call that raises, returns something else or takes longer than the settings' time leaves its one question without
    an answer, with what was raised as the reason.
    """

    def __init__(
        self,
        who: str,
        function: Function,
        settings: JudgeSettings,
        budget: Budget,
        tally: Tally,
        journal: Journal | None = None,
    ) -> None:
        super().__init__(who, settings, None, budget, tally, journal)
        self._function = function
        self.dialect = Dialect("text", fixed=True)

    async def _loaded(self) -> None:
        """Nothing asks but the function."""

    async def _ask(self, request: Request, seconds: float) -> Reply:
        messages = self.dialect.body(self._settings.model, request)["messages"]
        said = "\n\n".join(str(message["content"]) for message in messages)
        try:
            async with asyncio.timeout(seconds) as limited:
                returned = await self._called(said)
        except TimeoutError as error:
            if limited.expired():
                raise Fault("timeout", Reason("no reply within {seconds} s", seconds=short(seconds))) from None
            raise Fault("request", _told(error)) from None
        except (Exception, SystemExit) as error:
            raise Fault("request", _told(first(error))) from None
        return Reply(storable(_text(returned)), "stop")

    async def _called(self, prompt: str) -> Any:
        if inspect.iscoroutinefunction(self._function):
            return await self._function(prompt)
        loop, done = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()

        def finish(value: Any, error: BaseException | None) -> None:
            if done.done():
                return
            if error is None:
                done.set_result(value)
            else:
                done.set_exception(error if isinstance(error, Exception) else RuntimeError(_told(error)))

        def work() -> None:
            try:
                value, error = self._function(prompt), None
            except BaseException as raised:  # whatever it ends with is this one call's
                value, error = None, raised
            loop.call_soon_threadsafe(finish, value, error)

        threading.Thread(target=work, name="ragbench-judge", daemon=True).start()  # one that hangs keeps no process
        returned = await done
        return await returned if inspect.isawaitable(returned) else returned

    def _stop_if_hopeless(self, fault: Fault) -> None:
        """What a function raises is of its question alone."""

    def _given_up(self, fault: Fault) -> Exception:
        return CallFailed(Status.TIMEOUT if fault.kind == "timeout" else Status.JUDGE_ERROR, fault.reason)


def _text(returned: Any) -> str:
    if isinstance(returned, str):
        return returned
    if isinstance(returned, Mapping):
        try:
            return json.dumps(dict(returned), ensure_ascii=False)
        except (TypeError, ValueError) as error:
            raise Fault("request", Reason("it returned an object that is not JSON: {said}", said=str(error))) from None
    kind = type(returned).__name__
    raise Fault("request", Reason("it returned {name}; a text, or an object for JSON, is expected", name=kind))


def _told(error: BaseException) -> str:
    return clause(excerpt(f"{type(error).__name__}: {error}", SHOWN))
