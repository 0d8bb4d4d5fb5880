"""One endpoint's limits over several processes: the shares stay within them at every moment, and all are used."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from ragbench.llm.accounts import Share
from ragbench.llm.limiter import Allowance, Limiter
from ragbench.llm.shares import SharedLimiter, fair, limiter_of
from ragbench.settings import RUN, RUN_FOLDER
from ragbench.store import Store
from tests import llm_shapes
from tests.chat_server import ChatServer

ROOT = Path(__file__).parent.parent


class TestFair:
    @pytest.mark.parametrize(
        ("limit", "wanted", "shares"),
        [
            (16, {"a": 1000, "b": 1000}, {"a": 8, "b": 8}),
            (16, {"a": 2, "b": 1000}, {"a": 2, "b": 14}),
            (16, {"a": 3}, {"a": 16}),
            (16, {"a": 2, "b": 4}, {"a": 7, "b": 9}),
            (7, {"a": 9, "b": 9, "c": 9}, {"a": 3, "b": 2, "c": 2}),
            (2, {"a": 9, "b": 9, "c": 1}, {"c": 1, "a": 1, "b": 0}),
        ],
    )
    def test_values_by_hand(self, limit: int, wanted: Mapping[str, int], shares: Mapping[str, int]) -> None:
        assert fair(limit, wanted) == shares

    @given(st.integers(1, 100), st.dictionaries(st.text(max_size=3), st.integers(0, 200), min_size=1, max_size=8))
    def test_all_is_given_and_nobody_who_wants_an_equal_share_has_less(
        self, limit: int, wanted: dict[str, int]
    ) -> None:
        shares = fair(limit, wanted)
        assert sum(shares.values()) == limit
        assert all(share >= min(wanted[holder], limit // len(wanted)) for holder, share in shares.items())


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 12), st.integers(0, 12), st.booleans()), min_size=1, max_size=20
    )
)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_shares_never_exceed_the_limit(store: Store, steps: list[tuple[int, int, int, bool]]) -> None:
    """Four holders that ask for whatever they like, keep part of what they have, and leave."""
    limit = 10

    async def work() -> None:
        endpoint = uuid.uuid4().hex
        accounts = [store.journal.accounts(60.0) for _ in range(4)]
        held, parts = [0] * 4, [0.0] * 4
        for who, most, kept, leaves in steps:
            if leaves:
                await accounts[who].leave(endpoint, str(who))
                held[who], parts[who] = 0, 0.0
                continue
            places, part = (min(kept, held[who]), most), (min(kept / 10, parts[who]), min(1.0, most / 10))
            others = sum(held) - held[who]
            told = Share(*await accounts[who].share(endpoint, str(who), limit, places, part, 5, 0.0))
            assert told.places == max(places[0], min(most, limit - others)), "all that is free, and no more"
            held[who], parts[who] = told.places, told.part
            assert sum(held) <= limit
            assert sum(parts) <= 1 + 1e-9
        for each in accounts:
            await each.close()

    asyncio.run(work())


def shared(
    store: Store, endpoint: str, ceiling: int = 8, rate: float | None = None, lease: float = 10
) -> SharedLimiter:
    """A limiter as one process of a run has it."""
    return SharedLimiter(ceiling, rate, accounts=store.journal.accounts(lease), endpoint=endpoint, lease=lease)


async def use(limiter: Limiter, calls: int, seconds: float, running: list[int]) -> None:
    """So many calls at once, each of which takes so long; running: how many there are now, and were at most."""

    async def one() -> None:
        ticket = await limiter.acquire(1)
        running[0] += 1
        running[1] = max(running)
        await asyncio.sleep(seconds)
        running[0] -= 1
        limiter.succeeded(ticket, 1)

    await asyncio.gather(*(one() for _ in range(calls)))


@pytest.mark.slow
def test_a_newcomer_gets_its_share_once_others_have_given_it_back(store: Store) -> None:
    async def work() -> None:
        one, other = (shared(store, "newcomer") for _ in range(2))
        running = [0, 0]
        first = asyncio.create_task(use(one, 300, 0.1, running))
        await asyncio.sleep(0.5)
        assert (one.ceiling, one.in_flight) == (8, 8)
        second = asyncio.create_task(use(other, 120, 0.1, running))
        await asyncio.sleep(2.5)
        assert (one.ceiling, other.ceiling) == (4, 4)
        await second
        await asyncio.sleep(1.5)
        assert one.ceiling == 8, "an idle one has given back"
        await first
        assert running[1] == 8
        for limiter in (one, other):
            await limiter.close()
        held = text("SELECT count(*) FROM ragbench.endpoint_holder WHERE endpoint = 'newcomer'")
        with store.engine.connect() as connection:
            assert connection.scalar(held) == 0

    asyncio.run(work())


def test_what_a_dead_one_held_is_free_after_its_lease(store: Store) -> None:
    async def work() -> None:
        dead = store.journal.accounts(0.5)
        await dead.share("dead", "dead", 4, (0, 4), (0.0, 1.0), 9, 0.0)
        await dead.close()
        limiter = shared(store, "dead", 4)
        began, running = time.monotonic(), [0, 0]
        await use(limiter, 4, 0.05, running)
        assert 0.4 < time.monotonic() - began < 4
        await limiter.close()

    asyncio.run(work())


def test_one_whose_lease_has_run_out_begins_no_call(store: Store) -> None:
    """It was held up; it goes on once it has asked again, with what others have left."""

    async def work() -> None:
        limiter = shared(store, "held up", 2, lease=0.4)
        limiter.succeeded(await limiter.acquire(1), 1)
        first = await limiter.acquire(1)
        time.sleep(0.6)  # the loop stands still
        other = store.journal.accounts(10.0)
        assert (await other.share("held up", "other", 2, (0, 2), (0.0, 1.0), 1, 0.0))[0] == 2
        waiting = asyncio.create_task(limiter.acquire(1))
        await asyncio.sleep(0.2)
        assert not waiting.done(), "there were two places, and they are the other's now"
        await other.leave("held up", "other")
        second = await asyncio.wait_for(waiting, 5)
        for ticket in (first, second):
            limiter.succeeded(ticket, 1)
        for each in (other, limiter):
            await each.close()

    asyncio.run(work())


@pytest.mark.fault("rate-limits", tried="a Retry-After that one of several processes hears holds all", count=1)
def test_a_wait_that_one_is_asked_for_holds_all(store: Store) -> None:
    async def work() -> None:
        one, other = (shared(store, "wait") for _ in range(2))
        ticket = await one.acquire(1)
        one.failed(ticket, busy=True, retry_after=1.0)
        began = time.monotonic()
        await asyncio.sleep(0.2)
        other.succeeded(await other.acquire(1), 1)
        assert 0.9 < time.monotonic() - began < 3.0
        for limiter in (one, other):
            await limiter.close()

    asyncio.run(work())


def test_restarts_bring_no_bursts(store: Store) -> None:
    """600 a minute save up 100 in ten seconds: twenty that begin one after the other have what time brings."""

    async def work() -> None:
        begun, began = 0, time.monotonic()
        for _ in range(20):
            limiter = shared(store, "restarts", 64, rate=600)
            with suppress(TimeoutError):
                async with asyncio.timeout(0.1):
                    while True:
                        limiter.succeeded(await limiter.acquire(1), 1)
                        begun += 1
            await limiter.close()
        seconds = time.monotonic() - began
        assert 100 <= begun <= 100 + 10 * seconds + 1

    asyncio.run(work())


def test_a_rate_of_nothing_admits_nothing() -> None:
    allowance = Allowance(60)
    assert allowance.wait(1, 0.0) == 0.0
    allowance.allow(0.0, 1.0, rested=5.0)
    assert allowance.wait(1, 9.0) == float("inf")
    allowance.allow(30, 10.0)
    assert allowance.wait(1, 11.0) == pytest.approx(1.0)


def test_only_the_processes_of_a_run_share(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = llm_shapes.settings("http://127.0.0.1:9/v1")
    assert type(limiter_of(known, store.journal)) is Limiter
    monkeypatch.setenv(RUN_FOLDER, str(tmp_path))
    assert type(limiter_of(known, None)) is Limiter
    assert type(limiter_of(known, store.journal)) is SharedLimiter


def workers(
    server: ChatServer, folder: Path, out: Path, n: int, concurrency: int, rate: int | None = None, **limits: int
) -> list[subprocess.Popen[bytes]]:
    """Four processes of one run, each with texts of its own."""
    found = []
    for number in range(4):
        (out / str(number)).mkdir()
        words = [server.url, str(folder), str(n), str(out / str(number)), f"{out.name[:30]} {number}", str(concurrency)]
        budget = {f"RAGBENCH_BUDGET__{name.upper()}": str(limit) for name, limit in limits.items()}
        environment = {**os.environ, **budget, RUN: str(out)}
        command = [sys.executable, "-m", "tests.judged_run", *words, str(rate or "")]
        found.append(subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL))
    return found


@pytest.mark.slow
@pytest.mark.fault("parallel-runs", tried="four processes ask one endpoint: its concurrency and rate hold", count=4)
def test_limits_hold_over_processes(store: Store, database_folder: Path, tmp_path: Path) -> None:
    with ChatServer(latency=0.15).running() as server:
        for process in workers(server, database_folder, tmp_path, 30, 6, rate=360):
            assert process.wait(120) == 0
        assert server.calls == 120
        assert 4 <= server.most_in_flight <= 6
        moments = sorted(moment for moment, _ in server.arrivals)
    burst = 360 / 6 + 4  # ten seconds' worth, and one call of each process
    for first, begin in enumerate(moments):
        for last in range(first, len(moments)):
            assert last - first + 1 <= burst + 6 * (moments[last] - begin)


@pytest.mark.slow
@pytest.mark.fault("parallel-runs", tried="four processes that share one budget and one endpoint", count=4)
@pytest.mark.parametrize("killed", [False, True])
def test_a_budget_holds_over_processes_and_the_death_of_one(
    killed: bool, store: Store, database_folder: Path, tmp_path: Path
) -> None:
    with ChatServer(latency=0.3).running() as server:
        running = workers(server, database_folder, tmp_path, 40, 8, calls=90)
        if killed:
            while server.calls < 30:
                time.sleep(0.01)
            running[0].send_signal(signal.SIGKILL)
        codes = [process.wait(120) for process in running]
        sent = server.calls
        assert server.most_in_flight <= 8 + (8 if killed else 0), "the dead one's calls go on at the server"
    assert sum(code != 0 for code in codes) >= (1 if killed else 3), "160 were wanted"
    with store.engine.connect() as connection:
        told: Any = connection.execute(
            text("SELECT sum(calls), sum(reserved_calls) FROM ragbench.spending WHERE run = :run"),
            {"run": str(tmp_path)},
        ).one()
    assert sum(told) == 90
    if killed:
        assert 90 - 8 <= sent <= 90
        assert told[1] >= 90 - sent, "what it had reserved is spent"
    else:
        assert (sent, told[1]) == (90, 0)
