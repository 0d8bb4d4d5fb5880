"""Power of a paired comparison: what could have been shown, and how many questions would show more."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ragbench.old.core.types import Array
from ragbench.old.stats.intervals import normal_quantile, t_quantile

POWER = 0.8  # the usual chance (Cohen 1988, section 2.1)
LARGE = 100_000  # questions; above, t and the normal distribution have the same quantiles to four digits
MOST_COUNTED = 12
"""Groups up to which the sign patterns of a test are counted one by one; with more the t test is as powerful."""
BLOCK = 64
"""Sign patterns that are looked at together."""
MOST_ASKED = 10**15  # more questions than anybody can ask: none is said to be enough
MOST_MOVED = 1_000
"""Expected discordant pairs up to which McNemar's test is counted out; beyond, the t test is as powerful."""


FEWEST_FOR_MID_P = 7
"""Fewer groups have so few patterns of signs that the mid-p errs in more than 5.5 % of the samples without a
difference: in 2 of 32 with five groups, in 4 of 64 with six."""


def attainable_p(groups: int, *, binary: bool = False) -> float:
    """The smallest two-sided p that signs of this many independent groups (or pairs) can have: 2 / 2^groups, or half of
    it where it is a mid-p.

    binary: of McNemar's test, whose p is the exact one where every pair differs, and no smaller where one does not.
    """
    return min(1.0, 2.0 ** (1 - groups)) / (2 if groups >= FEWEST_FOR_MID_P and not binary else 1)


def shrinkage(groups: int) -> float:
    """By what factor the standard deviation of so few values is too small on average (c4; of normal values)."""
    freedom = max(groups - 1, 1)
    return math.sqrt(2 / freedom) * math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))


def power_of_mean(effect: float, n: float, *, level: float = 0.95) -> float:
    """Chance that a two-sided t test on n differences shows a true effect (mean / standard deviation).

    From the non-central t distribution; from the normal one above n = 100,000. In [1 − level, 1]; NaN below n = 2.
    """
    from scipy.special import nctdtr, ndtr

    if n < 2:
        return math.nan
    shift = abs(effect) * math.sqrt(n)
    if n > LARGE:
        edge = normal_quantile((1 + level) / 2)
        return float(ndtr(shift - edge) + ndtr(-shift - edge))
    edge = t_quantile((1 + level) / 2, n - 1)
    tails = (float(nctdtr(n - 1, shift, end)) for end in (edge, -edge))
    below, beyond = (0.0 if math.isnan(tail) else tail for tail in tails)  # far tails, below 1e-20, come back as NaN
    return 1 - below + beyond


def power_of_mcnemar(difference: float, discordance: float, n: int, *, level: float = 0.95) -> float:
    """Chance that McNemar's test on n pairs of 0/1 values shows a true difference of shares: by the mid-p, and by the
    exact p where there are fewer than seven pairs or all of them differ, as `compare` tests them.

    discordance: the share of pairs in which the two sides differ; at least |difference| of them do. In [0, 1].
    """
    from scipy.special import bdtr

    share = min(max(discordance, abs(difference)), 1.0)
    if n < 1 or share <= 0:
        return 0.0
    if share * n > MOST_MOVED:
        deviation = math.sqrt(max(share - difference**2, 0.0))
        return power_of_mean(abs(difference) / deviation, n, level=level) if deviation > 0 else 1.0
    moved, chance, rarer = _rejected_tables(share, n, level)
    up = (1 + abs(difference) / share) / 2
    shown = bdtr(np.maximum(rarer, 0), moved, 1 - up) + bdtr(np.maximum(rarer, 0), moved, up)
    return float(chance @ np.where(rarer >= 0, shown, 0.0))


