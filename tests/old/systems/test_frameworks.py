"""Objects of LangChain, LlamaIndex and Haystack as systems: of the same shape as theirs, and real where installed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from ragbench.old.systems import RetrievalError
from ragbench.old.systems.callables import FunctionSystem, asked
from ragbench.old.systems.frameworks import Streamed, adapted, adapted_writer, understood, written
from tests.old.systems.test_systems import CHUNKS, QUESTIONS, dataset_of, ids


class Reply(NamedTuple):
    answer: str
    contexts: list[str]


@dataclass
class Found:
    doc_id: str
    score: float


class Polars:
    """As polars' data frame: `to_dict` takes no orientation."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self.columns, self._given = [*columns], columns

    def to_dict(self, *, as_series: bool = True) -> Any:
        return self._given

    def to_dicts(self) -> list[dict[str, Any]]:
        return [dict(zip(self._given, row, strict=True)) for row in zip(*self._given.values(), strict=True)]


def of(module: str, **methods: Any) -> Any:
    """An object whose class says that it is of a module."""
    return type("Thing", (), {"__module__": module, **{name: staticmethod(do) for name, do in methods.items()}})()


def runnable(reply: Any, schema: Any = None) -> Any:
    return of(
        "langchain_core.runnables.base",
        invoke=reply if callable(reply) else lambda _: reply,
        get_input_jsonschema=lambda: schema or {"type": "string"},
    )


def document(text: str, **more: Any) -> Any:
    return SimpleNamespace(page_content=text, metadata=more.pop("metadata", {}), **{"id": None, **more})


def node(text: str, score: float | None, **metadata: Any) -> Any:
    inner = SimpleNamespace(get_content=lambda: text, metadata=metadata, node_id="made-up")
    return SimpleNamespace(node=inner, score=score)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("yes", {"answer": "yes"}),
        (SimpleNamespace(content="yes"), {"answer": "yes"}),
        (SimpleNamespace(content=["y", {"type": "text", "text": "es"}, {"type": "image"}]), {"answer": "yes"}),
        ([document("one"), document("two", id="u-2")], [{"text": "one"}, {"id": "u-2", "text": "two"}]),
        ([(document("one"), 0.5)], [{"text": "one", "score": 0.5}]),
        (
            [document("one", id="u", metadata={"id": "c1", "source": "https://a", "title": "A"})],
            [{"id": "c1", "stored_id": "u", "text": "one", "url": "https://a", "title": "A"}],
        ),
        (
            {"input": "?", "context": [document("one")], "answer": SimpleNamespace(content="yes")},
            {"answer": "yes", "retrieved": [{"text": "one"}]},
        ),
        ({"query": "?", "result": "", "source_documents": []}, {"answer": "", "retrieved": []}),
        ({"messages": [SimpleNamespace(content="?"), SimpleNamespace(content="yes")]}, {"answer": "yes"}),
        ({"documents": [document("one")]}, [{"text": "one"}]),
    ],
)
def test_what_a_runnable_gives(reply: Any, expected: Any) -> None:
    told = understood(adapted(runnable(reply))("?", 3))
    assert told == (expected if isinstance(expected, list) else {**told, **expected})
    assert isinstance(told, list) or told.keys() & {"answer", "retrieved", "messages"} == expected.keys()


def test_a_runnable_is_asked_as_its_schema_says() -> None:
    def asked(properties: dict[str, Any], required: list[str] | None = None) -> Any:
        schema = {"type": "object", "properties": properties, **({"required": required} if required else {})}
        return adapted(runnable(lambda given: {"answer": repr(given)}, schema))("how?", 3)["answer"]

    assert asked({"input": {}}, ["input"]) == "{'input': 'how?'}"
    assert asked({"chat_history": {}, "query": {}}, ["query"]) == "{'query': 'how?'}"
    assert asked({"anything": {}}) == "{'anything': 'how?'}"
    of_assign = asked({"root": {"title": "Root"}}, ["root"])
    assert of_assign == "{'question': 'how?', 'query': 'how?', 'input': 'how?'}", "nobody tells its names"
    with pytest.raises(ValueError, match="it takes question, user; besides question nothing is known of user"):
        asked({"question": {}, "user": {}}, ["question", "user"])


