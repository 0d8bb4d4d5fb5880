"""Several judges at once: each one's score kept, one aggregate, failures named, and how much each judge sways it."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast, get_args

from ragbench.old.core.settings import Settings
from ragbench.old.core.settings.endpoints import Aggregate
from ragbench.old.core.types import Judge, Score, Status
from ragbench.old.core.types.reason import Reason, kept, reason_of
from ragbench.old.core.waves import gather
from ragbench.old.llm import BudgetSpent, ModelError

AGGREGATES: tuple[Aggregate, ...] = get_args(Aggregate)


@dataclass(frozen=True)
class Rule:
    """How several judges' scores become one.

    mean, median, minimum, maximum: of the judges that measured.
    majority: the value that more than half of the judges that measured gave; none: unmeasured (verdict_mismatch).
    binary_majority: the top of the scale where more than half of the judges that measured gave at least its middle,
        else its bottom, also where they are even: always a value. Spring AI RAGAS' MAJORITY_VOTING.
    consensus: their mean if the highest and the lowest differ by at most `tolerance`; else unmeasured
        (verdict_mismatch).
    quorum: how many judges must have measured at least; None: every judge of the panel. A judge that fails on the bad
        answers would else leave them to the lenient ones.
    scale: lowest and highest score of the metric; binary_majority alone asks for it.
    """

    how: Aggregate = "mean"
    tolerance: float | None = None
    quorum: int | None = None
    scale: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        if self.how not in AGGREGATES:
            raise ValueError(f"there is no aggregate {self.how!r}; there are {', '.join(AGGREGATES)}")
        if (self.how == "consensus") != (self.tolerance is not None):
            raise ValueError(
                f"aggregate = {self.how!r}, tolerance = {self.tolerance}: consensus, and nothing else, needs one"
            )
        if self.tolerance is not None and not self.tolerance >= 0:
            raise ValueError(f"tolerance = {self.tolerance}: it is 0 or more")
        if self.quorum is not None and self.quorum < 1:
            raise ValueError(f"quorum = {self.quorum}: at least one judge has to measure")

    @classmethod
    def of(
        cls, known: Settings, aggregate: str | None = None, tolerance: float | None = None, quorum: int | None = None
    ) -> Rule:
        """What is asked for; what is None as in the settings, whose tolerance goes with a consensus alone.

        Raises ValueError for an aggregate that there is not, and a tolerance of another than consensus.
        """
        how = aggregate or known.aggregate
        apart = known.tolerance if tolerance is None and how == "consensus" else tolerance
        return cls(cast(Aggregate, how), apart, known.quorum if quorum is None else quorum)

    def on(self, bounds: tuple[float | None, float | None]) -> Rule:
        """The same on a metric's scale. Raises ValueError for binary_majority on a scale without ends."""
        low, high = bounds
        if low is not None and high is not None:
            return replace(self, scale=(low, high))
        if self.how == "binary_majority":
            raise ValueError(f"{self.how} needs a scale with two ends, for its middle; this one is {low} … {high}")
        return self

    @property
    def label(self) -> str:
        """The rule in one word, with its tolerance: `consensus(0.25)`."""
        return f"{self.how}({self.tolerance:g})" if self.tolerance is not None else self.how

    def needed(self, judges: int) -> int:
        """How many of so many judges must have measured. Raises ValueError where they are fewer than the quorum."""
        if self.quorum is not None and self.quorum > judges:
            raise ValueError(f"quorum = {self.quorum}: there are only {judges} judges")
        return judges if self.quorum is None else self.quorum

    def __call__(self, scores: Mapping[str, Score]) -> Score:
        """One score out of the judges' scores by name; `detail["judges"]` keeps all of them.

        Its `judge` says where it is made of fewer than all: `panel mean, 1 of 2`. Its seconds are the judges' sum.
        """
        by_judge = {
            name: {
                "value": s.value,
                "status": s.status.value,
                "reason": kept(s.reason),
                "seconds": s.seconds,
                "detail": dict(s.detail),
            }
            for name, s in scores.items()
        }
        values = [score.value for score in scores.values() if score.status is Status.OK]
        quorum = self.needed(len(scores))
        partly = f", {len(values)} of {len(scores)}" if quorum <= len(values) < len(scores) else ""
        seconds = [score.seconds for score in scores.values() if score.seconds is not None]
        more: dict[str, Any] = {
            "detail": {"judges": by_judge, "aggregate": self.label, "quorum": quorum},
            "judge": f"panel {self.label}{partly}",
            "seconds": math.fsum(seconds) if seconds else None,
        }
        failed = ", ".join(f"{name} ({s.status.value})" for name, s in scores.items() if s.status is not Status.OK)
        if len(values) < quorum:
            statuses = Counter(s.status for s in scores.values() if s.status is not Status.OK)
            status = statuses.most_common(1)[0][0] if statuses else Status.JUDGE_ERROR
            reason = Reason(
                "{part} of {whole} judges measured, {quorum} needed; not: {said}",
                part=len(values),
                whole=len(scores),
                quorum=quorum,
                said=failed or "none",
            )
            return Score.unmeasured(status, reason, **more)
        value = self._combine(values)
        if math.isnan(value):
            given = ", ".join(f"{name} {s.value:g}" for name, s in scores.items() if s.status is Status.OK)
            return Score.unmeasured(Status.VERDICT_MISMATCH, f"no {self.label} among {given}", **more)
        return Score(value, reason=Reason("not measured by {said}", said=failed) if failed else "", **more)

    def _combine(self, values: Sequence[float]) -> float:
        if self.how == "majority":
            value, votes = Counter(values).most_common(1)[0]
            return value if 2 * votes > len(values) else math.nan
        if self.how == "binary_majority":
            low, high = self.scale
            votes = sum(value >= (low + high) / 2 for value in values)
            return high if 2 * votes > len(values) else low
        if self.tolerance is not None and max(values) - min(values) > self.tolerance + 1e-12:
            return math.nan
        combined: dict[str, Callable[[Sequence[float]], float]] = {"minimum": min, "maximum": max}
        combined["median"] = statistics.median
        return combined.get(self.how, statistics.fmean)(values)


