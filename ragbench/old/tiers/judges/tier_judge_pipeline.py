"""Does the production judge decide rightly what is shown? Its decisions against labels, with the cases behind each."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ragbench.old import stats
from ragbench.old.core import stand_ins
from ragbench.old.core.facts import Facts
from ragbench.old.core.measurement import SCORE_COLUMNS, Evidence, Findings, NamedComparison, NamedEstimate, columns
from ragbench.old.core.metric import Metric
from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Array, Chunk, Estimate, Question, Status
from ragbench.old.core.types.reason import kept
from ragbench.old.data import Dataset
from ragbench.old.metrics.decisions import (
    Cell,
    accuracy,
    balanced_accuracy,
    cell,
    decision_cost,
    decision_precision,
    decision_recall,
    f1_score,
    show_decision,
)
from ragbench.old.stats import Hypothesis
from ragbench.old.tiers.basics import design, requests
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.design import Design
from ragbench.old.tiers.basics.findings import Sureness, in_families, leading
from ragbench.old.tiers.basics.requests import Draws, tier
from ragbench.old.tiers.basics.session import Need, Needed, Session
from ragbench.old.tiers.judges import deciders
from ragbench.old.tiers.judges.deciders import CONSTANTS, HIDE_ALL, SHOW_ALL, Case, Costs, Decider
from ragbench.old.tiers.judges.numbers import constructed

if TYPE_CHECKING:
    import pandas as pd


LATENCY = "avg_latency_ms"
DECIDED = ("system", "sample", "question", "label", "decision", "score", "cell", "ms")
"""What is published of each decision, without texts; `question`: its number, which several cases have."""
STATED = ("cost_shown", "cost_hidden", "primary", "level", "resamples", "seed")
"""The facts that are parameters of what is stated."""


class DecisionRow(TypedDict):
    """A case, its label, and a judge's decision; None where the call failed. cell: of the confusion."""

    system: str
    sample: str
    question: str
    answer: str
    contexts: Sequence[str]
    label: bool
    rationale: str
    decision: bool | None
    score: float
    cell: str
    status: str
    reason: str
    ms: float


class PairRow(TypedDict):
    """Two judges on the same cases: how many both decided rightly, one of them, neither; and McNemar's test."""

    first: str
    second: str
    n: int
    both: int
    only_first: int
    only_second: int
    neither: int
    p: float
    p_adjusted: float


class PipelineRequest(Draws):
    """Who decides, what an error costs, and how sure one wants to be."""

    dataset: requests.Dataset = ""
    judges: requests.Names = Field(
        "",
        description='names from ragbench.toml, functions "module:function", files of logged decisions; empty: all '
        "configured",
    )
    baseline: str = Field(
        SHOW_ALL,
        description='the judge that the others are compared with; "show-all" shows every answer, "hide-all" none',
    )
    primary: str = Field(
        "",
        description="the measure that the page answers with, its own family; empty: balanced_accuracy, or costs",
    )
    cost_shown: float = Field(
        1.0,
        description="what showing an answer costs that should not be shown, in any unit; not 1: costs head the page",
        ge=0,
    )
    cost_hidden: float = Field(
        1.0, description="what holding back an answer costs that should be shown, in the same unit", ge=0
    )
    cluster_by: Literal["question", "none"] = Field(
        "question", description='"question": answers to one question are drawn together; "none": all independent'
    )
    fresh_timings: requests.FreshTimings = False
    prompts: str = Field("", description='language in which judges are asked: "en" or "ru"; empty: as in ragbench.toml')
    limit: requests.Limit = None
    notebook: str = "tier_judge_pipeline"

    @property
    def sampled_tables(self) -> tuple[str, ...]:
        """The decisions."""
        return ("decisions",)

    def check(self) -> None:
        """Refuse errors that cost nothing, and a primary measure that is not measured."""
        if self.cost_shown == self.cost_hidden == 0:
            raise BenchError("cost_shown and cost_hidden are both 0: at least one error has to cost something")
        _ = self.leading

    def needed(self, settings: Settings) -> tuple[Needed, ...]:
        """Decisions that people would have made."""
        return (Needed.of(Need.DECISIONS),)

    @property
    def costs(self) -> Costs:
        """What errors cost."""
        return Costs(self.cost_shown, self.cost_hidden)

    @property
    def priced(self) -> bool:
        """Whether errors have prices of their own."""
        return self.costs != Costs(1.0, 1.0)

    @property
    def measures(self) -> tuple[Metric, ...]:
        """What judges are compared on, the cost first where errors have prices."""
        return (decision_cost, *METRICS) if self.priced else METRICS

    @property
    def leading(self) -> Metric:
        """The metric that heads the page."""
        return leading(self.primary, self.measures)


