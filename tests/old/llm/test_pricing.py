"""Costs, budgets and progress by hand: what is added, what still fits, what is said when nothing does."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.old.llm.budget import Amount, Budget, Price, Tally, Usage
from ragbench.old.llm.client import Completion
from ragbench.old.llm.errors import BudgetSpent
from ragbench.old.llm.journal import MemoryJournal
from tests.old.llm.chat_server import ChatServer
from tests.old.llm.llm_client import open_client
from tests.old.llm.llm_shapes import request

amounts = st.builds(Amount, st.integers(0, 1000), st.integers(0, 10**6), st.integers(0, 1000).map(float))


def test_a_price_is_per_million_tokens_read_and_written() -> None:
    assert Price(input=2.0, output=10.0).of(500_000, 100_000) == pytest.approx(1.0 + 1.0)
    assert Price(input=2.0, output=10.0).of(1_000_000, 0) == pytest.approx(2.0)
    assert Price().of(10**6, 10**6) == 0.0


def test_amounts_add_part_by_part() -> None:
    assert Amount(1, 20, 0.25) + Amount(2, 30, 0.5) == Amount(3, 50, 0.75)
    assert Amount(3, 50, 0.75) - Amount(1, 20, 0.25) == Amount(2, 30, 0.5)


@given(amounts, amounts)
def test_what_is_taken_away_again_was_never_added(one: Amount, other: Amount) -> None:
    assert one + other - other == one
    assert one + other == other + one


@pytest.mark.parametrize(
    ("limits", "fits", "too_much"),
    [
        ({"calls": 3}, Amount(1, 10**9, 1e9), Amount(2, 0, 0.0)),
        ({"tokens": 300}, Amount(10**9, 100, 1e9), Amount(0, 101, 0.0)),
        ({"money": 3.0}, Amount(10**9, 10**9, 1.0), Amount(0, 0, 1.01)),
    ],
    ids=["calls", "tokens", "money"],
)
def test_each_limit_holds_alone_up_to_its_last_unit(limits: dict[str, Any], fits: Amount, too_much: Amount) -> None:
    spent = Amount(2, 200, 2.0)
    with pytest.raises(BudgetSpent):
        asyncio.run(Budget(**limits, spent=spent).reserve(too_much))
    purse = Budget(**limits, spent=spent)
    asyncio.run(purse.reserve(fits))
    assert purse.reserved == fits
    purse.settle(fits, Amount(1, 1, 0.5))
    assert (purse.reserved, purse.spent) == (Amount(), Amount(3, 201, 2.5))


def test_a_spent_budget_names_its_own_limits_alone() -> None:
    purse = Budget(tokens=100, money=0.5, spent=Amount(7, 99.6, 0.12345678))
    with pytest.raises(BudgetSpent, match=r"\(tokens: 100 of 100; money: 0\.123457 of 0\.5, replies"):
        asyncio.run(purse.reserve(Amount(1, 50, 0.1)))


def test_a_call_waits_for_the_end_of_another_that_may_make_room() -> None:
    async def test() -> None:
        purse = Budget(tokens=100)
        await purse.reserve(Amount(1, 80, 0.0))
        second = asyncio.create_task(purse.reserve(Amount(1, 60, 0.0)))
        await asyncio.sleep(0.05)
        assert not second.done()
        purse.settle(Amount(1, 80, 0.0), Amount(1, 40, 0.0))
        await asyncio.wait_for(second, 2)
        assert (purse.spent.tokens, purse.reserved.tokens) == (40, 60)

    asyncio.run(test())


def test_the_time_left_comes_from_the_paid_answers_alone() -> None:
    """12 done, 4 of them out of the journal, in 80 s: ten seconds each for the 20 − 12 − 1 that are left."""
    tally = Tally(asked=20, done=12, journaled=4, failed=1, in_flight=3, cost=0.5)
    assert tally.seconds_left(80) == pytest.approx(70)
    assert tally.seconds_left(80, total=32) == pytest.approx(190)
    assert Tally(asked=5, done=5, journaled=5).seconds_left(1) is None
    assert tally.describe(80) == (
        "12 of 20 answered (4 from the journal), 3 in flight, 1 failed, cost 0.5000, left 1 min 10 s"
    )


@pytest.mark.parametrize(
    ("prices", "unpriced", "said"),
    [({}, 2, "unknown"), ({"input_price": 0.0}, 0, "0.0000"), ({"output_price": 1e6}, 0, "6.0000")],
)
def test_a_price_that_nobody_set_is_not_one_of_nothing(prices: dict[str, float], unpriced: int, said: str) -> None:
    """The server counts a token for four signs of a reply: three."""
    tally = Tally()

    async def test() -> Usage:
        with ChatServer(answer=lambda body: '{"score": 3}').running() as server:
            async with open_client(server, tally=tally, **prices) as client:
                for text in ("a", "b"):
                    assert (await client.complete(request(text))).value is not None
                return client.used.usage

    assert asyncio.run(test()).unpriced == tally.unpriced == unpriced
    assert tally.money == said
    assert Tally(cost=0.5, unpriced=1).money == "0.5000 + unknown"


def test_an_answer_costs_what_all_its_paid_replies_cost_and_nothing_out_of_the_journal() -> None:
    """The first question is asked twice, for its first reply is of no shape; the third one is the first again."""
    journal, replies = MemoryJournal(), ["Certainly!", '{"score": 3}', '{"score": 4}']

    async def test(server: ChatServer) -> tuple[list[Completion], Usage]:
        async with open_client(server, journal=journal, input_price=1.0, output_price=1e6) as client:
            return [await client.complete(request(text)) for text in ("a", "b", "a")], client.used.usage

    with ChatServer(answer=lambda body: replies.pop(0)).running() as server:
        (first, second, again), usage = asyncio.run(test(server))
        (late, *_), resumed = asyncio.run(test(server))
    rows = [row["input_tokens"] * 1e-6 + row["output_tokens"] for row in journal.rows.values()]
    assert [row["output_tokens"] for row in journal.rows.values()] == [2, 3, 3], "a token for four signs"
    assert [row["cost"] for row in journal.rows.values()] == pytest.approx(rows)
    assert (first.calls, second.calls, again.calls, late.calls) == (2, 1, 0, 0)
    assert [one.cost for one in (first, second, again, late)] == pytest.approx([rows[0] + rows[1], rows[2], 0, 0])
    assert usage.cost == resumed.cost == pytest.approx(sum(rows)), "equal questions count once"
