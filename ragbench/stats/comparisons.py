"""Two systems on the same questions: difference, interval, randomization test, verdict, and what n could show."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ragbench.stats import intervals as kinds
from ragbench.stats.draws import mean_draws, sign_flips
from ragbench.stats.intervals import Interval
from ragbench.stats.power import minimum_detectable_difference, sample_size
from ragbench.stats.samples import Labels, Units, as_codes, as_values, check_level, check_resamples, units_of
from ragbench.types import Array, Better, Comparison, Verdict

FEWEST_MOVED = 10


def compare(
    baseline: ArrayLike,
    challenger: ArrayLike,
    *,
    clusters: Labels | None = None,
    better: Better = "higher",
    level: float = 0.95,
    margin: float | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    names: tuple[str, str] = ("baseline", "challenger"),
) -> Comparison:
    """Challenger against baseline, paired by question.

    baseline, challenger: one number a question, in the same order; a pair with NaN or None on either side is left
    out and counted. clusters: one label a pair; whole clusters are drawn and flipped together. better: which way is
    good. margin: the largest difference that would not matter; then equivalence is tested too (TOST).

    The test is sign-flip randomization of the mean difference, p = (b + 1) / (B + 1), complete where there are no
    more than B sign patterns; for 0/1 values the exact McNemar test, which is the same.
    Raises ValueError for different lengths, infinities, or a margin that is not positive.
    """
    one = compare_metrics(
        {"values": baseline},
        {"values": challenger},
        clusters=clusters,
        better=better,
        level=level,
        margin=margin,
        resamples=resamples,
        seed=seed,
        names=names,
    )
    return one["values"]


def compare_metrics(
    baseline: Mapping[str, ArrayLike],
    challenger: Mapping[str, ArrayLike],
    *,
    clusters: Labels | None = None,
    better: Better | Mapping[str, Better] = "higher",
    level: float = 0.95,
    margin: float | Mapping[str, float] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    names: tuple[str, str] = ("baseline", "challenger"),
) -> dict[str, Comparison]:
    """`compare` for all metrics of two systems at once: the same questions are drawn and flipped for all.

    baseline, challenger: metric name to one number a question; the metrics that both have are compared.
    """
    check_level(level)
    check_resamples(resamples)
    shared = [name for name in baseline if name in challenger]
    differences = {name: _difference(baseline[name], challenger[name], name, names) for name in shared}
    if len({len(column) for column in differences.values()}) > 1:
        raise ValueError("every metric needs one value a question; their lengths differ")
    codes = as_codes(clusters, len(next(iter(differences.values()), ())))
    groups: dict[bytes, list[str]] = {}
    for name in shared:
        groups.setdefault((~np.isnan(differences[name])).tobytes(), []).append(name)
    found: dict[str, Comparison] = {}
    for present, members in groups.items():
        mask = np.frombuffer(present, dtype=bool)
        matrix = np.column_stack([differences[name][mask] for name in members])
        units = units_of(matrix, None if codes is None else codes[mask])
        rng = np.random.default_rng(seed)
        draws = mean_draws(units, resamples, rng) if units.number > 1 else None
        tests = _tests(units, resamples, rng)
        for position, name in enumerate(members):
            direction = better[name] if isinstance(better, Mapping) else better
            limit = margin.get(name) if isinstance(margin, Mapping) else margin
            p, test = tests[position]
            if test == "sign flips, exact" and _is_binary(baseline[name]) and _is_binary(challenger[name]):
                test = "McNemar, exact"
            found[name] = _one(
                units, position, draws, p, test, direction, level, limit, int((~mask).sum()), names, seed
            )
    return {name: found[name] for name in shared}


def verdict_of(difference: float, p: float, better: Better, level: float) -> Verdict:
    """The word: better or worse in the metric's direction when p is below 1 − level, else not shown."""
    if math.isnan(p) or difference == 0 or p >= 1 - level + 1e-12:
        return Verdict.NOT_SHOWN
    return Verdict.BETTER if (difference > 0) == (better == "higher") else Verdict.WORSE


def _difference(baseline: ArrayLike, challenger: ArrayLike, name: str, names: tuple[str, str]) -> Array:
    first, second = as_values(baseline, names[0]), as_values(challenger, names[1])
    if len(first) != len(second):
        raise ValueError(
            f"{name}: {names[0]} has {len(first)} values and {names[1]} {len(second)}: "
            "pair them by question, with NaN where one was not measured"
        )
    return second - first


def _is_binary(values: ArrayLike) -> bool:
    array = as_values(values)
    return bool(np.isin(array[~np.isnan(array)], (0.0, 1.0)).all())


