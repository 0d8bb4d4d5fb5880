"""Several judges at once: each one's score kept, one score of all, failures named."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from ragbench.core.errors import BenchError
from ragbench.core.language import mark
from ragbench.core.settings import Aggregate
from ragbench.core.types import Score
from ragbench.metrics.judging import ask_all

JOINED = mark("The judges' values {values} make {value}")


@dataclass(frozen=True)
class Rule:
    """How the scores of several judges become one.

    mean, median, minimum, maximum: of the judges that measured. majority: the value that more than
    half of them gave. consensus: their mean, if the highest and the lowest differ by at most
    `tolerance`. quorum: judges that must have measured; None: all of them. A judge that fails on
    the bad answers would else leave them to the lenient ones.
    """

    aggregate: Aggregate = "mean"
    tolerance: float | None = None
    quorum: int | None = None

    def check(self, judges: int) -> None:
        """Refuse a rule that means nothing for so many judges."""
        if (self.aggregate == "consensus") != (self.tolerance is not None):
            raise BenchError(
                f"aggregate = {self.aggregate!r} with tolerance = {self.tolerance}: consensus, and "
                "no other, needs a tolerance"
            )
        if self.quorum is not None and not 1 <= self.quorum <= judges:
            raise BenchError(f"quorum = {self.quorum}: there are {judges} judges")

    def apply(self, values: Sequence[float]) -> float:
        """Return one value of several; NaN where there is no majority or consensus."""
        if self.aggregate == "majority":
            value, votes = Counter(values).most_common(1)[0]
            return value if 2 * votes > len(values) else math.nan
        if self.tolerance is not None:
            # 0.9 − 0.7 is a little more than 0.2 in binary.
            is_near = max(values) - min(values) <= self.tolerance + 1e-12
            return statistics.fmean(values) if is_near else math.nan
        others: dict[str, Any] = {"median": statistics.median, "minimum": min, "maximum": max}
        return float(others.get(self.aggregate, statistics.fmean)(values))


class Panel:
    """Judges that are asked together; scoring calls `measure` where it would ask one judge."""

    def __init__(self, judges: Sequence[Any], rule: Rule | None = None) -> None:
        names = [judge.name for judge in judges]
        if not names or len(set(names)) < len(names):
            raise BenchError(f"a panel needs judges under different names; given: {names}")
        self.judges = list(judges)
        self.rule = rule or Rule()
        self.rule.check(len(names))
        self.name = f"{self.rule.aggregate} of {', '.join(names)}"
        self.is_stand_in = all(getattr(judge, "is_stand_in", False) for judge in judges)
        self.sees_images = all(getattr(judge, "sees_images", False) for judge in judges)

    async def __aenter__(self) -> Self:
        for judge in self.judges:
            await judge.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        for judge in self.judges:
            await judge.__aexit__(*error)

    @property
    def notes(self) -> list[str]:
        """What whoever reads the scores must know, of each judge."""
        return [note for judge in self.judges for note in getattr(judge, "notes", [])]

    async def measure(self, metric: Callable[[Any], Awaitable[Score]]) -> Score:
        """Return the score of all judges. metric: of one judge, waiting for it."""
        scores = await ask_all(*(metric(judge) for judge in self.judges))
        names = [judge.name for judge in self.judges]
        return combine(dict(zip(names, scores, strict=True)), self.rule)


def combine(scores: Mapping[str, Score], rule: Rule) -> Score:
    """Make one score of the judges' scores; `by_judge` keeps all of them."""
    values = {name: score.value for name, score in scores.items() if score.status == "ok"}
    failed = {name: score.status for name, score in scores.items() if score.status != "ok"}
    failures = f"not measured by {', '.join(f'{name} ({failed[name]})' for name in failed)}"
    n_needed = rule.quorum or len(scores)
    if len(values) < n_needed:
        status = Counter(failed.values()).most_common(1)[0][0]
        return Score(math.nan, status, f"{failures}; {n_needed} must measure", by_judge=scores)
    value = rule.apply(list(values.values()))
    facts = {"values": list(values.values())}
    if math.isnan(value):
        given = ", ".join(f"{name} {value:g}" for name, value in values.items())
        reason = f"no {rule.aggregate} among {given}"
        return Score(value, "verdict_mismatch", reason, by_judge=scores)
    reason = failures if failed else ""
    return Score(value, "ok", reason, JOINED, facts, by_judge=scores)
