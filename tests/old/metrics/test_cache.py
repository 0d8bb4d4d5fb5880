"""The cache by hand: strictly above the threshold, its own entry left out, hits that would serve a wrong answer."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.old.metrics import cache
from ragbench.old.metrics.cache import Nearest, Serving, cache_hit_rate, nearest, served_wrongly, wrong_hit_rate
from ragbench.old.metrics.vectors import SINGLE

ASKED = np.array([[1, 0], [3, 4], [0, 1], [-1, 0]], dtype=np.float32)
CACHED = np.array([[2, 0], [0, 5]], dtype=np.float32)


def test_the_nearest_by_hand() -> None:
    found = nearest(ASKED, CACHED)
    assert found.similarities == pytest.approx([1.0, 0.8, 1.0, 0.0])
    assert found.rows.tolist() == [0, 1, 1, 1]


def test_above_the_threshold_is_strict() -> None:
    table = Nearest(np.array([0.85, 0.85 + 2 * SINGLE, 0.9, 0.1]), np.zeros(4, dtype=np.int64))
    assert cache_hit_rate(table) == 0.5
    assert cache_hit_rate(table, threshold=0.9) == 0.0
    assert cache_hit_rate(table, threshold=0.0) == 1.0, "a threshold of 0 is a threshold"


def test_a_cosine_that_is_the_threshold_is_not_above_it() -> None:
    """As vectors are kept, (0.6, 0.8) and (1, 0) have 0.60000001."""
    kept = nearest(np.array([[1, 0]], np.float32), np.array([[0.6, 0.8]], np.float32))
    assert kept.similarities[0] > 0.6
    assert cache_hit_rate(kept, threshold=0.6) == 0.0
    assert cache_hit_rate(kept, threshold=0.599) == 1.0


@pytest.mark.parametrize("block", [1, cache._BLOCK])
def test_a_question_does_not_find_itself(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_BLOCK", block)
    assert nearest(CACHED, CACHED, left_out=[None, 1]).rows.tolist() == [0, 0]
    found = nearest(CACHED, CACHED, left_out=[0, None])
    assert found.rows.tolist() == [1, 1]
    assert found.similarities == pytest.approx([0.0, 1.0])
    alone = nearest(CACHED[:1], CACHED[:1], left_out=[0])
    assert alone.rows.tolist() == [-1]
    assert math.isnan(alone.similarities[0])


def test_an_empty_cache_answers_nothing_and_no_question_is_no_rate() -> None:
    empty = nearest(ASKED, CACHED[:0])
    assert cache_hit_rate(empty) == 0.0
    assert math.isnan(cache_hit_rate(nearest(ASKED[:0], CACHED)))
    assert math.isnan(wrong_hit_rate(empty))


def test_wrong_hits_by_hand() -> None:
    servings = [Serving.RIGHT, Serving.WRONG, Serving.WRONG, Serving.DOUBTFUL, Serving.UNKNOWN]
    table = Nearest(np.array([0.95, 0.95, 0.5, 0.95, 0.99]), np.arange(5), servings)
    assert cache_hit_rate(table) == 0.8
    assert served_wrongly(table, 0.85).tolist() == pytest.approx([0, 1, 0, math.nan, math.nan], nan_ok=True)
    assert wrong_hit_rate(table) == pytest.approx(1 / 3), "undecided hits are left out; what is not served is not wrong"
    assert wrong_hit_rate(table, threshold=0.4) == pytest.approx(2 / 3)
    assert wrong_hit_rate(table, threshold=0.96) == 0.0
    assert math.isnan(wrong_hit_rate(Nearest(np.array([0.9]), np.array([0]), [Serving.UNKNOWN])))


@given(st.integers(1, 40), st.integers(1, 30), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_it_is_the_largest_cosine_of_all(asked: int, cached: int, width: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = (rng.normal(size=(n, width)).astype(np.float32) for n in (asked, cached))
    found = nearest(one, other)
    a, b = (v.astype(float) / np.linalg.norm(v.astype(float), axis=1, keepdims=True) for v in (one, other))
    assert found.similarities == pytest.approx((a @ b.T).max(axis=1), abs=1e-12)
    rates = [cache_hit_rate(found, threshold=t) for t in (-1.0, 0.0, 0.5, 1.0)]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] == np.mean(found.similarities > -1 + SINGLE)
