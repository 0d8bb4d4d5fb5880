"""Between which bounds the numbers lie that a tier may be asked for, so that none is refused after it was paid for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragbench.bench.basics.session import BenchError

MOST_RETRIEVED = 1000
FEWEST_RESAMPLES, MOST_RESAMPLES = 100, 1_000_000
MOST_SEED = 2**32 - 1
"""Of scikit-learn and UMAP; NumPy would take more."""
WHOLE: Mapping[str, tuple[int, int | None]] = {
    "resamples": (FEWEST_RESAMPLES, MOST_RESAMPLES),
    "seed": (0, MOST_SEED),
    "k": (1, MOST_RETRIEVED),
    "contexts": (1, MOST_RETRIEVED),
    "repeats": (1, 100),
    "timed_questions": (0, 100_000),
    "tempted": (0, None),
    "n_topics": (0, 1000),
    "fewest_topics": (2, 1000),
    "most_topics": (2, 1000),
    "neighbors": (1, None),
    "projected": (0, None),
    "length_limit": (1, None),
    "quorum": (1, None),
}
"""Parameter → the least and the greatest legal value; None: no limit. It means the same in every tier that has it."""
OPTIONAL = frozenset({"length_limit", "quorum"})
"""Those that may be None."""


def check(**given: Any) -> None:
    """Refuse numbers that no tier can work with; names that are not known here are let through.

    Raises BenchError with the name, the value and the legal ones.
    """
    for name, value in given.items():
        if name == "level":
            if not isinstance(value, int | float) or not 0 < value < 1:
                raise BenchError(f"level = {value!r}: a number above 0 and below 1 is expected; 0.95 is usual")
        elif name in WHOLE and not (value is None and name in OPTIONAL):
            whole(name, value, *WHOLE[name])


def whole(name: str, value: Any, least: int, most: int | None = None) -> None:
    """Refuse what is no whole number from `least` to `most`. Raises BenchError."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least or (most is not None and value > most):
        bounds = f"from {least}" if most is None else f"from {least} to {most}"
        raise BenchError(f"{name} = {value!r}: a whole number {bounds} is expected")