def test_query_engines_and_retrievers_of_llama_index() -> None:
    nodes = [node("one", 0.5), node("two", None, id="c2", url="https://b")]
    read = [
        {"id": "made-up", "text": "one", "score": 0.5},
        {"id": "c2", "stored_id": "made-up", "text": "two", "url": "https://b"},
    ]
    response = SimpleNamespace(response="yes", source_nodes=nodes)
    whole = {"answer": "yes", "retrieved": read}
    both = of("llama_index.core.query_engine", query=lambda _: response, retrieve=None)
    assert understood(adapted(both)("?", 3)) == whole
    streamed = SimpleNamespace(response_gen=iter("yes"), get_response=lambda: response)
    assert understood(adapted(of("llama_index.core", query=lambda _: streamed))("?", 3)) == whole
    assert understood(adapted(of("llama_index.core.retrievers", retrieve=lambda _: nodes))("?", 3)) == read


class Pipeline:
    """As Haystack's: a retriever, a ranker, and at will a generator with an answer builder."""

    __module__ = "haystack.core.pipeline.pipeline"

    def __init__(self, **last: Any) -> None:
        self.last, self.given = last, {}

    def walk(self) -> Any:
        return iter([("retriever", 0), ("ranker", 0), ("writer", 0)])

    def inputs(self) -> Any:
        return {
            "retriever": {"query": {"is_mandatory": True}, "top_k": {"is_mandatory": False}},
            "ranker": {"query": {"is_mandatory": False}, "text": {"is_mandatory": False}},
        }

    def outputs(self, include_components_with_connected_outputs: bool = False) -> Any:
        return {"retriever": {"documents": {}}, "ranker": {"documents": {}}, "writer": {name: {} for name in self.last}}

    def run(self, data: Any, include_outputs_from: set[str]) -> Any:
        self.given = data
        found = [SimpleNamespace(id="h1", content="one", score=0.5, meta={"id": "c1"})]
        more = {"documents": [*found, SimpleNamespace(id="h2", content="two", score=0.1, meta={})]}
        kept = {"retriever": more, "ranker": {"documents": found}}
        return {name: kept[name] for name in include_outputs_from} | ({"writer": self.last} if self.last else {})


def test_pipelines_of_haystack() -> None:
    found = [{"id": "c1", "stored_id": "h1", "text": "one", "score": 0.5}]
    pipeline = Pipeline(replies=[SimpleNamespace(text="yes")])
    assert understood(adapted(pipeline)("how?", 3)) == {"answer": "yes", "retrieved": found}
    assert pipeline.given == {"retriever": {"query": "how?"}, "ranker": {"query": "how?"}}
    assert understood(adapted(Pipeline(answers=[SimpleNamespace(data="yes", documents=[])]))("?", 3))["answer"] == "yes"
    assert understood(adapted(Pipeline(replies=["yes"]))("?", 3))["answer"] == "yes"
    assert understood(adapted(Pipeline())("?", 3)) == found
    pipeline.inputs = lambda: {"writer": {"prompt": {"is_mandatory": True}}}  # type: ignore[method-assign]
    with pytest.raises(ValueError, match="the component writer takes prompt, which nothing gives it"):
        adapted(pipeline)("?", 3)


