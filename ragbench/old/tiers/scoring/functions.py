"""Metrics that are functions of their user's: called within their time, their failures kept as scores that say why."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import math
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import count
from numbers import Real
from typing import Any

from ragbench.old.core import metric as declarations
from ragbench.old.core.expectations import kind, shown
from ragbench.old.core.metric import FIELDS, GRAINS, Metric
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.core.types import Answer, Array, Prompt, Ranking, Sample, Score, Shape, Status
from ragbench.old.core.types.reason import Reason, reason_of
from ragbench.old.core.waves import first
from ragbench.old.judge.pairwise import Relay
from ragbench.old.llm import ModelError
from ragbench.old.llm.client import background_loop
from ragbench.old.metrics.vectors import Batch
from ragbench.old.systems.callables import GRACE_SECONDS, IN_A_ROW, OutOfTimeError, WorkerThreads, told

SOURCE = "your own function"
ASKED = ("judge", "embedder")
LIMIT = "metrics.timeout_seconds"
_numbers = count()


def declared(given: Callable[..., Any]) -> Metric:
    """A plain function as a metric: the names of its parameters say which fields of a sample it needs.

    A parameter with a default is a field that may be missing. `judge` and `embedder` are what they are for every metric
    (`embedder="e5"`: the one of that name among those that are asked) and a first parameter `sample` takes the whole
    sample. It is in the catalogue from then on.
    Raises ValueError for a parameter of another name, and for a name that is taken or is none.
    """
    name = getattr(given, "__name__", type(given).__name__)
    if not name.isidentifier():
        raise ValueError(f"metrics = {name}: a function without a name gives its numbers none; write it with def")
    parameters = list(inspect.signature(given).parameters.values())
    grain = parameters[0].name if parameters else ""
    if grain in GRAINS:
        function, fields = given, tuple[str, ...]()
    else:
        legal = (*FIELDS, *ASKED)
        for parameter in parameters:
            if parameter.name not in legal and parameter.default is parameter.empty:
                raise ValueError(
                    f"{name}: there is no field {parameter.name!r}; a function takes a sample, or its "
                    f"fields by their names: {', '.join(legal)}"
                )
        fields = tuple(
            parameter.name
            for parameter in parameters
            if parameter.name in FIELDS and parameter.default is parameter.empty
        )
        function = _by_fields(given, [parameter for parameter in parameters if parameter.name in FIELDS])
    is_bool = inspect.signature(given).return_annotation in (bool, "bool")
    made = Metric(
        function, SOURCE, grain if grain in GRAINS else "sample", (0.0, 1.0) if is_bool else (None, None),
        fields=fields, levels=(0.0, 1.0) if is_bool else (),
    )  # fmt: skip
    declarations.check(made)
    declarations.enter(made)
    return made


def _by_fields(given: Callable[..., Any], parameters: list[inspect.Parameter]) -> Callable[..., Any]:
    """The same function of a sample; passages are given as their texts."""

    def arguments(sample: Sample) -> dict[str, Any]:
        values = {}
        for parameter in parameters:
            value = getattr(sample, parameter.name)
            if value is None and parameter.default is not parameter.empty:
                continue
            values[parameter.name] = (
                [chunk.text for chunk in value] if parameter.name.endswith("contexts") and value else value
            )
        return values

    needs = [name for name in inspect.signature(given).parameters if name in ASKED]
    if inspect.iscoroutinefunction(given):

        async def awaited(sample: Sample, **more: Any) -> Any:
            return await given(**arguments(sample), **more)

        function: Callable[..., Any] = awaited
    else:

        def called(sample: Sample, **more: Any) -> Any:
            return given(**arguments(sample), **more)

        function = called
    sample = inspect.Parameter("sample", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    known = inspect.signature(given).parameters
    asked = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=known[name].default) for name in needs]
    function.__name__ = function.__qualname__ = given.__name__
    function.__doc__, function.__module__ = given.__doc__, given.__module__
    function.__signature__ = inspect.Signature([sample, *asked])  # type: ignore[attr-defined]
    return function


class Functions:
    """Users' functions, called for as long as one measurement goes on; to be made on its event loop.

    A plain one is called in the thread of `ragbench.old.systems.callables`, one after the other; coroutines run
    together on a loop of their own, so that one that blocks holds up nobody else. seconds: of one call at most,
    without the time that it waits for a judge. After IN_A_ROW calls that ran out of time one after the other it is
    called no more.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._late: dict[str, int] = {}
        self._one = asyncio.Semaphore(1)
        self._aside = _Aside(seconds)

    async def score(self, metric: Metric, of: Any, given: Mapping[str, Any]) -> Score:
        """The score of a sample, or of repeats or a dialogue; whatever the function does, it is a score.

        Raises ModelError alone, where a judge that it asked ends the run.
        """
        if lacking := _lacking(metric, of) or _not_there(metric, given):
            return lacking
        try:
            value = await self._called(metric, of, given)
        except (ModelError, asyncio.CancelledError):
            raise
        except OutOfTimeError as error:
            return Score.unmeasured(Status.TIMEOUT, reason_of(error))
        except BaseException as error:
            return failed(error)
        return scored(metric, value)

    async def _called(self, metric: Metric, of: Any, given: Mapping[str, Any]) -> Any:
        tools = {name: _plain(tool, _named(metric)) for name, tool in given.items()}
        if inspect.iscoroutinefunction(inspect.unwrap(metric.function)):
            here = asyncio.get_running_loop()
            return await self._aside.run(lambda clock: metric(of, **_across(tools, here, clock)))
        over = _over(self.seconds)

        def work() -> Any:
            return metric(of, **tools)

        async with self._one:  # who waits for the one thread loses no time of his own
            if (late := self._late.get(metric.label, 0)) >= IN_A_ROW:
                raise OutOfTimeError(
                    f"not called: {late} calls before it ran out of time one after the other ({LIMIT})"
                )
            try:
                returned = await asyncio.to_thread(lambda: WorkerThreads.shared().do(work, self.seconds, over))
            except OutOfTimeError:
                self._late[metric.label] = late + 1
                raise
            self._late[metric.label] = 0
        if inspect.isawaitable(returned):
            return await self._aside.run(lambda _: _awaited(returned))
        return returned


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def _over(seconds: float) -> str:
    return f"no value within {seconds:g} s; look what it waits for, or raise {LIMIT}"


