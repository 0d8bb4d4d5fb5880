"""The client among faults over real HTTP: survived, given up in time, and no key for anybody else."""

from __future__ import annotations

import asyncio
import gzip
import json
import math
import time
import tracemalloc
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from ragbench.old.core.settings import ConfigurationError, JudgeSettings, secrets
from ragbench.old.core.types import Status
from ragbench.old.llm import Client, Decoding, MemoryJournal, ProviderRefused, ProviderUnreachable
from ragbench.old.llm.transport import MAX_BYTES
from tests.old.llm.chat_server import ChatServer
from tests.old.llm.llm_client import answering, ask, in_time, open_client, packed, scripted
from tests.old.llm.llm_shapes import request, settings

FAULTS_30 = {
    "429": 0.06, "429_wait": 0.03, "500": 0.05, "502": 0.02, "529": 0.03, "hang": 0.01, "drip": 0.01, "reset": 0.02,
    "half": 0.01, "html": 0.01, "cut": 0.01, "length": 0.01, "nan": 0.01, "prose": 0.01, "empty": 0.01,
}  # fmt: skip


class TestFaults:
    @pytest.mark.slow
    @pytest.mark.fault("rate-limits", tried="calls to a server with 30 % faults of 15 kinds", count=300)
    def test_thirty_percent_faults_change_no_score(self) -> None:
        assert math.isclose(sum(FAULTS_30.values()), 0.30)
        texts = [f"text {n}" for n in range(300)]
        with ChatServer().running() as server:
            clean = [c.value for c in ask(server, texts)]
        with ChatServer(faults=FAULTS_30, seed=7).running() as server:
            broken = ask(server, texts, timeout_seconds=1.0, concurrency=32)
        assert [c.value for c in broken] == clean
        assert {request.fault for request in server.requests} == {"", *FAULTS_30}
        assert server.calls <= 1.6 * len(texts)

    @pytest.mark.fault("hang", tried="ways to fail × limits", count=12)
    @pytest.mark.parametrize("fault", ["hang", "drip", "reset", "half", "html", "500"])
    @pytest.mark.parametrize("limit", [0.3, 0.6])
    def test_every_fault_ends_within_its_limit(self, fault: str, limit: float) -> None:
        with scripted(f"!{fault}").running() as server:
            began = time.monotonic()
            found = ask(server, ["x"], timeout_seconds=limit, attempts=1)
            took = time.monotonic() - began
        assert found[0].value is None
        assert in_time(took, limit)
        expected = Status.TIMEOUT if fault in ("hang", "drip") else Status.JUDGE_ERROR
        assert found[0].status is expected

    @pytest.mark.fault("hang", tried="ways to fail × limits", count=4)
    @pytest.mark.parametrize("limit", [0.3, 0.6])
    def test_a_refused_connection_and_no_tls_end_within_the_limit(self, limit: float) -> None:
        with ChatServer().running() as server:
            pass
        began = time.monotonic()
        with suppress(ProviderUnreachable):  # of whom nothing was heard for all of the patience
            assert ask(server, ["x"], patience_seconds=limit)[0].status is Status.JUDGE_ERROR
        assert in_time(time.monotonic() - began, limit)

    @pytest.mark.fault("hang", tried="servers that speak no TLS", count=2)
    @pytest.mark.parametrize("limit", [0.3, 0.6])
    def test_a_server_without_tls_is_named_at_once(self, limit: float) -> None:
        async def work() -> None:
            async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await reader.read(100)
                writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                writer.close()

            server = await asyncio.start_server(plain, "127.0.0.1", 0)
            port = server.sockets[0].getsockname()[1]
            async with server, open_client(f"https://127.0.0.1:{port}/v1", timeout_seconds=limit) as client:
                with pytest.raises(ProviderRefused, match="no secure connection"):
                    await client.complete(request())

        began = time.monotonic()
        asyncio.run(work())
        assert in_time(time.monotonic() - began, limit)

    @pytest.mark.fault("hang", tried="a server that never recovers", count=1)
    def test_patience_ends_all_attempts(self) -> None:
        with scripted("!hang").running() as server:
            began = time.monotonic()
            found = ask(server, ["x"], timeout_seconds=0.4, patience_seconds=2.5, attempts=100)
            took = time.monotonic() - began
        assert found[0].status is Status.TIMEOUT
        assert in_time(took, 2.5)
        assert server.calls >= 2

    @pytest.mark.fault("denied", tried="refusals by their code", count=5)
    @pytest.mark.parametrize("code", ["401", "402", "403", "404", "405"])
    def test_a_hopeless_answer_stops_at_once(self, code: str) -> None:
        with scripted(f"!{code}").running() as server:
            with pytest.raises(ProviderRefused, match=f"judge 'a'.*HTTP {code}"):
                ask(server, [f"text {n}" for n in range(50)])
            assert server.calls <= 2

    @pytest.mark.fault("hang", tried="a server that never recovers", count=1)
    def test_a_provider_that_never_answers_stops_the_run(self) -> None:
        with scripted("!500").running() as server:
            with pytest.raises(ProviderUnreachable, match="run again"):
                ask(server, [f"text {n}" for n in range(50)], attempts=1)
            assert server.calls < 25

    @pytest.mark.fault("rate-limits", tried="Retry-After, its forms and its reach", count=3)
    def test_retry_after_is_waited_for_by_all(self) -> None:
        with scripted("!429_wait", {"score": 3}, retry_after="0.6").running() as server:
            began = time.monotonic()
            found = ask(server, ["x", "y", "z"])
            took = time.monotonic() - began
        assert [c.value.score for c in found] == [3, 3, 3]
        assert took >= 0.6
        assert server.calls == 4

    def test_waits_and_codes_are_no_part_of_the_journals_key(self) -> None:
        usual = Client("j", settings("http://127.0.0.1:9"))
        patient = Client("j", settings("http://127.0.0.1:9", first_wait_seconds=2, again_on=(404,), attempts=2))
        assert usual.identity == patient.identity
        assert request(decoding=Decoding(0.0)).as_json() != request(decoding=Decoding(0.1)).as_json()

    def test_the_settings_say_which_codes_are_tried_again(self) -> None:
        with scripted("!404", "!404", {"score": 3}).running() as server:
            [found] = ask(server, ["x"], again_on=(404,), first_wait_seconds=0.0)
            assert (found.value.score, server.calls) == (3, 3)
        with scripted("!503", {"score": 3}).running() as server:
            [found] = ask(server, ["x"], never_again_on=(503,))
            assert (found.status, server.calls) == (Status.JUDGE_ERROR, 1)
            assert "HTTP 503" in found.reason

    @pytest.mark.fault("rate-limits", tried="Retry-After, its forms and its reach", count=1)
    def test_a_wait_beyond_all_patience_stops_the_run(self) -> None:
        with scripted("!429_wait", retry_after="3600").running() as server:
            with pytest.raises(ProviderUnreachable, match="asks to wait 3600 s"):
                ask(server, ["x"], patience_seconds=5)
            assert server.calls == 1


