"""Users' own functions and objects of frameworks: found, and called with a limit on their time.

Retrievers and generators are made of them; they run in a thread that is left behind with what hangs in it.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import sys
import threading
import time
from collections.abc import AsyncIterable, Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from functools import partial
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from types import ModuleType
from typing import Any, ClassVar, TypeVar

import numpy as np

from ragbench.old.core import folders, settings, trust, waves
from ragbench.old.core.expectations import kind
from ragbench.old.core.folders import write
from ragbench.old.core.settings import GeneratorSettings
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.core.types import Hit, Question, Status
from ragbench.old.data import Dataset
from ragbench.old.data.files import cut_list
from ragbench.old.llm.client import run
from ragbench.old.systems.frameworks import (
    ALONE,
    OWN,
    Streamed,
    adapted,
    adapted_writer,
    contexts_of,
    texts_of,
    told_apart,
    understood,
    written,
)
from ragbench.old.systems.generation import BaseGenerator, Generation, GenerationError, Task
from ragbench.old.systems.passages import How, ItemReader, Passages
from ragbench.old.systems.retrieval import Progress, Retrieval, RetrievalError, counted
from ragbench.old.systems.service_replies import has_failed

SHOWN_CHARACTERS = 300  # a line of an error with what was raised from it
OF_A_SYSTEM = "(question, k)"
"""What a system is called with; a function that takes no more than the question is asked by it alone."""
OF_A_WRITER = "(question, contexts)"
IN_A_ROW = 5
"""Calls that ran out of time one after the other, after which a function is called no more."""


def find(
    path: str, parameters: str, seconds: float, limit: str, adapt: Callable[[Any], Any] = lambda function: function,
    given: Any = None,
) -> Callable[..., Any]:  # fmt: skip
    """The function at module:function, its answer awaited where it is a coroutine's.

    The module is one of an installed package, or lies beside ragbench.toml.

    parameters: what it takes, for the message. seconds: of one call at most; limit: the setting that says so. adapt:
    makes a function of what is found, where it is none. given: the object itself, which is looked for nowhere. Raises
    ValueError where it cannot be imported, is not there, or is no function; UntrustedError, before anything is
    imported, where its user does not trust it. A call raises OutOfTimeError when its time is over: what hangs is left
    behind in a thread that keeps no process from ending.
    """
    found = _at(path) if given is None else given
    if inspect.isclass(found):
        raise ValueError(f"that is a class: name an object of it, {found.__name__.lower()} = {found.__name__}(…)")
    function = adapt(found)
    if not callable(function):
        methods = f", nor has its {type(function).__qualname__} a method {', '.join((*OWN, *ALONE))}"
        raise ValueError(f"that is {kind(function)}, not a function of {parameters}{methods}")
    if not _takes(function, parameters.count(",") + 1):
        raise ValueError(f"it takes {inspect.signature(function)}, and is called with {parameters}")

    late = 0
    over = f"no answer within {seconds:g} s; look what it waits for, or raise {limit}"

    async def collected(stream: AsyncIterable[Any]) -> list[Any]:
        return [part async for part in stream]

    async def awaited(answer: Awaitable[Any]) -> Any:
        try:
            async with asyncio.timeout(seconds) as limited:
                return await answer
        except TimeoutError:
            if limited.expired():
                raise OutOfTimeError(over) from None
            raise

    def called(*arguments: Any) -> Any:
        nonlocal late
        if late >= IN_A_ROW:
            raise OutOfTimeError(f"not asked: {late} calls before it ran out of time one after the other ({limit})")
        threads = WorkerThreads.shared()

        def work() -> Any:
            answer = function(*arguments)
            if inspect.isawaitable(answer):
                answer = run(awaited(answer), threads.loop)
            if hasattr(answer, "__aiter__"):
                return Streamed(run(awaited(collected(answer)), threads.loop))
            return Streamed(answer) if isinstance(answer, Iterator) else answer

        try:
            answer = threads.do(work, seconds, over)
        except OutOfTimeError:
            late += 1
            raise
        except BaseException:
            late = 0
            raise
        late = 0
        return answer

    called.__wrapped__ = function  # type: ignore[attr-defined]  # what it takes is told by its signature
    return called


def _at(path: str) -> Any:
    trust.require(trust.Item("code", path, "runs this function"))
    module_name, _, function_name = path.partition(":")
    target: Any = module(module_name)
    for part in function_name.split("."):
        if not hasattr(target, part):
            offered = [word for word in dir(target) if not word.startswith("_") and callable(getattr(target, word))]
            raise ValueError(f"there is no {part}; there are {', '.join(offered) or 'no functions'}")
        target = getattr(target, part)
    return target


def module(name: str) -> ModuleType:
    """The module of that name, of an installed package or beside ragbench.toml; whoever calls has asked whether the
    project is trusted.

    Raises ValueError where it cannot be imported.
    """
    try:
        return WorkerThreads.shared().do(lambda: trust.imported(name, str(settings.project_folder())))
    except (Exception, SystemExit) as error:
        said = f"{error}; put it beside ragbench.toml, or install it"
        if not isinstance(error, ModuleNotFoundError):
            said = told(error) if isinstance(error, Exception) else f"SystemExit: {error}"
        raise ValueError(f"{name} cannot be imported: {said}") from error


def of_table(
    table: str, path: str, parameters: str, seconds: float, refused: type[ValueError],
    adapt: Callable[[Any], Any] = lambda function: function, given: Any = None,
) -> Callable[..., Any]:  # fmt: skip
    """`find` of the `callable` of a table of ragbench.toml, such as `systems.mine`, and of its `timeout_seconds`.

    given: the object itself, which is looked for nowhere: a caller has handed it over; one that takes no more than a
    question is asked nothing else.
    Raises `refused`, naming table and value, where `find` raises ValueError.
    """
    ready = adapt if given is None else partial(asked, adapt=adapt)
    try:
        return find(path, parameters, seconds, f"{table}.timeout_seconds", ready, given)
    except ValueError as error:
        raise refused(f"{table}.callable = {path!r}: {error}") from error


def asked(given: Any, adapt: Callable[[Any], Any] = adapted) -> Any:
    """What `adapt` makes of an object, or a function of two values that asks it by the first, where it takes no
    more, and of three, where it takes contexts, too."""
    function = adapt(given)
    if adapt is adapted:
        return told_apart(function, contexts_of(function)) if callable(function) else function
    if not callable(function) or _takes(function, 2) or not _takes(function, 1):
        return function
    return lambda question, _: function(question)


def named(given: Any) -> str:
    """What a page calls an object that has no name of its own: `my_package.search:retrieve`."""
    own = given if hasattr(given, "__qualname__") else getattr(given, "func", type(given))
    own = own if hasattr(own, "__qualname__") else type(own)
    return f"{getattr(own, '__module__', None) or 'builtins'}:{own.__qualname__}"


ADAPTED: dict[str, Callable[[Any], Any]] = {OF_A_SYSTEM: asked, OF_A_WRITER: adapted_writer}
"""What makes a function of what is found, by what it is called with."""


def tell_missing() -> None:
    """Write which functions are not there or cannot be called, and why: an object of JSON.

    This process's argument: the file that takes it. At its input: an object of functions and what each takes.
    """
    missing = {}
    for path, parameters in json.load(sys.stdin).items():
        try:
            find(path, parameters, 0, "", ADAPTED.get(parameters, lambda function: function))
        except ValueError as error:
            missing[path] = str(error)
    write(Path(sys.argv[1]), json.dumps(missing))


def _takes(function: Callable[..., Any], number: int) -> bool:
    """Whether it can be called with so many values; True where it does not tell."""
    try:
        inspect.signature(function).bind(*[None] * number)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def told(raised: Exception) -> str:
    """One error of a user's function, of several at once the first, in one line of SHOWN_CHARACTERS at most."""
    error = waves.first(raised)
    name = "" if type(error).__module__.startswith("ragbench.") else f"{type(error).__name__}: "
    return excerpt(f"{name}{error}", SHOWN_CHARACTERS)


