"""Users' own functions and objects of frameworks: found, called with a limit on their time, replies read.

Retrievers and generators are made of them; they run in a thread that is left behind with what hangs in it.

They are told by the modules of their classes and by their methods; nothing of these packages is imported here. How many
passages they retrieve is their own: k does not reach them.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from types import ModuleType
from typing import Any, ClassVar, TypeVar

import numpy as np

from ragbench.core import settings, trust, waves
from ragbench.core.expectations import kind
from ragbench.core.folders import write
from ragbench.core.settings import GeneratorSettings
from ragbench.core.settings.secrets import excerpt
from ragbench.core.types import Hit, Question, Status
from ragbench.data import Dataset
from ragbench.data.rows import cut_list
from ragbench.llm.client import run
from ragbench.systems.generation import BaseGenerator, Generation, GenerationError, Task
from ragbench.systems.passages import ItemReader, Passages
from ragbench.systems.retrieval import Progress, Retrieval, RetrievalError, counted

QUESTIONS = ("question", "query", "input", "text")
"""What inputs are called that take the question."""
ANSWERS = ("answer", "result", "output", "output_text", "response", "text")
PASSAGES = ("context", "contexts", "documents", "source_documents")
"""What fields of an object are called that hold the answer, and what it was written from."""
IDS = ("chunk_id", "id")
"""Of a passage's metadata, what holds the id that its author gave it; ids of stores are often made up."""
ONE_VALUE = ("invoke", "ainvoke", "retrieve", "aretrieve", "query", "aquery", "chat", "achat")
"""Methods of a framework's objects that are asked by the question alone."""
SOURCES = ("source_id", "document_id", "doc_id", "ref_doc_id")
"""Of a passage's metadata or of itself, what holds the id of that which a splitter cut it from."""
ADDRESSES = ("url", "source")


def adapted(given: Any) -> Any:
    """A function of (question, k) that asks an object of a framework; anything else as it is.

    The function returns what `FunctionSystem` reads, and raises ValueError for a reply that cannot be read.
    """
    packages = {kind.__module__.partition(".")[0] for kind in type(given).__mro__}
    if inspect.ismethod(given) and given.__name__ in ONE_VALUE and adapted(given.__self__) is not given.__self__:
        return lambda question, k: given(question)  # what else it takes is no k
    if {"langchain", "langchain_core"} & packages and hasattr(given, "invoke"):
        return lambda question, k: _of_langchain(given.invoke(_input(given, question)))
    if {"langchain", "langchain_core"} & packages and hasattr(given, "similarity_search"):
        return lambda question, k: given.similarity_search(question, k=k)
    if "llama_index" in packages and hasattr(given, "as_retriever"):
        return lambda question, k: given.as_retriever(similarity_top_k=k).retrieve(question)
    if "llama_index" in packages and hasattr(given, "chat"):
        return lambda question, k: given.chat(question)
    if "llama_index" in packages and hasattr(given, "query"):
        return lambda question, k: _of_llama_index(given.query(question))
    if "llama_index" in packages and hasattr(given, "retrieve"):
        return lambda question, k: _passages(given.retrieve(question))
    if "haystack" in packages and hasattr(given, "walk") and hasattr(given, "run"):
        return _haystack(given)
    if "haystack" in packages and "query" in (taken := _parameters(getattr(given, "run", None))):
        return lambda question, k: given.run(query=question, **({"top_k": k} if "top_k" in taken else {}))
    return given


def understood(reply: Any) -> Any:
    """What a user's function returned, with a framework's documents, nodes, messages and responses as `ItemReader`
    takes them; anything else as it is."""
    if hasattr(reply, "source_nodes"):
        return _of_llama_index(reply)
    if isinstance(reply, Mapping) and "retrieved" not in reply and isinstance(reply.get("documents"), list):
        return _of_langchain(reply)
    if isinstance(reply, Mapping):
        told = {"answer": _text(reply["answer"])} if "answer" in reply else {}
        found = reply.get("retrieved")
        return {**reply, **told, **({"retrieved": _passages(found)} if isinstance(found, list | tuple) else {})}
    return _passages(reply) if isinstance(reply, list | tuple) else reply


