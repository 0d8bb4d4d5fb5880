"""Gates: conditions that a report is held to, decided by intervals: it holds, it fails, or nobody can tell yet."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from ragbench.old import stats
from ragbench.old.core.endings import Ending
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import Measurement, NamedEstimate, without_nan
from ragbench.old.core.metric import registered
from ragbench.old.core.parts import Value, spoken
from ragbench.old.core.settings import Band, DifferenceSettings, GateSettings, Settings, metric_tables
from ragbench.old.core.types import BY_CONSTRUCTION, Estimate
from ragbench.old.core.types.reason import Reason, joined, parts, short
from ragbench.old.metrics import declaration, meant
from ragbench.old.metrics.explanation import sentence
from ragbench.old.tiers.basics import withholding
from ragbench.old.tiers.basics.bands import REACHABLE, band_for, of_interest
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.findings import compared_pair
from ragbench.old.tiers.basics.verdict_tables import decision
from ragbench.old.tiers.scoring import judge_assignment

ALONE: str = sentence(
    "At a gate the interval of a difference is that of its comparison by itself: nothing is corrected, as all gates "
    "have to hold."
)["text"]
"""What tells it from the corrected one of the page."""
_BOUND = re.compile(r"(?P<metric>[^<>=(]++(?:\(.*\)[^<>=()]*+)?)(?P<sign>>=|<=)\s*+(?P<limit>-?\d++(?:\.\d++)?)\s*+")


class Outcome(StrEnum):
    """What a check comes to; `undecided` is neither: the interval holds both."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "not enough evidence"


@dataclass(frozen=True)
class Check:
    """One condition on one number.

    condition: in words and numbers, `mrr >= 0.7`. value, low, high: the number (or the difference) with its interval,
    NaN and None where there is none. needed: of an undecided one, how many questions in all decide with 80 % power if
    the true value lies `distance` from the limit: the smallest difference of interest; of a comparison that may be
    worse by so much, just as good. None where that cannot be told. why: the reason of the outcome. is_difference: the
    number is one, with the interval of that comparison by itself.
    """

    gate: str
    notebook: str
    system: str
    metric: str
    condition: str
    outcome: Outcome = Outcome.UNDECIDED
    why: str = ""
    value: float = math.nan
    low: float | None = None
    high: float | None = None
    n: int = 0
    n_unmeasured: int = 0
    distance: float | None = None
    needed: int | None = None
    is_difference: bool = False

    def as_json(self) -> dict[str, Any]:
        """Plain values; `sentences`: condition and why with their values apart."""
        texts = {"condition": self.condition, "why": self.why}
        sentences = {name: text.sentence for name, text in texts.items() if isinstance(text, Reason)}
        return {**asdict(self), **texts, "outcome": str(self.outcome), "sentences": sentences}


@dataclass(frozen=True)
class Decision:
    """All checks of a report."""

    checks: tuple[Check, ...]

    @property
    def outcome(self) -> Outcome:
        """Fails if any check fails; holds if all hold. Every check is made at the level of its interval: for the
        statement that all of them hold nothing has to be corrected (Berger 1982, intersection–union)."""
        outcomes = {check.outcome for check in self.checks}
        for word in (Outcome.FAILS, Outcome.UNDECIDED):
            if word in outcomes:
                return word
        return Outcome.HOLDS if outcomes else Outcome.UNDECIDED

    @property
    def exit_code(self) -> Ending:
        """Of the worst check; one that has no value to hold was not measured, whatever its outcome."""
        codes = {Outcome.HOLDS: Ending.HELD, Outcome.FAILS: Ending.FAILED, Outcome.UNDECIDED: Ending.UNDECIDED}
        without = any(not check.n for check in self.checks) or not self.checks
        return Ending.UNMEASURED if without else codes[self.outcome]

    def as_json(self) -> dict[str, Any]:
        """Plain values: the outcome, and every check."""
        plain: dict[str, Any] = without_nan(
            {"outcome": str(self.outcome), "checks": [c.as_json() for c in self.checks]}
        )
        return plain


