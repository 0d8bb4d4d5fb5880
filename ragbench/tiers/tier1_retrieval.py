"""Tier 1: does the system find the right passage?

Rankings are held against relevance labels, question by question.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field, model_validator

from ragbench.core.errors import BenchError
from ragbench.core.frames import SCORES, check
from ragbench.core.metric import Metric, parse_label, parse_labels
from ragbench.metrics.ranking_frames import (
    add_gains,
    arrange,
    collapse_pages,
    drop_copies,
    grade_pieces,
)
from ragbench.metrics.rankings import Array, Rankings, measure_rankings, retrieval_consistency
from ragbench.stats import Statement, mean_intervals, quantile_intervals, state_slices
from ragbench.stats import state as state_scores
from ragbench.store import compare_indexes
from ragbench.tiers.clock import find_readings, keep_readings
from ragbench.tiers.common import (
    Options,
    Workbench,
    ask_systems,
    asked_frame,
    relevant_labels,
    retrieved_frame,
)

USUAL = ("hit_rate", "mrr", "recall", "precision", "ndcg", "average_precision", "r_precision")
CONSISTENCY = "retrieval_consistency"
CURVES = ("recall", "ndcg")
LATENCIES = (0.5, 0.9, 0.99)  # the median, and the tails that users notice
MOST_UNKNOWN = 0.02  # share of retrieved passages that the data set may lack without a word
LEAST_IN_SLICE = 20  # questions: fewer are no part to look at
MOST_DEPTHS = 25  # points of a curve: more are not told apart at its width
BATCH = 5_000  # questions that are asked together
MOST_RETRIEVED = 1_000  # passages of a ranking that pages are made of


class Request(Options):
    """What is retrieved and measured."""

    k: int = Field(10, ge=1, le=1_000, description="passages of each ranking that are looked at")
    unit: Literal["chunk", "url"] = Field("chunk", description="what is ranked: passages or pages")
    found_from: float = Field(
        0.5, ge=0, le=1, description="of pieces: share of the labelled text that makes it found"
    )
    repeats: int = Field(3, ge=1, le=100, description="how often everything is asked")
    index_questions: int = Field(
        400, ge=0, le=10_000, description="that exact search, HNSW and IVFFlat are timed on"
    )
    fresh_timings: bool = Field(False, description="read the clock again for the same inputs")

    @model_validator(mode="after")
    def check_metrics(self) -> Request:
        """Refuse metrics that read no ranking or look beyond k, and a primary one beside them."""
        metrics = chosen_metrics(self)
        for metric in metrics:
            if metric.kind != "ranking" and metric.name != CONSISTENCY:
                raise BenchError(
                    f"{metric.label} reads no ranking; `ragbench metrics` lists those that do"
                )
            if metric.options.get("k", 1) > self.k:
                raise BenchError(
                    f"{metric.label} looks beyond the k = {self.k} passages that are retrieved"
                )
        labels = [metric.label for metric in metrics]
        if self.primary and cut_at(parse_label(self.primary), self.k).label not in labels:
            raise BenchError(f"primary {self.primary!r} is none of {', '.join(labels)}")
        return self


def chosen_metrics(request: Request) -> list[Metric]:
    """Return the metrics of a request, each with a cut-off: nothing below rank k is retrieved."""
    if request.metrics:
        return [cut_at(metric, request.k) for metric in parse_labels(request.metrics)]
    metrics = []
    for name in USUAL:
        cutoffs = sorted({*parse_label(name).cutoffs, request.k})
        metrics += [parse_label(f"{name}@{cutoff}") for cutoff in cutoffs if cutoff <= request.k]
    return [*metrics, parse_label(CONSISTENCY)]


def cut_at(metric: Metric, k: int) -> Metric:
    """Return the metric at its own cut-off, or else at k."""
    if "k" not in metric.parameters or metric.options.get("k") or metric.name == CONSISTENCY:
        return metric
    return parse_label(f"{metric.label}@{k}")


def complete_request(request: Request) -> Request:
    """Return the request with its metrics and its primary one named: MRR, else the first."""
    labels = tuple(dict.fromkeys(metric.label for metric in chosen_metrics(request)))
    primary = cut_at(parse_label(request.primary or "mrr"), request.k).label
    return request.model_copy(
        update={"metrics": labels, "primary": primary if primary in labels else labels[0]}
    )


@dataclass(frozen=True)
class Frames:
    """What was measured: everything else is computed from it.

    questions: all, with columns is_labelled (only those that are have scores) and n_itself, how
    often the question itself was retrieved and left out. retrieved: the first k
    of every ranking, with the gain of every passage and is_known, whether the data set has it.
    asked: every request with its time. indexes: ways of searching, timed.
    """

    questions: pd.DataFrame
    passages: pd.DataFrame
    labels: pd.DataFrame
    retrieved: pd.DataFrame
    asked: pd.DataFrame
    scores: pd.DataFrame
    indexes: pd.DataFrame


@dataclass(frozen=True)
class RetrievalStatement(Statement):
    """Means and comparisons, the same in slices, by depth, with what is not judged; times."""

    slice_estimates: pd.DataFrame
    slice_comparisons: pd.DataFrame
    curves: pd.DataFrame
    bounds: pd.DataFrame
    latencies: pd.DataFrame


def measure(request: Request, bench: Workbench) -> Frames:
    """Ask every system every question and score the rankings: the expensive part.

    Raises BenchError where no question has a relevant passage.
    """
    dataset = bench.dataset
    if request.unit == "url" and (dataset.passages["url"] == "").any():
        raise BenchError("unit = 'url', but there are passages without a url; use unit = 'chunk'")
    for column in request.slice_by:
        if column not in dataset.questions:
            raise BenchError(f"slice_by: questions have no column {column!r}")
    relevant = relevant_labels(dataset.labels)
    is_labelled = dataset.questions["question_id"].isin(relevant["question_id"])
    questions = dataset.questions.assign(is_labelled=is_labelled)
    labelled = questions[questions["is_labelled"]]
    if labelled.empty:
        raise BenchError(f"no question of {dataset.name} has a relevant passage: label some")
    copies = find_copies(labelled, dataset.passages)
    retrieved, asked, repeated = ask(request, bench, labelled, bool(copies))
    itself = pd.Series(dtype=int)
    if copies:
        retrieved, itself = drop_itself(retrieved, copies)
    retrieved, labels = grade(request, retrieved, dataset.passages, dataset.labels)
    retrieved = retrieved[retrieved["rank"] <= request.k].reset_index(drop=True)
    scores = score(request, labelled, retrieved, labels, asked, repeated)
    shown = pd.concat([retrieved["passage_id"], labels["passage_id"]]).unique()
    return Frames(
        questions.assign(n_itself=questions["question_id"].map(itself).fillna(0)),
        dataset.passages[dataset.passages["passage_id"].isin(shown)],
        labels,
        retrieved,
        keep_latencies(request, bench, asked),
        scores,
        measure_indexes(request, bench, labelled["text"].tolist()),
    )


def find_copies(questions: pd.DataFrame, passages: pd.DataFrame) -> set[str]:
    """Return the ids of questions that are passages of the base, too.

    Such a passage has the same id, and holds the text. An id alone may number rows of two tables.
    """
    pairs = questions.merge(passages, left_on="question_id", right_on="passage_id")
    texts = zip(pairs["question_id"], pairs["text_x"], pairs["text_y"], strict=True)
    return {name for name, text, passage in texts if text.casefold() in passage.casefold()}


def ask(
    request: Request, bench: Workbench, questions: pd.DataFrame, has_copies: bool
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, list[float]]]:
    """Ask all systems, and return what they retrieved, how it went, and each one's consistency.

    Some questions at a time, so that the objects of only these are in memory.
    """
    depth = request.k
    if request.unit == "url":
        # With at most m passages a page, (k − 1) · m + 1 of them hold at least k pages.
        urls = bench.dataset.passages["url"]
        most = int(urls.value_counts().max())
        depth = min((request.k - 1) * most + 1, MOST_RETRIEVED, len(urls))
    # Where questions are passages of the base, the first that comes back is the question itself.
    depth += int(has_copies)
    retrieved, asked = [], []
    repeated: dict[str, list[float]] = {name: [] for name in bench.systems}
    for start in range(0, len(questions), BATCH):
        batch = questions.iloc[start : start + BATCH]
        question_ids = batch["question_id"].tolist()
        runs = ask_systems(bench.systems, batch["text"].tolist(), depth, request.repeats)
        retrieved.append(retrieved_frame(runs, question_ids, depth))
        asked.append(asked_frame(runs, question_ids))
        for name, repeats in runs.items():
            repeated[name] += consistency(repeats, request.k)
    return (
        pd.concat(retrieved, ignore_index=True),
        pd.concat(asked, ignore_index=True),
        repeated,
    )


def drop_itself(retrieved: pd.DataFrame, copies: Collection[str]) -> tuple[pd.DataFrame, pd.Series]:
    """Return rankings without the question itself, and how often each question was retrieved.

    copies: the questions that are passages, too; such a passage is no answer.
    """
    is_copy = retrieved["question_id"].isin(copies)
    is_itself = is_copy & (retrieved["passage_id"] == retrieved["question_id"])
    counts = retrieved.loc[is_itself, "question_id"].value_counts()
    others = retrieved[~is_itself]
    ranks = others.groupby(["system", "question_id"], sort=False).cumcount() + 1
    return others.assign(rank=ranks), counts


def grade(
    request: Request, retrieved: pd.DataFrame, passages: pd.DataFrame, labels: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what was retrieved with gain and is_known, and the labels, both in the request's unit.

    Without passages in the data set every retrieved id counts as known.
    """
    texts = dict(zip(passages["passage_id"], passages["text"], strict=True))
    located = locate_pieces(retrieved, texts, labels)
    if request.unit == "url":
        pages = dict(zip(passages["passage_id"], passages["url"], strict=True))
        graded, labels = collapse_pages(retrieved, labels, pages)
        known = set(pages.values())
    elif located is not None:
        graded = grade_pieces(located, labels, texts, request.found_from)
        known = set(texts)
    else:
        graded = add_gains(drop_copies(retrieved), labels)
        known = set(texts)
    is_known = graded["passage_id"].isin(known) | (not known)
    # The data set has the texts of the others.
    text = graded["text"].where(~is_known | (not texts), "")
    return graded.assign(is_known=is_known, text=text), labels