def test_stores_indices_components_and_methods_are_asked_in_their_own_way() -> None:
    documents = [document("one"), document("two")]
    store = of("langchain_core.vectorstores", similarity_search=lambda question, k: documents[:k])
    assert understood(adapted(store)("?", 1)) == [{"text": "one"}]
    nodes = [node("one", 0.5)]
    index = of("llama_index.core.indices", as_retriever=lambda similarity_top_k: SimpleNamespace(
        retrieve=lambda question: nodes[:similarity_top_k]))  # fmt: skip
    assert understood(adapted(index)("?", 1))[0]["text"] == "one"
    chats = of("llama_index.core.chat_engine", chat=lambda _: SimpleNamespace(response="yes", source_nodes=nodes))
    assert understood(adapted(chats)("?", 1))["answer"] == "yes"

    class Component:
        __module__ = "haystack.components.retrievers"

        def run(self, query: str, top_k: int) -> Any:
            return {"documents": [SimpleNamespace(content=query, meta={}, id="a")] * top_k}

    assert understood(adapted(Component())("?", 2)) == [{"id": "a", "text": "?"}] * 2

    class Retriever:
        __module__ = "langchain_core.retrievers"

        def invoke(self, question: str, config: Any = None) -> Any:
            assert config is None, "k is none"
            return documents

    assert understood(asked(Retriever().invoke)("?", 1)) == [{"text": "one"}, {"text": "two"}]


SAID = [
    SimpleNamespace(type="human", content="When does it open?"),
    SimpleNamespace(type="ai", content="Let me look that up.", tool_calls=[{"name": "search", "args": {}, "id": "c"}]),
    SimpleNamespace(type="tool", content="It opens at eight."),
    SimpleNamespace(type="ai", content="At 8:00.", tool_calls=[]),
]
"""The messages of a graph that asks a tool, as objects."""


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ([document("one"), ("c2", 0.5), "c3", 4], [{"text": "one"}, ("c2", 0.5), "c3", 4]),
        ([(document("one"), 0.5)], [{"text": "one", "score": 0.5}]),
        ({"answer": SimpleNamespace(content="yes"), "retrieved": [document("one")]},
         {"answer": "yes", "retrieved": [{"text": "one"}]}),
        ({"documents": [document("one")]}, [{"text": "one"}]),
        ({"response": "yes", "contexts": ["one"]}, {"answer": "yes", "retrieved": ["one"]}),
        ({"c1": 0.5}, {"c1": 0.5}),
        ("At 8:00.", {"answer": "At 8:00."}),
        (("At 8:00.", ["one"]), {"answer": "At 8:00.", "retrieved": ["one"]}),
        ((["one"], "At 8:00.", {"took": 1}), {"answer": "At 8:00.", "retrieved": ["one"]}),
        ({"answer": "At 8:00.", "sources": ["one"]}, {"answer": "At 8:00.", "retrieved": ["one"]}),
        ((["a", "b"], [0.9, 0.1]), [("a", 0.9), ("b", 0.1)]),
        ((np.array([[0.1, 0.2]]), np.array([[4, 2]])), [(4, 0.1), (2, 0.2)]),
        (Polars({"doc_id": ["a"]}), [{"doc_id": "a"}]),
        (Reply("At 8:00.", ["one"]), {"answer": "At 8:00.", "retrieved": ["one"]}),
        (SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content="yes"))]), {"answer": "yes"}),
        ({"choices": [{"message": {"content": "yes"}}]}, {"answer": "yes"}),
        (pd.DataFrame({"doc_id": ["a", "b"], "score": [2.0, 1.0]}),
         [{"doc_id": "a", "score": 2.0}, {"doc_id": "b", "score": 1.0}]),
        ({"results": [{"id": "a", "score": 1.0}]}, [{"id": "a", "score": 1.0}]),
        ({"hits": {"hits": [{"_id": "a", "_score": 2.0}]}}, [{"id": "a", "score": 2.0}]),
        ({"ids": [["a"]], "documents": [["one"]]}, ["one"]),
        ([Found("a", 0.5)], [{"id": "a", "score": 0.5}]),
        ([("a", "one passage", 0.5), (0.25, "b")], [{"id": "a", "text": "one passage", "score": 0.5}, ("b", 0.25)]),
        *((reply, {"answer": "At 8:00.", "retrieved": [{"id": "a", "text": "one passage"}]}) for reply in (
            {"output": {"answer": "At 8:00.", "documents": [{"id": "a", "text": "one passage"}]}},
            {"status": "ok", "data": {"text": "At 8:00.", "hits": [{"id": "a", "text": "one passage"}]}},
            {"llm": {"replies": ["At 8:00."]}, "retriever": {"documents": [document("one passage", id="a")]}},
            ("At 8:00.", ["a"], ["one passage"]),
            ("At 8:00.", {"sources": [{"id": "a", "text": "one passage"}]}),
            '{"answer": "At 8:00.", "contexts": [{"id": "a", "text": "one passage"}]}',
        )),
        *(({name: "At 8:00.", "passages": ["one"]}, {"answer": "At 8:00.", "retrieved": ["one"]})
          for name in ("text", "content", "message", "summary")),
        ({"replies": ["At 8:00."]}, {"answer": "At 8:00."}),
        (["At 8:00.", ["one"]], {"answer": "At 8:00.", "retrieved": ["one"]}),
        (("It opens at 8:00.", 1.5), {"answer": "It opens at 8:00."}),
        ([{"role": "user", "content": "When?"}, {"role": "assistant", "content": "At 8:00."}], {"answer": "At 8:00."}),
        (Streamed([{"context": ["one"]}, {"answer": "At "}, {"answer": "8:00."}]),
         {"answer": "At 8:00.", "retrieved": ["one"]}),
        (Streamed(["At ", "8:00.", {"sources": ["one"]}]), {"answer": "At 8:00.", "retrieved": ["one"]}),
        *((Streamed(parts), {"answer": "At 8:00."}) for parts in (
            [{"messages": SAID[:end]} for end in (1, 2, 3, 4)],
            [("values", {"messages": SAID[:end]}) for end in (1, 2, 3, 4)],
            [{node: {"messages": [own]}} for node, own in zip(("agent", "tools", "agent"), SAID[1:], strict=True)],
            [(SimpleNamespace(type="AIMessageChunk", content=text), {"node": "agent"}) for text in ("At ", "8:00.")],
        )),
        ({"messages": SAID[:3]}, {"answer": None}),
    ],
)  # fmt: skip
def test_a_function_may_return_what_a_framework_does(reply: Any, expected: Any) -> None:
    assert understood(reply) == expected