def check_gates(settings: Settings) -> None:
    """Refuse, before anything is measured, gates that cannot be followed. Raises BenchError."""
    if not settings.gate:
        raise BenchError("there is no gate to hold the report to: write a table [gate.NAME] with `metric` and "
                         "`at_least`, `at_most`, `band` or `not_worse_by`")  # fmt: skip
    if problems := list(faults(settings)):
        raise BenchError("\n".join(problems))


def faults(settings: Settings) -> Iterator[str]:
    """Why gates cannot be followed, one sentence each."""
    known = metric_tables.bands(settings)
    for name, gate in settings.gate.items():
        declared = declaration(gate.metric)
        if declared is None:
            yield (
                f"gate.{name}.metric = {gate.metric!r}: there is no such metric among the {len(registered())} that "
                "`ragbench metrics` lists"
            )
        elif gate.band is not None and _band(known, gate.metric, gate.band) is None:
            there = f"the thresholds {settings.threshold_set!r} say nothing of {gate.metric}"
            yield f"gate.{name}.band = {gate.band!r}: {there}"
        for system in (gate.system, gate.baseline):
            if system is not None and system not in settings.systems:
                yield f"gate.{name}: there is no system {system!r}; there are {', '.join(settings.systems)}"


def bound(text: str) -> tuple[str, GateSettings]:
    """A bound that a metric's interval has to keep, `faithfulness>=0.8`, as a gate named by it. Raises ValueError."""
    match = _BOUND.fullmatch(text)
    if match is None or not match["metric"].strip():
        raise ValueError(f"--gate {text!r}: a gate is written METRIC>=NUMBER or METRIC<=NUMBER")
    side = {">=": "at_least", "<=": "at_most"}[match["sign"]]
    return text, GateSettings.model_validate({"metric": match["metric"].strip(), side: float(match["limit"])})


def line(check: Check) -> str:
    """One check in a line, with how many questions decide such a one."""
    where = " ".join(part for part in (check.notebook, check.system) if part)
    value = Value(check.value, check.low, check.high, digits=4, signed=check.is_difference, bare=True)
    number = "" if check.value != check.value else spoken(translator("en")).phrase(value)
    if number and check.low is not None:
        number += f", n {check.n}"
    if number and check.is_difference:
        number = f"difference {number}"
    said = "; ".join(filter(None, [check.why, decision(check.distance, check.needed, check.n, translator("en"))]))
    about = "" if check.gate.replace(" ", "") == check.condition.replace(" ", "") else f"gate {check.gate} "
    told = ": ".join(filter(None, [where, number]))
    return f"{about}{check.outcome}: {', '.join(filter(None, [check.condition, told]))} ({said})"


def decide(measurements: Mapping[str, Measurement], settings: Settings) -> Decision:
    """Every gate of the settings on every number that it names. A gate whose number is not there is undecided."""
    known = metric_tables.bands(settings)
    checks: list[Check] = []
    for name, gate in settings.gate.items():
        own_checks = list(_checks(name, gate, measurements, known, settings.smallest_difference))
        named = (name, gate.notebook or "", gate.system or "", gate.metric)
        checks += own_checks or [Check(*named, gate.metric, why=Reason("the report has no such number"))]
    return Decision(tuple(checks))


