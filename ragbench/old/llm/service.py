"""Endpoints that are no chat: vectors and scores of rerankers, and a service under test, journaled as a model is."""

from __future__ import annotations

import asyncio
import atexit
import json
import re
import time
import weakref
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

from pydantic import SecretStr

from ragbench.old.core.settings import EmbedderSettings, JudgeSettings, RerankerSettings
from ragbench.old.core.settings.secrets import masker_of
from ragbench.old.core.types.reason import Reason, joined, reason_of, short
from ragbench.old.data.vocabulary import PARTS
from ragbench.old.llm import planning, transport
from ragbench.old.llm.budget import Budget, Tally
from ragbench.old.llm.endpoint import Endpoint
from ragbench.old.llm.errors import CallFailed, Fault
from ragbench.old.llm.journal import Journal
from ragbench.old.llm.limiter import line_of
from ragbench.old.llm.reply import Reply, storable
from ragbench.old.llm.request import Decoding, Request
from ragbench.old.llm.transport import MAX_BYTES, Transport, load, own_client, patiently

PROMPT, VERSION = "service", 2
"""Of every request: VERSION is raised when what is kept of a reply changes."""
END = re.compile(r"[\[<]\W?(done|end|eos|eof|stop|finish(ed)?)\W?[\]>]", re.IGNORECASE)
"""The mark behind the last event."""
OF_TEXT = frozenset({"", "message", "data", *PARTS.answered, *PARTS.pieces})
"""What events are called that hold a piece of an answer."""
_HEADERS = Reason("look at `headers`, and at the variables that they name")
MENDED = {
    401: _HEADERS,
    402: transport.MENDED[402],
    403: _HEADERS,
    404: Reason("look at `url`, and at what `body` names"),
    405: Reason("look at `method` and `url`"),
}
"""What helps where a service refuses every call."""
_LACKING = re.compile(r"\bbody\.(\w+): ")
"""How a validator of a body names the member that it lacks."""


class Service(Endpoint):
    """Sends what a `request` of it holds; to be made on its event loop.

    What is kept of a good reply is its body, or of a stream its events and when the answer's first piece came.

    settings: limits, with any model's name. headers: name → value with its secrets; they go to this address alone.
    check: raises ValueError for a reply, as it is kept, that is not to be. speaks: of a service that streams, whether
    an event has a piece of the answer; None for one that replies at once. journal: whose users share its limits.
    """

    def __init__(
        self,
        who: str,
        settings: JudgeSettings,
        headers: Mapping[str, str],
        secrets: tuple[SecretStr, ...],
        check: Callable[[str], object],
        speaks: Callable[[Any], bool] | None,
        budget: Budget,
        journal: Journal | None = None,
    ) -> None:
        super().__init__(who, settings, None, budget, Tally(), journal)
        self._hide = masker_of(*(secret.get_secret_value() for secret in secrets))
        self._check, self._speaks = check, speaks
        self._transport = Transport(  # at once: loading what it stands on is no part of the first question's latency
            settings, None, settings.concurrency, headers=headers, address="url", mended=MENDED, hide=self._hide
        )

    @staticmethod
    def request(method: str, url: str, body: str, headers: Iterable[str], repeat: int) -> Request:
        """One question as it is sent. headers: their names, which alone count: a new key is no new question."""
        messages = ((method, url), ("headers", ", ".join(sorted(headers))), ("body", body))
        return Request(messages, PROMPT, VERSION, decoding=Decoding(None, None, 0), repeat=repeat)

    def _tokens(self, request: Request) -> int:
        """A service has none."""
        return 0

    async def _ask(self, request: Request, seconds: float) -> Reply:
        assert self._transport is not None, "it is closed only at the end"
        (method, url), _, (_, body) = request.messages
        first = _First(self._speaks)
        try:
            content = await self._transport.ask(method, url, body.encode("utf-8", "replace"), seconds, first.heard)
        except Fault as fault:
            if fault.kind != "mechanism":
                raise
            lacking = _LACKING.search(f"{fault.reason}")
            told = Reason(
                'look at `body`, which is sent in the service\'s own names: {{"{name}": "{{question}}"}}',
                name=lacking[1] if lacking else "query",
            )
            raise Fault("request", joined(fault.reason, told)) from None
        text = storable(self._hide(content.decode("utf-8", "replace")))
        if self._speaks is not None:
            text = json.dumps({"first_ms": first.milliseconds, "events": list(events(text))})
        try:
            self._check(text)
        except ValueError as error:
            raise Fault("request", reason_of(error)) from None
        return Reply(text, "stop", input_tokens=0, output_tokens=0)

    def _stop_if_hopeless(self, fault: Fault) -> None:
        """One refusal among good replies is of its question alone."""
        if fault.kind != "fatal" or not self._ever_answered:
            super()._stop_if_hopeless(fault)

    def _given_up(self, fault: Fault) -> Exception:
        given = super()._given_up(fault)
        if isinstance(given, CallFailed) and fault.passes:
            tried = Reason(
                "tried {count} times (attempts = {attempts}, patience_seconds = {seconds})",
                count=fault.attempts,
                attempts=self._settings.attempts,
                seconds=short(self._settings.patience_seconds),
            )
            return CallFailed(given.status, joined(given.reason, tried))
        return given


