"""Endpoints of embeddings over real HTTP: how they are asked, what of their replies is read, how they fail."""

from __future__ import annotations

import base64
import json
import math
import struct
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from ragbench.old.core.settings import EmbedderSettings
from ragbench.old.embed.openai_embeddings import EndpointEmbedder
from ragbench.old.store import EmbeddingError
from tests.old.embed.servers import WIDTH, EmbeddingsServer, embeddings_server, packed_vector, vector_of
from tests.old.llm.chat_server import ChatServer, Raw
from tests.old.llm.llm_client import in_time


@pytest.fixture
def served() -> Iterator[EmbeddingsServer]:
    with embeddings_server() as server:
        yield server


def endpoint(server: EmbeddingsServer, **more: Any) -> EndpointEmbedder:
    given = {"attempts": 4, "timeout_seconds": 5, **more}
    return EndpointEmbedder("remote", EmbedderSettings(kind="openai", model="m", base_url=server.url, **given))


def test_an_endpoint_is_asked_in_batches_and_put_in_order(served: EmbeddingsServer) -> None:
    served.change = lambda reply: {**reply, "data": reply["data"][::-1]}
    texts = [f"text {n}" for n in range(10)]
    vectors = endpoint(served, batch=4, passage_prefix="passage: ").embed(texts)
    expected = np.array([vector_of(f"passage: {text}") for text in texts], np.float32)
    np.testing.assert_array_equal(vectors, expected)
    assert sorted(len(request["input"]) for request in served.requests) == [2, 4, 4]
    assert "dimensions" not in served.requests[0]


@pytest.mark.parametrize(
    ("packs", "asked"),
    [("as_asked", ["base64"] * 3), ("never", ["base64"] * 3), ("refuses", ["base64", "float", "float", "float"])],
)
def test_vectors_are_asked_for_packed_and_the_same_however_they_come(
    served: EmbeddingsServer, packs: Any, asked: list[str]
) -> None:
    served.packs = packs
    texts = [f"text {n}" for n in range(6)]
    vectors = endpoint(served, batch=2).embed(texts)
    np.testing.assert_array_equal(vectors, np.array([vector_of(text) for text in texts], np.float32))
    assert [request["encoding_format"] for request in served.requests] == asked


def rows_of(body: dict[str, Any]) -> list[Any]:
    given = body["input"]
    return [vector_of(text) for text in (given if isinstance(given, list) else [given])]


def unpacked(body: dict[str, Any], packed: Callable[[list[float]], Any]) -> dict[str, Any]:
    """In figures, or as a server packs that cannot."""
    is_packed = body.get("encoding_format") == "base64"
    return {"data": [{"embedding": packed(row) if is_packed else row} for row in rows_of(body)]}


TOO_MANY: dict[str, tuple[int, int, Any]] = {
    "TEI": (7, 422, {"message": "batch size 10 > maximum allowed batch size 7", "type": "Validation"}),
    "a proxy": (5, 413, b"<html>413 Request Entity Too Large</html>"),
    "DashScope": (4, 400, {"error": {"message": "batch size is invalid, it should not be larger than 4.: input"}}),
    "Cohere": (3, 400, {"message": "invalid request: total number of texts must be at most 3"}),
    "one at a time": (1, 400, {"error": {"message": "only one input is supported at a time"}}),
}


@pytest.mark.fault("denied", tried="requests of more texts than an endpoint takes, in its own words", count=5)
@pytest.mark.parametrize("name", TOO_MANY)
def test_fewer_texts_are_sent_where_an_endpoint_takes_no_more(name: str) -> None:
    most, status, said = TOO_MANY[name]
    server = ChatServer(
        vectors=lambda body: Raw(status, said) if len(rows_of(body)) > most else unpacked(body, packed_vector)
    )
    texts = [f"text {n}" for n in range(10)]
    with server.running():
        found = endpoint(EmbeddingsServer(url=server.url), concurrency=1).embed(texts)
    np.testing.assert_array_equal(found, np.array([vector_of(text) for text in texts], np.float32))
    assert server.calls == 1 + math.ceil(10 / most), "it is learnt once"


