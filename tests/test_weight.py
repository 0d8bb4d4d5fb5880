"""The package stays thin: each room has a budget of tokens."""

from __future__ import annotations

import pytest

from tests.weight import TOP, tokens_by_room, tokens_of

BUDGETS = {
    # A data set names its frames, and numbers with their intervals are written in one place.
    "core": 12_173,
    "stats": 15_040,
    # What an own metric of rankings returns is checked.
    "metrics": 34_839,
    # Files of TREC that one blank parts are read as they are; others are tidied and read again.
    # A long table becomes a data set in parts, so that memory stays flat.
    "data": 16_395,
    # An address that models are told apart by; one that asks to wait for too long ends the run.
    "llm, judge": 15_971,
    "embed, store": 12_948,
    # One that ends the kernel is named, and the others are measured.
    "systems": 15_535,
    # Times are read as people write them; silence in the perfect parts is no good answer.
    "tiers": 35_314,
    # With the results that list them.
    "views": 26_433,
    # Kernels are forked from a process that loads the library before all else, and is never taken
    # apart: a run takes half the time. In JupyterLab a heading stands above the legend.
    # How many kernels share the cores is reckoned here alone.
    "report": 10_134,
    # The functions of `import ragbench`, and load, doctor and --plan; what commands import is not
    # looked through by Python's collector: a short one takes a fifth less.
    # `load` counts what it has brought part by part.
    TOP: 13_841,
    "extras": 24_245,
}
"""A finished room lowers its budget to what it weighs. A commit that raises one says why."""
ALL = 232_868


@pytest.fixture(scope="module")
def weights() -> dict[str, int]:
    return tokens_by_room()


def test_every_room_stays_within_its_budget(weights: dict[str, int]) -> None:
    assert weights.keys() <= BUDGETS.keys(), "a room without a budget: give it one in BUDGETS"
    too_heavy = {room: weight for room, weight in weights.items() if weight > BUDGETS[room]}
    assert not too_heavy, "`python -m tests.weight` shows all rooms"
    assert sum(weights.values()) <= ALL


def test_comments_docstrings_and_layout_weigh_nothing() -> None:
    plain = "def double(x):\n    return 2 * x\n"
    dressed = 'def double(\n    x\n):\n    """Twice."""\n\n    # two times\n    return 2 * x\n'
    assert tokens_of(plain) == tokens_of(dressed) == 10
    assert tokens_of('x = "a long string is one token"\n') == 3
