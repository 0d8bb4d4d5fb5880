"""Questions that people really asked: Tier 1 with the page they were shown as a proxy label, and how they ask."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypedDict

from pydantic import Field

from ragbench.old import stats
from ragbench.old.core.facts import Facts
from ragbench.old.core.measurement import Evidence, Findings, NamedEstimate, columns
from ragbench.old.core.metric import Metric
from ragbench.old.core.segmentation import language_of, plain
from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Question
from ragbench.old.data.records import REAL, PastQuestion
from ragbench.old.judge.words import FUNCTION_WORDS, stem, words
from ragbench.old.tiers.basics import requests
from ragbench.old.tiers.basics.design import Design
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.basics.requests import tier
from ragbench.old.tiers.basics.session import Need, Needed, Session
from ragbench.old.tiers.data.persons import Masker
from ragbench.old.tiers.retrieval import tier1_retrieval as tier1
from ragbench.old.tiers.retrieval import timing

if TYPE_CHECKING:
    import pandas as pd

SCALE = (1.0, 5.0)  # of a user's score
QUANTILES = (0.1, 0.5, 0.9)
MOST_TERMS, SHORTEST_TERM = 50, 3  # a page of words; shorter ones are prepositions in both languages
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")


class AskedRow(TypedDict):
    """A question of the log, without its text."""

    sample: str
    words: int
    characters: int
    language: str
    score: int | None
    day: str
    weekday: int
    hour: int | None
    has_page: bool
    user: str | None
    answered: bool


class TermRow(TypedDict):
    """A word, and how many questions hold it."""

    term: str
    count: int
    answered: int


class RepeatRow(TypedDict):
    """A question that was asked more than once in the same words."""

    text: str
    count: int
    users: int
    pages: int
    samples: Sequence[str]


class AskedPageRow(TypedDict):
    """A page, how often it was shown, and how it was scored."""

    page: str
    title: str
    count: int
    scored: int
    score: float
    in_base: bool


class RealUsersRequest(tier1.RankingRequest):
    """What is asked of a log of questions."""

    reads_table: ClassVar[str] = "history"

    cluster_by: Literal["user", "none"] = Field(
        "user", description='"user": questions of one user are drawn together; "none": all independent'
    )
    mask: requests.Mask = True
    notebook: str = "real_users"

    @property
    def sampled_tables(self) -> tuple[str, ...]:
        """What users asked."""
        return ("history",)

    def check(self) -> None:
        """Refuse what Tier 1 refuses."""
        _ = self.retrieval

    def needed(self, settings: Settings) -> tuple[Needed, ...]:
        """A log."""
        return (Needed.of(Need.HISTORY),)

    @property
    def retrieval(self) -> tier1.Tier1Request:
        """The same of Tier 1: pages ranked, each question once, nothing timed."""
        names = ("metrics", "primary", "k", "level", "resamples", "seed")
        asked: dict[str, Any] = {name: getattr(self, name) for name in names}
        return _Once(**asked, unit="url", slice_by="kind, language", repeats=1, timed_questions=0, ef_searches=())


class _Once(tier1.Tier1Request):
    @cached_property
    def chosen(self) -> tuple[Metric, ...]:
        """The metrics without retrieval_consistency, which needs repeats."""
        return tuple(each for each in super().chosen if each.name != timing.NAME)


def state(evidence: Evidence) -> Findings:
    """What Tier 1 finds, and of all that was asked how long it is and how users scored what they got."""
    found = tier1.state(evidence)
    if "n_history" not in evidence.facts:  # of some of the questions: what else was asked is not known
        return found
    return replace(found, placed=(*found.placed, *_habits(evidence.extra["asked"], Design(evidence).sureness)))


@tier(RealUsersRequest, state)
def real_users(request: RealUsersRequest) -> Evidence:
    """Retrieve for every logged question whose page is known, and describe all that was logged.

    The label is a proxy: the page that was shown to the user, one a question, whether or not it held the answer. Pages
    are ranked, not chunks. Questions without a page, those whose page is no longer in the base, and those without a
    vector where it is taken from their table, are counted and left out. What mask replaces is replaced in everything
    that is kept and shown; the search has read the questions as they were asked.

    A data set without a log gives a measurement of nothing, which says so.
    Raises BenchError, DatasetError or StoreError, each with what is legal.
    """
    session = Session.of(request, request.systems, request.baseline)
    history = session.dataset.history
    masker = Masker(dict.fromkeys(past.user for past in history if past.user is not None))
    titles = {chunk.url: chunk.title for chunk in reversed(session.dataset.chunks) if chunk.url}
    log = _Log(history, titles, *((masker.text, masker.user) if request.mask else (str, _as_is)))
    unasked = session.dataset.without_vector
    known = [past for past in history if past.url in titles and past.id not in unasked]
    facts: Facts = {
        "describes_users": True,
        "proxy": True,
        "masked": request.mask,
        "n_history": len(history),
        "n_without_page": sum(past.url is None for past in history),
        "n_page_gone": sum(past.url is not None and past.url not in titles for past in history),
        "n_without_vector": sum(past.url in titles and past.id in unasked for past in history),
        "n_users": len({past.user for past in history if past.user is not None}),
        "cluster_by": request.cluster_by,
    }
    if not known:
        return _nothing(session, request, facts, log)
    questions = tuple(as_question(past, request.cluster_by) for past in known)
    inner = replace(session, dataset=replace(session.dataset, questions=questions))
    made = tier1.measured(inner, request.retrieval)
    facts = {**made.facts, **facts, "n_without_relevant": None}
    made = replace(made, facts=facts, extra={**made.extra, **log.tables()})
    return _masked(made, masker) if request.mask else made


def _as_is(user: str | None) -> str | None:
    return user


def as_question(past: PastQuestion, cluster_by: str = "user") -> Question:
    """What a user asked, as a question: the page that was shown is its label, its user the group that it belongs to."""
    return Question(
        id=past.id,
        text=past.question,
        reference=past.answer,
        relevant_urls={past.url: 1.0} if past.url else {},
        kind=None if past.score is None else f"★ {past.score}",
        language=language_of(past.question),
        cluster=past.user if cluster_by == "user" else None,
        source=REAL,
    )


def _nothing(session: Session, request: RealUsersRequest, facts: Facts, log: _Log) -> Evidence:
    """Evidence of no system: there is no log, or none of its pages is in the base."""
    known: Facts = {"k": request.k, **facts, "unit": "url", "n_questions": 0, "systems": []}
    return Evidence(
        session.notebook,
        {**session.facts(), **request.take(Sureness).facts, **known},
        extra=log.tables(),
    )


def _masked(made: Evidence, masker: Masker) -> Evidence:
    """Texts of questions, answers, passages and errors without what names a person; users' clusters as numbers."""
    questions = made.questions.assign(
        text=made.questions["text"].map(masker.text),
        reference=made.questions["reference"].map(masker.text),
        cluster=made.questions["cluster"].map(masker.user),
    )
    retrieved = made.retrieved.assign(text=made.retrieved["text"].map(masker.text))
    scores = made.scores.assign(reason=made.scores["reason"].map(masker.text))  # an error may repeat what was asked
    return replace(made, questions=questions, retrieved=retrieved, scores=scores)


