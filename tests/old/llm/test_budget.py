"""One budget for all that a run spends: clients, processes, those that were killed, and what was paid before."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragbench.old.core.settings import RUN, RUN_FOLDER, BudgetSettings
from ragbench.old.llm import Budget, BudgetSpent, MemoryJournal, open_budget
from ragbench.old.llm.budget import Amount, SharedBudget
from ragbench.old.llm.journal import Parts, Told
from ragbench.old.store import Store
from ragbench.old.store.reply_journal import DatabaseJournal
from tests.old.llm.chat_server import ChatServer
from tests.old.llm.llm_client import open_client
from tests.old.llm.llm_shapes import request


def spent(server: ChatServer, limit: int, texts: Iterable[object], journal: MemoryJournal) -> int:
    """Calls that a budget of so many has counted once each of the texts was asked about, one after the other."""

    async def work() -> int:
        budget = Budget(calls=limit)
        async with open_client(server, journal=journal, budget=budget) as client:
            for text in texts:
                await client.complete(request(f"text {text}"))
        return budget.spent.calls

    return asyncio.run(work())


def test_what_the_journal_has_counts_and_is_never_refused() -> None:
    journal = MemoryJournal()
    with ChatServer().running() as server:
        assert spent(server, 40, range(40), journal) == 40
        assert spent(server, 40, range(40), journal) == 40, "a run that has all its replies needs no budget"
        with pytest.raises(BudgetSpent, match="calls: 40 of 40, replies out of the journal included"):
            spent(server, 40, range(41), journal)
        assert server.calls == 40
        assert spent(server, 50, range(50), journal) == 50
        assert server.calls == 50


def test_a_new_call_before_the_old_replies_are_looked_up_is_all_that_can_be_ahead_of_the_budget() -> None:
    """Of two runs with the same past, one goes on to ask for what it had, the other does not: the purse sees no
    difference when it has to decide, and refusing both would stop a run that is within its budget."""
    journal = MemoryJournal()
    with ChatServer().running() as server:
        spent(server, 5, [1, 2, 3, 4, 5], journal)
        assert spent(server, 5, [6], journal) == 1, "within its budget"
        assert spent(server, 5, [7, 1, 2, 3, 4, 5], journal) == 6, "5 of them were paid for before"
        with pytest.raises(BudgetSpent):
            spent(server, 5, [1, 2, 3, 4, 5, 8], journal)
        assert server.calls == 7


def test_equal_questions_count_once() -> None:
    with ChatServer().running() as server:
        assert spent(server, 9, ["the same"] * 5, MemoryJournal()) == 1


def shared(store: Store, run: str, **limits: float) -> SharedBudget:
    """A budget of the run as one of its processes has it."""
    return SharedBudget(accounts=DatabaseJournal(store.engine).accounts(), run=run, **limits)  # type: ignore[arg-type]


SPENDER = """
import asyncio, os, sys, time
from pathlib import Path
from ragbench.old.llm.budget import SharedBudget
from ragbench.old.llm.errors import BudgetSpent
from ragbench.old.llm.budget import Amount
from ragbench.old.core.settings import DatabaseSettings, Settings
from ragbench.old.store import Store

async def one(budget):
    made = 0
    try:
        while True:
            await budget.reserve(Amount(1, 2.0, 0.0))
            made += 1
            budget.settle(Amount(1, 2.0, 0.0), Amount(1, 1.0, 0.0))
    except BudgetSpent as end:
        return made, str(end)

async def work(store):
    budget = SharedBudget(100, 90.5, accounts=store.journal.accounts(), run="spenders")
    told = await asyncio.gather(*(one(budget) for _ in range(3)))
    await budget.close()
    print(sum(made for made, _ in told), told[0][1])

with Store.open(Settings(database=DatabaseSettings(folder=Path(sys.argv[1])))) as store:
    asyncio.run(work(store))
