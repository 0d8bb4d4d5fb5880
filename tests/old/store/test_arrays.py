"""Arrays that are slow to make: made once for what they depend on, read back bit by bit, made anew where damaged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ragbench.old.store import Store, arrays


class Maker:
    """Counts how often it is called."""

    def __init__(self, size: int = 5) -> None:
        self.calls, self.size = 0, size

    def __call__(self) -> dict[str, Any]:
        self.calls += 1
        numbers = np.random.default_rng(0).standard_normal(self.size)
        return {"numbers": numbers, "places": np.arange(3, dtype=np.int32), "none": np.zeros(0), "raw": b"\0\xff" * 4}


@pytest.fixture(autouse=True)
def empty(store: Store) -> None:
    _run(store, "DELETE FROM ragbench.array_set")


def _run(store: Store, statement: str) -> Any:
    with store.engine.begin() as connection:
        found = connection.exec_driver_sql(statement)
        return found.all() if found.returns_rows else None


def test_what_was_made_is_read_back_bit_by_bit(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "BLOCK", 100)  # so that there are several
    make = Maker(50)
    first = store.arrays({"what": "bits", "k1": 1.5}, make)
    again = store.arrays({"k1": 1.5, "what": "bits"}, make)
    assert make.calls == 1
    assert list(again) == list(first)
    for name, one in again.items():
        assert (one.dtype, one.shape) == (np.asarray(first[name]).dtype, np.asarray(first[name]).shape)
        assert one.tobytes() == np.asarray(first[name]).tobytes()
    assert _run(store, "SELECT count(*) > 3 FROM ragbench.array_block") == [(True,)]
    store.arrays({"what": "bits", "k1": 1.6}, make)
    assert make.calls == 2


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM ragbench.array_block WHERE position = 1",
        "DELETE FROM ragbench.array_block",
        "UPDATE ragbench.array_block SET content = set_byte(content, 50, 255 - get_byte(content, 50)) "
        "WHERE position = 2",
    ],
    ids=["a block lost", "all lost", "a byte changed"],
)
def test_what_is_damaged_is_made_anew(store: Store, monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    monkeypatch.setattr(arrays, "BLOCK", 100)
    make = Maker(50)
    first = store.arrays({"what": "damaged"}, make)
    _run(store, damage)
    again = store.arrays({"what": "damaged"}, make)
    np.testing.assert_array_equal(first["numbers"], again["numbers"])
    store.arrays({"what": "damaged"}, make)
    assert make.calls == 2
    assert _run(store, "SELECT count(*) FROM ragbench.array_set") == [(1,)]


def test_what_was_not_read_for_longest_leaves_where_there_is_too_much(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = Maker(1000)
    for name in "abc":
        store.arrays({"what": name}, make)
    _run(store, "UPDATE ragbench.array_set SET read_at = now() - interval '2 hours' * id")
    store.arrays({"what": "a"}, make)  # read now
    [(size,)] = _run(store, "SELECT min(bytes) FROM ragbench.array_set")
    monkeypatch.setattr(arrays, "MOST_BYTES", 3 * size)
    store.arrays({"what": "d"}, make)
    left = {about["what"] for (about,) in _run(store, "SELECT about FROM ragbench.array_set")}
    assert left == {"a", "b", "d"}, "c was read longest ago"
    monkeypatch.setattr(arrays, "MOST_BYTES", 1)
    store.arrays({"what": "e"}, make)
    assert _run(store, "SELECT about ->> 'what' FROM ragbench.array_set") == [("e",)], "what is new stays"


def test_of_two_that_make_the_same_at_once_one_set_is_kept(store: Store) -> None:
    inner, outer = Maker(), Maker()

    def slow() -> dict[str, Any]:
        store.arrays({"what": "raced"}, inner)
        return outer()

    store.arrays({"what": "raced"}, slow)
    assert (inner.calls, outer.calls) == (1, 1)
    assert _run(store, "SELECT count(*), count(DISTINCT key) FROM ragbench.array_set") == [(1, 1)]
