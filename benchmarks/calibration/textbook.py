"""The tests and intervals that people take from a textbook, beside which the printed ones stand."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import chdtrc, stdtr, stdtrit

from benchmarks.calibration.populations import Codes
from ragbench.old.core.types import Array


def of_clusters(values: Array, codes: Codes | None) -> Array:
    """The means of clusters, which a textbook takes for independent values; the values where each stands alone."""
    return values if codes is None else np.bincount(codes, values) / np.bincount(codes)


def t_interval(values: Array) -> tuple[float, float]:
    """Student's 95 % interval of the mean."""
    half = float(stdtrit(len(values) - 1, 0.975)) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return float(values.mean()) - half, float(values.mean()) + half


def t_p(values: Array) -> float:
    """Two-sided p of Student's test that the mean is 0; 1 where nothing moved."""
    spread = float(values.std(ddof=1))
    if spread == 0:
        return 0.0 if values[0] else 1.0
    return float(2 * stdtr(len(values) - 1, -abs(float(values.mean())) / spread * math.sqrt(len(values))))


def mcnemar_p(moved: Array) -> float:
    """McNemar's χ² test of differences of 0/1 values, without a correction of continuity."""
    up, down = int((moved > 0).sum()), int((moved < 0).sum())
    return float(chdtrc(1, (up - down) ** 2 / (up + down))) if up + down else 1.0
