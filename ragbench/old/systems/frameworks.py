"""Objects of frameworks and of the user's own classes as functions, and what any of them replies, as it is read.

They are told by the modules of their classes and by their methods; nothing of these packages is imported here. How many
passages they retrieve is their own, where they take no k.
"""

from __future__ import annotations

import inspect
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from numbers import Real
from typing import Any

from ragbench.old.core.types import Chunk, Hit
from ragbench.old.data import in_memory
from ragbench.old.data.cells import is_frame, native
from ragbench.old.data.payloads import SPEAKERS, Passage, passage_of, passages_of, quoted, role_of
from ragbench.old.data.vocabulary import FIELDS, PARTS, field_of, key
from ragbench.old.systems.service_replies import added, joined, readable

QUESTIONS = ("question", "query", "input", "text")
"""What inputs are called that take the question."""
ANSWERS = ("answer", "result", "output", "output_text", "response", "text", "data")
PASSAGES = ("context", "contexts", "documents", "source_documents")
"""What fields of an object are called that hold the answer, and what it was written from."""
IDS = ("chunk_id", "id")
"""Of a passage's metadata, what holds the id that its author gave it; ids of stores are often made up."""
OWN = ("retrieve", "search", "similarity_search")
"""Methods of an object of the user's own that cannot be called itself: of the question, and of k where they take it."""
ALONE = ("query", "invoke", "get_relevant_documents", "ask", "answer", "chat", "run", "predict", "generate", "complete")
"""Further such methods, of the question alone: what else they take is no k."""
ONE_VALUE = ("invoke", "ainvoke", "retrieve", "aretrieve", "query", "aquery", "chat", "achat")
"""Methods of a framework's objects that are asked by the question alone."""
SOURCES = ("source_id", "document_id", "doc_id", "ref_doc_id")
"""Of a passage's metadata or of itself, what holds the id of that which a splitter cut it from."""
ADDRESSES = ("url", "source")


WAYS: tuple[tuple[str, str, Callable[[Any, str, int], Any]], ...] = (
    *((package, method, ask) for package in ("langchain", "langchain_core") for method, ask in (
        ("invoke", lambda given, question, k: given.invoke(_input(given, question))),
        ("similarity_search", lambda given, question, k: given.similarity_search(question, k=k)))),
    ("llama_index", "as_retriever",
     lambda given, question, k: given.as_retriever(similarity_top_k=k).retrieve(question)),
    *(("llama_index", method, lambda given, question, k, method=method: getattr(given, method)(question))
      for method in ("chat", "query", "retrieve")),
)  # fmt: skip
"""A framework's package, a method by which an object of it is known, and how it is asked; the first that fits."""


def adapted(given: Any) -> Any:
    """A function of (question, k) that asks an object of a framework; anything else as it is. What it replies is to be
    `understood`."""
    packages = {kind.__module__.partition(".")[0] for kind in type(given).__mro__}
    if inspect.ismethod(given) and given.__name__ in ONE_VALUE and adapted(given.__self__) is not given.__self__:
        return _alone(given)
    for package, known, ask in WAYS:
        if package in packages and hasattr(given, known):
            return partial(ask, given)
    if "haystack" in packages and hasattr(given, "walk") and hasattr(given, "run"):
        return _haystack(given)
    if "haystack" in packages and "query" in (taken := _parameters(getattr(given, "run", None))):
        return lambda question, k: given.run(query=question, **({"top_k": k} if "top_k" in taken else {}))
    if callable(given) or given is None:
        return given
    public = [name for name in dir(type(given)) if not name.startswith("_") and callable(getattr(given, name, None))]
    for name in (*OWN, *ALONE, *(public if len(public) == 1 else ())):
        if callable(method := getattr(given, name, None) or getattr(given, f"a{name}", None)):
            return method if name in OWN else _alone(method)
    return given


class Streamed(list[Any]):
    """What came piece by piece: passages, or the parts of one answer."""


