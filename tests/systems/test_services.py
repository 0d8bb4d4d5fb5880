"""Services over HTTP, against a real server that answers as services do, well and badly."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import pytest

from ragbench.core.errors import BenchError
from ragbench.core.settings import Settings, SystemTable
from ragbench.core.types import Dataset, Hit
from ragbench.systems import ask_service, open_systems, propose_paths

GOOD = {"data": {"answer": "At 8:00.", "hits": [{"id": "lib", "text": "x", "score": 0.9}]}}
PATHS = {"answer": "data.answer", "ids": "data.hits[].id", "scores": "data.hits[].score"}


class Server:
    """Answers each question as `replies` says, by default GOOD, and notes what it was sent."""

    def __init__(self) -> None:
        self.replies: dict[str, list[Any]] = {}
        self.requests: list[dict[str, Any]] = []
        self.in_flight = self.most_in_flight = 0
        self.lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            wbufsize = -1
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                outer.answer(self, self.rfile.read(length).decode())

            def do_GET(self) -> None:
                outer.answer(self, "")

            def log_message(self, *arguments: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()

    def answer(self, handler: BaseHTTPRequestHandler, body: str) -> None:
        with self.lock:
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            self.requests.append({"path": handler.path, "body": body, "headers": handler.headers})
            question = json.loads(body).get("question", "") if body else ""
            replies = self.replies.get(question, [GOOD])
            reply = replies.pop(0) if len(replies) > 1 else replies[0]
        reply = reply() if callable(reply) else reply
        with self.lock:
            self.in_flight -= 1
        if reply is None:
            handler.close_connection = True
            handler.connection.close()
            return
        status, headers, content = 200, {}, reply
        if isinstance(reply, tuple):
            status, headers, content = reply
        written = content if isinstance(content, str) else json.dumps(content)
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(written.encode())))
        handler.end_headers()
        handler.wfile.write(written.encode())


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.http.shutdown()
    made.http.server_close()


def open_service(server: Server, dataset: Dataset, **table: Any) -> Any:
    values = {"url": f"{server.url}/ask", **PATHS, **table}
    settings = Settings.model_validate({"systems": {"prod": values}})
    return open_systems("prod", settings, dataset)["prod"]


def test_a_service_retrieves_and_answers(server: Server, library: Dataset) -> None:
    system = open_service(server, library)
    [retrieval] = system.retrieve(['Say "hi" {k}\n'], 7)
    assert [(hit.id, hit.similarity) for hit in retrieval.hits] == [("lib", 0.9)]
    assert retrieval.hits[0].text.startswith("The library opens")
    assert retrieval.latency_ms > 0
    assert json.loads(server.requests[0]["body"]) == {"question": 'Say "hi" {k}\n', "k": 7}
    headers = server.requests[0]["headers"]
    assert headers["Content-Type"] == "application/json"
    assert headers["Accept-Encoding"] == "identity"
    [reply] = system.answer(["When?"], 3)
    assert (reply.answer, [hit.id for hit in reply.hits]) == ("At 8:00.", ["lib"])
    assert system.describe() == f"POST {server.url}/ask"
    assert system.takes_contexts is False


def test_address_body_and_headers_are_filled(
    server: Server, library: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROD_KEY", "a-secret-key")
    system = open_service(
        server,
        library,
        url=f"{server.url}/ask/{{k}}?q={{question}}",
        method="GET",
        headers={"Authorization": "Bearer {PROD_KEY}", "X-Team": "search"},
        body='{"docs": {contexts}}',
    )
    assert system.takes_contexts is False, "no body is sent"
    assert system.retrieve(["Где? &"], 2)[0].error == ""
    [request] = server.requests
    path, _, query = request["path"].partition("?")
    assert (path, parse_qs(query)) == ("/ask/2", {"q": ["Где? &"]})
    assert request["headers"]["Authorization"] == "Bearer a-secret-key"
    assert "Content-Type" not in request["headers"]


def test_a_body_may_hand_over_contexts(server: Server, library: Dataset) -> None:
    body = '{"question": "{question}", "docs": {contexts}, "prompt": "Q {question}: {contexts}"}'
    system = open_service(server, library, body=body)
    assert system.takes_contexts
    server.replies = {"When?": [{"data": {"answer": "At 8:00."}}]}
    [reply] = system.answer(["When?"], 3, [[Hit("lib", 'a "quote"'), Hit("", "b")]])
    assert [hit.text for hit in reply.hits] == ['a "quote"', "b"]
    assert json.loads(server.requests[0]["body"]) == {
        "question": "When?",
        "docs": ['a "quote"', "b"],
        "prompt": 'Q When?: [1] a "quote"\n\n[2] b',
    }


def test_so_many_are_asked_at_once_as_the_table_says(server: Server, library: Dataset) -> None:
    barrier = threading.Barrier(3, timeout=20)

    def wait() -> Any:
        barrier.wait()
        return GOOD

    server.replies = {str(number): [wait] for number in range(6)}
    system = open_service(server, library, concurrency=3)
    found = system.retrieve([str(number) for number in range(6)], 1)
    assert all(retrieval.error == "" for retrieval in found)
    assert server.most_in_flight == 3


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ((300, {}, "moved"), "HTTP 300: moved"),
        ((500, {}, "boom sk-12345678901234567890"), "HTTP 500: boom ••••"),
        ((404, {}, {"detail": "no route"}), "HTTP 404"),
        ((302, {"Location": "http://127.0.0.1:1/"}, ""), "HTTP 302"),
        ("<html>login</html>", "the reply is no JSON; it begins '<html>login"),
        ("", "the reply is no JSON"),
        ("x" * 300, f"it begins '{'x' * 200}'"),
        ('{"data": {"answer": "cut', "the reply is no JSON"),
        ("[" * 100_000, "the reply is no JSON"),
        ({"data": {"hits": None}}, "ids = 'data.hits[].id': a list is expected; got nothing"),
        ({"items": [{"id": "a", "text": "b"}]}, '; ids = "items[].id" would read one'),
        ({"data": {"hits": [{"id": "a", "score": None}]}}, "its lists have different lengths"),
        (None, "no connection"),
    ],
)
def test_a_bad_reply_is_an_error_of_its_question(
    server: Server, library: Dataset, reply: Any, message: str
) -> None:
    server.replies = {"bad": [reply]}
    good, bad, also_good = open_service(server, library).retrieve(["a", "bad", "b"], 3)
    assert message in bad.error
    assert bad.hits == ()
    assert (good.error, also_good.error) == ("", "")


@pytest.mark.parametrize(
    "reply", [None, (503, {"Retry-After": "0"}, ""), *[(code, {}, "") for code in (429, 502, 504)]]
)
def test_a_request_that_may_be_served_later_is_sent_once_more(
    server: Server, library: Dataset, reply: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragbench.systems.service.LONGEST_WAIT", 0.01)
    server.replies = {"busy": [reply, GOOD]}
    [retrieval] = open_service(server, library).retrieve(["busy"], 3)
    assert retrieval.error == ""
    assert len(server.requests) == 2


def test_a_service_that_hangs_is_given_up_after_one_patience(
    server: Server, library: Dataset
) -> None:
    released = threading.Event()
    server.replies = {str(number): [lambda: released.wait(20)] for number in range(9)}
    system = open_service(server, library, timeout_seconds=0.2)
    found = system.retrieve([str(number) for number in range(9)], 1)
    released.set()
    assert found[0].error == "no reply within 0.2 s"
    assert found[8].error == "not asked, after failures in a row: no reply within 0.2 s"
    assert len(server.requests) == 3


def test_only_failures_in_a_row_are_counted(server: Server, library: Dataset) -> None:
    bad = {"reset": [None], "wrong": [(400, {}, "bad request")]}
    server.replies = {f"{kind} {n}": bad[kind] for kind in bad for n in range(9)}
    system = open_service(server, library, concurrency=1)
    # Of connections three: a request that is answered, be it by an error, begins anew.
    for between in ("good", "wrong 0"):
        asked = ["reset 0", "reset 1", between, "reset 2", "reset 3", "good"]
        assert system.retrieve(asked, 1)[-1].error == ""
    asked = [f"wrong {n % 9}" for n in range(19)]
    assert system.retrieve([*asked, "good", *asked, "good"], 1)[-1].error == ""
    assert system.retrieve(["reset 0", "reset 1", "reset 2", "good"], 1)[-1].error != ""


def test_twenty_unusable_replies_in_a_row_are_enough(server: Server, library: Dataset) -> None:
    questions = [str(number) for number in range(30)]
    server.replies = {question: [(400, {}, "bad request")] for question in questions}
    found = open_service(server, library).retrieve(questions, 1)
    assert len(server.requests) == 20
    assert all("HTTP 400" in retrieval.error for retrieval in found)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"url": "http:///ask"}, "url is an address of http or https"),
        ({"url": "ftp://host/ask"}, "url is an address of http or https"),
        ({"url": "http://user:pw@host/ask"}, "url holds a secret"),
        ({"url": "http://host/ask?api_key=x"}, "url holds a secret"),
        ({"headers": {"X-Api-Key": "abc"}}, "name the variable that holds it"),
        ({"headers": {"X-Api-Key": "{NOT_SET_HERE}"}}, "NOT_SET_HERE is not set"),
        ({"body": '{"q": "x"}'}, "write {question} where the question belongs"),
        ({"body": '{"question": {question}}'}, "body is no JSON once it is filled"),
        ({"answer": "data.[", "ids": ""}, "'data.\\[' is no JMESPath: Invalid jmespath expression"),
        ({"answer": "", "ids": "", "scores": ""}, "say where its reply has answer"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(
    server: Server, library: Dataset, table: dict[str, Any], message: str
) -> None:
    with pytest.raises(BenchError, match=message):
        open_service(server, library, **table)


def test_addresses_inside_a_cloud_are_never_asked(library: Dataset, server: Server) -> None:
    system = open_service(server, library, url="http://169.254.169.254/ask")
    with pytest.raises(BenchError, match="link-local"):
        system.retrieve(["q"], 1)


def test_a_service_that_does_not_retrieve_only_answers(server: Server, library: Dataset) -> None:
    system = open_service(server, library, ids="", scores="")
    assert system.can_retrieve is False
    assert system.answer(["q"], 1)[0].answer == "At 8:00."
    server.replies = {"odd": [{"data": {"answer": ["At 8:00."]}}]}
    assert (
        "answer = 'data.answer': a text is expected; got list" in system.answer(["odd"], 1)[0].error
    )


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ({"passages": "data.hits[].text"}, [("x", "x")]),
        ({"passages": "data.hits[].text", "scores": "data.hits[].score"}, [("", "x")]),
        ({"passages": "max(data)"}, None),  # no function of a dict
    ],
)
def test_passages_may_be_texts_alone(
    server: Server, library: Dataset, paths: dict[str, str], expected: Any
) -> None:
    system = open_service(server, library, **{"answer": "", "ids": "", "scores": "", **paths})
    assert system.can_retrieve
    [retrieval] = system.retrieve(["q"], 1)
    if expected is None:
        assert "a list is expected; got nothing" in retrieval.error
    else:
        assert [(hit.id, hit.text) for hit in retrieval.hits] == expected


def test_a_reranker_may_be_an_endpoint(server: Server, library: Dataset) -> None:
    rows = [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2}]
    server.replies = {"": [{"results": rows}, {"results": "none"}]}
    table = {"kind": "endpoint", "base_url": server.url, "model": "rank"}
    tables = {
        "rerankers": {"rank": table},
        "systems": {"mine": {"retriever": "bm25", "reranker": "rank"}},
    }
    system = open_systems("mine", Settings.model_validate(tables), library)["mine"]
    [retrieval] = system.retrieve(["library parking"], 4)
    assert [hit.similarity for hit in retrieval.hits] == [0.9, 0.2]
    assert server.requests[0]["path"] == "/rerank"
    assert json.loads(server.requests[0]["body"])["query"] == "library parking"
    assert "its reply cannot be read" in system.retrieve(["library parking"], 4)[0].error
    server.replies = {"": [(500, {}, "boom")]}
    assert "reranker: HTTP 500: boom" in system.retrieve(["library parking"], 4)[0].error


def test_doctor_asks_one_question_and_proposes_paths(server: Server) -> None:
    table = SystemTable.model_validate({"url": f"{server.url}/ask", "answer": "x"})
    assert propose_paths(ask_service(table, "When?", 3)) == {
        "answer": "data.answer",
        "passages": "data.hits[].text",
        "ids": "data.hits[].id",
        "scores": "data.hits[].score",
    }
    server.replies = {"x": [(500, {}, "boom")]}
    with pytest.raises(BenchError, match="HTTP 500: boom"):
        ask_service(table, "x")


def nested(depth: int) -> Any:
    """An answer at so many levels."""
    return {"answer": nested(depth - 1)} if depth else "a"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({"answer": "a", "sources": ["t1", "t2"]}, {"answer": "answer", "passages": "sources"}),
        (
            {"choices": [{"message": {"role": "assistant", "content": "a"}}]},
            {"answer": "choices[0].message.content"},
        ),
        (
            {"result": "a", "source_documents": [{"page_content": "t", "metadata": {}}]},
            {"answer": "result", "passages": "source_documents[].page_content"},
        ),
        (
            {"output": {"text": "a"}, "retrieval results": [{"document": {"id": 1}, "text": "t"}]},
            {
                "answer": "output.text",
                "passages": '"retrieval results"[].text',
                "ids": '"retrieval results"[].document.id',
            },
        ),
        ([{"generated_text": "a"}], {"answer": "[0].generated_text"}),
        ({"messages": [{"role": "user", "text": "q"}]}, {"answer": "messages[0].text"}),
        ({"n": 3, "hits": [], "items": [1, 2]}, {}),
        ({"answer": " ", "text": "a"}, {"answer": "text"}),
        ({"message": "a", "content": "b"}, {"answer": "content"}),
        ({"deep": {"content": "a"}, "content": "b"}, {"answer": "content"}),
        ({"tags": ["a"], "Sources": ["b"]}, {"passages": "Sources"}),
        ({"hits": ["a", 1]}, {}),
        ({"hits": [{"id": 1}, 2]}, {}),
        ({"hits": [{"id": 1}]}, {"ids": "hits[].id"}),
        ({"hits": [{"id": True, "text": "t"}]}, {"passages": "hits[].text"}),
        ({"hits": [{"id": "a", "text": "t"}, {"text": "u"}]}, {"passages": "hits[].text"}),
        ({"rows": [{"id": "a"}]}, {}),
        ({"rows": [{"id": "a", "score": 1}]}, {}),
        (
            {"rows": [{"text": "t", "score": 1}]},
            {"passages": "rows[].text", "scores": "rows[].score"},
        ),
        ({"rows": [{"id": "a", "text": "t"}]}, {"passages": "rows[].text", "ids": "rows[].id"}),
        (nested(8), {"answer": ".".join(["answer"] * 8)}),
        (nested(9), {}),
        ("text", {}),
    ],
)
def test_paths_are_proposed_for_what_services_reply(reply: Any, expected: dict[str, str]) -> None:
    assert propose_paths(reply) == expected
