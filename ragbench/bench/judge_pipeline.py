"""Does the production judge decide rightly what is shown? Its decisions against labels, with the cases behind each."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragbench import stats
from ragbench.bench import deciders, thresholds
from ragbench.bench.deciders import SHOW_ALL, Case, Decider
from ragbench.bench.families import Sureness
from ragbench.bench.session import BenchError, Session, kept
from ragbench.bench.thresholds import Costs
from ragbench.datasets import Dataset
from ragbench.measurement import (
    QUESTION_COLUMNS,
    RETRIEVED_COLUMNS,
    SCORE_COLUMNS,
    Measurement,
    NamedComparison,
    NamedEstimate,
)
from ragbench.metric import Metric
from ragbench.metrics.decisions import Cell, accuracy, cell, decision_precision, decision_recall, f1_score
from ragbench.stats.families import holm
from ragbench.types import Array, Estimate, Status

if TYPE_CHECKING:
    import pandas as pd

METRICS: tuple[Metric, ...] = (accuracy, decision_precision, decision_recall, f1_score)
LATENCY = "avg_latency_ms"
PRIMARY = "accuracy"
DECISIONS = (
    "system", "sample", "question", "answer", "contexts", "label", "rationale", "decision", "score", "cell", "status",
    "reason", "ms",
)  # fmt: skip
PAIRS = ("first", "second", "n", "both", "only_first", "only_second", "neither", "p", "p_adjusted")
_GROUPS: dict[str, frozenset[Cell]] = {
    "accuracy": frozenset(Cell),
    "decision_precision": frozenset({Cell.TRUE_POSITIVE, Cell.FALSE_POSITIVE}),
    "decision_recall": frozenset({Cell.TRUE_POSITIVE, Cell.FALSE_NEGATIVE, Cell.FAILED_POSITIVE}),
    "f1_score": frozenset(Cell) - {Cell.TRUE_NEGATIVE, Cell.FAILED_NEGATIVE},
}
"""The decisions that a measure is a share of; F1 is 2J / (1 + J) of such a share J."""


def judge_pipeline(
    dataset: str = "",
    judges: str | Sequence[str] = "",
    *,
    baseline: str = SHOW_ALL,
    cost_shown: float = 1.0,
    cost_hidden: float = 1.0,
    cluster_by: Literal["question", "none"] = "question",
    fresh_timings: bool = False,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    language: str = "",
    notebook: str = "tier_judge_pipeline",
) -> Measurement:
    """Let production judges decide on every labelled answer of the data set, and hold what they decide to the labels.

    judges: comma-separated or a list of names of ragbench.toml, functions `module:function` called with (question,
        answer, contexts), and files of logged decisions (JSON Lines, JSON, CSV, Parquet with id, show, and perhaps
        score, reason, ms); empty for all configured judges, or the lexical one. baseline: the judge that the others
        are compared with; "show-all" shows every answer, and is what a judge has to beat.
    cost_shown, cost_hidden: of showing what should not be shown, and of holding back what should, in any unit.
    cluster_by: "question" draws the answers to one question together; "none" takes all cases as independent, and then
        the comparison is McNemar's exact test. fresh_timings: read the clock again. language: of the judges' prompts.

    A call that failed stays in n: it agrees with no label, and shows nothing. A data set without labelled decisions
    gives a measurement of nothing, which says so. Raises BenchError or DatasetError, each with what is legal.
    """
    if cluster_by not in ("question", "none"):
        raise BenchError(f"cluster_by = {cluster_by!r}: it is question or none")
    for name, value in (("cost_shown", cost_shown), ("cost_hidden", cost_hidden)):
        if not (0 <= value < float("inf")):
            raise BenchError(f"{name} = {value}: a number from 0")
    if cost_shown == cost_hidden == 0:
        raise BenchError("cost_shown and cost_hidden are both 0: at least one error has to cost something")
    request = _Request(
        judges, baseline, Costs(cost_shown, cost_hidden), cluster_by, fresh_timings, Sureness(level, resamples, seed),
        language,
    )  # fmt: skip
    return kept(notebook, lambda: _measure(Session.begin(notebook, dataset, "", ""), request))


@dataclass(frozen=True)
class _Request:
    judges: str | Sequence[str]
    baseline: str
    costs: Costs
    cluster_by: str
    fresh: bool
    sureness: Sureness
    language: str


@dataclass(frozen=True)
class _Judged:
    """A judge's decisions as arrays: cells (cases,) and scores (cases,), NaN for a failed call."""

    decider: Decider
    cells: NDArray[np.int64]
    scores: Array

    @property
    def name(self) -> str:
        return self.decider.name

    @property
    def table(self) -> Array:
        """(cases, 6) one where the decision falls."""
        return np.eye(len(Cell))[self.cells]

    @property
    def right(self) -> Array:
        return np.isin(self.cells, (Cell.TRUE_POSITIVE, Cell.TRUE_NEGATIVE)).astype(float)