def test_a_writer_may_stream_what_a_graph_does() -> None:
    assert written(Streamed([{"messages": SAID[:end]} for end in (1, 2, 3, 4)])) == "At 8:00."
    assert written(Streamed(["At ", "8:00."])) == "At 8:00."


def test_a_passage_may_be_called_whatever_the_vocabulary_knows(tmp_path: Path) -> None:
    system = FunctionSystem("x", "m:f", dataset_of(CHUNKS, QUESTIONS), 5, lambda question, k: [
        {"content": CHUNKS[0].text, "score": 0.5}, {"page_content": CHUNKS[1].text}])  # fmt: skip
    hits = system.retrieve(QUESTIONS[:1], 2).hits[0]
    assert [hit.chunk.id for hit in hits] == [CHUNKS[0].id, CHUNKS[1].id]
    assert hits[0].similarity == 0.5


def test_an_object_of_ones_own_is_asked_by_its_method_and_a_stream_is_read_to_its_end(tmp_path: Path) -> None:
    data = dataset_of(CHUNKS, QUESTIONS)

    def system(given: Any) -> FunctionSystem:
        return FunctionSystem("x", "m:f", data, 5, given)

    async def told(question: str) -> Any:
        for part in ("At ", SimpleNamespace(content="8:00."), None):
            yield part

    engine = type("Engine", (), {"query": lambda self, question, mode=None: [CHUNKS[1].id] if mode is None else []})()
    assert ids(system(engine).retrieve(QUESTIONS[:1], 2)) == [[CHUNKS[1].id]]
    ranking = system(lambda question: (chunk.text for chunk in CHUNKS[:2])).retrieve(QUESTIONS[:1], 2)
    assert ids(ranking) == [[CHUNKS[0].id, CHUNKS[1].id]]
    assert ranking.answers == {}
    streamed = system(told).retrieve(QUESTIONS[:1], 2)
    assert [answer.answer for answer in streamed.answers[QUESTIONS[0].id]] == ["At 8:00."]
    assert streamed.untold == {QUESTIONS[0].id}
    unordered = system(lambda question: {CHUNKS[0].id} if question == QUESTIONS[0].text else [CHUNKS[0].id])
    assert "a set, which has no order" in unordered.retrieve(QUESTIONS[:2], 2).errors[QUESTIONS[0].id]