def state(evidence: Evidence) -> Findings:
    """What decisions come to: measures and costs, comparisons with the first judge and with those that do not look,
    McNemar's pairs, and from which score on showing costs least."""
    import pandas as pd

    facts, decided = evidence.facts, evidence.extra["decided"]
    known: dict[str, Any] = {name: value for name, value in facts.items() if name in STATED}
    request = PipelineRequest(**known)
    by_system = dict(iter(decided.groupby("system", sort=False)))
    judged = [_of_table(name, by_system[name]) for name in Design(evidence).systems if name in by_system]
    cases = decided.drop_duplicates("sample")
    groups = cases["question"].tolist()
    clusters = design.independent(groups) if facts["cluster_by"] == "question" else None
    comparisons, constants = _comparisons(judged, clusters, request)
    chosen = [made for judge in judged if (made := _threshold(judge, groups, request)) is not None]
    return Findings(
        tuple(each for judge in judged for each in _estimates(judge, clusters, request)),
        tuple(comparisons),
        (*constants, *(each for made in chosen for each in made.findings)),
        {
            "n_questions": len(cases),
            "n_to_be_shown": int(cases["label"].sum()),
            "n_clusters": None if clusters is None else len(set(clusters)),
        },
        {
            "pairs": _pairs(judged, request.take(Sureness)),
            "thresholds": pd.DataFrame([made.row for made in chosen], columns=columns(deciders.ThresholdRow)),
            "costs": pd.DataFrame([line for made in chosen for line in made.curves], columns=columns(deciders.CostRow)),
        },
    )


@tier(PipelineRequest, state)
def tier_judge_pipeline(request: PipelineRequest) -> Evidence:
    """Let production judges decide on every labelled answer of the data set, and hold what they decide to the labels.

    judges: also functions `module:function` called with (question, answer, contexts), and files of logged decisions
        (JSON Lines, JSON, CSV, Parquet with id, show, and perhaps score, reason, ms). Showing all and hiding all are
        always there: a judge has to beat the better of them.
    Where errors do not both cost 1 the mean cost of a decision heads the page, else balanced accuracy does. Where all
    cases are taken as independent the comparison is McNemar's exact test.

    A call that failed stays in n: it agrees with no label, and shows nothing. A judge that decided nothing at all is
    unmeasured: the page begins with that, and compares it with nobody. A case that a judge has nothing to decide
    by (the lexical one without a context) is unmeasured, and no comparison counts it. A data set without labelled
    decisions gives a measurement of nothing, which says so. Raises BenchError or DatasetError, each with what is legal.
    """
    session = Session.of(request)
    cases = cases_of(session.dataset)
    names = deciders.asked(request.judges, session)
    first = request.baseline.strip() or SHOW_ALL
    titles = [deciders.title(name) for name in names]
    if first not in (*CONSTANTS, *names, *titles):
        raise BenchError(
            f"baseline = {first!r}: it is {', '.join(CONSTANTS)} or one of the judges: {', '.join(titles)}"
        )
    names = sorted(dict.fromkeys([*names, *CONSTANTS]), key=lambda name: first not in (name, deciders.title(name)))
    names = names if cases else []
    decided = [deciders.decide(name, cases, session, request.prompts, fresh=request.fresh_timings) for name in names]
    return evidence_of(session, cases, decided, request)


