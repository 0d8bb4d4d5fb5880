"""Numbers that nobody can mean, in what others send: one value is lost at most, and no neighbour of it."""

from __future__ import annotations

import asyncio
import datetime
import email.utils
import json
from pathlib import Path
from typing import Any

import pytest

from ragbench.old.core.settings import SystemSettings
from ragbench.old.core.types import Status
from ragbench.old.data.payloads import moment
from ragbench.old.llm import Completion, journal
from ragbench.old.llm.journal import JournalFileError
from ragbench.old.llm.reply import MOST_TOKENS
from ragbench.old.llm.transport import MOST_WAIT_SECONDS, retry_after
from ragbench.old.store import Store
from ragbench.old.store.reply_journal import DatabaseJournal
from ragbench.old.systems.parts.reranking import UnreadableError
from ragbench.old.systems.retrieval import RetrievalError
from ragbench.old.systems.service_replies import Expressions
from tests.old.llm.chat_server import ChatServer
from tests.old.llm.llm_client import open_client
from tests.old.llm.llm_shapes import request
from tests.old.store.test_journal import row

NEIGHBOURS = 3


def reply(**more: Any) -> bytes:
    """A good completion, its fields replaced."""
    message = {"role": "assistant", "content": '{"score": 3}'}
    good = {"model": "m", "choices": [{"message": message, "finish_reason": "stop"}], "usage": {}}
    return json.dumps({**good, **more}).encode()


def used(prompt: str, completion: str = "5") -> bytes:
    """A good completion whose usage is written so, also as no JSON writer would."""
    usage = f'{{"prompt_tokens": {prompt}, "completion_tokens": {completion}}}'
    return reply().replace(b'"usage": {}', f'"usage": {usage}'.encode())


def scored(written: str) -> bytes:
    return reply().replace(b'{\\"score\\": 3}', f'{{\\"score\\": {written}}}'.encode())


def head(*lines: str, status: int = 200, body: bytes = b"") -> bytes:
    return "\r\n".join((f"HTTP/1.1 {status} X", *lines, f"Content-Length: {len(body)}", "", "")).encode() + body


def well(body: bytes) -> bytes:
    return head(body=body)


deep = "[" * 600 + "]" * 600
ABSURD: dict[str, bytes] = {
    **{f"prompt_tokens {written}": well(used(written)) for written in (
        "9223372036854775808", "9223372036854775807", str(2**64), str(10**30), "1" + "0" * 4000, "1" + "0" * 5000,
        "1e308", "1e999", "-1", "-9223372036854775809", "NaN", "Infinity", '"9223372036854775808"', "[1]", "true")},
    **{f"completion_tokens {written}": well(used("5", written)) for written in (
        "9223372036854775808", str(10**300), "-1", "1e999")},
    **{f"a score of {written}": well(scored(written)) for written in (
        "9223372036854775808", "1" + "0" * 4000, "1" + "0" * 5000, "1e999", "-1e308", "NaN")},
    **{f"Retry-After {said}": head(f"Retry-After: {said}", status=503) for said in (
        "9223372036854775808", "1e308", "inf", "nan", "-5", "1" + "0" * 400, "Fri, 31 Dec 99999 23:59:59 GMT",
        "Thu, 01 Jan 0000 00:00:00 GMT", "Fri, 32 Foo 2031 99:99:99 +9999")},
    "a finish without end": well(reply(choices=[{"message": {"content": "{}"}, "finish_reason": "x" * 10**6}])),
    "a finish that is nested": well(reply(choices=[{"message": {"content": "{}"}, "finish_reason": [[[[1]]]]}])),
    "a name without end": well(reply(model="m" * 10**6)),
    "a nested error": well(b'{"error": ' + deep.encode() + b"}"),
    "a null character in the reply": well(reply(choices=[{"message": {"content": '{"score": 3}\0'}}])),
    "half a pair of signs": well(reply(model="\ud800")),
}  # fmt: skip


