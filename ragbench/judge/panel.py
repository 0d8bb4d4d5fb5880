"""Several judges at once: each one's score kept, one aggregate, failures named, and how much each judge sways it."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from ragbench.judge.waves import gather
from ragbench.llm import BudgetSpent, ModelError
from ragbench.types import Judge, Score, Status

Aggregate = Literal["mean", "median", "minimum", "maximum", "majority", "consensus"]
AGGREGATES: tuple[Aggregate, ...] = get_args(Aggregate)


@dataclass(frozen=True)
class Rule:
    """How several judges' scores become one.

    mean, median, minimum, maximum: of the judges that measured.
    majority: the value that more than half of the judges that measured gave; none: unmeasured (verdict_mismatch).
    consensus: their mean if the highest and the lowest differ by at most `tolerance`; else unmeasured
        (verdict_mismatch).
    quorum: how many judges must have measured at least.
    """

    how: Aggregate = "mean"
    tolerance: float | None = None
    quorum: int = 1

    def __post_init__(self) -> None:
        if self.how not in AGGREGATES:
            raise ValueError(f"there is no aggregate {self.how!r}; there are {', '.join(AGGREGATES)}")
        if (self.how == "consensus") != (self.tolerance is not None):
            raise ValueError("consensus, and nothing else, needs a tolerance: Rule('consensus', tolerance=0.25)")
        if self.tolerance is not None and not self.tolerance >= 0:
            raise ValueError(f"tolerance = {self.tolerance}: it is 0 or more")
        if self.quorum < 1:
            raise ValueError(f"quorum = {self.quorum}: at least one judge has to measure")

    @property
    def label(self) -> str:
        """The rule in one word, with its tolerance: `consensus(0.25)`."""
        return f"{self.how}({self.tolerance:g})" if self.tolerance is not None else self.how

    def __call__(self, scores: Mapping[str, Score]) -> Score:
        """One score out of the judges' scores by name; `detail["judges"]` keeps all of them."""
        kept = {
            name: {
                "value": s.value,
                "status": s.status.value,
                "reason": s.reason,
                "seconds": s.seconds,
                "detail": dict(s.detail),
            }
            for name, s in scores.items()
        }
        more = {"detail": {"judges": kept, "aggregate": self.label}, "judge": f"panel {self.label}"}
        values = [score.value for score in scores.values() if score.status is Status.OK]
        failed = ", ".join(f"{name} ({s.status.value})" for name, s in scores.items() if s.status is not Status.OK)
        if len(values) < self.quorum:
            statuses = Counter(s.status for s in scores.values() if s.status is not Status.OK)
            status = statuses.most_common(1)[0][0] if statuses else Status.JUDGE_ERROR
            reason = f"{len(values)} of {len(scores)} judges measured, {self.quorum} needed; not: {failed or 'none'}"
            return Score.unmeasured(status, reason, **more)
        value = self._combine(values)
        if math.isnan(value):
            given = ", ".join(f"{name} {s.value:g}" for name, s in scores.items() if s.status is Status.OK)
            return Score.unmeasured(Status.VERDICT_MISMATCH, f"no {self.label} among {given}", **more)
        return Score(value, reason=f"not measured by {failed}" if failed else "", **more)  # type: ignore[arg-type]

    def _combine(self, values: Sequence[float]) -> float:
        if self.how == "majority":
            value, votes = Counter(values).most_common(1)[0]
            return value if 2 * votes > len(values) else math.nan
        if self.how == "consensus":
            assert self.tolerance is not None
            spread = max(values) - min(values)
            return statistics.fmean(values) if spread <= self.tolerance + 1e-12 else math.nan
        if self.how == "median":
            return statistics.median(values)
        if self.how in ("minimum", "maximum"):
            return min(values) if self.how == "minimum" else max(values)
        return statistics.fmean(values)


@dataclass
class Panel:
    """Judges that are asked together.

    A judge whose provider stops answering altogether is left out from then on, and named; the others go on. When
    none is left, its error stops the run.
    """

    judges: Sequence[Judge]
    rule: Rule = field(default_factory=Rule)
    out: dict[str, ModelError] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [judge.name for judge in self.judges]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"a panel has at least one judge, each under its own name; given: {names}")

    async def score(self, measure: Callable[[Judge], Awaitable[Score]]) -> Score:
        """The aggregate of `measure` (a metric on one sample, waiting for its judge) over all judges, concurrently."""
        scores = await gather([self._one(judge, measure) for judge in self.judges])
        if len(self.out) == len(self.judges):
            raise next(iter(self.out.values()))
        return self.rule({judge.name: score for judge, score in zip(self.judges, scores, strict=True)})

    async def _one(self, judge: Judge, measure: Callable[[Judge], Awaitable[Score]]) -> Score:
        if judge.name not in self.out:
            try:
                return await measure(judge)
            except BudgetSpent:
                raise
            except ModelError as error:
                self.out[judge.name] = error
        return Score.unmeasured(Status.JUDGE_ERROR, str(self.out[judge.name]), judge=judge.name)


@dataclass(frozen=True)
class Failures:
    """How often one judge of a panel gave no score. share: failed / n; statuses: how often each."""

    judge: str
    n: int
    failed: int
    share: float
    statuses: Mapping[str, int]


def failures(scores: Sequence[Score]) -> list[Failures]:
    """Each judge's failures over panel scores (those that `Rule` made), in the panel's order."""
    found = []
    for judge in _judges(scores):
        statuses = Counter(score.detail["judges"][judge]["status"] for score in scores)
        failed = len(scores) - statuses.pop(Status.OK.value, 0)
        found.append(Failures(judge, len(scores), failed, failed / len(scores), dict(sorted(statuses.items()))))
    return found


@dataclass(frozen=True)
class Influence:
    """What the mean over all samples becomes without one judge.

    whole, without: means of the aggregate over the n samples that both measure; NaN if there are none.
    largest: the greatest change of a single sample's aggregate.
    """

    judge: str
    whole: float
    without: float
    largest: float
    n: int

    @property
    def shift(self) -> float:
        """without − whole."""
        return self.without - self.whole


def leave_one_out(scores: Sequence[Score], rule: Rule) -> list[Influence]:
    """Each judge's influence over panel scores: the aggregate is made anew from the kept scores, without that judge.

    Raises ValueError for a panel of one.
    """
    judges = _judges(scores)
    if len(judges) < 2:
        raise ValueError(f"leaving one out needs two judges at least; the panel is {judges}")
    found = []
    for judge in judges:
        pairs = []
        for score in scores:
            rest = {name: _score(kept) for name, kept in score.detail["judges"].items() if name != judge}
            without = rule(rest)
            if score.status is Status.OK and without.status is Status.OK:
                pairs.append((score.value, without.value))
        whole = statistics.fmean(one for one, _ in pairs) if pairs else math.nan
        without_mean = statistics.fmean(other for _, other in pairs) if pairs else math.nan
        largest = max((abs(one - other) for one, other in pairs), default=math.nan)
        found.append(Influence(judge, whole, without_mean, largest, len(pairs)))
    return found


def _judges(scores: Sequence[Score]) -> list[str]:
    return list(dict.fromkeys(judge for score in scores for judge in score.detail["judges"]))


def _score(kept: Mapping[str, object]) -> Score:
    return Score(float(kept["value"]), Status(kept["status"]))  # type: ignore[arg-type]