def adapted_writer(runnable: Any) -> Any:
    """A function of (question, texts of contexts) that asks a runnable of LangChain; anything else as it is."""
    packages = {kind.__module__.partition(".")[0] for kind in type(runnable).__mro__}
    if not {"langchain", "langchain_core"} & packages or not hasattr(runnable, "invoke"):
        return runnable

    def write(question: str, contexts: Sequence[str]) -> Any:
        schema = runnable.get_input_jsonschema()
        names = list(schema.get("properties") or ())
        place = next((name for name in PASSAGES if name in names), None)
        given = {name: question for name in QUESTIONS if name in names}
        if place is None or not given:
            raise ValueError(
                f"it takes {', '.join(names) or 'a text'}; {', '.join(QUESTIONS[:2])} and context are asked"
            )
        said = runnable.invoke({**given, place: "\n\n".join(contexts)})
        return {"answer": _text(said)} if not isinstance(said, Mapping) else _of_langchain(said)

    return write


def _input(runnable: Any, question: str) -> Any:
    """What a runnable takes: the question, or an object with it where its schema asks for one."""
    schema = runnable.get_input_jsonschema()
    names = list(schema.get("required") or schema.get("properties") or ())
    if schema.get("type") != "object" or not names:
        return question
    name = next((name for name in QUESTIONS if name in names), names[0])
    if others := [other for other in schema.get("required", ()) if other != name]:
        raise ValueError(f"it takes {', '.join(names)}; besides {name} nothing is known of {', '.join(others)}")
    return {name: question}


def _of_langchain(reply: Any) -> Any:
    """Of a text or a message the answer, of documents the passages, of an object both."""
    if not isinstance(reply, Mapping):
        return _passages(reply) if isinstance(reply, list | tuple) else {"answer": _text(reply)}
    answer = next((reply[name] for name in ANSWERS if reply.get(name) is not None), None)
    passages = next((reply[name] for name in PASSAGES if isinstance(reply.get(name), list | tuple)), None)
    if answer is None and passages is None:
        legal = ", ".join((*ANSWERS, *PASSAGES))
        raise ValueError(f"an object with one of {legal} is expected; got one with {', '.join(map(str, reply))}")
    if answer is None:
        return _passages(passages or ())
    return {"answer": _text(answer), **({} if passages is None else {"retrieved": _passages(passages)})}


def _of_llama_index(reply: Any) -> dict[str, Any]:
    """A response with what it was written from; one that streams is read to its end."""
    whole = reply.get_response() if hasattr(reply, "response_gen") and hasattr(reply, "get_response") else reply
    answer = None if whole.response is None else str(whole.response)
    return {"answer": answer, "retrieved": _passages(whole.source_nodes or ())}


def _haystack(pipeline: Any) -> Callable[[str, int], Any]:
    order = [name for name, _ in pipeline.walk()]
    given = pipeline.outputs(include_components_with_connected_outputs=True)
    searching = [name for name in order if "documents" in given.get(name, ())]

    def ask(question: str, k: int) -> Any:
        """What the last component gives that gives documents, and the first answer or reply."""
        reply = pipeline.run(_open_inputs(pipeline.inputs(), question), include_outputs_from=set(searching))
        passages = next((reply[name]["documents"] for name in reversed(searching) if name in reply), None)
        parts = [reply[name] for name in reversed(order) if name in reply]
        answers = next((part[name] for part in parts for name in ("answers", "replies") if part.get(name)), None)
        if answers is None:
            if passages is None:
                raise ValueError(f"answers, replies or documents are expected; got {', '.join(reply) or 'nothing'}")
            return _passages(passages)
        first = answers[0]
        passages = getattr(first, "documents", None) if passages is None else passages
        told = {} if passages is None else {"retrieved": _passages(passages)}
        return {"answer": _text(getattr(first, "data", first)), **told}

    return ask


def _open_inputs(inputs: Mapping[str, Mapping[str, Any]], question: str) -> dict[str, dict[str, str]]:
    """The question for every input that nothing is connected to and that takes it by its name.

    Raises ValueError for one that is mandatory and takes something else.
    """
    by_component: dict[str, dict[str, str]] = {}
    for component, sockets in inputs.items():
        mandatory = {name for name, socket in sockets.items() if socket.get("is_mandatory")}
        taken = {name for name in sockets if name in QUESTIONS[:2] or (name in mandatory and name in QUESTIONS)}
        if others := mandatory - taken:
            raise ValueError(f"the component {component} takes {', '.join(sorted(others))}, which nothing gives it")
        if taken:
            by_component[component] = dict.fromkeys(sorted(taken), question)
    return by_component


def _passages(items: Iterable[Any]) -> list[Any]:
    return [passage(item) for item in items]


