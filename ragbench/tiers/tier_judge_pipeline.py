"""Judge pipeline: does the production judge decide rightly which answers are shown?

Every labelled answer is put to every judge; what it decides is held against what people say.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from ragbench.core.errors import BenchError, NotEnoughError
from ragbench.core.frames import DECISIONS as DECISIONS_FRAME
from ragbench.core.frames import ESTIMATES, SCORES, check, stack
from ragbench.core.metric import parse_label
from ragbench.core.types import Passage, Sample
from ragbench.metrics.decisions import (
    CELLS,
    DECISIONS,
    count_decisions,
    measure_totals,
    read_decision,
)
from ragbench.metrics.texts import plain, squeeze
from ragbench.stats import (
    Scale,
    Statement,
    linear_values,
    mean_intervals,
    statistic_intervals,
)
from ragbench.stats import state as state_scores
from ragbench.tiers.answering import usual_judges
from ragbench.tiers.common import (
    About,
    Basics,
    Compared,
    Workbench,
    choose_baseline,
    name_given,
    sample_rows,
)
from ragbench.tiers.judge_calls import keep_latencies, run_calls, score_timed
from ragbench.tiers.rag_metrics import answer_frame, question_frame

CONSTANTS = {"show-all": 1.0, "hide-all": 0.0}  # judges that decide without looking
METRICS = ("balanced_accuracy", "accuracy", "decision_precision", "decision_recall", "f1_score")
COST, LATENCY = "decision_cost", "avg_latency_ms"


class Request(Basics):
    """Who decides, and what an error costs."""

    judges: tuple[str, ...] = Field(
        (), description="of ragbench.toml, module:function, or a file with id and decision"
    )
    baseline: str = Field("show-all", description="a judge, show-all or hide-all")
    primary: str = Field("", description="the measure that answers; a family of its own")
    cost_shown: float = Field(1.0, ge=0, description="of a poor answer that is shown")
    cost_hidden: float = Field(1.0, ge=0, description="of a good answer that is held back")

    @property
    def costs(self) -> dict[str, float]:
        """What errors cost, as decision_cost takes it."""
        return {"cost_shown": self.cost_shown, "cost_hidden": self.cost_hidden}

    @model_validator(mode="after")
    def check_costs(self) -> Request:
        """Refuse errors that cost nothing, and a primary measure that is not stated."""
        if self.cost_shown == self.cost_hidden == 0:
            raise ValueError("cost_shown and cost_hidden are both 0; one of the errors has to cost")
        if self.primary not in ("", COST, *METRICS):
            raise ValueError(f"primary {self.primary!r} is none of {', '.join((COST, *METRICS))}")
        return self


class Completed(Request, Compared):
    """And what was found out."""


@dataclass(frozen=True)
class Frames:
    """What was measured.

    questions, cases: a row a labelled answer. decisions: a row a judge and answer: system,
    question_id, unit, label and rationale (of people), decision (1 shown, 0 held back, NaN the
    call failed), latency_ms, status, reason, explanation.
    """

    questions: pd.DataFrame
    cases: pd.DataFrame
    decisions: pd.DataFrame
    scores: pd.DataFrame


class Decided(NamedTuple):
    """What a judge decided about an answer: 1 show it, 0 hold it back, NaN: the call failed."""

    decision: float
    latency_ms: float = math.nan
    status: str = "ok"
    reason: str = ""
    explanation: str = ""


@dataclass(frozen=True)
class DecisionStatement(Statement):
    """counts: of every judge how many decisions fall in each of CELLS."""

    counts: pd.DataFrame


def measure(
    request: Request, bench: Workbench, judges: Any = None
) -> tuple[Request, Frames, About]:
    """Let every judge decide about every labelled answer; show-all and hide-all beside them.

    judges: names, functions of (question, answer, contexts), objects with `ask`, a list or {name:
    any of these}. Raises NotEnoughError for a data set without decisions, BenchError for a judge
    that there is not.
    """
    cases = bench.dataset.extras.get("decisions", DECISIONS_FRAME.empty())
    if cases.empty:
        raise NotEnoughError(
            f"{bench.dataset.name} has no decisions; give rows with question, answer, show"
        )
    cases = sample_rows(cases, "decision_id", request.limit)
    samples = [make_sample(case, bench.dataset.language) for case in cases.itertuples()]
    questions = question_frame(samples)
    usual = request.judges or usual_judges(bench.settings)
    deciders: dict[str, Any] = {}
    for name, given in name_given(judges, usual).items():
        title = Path(name).name.split(".")[0] if is_file(given) else name
        deciders[title] = open_decider(given, bench)
    deciders |= CONSTANTS
    parts = []
    about = questions[["question_id", "unit"]].assign(label=cases["show"])
    about["rationale"] = cases["rationale"]
    for name, judge in deciders.items():
        decided = pd.DataFrame(decide(judge, samples, bench))
        parts.append(pd.concat([about, decided], axis=1).assign(system=name))
    decisions = pd.concat(parts, ignore_index=True)
    scores = decisions.rename(columns={"decision": "value"}).assign(metric="show_decision")
    baseline = choose_baseline(request.baseline, "show-all", tuple(deciders))
    is_priced = set(request.costs.values()) != {1.0}
    primary = request.primary or (COST if is_priced else METRICS[0])
    others = [label for label in (*METRICS, COST, LATENCY) if label != primary]
    changes = {
        "systems": tuple(sorted(deciders, key=lambda name: name != baseline)),
        "baseline": baseline,
        "primary": primary,
        "metrics": (primary, *others),
    }
    frames = Frames(
        questions,
        answer_frame(samples),
        decisions,
        check(scores, SCORES)[SCORES.names],
    )
    stand_ins = [
        f"judge {name}" for name, judge in deciders.items() if getattr(judge, "is_stand_in", False)
    ]
    return Completed(**request.model_dump() | changes), frames, bench.about(stand_ins)


def make_sample(case: Any, language: str) -> Sample:
    """Return a labelled answer as judges get it; answers to one question are drawn together."""
    return Sample(
        str(case.decision_id),
        case.question,
        case.answer,
        contexts=tuple(map(Passage, case.contexts)),
        cluster=squeeze(plain(case.question)),
        language=language,
    )


def is_file(given: Any) -> bool:
    """Tell whether a judge is a file of decisions."""
    from ragbench.data.files import TABLE_ENDINGS, ending_of

    return isinstance(given, str) and ending_of(Path(given)) in TABLE_ENDINGS


def open_decider(given: Any, bench: Workbench) -> Any:
    """Return who decides: the rows of a file by id, a function, or a judge."""
    from ragbench.core.code import load_object
    from ragbench.judge import open_judge

    if is_file(given):
        return read_file(bench.settings.path(given))
    if isinstance(given, str) and ":" in given:
        given = load_object(given, bench.settings.root)
    if callable(given) and not hasattr(given, "ask"):
        return given
    return open_judge(given, bench.settings, bench.language.code, spending=bench.spending)


def read_file(path: Path) -> dict[str, Any]:
    """Return id → decision of a file. Raises BenchError where it has no such columns."""
    from ragbench.data import read_table

    rows = read_table(path).rows
    seen = list(rows[0]) if rows else []
    names = [name for name in ("decision", "verdict", "show") if name in seen]
    if "id" not in seen or not names:
        raise BenchError(f"{path.name}: a row has id and decision; columns seen: {', '.join(seen)}")
    return {str(row["id"]): row.get(names[0]) for row in rows}


def decide(judge: Any, samples: Sequence[Sample], bench: Workbench) -> list[Decided]:
    """Return what a judge decides about every answer; of one that stops, that it failed."""
    from ragbench.llm import BudgetSpentError, StopError

    if isinstance(judge, float):
        return [Decided(judge) for _ in samples]
    if isinstance(judge, dict):
        if not judge.keys() & {sample.id for sample in samples}:
            raise BenchError(f"no id of the file, such as {min(judge)!r}, is that of an answer")
        return [read_reply(judge.get(sample.id)) for sample in samples]
    if not hasattr(judge, "ask"):
        return [call_function(judge, sample) for sample in samples]
    metric = parse_label("show_decision")
    calls = [partial(score_timed, judge, metric, sample) for sample in samples]
    try:
        timed = run_calls(judge, calls, f"{judge.name} decides")
    except BudgetSpentError:
        raise
    except StopError as stop:
        return [Decided(math.nan, status="judge_error", reason=str(stop)) for _ in samples]
    latencies = keep_latencies(bench, judge, samples, [each.latency_ms for each in timed])
    decided = []
    for (score, _), latency_ms in zip(timed, latencies, strict=True):
        about = (score.status, score.reason, score.explain(bench.language))
        decided.append(Decided(score.value, latency_ms, *about))
    return decided


def call_function(function: Callable[..., Any], sample: Sample) -> Decided:
    """Ask a function of (question, answer, contexts); an exception is a failed call."""
    contexts = [passage.text for passage in sample.contexts or ()]
    began = time.perf_counter()
    try:
        reply = function(sample.question, sample.answer, contexts)
    except Exception as error:  # whatever the user's function raises
        return Decided(math.nan, status="judge_error", reason=f"{type(error).__name__}: {error}")
    return read_reply(reply, 1000 * (time.perf_counter() - began))


def read_reply(reply: Any, latency_ms: float = math.nan) -> Decided:
    """Read a reply as a decision; what decides nothing is a failed call."""
    decision = read_decision(reply)
    if decision is None:
        reason = f"neither yes nor no: {reply!s:.80}"
        return Decided(math.nan, status="parse_error", reason=reason)
    said = reply.get("reason", "") if isinstance(reply, Mapping) else reply
    return Decided(float(decision), latency_ms, explanation=said if isinstance(said, str) else "")


def state(request: Completed, frames: Frames) -> DecisionStatement:
    """State how good every judge's decisions are, and how they differ from the baseline's.

    Pairs of decisions of which one failed are unmeasured: no verdict comes from a failed call.
    """
    estimates, counts, linear = [], [], []
    for system in request.systems:
        rows = frames.decisions[frames.decisions["system"] == system]
        estimates.append(estimate(request, rows).assign(system=system))
        counts.append((system, *cells_of(rows).sum(axis=0).astype(int)))
        if system == request.baseline or system not in CONSTANTS:
            linear.append(linear_scores(request, rows))
    scores = pd.concat(linear, ignore_index=True)
    scales = {}
    for label, values in scores.groupby("metric")["value"]:
        # A linear value may lie outside the measure's own scale.
        ends = min(values.min(), 0.0), max(values.max(), 1.0)
        scales[str(label)] = Scale("lower" if label == COST else "higher", *ends)
    compared = state_scores(
        scores,
        baseline=request.baseline,
        primary=request.primary,
        scales=scales,
        confidence=request.confidence,
    )
    return DecisionStatement(
        stack(estimates, ESTIMATES),
        compared.comparisons,
        pd.DataFrame(counts, columns=["system", *CELLS]),
    )


def cells_of(rows: pd.DataFrame) -> np.ndarray:
    """Return (decisions, 6) in which of CELLS each decision falls."""
    return count_decisions(rows["label"].to_numpy(), rows["decision"].to_numpy())


def has_failed(rows: pd.DataFrame) -> bool:
    """Tell whether most of a judge's calls failed: what is left says nothing of it."""
    return bool(rows["decision"].isna().mean() > 0.5)