class _First:
    """When the first piece of an answer came, in milliseconds since this was made; None before it did."""

    def __init__(self, speaks: Callable[[Any], bool] | None) -> None:
        self._speaks, self._began = speaks, time.monotonic()
        self._rest = ""
        self.milliseconds: float | None = None

    def heard(self, part: bytes) -> None:
        """Take a part of the response as it arrives."""
        if self._speaks is None or self.milliseconds is not None:
            return
        text = self._rest + part.decode("utf-8", "replace")
        end = text.rindex("\n") + 1 if "\n" in text else 0
        if (begun := text.rfind("event:", 0, end)) >= 0 and "\n" not in text[begun : end - 1]:
            end = begun  # the name of an event that is still to come
        self._rest = text[end:]
        if any(map(self._speaks, events(text[:end]))):
            self.milliseconds = round((time.monotonic() - self._began) * 1000, 3)


_ALONE = re.compile(r'(?:([0-9a-f]):)?([{["].*)')


def events(text: str) -> Iterator[Any]:
    """What server-sent events hold, and lines of JSON, alone or behind their kind (`0:"…"` is {"0": "…"}): JSON values,
    or texts where an event is no JSON. An event that is called so has its name as its `event`, unless it tells a kind
    itself; what of one called otherwise than an answer's piece is no object is its `data`. The end's mark is no event.
    """
    data: list[str] = []
    name = ""
    for line in (*text.split("\n"), ""):
        line = line.removesuffix("\r")
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif line.startswith("event:"):
            name = line[6:].strip()
        elif (alone := _ALONE.fullmatch(line)) is not None:
            with suppress(ValueError, RecursionError):
                value = json.loads(alone[2])
                yield {alone[1]: value} if alone[1] else value
        elif not line:
            joined = "\n".join(data)
            if data and END.fullmatch(joined) is None:
                yield from (_named(value, name) for value in _values(joined, data))
            data, name = [], ""


def _values(joined: str, lines: Sequence[str]) -> list[Any]:
    """The JSON of an event, or of each of its lines, where nothing parts events; else its text."""
    for parts in ([joined], lines):
        with suppress(ValueError, RecursionError):
            values = [json.loads(part) for part in parts]
            if len(values) == 1 or all(isinstance(value, Mapping) for value in values):
                return values
    return [joined]


def _named(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return value if not name or value.keys() & {"event", "type"} else {"event": name, **value}
    return value if name in OF_TEXT else {"event": name, "data": value}


Post = Callable[[Transport, float], Awaitable[bytes]]
"""Sends one call within so many seconds; the body of a good response."""


class Caller:
    """Keeps the connections of one endpoint, on each loop that it is used on, as long as it lives itself.

    who: how messages name it. max_bytes: of a response.
    """

    def __init__(
        self,
        who: str,
        settings: EmbedderSettings | RerankerSettings,
        key: SecretStr | None,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._who, self._settings, self._key, self._max_bytes = who, settings, key, max_bytes
        if planning.folder() is None:  # at once: loading it is no part of the first question's latency
            load()
        self._transports: WeakKeyDictionary[asyncio.AbstractEventLoop, Transport] = WeakKeyDictionary()

    def __reduce__(self) -> tuple[Any, ...]:
        """Connections stay in their process."""
        return Caller, (self._who, self._settings, self._key, self._max_bytes)

    async def post(self, post: Post, tokens: float = 0.0) -> bytes:
        """What a call gives, tried within the settings' attempts and patience (waiting in line does not count).

        tokens: that it reads, about. Raises the last Fault.
        """
        loop = asyncio.get_running_loop()
        if loop not in self._transports:
            own = own_client(self._who, self._settings)
            made = Transport(self._settings, self._key, self._settings.concurrency, self._max_bytes, client=own)
            self._transports[loop] = made
            _close_with(self, made)
        transport = self._transports[loop]
        return await patiently(self._settings, lambda seconds: self._attempt(transport, post, tokens, seconds))

    async def _attempt(self, transport: Transport, post: Post, tokens: float, seconds: float) -> bytes:
        line = line_of(self._settings, None)
        ticket = await line.acquire(tokens)
        with line.leaving(ticket, self._settings.patience_seconds):
            content = await post(transport, seconds)
        line.succeeded(ticket, tokens)
        return content


def _close_with(owner: object, transport: Transport) -> None:
    """Let the connections go when their owner goes, or the process: aiohttp complains of those that nobody closed."""

    loop = asyncio.get_running_loop()

    def close(seconds: float = 0.0) -> None:
        if loop.is_running():
            ended = asyncio.run_coroutine_threadsafe(transport.close(), loop)
            if seconds:
                ended.result(seconds)

    owned = weakref.finalize(owner, close)
    owned.atexit = False  # those run when the loop has stopped already
    atexit.register(lambda: close(1.0) if owned.detach() else None)
