"""One probe of a judge: what it saw of each answer, the effect with its interval, its limit, and a verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragbench import stats
from ragbench.core.types import BY_CONSTRUCTION, Array, Estimate
from ragbench.stats.verdicts import outside_p
from ragbench.tiers.basics.families import Sureness

ONLY_UP = ("repeats", "injected", "blank", "key", "own_family", "disguise")
CHANGES = {probe: f"{probe}_changes" for probe in ("place", "scale_order", "language", "prompt_language")}
"""Probes of what should not matter, and the probe of how often it does: a mean of changes up and down hides them."""
FEWEST = 10
"""Items below which a probe says nothing: no verdict could be trusted."""


@dataclass(frozen=True)
class Limits:
    """How much nobody would mind.

    bias: a shift of scores, as a share of the scale; of choices towards a place, as a share of all. flips: share of
    repeats that change the decision. changes: share of choices that are others in the other order, of scores that move
    by more than `bias` with the language (of all texts, or of the prompt) or the order of the scale: two readings by a
    judge that errs once in seven differ one time in four. attacks: share of worthless answers that are called good.
    ladder: share of the pairs of rungs that must be in order at least. alike: the greatest correlation of a judge's
    errors with those of the lexical baseline.
    """

    bias: float = 0.05
    flips: float = 0.02
    changes: float = 0.25
    attacks: float = 0.05
    ladder: float = 0.9
    alike: float = 0.5

    def of(self, probe: str) -> tuple[float, float]:
        """The limits of a probe's effect."""
        if probe == "ladder":
            return self.ladder, math.inf
        high = {"repeats": self.flips, "blank": self.attacks, "key": self.attacks, "disguise": self.alike}
        high |= dict.fromkeys(CHANGES.values(), self.changes)
        limit = high.get(probe, self.bias)
        return (-math.inf, limit) if probe in (*ONLY_UP, *CHANGES.values()) else (-limit, limit)

    def moved(self, probe: str, values: Array) -> NDArray[np.bool_]:
        """Whether each value of the probe's effect alone lies outside what nobody would mind: any other choice, or a
        score beyond the limit; False where there is none."""
        low, high = (0.0, 0.0) if probe == "place" else self.of(probe)
        return (values < low - 1e-9) | (values > high + 1e-9)


@dataclass(frozen=True)
class Effect:
    """Values whose mean is the effect, or why there are none.

    kind: "share" of values from 0 to 1, "shift" of differences, "correlation" of the two columns. answers: by its kind
    (see `ragbench.tiers.judges.biases`) and id the answer that each value is of, empty where single answers have none.
    before, after: the two numbers that each value compares, where it compares two. constructed: the judge cannot do
    otherwise, whatever it is asked, so that the values are no sample of anything.
    """

    values: Array
    clusters: Sequence[str] | None
    kind: Literal["share", "shift", "correlation"] = "shift"
    why: str = ""
    answers: tuple[tuple[str, str], ...] = ()
    before: Array | None = None
    after: Array | None = None
    constructed: bool = False

    @property
    def measured(self) -> int:
        """How many values there are; of a correlation pairs, each cluster one."""
        values = np.asarray(self.values)
        if values.ndim < 2:
            return int((~np.isnan(values)).sum())
        kept = np.flatnonzero(~np.isnan(values).any(axis=1)).tolist()
        return len(kept) if self.clusters is None else len({self.clusters[place] for place in kept})

    @property
    def tested(self) -> bool:
        """Whether it is of the family: enough was measured, and it could have been otherwise."""
        return not self.why and not self.constructed and self.measured >= FEWEST


@dataclass(frozen=True)
class Probe:
    """What one probe found of one judge.

    effect: see `ragbench.tiers.judges.biases`; its value is NaN where the probe could not be made, `why` says why. Its
    interval is one of the family: see `shared_level`.
    limits: within which nobody would mind. p: of the hypothesis that the effect lies within; p_adjusted: times the
    probes of the page that were made (Bonferroni).
    verdict: "found" (beyond the limits, p_adjusted below 1 − level), "passed" (the whole interval within them),
    "open" (neither is shown), "constructed" (this judge cannot do otherwise, so that nothing was sampled),
    "unmeasured".
    """

    judge: str
    probe: str
    effect: Estimate
    limits: tuple[float, float]
    p: float = math.nan
    p_adjusted: float = math.nan
    verdict: str = "unmeasured"
    why: str = ""


