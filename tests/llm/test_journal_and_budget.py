"""Nothing is paid twice or beyond the budget, and nothing is lost when the process dies."""

from __future__ import annotations

import asyncio
import math
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragbench.core.errors import BenchError, Unmeasured
from ragbench.core.settings import Budget
from ragbench.llm import BudgetSpentError, Client, Plan, Request, StopError
from tests.llm.asking import Verdict, ask, make_client, question
from tests.llm.chat_server import GOOD, Raw, fails, says, serving

ROOT = Path(__file__).parents[2]
PRICES = {"input_price": 1e6, "output_price": 1e6}  # one unit of money a token; a reply has 20


def test_a_second_run_pays_nothing_and_says_the_same(tmp_path: Path) -> None:
    with serving(lambda b, n: GOOD if n % 3 else "prose") as server:
        first = ask(server, 20, tmp_path / "new" / "journal")
        paid = len(server.requests)
        second = ask(server, 20, tmp_path / "new" / "journal")
    assert len(server.requests) == paid
    assert [reply.value for reply in first] == [reply.value for reply in second]


def test_workers_share_a_journal_in_postgresql(database_url: str) -> None:
    with serving(latency=0.01) as server:
        with ThreadPoolExecutor() as workers:
            runs = list(workers.map(lambda _: ask(server, 20, database_url), range(3)))
        paid = len(server.requests)
        assert all(reply.status == "ok" for replies in runs for reply in replies)
        assert [reply.text for reply in ask(server, 20, database_url)] == [GOOD] * 20
        assert len(server.requests) == paid <= 3 * 20


def test_a_database_that_is_gone_is_a_sentence() -> None:
    with serving() as server, pytest.raises(StopError, match=r"in PostgreSQL fails .* start the"):
        ask(server, 1, "postgresql://nobody:secret-word@127.0.0.1:9/none")


CHANGES: dict[str, tuple[dict[str, Any], Request[Any]]] = {
    "model": ({"model": "other"}, question(1)),
    "name of the judge": ({"name": "other"}, question(1)),
    "temperature": ({"temperature": 1.0}, question(1)),
    "other options": ({"options": {"reasoning_effort": "low"}}, question(1)),
    "query": ({"query": {"api-version": "2"}}, question(1)),
    "form": ({"replies": "text"}, question(1)),
    "words": ({}, question(2)),
    "repeat": ({}, question(1, repeat=1)),
    "options of the request": ({}, question(1, options={"max_tokens": 9})),
    "shape": ({}, Request(question(1).messages, type("Other", (Verdict,), {"__module__": "x"}))),
    "text": ({}, Request(question(1).messages)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_whatever_changes_the_reply_is_asked_anew(name: str, tmp_path: Path) -> None:
    table, request = CHANGES[name]
    with serving() as server:
        ask(server, requests=[question(1)], journal=tmp_path / "journal")
        ask(server, requests=[request], journal=tmp_path / "journal", **table)
        assert len(server.requests) == 2
        ask(server, requests=[request], journal=tmp_path / "journal", **table)
        assert len(server.requests) == 2


def test_another_reader_asks_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as server:
        ask(server, journal=tmp_path / "journal")
        monkeypatch.setattr("ragbench.llm.client.READER_VERSION", 2)
        ask(server, journal=tmp_path / "journal")
    assert len(server.requests) == 2


def test_no_key_is_in_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-canary-0123456789abcdef")
    with serving() as server:
        ask(server, 3, tmp_path / "journal", key_variable="TEST_KEY")
        monkeypatch.setenv("TEST_KEY", "sk-another-0123456789abcdef")
        ask(server, 3, tmp_path / "journal", key_variable="TEST_KEY")
    assert len(server.requests) == 3, "a new key is no new question"
    assert b"sk-canary" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


BUDGETS = [
    (Budget(money=1000), "budget.money = 1000 are spent .* raise it"),
    (Budget(calls=5), "5 of budget.calls = 5"),
    (Budget(tokens=1000), "of budget.tokens = 1000"),
]


@pytest.mark.parametrize(("budget", "message"), BUDGETS)
def test_the_budget_stops_before_it_is_passed(budget: Budget, message: str, tmp_path: Path) -> None:
    with serving() as server:
        with pytest.raises(BudgetSpentError, match=message):
            ask(server, 100, tmp_path / "journal", budget=budget, **PRICES)
        paid = len(server.requests)
        assert 5 <= paid <= 50, "a reply has 20 tokens, and one in flight 300 until it is there"
        ask(server, paid, tmp_path / "journal", **PRICES)
        assert len(server.requests) == paid, "what was paid for is kept"


def test_a_budget_of_money_needs_prices() -> None:
    with serving() as server, pytest.raises(BudgetSpentError, match="set input_price"):
        ask(server, budget=Budget(money=1))
    with serving() as server, pytest.raises(BudgetSpentError, match=r"may take 0.3037; raise it"):
        ask(server, budget=Budget(money=0.3), input_price=1e3, output_price=1e3)


def test_what_was_used_is_counted(tmp_path: Path) -> None:
    async def run(server: Any) -> Client:
        async with make_client(server, tmp_path / "journal", **PRICES) as client:
            await asyncio.gather(*(client.ask(question(number)) for number in range(4)))
        return client

    with serving() as server:
        usage, again = (asyncio.run(run(server)).usage for _ in range(2))
    assert (usage.calls, usage.journaled, usage.tokens_in, usage.cost) == (4, 0, 40, 80)
    assert (again.calls, again.journaled, again.cost) == (0, 4, 0)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 7, "completion_tokens": 0}, (7, 0)),
        ({"prompt_tokens": 10**8, "completion_tokens": 5}, (10**8, 5)),
        # Of 11 and 28 characters, where it is not said, or not believed.
        ({"prompt_tokens": 10**8 + 1, "completion_tokens": 5}, (4, 9)),
        ({"prompt_tokens": 7, "completion_tokens": -1}, (4, 9)),
        ({"prompt_tokens": True, "completion_tokens": 5}, (4, 9)),
        ({"prompt_tokens": 7}, (4, 9)),
        (None, (4, 9)),
    ],
)
def test_tokens_are_those_that_the_endpoint_says(usage: Any, expected: tuple[int, int]) -> None:
    async def run(server: Any) -> Client:
        async with make_client(server) as client:
            await client.ask(question(1))
        return client

    with serving(lambda body, number: Raw({**says(GOOD), "usage": usage})) as server:
        used = asyncio.run(run(server)).usage
    assert (used.tokens_in, used.tokens_out) == expected