def test_a_method_that_is_awaited_alone_is_asked_and_what_else_is_told_means_nothing() -> None:
    async def aretrieve(self: Any, question: str) -> Any:
        return {"answer": "At 8:00.", "retrieved": [CHUNKS[1].id], "question": question, "chat_history": ["x"]}

    made = type("Engine", (), {"aretrieve": aretrieve})()
    found = FunctionSystem("x", "m:f", dataset_of(CHUNKS, QUESTIONS), 5, made).retrieve(QUESTIONS[:1], 2)
    assert (ids(found), found.answers[QUESTIONS[0].id][0].answer) == ([[CHUNKS[1].id]], "At 8:00.")


def test_pieces_of_an_answer_are_no_passages_where_there_is_no_base() -> None:
    def found(parts: list[Any]) -> Any:
        made = FunctionSystem("x", "m:f", dataset_of((), QUESTIONS), 5, lambda question: iter(parts))
        return made.retrieve(QUESTIONS[:1], 9)

    for parts in (
        ["It ", "opens ", "at 8:00."],
        ["It", " opens", " at 8:00."],
        ["It ", "It opens ", "It opens at 8:00."],
    ):
        assert found(parts).answers[QUESTIONS[0].id][0].answer == "It opens at 8:00."
        assert ids(found(parts)) == [[]]
    assert ids(found(["c1", "c2"])) == [["c1", "c2"]]


def test_what_it_says_of_a_fault_is_no_answer() -> None:
    made = FunctionSystem(
        "x", "m:f", dataset_of(CHUNKS, QUESTIONS), 5, lambda question: {"answer": "", "error": "late"}
    )
    with pytest.raises(RetrievalError, match=r"it says that it failed: .*late"):
        made.retrieve(QUESTIONS[:1], 2)


def test_two_texts_are_refused() -> None:
    with pytest.raises(ValueError, match="it returned two texts, which may be an answer and a passage"):
        understood(("It opens at 8:00.", "one\n\ntwo"))


@pytest.mark.parametrize(
    "function",
    [
        lambda question, temperature=0.0: [question, temperature],
        lambda question, language="en": [question, language],
        lambda question, user_id=None, verbose=False: [question, user_id, verbose],
        lambda question, max_tokens=512, seed=0: [question, max_tokens, seed],
        lambda message, history: [message, history],
        lambda session="x", query="": [query, session],
    ],
)
def test_how_many_are_wanted_is_told_to_no_parameter_that_is_not_called_so(function: Any) -> None:
    said = asked(function)("What?", 10)
    assert said[0] == "What?"
    assert 10 not in said[1:]


@pytest.mark.parametrize(
    "function",
    [
        lambda question, k: k, lambda q, top_k=5: top_k, lambda query, n_results=3: n_results, lambda q, _: _,
        lambda q, verbose=False, max_docs=3: max_docs, lambda *, question, k=3: k, lambda q, limit=None: limit,
    ],
)  # fmt: skip
def test_how_many_are_wanted_is_told_to_the_parameter_for_it(function: Any) -> None:
    assert asked(function)("What?", 10) == 10


def test_a_parameter_of_which_nothing_is_known_and_a_class_are_refused() -> None:
    with pytest.raises(ValueError, match="it needs session_id beside question, and nothing is known of that"):
        asked(lambda question, session_id: None)
    with pytest.raises(RetrievalError, match="that is a class: name an object of it, found = Found"):
        FunctionSystem("x", "m:f", dataset_of(CHUNKS, QUESTIONS), 5, Found)


def test_an_object_with_one_method_is_asked_by_it() -> None:
    for name in ("get_answer", "run", "predict"):
        made = type("Engine", (), {name: lambda self, question: {"answer": "At 8:00.", "passages": []}})()
        found = FunctionSystem("x", "m:f", dataset_of(CHUNKS, QUESTIONS), 5, made).retrieve(QUESTIONS[:1], 2)
        assert found.answers[QUESTIONS[0].id][0].answer == "At 8:00."


