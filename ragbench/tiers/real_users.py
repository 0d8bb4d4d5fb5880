"""Real users: does the system find what people were shown?

Tier 1 on the questions of a log. The page that a user was shown is the label: a proxy, since nobody
checked that it holds the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from ragbench.core.errors import NotEnoughError
from ragbench.core.frames import LABELS, QUESTIONS, check, frame_of
from ragbench.core.metric import parse_label
from ragbench.core.types import Dataset
from ragbench.stats import mean_intervals
from ragbench.tiers import tier1_retrieval as tier1
from ragbench.tiers.common import Options, Workbench, read_times, sample_rows
from ragbench.tiers.words import telling_words

# Of one label a question, average precision is mrr and R-precision is hit_rate@1.
USUAL = ("hit_rate", "mrr", "recall", "precision", "ndcg")
SCALE = (1.0, 5.0)  # of users' scores
MOST_WORDS = 50
ALL = ""  # the month of a row that is of all months


class Request(Options):
    """What is retrieved for the questions of the log."""

    k: int = Field(10, description="pages of each ranking that are looked at")
    slice_by: tuple[str, ...] = Field(
        ("score", "month"), description="parts of the questions looked at apart"
    )

    @model_validator(mode="after")
    def check_metrics(self) -> Request:
        """Refuse what Tier 1 refuses."""
        retrieval_request(self)
        return self


def retrieval_request(request: Request) -> tier1.Request:
    """Return the same as Tier 1 takes it: pages are ranked, and every question is asked once."""
    names = (
        *("systems", "baseline", "metrics", "primary", "margins"),
        *("slice_by", "level", "draws", "seed", "k"),
    )
    shared = {name: getattr(request, name) for name in names}
    return tier1.Request(**shared, unit="url", repeats=1, index_questions=0)


def complete_request(request: Request) -> Request:
    """Return the request with its metrics and its primary one named."""
    complete = tier1.complete_request(retrieval_request(request))
    labels = complete.metrics
    if not request.metrics:
        labels = tuple(label for label in labels if parse_label(label).name in USUAL)
    return request.model_copy(update={"metrics": labels, "primary": complete.primary})


@dataclass(frozen=True)
class Frames(tier1.Frames):
    """What Tier 1 measures; its questions are those whose page the data set has.

    questions: with score and month as texts. history: all that was logged, with month, unit, and
    is_known: whether the data set has its page.
    """

    history: pd.DataFrame


@dataclass(frozen=True)
class UsersStatement(tier1.RetrievalStatement):
    """What Tier 1 states; months: users' mean score by month, "" is all; words and pages: word or
    url, questions and score.
    """

    months: pd.DataFrame
    words: pd.DataFrame
    pages: pd.DataFrame


def measure(request: Request, bench: Workbench) -> Frames:
    """Ask every system what people asked. request: a complete one.

    Raises NotEnoughError where there is no log, or none of its pages is in the data set.
    """
    history = read_history(request, bench.dataset)
    known = history[history["is_known"]]
    if known.empty:
        raise NotEnoughError(
            f"{bench.dataset.name}: of {len(history)} logged questions none names a page (url) "
            "that the data set has"
        )
    dataset = replace(bench.dataset, **make_questions(known, bench.dataset))
    measured = tier1.measure(retrieval_request(request), replace(bench, dataset=dataset))
    return Frames(**vars(measured), history=history)


def read_history(request: Request, dataset: Dataset) -> pd.DataFrame:
    """Return the log, with month ("2025-09" or ""), unit (who asked) and is_known."""
    history = dataset.extras.get("history")
    if history is None:
        raise NotEnoughError(f"{dataset.name} has no log of users' questions (history)")
    history = sample_rows(history, "history_id", request.limit)
    times = read_times(history["asked_at"])
    is_alone = (history["user"] == "") | (request.cluster_by == "none")
    pages = set(dataset.passages["url"]) - {""}
    return history.assign(
        month=times.dt.strftime("%Y-%m").fillna("").astype("str"),
        unit=history["user"].mask(is_alone, history["history_id"]),
        is_known=history["url"].isin(pages),
    )


def make_questions(known: pd.DataFrame, dataset: Dataset) -> dict[str, pd.DataFrame]:
    """Return questions, and as labels the first passage of the page that was shown."""
    first_passages = dataset.passages.drop_duplicates("url").set_index("url")["passage_id"]
    references = [(answer,) if answer else () for answer in known["answer"]]
    scores = ["" if np.isnan(score) else f"{score:g}" for score in known["score"]]
    questions = known[["history_id", "question", "unit", "answer", "month"]].rename(
        columns={"history_id": "question_id", "question": "text", "answer": "reference"}
    )
    told = {"answerable": True, "kind": "", "language": dataset.language, "source": ""}
    questions = questions.assign(references=references, score=scores, **told)
    rows = zip(known["history_id"], known["url"].map(first_passages), strict=True)
    labels = frame_of([(*row, 1.0) for row in rows], LABELS)
    return {"questions": check(questions.reset_index(drop=True), QUESTIONS), "labels": labels}


def state(request: Request, frames: Frames) -> UsersStatement:
    """State what Tier 1 states, and how people ask: a pure function of the frames."""
    found = tier1.state(retrieval_request(request), frames)
    history = frames.history
    said = telling_words(history["question"].tolist())
    by_word = history.iloc[said["row"]].assign(word=said["word"].to_numpy())
    return UsersStatement(
        **vars(found),
        months=estimate_months(request, history),
        words=score_groups(by_word, "word").head(MOST_WORDS),
        pages=score_groups(history, "url"),
    )


def estimate_months(request: Request, history: pd.DataFrame) -> pd.DataFrame:
    """Estimate the users' mean score of all months and of each. questions: how many were asked."""
    months = sorted(set(history["month"]) - {""})
    is_within = np.column_stack(
        [np.ones(len(history), dtype=bool), *(history["month"] == month for month in months)]
    )
    scores = history["score"].to_numpy(dtype=float)[:, None]
    # Where somebody scores on a wider scale, it ends where the scores do.
    bounds = np.nanmin([*scores, [SCALE[0]]]), np.nanmax([*scores, [SCALE[1]]])
    frame = mean_intervals(
        np.where(is_within, scores, np.nan),
        history["unit"].to_numpy(),
        bounds,
        request.confidence,
        was_asked=is_within,
    )
    return frame.assign(month=[ALL, *months], questions=is_within.sum(axis=0))


def score_groups(history: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return how many questions share each value of a column, and their mean score."""
    groups = history[history[name] != ""].groupby(name)
    counts = groups.agg(questions=("history_id", "size"), score=("score", "mean")).reset_index()
    return counts.sort_values(["questions", name], ascending=[False, True], ignore_index=True)