def _lacking(metric: Metric, of: Any) -> Score | None:
    """Why there is nothing to call it with: a field that the sample has not."""
    if isinstance(of, Sample):
        for name in metric.fields:
            if getattr(of, name) is None:
                why = Reason("the sample has no field {field}", field=name)
                return Score.unmeasured(Status.MISSING_FIELD, why)
    return None


def _named(metric: Metric) -> str:
    """The embedder that a function asks for by the default of its parameter; empty where any will do."""
    default = inspect.signature(metric.function).parameters["embedder"].default if "embedder" in metric.needs else ""
    return default if isinstance(default, str) else ""


def _not_there(metric: Metric, given: Mapping[str, Any]) -> Score | None:
    """Why there is nothing to call it with: an embedder that it asks for by name, and nobody else named."""
    wanted = _named(metric)
    there = [embedder.name for embedder in _each(given.get("embedder"))]
    if not wanted or wanted in there:
        return None
    both = ",".join([*there, wanted])
    return Score.unmeasured(
        Status.EMBEDDING_ERROR,
        f"it asks for the embedder {wanted!r}, and {', '.join(there)} was named: --embedder {both}, or -p embedder="
        f"{both}",
    )


def failed(error: BaseException) -> Score:
    """What a function that raised gives: a score with the last line of its traceback."""
    inner = first(error)
    said = told(inner) if isinstance(inner, Exception) else f"{type(inner).__name__}: {inner}"
    said = said.removeprefix(f"{_EndedError.__name__}: ")
    return Score.unmeasured(Status.FUNCTION_ERROR, said)


def scored(metric: Metric, value: Any) -> Score:
    """What a function returned as a score: a number or a truth of its scale; anything else is unmeasured."""
    if isinstance(value, Score):
        if value.status is not Status.OK:
            return value
        number: Any = value.value
    else:
        number = value
    if hasattr(number, "item") and getattr(number, "shape", None) == ():  # a number of NumPy's
        number = number.item()
    if not isinstance(number, Real):
        return _refused(
            f"it returned {kind(number)}, {excerpt(shown(number), 80)}" if number is not None else "it returned None"
        )
    number = float(number)
    low, high = metric.bounds
    if not math.isfinite(number):
        return _refused(f"it returned {number}")
    if (low is not None and number < low) or (high is not None and number > high):
        return _refused(f"it returned {number:g}, which is not on its scale {low} … {high}")
    return replace(value, value=number) if isinstance(value, Score) else Score(number)


def _refused(why: str) -> Score:
    return Score.unmeasured(
        Status.FUNCTION_ERROR, f"{why}; a number of its scale, True or False, or a Score is expected"
    )


def ranked(metric: Metric, ranking: Ranking) -> tuple[Array, str]:
    """The values of a user's metric of rankings, (questions,), and why there are none: NaN then."""
    import numpy as np

    try:
        values = np.asarray(WorkerThreads.shared().do(lambda: metric(ranking)), dtype=float)
    except BaseException as error:
        return np.full(len(ranking), np.nan), failed(error).reason
    if values.shape != (len(ranking),):
        return np.full(
            len(ranking), np.nan
        ), f"it returned an array of shape {values.shape} for {len(ranking)} questions"
    return np.where(np.isfinite(values), values, np.nan), ""


