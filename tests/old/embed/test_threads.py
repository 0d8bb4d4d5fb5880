"""Several threads of a process share one state of it: it begins with the first and ends with the last."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest
import threadpoolctl
from hypothesis import given
from hypothesis import strategies as st

from ragbench.old.embed.threads import Shared, one_thread
from ragbench.old.metrics.cache import nearest


def blas() -> set[int]:
    return {one["num_threads"] for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas"}


def test_who_leaves_first_gives_nothing_back_to_who_is_still_inside() -> None:
    inside, left = threading.Event(), threading.Event()

    def first() -> None:
        with one_thread():
            inside.set()
            assert second_is_in.wait(30)
        left.set()

    second_is_in = threading.Event()
    with threadpoolctl.threadpool_limits(2, "blas"):
        other = threading.Thread(target=first)
        other.start()
        assert inside.wait(30)
        with one_thread():
            second_is_in.set()
            assert left.wait(30)
            assert blas() == {1}
        other.join()
        assert blas() == {2}


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4), st.sampled_from("ab")), max_size=30))
def test_a_state_lasts_from_the_first_to_the_last(steps: list[tuple[bool, int, str]]) -> None:
    """Each comes with what there is to begin; whoever leaves, in whatever order, nothing ends before all have left."""
    log: list[str] = []
    now = ["a"]

    @contextmanager
    def begin(key: str) -> Iterator[None]:
        log.append(f"+{key}")
        yield
        log.append(f"-{key}")

    shared = Shared(lambda: now[0], begin)
    entered: dict[int, ExitStack] = {}
    begun: list[str] = []
    for enters, who, key in steps:
        if enters and who not in entered:
            now[0] = key
            entered[who] = ExitStack()
            entered[who].enter_context(shared())
            begun += [key] if key not in begun else []
        elif not enters and who in entered:
            entered.pop(who).close()
            if not entered:
                assert log[-len(begun) :] == [f"-{one}" for one in reversed(begun)]
                begun = []
        assert log.count("+a") - log.count("-a") == begun.count("a")
        assert log.count("+b") - log.count("-b") == begun.count("b")
    for one in entered.values():
        one.close()
    assert sorted(log.count(f"+{key}") - log.count(f"-{key}") for key in "ab") == [0, 0]


@pytest.mark.parametrize("threads", [2, 4])
def test_the_nearest_of_a_cache_are_the_same_to_the_bit_whatever_the_number_of_threads(threads: int) -> None:
    draw = np.random.default_rng(0)
    asked, cached = draw.normal(size=(300, 384)), draw.normal(size=(200, 384))
    found = []
    for number in (1, threads):
        with threadpoolctl.threadpool_limits(number, "blas"), one_thread():
            found.append(nearest(asked, cached).similarities.tobytes())
    assert found[0] == found[1]
