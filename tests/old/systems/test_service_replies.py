"""Replies of services as they are known to answer: what is told of them reads the answer and the passages, or says why
there are none."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from ragbench.old.core.settings import SystemSettings
from ragbench.old.systems import Retrieval, RetrievalError
from ragbench.old.systems.remote import unread
from tests.old.systems.service_server import Reply
from tests.old.systems.test_remote import remote, serving
from tests.old.systems.test_systems import QUESTIONS

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
    "transliterated names": {
        "otvet": ANSWER, "istochniki": [{"id": f"d{place}", "tekst": text} for place, text in enumerate(TEXTS)],
    },
    "what Lambda gives a gateway": {
        "statusCode": 200, "headers": {}, "body": json.dumps({"answer": ANSWER, "sources": items("text", NAMED)}),
    },
    "Azure's first version": {"choices": [{"messages": [
        {"role": "tool", "content": json.dumps({"citations": items("content", NAMED), "intent": "[]"})}, SAID,
    ]}]},
    "texts by their ids": {"answer": ANSWER, "documents": dict(zip(["d7", "d3", "d9"], TEXTS, strict=True))},
    "objects by their ids": {"answer": ANSWER, "documents": {f"d{len(text)}": {"text": text} for text in TEXTS}},
    "texts by their ids in what Lambda gives": {
        "body": json.dumps({"answer": ANSWER, "documents": dict(zip(["d7", "d3", "d9"], TEXTS, strict=True))}),
    },
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


def test_json_in_the_text_of_an_answer_is_told() -> None:
    held = json.dumps({"answer": ANSWER, "sources": items("text", NAMED)})
    assert told_apart(told({"choices": [{"message": {"role": "assistant", "content": held}}]})[1]) == (ANSWER, TEXTS)
    with serving({"answer": held}) as server:
        advice = unread("prod", SystemSettings(url=server.url, answer="answer"), "What?")
        assert advice.startswith('answer = "answer.answer", passages = "answer.sources[].text"')
        whole = remote(server, answer="answer").retrieve(QUESTIONS[:1], 5)
    assert whole.answers["q1"][0].answer == held


@pytest.mark.parametrize(
    "reply",
    [
        {"answer": ANSWER, "sources": ["Rules of 5 May.pdf", "hours of the library.docx"]},
        {"answer": ANSWER, "sources": [{"name": "a.md"}, {"name": "b.md"}]},
        [{"output": ANSWER}],
        {"data": [[["Who are you?", "A bot."], ["What?", ANSWER]]], "duration": 0.1},
        {"data": ["", [["What?", ANSWER]]], "is_generating": False},
        {"data": ["", [{"role": "user", "content": "What is it?"}, {**SAID, "metadata": None}]]},
        {"answer": ANSWER, "document": {"title": "Rules of the library", "author": "The city council"}},
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


ASKED, CALL = {"type": "human", "content": "When does it open?"}, {"name": "search", "args": {}, "id": "c"}
CALLS = {"type": "ai", "content": "Let me look that up.", "tool_calls": [CALL]}
FOUND = {"type": "tool", "name": "search", "content": "\n\n".join(TEXTS), "tool_call_id": "c"}
REPLIED = {"type": "ai", "content": ANSWER, "tool_calls": []}
CHUNKS = [[{"type": "AIMessageChunk", "content": token}, {"langgraph_node": "agent"}] for token in TOKENS]
STATES = [("values", {"messages": [ASKED, CALLS, FOUND, REPLIED][:end]}) for end in (1, 2, 3, 4)]


class TestStreams:
    @pytest.mark.parametrize(
        "events",
        [
            [("metadata", {"run_id": "r"}), *STATES],
            [*STATES, ("values", {**STATES[-1][1], "title": "Hours"})],
            [*(("updates", {node: {"messages": [own]}})
               for node, own in (("agent", CALLS), ("tools", FOUND), ("agent", REPLIED)))],
            [("messages", [FOUND, {"langgraph_node": "tools"}]), *(("messages", chunk) for chunk in CHUNKS)],
            [STATES[0], *(("messages", chunk) for chunk in CHUNKS), STATES[-1]],
            [{"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
             *({"choices": [{"index": 0, "delta": {"content": token}}]} for token in TOKENS),
             {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, "[DONE]"],
            [("message_start", {"type": "message_start", "message": {"role": "assistant", "content": []}}),
             *(("content_block_delta", {"type": "content_block_delta", "delta": {"type": "text_delta", "text": token}})
               for token in TOKENS), ("message_stop", {"type": "message_stop"})],
            [*(("generating", json.dumps([ANSWER[:end]])) for end in (9, 20, None)),
             ("complete", json.dumps([ANSWER]))],
            [("generating", json.dumps([ANSWER])), ("complete", json.dumps([ANSWER]))],
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

    def test_what_was_asked_is_no_first_piece(self) -> None:
        pieces = [
            (wait, f"event: values\ndata: {json.dumps(state)}\n\n".encode())
            for wait, (_, state) in zip((0.0, 0.1), (STATES[0], STATES[-1]), strict=True)
        ]
        with serving(lambda _: Reply(pieces=pieces)) as server:
            found = remote(server, stream=True, answer="messages[-1].content").retrieve(QUESTIONS[:1], 1)
        assert found.logged_ms["first_token"][0] >= 100

    def test_lines_of_ollama_are_events_each(self) -> None:
        lines = "".join(
            json.dumps({"model": "m", "message": {"role": "assistant", "content": token}, "done": not token}) + "\n"
            for token in (*TOKENS, "")
        )
        assert told_apart(told(Reply(lines.encode()))[1]) == (ANSWER, [])

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
            {"code": 102, "message": "Lack of session.", "data": False},
            {"statusCode": 502, "body": json.dumps({"message": "Internal server error"})},
            {"errorMessage": "Task timed out after 3.00 seconds", "errorType": "Sandbox.Timedout"},
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

    @pytest.mark.parametrize(
        "reply", [{"event_id": "a1b2"}, {"job_id": "7", "status": "queued"}, {"status": "starting"}]
    )
    def test_a_job_is_told(self, reply: Any) -> None:
        with serving(reply) as server, pytest.raises(RetrievalError, match=r"it began a job .*name it as `callable`"):
            remote(server, answer="answer").retrieve(QUESTIONS, 1)

    def test_a_part_of_a_page_is_an_answer_as_it_is(self) -> None:
        for text in (f"<p>{ANSWER}</p>", f"[1] {ANSWER}"):
            table, found = told(Reply(text.encode()))
            assert (table["answer"], told_apart(found)) == ("@", (text, []))

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
