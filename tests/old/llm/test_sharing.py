"""What clients share: questions, limits, budget, and the count of what was done."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from ragbench.old.core.types import Status
from ragbench.old.llm import Budget, BudgetSpent, Decoding, MemoryJournal, ProviderRefused, Tally, Usage
from tests.old.llm.chat_server import ChatServer
from tests.old.llm.llm_client import ask, on_a_loop, open_client, scripted
from tests.old.llm.llm_shapes import Grade, Rating, request


class TestSharing:
    @on_a_loop
    async def test_equal_questions_are_asked_once(self) -> None:
        with ChatServer(latency=0.05).running() as server:
            async with open_client(server) as client:
                together = await asyncio.gather(*(client.complete(request("same")) for _ in range(20)))
                found = [*together, await client.complete(request("same"))]
        assert server.calls == 1
        assert sum(c.calls for c in found) == 1
        assert len({c.value.score for c in found}) == 1

    @pytest.mark.fault("changed", tried="parts of a request", count=12)
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

    @pytest.mark.fault("changed", tried="the version of what reads replies", count=1)
    def test_the_key_holds_the_version_of_what_reads_replies(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from ragbench.old.llm import request as room

        async def key() -> str:
            async with open_client("http://h/v1") as client:
                return client.key(request())

        before = asyncio.run(key())
        assert asyncio.run(key()) == before
        monkeypatch.setattr(room, "READER_VERSION", room.READER_VERSION + 1)
        assert asyncio.run(key()) != before

    @pytest.mark.fault("changed", tried="another judge of the same model", count=1)
    def test_two_judges_never_share_an_answer(self) -> None:
        journal = MemoryJournal()
        with ChatServer().running() as server:
            for name in ("a", "b", "a"):
                ask(server, ["one"], name=name, journal=journal)
        assert server.calls == 2

    def test_replay_makes_no_call_even_for_replies_that_were_repaired(self) -> None:
        journal, texts = MemoryJournal(), [f"text {n}" for n in range(60)]
        with ChatServer(faults={"nan": 0.2, "length": 0.2, "refusal": 0.1}).running() as server:
            first = ask(server, texts, journal=journal)
            paid = server.calls
            again = ask(server, texts, journal=journal)
            assert server.calls == paid > 60
        assert [(c.value, c.status) for c in again] == [(c.value, c.status) for c in first]
        assert [c.seconds for c in again] == [c.seconds for c in first]
        assert {c.calls for c in again} == {0}
        assert Status.REFUSED in {c.status for c in first}

    @on_a_loop
    async def test_clients_of_one_provider_wait_in_one_line(self) -> None:
        with ChatServer(latency=0.02).running() as server:
            async with open_client(server, "a", concurrency=9) as one, open_client(server, "b", concurrency=4) as other:
                await asyncio.gather(*(c.complete(request(f"{n}")) for n in range(20) for c in (one, other)))
        assert (server.calls, server.most_in_flight) == (40, 4)


class TestBudget:
    @pytest.mark.fault("rate-limits", tried="a budget over a run and its resumption", count=3)
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

        with ChatServer(answer=lambda body: {"score": 3, "reason": "x" * 380}, latency=0.01).running() as server:
            purse = asyncio.run(work(server, **budget))
            assert 1 <= server.calls <= most
            assert len(journal.rows) == server.calls
            for name, limit in budget.items():
                assert getattr(purse.spent, name) <= limit
            asyncio.run(work(server))
            assert server.calls == 30

    def test_the_message_says_how_to_go_on(self) -> None:
        with ChatServer().running() as server, pytest.raises(BudgetSpent, match=r"calls: 1 of 1.*\[budget\]"):
            ask(server, ["one", "two"], budget=Budget(calls=1))


class TestTally:
    def test_it_adds_up(self) -> None:
        steps: list[int] = []
        tally = Tally(on_change=lambda now: steps.append(now.in_flight))

        with scripted({"score": 3}).running() as server:
            ask(server, [f"{n % 20}" for n in range(40)], tally=tally, input_price=2.0, output_price=10.0)
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
        with ChatServer(usage=False).running() as server:
            ask(server, ["Привет, мир!"], journal=journal)
        (row,) = journal.rows.values()
        assert row["estimated"] is True
        assert row["input_tokens"] > 3
        json.dumps(row, allow_nan=False)

    def test_usage_is_that_of_the_replies_used_whoever_paid_for_them(self) -> None:
        journal = MemoryJournal()

        async def work(server: ChatServer) -> Usage:
            async with open_client(server, journal=journal, input_price=2.0, output_price=10.0) as client:
                await asyncio.gather(*(client.complete(request(f"{n % 20}")) for n in range(40)))
                return client.used.usage

        with scripted({"score": 3}).running() as server:
            paid = asyncio.run(work(server))
            assert asyncio.run(work(server)) == paid
            assert server.calls == 20
        assert paid.replies == 20
        assert paid.cost == pytest.approx((2.0 * paid.input_tokens + 10.0 * paid.output_tokens) / 1e6)
        assert paid.estimated == 0


class TestWhatWasSent:
    """A call that was sent is paid for: its reply is awaited, kept and counted, whoever gave up on it."""

    @pytest.mark.fault("denied", tried="a key that expires in the middle of a run", count=1)
    def test_a_key_that_expires_midway_loses_no_accepted_reply(self) -> None:
        order: list[str] = []

        def answer(body: dict[str, Any]) -> Any:
            order.append(body["messages"][0]["content"])
            time.sleep(0.004)  # so that calls do not all begin and end together
            return "!401" if len(order) == 25 else None

        async def work(server: ChatServer, journal: MemoryJournal, tally: Tally) -> None:
            async with open_client(server, journal=journal, tally=tally, concurrency=16) as client:
                tasks = [asyncio.create_task(client.complete(request(f"q{n}"))) for n in range(60)]
                with pytest.raises(ProviderRefused):
                    await asyncio.gather(*tasks)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

        journal, tally = MemoryJournal(), Tally()
        with ChatServer(latency=0.05, answer=answer).running() as server:
            asyncio.run(work(server, journal, tally))
            time.sleep(0.2)  # whatever was sent is answered now
        assert server.answered > 25, "calls were under way when the key expired"
        assert len(journal.rows) == server.answered
        assert tally.calls == server.calls
        assert tally.in_flight == 0

    @pytest.mark.fault("interrupt", tried="works that are ended with calls in flight", count=1)
    def test_those_who_go_leave_their_calls_to_be_kept_and_counted(self) -> None:
        async def work(server: ChatServer, journal: MemoryJournal, tally: Tally, budget: Budget) -> None:
            async with open_client(server, journal=journal, tally=tally, budget=budget, concurrency=8, output_price=1.0,
                                   input_price=1.0) as client:  # fmt: skip
                await client.complete(request("first"))  # opens the window
                tasks = [asyncio.create_task(client.complete(request(f"q{n}"))) for n in range(40)]
                while server.in_flight < 8:
                    await asyncio.sleep(0.005)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

        journal, tally, budget = MemoryJournal(), Tally(), Budget(calls=100)
        with ChatServer(latency=0.2).running() as server:
            asyncio.run(work(server, journal, tally, budget))
            time.sleep(0.3)
        assert server.calls == server.answered == len(journal.rows) == 9, "none that waited for its turn was sent"
        assert tally.cost == pytest.approx(sum(row["cost"] for row in journal.rows.values()))
        assert tally.cost > 0
        assert budget.spent.calls == 9
