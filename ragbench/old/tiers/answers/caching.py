"""A cache asked with a data set's own questions: what lies nearest, what it would answer, and what that saves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from ragbench.old import stats
from ragbench.old.core.measurement import NamedEstimate, columns
from ragbench.old.core.segmentation import plain
from ragbench.old.core.types import Array, Estimate, Vectors
from ragbench.old.data import Dataset, PastQuestion
from ragbench.old.data.records import REAL
from ragbench.old.embed.threads import one_thread
from ragbench.old.judge.words import numbers
from ragbench.old.metrics.cache import (
    DISLIKED,
    LIKED,
    Nearest,
    Serving,
    cache_hit_rate,
    hits,
    nearest,
    served_wrongly,
    wrong_hit_rate,
)
from ragbench.old.systems.chat import PROMPT
from ragbench.old.tiers.answers.written_answers import generator_name
from ragbench.old.tiers.basics import design
from ragbench.old.tiers.basics.findings import Sureness

if TYPE_CHECKING:
    import pandas as pd

    from ragbench.old.store import Store
    from ragbench.old.tiers.basics.session import Session


TAKEN = ("input_tokens", "output_tokens", "cost", "seconds")
REPLIES = ("generator", "replies", *TAKEN)
MOST_REPLIES = 2000
"""Of a generator's that a mean is made of."""


def generators(session: Session) -> list[str]:
    """The models that write the answers of the session's systems, each once."""
    named = dict.fromkeys(generator_name(session, system) for system in session.systems)
    known = session.settings.generators
    return [name for name in named if name in known and known[name].kind == "openai"]


def replies(store: Store, session: Session) -> pd.DataFrame:
    """Rows of REPLIES: what a reply of each generator in the journal takes in the mean; cost: NaN without a price."""
    import pandas as pd

    return pd.DataFrame(list(_means(store, session)), columns=list(REPLIES))


def _means(store: Store, session: Session) -> Iterator[tuple[Any, ...]]:
    for name in generators(session):
        settings = session.settings.generators[name]
        replies = store.journal.sample(name, str(settings.model), MOST_REPLIES)
        written = [reply for reply in replies if reply["prompt"] == PROMPT]
        means = {key: _mean([float(reply[key]) for reply in written]) for key in TAKEN}
        if not settings.is_priced:
            means["cost"] = math.nan
        yield (name, len(written), *means.values())


def saved(caches: pd.DataFrame, of_generators: pd.DataFrame) -> pd.DataFrame:
    """Rows of SavingRow: for each row of `caches` and each of REPLIES, hits × the mean; NaN of no replies."""
    import pandas as pd

    rows = [
        (system, asked, generator, int(served), int(number), *(int(served) * mean for mean in means))
        for generator, number, *means in of_generators.itertuples(index=False)
        for system, asked, served in zip(caches["system"], caches["asked"], caches["hits"], strict=True)
    ]
    return pd.DataFrame(rows, columns=columns(SavingRow))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


LOWEST, STEPS = 0.5, 26  # of the curve: thresholds from here to 1
SHARE = (0.0, 1.0)
LOOKUPS = ("system", "asked", "sample", "cluster", "similarity", "serving")
"""What is published of each question, without texts: neither similarity nor serving where it has no vector."""


class SavingRow(TypedDict):
    """What the hits of a cache would save of a generator's replies; NaN where it has none."""

    system: str
    asked: str
    generator: str
    hits: int
    replies: int
    input_tokens: float
    output_tokens: float
    cost: float
    seconds: float


class NearestRow(TypedDict):
    """A question, the nearest one of the cache, and what its answer would be. cached: the id of that one."""

    system: str
    asked: str
    sample: str
    question: str
    answer: str
    disliked: str
    pages: Sequence[str]
    cached: str
    cached_question: str
    cached_answer: str
    cached_page: str
    similarity: float
    serving: str


class CacheRow(TypedDict):
    """What the hits at the threshold that is used would be, of one kind of questions."""

    system: str
    asked: str
    n: int
    hits: int
    known: int
    right: int
    doubtful: int
    wrong: int
    unknown: int


@dataclass(frozen=True)
class Asked:
    """A question put to the cache.

    answer: the answer that is known to be right. pages: where it stands; empty: the base holds none; None: nobody
    knows. disliked: an answer that was given once, and that its user did not like. own: its own place in the cache,
    which it must not find.
    """

    id: str
    text: str
    cluster: str
    answer: str | None = None
    pages: frozenset[str] | None = None
    disliked: str | None = None
    own: int | None = None


