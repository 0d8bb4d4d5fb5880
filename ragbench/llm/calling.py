"""Calls to one endpoint: so many at once, again after what passes, never in vain."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

from ragbench.core.errors import BenchError
from ragbench.core.secrets import shorten
from ragbench.core.settings import Model
from ragbench.llm.endpoints import open_client
from ragbench.llm.errors import Fault, StopError, UnusableReplyError, read_refusal
from ragbench.llm.limits import Limiter, Spending, pause_after
from ragbench.llm.replies import (
    Completion,
    check_no_error,
    read_body,
    read_completion,
    storable,
)
from ragbench.llm.types import Message

# After so many calls in a row without a usable reply the endpoint is not asked any more.
UNUSABLE_IN_A_ROW = 20
# Asked in the place of an endpoint: messages → what the model says.
Function = Callable[[Sequence[Message]], Awaitable[str]]
Result = TypeVar("Result")


class Caller:
    """Calls one endpoint, on one event loop.

    name: for errors. own_client: openai's client of the user. function: asked in the place of
    the endpoint. stopped: why no call is made any more, or None.
    """

    def __init__(
        self,
        name: str,
        model: Model,
        spending: Spending,
        own_client: Any,
        function: Function | None,
    ) -> None:
        self.name = name
        self.model = model
        self.spending = spending
        self.stopped: StopError | None = None
        self._own_client = own_client
        self._function = function
        self._openai: Any = None
        self._limiter = Limiter(model.concurrency)
        self._silent_since = math.inf
        self._unusable_in_a_row = 0

    async def close(self) -> None:
        """Close the connections; the user's own client is left open."""
        if self._openai is not None and self._openai is not self._own_client:
            await self._openai.close()

    async def persist(
        self, attempt: Callable[[], Awaitable[Result]], tokens: float, money: float
    ) -> Result:
        """Return what an attempt gives, tried again after faults that pass.

        Within the attempts and the patience of the model's table; waiting in line does not count.
        Between attempts others have their turn. tokens, money: that one may take. Raises the last
        Fault, or StopError.
        """
        if self._openai is None and self._function is None:
            # Not before, since importing it takes a second.
            self._openai = open_client(self.name, self.model, self._own_client)
        patience = self.model.patience_seconds
        began = math.inf
        number = 0
        while True:
            number += 1
            async with self._limiter:
                attempt_began = time.monotonic()
                began = min(began, attempt_began)
                if self.stopped is not None:
                    self.stop(self.stopped)
                try:
                    with self.spending.reserve(tokens, money):
                        return await attempt()
                except StopError as error:
                    self.stop(error)
                except Fault as error:
                    fault = error
            if fault.kind == "silent":
                self._stop_if_silent(fault, attempt_began)
            if fault.kind == "busy":
                if fault.retry_after > patience:
                    wanted = f"it asks to wait {fault.retry_after:.0f} s"
                    self.stop(
                        StopError(f"{self.name}: {fault}; {wanted}, patience_seconds is less")
                    )
                self._limiter.slow_down(fault.retry_after)
            pause = fault.retry_after + pause_after(number)
            ends = time.monotonic() - began + pause
            if not fault.passes or number == self.model.attempts or ends > patience:
                raise fault
            await asyncio.sleep(pause)

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the JSON object that a good response is. Raises Fault or StopError for others."""
        import httpx2
        import openai

        limits = httpx2.Timeout(self.model.read_seconds, connect=self.model.connect_seconds)
        options = {"max_retries": 0, "timeout": limits, "follow_redirects": False}
        try:
            async with asyncio.timeout(self.model.timeout_seconds):
                # Posted as it is, and read by us: `chat.completions.create` checks its arguments
                # and builds its objects for longer than all the rest of the call takes.
                response = await self._openai.post(
                    path, cast_to=httpx2.Response, body=body, options=options
                )
        except openai.APIStatusError as error:
            found = error.response
            raise read_refusal(found.status_code, found.headers, found.text) from None
        except (openai.APITimeoutError, TimeoutError):
            raise self._late() from None
        except (openai.APIConnectionError, RuntimeError) as error:
            # RuntimeError: connections of a user's own client that an earlier loop had opened.
            reason = f"no connection: {shorten(error.__cause__ or error)}"
            raise Fault(reason, kind="silent") from None
        except openai.OpenAIError as error:
            raise StopError(f"{self.name}: {shorten(error)}") from None
        except UnicodeEncodeError:
            raise Fault("the question holds half of a surrogate pair, and no JSON does") from None
        document = read_body(response.content, response.headers.get("content-type", ""))
        check_no_error(document)
        self._silent_since = math.inf
        return document

    async def complete(self, body: Mapping[str, Any]) -> Completion:
        """Return the reply to a request of chat completions."""
        if self._function is None:
            return read_completion(await self.post("/chat/completions", body))
        try:
            async with asyncio.timeout(self.model.timeout_seconds):
                text = await self._function(body["messages"])
        except TimeoutError:
            raise self._late() from None
        except (BenchError, UnusableReplyError):
            raise
        except Exception as error:
            kind = type(error).__name__
            raise Fault(f"{self.name} raised {kind}: {shorten(error)}", kind="passes") from None
        self._silent_since = math.inf
        return Completion(storable(text), "stop", None, None)

    def notice(self, status: str, reason: str = "") -> None:
        """Note whether a reply can be used: more calls at once, or after many none an end."""
        if status == "ok":
            self._limiter.speed_up()
            self._unusable_in_a_row = 0
            return
        self._unusable_in_a_row += 1
        if self._unusable_in_a_row >= UNUSABLE_IN_A_ROW:
            advice = '; try replies = "text", or another model' * (status == "parse_error")
            self.stop(
                StopError(
                    f"{self.name}: {UNUSABLE_IN_A_ROW} calls in a row gave no usable reply; the "
                    f"last: {reason}{advice}"
                )
            )

    def stop(self, error: StopError) -> NoReturn:
        """Raise an error, and keep it: every later request meets it without a call."""
        if self.stopped is None:
            self.stopped = error
        # A new one each time: tracebacks of all requests would gather in the first.
        raise type(self.stopped)(str(self.stopped)) from None

    def _late(self) -> Fault:
        seconds = self.model.timeout_seconds
        reason = f"no whole response within {seconds:g} s (timeout_seconds)"
        return Fault(reason, "timeout", "silent")

    def _stop_if_silent(self, fault: Fault, attempt_began: float) -> None:
        """Stop where nothing came to anybody for as long as the patience is."""
        self._silent_since = min(self._silent_since, attempt_began)
        seconds = time.monotonic() - self._silent_since
        if seconds > self.model.patience_seconds:
            self.stop(
                StopError(
                    f"{self.name} at {self.model.base_url} has not answered any call for "
                    f"{seconds:.0f} s ({fault}); look whether it runs, and run again: what was "
                    "paid for is kept"
                )
            )