def locate_pieces(
    retrieved: pd.DataFrame, texts: dict[str, str], labels: pd.DataFrame
) -> pd.DataFrame | None:
    """Return the rankings with the place of every piece in its passage; None without any piece.

    A piece is a text that is a part of a passage that is labelled for its question.
    """
    whole = retrieved["passage_id"].map(lambda name: texts.get(name, "")).astype("str")
    # A system that gives ids alone gives whole passages.
    is_part = (retrieved["text"] != "") & (retrieved["text"] != whole)
    labelled = relevant_labels(labels).groupby("question_id")["passage_id"].agg(list).to_dict()
    rows, places = [], []
    for row in retrieved[is_part].itertuples():
        for passage_id in labelled.get(row.question_id, []):
            start = texts.get(passage_id, "").find(row.text)
            if start >= 0:
                rows.append(row.Index)
                places.append((passage_id, start, start + len(row.text)))
                break
    if not rows:
        return None
    located = retrieved.assign(start=0, end=whole.str.len())
    columns = ["passage_id", "start", "end"]
    located.loc[rows, columns] = pd.DataFrame(places, columns=columns, index=rows)
    return located


def score(
    request: Request,
    questions: pd.DataFrame,
    retrieved: pd.DataFrame,
    labels: pd.DataFrame,
    asked: pd.DataFrame,
    repeated: dict[str, list[float]],
) -> pd.DataFrame:
    """Return the scores: a row a system, metric and question.

    repeated: the consistency of every system, a value a question.

    A question for which a system retrieved nothing has 0: that is what its user gets. One at which
    it failed is unmeasured, and so is one with passages that the data set does not have, where a
    system returns many such.
    """
    metrics = [parse_label(label) for label in request.metrics]
    question_ids = questions["question_id"].tolist()
    first = asked[asked["repeat"] == 0]
    values_by_pair: dict[tuple[str, str], Array] = {}
    gaps: dict[str, list[str]] = {"status": [], "reason": []}
    for system in request.systems:
        ranked = retrieved[retrieved["system"] == system]
        rankings = arrange(ranked, labels, question_ids)
        values = measure_rankings([m for m in metrics if m.kind == "ranking"], rankings)
        if CONSISTENCY in request.metrics:
            values[CONSISTENCY] = np.array(repeated[system])
        statuses, reasons = find_gaps(first[first["system"] == system], ranked, question_ids)
        for metric in metrics:
            values_by_pair[system, metric.label] = values[metric.label]
            gaps["status"] += statuses
            gaps["reason"] += reasons
    pairs = list(values_by_pair)
    scores = pd.DataFrame(
        {
            "system": np.repeat([system for system, _ in pairs], len(questions)),
            "metric": np.repeat([label for _, label in pairs], len(questions)),
            "question_id": question_ids * len(pairs),
            "unit": questions["unit"].tolist() * len(pairs),
            "value": np.concatenate(list(values_by_pair.values())),
            **gaps,
        }
    )
    is_gap = scores["status"] != "ok"
    scores.loc[is_gap, "value"] = np.nan
    is_unrepeated = scores["value"].isna() & ~is_gap
    scores.loc[is_unrepeated, "status"] = "missing_field"
    scores.loc[is_unrepeated, "reason"] = "it was asked once: nothing was repeated"
    return check(scores.assign(explanation=""), SCORES)