@dataclass(frozen=True)
class _Log:
    """Everything that was asked; shown: how a text of it may be shown; named: and a user."""

    history: Sequence[PastQuestion]
    titles: Mapping[str, str | None]
    shown: Callable[[str | None], str | None]
    named: Callable[[str | None], str | None]

    def tables(self) -> dict[str, pd.DataFrame]:
        """`asked`: one row a question without its words; `repeats`: equal questions; `asked_pages`: pages by how often
        they were shown."""
        import pandas as pd

        whole = dict.fromkeys(("score", "weekday", "hour"), "Int64")
        return {
            "asked": pd.DataFrame(self._asked(), columns=columns(AskedRow)).astype(whole),
            "terms": pd.DataFrame(self._terms(), columns=columns(TermRow)),
            "repeats": pd.DataFrame(self._repeats(), columns=columns(RepeatRow)),
            "asked_pages": pd.DataFrame(self._pages(), columns=columns(AskedPageRow)),
        }

    def _asked(self) -> Iterator[tuple[Any, ...]]:
        for past in self.history:
            at, hour = when(past.asked_at)
            day, weekday = (None, None) if at is None else (at.date().isoformat(), at.weekday())
            words, language = len(_WORD.findall(past.question)), language_of(past.question)
            sizes = (past.id, words, len(past.question), language, past.score)
            yield (*sizes, day, weekday, hour, past.url is not None, self.named(past.user), is_answered(past))

    def _terms(self) -> Iterator[tuple[str, int, int]]:
        """The stems that most questions hold, each by its most frequent form: in how many questions it is, and of how
        many of these there is an answer. No function words, no numbers, nothing of fewer than three letters."""
        forms: dict[str, Counter[str]] = defaultdict(Counter)
        asked, answered = Counter[str](), Counter[str]()
        for past in self.history:
            spoken = [word for word in words(self.shown(past.question) or "") if _is_term(word)]
            for word in spoken:
                forms[stem(word)][word] += 1
            there = {stem(word) for word in spoken}
            asked.update(there)
            answered.update(there if is_answered(past) else ())
        for root, count in sorted(asked.items(), key=lambda item: (-item[1], item[0]))[:MOST_TERMS]:
            form, _times = min(forms[root].items(), key=lambda item: (-item[1], item[0]))
            yield form, count, answered[root]

    def _repeats(self) -> Iterator[tuple[Any, ...]]:
        groups: dict[str, list[PastQuestion]] = defaultdict(list)
        for past in self.history:
            groups[plain(past.question)].append(past)
        for group in sorted((g for g in groups.values() if len(g) > 1), key=lambda g: (-len(g), g[0].id)):
            users = {past.user for past in group if past.user is not None}
            pages = {past.url for past in group}
            yield self.shown(group[0].question), len(group), len(users), len(pages), [past.id for past in group]

    def _pages(self) -> Iterator[tuple[Any, ...]]:
        counts = Counter(past.url for past in self.history if past.url is not None)
        for url, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            scores = [past.score for past in self.history if past.url == url and past.score is not None]
            mean = sum(scores) / len(scores) if scores else float("nan")
            yield url, self.titles.get(url), count, len(scores), mean, url in self.titles


