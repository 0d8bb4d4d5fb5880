"""Users' functions and objects, and objects shaped as those of frameworks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from operator import methodcaller
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel
from sqlalchemy.exc import OperationalError

from ragbench.core.errors import BenchError
from ragbench.core.settings import Settings
from ragbench.core.types import Dataset, Hit, Passage, Reply, Retrieval
from ragbench.data import from_objects
from ragbench.llm import StopError
from ragbench.systems import open_systems

LIBRARY = "The library opens at 8:00 on working days."


def open_one(given: Any, dataset: Dataset, **options: Any) -> Any:
    return open_systems({"mine": given}, Settings(), dataset, **options)["mine"]


def retrieve(given: Any, dataset: Dataset, k: int = 3) -> Retrieval:
    return open_one(given, dataset).retrieve(["When?"], k)[0]


def answer(given: Any, dataset: Dataset, k: int = 3) -> Reply:
    return open_one(given, dataset).answer(["When?"], k)[0]


@dataclass
class Document:
    """As LangChain's."""

    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None


@dataclass
class Node:
    """As LlamaIndex's TextNode."""

    text: str
    node_id: str
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class NodeWithScore:
    node: Node
    score: float | None = None


@dataclass
class HaystackDocument:
    id: str
    content: str
    meta: dict[str, Any] = field(default_factory=dict)
    score: float | None = None


class Message(BaseModel):
    """As LangChain's, which can be iterated."""

    content: str


class Result(BaseModel):
    answer: str | None
    contexts: list[str]


NAN = math.nan


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (["park", "lib"], [("park", NAN), ("lib", NAN)]),
        (("park",), [("park", NAN)]),
        (np.array(["park"]), [("park", NAN)]),
        ([("lib", 0.9), ("park", np.float32(0.5))], [("lib", 0.9), ("park", 0.5)]),
        ({"park": 0.5, "lib": 0.9}, [("lib", 0.9), ("park", 0.5)]),
        ([LIBRARY], [("lib", NAN)]),
        (["the LIBRARY  opens at 8:00\non working\u00ad days."], [("lib", NAN)]),
        ([{"id": "lib", "score": 2}], [("lib", 2.0)]),
        ([{"chunk_text": LIBRARY, "similarity": 0.4}], [("lib", 0.4)]),
        ([Document(LIBRARY, {"source": "https://x/lib"}, id="8f3c")], [("lib", NAN)]),
        ([Document("cut", {"id": "lib"}, id="8f3c")], [("lib", NAN)]),
        ([(Document(LIBRARY), 0.3)], [("lib", 0.3)]),
        ([NodeWithScore(Node(LIBRARY, "8f3c"), 0.7)], [("lib", 0.7)]),
        ([HaystackDocument("8f3c", LIBRARY, score=0.6)], [("lib", 0.6)]),
        ([Passage(None, "lib"), Hit("park", similarity=1.0)], [("lib", NAN), ("park", 1.0)]),
        ({"answer": "At 8.", "contexts": [LIBRARY]}, [("lib", NAN)]),
        (Result(answer=None, contexts=[LIBRARY]), [("lib", NAN)]),
        ({"result": "At 8.", "source_documents": [Document(LIBRARY)]}, [("lib", NAN)]),
        ({"retrieved_contexts": ["lost"], "context_ids": ["card"]}, [("card", NAN)]),
        ({"context_ids": ["card"]}, [("card", NAN)]),
        (SimpleNamespace(contexts=[LIBRARY]), [("lib", NAN)]),
        ({"contexts": [LIBRARY], "hits": ["park"]}, [("lib", NAN)]),
        ([{"id": NAN, "text": LIBRARY}], [("lib", NAN)]),
        (["lib", "lib", LIBRARY, "park"], [("lib", NAN), ("park", NAN)]),
        ([7], [("7", NAN)]),
        ([], []),
    ],
)
def test_one_set_of_returns_is_read(
    returned: Any, expected: list[tuple[str, float]], library: Dataset
) -> None:
    retrieval = retrieve(lambda question, k: returned, library)
    assert retrieval.error == ""
    assert [hit.id for hit in retrieval.hits] == [name for name, _ in expected]
    similarities = [hit.similarity for hit in retrieval.hits]
    assert similarities == pytest.approx([score for _, score in expected], nan_ok=True)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, "it returned None; a list of ids"),
        (3, "it returned 3"),
        (b"lib", "it returned b'lib'"),
        (np.array([["lib", "park"]]), "it returned array"),
        ({}, "it returned a dict with nothing"),
        ([7.5], "one of its passages is 7.5"),
        ([("lib", True)], "one of its passages is ('lib', True)"),
        ([{"id": ""}], "one of its passages is {'id': ''}"),
        ([{"id": 1.5}], "one of its passages is {'id': 1.5}"),
        ({"replies": [], "documents": []}, "its answer is []"),
        ([{"id": "lib", "score": "y" * 78}], f"a passage is '{'y' * 78}'; a number"),
        ({"lib", "park"}, "it returned {"),
        ({"hits": "lib", "other": 1}, None),
        ({"foo": ["lib"]}, "it returned a dict with foo"),
        ("At 8.", "it says nothing of what it retrieved"),
        ([["lib", "park"]], "one of its passages is"),
        ([None], "one of its passages is None"),
        ([{"score": 1.0}], "one of its passages is"),
        ([("lib", float("nan"))], "one of its passages is"),
        ([{"id": "lib", "score": "high"}], "the score of a passage is 'high'"),
        ({"answer": 3, "contexts": []}, "its answer is 3"),
        ({"answer": "At 8.", "contexts": 3}, "its passages are 3; a list"),
        ({"answer": "At 8.", "context_ids": "lib"}, "its passages are 'lib'; a list"),
        ([("lib", 0.9, "page")], "one of its passages is ('lib', 0.9, 'page')"),
        ([("lib", "0.9")], "one of its passages is ('lib', '0.9')"),
        ([{"id": "lib", "score": "x" * 99}], f"a passage is '{'x' * 79}…; a number"),
        ({"contexts": ["a", "b"], "context_ids": ["x"]}, "2 passages with 1 ids"),
    ],
)
def test_everything_else_is_an_error_of_that_question(
    returned: Any, message: str | None, library: Dataset
) -> None:
    retrieval = retrieve(lambda question, k: returned, library)
    if message is None:
        assert [hit.id for hit in retrieval.hits] == ["lib"]
    else:
        assert message in retrieval.error
        assert retrieval.hits == ()