def understood(reply: Any) -> Any:
    """What a user's function returned, with a framework's documents, nodes, messages and responses as `ItemReader`
    takes them, a data frame as its rows, and a text, alone or before what it was written from, as an answer; anything
    else as it is."""
    if is_frame(reply):
        return [row for _, _, row in in_memory.rows(reply, "the data frame")]
    if isinstance(reply, Streamed) and (streamed := _of_stream(reply)) is not None:
        return streamed
    if isinstance(reply, str) and isinstance(held := quoted(reply), Mapping) and "answer" in _by_our_names(held):
        reply = held
    if isinstance(reply, list | tuple) and not hasattr(reply, "_fields"):
        reply = _of_parts(reply)
    if isinstance(reply, list | tuple) and not hasattr(reply, "_fields"):
        return _passages(reply)
    reply = _of_object(reply)
    if not isinstance(reply, Mapping):
        return reply
    named = _by_our_names(reply)
    if "answer" not in named and isinstance(said := reply.get("messages"), list) and said:  # of a graph
        named = {**named, "answer": said[-1] if _speaker(said[-1]) in ("assistant", "") else None}
    if not _is_scored(reply) and not ("answer" in named and isinstance(named.get("retrieved"), list | tuple)):
        within = _within(reply)
        is_left = "answer" in named and "retrieved" not in {*within, *named}  # a list beside it may be what it lacks
        ours = named.keys() & {"answer", "retrieved"} if "answer" in within and not is_left else named.keys()
        named = {**within, **{name: named[name] for name in ours}}
    answer, listed = named.get("answer"), named.get("retrieved")
    if isinstance(listed, list) and listed and isinstance(listed[0], list):  # for a batch of one question
        listed = listed[0]
    if "answer" not in named and isinstance(listed, list | tuple):
        return _passages(listed)
    if not named.keys() & {"answer", "retrieved"} and not _is_scored(named):
        if isinstance(text := _text(reply), str):
            return {"answer": text}
        if (passages := passages_of(dict(reply))) is not None:  # of a vector store or an engine
            return [_told(each) for each in passages]
    told = {} if answer is None else {"answer": _text(answer)}
    named = {name: value for name, value in named.items() if name != "messages" and "history" not in str(name)}
    return {**named, **told, **({"retrieved": _passages(listed)} if isinstance(listed, list | tuple) else {})}


def _within(reply: Mapping[Any, Any]) -> dict[str, Any]:
    """An answer and passages wherever they stand in an object, as they are found in a service's reply."""
    import jmespath

    plain = _plain(reply)
    found = readable([plain], is_named=True)
    places = {"answer": found.get("answer"), "retrieved": found.get("items")}
    return {name: jmespath.search(place, plain) for name, place in places.items() if place}


def _plain(value: Any) -> Any:
    """What JSON has of a value: objects as what they hold, passages and messages among them."""
    if isinstance(value, Mapping):
        return {str(name): _plain(own) for name, own in value.items()}
    if _speaker(value):
        return {"role": _speaker(value), "content": _text(value), "tool_calls": bool(_member(value, "tool_calls"))}
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return [_plain(own) for own in value]
    if isinstance(value, str | Real) or value is None:
        return value
    made = passage(value)
    made = _of_object(value) if made is value else made
    return _plain(made) if isinstance(made, Mapping) else None


def _of_stream(parts: Streamed) -> dict[str, Any] | None:
    """The answer that the parts of a stream are together, and what it was written from, where one of them is a piece of
    an answer and no text alone: a model's, or of an object with it; None of any other stream."""
    said: list[str] = []
    listed = None
    is_said = False
    for part in map(_of_graph, parts):
        read = part if isinstance(part, str) else understood(part)
        if isinstance(read, Mapping) and "answer" in read:
            is_said |= not isinstance(part, str)
            said = added(said, read["answer"], _plain(part))
            listed = read.get("retrieved", listed)
        elif isinstance(read, str):
            said.append(read)
        elif isinstance(read, list) and isinstance(part, Mapping | list):
            is_said, listed = True, read
    return {"answer": joined(said), **({} if listed is None else {"retrieved": listed})} if is_said and said else None


def _of_graph(part: Any) -> Any:
    """A part of a graph's stream without its mode before it; of a message with what is told of it the message, as the
    only one of a state."""
    if isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], str) and isinstance(part[1], Mapping | tuple):
        part = part[1]
    is_told = isinstance(part, tuple) and len(part) == 2 and isinstance(part[1], Mapping) and _speaker(part[0])
    return {"messages": [part[0]]} if is_told else part