def passage(item: Any) -> Any:
    """A document or a node, alone or with its score, as `ItemReader` takes it; what is none of these, as it is."""
    if isinstance(item, tuple) and len(item) == 2:
        made = passage(item[0])
        return {**made, "score": item[1]} if isinstance(made, dict) else item
    node = getattr(item, "node", item)
    about = _first(node, ("metadata", "meta")) or {}
    text = node.get_content() if hasattr(node, "get_content") else _first(node, ("page_content", "content"))
    if not isinstance(text, str):
        return item
    given, stored = _of(about, IDS), _first(node, ("node_id", "id"))
    made = {
        "id": stored if given is None else given,
        "stored_id": None if given is None or given == stored else stored,
        "source_id": _of(about, SOURCES) or _first(node, SOURCES),
        "text": text,
        "score": getattr(item, "score", None),
        "url": _of(about, ADDRESSES),
        "title": about.get("title"),
    }
    return {name: value for name, value in made.items() if value is not None}


def _of(about: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((about[name] for name in names if about.get(name) is not None), None)


def _first(thing: Any, names: Sequence[str]) -> Any:
    return next((value for name in names if (value := getattr(thing, name, None)) is not None), None)


def _text(said: Any) -> Any:
    """The text of a message, whose content may come in blocks; what is no message as it is."""
    content = said if isinstance(said, str) else getattr(said, "content", None)
    if content is None:  # a message of Haystack
        return getattr(said, "text", said)
    if isinstance(content, list):
        blocks = (block if isinstance(block, str) else block.get("text", "") for block in content)
        return "".join(blocks)
    return content


SHOWN_CHARACTERS = 300
IN_A_ROW = 5
"""Calls that ran out of time one after the other, after which a function is called no more."""


def find(
    path: str, parameters: str, seconds: float, limit: str, adapt: Callable[[Any], Any] = lambda function: function
) -> Callable[..., Any]:
    """The function at module:function, its answer awaited where it is a coroutine's.

    The module is one of an installed package, or lies beside ragbench.toml.

    parameters: what it takes, for the message. seconds: of one call at most; limit: the setting that says so. adapt:
    makes a function of what is found, where it is none. Raises ValueError where it cannot be imported, is not there, or
    is no function; UntrustedError, before anything is imported, where its user does not trust it. A call raises
    OutOfTimeError when its time is over: what hangs is left behind in a thread that keeps no process from ending.
    """
    trust.require(trust.Item("code", path, "runs this function"))
    module_name, _, function_name = path.partition(":")
    target: Any = module(module_name)
    for part in function_name.split("."):
        if not hasattr(target, part):
            offered = [word for word in dir(target) if not word.startswith("_") and callable(getattr(target, word))]
            raise ValueError(f"there is no {part}; there are {', '.join(offered) or 'no functions'}")
        target = getattr(target, part)
    return limited(target, parameters, seconds, limit, adapt)


def limited(
    function: Any, parameters: str, seconds: float, limit: str, adapt: Callable[[Any], Any] = lambda function: function
) -> Callable[..., Any]:
    """The function that is found, or that `adapt` makes of it, with a limit on its time; see `find`."""
    function = adapt(function)
    if not callable(function):
        raise ValueError(f"that is {kind(function)}, not a function of {parameters}")
    if not _takes(function, parameters.count(",") + 1):
        raise ValueError(f"it takes {inspect.signature(function)}, and is called with {parameters}")

    late = 0
    over = f"no answer within {seconds:g} s; look what it waits for, or raise {limit}"

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
        hands = Hands.shared()

        def work() -> Any:
            answer = function(*arguments)
            return run(awaited(answer), hands.loop) if inspect.isawaitable(answer) else answer

        try:
            answer = hands.do(work, seconds, over)
        except OutOfTimeError:
            late += 1
            raise
        except BaseException:
            late = 0
            raise
        late = 0
        return answer

    return called


def module(name: str) -> ModuleType:
    """The module of that name, of an installed package or beside ragbench.toml; whoever calls has asked whether the
    project is trusted.

    Raises ValueError where it cannot be imported.
    """
    try:
        return Hands.shared().do(lambda: trust.imported(name, str(settings.project_folder())))
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
    limit = f"{table}.timeout_seconds"
    try:
        if given is None:
            return find(path, parameters, seconds, limit, adapt)
        return limited(given, parameters, seconds, limit, lambda function: asked(function, adapt))
    except ValueError as error:
        raise refused(f"{table}.callable = {path!r}: {error}") from error


def asked(given: Any, adapt: Callable[[Any], Any] = adapted) -> Any:
    """What `adapt` makes of an object, or a function of two values that asks it by the first, where it takes no
    more."""
    function = adapt(given)
    if not callable(function) or _takes(function, 2) or not _takes(function, 1):
        return function
    return lambda question, _: function(question)


def named(given: Any) -> str:
    """What a page calls an object that has no name of its own: `my_package.search:retrieve`."""
    own = given if hasattr(given, "__qualname__") else getattr(given, "func", type(given))
    own = own if hasattr(own, "__qualname__") else type(own)
    return f"{getattr(own, '__module__', None) or 'builtins'}:{own.__qualname__}"


def tell_missing() -> None:
    """Write which functions are not there or cannot be called, and why: an object of JSON.

    This process's argument: the file that takes it. At its input: an object of functions and what each takes.
    """
    missing = {}
    for path, parameters in json.load(sys.stdin).items():
        try:
            find(path, parameters, 0, "", adapted)
        except ValueError as error:
            missing[path] = str(error)
    write(Path(sys.argv[1]), json.dumps(missing))


def _parameters(function: Any) -> Collection[str]:
    """The names of what a function takes; none of what does not tell."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return ()


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
    an object of a framework is asked in its own way (`ragbench.systems.callables`).

    A system that answers by itself returns an object with "answer", and with "retrieved" for what it looked at.
    The module is one of an installed package, or lies beside ragbench.toml, unless the object itself is given. A
    question at which it raises, or runs out of time, is kept as an error and has no hits; when every question fails,
    nothing was measured, and that is an error as a whole.
    """

    is_stand_in = False

    def __init__(self, name: str, path: str, dataset: Dataset, seconds: float, given: Any = None) -> None:
        self.name, self.path, self.dataset = name, path, dataset
        self._passages = Passages.of(dataset.chunks)
        self._function = of_table(f"systems.{name}", path, "(question, k)", seconds, RetrievalError, adapted, given)

    @property
    def description(self) -> Mapping[str, Any]:
        return {"kind": "callable", "callable": self.path}

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
                answer = understood(self._function(question.text, k))
                milliseconds[place] = (time.perf_counter() - begun) * 1000
                if isinstance(answer, Mapping) and not isinstance(answer.get("answer", 0.0), int | float):
                    if strange := answer.keys() - {"answer", "retrieved"}:
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


Result = TypeVar("Result")
GRACE_SECONDS = 0.5
"""More than its limit that a call gets, so that a coroutine that is cancelled at the limit can say so."""


class OutOfTimeError(Exception):
    """A function has not answered within its time."""


class Hands:
    """One thread and the name of one event loop, for all functions of a process: what a module opened when it was
    imported (a connection of SQLite, say) is for the thread that opened it.

    A notebook's cell runs inside a loop, and a judge is asked on another: a user's coroutine needs one of its own.
    """

    _numbers: ClassVar = count()
    _guard: ClassVar = threading.Lock()
    _shared: ClassVar[Hands | None] = None

    def __init__(self) -> None:
        self.loop = f"ragbench-callables-{next(self._numbers)}"
        self._works: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()
        self._left = False
        threading.Thread(target=self._work, name=f"{self.loop}-calls", daemon=True).start()

    @classmethod
    def shared(cls) -> Hands:
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
            f"generators.{name}", self.path, "(question, contexts)", settings.timeout_seconds, GenerationError,
            adapted_writer, settings.given,
        )  # fmt: skip

    @property
    def description(self) -> Mapping[str, Any]:
        return {"kind": "callable", "callable": self.path, "max_context_characters": self.max_context_characters}

    def generate(self, tasks: Sequence[Task], *, progress: Progress | None = None) -> list[Generation]:
        """One call a task, in order. Raises GenerationError when every one of them raises."""
        generations, raised = [], 0
        for task in tasks:
            begun = time.perf_counter()
            try:
                said = self._function(task.question.text, [chunk.text for chunk in task.contexts])
            except Exception as error:
                raised += 1
                generations.append(Generation.failed(Status.MISSING_FIELD, told(error)))
            else:
                text = said.get("answer") if isinstance(said, Mapping) else said
                generations.append(Generation.of(text, self.path, seconds=time.perf_counter() - begun))
            if progress is not None:
                progress(1)
        if tasks and raised == len(tasks):
            raise GenerationError(
                f"generators.{self.name}: {self.path} failed for all {raised} tasks: {generations[0].reason}"
            )
        return generations
