"""Replies of services as they are known to answer: what is told of them reads the answer and the passages, or says why
there are none."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from ragbench.core.settings import SystemSettings
from ragbench.systems import Retrieval, RetrievalError
from ragbench.systems.remote import unread
from tests.systems.service_server import Reply
from tests.systems.test_remote import remote, serving
from tests.systems.test_systems import QUESTIONS

ANSWER = "It opens at eight [1]. On Sundays it is closed."
TEXTS = ["The library opens at 8:00.", "On Sundays it stays closed.", "The room has 120 seats."]
TOKENS = ["It ", "opens at eight ", "[1]. ", "On Sundays ", "it is closed."]


def told(reply: Any) -> tuple[dict[str, Any], Retrieval]:
    """What a table is after all that is told of its reply has been written into it, and what it retrieves."""
    table: dict[str, Any] = {"answer": "answer"}
    with serving(reply) as server:
        for _ in range(4):
            try:
                advice = unread("prod", SystemSettings(url=server.url, attempts=1, **table), "What?")
            except RetrievalError as error:
                advice = "\n".join(
                    re.findall(r"(?:stream|answer|passages|ids) = (?:true|\"(?:[^\"\\]|\\.)*\")", str(error))
                )
                if "passages alone" in str(error):
                    table.pop("answer")
            if not advice:
                break
            lines = re.sub(r", (ids|passages) = ", r"\n\1 = ", advice)
            table |= tomllib.loads("\n".join(lines.splitlines()))
        return table, remote(server, attempts=1, **table).retrieve(QUESTIONS[:1], 5)


def told_apart(found: Retrieval) -> tuple[str | None, list[str]]:
    answers = found.answers.get(QUESTIONS[0].id)
    return answers[0].answer if answers else None, [hit.chunk.text for hit in found.hits[0]]


def items(text: str, more: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [{**{name: own[place] for name, own in more.items()}, text: TEXTS[place]} for place in range(3)]


SCORED: Mapping[str, Sequence[Any]] = {"score": [0.9, 0.7, 0.5]}
NAMED: Mapping[str, Sequence[Any]] = {"id": ["d7", "d3", "d9"], **SCORED}
SAID = {"role": "assistant", "content": ANSWER}
REPLIES = {
    "Bedrock's knowledge base": {
        "output": {"text": ANSWER},
        "citations": [
            {
                "generatedResponsePart": {"textResponsePart": {"text": ANSWER[:9]}},
                "retrievedReferences": [{"content": {"text": text, "type": "TEXT"}, "location": {"type": "S3"}}],
            }
            for text in TEXTS
        ],
    },
    "Azure's search": {
        "response": [{"role": "assistant", "content": [{"type": "text", "text": ANSWER}]}],
        "references": [
            {"type": "AzureSearchDoc", "id": str(place), "sourceData": {"id": f"d{place}", "content": text}}
            for place, text in enumerate(TEXTS)
        ],
    },
    "Cohere's second version": {
        "message": {
            "role": "assistant",
            "content": [{"type": "text", "text": ANSWER}],
            "citations": [
                {"start": 0, "end": 2, "text": "It", "sources": [{"document": {"text": text}} for text in TEXTS]}
            ],
        }
    },
    "Cohere's first version": {
        "response_id": "x", "text": ANSWER, "citations": [{"start": 0, "end": 2, "text": "It"}],
        "documents": items("snippet", {"id": ["d7", "d3", "d9"]}),
    },
    "Vectara": {"summary": ANSWER, "response_language": "eng", "search_results": items("text", SCORED)},
    "Vertex": {"answer": {"answerText": ANSWER, "references": [{"chunkInfo": {"content": text}} for text in TEXTS]}},
    "Open WebUI": {"choices": [{"message": SAID}], "sources": [{"source": {"id": "f"}, "document": TEXTS}]},
    "LlamaIndex": {"response": ANSWER, "source_nodes": [{"node": {"text": text}, "score": 0.5} for text in TEXTS]},
    "private-gpt": {
        "choices": [{"message": SAID, "sources": [{"document": {"doc_id": "d"}, "text": text} for text in TEXTS]}]
    },
    "LangGraph's tools": {
        "messages": [
            {"type": "human", "content": "What?"},
            {"type": "tool", "content": "", "artifact": items("page_content", {"metadata": [{"source": "a.md"}] * 3})},
            {"type": "ai", "content": ANSWER},
        ]
    },
    "Haystack": {"answers": [{"data": ANSWER, "documents": items("content", NAMED)}]},
    "Onyx": {"answer": ANSWER, "top_documents": items("blurb", {"document_id": ["d7", "d3", "d9"]})},
    "OpenAI's file search": {
        "output": [
            {"type": "file_search_call", "id": "fs", "results": items("text", SCORED)},
            {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]},
        ]
    },
    "Ragie": {"output": [{"type": "message", **SAID}], "scored_chunks": items("text", NAMED)},
    "a wrapper": {"message": "success", "code": 200, "data": {"text": ANSWER, "chunks": items("chunk", NAMED)}},
    "Russian names": {"ответ": ANSWER, "источники": [{"текст": text, "ссылка": "https://a.example"} for text in TEXTS]},
    "a pair": [ANSWER, TEXTS],
    "pairs with scores": {"answer": ANSWER, "documents": [[text, 0.5] for text in TEXTS]},
    "a list of pairs with scores": [{"answer": ANSWER, "documents": [[text, 0.5] for text in TEXTS]}],
    "a history and a question before it": {
        "rewritten": "x", "query": "When does it open?",
        "chat_history": [{"role": "user", "content": "Hi!"}, {"role": "assistant", "content": "How can I help you?"}],
        "summary": ANSWER, "message": "success", "docs": TEXTS,
    },
    "a batch of one": {"answer": ANSWER, "documents": [TEXTS], "distances": [[0.1, 0.2, 0.3]]},
}  # fmt: skip
ALONE = {
    "Elasticsearch": {
        "took": 3,
        "hits": {"hits": [{"_id": f"d{len(text)}", "_source": {"text": text}} for text in TEXTS]},
    },
    "Qdrant": {
        "result": [{"id": 7, "score": 0.5, "payload": {"page_content": text}} for text in TEXTS],
        "status": "ok",
    },
    "Chroma": {"ids": [["d7", "d3", "d9"]], "documents": [TEXTS], "distances": [[0.1, 0.2, 0.3]]},
    "Azure": {"value": items("chunk", {"chunk_id": ["d7", "d3", "d9"]})},
    "a list": items("text", NAMED),
}


@pytest.mark.parametrize("name", REPLIES)
def test_what_is_told_of_a_reply_reads_its_answer_and_passages(name: str) -> None:
    assert told_apart(told(REPLIES[name])[1]) == (ANSWER, TEXTS)


@pytest.mark.parametrize("name", ALONE)
def test_of_a_search_the_passages_alone_are_read(name: str) -> None:
    table, found = told(ALONE[name])
    assert "answer" not in table
    assert told_apart(found) == (None, TEXTS)


@pytest.mark.parametrize(
    "reply",
    [
        {"answer": ANSWER, "sources": ["Rules of 5 May.pdf", "hours of the library.docx"]},
        {"answer": ANSWER, "sources": [{"name": "a.md"}, {"name": "b.md"}]},
        [{"output": ANSWER}],
        {
            "data": {"answer": ANSWER},
            "chat_history": [{"type": "human", "content": "What?"}, {"type": "ai", "content": ANSWER}],
        },
    ],
)
def test_what_is_no_passage_is_not_told(reply: Any) -> None:
    assert told_apart(told(reply)[1]) == (ANSWER, [])


def test_numbers_of_places_are_no_ids() -> None:
    for first in (0, 1):
        table, _ = told({"answer": ANSWER, "sources": items("text", {"id": range(first, first + 3)})})
        assert table == {"answer": "answer", "passages": "sources[].text"}


def stream(*events: Any) -> Reply:
    """Events of server-sent events; a pair is one with its name."""
    parts = []
    for event in events:
        name, data = event if isinstance(event, tuple) else ("", event)
        parts.append(
            f"event: {name}\n" * bool(name) + f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n"
        )
    return Reply("".join(parts).encode())


class TestStreams:
    @pytest.mark.parametrize(
        "events",
        [
            [*({"answer": token} for token in TOKENS), {"answer": ANSWER}],
            [{"type": "status", "content": "Searching"}, *({"type": "token", "content": token} for token in TOKENS)],
            [*({"type": "reasoning-delta", "delta": "hm "} for _ in range(9)),
             *({"type": "text-delta", "delta": token} for token in TOKENS)],
            [*({"event": "token", "data": token} for token in TOKENS), {"event": "end", "data": "[DONE]"}],
            [*(("token", token) for token in TOKENS), ("end", "end")],
            [*(("llm_piece", token) for token in TOKENS), ("end", "end")],
            [("metadata", {"run_id": "r"}), *(("data", json.dumps(token)) for token in TOKENS), ("end", "")],
            [*TOKENS, "[END]"],
        ],
    )  # fmt: skip
    def test_the_answer_alone_is_its_pieces(self, events: list[Any]) -> None:
        assert told_apart(told(stream(*events))[1]) == (ANSWER, [])

    def test_passages_come_in_an_event_of_their_own(self) -> None:
        for sources in (("sources", items("text", NAMED)), {"type": "sources", "content": items("text", NAMED)}):
            said = [{"type": "token", "content": token} for token in TOKENS]
            assert told_apart(told(stream(sources, *said))[1]) == (ANSWER, TEXTS)

    def test_lines_that_nothing_parts_are_events_each(self) -> None:
        lines = "".join(f"data: {json.dumps({'token': token})}\n" for token in TOKENS)
        assert told_apart(told(Reply(lines.encode()))[1]) == (ANSWER, [])

    def test_the_first_piece_is_timed_though_its_name_comes_before_it(self) -> None:
        pieces = [
            (0.0, b"event: sources\ndata: []\n\nevent: llm\n"),
            (0.05, b'data: "It"\n\n'),
            (0.2, b"event: end\ndata: x\n\n"),
        ]
        with serving(lambda _: Reply(pieces=pieces)) as server:
            found = remote(server, stream=True, answer="event == 'llm' && data").retrieve(QUESTIONS[:1], 1)
        assert found.answers["q1"][0].answer == "It"
        assert 50 <= found.logged_ms["first_token"][0] < 200


class TestFaults:
    @pytest.mark.parametrize(
        "reply",
        [
            {"answer": "Sorry, something went wrong.", "error": "Timeout"},
            {"answer": "", "error": {"message": "overloaded", "code": 503}},
            {"answer": "", "errors": [{"message": "boom"}]},
            {"answer": None, "status": "error", "message": "No index."},
            {"success": False, "message": "No quota is left."},
            {"code": 500, "msg": "Internal error"},
            {"ошибка": "Сервис недоступен", "answer": ""},
        ],
    )
    def test_a_fault_beside_a_good_status_is_no_answer(self, reply: Any) -> None:
        with (
            serving(reply) as server,
            pytest.raises(RetrievalError, match="the service says that it failed") as raised,
        ):
            remote(server, answer="answer").retrieve(QUESTIONS, 1)
        assert "reads one" not in str(raised.value)

    @pytest.mark.parametrize(
        "event",
        [{"error": {"message": "rate limit"}}, ("error", {"message": "boom"}), ("error", "boom"),
         {"event": "error", "status": 400}, {"type": "error", "token": "boom"}],
    )  # fmt: skip
    def test_a_stream_that_ends_in_one_is_none(self, event: Any) -> None:
        reply = stream({"token": "It "}, {"token": "opens"}, event)
        with serving(reply) as server, pytest.raises(RetrievalError, match="the service says that it failed"):
            remote(server, stream=True, answer="token").retrieve(QUESTIONS, 1)

    @pytest.mark.parametrize(
        "more",
        [{"error": None}, {"error": ""}, {"error": False}, {"errors": []}, {"error": {"code": 0, "message": "ok"}},
         {"status": "ok", "code": 200}, {"detail": "in short"}, {"success": False}, {"warnings": ["slow"]}],
    )  # fmt: skip
    def test_what_is_no_fault_is_an_answer(self, more: dict[str, Any]) -> None:
        with serving({"answer": ANSWER, **more}) as server:
            found = remote(server, answer="answer").retrieve(QUESTIONS[:1], 1)
        assert found.answers["q1"][0].answer == ANSWER

    def test_an_empty_reply_is_told(self) -> None:
        with serving(Reply(b"")) as server, pytest.raises(RetrievalError, match="the reply is empty"):
            remote(server, answer="answer").retrieve(QUESTIONS, 1)


@pytest.mark.parametrize(
    ("encoding", "kind"),
    [("utf-8-sig", ""), ("cp1251", "; charset=windows-1251"), ("cp1251", ""), ("utf-16", "; charset=utf-16"),
     ("utf-8", "; charset=ISO-8859-1")],
)  # fmt: skip
def test_a_reply_is_read_in_its_own_encoding(encoding: str, kind: str) -> None:
    said = "Библиотека открывается в восемь часов, а по воскресеньям закрыта."
    sent = json.dumps({"answer": said}, ensure_ascii=False).encode(encoding)
    with serving(Reply(sent, headers={"Content-Type": f"application/json{kind}"})) as server:
        found = remote(server, answer="answer").retrieve(QUESTIONS[:1], 1)
    assert found.answers["q1"][0].answer == said