def test_a_plan_asks_nothing(tmp_path: Path) -> None:
    async def plan(server: Any, **prices: float) -> Plan:
        async with make_client(server, tmp_path / "journal", **prices) as client:
            for number in (*range(10), 1, 9):
                client.look_up(question(number))
            return client.plan()

    with serving() as server:
        ask(server, 4, tmp_path / "journal")
        planned = asyncio.run(plan(server, **PRICES))
        unpriced = asyncio.run(plan(server))
        assert len(server.requests) == 4
    # Each question has 11 characters, and the journal's replies 10 tokens.
    assert planned == Plan("m", 6, 4, 6 * 11 / 3, 6 * 10, 6 * (11 / 3 + 10) * 1.0)
    assert math.isnan(unpriced.cost)


def test_a_journal_that_cannot_be_written_stops_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with serving() as server, pytest.raises(BenchError, match=r"folder fails .* free the disk"):
        ask(server, 1, tmp_path / "folder")


def test_a_journal_of_another_program_stops_with_a_sentence(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "journal") as file:
        file.execute("create table ragbench_replies (key text)")
    with serving() as server, pytest.raises(StopError, match=r"journal fails \(no such column"):
        ask(server, 1, tmp_path / "journal")
    assert server.requests == []


@pytest.mark.parametrize("goal", [20, 60])
def test_a_killed_run_goes_on_where_it_was(goal: int, tmp_path: Path) -> None:
    count, in_flight = 80, 8
    with serving(latency=0.02) as server:
        words = [server.url, tmp_path / "journal", count, in_flight, tmp_path / "scores"]
        command = [sys.executable, "-m", "tests.llm.judging_run", *map(str, words)]
        process = subprocess.Popen(command, cwd=ROOT)
        while len(server.requests) < goal:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait(20)
        scored = len((tmp_path / "scores").read_text().splitlines())
        before = len(server.requests)
        replies = ask(server, count, tmp_path / "journal")
        journaled = count - (len(server.requests) - before)
    assert [reply.status for reply in replies] == ["ok"] * count
    assert journaled >= scored, "what was scored was kept before"
    assert before - journaled <= in_flight, "only what was in flight is paid twice"


