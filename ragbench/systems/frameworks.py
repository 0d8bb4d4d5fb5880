"""Objects of LangChain, LlamaIndex and Haystack as they are: asked in their own way, replies read as plain values.

They are told by the modules of their classes and by their methods; nothing of these packages is imported here. How many
passages they retrieve is their own: k does not reach them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

QUESTIONS = ("question", "query", "input", "text")
"""What inputs are called that take the question."""
ANSWERS = ("answer", "result", "output", "output_text", "response", "text")
PASSAGES = ("context", "contexts", "documents", "source_documents")
"""What fields of an object are called that hold the answer, and what it was written from."""
IDS = ("chunk_id", "id")
"""Of a passage's metadata, what holds the id that its author gave it; ids of stores are often made up."""
SOURCES = ("source_id", "document_id", "doc_id", "ref_doc_id")
"""Of a passage's metadata or of itself, what holds the id of that which a splitter cut it from."""
ADDRESSES = ("url", "source")


def adapted(given: Any) -> Any:
    """A function of (question, k) that asks an object of a framework; anything else as it is.

    The function returns what `FunctionSystem` reads, and raises ValueError for a reply that cannot be read.
    """
    packages = {kind.__module__.partition(".")[0] for kind in type(given).__mro__}
    if {"langchain", "langchain_core"} & packages and hasattr(given, "invoke"):
        return lambda question, k: _of_langchain(given.invoke(_input(given, question)))
    if "llama_index" in packages and hasattr(given, "query"):
        return lambda question, k: _of_llama_index(given.query(question))
    if "llama_index" in packages and hasattr(given, "retrieve"):
        return lambda question, k: _passages(given.retrieve(question))
    if "haystack" in packages and hasattr(given, "walk") and hasattr(given, "run"):
        return _haystack(given)
    return given


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
    return {"answer": answer, "retrieved": _passages(whole.source_nodes)}


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
