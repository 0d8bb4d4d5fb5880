"""One asynchronous client for any OpenAI-compatible model, within a budget, and the loop on which it is asked.

A cell runs inside a loop already; starting a second one there is an error, and patching the first one breaks other
libraries. Here the work happens beside it. Who has to wait for an answer on the loop itself, as an embedder between
two measurements, waits for another loop, which has another name.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import gc
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Protocol, TypeVar

from ragbench.old.core.settings import JudgeSettings
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.core.types import Status
from ragbench.old.core.types.reason import Reason, clause, reason_of
from ragbench.old.llm.budget import Amount, Budget, Price, Replies, Tally, Used
from ragbench.old.llm.endpoint import Endpoint, Keep, Kept, Received
from ragbench.old.llm.errors import CallFailed, ModelError, RepliesUnusable
from ragbench.old.llm.journal import Entry, Journal, Ledger, MemoryJournal
from ragbench.old.llm.limiter import Turns
from ragbench.old.llm.reply import MalformedError, read
from ragbench.old.llm.request import UNSENT, Asked, Request, in_words, key_of
from ragbench.old.llm.transport import read_key

BLOCK = 32
"""So many questions are prepared together, while as many as are in flight already wait for their turn."""
_REPAIR = (
    "Your reply could not be used: {fault}. Reply again to the same task with exactly one JSON object of the required "
    "shape, and nothing else.\n\n{shape}"
)
_MENDS = {
    Status.PARSE_ERROR: Reason(
        'set replies = "text" in its table of ragbench.toml, so that the shape is asked for in words alone, or name '
        "another model"
    ),
    Status.TRUNCATED: Reason("raise max_tokens in its table of ragbench.toml; a model that thinks first needs more"),
    Status.REFUSED: Reason("name another model"),
}
"""What helps where no reply can be used, by what is wrong with them."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What came of a request.

    value: the checked object; for a request without shape the text. None exactly when `status` is not `ok`.
    seconds: the model's own time, all requests of this answer together, also when they came out of the journal.
    calls: requests that were sent and answered for it now; 0 if the journal had everything.
    input_tokens, output_tokens: read and written by all of them together, as reported or estimated.
    answered_by: the model's name that the last reply gave as its own, None where it gave none. unsent: what the last
    reply was asked without, because the endpoint is known to refuse it, parted by blanks.
    """

    value: Any
    status: Status = Status.OK
    reason: str = ""
    seconds: float = 0.0
    calls: int = 0
    cost: float = 0.0
    text: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    answered_by: str | None = None
    unsent: str = ""


class Sender(Protocol):
    """Who brings a reply that the journal has not."""

    async def send(self, request: Request, keep: Keep[Kept]) -> Kept:
        """What `keep` makes of the reply; see `ragbench.old.llm.endpoint.Endpoint.send`."""

    async def close(self) -> None:
        """Let connections go."""


class Client:
    """One model behind one endpoint, under one name.

    All work of a client happens on one event loop (`background_loop` keeps one for the process). Close it there.

    settings: as `Settings.judge` resolves them. journal: None keeps replies in memory only. budget, tally: shared
    by all clients of a run. sender: instead of the endpoint of the settings, for those who send nothing. role: what
    messages call it. official: an AsyncOpenAI of the user's own, instead of one that the settings describe.
    Raises ConfigurationError if the key's variable is named and empty.
    """

    def __init__(
        self,
        name: str,
        settings: JudgeSettings,
        *,
        journal: Journal | None = None,
        budget: Budget | None = None,
        tally: Tally | None = None,
        sender: Sender | None = None,
        role: str = "judge",
        official: Any = None,
    ) -> None:
        self.name, self.settings = name, settings
        self.tally = tally or Tally()
        self._budget = budget or Budget()
        self._ledger = Ledger(journal if journal is not None else MemoryJournal(), settings.patience_seconds)
        known = {"name": repr(name), "model": settings.model, "address": settings.address}
        self._who = (
            Reason("judge {name} ({model} at {address})", **known)
            if role == "judge"
            else Reason("generator {name} ({model} at {address})", **known)
        )
        self._sender: Sender = sender or Endpoint(
            who=self._who,
            settings=settings,
            key=read_key(f"{role} {name!r}", settings),
            journal=journal,
            budget=self._budget,
            tally=self.tally,
            client=official,
        )
        self._paid: dict[str, Asked | None] = {}
        self._unusable, self._ever_used = 0, False
        self._asking = 0
        self._heard = asyncio.Event()
        self._stopped: RepliesUnusable | None = None
        self._turns = Turns(2 * settings.concurrency, 2 * settings.concurrency + BLOCK)
        self._flying: dict[str, _Flight] = {}
        free = settings.is_priced and Price(settings.input_price, settings.output_price) == Price()
        self.used = Replies(settings.model, free)
        """What the replies used so far took, paid for now or journaled before; equal questions count once."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """Who is asked: part of every key, so two judges never share an answer."""
        return {"judge": self.name, "endpoint": self.settings.address, "model": self.settings.model}

    def key(self, request: Request) -> str:
        """The request's key in the journal."""
        return key_of(self.identity, request.as_json())

    async def complete(self, request: Request | Callable[[], Request]) -> Completion:
        """The answer, out of the journal or from the model.

        request: or a function that makes it, called when its turn comes: a run of thousands of questions then sends
        its first call before it has rendered its last prompt.
        A truncated reply is asked for once more with twice the length, a malformed one once more with its fault named.
        Of what earlier runs have asked in vain, one more try is asked for. Raises ProviderRefused, ProviderUnreachable,
        RepliesUnusable or BudgetSpent when the whole run has to stop.
        """
        self.tally.add(asked=1)
        entries: list[tuple[Entry, bool]] = []
        try:
            async with self._turns:
                completion = await self._answer(request() if callable(request) else request, entries)
        except CallFailed as failure:
            completion = _total(None, failure.status, failure.reason, entries)
        except BaseException:
            self.tally.add(asked=-1)
            raise
        paid = completion.calls > 0
        if completion.status is Status.OK:
            self.tally.add(done=1, journaled=0 if paid else 1)
        else:
            self.tally.add(failed=1)
        return completion

    async def _answer(self, request: Request, entries: list[tuple[Entry, bool]]) -> Completion:
        """What the endpoint says; where earlier runs have asked it in vain, it is asked once more."""
        vain: CallFailed | None = None
        for anew in count(request.anew):
            began = len(entries)
            try:
                return await self._asked(replace(request, anew=anew), entries)
            except RepliesUnusable:
                raise
            except ModelError:
                if vain is None:
                    raise
                raise vain from None
            except CallFailed as failure:
                is_read = failure.status is Status.PARSE_ERROR
                if not is_read or any(entry.key in self._paid or entry.imported for entry, _ in entries[began:]):
                    raise (failure if is_read or vain is None else vain) from None
                vain = failure
        raise AssertionError("a run asks once more, and no oftener")

    async def _asked(self, request: Request, entries: list[tuple[Entry, bool]]) -> Completion:
        """`_value`, counted. Raises RepliesUnusable where none of the first replies could be used."""
        most, began = self.settings.unusable_replies, len(entries)
        if isinstance(self._sender, Endpoint):
            while not self._ever_used and self._asking and self._unusable + 2 * (self._asking + 1) > most:
                await self._heard.wait()
        self._asking += 1
        try:
            value = await self._value(request, entries)
            self._ever_used = True
            return _total(value, Status.OK, "", entries)
        except CallFailed as failure:
            if not self._ever_used and failure.status in _MENDS:
                self._unusable += sum(fresh for _, fresh in entries[began:]) if entries[began:] else 1
                if self._unusable >= most:
                    self._stopped = self._stopped or self._nothing_usable(failure)
                    raise self._stopped from None
            raise
        finally:
            self._asking -= 1
            self._heard.set()
            self._heard.clear()

    def _nothing_usable(self, last: CallFailed) -> RepliesUnusable:
        is_told_in_words = last.status is Status.PARSE_ERROR and self.settings.replies == "text"
        return RepliesUnusable(
            Reason(
                "{who} was asked no further: none of its first {count} replies could be used; the last: {said}; "
                "{mend}. They are in the journal, and are asked anew by the next run",
                who=self._who,
                count=self._unusable,
                said=last.reason,
                mend=_MENDS[Status.REFUSED if is_told_in_words else last.status],
            )
        )

    async def _value(self, request: Request, entries: list[tuple[Entry, bool]]) -> Any:
        """A truncated reply is asked for with twice the length, a malformed one once more, with its fault named."""
        entry = await self._exchange(request, entries)
        if entry.finish == "length":
            request = request.with_budget(2 * request.decoding.max_tokens)
            entry = await self._exchange(request, entries)
        _readable(entry)
        if request.shape is None:
            return entry.text
        try:
            value = read(entry.text, request.shape)
        except MalformedError as fault:
            self._learn(entry, is_readable=False)
            said = ("assistant", entry.text or "(nothing)")
            repair = _REPAIR.format(fault=fault, shape=in_words(request.shape))
            entry = await self._exchange(request.followed_by(said, ("user", repair)), entries)
            _readable(entry)
            try:
                return read(entry.text, request.shape)
            except MalformedError as second:
                told = Reason("two replies were not of the shape; the second: {said}", said=reason_of(second))
                raise CallFailed(Status.PARSE_ERROR, told) from None
        self._learn(entry, is_readable=True)
        return value

    def _learn(self, entry: Entry, *, is_readable: bool) -> None:
        """Tell the endpoint whether its first reply to a question was of the shape that was asked for."""
        asked = self._paid.get(entry.key)
        if asked is not None and isinstance(self._sender, Endpoint):
            self._sender.dialect.heard(asked, is_readable)

    async def _exchange(self, request: Request, entries: list[tuple[Entry, bool]]) -> Entry:
        """One reply, shared by all who ask for the same at the same time."""
        if self._stopped is not None:
            raise self._stopped
        plain = request.as_json()
        key = key_of(self.identity, plain)
        flight = self._flying.get(key)
        if flight is None:
            flight = _Flight(asyncio.create_task(self._fetch(key, request, plain)))
            self._flying[key] = flight
            flight.task.add_done_callback(lambda _: self._flying.pop(key, None))
        entry, fresh = await flight.join()
        self.used.by_key[key] = Used(*(getattr(entry, name) for name in Used._fields))
        entries.append((entry, fresh and flight.claim()))
        return entry

    async def _fetch(self, key: str, request: Request, plain: Mapping[str, Any]) -> tuple[Entry, bool]:
        entry = await self._ledger.claim(key)
        if entry is not None:
            self._budget.found(key, Amount(1, entry.input_tokens + entry.output_tokens, entry.cost))
            return entry, False

        async def keep(received: Received) -> Entry:
            self._paid[key] = received.reply.asked
            self._budget.claim(key)  # before it is in the journal, where another process may find it
            try:
                return await self._ledger.record(self._entry(key, request, plain, received))
            finally:
                self._ledger.release(key)

        try:
            return await self._sender.send(request, keep), True
        except Exception:  # one who is cancelled leaves a call behind that goes on to be kept
            self._ledger.release(key)
            raise

    def _entry(self, key: str, request: Request, plain: Mapping[str, Any], received: Received) -> Entry:
        reply = received.reply
        unsent = reply.asked.unsent if reply.asked is not None else ""
        return Entry(
            key=key,
            judge=self.name,
            endpoint=self.settings.address,
            model=self.settings.model,
            prompt=request.prompt,
            version=request.version,
            repeat=request.repeat,
            request={**plain, UNSENT: unsent} if unsent else plain,
            text=reply.text,
            finish=reply.finish,
            refusal=reply.refusal,
            input_tokens=received.input_tokens,
            output_tokens=received.output_tokens,
            estimated=received.estimated,
            cost=received.cost,
            seconds=received.seconds,
            served_model=reply.served_model,
        )

    async def close(self) -> None:
        """Keep what was received, and let connections and threads go."""
        for flight in list(self._flying.values()):
            flight.task.cancel()
        await asyncio.gather(*(flight.task for flight in self._flying.values()), return_exceptions=True)
        await self._sender.close()  # first: what it still receives goes into the ledger
        await self._ledger.flush()
        await self._ledger.close()
        await self._budget.close()


