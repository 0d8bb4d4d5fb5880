"""The page of a sweep: every configuration measured on the same questions, and what may be said of the best one."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from pydantic import Field

from ragbench.old import stats
from ragbench.old.core import facts as page_facts
from ragbench.old.core import stand_ins
from ragbench.old.core.facts import Facts
from ragbench.old.core.measurement import SCORE_COLUMNS, Finding, Measurement, NamedComparison, NamedEstimate
from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Array, Better, Question, Status
from ragbench.old.core.types.reason import Reason, kept, read
from ragbench.old.embed import wheels
from ragbench.old.extras.sweeps import effects, grid, measuring
from ragbench.old.extras.sweeps.grid import Configuration, Grid
from ragbench.old.extras.sweeps.measuring import Outcome, Told
from ragbench.old.tiers.answers.blame import Known, Part, first_failure
from ragbench.old.tiers.basics import design, requests
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.findings import Sureness, bounds
from ragbench.old.tiers.basics.requests import Draws, tier
from ragbench.old.tiers.basics.session import Need, Needed, Session
from ragbench.old.tiers.retrieval import reading
from ragbench.old.tiers.scoring.judged_metrics import Judging

if TYPE_CHECKING:
    import pandas as pd

MOST_UNMEASURED = 0.02
"""Share of questions from which on a configuration that was not measured there has no part in the choice."""
CHOSEN, EXCHANGE = {"choice": "corrected"}, "exchange"
"""Where the value of the chosen one stands, and by which key effects do."""
FIRST_PART = {
    Part.NOT_RETRIEVED: ("chunker", "embedder", "retriever", "fusion", "rewriter"),
    Part.TOO_LOW: ("k", "reranker", "fusion", "retriever", "chunker", "embedder"),
    Part.NOT_USED: ("generator", "prompt", "k"),
}
"""Factors that may mend a part that failed first."""


class AblationRequest(Draws):
    """Which sweep is measured, on what, and how sure one wants to be of it."""

    sweep: str = Field("", description="the NAME of [sweeps.NAME] in ragbench.toml; empty: the only one there is")
    dataset: requests.Dataset = ""
    limit: requests.Limit = None
    judges: requests.Judges = ""
    timed_questions: int = Field(
        30,
        description="how many are asked one by one for the clock, of each way of retrieving; 0: none",
        ge=0,
        le=10_000,
    )
    notebook: str = "ablation"

    def needed(self, settings: Settings) -> tuple[Needed, ...]:
        """Passages, and questions that say which are relevant."""
        return Needed.of(Need.PASSAGES), Needed.of(Need.RELEVANT)


@dataclass(frozen=True)
class Sweeping:
    """A sweep that can be measured: session with the settings of its grid, and the questions.

    asked: those that say what is relevant. exploring: those that finalists are chosen on; none where all configurations
    are measured on all questions. deciding: the others.
    """

    session: Session
    whole: Grid
    asked: tuple[Question, ...]
    exploring: tuple[Question, ...]
    deciding: tuple[Question, ...]

    @classmethod
    def of(cls, request: AblationRequest) -> Sweeping:
        """Raises ConfigurationError for tables that cannot be followed, BenchError for data that will not do; nothing
        has been asked, embedded or paid then."""
        session = Session.of(request)
        known = wheels.settled(session.settings, session.dataset.language)
        sweep = grid.sweep(request.sweep or grid.only(), known)
        whole = grid.grid(sweep, known, session.dataset.chunks)
        names = tuple(each.name for each in whole.configurations)
        session = replace(session, settings=whole.settings, systems=names, baseline=names[0])
        asked = tuple(q for q in session.dataset.questions if q.relevant and q.answerable is not False)
        if not asked:
            raise BenchError(f"no question of {session.dataset.label} names a relevant passage: nothing to measure")
        exploring = tuple(q for q in asked if _explores(q)) if sweep.search == "halving" else ()
        choosing = {q.id for q in exploring}
        deciding = tuple(q for q in asked if q.id not in choosing)
        if sweep.search == "halving" and min(len(exploring), len(deciding)) < 10:
            raise BenchError(
                f"search = 'halving': {len(exploring)} questions would choose and {len(deciding)} decide; 10 of "
                "each are needed; take search = 'grid'"
            )
        return cls(session, whole, asked, exploring, deciding)

    @property
    def metric_better(self) -> Better:
        """Which way the metric is good."""
        return self.whole.metric.better or "higher"


def _explores(question: Question) -> bool:
    """Whether a question, with its whole cluster, is of the half that finalists are chosen on."""
    return hashlib.sha256(design.cluster(question).encode("utf-8", "surrogatepass")).digest()[0] % 2 == 0


@dataclass(frozen=True)
class Measured:
    """What was measured: of the deciding questions the outcome of every configuration that got so far; of the exploring
    ones all. rounds: how many configurations were measured on how many questions, round by round."""

    outcomes: Mapping[str, Outcome]
    explored: Mapping[str, Outcome]
    rounds: tuple[tuple[int, int], ...]


def run(sweeping: Sweeping, judging: Judging, jobs: int = 1, told: Told = lambda _name, _outcome: None) -> Measured:
    """Measure what the sweep says: all configurations, or the finalists that halving leaves."""
    session, whole = sweeping.session, sweeping.whole
    share: dict[str, Any] = {"judging": judging, "jobs": jobs, "told": told}
    if not sweeping.exploring:
        return Measured(measuring.measured(session, whole, sweeping.deciding, **share), {}, ())
    left = list(whole.configurations)
    rounds, explored, first = [], dict[str, Outcome](), dict[str, Outcome]()
    sign = 1.0 if sweeping.metric_better == "higher" else -1.0
    halvings = max(1, math.ceil(math.log2(len(left) / whole.sweep.finalists)))
    for number in range(halvings):
        if len(left) <= whole.sweep.finalists:
            break
        some = sweeping.exploring[: max(10, len(sweeping.exploring) >> (halvings - 1 - number))]
        explored = measuring.measured(session, whole, some, only=left, **share)
        first = first or explored
        rounds.append((len(left), len(some)))
        means = {name: _mean(outcome.values) for name, outcome in explored.items()}
        order = sorted(
            left, key=lambda each: -sign * means[each.name] if means[each.name] == means[each.name] else math.inf
        )
        staying = {each.name for each in order[: max(whole.sweep.finalists, math.ceil(len(left) / 2))]}
        left = [each for each in left if each.name in staying or each is whole.configurations[0]]
    outcomes = measuring.measured(session, whole, sweeping.deciding, only=left, **share)
    rounds.append((len(left), len(sweeping.deciding)))
    return Measured(outcomes, first, tuple(rounds))


def _mean(values: Array) -> float:
    return float(np.nanmean(values)) if np.isfinite(values).any() else math.nan


@tier(AblationRequest)
def ablation(request: AblationRequest) -> Measurement:
    """Every configuration of a sweep on the same questions: effects of the parts, and what the best one is worth.

    The best one is chosen by its mean, and its value corrected for that (`ragbench.old.extras.sweeps.effects`); differences
    from the baseline are one family, effects and interactions another. A configuration that fails, or that is
    unmeasured at more than 2 of 100 questions, is named and has no part in the choice.
    """
    sweeping = Sweeping.of(request)
    judging = request.take(Judging)
    return stated(sweeping, run(sweeping, judging), request)


def stated(sweeping: Sweeping, found: Measured, request: AblationRequest) -> Measurement:
    """What follows from what was measured."""
    import pandas as pd

    session, whole, asked = sweeping.session, sweeping.whole, sweeping.deciding
    sureness, metric = request.take(Sureness), whole.metric
    clusters = design.independent([design.cluster(question) for question in asked])
    configurations = [each for each in whole.configurations if takes_part(found.outcomes.get(each.name))]
    baseline = whole.configurations[0]
    if baseline not in configurations or len(configurations) < 2:
        said = "; ".join(f"{name}: {without(each)}" for name, each in found.outcomes.items() if not takes_part(each))
        raise BenchError(
            f"fewer than two configurations, or not the baseline {baseline.name!r}, were measured: {said}. The first "
            "value of each factor makes the baseline"
        )
    values = np.column_stack([found.outcomes[each.name].values for each in configurations])
    how: dict[str, Any] = {"clusters": clusters, "better": sweeping.metric_better, "bounds": bounds(metric)}
    estimates, comparisons = _against(values, configurations, metric.label, how, sureness)
    complete = effects.complete(values)
    own = None if clusters is None else [label for label, measured in zip(clusters, complete, strict=True) if measured]
    choice = {**how, "clusters": own, **asdict(sureness)}
    best = effects.winner(values[complete], **choice)
    behind = effects.behind_best(values[complete], **{key: given for key, given in choice.items() if key != "bounds"})
    placed: list[Finding] = [
        NamedEstimate(configurations[best.place].name, metric.label, best.value, CHOSEN),
        *_effects(sweeping, found, values, configurations, sureness),
    ]
    times = measuring.clock(session, whole, asked, found.outcomes, request.timed_questions) if found.outcomes else {}
    rows = _rows(whole, found, configurations, behind, best, times, sweeping.metric_better)
    blamed = _blame(sweeping, found.outcomes[baseline.name])
    known: SweepFacts = {
            **session.facts(), **sureness.facts,
            "systems": [{"name": each.name, **each.levels} for each in configurations],
            "stand_ins": _stand_ins(session, configurations),
            "primary": metric.label,
            "n_questions": len(asked),
            "n_clusters": None if clusters is None else len(set(clusters)),
            "sweep": {
                "factors": {name: list(levels) for name, levels in whole.factors.items()},
                "search": whole.sweep.search, "rounds": [list(one) for one in found.rounds],
                "left_out": dict(Counter(whole.left_out.values())),
                "failed": {name: kept(without(each)) for name, each in found.outcomes.items() if not takes_part(each)},
                "complete": int(complete.sum()), "chosen": configurations[best.place].name, "seen": best.seen,
                "seen_gain": best.seen - float(values[complete, 0].mean()),
                "gain": best.value.value - float(values[complete, 0].mean()),
                "share": float(best.shares[best.place]),
                "blame": blamed,
                "exchange": _exchange(blamed, configurations, comparisons),
            },
            "judged_at": "k",
            "tables": {"configurations": "configurations"},
        }  # fmt: skip
    return Measurement(
        notebook=session.notebook,
        facts=known,
        scores=_scores(configurations, asked, found, metric.label),
        questions=design.questions(asked),
        estimates=estimates,
        comparisons=comparisons,
        extra={
            "configurations": pd.DataFrame(rows),
            reading.TABLE: _unjudged(configurations, asked, found, metric.label),
        },
        placed=tuple(placed),
    )  # fmt: skip


class SweepFacts(Facts, total=False):
    """sweep: what was varied and searched, what was chosen, and what that one is worth. judged_at: how far judged@k
    looks, where each ranking is as long as its configuration has it."""

    sweep: page_facts.Told
    judged_at: str


def takes_part(outcome: Outcome | None) -> bool:
    """Whether a configuration has a part in the choice."""
    return outcome is not None and not outcome.failure and float(np.isnan(outcome.values).mean()) <= MOST_UNMEASURED


def without(outcome: Outcome) -> str:
    """Why a configuration has no part in the choice; of one that was measured in part with the count."""
    if outcome.failure:
        return read(outcome.failure)
    return Reason(
        "{count} of {number} questions unmeasured, at most {most}% may be: {reason}",
        count=int(np.isnan(outcome.values).sum()), number=len(outcome.values), most=round(100 * MOST_UNMEASURED),
        reason=read(_first(outcome)),
    )  # fmt: skip


def _first(outcome: Outcome) -> str:
    return outcome.failure or next(iter(outcome.why), "")


def _against(
    values: Array, configurations: Sequence[Configuration], label: str, how: Mapping[str, Any], sureness: Sureness
) -> tuple[tuple[NamedEstimate, ...], tuple[NamedComparison, ...]]:
    columns = {each.name: column for each, column in zip(configurations, values.T, strict=True)}
    compared = stats.compare_many(columns, configurations[0].name, **how, **asdict(sureness))
    own = {key: given for key, given in how.items() if key != "better"}
    estimated = {name: stats.estimate(column, **own, **asdict(sureness)) for name, column in columns.items()}
    return (
        tuple(NamedEstimate(name, label, estimate) for name, estimate in estimated.items()),
        tuple(NamedComparison(label, comparison) for comparison in compared),
    )


def _effects(
    sweeping: Sweeping, found: Measured, values: Array, configurations: Sequence[Configuration], sureness: Sureness
) -> list[NamedComparison]:
    """Main effects and interactions; of halving those of the first round, which all configurations were in."""
    asked, whole = sweeping.deciding, sweeping.whole
    if found.explored:
        configurations = [each for each in whole.configurations if takes_part(found.explored.get(each.name))]
        values = np.column_stack([found.explored[each.name].values for each in configurations])
        asked = sweeping.exploring[: len(values)]
    clusters = design.independent([design.cluster(question) for question in asked])
    contrasts = effects.contrasts([each.levels for each in configurations])
    compared = effects.compared(
        values, contrasts, clusters=clusters, better=sweeping.metric_better, bounds=bounds(whole.metric),
        **asdict(sureness),
    )  # fmt: skip
    return [
        NamedComparison(whole.metric.label, one, {EXCHANGE: " × ".join(contrast.changes)})
        for contrast, one in zip(contrasts, compared, strict=True)
    ]


class ConfigurationRow(TypedDict):
    """A configuration that was measured: its clock, its words, whether it is on the front, how far it is behind the
    best, its share of the choices, and how much of it is unmeasured. Its levels are columns, too: one a factor."""

    system: str
    milliseconds: float
    words: float
    front: bool
    may_be_best: bool
    behind: float
    behind_low: float
    behind_high: float
    share: float
    unmeasured: int


def _rows(
    whole: Grid,
    found: Measured,
    configurations: Sequence[Configuration],
    behind: Sequence[effects.Behind],
    best: effects.Winner,
    times: Mapping[str, float],
    better: Better,
) -> list[dict[str, Any]]:
    """Rows of ConfigurationRow with their levels."""
    words = {each.name: float(np.mean(found.outcomes[each.name].words)) for each in configurations}
    sign = 1.0 if better == "higher" else -1.0
    qualities = [sign * _mean(found.outcomes[each.name].values) for each in configurations]
    milliseconds = [times.get(each.name, math.nan) for each in configurations]
    on_front = effects.front(qualities, milliseconds, list(words.values()))
    rows = [
        ConfigurationRow(
            system=each.name, milliseconds=ms, words=words[each.name], front=front, may_be_best=gap.may_be_best,
            behind=gap.difference, behind_low=gap.low, behind_high=gap.high, share=float(share),
            unmeasured=int(np.isnan(found.outcomes[each.name].values).sum()),
        )
        for each, ms, front, gap, share in zip(configurations, milliseconds, on_front, behind, best.shares, strict=True)
    ]  # fmt: skip
    return [{"system": each.name, **each.levels, **row} for each, row in zip(configurations, rows, strict=True)]


def _scores(
    configurations: Sequence[Configuration], asked: Sequence[Question], found: Measured, label: str
) -> pd.DataFrame:
    import pandas as pd

    rows = [
        (each.name, label, question.id, float(value),
         Status.OK.value if value == value else Status.MISSING_FIELD.value,
         "" if value == value else _first(found.outcomes[each.name]), None)
        for each in configurations
        for question, value in zip(asked, found.outcomes[each.name].values, strict=True)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=list(SCORE_COLUMNS))


def _unjudged(
    configurations: Sequence[Configuration], asked: Sequence[Question], found: Measured, label: str
) -> pd.DataFrame:
    """As `reading.table` has it: a row a configuration and question."""
    import pandas as pd

    rows = [
        (each.name, label, question.id, *row)
        for each in configurations
        if (judged := found.outcomes[each.name].judged)
        for question, *row in zip(asked, *(judged[name].tolist() for name in reading.VALUES), strict=True)
    ]
    return pd.DataFrame(rows, columns=["system", "metric", "sample", *reading.VALUES])


def _blame(sweeping: Sweeping, baseline: Outcome) -> dict[str, int]:
    """Part that failed first → at how many questions of the baseline; whether an answer stays within what was read is
    not asked. Without answers a question is good where a passage that holds the answer is handed on."""
    held = {chunk.id for chunk in sweeping.session.dataset.chunks}
    metric, k = sweeping.whole.metric, sweeping.whole.configurations[0].k
    low, high = metric.bounds
    counts: dict[str, int] = {}
    for question, value, rank in zip(sweeping.deciding, baseline.values, baseline.rank, strict=True):
        read = bool(rank <= k)
        right: bool | None = read
        if metric.grain == "sample":
            judged = low is not None and high is not None and metric.better == "higher" and value == value
            right = bool(value >= (low or 0) + 0.5 * ((high or 0) - (low or 0))) if judged else None
        known = Known(True, bool(held & set(question.relevant)), math.isfinite(rank), read, False, right, True, True)
        part, _why = first_failure(known)
        counts[part.value] = counts.get(part.value, 0) + 1
    return counts


def _exchange(
    blamed: Mapping[str, int], configurations: Sequence[Configuration], comparisons: Sequence[NamedComparison]
) -> dict[str, Any]:
    """The part of the baseline that fails first most often, and of the exchanges of one part that may mend it the one
    that helps most; its interval holds for all comparisons with the baseline together."""
    failing = {part: count for part, count in blamed.items() if part in {each.value for each in FIRST_PART}}
    if not failing:
        return {}
    part = max(failing, key=lambda each: failing[each])
    own = {each.comparison.challenger: each.comparison for each in comparisons}
    exchanged = [
        (own[configurations[place].name], factor)
        for place, factor in effects.exchanges([each.levels for each in configurations], 0)
        if factor in FIRST_PART[Part(part)] and configurations[place].name in own
    ]
    if not exchanged:
        return {"part": part, "count": failing[part]}
    sign = 1.0 if exchanged[0][0].better == "higher" else -1.0
    helps, factor = max(exchanged, key=lambda each: sign * each[0].difference)
    return {"part": part, "count": failing[part], "factor": factor, "challenger": helps.challenger}


def _stand_ins(session: Session, configurations: Sequence[Configuration]) -> Any:
    """Which embedders that configurations search by only stand in for a model."""
    used = dict.fromkeys(name for each in configurations for name in session.settings.embedders_of(each.name))
    return stand_ins.facts("retrieval", [name for name in used if session.settings.is_stand_in(name)], own=True)
