"""Jaro and Jaro-Winkler: published values, by hand, and what holds for all texts."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragbench.old.metrics.strings import Jaro

WINKLER = [
    ("MARTHA", "MARHTA", 0.944, 0.961),
    ("DWAYNE", "DUANE", 0.822, 0.840),
    ("DIXON", "DICKSONX", 0.767, 0.813),
    ("SHACKLEFORD", "SHACKELFORD", 0.970, 0.982),
    ("DUNNINGHAM", "CUNNIGHAM", 0.896, 0.896),
    ("NICHLESON", "NICHULSON", 0.926, 0.956),
    ("JONES", "JOHNSON", 0.790, 0.832),
    ("MASSEY", "MASSIE", 0.889, 0.933),
    ("ABROMS", "ABRAMS", 0.889, 0.922),
    ("HARDIN", "MARTINEZ", 0.722, 0.722),
    ("ITMAN", "SMITH", 0.467, 0.467),
]
"""Winkler 1999, The state of record linkage and current research problems, table 6."""


@pytest.mark.parametrize(("one", "other", "jaro", "winkler"), WINKLER)
def test_the_table_of_winkler(one: str, other: str, jaro: float, winkler: float) -> None:
    found = Jaro.of(one, other)
    assert (found.value, found.winkler) == (pytest.approx(jaro, abs=6e-4), pytest.approx(winkler, abs=6e-4))


def test_jaro_by_hand() -> None:
    # МАРТА and МАТРА: five in common, Р and Т change places, the first two agree
    found = Jaro.of("МАРТА", "МАТРА")
    assert (found.matches, found.transpositions, found.prefix) == (5, 1, 2)
    assert found.value == pytest.approx((1 + 1 + 4 / 5) / 3, abs=1e-15)
    assert found.winkler == pytest.approx(14 / 15 + 2 * 0.1 * (1 - 14 / 15), abs=1e-15)
    assert Jaro.of("", "а").value == Jaro.of("а", "б").value == 0.0


def test_a_common_beginning_counts_only_in_texts_that_are_alike() -> None:
    far = Jaro.of("ABXYZ", "ABPQR")
    assert (far.prefix, far.winkler) == (2, far.value)
    assert far.value == pytest.approx((2 / 5 + 2 / 5 + 1) / 3, abs=1e-15)


def test_jaro_of_long_texts_is_found_in_one_go() -> None:
    began = time.process_time()
    assert Jaro.of("аб" * 20_000, "ба" * 20_000).matches == 40_000
    assert time.process_time() - began < 2


@settings(deadline=None)
@given(st.text("абв", max_size=9), st.text("абв", max_size=9))
def test_what_holds_for_every_pair(one: str, other: str) -> None:
    found = Jaro.of(one, other)
    assert found.matches == _matches(one, other)
    assert 0 <= found.value <= found.winkler <= 1
    assert (found.value == 1) == (one == other != "")


def _matches(one: str, other: str) -> int:
    """As the definition has it: each character takes the first free equal one within reach."""
    reach = max(max(len(one), len(other)) // 2 - 1, 0)
    used: set[int] = set()
    for place, sign in enumerate(one):
        near = range(max(place - reach, 0), min(place + reach + 1, len(other)))
        used |= set([at for at in near if at not in used and other[at] == sign][:1])
    return len(used)