class _Flight:
    """A call under way, with those who wait for it: the last one to leave ends it."""

    def __init__(self, task: asyncio.Task[tuple[Entry, bool]]) -> None:
        self.task = task
        self._waiting = 0
        self._claimed = False

    async def join(self) -> tuple[Entry, bool]:
        self._waiting += 1
        try:
            return await asyncio.shield(self.task)
        finally:
            self._waiting -= 1
            if self._waiting == 0 and not self.task.done():
                self.task.cancel()

    def claim(self) -> bool:
        """True for the first caller: one call is counted once."""
        first, self._claimed = not self._claimed, True
        return first


def _readable(entry: Entry) -> None:
    if entry.refusal is not None or entry.finish == "content_filter":
        said = clause(excerpt(entry.refusal or "content filter", 200))
        raise CallFailed(Status.REFUSED, Reason("the model refused: {said}", said=said))
    if entry.finish == "length":
        told = Reason("the reply was cut off at {count} tokens, twice", count=entry.output_tokens)
        raise CallFailed(Status.TRUNCATED, told)


def _total(value: Any, status: Status, reason: str, entries: list[tuple[Entry, bool]]) -> Completion:
    paid = [entry for entry, fresh in entries if fresh]
    return Completion(
        value,
        status,
        reason,
        seconds=sum(entry.seconds for entry, _ in entries),
        calls=len(paid),
        cost=sum(entry.cost for entry in paid),
        text=entries[-1][0].text if entries else "",
        input_tokens=sum(entry.input_tokens for entry, _ in entries),
        output_tokens=sum(entry.output_tokens for entry, _ in entries),
        answered_by=entries[-1][0].served_model if entries else None,
        unsent=entries[-1][0].unsent if entries else "",
    )


