"""Which questions a page lists where there are more than a browser can hold: the ends of every metric, and a draw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragbench.core.types import Array
from ragbench.tiers.scoring.result import Scores

MOST = 20_000
"""Questions that are all listed: their table opens in some seconds."""
DRAWN = 10_000
"""Of more, those that are drawn, whatever their values."""
ENDS = 10_000
"""And about as many for their values, shared by systems and metrics."""
LEAST = 20
"""At each end of a metric, however many systems and metrics there are."""
AT_RANDOM, AT_ENDS = "at random", "at an end"
"""Why a question is listed: a sample of all is made of the first alone."""


@dataclass(frozen=True)
class Listing:
    """Some questions, and how they came to be chosen.

    why: by id, AT_RANDOM or AT_ENDS. of: how many there are. each: how many at most of a system and a metric with the
    lowest values, with the highest, and without one. drawn: how many at random, by the seed.
    """

    why: Mapping[str, str]
    of: int
    each: int
    drawn: int
    seed: int

    @property
    def fact(self) -> dict[str, Any]:
        """The same for a page's facts, in numbers."""
        return {"n": len(self.why), "of": self.of, "each": self.each, "drawn": self.drawn, "seed": self.seed}


def chosen(scores: Scores) -> Listing | None:
    """The questions that a page lists; None: all. Equal values are taken in an order that the seed draws."""
    ids = list(scores.columns.clusters)
    if len(ids) <= MOST:
        return None
    drawn = np.random.default_rng(scores.seed)
    listed = {ids[place]: AT_RANDOM for place in drawn.permutation(len(ids))[:DRAWN].tolist()}
    known = [values for answers in scores.columns.systems.values() for values in answers.values.values()]
    each = max(LEAST, ENDS // (3 * len(known)))
    for values in known:
        for place in _ends(np.array(values.values), each, drawn):
            listed.setdefault(values.ids[place], AT_ENDS)
    return Listing(listed, len(ids), each, DRAWN, scores.seed)


def _ends(values: Array, each: int, drawn: np.random.Generator) -> Iterator[int]:
    """The places of so many lowest, highest and absent values."""
    order = np.lexsort((drawn.permutation(len(values)), values))  # NaN comes last
    there = len(values) - int(np.isnan(values).sum())
    for part in (order[: min(each, there)], order[max(there - each, 0) : there], order[there : there + each]):
        yield from part.tolist()
