"""The limiter by a clock of our own: opens on proof, shrinks once for a burst, keeps the provider's rates."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.old.llm.errors import Fault
from ragbench.old.llm.journal import Batches
from ragbench.old.llm.limiter import Allowance, Limiter, Ticket, Turns
from tests.old.llm.llm_client import on_a_loop


async def settled() -> None:
    """Until whoever can go on without the clock has done so."""
    for _ in range(50):
        await asyncio.sleep(0)


async def waiting(limiter: Limiter, n: int, tokens: float = 1.0) -> list[asyncio.Task[Ticket]]:
    tasks = [asyncio.create_task(limiter.acquire(tokens)) for _ in range(n)]
    await settled()
    return tasks


def let_in(tasks: list[asyncio.Task[Ticket]]) -> int:
    return sum(task.done() for task in tasks)


class TestWindow:
    @on_a_loop
    async def test_a_stricter_ceiling_holds_for_those_who_wait_already(self) -> None:
        limiter = Limiter(8)
        limiter.succeeded(await limiter.acquire(1), 1)
        limiter.restrict(2, None, None)
        tasks = await waiting(limiter, 5)
        assert let_in(tasks) == 2
        limiter.restrict(6, None, None)
        limiter.succeeded(tasks[0].result(), 1)
        await settled()
        assert let_in(tasks) == 3, "who comes later with more room gives none"
        for task in tasks:
            task.cancel()

    @on_a_loop
    async def test_a_fault_gives_the_place_back_and_holds_the_others_no_longer_than_the_patience(self) -> None:
        limiter = Limiter(2, clock=lambda: 10.0)
        for fault in (Fault("busy", "slow down", 100.0), Fault("server", "broke")):
            ticket = Ticket(10.0, 1)
            limiter.in_flight = 1
            with pytest.raises(Fault), limiter.leaving(ticket, patience=3.0):
                raise fault
            assert limiter.in_flight == 0
            assert limiter._resume_at == 13.0
            assert fault.seconds is not None
        limiter.in_flight = 1
        with pytest.raises(KeyError), limiter.leaving(Ticket(10.0, 1), patience=3.0):
            raise KeyError
        assert limiter.in_flight == 0
        limiter.in_flight = 1
        with limiter.leaving(Ticket(10.0, 1), patience=3.0):
            pass
        assert limiter.in_flight == 1, "a call that succeeds says so itself, with its tokens"

    @on_a_loop
    async def test_one_call_goes_first_and_its_success_opens_the_window(self) -> None:
        limiter = Limiter(8)
        tasks = await waiting(limiter, 20)
        assert let_in(tasks) == 1
        limiter.succeeded(tasks[0].result(), 1)
        await settled()
        assert let_in(tasks) - 1 == limiter.in_flight == 8

    @on_a_loop
    async def test_a_failed_first_call_lets_one_more_try(self) -> None:
        limiter = Limiter(8)
        tasks = await waiting(limiter, 5)
        limiter.failed(tasks[0].result())
        await settled()
        assert (let_in(tasks), limiter.in_flight) == (2, 1)

    @pytest.mark.fault("rate-limits", tried="bursts and pauses of the one limiter", count=1)
    @on_a_loop
    async def test_a_burst_of_429_shrinks_the_window_once(self) -> None:
        now = 0.0
        limiter = Limiter(9, clock=lambda: now)
        first = await limiter.acquire(1)
        limiter.succeeded(first, 1)
        now = 1.0
        tickets = [await limiter.acquire(1) for _ in range(9)]
        now = 2.0
        for ticket in tickets:
            limiter.failed(ticket, busy=True)
        assert limiter.window == 6.0
        later = await limiter.acquire(1)
        now = 3.0
        limiter.failed(later, busy=True)
        assert limiter.window == 6.0  # it began in the moment of the shrinking
        now = 4.0
        limiter.failed(await limiter.acquire(1), busy=True)
        assert limiter.window == 4.0
        for _ in range(20):
            limiter.succeeded(await limiter.acquire(1), 1)
        assert limiter.window == 9.0

    @pytest.mark.fault("rate-limits", tried="bursts and pauses of the one limiter", count=1)
    @on_a_loop
    async def test_a_pause_holds_everybody(self) -> None:
        limiter = Limiter(4)
        limiter.succeeded(await limiter.acquire(1), 1)
        began = asyncio.get_running_loop().time()
        limiter.failed(await limiter.acquire(1), busy=True, retry_after=0.3)
        first, second, _ = (asyncio.create_task(limiter.acquire(1)) for _ in range(3))
        await asyncio.wait([first, second], return_when=asyncio.FIRST_COMPLETED)
        assert asyncio.get_running_loop().time() - began >= 0.3
        await asyncio.wait_for(asyncio.gather(first, second), 5)

    @on_a_loop
    async def test_a_place_given_to_one_who_has_just_left_goes_to_the_next(self) -> None:
        limiter = Limiter(1)
        held = await limiter.acquire(1)
        first, second = await waiting(limiter, 2)
        limiter.failed(held)  # the place is the first one's, who has not heard of it yet
        first.cancel()
        await settled()
        assert first.cancelled()
        assert second.done()
        assert limiter.in_flight == 1

    @on_a_loop
    async def test_those_who_leave_the_line_take_no_place(self) -> None:
        limiter = Limiter(2)
        limiter.succeeded(await limiter.acquire(1), 1)
        held = [await limiter.acquire(1) for _ in range(2)]
        line = await waiting(limiter, 3)
        line[0].cancel()
        await asyncio.sleep(0)
        limiter.cancelled(held[0])
        await settled()
        assert line[1].done()
        assert not line[2].done()
        assert limiter.in_flight == 2


class TestTurns:
    @on_a_loop
    async def test_they_come_in_blocks(self) -> None:
        turns, inside, leave = Turns(2, 5), [], asyncio.Queue[None]()

        async def one(number: int) -> None:
            async with turns:
                inside.append(number)
                await leave.get()

        tasks = [asyncio.create_task(one(number)) for number in range(12)]
        seen = []
        for _ in range(5):
            await settled()
            seen.append(len(inside))
            leave.put_nowait(None)
        assert seen == [5, 5, 5, 8, 8]
        tasks[-1].cancel()  # one that waits outside takes no place
        for _ in range(12):
            leave.put_nowait(None)
        await asyncio.gather(*tasks, return_exceptions=True)
        assert inside == list(range(11))
        assert turns._inside == 0


class TestAllowance:
    def test_rates_are_kept_over_time(self) -> None:
        allowance, now, taken = Allowance(60.0), 0.0, 0
        while now < 60.0:
            if allowance.wait(1, now) == 0.0:
                allowance.take(1)
                taken += 1
            else:
                now += 0.25
        assert taken == 69  # ten saved up at once, then one at each second from 1 to 59

    def test_without_a_rate_there_is_no_wait(self) -> None:
        assert Allowance(None).wait(1e9, 0.0) == 0.0

    @given(st.floats(1, 1e5), st.lists(st.floats(0, 1e4), min_size=1, max_size=20))
    def test_waiting_as_told_is_enough(self, rate: float, amounts: list[float]) -> None:
        allowance, now = Allowance(rate), 0.0
        for amount in amounts:
            now += allowance.wait(amount, now)
            assert allowance.wait(amount, now) == pytest.approx(0.0, abs=1e-6)
            allowance.take(amount)

    @on_a_loop
    async def test_the_limiter_spaces_calls_by_tokens(self) -> None:
        now = 0.0
        limiter = Limiter(100, tokens_per_minute=6000, clock=lambda: now)
        limiter.succeeded(await limiter.acquire(100), 100)
        tasks = await waiting(limiter, 20, tokens=100)
        assert let_in(tasks) == 9  # 1,000 saved up, 100 of them taken
        now = 2.0
        limiter.succeeded(tasks[0].result(), 100)
        await settled()
        assert let_in(tasks) == 11
        for task in tasks:
            task.cancel()


class TestBatches:
    @on_a_loop
    async def test_no_item_waits_for_a_worker_that_is_gone(self) -> None:
        async def doubled(items: Sequence[int]) -> Sequence[int]:
            return [2 * item for item in items]

        batches: Batches[int, int] = Batches(doubled, at_once=1)

        async def chain(number: int) -> None:
            for step in range(50):  # each next item is handed in at the moment the last batch ends
                assert await batches(number * 100 + step) == 2 * (number * 100 + step)

        await asyncio.gather(*(chain(number) for number in range(8)))
        await batches.flush()

    @on_a_loop
    async def test_an_item_handed_in_as_the_last_worker_ends_is_served(self) -> None:
        async def same(items: Sequence[int]) -> Sequence[int]:
            return list(items)

        batches: Batches[int, int] = Batches(same, at_once=1)
        assert await batches(1) == 1
        late = []
        for spins in range(6):
            first = batches(2)
            while not first.done():
                await asyncio.sleep(0)
            for _ in range(spins):
                await asyncio.sleep(0)
            late.append(await asyncio.wait_for(batches(3), 2))
        assert late == [3] * 6

    @on_a_loop
    async def test_many_items_go_together_and_a_lonely_one_waits_for_nothing(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sizes: list[int] = []
        slept: list[float] = []
        sleep = asyncio.sleep

        async def noted(seconds: float) -> None:
            slept.append(seconds)
            await sleep(seconds)

        async def counted(items: Sequence[int]) -> Sequence[int]:
            sizes.append(len(items))
            return list(items)

        monkeypatch.setattr(asyncio, "sleep", noted)
        batches: Batches[int, int] = Batches(counted)
        assert await batches(0) == 0
        assert slept == []
        assert await asyncio.gather(*(batches(n) for n in range(100))) == list(range(100))
        assert sizes[0] == 1
        assert len(sizes) <= 4

    @on_a_loop
    async def test_an_error_reaches_everybody_of_the_batch(self) -> None:
        async def broken(items: Sequence[int]) -> Sequence[int]:
            raise OSError("gone")

        batches: Batches[int, int] = Batches(broken)
        found = await asyncio.gather(*(batches(n) for n in range(5)), return_exceptions=True)
        assert [str(error) for error in found] == ["gone"] * 5