def _checks(
    name: str,
    gate: GateSettings,
    measurements: Mapping[str, Measurement],
    known: Mapping[str, Band],
    matters: DifferenceSettings,
) -> Iterator[Check]:
    for notebook, made in measurements.items():
        if gate.notebook not in (None, notebook):
            continue
        panels = judge_assignment.of_facts(made.facts)
        wanted = meant(gate.metric, (known_estimate.metric for known_estimate in made.estimates))
        for estimate in made.estimates:
            if estimate.metric not in wanted or gate.system not in (None, estimate.system):
                continue
            place = (name, notebook, estimate.system, estimate.metric)
            few = judge_assignment.incomplete(panels.get((estimate.system, estimate.metric)))
            alone = made.alone(estimate)
            judged = alone.estimate if isinstance(alone, NamedEstimate) else estimate.estimate
            strange = withholding.why(made.facts, [estimate.system], estimate.metric, estimate.where)
            for sign, limit, strict, text in _limits(gate, estimate.metric, known):
                check = Check(*place, text, distance=of_interest(estimate.metric, matters, made.facts.get(REACHABLE)))
                verdict = _bound(check, estimate.estimate, judged, sign, limit, strict, gate)
                yield _marked(_unknown(verdict, strange), few)
            baseline = gate.baseline or made.facts.get("baseline")
            if gate.not_worse_by is not None and estimate.system != baseline:
                few = joined(few, judge_assignment.incomplete(panels.get((str(baseline), estimate.metric))))
                strange = withholding.why(made.facts, [str(baseline), estimate.system], estimate.metric, estimate.where)
                yield _marked(_unknown(_not_worse(place, made, str(baseline), judged, gate), strange), few)


def _limits(gate: GateSettings, metric: str, known: Mapping[str, Band]) -> Iterator[tuple[int, float, bool, str]]:
    """(1 for a lower limit, -1 for an upper one; the limit; whether the limit itself is not enough; in words)."""
    if gate.at_least is not None:
        yield 1, gate.at_least, False, f"{metric} >= {gate.at_least:g}"
    if gate.at_most is not None:
        yield -1, gate.at_most, False, f"{metric} <= {gate.at_most:g}"
    if gate.band is not None and (edge := _band(known, metric, gate.band)) is not None:
        limit, lower = edge
        strict = gate.band == "excellent"
        sign = ("<" if lower else ">") + ("" if strict else "=")
        bound = f"{metric} {sign} {limit:g}"
        good, excellent = Reason("{bound} (good)", bound=bound), Reason("{bound} (excellent)", bound=bound)
        yield -1 if lower else 1, limit, strict, excellent if strict else good


def _band(known: Mapping[str, Band], metric: str, word: str) -> tuple[float, bool] | None:
    """The threshold of a band, and whether lower is better."""
    band = band_for(known, metric)
    limit = None if band is None else getattr(band, word)
    return None if band is None or limit is None else (limit, band.better == "lower")


def _bound(
    made: Check, estimate: Estimate, judged: Estimate, sign: int, limit: float, strict: bool, gate: GateSettings
) -> Check:
    """An interval against a limit; of what could not have been otherwise the number itself, which nobody sampled.

    judged: the same before people's labels corrected it, which counts all answers."""
    made = replace(
        made,
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        n=estimate.n,
        n_unmeasured=estimate.n_unmeasured,
    )
    if (why := _unmeasured(judged.n, judged.n_unmeasured, gate)) is not None:
        return replace(made, outcome=Outcome.FAILS, why=why)
    if estimate.note == BY_CONSTRUCTION:
        held = sign * estimate.value >= sign * limit and not (strict and estimate.value == limit)
        exact = Reason("by construction: it could not have been otherwise")
        return replace(made, outcome=Outcome.HOLDS if held else Outcome.FAILS, why=exact)
    if estimate.low is None or estimate.high is None:
        return replace(made, why=Reason("there is no interval"))
    near, far = sorted((sign * estimate.low, sign * estimate.high))
    edge = sign * limit
    first = parts(estimate.doubt)[0] if estimate.doubt else ""
    unsure = Reason("{said}: the interval may miss the true value twice as often as it says", said=first)
    if near > edge or (near == edge and not strict):
        why = unsure if estimate.doubt else Reason("the whole interval keeps the condition")
        return replace(made, outcome=Outcome.HOLDS, why=why)
    if far < edge or (far == edge and strict):
        why = unsure if estimate.doubt else Reason("the whole interval breaks the condition")
        return replace(made, outcome=Outcome.FAILS, why=why)
    needed = _needed(made.distance, estimate.low, estimate.high, estimate.n, estimate.clusters, estimate.level)
    return replace(made, why=Reason("the interval reaches across the limit"), needed=needed)