def probed(judge: str, name: str, effect: Effect, limits: tuple[float, float], sure: Sureness) -> Probe:
    """The effect with its interval, and p that it lies within its limits."""
    if effect.why:
        return Probe(judge, name, _unknown(sure, 0), limits, why=effect.why)
    if effect.constructed and effect.measured:
        value = float(np.nanmean(effect.values))
        known = Estimate(value, None, None, sure.level, "none", effect.measured, note=BY_CONSTRUCTION)
        return Probe(judge, name, known, limits, verdict="constructed")
    if effect.kind == "correlation":
        return _correlated(judge, name, effect, limits, sure)
    measured = effect.measured
    if measured < FEWEST:
        why = "no_scale" if name.startswith("scale_order") and not measured else "few"
        return Probe(judge, name, _unknown(sure, measured), limits, why=why)
    p = outside_p(effect.values, *limits, clusters=effect.clusters)
    return Probe(judge, name, _mean(effect, sure), limits, p)


def _mean(effect: Effect, sure: Sureness) -> Estimate:
    """The mean with its interval. Where no value differs from another, a unit could still have moved by the whole
    scale: the interval then reaches as far as the share of such units could go unseen."""
    options: dict[str, Any] = {"clusters": effect.clusters, **asdict(sure)}
    if effect.kind == "share":
        return stats.estimate(effect.values, bounds=(0.0, 1.0), **options)
    comparison = stats.compare(np.zeros(len(effect.values)), effect.values, **options)
    made = Estimate(
        comparison.difference,
        comparison.low,
        comparison.high,
        sure.level,
        comparison.method,
        comparison.n,
        comparison.n_dropped,
        clusters=comparison.clusters,
        note=comparison.note,
    )
    if comparison.note != "no_spread":
        return stats.kept_within(made, (-1.0, 1.0))  # differences of shares of the scale
    unseen = stats.estimate(np.where(np.isnan(effect.values), np.nan, 0.0), bounds=(0.0, 1.0), **options)
    ends = (max(-1.0, made.value - (unseen.high or 1.0)), min(1.0, made.value + (unseen.high or 1.0)))
    return replace(made, low=ends[0], high=ends[1], method=unseen.method)


def _correlated(judge: str, name: str, effect: Effect, limits: tuple[float, float], sure: Sureness) -> Probe:
    """Fisher's z with as many independent pairs as there are clusters."""
    from scipy.special import ndtr

    columns: Array = np.asarray(effect.values, dtype=np.float64)
    kept = np.flatnonzero(~np.isnan(columns).any(axis=1)).tolist()
    pairs = columns[kept]
    number = effect.measured
    if number < FEWEST:
        return Probe(judge, name, _unknown(sure, len(pairs)), limits, why="few")
    r = float(np.clip(np.asarray(np.corrcoef(pairs.T))[0, 1], -0.999999, 0.999999))
    error = 1 / math.sqrt(number - 3)
    half = NormalDist().inv_cdf((1 + sure.level) / 2) * error
    low, high = math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)
    estimate = Estimate(r, low, high, sure.level, "fisher", len(pairs), clusters=number)
    return Probe(judge, name, estimate, limits, float(ndtr(-(math.atanh(r) - math.atanh(limits[1])) / error)))


def _unknown(sure: Sureness, n: int) -> Estimate:
    return Estimate(math.nan, None, None, sure.level, "none", n, note="empty")


def shared_level(level: float, tested: int) -> float:
    """The level of each interval of a family of so many probes.

    One that lies wholly within its limits or wholly beyond them says so of its probe at one end, at
    (1 − level) / tested; only one of the two words is ever wrong, so that the chance of any wrong word in the family is
    at most 1 − level (Bonferroni), of those that are found and of those that are ruled out alike.
    """
    return level if tested < 1 else 1 - 2 * (1 - level) / max(tested, 2)


def judged(probes: Sequence[Probe], level: float) -> list[Probe]:
    """The probes with p corrected over those that were tested, and their verdicts."""
    tested = sum(not math.isnan(candidate.p) for candidate in probes)

    def verdict(subject: Probe, p: float) -> str:
        (low, high), e = subject.limits, subject.effect
        inside = e.low is not None and e.high is not None and e.low >= low and e.high <= high
        return "unmeasured" if subject.why else "found" if p < 1 - level else "passed" if inside else "open"

    done = []
    for probe in probes:
        p = min(1.0, tested * probe.p) if not math.isnan(probe.p) else math.nan
        done.append(
            replace(probe, p_adjusted=p, verdict=probe.verdict if probe.verdict == "constructed" else verdict(probe, p))
        )
    return done