@dataclass(frozen=True)
class _Judged:
    """A judge's decisions as arrays: cells (cases,), UNMEASURED where it had nothing to decide by, and scores (cases,),
    NaN for a failed call; truth (cases,): whether it should be shown."""

    name: str
    cells: NDArray[np.int64]
    scores: Array
    truth: NDArray[np.bool_]
    ms: Array

    @property
    def measured(self) -> NDArray[np.bool_]:
        return self.cells != UNMEASURED

    @property
    def table(self) -> Array:
        """(cases, 6) one where the decision falls; NaN where it is unmeasured."""
        return table(self.cells)

    def completed(self, *, right: bool) -> Array:
        """The table where every decision that is unmeasured were right, or wrong."""
        shown = self.truth if right else ~self.truth
        guessed = [cell(bool(label), bool(show)) for label, show in zip(self.truth, shown, strict=True)]
        return table(np.where(self.measured, self.cells, guessed))

    @property
    def right(self) -> Array:
        right = np.isin(self.cells, (Cell.TRUE_POSITIVE, Cell.TRUE_NEGATIVE))
        return np.where(self.measured, right, np.nan)

    def costs(self, costs: Costs) -> Array:
        """(cases,) what each decision costs, NaN where it is unmeasured; a failed call shows nothing."""
        hidden = np.isin(self.cells, (Cell.FALSE_NEGATIVE, Cell.FAILED_POSITIVE))
        return np.where(
            self.measured, costs.shown * (self.cells == Cell.FALSE_POSITIVE) + costs.hidden * hidden, np.nan
        )


def cases_of(dataset: Dataset) -> list[Case]:
    """The labelled decisions of a data set with the texts of their contexts."""
    chunks = {chunk.id: chunk for chunk in dataset.chunks}
    return [
        Case(
            decision.id,
            decision.question,
            decision.answer,
            tuple(
                Chunk(name, decision.passages[name]) if name in decision.passages else chunks[name]
                for name in decision.context
            ),
            decision.show,
            decision.rationale,
            dataset.language,
        )
        for decision in dataset.decisions
    ]


def evidence_of(
    session: Session, cases: Sequence[Case], decided: Sequence[Decider], request: PipelineRequest
) -> Evidence:
    """What several judges decided, the first of them the baseline."""
    truth = np.array([case.show for case in cases], dtype=bool)
    groups = [_plain(case.question) for case in cases]
    clusters = design.independent(groups) if request.cluster_by == "question" else None
    judged = [_judged(decider, truth) for decider in decided]
    return Evidence(
        notebook=session.notebook,
        facts=_facts(session, request, decided, judged, clusters),
        scores=_scores(cases, decided, judged),
        questions=_questions(cases, clusters),
        retrieved=design.retrieved(),
        extra={"decisions": _decisions(cases, decided, judged), "decided": _decided(cases, decided, judged, groups)},
    )


def _threshold(judge: _Judged, groups: Sequence[Hashable], request: PipelineRequest) -> deciders.Chosen | None:
    """The threshold of a judge, of the cases that it had something to decide by."""
    there = judge.measured
    own = np.isin(judge.cells[there], (Cell.TRUE_POSITIVE, Cell.FALSE_POSITIVE))
    labels = [group for group, inside in zip(groups, there, strict=True) if inside]
    how = request.costs, request.take(Sureness)
    return deciders.chosen_and_scored(judge.name, judge.scores[there], own, judge.truth[there], labels, *how)


def _judged(decider: Decider, truth: NDArray[np.bool_]) -> _Judged:
    nothing = not any(each.show is not None for each in decider.decided)
    cells = np.array([
        UNMEASURED if nothing or each.status is Status.EMPTY_INPUT else cell(bool(label), each.show)
        for label, each in zip(truth, decider.decided, strict=True)
    ])  # fmt: skip
    scores = [np.nan if each.show is None or each.score is None else each.score for each in decider.decided]
    return _Judged(decider.name, cells, np.array(scores, dtype=float), truth, decider.ms)


def _of_table(name: str, own: pd.DataFrame) -> _Judged:
    """The same as it is kept."""
    cells = np.array([Cell[said.upper()] if said else UNMEASURED for said in own["cell"]], dtype=np.int64)
    scores = own["score"].where(own["decision"].notna()).to_numpy(dtype=float)
    return _Judged(name, cells, scores, own["label"].to_numpy(dtype=bool), own["ms"].to_numpy(dtype=float))


