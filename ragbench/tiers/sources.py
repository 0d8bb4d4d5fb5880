"""Sources: which parts of the knowledge base are used?

Every system searches for every question; what comes back is held against the whole base, and
against topics of the questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field

from ragbench.core.errors import BenchError, NotEnoughError
from ragbench.core.frames import COMPARISONS, ESTIMATES, SCORES, check, stack
from ragbench.metrics.ranking_frames import add_gains, drop_copies
from ragbench.metrics.sources import topic_coverage
from ragbench.stats import Statement, jackknife_intervals
from ragbench.tiers.answering import usual_embedder
from ragbench.tiers.common import (
    SystemOptions,
    Workbench,
    ask_systems,
    asked_frame,
    open_embedders,
    relevant_labels,
    retrieved_frame,
)
from ragbench.tiers.words import typical_words

ALONE = "n_alone"  # of a question: passages that no other one retrieves
# Numbers without an interval.
COUNTS = ["total_chunks", "n_topics", "total_questions", "avg_chunks_per_topic"]


class Request(SystemOptions):
    """What is retrieved, and how questions are grouped into topics."""

    k: int = Field(5, ge=1, le=1_000, description="passages of each ranking that count as used")
    n_topics: int = Field(
        0, ge=0, le=1_000, description="clusters of questions; 0: by the highest silhouette"
    )
    embedder: str = Field("", description="of questions; empty: as set, else a local one")


@dataclass(frozen=True)
class Frames:
    """What was measured: everything else is computed from it.

    questions: with topic_id. topics: topic_id and words. coverage: what a system retrieved for a
    topic (system, topic_id, question_count, unique_chunks, unique_urls). scores: of every question
    how many passages no other one retrieves.
    """

    questions: pd.DataFrame
    passages: pd.DataFrame
    labels: pd.DataFrame
    retrieved: pd.DataFrame
    asked: pd.DataFrame
    topics: pd.DataFrame
    coverage: pd.DataFrame
    scores: pd.DataFrame


@dataclass(frozen=True)
class SourcesStatement(Statement):
    """uses: for how many questions a system retrieved every passage and page, 0 too: system, unit
    (passage or page), name, questions; labelled: how many questions have it as relevant. Nothing of
    a system that failed at every question.
    """

    uses: pd.DataFrame


def measure(request: Request, bench: Workbench) -> tuple[Request, Frames, tuple[str, ...]]:
    """Retrieve for every question, and group the questions: the expensive part.

    Returns the completed request, the frames, and who only stands in. Raises NotEnoughError without
    passages or questions.
    """
    dataset = bench.dataset
    questions = dataset.questions
    if questions.empty or dataset.passages.empty:
        raise NotEnoughError(f"{dataset.name} lacks questions or passages: nothing is retrieved")
    if request.n_topics > len(questions):
        raise BenchError(f"n_topics = {request.n_topics}, but there are {len(questions)} questions")
    question_ids = questions["question_id"].tolist()
    texts = questions["text"].tolist()
    runs = ask_systems(bench.systems, texts, request.k)
    retrieved = drop_copies(retrieved_frame(runs, question_ids, request.k))
    retrieved = add_gains(retrieved, dataset.labels)
    usual = usual_embedder(bench.settings)
    name, embedder = open_embedders(request.embedder, bench, [usual]).popitem()
    request = request.model_copy(update={"embedder": name})
    vectors = embedder.embed(texts, "query")
    known = retrieved[retrieved["passage_id"].isin(dataset.passages["passage_id"])]
    topic_ids, coverage = cover_topics(request, vectors, known, question_ids)
    words = [", ".join(found) for found in typical_words(texts, topic_ids.tolist())]
    asked = asked_frame(runs, question_ids)
    frames = Frames(
        questions.assign(topic_id=topic_ids),
        dataset.passages,
        dataset.labels,
        retrieved,
        asked,
        pd.DataFrame({"topic_id": range(len(words)), "words": words}),
        coverage,
        score(questions, retrieved, asked),
    )
    return request, frames, (f"embedder {name}",) if embedder.is_stand_in else ()


def cover_topics(
    request: Request,
    vectors: NDArray[np.float32],
    retrieved: pd.DataFrame,
    question_ids: Sequence[str],
) -> tuple[NDArray[np.int64], pd.DataFrame]:
    """Return the topic of every question, the same for all systems, and what each found of it."""
    # Search by cosine compares directions, exactly of length 1.
    directions = vectors.astype(float)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    n_topics = request.n_topics or None
    parts = []
    for system in request.systems:
        rows = retrieved[retrieved["system"] == system]
        covered = topic_coverage(directions, rows, question_ids, n_topics, request.seed)
        n_topics = len(covered.topics)
        parts.append(covered.topics.assign(system=system))
    return covered.topic_ids, pd.concat(parts, ignore_index=True)


def score(questions: pd.DataFrame, retrieved: pd.DataFrame, asked: pd.DataFrame) -> pd.DataFrame:
    """Return of every question and system how many passages no other question retrieves."""
    is_alone = ~retrieved.duplicated(["system", "passage_id"], keep=False)
    alone = retrieved[is_alone].groupby(["system", "question_id"]).size().rename("value")
    scores = asked.join(alone, on=["system", "question_id"]).fillna({"value": 0.0})
    scores = scores.merge(questions[["question_id", "unit"]], on="question_id")
    has_failed = scores["error"] != ""
    return check(
        scores.assign(
            metric=ALONE,
            value=scores["value"].astype(float).mask(has_failed),
            status=np.where(has_failed, "system_error", "ok"),
            reason=scores["error"],
            explanation="",
        ),
        SCORES,
    )[SCORES.names]


def state(request: Request, frames: Frames) -> SourcesStatement:
    """State how much of the base every system used: a pure function of the frames."""
    parts = [estimate_use(request, frames, system) for system in request.systems]
    answered = frames.asked.loc[frames.asked["error"] == "", "system"].unique()
    uses = [count_uses(frames, system) for system in request.systems if system in answered]
    estimates = stack(parts, ESTIMATES)
    together = pd.concat(uses, ignore_index=True) if uses else pd.DataFrame({"questions": []})
    return SourcesStatement(estimates, COMPARISONS.empty(), together)


def estimate_use(request: Request, frames: Frames, system: str) -> pd.DataFrame:
    """Estimate the seed's numbers of one system.

    A drawn set of questions repeats some and so finds less; leaving questions out does not: without
    one, the number falls by the passages that it alone found (Heltshe and Forrester 1983).
    """
    asked = frames.asked[(frames.asked["system"] == system) & (frames.asked["error"] == "")]
    questions = frames.questions[frames.questions["question_id"].isin(asked["question_id"])]
    used = used_passages(frames, system).drop_duplicates(["passage_id", "unit"])
    is_alone = ~used.duplicated("passage_id", keep=False)
    alone = used[is_alone].groupby("unit").size().reindex(questions["unit"].unique(), fill_value=0)
    total = len(frames.passages)
    # What a system would use that failed everywhere, nobody knows.
    n_used = used["passage_id"].nunique() if len(questions) else np.nan
    table = jackknife_intervals(
        [n_used / total, n_used, total - n_used],
        np.column_stack([(n_used - alone) / total, n_used - alone, total - n_used + alone]),
        (0.0, [1.0, total, total]),
        request.confidence,
    ).assign(metric=["utilization_rate", "used_chunks", "unused_chunks"])
    topics = frames.coverage.loc[frames.coverage["system"] == system, "unique_chunks"]
    counts = pd.DataFrame({"metric": COUNTS, "method": "none", "level": request.level})
    counts["value"] = [
        total,
        len(topics),
        len(questions),
        topics.mean() if len(questions) else np.nan,
    ]
    told = {"system": system, "n": len(questions), "n_units": len(alone), "seed": request.seed}
    n_failed = len(frames.questions) - len(questions)
    return pd.concat([table, counts], ignore_index=True).assign(n_unmeasured=n_failed, **told)


def used_passages(frames: Frames, system: str) -> pd.DataFrame:
    """Return what a system retrieved of the base, with url of the passage, unit of the question."""
    rows = frames.retrieved.loc[frames.retrieved["system"] == system, ["question_id", "passage_id"]]
    known = rows.merge(frames.passages[["passage_id", "url"]], on="passage_id")
    return known.merge(frames.questions[["question_id", "unit"]], on="question_id")


def count_uses(frames: Frames, system: str) -> pd.DataFrame:
    """Count for how many questions every passage and page was retrieved, and is labelled."""
    used = used_passages(frames, system)
    relevant = relevant_labels(frames.labels).merge(frames.passages, on="passage_id")
    parts = []
    for unit, column in (("passage", "passage_id"), ("page", "url")):
        names = pd.Index(frames.passages[column].unique(), name="name").drop("", errors="ignore")
        table = pd.DataFrame(
            {
                "questions": used.groupby(column)["question_id"].nunique(),
                "labelled": relevant.groupby(column)["question_id"].nunique(),
            },
            index=names,
        )
        parts.append(table.fillna(0).astype(int).reset_index().assign(system=system, unit=unit))
    return pd.concat(parts, ignore_index=True)