def test_unknown_passages_keep_their_id_and_text(library: Dataset) -> None:
    passages = [Passage(None, "page", url="https://x/page"), Passage("Of nobody, too.")]
    returned = ["zzz", "A text of nobody.", *passages, {"id": "file", "source": 3}]
    retrieval = retrieve(lambda question: returned, library, k=5)
    assert [(hit.id, hit.text, hit.url) for hit in retrieval.hits] == [
        ("zzz", "zzz", ""),
        ("", "A text of nobody.", ""),
        ("page", "", "https://x/page"),
        ("", "Of nobody, too.", ""),
        ("file", "", ""),
    ]
    # An id of the data set may have blanks.
    named = from_objects(["When?"], {"my page": "It opens at 8."})
    assert retrieve(lambda question: ["my page"], named).hits[0].text == "It opens at 8."


def test_more_than_k_is_cut(library: Dataset) -> None:
    assert len(retrieve(lambda question: ["lib", "park", "exam"], library, k=2).hits) == 2


def by_position(question, extra=None, /, k=1):  # type: ignore[no-untyped-def]
    return ["lib"] * (question == "When?") * k


def with_default(query, temperature=0.5, top_k=10):  # type: ignore[no-untyped-def]
    return ["lib"] if (query, temperature, top_k) == ("When?", 0.5, 3) else []


def k_first(k: int, question: str) -> list[str]:
    return ["lib"] if (question, k) == ("When?", 3) else []


async def later(question: str, k: int) -> list[str]:
    return ["lib"]


class Callable:
    def __call__(self, question: str) -> list[str]:
        return ["lib"]


def first_named(phrase, k):  # type: ignore[no-untyped-def]
    return ["lib"] if (phrase, k) == ("When?", 3) else []


def anything(*given):  # type: ignore[no-untyped-def]
    return ["lib"] if given == ("When?",) else []