def _of_parts(reply: list[Any] | tuple[Any, ...]) -> Any:
    """Of one text and anything else the answer and what it was written from, in whatever order; of two lists of one
    length the items with their scores, as a list of one query or two have them; of messages the last of a model as the
    answer; else as it is."""
    if reply and all(map(_speaker, reply)):
        said = [part for part in reply if _speaker(part) == "assistant" and _text(part)]
        return {"answer": _text(said[-1]) if said else None}
    parts = [part[0] if len(part) == 1 and isinstance(part, list) and isinstance(part[0], list) else part
             for part in map(native, reply) if isinstance(part, str | list)]  # fmt: skip
    texts, lists = [part for part in parts if isinstance(part, str)], [part for part in parts if isinstance(part, list)]
    others = [part for part in reply if isinstance(part, Mapping)]
    is_pair = isinstance(reply, tuple) or (len(lists) == 1 and len(reply) == 2)
    if len(texts) == len(reply) == 2 and isinstance(reply, tuple) and " " in texts[0].strip():
        raise ValueError(
            "it returned two texts, which may be an answer and a passage, or two passages: return the answer and a "
            "list, or a list"
        )
    if len(texts) == 1 < len(reply) and is_pair and (lists or others or " " in texts[0].strip()):
        told = [own for own in lists if not _are_numbers(own)]
        if lists and len(told) == 2 and len(told[0]) == len(told[1]):
            told = [[{"id": name, "text": text} for name, text in zip(*sorted(told, key=_length), strict=True)]]
        return {"answer": texts[0], **({"retrieved": told[0]} if told else others[0] if others else {})}
    if len(parts) == len(reply) == 2 and len({*map(len, parts)}) == 1 and not texts and isinstance(reply, tuple):
        scored = [part for part in parts if part and all(isinstance(score, float) for score in part)]
        if len(scored) == 1:
            return [*zip(next(part for part in parts if part is not scored[0]), scored[0], strict=True)]
    return reply


def _are_numbers(values: Sequence[Any]) -> bool:
    return bool(values) and all(isinstance(value, Real) for value in values)


def _length(values: Sequence[Any]) -> int:
    return sum(len(value) if isinstance(value, str) else 1 for value in values)


def _speaker(part: Any) -> str:
    """Who says a message, a user, an assistant or a tool; empty for what is none."""
    role = role_of({"role": _member(part, "role", "type")})
    is_text = _member(part, "content") is not None
    return role if is_text and isinstance(role, str) and role in SPEAKERS else ""


def written(reply: Any) -> Any:
    """The answer in what a writer returned: a text, a stream of its parts, a message, an object with it; else as it
    is."""
    texts: list[Any] = texts_of(reply) if isinstance(reply, Streamed) else [None]
    if all(isinstance(text, str) for text in texts):
        return joined(texts)
    read = understood(reply)
    return read.get("answer") if isinstance(read, Mapping) else reply


def texts_of(parts: Streamed) -> list[Any]:
    """Those that are not empty; what is no text as it is."""
    return [text for part in parts if (text := _text(part)) not in (None, "")]


def _of_object(reply: Any) -> Any:
    """Of a text, a message or a model's reply the answer, of an object of a class of the user's own the answer and the
    passages among its attributes; anything else as it is."""
    if hasattr(reply, "source_nodes") or hasattr(reply, "get_response"):  # of LlamaIndex; a stream is read to its end
        whole = reply.get_response() if hasattr(reply, "get_response") else reply
        return {
            "answer": None if whole.response is None else str(whole.response),
            "retrieved": whole.source_nodes or [],
        }
    is_value = reply is None or isinstance(reply, Mapping)
    if is_value or (isinstance(reply, Iterable) and not isinstance(reply, str) and not _has_fields(reply)):
        return reply
    texts = (_text(getattr(reply, name, None)) for name in ANSWERS)
    answer = next((text for text in texts if isinstance(text, str)), _text(reply))
    found = (getattr(reply, name, None) for name in ("retrieved", *PASSAGES, *PARTS.lists, *PARTS.beside))
    listed = next((held for held in found if isinstance(held, list | tuple)), None)
    told = {"answer": answer if isinstance(answer, str) else None, "retrieved": listed}
    return {name: value for name, value in told.items() if value is not None} or reply


def _has_fields(reply: Any) -> bool:
    return hasattr(type(reply), "_fields") or hasattr(type(reply), "model_fields")


def _is_scored(reply: Mapping[Any, Any]) -> bool:
    return all(isinstance(value, Real) for value in reply.values())


