"""Cells of the calibration: one situation, simulated so often, gives one row of the table."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from unittest import mock

import numpy as np

from ragbench.old.stats import verdicts

Study = Callable[[np.random.Generator, int], Mapping[str, float]]
"""(generator, seed of the resamples) → by quantity, what was right in one sample; see `Row`."""


@dataclass(frozen=True)
class Row:
    """One row of the table; None where a cell does not tell of a quantity.

    coverage: share of samples whose printed interval holds the truth. level: in which a difference is shown where there
    is none. family: in which any such is shown in a family. power: in which a difference that there is, or its share in
    a family, is shown as such. unwarned: in which the interval misses the truth, or a difference is shown that is not
    there, and no sentence beside it says that this may happen more often than its level says. textbook_…: the same of a
    textbook's interval or test, named by `textbook`.
    """

    topic: str
    cell: str
    n: int
    clusters: int | None
    simulations: int
    coverage: float | None = None
    level: float | None = None
    family: float | None = None
    power: float | None = None
    unwarned: float | None = None
    textbook: str = ""
    textbook_coverage: float | None = None
    textbook_level: float | None = None
    textbook_family: float | None = None
    textbook_power: float | None = None


@dataclass(frozen=True)
class Cell:
    """A situation that users are in.

    weight: its simulations for each that is asked for; costly ones get fewer. planned: whether the study asks what it
    could have shown, which takes longer than all else and changes neither p nor interval nor verdict.
    """

    topic: str
    name: str
    n: int
    study: Study
    textbook: str = ""
    clusters: int | None = None
    weight: float = 1.0
    planned: bool = False

    @property
    def key(self) -> str:
        """What no other cell is called."""
        return f"{self.topic}: {self.name}, {self.n}, {self.clusters}"

    def number(self, simulations: int) -> int:
        """How many samples are drawn where `simulations` are asked for."""
        return max(round(self.weight * simulations), 1)

    def __call__(self, simulations: int) -> Row:
        """The same row for the same number, whatever is simulated beside it."""
        rng, number = np.random.default_rng(zlib.crc32(self.key.encode())), self.number(simulations)
        found: defaultdict[str, list[float]] = defaultdict(list)
        unplanned = mock.patch.object(verdicts, "_with_power", lambda one, *_more: one)
        with nullcontext() if self.planned else unplanned:
            for seed in range(number):  # resamples of one seed would err to the same side in all samples
                for quantity, value in self.study(rng, seed).items():
                    found[quantity].append(value)
        shares = {quantity: float(np.mean(values)) for quantity, values in found.items()}
        return Row(self.topic, self.name, self.n, self.clusters, number, textbook=self.textbook, **shares)