Result = TypeVar("Result")
USUAL = "ragbench"
BESIDE = "ragbench-beside"
"""For who waits on the usual loop for what is asked there too, and would wait for ever."""
STOP_SECONDS = 1.5  # long enough for replies on their way to the journal, short enough for who pressed Ctrl+C

OBJECTS = 20_000  # some hundred calls' worth, against Python's 700 to 2,000
_guard = threading.Lock()
_loops: dict[str, asyncio.AbstractEventLoop] = {}


def background_loop(name: str = USUAL) -> asyncio.AbstractEventLoop:
    """The loop of that name in this process; started at the first call."""
    with _guard:
        loop = _loops.get(name)
        if loop is None or loop.is_closed():
            # of this kind on every system: on the usual one of Windows no database driver can wait
            loop = _loops[name] = asyncio.SelectorEventLoop()
            threading.Thread(target=loop.run_forever, name=name, daemon=True).start()
            atexit.register(loop.call_soon_threadsafe, loop.stop)
    return loop


def free_loop() -> str:
    """The name of the loop that this thread may wait for: the usual one, where all who ask one provider wait in one
    line, unless it is this thread's own."""
    return BESIDE if threading.current_thread().name == USUAL else USUAL


def run(work: Coroutine[Any, Any, Result], name: str = USUAL) -> Result:
    """The result of a coroutine on the loop of that name, from anywhere that is not this loop itself.

    Ctrl-C (or a signal handler that raises) cancels the work, gives it STOP_SECONDS to hand received replies to the
    journal, and goes on as KeyboardInterrupt.
    """
    loop = background_loop(name)
    if threading.current_thread().name == name:
        work.close()
        raise RuntimeError("run() was called from the background loop itself: await the coroutine there")
    with _collection:
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return _wait(future)
        except BaseException:
            if not future.done():
                future.cancel()
                _let_finish(loop)
            raise