def estimate(request: Request, rows: pd.DataFrame) -> pd.DataFrame:
    """Estimate all measures of one judge, and its latency.

    A failed call stays in n: it agrees with no label and shows nothing. Of a judge that failed
    nothing is estimated. What a judge that always decides the same reaches whatever the answers
    are is by construction, and has no interval.
    """
    cells = cells_of(rows)
    decided = rows["decision"].dropna()
    if has_failed(rows):
        cells[:] = np.nan
    most = np.where(np.array(list(DECISIONS)) == COST, max(request.costs.values()), 1.0)
    units = rows["unit"].to_numpy()
    statistic = partial(measure_totals, costs=request.costs)
    frame = statistic_intervals(cells, statistic, units, (0.0, most), request.confidence)
    frame["metric"] = list(DECISIONS)
    if len(decided) == len(rows) and decided.nunique() == 1:
        constructed = ["balanced_accuracy", "decision_recall"]
        constructed += ["f1_score"] if not decided.any() else []
        is_constructed = frame["metric"].isin(constructed)
        frame.loc[is_constructed, ["low", "high"]] = np.nan
        frame.loc[is_constructed, "method"] = "construction"
    if rows["latency_ms"].isna().all():
        return frame
    timed = rows.dropna(subset="latency_ms")
    bounds = (0.0, np.inf)
    latency = mean_intervals(timed[["latency_ms"]], timed["unit"], bounds, request.confidence)
    return pd.concat([frame, latency.assign(metric=LATENCY)], ignore_index=True)


def linear_scores(request: Request, rows: pd.DataFrame) -> pd.DataFrame:
    """Return values of single decisions whose mean is the measure, as SCORES; NaN: it failed."""
    cells = cells_of(rows)
    cells[rows["decision"].isna() | has_failed(rows)] = np.nan
    values = linear_values(cells, partial(measure_totals, costs=request.costs))
    wide = pd.DataFrame(values, columns=list(DECISIONS), index=rows.index)
    keys = ["system", "question_id", "unit"]
    return pd.concat([rows[keys], wide], axis=1).melt(keys, var_name="metric")