class FunctionSystem:
    """Called once a question with its text and k; what it returns is read by `ItemReader`. It may be a coroutine, and
    an object of a framework is asked in its own way (`ragbench.old.systems.frameworks`).

    A system that answers by itself returns an object with "answer", and with "retrieved" for what it looked at. One
    that has a parameter for contexts is a generator, too.
    The module is one of an installed package, or lies beside ragbench.toml, unless the object itself is given. A
    question at which it raises, or runs out of time, is kept as an error and has no hits; when every question fails,
    nothing was measured, and that is an error as a whole.
    """

    is_stand_in = False
    keeps_readings = False
    max_context_characters: int | None = None

    def __init__(self, name: str, path: str, dataset: Dataset, seconds: float, given: Any = None) -> None:
        self.name, self.path, self.dataset = name, path, dataset
        self._passages = Passages.of(dataset.chunks)
        self._function = of_table(f"systems.{name}", path, OF_A_SYSTEM, seconds, RetrievalError, asked, given)

    @property
    def description(self) -> Mapping[str, Any]:
        return {"kind": "callable", "callable": self.path}

    @property
    def takes_contexts(self) -> bool:
        return bool(contexts_of(self._function))

    def generate(self, tasks: Sequence[Task], *, progress: Progress | None = None) -> list[Generation]:
        """One call a task with the texts of its contexts, in order. Raises GenerationError when every one of them
        raises."""

        def ask(question: str, contexts: list[str]) -> Any:
            return self._function(question, len(contexts) or 1, contexts)

        return _written(f"systems.{self.name}", self.path, ask, tasks, progress)

    def retrieve(
        self, questions: Sequence[Question], k: int, *, progress: Progress | None = None, fresh: bool = False
    ) -> Retrieval:
        """One call a question, in order, always anew. Raises RetrievalError when every one of them fails."""
        reader = ItemReader(self._passages)
        hits: list[list[Hit]] = []
        errors: dict[str, str] = {}
        answers: dict[str, tuple[Generation, ...]] = {}
        untold: set[str] = set()
        milliseconds = np.zeros(len(questions))
        if progress is not None and not fresh:
            progress(len(self.dataset.chunks))
        for place, question in enumerate(questions):
            begun = time.perf_counter()
            try:
                answer = self._read(self._function(question.text, k), question)
                milliseconds[place] = (time.perf_counter() - begun) * 1000
                if isinstance(answer, Mapping) and not isinstance(answer.get("answer", 0.0), int | float):
                    strange = [name for name, value in answer.items() if isinstance(value, list | tuple)]
                    if strange and "retrieved" not in answer:
                        raise RetrievalError(f"it returned {cut_list(strange)} beside answer; retrieved is expected")
                    taken = milliseconds[place] / 1000
                    answers[question.id] = (Generation.of(answer["answer"], self.path, seconds=taken),)
                    if "retrieved" not in answer:
                        untold.add(question.id)
                    answer = answer.get("retrieved", ())
                hits.append(reader.hits(answer, k, question.relevant))
            except Exception as error:
                milliseconds[place] = np.nan
                hits.append([])
                errors[question.id] = told(error)
            if progress is not None:
                progress(2)
        failures = counted(f"systems.{self.name}: {self.path}", questions, errors)
        facts = {**self.description, **reader.facts(), **failures}
        return Retrieval(
            hits, search_ms=milliseconds, errors=errors, untold=frozenset(untold), facts=facts, answers=answers
        )

    def _read(self, reply: Any, question: Question) -> Any:
        """What came piece by piece is a ranking where any of it is a passage of the base, else the parts of an
        answer; an id by itself is no answer."""
        if isinstance(reply, str) and self._passages.named([reply]):
            return reply
        if isinstance(reply, Streamed) and isinstance(answer := written(reply), str):
            pieces = texts_of(reply)
            is_text = all(isinstance(part, str) for part in reply)
            is_said = not is_text or any(piece != piece.strip() for piece in pieces)
            if self._passages.chunks:
                trial = ItemReader(self._passages)
                trial.hits(pieces, len(reply), question.relevant)
                is_said = trial.known.keys() == {How.UNKNOWN}
            if is_said:
                return {"answer": answer}
        read = understood(reply)
        if isinstance(reply, Mapping) and has_failed(reply, isinstance(read, Mapping) and read.get("answer")):
            raise RetrievalError(f"it says that it failed: {excerpt(str(reply), SHOWN_CHARACTERS)}")
        return read


