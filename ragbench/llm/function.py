"""A function in the place of an endpoint: what it returns is a model's reply, limited, journaled and checked as one."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

from ragbench.core.settings import JudgeSettings
from ragbench.core.settings.secrets import excerpt
from ragbench.core.types import Status
from ragbench.core.types.reason import Reason, clause, short
from ragbench.core.waves import first
from ragbench.llm.budget import Budget
from ragbench.llm.endpoint import Endpoint
from ragbench.llm.errors import CallFailed, Fault
from ragbench.llm.journal import Journal
from ragbench.llm.mechanism import Dialect
from ragbench.llm.pricing import Tally
from ragbench.llm.reply import Reply, storable
from ragbench.llm.request import Request

Function = Callable[[str], Any]
SHOWN = 300


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
        self._dialect = Dialect("text", fixed=True)

    async def _loaded(self) -> None:
        """Nothing asks but the function."""

    async def _ask(self, request: Request, seconds: float) -> Reply:
        messages = self._dialect.body(self._settings.model, request)["messages"]
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