def test_a_text_goes_without_a_list_where_none_is_taken() -> None:
    said = {"detail": [{"loc": ["body", "input"], "msg": "Input should be a valid string"}]}
    server = ChatServer(
        vectors=lambda body: Raw(422, said) if isinstance(body["input"], list) else unpacked(body, packed_vector)
    )
    with server.running():
        found = endpoint(EmbeddingsServer(url=server.url), concurrency=1).embed(["x", "y"])
    np.testing.assert_array_equal(found, np.array([vector_of("x"), vector_of("y")], np.float32))


def test_a_protocol_of_its_own_is_told_where_openai_is_spoken() -> None:
    server = ChatServer(vectors=lambda body: {"embedding": []})  # as Ollama's /api/embeddings for what it does not know
    with server.running(), pytest.raises(EmbeddingError, match=r"no list of vectors.* as http://[\d.:]+/v1$"):
        endpoint(EmbeddingsServer(url=server.url.removesuffix("/v1"))).embed(["x"])


@pytest.mark.fault("vectors", tried="packed vectors of endpoints that pack nothing, or in 64 bits", count=3)
@pytest.mark.parametrize(
    "packed",
    [lambda row: None, lambda row: "", lambda row: base64.b64encode(struct.pack(f"<{len(row)}d", *row)).decode()],
)
def test_what_is_packed_badly_is_asked_for_in_figures(packed: Callable[[list[float]], Any]) -> None:
    server = ChatServer(vectors=lambda body: unpacked(body, lambda row: packed([number / 3 for number in row])))
    with server.running():
        found = endpoint(EmbeddingsServer(url=server.url)).embed(["x", "y"])
    np.testing.assert_array_equal(found, np.array([vector_of("x"), vector_of("y")], np.float32))
    assert server.calls == 2


@pytest.mark.parametrize(
    "reply",
    [
        lambda rows: {"data": [{"index": None, "embedding": row} for row in rows]},
        lambda rows: {"data": [{"embedding": [row]} for row in rows]},
        lambda rows: {"data": rows},
        lambda rows: {"embeddings": rows},
        lambda rows: {"embeddings": {"float": rows}},
        lambda rows: rows,
    ],
)
def test_vectors_in_order_are_read_wherever_they_stand(reply: Callable[[list[Any]], Any]) -> None:
    with ChatServer(vectors=lambda body: reply(rows_of(body))).running() as server:
        found = endpoint(EmbeddingsServer(url=server.url)).embed(["x", "y"])
    np.testing.assert_array_equal(found, np.array([vector_of("x"), vector_of("y")], np.float32))


def test_dimensions_that_are_not_heeded_are_told(served: EmbeddingsServer) -> None:
    served.change = lambda reply: _swap(reply, embedding=vector_of("x"))
    with pytest.raises(EmbeddingError, match="dimensions = 5 is not heeded: its vectors have 12"):
        endpoint(served, dimensions=5).embed(["x"])


@pytest.mark.parametrize("packed", ["AAAA", "?", "AACAPwAA", "AADAfwAAgD8="])
def test_a_packed_vector_that_is_none_is_refused(served: EmbeddingsServer, packed: str) -> None:
    served.change = lambda reply: {**reply, "data": [{"index": 0, "embedding": packed}]}
    with pytest.raises(EmbeddingError, match=r"gave .* for 1 of 1 texts"):
        endpoint(served).embed(["x"])


def test_requests_go_on_at_the_same_time_within_their_number(served: EmbeddingsServer) -> None:
    served.seconds = 0.1
    embedder = endpoint(served, batch=1, concurrency=3)
    futures = [embedder.begin([f"text {n}", f"more {n}"]) for n in range(4)]
    assert [future.result(10).tolist() for future in futures] == [
        [vector_of(f"text {n}"), vector_of(f"more {n}")] for n in range(4)
    ]
    assert 2 <= served.most_at_once <= 3


def test_a_request_holds_so_many_characters_at_most_or_one_text(served: EmbeddingsServer) -> None:
    texts = ["aaa", "bbb", "c", "d" * 9, "ee", "ff", "gg"]
    endpoint(served, batch=3, batch_characters=7).embed(texts)
    requests = sorted(served.requests, key=lambda request: texts.index(request["input"][0]))
    assert [request["input"] for request in requests] == [["aaa", "bbb", "c"], ["d" * 9], ["ee", "ff", "gg"]]


