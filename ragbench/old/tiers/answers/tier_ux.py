"""Tier UX: how often a cache of liked answers would serve, and rightly; and how dialogues hold together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypedDict

import numpy as np
from pydantic import Field

from ragbench.old import llm, stats
from ragbench.old.core import stand_ins
from ragbench.old.core.facts import Facts
from ragbench.old.core.measurement import SCORE_COLUMNS, Evidence, Findings, NamedEstimate, columns
from ragbench.old.core.metric import Metric
from ragbench.old.core.settings import Settings
from ragbench.old.core.types import (
    Array,
    Embedder,
    EmbeddingError,
    Estimate,
    Question,
    Sample,
    Score,
    TextKind,
    Vectors,
)
from ragbench.old.core.types.reason import kept
from ragbench.old.data import Dataset, PastQuestion
from ragbench.old.metrics.cache import THRESHOLD, cache_hit_rate, wrong_hit_rate
from ragbench.old.metrics.dialogue import answer_consistency, context_preservation, multi_turn_consistency
from ragbench.old.metrics.vectors import Batch, cosine, embedded
from ragbench.old.tiers.answers import caching
from ragbench.old.tiers.basics import design, requests
from ragbench.old.tiers.basics.choices import Reads
from ragbench.old.tiers.basics.design import Design
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.basics.requests import Draws, tier
from ragbench.old.tiers.basics.session import Need, Needed, Session
from ragbench.old.tiers.data.persons import Masker
from ragbench.old.tiers.retrieval.real_users import when
from ragbench.old.tiers.retrieval.tier0_embeddings import chosen_embedders, needed_embedders

if TYPE_CHECKING:
    import pandas as pd

    from ragbench.old.store import Store

DIALOGUE_METRICS: tuple[Metric, ...] = (context_preservation, multi_turn_consistency, answer_consistency)
COSINE = (-1.0, 1.0)  # how far a cosine can go
NEIGHBOURS = ("system", "metric", "sample", "cluster", "similarity")
CHECKED = 20
"""Of the questions with a log's own vectors: embedded once more, to see whether the same model made them."""
EMBEDDED: tuple[tuple[str, TextKind], ...] = (("question", "query"), ("answer", "passage"))
Sessions = Literal["auto", "dialogues", "history"]


class TierUxRequest(Draws):
    """What the cache is asked with, and where it serves."""

    reads: ClassVar[Reads] = "embedders"
    reads_table: ClassVar[str] = "history"

    dataset: requests.Dataset = ""
    systems: requests.OfSystems = ""
    embedders: requests.Embedders = ""
    sessions: Sessions = Field(
        "auto",
        description='"dialogues", "history" (what one user asked on one day), or "auto": dialogues where there are any',
    )
    threshold: float = Field(
        THRESHOLD, description="cosine above which a cached question answers, strictly", ge=-1, le=1
    )
    cached_score: int = Field(5, description="the user's score that a past answer must have had to be in the cache")
    mask: requests.Mask = True
    limit: requests.Limit = None
    notebook: str = "tier_ux"

    @property
    def sampled_tables(self) -> tuple[str, ...]:
        """Dialogues, and the questions that a cache is asked; what it holds stays whole."""
        return ("questions", "dialogues")

    def needed(self, settings: Settings) -> tuple[Needed, ...]:
        """Sessions, or a log that a cache is made of; and somebody who embeds them."""
        kinds = {"dialogues": (Need.DIALOGUES,), "history": (Need.HISTORY,)}
        sessions = Needed(kinds.get(self.sessions, (Need.DIALOGUES, Need.HISTORY)))
        return sessions, *needed_embedders(self.embedders, self.systems, settings)


@dataclass(frozen=True)
class Talk:
    """One session: its turns in order, and the group whose sessions are not independent."""

    id: str
    turns: tuple[Sample, ...]
    cluster: str


@dataclass(frozen=True)
class _Found:
    """What one embedder says."""

    name: str
    facts: Mapping[str, Any]
    scores: list[tuple[Any, ...]]
    tables: Mapping[str, pd.DataFrame]