@dataclass
class Panel:
    """Judges that are asked together.

    A judge whose provider stops answering altogether is asked no more from then on, and named; the others go on. When
    none is left, its error stops the run. Raises ValueError for a rule whose quorum the judges cannot make.
    """

    judges: Sequence[Judge]
    rule: Rule = field(default_factory=Rule)
    out: dict[str, ModelError] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [judge.name for judge in self.judges]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"a panel has at least one judge, each under its own name; given: {names}")
        self.rule.needed(len(names))

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
        return Score.unmeasured(Status.JUDGE_ERROR, reason_of(self.out[judge.name]), judge=judge.name)


@dataclass(frozen=True)
class CoveredBy:
    """One judge of a panel: the n items that it measured with their mean, and its mean over those that all measured.

    NaN where there are none.
    """

    judge: str
    n: int
    mean: float
    common: float


@dataclass(frozen=True)
class JudgeCoverage:
    """Whether the judges of a panel measured the same items.

    n: values of the panel; incomplete: how many of them are made of fewer judges than it has; common: items that
    every judge measured. Means over different items are not comparable.
    """

    n: int
    incomplete: int
    common: int
    judges: tuple[CoveredBy, ...]

    @property
    def even(self) -> bool:
        """Whether all judges measured the same items."""
        return all(judge.n == self.common for judge in self.judges)


def judge_coverage(scores: Sequence[Score]) -> JudgeCoverage:
    """Which items each judge measured, over panel scores (those that `Rule` made)."""
    kept = [score.detail["judges"] for score in scores]
    values = {
        judge: [
            float(by_judge[judge]["value"]) if by_judge[judge]["status"] == Status.OK.value else math.nan
            for by_judge in kept
        ]
        for judge in _judges(scores)
    }
    shared = [not any(map(math.isnan, row)) for row in zip(*values.values(), strict=True)]
    judges = []
    for judge, column in values.items():
        own = [value for value in column if not math.isnan(value)]
        both = [value for value, all_there in zip(column, shared, strict=True) if all_there]
        means = [statistics.fmean(each) if each else math.nan for each in (own, both)]
        judges.append(CoveredBy(judge, len(own), *means))
    measured = [all_there for score, all_there in zip(scores, shared, strict=True) if score.status is Status.OK]
    return JudgeCoverage(len(measured), measured.count(False), sum(shared), tuple(judges))


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
    rule_without = replace(rule, quorum=None if rule.quorum is None else min(rule.quorum, len(judges) - 1))
    influences = []
    for judge in judges:
        pairs = []
        for score in scores:
            rest = {name: _score(kept) for name, kept in score.detail["judges"].items() if name != judge}
            without = rule_without(rest)
            if score.status is Status.OK and without.status is Status.OK:
                pairs.append((score.value, without.value))
        whole = statistics.fmean(full for full, _ in pairs) if pairs else math.nan
        without_mean = statistics.fmean(other for _, other in pairs) if pairs else math.nan
        largest = max((abs(full - other) for full, other in pairs), default=math.nan)
        influences.append(Influence(judge, whole, without_mean, largest, len(pairs)))
    return influences


def _judges(scores: Sequence[Score]) -> list[str]:
    return list(dict.fromkeys(judge for score in scores for judge in score.detail["judges"]))


def _score(kept: Mapping[str, object]) -> Score:
    return Score(float(kept["value"]), Status(kept["status"]))  # type: ignore[arg-type]
