"""Rankings of numbered documents: the rules word for word, by a plain loop over lists, and where numbers could meet."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragbench.old.metrics import ranking_arrays
from ragbench.old.metrics.ranking_arrays import from_numbers

ids = st.integers(0, 9).map(str)
table = st.lists(
    st.tuples(st.lists(ids, max_size=7), st.dictionaries(ids, st.integers(-1, 3).map(float), max_size=8)), max_size=8
)


def plainly(
    lists: Sequence[Sequence[str]], relevant: Sequence[Mapping[str, float]], depth: int | None, raw: bool
) -> dict[str, list[Any]]:
    """The rules, question by question: copies go first, then what is below `depth`."""
    kept = [list(row if raw else dict.fromkeys(row))[:depth] for row in lists]
    width = max(map(len, kept), default=0)
    least = -math.inf if raw else 0.0
    both = list(zip(kept, relevant, strict=True))
    best = [sorted((gain for gain in known.values() if gain > 0), reverse=True) for known in relevant]
    most = max(map(len, best), default=0)
    return {
        "gains": [[max(known.get(d, 0.0), least) for d in row] + [0.0] * (width - len(row)) for row, known in both],
        "judged": [[known.get(d, -1.0) >= 0 for d in row] + [False] * (width - len(row)) for row, known in both],
        "ideal": [row + [0.0] * (most - len(row)) for row in best],
        "lengths": [len(row) for row in kept],
        "nonrelevant": [sum(gain == 0 for gain in known.values()) for known in relevant],
    }


@settings(deadline=None)
@given(table, st.sampled_from([None, 1, 3]), st.booleans(), st.sampled_from([0, 16]), st.sampled_from([0, 40]))
def test_rankings_are_those_of_a_plain_loop(rows: Any, depth: int | None, raw: bool, few: int, short: int) -> None:
    lists, relevant = [row for row, _ in rows], [known for _, known in rows]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking_arrays, "FEW", few)
        patch.setattr(ranking_arrays, "SHORT", short)
        made = ranking_arrays.from_lists(lists, relevant, depth=depth, raw=raw)
    wanted = plainly(lists, relevant, depth, raw)
    for name in ("gains", "ideal", "lengths"):
        shape = getattr(made, name).shape
        np.testing.assert_array_equal(getattr(made, name), np.reshape(wanted[name], shape), name)
    judged = made.gains > 0 if made.judged is None else made.judged
    np.testing.assert_array_equal(judged, np.reshape(wanted["judged"], judged.shape))
    nonrelevant = np.zeros(len(made)) if made.nonrelevant is None else made.nonrelevant
    np.testing.assert_array_equal(nonrelevant, wanted["nonrelevant"])


def test_numbers_beyond_32_bits_stay_themselves() -> None:
    """7 and 7 + 2³² would be one document if only their low bits were compared."""
    far = 7 + (1 << 32)
    made = from_numbers(np.array([[far, 7, far]]), np.array([0]), np.array([7]))
    assert made.gains.tolist() == [[0, 1]]
    assert made.lengths.tolist() == [2]
    assert from_numbers(np.array([[7]], np.int32), np.array([0]), np.array([far])).gains.tolist() == [[0]]


@pytest.mark.parametrize("judged", [3, 40])
def test_a_document_of_one_question_is_never_taken_for_that_of_the_next(judged: int) -> None:
    """Numbers far above all judged ones, and judged ones far above all retrieved: no two questions' ranges meet."""
    questions, documents = np.repeat([0, 1], judged), np.tile(np.arange(judged), 2)
    strangers = np.arange(judged, judged + 200)
    assert not from_numbers(np.stack([strangers, strangers]), questions, documents).gains.any()
    made = from_numbers(np.array([[1, 0], [0, 1]]), questions, documents * 50)
    assert made.gains.tolist() == [[0, 1], [1, 0]]


def test_judgements_come_in_any_order_and_their_gain_is_one_where_not_given() -> None:
    made = from_numbers(np.array([[5, 6], [8, -1]]), np.array([1, 0]), np.array([8, 6]))
    assert made.gains.tolist() == [[0, 1], [1, 0]]
    assert made.lengths.tolist() == [2, 1]
    assert made.judged is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.arange(3), np.array([0]), np.array([0])), "dimensions"),
        ((np.zeros((2, 2), int), np.array([2]), np.array([0])), "outside 0 … 1"),
        ((np.zeros((2, 2), int), np.array([0]), np.array([0, 1])), "columns differ"),
        ((np.zeros((2, 2), int), np.array([0]), np.array([-3])), "negative"),
        ((np.zeros((2, 2), int), np.array([0]), np.array([0]), np.array([math.nan])), "NaN"),
    ],
)
def test_columns_that_do_not_fit_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_numbers(*arguments)