def _estimates(judge: _Judged, clusters: Sequence[Hashable] | None, request: PipelineRequest) -> list[NamedEstimate]:
    how: dict[str, Any] = {**request.take(Sureness).facts, "clusters": clusters}
    numbers = {each.label: guarded(each, judge.cells, **how) for each in METRICS}
    estimates = [
        NamedEstimate(judge.name, *named) for named in constructed(numbers, SETTLED.get(judge.name, ())).items()
    ]
    if request.priced:
        bounds = (0.0, max(request.costs.shown, request.costs.hidden))
        cost = stats.estimate(judge.costs(request.costs), bounds=bounds, **how)
        estimates.insert(0, NamedEstimate(judge.name, decision_cost.label, cost))
    if not np.isnan(judge.ms).all():
        latency = stats.estimate(judge.ms, bounds=(0.0, math.inf), **how)
        estimates.append(NamedEstimate(judge.name, LATENCY, latency))
    return estimates


def _comparisons(
    judged: Sequence[_Judged], clusters: Sequence[Hashable] | None, request: PipelineRequest
) -> tuple[list[NamedComparison], list[NamedComparison]]:
    """Every judge against the first on every measure; and at `constant` against the judges that do not look, on the
    measure that heads the page, in the family of that measure."""
    if not judged:
        return [], []
    by_name = {judge.name: judge for judge in judged}
    looking = [judge.name for judge in judged if judge.name not in CONSTANTS]
    primary, first = request.leading, judged[0].name
    measures = [primary, *(each for each in request.measures if each is not primary)]
    wanted = [(each, first, name) for name in looking if name != first for each in measures]
    # Balanced accuracy is one half for both: they are one hypothesis.
    idle = [first if first in CONSTANTS else SHOW_ALL] if primary is balanced_accuracy else list(CONSTANTS)
    nothing = [(primary, constant, name) for name in looking for constant in idle]
    asked: dict[str, list[tuple[Metric, str, str]]] = {each.label: [] for each in measures}
    for each in dict.fromkeys([*wanted, *nothing]):
        if (by_name[each[1]].measured & by_name[each[2]].measured).any():
            asked[each[0].label].append(each)
    made = {
        label: [
            _hypothesis(measure, by_name[baseline], by_name[other], clusters, request)
            for measure, baseline, other in own
        ]
        for label, own in asked.items()
    }
    done = in_families(made, clusters, request.take(Sureness), primary.label)
    comparisons = {
        key: comparison for label, own in asked.items() for key, comparison in zip(own, done[label], strict=True)
    }
    return (
        [NamedComparison(each[0].label, comparisons[each]) for each in wanted if each in comparisons],
        [
            NamedComparison(each[0].label, comparisons[each], {"constant": each[1]})
            for each in nothing
            if each in comparisons
        ],
    )


def _hypothesis(
    measure: Metric, first: _Judged, second: _Judged, clusters: Sequence[Hashable] | None, request: PipelineRequest
) -> Hypothesis:
    how: dict[str, Any] = {**request.take(Sureness).facts, "clusters": clusters, "names": (first.name, second.name)}
    single = {decision_cost.label: lambda each: each.costs(request.costs), accuracy.label: lambda each: each.right}
    if (values := single.get(measure.label)) is not None:
        sides = ({"": values(each)} for each in (first, second))
        most = max(request.costs.shown, request.costs.hidden)
        scale = (0.0, most) if measure.label == decision_cost.label and most > 0 else (0.0, 1.0)
        return stats.hypotheses(*sides, better=measure.better or "higher", bounds=scale, **how)[""]
    return stats.statistic_hypothesis(
        measure, first.table, second.table, better="higher", bounds=(0.0, 1.0),
        completed=(
            (first.completed(right=True), second.completed(right=False)),
            (first.completed(right=False), second.completed(right=True)),
        ),
        **how,
    )  # fmt: skip


