"""Random tables that peers are compared on: eight in every test run, all two hundred with the slow ones."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import pytest

SEEDS = [pytest.param(range(8), id="8 tables"), pytest.param(range(8, 200), id="192 more", marks=pytest.mark.slow)]


def on_random_tables(test: Callable[..., None]) -> Any:
    """The test, which makes a table from its argument `seed`, on every table in turn; a failure names its seed."""

    @functools.wraps(test)
    def inside(*args: Any, seeds: range, **others: Any) -> None:
        for seed in seeds:
            try:
                test(*args, seed=seed, **others)
            except BaseException as error:
                error.add_note(f"the table of seed {seed}")
                raise

    known = inspect.signature(test).parameters.values()
    own = [each.replace(name="seeds") if each.name == "seed" else each for each in known]
    inside.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
    return pytest.mark.parametrize("seeds", SEEDS)(inside)