def test_ctrl_c_keeps_what_was_paid(tmp_path: Path) -> None:
    with serving(latency=0.02) as server:
        words = [server.url, tmp_path / "journal", 2000, 8, tmp_path / "scores"]
        command = [sys.executable, "-m", "tests.llm.judging_run", *map(str, words)]
        process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
        while len(server.requests) < 40:
            time.sleep(0.002)
        process.send_signal(signal.SIGINT)
        process.wait(10)
        before = len(server.requests)
        ask(server, 40, tmp_path / "journal")
        assert len(server.requests) - before <= 8, "only what was in flight is paid twice"


def test_plain_text_is_journaled_and_repeats_are_asked_anew(tmp_path: Path) -> None:
    write = [{"role": "user", "content": "Write."}]
    requests: list[Request[Any]] = [Request(write, repeat=repeat) for repeat in (0, 0, 1)]
    with serving(lambda body, number: f"Text {number}.") as server:
        for _ in range(2):
            replies = ask(server, requests=requests, journal=tmp_path / "journal")
            assert [reply.text for reply in replies] == ["Text 1.", "Text 1.", "Text 2."]
    assert "response_format" not in server.requests[0].body
    half = Raw(says("Half a", "length"))
    with serving(lambda body, number: half) as server:
        (reply,) = ask(server, requests=requests[:1])
    assert (reply.status, len(server.requests)) == ("truncated", 2)


def embed(server: Any, texts: list[str], **table: Any) -> np.ndarray:
    async def run() -> np.ndarray:
        async with make_client(server, **table) as client:
            return await client.embed(texts, dimensions=2)

    return asyncio.run(run())


def vectors(*rows: dict[str, Any]) -> Raw:
    return Raw({"data": list(rows), "usage": {"prompt_tokens": 3}})


def test_vectors_are_those_of_their_texts() -> None:
    rows = vectors({"index": 1, "embedding": [3, 4.5]}, {"index": 0, "embedding": [1, 2]})
    with serving(lambda body, number: rows) as server:
        assert embed(server, ["a", "b"]).tolist() == [[1, 2], [3, 4.5]]
    body = server.requests[0].body
    assert server.requests[0].path == "/v1/embeddings"
    assert (body["input"], body["dimensions"]) == (["a", "b"], 2)


def test_vectors_count_in_the_budget() -> None:
    async def run(server: Any) -> None:
        budget = Budget(calls=2, money=0.5)
        async with make_client(server, budget=budget, output_price=1e6) as client:
            await client.embed(["a"])
            await client.embed(["b"])
            with pytest.raises(BudgetSpentError, match=r"2 of budget\.calls = 2"):
                await client.embed(["c"])

    with serving(lambda body, number: vectors({"embedding": [1, 2]})) as server:
        asyncio.run(run(server))
    assert "dimensions" not in server.requests[0].body


NO_VECTORS = {
    "1 vectors for 2 texts": vectors({"embedding": [1]}),
    "cannot be read": Raw({"object": "list"}),
    "gave 2 vectors": vectors({"embedding": 1}, {"embedding": 2}),
    "2 vectors for 2 texts": vectors(
        {"index": 0, "embedding": [1]}, {"index": 0, "embedding": [2]}
    ),
    "cannot be read: setting an array": vectors({"embedding": [1]}, {"embedding": [2, 3]}),
    "cannot be read: could": vectors({"embedding": [1]}, {"embedding": ["x"]}),
    "maximum context length": fails(400, "maximum context length is 8192 tokens"),
}


@pytest.mark.parametrize("reason", NO_VECTORS)
def test_what_are_no_vectors_is_said(reason: str) -> None:
    body = NO_VECTORS[reason]
    with serving(lambda _, number: body) as server, pytest.raises(Unmeasured, match=reason):
        embed(server, ["a", "b"])


def test_a_half_character_is_no_traceback() -> None:
    with serving() as server:
        (reply,) = ask(
            server, requests=[Request([{"role": "user", "content": "a\ud800"}], Verdict)]
        )
    assert (reply.status, "half of a surrogate pair" in reply.reason) == ("judge_error", True)
