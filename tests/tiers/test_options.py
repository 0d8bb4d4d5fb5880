"""Options that are numbers: what they are where nobody sets them, and between which ends."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from ragbench.core.errors import BenchError
from ragbench.tiers.common import read_options

NO_END = None
# Of a tier: option → where nobody sets it, least, greatest.
OPTIONS: dict[str, dict[str, tuple[Any, float, float | None]]] = {
    "dataset": {
        "limit": (None, 1, NO_END),
        "level": (0.95, 0.501, 0.999),
        "draws": (10_000, 200, NO_END),
        "seed": (0, 0, NO_END),
    },
    "tier0_embeddings": {
        "neighbors": (1, 1, 100),
        "listed": (10, 1, 1_000),
        "projected": (2_000, 0, 50_000),
    },
    "tier1_retrieval": {
        "k": (10, 1, 1_000),
        "found_from": (0.5, 0, 1),
        "repeats": (3, 1, 100),
        "index_questions": (400, 0, 10_000),
    },
    "tier2_generation": {
        "repeats": (2, 1, 100),
        "quorum": (None, 1, NO_END),
        "tolerance": (None, 0, NO_END),
    },
    "tier3_end_to_end": {"k": (10, 5, 1_000), "contexts": (5, 1, 10)},
    "real_users": {"k": (10, 1, 1_000)},
    "sources": {"k": (5, 1, 1_000), "n_topics": (0, 0, 1_000)},
    "tier_judge": {
        "repeats": (2, 1, 100),
        "probed": (100, 0, NO_END),
        "delta": (0.5, 0, NO_END),
        "people_scale": ((1, 5), 0, NO_END),
    },
    "tier_judge_pipeline": {"cost_shown": (1, 0, NO_END), "cost_hidden": (1, 0, NO_END)},
    "tier_ux": {"threshold": (0.85, -1, 1), "cached_score": (5, 0, NO_END)},
}
CASES = [
    (tier, option, *ends) for tier, options in OPTIONS.items() for option, ends in options.items()
]
OPEN = {"people_scale", "cached_score"}


@pytest.mark.parametrize(("tier", "option", "usual", "least", "greatest"), CASES)
def test_numbers_are_taken_from_the_least_to_the_greatest(
    tier: str, option: str, usual: Any, least: float, greatest: float | None
) -> None:
    model = import_module(f"ragbench.tiers.{tier}").Request
    assert getattr(read_options(model, {}), option) == usual
    if option in OPEN:
        return
    assert getattr(read_options(model, {option: least}), option) == least
    step = 1 if isinstance(least, int) else 0.001
    with pytest.raises(BenchError, match=option):
        read_options(model, {option: least - step})
    if greatest is not NO_END:
        assert getattr(read_options(model, {option: greatest}), option) == greatest
        with pytest.raises(BenchError, match=option):
            read_options(model, {option: greatest + step})
