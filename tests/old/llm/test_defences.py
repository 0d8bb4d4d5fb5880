"""Defences of the one transport, each alone: what it holds is lost when it is taken away, whatever the others do."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ragbench.old.core.settings import WebSettings
from ragbench.old.core.settings.endpoints import Patience
from ragbench.old.core.types import Status
from ragbench.old.llm import ProviderRefused, ProviderUnreachable, transport
from ragbench.old.llm.errors import Fault
from ragbench.old.llm.transport import MAX_BYTES, pause_after
from tests.old.llm.chat_server import ChatServer
from tests.old.llm.llm_client import answering, ask, in_time, open_client, scripted
from tests.old.llm.llm_shapes import request

pytestmark = pytest.mark.timeout(60)  # what is tested here is that nothing waits


@contextmanager
def deaf() -> Iterator[str]:
    """The address of a port whose queue of connections is full: nobody is refused, and nobody is let in."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        queued = [socket.socket() for _ in range(8)]
        for one in queued:
            one.setblocking(False)
            one.connect_ex(listening.getsockname())
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        finally:
            for one in queued:
                one.close()


@pytest.mark.fault(
    "hang", tried="limits on connect, silence and a whole response, each with the others far away", count=3
)
@pytest.mark.parametrize(
    ("opened", "limits", "said"),
    [
        (deaf, {"connect_seconds": 0.4, "timeout_seconds": 40}, "no connection within 0.4 s (connect_seconds)"),
        ("!hang", {"read_seconds": 0.4, "timeout_seconds": 40}, "nothing was heard for 0.4 s (read_seconds)"),
        ("!drip", {"read_seconds": 30, "timeout_seconds": 0.6}, "no whole response within 0.6 s (timeout_seconds)"),
    ],
)
def test_each_limit_alone(opened: Any, limits: dict[str, float], said: str) -> None:
    with scripted(opened).running() if isinstance(opened, str) else opened() as server:
        began = time.monotonic()
        (found,) = ask(server, ["x"], attempts=1, **limits)
    assert time.monotonic() - began < 20
    assert (found.status, found.reason) == (Status.TIMEOUT, said)


@pytest.mark.fault("bombs", tried="a response without end, whose bytes are counted as they come", count=1)
def test_a_response_without_end_is_left_after_the_limit() -> None:
    """The reader leaves; it does not read to the end and complain then."""
    server = answering(b"HTTP/1.1 200 OK\r\n\r\n", b" " * 2**20, 10**6)
    with server.running():
        (found,) = ask(server, ["x"], timeout_seconds=50)
    assert found.reason == f"the response has more than {MAX_BYTES} bytes"
    assert server.calls == 1


@pytest.mark.fault("rate-limits", tried="clients that fail together: their next tries are spread", count=8)
def test_clients_that_failed_together_do_not_try_again_together() -> None:
    async def work(server: ChatServer) -> None:
        async def one(name: str) -> None:
            async with open_client(server, name, model=name, attempts=3) as client:
                await client.complete(request())

        await asyncio.gather(*(one(f"model {n}") for n in range(8)))

    with scripted("!500").running() as server:
        asyncio.run(work(server))
    times: dict[str, list[float]] = {}
    for when, model in server.arrivals:
        times.setdefault(model, []).append(when)
    waited = [last - first for first, _, last in times.values()]
    assert len(waited) == 8
    assert max(waited) - min(waited) > 0.1, "without jitter all of them wait for 0.75 s"


@pytest.mark.fault("hang", tried="a hundred questions to an endpoint that says nothing, in every way", count=5)
@pytest.mark.parametrize(
    ("concurrency", "answered", "opened"),
    [(1, 0, "!hang"), (2, 0, "!reset"), (32, 0, "!hang"), (2, 5, "!hang"), (1, 0, deaf)],
)
def test_a_hung_endpoint_costs_one_patience(concurrency: int, answered: int, opened: Any) -> None:
    """Not one for each question, which would be a hundred times as much; also where it stops in the middle."""
    limits = {"timeout_seconds": 0.3, "connect_seconds": 0.3, "patience_seconds": 0.9, "attempts": 100}
    texts = [f"question {n}" for n in range(100)]
    good = [{"score": 3}] * answered
    with scripted(*good, opened).running() if isinstance(opened, str) else opened() as server:
        began = time.monotonic()
        with pytest.raises(
            ProviderUnreachable, match=r"(has not answered any call for 0.9 s|failed \d+ calls in a row)"
        ):
            ask(server, texts, concurrency=concurrency, **limits)
        took = time.monotonic() - began
    assert in_time(took, 3 * 0.9), "two times patience, and a timeout"


def test_one_question_that_hangs_stops_nobody() -> None:
    """It keeps its own patience, and the others are answered meanwhile."""
    server = ChatServer(answer=lambda body: "!hang" if "KIND" in str(body["messages"]) else {"score": 3})
    with server.running():
        texts = ["KIND", *(f"question {n}" for n in range(40))]
        found = ask(server, texts, concurrency=2, timeout_seconds=0.3, patience_seconds=2.0, attempts=100)
    assert found[0].status is Status.TIMEOUT
    assert [one.status for one in found[1:]] == [Status.OK] * 40


