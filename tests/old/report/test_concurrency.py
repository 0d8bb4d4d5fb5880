"""How many notebooks run at the same time: as somebody said, else as many as change no number."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import psutil
import pytest
import threadpoolctl

from ragbench.old.core import trust
from ragbench.old.core.settings import BESIDE
from ragbench.old.report.execution import kernel_pool
from ragbench.old.report.execution.kernel_pool import THREADS, Round, affordable, limit_threads, rounds

ALONE: tuple[trust.Item, ...] = ()
NOTEBOOKS: dict[str, dict[str, Any]] = {
    "tier0": {"k": 5},
    "tier1": {"k": 5, "fresh_timings": False},
    "dataset": {},
    "tier3": {"fresh_timings": False},
}


def reaching(*kinds: Any) -> tuple[trust.Item, ...]:
    return tuple(trust.Item(kind, "one", "does it", "0") for kind in kinds)


def never() -> bool:
    return False


@pytest.fixture
def four(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_pool, "affordable", lambda: 4)


@pytest.mark.usefixtures("four")
def test_notebooks_that_read_the_clock_come_first_and_one_by_one() -> None:
    assert rounds(NOTEBOOKS, None, ALONE, never) == [(("tier1", "tier3"), 1, True), (("tier0", "dataset"), 4, True)]
    assert rounds({"dataset": {}}, None, ALONE, never) == [(("dataset",), 4, True)]
    assert rounds({"tier1": {"fresh_timings": False}}, None, reaching("server"), never) == [(("tier1",), 1, True)]


@pytest.mark.usefixtures("four")
def test_where_readings_are_kept_all_run_side_by_side_and_none_may_read_another() -> None:
    assert rounds(NOTEBOOKS, None, ALONE, lambda: True) == [(("tier1", "tier3", "tier0", "dataset"), 4, False)]
    late = rounds({**NOTEBOOKS, "users": {}, "sources": {}}, None, ALONE, lambda: True, {"tier1", "users"})
    assert late == [(("tier3", "tier0", "dataset", "sources", "tier1", "users"), 4, False)]
    anew = {**NOTEBOOKS, "tier3": {"fresh_timings": True}}
    assert rounds(anew, None, ALONE, lambda: True) == [(("tier1", "tier3"), 1, True), (("tier0", "dataset"), 4, True)]


@pytest.mark.parametrize("kept", [True, False])
def test_alone_a_notebook_may_always_read_it(kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_pool, "affordable", lambda: 1)
    assert all(one.clock for one in rounds(NOTEBOOKS, None, ALONE, lambda: kept))
    monkeypatch.setattr(kernel_pool, "affordable", lambda: 4)
    assert rounds({"tier1": {"fresh_timings": False}}, None, ALONE, lambda: kept) == [(("tier1",), 1, True)]


@pytest.mark.usefixtures("four")
@pytest.mark.parametrize("kind", ["callable", "file", "notebook", "key", "database", "texts"])
def test_what_a_project_sends_or_runs_of_its_own_is_asked_by_one_notebook_at_a_time(kind: str) -> None:
    assert rounds(NOTEBOOKS, None, reaching("server", kind), lambda: True) == [(tuple(NOTEBOOKS), 1, True)]


@pytest.mark.parametrize("reach", [ALONE, reaching("key")])
def test_who_says_how_many_is_followed(reach: tuple[trust.Item, ...]) -> None:
    assert rounds(NOTEBOOKS, 3, reach, lambda: True) == [(tuple(NOTEBOOKS), 3, True)]


@pytest.mark.parametrize(("cores", "gigabytes", "count"), [(8, 64, 8), (8, 7, 3), (2, 64, 2), (4, 1, 1)])
def test_cores_and_free_memory_set_the_limit(
    cores: int, gigabytes: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(cores)), raising=False)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=gigabytes * 2**30))
    assert affordable() == count


@pytest.mark.parametrize(
    ("jobs", "clock", "variables"),
    [
        (1, True, {}),
        (2, True, {THREADS: "4"}),
        (3, False, {THREADS: "2", BESIDE: "1"}),
        (20, True, {THREADS: "1"}),
        (1, False, {BESIDE: "1"}),
    ],
)
def test_notebooks_side_by_side_share_the_cores(
    jobs: int, clock: bool, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.delenv(THREADS, raising=False)
    assert Round((), jobs, clock).environment == variables
    monkeypatch.setenv(THREADS, "7")
    assert THREADS not in Round((), jobs, clock).environment


@pytest.mark.parametrize(("said", "threads"), [("1", 1), ("", 2), ("0", 2), ("-1", 2), ("two", 2), (None, 2)])
def test_a_process_that_has_begun_takes_as_many_threads_as_it_is_told(
    said: str | None, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if said is None:
        monkeypatch.delenv(THREADS, raising=False)
    else:
        monkeypatch.setenv(THREADS, said)
    with threadpoolctl.threadpool_limits(2, "blas"):
        limit_threads()
        found = [one["num_threads"] for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas"]
    assert set(found) == {threads}
