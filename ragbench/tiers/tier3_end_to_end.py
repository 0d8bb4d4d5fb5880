"""Tier 3: does the user get a good answer, and if not, which part fails first?

Every system is asked as a user asks it; its answers are judged against the reference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from ragbench.core.errors import BenchError, NotEnoughError
from ragbench.core.frames import RETRIEVED, frame_of
from ragbench.core.metric import Metric, parse_label
from ragbench.core.types import Retrieval, System
from ragbench.metrics.ranking_frames import add_gains
from ragbench.stats import quantile_intervals
from ragbench.tiers.answering import (
    AskedOptions,
    Contexts,
    Services,
    ask_answers,
    chosen_metrics,
    open_services,
    score_answers,
    writer_of,
)
from ragbench.tiers.blame import (
    ERROR,
    GOOD,
    NOT_JUDGED,
    PARTS,
    find_failures,
    metric_values,
    perfect_frame,
    state_perfect_parts,
    state_shares,
)
from ragbench.tiers.common import Workbench, ask_systems, relevant_labels, retrieved_frame
from ragbench.tiers.tier2_generation import (
    AnswerStatement,
    complete,
    ideal_contexts,
    state_answers,
)

METRICS = (
    "e2e_score",
    "faithfulness_rating",
    "hallucination",
    "semantic_similarity",
    "dot_similarity",
    "euclidean_distance",
    "rouge1_f",
    "rouge2_f",
    "rougeL_f",
    "bleu",
    "corpus_bleu",
    "response_exact_match_rate",
    "response_semantic_consistency",
)
PRIMARY = "e2e_score"
THREE_QUARTERS = 0.75  # of a scale: 4 of 1 to 5, from which on an answer is right
LATENCIES = (0.5, 0.9, 0.99)


class Request(AskedOptions):
    """What is asked and judged."""

    k: int = Field(10, le=1_000, description="passages of each ranking that are looked at")
    contexts: int = Field(5, ge=1, description="how many of them an answer is written from")
    correctness: str = Field("e2e_score", description="metric that says whether it is right")
    right_from: float | None = Field(None, description="least value of it; None: 4 of 1 to 5")
    faithfulness: str = Field("faithfulness_rating", description="metric of staying with the text")
    faithful_from: float | None = Field(None, description="least value of it; None: 4 of 1 to 5")
    perfect_parts: bool = Field(True, description="whether answers are written from ideal passages")

    @model_validator(mode="after")
    def check_contexts(self) -> Request:
        """Refuse more contexts than are retrieved."""
        if self.contexts > self.k:
            raise BenchError(f"contexts = {self.contexts} is more than k = {self.k}; raise k")
        return self


@dataclass(frozen=True)
class Frames:
    """What was measured. failures: outcome of every question; perfect: with one part perfect."""

    questions: pd.DataFrame
    passages: pd.DataFrame
    labels: pd.DataFrame
    retrieved: pd.DataFrame
    answers: pd.DataFrame
    scores: pd.DataFrame
    verdicts: pd.DataFrame
    judgements: pd.DataFrame
    repeats: pd.DataFrame
    failures: pd.DataFrame
    perfect: pd.DataFrame


@dataclass(frozen=True)
class EndToEndStatement(AnswerStatement):
    """And the shares of all outcomes, of good answers with one part perfect, and latencies."""

    shares: pd.DataFrame
    perfect_parts: pd.DataFrame
    latencies: pd.DataFrame


def measure(
    request: Request, bench: Workbench, *, judge: Any = None, embedder: Any = None
) -> tuple[Request, Frames, Services]:
    """Ask, judge, and find the first failure of every question: the expensive part.

    Returns the completed request, the frames, and who was asked.
    """
    dataset = bench.dataset
    questions = dataset.questions
    judged = questions[questions["answerable"] & (questions["reference"] != "")]
    if judged.empty:
        raise NotEnoughError("no question has a right answer that answers could be held against")
    good = standards(request)
    systems = dict(bench.systems)
    metrics = with_standards(request, chosen_metrics(request.metrics, METRICS))
    services = open_services(
        request,
        metrics,
        bench.settings,
        bench.language,
        judge=judge,
        embedder=embedder,
        corpus=dataset.passages["text"].tolist(),
        store=bench.store,
        spending=bench.spending,
    )
    retrieved, contexts = retrieve(request, bench, systems)
    answers = answer(request, systems, questions, contexts)
    retrieved = pd.concat([retrieved, read_frame(answers, retrieved)], ignore_index=True)
    retrieved = add_gains(retrieved, dataset.labels)
    judged_answers = answers[answers["question_id"].isin(judged["question_id"])]
    scored = score_answers(judged_answers, judged, metrics, services, bench.language)
    completed = complete(request, tuple(systems), metrics, PRIMARY)
    failures = find_failures(
        answers,
        questions,
        dataset.labels,
        dataset.passages["passage_id"].tolist(),
        retrieved,
        scored.scores,
        n_read=request.contexts,
        **good,
    )
    perfect = perfect_frame([])
    if request.perfect_parts:
        perfect = measure_perfect_parts(completed, bench, judged, systems, failures, services)
    frames = Frames(
        questions,
        dataset.passages,
        dataset.labels,
        retrieved,
        answers,
        *scored,
        failures,
        perfect,
    )
    return completed, frames, services


def with_standards(request: Request, metrics: list[Metric]) -> list[Metric]:
    """Add the metrics that say what a good answer is, where they are not among the chosen ones."""
    labels = [metric.label for metric in metrics]
    wanted = [parse_label(name) for name in (request.correctness, request.faithfulness)]
    return [*metrics, *[metric for metric in wanted if metric.label not in labels]]


def standards(request: Request) -> dict[str, Any]:
    """Return what a good answer is: metrics and least values."""
    return {
        "correctness": parse_label(request.correctness).label,
        "right_from": least_value(request.correctness, request.right_from),
        "faithfulness": parse_label(request.faithfulness).label,
        "faithful_from": least_value(request.faithfulness, request.faithful_from),
    }


def least_value(label: str, chosen: float | None) -> float:
    """Return the value from which on an answer is good: the chosen one, else 4 of 1 to 5.

    A share of supported claims must be 1: one claim beyond the passages is one too many.
    """
    metric = parse_label(label)
    if metric.better != "higher":
        raise BenchError(f"{label} is not good where it is high: name another")
    if chosen is not None:
        return chosen
    low, high = metric.bounds
    if metric.name == "faithfulness":
        return high
    if math.isinf(high - low):
        raise BenchError(f"{label} has no scale with two ends: name the value, right_from = …")
    return low + THREE_QUARTERS * (high - low)


def retrieve(
    request: Request, bench: Workbench, systems: dict[str, System]
) -> tuple[pd.DataFrame, Contexts]:
    """Let systems that can retrieve do so, and return what a generator reads of each ranking.

    Systems that only answer have no entry in the contexts: what they read comes with the answer.
    """
    able = {
        name: system
        for name, system in systems.items()
        if system.can_retrieve and system.takes_contexts
    }
    texts = bench.dataset.questions["text"].tolist()
    ids = bench.dataset.questions["question_id"].tolist()
    runs = ask_systems(able, texts, request.k)
    contexts = {
        name: [replace(found, hits=found.hits[: request.contexts]) for found in repeats[0]]
        for name, repeats in runs.items()
    }
    return retrieved_frame(runs, ids, request.k), contexts


def answer(
    request: Request, systems: dict[str, System], questions: pd.DataFrame, contexts: Contexts
) -> pd.DataFrame:
    """Ask for the answers: from what was retrieved, or of systems that do it all themselves."""
    parts = []
    for name, system in systems.items():
        given = {name: contexts[name]} if name in contexts else None
        n_passages = request.contexts
        parts.append(ask_answers({name: system}, questions, n_passages, request.repeats, given))
    return pd.concat(parts, ignore_index=True)


def read_frame(answers: pd.DataFrame, retrieved: pd.DataFrame) -> pd.DataFrame:
    """Return what systems that do it all themselves read, as RETRIEVED rows in its order."""
    known = set(retrieved["system"])
    first = answers[(answers["repeat"] == 0) & ~answers["system"].isin(known)]
    rows: list[tuple] = []
    texts: list[str] = []
    for row in first.to_dict("records"):
        pairs = zip(row["context_ids"], row["contexts"], strict=True)
        for rank, (passage_id, text) in enumerate(pairs, start=1):
            rows.append((row["system"], row["question_id"], rank, passage_id, math.nan, math.nan))
            texts.append(text)
    return frame_of(rows, RETRIEVED).assign(text=pd.Series(texts, dtype="str"), url="")


def measure_perfect_parts(
    request: Request,
    bench: Workbench,
    judged: pd.DataFrame,
    systems: dict[str, System],
    failures: pd.DataFrame,
    services: Services,
) -> pd.DataFrame:
    """Tell which questions would have a good answer if one part were perfect.

    Retrieval: answers are written and judged again, from the labelled passages. Ranking: the same
    where such a passage was retrieved at all. Generation: good wherever one was read. Only
    labelled questions count.
    """
    relevant = relevant_labels(bench.dataset.labels)["question_id"]
    questions = judged[judged["question_id"].isin(relevant)].reset_index(drop=True)
    if questions.empty:
        return perfect_frame([])
    able = [name for name, system in systems.items() if system.takes_contexts]
    rows: list[tuple] = []
    ideal = ideal_contexts(bench.dataset, questions)
    good_by_writer: dict[str, dict[str, float]] = {}
    for name in able:
        writer = writer_of(systems[name])
        if writer not in good_by_writer:
            good_by_writer[writer] = judge_ideal_answers(
                request, bench, {name: systems[name]}, questions, ideal, services
            )
        ideal_is_good = good_by_writer[writer]
        own = failures[failures["system"] == name].set_index("question_id")
        for question_id, unit in zip(questions["question_id"], questions["unit"], strict=True):
            fixed = (name, question_id, unit)
            outcome = own.loc[question_id]
            is_good = float(outcome["failure"] == GOOD)
            with_ideal = 1.0 if is_good else ideal_is_good[question_id]
            # All parts are of the same questions: those at which all of them could be told.
            if outcome["failure"] in (ERROR, NOT_JUDGED) or math.isnan(with_ideal):
                is_good = with_ideal = math.nan
            ranked = with_ideal if outcome["was_retrieved"] else is_good
            generated = max(is_good, float(outcome["was_read"]))
            values = (is_good, ranked, with_ideal, generated)
            for part, value in zip(PARTS, values, strict=True):
                rows.append((*fixed, part, value))
    return perfect_frame(rows)


def judge_ideal_answers(
    request: Request,
    bench: Workbench,
    system: dict[str, System],
    questions: pd.DataFrame,
    ideal: Sequence[Retrieval],
    services: Services,
) -> dict[str, float]:
    """Return question → 1 if the answer from labelled passages is good, else 0; NaN: not judged."""
    contexts = dict.fromkeys(system, ideal)
    most = max(len(retrieval.hits) for retrieval in ideal)
    answers = ask_answers(system, questions, most, 1, contexts)
    chosen = standards(request)
    metrics = [parse_label(chosen["correctness"]), parse_label(chosen["faithfulness"])]
    scores = score_answers(answers, questions, metrics, services, bench.language).scores
    correct = metric_values(answers, scores, metrics[0].label)
    faithful = metric_values(answers, scores, metrics[1].label)
    is_right = correct >= chosen["right_from"]
    # What is wrong is not good, however faithful: silence as well.
    is_judged = ~np.isnan(correct) & (~np.isnan(faithful) | ~is_right)
    values = np.where(is_judged, is_right & (faithful >= chosen["faithful_from"]), np.nan)
    return dict(zip(answers["question_id"], values, strict=True))


def state(request: Request, frames: Frames) -> EndToEndStatement:
    """State means, comparisons, first failures and latencies: a pure function of the frames."""
    stated = state_answers(request, frames)
    confidence = request.confidence
    return EndToEndStatement(
        stated.estimates,
        stated.comparisons,
        stated.refusals,
        stated.repeats,
        state_shares(frames.failures, confidence),
        state_perfect_parts(frames.perfect, confidence),
        state_latencies(request, frames),
    )


def state_latencies(request: Request, frames: Frames) -> pd.DataFrame:
    """Estimate quantiles of the time until an answer, per system; rows: system, quantile."""
    parts = []
    units = frames.questions.set_index("question_id")["unit"]
    for system, rows in frames.answers.groupby("system", sort=False):
        timed = rows[rows["latency_ms"].notna()]
        if timed.empty:
            continue
        unit_of_row = units[timed["question_id"]].to_numpy()
        values = timed["latency_ms"].to_numpy()
        frame = quantile_intervals(values, LATENCIES, unit_of_row, request.confidence)
        parts.append(frame.assign(system=system))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