"""


@pytest.mark.slow
@pytest.mark.fault("parallel-runs", tried="processes that share one budget", count=4)
def test_processes_together_spend_no_more_than_the_budget(store: Store, database_folder: Path) -> None:
    command = [sys.executable, "-c", SPENDER, str(database_folder)]
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = [worker.communicate(timeout=300)[0] for worker in workers]
    assert sum(int(each.split()[0]) for each in said) == 89, "with 89 spent, one more might take 2 of the 1.5 left"
    assert all("tokens: 89 of 90.5" in each for each in said)


@given(
    steps=st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from(["ask", "settle", "found", "paid"]), st.integers(0, 5)),
        max_size=25,
    ),
    limit=st.integers(1, 6),
)
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_interleaving_overruns(store: Store, steps: list[tuple[int, str, int]], limit: int) -> None:
    """Three processes in any order, each of whose words may come twice: what is paid and in flight stays within the
    limit, and what is told is what is."""
    one: Parts = (1, 2.0, 0.25)

    async def work() -> None:
        run = uuid.uuid4().hex
        holders = [store.journal.accounts() for _ in range(3)]
        paid, flying, seen = 0, [0] * 3, set[str]()
        for number, (who, step, name) in enumerate(steps):
            told, key = [], f"key {name}"
            if step == "settle" and flying[who]:
                flying[who], paid = flying[who] - 1, paid + 1
                told = [Told(f"step {number}", one, one)]
            elif step == "found":
                paid += key not in seen
                told = [Told(key, one)]
            elif step == "paid":
                told = [Told(key)]
            seen |= {key} if step in ("found", "paid") else set()
            wanted = one if step == "ask" else None
            before = paid + sum(flying)
            admitted, spent, reserved, quiet = await holders[who].spend(run, (limit, None, None), told, wanted)
            assert admitted == (step == "ask" and before < limit)
            flying[who] += admitted
            again = await holders[who].spend(run, (limit, None, None), told, None)
            for counted in ((spent, reserved), again[1:3]):
                assert counted == (
                    (paid, 2.0 * paid, 0.25 * paid),
                    (sum(flying), 2.0 * sum(flying), 0.25 * sum(flying)),
                )
            assert quiet >= 0
        for each in holders:
            await each.close()

    asyncio.run(work())


@pytest.mark.fault("kill", tried="a process that had reserved a part of the budget", count=1)
def test_what_one_that_is_gone_had_reserved_counts_as_spent_and_stops_nobody_for_ever(store: Store) -> None:
    async def work() -> None:
        gone = store.journal.accounts()
        assert (await gone.spend("gone", (5, None, None), [], (2, 0.0, 0.25)))[0]
        await gone.close()
        budget = shared(store, "gone", calls=5, gone=0.3)
        await budget.reserve(Amount(3, 0.0, 0.0))
        assert (budget.spent, budget.reserved) == (Amount(), Amount(5, 0.0, 0.25)), "it may still be there"
        budget.settle(Amount(3, 0.0, 0.0), Amount(2, 0.0, 0.0))
        await budget.reserve(Amount(1, 0.0, 0.0))
        budget.settle(Amount(1, 0.0, 0.0), Amount(1, 0.0, 0.0))
        with pytest.raises(BudgetSpent, match="calls: 5 of 5"):
            await budget.reserve(Amount(1, 0.0, 0.0))
        assert (budget.spent, budget.reserved) == (Amount(5, 0.0, 0.25), Amount())
        # it was only held up: what it tells is what holds
        told = [Told("late", (1, 0.0, 0.25), (2, 0.0, 0.25))]
        assert (await gone.spend("gone", (5, None, None), told, None))[1:3] == ((4, 0.0, 0.25), (0, 0.0, 0.0))
        await gone.close()
        await budget.close()

    asyncio.run(work())


def test_a_reply_that_another_process_paid_for_is_not_counted_twice(store: Store) -> None:
    async def work() -> None:
        one, other = (shared(store, "replies", calls=9) for _ in range(2))
        one.claim("key")
        one.settle(Amount(), Amount(1, 10.0, 0.1))
        await one.close()
        other.found("key", Amount(1, 10.0, 0.1))
        other.found("of an earlier run", Amount(1, 20.0, 0.2))
        other.found("of an earlier run", Amount(1, 20.0, 0.2))
        await other.close()
        assert other.spent == Amount(2, 30.0, pytest.approx(0.3))

    asyncio.run(work())


def test_one_who_is_cancelled_while_it_waits_leaves_nothing_reserved(store: Store) -> None:
    async def work() -> None:
        budget = shared(store, "cancelled", calls=1)
        await budget.reserve(Amount(1, 0.0, 0.0))
        waiting = asyncio.create_task(budget.reserve(Amount(1, 0.0, 0.0)))
        await asyncio.sleep(0.15)
        waiting.cancel()
        budget.settle(Amount(1, 0.0, 0.0), Amount())
        await asyncio.wait_for(budget.reserve(Amount(1, 0.0, 0.0)), 5)
        budget.settle(Amount(1, 0.0, 0.0), Amount())
        await budget.close()
        assert (budget.spent, budget.reserved) == (Amount(), Amount())

    asyncio.run(work())


def test_only_the_processes_of_a_run_with_limits_share(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits, journal = BudgetSettings(calls=3), store.journal
    assert type(open_budget(limits, journal)) is Budget
    named = open_budget(limits, journal, run="cluster 7")
    assert isinstance(named, SharedBudget)
    assert named.run == "cluster 7"
    monkeypatch.setenv(RUN_FOLDER, str(tmp_path))
    assert type(open_budget(BudgetSettings(), journal)) is Budget
    assert type(open_budget(limits, MemoryJournal())) is Budget
    opened = open_budget(limits, journal)
    assert isinstance(opened, SharedBudget)
    assert opened.run.endswith(f":{tmp_path}")
    monkeypatch.setenv(RUN, "cluster 8")
    assert getattr(open_budget(limits, journal), "run", "") == "cluster 8"


@pytest.mark.fault("rate-limits", tried="a budget over a run and its resumption", count=1)
@pytest.mark.slow
def test_one_budget_over_the_processes_of_a_run_and_over_its_resumption(
    store: Store, database_folder: Path, tmp_path: Path
) -> None:
    def judge_all(run: str, *names: str, calls: int = 40) -> list[int]:
        for name in names:
            (tmp_path / run / name).mkdir(parents=True)
        environment = {**os.environ, RUN_FOLDER: str(tmp_path / run), "RAGBENCH_BUDGET__CALLS": str(calls)}
        words = [sys.executable, "-m", "tests.old.llm.judged_run", server.url, str(database_folder), "25"]
        workers = [
            subprocess.Popen(
                [*words, str(tmp_path / run / name), name, "4"], env=environment, stderr=subprocess.DEVNULL
            )
            for name in names
        ]
        return [worker.wait(120) for worker in workers]

    names = ("tier2", "tier3", "judge")
    with ChatServer(latency=0.01).running() as server:
        codes = judge_all("first", *names)
        assert server.calls == server.answered == 40
        assert sum(codes) > 0, "three times 25 calls are more than 40"
        paid = {name: sum(f"{name} text" in json.dumps(one.body) for one in server.requests) for name in names}
        name = min(names, key=lambda each: paid[each])
        assert judge_all("again", name, calls=paid[name] + 3) != [0], "25 calls are more than were paid for, and three"
        assert server.calls == 43, "what was found counts as spent"
        # how many more three resumed processes ask for hangs on which has looked up its old replies first
        judge_all("once more", *names)
        asked = {json.dumps(served.body["messages"]) for served in server.requests}
        assert len(asked) == server.calls, "no reply was paid for twice"


class Heard:
    """Accounts without a database: what they are told, while they can be reached."""

    def __init__(self) -> None:
        self.reachable = True
        self.told: list[Told] = []

    async def spend(
        self, run: str, limits: object, told: list[Told], wanted: Parts | None
    ) -> tuple[bool, Parts, Parts, float]:
        if not self.reachable:
            raise OSError("the database does not answer")
        self.told += told
        return wanted is not None, (0, 0.0, 0.0), (0, 0.0, 0.0), 0.0

    async def close(self) -> None:
        """Nothing is open."""


def test_what_could_not_be_told_is_told_with_the_next_step() -> None:
    async def work() -> None:
        accounts = Heard()
        budget = SharedBudget(9, accounts=accounts, run="r")  # type: ignore[arg-type]
        accounts.reachable = False
        budget.found("key", Amount(1, 10.0, 0.1))
        budget.claim("other")
        with pytest.raises(OSError, match="does not answer"):
            await budget.close()
        accounts.reachable = True
        await budget.close()
        assert accounts.told == [Told("key", (1, 10.0, 0.1)), Told("other")]

    asyncio.run(work())


def test_no_rest_of_rounding_stays_reserved(store: Store) -> None:
    async def work() -> None:
        budget, worst = shared(store, "rest", calls=9), Amount(1, 0.1, 0.1)
        for _ in range(3):
            await budget.reserve(worst)
        for _ in range(3):
            budget.settle(worst, Amount())
        await budget.close()
        assert budget.reserved == Amount()

    asyncio.run(work())
