"""The journal on an event loop: rows as they were given, shared connections, few of them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ragbench.old.llm.journal import Ledger
from ragbench.old.store import Store, StoreError
from ragbench.old.store.journal_connections import CONNECTIONS, JournalConnections
from ragbench.old.store.reply_journal import DatabaseJournal
from tests.old.store.test_journal import on_loop, row


def test_rows_are_kept_as_they_were_given(store: Store) -> None:
    texts = ['"кавычки" \\ \n\t é', "{braces} %s $1 ''", "\u2028 \U0001f600 ﷽", ""]
    rows = [
        row(
            "connections",
            n,
            text=text,
            refusal=text or None,
            cost=0.1 + n / 3,
            seconds=1e-9 * n,
            input_tokens=2**40 + n,
        )
        for n, text in enumerate(texts)
    ]
    keys = [*(each["key"] for each in rows), "absent"]

    async def work(connections: JournalConnections) -> Any:
        kept = await connections.record(rows)
        later = await connections.record([row("connections", 0, text="later"), row("connections", 9)])
        found, ours = await connections.claim(keys)
        assert ours == {"absent"}
        return kept, later, found, await connections.find(keys)

    journal = DatabaseJournal(store.engine)
    kept, later, claimed, found = asyncio.run(on_loop(journal, work))
    wanted = {each["key"]: each for each in rows}
    assert kept == claimed == found == wanted
    assert {each["key"]: each for each in journal.rows_of(keys)} == wanted
    assert later[rows[0]["key"]] == rows[0]
    assert later[row("connections", 9)["key"]] == row("connections", 9)


def test_all_judges_of_a_loop_share_a_few_connections_and_the_last_one_closes_them(store: Store) -> None:
    from sqlalchemy import text

    journal = DatabaseJournal(store.engine)

    others = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"

    def connections() -> set[int]:
        with store.engine.connect() as connection:
            return {*connection.scalars(text(others))}

    async def work() -> tuple[int, int]:
        before = await asyncio.to_thread(connections)
        ledgers = [Ledger(journal, patience=5) for _ in range(4)]
        for turn in range(5):
            keys = [f"absent {turn} {n}" for n in range(20)]
            await asyncio.gather(*(each.claim(f"{key} {n}") for n, each in enumerate(ledgers) for key in keys))
        most = await asyncio.to_thread(connections)
        for ledger in ledgers:
            await ledger.close()
        return len(most - before), len(journal._connections)

    more, left = asyncio.run(work())
    assert 1 <= more <= CONNECTIONS
    assert left == 0


def test_limits_are_those_of_the_stores_own_connections(store: Store) -> None:
    async def work(connections: JournalConnections) -> list[str]:
        connection = await connections._connect()
        try:
            return [
                (await (await connection.execute(f"SHOW {name}")).fetchone() or ("",))[0]
                for name in ("statement_timeout", "lock_timeout")
            ]
        finally:
            await connection.close()

    limits = [store.limits.statement_seconds, store.limits.lock_seconds]
    said = {600.0: "10min", 20.0: "20s"}
    assert asyncio.run(on_loop(DatabaseJournal(store.engine), work)) == [said[limit] for limit in limits]


@pytest.mark.fault("locks", tried="a statement that the server refuses", count=1)
def test_a_statement_that_the_server_refuses_is_no_reason_to_wait(store: Store) -> None:
    faulty = [{**row("refused", 1), "text": None}]
    asked = on_loop(DatabaseJournal(store.engine), lambda connections: connections.record(faulty))
    with pytest.raises(StoreError, match="writing the journal"):
        asyncio.run(asyncio.wait_for(asked, 20))
