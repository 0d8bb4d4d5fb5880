"""Clock readings: measured once for the same inputs, shown again for ever, measured anew only when asked."""

from __future__ import annotations

import numpy as np
import pytest

from ragbench.old.core.settings import BESIDE
from ragbench.old.store import Store
from ragbench.old.store.errors import DisturbedClockError


class Clock:
    """Gives other readings at every call, as clocks do."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> dict[str, np.ndarray]:
        self.calls += 1
        return {"embed": np.array([0.1, np.nan, 1 / 3]) * self.calls, "search": np.array([2.0, 3.0, 4.0])}


def test_the_same_inputs_give_the_readings_of_the_first_time(store: Store) -> None:
    clock, about = Clock(), {"embedder": "kept once", "k": 10}
    first = store.readings(about, clock)
    again = store.readings({"k": 10, "embedder": "kept once"}, clock)
    assert clock.calls == 1
    np.testing.assert_array_equal(first["embed"], again["embed"])
    np.testing.assert_allclose(first["embed"], [0.1, np.nan, 0.333333])
    assert list(first["search"]) == [2, 3, 4]


@pytest.mark.parametrize("changed", [{"k": 11}, {"embedder": "another"}, {"ef_search": 40}])
def test_other_inputs_are_measured_themselves(store: Store, changed: dict) -> None:
    clock, about = Clock(), {"embedder": f"of {changed}", "k": 10}
    store.readings(about, clock)
    store.readings(about | changed, clock)
    assert clock.calls == 2


def test_fresh_readings_replace_the_kept_ones(store: Store) -> None:
    clock, about = Clock(), {"embedder": "fresh"}
    store.readings(about, clock)
    assert store.readings(about, clock, fresh=True)["embed"][0] == 0.2
    assert store.readings(about, clock)["embed"][0] == 0.2
    assert clock.calls == 2


def test_of_two_that_measure_at_once_the_first_to_keep_wins(store: Store) -> None:
    about = {"embedder": "raced"}
    clock = Clock()

    def slow() -> dict[str, np.ndarray]:
        store.readings(about, clock)
        return {"embed": np.array([99.0])}

    assert store.readings(about, slow)["embed"][0] == 0.1


@pytest.mark.parametrize("fresh", [False, True])
def test_beside_others_no_clock_is_read_but_what_is_kept(
    store: Store, fresh: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, about = Clock(), {"embedder": "disturbed", "fresh": fresh}
    with monkeypatch.context() as beside:
        beside.setenv(BESIDE, "1")
        with pytest.raises(DisturbedClockError):
            store.readings(about, clock, fresh=fresh)
        assert clock.calls == 0
    alone = store.readings(about, clock)
    monkeypatch.setenv(BESIDE, "1")
    np.testing.assert_array_equal(store.readings(about, clock)["embed"], alone["embed"])
