"""Sources: which parts of the knowledge base are used?

Every system searches for every question; what comes back is held against the whole base, and
against topics of the questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field

from ragbench.core.errors import BenchError, NotEnoughError
from ragbench.core.frames import COMPARISONS, ESTIMATES, SCORES, check
from ragbench.metrics.ranking_frames import add_gains, drop_copies
from ragbench.metrics.sources import topic_coverage
from ragbench.stats import Statement, jackknife_intervals
from ragbench.systems.searching import dense_part
from ragbench.tiers.answering import usual_embedder
from ragbench.tiers.common import (
    SystemOptions,
    Workbench,
    ask_systems,
    asked_frame,
    open_embedders,
    retrieved_frame,
)
from ragbench.tiers.words import typical_words

ALONE = "n_alone"  # of a question: passages that no other one retrieves
COUNTS = ("total_chunks", "used_chunks", "unused_chunks", "n_topics", "total_questions")


class Request(SystemOptions):
    """What is retrieved, and how questions are grouped into topics."""

    k: int = Field(5, ge=1, le=1_000, description="passages of each ranking that count as used")
    n_topics: int = Field(
        0, ge=0, le=1_000, description="clusters of questions; 0: by the highest silhouette"
    )
    embedder: str = Field("", description="of questions; empty: that of a system, else as set")


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
    (passage or page), name, questions; labelled: how many questions have it as relevant.
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
    request, vectors, stand_ins = embed_questions(request, bench, texts)
    topic_ids, coverage = cover_topics(request, vectors, retrieved, question_ids)
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
    return request, frames, stand_ins


def embed_questions(
    request: Request, bench: Workbench, texts: list[str]
) -> tuple[Request, NDArray[Any], tuple[str, ...]]:
    """Return vectors of the questions as they are searched with, else by the embedder of metrics.

    With the request, in which the embedder is named, and who only stands in.
    """
    dense = (dense_part(system) for system in bench.systems.values())
    searching = next((part for part in dense if part is not None), None)
    if searching is not None and not request.embedder:
        return request, searching.embed_questions(texts), ()
    usual = bench.settings.embedder or usual_embedder(bench.settings)
    ((name, embedder),) = open_embedders(request.embedder, bench, [usual]).items()
    stand_ins = (f"embedder {name}",) if embedder.is_stand_in else ()
    request = request.model_copy(update={"embedder": name})
    return request, embedder.embed(texts, "query"), stand_ins


def cover_topics(
    request: Request, vectors: NDArray[Any], retrieved: pd.DataFrame, question_ids: Sequence[str]
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
    by_passage = retrieved.groupby(["system", "passage_id"])["question_id"].transform("nunique")
    alone = retrieved[by_passage == 1].groupby(["system", "question_id"]).size()
    keys = pd.MultiIndex.from_frame(asked[["system", "question_id"]])
    units = questions.set_index("question_id")["unit"]
    has_failed = asked["error"] != ""
    scores = asked[["system", "question_id"]].assign(
        metric=ALONE,
        unit=asked["question_id"].map(units),
        value=np.where(has_failed, np.nan, alone.reindex(keys).fillna(0).to_numpy(dtype=float)),
        status=np.where(has_failed, "system_error", "ok"),
        reason=asked["error"],
        explanation="",
    )
    return check(scores, SCORES)


def state(request: Request, frames: Frames) -> SourcesStatement:
    """State how much of the base every system used: a pure function of the frames."""
    parts = [estimate_use(request, frames, system) for system in request.systems]
    uses = [count_uses(frames, system) for system in request.systems]
    estimates = check(pd.concat(parts, ignore_index=True), ESTIMATES)
    return SourcesStatement(estimates, COMPARISONS.empty(), pd.concat(uses, ignore_index=True))


def estimate_use(request: Request, frames: Frames, system: str) -> pd.DataFrame:
    """Estimate the seed's numbers of one system.

    A drawn set of questions repeats some and so finds less; leaving questions out does not: without
    one, the number falls by the passages that it alone found (Heltshe and Forrester 1983).
    """
    asked = frames.asked[(frames.asked["system"] == system) & (frames.asked["error"] == "")]
    used = used_passages(frames, system)
    questions = frames.questions[frames.questions["question_id"].isin(asked["question_id"])]
    n_units_by_passage = used.groupby("passage_id")["unit"].nunique()
    found_once = used.drop_duplicates(["passage_id", "unit"]).set_index("passage_id")
    found_once = found_once[n_units_by_passage.reindex(found_once.index) == 1]
    units = questions["unit"].unique()
    alone = found_once["unit"].value_counts().reindex(units, fill_value=0).to_numpy(dtype=float)
    total = len(frames.passages)
    # What a system would use that failed everywhere, nobody knows.
    n_used = len(n_units_by_passage) if len(questions) else np.nan
    # Each number with its values without one unit, and its scale.
    uses = {
        "utilization_rate": (n_used / total, (n_used - alone) / total, 1.0),
        "used_chunks": (n_used, n_used - alone, total),
        "unused_chunks": (total - n_used, total - n_used + alone, total),
    }
    topics = frames.coverage[frames.coverage["system"] == system]
    counts = {
        "total_chunks": total,
        "n_topics": len(topics),
        "total_questions": len(questions),
        "avg_chunks_per_topic": topics["unique_chunks"].mean() if len(questions) else np.nan,
    }
    rows = []
    for metric, (value, without_one, end) in uses.items():
        interval = jackknife_intervals(value, without_one[:, None], (0.0, end), request.confidence)
        rows.append(interval.assign(metric=metric))
    for metric, value in counts.items():
        plain = {"value": float(value), "low": np.nan, "high": np.nan, "method": "none"}
        rows.append(rows[0].assign(metric=metric, **plain))
    n_failed = len(frames.questions) - len(questions)
    table = pd.concat(rows, ignore_index=True)
    return table.assign(system=system, n=len(questions), n_unmeasured=n_failed)


def used_passages(frames: Frames, system: str) -> pd.DataFrame:
    """Return what a system retrieved of the base, with url of the passage, unit of the question."""
    rows = frames.retrieved.loc[frames.retrieved["system"] == system, ["question_id", "passage_id"]]
    known = rows.merge(frames.passages[["passage_id", "url"]], on="passage_id")
    return known.merge(frames.questions[["question_id", "unit"]], on="question_id")


def count_uses(frames: Frames, system: str) -> pd.DataFrame:
    """Count for how many questions every passage and page was retrieved, and is labelled.

    Of a system that failed at every question nothing is counted.
    """
    asked = frames.asked[frames.asked["system"] == system]
    if (asked["error"] != "").all():
        return pd.DataFrame({"system": [], "unit": [], "name": [], "questions": [], "labelled": []})
    used = used_passages(frames, system)
    urls = frames.passages.set_index("passage_id")["url"]
    relevant = frames.labels[frames.labels["grade"] > 0]
    relevant = relevant.assign(url=relevant["passage_id"].map(urls))
    parts = []
    for unit, column in (("passage", "passage_id"), ("page", "url")):
        names = frames.passages[column].unique()
        counts = used.groupby(column)["question_id"].nunique().reindex(names, fill_value=0)
        labelled = relevant.groupby(column)["question_id"].nunique().reindex(names, fill_value=0)
        columns = {"name": names, "questions": counts.to_numpy(), "labelled": labelled.to_numpy()}
        table = pd.DataFrame({"system": system, "unit": unit, **columns})
        parts.append(table[table["name"] != ""])
    return pd.concat(parts, ignore_index=True)
