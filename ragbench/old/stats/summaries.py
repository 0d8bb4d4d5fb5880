"""Two means of which only summaries are known: compared as independent samples, because nothing pairs them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ragbench.old.core.types import Better, Comparison
from ragbench.old.stats.intervals import normal_quantile, t_quantile
from ragbench.old.stats.power import POWER, sample_size
from ragbench.old.stats.values import check_better, check_level
from ragbench.old.stats.verdicts import on_scale, verdict_of, weighed

Bounds = tuple[float | None, float | None]


@dataclass(frozen=True)
class Summary:
    """A mean with what is known of it: its interval at `level`, and over how many values it is.

    bounds: the ends of the scale; with both and `n`, a mean without an interval still has a largest possible spread.
    missing: how many values are in no mean.
    """

    value: float
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    n: int | None = None
    bounds: Bounds = (None, None)
    missing: int = 0

    @property
    def reach(self) -> tuple[float, float] | None:
        """The mean if every missing value lay at the lower, or the upper end of the scale, infinite where that is open
        and one is missing; None where both are, or the count is not known."""
        if self.bounds == (None, None) or (self.missing and not self.n):
            return None
        share = self.missing / (self.n + self.missing) if self.n else 0.0
        low, high = (-math.inf if self.bounds[0] is None else self.bounds[0]), self.bounds[1]
        high = math.inf if high is None else high
        if not share:
            return self.value, self.value
        return (1 - share) * self.value + share * low, (1 - share) * self.value + share * high

    @property
    def error(self) -> float | None:
        """The standard error: from the interval; else of a share, which no other mean on the scale exceeds.

        For shares with Agresti and Caffo's added value at either end, so that 0 of n and n of n are not taken as sure.
        None where neither an interval nor scale and count are known.
        """
        if self.low is not None and self.high is not None and self.high > self.low:
            quantile = (1 + self.level) / 2
            edge = t_quantile(quantile, self.n - 1) if self.n is not None and self.n > 1 else normal_quantile(quantile)
            return (self.high - self.low) / (2 * edge)
        low, high = self.bounds
        if self.n is None or self.n < 1 or low is None or high is None or not low <= self.value <= high:
            return None
        share = ((self.value - low) / (high - low) * self.n + 1) / (self.n + 2)
        return (high - low) * math.sqrt(share * (1 - share) / (self.n + 2))


def compare_summaries(
    baseline: Summary,
    challenger: Summary,
    *,
    better: Better = "higher",
    level: float = 0.95,
    margin: float | None = None,
    names: tuple[str, str] = ("baseline", "challenger"),
) -> Comparison | None:
    """Welch's t test (1947) on two independent means, from their standard errors; None where one is not known.

    If both were measured on the same questions, the values of a question go together as a rule, and a paired interval
    would be narrower: what is not shown here may well be there. With both counts the degrees of freedom are Welch and
    Satterthwaite's, else the normal distribution is used. The comparison's `n` is the smaller count, 0 where one is
    unknown; its effect size is over the root of the mean variance, NaN without counts. margin: the smallest difference
    of interest; `questions_needed` is then how many each side needs, None without counts.
    """
    from scipy.special import ndtr, stdtr

    check_level(level)
    check_better(better)
    first, second = baseline.error, challenger.error
    difference = challenger.value - baseline.value
    if first is None or second is None or not math.isfinite(difference):
        return None
    error = math.hypot(first, second)
    freedom, deviation, n = _counted(baseline, challenger, first, second, error)

    def p_of(apart: float) -> float:
        if not error > 0:
            return 1.0 if apart == 0 else 0.0
        ratio = -abs(apart) / error
        return float(2 * (ndtr(ratio) if freedom is None else stdtr(freedom, ratio)))

    p, quantile = p_of(difference), (1 + level) / 2
    edge = normal_quantile(quantile) if freedom is None else t_quantile(quantile, freedom)
    needed = sample_size(margin, deviation * math.sqrt(2), level=level) if deviation and margin is not None else None
    smallest = (edge + normal_quantile(POWER)) * error if error > 0 else None
    ends, lacking = (baseline.reach, challenger.reach), baseline.missing + challenger.missing
    least = most = worst = width = None
    if ends[0] is not None and ends[1] is not None:
        low, high = baseline.bounds
        width = high - low if low is not None and high is not None else None
        if lacking:
            least, most = (
                apart if math.isfinite(apart) else None for apart in (ends[1][0] - ends[0][1], ends[1][1] - ends[0][0])
            )
            against = least if difference > 0 else most
            worst = None if against is None else p_of(against) if against * difference > 0 else 1.0
    comparison = Comparison(
        *names, difference, difference - edge * error, difference + edge * error, level, "welch", p, "Welch's t test",
        difference / deviation if deviation else math.nan, verdict_of(difference, p, better, level), n, lacking, better,
        least=least, most=most, width=width, error=error, threshold=1 - level,
        minimum_detectable=None if smallest is None or (width is not None and smallest > width) else smallest,
        questions_needed=needed, margin=margin, note="two_samples",
    )  # fmt: skip
    return weighed(on_scale(comparison), worst)


def _counted(
    baseline: Summary, challenger: Summary, first: float, second: float, error: float
) -> tuple[float | None, float | None, int]:
    """Degrees of freedom, the deviation of single values, and the smaller count, where both counts are known."""
    if baseline.n is None or challenger.n is None or min(baseline.n, challenger.n) < 2:
        return None, None, 0
    parts = first**4 / (baseline.n - 1) + second**4 / (challenger.n - 1)
    freedom = error**4 / parts if parts > 0 else None
    deviation = math.sqrt((first**2 * baseline.n + second**2 * challenger.n) / 2)
    return freedom, deviation, min(baseline.n, challenger.n)