@lru_cache(maxsize=256)
def _rejected_tables(share: float, n: int, level: float) -> tuple[np.ndarray, Array, Array]:
    """How many of n pairs may differ, how likely each number is, and up to how many of them on the rarer side the test
    rejects: −1 for none. A search for a difference asks it again and again of the same share."""
    from scipy.special import bdtr, bdtrik

    spread = 8 * math.sqrt(n * share * (1 - share)) + 8
    moved = np.arange(max(0, math.floor(n * share - spread)), min(n, math.ceil(n * share + spread)) + 1)
    chance = np.diff(bdtr(moved, n, share), prepend=0.0)
    rarer = np.floor(np.nan_to_num(bdtrik((1 - level) / 2, moved, 0.5)) + 1e-9) + 1
    middle = (moved < n) & (n >= FEWEST_FOR_MID_P)
    for _ in range(3):
        fewer = np.where(rarer > 0, bdtr(np.maximum(rarer - 1, 0), moved, 0.5), 0.0)
        as_few = bdtr(np.maximum(rarer, 0), moved, 0.5)
        p = as_few + np.where(middle, fewer, as_few)
        rarer = np.where((rarer >= 0) & ((p > (1 - level) * (1 + 1e-9)) | (2 * rarer > moved)), rarer - 1, rarer)
    return moved, chance, rarer


def minimum_detectable_difference(
    deviation: float,
    n: float,
    *,
    power: float = POWER,
    level: float = 0.95,
    groups: int | None = None,
    binary: bool = False,
    joint: bool = False,
) -> float | None:
    """The smallest true mean difference that n paired differences show with `power` by sign flips.

    deviation: standard deviation of the differences; where questions come in groups, the standard error of the mean
    times √n. groups: how many groups are flipped whole; None: each question alone. level: 1 − the largest p that is
    taken as shown. binary: differences of single 0/1 values, tested by McNemar's test; deviation² is the share
    of pairs that differ, of which there are as many as were seen, or as the difference needs.
    joint: `level` is that at which a test of several hypotheses together (max-T) shows one of them; it is then none of
    the few p that the signs of few groups have.
    Unit of the values. None where it cannot be told (fewer than two groups, no spread of graded values), or where no
    difference can be shown with so few groups.
    """
    _check_power(power, level)
    number = int(n if groups is None else groups)
    if number < 2 or deviation < 0 or (not joint and attainable_p(number, binary=binary) > (1 - level) * (1 + 1e-9)):
        return None
    if binary:
        return _detectable_share(deviation**2, int(n), power, level)
    if not deviation > 0:
        return None
    return deviation * math.sqrt(number / n) * _detectable_effect(number, power, level, joint)


