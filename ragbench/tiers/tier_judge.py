"""Judge: is the judge any good? Does it repeat itself, agree with people, and what sways it?

Judges score answers that people rated, several times. Three probes change what should not matter:
they ask again, pad the answer, and turn the order of two answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from ragbench.core.errors import NEVER_ASKED, BenchError
from ragbench.core.frames import COMPARISONS, ESTIMATES, SCORES, check, stack
from ragbench.core.metric import Metric, parse_label
from ragbench.core.types import Sample
from ragbench.metrics.judges import (
    DELTA,
    chosen_consistently,
    mean_by_answer,
    share_within,
)
from ragbench.metrics.judging import ask_all
from ragbench.metrics.pairwise import compare_answers
from ragbench.stats import Statement, mean_intervals
from ragbench.stats.agreement import agreement, agreement_of_people
from ragbench.tiers.answering import usual_judges
from ragbench.tiers.common import About, Basics, Compared, Workbench, name_given
from ragbench.tiers.judge_calls import keep_latencies, run_calls, score_timed
from ragbench.tiers.rag_metrics import (
    answer_frame,
    question_frame,
    samples_of_dataset,
    smallest_hashes,
)

# The four numbers of the specification → least and greatest value.
NUMBERS = {
    "consistency_score": (0, 1),
    "error_rate": (0, 1),
    "avg_latency_ms": (0, np.inf),
    "avg_faithfulness": (1, 5),
}
PROBES = {
    "difference between repeats": (0, np.inf),
    "same choice in both orders": (0, 1),
    "preference for the first place": (-1, 1),
    "gain by padding": (-np.inf, np.inf),
    "scores changed by padding": (0, 1),
}
# What cannot come out otherwise: of a judge that always gives the same score, and of the offline
# one, which decides by a fixed rule in whatever order.
CONSTANT = ("consistency_score", "difference between repeats")
RULED = (*CONSTANT, "error_rate", "same choice in both orders", "preference for the first place")
PEOPLE = "people"  # stands in the place of a judge where people are compared with each other
PLACES = {"A": 1.0, "B": -1.0, "Tie": 0.0, None: np.nan}
# Says nothing new, three times over.
PADDING = {
    "en": "{0} In other words, and to say the same once more so that it is clear: {0} To sum up "
    "what was said above, the answer is this, and it is worth repeating in full: {0}",
    "ru": "{0} Иными словами, скажем то же самое ещё раз, чтобы было понятно: {0} Подводя итог "
    "сказанному выше, ответ таков, и его стоит повторить целиком: {0}",
}


class Request(Basics):
    """Who is tried, by which metric, and how often."""

    answers: str = Field("", description="a table with people's labels; empty: of the data set")
    judges: tuple[str, ...] = Field((), description="of ragbench.toml, or lexical; empty: all")
    modes: tuple[Literal["direct", "reasoned"], ...] = Field(
        (), description="every model once in each; empty: as configured"
    )
    metric: str = Field("answer_correctness_rating", description="whose scores are on trial")
    repeats: int = Field(2, ge=1, le=100, description="how often every answer is scored")
    delta: float = Field(DELTA, ge=0, description="of consistency_score, on the judge's scale")
    people_scale: tuple[float, float] = Field((1, 5), description="lowest and highest rating")
    probed: int = Field(100, ge=0, description="answers that are padded and paired; 0: none")


class Completed(Request, Compared):
    """And what was found out."""


@dataclass(frozen=True)
class Frames:
    """What was measured.

    questions, answers: a row an answer. ratings: of people (question_id, rater, value). judged: a
    row a judge and answer: system, question_id, unit, scores (of all repeats), the values of
    NUMBERS and PROBES. judges: system, is_stand_in, and error of one that could not be asked.
    """

    questions: pd.DataFrame
    answers: pd.DataFrame
    ratings: pd.DataFrame
    judged: pd.DataFrame
    judges: pd.DataFrame
    scores: pd.DataFrame


@dataclass(frozen=True)
class JudgeStatement(Statement):
    """agreement: every judge with people (system, measure, …), people among themselves as PEOPLE.

    probes: of every judge the measures of PROBES.
    """

    agreement: pd.DataFrame
    probes: pd.DataFrame


def measure(
    request: Request, bench: Workbench, judges: Any = None, samples: Sequence[Sample] = ()
) -> tuple[Request, Frames, About]:
    """Let every judge score every answer, and make the probes.

    judges: names, objects, a list or {name: judge}. samples: with people's labels, in place of the
    rated answers of the data set. A judge that cannot be asked at all is named in frames.judges;
    raises BenchError where none can, and for a metric that asks no judge alone.
    """
    from ragbench.judge import open_judge
    from ragbench.llm import BudgetSpentError, StopError

    metric = parse_label(request.metric)
    if metric.uses != ("judge",):
        raise BenchError(f"metric {metric.label!r} is not scored by a judge alone; name another")
    given_samples = samples or samples_of_dataset(bench.dataset)
    samples, ratings = rated_samples(request, given_samples)
    usual = request.judges or usual_judges(bench.settings)
    opened: dict[str, Any] = {}
    for name, given in name_given(judges, usual).items():
        judge = open_judge(given, bench.settings, bench.language.code, spending=bench.spending)
        opened |= in_modes(name, judge, request.modes)
    parts, about = [], []
    for name, judge in opened.items():
        error = ""
        try:
            parts.append(ask_judge(judge, metric, request, samples, bench).assign(system=name))
        except BudgetSpentError:
            raise
        except StopError as stop:
            error = str(stop)
        about.append((name, getattr(judge, "is_stand_in", False), error))
    if not parts:
        raise BenchError(f"no judge can be asked: {about[0][-1]}")
    questions = question_frame(samples)
    judged = pd.concat(parts, ignore_index=True).merge(questions[["question_id", "unit"]])
    frames = Frames(
        questions,
        answer_frame(samples),
        ratings,
        judged,
        pd.DataFrame(about, columns=["system", "is_stand_in", "error"]),
        score_rows(judged, metric.label),
    )
    names = tuple(name for name, _, error in about if not error)
    named = {"systems": names, "baseline": names[0], "metrics": tuple(NUMBERS)}
    request = Completed(**request.model_dump(), **named, primary="consistency_score")
    stand_ins = [f"judge {name}" for name, is_stand_in, _ in about if is_stand_in]
    return request, frames, bench.about(stand_ins)


def in_modes(name: str, judge: Any, modes: Sequence[str]) -> dict[str, Any]:
    """Return a model once in every mode, as `mine (reasoned)`; what has no modes alone."""
    if not modes or not hasattr(judge, "mode"):
        return {name: judge}
    judges = {}
    for mode in modes:
        judges[f"{name} ({mode})"] = copied = copy(judge)
        copied.mode = mode
    return judges


def rated_samples(request: Request, samples: Sequence[Sample]) -> tuple[list[Sample], pd.DataFrame]:
    """Return the answers that are judged, and people's ratings: question_id, rater, value."""
    from ragbench.core.numbers import read_numbers

    chosen = smallest_hashes([sample.id for sample in samples], request.limit or len(samples))
    is_single = len({sample.system for sample in samples}) == 1
    kept, rows = [], []
    for sample in samples:
        if sample.id not in chosen:
            continue
        # Several systems may have answered one question.
        key = sample.id if is_single else f"{sample.id} {sample.system}"
        kept.append(replace(sample, id=key, cluster=sample.cluster or sample.id, system=""))
        rows += [(key, rater, value) for rater, value in sample.labels.items()]
    ratings = pd.DataFrame(rows, columns=["question_id", "rater", "value"])
    ratings["value"] = read_numbers(ratings["value"].tolist(), "a label")
    ratings = ratings.dropna().reset_index(drop=True)
    low, high = request.people_scale
    outside = ratings.loc[~ratings["value"].between(low, high), "value"]
    if len(outside):
        raise BenchError(
            f"people gave {outside.iloc[0]:g}, which is not on the scale from {low:g} to {high:g}; "
            "set people_scale"
        )
    return kept, ratings


