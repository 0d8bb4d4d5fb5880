"""The client over real HTTP: shapes asked for, faults survived, limits kept, nothing invented."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from ragbench.llm import (
    Budget,
    BudgetSpent,
    Client,
    Completion,
    Decoding,
    MemoryJournal,
    ProviderRefused,
    Providers,
    ProviderUnreachable,
    Tally,
)
from ragbench.settings import ConfigurationError, JudgeSettings
from ragbench.types import Status
from tests.chat_server import ChatServer
from tests.llm_shapes import Grade, Rating, Unbounded, request, settings

FAULTS_30 = {
    "429": 0.06, "429_wait": 0.03, "500": 0.05, "502": 0.02, "529": 0.03, "hang": 0.01, "drip": 0.01, "reset": 0.02,
    "half": 0.01, "html": 0.01, "cut": 0.01, "length": 0.01, "nan": 0.01, "prose": 0.01, "empty": 0.01,
}  # fmt: skip


@asynccontextmanager
async def open_client(server: ChatServer | str, name: str = "a", **more: Any) -> AsyncIterator[Client]:
    own = {key: more.pop(key) for key in ("journal", "budget", "tally", "providers") if key in more}
    client = Client(name, settings(server, **more), **own)
    try:
        yield client
    finally:
        await client.close()


def ask(server: ChatServer | str, texts: list[str], **more: Any) -> list[Completion]:
    """Complete one request a text, all at once."""
    shape, decoding = more.pop("shape", Rating), Decoding(max_tokens=more.pop("max_tokens", 1024))

    async def work() -> list[Completion]:
        async with open_client(server, **more) as client:
            return await asyncio.gather(*(client.complete(request(text, shape, decoding=decoding)) for text in texts))

    return asyncio.run(work())


def scripted(*contents: Any, **more: Any) -> ChatServer:
    """A server that gives these contents in turn, the last one for ever."""
    left = list(contents)
    return ChatServer(answer=lambda body: left.pop(0) if len(left) > 1 else left[0], **more)


class TestShapes:
    @pytest.mark.parametrize(
        ("mechanisms", "refusals"),
        [(("json_schema",), 0), (("json_object",), 1), (("tool",), 2), ((), 3)],
        ids=["schema", "json mode", "tool", "text"],
    )
    def test_the_best_mechanism_is_found_once(self, mechanisms: tuple[str, ...], refusals: int) -> None:
        with ChatServer(mechanisms=mechanisms).running() as server:
            found = ask(server, [f"text {n}" for n in range(10)])
        assert [c.status for c in found] == [Status.OK] * 10
        assert server.calls == 10 + refusals

    def test_the_value_does_not_depend_on_the_mechanism(self) -> None:
        values = []
        for mechanisms in (("json_schema",), ("json_object",), ("tool",), ()):
            with ChatServer(mechanisms=mechanisms).running() as server:
                values.append([c.value for c in ask(server, ["x", "y", "z"])])
        assert values[0] == values[1] == values[2] == values[3]

    def test_a_configured_mechanism_is_never_left(self) -> None:
        with ChatServer(mechanisms=()).running() as server:
            found = ask(server, ["x"], replies="json_schema")
        assert (found[0].value, found[0].status, server.calls) == (None, Status.JUDGE_ERROR, 1)
        assert "json_schema is not supported" in found[0].reason

    def test_the_schema_is_closed_and_complete(self) -> None:
        with ChatServer().running() as server:
            ask(server, ["x"])
        schema = server.requests[0].body["response_format"]["json_schema"]
        assert schema["strict"] is True
        assert schema["schema"]["additionalProperties"] is False
        assert schema["schema"]["required"] == ["score", "reason"]

    def test_free_text_is_asked_for_without_a_shape(self) -> None:
        with scripted("Берлин").running() as server:
            found = ask(server, ["x"], shape=None)
        assert found[0].value == "Берлин"
        assert "response_format" not in server.requests[0].body

    def test_newer_models_name_the_length_otherwise(self) -> None:
        def answer(body: dict[str, Any]) -> Any:
            return "!400" if "max_tokens" in body else {"score": 3, "reason": ""}

        server = ChatServer(answer=answer)
        server_break = server._break

        async def explain(writer: Any, fault: str, body: dict[str, Any]) -> bool:
            if fault != "400":
                return await server_break(writer, fault, body)
            said = {"error": {"message": "Unsupported parameter: use 'max_completion_tokens' instead"}}
            return await server._respond(writer, 400, said)

        server._break = explain  # type: ignore[method-assign]
        with server.running():
            found = ask(server, ["x", "y"])
        assert [c.value.score for c in found] == [3, 3]
        assert server.calls == 3


class TestRemedies:
    def test_a_malformed_reply_gets_one_repair_that_names_its_fault(self) -> None:
        with scripted('{"score": 9}', {"score": 4}).running() as server:
            found = ask(server, ["x"])
        assert found[0].value == Rating(score=4)
        assert (server.calls, found[0].calls) == (2, 2)
        roles = [(turn["role"], turn["content"]) for turn in server.requests[1].body["messages"]]
        assert roles[2] == ("assistant", '{"score": 9}')
        assert "less than or equal to 5" in roles[3][1]

    def test_two_malformed_replies_leave_the_value_unmeasured(self) -> None:
        with scripted("score: 4", "4").running() as server:
            found = ask(server, ["x"])
        assert (found[0].value, found[0].status, server.calls) == (None, Status.PARSE_ERROR, 2)

    def test_a_truncated_reply_gets_twice_the_length_once(self) -> None:
        def answer(body: dict[str, Any]) -> Any:
            return "!length" if body["max_tokens"] < 200 else {"score": 2}

        with ChatServer(answer=answer).running() as server:
            assert ask(server, ["x"], max_tokens=100)[0].value == Rating(score=2)
            assert [r.body["max_tokens"] for r in server.requests] == [100, 200]
            found = ask(server, ["x"], max_tokens=50)
        assert (found[0].value, found[0].status) == (None, Status.TRUNCATED)
        assert server.calls == 4

    def test_a_refusal_is_not_asked_again(self) -> None:
        with scripted("!refusal").running() as server:
            found = ask(server, ["x"])
        assert (found[0].value, found[0].status, server.calls) == (None, Status.REFUSED, 1)


SAME = '"score": 3, "reason": "r"'
HOSTILE = [
    "", " ", "\n", "null", "true", "3", "4.5", '"4"', "[]", "[3]", '[{"score": 3}]', "{}", "score: 4.5",
    "по шкале от 1 до 5: 4", "4/5", "Оценка: 4", "I cannot judge that.", "NaN", "Infinity", "-Infinity",
    '{"score": NaN}', '{"score": Infinity}', '{"score": -Infinity}', '{"score": "NaN"}', '{"score": "4"}',
    '{"score": 1e999}', '{"score": 4.5}', '{"score": 4.0}', '{"score": 0}', '{"score": 6}', '{"score": -1}',
    '{"score": true}', '{"score": false}', '{"score": null}', '{"score": [4]}', '{"score": {"score": 4}}',
    '{"score": {"value": 4}}', '{"Score": 4}', '{"rating": 4}', '{"score ": 4}', '{"score": 99999999999999999999}',
    '{"score": 4', '{"score": 4}}', '{"score": 4} {"score": 5}', '{"score": 4}\n{"score": 4}', "{'score': 4}",
    '{"score": 4,}', '{score: 4}', '{"score": 04}', '{"score": 4} I hope this helps', 'Sure! {"score": 4}',
    'Here:\n```json\n{"score": 4}\n```', '```json\n{"score": 4}\n```\nBecause it is good.', '```\n{"score": 9}\n```',
    '```json\n```', "<html><body>score: 5</body></html>", "<think>score 4</think>", "<think>{\"score\": 4}",
    '{"score": 4, "score": 5}', f'{{{SAME}, "score": 3}}', '{"score": 4, "reason": 7}', '{"score": 4, "reason": null}',
    "[" * 5000 + "]" * 5000, '{"a":' * 3000 + "1" + "}" * 3000, '{"score": 4, "reason": "' + "x" * 1_000_001 + '"}',
    "\ufeff\ufeff4", "４", '{"score": ４}', '{"score": "four"}', '{"score": 3e0}', '{"score": 0x4}', '{"score": +4}',
    "yaml:\n  score: 4", "<score>4</score>", "| score |\n| 4 |", '{"result": {"score": 4}}', '"{\\"score\\": 4}"',
]  # fmt: skip


class TestHostileReplies:
    def test_there_are_enough_of_them(self) -> None:
        assert len(set(HOSTILE)) >= 60

    def test_no_score_is_invented(self) -> None:
        hostile = {f"case {n}": text for n, text in enumerate(HOSTILE)}

        def answer(body: dict[str, Any]) -> Any:
            return hostile[body["messages"][1]["content"]]

        with ChatServer(answer=answer).running() as server:
            found = ask(server, list(hostile))
        wrong = [
            HOSTILE[n][:60] for n, c in enumerate(found) if c.value is not None or c.status is not Status.PARSE_ERROR
        ]
        assert wrong == []
        assert server.calls == 2 * len(HOSTILE)

    @pytest.mark.parametrize(
        "text",
        ["NaN", '"NaN"', "Infinity", "-Infinity", "1e999", "-1e999", "1.5", "-0.1", "true", "false", "null", '"0.5"',
         "[]", "[0.5]", "{}", '{"grade": 0.5}', '""', '"Infinity"', "1e400", "0.5.5", ".5", "0,5", "+0.5", "½"],
    )  # fmt: skip
    def test_numbers_outside_the_scale_are_refused_not_clamped(self, text: str) -> None:
        from ragbench.llm.reply import MalformedError, read

        with pytest.raises(MalformedError):
            read(f'{{"grade": {text}}}', Grade)

    @pytest.mark.parametrize(
        "text",
        ['{"grade": 0.5}', ' {"grade":0.5}\n', '```json\n{"grade": 0.5}\n```', '<think>1?</think>\n{"grade": 0.5}',
         '{"grade": 5e-1}', '{"grade": 0.5, "why": "extra fields are nobody\'s"}'],
    )  # fmt: skip
    def test_a_plain_reply_is_read(self, text: str) -> None:
        from ragbench.llm.reply import read

        assert read(text, Grade).grade == 0.5

    @pytest.mark.parametrize("text", ["1e999", "-1e999", "NaN", "Infinity"])
    def test_a_scale_without_ends_has_no_infinity(self, text: str) -> None:
        from ragbench.llm.reply import MalformedError, read

        with pytest.raises(MalformedError):
            read(f'{{"value": {text}}}', Unbounded)
        assert read('{"value": 1e300}', Unbounded).value == 1e300

    def test_whole_numbers_are_numbers(self) -> None:
        from ragbench.llm.reply import read

        assert read('{"grade": 1}', Grade).grade == 1.0

    @pytest.mark.parametrize(
        "fault", ["html", "cut", "no_choices", "error_inside"], ids=["html", "half JSON", "no choices", "error inside"]
    )
    def test_a_broken_envelope_is_a_fault_of_the_server(self, fault: str) -> None:
        with scripted(f"!{fault}").running() as server:
            found = ask(server, ["x"], attempts=2)
        assert (found[0].value, found[0].status, server.calls) == (None, Status.JUDGE_ERROR, 2)


class TestFaults:
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

    @pytest.mark.parametrize("fault", ["hang", "drip", "reset", "half", "html", "500"])
    @pytest.mark.parametrize("limit", [0.3, 0.6, 1.0])
    def test_every_fault_ends_within_its_limit(self, fault: str, limit: float) -> None:
        with scripted(f"!{fault}").running() as server:
            began = time.monotonic()
            found = ask(server, ["x"], timeout_seconds=limit, attempts=1)
            took = time.monotonic() - began
        assert found[0].value is None
        assert took < limit + 2
        expected = Status.TIMEOUT if fault in ("hang", "drip") else Status.JUDGE_ERROR
        assert found[0].status is expected

    @pytest.mark.parametrize("limit", [0.3, 0.6, 1.0])
    def test_a_refused_connection_and_no_tls_end_within_the_limit(self, limit: float) -> None:
        with ChatServer().running() as server:
            pass
        began = time.monotonic()
        assert ask(server, ["x"], patience_seconds=limit)[0].status is Status.JUDGE_ERROR
        assert time.monotonic() - began < limit + 2

    def test_a_server_without_tls_is_named_at_once(self) -> None:
        async def work() -> None:
            async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await reader.read(100)
                writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                writer.close()

            server = await asyncio.start_server(plain, "127.0.0.1", 0)
            port = server.sockets[0].getsockname()[1]
            async with server, open_client(f"https://127.0.0.1:{port}/v1") as client:
                with pytest.raises(ProviderRefused, match="no secure connection"):
                    await client.complete(request())

        began = time.monotonic()
        asyncio.run(work())
        assert time.monotonic() - began < 2

    def test_patience_ends_all_attempts(self) -> None:
        with scripted("!hang").running() as server:
            began = time.monotonic()
            found = ask(server, ["x"], timeout_seconds=0.4, patience_seconds=1.0, attempts=100)
            took = time.monotonic() - began
        assert found[0].status is Status.TIMEOUT
        assert took < 3
        assert server.calls >= 2

    @pytest.mark.parametrize("code", ["401", "402", "404"])
    def test_a_hopeless_answer_stops_at_once(self, code: str) -> None:
        with scripted(f"!{code}").running() as server:
            with pytest.raises(ProviderRefused, match=f"judge 'a'.*HTTP {code}"):
                ask(server, [f"text {n}" for n in range(50)])
            assert server.calls <= 2

    def test_a_provider_that_never_answers_stops_the_run(self) -> None:
        with scripted("!500").running() as server:
            with pytest.raises(ProviderUnreachable, match="run again"):
                ask(server, [f"text {n}" for n in range(50)], attempts=1)
            assert server.calls < 25

    def test_retry_after_is_waited_for_by_all(self) -> None:
        with scripted("!429_wait", {"score": 3}, retry_after="0.6").running() as server:
            began = time.monotonic()
            found = ask(server, ["x", "y", "z"])
            took = time.monotonic() - began
        assert [c.value.score for c in found] == [3, 3, 3]
        assert took >= 0.6
        assert server.calls == 4

    def test_a_wait_beyond_all_patience_stops_the_run(self) -> None:
        with scripted("!429_wait", retry_after="3600").running() as server:
            with pytest.raises(ProviderUnreachable, match="asks to wait 3600 s"):
                ask(server, ["x"], patience_seconds=5)
            assert server.calls == 1

    def test_the_official_client_brings_the_same_scores(self) -> None:
        faults = {"429": 0.1, "500": 0.1, "reset": 0.05, "nan": 0.05}
        texts = [f"text {n}" for n in range(30)]
        with ChatServer().running() as server:
            clean = [c.value for c in ask(server, texts)]
        with ChatServer(faults=faults).running() as server:
            found = ask(server, texts, transport="openai", timeout_seconds=30)
        assert [c.value for c in found] == clean


class TestSecrets:
    CANARY = "sk-canary-0123456789"

    @pytest.mark.parametrize("transport", ["aiohttp", "openai"])
    def test_a_redirect_is_not_followed_and_the_key_stays(
        self, transport: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TEST_KEY", self.CANARY)
        other = ChatServer()
        with other.running(), scripted("!redirect", redirect_to=f"{other.url}/chat/completions").running() as server:
            with pytest.raises(ProviderRefused, match="redirect"):
                ask(server, ["x"], key_variable="TEST_KEY", transport=transport, timeout_seconds=30)
            assert server.requests[0].headers["authorization"] == f"Bearer {self.CANARY}"
            assert other.calls == 0

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
        assert "[key]" in str(raised.value)

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

    @pytest.mark.parametrize("key", ["", "  ", "with space", "line\nbreak", "ключ", "bell\x07"])
    def test_what_cannot_be_a_key_is_refused(self, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TEST_KEY", key)
        with pytest.raises(ConfigurationError, match="TEST_KEY"):
            Client("a", settings("http://127.0.0.1:1/v1", key_variable="TEST_KEY"))

    def test_a_missing_key_is_named_before_the_first_call(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("TEST_KEY", raising=False)
        with pytest.raises(ConfigurationError, match="export TEST_KEY="):
            Client("a", settings("http://127.0.0.1:1/v1", key_variable="TEST_KEY"))

    @pytest.mark.parametrize(
        "url",
        ["ftp://host/v1", "file:///etc/passwd", "javascript:alert(1)", "host/v1", "//host/v1", "http://", "ws://host",
         "https://user:secret@host/v1", "https://host/v1?key=secret", "gopher://host"],
    )  # fmt: skip
    def test_only_plain_web_addresses_are_taken(self, url: str) -> None:
        with pytest.raises(ValueError, match="base_url"):
            JudgeSettings(base_url=url, model="m")

    def test_an_address_with_a_password_is_not_repeated(self) -> None:
        with pytest.raises(ValueError, match="base_url") as raised:
            JudgeSettings(base_url="https://user:secret@host/v1", model="m")
        assert "secret" not in str(raised.value.errors()[0]["msg"])  # type: ignore[attr-defined]


class TestSharing:
    def test_equal_questions_are_asked_once(self) -> None:
        async def work(server: ChatServer) -> list[Completion]:
            async with open_client(server) as client:
                together = await asyncio.gather(*(client.complete(request("same")) for _ in range(20)))
                return [*together, await client.complete(request("same"))]

        with ChatServer(latency=0.05).running() as server:
            found = asyncio.run(work(server))
        assert server.calls == 1
        assert sum(c.calls for c in found) == 1
        assert len({c.value.score for c in found}) == 1

    def test_the_key_holds_everything_that_changes_an_answer(self) -> None:
        async def keys() -> set[str]:
            found = set()
            for name, url, model in [("a", "http://h/v1", "m"), ("b", "http://h/v1", "m"), ("a", "http://g/v1", "m"),
                                     ("a", "http://h/v1", "n")]:  # fmt: skip
                async with open_client(url, name=name, model=model) as client:
                    found.add(client.key(request()))
            async with open_client("http://h/v1", model="m") as client:
                variants = [
                    request("two"), request(shape=Grade), request(shape=None), request(repeat=1),
                    request(decoding=Decoding(temperature=0.1)), request(decoding=Decoding(temperature=None)),
                    request(decoding=Decoding(top_p=0.5)), request(decoding=Decoding(max_tokens=5)),
                    request(decoding=Decoding(seed=1)),
                ]  # fmt: skip
                found |= {client.key(variant) for variant in variants}
                found.add(client.key(type(request())(request().messages, "other", 1, Rating)))
                found.add(client.key(type(request())(request().messages, "test", 2, Rating)))
                assert client.key(request()) in found
                return found

        assert len(asyncio.run(keys())) == 4 + 9 + 2

    def test_two_judges_never_share_an_answer(self) -> None:
        async def work(server: ChatServer) -> None:
            journal = MemoryJournal()
            for name in ("a", "b", "a"):
                async with open_client(server, name=name, journal=journal) as client:
                    await client.complete(request())

        with ChatServer().running() as server:
            asyncio.run(work(server))
        assert server.calls == 2

    def test_replay_makes_no_call_even_for_replies_that_were_repaired(self) -> None:
        async def work(server: ChatServer, journal: MemoryJournal) -> list[Completion]:
            async with open_client(server, journal=journal) as client:
                return await asyncio.gather(*(client.complete(request(f"text {n}")) for n in range(60)))

        journal = MemoryJournal()
        faults = {"nan": 0.2, "length": 0.2, "refusal": 0.1}
        with ChatServer(faults=faults).running() as server:
            first = asyncio.run(work(server, journal))
            paid = server.calls
            again = asyncio.run(work(server, journal))
            assert server.calls == paid > 60
        assert [(c.value, c.status) for c in again] == [(c.value, c.status) for c in first]
        assert [c.seconds for c in again] == [c.seconds for c in first]
        assert {c.calls for c in again} == {0}
        assert Status.REFUSED in {c.status for c in first}

    def test_clients_of_one_provider_wait_in_one_line(self) -> None:
        async def work(server: ChatServer) -> None:
            providers = Providers()
            async with (
                open_client(server, "a", providers=providers, concurrency=4) as one,
                open_client(server, "b", providers=providers, concurrency=4) as other,
            ):
                await asyncio.gather(*(c.complete(request(f"{n}")) for n in range(20) for c in (one, other)))

        with ChatServer(latency=0.02).running() as server:
            asyncio.run(work(server))
        assert (server.calls, server.most_in_flight) == (40, 4)


class TestBudget:
    @pytest.mark.parametrize(
        ("budget", "most"), [({"calls": 7}, 7), ({"tokens": 1000}, 9), ({"money": 0.001}, 10)], ids=str
    )
    def test_it_stops_cleanly_and_goes_on_later(self, budget: dict[str, float], most: int) -> None:
        journal = MemoryJournal()

        async def work(server: ChatServer, **limits: Any) -> Budget:
            purse = Budget(**limits)
            async with open_client(server, journal=journal, budget=purse, input_price=1.0, output_price=1.0) as client:
                short = Decoding(max_tokens=100)
                try:
                    await asyncio.gather(*(client.complete(request(f"text {n}", decoding=short)) for n in range(30)))
                except BudgetSpent:
                    pass
                else:
                    assert not limits
            return purse

        def answer(body: dict[str, Any]) -> Any:
            return {"score": 3, "reason": "x" * 380}

        with ChatServer(answer=answer, latency=0.01).running() as server:
            purse = asyncio.run(work(server, **budget))
            assert 1 <= server.calls <= most
            assert len(journal.rows) == server.calls
            for name, limit in budget.items():
                assert getattr(purse.spent, name) <= limit
            asyncio.run(work(server))
            assert server.calls == 30

    def test_the_message_says_how_to_go_on(self) -> None:
        async def work(server: ChatServer) -> None:
            async with open_client(server, budget=Budget(calls=1)) as client:
                await client.complete(request("one"))
                await client.complete(request("two"))

        with ChatServer().running() as server, pytest.raises(BudgetSpent, match=r"calls: 1 of 1.*\[budget\]"):
            asyncio.run(work(server))


class TestTally:
    def test_it_adds_up(self) -> None:
        steps: list[int] = []
        tally = Tally(on_change=lambda now: steps.append(now.in_flight))

        async def work(server: ChatServer) -> None:
            async with open_client(server, tally=tally, input_price=2.0, output_price=10.0) as client:
                await asyncio.gather(*(client.complete(request(f"{n % 20}")) for n in range(40)))

        with scripted({"score": 3}).running() as server:
            asyncio.run(work(server))
        assert (tally.asked, tally.done, tally.failed, tally.in_flight, tally.calls) == (40, 40, 0, 0, 20)
        assert tally.cost == pytest.approx((2.0 * tally.input_tokens + 10.0 * tally.output_tokens) / 1e6)
        assert 1 <= max(steps) <= 16
        tally.in_flight, tally.failed = 3, 1
        assert tally.seconds_left(10.0, total=61) == pytest.approx(20 * 10 / 20)
        line = tally.describe(10.0, total=61)
        assert line.startswith("40 of 61 answered (20 from the journal), 3 in flight, 1 failed")
        assert line.endswith("left 0 min 10 s")
        assert Tally().describe(0.0).endswith("left —")

    def test_unreported_usage_is_estimated_and_said(self) -> None:
        journal = MemoryJournal()

        async def work(server: ChatServer) -> None:
            async with open_client(server, journal=journal) as client:
                await client.complete(request("Привет, мир!"))

        with ChatServer(usage=False).running() as server:
            asyncio.run(work(server))
        (row,) = journal.rows.values()
        assert row["estimated"] is True
        assert row["input_tokens"] > 3
        json.dumps(row, allow_nan=False)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"retry-after": "3"}, 3.0), ({"retry-after-ms": "250"}, 0.25), ({"retry-after": "soon"}, None), ({}, None),
     ({"retry-after": "-1"}, None), ({"retry-after": "inf"}, None), ({"retry-after": "nan"}, None)],
)  # fmt: skip
def test_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    from ragbench.llm.transport import retry_after

    assert retry_after(headers) == seconds


def test_retry_after_may_be_a_date() -> None:
    import email.utils

    from ragbench.llm.transport import retry_after

    found = retry_after({"retry-after": email.utils.formatdate(time.time() + 30, usegmt=True)})
    assert found == pytest.approx(30, abs=2)