def cases_of(dataset: Dataset) -> list[Case]:
    """The labelled decisions of a data set with the texts of their contexts."""
    chunks = {chunk.id: chunk for chunk in dataset.chunks}
    return [
        Case(one.id, one.question, one.answer, tuple(chunks[name] for name in one.context), one.show, one.rationale,
             dataset.language)
        for one in dataset.decisions
    ]  # fmt: skip


def _measure(session: Session, request: _Request) -> Measurement:
    cases = cases_of(session.dataset)
    names = deciders.asked(request.judges, session)
    first = request.baseline.strip() or SHOW_ALL
    titles = [deciders.title(name) for name in names]
    if first != SHOW_ALL and first not in (*names, *titles):
        raise BenchError(f"baseline = {first!r}: it is {SHOW_ALL} or one of the judges: {', '.join(titles)}")
    names = sorted(dict.fromkeys([*names, *([SHOW_ALL] if first == SHOW_ALL else [])]),
                   key=lambda name: first not in (name, deciders.title(name)))  # fmt: skip
    if not cases:
        return _nothing(session, request)
    found = [deciders.decide(name, cases, session, request.language, fresh=request.fresh) for name in names]
    return measurement(session, cases, found, request)


def measurement(session: Session, cases: Sequence[Case], found: Sequence[Decider], request: _Request) -> Measurement:
    """What the decisions of several judges come to, the first of them the baseline."""
    import pandas as pd

    truth = np.array([case.show for case in cases], dtype=bool)
    groups = [_plain(case.question) for case in cases]
    clusters = groups if request.cluster_by == "question" and len(set(groups)) < len(groups) else None
    judged = [_judged(one, truth) for one in found]
    estimates = [each for one in judged for each in _estimates(one, clusters, request.sureness)]
    comparisons = _comparisons(judged, clusters, request.sureness)
    chosen = [
        made
        for one in judged
        if (made := thresholds.chosen_and_scored(
            one.name, one.scores, np.isin(one.cells, (Cell.TRUE_POSITIVE, Cell.FALSE_POSITIVE)), truth, groups,
            request.costs, request.sureness,
        )) is not None
    ]  # fmt: skip
    curves = [curve for _, curve in chosen]
    return Measurement(
        notebook=session.notebook,
        facts=_facts(session, request, cases, judged, clusters),
        scores=_scores(cases, judged),
        questions=_questions(cases, clusters),
        retrieved=pd.DataFrame(columns=list(RETRIEVED_COLUMNS)),
        estimates=tuple(estimates),
        comparisons=tuple(comparisons),
        extra={
            "decisions": _decisions(cases, judged),
            "pairs": _pairs(judged),
            "thresholds": pd.DataFrame([row for row, _ in chosen], columns=list(thresholds.COLUMNS)),
            "costs": pd.concat(curves, ignore_index=True) if curves else pd.DataFrame(columns=list(thresholds.CURVE)),
        },
    )


def _judged(one: Decider, truth: NDArray[np.bool_]) -> _Judged:
    cells = np.array([cell(bool(label), each.show) for label, each in zip(truth, one.decided, strict=True)])
    scores = [np.nan if each.show is None or each.score is None else each.score for each in one.decided]
    return _Judged(one, cells, np.array(scores, dtype=float))


def _estimates(one: _Judged, clusters: list[str] | None, sureness: Sureness) -> list[NamedEstimate]:
    how = asdict(sureness)
    found = [NamedEstimate(one.name, each.label, guarded(each, one.cells, clusters, **how)) for each in METRICS]
    if not np.isnan(one.decider.ms).all():
        latency = stats.estimate(one.decider.ms, clusters=clusters, **how)
        found.append(NamedEstimate(one.name, LATENCY, latency))
    return found


def guarded(metric: Metric, cells: NDArray[np.int64], clusters: Sequence[str] | None = None, **how: Any) -> Estimate:
    """A measure of a whole set of decisions, its cells drawn anew for the interval, and guarded near its ends.

    cells: (cases,) of `Cell`. Each measure is a share of some of the decisions, or an increasing function of one; where
    the share's bootstrap interval would mislead (few cases, near 0 or 1, no spread) the share's guarded interval is
    printed in its place, carried over to the measure.
    """
    drawn = stats.resample(metric, np.eye(len(Cell))[cells], clusters=clusters, **how)
    part = np.isin(cells, list(_GROUPS[metric.name]))
    if not part.any() or np.isnan(drawn.value):
        return drawn
    hits = (Cell.TRUE_POSITIVE, Cell.TRUE_NEGATIVE) if metric is accuracy else (Cell.TRUE_POSITIVE,)
    labels = None if clusters is None else [label for label, keep in zip(clusters, part, strict=True) if keep]
    share = stats.estimate(np.isin(cells[part], hits).astype(float), clusters=labels, bounds=(0.0, 1.0), **how)
    if not share.note or share.low is None or share.high is None:
        return drawn
    carried: Callable[[float], float] = (lambda j: 2 * j / (1 + j)) if metric is f1_score else (lambda j: j)
    known = {name: (carried(low), carried(high)) for name, (low, high) in share.intervals.items()}
    return replace(
        drawn, low=carried(share.low), high=carried(share.high), method=share.method, note=share.note,
        clusters=drawn.clusters if drawn.clusters is None else share.clusters, n_effective=share.n_effective,
        design_effect=share.design_effect, intervals={**drawn.intervals, **known},
    )  # fmt: skip