def test_anything_else_stays_what_it_is() -> None:
    for thing in (len, of("my_langchain", _run=len), of("haystack", _run=len), SimpleNamespace(other=len), runnable):
        assert adapted(thing) is thing


def test_an_object_of_a_framework_is_a_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ragbench.toml").write_text("")
    monkeypatch.setenv("RAGBENCH_CONFIG", str(tmp_path / "ragbench.toml"))
    (tmp_path / "chains.py").write_text(
        "class Chain:\n    __module__ = 'langchain_core.retrievers'\n"
        "    def get_input_jsonschema(self):\n        return {'type': 'string'}\n"
        f"    def invoke(self, question):\n        return [Found({CHUNKS[1].text!r})]\n"
        "class Found:\n    metadata = {}\n    id = 'made-up'\n"
        "    def __init__(self, text):\n        self.page_content = text\n"
        "chain = Chain()\n",
        encoding="utf-8",
    )
    try:
        system = FunctionSystem("mine", "chains:chain", dataset_of(CHUNKS, QUESTIONS), 5)
        assert ids(system.retrieve(QUESTIONS, 2)) == [["c2"]] * 3, "a store's own id is passed over for a known text"
    finally:
        sys.modules.pop("chains", None)


def test_a_function_of_the_question_alone_is_a_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ragbench.toml").write_text("")
    monkeypatch.setenv("RAGBENCH_CONFIG", str(tmp_path / "ragbench.toml"))
    (tmp_path / "helpdesk.py").write_text("def ask(question): return {'answer': question}\n", encoding="utf-8")
    try:
        told = FunctionSystem("mine", "helpdesk:ask", dataset_of(CHUNKS, QUESTIONS), 5).retrieve(QUESTIONS, 2)
        assert [told.answers[one.id][0].answer for one in QUESTIONS] == [one.text for one in QUESTIONS]
    finally:
        sys.modules.pop("helpdesk", None)