@pytest.mark.parametrize(
    "function", [by_position, with_default, k_first, later, Callable(), anything, first_named]
)
def test_functions_are_called_as_their_signature_says(function: Any, library: Dataset) -> None:
    assert [hit.id for hit in retrieve(function, library).hits] == ["lib"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda question, k, tenant: [], "needs tenant beside the question"),
        (Callable, "is the class Callable; give an object of it"),
        (3, "mine is int; a function of"),
        ({"a": 1}, "mine is dict; a function of"),
    ],
)
def test_what_cannot_be_asked_is_refused_at_once(
    given: Any, message: str, library: Dataset
) -> None:
    with pytest.raises(BenchError, match=message):
        open_one(given, library)


class Mine:
    """An object of the user's own."""

    def retrieve(self, question: str, k: int) -> list[str]:
        return ["lib", "park"][:k]

    def answer(self, question: str, contexts: list[str] | None = None) -> dict[str, Any]:
        return {"answer": f"From {len(contexts or ())}.", "contexts": contexts or [LIBRARY]}


def test_an_object_retrieves_and_answers(library: Dataset) -> None:
    system = open_one(Mine(), library)
    assert (system.can_retrieve, system.takes_contexts) == (True, True)
    assert [hit.id for hit in system.retrieve(["When?"], 1)[0].hits] == ["lib"]
    [reply] = system.answer(["When?"], 3)
    assert (reply.answer, [hit.id for hit in reply.hits]) == ("From 0.", ["lib"])
    [reply] = system.answer(["When?"], 3, [[Hit("park", "x"), Hit("exam", "y")]])
    assert (reply.answer, [hit.id for hit in reply.hits]) == ("From 2.", ["park", "exam"])
    assert system.stand_ins == ()
    assert system.describe().endswith("test_functions.Mine")


class Runnable:
    """As LangChain's."""

    def __init__(self, reply: Any, schema: dict[str, Any] | None = None) -> None:
        self.reply = reply
        self.schema = schema or {"type": "string"}

    def get_input_jsonschema(self) -> dict[str, Any]:
        return self.schema

    def invoke(self, value: Any) -> Any:
        return self.reply(value)


class VectorStore:
    def similarity_search(self, query: str, k: int = 4) -> list[Document]:
        return [Document(LIBRARY)] * (query == "When?") * k

    def search(self, query: str, search_type: str) -> None:
        raise AssertionError


class Graph:
    """As LangGraph's, which does not tell what it takes."""

    def invoke(self, question: str) -> list[Document]:
        return [Document(LIBRARY)] * (question == "When?")


class ChatEngine:
    """As LlamaIndex's."""

    def chat(self, message: str) -> Message:
        return Message(content="At 8:00." if message == "When?" else "")


class Index:
    """As LlamaIndex's."""

    def as_retriever(self, similarity_top_k: int) -> Any:
        class Retriever:
            def retrieve(self, str_or_query_bundle: str) -> list[NodeWithScore]:
                return [NodeWithScore(Node(LIBRARY, "n"), 0.5)] * similarity_top_k

        return Retriever()


@dataclass
class Response:
    response: str
    source_nodes: list[NodeWithScore]


class QueryEngine:
    def retrieve(self, query_bundle: str) -> list[NodeWithScore]:
        return [NodeWithScore(Node(LIBRARY, "n"), 0.5)]

    def query(self, str_or_query_bundle: str) -> Response:
        return Response("At 8:00.", [NodeWithScore(Node(LIBRARY, "n"), 0.5)])


class Pipeline:
    """As Haystack's, with a retriever, a prompt builder and a generator."""

    def inputs(self) -> dict[str, Any]:
        query = {"query": {"is_mandatory": True}, "top_k": {"is_mandatory": False}}
        return {"retriever": query, "prompt": {"question": {"is_mandatory": True}}, "llm": {}}

    def walk(self) -> list[tuple[str, Any]]:
        return [("retriever", None), ("prompt", None), ("llm", None)]

    def run(self, data: dict[str, Any], include_outputs_from: set[str]) -> dict[str, Any]:
        assert data == {"retriever": {"query": "When?"}, "prompt": {"question": "When?"}}
        documents = [HaystackDocument("lib", LIBRARY, score=0.5)]
        assert "retriever" in include_outputs_from
        return {"llm": {"replies": ["At 8:00."]}, "retriever": {"documents": documents}}


