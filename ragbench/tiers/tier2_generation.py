"""Tier 2: does the system answer well from the right passages?

The passages that are labelled relevant are handed to whoever writes a system's answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
from pydantic import Field

from ragbench.core.errors import BenchError, NotEnoughError
from ragbench.core.types import Dataset, Hit, Retrieval, System
from ragbench.stats import Statement
from ragbench.stats import state as state_scores
from ragbench.tiers.answering import (
    AskedOptions,
    Services,
    ask_answers,
    chosen_metrics,
    corpus_labels,
    count_refusals,
    estimate_corpus,
    open_services,
    score_answers,
    score_labels,
    state_repeats,
    writer_of,
)
from ragbench.tiers.common import Workbench, relevant_labels

METRICS = (
    "faithfulness_rating",
    "answer_relevance",
    "answer_correctness_rating",
    "hallucination",
    "semantic_similarity",
    "rouge1_f",
    "rouge2_f",
    "rougeL_f",
    "bleu",
    "corpus_bleu",
    "response_exact_match_rate",
    "response_semantic_consistency",
)
PRIMARY = "answer_correctness_rating"


class Request(AskedOptions):
    """What is measured."""

    context: Literal["ideal", "none"] = Field("ideal", description="what answers are written from")


@dataclass(frozen=True)
class Frames:
    """What was measured. writers: which systems share a row, because one writes for all."""

    questions: pd.DataFrame
    passages: pd.DataFrame
    labels: pd.DataFrame
    answers: pd.DataFrame
    scores: pd.DataFrame
    verdicts: pd.DataFrame
    judgements: pd.DataFrame
    repeats: pd.DataFrame
    writers: pd.DataFrame


@dataclass(frozen=True)
class AnswerStatement(Statement):
    """Means and comparisons.

    refusals: how often each system refuses, as ESTIMATES. repeats: how often answers pass when a
    question is asked several times.
    """

    refusals: pd.DataFrame
    repeats: pd.DataFrame


def measure(
    request: Request, bench: Workbench, *, judge: Any = None, embedder: Any = None
) -> tuple[Request, Frames, Services]:
    """Let every writer answer from the labelled passages, and score the answers.

    Returns the completed request, the frames, and who was asked. Raises NotEnoughError where no
    question has a labelled passage, BenchError where no system takes passages.
    """
    dataset = bench.dataset
    questions = labelled_questions(dataset)
    writers = group_writers(bench.systems)
    systems = {name: bench.systems[name] for name in writers["system"].unique()}
    metrics = chosen_metrics(request.metrics, METRICS)
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
    ideal = ideal_contexts(dataset, questions)
    given = ideal if request.context == "ideal" else [Retrieval((), 0.0) for _ in ideal]
    contexts = dict.fromkeys(systems, given)
    most = max(len(retrieval.hits) for retrieval in ideal)
    answers = ask_answers(systems, questions, most, request.repeats, contexts)
    scored = score_answers(answers, questions, metrics, services, bench.language)
    # Who writes for the baseline stands for it.
    first_by_name = writers.set_index("writes_for")["system"].to_dict()
    named = {"baseline": first_by_name.get(request.baseline, "")}
    completed = complete(request.model_copy(update=named), tuple(systems), metrics, PRIMARY)
    frames = Frames(
        dataset.questions,
        dataset.passages,
        dataset.labels,
        answers,
        *scored,
        writers,
    )
    return completed, frames, services


def labelled_questions(dataset: Dataset) -> pd.DataFrame:
    """Return the questions that have a relevant passage."""
    relevant = relevant_labels(dataset.labels)
    questions = dataset.questions
    chosen = questions[questions["question_id"].isin(relevant["question_id"])]
    if chosen.empty:
        raise NotEnoughError("no question has a relevant passage: Tier 2 hands these to the writer")
    return chosen.reset_index(drop=True)


def group_writers(systems: Mapping[str, System]) -> pd.DataFrame:
    """Return which systems share a writer: columns system (the first of each), writes_for."""
    rows = []
    first_by_writer: dict[str, str] = {}
    for name, system in systems.items():
        if not system.takes_contexts:
            continue
        first = first_by_writer.setdefault(writer_of(system), name)
        rows.append((first, name))
    if not rows:
        raise BenchError(
            "no system answers from passages that it is given; Tier 3 asks as users do"
        )
    return pd.DataFrame(rows, columns=["system", "writes_for"])


def ideal_contexts(dataset: Dataset, questions: pd.DataFrame) -> list[Retrieval]:
    """Return of every question its relevant passages, best grade first, then by id."""
    passages = dataset.passages.set_index("passage_id")
    relevant = relevant_labels(dataset.labels)
    ordered = relevant.sort_values(["grade", "passage_id"], ascending=[False, True])
    ids_by_question = ordered.groupby("question_id", sort=False)["passage_id"].apply(list)
    contexts = []
    for question_id in questions["question_id"]:
        known = [name for name in ids_by_question[question_id] if name in passages.index]
        hits = [Hit(name, str(passages.at[name, "text"])) for name in known]
        contexts.append(Retrieval(tuple(hits), 0.0))
    return contexts


def complete(request: Any, systems: tuple[str, ...], metrics: list[Any], usual_primary: str) -> Any:
    """Return the request with all that was left empty: systems, baseline, metrics, primary."""
    labels = tuple(metric.label for metric in metrics)
    scored = score_labels(metrics)
    if not scored:
        raise BenchError(f"{labels[0]} is of all answers together; name one of each answer as well")
    primary = request.primary or (usual_primary if usual_primary in scored else scored[0])
    if primary not in scored:
        raise BenchError(f"primary {primary!r} is none of {', '.join(scored)}")
    baseline = request.baseline if request.baseline in systems else systems[0]
    changes = {"systems": systems, "baseline": baseline, "metrics": labels, "primary": primary}
    return request.model_copy(update=changes)


def state_answers(request: Any, frames: Any) -> AnswerStatement:
    """State means, comparisons, corpus metrics and refusals: a pure function of the frames."""
    metrics = chosen_metrics(request.metrics, ())
    labels = score_labels(metrics)
    stated = state_scores(
        frames.scores,
        systems=request.systems,
        baseline=request.baseline,
        primary=request.primary,
        metrics=labels,
        margins=request.margins,
        confidence=request.confidence,
    )
    is_scored = frames.answers["question_id"].isin(frames.scores["question_id"])
    corpus = estimate_corpus(
        frames.answers[is_scored], frames.questions, corpus_labels(metrics), request.confidence
    )
    parts = [part for part in (stated.estimates, corpus) if len(part)]
    estimates = pd.concat(parts, ignore_index=True)
    refusals = count_refusals(frames.answers, frames.questions, request.confidence)
    repeats = state_repeats(frames.repeats, request.confidence)
    return AnswerStatement(estimates, stated.comparisons, refusals, repeats)


def state(request: Request, frames: Frames) -> AnswerStatement:
    """State Tier 2: a pure function of the frames."""
    return state_answers(request, frames)