def _tests(units: Units, resamples: int, rng: np.random.Generator) -> list[tuple[float, str]]:
    """(p, test) of the hypothesis that signs of the units' differences are arbitrary, for each metric."""
    found: list[tuple[float, str]] = []
    drawn: Array | None = None
    for position in range(units.sums.shape[1]):
        column = units.sums[:, position]
        moved = column[np.abs(column) > 1e-12 * np.abs(column).max(initial=0.0)]
        sizes = np.abs(moved)
        if not len(moved):
            found.append((1.0 if units.number else math.nan, "sign flips, exact"))
        elif np.ptp(sizes) <= 1e-9 * sizes.max():
            found.append((_binomial_p(int((moved > 0).sum()), len(moved)), "sign flips, exact"))
        elif 2 ** min(len(moved), 60) <= resamples:
            found.append((_complete_p(moved), "sign flips, exact"))
        else:
            if drawn is None:
                drawn = np.abs(sign_flips(units.sums, resamples, rng))
            slack = (1e-6 if len(moved) > 512 else 1e-10) * float(sizes.sum())
            beyond = int((drawn[:, position] >= abs(float(moved.sum())) - slack).sum())
            found.append(((beyond + 1) / (resamples + 1), "sign flips"))
    return found


def _binomial_p(successes: int, n: int) -> float:
    """Two-sided exact p of a fair coin: McNemar's exact test on the discordant pairs."""
    from scipy.special import bdtr

    return float(min(1.0, 2 * bdtr(min(successes, n - successes), n, 0.5)))


def _complete_p(moved: Array) -> float:
    """Share of all 2^m sign patterns whose sum is as far from zero as the observed one."""
    sums = np.zeros(1)
    for value in moved:
        sums = np.concatenate([sums + value, sums - value])
    slack = 1e-10 * float(np.abs(moved).sum())
    return float(np.mean(np.abs(sums) >= abs(float(moved.sum())) - slack))


def _one(
    units: Units,
    position: int,
    draws: Array | None,
    p: float,
    test: str,
    better: Better,
    level: float,
    margin: float | None,
    dropped: int,
    names: tuple[str, str],
    seed: int,
) -> Comparison:
    n = units.n
    if n == 0:
        return Comparison(
            *names, math.nan, math.nan, math.nan, level, "none", math.nan, "none", math.nan, Verdict.NOT_SHOWN,
            0, dropped, better, margin=margin, seed=seed, note="empty",
        )  # fmt: skip
    value = float(units.means[position])
    variance = float(units.variances()[position]) if units.number > 1 else 0.0
    deviation = math.sqrt(float(units.deviations[position]) / (n - 1)) if n > 1 else 0.0
    variance, deviation = (variance, deviation) if deviation > 1e-12 * max(abs(value), 1e-300) else (0.0, 0.0)
    (low, high), method, note = _interval(units, position, draws, value, variance, level)
    per_question = math.sqrt(variance * n)  # the spread a question would have if questions were independent
    verdict = verdict_of(value, p, better, level)
    p_equivalence = None
    if margin is not None:
        p_equivalence = equivalence_p(value, variance, max(units.number - 1, 1), margin)
        if p_equivalence < 1 - level and verdict is Verdict.NOT_SHOWN:
            verdict = Verdict.SAME
    return Comparison(
        *names,
        value,
        low,
        high,
        level,
        method,
        p,
        test,
        value / deviation if deviation > 0 else math.nan,
        verdict,
        n,
        dropped,
        better,
        clusters=units.number if units.clustered else None,
        minimum_detectable=minimum_detectable_difference(per_question, n, level=level),
        questions_needed=sample_size(value, per_question, level=level),
        margin=margin,
        p_equivalence=p_equivalence,
        seed=seed,
        note=note,
    )


def _interval(
    units: Units, position: int, draws: Array | None, value: float, variance: float, level: float
) -> tuple[Interval, str, str]:
    if variance <= 0 or draws is None:
        return (math.nan, math.nan), "none", "no_spread" if units.n > 1 else "few"
    residuals = units.residuals()[:, position]
    moved = int(units.counts @ (units.sums[:, position] != 0))
    note = "few" if units.n < 30 else "few_clusters" if units.number < 20 else "few" if moved < FEWEST_MOVED else ""
    corrected = None
    if not note:
        corrected = kinds.bca(draws[:, position], value, kinds.acceleration(residuals, units.counts), level)
    if corrected is not None:
        return corrected, "bca", ""
    return kinds.student(value, variance, units.number - 1, level), "t", note or "no_bca"


def equivalence_p(difference: float, variance: float, freedom: float, margin: float) -> float:
    """p of two one-sided t tests (TOST, Schuirmann 1987) that the difference lies within ± margin.

    variance: squared standard error of the difference. NaN without spread.
    """
    from scipy.special import stdtr

    if not margin > 0:
        raise ValueError(f"margin is the largest difference that would not matter, above 0; got {margin}")
    if variance <= 0:
        return math.nan
    error = math.sqrt(variance)
    return float(max(stdtr(freedom, (difference - margin) / error), stdtr(freedom, (-difference - margin) / error)))
