"""A memo keeps what its bytes allow, the newest, and gives what the function gives."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from ragbench.old.judge.words import ENTRY_BYTES, Memo

ONE = ENTRY_BYTES + sys.getsizeof("a") + 8


def counted(most: int) -> tuple[Memo[str], list[str]]:
    """Of the function that turns a text round, whose results count eight bytes; what it was called with."""
    called: list[str] = []

    def work(text: str) -> str:
        called.append(text)
        return text[::-1]

    return Memo(work, most, lambda _: 8), called


def test_what_is_kept_is_not_worked_out_again() -> None:
    memo, called = counted(10 * ONE)
    assert [memo(text) for text in ("ab", "cd", "ab", "cd")] == ["ba", "dc", "ba", "dc"]
    assert called == ["ab", "cd"]


def test_the_oldest_goes_first() -> None:
    memo, called = counted(2 * ONE)
    for text in "abacab":
        memo(text)
    assert called == ["a", "b", "c", "a", "b"]
    assert memo.bytes == 2 * ONE


def test_what_is_too_large_alone_is_given_and_not_kept() -> None:
    memo, called = counted(2 * ONE)
    assert memo("a" * 3000) == "a" * 3000
    assert (memo("b"), memo.bytes) == ("b", ONE)
    memo("a" * 3000)
    assert called == ["a" * 3000, "b", "a" * 3000]


@given(st.lists(st.text(max_size=30)), st.integers(0, 3000))
def test_it_gives_what_the_function_gives_within_its_bytes(texts: list[str], most: int) -> None:
    memo, _ = counted(most)
    for text in texts:
        assert memo(text) == text[::-1]
        assert memo.bytes <= most


def test_threads_share_it() -> None:
    memo, _ = counted(3 * ONE)
    texts = [chr(97 + n % 7) for n in range(5000)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(memo, texts)) == texts
    assert memo.bytes == 3 * ONE