def _by_our_names(reply: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """An answer and passages that go by names which tables of answers have for them; of scores by id, all as it is."""
    names = {key(str(name)): name for name, value in reply.items() if not isinstance(value, Real)}
    texts = {alias: name for alias, name in names.items() if isinstance(_text(reply[name]), str)}
    lists = {alias: name for alias, name in names.items() if not isinstance(reply[name], Mapping)
             and not (isinstance(reply[name], str) and alias in PARTS.answered)}  # fmt: skip
    passages = (*FIELDS["contexts"], *FIELDS["context_ids"], *PARTS.beside, *PARTS.lists)
    ours = {"answer": (FIELDS["response"], texts), "retrieved": (passages, lists)}
    theirs = {
        there[alias]: name
        for name, (aliases, there) in ours.items()
        if name not in reply and (alias := next((alias for alias in map(key, aliases) if alias in there), None))
    }
    return {theirs.get(name, name): value for name, value in reply.items()}


def contexts_of(function: Any) -> str:
    """What a function calls its parameter for the texts of passages, by any name that tables of answers have for them;
    empty where it has none. One that is a number says how many are wanted."""
    for name, parameter in _parameters(function).items():
        number = parameter.annotation in (int, "int") or isinstance(parameter.default, int)
        if field_of(name) == "contexts" and not number and parameter.kind in (_POSITIONAL, parameter.KEYWORD_ONLY):
            return name
    return ""


_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD
_NAMED = (_POSITIONAL, inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.KEYWORD_ONLY)
_COUNTS = re.compile(
    r"_{0,2}|[kn]|\w?\w?|(\w+_)?top_?[kn]?|\w+_k|k_\w+|limit|count|size|depth|rows|number|amount|num|сколько|количество"
    r"|((n|num|max|top|k|number_of)_)?(results?|docs?|documents?|passages?|chunks?|hits?|nodes?|contexts?|sources?|items)"
)
"""What a parameter is called that takes how many passages are wanted."""


def told_apart(function: Callable[..., Any], name: str = "") -> Callable[..., Any]:
    """A function of (question, k), and of contexts, that hands each to the parameter that is for it. name: see
    `contexts_of`; empty: it takes none.

    k is handed to a parameter that is called so, and to none that only stands second: a temperature, a language or a
    user is left as it is by default. Where there are no contexts the parameter keeps its default; a call raises
    ValueError where it has none. Raises ValueError for a function that needs anything else.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return function
    given = {own.name: own for own in signature.parameters.values() if own.kind in _NAMED and own.name != name}
    if not given:
        return function
    asked = next((own for own in given if own in QUESTIONS or field_of(own) == "user_input"), next(iter(given)))
    needed = {own: each for own, each in given.items() if each.default is each.empty and own != asked}
    counting = next((own for own, each in given.items() if own != asked and _takes_number(each)), None)
    empty: dict[str, Any] = {own: [] for own in needed if "history" in own or own == "messages"}
    if strange := [own for own in needed if own != counting and own not in empty]:
        raise ValueError(
            f"it needs {', '.join(strange)} beside {asked}, and nothing is known of that: give it a default, or write "
            "a function of (question, k) that calls it"
        )
    is_needed = bool(name) and signature.parameters[name].default is inspect.Parameter.empty

    def called(question: str, k: int, contexts: Sequence[str] | None = None) -> Any:
        if contexts is None and is_needed:
            raise ValueError(
                f"it answers from {name} that it is given: give that parameter the default None, and search there, or "
                "make it a writer: [generators.NAME]"
            )
        values: dict[str, Any] = {asked: question, **empty, **({counting: k} if counting else {})}
        values |= {} if contexts is None else {name: list(contexts)}
        bound = inspect.BoundArguments(signature, OrderedDict((key, values[key]) for key in signature.parameters
                                                              if key in values))  # fmt: skip
        return function(*bound.args, **bound.kwargs)

    return called if name else lambda question, k: called(question, k)


def _takes_number(parameter: inspect.Parameter) -> bool:
    kind, value = parameter.annotation, parameter.default
    is_number = kind is parameter.empty or "int" in str(kind) or kind is Any
    is_free = value is parameter.empty or value is None or (isinstance(value, int) and not isinstance(value, bool))
    return is_number and is_free and _COUNTS.fullmatch(parameter.name.casefold()) is not None


def _alone(method: Callable[..., Any]) -> Callable[..., Any]:
    if not (name := contexts_of(method)):
        return lambda question, k: method(question)

    def called(question: str, k: int, contexts: Sequence[str] | None = None) -> Any:
        return method(question, **({} if contexts is None else {name: list(contexts)}))

    return called


def adapted_writer(runnable: Any) -> Any:
    """A function of (question, texts of contexts) that asks a runnable of LangChain, or a function that has a parameter
    for contexts wherever it stands; anything else as it is."""
    packages = {kind.__module__.partition(".")[0] for kind in type(runnable).__mro__}
    if not {"langchain", "langchain_core"} & packages or not hasattr(runnable, "invoke"):
        if not (callable(runnable) and (name := contexts_of(runnable))):
            return runnable
        own = told_apart(runnable, name)
        return lambda question, contexts: own(question, len(contexts) or 1, contexts)

    def write(question: str, contexts: Sequence[str]) -> Any:
        schema = runnable.get_input_jsonschema()
        names = list(schema.get("properties") or ())
        place = next((name for name in PASSAGES if name in names), None)
        given = {name: question for name in QUESTIONS if name in names}
        if place is None or not given:
            raise ValueError(
                f"it takes {', '.join(names) or 'a text'}; {', '.join(QUESTIONS[:2])} and context are asked"
            )
        return runnable.invoke({**given, place: "\n\n".join(contexts)})

    return write


def _input(runnable: Any, question: str) -> Any:
    """What a runnable takes: the question, or an object with it where its schema asks for one."""
    schema = runnable.get_input_jsonschema()
    names = list(schema.get("required") or schema.get("properties") or ())
    if schema.get("type") != "object" or not names:
        return question
    if names == ["root"]:  # of RunnablePassthrough.assign: an object, and nobody tells of what
        return dict.fromkeys(QUESTIONS[:3], question)
    name = next((name for name in QUESTIONS if name in names), names[0])
    if others := [other for other in schema.get("required", ()) if other != name]:
        raise ValueError(f"it takes {', '.join(names)}; besides {name} nothing is known of {', '.join(others)}")
    return {name: question}


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
            return passages
        first = answers[0]
        passages = getattr(first, "documents", None) if passages is None else passages
        return {"answer": getattr(first, "data", first), **({} if passages is None else {"retrieved": passages})}

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
    if isinstance(item, tuple) and not hasattr(item, "_fields") and len(item) > 1:
        return _of_row(item)
    if isinstance(item, Hit | Chunk):
        return item
    node = getattr(item, "node", item)
    about = _first(node, ("metadata", "meta")) or {}
    text = node.get_content() if hasattr(node, "get_content") else _first(node, ("page_content", "content"))
    if not isinstance(text, str):
        known = None if isinstance(item, str | Mapping | Sequence) else passage_of(item)
        return item if known is None else _told(known)
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


def _of_row(row: tuple[Any, ...]) -> Any:
    """A passage that is a row of its id, its text and its score, in whatever order, or a document with its score."""
    scores = [value for value in row if isinstance(value, float)]
    others = [value for value in row if not isinstance(value, float)]
    if len(row) == 2 and not isinstance(row[0], float):
        made = passage(row[0])
        return {**made, "score": row[1]} if isinstance(made, dict) else row
    if len(scores) > 1 or not others or not all(isinstance(value, str | int) for value in others):
        return row
    score = {"score": scores[0]} if scores else {}
    if len(others) == 1:
        return (others[0], scores[0])
    text = max(others, key=lambda value: len(value) if isinstance(value, str) else 0)
    return (
        {"id": others[0] if others[0] is not text else others[1], "text": text, **score}
        if isinstance(text, str)
        else row
    )


def _told(known: Passage) -> dict[str, Any]:
    return {name: value for name, value in asdict(known).items() if value is not None}


def _of(about: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((about[name] for name in names if about.get(name) is not None), None)


def _first(thing: Any, names: Sequence[str]) -> Any:
    return next((value for name in names if (value := getattr(thing, name, None)) is not None), None)


def _member(thing: Any, *names: str) -> Any:
    """The first of these attributes that there is; of a mapping, of these names."""
    return _of(thing, names) if isinstance(thing, Mapping) else _first(thing, names)


def _text(said: Any) -> Any:
    """The text of a message, whose content may come in blocks, or of a model's reply; what is none of these as it
    is."""
    if isinstance(said, str) or said is None:
        return said
    inner = choices[0] if (choices := _member(said, "choices")) else _member(said, "message", "delta")
    if inner is not None:
        return _text(inner)
    content = _member(said, "content", "text")
    if isinstance(content, list):
        blocks = (block if isinstance(block, str) else _member(block, "text") or "" for block in content)
        return "".join(blocks)
    return said if content is None else content


def _parameters(function: Any) -> Mapping[str, inspect.Parameter]:
    """What a function takes, by name; none of what does not tell."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}
