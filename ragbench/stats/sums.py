"""Statistics of sums: corpus BLEU, F1, kappas. Sentences are drawn, their sufficient statistics summed, the rest is one
function of the totals, computed for all resamples at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragbench.stats import intervals as kinds
from ragbench.stats.comparisons import verdict_of
from ragbench.stats.draws import sign_flips, total_draws
from ragbench.stats.samples import Codes, Labels, as_codes, check_level, check_resamples, units_of
from ragbench.types import Array, Better, Comparison, Estimate, Verdict

Statistic = Callable[[Array], Array]
"""(…, columns) totals to (…,) values; NaN where the statistic does not exist."""

STEP = 1e-4
MOST_LOST = 0.1
"""Above this share of resamples without a value, the resampling interval is not printed."""


def resample(
    statistic: Statistic,
    sufficient: ArrayLike,
    *,
    clusters: Labels | None = None,
    level: float = 0.95,
    method: Literal["auto", "bca", "percentile", "delta"] = "auto",
    resamples: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """A statistic of the column totals of `sufficient`, with its interval.

    sufficient: (sentences, columns) what each sentence adds to the totals; a row with NaN is unmeasured.
    statistic: takes totals of shape (resamples, columns) and returns (resamples,) values, NaN where undefined; it
    must not change when all totals are multiplied by one number, or be meant for this number of sentences.
    method "auto" is BCa; "delta", also its stand-in where resamples degenerate (`note` "no_bca"), is the normal
    interval with the infinitesimal jackknife's standard error. No interval exists for fewer than two units or where
    no unit moves the statistic (`note` "few", "no_spread").
    """
    check_level(level)
    check_resamples(resamples)
    table, present = _table(sufficient, "sufficient")
    codes = as_codes(clusters, len(present))
    return resample_table(
        statistic, table[present], None if codes is None else codes[present], int((~present).sum()),
        level=level, method=method, resamples=resamples, seed=seed,
    )  # fmt: skip


def resample_table(
    statistic: Statistic,
    table: Array,
    codes: Codes | None = None,
    unmeasured: int = 0,
    *,
    level: float = 0.95,
    method: str = "auto",
    resamples: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """`resample` on a table without NaN and clusters that are already numbers."""
    n = len(table)
    if not n:
        return Estimate(math.nan, None, None, level, "none", 0, unmeasured, note="empty")
    units = units_of(table, codes)
    total = table.sum(axis=0)
    value = float(_values(statistic, total[None])[0])
    found: dict[str, tuple[float, float]] = {}
    note = ""
    if units.number < 2 or math.isnan(value):
        note = "few" if units.number < 2 else "undefined"
    else:
        influence = influences(statistic, units.sums, total)
        error = math.sqrt(float(np.nansum(influence**2)))
        if error <= 1e-12 * max(abs(value), 1e-12):
            note = "no_spread"
        else:
            half = kinds.normal_quantile((1 + level) / 2) * error
            found["delta"] = (value - half, value + half)
            draws = _values(statistic, total_draws(units, resamples, np.random.default_rng(seed)))
            kept = draws[np.isfinite(draws)]
            if len(kept) < (1 - MOST_LOST) * resamples:
                note = "no_bca"
            else:
                found["percentile"] = kinds.percentile(kept, level)
                shape = kinds.acceleration(influence, np.ones(len(influence), dtype=np.int64))
                corrected = kinds.bca(kept, value, shape, level)
                if corrected is not None:
                    found["bca"] = corrected
    chosen = method if method != "auto" else "bca" if "bca" in found else "delta"
    note = note or ("" if chosen in found and chosen != "delta" else "no_bca") if method == "auto" else note
    low, high = found.get(chosen, (None, None))
    return Estimate(
        value, low, high, level, chosen if chosen in found else "none", n, unmeasured,
        clusters=units.number if units.clustered else None,
        n_effective=None if units.clustered else float(n), design_effect=None if units.clustered else 1.0,
        seed=seed, intervals=found, note=note,
    )  # fmt: skip


def influences(statistic: Statistic, sums: Array, total: Array) -> Array:
    """(units,) how the statistic moves with each unit's weight (infinitesimal jackknife), by central differences.

    Their squares add up to the variance; the sum of cubes gives BCa its acceleration.
    """
    step = STEP
    centred = sums - total / len(sums)
    up = _values(statistic, total + step * centred)
    down = _values(statistic, total - step * centred)
    far_up = _values(statistic, total + 2 * step * centred)
    far_down = _values(statistic, total - 2 * step * centred)
    return (8 * (up - down) - (far_up - far_down)) / (12 * step)


def compare_statistic(
    statistic: Statistic,
    baseline: ArrayLike,
    challenger: ArrayLike,
    *,
    clusters: Labels | None = None,
    better: Better = "higher",
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    names: tuple[str, str] = ("baseline", "challenger"),
) -> Comparison:
    """Two systems by a corpus statistic: approximate randomization (Riezler, Maxwell 2005) and a paired bootstrap.

    baseline, challenger: (sentences, columns) sufficient statistics of the same sentences. In each of `resamples`
    randomizations every sentence's two rows are swapped with chance ½ and the statistic is computed anew;
    p = (b + 1) / (B + 1). The interval is of the difference on the same drawn sentences.
    """
    check_level(level)
    check_resamples(resamples)
    first, present_first = _table(baseline, names[0])
    second, present_second = _table(challenger, names[1])
    if first.shape != second.shape:
        raise ValueError(f"{names[0]} has shape {first.shape} and {names[1]} {second.shape}: pair them by sentence")
    present = present_first & present_second
    codes = as_codes(clusters, len(present))
    first, second = first[present], second[present]
    columns = first.shape[1]

    def gap(totals: Array) -> Array:
        return _values(statistic, totals[..., columns:]) - _values(statistic, totals[..., :columns])

    interval = resample_table(
        gap, np.hstack([first, second]), None if codes is None else codes[present],
        level=level, resamples=resamples, seed=seed,
    )  # fmt: skip
    p = math.nan
    if len(first) and not math.isnan(interval.value):
        units = units_of(second - first, None if codes is None else codes[present])
        flips = sign_flips(units.sums, resamples, np.random.default_rng(seed + 1))
        both = first.sum(axis=0) + second.sum(axis=0)
        drawn = gap(np.hstack([both - flips, both + flips]) / 2)
        slack = 1e-9 * max(abs(interval.value), 1e-12)
        beyond = int((np.abs(drawn) >= abs(interval.value) - slack).sum() + np.isnan(drawn).sum())
        p = (beyond + 1) / (resamples + 1)
    measured = interval.low is not None
    return Comparison(
        *names,
        interval.value,
        interval.low if interval.low is not None else math.nan,
        interval.high if interval.high is not None else math.nan,
        level,
        interval.method,
        p,
        "approximate randomization" if len(first) else "none",
        math.nan,
        verdict_of(interval.value, p, better, level) if measured else Verdict.NOT_SHOWN,
        len(first),
        int((~present).sum()),
        better,
        clusters=interval.clusters,
        seed=seed,
        note=interval.note,
    )


def _values(statistic: Statistic, totals: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.asarray(statistic(totals), dtype=np.float64)
    if found.shape != totals.shape[:-1]:
        raise ValueError(
            f"the statistic took totals of shape {totals.shape} and returned {found.shape}; it must return "
            f"{totals.shape[:-1]}, one value for each row of totals (index columns as totals[..., j])"
        )
    return found


def _table(sufficient: ArrayLike, name: str) -> tuple[Array, NDArray[np.bool_]]:
    table = np.asarray(sufficient, dtype=np.float64)
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2:
        raise ValueError(f"{name} is (sentences, columns) of numbers; got shape {table.shape}")
    if np.isinf(table).any():
        raise ValueError(f"{name} holds infinite numbers: give NaN rows for sentences that were not measured")
    return table, np.asarray(~np.isnan(table).any(axis=1))