def consistency(repeats: Sequence[Sequence[Any]], k: int) -> list[float]:
    """Return for every question the share of repeats that retrieved the same passages again."""
    values = []
    for retrievals in zip(*repeats, strict=True):
        rankings = [[hit.id or hit.text for hit in r.hits] for r in retrievals if not r.error]
        values.append(retrieval_consistency.compute(rankings, k))
    return values


def find_gaps(
    asked: pd.DataFrame, retrieved: pd.DataFrame, question_ids: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return statuses and reasons of one system's questions: ok, or why there is no value."""
    errors = dict(zip(asked["question_id"], asked["error"], strict=True))
    unknown: set[str] = set()
    if (~retrieved["is_known"]).mean() > MOST_UNKNOWN:
        unknown = set(retrieved.loc[~retrieved["is_known"], "question_id"])
    statuses, reasons = [], []
    for question_id in question_ids:
        status, reason = "ok", ""
        if errors[question_id]:
            status, reason = "system_error", errors[question_id]
        elif question_id in unknown:
            status, reason = (
                "missing_field",
                "it retrieved passages that the data set does not have",
            )
        statuses.append(status)
        reasons.append(reason)
    return statuses, reasons


def keep_latencies(request: Request, bench: Workbench, asked: pd.DataFrame) -> pd.DataFrame:
    """Return what was asked with the times of the first run on the same inputs, where it is known.

    Of functions and services the times are always those of this run: their code may have changed.
    """
    parts = []
    for system in request.systems:
        rows = asked[asked["system"] == system]
        if bench.systems[system].retriever is not None:
            inputs = {
                "what": "latency of retrieval",
                "system": bench.systems[system].describe(),
                "data": bench.dataset.fingerprint,
                "k": request.k,
                "unit": request.unit,
                "texts": bench.dataset.questions["text"].tolist(),
                "asked": rows[["question_id", "repeat"]].astype(str).agg(" ".join, axis=1).tolist(),
            }
            readings = None if request.fresh_timings else find_readings(bench.store, inputs)
            if readings is None:
                readings = keep_readings(bench.store, inputs, rows[["latency_ms"]])
            rows = rows.assign(latency_ms=readings["latency_ms"].to_numpy())
        parts.append(rows)
    return pd.concat(parts, ignore_index=True)


def measure_indexes(request: Request, bench: Workbench, questions: list[str]) -> pd.DataFrame:
    """Time exact search, HNSW and IVFFlat in PostgreSQL, on the vectors that are searched.

    A row a system that searches by vectors and an index; systems with the same vectors once.
    """
    asked = questions[: request.index_questions]
    measured: dict[str, pd.DataFrame] = {}
    for name, system in bench.systems.items():
        dense = system.dense
        if dense is None or not asked or dense.describe() in measured:
            continue
        queries = dense.embed_questions(asked)
        inputs = {
            "what": "indexes",
            "vectors": dense.describe(),
            "data": bench.dataset.fingerprint,
            "k": request.k,
            "questions": asked,
        }
        readings = None if request.fresh_timings else find_readings(bench.store, inputs)
        if readings is None:
            timed = compare_indexes(bench.store, dense.vectors, queries, request.k)
            readings = keep_readings(bench.store, inputs, timed)
        measured[dense.describe()] = readings.assign(system=name)
    return pd.concat(measured.values(), ignore_index=True) if measured else pd.DataFrame()


def state(request: Request, frames: Frames) -> RetrievalStatement:
    """State means, comparisons, slices, curves and times: a pure function of the frames."""
    stated = state_scores(
        frames.scores,
        systems=request.systems,
        baseline=request.baseline,
        primary=request.primary,
        metrics=request.metrics,
        margins=request.margins,
        confidence=request.confidence,
    )
    sliced = cut_slices(frames.questions, request.slice_by)
    measured = arrange_measured(request, frames)
    slices = Statement(pd.DataFrame(), pd.DataFrame())
    if len(sliced):
        slices = state_slices(
            frames.scores,
            sliced,
            systems=request.systems,
            baseline=request.baseline,
            metrics=[request.primary],
            margins=request.margins,
            confidence=request.confidence,
        )
    return RetrievalStatement(
        stated.estimates,
        stated.comparisons,
        slices.estimates,
        slices.comparisons,
        state_curves(request, measured),
        state_bounds(request, measured),
        state_latencies(request, frames.asked),
    )


def cut_slices(questions: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return slice and question_id: `kind: colloquial` and so on, of columns with several values.

    A slice of fewer than `LEAST_IN_SLICE` questions, and one that is all of them, is left out.
    """
    asked = questions[questions["is_labelled"]]
    parts = []
    for column in columns:
        named = asked[asked[column].astype(str) != ""]
        for value, members in named.groupby(column, sort=True)["question_id"]:
            if LEAST_IN_SLICE <= len(members) < len(asked):
                parts.append(pd.DataFrame({"slice": f"{column}: {value}", "question_id": members}))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


@dataclass(frozen=True)
class Measured:
    """The rankings of one system, at the questions that it did not fail at, with their units."""

    rankings: Rankings
    units: NDArray[Any]


def arrange_measured(request: Request, frames: Frames) -> dict[str, Measured]:
    """Return the rankings of every system, of the questions whose primary value is measured."""
    primary = frames.scores[frames.scores["metric"] == request.primary]
    by_system = {}
    for system in request.systems:
        rows = primary[(primary["system"] == system) & primary["value"].notna()]
        ranked = frames.retrieved[frames.retrieved["system"] == system]
        ranked = ranked[ranked["question_id"].isin(rows["question_id"])]
        rankings = arrange(ranked, frames.labels, rows["question_id"].tolist())
        by_system[system] = Measured(rankings, rows["unit"].to_numpy())
    return by_system


def state_curves(request: Request, measured: Mapping[str, Measured]) -> pd.DataFrame:
    """Return recall and nDCG of every system at every depth up to k, as estimates.

    Each interval is of its own depth: no statement about a whole curve.
    """
    depths = np.unique(np.geomspace(1, request.k, MOST_DEPTHS).round().astype(int))
    labels = [f"{name}@{depth}" for name in CURVES for depth in depths]
    parts = []
    for system, asked in measured.items():
        values = np.column_stack(list(measure_rankings(labels, asked.rankings).values()))
        means = mean_intervals(values, asked.units, (0, 1), request.confidence)
        names = pd.DataFrame({"system": system, "metric": np.repeat(CURVES, len(depths))})
        parts.append(pd.concat([names.assign(k=np.tile(depths, len(CURVES))), means], axis=1))
    return pd.concat(parts, ignore_index=True)


def state_bounds(request: Request, measured: Mapping[str, Measured]) -> pd.DataFrame:
    """Return how much of what was retrieved is judged, and the metric at both bounds.

    Columns: system, metric, judged (share of the passages that the metric looks at), lowest (those
    without a label are not relevant: the printed value), highest (they are relevant). No rows where
    pieces of passages were retrieved.
    """
    metric = parse_label(request.primary)
    if metric.kind != "ranking":
        return pd.DataFrame()
    depth = metric.options.get("k", request.k)
    judged = parse_label(f"judged@{depth}")
    rows = []
    for system, of_system in measured.items():
        rankings = of_system.rankings
        if rankings.shares is not None:
            continue  # of pieces nobody knows how much of a passage the others would show
        printed = measure_rankings([judged, metric], rankings)
        # As if every passage without a label, down to that depth, were relevant.
        n_seen = np.minimum(rankings.n_retrieved, depth)
        is_seen = np.arange(rankings.gains.shape[1]) < n_seen[:, None]
        is_open = np.isnan(rankings.gains) & is_seen
        gains = np.where(is_open, 1.0, rankings.gains)
        ideal = np.hstack([rankings.ideal, np.where(is_open, 1.0, np.nan)])
        best = measure_rankings([metric], Rankings(gains, ideal, rankings.n_retrieved))
        values = (printed[judged.label], printed[metric.label], best[metric.label])
        # pandas leaves out the questions that have no value.
        rows.append((system, metric.label, *(pd.Series(each).mean() for each in values)))
    return pd.DataFrame(rows, columns=["system", "metric", "judged", "lowest", "highest"])


def state_latencies(request: Request, asked: pd.DataFrame) -> pd.DataFrame:
    """Return the median and two tails of the time that every system took, in milliseconds."""
    parts = []
    for system in request.systems:
        rows = asked[(asked["system"] == system) & asked["latency_ms"].notna()]
        if len(rows):
            quantiles = quantile_intervals(
                rows["latency_ms"], LATENCIES, rows["question_id"], request.confidence
            )
            parts.append(quantiles.assign(system=system))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