def ask_judge(
    judge: Any, metric: Metric, request: Request, samples: Sequence[Sample], bench: Workbench
) -> pd.DataFrame:
    """Return what one judge says of every answer; see `Frames.judged`."""
    chosen = smallest_hashes([sample.id for sample in samples], request.probed)

    async def try_answer(sample: Sample) -> dict[str, Any]:
        timed = partial(score_timed, judge, metric)
        calls: list[Any] = [timed(sample, repeat) for repeat in range(request.repeats)]
        calls.append(score_timed(judge, parse_label("faithfulness_rating"), sample))
        if sample.id in chosen and sample.answer:
            padding = PADDING[bench.language.code]
            calls.append(timed(replace(sample, answer=padding.format(sample.answer))))
            reference = sample.reference or ""
            if reference not in ("", sample.answer):
                question = sample.question or ""
                calls.append(compare_answers(judge, question, sample.answer, reference))
        *repeats, faithful, padded, duel = [*await ask_all(*calls), None, None][
            : request.repeats + 3
        ]
        first = repeats[0].score
        about = {
            "question_id": sample.id,
            "status": first.status,
            "reason": first.reason,
            "explanation": first.explain(bench.language),
            "status_faithful": faithful.score.status,
            "reason_faithful": faithful.score.reason,
        }
        return {**about, **values_of(request, repeats, faithful, padded, duel)}

    calls = [partial(try_answer, sample) for sample in samples]
    judged = pd.DataFrame(run_calls(judge, calls, f"{judge.name} judges"))
    latencies = keep_latencies(bench, judge, samples, judged["avg_latency_ms"].tolist())
    return judged.assign(avg_latency_ms=latencies)