Result = TypeVar("Result")
GRACE_SECONDS = 0.5
"""More than its limit that a call gets, so that a coroutine that is cancelled at the limit can say so."""


class OutOfTimeError(Exception):
    """A function has not answered within its time."""


class WorkerThreads:
    """One thread and the name of one event loop, for all functions of a process: what a module opened when it was
    imported (a connection of SQLite, say) is for the thread that opened it.

    A notebook's cell runs inside a loop, and a judge is asked on another: a user's coroutine needs one of its own.
    """

    _numbers: ClassVar = count()
    _guard: ClassVar = threading.Lock()
    _shared: ClassVar[WorkerThreads | None] = None

    def __init__(self) -> None:
        self.loop = f"ragbench-callables-{next(self._numbers)}"
        self._works: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()
        self._left = False
        threading.Thread(target=self._work, name=f"{self.loop}-calls", daemon=True).start()

    @classmethod
    def shared(cls) -> WorkerThreads:
        """Those of this process; new ones where the last ones hang."""
        with cls._guard:
            if cls._shared is None or cls._shared._left:
                cls._shared = cls()
            return cls._shared

    def do(self, work: Callable[[], Result], seconds: float | None = None, over: str = "") -> Result:
        """What `work` returns or raises. Raises OutOfTimeError, which says `over`, when its time is over.

        Who is interrupted while he waits leaves the thread behind too: the next call would wait for it.
        """
        if threading.current_thread().name == f"{self.loop}-calls":  # a function that calls another
            return work()
        done: Future[Result] = Future()
        self._works.put((work, done))
        end = None if seconds is None else time.monotonic() + seconds + GRACE_SECONDS
        try:
            return self._result(done, end, over)
        except BaseException:
            self._left = self._left or not done.done()
            raise

    @staticmethod
    def _result(done: Future[Result], end: float | None, over: str) -> Result:
        while True:  # a wait without end would not see Ctrl-C on every system
            rest = 0.2 if end is None else min(0.2, end - time.monotonic())
            try:
                return done.result(timeout=max(0.0, rest))
            except FutureTimeoutError:
                if done.done():
                    return done.result()
                if end is not None and time.monotonic() >= end:
                    raise OutOfTimeError(over) from None

    def _work(self) -> None:
        while not self._left:
            work, done = self._works.get()
            try:
                outcome = work()
            except BaseException as error:  # whatever a function ends with belongs to who called it
                done.set_exception(error)
            else:
                done.set_result(outcome)


