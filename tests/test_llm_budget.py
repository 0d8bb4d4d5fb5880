"""One budget for all that a run spends: clients, processes, those that were killed, and what was paid before."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from ragbench.llm import Budget, BudgetSpent, MemoryJournal, open_budget
from ragbench.llm.budget import FILE, SharedBudget
from ragbench.llm.pricing import Amount
from ragbench.settings import RUN_FOLDER, BudgetSettings
from ragbench.store import Store
from tests.chat_server import ChatServer
from tests.llm_client import open_client
from tests.llm_shapes import request


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


SPENDER = """
import asyncio, sys
from pathlib import Path
from ragbench.llm.budget import SharedBudget
from ragbench.llm.errors import BudgetSpent
from ragbench.llm.pricing import Amount

async def work():
    budget = SharedBudget(calls=100, tokens=90.5, file=Path(sys.argv[1]))
    made = 0
    try:
        while True:
            await budget.reserve(Amount(1, 2.0, 0.0))
            made += 1
            budget.settle(Amount(1, 2.0, 0.0), Amount(1, 1.0, 0.0))
    except BudgetSpent as end:
        print(made, end)

asyncio.run(work())
"""


@pytest.mark.fault("parallel-runs", tried="processes that share one budget", count=4)
def test_processes_together_spend_no_more_than_the_budget(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SPENDER, str(tmp_path / FILE)]
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = [worker.communicate(timeout=60)[0] for worker in workers]
    assert sum(int(each.split()[0]) for each in said) == 89, "with 89 spent, one more might take 2 of the 1.5 left"
    assert all("tokens: 89 of 90.5" in each for each in said)


@pytest.mark.fault("kill", tried="a process that had reserved a part of the budget", count=1)
def test_what_a_killed_process_had_reserved_counts_as_spent(tmp_path: Path) -> None:
    program = "import asyncio, sys; from pathlib import Path; from ragbench.llm.budget import SharedBudget\n"
    program += "from ragbench.llm.pricing import Amount\n"
    program += "asyncio.run(SharedBudget(calls=5, file=Path(sys.argv[1])).reserve(Amount(2, 0.0, 0.25)))"
    subprocess.run([sys.executable, "-c", program, str(tmp_path / FILE)], check=True)
    budget = SharedBudget(calls=5, file=tmp_path / FILE)
    asyncio.run(budget.reserve(Amount(3, 0.0, 0.0)))
    assert (budget.spent, budget.reserved) == (Amount(2, 0.0, 0.25), Amount(3, 0.0, 0.0))
    budget.settle(Amount(3, 0.0, 0.0), Amount(3, 0.0, 0.0))
    with pytest.raises(BudgetSpent, match="calls: 5 of 5"):
        asyncio.run(budget.reserve(Amount(1, 0.0, 0.0)))


def test_a_reply_that_another_process_paid_for_is_not_counted_twice(tmp_path: Path) -> None:
    one, other = (SharedBudget(calls=9, file=tmp_path / FILE) for _ in range(2))
    one.claim("key")
    one.settle(Amount(), Amount(1, 10.0, 0.1))
    other.found("key", Amount(1, 10.0, 0.1))
    other.found("of an earlier run", Amount(1, 20.0, 0.2))
    other.found("of an earlier run", Amount(1, 20.0, 0.2))
    assert other.spent == Amount(2, 30.0, pytest.approx(0.3))


def test_only_a_run_with_limits_shares_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(open_budget(BudgetSettings(calls=3))) is Budget
    monkeypatch.setenv(RUN_FOLDER, str(tmp_path))
    assert type(open_budget(BudgetSettings())) is Budget
    assert not list(tmp_path.iterdir())
    opened = open_budget(BudgetSettings(calls=3))
    assert isinstance(opened, SharedBudget)
    assert opened.file == tmp_path / FILE


@pytest.mark.fault("rate-limits", tried="a budget over a run and its resumption", count=1)
@pytest.mark.slow
def test_one_budget_over_the_processes_of_a_run_and_over_its_resumption(
    store: Store, database_folder: Path, tmp_path: Path
) -> None:
    def judge_all(run: str, *names: str) -> list[int]:
        for name in names:
            (tmp_path / run / name).mkdir(parents=True)
        environment = {**os.environ, RUN_FOLDER: str(tmp_path / run), "RAGBENCH_BUDGET__CALLS": "40"}
        words = [sys.executable, "-m", "tests.judged_run", server.url, str(database_folder), "25"]
        workers = [
            subprocess.Popen(
                [*words, str(tmp_path / run / name), name, "4"], env=environment, stderr=subprocess.DEVNULL
            )
            for name in names
        ]
        return [worker.wait(120) for worker in workers]

    with ChatServer(latency=0.01).running() as server:
        codes = judge_all("first", "tier2", "tier3", "judge")
        assert server.calls == server.answered == 40
        assert sum(codes) > 0, "three times 25 calls are more than 40"
        judge_all("again", "tier2", "tier3", "judge")
        # a page that asks for new replies while another still looks up its old ones may be a few calls ahead
        assert 40 <= server.calls <= 50
        asked = {json.dumps(served.body["messages"]) for served in server.requests}
        assert len(asked) == server.calls, "no reply was paid for twice"