def values_of(
    request: Request, repeats: Sequence[Any], faithful: Any, padded: Any, duel: Any
) -> dict[str, Any]:
    """Return the values of NUMBERS and PROBES for one answer; NaN for what was not asked."""
    scores = np.array([[timed.score.value for timed in repeats]])
    statuses = [timed.score.status for timed in repeats if timed.score.status not in NEVER_ASKED]
    gain = padded.score.value - scores[0, 0] if padded else np.nan
    # In the other order the first place is the second answer's; choices are turned back.
    places = [PLACES[duel.forward], -PLACES[duel.backward]] if duel else [np.nan, np.nan]
    return {
        "scores": tuple(scores[0]),
        "consistency_score": share_within(scores, request.delta)[0],
        "error_rate": np.mean([status != "ok" for status in statuses]) if statuses else np.nan,
        "avg_latency_ms": mean_by_answer([[timed.latency_ms for timed in repeats]])[0],
        "avg_faithfulness": faithful.score.value,
        "difference between repeats": mean_by_answer(np.abs(scores[:, 1:] - scores[:, :1]))[0],
        "same choice in both orders": chosen_consistently([places])[0],
        "preference for the first place": mean_by_answer([places])[0],
        "gain by padding": gain,
        "scores changed by padding": np.nan if np.isnan(gain) else float(gain != 0),
    }


def score_rows(judged: pd.DataFrame, label: str) -> pd.DataFrame:
    """Return of every judge and answer its first score and the four numbers, as SCORES."""
    judged = judged.assign(**{label: judged["scores"].str[0]})
    keys = ["system", "question_id", "unit", "status", "reason", "explanation"]
    numbers = [label, *NUMBERS]
    rows = judged.melt([*keys, "status_faithful", "reason_faithful"], numbers, var_name="metric")
    is_faithful = rows["metric"] == "avg_faithfulness"
    for name in ("status", "reason"):
        rows[name] = rows[name].mask(is_faithful, rows.pop(f"{name}_faithful"))
    is_known = rows["value"].notna()
    rows["status"] = rows["status"].replace("ok", "missing_field").mask(is_known, "ok")
    rows["reason"] = rows["reason"].mask(is_known, "")
    rows["explanation"] = rows["explanation"].where(rows["metric"] == label, "")
    return check(rows, SCORES)