@dataclass(eq=False)
class _Clock:
    """How much time of its own a coroutine has left; it stands still while a judge is asked."""

    seconds: float
    limit: asyncio.Timeout | None = None
    asking: int = 0
    left: float = 0.0

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        now = asyncio.get_running_loop().time
        if self.limit is not None and self.asking == 0 and (until := self.limit.when()) is not None:
            self.left = until - now()
            self.limit.reschedule(None)
        self.asking += 1
        try:
            yield
        finally:
            self.asking -= 1
            if self.limit is not None and self.asking == 0 and not self.limit.expired():
                self.limit.reschedule(now() + max(0.0, self.left))

    async def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        try:
            async with asyncio.timeout(self.seconds) as self.limit:
                return await work
        except TimeoutError:
            if self.limit is not None and self.limit.expired():
                raise OutOfTimeError(_over(self.seconds)) from None
            raise
        except (SystemExit, KeyboardInterrupt) as error:
            raise _EndedError(f"{type(error).__name__}: {error}") from None


class _EndedError(Exception):
    """A coroutine of a user's ended in a way that would end its loop."""


class _AbandonedError(Exception):
    """Its loop was left behind with another coroutine that blocks it."""


class _Aside:
    """A loop for users' coroutines, given up for a new one when a coroutine blocks it for longer than its time."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._loop: asyncio.AbstractEventLoop | None = None
        self._beat = 0.0
        self._works: dict[asyncio.Future[Any], asyncio.Task[Any] | None] = {}
        self._watch: asyncio.Task[None] | None = None

    async def run(self, make: Callable[[_Clock], Coroutine[Any, Any, Any]]) -> Any:
        while True:
            with contextlib.suppress(_AbandonedError):
                return await self._once(make)

    async def _once(self, make: Callable[[_Clock], Coroutine[Any, Any, Any]]) -> Any:
        if self._loop is None:
            self._loop, self._beat = background_loop(f"ragbench-metrics-{next(_numbers)}"), time.monotonic()
        if self._watch is None or self._watch.done():
            self._watch, self._beat = asyncio.create_task(self._watched()), time.monotonic()
        here = asyncio.get_running_loop()
        outside: asyncio.Future[Any] = here.create_future()
        self._works[outside] = None

        async def work() -> Any:
            if outside in self._works:
                self._works[outside] = asyncio.current_task()
            clock = _Clock(self._seconds)
            try:
                return await clock.run(make(clock))
            except asyncio.CancelledError:
                if outside not in self._works:  # nobody waits for it any more
                    raise
                raise _EndedError("CancelledError") from None

        inner = asyncio.run_coroutine_threadsafe(work(), self._loop)
        inner.add_done_callback(lambda done: here.call_soon_threadsafe(_hand_over, done, outside))
        try:
            return await outside
        finally:
            self._works.pop(outside, None)
            if not inner.done():
                inner.cancel()

    async def _watched(self) -> None:
        """Look whether the loop still turns, for as long as anything is on it."""
        while self._works:
            loop = self._loop
            if loop is not None:
                loop.call_soon_threadsafe(self._turned, loop)
            await asyncio.sleep(min(0.25, self._seconds))
            if loop is not None and time.monotonic() - self._beat > self._seconds + GRACE_SECONDS:
                self._abandon(loop)

    def _turned(self, loop: asyncio.AbstractEventLoop) -> None:
        if loop is self._loop:
            self._beat = time.monotonic()

    def _abandon(self, loop: asyncio.AbstractEventLoop) -> None:
        guilty = asyncio.current_task(loop)
        self._loop, self._beat = None, time.monotonic()
        for outside, task in list(self._works.items()):
            if not outside.done():
                blocks = guilty is not None and task is guilty
                outside.set_exception(OutOfTimeError(_over(self._seconds)) if blocks else _AbandonedError())


def _hand_over(done: Future[Any], outside: asyncio.Future[Any]) -> None:
    if outside.done():
        return
    if done.cancelled():
        outside.set_exception(_EndedError("CancelledError"))
    elif (error := done.exception()) is not None:
        outside.set_exception(error if not isinstance(error, StopIteration) else RuntimeError(repr(error)))
    else:
        outside.set_result(done.result())


def _each(tool: Any) -> list[Any]:
    return list(tool) if isinstance(tool, list | tuple) else [] if tool is None else [tool]


def _plain(tool: Any, wanted: str) -> Any:
    """An embedder that gives its vectors at once; of several the one that is wanted by name, else the first."""
    several = _each(tool)
    embedder = next((each for each in several if wanted and each.name == wanted), several[0])
    return embedder.embedder if isinstance(embedder, Batch) else embedder


def _across(tools: Mapping[str, Any], here: asyncio.AbstractEventLoop, clock: _Clock) -> dict[str, Any]:
    return {name: _Across(tool, here, clock) if name == "judge" else tool for name, tool in tools.items()}


@dataclass(frozen=True)
class _Across(Relay):
    """A judge that is asked on its own loop, from another."""

    loop: asyncio.AbstractEventLoop
    clock: _Clock

    async def ask(
        self, prompt: Prompt[Shape], texts: Any, *, language: str | None = None, repeat: int = 0
    ) -> Answer[Shape]:
        asked = self.judge.ask(prompt, texts, language=language, repeat=repeat)
        with self.clock.stopped():
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asked, self.loop))