def sample_size(
    difference: float,
    deviation: float,
    *,
    power: float = POWER,
    level: float = 0.95,
    binary: bool = False,
    joint: bool = False,
) -> int | None:
    """How many paired differences, or independent groups of them, show this true mean difference with `power`.

    The inverse of `minimum_detectable_difference`. deviation: standard deviation of the differences, or of the means of
    equal groups; for `binary` ones the root of the share of pairs that differ. level, binary, joint: as there.
    None where no number does: no difference, or no spread to set it against (of graded values).
    """
    _check_power(power, level)
    if difference == 0 or not math.isfinite(difference) or deviation < 0 or not (deviation > 0 or binary):
        return None
    moved = max(deviation, math.sqrt(abs(difference))) if binary else deviation
    effect = abs(difference) / moved

    def enough(n: int) -> bool:
        return power_with(difference, deviation, n, level=level, binary=binary, joint=joint, enough=power) >= power

    guess = math.ceil(((normal_quantile((1 + level) / 2) + normal_quantile(power)) / effect) ** 2)
    if guess > MOST_ASKED:
        return None
    low, high = max(2, guess - guess // 16), guess + guess // 16 + 8
    while low > 2 and enough(low):
        low, high = max(2, low // 2), low
    while not enough(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return low if enough(low) else high


def power_with(
    difference: float,
    deviation: float,
    number: int,
    *,
    level: float = 0.95,
    binary: bool = False,
    joint: bool = False,
    enough: float = 0.0,
) -> float:
    """The chance that so many differences, or groups of them, show this true one; for the rest see `sample_size`.

    In [0, 1]; NaN for graded values without spread. enough: below it, few groups' power need not be exact.
    """
    if binary:
        return power_of_mcnemar(difference, deviation**2, number, level=level)
    if not deviation > 0:
        return math.nan
    effect = abs(difference) / deviation
    return power_of_mean(effect, number, level=level) if joint else _power_of_flips(effect, number, level, enough)


@lru_cache(maxsize=4096)
def _detectable_effect(groups: int, power: float, level: float, joint: bool) -> float:
    """The effect of a group (mean / standard deviation) that sign flips of so many show with this power."""
    from scipy.optimize import brentq

    def lacking(effect: float) -> float:
        reached = power_of_mean(effect, groups, level=level) if joint else _power_of_flips(effect, groups, level)
        return (reached - power) or 1e-12  # counted power rises by steps: the smallest effect is where one begins

    high = 3 / math.sqrt(groups)
    while lacking(high) < 0:
        high *= 2
    return float(brentq(lacking, 0.0, high, xtol=1e-10))


def _detectable_share(discordance: float, n: int, power: float, level: float) -> float | None:
    from scipy.optimize import brentq

    def lacking(difference: float) -> float:
        return power_of_mcnemar(difference, discordance, n, level=level) - power

    return float(brentq(lacking, 0.0, 1.0, xtol=1e-9)) if lacking(1.0) >= 0 else None


@lru_cache(maxsize=4096)
def _power_of_flips(effect: float, groups: int, level: float, enough: float = 0.0) -> float:
    """Power of the sign-flip test on normal values, at the largest p below 1 − level that it can have.

    That of the t test at this p, except where so few sign patterns may be as extreme that it would be too high: then
    they are counted, in a fixed set of samples. enough: where the t test has less power, nothing is counted.
    """
    half = 0.5 if groups >= FEWEST_FOR_MID_P else 0.0  # a mid-p counts the pattern itself by half
    patterns = math.floor((1 - level) * 2.0 ** min(groups - 1, 60) + half + 1e-9)
    if patterns < 1:
        return 0.0
    t_power = power_of_mean(effect, groups, level=1 - patterns / 2.0 ** min(groups - 1, 60))
    if groups > MOST_COUNTED or t_power < enough:
        return t_power
    samples, signs = _normal_samples(groups)
    shifted = samples + effect
    far = np.abs(shifted.sum(axis=0)) - 1e-9
    undecided, counted = np.arange(len(far)), np.zeros(len(far), dtype=int)
    for start in range(0, len(signs), BLOCK):  # a sample is done with once more patterns are as far than may be
        as_far = np.abs(signs[start : start + BLOCK] @ shifted[:, undecided]) >= far[undecided]
        counted[undecided] += np.count_nonzero(as_far, axis=0)
        undecided = undecided[counted[undecided] <= patterns]
    return len(undecided) / len(far)


@lru_cache(maxsize=MOST_COUNTED)
def _normal_samples(groups: int) -> tuple[Array, Array]:
    """(groups, 4000) standard normal values, and (2^(groups − 1), groups) sign patterns, one of each opposite two."""
    # one seed a number of groups: the same question always gets the same answer, whatever was asked before
    samples = np.random.default_rng(groups).standard_normal((groups, 4_000))
    flipped = (np.arange(2 ** (groups - 1))[:, None] >> np.arange(groups)) & 1
    signs = np.where(flipped, -1.0, 1.0)
    nearest_first = np.argsort(-np.abs(signs.sum(axis=1)), kind="stable")  # the likeliest to be as far
    return samples, signs[nearest_first]


def _check_power(power: float, level: float) -> None:
    if not 1 - level < power < 1:
        raise ValueError(f"power lies between 1 − level and 1 (0.8 is usual); got {power} at level {level}")