def _habits(asked: pd.DataFrame, sureness: Sureness) -> tuple[NamedEstimate, ...]:
    """Of what was asked the quantiles of its length in words, the share with an answer, and its users' mean score."""
    made = []
    for probability in QUANTILES if len(asked) else ():
        length = stats.quantile(asked["words"].to_numpy(dtype=float), probability, level=sureness.level)
        made.append(NamedEstimate("", "habit", length, {"asked": "words", "probability": probability}))
    for what, rows, bounds in (
        ("answered", asked, (0.0, 1.0)),
        ("score", asked[asked["score"].notna()], SCALE),
    ):
        if len(rows):
            users = rows["user"].astype(object).where(rows["user"].notna(), None).tolist()
            clusters = users if any(users) else None
            mean = stats.estimate(
                rows[what].astype(float).tolist(), clusters=clusters, bounds=bounds, **asdict(sureness)
            )
            made.append(NamedEstimate("", "habit", mean, {"asked": what}))
    return tuple(made)


def is_answered(past: PastQuestion) -> bool:
    """Whether the log has an answer to it that says something."""
    return bool(past.answer and past.answer.strip())


def _is_term(word: str) -> bool:
    return len(word) >= SHORTEST_TERM and word.isalpha() and word not in FUNCTION_WORDS


def when(asked_at: str | None) -> tuple[datetime | None, int | None]:
    """The moment of an ISO 8601 text, and its hour where it names one; None for what is not such a text."""
    if asked_at is None:
        return None, None
    try:
        at = datetime.fromisoformat(asked_at.strip())
    except ValueError:
        return None, None
    return at, at.hour if len(asked_at.strip()) > len("2025-09-02") else None
