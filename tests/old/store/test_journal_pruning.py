"""The journal grows no more than people want: what is chosen goes, its room too, and what runs are made of stays."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Iterator
from functools import lru_cache

import pytest
from sqlalchemy import text

from ragbench.old.core import settings as settings_room
from ragbench.old.core.settings import Settings
from ragbench.old.llm.journal import Row
from ragbench.old.store import Store
from ragbench.old.store.reply_journal import Choice, DatabaseJournal, Pruning, shrink
from ragbench.old.store.run_records import RunRecord
from ragbench.old.store.runs import Runs
from tests.old.store.test_copying import databases as databases
from tests.old.store.test_journal import row

DAY = datetime.timedelta(days=1)


@pytest.fixture
def own(databases: Callable[[str], Settings], monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store of this test alone, which the commands open too."""
    settings = databases("pruned")
    monkeypatch.setattr(settings_room, "load", lru_cache(lambda: settings))
    with Store.open(settings) as store:
        yield store


def record(store: Store, rows: list[Row], days: float = 0) -> list[str]:
    """Record replies as of so many days ago; their keys."""
    DatabaseJournal(store.engine).bring_in(rows)
    keys = [each["key"] for each in rows]
    with store.engine.begin() as connection:
        connection.execute(
            text("UPDATE ragbench.journal SET recorded_at = now() - CAST(:age AS interval) WHERE key = ANY(:keys)"),
            {"age": days * DAY, "keys": keys},
        )
    return keys


def left(store: Store) -> set[str]:
    return {str(each["key"]) for each in DatabaseJournal(store.engine).rows()}


def judged(judge: str, count: int, words: int = 1, first: int = 0) -> list[Row]:
    return [row(judge, n, text="слово " * words) for n in range(first, first + count)]


def noise(length: int) -> str:
    """A text that no compression shortens much."""
    return "".join(random.Random(length).choices("абвгдежзиклмнопрстуфхцчшщэюя0123456789", k=length))


def test_everything_that_is_named_must_hold(own: Store) -> None:
    old, young = record(own, judged("a", 5), 100), record(own, judged("a", 5, first=5), 10)
    others = record(own, judged("b", 5), 100)
    assert Pruning(own.engine, Choice(older=90 * DAY, judge="a")).delete() == 5
    assert left(own) == {*young, *others}
    assert Pruning(own.engine, Choice(older=90 * DAY, model="none")).delete() == 0
    assert Pruning(own.engine, Choice(judge="b", model="m")).delete() == 5
    assert left(own) == set(young)
    assert old
    with pytest.raises(ValueError, match="nothing says"):
        Pruning(own.engine, Choice())


def test_large_replies_and_the_oldest_ones_go(own: Store) -> None:
    small = record(own, judged("a", 10), 3)
    large = record(own, [row("a", 50, text=noise(5000))], 1)
    assert [share.replies for share in Pruning(own.engine, Choice(larger=4000)).shares()] == [1]
    whole = sum(share.bytes for share in Pruning(own.engine, Choice(judge="a")).shares())
    half = Choice(down_to=whole - 1)
    assert [share.replies for share in Pruning(own.engine, half).shares()] == [1], "the oldest, till it is small enough"
    assert Pruning(own.engine, Choice(down_to=whole)).shares() == []
    Pruning(own.engine, Choice(down_to=0, larger=4000)).delete()
    assert left(own) == set(small)
    assert large


def test_what_a_kept_run_is_made_of_stays(own: Store) -> None:
    used, free = record(own, judged("a", 3), 5), record(own, judged("a", 3, first=3), 5)
    young = record(own, judged("a", 3, first=6), 0)
    Runs(own.engine).record(RunRecord("r1", replies=tuple(used)))
    unused = Choice(unused=True)
    assert Pruning(own.engine, unused).unknown() == 0
    assert Pruning(own.engine, unused).delete() == 3
    assert left(own) == {*used, *young}
    Runs(own.engine).delete("r1")
    assert Pruning(own.engine, unused).delete() == 3
    assert left(own) == set(young), "replies of the last day may be those of a run that is under way"
    assert free


def test_a_run_that_does_not_say_what_it_used_keeps_all_before_it(own: Store) -> None:
    record(own, judged("a", 3), 5)
    Runs(own.engine).record(RunRecord("of before"))
    Runs(own.engine).record(RunRecord("loaded", origin="elsewhere"))
    assert Pruning(own.engine, Choice(unused=True)).unknown() == 1
    assert Pruning(own.engine, Choice(unused=True)).shares() == []
    with own.engine.begin() as connection:
        connection.execute(text("UPDATE ragbench.run SET recorded_at = now() - interval '6 days'"))
    assert Pruning(own.engine, Choice(unused=True)).delete() == 3


def test_a_large_journal_is_not_locked_while_others_work(own: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from ragbench.old.store import reply_journal

    record(own, judged("a", 50, words=200), 2)
    monkeypatch.setattr(reply_journal, "QUICK_BYTES", 10_000)
    with own.engine.connect() as other:
        other.execute(text("SELECT 1"))
        room = shrink(own.engine)
    assert "other connections of ragbench work" in room.why
    own.engine.dispose()
    assert not shrink(own.engine).why


def test_lookups_use_the_index_and_never_read_the_whole_journal(own: Store) -> None:
    from ragbench.old.store import journal_connections

    with own.engine.begin() as connection:
        connection.execute(text(
            "INSERT INTO ragbench.journal (key, judge, endpoint, model, prompt, version, repeat, request, text, "
            "finish, input_tokens, output_tokens, estimated, cost, seconds, imported) "
            "SELECT encode(sha256(n::text::bytea), 'hex'), 'j', 'e', 'm', 'p', 1, 0, '{}', repeat('t', 1500), "
            "'stop', 1, 1, false, 0, 0, false FROM generate_series(1, 20000) n"))  # fmt: skip
        connection.execute(text("ANALYZE ragbench.journal"))
        keys = list(connection.scalars(text("SELECT key FROM ragbench.journal LIMIT 256")))
        raw = connection.connection.driver_connection
        assert raw is not None
        plans = [
            "\n".join(
                line for (line,) in raw.execute(f"EXPLAIN {journal_connections._FIND}", (",".join(some),)).fetchall()
            )
            for some in (keys[:1], keys)
        ]
    for plan in plans:
        assert "journal_pkey" in plan, plan
        assert "Seq Scan" not in plan, plan
