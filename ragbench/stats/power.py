"""Power of a paired comparison: what could have been shown, and how many questions would show more."""

from __future__ import annotations

import math

from ragbench.stats.intervals import normal_quantile, t_quantile

POWER = 0.8
LARGE = 100_000


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


def minimum_detectable_difference(
    deviation: float, n: float, *, power: float = POWER, level: float = 0.95
) -> float | None:
    """The smallest true mean difference that n paired differences with this standard deviation show with `power`.

    Unit of the values. None where it cannot be told: fewer than two differences, or no spread.
    """
    _check_power(power, level)
    if n < 2 or not deviation > 0:
        return None
    from scipy.optimize import brentq

    high = 3 / math.sqrt(n)
    while power_of_mean(high, n, level=level) < power:
        high *= 2
    return deviation * float(brentq(lambda effect: power_of_mean(effect, n, level=level) - power, 0.0, high))


def sample_size(difference: float, deviation: float, *, power: float = POWER, level: float = 0.95) -> int | None:
    """How many paired differences show this true mean difference with `power`.

    None where no number does: no difference, or no spread to set it against.
    """
    _check_power(power, level)
    if difference == 0 or not deviation > 0 or not math.isfinite(difference):
        return None
    effect = abs(difference) / deviation
    low, high = 2, 4
    while power_of_mean(effect, high, level=level) < power:
        low, high = high, high * 2
        if high > 10**15:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_of_mean(effect, middle, level=level) >= power else (middle, high)
    return low if power_of_mean(effect, low, level=level) >= power else high


def _check_power(power: float, level: float) -> None:
    if not 1 - level < power < 1:
        raise ValueError(f"power lies between 1 − level and 1 (0.8 is usual); got {power} at level {level}")