def _pairs(judged: Sequence[_Judged], sureness: Sureness) -> pd.DataFrame:
    """For every two judges: on how many cases each alone was right, and McNemar's p, all tested together."""
    import pandas as pd

    rows: list[tuple[Any, ...]] = []
    made: list[Hypothesis] = []
    for judge, other in combinations(judged, 2):
        if judge.name in CONSTANTS and other.name in CONSTANTS:
            continue
        made += stats.hypotheses({"": judge.right}, {"": other.right}, **asdict(sureness)).values()
        both = judge.measured & other.measured
        a, b = judge.right[both] == 1, other.right[both] == 1
        only, alone = int((a & ~b).sum()), int((~a & b).sum())
        rows.append((judge.name, other.name, len(a), int((a & b).sum()), only, alone, int((~a & ~b).sum())))
    done = stats.jointly(made, resamples=sureness.resamples, seed=sureness.seed)
    p = [(comparison.p, comparison.p_adjusted) for comparison in done]
    table = pd.DataFrame([(*row, *each) for row, each in zip(rows, p, strict=True)], columns=columns(PairRow))
    return table.astype({"p": float, "p_adjusted": float})


def _decisions(cases: Sequence[Case], decided: Sequence[Decider], judged: Sequence[_Judged]) -> pd.DataFrame:
    import pandas as pd

    rows = [
        (
            judge.name, case.id, case.question, case.answer, [chunk.text for chunk in case.contexts], case.show,
            case.rationale, each.show, each.score, "" if place == UNMEASURED else Cell(place).name.lower(),
            each.status.value, kept(each.reason), ms,
        )
        for judge, decider in zip(judged, decided, strict=True)
        for case, each, place, ms in zip(cases, decider.decided, judge.cells, judge.ms, strict=True)
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=columns(DecisionRow))
    return table.astype({"label": bool, "decision": "boolean", "score": float, "ms": float})


def _decided(
    cases: Sequence[Case], decided: Sequence[Decider], judged: Sequence[_Judged], groups: Sequence[str]
) -> pd.DataFrame:
    numbers = {question: number for number, question in enumerate(dict.fromkeys(groups), 1)}
    table = _decisions(cases, decided, judged)
    table["question"] = [numbers[group] for group in groups] * len(judged)
    return table[list(DECIDED)]


def _scores(cases: Sequence[Case], decided: Sequence[Decider], judged: Sequence[_Judged]) -> pd.DataFrame:
    """Two rows a case: what was decided (NaN where the call failed), and whether it agrees with the label (NaN where it
    is unmeasured)."""
    import pandas as pd

    rows = []
    for judge, decider in zip(judged, decided, strict=True):
        for case, each, right in zip(cases, decider.decided, judge.right, strict=True):
            shown = np.nan if each.show is None else float(each.show)
            status = each.status if np.isnan(right) else Status.OK
            for metric, value, why in ((show_decision, shown, each.status), (accuracy, float(right), status)):
                rows.append((judge.name, metric.label, case.id, value, why.value, kept(each.reason), judge.name))
    return pd.DataFrame(rows, columns=list(SCORE_COLUMNS))


def _questions(cases: Sequence[Case], clusters: Sequence[str] | None) -> pd.DataFrame:
    labels = [None] * len(cases) if clusters is None else clusters
    return design.questions(
        Question(case.id, case.question, language=case.language, cluster=label)
        for case, label in zip(cases, labels, strict=True)
    )


def _facts(
    session: Session,
    request: PipelineRequest,
    decided: Sequence[Decider],
    judged: Sequence[_Judged],
    clusters: Sequence[str] | None,
) -> Facts:
    return {
        **session.facts(),
        "data_hash": session.dataset.hash_with("decisions"),
        **request.take(Sureness).facts,
        "describes_decisions": True,
        "tables": {name: name for name in ("decided", "pairs", "thresholds", "costs")},
        "baseline": judged[0].name if judged else None,
        "primary": request.leading.label,
        "key_metrics": [*([decision_cost.label] if request.priced else []), *(each.label for each in METRICS)],
        "cluster_by": request.cluster_by if clusters is not None else "none",
        "cost_shown": request.costs.shown,
        "cost_hidden": request.costs.hidden,
        "systems": [
            {
                "name": judge.name,
                **{k: v for k, v in decider.facts.items() if k not in ("name", "answered_by")},
                **(
                    {}
                    if judge.measured.any()
                    else {"undecided": Counter(each.status.value for each in decider.decided)}
                ),
            }
            for judge, decider in zip(judged, decided, strict=True)
        ],
        "judges": [
            {"name": decider.name, **decider.facts, **({"expense": asdict(expense)} if expense else {})}
            for decider in decided
            for expense in [decider.expense]
        ],
        "stand_ins": stand_ins.facts(
            "judge", [decider.name for decider in decided if decider.facts.get("stand_in")], own=True
        ),
    }


