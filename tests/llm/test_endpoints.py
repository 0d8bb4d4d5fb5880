"""What endpoints refuse is learned, what no call can mend stops the run, and the rest passes."""

# ruff: noqa: E501  tables of inputs, a line each

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import ssl
import threading
import time
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import openai
import pytest

from ragbench.core.errors import BenchError
from ragbench.core.settings import Endpoint, Model
from ragbench.llm import Request, StopError, resolve
from ragbench.llm.limits import pause_after
from ragbench.llm.providers import PRESETS
from tests.llm.asking import Verdict, ask, make_client, question
from tests.llm.chat_server import GOOD, Break, Raw, fails, says, serving

KEY = "sk-canary-0123456789abcdef"


def form(body: dict[str, Any]) -> str | None:
    return (body.get("response_format") or {}).get("type")


def has_system(body: dict[str, Any]) -> bool:
    return body["messages"][0]["role"] == "system"


DEFAULT_ONLY = "Unsupported value: '{}' does not support 0.0 with this model."
RENAMED = (
    "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
)
# Name → status and words of a refusal, what is refused, what the notes then say.
REFUSALS = {
    "schemas": (400, "This response_format type is unavailable now", lambda b: form(b) == "json_schema", "json_schema"),
    "any form": (400, "response_format is not supported", form, "json_schema"),
    "grammars (llama.cpp)": (500, "failed to parse grammar", lambda b: form(b) == "json_schema", "json_schema"),
    "forms (OpenRouter)": (404, "No endpoints found that can handle the requested parameters.", form, "json_schema"),
    "forms (FastAPI)": (422, '[{"type": "extra_forbidden", "loc": ["body", "response_format"]}]', form, "json_schema"),
    "temperature": (400, DEFAULT_ONLY.format("temperature"), lambda b: "temperature" in b, "temperature"),
    "temperature (Anthropic)": (400, "`temperature` is deprecated for this model.", lambda b: "temperature" in b, "temperature"),
    "seed (Gemini)": (400, 'Invalid JSON payload received. Unknown name "seed": Cannot find field.', lambda b: "seed" in b, "seed"),
    "length by its old name": (400, RENAMED, lambda b: "max_tokens" in b, ""),
    "length by both names": (400, RENAMED, lambda b: {"max_tokens", "max_completion_tokens"} & set(b), "max_tokens"),
    "system role": (400, "System role not supported", has_system, "system"),
    "system role (vLLM)": (500, "Jinja Exception: System role not supported", has_system, "system"),
    "system role (o1)": (400, "'messages[0].role' does not support 'system' with this model", has_system, "system"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_what_an_endpoint_refuses_is_left_out_and_said(name: str, tmp_path: Path) -> None:
    status, words, refuses, left_out = REFUSALS[name]
    requests = [question(number, system=True) for number in range(8)]
    with serving(lambda body, _: fails(status, words) if refuses(body) else GOOD) as server:
        for _ in range(2):  # the second time by the journal
            replies = ask(server, requests=requests, journal=tmp_path / "journal", seed=1)
            assert [reply.status for reply in replies] == ["ok"] * 8
    assert len(server.requests) <= 8 + 2, "at most two refusals: of json_schema and of json_object"
    assert "Judge." in server.requests[-1].body["messages"][0]["content"]
    if left_out == "json_schema":
        assert '"rating"' in server.requests[-1].body["messages"][0]["content"], "said in words"


def test_where_there_is_no_system_message_none_is_moved() -> None:
    requests = [question(1, system=True), question(2)]
    with serving(lambda b, _: fails(400, "no system role") if has_system(b) else GOOD) as server:
        ask(server, requests=requests, concurrency=1)
    assert server.requests[-1].body["messages"] == list(question(2).messages)


def test_what_was_left_out_is_in_the_notes(tmp_path: Path) -> None:
    async def run(server: Any) -> list[str]:
        async with make_client(server, tmp_path / "journal") as client:
            await client.ask(question(1))
            return client.notes

    with serving(lambda b, n: fails(400, "temperature?") if "temperature" in b else GOOD) as server:
        assert [asyncio.run(run(server)) for _ in range(2)] == [
            ["m was asked without temperature"]
        ] * 2


def test_refusals_that_come_together_are_learned_once() -> None:
    def answer(body: dict[str, Any], number: int) -> Any:
        return fails(400, "no json_schema") if number > 1 and form(body) == "json_schema" else GOOD

    with serving(answer, latency=0.05) as server:
        replies = ask(server, 9)
    assert [reply.status for reply in replies] == ["ok"] * 9
    assert form(server.requests[-1].body) == "json_object"


def test_words_are_put_before_images() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    request = Request([{"role": "user", "content": [image]}], Verdict)
    with serving() as server:
        ask(server, requests=[request], replies="text")
    words, sent = server.requests[0].body["messages"][0]["content"]
    assert (sent, words["type"], '"rating"' in words["text"]) == (image, "text", True)


def test_an_ignored_form_is_said_in_words() -> None:
    def answer(body: dict[str, Any], number: int) -> str:
        return GOOD if '"properties"' in str(body["messages"]) else "Yes. The passage says so."

    # Plain texts between them say nothing of the form.
    plain = Request([{"role": "user", "content": "Write."}])
    requests = [request for number in range(10) for request in (question(number), plain)]
    with serving(answer) as server:
        replies = ask(server, requests=requests, concurrency=1)
    assert [reply.status for reply in replies] == ["ok"] * 20
    assert len(server.requests) == 10 + 1 + 3, "three repairs, then the schema is in every prompt"
    with serving(answer) as server:
        ask_in_turn(server, 5)
    assert len(server.requests) == 5 + 3, "nor do repairs that succeed"


def test_replies_that_are_cut_say_nothing_of_the_form() -> None:
    cut = Raw(says('{"reason": "r', "length"))
    with serving(lambda body, number: cut if number <= 8 else GOOD) as server:
        ask_in_turn(server, 5)
    assert form(server.requests[-1].body) == "json_schema"


def ask_in_turn(server: Any, count: int) -> None:
    async def run() -> None:
        async with make_client(server) as client:
            for number in range(count):
                await client.ask(question(number))

    asyncio.run(run())


def test_a_form_that_is_set_is_not_left() -> None:
    with serving(lambda body, number: fails(400, "response_format?")) as server:
        (reply,) = ask(server, replies="json_object")
    assert (reply.status, len(server.requests)) == ("judge_error", 1)


@pytest.mark.parametrize("in_prose", [(1, 2), (3, 4)])
def test_two_replies_in_prose_keep_the_schemas(in_prose: tuple[int, int]) -> None:
    with serving(lambda body, number: "Yes." if number in in_prose else GOOD) as server:
        ask(server, 10, concurrency=1)
    assert form(server.requests[-1].body) == "json_schema"


def test_one_question_that_is_too_long_teaches_nothing() -> None:
    words = "maximum context length is 4096 tokens, you sent max_tokens 2048 and a response_format"
    with serving(lambda b, n: fails(400, words) if "Question 1?" in str(b) else GOOD) as server:
        replies = ask(server, 3, concurrency=1)
    assert [reply.status for reply in replies] == ["ok", "judge_error", "ok"]
    assert "max_tokens" in server.requests[-1].body


# Name → status, words, what the error says to do.
STOPS = {
    "credit": (400, "Your credit balance is too low to access the API", "no money left"),
    "quota": (429, "insufficient_quota", "no money left"),
    "payment": (402, "pay first", "no money left"),
    "key": (401, "who are you", "the key is not accepted"),
    "expired key": (400, "API key expired. Please renew the API key.", "the key is not accepted"),
    "right": (403, "not allowed", "no right to this model"),
    "model": (404, "model 'm' not found", "does not know the model"),
    "unknown model": (400, "The model `m` does not exist", "does not know the model"),
    "address": (404, "404 page not found", "usually ends with /v1"),
    "method": (405, "not allowed", "look at base_url"),
    "redirect": (307, "elsewhere", "redirect is not followed"),
    "the first redirect": (300, "choose", "redirect is not followed"),
    "key, whatever it says": (401, "no such schema", "the key is not accepted"),
    "right, whatever it says": (403, "your template", "no right to this model"),
}


@pytest.mark.parametrize("first", [0, 5])
@pytest.mark.parametrize("name", STOPS)
def test_stops_at_once_and_keeps_what_was_paid(name: str, first: int, tmp_path: Path) -> None:
    status, words, advice = STOPS[name]
    journal = tmp_path / "journal"
    with serving(lambda b, n: GOOD if n <= first else fails(status, words)) as server:
        with pytest.raises(StopError, match=advice):
            ask(server, 50, journal, concurrency=1)
        assert len(server.requests) <= first + 2
        paid = len(server.requests)
        assert [reply.status for reply in ask(server, first, journal)] == ["ok"] * first
        assert len(server.requests) == paid


def test_words_of_the_material_stop_nothing() -> None:
    """A question about money, quoted by the error of a single request, says nothing of the account."""
    error = {"error": {"message": "failed", "failed_generation": "The credit balance is too low."}}
    with serving(lambda b, n: Raw(error, 400) if n == 1 else GOOD) as server:
        replies = ask(server, 3, concurrency=1)
    assert [reply.status for reply in replies] == ["judge_error", "ok", "ok"]


def test_twenty_unusable_replies_in_a_row_stop() -> None:
    with serving(lambda body, number: "Certainly!") as server:
        with pytest.raises(
            StopError, match=r"20 calls in a row gave no usable reply; .*no JSON object"
        ):
            ask(server, 100)
        assert len(server.requests) <= 20 + 5, "those in flight end"
    with serving(lambda body, number: "Certainly!") as server:
        # One by one, each question is asked twice: of the tenth the second call is the twentieth.
        with pytest.raises(StopError):
            ask(server, 11, concurrency=1)
        assert len(server.requests) == 20


# Status, words, status of the score: of this question alone, and nothing is tried again.
ALONE = {
    "moderation": (400, "violates our content management policy", "refused"),
    "moderation (403)": (403, "your input was flagged", "refused"),
    "moderation (422)": (422, "content_filter", "refused"),
    "too large": (413, "model not found", "judge_error"),
    "bad request": (400, "oops", "judge_error"),
    "gone": (410, "oops", "judge_error"),
    "failed dependency": (424, "oops", "judge_error"),
    "upgrade": (426, "oops", "judge_error"),
    "closed": (499, "oops", "judge_error"),
}


@pytest.mark.parametrize("name", ALONE)
def test_what_is_wrong_with_one_question_stops_no_other(name: str) -> None:
    status, words, expected = ALONE[name]
    with serving(lambda b, n: fails(status, words) if n == 1 else GOOD) as server:
        replies = ask(server, 2, concurrency=1)
    assert [reply.status for reply in replies] == [expected, "ok"]
    assert len(server.requests) == 2


PASSING = {
    "429": fails(429, "slow down"),
    "Retry-After": fails(429, "slow down", Retry_After="0.3"),
    "retry-after-ms": fails(503, "slow down", retry_after_ms="300"),
    "a date that is over": fails(429, "x", Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"),
    "a header of nonsense": fails(529, "overloaded", Retry_After="soon"),
    "Gemini's list": Raw([{"error": {"code": 429, "message": "You exceeded your current quota"}}], 429),
    "408": fails(408, "oops"),
    "409": fails(409, "oops"),
    "425": fails(425, "oops"),
    "500": fails(500, "oops"),
    "502": Raw(b"<html>bad gateway</html>", 502),
    "529": fails(529, "overloaded"),
    "reset": Break("reset"),
    "half": Break("half"),
    "cut JSON": Raw(json.dumps(says(GOOD)).encode()[:40]),
    "an error inside": Raw({"error": {"code": 502, "message": "upstream failed"}}),
    "a reply that broke off": Raw(says('{"reas', "error")),
    "a choice with an error": Raw({"choices": [{"message": {"content": GOOD}, "error": {"message": "x"}}]}),
    "gzip without its end": Raw(gzip.compress(json.dumps(says(GOOD)).encode())[:-8], headers={"Content-Encoding": "gzip"}),
    "no gzip": Raw(b"nothing", headers={"Content-Encoding": "gzip"}),
}  # fmt: skip


@pytest.mark.parametrize("name", PASSING)
def test_what_passes_is_waited_out(name: str) -> None:
    with serving(lambda body, number: PASSING[name] if number == 1 else GOOD) as server:
        began = time.monotonic()
        replies = ask(server, 3)
        took = time.monotonic() - began
    assert [reply.status for reply in replies] == ["ok"] * 3, replies
    assert len(server.requests) == 4
    assert took >= (0.3 if "fter" in name else 0)


@pytest.mark.parametrize(
    ("status", "is_busy"), [(429, True), (503, True), (529, True), (500, False), (530, False)]
)
def test_all_calls_wait_where_an_endpoint_is_busy(status: int, is_busy: bool) -> None:
    came = []

    def answer(body: dict[str, Any], number: int) -> Any:
        came.append(time.monotonic())
        return fails(status, "x", Retry_After="0.3") if number == 2 else GOOD

    with serving(answer) as server:
        replies = ask(server, 8, concurrency=2)
    assert {reply.status for reply in replies} == {"ok"}
    # One other call may be in flight when the second is refused.
    assert (came[3] - came[1] >= 0.3) is is_busy


def test_a_call_is_tried_as_often_and_as_long_as_the_table_says() -> None:
    with serving(lambda body, number: fails(500, "oops")) as server:
        (reply,) = ask(server, attempts=3)
        assert (reply.status, len(server.requests)) == ("judge_error", 3)
    began = time.monotonic()
    too_long = "asks to wait 9 s, patience_seconds is less"
    with (
        serving(lambda body, number: fails(429, "x", Retry_After="9")) as server,
        pytest.raises(StopError, match=too_long),
    ):
        ask(server, 20, patience_seconds=1)
    assert len(server.requests) == 1
    assert time.monotonic() - began < 5


def test_the_first_reply_is_waited_for_and_then_so_many_calls_are_in_flight() -> None:
    with serving(latency=0.05) as server:
        ask(server, 20, concurrency=4)
        assert server.most_in_flight == 4
    with serving(lambda body, number: fails(500, "oops"), latency=0.01) as server:
        ask(server, 4, attempts=1)
        assert server.most_in_flight == 1, "none of them was usable"


def test_the_waits_between_attempts_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragbench.llm.limits.random.uniform", lambda low, high: (low, high))
    waits = [pause_after(attempt) for attempt in (1, 2, 7, 8)]
    assert waits == [(0, 0.25), (0, 0.5), (0, 16), (0, 30)]


def test_thirty_percent_of_faults_change_nothing() -> None:
    faults = [fails(429, "x"), fails(500, "x"), Break("reset")]

    def answer(body: dict[str, Any], number: int) -> Any:
        return faults[number % 3] if number % 10 in (0, 3, 7) else GOOD

    with serving(answer) as server:
        replies = ask(server, 200, concurrency=32)
    assert {reply.status for reply in replies} == {"ok"}
    assert len(server.requests) <= 1.6 * 200


LIMITS = {
    "hang": (
        Break("hang"),
        {"read_seconds": 0.3},
        "nothing came within connect_seconds or read_seconds",
    ),
    "drip": (Break("drip"), {"timeout_seconds": 0.3}, "no whole response within 0.3 s"),
}


@pytest.mark.parametrize("name", LIMITS)
def test_each_limit_ends_the_waiting(name: str) -> None:
    answer, limits, reason = LIMITS[name]
    with serving(lambda body, number: answer if number > 1 else GOOD) as server:
        began = time.monotonic()
        replies = ask(server, 2, concurrency=1, attempts=1, **limits)
    assert time.monotonic() - began < 5
    assert (replies[1].status, reason in replies[1].reason) == ("timeout", True)


def test_a_silent_endpoint_costs_one_patience() -> None:
    with serving(lambda body, number: Break("hang")) as server:
        began = time.monotonic()
        with pytest.raises(StopError, match="has not answered any call for 1 s"):
            ask(server, 100, read_seconds=0.2, patience_seconds=1.0, attempts=100)
    assert time.monotonic() - began < 5


def test_one_question_that_hangs_stops_nobody() -> None:
    with serving(lambda b, n: Break("hang") if "Question 0?" in str(b) else GOOD) as server:
        replies = ask(server, 20, concurrency=2, read_seconds=0.2, patience_seconds=1.0)
    assert [reply.status for reply in replies] == ["timeout"] + ["ok"] * 19


def test_an_endpoint_without_tls_stops_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def refuse() -> None:
            connection, _ = listening.accept()
            connection.recv(100)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            connection.close()

        threading.Thread(target=refuse, daemon=True).start()
        with pytest.raises(StopError, match="no secure connection"):
            ask(f"https://127.0.0.1:{listening.getsockname()[1]}/v1", 5)


def self_signed() -> bytes:
    """Make a key and its certificate for 127.0.0.1, good for an hour, as PEM."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    address = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(address, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    pem = serialization.Encoding.PEM
    return key.private_bytes(pem, *form) + certificate.public_bytes(pem)


def test_a_certificate_is_trusted_where_ca_file_names_it(tmp_path: Path) -> None:
    file = tmp_path / "own.pem"
    file.write_bytes(self_signed())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with serving(tls=context) as server:
        with pytest.raises(StopError, match=r"certificate of 127.0.0.1 is not trusted .* ca_file"):
            ask(server)
        assert server.requests == []
        assert ask(server, ca_file=file)[0].status == "ok"
    with pytest.raises(StopError, match=r"ca_file .*none.pem cannot be read"):
        ask(server, ca_file=tmp_path / "none.pem")


@pytest.mark.parametrize(
    "address", ["http://169.254.169.254/v1", "http://[::ffff:169.254.169.254]/v1"]
)
def test_addresses_of_clouds_credentials_are_not_asked(address: str) -> None:
    with pytest.raises(StopError, match="link-local"):
        ask(address)


def test_no_redirect_is_followed_and_no_cookie_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    with serving() as other:
        away = Raw({}, 307, {"Location": f"{other.url}/chat/completions", "Set-Cookie": "a=b"})
        with serving(lambda body, number: away) as server, pytest.raises(StopError):
            ask(server, key_variable="TEST_KEY")
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert other.requests == []


BLANKS = b" " * (65 * 2**20)
ENDLESS = {
    "plain": lambda: Raw(BLANKS),
    "packed": lambda: Raw(gzip.compress(BLANKS, 1), headers={"Content-Encoding": "gzip"}),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_response_without_end_is_left(name: str) -> None:
    endless = ENDLESS[name]()
    with serving(lambda body, number: endless) as server:
        (reply,) = ask(server)
    assert "more than" in reply.reason
    assert len(server.requests) == 1


def test_a_refusal_without_a_body_is_one_however_it_is_packed() -> None:
    empty = Raw(b"", 401, {"Content-Encoding": "gzip"})
    accepted = pytest.raises(StopError, match="the key is not accepted")
    with serving(lambda body, number: empty) as server, accepted:
        ask(server)
    assert len(server.requests) == 1


@pytest.mark.parametrize(("words", "shown"), [("y" * 300, "y" * 300), ("y" * 301, "y" * 299 + "…")])
def test_an_error_is_shown_by_its_first_300_characters(words: str, shown: str) -> None:
    with serving(lambda body, number: fails(400, words)) as server:
        (reply,) = ask(server)
    assert reply.reason == f"HTTP 400: {shown}"


def test_a_key_that_is_sent_back_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    echo = fails(401, f"wrong key {KEY} " + "x" * 400)
    with serving(lambda body, number: echo) as server, pytest.raises(StopError) as caught:
        ask(server, key_variable="TEST_KEY")
    assert KEY[:12] not in str(caught.value)


def test_a_proxy_is_used_as_its_variables_say(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with serving() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
        assert ask("http://far.invalid/v1")[0].status == "ok"
        assert proxy.requests[0].path == "http://far.invalid/v1/chat/completions"
        monkeypatch.delenv("http_proxy")
        monkeypatch.setenv("all_proxy", proxy.url.removesuffix("/v1").removeprefix("http://"))
        assert ask("http://far.invalid/v1")[0].status == "ok"
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        with serving() as near:
            ask(near)
        assert (len(proxy.requests), len(near.requests)) == (2, 1)


DEPLOYMENT = "/openai/deployments/m/chat/completions?api-version=2024-10-21"
AZURE = [
    {"base_url": "{}", "provider": "azure"},
    {"base_url": "{}/openai", "api_version": "2024-10-21", "key_variable": "TEST_KEY"},
    {"base_url": "{}/openai/deployments/m/chat/completions", "query": {"api-version": "2024-10-21"}, "headers": {"api-key": "{TEST_KEY}"}},
]  # fmt: skip


@pytest.mark.parametrize("table", AZURE)
def test_deployments_of_azure(table: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    with serving() as server:
        url = table["base_url"].replace("{}", server.url.removesuffix("/v1"))
        assert ask(server, **{**table, "base_url": url})[0].status == "ok"
    (request,) = server.requests
    assert request.path == DEPLOYMENT
    assert request.headers["api-key"] == KEY
    assert "authorization" not in request.headers


def test_azure_s_newer_address_is_asked_as_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    with serving() as server:
        ask(server, api_version="2024-10-21", key_variable="TEST_KEY")
    assert server.requests[0].path == "/v1/chat/completions"
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_headers_and_query_are_sent_and_no_key_where_none_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody-else")
    with serving() as server:
        ask(server, headers={"X-Proxy-Token": "Bearer {TEST_KEY}"}, query={"tier": "low"})
    (request,) = server.requests
    assert request.path == "/v1/chat/completions?tier=low"
    assert request.headers["x-proxy-token"] == f"Bearer {KEY}"
    assert not {"authorization", "openai-organization"} & set(request.headers)
    with serving() as server:
        ask(server, headers={"Authorization": "Basic {TEST_KEY}"})
    assert server.requests[0].headers["authorization"] == f"Basic {KEY}"


def test_a_client_of_ones_own_is_asked_as_it_is() -> None:
    with serving() as server:
        own = openai.AsyncOpenAI(
            base_url=server.url, api_key=KEY, default_headers={"X-Mine": "1"}, max_retries=5
        )
        assert ask("http://unused.invalid/v1", openai_client=own)[0].status == "ok"
        assert ask("http://unused.invalid/v1", openai_client=own)[0].status == "ok", (
            "on another loop"
        )
    sent = {(r.headers["x-mine"], r.headers["authorization"]) for r in server.requests}
    assert sent == {("1", f"Bearer {KEY}")}
    with pytest.raises(BenchError, match="AsyncOpenAI"):
        make_client("http://unused.invalid/v1", openai_client=openai.OpenAI(api_key="x"))


def test_a_client_of_ones_own_without_a_token_stops_in_a_sentence() -> None:
    async def no_token() -> str:
        raise openai.OpenAIError("the token provider gives none")

    own = openai.AsyncOpenAI(base_url="http://unused.invalid/v1", api_key=no_token)
    with pytest.raises(StopError, match="the token provider gives none"):
        ask("http://unused.invalid/v1", openai_client=own)


def test_connections_of_ones_own_are_used_and_their_faults_said(tmp_path: Path) -> None:
    http_client = openai.DefaultAsyncHttpxClient(headers={"X-Mine": "2"})
    with serving() as server:
        own = openai.AsyncOpenAI(base_url=server.url, api_key=KEY, http_client=http_client)
        for _ in range(2):  # the second time by the journal
            table = {"journal": tmp_path / "journal", "openai_client": own}
            assert ask("http://unused.invalid/v1", **table)[0].status == "ok"
    assert [request.headers["x-mine"] for request in server.requests] == ["2"]
    assert not own.is_closed(), "it is the user's to close"
    own = openai.AsyncOpenAI(
        base_url="http://127.0.0.1:9/v1", api_key=KEY, http_client=openai.DefaultAsyncHttpxClient()
    )
    (reply,) = ask("http://unused.invalid/v1", openai_client=own, attempts=1)
    assert (reply.status, "no connection" in reply.reason) == ("judge_error", True)


def test_providers_are_presets_and_tables() -> None:
    own = {
        "work": Endpoint(
            preset="azure",
            base_url="https://n.openai.azure.com",
            temperature=0.3,
            headers={"a": "1"},
        )
    }
    mistral = resolve("judges.a", Model(provider="mistral", model="x", max_tokens=9), {})
    assert (mistral.base_url, mistral.key_variable) == (
        PRESETS["mistral"]["base_url"],
        "MISTRAL_API_KEY",
    )
    assert (mistral.without, mistral.max_tokens) == (["seed"], 9)
    work = resolve("judges.b", Model(provider="work", model="x", headers={"b": "2"}), own)
    assert (work.api_version, work.temperature, work.headers) == (
        "2024-10-21",
        0.3,
        {"a": "1", "b": "2"},
    )
    assert len(PRESETS) == 12
    prices = {"p": Endpoint(base_url="http://h/v1", prices={"small": (0.25, 2.0)})}
    small = resolve("judges.c", Model(provider="p", model="small"), prices)
    assert make_client("http://h/v1", model="small", prices=small.prices)._price(4e6, 1e6) == 3.0


WRONG = {
    "judges.j: there is no provider 'mistrel'; did you mean 'mistral'?": {"provider": "mistrel"},
    "judges.j: set its base_url, or a provider: openai,": {},
    "judges.j: base_url holds a query or a password": {"base_url": "https://user:pass@h/v1"},
    "judges.j: base_url holds a query or a password; write query": {"base_url": "https://h?a=1"},
}


@pytest.mark.parametrize("message", WRONG)
def test_what_cannot_be_is_refused(message: str) -> None:
    with pytest.raises(BenchError, match=message.replace("?", r"\?")):
        resolve("judges.j", Model(model="m", **WRONG[message]), {})


def test_a_key_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEST_KEY", raising=False)
    with pytest.raises(BenchError, match="the variable TEST_KEY is not set; export TEST_KEY=KEY"):
        ask("http://127.0.0.1:9/v1", key_variable="TEST_KEY")
    monkeypatch.setenv("TEST_KEY", "sk-ключ")
    with pytest.raises(BenchError, match="TEST_KEY holds characters that no key has"):
        ask("http://127.0.0.1:9/v1", key_variable="TEST_KEY")
    monkeypatch.setenv("TEST_KEY", f" {KEY}\n")
    with serving() as server:
        ask(server, key_variable="TEST_KEY")
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