@dataclass(frozen=True)
class Caching:
    """Questions of one kind and the cache nearest to each, for one embedder. without: those that have no vector."""

    asked: Sequence[Asked]
    table: Nearest
    without: Sequence[Asked] = ()

    @property
    def clusters(self) -> Sequence[str] | None:
        """A label a question where any two share one; those without a vector come last."""
        return design.independent([question.cluster for question in (*self.asked, *self.without)])

    def whole(self, values: NDArray[Any]) -> Array:
        """Values of the questions, with those that have no vector as unmeasured."""
        return np.append(values.astype(float), np.full(len(self.without), np.nan))

    @classmethod
    def of_rows(cls, rows: pd.DataFrame) -> Caching:
        """As its rows of LOOKUPS tell it: without texts, and without the entries that were found."""
        cells = zip(rows["sample"], rows["cluster"], strict=True)
        asked = [Asked(str(sample), "", str(label)) for sample, label in cells]
        there = rows[rows["serving"].notna()]  # those without a vector come last
        servings = [Serving(told) for told in there["serving"]]
        table = Nearest(there["similarity"].to_numpy(dtype=float), np.full(len(there), -1, dtype=np.int64), servings)
        return cls(asked[: len(there)], table, asked[len(there) :])


def cached(dataset: Dataset, score: int) -> list[PastQuestion]:
    """The cache: past questions whose user gave this score."""
    return [past for past in dataset.history if past.score == score]


def questions(dataset: Dataset, cache: Sequence[PastQuestion]) -> dict[str, list[Asked]]:
    """What the cache can be asked with, by kind: "dialogues" (every turn), "questions", "history" (each leaves itself
    out); kinds that the data set does not have are left out.

    The answer to a past question is the truth only where its user liked it; a labelled question of the same words
    knows better.
    """
    pages = {chunk.id: chunk.url for chunk in dataset.chunks if chunk.url}
    labelled = any(turn.relevant for dialogue in dataset.dialogues for turn in dialogue.turns)
    place = {past.id: number for number, past in enumerate(cache)}
    by_kind = {
        "dialogues": [
            Asked(f"{dialogue.id}.{number}", turn.question, dialogue.id, turn.answer,
                  _best(turn.relevant, pages) if labelled else None)
            for dialogue in dataset.dialogues
            for number, turn in enumerate(dialogue.turns, 1)
        ],
        "questions": [
            Asked(question.id, question.text, design.cluster(question), question.reference,
                  frozenset() if question.answerable is False
                  else _best(question.relevant, pages) or _best(question.relevant_urls, None) or None)
            for question in dataset.questions
            if question.source != REAL  # of a user's own tables these are the history once more
        ],
    }  # fmt: skip
    known = {
        plain(question.text): question for question in reversed(by_kind["questions"]) if question.pages is not None
    }
    by_kind["history"] = [_past(past, known.get(plain(past.question)), place.get(past.id)) for past in dataset.history]
    return {kind: asked for kind, asked in by_kind.items() if asked}


def _past(past: PastQuestion, label: Asked | None, own: int | None) -> Asked:
    score = past.score or 0
    answer, pages = past.answer, frozenset({past.url}) if past.url else None
    disliked = past.answer if 0 < score <= DISLIKED else None
    if label is not None:
        answer, pages = label.answer, label.pages
    elif score < LIKED:
        answer = pages = None
    return Asked(past.id, past.question, past.user or f"\0{past.id}", answer, pages, disliked, own)


def _best(relevant: Mapping[str, float], pages: Mapping[str, str] | None) -> frozenset[str]:
    """The pages with the highest grade: those that answer, not those that only help."""
    best = max(relevant.values(), default=0.0)
    named = [name for name, grade in relevant.items() if grade == best]
    return frozenset(named if pages is None else (pages[name] for name in named if name in pages))


def serving(asked: Asked, entry: PastQuestion) -> Serving:
    """What the entry's answer would be to the one who asked.

    Right where it is the known answer word for word, or stands on a page that answers the question; where the base
    holds no answer, right only for an entry without a page. Wrong where it stands elsewhere, or where it is word for
    word the answer that was disliked. On the right page it is doubtful where the two answers, or the two questions,
    name different numbers: a page may answer several questions. Unknown where nobody knows the right answer.
    """
    if _same(asked.answer, entry.answer):
        return Serving.RIGHT
    if _same(asked.disliked, entry.answer):
        return Serving.WRONG
    if asked.pages is None:
        return Serving.UNKNOWN
    if not asked.pages or entry.url is None:
        return Serving.RIGHT if not asked.pages and entry.url is None else Serving.WRONG
    if entry.url not in asked.pages:
        return Serving.WRONG
    apart = _differ(asked.answer, entry.answer) or _differ(asked.text, entry.question)
    return Serving.DOUBTFUL if apart else Serving.RIGHT


def _same(text: str | None, other: str | None) -> bool:
    """Whether both are there and word for word the same."""
    return bool(text and other and text.strip() == other.strip())


def _differ(text: str | None, other: str | None) -> bool:
    """Whether both texts name numbers and neither names all those of the other."""
    first, second = numbers(text or ""), numbers(other or "")
    return bool(first and second) and not (first <= second or second <= first)