async def submit(work: Coroutine[Any, Any, Result]) -> Result:
    """The same for those who are inside another event loop and want to await: `await submit(coroutine)`."""
    with _collection:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, background_loop()))


class _Collection:
    """While anybody is inside, garbage is looked for after OBJECTS new objects, not after the usual few hundred.

    All that calls in flight hold is looked at anew each time else, for nothing: a quarter of the time that they take.
    """

    def __init__(self) -> None:
        self._inside = 0
        self._usual = gc.get_threshold()

    def __enter__(self) -> None:
        with _guard:
            if self._inside == 0:
                self._usual = gc.get_threshold()
                often, *rest = self._usual
                if often:  # else it is switched off
                    gc.set_threshold(max(OBJECTS, often), *rest)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with _guard:
            self._inside -= 1
            if self._inside == 0:
                gc.set_threshold(*self._usual)


_collection = _Collection()


def _wait(future: Future[Result]) -> Result:
    while True:  # a wait without end would not see Ctrl-C on every system
        try:
            return future.result(timeout=0.2)
        except FutureTimeoutError:
            if future.done():
                return future.result()


def _let_finish(loop: asyncio.AbstractEventLoop) -> None:
    async def rest() -> None:
        mine = asyncio.current_task()
        end = loop.time() + STOP_SECONDS
        await asyncio.sleep(0)
        while ending := [task for task in asyncio.all_tasks() if task is not mine and task.cancelling()]:
            if loop.time() >= end:
                return
            await asyncio.wait(ending, timeout=end - loop.time())

    with contextlib.suppress(FutureTimeoutError, CancelledError):
        asyncio.run_coroutine_threadsafe(rest(), loop).result(timeout=STOP_SECONDS)