def _plain(question: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", question).casefold().split())


METRICS: tuple[Metric, ...] = (balanced_accuracy, accuracy, decision_precision, decision_recall, f1_score)
SETTLED = {SHOW_ALL: (decision_recall.label,), HIDE_ALL: (decision_recall.label, f1_score.label)}
"""What a judge that decides without looking reaches whatever the answers: 1 or 0, and nothing was sampled."""
UNMEASURED = -1
"""In the place of a `Cell`: the judge had nothing to decide by."""
_GROUPS: dict[str, frozenset[Cell]] = {
    "accuracy": frozenset(Cell),
    "decision_precision": frozenset({Cell.TRUE_POSITIVE, Cell.FALSE_POSITIVE}),
    "decision_recall": frozenset({Cell.TRUE_POSITIVE, Cell.FALSE_NEGATIVE, Cell.FAILED_POSITIVE}),
    "f1_score": frozenset(Cell) - {Cell.TRUE_NEGATIVE, Cell.FAILED_NEGATIVE},
}
"""The decisions that a measure is a share of; F1 is 2J / (1 + J) of such a share J."""


def table(cells: NDArray[np.int64]) -> Array:
    """(cases, 6) one where the decision falls; NaN where it is unmeasured."""
    return np.where((cells == UNMEASURED)[:, None], np.nan, np.eye(len(Cell))[cells])


def guarded(metric: Metric, cells: NDArray[np.int64], clusters: Sequence[str] | None = None, **how: Any) -> Estimate:
    """A measure of a whole set of decisions, its cells drawn anew for the interval, and guarded near its ends.

    cells: (cases,) of `Cell`, or UNMEASURED. Each measure is a share of some of the decisions, or an increasing
    function of one; where the share's bootstrap interval would mislead (few cases, near 0 or 1, no spread) the share's
    guarded interval is printed in its place, carried over to the measure.
    """
    drawn = stats.resample(metric, table(cells), clusters=clusters, bounds=(0.0, 1.0), **how)
    if metric is balanced_accuracy:
        return _balanced(drawn, cells, clusters, how)
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
        design_effect=share.design_effect, intervals={**drawn.intervals, **known}, doubt=share.doubt,
    )  # fmt: skip


def _balanced(
    drawn: Estimate, cells: NDArray[np.int64], clusters: Sequence[str] | None, how: dict[str, Any]
) -> Estimate:
    """Balanced accuracy where the interval of one of its two shares is guarded: both shares' intervals together
    (MOVER: Zou and Donner 2008)."""
    right = np.where(cells == UNMEASURED, np.nan, np.isin(cells, (Cell.TRUE_POSITIVE, Cell.TRUE_NEGATIVE)))
    positive = np.isin(cells, (Cell.TRUE_POSITIVE, Cell.FALSE_NEGATIVE, Cell.FAILED_POSITIVE))
    if np.isnan(drawn.value):
        return drawn
    if {*cells.tolist()} - {UNMEASURED} in (
        {Cell.TRUE_POSITIVE, Cell.FALSE_POSITIVE},
        {Cell.TRUE_NEGATIVE, Cell.FALSE_NEGATIVE},
    ):
        return replace(drawn, low=None, high=None, method="none", note="always_the_same", intervals={})
    shares = [
        stats.estimate(np.where(part, right, np.nan), clusters=clusters, bounds=(0.0, 1.0), **how)
        for part in (positive, ~positive)
    ]
    guard = next((each for each in shares if each.note), None)
    ends = [(each.value, each.low, each.high) for each in shares if each.low is not None and each.high is not None]
    if guard is None or len(ends) < 2:
        return drawn
    low = drawn.value - math.hypot(*(value - low for value, low, _ in ends)) / 2
    high = drawn.value + math.hypot(*(high - value for value, _, high in ends)) / 2
    known = {guard.method: (low, high)}
    return replace(
        drawn, low=low, high=high, method=guard.method, note=guard.note, intervals={**drawn.intervals, **known},
        doubt=next((each.doubt for each in shares if each.doubt), ""),
    )  # fmt: skip
