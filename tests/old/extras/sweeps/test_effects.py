"""Main effects and interactions: hand-computed on small grids, with holes, and in one family."""

from __future__ import annotations

import numpy as np
import pytest

from ragbench.old.core.types import Verdict
from ragbench.old.extras.sweeps.effects import compared, contrasts, exchanges

GRID = [{"chunker": c, "k": k} for c in ("whole", "small") for k in ("3", "5")]
"""whole-3, whole-5, small-3, small-5."""


def test_contrasts_of_a_full_grid_are_those_of_the_analysis_of_variance() -> None:
    chunker, k, both = contrasts(GRID)
    values = np.array([[1.0, 2.0, 4.0, 9.0]])
    assert chunker.changes == {"chunker": ("whole", "small")}
    assert k.changes == {"k": ("3", "5")}
    sides = [each.sides(values) for each in (chunker, k, both)]
    assert [float(up[0] - down[0]) for down, up in sides] == [(3 + 7) / 2, (1 + 5) / 2, 7 - 3]
    assert both.changes == {"chunker": ("whole", "small"), "k": ("3", "5")}


def test_an_effect_is_of_the_pairs_that_are_there() -> None:
    chunker, k = contrasts(GRID[:3])  # small-5 cannot be
    values = np.array([[1.0, 2.0, 4.0]])
    down, up = chunker.sides(values)
    assert (chunker.pairs, float(up[0] - down[0])) == (1, 3.0)
    down, up = k.sides(values)
    assert (k.pairs, float(up[0] - down[0])) == (1, 1.0)


def test_levels_are_held_against_the_first_of_their_factor() -> None:
    grid = [{"retriever": name} for name in ("bm25", "dense", "hybrid")]
    assert [each.changes["retriever"] for each in contrasts(grid)] == [("bm25", "dense"), ("bm25", "hybrid")]


def test_effects_are_one_family_and_intervals_agree_with_words() -> None:
    rng = np.random.default_rng(4)
    questions = rng.random(200)[:, None]
    values = np.clip(questions + 0.1 * rng.standard_normal((200, 4)) + np.array([0, 0, 0.2, 0.2]), -1, 2)
    chunker, k, both = compared(values, contrasts(GRID))
    assert chunker.verdict is Verdict.BETTER
    assert chunker.difference == pytest.approx(values[:, 2:].mean() - values[:, :2].mean())
    assert chunker.low > 0
    for other in (k, both):
        assert other.verdict is Verdict.NOT_SHOWN
        assert other.low < 0 < other.high
        assert other.p_adjusted is not None
        assert other.p_adjusted >= other.p
    assert chunker.family.startswith("3, max-T")


def test_a_question_that_one_configuration_lacks_is_no_pair_of_its_contrasts() -> None:
    values = np.tile(np.arange(4.0), (12, 1)) + np.arange(12.0)[:, None]
    values[0, 3] = np.nan
    chunker, k, both = compared(values, contrasts(GRID))
    assert [each.n_dropped for each in (chunker, k, both)] == [1, 1, 1]
    [one] = compared(values, contrasts(GRID)[:1])
    assert one.n == 11


def test_exchanges_differ_in_one_part() -> None:
    assert exchanges(GRID, 0) == [(1, "k"), (2, "chunker")]
    assert exchanges(GRID, 3) == [(1, "chunker"), (2, "k")]