@pytest.mark.fault("numbers", tried="a reply with a number, a header or a length that nobody means", count=40)
def test_no_neighbour_of_an_absurd_reply_is_lost(store: Store) -> None:
    """Each kind is asked for together with others, which the journal gets in one batch: all of them are kept."""
    assert len(ABSURD) >= 40
    kinds = list(ABSURD)

    class Server(ChatServer):
        async def _post(self, writer: Any, path: str, headers: Any, raw: bytes) -> bool:
            asked = " ".join(turn["content"] for turn in json.loads(raw)["messages"])
            place = asked.partition("KIND ")[2].partition(" ")[0]
            if not place:
                return await super()._post(writer, path, headers, raw)
            return await self._send(writer, ABSURD[kinds[int(place)]])

    async def work(url: str, texts: list[str]) -> list[Completion]:
        limits = {"attempts": 2, "first_wait_seconds": 0.01, "concurrency": 64, "patience_seconds": 30}
        async with open_client(url, "absurd", journal=DatabaseJournal(store.engine), **limits) as client:
            return await asyncio.gather(*(client.complete(request(text)) for text in texts))

    by_kind: dict[str, Completion] = {}
    neighbours: list[str] = []
    with Server().running() as server:
        for number, kind in enumerate(kinds):
            beside = [f"neighbour {number}.{n}" for n in range(NEIGHBOURS)]
            *found, by_kind[kind] = asyncio.run(work(server.url, [*beside, f"KIND {number} "]))
            assert [one.status for one in found] == [Status.OK] * NEIGHBOURS, kind
            neighbours += beside
        paid = server.calls
        assert all(one.calls == 0 for one in asyncio.run(work(server.url, neighbours))), "each of them was kept"
        assert server.calls == paid
    sizes = [size for one in by_kind.values() for size in (one.input_tokens, one.output_tokens)]
    assert all(0 <= size <= 2 * MOST_TOKENS for size in sizes)
    assert by_kind["prompt_tokens 9223372036854775808"].value.score == 3, "the reply is good, its count is estimated"
    assert 0 < by_kind["prompt_tokens 9223372036854775808"].input_tokens < 10_000
    assert by_kind["a score of 9223372036854775808"].status is Status.PARSE_ERROR


@pytest.mark.fault("numbers", tried="an entry that the journal cannot keep, among others of its batch", count=6)
@pytest.mark.parametrize(
    "spoilt",
    [{"input_tokens": 2**63}, {"output_tokens": -(2**63) - 1}, {"version": 2**31}, {"repeat": 2**31},
     {"text": "a\0b"}, {"served_model": "\ud800"}],
)  # fmt: skip
def test_a_bad_entry_is_written_alone(store: Store, spoilt: dict[str, Any]) -> None:
    rows = [row("alone", n) for n in range(5)]
    bad = row(f"alone {spoilt}", 5, **spoilt)

    async def work() -> set[str]:
        connections = DatabaseJournal(store.engine).on_loop()
        try:
            return set(await connections.record([*rows[:2], bad, *rows[2:]]))
        finally:
            await connections.close()

    assert asyncio.run(work()) == {one["key"] for one in rows}
    kept = DatabaseJournal(store.engine).rows_of([bad["key"], *(one["key"] for one in rows)])
    assert {one["key"] for one in kept} == {one["key"] for one in rows}


def test_who_asked_for_it_is_told_and_nobody_else() -> None:
    class Refusing:
        """A journal that keeps nothing of a question that says so."""

        def __init__(self) -> None:
            self.rows: dict[str, Any] = {}

        def on_loop(self) -> Any:
            return self

        def accounts(self) -> None:
            return None

        async def claim(self, keys: Any) -> Any:
            return {}, set(keys)

        def release(self, key: str) -> None: ...

        async def record(self, rows: Any) -> Any:
            return {one["key"]: one for one in rows if "bad" not in str(one["request"])}

        async def close(self) -> None: ...

    async def work(url: str) -> list[Completion]:
        async with open_client(url, journal=Refusing()) as client:
            return await asyncio.gather(*(client.complete(request(text)) for text in ("one", "bad", "three")))

    with ChatServer().running() as server:
        first, bad, third = asyncio.run(work(server.url))
    assert (first.status, third.status) == (Status.OK, Status.OK)
    assert (bad.status, bad.value) == (Status.JUDGE_ERROR, None)
    assert "holds what the journal cannot keep" in bad.reason


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("5", 5.0), ("0.5", 0.5), (str(MOST_WAIT_SECONDS), float(MOST_WAIT_SECONDS)), (str(MOST_WAIT_SECONDS + 1), None),
     ("1e308", None), ("nan", None), ("-1", None), ("Fri, 31 Dec 99999 23:59:59 GMT", None), ("soon", None)],
)  # fmt: skip
def test_a_wait_that_nobody_means_is_none(said: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": said}) == seconds


def test_a_wait_until_a_date() -> None:
    then = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=100)
    found = retry_after({"retry-after": email.utils.format_datetime(then, usegmt=True)})
    assert found is not None
    assert 0 < found <= 100


