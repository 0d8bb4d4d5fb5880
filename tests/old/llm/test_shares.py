"""One endpoint's limits over several processes: the shares stay within them at every moment, and all are used."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from ragbench.old.core.settings import RUN, RUN_FOLDER
from ragbench.old.llm.limiter import Allowance, Limiter, SharedLimiter, limiter_of
from ragbench.old.store import Store
from ragbench.old.store.reply_journal import DatabaseJournal
from tests.old.llm import llm_shapes
from tests.old.llm.chat_server import ChatServer

ROOT = Path(__file__).parents[3]


def shared(store: Store, endpoint: str, ceiling: int = 8, rate: float | None = None) -> SharedLimiter:
    """A limiter as one process of a run has it."""
    return SharedLimiter((ceiling, rate, None), DatabaseJournal(store.engine).accounts(), endpoint)


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


def test_places_are_never_more_than_the_limit_and_all_are_used(store: Store) -> None:
    async def work() -> None:
        limiters = [shared(store, "places", 3) for _ in range(3)]
        running = [0, 0]
        await asyncio.gather(*(use(limiter, 8, 0.03, running) for limiter in limiters))
        assert running == [0, 3]
        for limiter in limiters:
            await limiter.close()

    asyncio.run(work())


@pytest.mark.fault("kill", tried="a process that held places of an endpoint", count=1)
def test_what_one_that_ends_held_is_free_at_once(store: Store) -> None:
    async def work() -> None:
        dead = DatabaseJournal(store.engine).accounts()
        taken = [(await dead.sit("dead", 2, held, (None, None), 1.0))[0] for held in ([], [1], [1, 2])]
        assert taken == [1, 2, None], "each of its places once"
        limiter = shared(store, "dead", 2)
        waiting = asyncio.create_task(limiter.acquire(1))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        await dead.close()  # as its session ends with its process
        limiter.succeeded(await waiting, 1)
        await limiter.close()

    asyncio.run(work())


def test_one_who_is_cancelled_while_it_waits_leaves_no_place_taken(store: Store) -> None:
    async def work() -> None:
        one, other = (shared(store, "cancelled", 1) for _ in range(2))
        ticket = await one.acquire(1)
        waiting = asyncio.create_task(other.acquire(1))
        await asyncio.sleep(0.1)
        waiting.cancel()
        one.cancelled(ticket)
        other.failed(await other.acquire(1))
        one.succeeded(await one.acquire(1), 1)
        for limiter in (one, other):
            await limiter.close()

    asyncio.run(work())


def test_tokens_that_were_not_used_are_given_back(store: Store) -> None:
    async def work() -> None:
        account = DatabaseJournal(store.engine).accounts()

        async def wait(tokens: float, spare: float) -> float:
            place, seconds = await account.sit("tokens", 1, [], (None, 60.0), tokens)
            assert place == 1
            await account.rise("tokens", place, spare, 0.0)
            return seconds

        assert await wait(100, 0.0) == 0.0, "more than can be saved up"
        assert 85 < await wait(1, 1.0) <= 91, "a token takes a second; ten are saved up"
        assert 84 < await wait(1, 91.0) <= 91
        assert await wait(1, 0.0) <= 1
        await account.close()

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
        assert 0.9 < time.monotonic() - began < 20
        for limiter in (one, other):
            await limiter.close()

    asyncio.run(work())


def test_restarts_bring_no_bursts(store: Store) -> None:
    """600 a minute save up 100 in ten seconds: those that begin one after the other have what time brings."""

    async def work() -> None:
        begun, began = 0, time.monotonic()
        for _ in range(5):
            limiter = shared(store, "restarts", 64, rate=600)
            with suppress(TimeoutError):
                async with asyncio.timeout(0.4):
                    while True:
                        limiter.succeeded(await limiter.acquire(1), 1)
                        begun += 1
            await limiter.close()
        assert 5 < begun <= 100 + 10 * (time.monotonic() - began) + 1

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
        command = [sys.executable, "-m", "tests.old.llm.judged_run", *words, str(rate or "")]
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
        assert told[1] >= 90 - sent, "what it had reserved stays so"
    else:
        assert (sent, told[1]) == (90, 0)
