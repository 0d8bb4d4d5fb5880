"""The exact binomial test: by hand, and which counts and chances there can be."""

from __future__ import annotations

import pytest

from ragbench.old import stats


@pytest.mark.parametrize(
    ("successes", "n", "chance", "p"),
    [
        (1, 5, 0.5, 2 * (1 + 5) / 32),
        (0, 5, 0.5, 2 / 32),
        (5, 5, 0.5, 2 / 32),
        (0, 1, 0.5, 1.0),
        (2, 3, 0.2, 0.2**3 + 3 * 0.2**2 * 0.8),  # two or three of three; none and one are likelier
        (0, 2, 0.9, 0.01),
    ],
)
def test_the_outcomes_that_are_no_likelier_are_added_up(successes: int, n: int, chance: float, p: float) -> None:
    assert stats.binomial_test(successes, n, chance) == pytest.approx(p, abs=1e-12)


def test_a_fair_coin_where_no_chance_is_given() -> None:
    assert stats.binomial_test(8, 10) == pytest.approx(2 * (1 + 10 + 45) / 1024, abs=1e-12)


@pytest.mark.parametrize(
    ("successes", "n", "chance"), [(-1, 5, 0.5), (6, 5, 0.5), (0, 0, 0.5), (1, 5, 0.0), (1, 5, 1.0), (1, 5, 1.5)]
)
def test_counts_and_chances_that_cannot_be(successes: int, n: int, chance: float) -> None:
    with pytest.raises(ValueError, match=f"got {successes} of {n}, chance {chance}"):
        stats.binomial_test(successes, n, chance)
