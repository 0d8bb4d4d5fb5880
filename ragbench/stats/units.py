"""Units: what was drawn independently of each other.

A question is a unit, or a dialogue, a source page, a group of paraphrases: all that is known of
a question and its repeats belongs to one unit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragbench.core.errors import BenchError

Array = NDArray[np.float64]
NO_SPREAD = 1e-12  # rounding leaves up to this where nothing differs


def as_table(values: ArrayLike) -> Array:
    """Return values as (rows, columns); a single column may be given flat."""
    table = np.asarray(values, dtype=float)
    return table[:, None] if table.ndim == 1 else table


def unit_codes(units: Any, n_rows: int) -> tuple[NDArray[np.intp], int]:
    """Number the units from 0 in the order of their rows, and count them.

    units: (rows,) labels; None: every row is a unit. Raises BenchError for another length and
    for a missing label.
    """
    if units is None:
        return np.arange(n_rows), n_rows
    # pandas numbers labels of any type, many times faster than sorting them would be.
    import pandas as pd

    if len(units) != n_rows:
        raise BenchError(f"{n_rows} rows have {len(units)} units: give one unit a row")
    codes, names = pd.factorize(np.asarray(units))
    if (codes < 0).any():
        raise BenchError(f"row {int(np.argmin(codes))} has no unit: give every row one")
    return codes, len(names)


def sum_by_unit(table: Array, codes: NDArray[np.intp], n_units: int) -> Array:
    """Sum the rows of every unit: (units, columns)."""
    if n_units == len(table) and np.array_equal(codes, np.arange(n_units)):
        return table
    columns = [np.bincount(codes, weights=column, minlength=n_units) for column in table.T]
    return np.column_stack(columns) if columns else np.zeros((n_units, 0))


def unit_totals(values: Array, units: Any = None) -> tuple[Array, Array]:
    """Sum and count the measured values of every unit: all that a mean depends on.

    values: (rows, columns), NaN where unmeasured. Returns sums and counts, both (units, columns).
    """
    codes, n_units = unit_codes(units, len(values))
    is_measured = ~np.isnan(values)
    sums = sum_by_unit(np.where(is_measured, values, 0.0), codes, n_units)
    return sums, sum_by_unit(is_measured.astype(float), codes, n_units)


def mean_and_error(sums: Array, counts: Array) -> tuple[Array, Array]:
    """Return the mean over rows of every column and its standard error over units.

    A mean over rows is a ratio of two sums over units; the error is that of a ratio estimator
    (Cochran 1977, Sampling Techniques, section 6.4), corrected by U / (U - 1) for U units. With
    one row a unit it is standard deviation / sqrt(n). NaN without values, the error also for one
    unit.
    """
    total = counts.sum(axis=0)
    n_units = (counts > 0).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = sums.sum(axis=0) / total
        squares = ((sums - counts * mean) ** 2).sum(axis=0)
        error = np.sqrt(squares * n_units / (n_units - 1)) / total
    error = np.where(error <= NO_SPREAD * np.abs(mean), 0.0, error)
    return mean, np.where(n_units > 1, error, np.nan)


def unit_influence(values: Array, codes: NDArray[np.intp], n_units: int) -> Array:
    """Return how far each unit moves the means of the columns: (units, columns), which sum to 0."""
    is_measured = ~np.isnan(values)
    sums = sum_by_unit(np.where(is_measured, values, 0.0), codes, n_units)
    counts = sum_by_unit(is_measured.astype(float), codes, n_units)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (sums - counts * (sums.sum(axis=0) / counts.sum(axis=0))) / counts.sum(axis=0)