def _comparisons(
    judged: Sequence[_Judged], clusters: Sequence[str] | None, sureness: Sureness
) -> list[NamedComparison]:
    """Every judge against the first on every measure, p corrected by Holm over all of them."""
    first, found = judged[0], []
    for one in judged[1:]:
        how: dict[str, Any] = {**asdict(sureness), "clusters": clusters, "names": (first.name, one.name)}
        found.append((accuracy.label, stats.compare(first.right, one.right, better="higher", **how)))
        found += [
            (each.label, stats.compare_statistic(each, first.table, one.table, better="higher", **how))
            for each in METRICS[1:]
        ]
    corrected = stats.adjust([one for _, one in found])
    return [NamedComparison(label, each) for (label, _), each in zip(found, corrected, strict=True)]


def _pairs(judged: Sequence[_Judged]) -> pd.DataFrame:
    """For every two judges: on how many cases each alone was right, and McNemar's exact p, corrected by Holm."""
    import pandas as pd

    rows = []
    for one, other in combinations(judged, 2):
        a, b = one.right == 1, other.right == 1
        only, alone = int((a & ~b).sum()), int((~a & b).sum())
        p = stats.binomial_test(only, only + alone) if only + alone else 1.0
        rows.append((one.name, other.name, len(a), int((a & b).sum()), only, alone, int((~a & ~b).sum()), p))
    table = pd.DataFrame(rows, columns=list(PAIRS[:-1]))
    return table.assign(p_adjusted=holm(table["p"].to_numpy(dtype=float)))


def _decisions(cases: Sequence[Case], judged: Sequence[_Judged]) -> pd.DataFrame:
    import pandas as pd

    rows = [
        (
            one.name, case.id, case.question, case.answer, [chunk.text for chunk in case.contexts], case.show,
            case.rationale, each.show, each.score, Cell(place).name.lower(), each.status.value, each.reason, ms,
        )
        for one in judged
        for case, each, place, ms in zip(cases, one.decider.decided, one.cells, one.decider.ms, strict=True)
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=list(DECISIONS))
    return table.astype({"label": bool, "decision": "boolean", "score": float, "ms": float})


def _scores(cases: Sequence[Case], judged: Sequence[_Judged]) -> pd.DataFrame:
    """Two rows a case: what was decided (NaN where the call failed), and whether it agrees with the label."""
    import pandas as pd

    rows: list[tuple[Any, ...]] = []
    for one in judged:
        for case, each, right in zip(cases, one.decider.decided, one.right, strict=True):
            decided = np.nan if each.show is None else float(each.show)
            rows.append((one.name, "show_decision", case.id, decided, each.status.value, each.reason, one.name))
            rows.append((one.name, accuracy.label, case.id, float(right), Status.OK.value, each.reason, one.name))
    return pd.DataFrame(rows, columns=list(SCORE_COLUMNS))


def _questions(cases: Sequence[Case], clusters: Sequence[str] | None) -> pd.DataFrame:
    import pandas as pd

    rows: list[tuple[Any, ...]] = [
        (case.id, case.question, None, None, case.language, None if clusters is None else clusters[place], None, [])
        for place, case in enumerate(cases)
    ]
    return pd.DataFrame(rows, columns=list(QUESTION_COLUMNS))


def _facts(
    session: Session,
    request: _Request,
    cases: Sequence[Case],
    judged: Sequence[_Judged],
    clusters: Sequence[str] | None,
) -> dict[str, Any]:
    return {
        **session.facts(),
        **asdict(request.sureness),
        "describes_decisions": True,
        "baseline": judged[0].name if judged else None,
        "primary": PRIMARY,
        "key_metrics": [each.label for each in METRICS],
        "n_questions": len(cases),
        "n_to_be_shown": sum(case.show for case in cases),
        "cluster_by": request.cluster_by if clusters is not None else "none",
        "n_clusters": None if clusters is None else len(set(clusters)),
        "cost_shown": request.costs.shown,
        "cost_hidden": request.costs.hidden,
        "systems": [
            {"name": one.name, **{k: v for k, v in one.decider.facts.items() if k != "name"}} for one in judged
        ],
        "judges": [{"name": one.name, **one.decider.facts} for one in judged],
        "stand_ins": [one.name for one in judged if one.decider.facts.get("stand_in")],
    }


def _nothing(session: Session, request: _Request) -> Measurement:
    """A measurement without a number: the data set has no labelled decisions."""
    import pandas as pd

    return Measurement(
        notebook=session.notebook,
        facts=_facts(session, request, [], [], None),
        scores=pd.DataFrame(columns=list(SCORE_COLUMNS)),
        questions=pd.DataFrame(columns=list(QUESTION_COLUMNS)),
        retrieved=pd.DataFrame(columns=list(RETRIEVED_COLUMNS)),
    )


def _plain(question: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", question).casefold().split())