def asked_of(
    asked: Sequence[Asked],
    vectors: Mapping[str, Array],
    cache: Sequence[PastQuestion],
    there: Sequence[PastQuestion],
    entries: Vectors,
) -> Caching:
    """The nearest entry of every question with a vector, and what it would be worth.

    vectors: of the questions' texts. there: what of the cache has a vector; entries: these vectors.
    """
    known = [question for question in asked if question.text in vectors]
    places = {past.id: place for place, past in enumerate(there)}
    own = [None if question.own is None else places.get(cache[question.own].id) for question in known]
    with one_thread():
        table = nearest(np.array([vectors[question.text] for question in known]), entries, left_out=own)
    servings = [
        Serving.UNKNOWN
        if row < 0 and question.pages is None
        else Serving.RIGHT
        if row < 0
        else serving(question, there[row])
        for question, row in zip(known, table.rows, strict=True)
    ]
    return Caching(
        known, replace(table, servings=servings), [question for question in asked if question.text not in vectors]
    )


def rates(caching: Caching, thresholds: Array, sureness: Sureness) -> list[tuple[Estimate, Estimate | None]]:
    """At each threshold the hit rate and the wrong-hit rate; None for the latter where no answer is known.

    A hit of which nobody can say whether it is wrong is unmeasured in the latter; its floor and ceiling are what it
    would be if all of these were right, or wrong.
    """
    how: dict[str, Any] = {**asdict(sureness), "clusters": caching.clusters, "bounds": SHARE}
    names = [f"{float(each):.6f}" for each in thresholds]
    rate = stats.estimate_many(
        {name: caching.whole(hits(caching.table, float(each))) for name, each in zip(names, thresholds, strict=True)},
        **how,
    )
    if all(each is Serving.UNKNOWN for each in caching.table.servings or ()):
        return [(rate[name], None) for name in names]
    wrong = stats.estimate_many(
        {
            name: caching.whole(served_wrongly(caching.table, float(each)))
            for name, each in zip(names, thresholds, strict=True)
        },
        **how,
    )
    return [(rate[name], wrong[name]) for name in names]


def named(system: str, pair: tuple[Estimate, Estimate | None], **where: str | float) -> list[NamedEstimate]:
    """The hit rate and the wrong-hit rate at their place."""
    metrics = (cache_hit_rate.label, wrong_hit_rate.label)
    return [
        NamedEstimate(system, label, estimate, where) for label, estimate in zip(metrics, pair, strict=True) if estimate
    ]


def curve(system: str, kind: str, caching: Caching, sureness: Sureness) -> list[NamedEstimate]:
    """Both rates at each `threshold` from LOWEST to 1, of what was `asked`."""
    thresholds = np.linspace(LOWEST, 1.0, STEPS)
    return [
        each
        for threshold, pair in zip(thresholds, rates(caching, thresholds, sureness), strict=True)
        for each in named(system, pair, asked=kind, threshold=float(threshold))
    ]


def summary(system: str, kind: str, caching: Caching, threshold: float) -> tuple[Any, ...]:
    """A row of CacheRow: what the hits at the threshold that is used would be."""
    hit, servings = hits(caching.table, threshold), caching.table.servings or ()
    of_hits = [serving for serving, served in zip(servings, hit, strict=True) if served]
    counts = [of_hits.count(each) for each in (Serving.RIGHT, Serving.DOUBTFUL, Serving.WRONG, Serving.UNKNOWN)]
    known = sum(serving is not Serving.UNKNOWN for serving in servings)
    return (system, kind, len(caching.asked), int(hit.sum()), known, *counts)


def lookups(system: str, kind: str, caching: Caching) -> list[tuple[Any, ...]]:
    """Rows of LOOKUPS: all that the rates at any threshold are made from. Clusters are numbered: they may be users."""
    asked = [*caching.asked, *caching.without]
    clusters = {name: number for number, name in enumerate(dict.fromkeys(q.cluster for q in asked), 1)}
    servings = [*(serving.value for serving in caching.table.servings or ()), *[None] * len(caching.without)]
    return [
        (system, kind, question.id, clusters[question.cluster], float(similarity), serving)
        for question, similarity, serving in zip(
            asked, caching.whole(caching.table.similarities), servings, strict=True
        )
    ]


def listed(
    system: str, kind: str, caching: Caching, cache: Sequence[PastQuestion], shown: Any
) -> list[tuple[Any, ...]]:
    """Rows of NearestRow; `shown` makes a text fit to be kept."""
    rows = []
    for each, row, similarity, worth in zip(
        caching.asked, caching.table.rows, caching.table.similarities, caching.table.servings or (), strict=True
    ):
        entry = cache[row] if row >= 0 else None
        rows.append(
            (system, kind, each.id, shown(each.text), shown(each.answer), shown(each.disliked),
             sorted(each.pages or ()),
             entry.id if entry else None, shown(entry.question) if entry else None,
             shown(entry.answer) if entry else None, entry.url if entry else None, float(similarity), worth.value)
        )  # fmt: skip
    return rows
