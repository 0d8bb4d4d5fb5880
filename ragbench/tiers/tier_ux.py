"""UX: would a cache of liked answers serve people well, and do dialogues hold together?

Questions are embedded. The cache answers a question whose nearest cached question lies closer than
a threshold; neighbouring questions of a dialogue keep to one subject where they lie close together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from ragbench.core.errors import NotEnoughError
from ragbench.core.frames import DIALOGUES, ESTIMATES, HISTORY, SCORES, frame_of, stack
from ragbench.core.metric import parse_label
from ragbench.core.types import Dataset, Sample
from ragbench.metrics.cache import (
    THRESHOLD,
    is_hit,
    is_wrong_answer,
    nearest_cached,
    served_wrongly,
)
from ragbench.metrics.judges import known_mean
from ragbench.stats import Statement, part_intervals
from ragbench.stats import state as state_scores
from ragbench.tiers.answering import usual_embedder
from ragbench.tiers.common import (
    About,
    Basics,
    Compared,
    Workbench,
    open_embedders,
    read_times,
    sample_rows,
)
from ragbench.tiers.rag_metrics import question_frame

CACHE = ("cache_hit_rate", "wrong_hit_rate")
# What measures how a dialogue holds together → what it reads.
DIALOGUE = {
    "context_preservation": "question",
    "multi_turn_consistency": "question",
    "answer_consistency": "answer",
}
KINDS = {"question": "query", "answer": "passage"}  # as what each is embedded
THRESHOLDS = np.linspace(0.5, 1.0, 26)  # of the curve
LIKED, DISLIKED = 4, 2  # users' scores from 1 to 5 that say whether an answer was right
# What the cache is asked: turns of the sessions, the data set's questions, those of the history.
TURNS, OWN, PAST = "dialogues", "questions", "history"
ASKED = ("asked", "question_id", "unit", "text", "answer", "disliked", "pages", "entry")


class Request(Basics):
    """What is asked of the cache, and where it answers."""

    embedders: tuple[str, ...] = Field((), description="of ragbench.toml; empty: the usual one")
    sessions: Literal["auto", "dialogues", "history"] = Field(
        "auto", description="history: what one user asked on one day; auto: dialogues, if there"
    )
    threshold: float = Field(THRESHOLD, ge=-1, le=1, description="cosine above which it answers")
    cached_score: float = Field(5, description="users' score of the answers in the cache")


class Completed(Request, Compared):
    """And what was found out."""


@dataclass(frozen=True)
class Frames:
    """What was measured.

    questions: a row a dialogue. turns: dialogue_id, turn, question_id, question, answer, unit.
    lookups: every question that was put to the cache with its nearest entry (system, asked,
    question_id, unit, text, cached_id, cached_question, cached_answer, similarity, is_wrong: 1, 0,
    or NaN where nobody can say). cached: the entries of the cache.
    """

    questions: pd.DataFrame
    turns: pd.DataFrame
    lookups: pd.DataFrame
    cached: pd.DataFrame
    scores: pd.DataFrame


@dataclass(frozen=True)
class UxStatement(Statement):
    """caches: both rates by what was asked. curve: the same at every threshold, no intervals."""

    caches: pd.DataFrame
    curve: pd.DataFrame


def measure(
    request: Request, bench: Workbench, embedder: Any = None
) -> tuple[Request, Frames, About]:
    """Put every question to the cache and follow the dialogues turn by turn.

    embedder: a name, an object or a function in place of those of the request. Raises
    NotEnoughError for a data set with neither dialogues nor a history with users and times.
    """
    dataset = bench.dataset
    history = dataset.extras.get("history", HISTORY.empty())
    if request.sessions == "auto":
        kind = TURNS if "dialogues" in dataset.extras else PAST
        request = request.model_copy(update={"sessions": kind})
    turns = make_turns(request, dataset, history)
    if turns.empty:
        raise NotEnoughError(
            f"{dataset.name} has neither dialogues nor a history with user and asked_at"
        )
    cached = history[history["score"] == request.cached_score].reset_index(drop=True)
    asked = make_asked(dataset, turns, history)
    asked = asked if len(cached) else asked.head(0)
    usual = [usual_embedder(bench.settings)]
    lookups, scores = [], []
    opened = open_embedders(embedder or request.embedders, bench, usual)
    for name, opened_embedder in opened.items():
        lookups.append(look_up(asked, cached, opened_embedder).assign(system=name))
        scores.append(score_dialogues(name, turns, opened_embedder))
    labels = (*CACHE, *DIALOGUE) if len(cached) else tuple(DIALOGUE)
    changes = {
        "systems": tuple(opened),
        "baseline": next(iter(opened)),
        "metrics": labels,
        "primary": labels[0],
    }
    samples = [
        Sample(row.dialogue_id, row.question, cluster=row.unit, language=dataset.language)
        for row in turns.itertuples()
    ]
    frames = Frames(
        question_frame(samples),
        turns[["dialogue_id", "turn", "question_id", "question", "answer", "unit"]],
        pd.concat(lookups, ignore_index=True),
        cached,
        pd.concat(scores, ignore_index=True),
    )
    stand_ins = [f"embedder {name}" for name, each in opened.items() if each.is_stand_in]
    return Completed(**request.model_dump() | changes), frames, bench.about(stand_ins)


def make_turns(request: Request, dataset: Dataset, history: pd.DataFrame) -> pd.DataFrame:
    """Return the turns of all sessions in order, with ids of their own and the session's unit.

    Of a history what one user asked on one day is a session; what lacks either is in none.
    """
    if request.sessions == TURNS:
        turns = dataset.extras.get("dialogues", DIALOGUES.empty())
        keys = turns["dialogue_id"] + "." + turns["turn"].astype(str)
        turns = turns.assign(question_id=keys, unit=turns["dialogue_id"])
        # A file may hold the turns of a dialogue in any order.
        turns = turns.iloc[np.lexsort((turns["turn"], pd.factorize(turns["unit"])[0]))]
    else:
        known = history[(history["user"] != "") & (history["asked_at"] != "")]
        turns = known.rename(columns={"history_id": "question_id"}).assign(unit=known["user"])
        turns["dialogue_id"] = (
            known["user"] + " " + known["asked_at"].str.replace(r"[ T]\d+:.*", "", regex=True)
        )
        turns["time"] = read_times(known["asked_at"])
        turns = turns.sort_values(["dialogue_id", "time"], kind="stable")
        turns["turn"] = turns.groupby("dialogue_id").cumcount() + 1
    turns = turns[turns["question"].str.strip() != ""]
    return sample_rows(turns, "dialogue_id", request.limit)


def make_asked(dataset: Dataset, turns: pd.DataFrame, history: pd.DataFrame) -> pd.DataFrame:
    """Return all that the cache can be asked: turns, questions of the data set, the history.

    Columns of ASKED. answer: known to be right; disliked: known to be wrong; pages: where the
    answer stands, empty: nowhere, None: nobody knows. entry: its own in the history, which it must
    not find. The answer to a past question is known to be right where its user liked it; sessions
    of a history are asked as its questions.
    """
    urls = dict(zip(dataset.passages["passage_id"], dataset.passages["url"], strict=True))
    parts = []
    if "relevant" in turns:
        pages = [best_pages(relevant, urls) for relevant in turns["relevant"]]
        parts.append(turns.assign(asked=TURNS, text=turns["question"], pages=pages))
    own, grades = dataset.questions, dataset.grades()
    pages = [
        best_pages(grades.get(question_id, {}), urls) if answerable else frozenset()
        for question_id, answerable in zip(own["question_id"], own["answerable"], strict=True)
    ]
    parts.append(own.assign(asked=OWN, answer=own["reference"], pages=pages))
    key, answer, user = history["history_id"], history["answer"], history["user"]
    is_liked = history["score"] >= LIKED
    past = {
        "question_id": key,
        "unit": user.where(user != "", key),
        "text": history["question"],
        "answer": answer.where(is_liked, ""),
        "disliked": answer.where(history["score"] <= DISLIKED, ""),
        "pages": [frozenset([url]) if url else None for url in history["url"].where(is_liked, "")],
        "entry": key,
    }
    parts.append(pd.DataFrame(past).assign(asked=PAST))
    asked = pd.concat(parts, ignore_index=True).reindex(columns=list(ASKED))
    asked[["disliked", "entry"]] = asked[["disliked", "entry"]].fillna("")
    return asked[asked["text"].str.strip() != ""].reset_index(drop=True)


def best_pages(relevant: Mapping[str, float], urls: Mapping[str, str]) -> frozenset[str] | None:
    """Return the pages of the passages with the highest grade, which answer; None without any."""
    best = max(relevant.values(), default=0.0)
    pages = [urls.get(name) for name, grade in relevant.items() if grade == best]
    return frozenset(page for page in pages if page) or None


def look_up(asked: pd.DataFrame, cached: pd.DataFrame, embedder: Any) -> pd.DataFrame:
    """Return the nearest entry of the cache for every question; see `Frames.lookups`."""
    entries = embedder.embed(cached["question"].tolist(), "query")
    vectors = embedder.embed(asked["text"].tolist(), "query")
    places = {name: place for place, name in enumerate(cached["history_id"])}
    own = [places.get(name) for name in asked["entry"]]
    similarities, nearest = nearest_cached(vectors, entries, own)
    # A cache of one entry has none for the question that made it: place −1.
    found = cached.reindex(nearest)[["history_id", "question", "answer", "url"]].fillna("")
    names = ["cached_id", "cached_question", "cached_answer", "cached_url"]
    found = found.set_axis(names, axis=1).reset_index(drop=True).assign(similarity=similarities)
    lookups = pd.concat([asked, found], axis=1)
    told = lookups[["text", "answer", "disliked", "pages", *names]].drop(columns="cached_id")
    is_wrong = [is_wrong_answer(*row) for row in told.itertuples(index=False)]
    return lookups.assign(is_wrong=is_wrong).drop(columns=["answer", "disliked", "pages", "entry"])


def answered(lookups: pd.DataFrame, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """Return of every question whether the cache answers, and whether wrongly; NaN: unknown."""
    columns = lookups["similarity"], lookups["is_wrong"]
    hits = is_hit(columns[0], threshold).astype(float)
    return hits, served_wrongly(*columns, threshold)


def score_dialogues(name: str, turns: pd.DataFrame, embedder: Any) -> pd.DataFrame:
    """Score how every dialogue holds together; one without two neighbours is unmeasured."""
    rows = []
    for label, column in DIALOGUE.items():
        filled = turns[turns[column].str.strip() != ""]
        vectors = embedder.embed(filled[column].tolist(), KINDS[column])
        for (key, unit), members in turns.groupby(["dialogue_id", "unit"], sort=False):
            value = parse_label(label)(vectors[filled.index.isin(members.index)])
            gap = ("missing_field", f"fewer than two {column}s") if np.isnan(value) else ("ok", "")
            rows.append((name, label, key, unit, value, *gap, ""))
    return frame_of(rows, SCORES)


def state(request: Completed, frames: Frames) -> UxStatement:
    """State what the cache would do and how dialogues hold together: a pure function."""
    dialogues = state_scores(
        frames.scores,
        systems=request.systems,
        metrics=list(DIALOGUE),
        confidence=request.confidence,
    )
    caches, curve = [ESTIMATES.empty().assign(asked="")], []
    for (system, kind), rows in frames.lookups.groupby(["system", "asked"], sort=False):
        caches.append(state_cache(request, rows).assign(system=system, asked=kind))
        for threshold in THRESHOLDS:
            rates = [known_mean(values) for values in answered(rows, threshold)]
            curve.append((system, kind, threshold, *rates))
    rates = pd.concat(caches, ignore_index=True)
    of_turns = rates[rates["asked"] == request.sessions].drop(
        columns=["asked", "n_hits"], errors="ignore"
    )
    return UxStatement(
        stack([of_turns, dialogues.estimates], ESTIMATES),
        dialogues.comparisons,
        rates,
        pd.DataFrame(curve, columns=["system", "asked", "threshold", *CACHE]),
    )


def state_cache(request: Request, lookups: pd.DataFrame) -> pd.DataFrame:
    """Estimate the hits and, as a part of them, the wrong hits: two rows, with n_hits."""
    hits, wrong = answered(lookups, request.threshold)
    rates = part_intervals(hits, wrong, lookups["unit"].to_numpy(), request.confidence)
    return rates.assign(metric=list(CACHE), n_hits=int(hits.sum()))