class TestSize:
    """No response takes more memory than the limit on it, whatever it says of itself."""

    @pytest.mark.fault("bombs", tried="replies that unpack beyond the limit", count=5)
    @pytest.mark.parametrize(
        "server",
        [
            answering(partial(packed, 16 * MAX_BYTES)),
            answering(partial(packed, 16 * MAX_BYTES, "deflate")),
            answering(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b" " * 65536 + b"\r\n", 999
            ),
            answering(b"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n", b" " * 65536, 999),
            answering(b"HTTP/1.1 500 Broken\r\nContent-Length: 999999999\r\n\r\n", b" " * 65536, 999),
        ],
        ids=["gzip", "deflate", "endless", "long", "long error"],
    )
    def test_a_response_above_the_limit_is_refused_by_its_decoded_bytes(self, server: ChatServer) -> None:
        with server.running():
            tracemalloc.start()
            (found,) = ask(server, ["x"])
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert found.status is Status.JUDGE_ERROR
        assert found.reason == f"the response has more than {MAX_BYTES} bytes"
        assert peak < 6 * MAX_BYTES

    def test_what_is_packed_without_being_asked_for_is_read_all_the_same(self) -> None:
        server = ChatServer()
        plain = json.dumps(server._completion({"model": "m", "messages": []}, {"score": 4}, "")).encode()
        body = gzip.compress(plain)
        server = answering(
            f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        )
        with server.running():
            (found,) = ask(server, ["x"])
        assert found.value.score == 4
        assert server.requests[0].headers["accept-encoding"] == "identity"

    @pytest.mark.fault("garbage", tried="a reply in an unknown packing", count=1)
    def test_an_unknown_packing_is_named(self) -> None:
        with answering(b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\nxx").running() as server:
            (found,) = ask(server, ["x"])
        assert found.reason == "the response is packed as 'br', which was not asked for"


class TestSecrets:
    CANARY = "sk-canary-0123456789"

    @pytest.mark.fault("redirects", tried="redirects to another host", count=1)
    def test_a_redirect_is_not_followed_and_the_key_stays(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TEST_KEY", self.CANARY)
        other = ChatServer()
        with other.running(), scripted("!redirect", redirect_to=f"{other.url}/chat/completions").running() as server:
            with pytest.raises(ProviderRefused, match="redirect"):
                ask(server, ["x"], key_variable="TEST_KEY", timeout_seconds=30)
            assert server.requests[0].headers["authorization"] == f"Bearer {self.CANARY}"
            assert other.calls == 0

    @pytest.mark.fault("secrets", tried="keys in errors of endpoints", count=1)
    def test_a_key_that_the_server_repeats_is_hidden(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TEST_KEY", self.CANARY)
        server = scripted("!401")

        async def repeat(writer: Any, fault: str, body: dict[str, Any]) -> bool:
            return await server._respond(writer, 401, {"error": {"message": f"bad key {self.CANARY}\x1b[31m"}})

        server._break = repeat  # type: ignore[method-assign]
        with server.running(), pytest.raises(ProviderRefused) as raised:
            ask(server, ["x"], key_variable="TEST_KEY")
        assert self.CANARY not in str(raised.value)
        assert "\x1b" not in str(raised.value)
        assert secrets.MASK in str(raised.value)

    @pytest.mark.fault("secrets", tried="keys in the variables of a traceback", count=1)
    def test_no_variable_of_ours_shows_the_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TEST_KEY", self.CANARY)
        journal = MemoryJournal()

        async def work(server: ChatServer) -> list[str]:
            async with open_client(server, journal=journal, key_variable="TEST_KEY") as client:
                completion = await client.complete(request())
                seen = [client, client._sender, completion, journal, client.identity, client.settings]
                return [repr(vars(one)) if hasattr(one, "__dict__") else repr(one) for one in seen]

        with ChatServer().running() as server:
            shown = asyncio.run(work(server))
        assert server.requests[0].headers["authorization"] == f"Bearer {self.CANARY}"
        assert len(shown) == 6
        assert not [text for text in shown if self.CANARY in text]

    @pytest.mark.fault("secrets", tried="values that cannot be a key, and are not repeated", count=6)
    @pytest.mark.parametrize("key", ["", "  ", "with space", "line\nbreak", "ключ", "bell\x07"])
    def test_what_cannot_be_a_key_is_refused(self, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TEST_KEY", key)
        with pytest.raises(ConfigurationError, match="TEST_KEY"):
            Client("a", settings("http://127.0.0.1:1/v1", key_variable="TEST_KEY"))

    @pytest.mark.fault("denied", tried="a key that is missing", count=1)
    def test_a_missing_key_is_named_before_the_first_call(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("TEST_KEY", raising=False)
        with pytest.raises(ConfigurationError, match="export TEST_KEY="):
            Client("a", settings("http://127.0.0.1:1/v1", key_variable="TEST_KEY"))

    @pytest.mark.fault("redirects", tried="addresses of other schemes", count=10)
    @pytest.mark.parametrize(
        "url",
        ["ftp://host/v1", "file:///etc/passwd", "javascript:alert(1)", "host/v1", "//host/v1", "http://", "ws://host",
         "https://user:secret@host/v1", "https://host/v1?key=secret", "gopher://host"],
    )  # fmt: skip
    def test_only_plain_web_addresses_are_taken(self, url: str) -> None:
        with pytest.raises(ValueError, match="base_url"):
            JudgeSettings(base_url=url, model="m")

    @pytest.mark.fault("secrets", tried="passwords in the address of an endpoint", count=1)
    def test_an_address_with_a_password_is_not_repeated(self) -> None:
        with pytest.raises(ValueError, match="base_url") as raised:
            JudgeSettings(base_url="https://user:secret@host/v1", model="m")
        assert "secret" not in str(raised.value.errors()[0]["msg"])  # type: ignore[attr-defined]


@pytest.mark.fault("rate-limits", tried="Retry-After, its forms and its reach", count=7)
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"retry-after": "3"}, 3.0), ({"retry-after-ms": "250"}, 0.25), ({"retry-after": "soon"}, None), ({}, None),
     ({"retry-after": "-1"}, None), ({"retry-after": "inf"}, None), ({"retry-after": "nan"}, None)],
)  # fmt: skip
def test_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    from ragbench.old.llm.transport import retry_after

    assert retry_after(headers) == seconds


@pytest.mark.fault("rate-limits", tried="Retry-After, its forms and its reach", count=1)
def test_retry_after_may_be_a_date() -> None:
    import email.utils

    from ragbench.old.llm.transport import retry_after

    found = retry_after({"retry-after": email.utils.formatdate(time.time() + 30, usegmt=True)})
    assert found == pytest.approx(30, abs=2)