def state(request: Request, frames: Frames) -> JudgeStatement:
    """State the four numbers, the agreement with people and the probes: a pure function."""
    ruled = frames.judges.loc[frames.judges["is_stand_in"], "system"].tolist()
    bounds = {**NUMBERS, **PROBES}
    labels = list(bounds)
    ends = tuple(np.array([*bounds.values()], dtype=float).T)
    rated = frames.ratings.merge(frames.questions[["question_id", "unit"]], on="question_id")
    parts, agreements = [], [state_people(request, rated)]
    for system, rows in frames.judged.groupby("system", sort=False):
        table = rows[labels].to_numpy(dtype=float)
        frame = mean_intervals(table, rows["unit"].to_numpy(), ends, request.confidence)
        firsts = rows["scores"].str[0]
        is_constant = firsts.count() > 1 and firsts.nunique() == 1
        constructed = RULED if system in ruled else CONSTANT if is_constant else ()
        frame = frame.assign(system=system, metric=labels)
        is_constructed = frame["metric"].isin(constructed) & (frame["n"] > 0)
        frame.loc[is_constructed, ["low", "high"]] = np.nan
        frame.loc[is_constructed, "method"] = "construction"
        parts.append(frame)
        known = rated.merge(rows.assign(first=firsts)[["question_id", "first"]], on="question_id")
        agreements.append(state_agreement(request, known).assign(system=system))
    estimates = stack(parts, ESTIMATES)
    is_number = estimates["metric"].isin(list(NUMBERS))
    return JudgeStatement(
        estimates[is_number].reset_index(drop=True),
        COMPARISONS.empty(),
        pd.concat(agreements, ignore_index=True),
        estimates[~is_number].reset_index(drop=True),
    )


def state_people(request: Request, rated: pd.DataFrame) -> pd.DataFrame:
    """State how people agree with each other: α of all, the other measures of all pairs of two."""
    others = rated.rename(columns={"value": "first"})
    pairs = rated.merge(others, on=["question_id", "unit"], suffixes=("", "_first"))
    pairs = pairs[pairs["rater"] < pairs["rater_first"]]
    frame = state_agreement(request, pairs)
    if frame.empty:
        return frame
    wide = rated.pivot(index=["question_id", "unit"], columns="rater", values="value")
    units = wide.index.get_level_values("unit")
    alphas = agreement_of_people(wide.to_numpy(), units, confidence=request.confidence)
    is_other = ~frame["measure"].isin([*alphas["measure"], "bias"])
    return pd.concat([frame[is_other], alphas], ignore_index=True).assign(system=PEOPLE)


def state_agreement(request: Request, rated: pd.DataFrame) -> pd.DataFrame:
    """State how the column `first`, of a judge, agrees with `value`, of people.

    Where people's scale is not the judge's, only ranks are compared.
    """
    if rated["first"].isna().all():
        return pd.DataFrame()
    low, high = request.people_scale
    levels = np.arange(low, high + 1).tolist()
    given = pd.concat([rated["first"], rated["value"]]).dropna()
    frame = agreement(
        rated["first"],
        rated["value"],
        rated["unit"],
        # With values between the levels there is no list of all that could be given.
        scale=levels if given.isin(levels).all() else None,
        confidence=request.confidence,
    )
    if parse_label(request.metric).bounds != request.people_scale:
        return frame[frame["measure"].isin(["spearman", "kendall"])]
    return frame