def test_pauses_grow_as_the_settings_say() -> None:
    own = Patience(first_wait_seconds=2, wait_factor=3, longest_wait_seconds=10)
    for attempt, span in ((1, 2.0), (2, 6.0), (3, 10.0), (9, 10.0)):
        pauses = [pause_after(Fault("server", "x"), attempt, own) for _ in range(400)]
        assert 0.9 * span < max(pauses) <= span
    assert pause_after(Fault("busy", "x", 1.5), 1, Patience(first_wait_seconds=0)) == 1.5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"first_wait_seconds": 31}, "longest_wait_seconds = 30 is below first_wait_seconds = 31"),
        ({"first_wait_seconds": -1}, "greater than or equal to 0"),
        ({"wait_factor": 0.5}, "greater than or equal to 1"),
        ({"again_on": [200]}, "greater than or equal to 400"),
        ({"again_on": [404], "never_again_on": [404]}, "both name 404"),
    ],
)
def test_waits_that_cannot_be_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Patience(**given)


def test_pauses_double_up_to_a_limit_and_are_spread_over_the_whole_span() -> None:
    for attempt, span in ((1, 0.25), (3, 1.0), (6, 8.0), (50, 30.0)):
        pauses = [pause_after(Fault("server", "x"), attempt, Patience()) for _ in range(400)]
        assert 0 <= min(pauses) < 0.1 * span
        assert 0.9 * span < max(pauses) <= span


@pytest.mark.fault("rate-limits", tried="Retry-After beside 429, 500, 503 and 529, in seconds and as a date", count=5)
@pytest.mark.parametrize(
    ("head", "seconds"),
    [("429 X\r\nRetry-After: 1", 1.0), ("429 X\r\nretry-after-ms: 300", 0.3),
     *(pytest.param(f"{code} X\r\nRetry-After: 1", 1.0, marks=pytest.mark.slow) for code in (500, 503, 529))],
)  # fmt: skip
def test_what_an_endpoint_asks_to_wait_is_waited(head: str, seconds: float) -> None:
    with answering(f"HTTP/1.1 {head}\r\nContent-Length: 2\r\n\r\n{{}}".encode()).running() as server:
        ask(server, ["x"], attempts=2)
    (first, _), (second, _) = server.arrivals
    assert seconds <= second - first < seconds + 20


def test_no_attempt_begins_in_the_last_moment_of_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """It could only end in a timeout, which would stand in place of what was wrong."""
    monkeypatch.setattr(transport, "pause_after", lambda fault, attempt, settings: 1.0 - 1e-4)

    async def refused(seconds: float) -> None:
        fault = Fault("connection" if seconds > 0.5 else "timeout", "refused")
        fault.seconds = 0.0
        raise fault

    with pytest.raises(Fault) as caught:
        asyncio.run(transport.patiently(WebSettings(patience_seconds=1.0), refused))
    assert (caught.value.kind, caught.value.attempts) == ("connection", 1)


def test_the_pause_after_a_fault_holds_what_was_asked_whoever_waits_besides() -> None:
    assert min(pause_after(Fault("busy", "x", 2.0), 1, Patience()) for _ in range(50)) >= 2.0


@pytest.mark.fault(
    "redirects", tried="redirects of every kind to another host: nothing is sent there, key or not", count=6
)
@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_no_redirect_is_followed(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-canary-0123456789")
    with ChatServer().running() as other:
        head = f"HTTP/1.1 {status} X\r\nLocation: {other.url}/chat/completions\r\nContent-Length: 0\r\n\r\n"
        with (
            answering(head.encode()).running() as server,
            pytest.raises(ProviderRefused, match="which is not followed"),
        ):
            ask(server, ["x"], key_variable="TEST_KEY")
    assert server.requests[0].headers["authorization"] == "Bearer sk-canary-0123456789"
    assert (server.calls, other.calls) == (1, 0)


@pytest.mark.fault("redirects", tried="a cookie that an endpoint sets is sent to nobody", count=1)
def test_no_cookie_is_kept() -> None:
    """By a name and not an address: jars take no cookies from those anyway."""
    body = b'{"choices": [{"message": {"content": "{}"}}]}'
    head = f"HTTP/1.1 200 X\r\nSet-Cookie: who=canary; Path=/\r\nContent-Length: {len(body)}\r\n\r\n"
    with answering(head.encode() + body).running() as server:
        ask(server.url.replace("127.0.0.1", "localhost"), ["one", "two", "three"], concurrency=1)
    assert len(server.requests) >= 3
    assert not [request for request in server.requests if "cookie" in request.headers]


@pytest.mark.fault("denied", tried="an account without money, said by 429", count=1)
def test_an_account_without_money_stops_at_once() -> None:
    """Providers say it by the code of those that only are to slow down; waiting brings no money."""
    body = b'{"error": {"code": "insufficient_quota", "message": "You exceeded your current quota."}}'
    head = f"HTTP/1.1 429 X\r\nRetry-After: 0\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with (
        answering(head + body).running() as server,
        pytest.raises(ProviderRefused, match=r"insufficient_quota .*the account has no money left"),
    ):
        ask(server, [f"question {n}" for n in range(20)], attempts=5, first_wait_seconds=0)
    assert server.calls == 1