class Stored:
    """An embedder whose vectors are kept in the database; questions that a log has with a vector keep the log's.

    Answers stand in no table of vectors: there the model that is named for questions embeds them.
    """

    def __init__(self, store: Store, model: Embedder, batch: int) -> None:
        self.store, self.model, self.batch = store, model, batch
        from ragbench.old.embed.own_embedders import TableEmbedder

        self.name, self.identity = model.name, model.identity
        self.of_tables = isinstance(model, TableEmbedder)
        self.asking = model.queries if isinstance(model, TableEmbedder) else None
        self.logged: Mapping[str, Array] = model.logged() if isinstance(model, TableEmbedder) else {}

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> Vectors:
        """See `ragbench.old.core.types.Embedder`."""
        logged = self.logged if kind == "query" else {}
        rest = list(dict.fromkeys(text for text in texts if text not in logged))
        try:
            made = self._made(rest, kind) if rest else ()
        except EmbeddingError as error:
            faulty = {rest[place] for place in error.positions}
            places = tuple(place for place, text in enumerate(texts) if text in faulty)
            raise EmbeddingError(str(error), places, reason=error.reason, dead=error.dead) from error
        rows = {**logged, **dict(zip(rest, made, strict=True))}
        return np.array([rows[text] for text in texts])

    def _made(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        asked = self.asking if kind == "passage" and self.asking is not None else self.model
        return self.store.vectors(asked, list(texts), kind=kind, batch=self.batch)

    def of_log(self, cache: Sequence[PastQuestion], asking: str) -> dict[str, Any]:
        """How many cached questions have the log's own vectors, and whether `asking`, which embeds all others, made
        them: `cosine`, the mean one of its own vectors to those of the first `checked`; 1 where it did. Without
        `asking` all vectors are the log's."""
        if self.of_tables and not asking:
            return {"log": {"cached": len(cache), "asking": "", "checked": 0, "cosine": None}}
        own = list(dict.fromkeys(past.question for past in cache if past.question in self.logged))
        if not own:
            return {}
        made = self._made(own[:CHECKED], "query")
        near = [cosine(vector, self.logged[text]) for text, vector in zip(own, made, strict=False)]
        number = sum(past.question in self.logged for past in cache)
        return {"log": {"cached": number, "asking": asking, "checked": len(near), "cosine": float(np.mean(near))}}

    def known(self, texts: Sequence[str], kind: TextKind) -> Mapping[str, Array]:
        """The vectors of those texts that have one: a table of somebody's own may lack some.

        Raises EmbeddingError where the embedder does not answer at all, StoreError.
        """
        from ragbench.old.store import StoreError

        outcome = embedded(self.embed, texts, kind, (StoreError,))
        if outcome.dead:
            raise EmbeddingError(outcome.dead, dead=True)
        return outcome.vectors


def talks(dataset: Dataset, sessions: Sessions) -> tuple[str, list[Talk]]:
    """The kind of sessions that is used, and the sessions."""
    if sessions == "dialogues" or (sessions == "auto" and dataset.dialogues):
        return "dialogues", [
            Talk(dialogue.id, tuple(Sample(f"{dialogue.id}.{n}", user_input=turn.question, response=turn.answer)
                               for n, turn in enumerate(dialogue.turns, 1)), dialogue.id)
            for dialogue in dataset.dialogues
        ]  # fmt: skip
    return "history", of_history(dataset.history)


def of_history(history: Sequence[PastQuestion]) -> list[Talk]:
    """One user's questions of one day are a session, which a `stop_point` ends sooner; those without a user or a day
    belong to none."""
    groups: dict[tuple[str, str], list[PastQuestion]] = {}
    for past in history:
        at, _ = when(past.asked_at)
        if past.user is not None and at is not None:
            groups.setdefault((past.user, at.date().isoformat()), []).append(past)
    sessions: list[Talk] = []
    for (user, _day), asked in sorted(groups.items()):
        turns: list[Sample] = []
        for past in sorted(asked, key=lambda past: past.asked_at or ""):
            turns.append(Sample(past.id, user_input=past.question, response=past.answer or None))
            if past.stop_point:
                sessions.append(Talk(f"s{len(sessions) + 1:04d}", tuple(turns), user))
                turns = []
        if turns:
            sessions.append(Talk(f"s{len(sessions) + 1:04d}", tuple(turns), user))
    return sessions


def state(evidence: Evidence) -> Findings:
    """Both rates of the cache at each threshold, what its hits would be and would save, and how sessions hold
    together."""
    import pandas as pd

    design, extra, threshold = Design(evidence), evidence.extra, evidence.facts["threshold"]
    if not design.systems:
        return Findings()
    estimates: list[NamedEstimate] = []
    placed: list[NamedEstimate] = []
    caches = []
    for name in design.systems:
        means, over_pairs = _over_dialogues(name, evidence, design.sureness)
        placed += over_pairs
        own = extra["lookups"][extra["lookups"]["system"] == name]
        for which, rows in own.groupby("asked", sort=False):
            kind, lookup = str(which), caching.Caching.of_rows(rows)
            [rate] = caching.rates(lookup, np.array([threshold]), design.sureness)
            placed += caching.named(name, rate, asked=kind)
            placed += caching.curve(name, kind, lookup, design.sureness)
            caches.append(caching.summary(name, kind, lookup, threshold))
            if kind == evidence.facts["sessions"]:
                estimates += caching.named(name, rate)
        estimates += means
    counted = pd.DataFrame(caches, columns=columns(caching.CacheRow))
    saved = caching.saved(counted, extra["replies"])
    return Findings(tuple(estimates), (), tuple(placed), {}, {"caches": counted, "savings": saved})


@tier(TierUxRequest, state, by_question=False)
def tier_ux(request: TierUxRequest) -> Evidence:
    """Ask a cache of past answers with every question there is, and follow the dialogues turn by turn.

    `cache_hit_rate` is over the questions of the sessions; at each kind that is `asked` stands the same, also over
    the data set's other questions. A question never finds its own entry in the history. Raises BenchError or
    DatasetError.
    """
    import pandas as pd

    session = Session.of(request, request.systems)
    dataset = session.dataset
    kind, sessions = talks(dataset, request.sessions)
    cache = caching.cached(dataset, request.cached_score)
    asked = caching.questions(dataset, cache)
    masker = Masker(dict.fromkeys(past.user for past in dataset.history if past.user is not None))
    shown: Callable[[Any], Any] = masker.text if request.mask else lambda text: text
    names = chosen_embedders(request.embedders, request.systems, session.settings) if sessions or asked else []
    with session.store() as store, session.progress("tier_ux", len(names)) as progress:
        outcomes = []
        for name in names:
            outcomes.append(_one(store, name, session, sessions, cache, asked, shown))
            progress(1)
        keys = list(outcomes[0].tables) if outcomes else []
        tables = {key: pd.concat([outcome.tables[key] for outcome in outcomes], ignore_index=True) for key in keys}
        if outcomes:
            tables["replies"] = caching.replies(store, session)
    return Evidence(
        notebook=session.notebook,
        facts=_facts(session, request, outcomes, kind, sessions, cache, asked),
        scores=pd.DataFrame([row for outcome in outcomes for row in outcome.scores], columns=list(SCORE_COLUMNS)),
        questions=design.questions(
            Question(talk.id, shown(talk.turns[0].user_input), kind=kind, language=dataset.language)
            for talk in sessions
        ),
        retrieved=design.retrieved(),
        extra={**tables, "turns": _turns(sessions, shown)},
    )


def _one(
    store: Store,
    name: str,
    session: Session,
    sessions: Sequence[Talk],
    cache: Sequence[PastQuestion],
    asked: Mapping[str, Sequence[caching.Asked]],
    shown: Callable[[Any], Any],
) -> _Found:
    import pandas as pd

    from ragbench.old.embed import make

    settings = session.settings.embedders[name]
    said = [text for talk in sessions for turn in talk.turns for text in (turn.user_input, turn.response) if text]
    corpus = [chunk.text for chunk in session.dataset.chunks] or [*said, *(past.question for past in cache)]
    model = make(name, settings, corpus, store.arrays)
    embedder = Stored(store, model, settings.batch)
    several = [talk for talk in sessions if len(talk.turns) > 1]  # a single question has no neighbour to be near to
    scores = _dialogue_scores(several, embedder)
    known = embedder.known([past.question for past in cache], "query")
    there = [past for past in cache if past.question in known]
    entries = np.array([known[past.question] for past in there])
    nearest, lookups = [], []
    for which, questions in asked.items():
        if not there:
            break
        lookup = caching.asked_of(
            questions, embedder.known([each.text for each in questions], "query"), cache, there, entries
        )
        nearest += caching.listed(name, which, lookup, there, shown)
        lookups += caching.lookups(name, which, lookup)
    missing = len(cache) - len(there)
    facts = {
        **settings.model_dump(mode="json", exclude_defaults=True), "embedder_identity": model.identity,
        "stand_in": session.settings.is_stand_in(name), **({"cached_without_vector": missing} if missing else {}),
        **embedder.of_log(there, settings.queries or ""),
    }  # fmt: skip
    tables = {
        "nearest": pd.DataFrame(nearest, columns=columns(caching.NearestRow)),
        "lookups": pd.DataFrame(lookups, columns=list(caching.LOOKUPS)),
        "neighbours": pd.DataFrame(_neighbours(name, several, scores), columns=list(NEIGHBOURS)),
        "similarities": _similarities(name, sessions, embedder),
    }
    return _Found(name, facts, _rows(name, several, scores), tables)


def _dialogue_scores(sessions: Sequence[Talk], embedder: Embedder) -> dict[str, list[Score]]:
    """Every dialogue metric on every session, embedded in one batch."""
    from ragbench.old.store import StoreError

    batch = Batch(embedder, fatal=(StoreError,))
    works = [
        lambda turns=talk.turns, metric=metric: metric(turns, embedder=batch)
        for metric in DIALOGUE_METRICS
        for talk in sessions
    ]
    scores = llm.run(batch.gather(works))
    number = len(sessions)
    return {
        metric.label: scores[place * number : (place + 1) * number] for place, metric in enumerate(DIALOGUE_METRICS)
    }


def _over_dialogues(
    name: str, evidence: Evidence, sureness: Sureness
) -> tuple[list[NamedEstimate], list[NamedEstimate]]:
    """Means over sessions, and over all pairs of neighbours, which the session draws together."""
    how: dict[str, Any] = {**asdict(sureness), "bounds": COSINE}
    scores, neighbours = evidence.scores, evidence.extra["neighbours"]
    neighbours = neighbours[neighbours["system"] == name]
    cluster_of = dict(zip(neighbours["sample"], neighbours["cluster"].tolist(), strict=True))
    estimates, over_pairs = [], []
    for metric in DIALOGUE_METRICS:
        label = metric.label
        sessions = scores[(scores["system"] == name) & (scores["metric"] == label)]
        groups = design.independent([cluster_of[sample] for sample in sessions["sample"]])
        mean = stats.estimate(sessions["value"].to_numpy(dtype=float), clusters=groups, **how)
        estimates.append(NamedEstimate(name, label, mean))
        pairs = neighbours[(neighbours["metric"] == label) & neighbours["similarity"].notna()]
        pooled: Estimate = stats.estimate(
            pairs["similarity"].to_numpy(dtype=float), clusters=pairs["cluster"].tolist() or None, **how
        )
        over_pairs.append(NamedEstimate(name, label, pooled, {"over": "pairs"}))
    return estimates, over_pairs


def _neighbours(
    name: str, sessions: Sequence[Talk], scores: Mapping[str, Sequence[Score]]
) -> Iterator[tuple[str, str, str, int, float]]:
    """Rows of NEIGHBOURS: all that means over sessions and over pairs are made from, one without a number for a session
    without a pair. Clusters are numbered: they may be users."""
    clusters = {cluster: number for number, cluster in enumerate(dict.fromkeys(talk.cluster for talk in sessions), 1)}
    for label, own in scores.items():
        for talk, score in zip(sessions, own, strict=True):
            for value in score.detail.get("similarities") or (math.nan,):
                yield name, label, talk.id, clusters[talk.cluster], value


def _rows(name: str, sessions: Sequence[Talk], scores: Mapping[str, Sequence[Score]]) -> list[tuple[Any, ...]]:
    return [
        (name, label, talk.id, score.value, score.status.value, kept(score.reason), None)
        for label, own_scores in scores.items()
        for talk, score in zip(sessions, own_scores, strict=True)
    ]


class SimilarityRow(TypedDict):
    """How near two turns of a dialogue lie. what: question or answer."""

    system: str
    sample: str
    what: str
    first: int
    second: int
    similarity: float


class TurnRow(TypedDict):
    """What was asked and answered at a turn of a dialogue."""

    sample: str
    turn: int
    question: str
    answer: str


def _similarities(name: str, sessions: Sequence[Talk], embedder: Stored) -> pd.DataFrame:
    """The cosine of every two turns of every session: of their questions, and of their answers, where both are there
    and have vectors."""
    import pandas as pd

    rows = []
    for what, kind in EMBEDDED:
        texts = [
            (talk.id, number, text)
            for talk in sessions
            for number, turn in enumerate(talk.turns, 1)
            if (text := turn.user_input if what == "question" else turn.response) and text.strip()
        ]
        known = embedder.known([text for _, _, text in texts], kind)
        by_session: dict[str, list[tuple[int, Any]]] = {}
        for sample, number, text in texts:
            if text in known:
                by_session.setdefault(sample, []).append((number, known[text]))
        rows += [
            (name, sample, what, i, j, cosine(vector, other))
            for sample, turns in by_session.items()
            for place, (i, vector) in enumerate(turns)
            for j, other in turns[place + 1 :]
        ]
    return pd.DataFrame(rows, columns=columns(SimilarityRow))


def _turns(sessions: Sequence[Talk], shown: Callable[[Any], Any]) -> pd.DataFrame:
    import pandas as pd

    rows = [
        (talk.id, number, shown(turn.user_input), shown(turn.response))
        for talk in sessions
        for number, turn in enumerate(talk.turns, 1)
    ]
    return pd.DataFrame(rows, columns=columns(TurnRow))


def _facts(
    session: Session,
    request: TierUxRequest,
    outcomes: Sequence[_Found],
    kind: str,
    sessions: Sequence[Talk],
    cache: Sequence[PastQuestion],
    asked: Mapping[str, Sequence[caching.Asked]],
) -> Facts:
    return {
        **session.facts(),
        "unreviewed": sum(dialogue.draft == "unreviewed" for dialogue in session.dataset.dialogues),
        "data_hash": session.dataset.hash_with("dialogues"),
        **request.take(Sureness).facts,
        "baseline": None,
        "describes": "dialogues",
        "tables": {"cache_lookups": "lookups", "neighbouring_turns": "neighbours"},
        "primary": cache_hit_rate.label if cache else context_preservation.label,
        "key_metrics": [cache_hit_rate.label, wrong_hit_rate.label, context_preservation.label],
        "sessions": kind,
        "n_sessions": len(sessions),
        "n_stopped": sum(past.stop_point for past in session.dataset.history) if kind == "history" else 0,
        "n_one_question": sum(len(talk.turns) == 1 for talk in sessions),
        "n_questions": sum(len(talk.turns) for talk in sessions),
        "n_cached": len(cache),
        "cached_score": request.cached_score,
        "threshold": request.threshold,
        "masked": request.mask,
        "asked": {which: len(questions) for which, questions in asked.items()},
        "systems": [
            {
                "name": outcome.name,
                **{key: each for key, each in outcome.facts.items() if key not in ("stand_in", "log")},
            }
            for outcome in outcomes
        ],
        **(
            {"logs": logs}
            if (logs := {outcome.name: outcome.facts["log"] for outcome in outcomes if "log" in outcome.facts})
            else {}
        ),
        "stand_ins": stand_ins.facts(
            "embedder", [outcome.name for outcome in outcomes if outcome.facts["stand_in"]], own=True
        ),
    }
