"""Processes that ask the same at the same time: each question is paid for once, and nobody waits without end."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ragbench.old.llm import Client, Completion
from ragbench.old.store import Store
from ragbench.old.store.journal_connections import JournalConnections
from ragbench.old.store.reply_journal import DatabaseJournal
from tests.old.judge import judged_project
from tests.old.llm.chat_server import ChatServer
from tests.old.llm.llm_client import open_client
from tests.old.llm.llm_shapes import request
from tests.old.store.test_journal import calls, chat_process, journaled, told

ROOT = Path(__file__).parents[3]
N = 400


def judging(url: str, folder: Path, out: Path, name: str, concurrency: int = 8) -> subprocess.Popen[bytes]:
    """A process that judges the same N texts as every other one of that name."""
    out.mkdir()
    words = ["-m", "tests.old.llm.judged_run", url, str(folder), str(N), str(out), name, str(concurrency)]
    return subprocess.Popen([sys.executable, *words], cwd=ROOT, stderr=subprocess.PIPE)


def ended(process: subprocess.Popen[bytes]) -> None:
    _, said = process.communicate(timeout=180)
    assert process.returncode == 0, said.decode()


@pytest.mark.slow
@pytest.mark.fault("parallel-runs", tried="runs that begin together and ask the same 400 questions", count=6)
@pytest.mark.parametrize("processes", [2, 4])
def test_runs_at_once_ask_each_question_once(
    processes: int, store: Store, database_folder: Path, tmp_path: Path
) -> None:
    name = f"together{processes}"
    with chat_process(latency=0.05) as url:
        running = [judging(url, database_folder, tmp_path / str(n), name) for n in range(processes)]
        for process in running:
            ended(process)
        assert calls(url) == journaled(store, name) == N
    tables = {(tmp_path / str(n) / "table").read_bytes() for n in range(processes)}
    assert len(tables) == 1, "all have the same scores"
    assert len(json.loads(tables.pop())) == N


@pytest.mark.slow
@pytest.mark.fault("parallel-runs", tried="one of several runs at once is killed with -9 in the middle", count=6)
@pytest.mark.parametrize("processes", [2, 4])
def test_what_a_killed_run_was_asking_for_is_asked_by_the_others_at_once(
    processes: int, store: Store, database_folder: Path, tmp_path: Path
) -> None:
    name, in_flight, source = f"killedof{processes}", 8, random.Random(6)
    with chat_process(latency=0.3) as url:
        running = [judging(url, database_folder, tmp_path / str(n), name, in_flight) for n in range(processes)]
        goal = source.randint(40, 120)
        while calls(url) < goal:
            time.sleep(0.01)
        victim = running[0]
        victim.send_signal(signal.SIGKILL)
        began = time.monotonic()
        victim.communicate(timeout=20)
        for process in running[1:]:
            ended(process)
        assert time.monotonic() - began < 60
        assert N <= calls(url) <= N + in_flight, "only what was in flight is asked again"
        assert journaled(store, name) == N
    first = json.loads((tmp_path / "1" / "table").read_bytes())
    assert len(first) == N
    assert told(tmp_path / "0").items() <= first.items()


@pytest.mark.slow
@pytest.mark.fault("parallel-runs", tried="two `ragbench score` of one file at once", count=2)
def test_two_scores_of_one_file_pay_for_one(project: Path) -> None:
    rows = [
        {"user_input": f"What of {n}?", "response": f"It is {n}.", "retrieved_contexts": [f"It was {n}."]}
        for n in range(100)
    ]
    (project / "answers.json").write_text(json.dumps(rows), encoding="utf-8")
    with ChatServer(latency=0.1, answer=judged_project.reply).running() as server:
        judged_project.make(project, server.url, "one", concurrency=8)
        words = [sys.executable, "-m", "ragbench", "score", "answers.json", "-m", "faithfulness", "--judge", "one"]
        scores = [
            subprocess.Popen(
                [*words, "--json", f"{number}.json"], env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            )
            for number in range(2)
        ]  # fmt: skip
        for score in scores:
            ended(score)
        assert server.calls == 2 * len(rows), "claims and verdicts of each answer, once"
    one, other = (json.loads((project / f"{number}.json").read_text()) for number in range(2))
    assert one["estimates"] == other["estimates"]


@asynccontextmanager
async def apart(store: Store, server: ChatServer, processes: int, **more: Any) -> AsyncIterator[list[Client]]:
    """Clients as several processes have them: a journal and a session of the database each."""
    async with AsyncExitStack() as stack:
        own = ({"journal": DatabaseJournal(store.engine), **more} for _ in range(processes))
        yield [await stack.enter_async_context(open_client(server, "apart", **one)) for one in own]


def test_repeats_are_questions_of_their_own(store: Store) -> None:
    async def work(server: ChatServer) -> list[Completion]:
        async with apart(store, server, 2) as clients:
            asked = [request("repeated", repeat=repeat) for repeat in range(3)]
            return await asyncio.gather(*(client.complete(one) for client in clients for one in asked))

    with ChatServer(latency=0.1).running() as server:
        found = asyncio.run(work(server))
        assert server.calls == 3
    assert sum(one.calls for one in found) == 3


def test_what_one_cannot_get_another_asks_for(store: Store) -> None:
    """The one that asked first is refused; the other, which waited for it, asks itself and is served."""
    answers = iter(["!400"])

    async def work(server: ChatServer) -> list[Completion]:
        async with apart(store, server, 2, replies="text") as clients:
            return await asyncio.gather(*(client.complete(request("refused once")) for client in clients))

    with ChatServer(latency=0.1, answer=lambda body: next(answers, None)).running() as server:
        found = asyncio.run(work(server))
        assert server.calls == 2
    assert sorted(one.status.value for one in found) == ["judge_error", "ok"]


@pytest.mark.fault("parallel-runs", tried="a run that is held up while it asks: the other overtakes it", count=1)
def test_one_that_is_held_up_is_overtaken(store: Store) -> None:
    async def work(server: ChatServer) -> tuple[Completion, float]:
        holder = DatabaseJournal(store.engine).on_loop()
        async with apart(store, server, 1, patience_seconds=0.4) as (client,):
            key = client.key(request("held up"))
            assert await holder.claim([key]) == ({}, {key})
            began = time.monotonic()
            try:
                return await client.complete(request("held up")), time.monotonic() - began
            finally:
                await holder.close()

    with ChatServer().running() as server:
        completion, seconds = asyncio.run(work(server))
    assert completion.calls == 1
    assert 0.4 <= seconds < 20


@pytest.mark.fault(
    "kill", tried="the commit of a reply's row is held back: nothing is scored until it is through", count=1
)
def test_a_reply_is_scored_only_once_its_row_is_committed(store: Store) -> None:
    from sqlalchemy import text

    async def work(server: ChatServer) -> None:
        journal = DatabaseJournal(store.engine)
        async with open_client(server, "held back", journal=journal) as client:
            with store.engine.begin() as other:
                other.execute(text("LOCK TABLE ragbench.journal IN SHARE MODE"))  # readers go on, writers wait
                asked = asyncio.create_task(client.complete(request("held back")))
                while server.answered < 1:
                    await asyncio.sleep(0.02)
                await asyncio.sleep(0.4)
                assert not asked.done(), "the reply is there, and could be lost"
                assert client.tally.done == 0
                assert client.tally.in_flight == 1, "until it is kept the call is under way"
            completion = await asked
            assert completion.value is not None
            key = client.key(request("held back"))
            assert [each["key"] for each in journal.rows_of([key])] == [key]

    with ChatServer().running() as server:
        asyncio.run(asyncio.wait_for(work(server), 30))


async def claimed_in_the_end(connections: JournalConnections, key: str) -> Any:
    """What a claim gives once the key is let go, of which the database hears a little later; the last of many."""
    for _ in range(200):
        found = await connections.claim([key])
        if found[1]:
            break
        await asyncio.sleep(0.05)
    return found


class TestClaims:
    """Of one event loop each; several in one process are several sessions of the database."""

    @staticmethod
    def work(store: Store, body: Any) -> Any:
        async def inside() -> Any:
            one, other = (DatabaseJournal(store.engine).on_loop() for _ in range(2))
            try:
                return await body(one, other)
            finally:
                for connections in (one, other):
                    if connections.users:
                        await connections.close()

        return asyncio.run(inside())

    def test_a_key_is_of_one_at_a_time(self, store: Store) -> None:
        async def body(one: JournalConnections, other: JournalConnections) -> None:
            assert await one.claim(["c1", "c2"]) == ({}, {"c1", "c2"})
            assert await other.claim(["c1", "c3"]) == ({}, {"c3"})
            assert await one.claim(["c1"]) == ({}, set()), "nor twice of one"
            one.release("c1")
            assert await claimed_in_the_end(other, "c1") == ({}, {"c1"})
            assert await one.claim(["c1"]) == ({}, set())

        self.work(store, body)

    def test_who_goes_lets_go(self, store: Store) -> None:
        async def body(one: JournalConnections, other: JournalConnections) -> None:
            await one.claim(["g1"])
            await one.close()
            assert await claimed_in_the_end(other, "g1") == ({}, {"g1"})

        self.work(store, body)

    def test_a_session_that_the_server_ends_claims_again_what_is_under_way(self, store: Store) -> None:
        from sqlalchemy import text

        async def body(one: JournalConnections, other: JournalConnections) -> None:
            await one.claim(["s1"])
            assert one._claims is not None
            with store.engine.connect() as connection:
                connection.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": one._claims.info.backend_pid})
            assert (await one.claim(["s2"]))[1] == {"s2"}
            assert (await other.claim(["s1", "s2"]))[1] == set()

        self.work(store, body)

    def test_beyond_the_most_all_is_asked_and_nothing_waits(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("ragbench.old.store.journal_connections.MOST_CLAIMS", 3)

        async def body(one: JournalConnections, other: JournalConnections) -> None:
            keys = [f"m{n}" for n in range(5)]
            assert (await one.claim(keys))[1] == set(keys)
            assert (await other.claim(keys))[1] == {"m3", "m4"}

        self.work(store, body)