def test_dimensions_are_asked_for_where_they_are_set(served: EmbeddingsServer) -> None:
    assert endpoint(served, dimensions=5).embed(["x"]).shape == (1, 5)
    assert endpoint(served).embed(["x"]).shape == (1, WIDTH)
    assert endpoint(served, dimensions=5).identity != endpoint(served).identity


@pytest.mark.fault("secrets", tried="keys in errors of endpoints", count=1)
def test_the_key_comes_from_its_variable_and_goes_to_no_error(
    served: EmbeddingsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-of-another-host")
    monkeypatch.setenv("MY_KEY", "canary-1234")
    endpoint(served, key_variable="MY_KEY").embed(["x"])
    assert served.headers[-1]["authorization"] == "Bearer canary-1234"
    endpoint(served).embed(["x"])
    assert "canary" not in json.dumps(served.headers[-1])
    served.script = [(401, {}, json.dumps({"error": {"message": "the key canary-1234 is not known"}}))]
    with pytest.raises(EmbeddingError, match="HTTP 401: the key •••• is not known") as caught:
        endpoint(served, key_variable="MY_KEY").embed(["x"])
    assert "canary" not in repr(caught.value) + endpoint(served, key_variable="MY_KEY").identity
    for body in ('{"error": {"message": "canary-1234 is no key"}}', '{"canary-1234": 1}', "<p>canary-1234"):
        served.script = [(200, {}, body)]
        with pytest.raises(EmbeddingError, match="••••"):
            endpoint(served, key_variable="MY_KEY").embed(["x"])
    monkeypatch.setenv("MY_KEY", " ")
    with pytest.raises(EmbeddingError, match="needs its key in the variable MY_KEY, which is not set"):
        endpoint(served, key_variable="MY_KEY")


@pytest.mark.fault("redirects", tried="redirects to another host", count=1)
def test_a_redirect_to_another_place_is_not_followed(served: EmbeddingsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "canary-1234")
    with embeddings_server() as thief:
        served.script = [(307, {"Location": f"{thief.url}/embeddings"}, "{}")] * 9
        with pytest.raises(EmbeddingError, match="HTTP 307: a redirect, which is not followed"):
            endpoint(served, key_variable="MY_KEY").embed(["x"])
        assert thief.requests == []


@pytest.mark.fault("rate-limits", tried="passing faults of an endpoint of embeddings", count=4)
@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_passing_faults_are_tried_again(served: EmbeddingsServer, status: int) -> None:
    served.script = [(status, {"Retry-After": "0.01"}, "{}"), "reset", (status, {"Retry-After": "0.01"}, "<html>")]
    np.testing.assert_allclose(endpoint(served, first_wait_seconds=0.02).embed(["x"]), [vector_of("x")])
    assert len(served.requests) == 4


@pytest.mark.fault("hang", tried="an endpoint of embeddings that does not recover", count=1)
def test_lasting_faults_end_in_a_named_error_within_their_limit(served: EmbeddingsServer) -> None:
    served.script = [(500, {"Retry-After": "0.01"}, "no")] * 9
    with pytest.raises(EmbeddingError, match="HTTP 500: no; tried 3 times"):
        endpoint(served, attempts=3, first_wait_seconds=0.02).embed(["x"])
    assert len(served.requests) == 3
    served.script = ["hang"] * 3
    begun = time.monotonic()
    with pytest.raises(EmbeddingError, match=r"no whole response within 0.3 s \(timeout_seconds\); tried 1 times"):
        endpoint(served, attempts=1, timeout_seconds=0.3).embed(["x"])
    assert in_time(time.monotonic() - begun, 0.3)
    served.script = []
    closed = EmbeddingsServer(url="http://127.0.0.1:9/v1")
    with pytest.raises(EmbeddingError, match=r"Cannot connect to host 127\.0\.0\.1:9 .*; tried 1 times"):
        endpoint(closed, attempts=1).embed(["x"])


def _swap(reply: dict[str, Any], **first: Any) -> dict[str, Any]:
    return {**reply, "data": [{**reply["data"][0], **first}, *reply["data"][1:]]}


@pytest.mark.fault("vectors", tried="replies of an endpoint: no numbers, other widths, other counts, no JSON", count=27)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda reply: {**reply, "data": reply["data"][1:]}, "gave 1 vectors for 2 texts"),
        (lambda reply: {**reply, "data": [*reply["data"], reply["data"][0]]}, "gave 3 vectors for 2 texts"),
        (lambda reply: {**reply, "data": []}, "gave 0 vectors for 2 texts"),
        (lambda reply: {"error": "quota"}, "the response reports an error: quota"),
        (lambda reply: _swap(reply, index=1), "numbered its vectors"),
        (lambda reply: _swap(reply, index=None), "numbered its vectors"),
        (lambda reply: _swap(reply, index="x" * 10**6), r"numbered its vectors \['x{70,80}…, not 0 to 1$"),
        (lambda reply: _swap(reply, embedding=[2**63] * WIDTH), "numbers too large or too small"),
        (
            lambda reply: _swap(reply, embedding=[1.0]),
            r"remote \(m at http.* gave a vector of another dimension for 1 of 2 texts",
        ),
        (lambda reply: _swap(reply, embedding=None), "a vector of another dimension"),
        (lambda reply: _swap(reply, embedding=["1"] * WIDTH), "texts, which are no numbers for 1 of 2"),
        (lambda reply: _swap(reply, embedding=[None] * WIDTH), "NaN or infinity for 1 of 2"),
        (lambda reply: _swap(reply, embedding=[True] * WIDTH), "booleans, which are no numbers for 1 of 2"),
        (lambda reply: _swap(reply, embedding=[1.0] * (WIDTH - 1) + [False]), "booleans, which are no numbers"),
        (lambda reply: _swap(reply, embedding=[[1.0]] * WIDTH), "something that is no vector"),
        (lambda reply: _swap(reply, embedding=[{}] * WIDTH), "something that is no number"),
        (lambda reply: _swap(reply, embedding="AACAPwAAgD8="), "a vector of another dimension"),
        (lambda reply: _swap(reply, embedding="AACAPwAAgD8"), "something that is no vector"),
        (lambda reply: _swap(reply, embedding=[math.nan] * WIDTH), "NaN or infinity"),
        (lambda reply: _swap(reply, embedding=[10**400] * WIDTH), "NaN or infinity"),
        (lambda reply: _swap(reply, embedding=[0.0] * WIDTH), "a zero vector"),
        (lambda reply: _swap(reply, index=True), "numbered its vectors"),
        (lambda reply: {**reply, "data": [1, 2]}, "it has no list of vectors in `data`"),
        (lambda reply: '{"data": [' + "[]," * 9999 + "[]]}", "it is more than one vector a text"),
        (lambda reply: "[", "gave a reply that cannot be read: it is not JSON"),
        (lambda reply: "[" * 900 + "]" * 900, "gave 1 vectors for 2 texts"),
        (lambda reply: "", "gave a reply that cannot be read: it is not JSON"),
        (lambda reply: "<html>busy</html>", "gave a reply that cannot be read: it is not JSON"),
    ],
)
def test_replies_that_are_no_vectors_are_named(served: EmbeddingsServer, change: Any, said: str) -> None:
    served.change = change
    with pytest.raises(EmbeddingError, match=said):
        endpoint(served).embed(["x", "y"])


def test_nothing_is_sent_for_texts_that_cannot_be_embedded(served: EmbeddingsServer) -> None:
    with pytest.raises(EmbeddingError, match="1 of 2 texts are empty"):
        endpoint(served).embed(["x", " "])
    assert served.requests == []


@pytest.mark.fault("redirects", tried="addresses of other schemes", count=4)
@pytest.mark.parametrize("url", ["ftp://host/v1", "file:///etc/passwd", "host/v1", "http://user:hunter2@host/v1"])
def test_only_plain_http_addresses_are_spoken_to(url: str) -> None:
    with pytest.raises(ValueError, match="base_url") as caught:
        EmbedderSettings(kind="openai", model="m", base_url=url)
    assert "hunter2" not in str(caught.value)