class Answers:
    """What it retrieved stands beside its answers."""

    def answer(self, question: str) -> dict[str, Any]:
        return {"answer": "At 8:00.", "contexts": [LIBRARY]}


class Built(Pipeline):
    """With a builder of answers behind its generator."""

    def run(self, data: dict[str, Any], include_outputs_from: set[str]) -> dict[str, Any]:
        answers = [SimpleNamespace(data="At 8:00.")]
        return {**super().run(data, include_outputs_from), "llm": {"answers": answers}}


class Component:
    def to_dict(self) -> dict[str, Any]:
        raise AssertionError

    def run(self, query: str, top_k: int | None = None) -> dict[str, Any]:
        return {"documents": [HaystackDocument("lib", LIBRARY)]}


ASSIGNED = {"type": "object", "properties": {"root": {}}, "required": ["root"]}
OBJECT = {"type": "object", "properties": {"input": {}}, "required": ["input"]}


@pytest.mark.parametrize(
    "given",
    [
        Runnable(lambda question: [Document(LIBRARY)]),
        Runnable(lambda question: [Document(LIBRARY)] * (question == "When?"), {"type": "object"}),
        Answers(),
        Runnable(lambda value: {"input": value["input"], "context": [Document(LIBRARY)]}, OBJECT),
        Graph(),
        VectorStore(),
        Index(),
        Index().as_retriever(2),
        QueryEngine(),
        Pipeline(),
        Component(),
    ],
)
def test_retrievers_of_frameworks_retrieve(given: Any, library: Dataset) -> None:
    retrieval = retrieve(given, library)
    assert retrieval.error == ""
    assert [hit.id for hit in retrieval.hits] == ["lib"]


@pytest.mark.parametrize(
    "given",
    [
        Runnable(lambda question: Message(content="At 8:00.")),
        Runnable(lambda question: "At 8:00."),
        Runnable(lambda value: {"answer": "At 8:00.", "context": [Document(LIBRARY)]}, OBJECT),
        Runnable(lambda value: f"At {value['input'] == 'When?' and 8}:00.", ASSIGNED),
        QueryEngine(),
        Pipeline(),
        ChatEngine(),
        Answers(),
        Built(),
        lambda question: {"answer": "At 8:00.", "result": "Never."},
        lambda question: SimpleNamespace(answer="At 8:00."),
        lambda question: Message(content="At 8:00."),
        lambda question: {"replies": [Message(content="At 8:00.")]},
        # It does not tell what it takes.
        methodcaller("replace", "When?", "At 8:00."),
    ],
)
def test_chains_of_frameworks_answer(given: Any, library: Dataset) -> None:
    assert answer(given, library).answer == "At 8:00."


def test_a_chain_that_needs_more_is_an_error(library: Dataset) -> None:
    schema = {"type": "object", "properties": {"input": {}, "x": {}}, "required": ["input", "x"]}
    assert "its chain takes input, x" in retrieve(Runnable(dict, schema), library).error
    schema = {"type": "object", "properties": {"x": {}}}
    assert "its chain takes x" in retrieve(Runnable(dict, schema), library).error

    class Unfilled(Pipeline):
        def inputs(self) -> dict[str, Any]:
            return {"retriever": {"filters": {"is_mandatory": True}}}

    assert retrieve(Unfilled(), library).error == "its retriever takes filters, which nobody gives"


class ConnectError(Exception):
    """As HTTP clients call theirs."""


def fails(times: int, error: Exception) -> Any:
    """A function that fails so often at "q2", and the questions it was asked."""
    calls: list[str] = []

    def search(question: str) -> list[str]:
        calls.append(question)
        if question == "q2" and calls.count("q2") <= times:
            raise error
        return ["lib"]

    return search, calls