SERVICE = SystemSettings(url="http://127.0.0.1:9/ask", body='{"q": "{question}"}', answer="answer", ids="ids",
                         scores="scores", latency="ms")  # fmt: skip
SAID = {"answer": "a", "ids": ["a"], "scores": [1.0], "ms": 5}


@pytest.mark.fault("numbers", tried="scores, ids and times in a service's or a reranker's reply", count=14)
@pytest.mark.parametrize(
    ("field", "written"),
    [*(("ms", text) for text in ("9223372036854775808", "1" + "0" * 400, "1e999", "-1", "86400001")),
     *(("scores", f"[{text}]") for text in ("1" + "0" * 400, "1e999", "-1e999", "NaN")),
     *(("ids", f"[{text}]") for text in ("9223372036854775808", "1" + "0" * 4000, "1" + "0" * 5000))],
)  # fmt: skip
def test_a_services_reply_is_refused_by_name(field: str, written: str) -> None:
    expressions = Expressions(SERVICE)
    assert expressions.read(json.dumps(SAID)).own_ms == 5
    text = json.dumps({**SAID, field: "HERE"}).replace('"HERE"', written)
    with pytest.raises(RetrievalError):
        expressions.read(text)


@pytest.mark.parametrize("written", ["1" + "0" * 400, "1e31", "-1e31", "1e999", "true", '"1"'])
def test_a_rerankers_score_is_a_number_that_can_be_kept(written: str) -> None:
    from ragbench.old.core.settings import RerankerSettings
    from ragbench.old.systems.parts.reranking import EndpointReranker

    own = EndpointReranker("r", RerankerSettings(kind="endpoint", base_url="http://127.0.0.1:9/v1", model="m"))
    assert own._read(b'{"results": [{"index": 0, "relevance_score": -12.5}]}', 1) == [-12.5]
    with pytest.raises(UnreadableError):
        own._read(f'{{"results": [{{"index": 0, "relevance_score": {written}}}]}}'.encode(), 1)


@pytest.mark.parametrize("value", [2**63, 1e300, 10**400, -1, "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+14:00",
                                   253_402_300_800 * 10**9])  # fmt: skip
def test_a_moment_that_no_calendar_has_is_none(value: Any) -> None:
    found = moment(value)
    assert found is None or datetime.datetime.fromtimestamp(found, datetime.UTC).year <= 9999


def test_a_moment_by_its_size() -> None:
    assert moment(1_700_000_000) == moment(1_700_000_000_000) == moment("2023-11-14T22:13:20+00:00") == 1_700_000_000


@pytest.mark.fault("numbers", tried="an exported journal's entry with a number that no call takes", count=9)
@pytest.mark.parametrize(
    ("field", "written"),
    [("input_tokens", str(2**63)), ("output_tokens", str(MOST_TOKENS + 1)), ("cost", "1e300"), ("cost", "-1"),
     ("seconds", "1e300"), ("version", str(2**31)), ("repeat", "-1"), ("cost", "1e999"), ("seconds", "1" + "0" * 5000)],
)  # fmt: skip
def test_an_imported_journal_names_the_line(tmp_path: Path, field: str, written: str) -> None:
    path = tmp_path / "j.jsonl"
    good = json.dumps(row("imported", 1))
    path.write_text(good + "\n" + json.dumps({**row("imported", 2), field: "HERE"}).replace('"HERE"', written) + "\n")
    with pytest.raises(JournalFileError, match="line 2"):
        list(journal.read(path))


@pytest.mark.parametrize("place", ["text", "judge", "finish", "refusal", "served_model"])
def test_a_null_character_in_an_imported_journal_names_the_line(tmp_path: Path, place: str) -> None:
    path = tmp_path / "j.jsonl"
    path.write_text(json.dumps({**row("imported", 1), place: "a\0b"}) + "\n")
    with pytest.raises(JournalFileError, match="line 1: a null character"):
        list(journal.read(path))


def test_a_question_that_no_json_holds_costs_no_neighbour() -> None:
    async def work(url: str) -> list[Completion]:
        async with open_client(url) as client:
            return await asyncio.gather(*(client.complete(request(text)) for text in ("one", "\ud800", "three")))

    with ChatServer().running() as server:
        first, bad, third = asyncio.run(work(server.url))
    assert (first.status, bad.status, third.status) == (Status.OK, Status.JUDGE_ERROR, Status.OK)
