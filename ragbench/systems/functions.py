"""Your own functions and objects, and objects of LangChain, LlamaIndex and Haystack.

Nothing of these packages is imported: objects are told by their methods. How a function is called
is read from its signature: the question first, or what is called so; how many passages are wanted
where it takes k, top_k or the like; texts to answer from where it takes contexts.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ragbench.core.errors import BenchError
from ragbench.core.progress import progress
from ragbench.systems.asked import AskedSystem, Purpose
from ragbench.systems.calls import attempt
from ragbench.systems.generators import Contexts
from ragbench.systems.hits import KnownPassages, Returned, read_returned

# (question, k, texts to answer from or None) → what it returns
Ask = Callable[[str, int, Sequence[str] | None], Any]
QUESTIONS = ("question", "query", "input", "text", "prompt")
COUNTS = ("k", "top_k", "topk", "n", "limit", "count", "n_results", "num_results", "_")
CONTEXTS = ("contexts", "context", "documents", "passages")
SEVERAL = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class FunctionSystem(AskedSystem):
    """A function or an object that retrieves, answers, or both; see `ragbench.systems.hits`."""

    def __init__(self, name: str, given: Any, known: KnownPassages) -> None:
        super().__init__(name, known)
        answer = adapt(name, given, "answer")
        # What answers may say what it retrieved.
        self._ask = {"answer": answer, "retrieve": adapt(name, given, "retrieve") or answer}
        self.can_answer = answer is not None
        self.takes_contexts = isinstance(answer, BySignature) and answer.takes_contexts
        named = given if hasattr(given, "__qualname__") else type(given)
        self._description = f"{getattr(named, '__module__', '')}.{named.__qualname__}"

    def ask_all(
        self, purpose: Purpose, questions: Sequence[str], k: int, contexts: Contexts | None
    ) -> list[Returned]:
        """Call for every question, in order."""
        ask = self._ask[purpose]
        assert ask is not None, "nobody asks for answers where can_answer is False"
        entries = []
        for row, question in enumerate(progress(questions, f"asking {self.name}")):
            texts = None if contexts is None else [hit.text for hit in contexts[row]]
            outcome = attempt(ask, question, k, texts, read=read_returned)
            returned = outcome.value or Returned(error=outcome.error)
            entries.append(replace(returned, latency_ms=outcome.latency_ms))
        return entries

    def describe(self) -> str:
        """Name the function or the class."""
        return self._description


def adapt(name: str, given: Any, purpose: Purpose) -> Ask | None:
    """Return how something is asked; None for an object that does only the other of the two.

    purpose: the method that is looked for. Raises BenchError for what cannot be asked at all.
    """
    if inspect.isclass(given):
        raise BenchError(f"{name} is the class {given.__name__}; give an object of it")
    if callable(getattr(given, purpose, None)):
        return BySignature(name, getattr(given, purpose))
    if hasattr(given, "query"):  # LlamaIndex's query engines
        return lambda question, k, texts: given.query(question)
    if hasattr(given, "retrieve") or hasattr(given, "answer"):
        return None
    if hasattr(given, "invoke"):  # LangChain's retrievers, chains and graphs
        return lambda question, k, texts: given.invoke(input_of(given, question))
    if hasattr(given, "similarity_search"):  # its vector stores
        return lambda question, k, texts: given.similarity_search(question, k=k)
    if hasattr(given, "as_retriever"):  # LlamaIndex's indexes
        return lambda question, k, texts: given.as_retriever(similarity_top_k=k).retrieve(question)
    if hasattr(given, "chat"):  # its chat engines
        return lambda question, k, texts: given.chat(question)
    if hasattr(given, "walk"):  # Haystack's pipelines
        return lambda question, k, texts: run_pipeline(given, question)
    if hasattr(given, "run"):  # its components
        return BySignature(name, given.run)
    if callable(given):
        return BySignature(name, given)
    raise BenchError(
        f"{name} is {type(given).__name__}; a function of (question, k), an object with retrieve "
        "or answer, or one of LangChain, LlamaIndex or Haystack is expected"
    )


class BySignature:
    """A function, called as its signature says. Raises BenchError for one that needs more."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self._function = function
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):  # it does not tell what it takes
            parameters = []
        self._parameters = [each for each in parameters if each.kind not in SEVERAL]
        names = [each.name for each in self._parameters]
        self._question = first_of(names, QUESTIONS) or next(iter(names), "")
        others = [other for other in names if other != self._question]
        self._count, self._contexts = first_of(others, COUNTS), first_of(others, CONTEXTS)
        self.takes_contexts = bool(self._contexts)
        needed = {each.name for each in self._parameters if each.default is each.empty}
        strange = needed - {self._question, self._count, self._contexts}
        if strange:
            raise BenchError(
                f"{name} needs {', '.join(sorted(strange))} beside the question; give them "
                "defaults, or write a function of (question, k) that calls it"
            )

    def __call__(self, question: str, k: int, texts: Sequence[str] | None) -> Any:
        """Call it; texts: to answer from, where it takes them."""
        if not self._parameters:
            return self._function(question)
        values: dict[str, Any] = {self._question: question, self._count: k}
        if texts is not None:
            values[self._contexts] = list(texts)
        positional, named = [], {}
        for each in self._parameters:
            if each.name in values and each.kind is each.POSITIONAL_ONLY:
                positional.append(values[each.name])
            elif each.name in values:
                named[each.name] = values[each.name]
        return self._function(*positional, **named)


def first_of(names: Sequence[str], known: Sequence[str]) -> str:
    """Return the first of the names that is among the known, else ""."""
    return next((name for name in names if name in known), "")


def input_of(runnable: Any, question: str) -> Any:
    """Return what a runnable of LangChain takes: the question, or a dict with it."""
    if not hasattr(runnable, "get_input_jsonschema"):
        return question
    schema = runnable.get_input_jsonschema()
    names = list(schema.get("properties") or ())
    if schema.get("type") != "object" or not names:
        return question
    if names == ["root"]:  # of RunnablePassthrough.assign: a dict, and nobody tells of what
        return dict.fromkeys(QUESTIONS, question)
    name = first_of(names, QUESTIONS)
    if not name or set(schema.get("required", ())) - {name}:
        raise BenchError(f"its chain takes {', '.join(names)}; a question alone is given")
    return {name: question}


def run_pipeline(pipeline: Any, question: str) -> dict[str, Any]:
    """Run a pipeline of Haystack: the question for every open input that is called so.

    Returns the documents and the answer that its components gave last.
    """
    data: dict[str, dict[str, str]] = {}
    for component, sockets in pipeline.inputs().items():
        names = [name for name in sockets if name in QUESTIONS]
        for name, socket in sockets.items():
            if socket.get("is_mandatory") and name not in names:
                raise BenchError(f"its {component} takes {name}, which nobody gives")
        data[component] = dict.fromkeys(names, question)
    order = [name for name, _ in pipeline.walk()]
    by_component = pipeline.run(
        {name: given for name, given in data.items() if given}, include_outputs_from=set(order)
    )
    returned: dict[str, Any] = {}
    for outputs in (by_component[name] for name in order if name in by_component):
        if "documents" in outputs:
            returned["documents"] = outputs["documents"]
        first = (outputs.get("answers") or outputs.get("replies") or [None])[0]
        if first is not None:
            returned["answer"] = getattr(first, "data", first)
    return returned