def test_an_error_is_an_entry_and_never_a_miss(library: Dataset) -> None:
    search, calls = fails(9, ValueError("no such index\nsk-12345678901234567890"))
    found = open_one(search, library).retrieve(["q1", "q2", "q3"], 3)
    assert [len(retrieval.hits) for retrieval in found] == [1, 0, 1]
    assert found[1].error == "ValueError: no such index ••••"
    assert math.isnan(found[1].latency_ms)
    assert calls == ["q1", "q2", "q3"]
    search, _ = fails(9, ValueError("x" * 999))
    assert len(open_one(search, library).retrieve(["q2"], 3)[0].error) == 300
    search, _ = fails(9, StopError("the key is not accepted"))
    with pytest.raises(StopError, match="the key is not accepted"):
        open_one(search, library).retrieve(["q2"], 3)


GONE = OperationalError("SELECT 1", {}, Exception("the server closed the connection"))


@pytest.mark.parametrize(
    "error", [ConnectError("reset"), TimeoutError(), ConnectionResetError(), GONE]
)
def test_a_connection_is_tried_once_more(error: Exception, library: Dataset) -> None:
    search, calls = fails(1, error)
    assert open_one(search, library).retrieve(["q1", "q2"], 3)[1].error == ""
    assert calls == ["q1", "q2", "q2"]
    search, calls = fails(2, error)
    assert type(error).__name__ in open_one(search, library).retrieve(["q2"], 3)[0].error


def test_functions_typed_at_a_prompt_need_no_file(library: Dataset) -> None:
    namespace: dict[str, Any] = {}
    exec(compile("def search(question, k): return ['lib']", "<stdin>", "exec"), namespace)
    systems = open_systems([namespace["search"]], Settings(), library)
    assert [hit.id for hit in systems["search"].retrieve(["q"], 1)[0].hits] == ["lib"]


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ([SimpleNamespace(name="v3", retrieve=list)], ["v3"]),
        ([SimpleNamespace(name=3, retrieve=list)], ["SimpleNamespace"]),
        (lambda question: [], ["system"]),
        ("bm25, mine", ["bm25", "mine"]),
        *[(nothing, ["mine"]) for nothing in (None, [], {})],
    ],
)
def test_systems_have_names(given: Any, names: list[str], library: Dataset) -> None:
    settings = Settings.model_validate({"systems": {"mine": {"generator": "extractive"}}})
    systems = open_systems(given, settings, library)
    assert list(systems) == names
    assert "mine" not in names or systems["mine"].describe().startswith("BM25")
    assert given is not None or list(open_systems(None, Settings(), library)) == [
        "bm25",
        "dense",
        "hybrid",
    ]


def test_a_system_that_only_retrieves_is_answered_for_by_a_stand_in(library: Dataset) -> None:
    system = open_one(lambda question, k: ["lib"], library)
    assert system.stand_ins == ()
    [reply] = system.answer(["When does the library open?"], 1)
    assert reply.answer == LIBRARY
    assert system.stand_ins == ("generator extractive",)


def test_who_gives_no_answer_from_passages_is_not_answered_for(library: Dataset) -> None:
    def ask(question: str, contexts: list[str] | None = None) -> dict[str, Any]:
        return {"answer": None, "contexts": contexts}

    [reply] = open_one(ask, library).answer(["When?"], 1, [[Hit("lib", LIBRARY)]])
    assert (reply.answer, reply.error) == (None, "")


def test_a_system_that_answers_sometimes_is_left_alone(library: Dataset) -> None:
    def ask(question: str) -> dict[str, Any]:
        return {"answer": "Yes." if question == "q1" else None, "contexts": ["lib"]}

    system = open_one(ask, library)
    assert [reply.answer for reply in system.answer(["q1", "q2"], 1)] == ["Yes.", None]
    assert system.takes_contexts is False
    [reply] = system.answer(["q1"], 1, [[Hit("lib", LIBRARY)]])
    assert reply.error == "mine cannot be given passages to answer from"


def test_systems_of_settings_may_be_functions_of_a_module(library: Dataset) -> None:
    table = {"callable": f"{__name__}:with_default", "description": "the release of May"}
    tables = {"systems": {"v2": table}}
    systems = open_systems("v2,bm25", Settings.model_validate(tables), library)
    assert [hit.id for hit in systems["v2"].retrieve(["When?"], 3)[0].hits] == ["lib"]
    assert list(systems) == ["v2", "bm25"]
    assert systems["v2"].describe() == "the release of May"