def _unknown(check: Check, why: str) -> Check:
    """The check undecided where too much of what was retrieved is unknown, whatever the number."""
    return replace(check, outcome=Outcome.UNDECIDED, why=why, needed=None, distance=None) if why else check


def _marked(check: Check, few: str) -> Check:
    """The check with what its values lack."""
    return replace(check, why=joined(check.why, few)) if few else check


def _unmeasured(n: int, missing: int, gate: GateSettings) -> str | None:
    """Why too little was measured to trust the mean; None if enough was."""
    total = n + missing
    if n == 0:
        return Reason("nothing was measured")
    if missing > gate.most_unmeasured * total:
        return Reason(
            "{part} of {whole} could not be measured, at most {share}% may be",
            part=missing,
            whole=total,
            share=short(100 * gate.most_unmeasured),
        )
    return None


def _not_worse(
    place: tuple[str, str, str, str], made: Measurement, baseline: str, estimate: Estimate, gate: GateSettings
) -> Check:
    """Non-inferiority: the whole interval of the difference lies on the right side of the margin."""
    margin = gate.not_worse_by
    assert margin is not None, "asked for"
    text = Reason("{name} not worse than {who} by more than {share}", name=place[3], who=baseline, share=short(margin))
    made_of = compared_pair(made, baseline, place[2], place[3])
    check = Check(*place, text, n=estimate.n, n_unmeasured=estimate.n_unmeasured, distance=margin, is_difference=True)
    if made_of is None:
        told = Reason("{name} was not compared with {who} question by question", name=place[2], who=baseline)
        return replace(check, why=told)
    missing = max(made_of.n_dropped, estimate.n_unmeasured)
    low, high = (None, None) if math.isnan(made_of.low) else (made_of.low, made_of.high)
    check = replace(check, value=made_of.difference, low=low, high=high, n=made_of.n, n_unmeasured=missing)
    corrected = place[3] in (made.facts.get("corrected") or ())
    if (why := _unmeasured(estimate.n if corrected else made_of.n, missing, gate)) is not None:
        return replace(check, outcome=Outcome.FAILS, why=why)
    if low is None or high is None:
        return replace(check, why=Reason("there is no interval of the difference"))
    sign = 1 if made_of.better == "higher" else -1
    worst, best = sorted((sign * low, sign * high))
    far, near = sorted(sign * end for end in stats.reach(made_of))
    unbounded = made_of.least is None or made_of.most is None
    if made_of.withheld and (unbounded or not stats.withheld_by_gaps(made_of)):
        return replace(check, why=made_of.withheld)
    if (worst > -margin >= far) or (best < -margin <= near):
        return replace(check, why=stats.gaps(made_of))
    if worst > -margin or best < -margin:
        outcome = Outcome.HOLDS if worst > -margin else Outcome.FAILS
        within = Reason("the whole interval of the difference is within the margin")
        why = within if worst > -margin else Reason("the whole interval of the difference is beyond the margin")
        if made_of.doubt:
            why = Reason("{said}: the test may err twice as often as it says", said=parts(made_of.doubt)[0])
        return replace(check, outcome=outcome, why=why)
    needed = _needed(margin, low, high, made_of.n, made_of.clusters, made_of.level)
    return replace(check, why=Reason("the interval of the difference reaches across the margin"), needed=needed)


def _needed(distance: float | None, low: float, high: float, n: int, clusters: int | None, level: float) -> int | None:
    """How many questions put a limit so far away outside of the interval with 80 % power; None where none would."""
    from ragbench.old.stats.intervals import t_quantile

    groups = n if clusters is None else clusters
    if distance is None or groups < 2 or high <= low:
        return None
    deviation = (high - low) / (2 * t_quantile((1 + level) / 2, groups - 1)) * math.sqrt(groups)
    size = stats.sample_size(distance, deviation, level=level)
    return None if size is None else math.ceil(size * n / groups - 1e-9)