@pytest.mark.slow
class TestTheRealOnes:
    """With the packages themselves, offline; skipped where they are not installed."""

    def test_langchain(self) -> None:
        pytest.importorskip("langchain_core")
        from langchain_core.documents import Document
        from langchain_core.language_models import FakeListChatModel
        from langchain_core.output_parsers import StrOutputParser
        from langchain_core.prompts import ChatPromptTemplate
        from langchain_core.retrievers import BaseRetriever
        from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough

        class Retriever(BaseRetriever):
            def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
                return [Document(page_content=f"on {query}", metadata={"id": "c1"}), Document(page_content="two")]

        found = [{"id": "c1", "text": "on how?"}, {"text": "two"}]
        assert adapted(Retriever())("how?", 2) == found
        model = FakeListChatModel(responses=["In August."])
        prompt = ChatPromptTemplate.from_template("{context} {question}")
        sources = {"context": Retriever(), "question": RunnablePassthrough()}
        assert adapted(sources | prompt | model)("how?", 2) == {"answer": "In August."}
        assert adapted(sources | prompt | model | StrOutputParser())("how?", 2) == {"answer": "In August."}
        whole = RunnableParallel(sources).assign(answer=prompt | model | StrOutputParser())
        assert adapted(whole)("how?", 2) == {"answer": "In August.", "retrieved": found}
        chain = RunnablePassthrough.assign(context=lambda given: Retriever().invoke(given["question"]))
        asked = ChatPromptTemplate.from_template("{question}") | model
        assert adapted(asked)("how?", 2) == {"answer": "In August."}
        assert adapted(RunnableLambda(lambda text: {"answer": text}))("how?", 2) == {"answer": "how?"}
        assert adapted(chain | asked) is not None

    def test_llama_index(self) -> None:
        pytest.importorskip("llama_index.core")
        from llama_index.core import VectorStoreIndex
        from llama_index.core.embeddings import MockEmbedding
        from llama_index.core.llms import MockLLM
        from llama_index.core.schema import TextNode

        nodes = [TextNode(text="one", id_="c1"), TextNode(text="two", id_="n2", metadata={"chunk_id": "c2"})]
        index = VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=4))
        found = adapted(index.as_retriever(similarity_top_k=2))("how?", 2)
        assert {one["id"]: one["text"] for one in found} == {"c1": "one", "c2": "two"}
        assert all(isinstance(one["score"], float) for one in found)
        for more in ({}, {"streaming": True}):
            said = adapted(index.as_query_engine(llm=MockLLM(max_tokens=4), similarity_top_k=2, **more))("how?", 2)
            assert len(said["retrieved"]) == 2
            assert said["answer"]

    def test_haystack(self) -> None:
        pytest.importorskip("haystack")
        from haystack import Document, Pipeline, component
        from haystack.components.builders import AnswerBuilder, PromptBuilder
        from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
        from haystack.document_stores.in_memory import InMemoryDocumentStore

        @component
        class Writer:
            @component.output_types(replies=list[str])
            def run(self, prompt: str) -> dict[str, Any]:
                return {"replies": [f"said {len(prompt) > 0}"]}

        store = InMemoryDocumentStore()
        store.write_documents([Document(content="dormitory in August", meta={"id": "c1"}), Document(content="library")])
        search = Pipeline()
        search.add_component("retriever", InMemoryBM25Retriever(store, top_k=1))
        assert [one["id"] for one in adapted(search)("dormitory", 2)] == ["c1"]
        whole = Pipeline()
        whole.add_component("retriever", InMemoryBM25Retriever(store, top_k=1))
        whole.add_component(
            "prompt", PromptBuilder("{% for d in documents %}{{ d.content }}{% endfor %} {{ question }}",
                                    required_variables=["question"])
        )  # fmt: skip
        whole.add_component("writer", Writer())
        whole.connect("retriever", "prompt.documents")
        whole.connect("prompt", "writer")
        said = adapted(whole)("dormitory", 2)
        assert (said["answer"], [one["id"] for one in said["retrieved"]]) == ("said True", ["c1"])
        whole.add_component("answers", AnswerBuilder())
        whole.connect("writer.replies", "answers.replies")
        whole.connect("retriever", "answers.documents")
        said = adapted(whole)("dormitory", 2)
        assert (said["answer"], [one["id"] for one in said["retrieved"]]) == ("said True", ["c1"])


TOLD = {
    "keyword": "def ask(question, k=5, *, contexts=None): return question, k, contexts",
    "between": "def ask(question, passages=None, top_k=5): return question, top_k, passages",
    "needed": "def ask(question, documents): return question, None, documents",
    "first": "def ask(context, question): return question, None, context",
    "temperature": "def ask(question, context=None, temperature=0.5): return question, temperature, context",
}


@pytest.mark.parametrize("source", TOLD.values(), ids=TOLD)
def test_a_function_is_given_contexts_by_the_parameter_that_is_for_them(source: str) -> None:
    made: dict[str, Any] = {}
    exec(source, made)
    called = asked(made["ask"])
    question, number, contexts = called("how?", 3, ["one", "two"])
    assert (question, contexts) == ("how?", ["one", "two"])
    assert number == (0.5 if "temperature" in source else None if "None, " in source.split("return")[1] else 3)
    assert adapted_writer(made["ask"])("how?", ["one", "two"]) == called("how?", 2, ["one", "two"])
    if "=None" in source:
        assert called("how?", 3) == (question, number, None)
    else:
        with pytest.raises(ValueError, match=r"it answers from .* that it is given: give that parameter the default"):
            called("how?", 3)


def test_a_number_of_passages_is_no_context_and_an_object_of_ones_own_takes_some() -> None:
    class Assistant:
        def ask(self, question: str, sources: Any = None, passages: list[str] | None = None) -> Any:
            return question, sources, passages

    assert asked(lambda question, passages=5: passages)("how?", 3) == 3
    assert asked(Assistant())("how?", 3, ["one"]) == ("how?", None, ["one"])
    assert asked(Assistant())("how?", 3) == ("how?", None, None)