class FunctionGenerator(BaseGenerator):
    """Called once an answer with the question's text and the list of the contexts' texts; it may be a coroutine.

    It returns the answer as a text, or an object with it under "answer". A task at which it raises, or
    runs out of time, has no answer, and the error is its reason; when every task fails, nothing was measured, and
    that is an error as a whole.
    """

    def __init__(self, name: str, settings: GeneratorSettings) -> None:
        super().__init__(name, settings)
        self.path = str(settings.callable)
        self._function = of_table(
            f"generators.{name}", self.path, OF_A_WRITER, settings.timeout_seconds, GenerationError,
            adapted_writer, settings.given,
        )  # fmt: skip

    @property
    def description(self) -> Mapping[str, Any]:
        return {"kind": "callable", "callable": self.path, "max_context_characters": self.max_context_characters}

    def generate(self, tasks: Sequence[Task], *, progress: Progress | None = None) -> list[Generation]:
        """One call a task, in order. Raises GenerationError when every one of them raises."""
        return _written(f"generators.{self.name}", self.path, self._function, tasks, progress)


def _written(
    table: str,
    path: str,
    function: Callable[[str, list[str]], Any],
    tasks: Sequence[Task],
    progress: Progress | None,
) -> list[Generation]:
    generations, raised = [], 0
    for task in tasks:
        begun = time.perf_counter()
        try:
            said = function(task.question.text, [chunk.text for chunk in task.contexts])
        except Exception as error:
            raised += 1
            generations.append(Generation.failed(Status.MISSING_FIELD, told(error)))
        else:
            generations.append(Generation.of(written(said), path, seconds=time.perf_counter() - begun))
        if progress is not None:
            progress(1)
    if tasks and raised == len(tasks):
        raise GenerationError(f"{table}: {path} failed for all {raised} tasks: {generations[0].reason}")
    return generations


def names_in(path: Path) -> Iterator[str]:
    """Names that a module has, told by reading it; `*` where it takes all of another's."""
    try:
        tree = ast.parse(folders.text(path, folders.MOST_CODE))
    except folders.TooLargeError:
        raise
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"{path}: not Python: {error}") from None
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
