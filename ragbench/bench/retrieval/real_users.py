"""Questions that people really asked: Tier 1 with the page they were shown as a proxy label, and how they ask."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from ragbench import stats
from ragbench.bench.basics import requests
from ragbench.bench.basics.families import Sureness
from ragbench.bench.basics.requests import Draws, tier
from ragbench.bench.basics.session import Session
from ragbench.bench.retrieval import consistency
from ragbench.bench.retrieval import tier1_retrieval as tier1
from ragbench.bench.retrieval.masking import Masker
from ragbench.datasets import Dataset
from ragbench.datasets.records import PastQuestion
from ragbench.datasets.russian import language_of
from ragbench.measurement import QUESTION_COLUMNS, RETRIEVED_COLUMNS, SCORE_COLUMNS, Measurement
from ragbench.metric import Metric
from ragbench.types import Estimate, Question

if TYPE_CHECKING:
    import pandas as pd

SCALE = (1.0, 5.0)  # of a user's score
QUANTILES = (0.1, 0.5, 0.9)
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_SIGNS = re.compile(r"[\W_]+")


class RealUsersRequest(Draws):
    """What is asked of a log of questions."""

    dataset: requests.Dataset = ""
    systems: requests.Systems = ""
    baseline: requests.Baseline = ""
    metrics: requests.RankingMetrics = ""
    k: requests.Depth = 10
    cluster_by: Literal["user", "none"] = Field(
        "user", description='"user": questions of one user are drawn together; "none": all independent'
    )
    mask: requests.Mask = True
    notebook: str = "real_users"

    def check(self) -> None:
        """Refuse what Tier 1 refuses."""
        _ = self.retrieval

    @property
    def retrieval(self) -> tier1.Tier1Request:
        """The same of Tier 1: pages ranked, each question once, nothing timed."""
        asked: dict[str, Any] = {name: getattr(self, name) for name in ("metrics", "k", "level", "resamples", "seed")}
        return _Once(**asked, unit="url", slice_by="kind, language", repeats=1, timed_questions=0, ef_searches=())


class _Once(tier1.Tier1Request):
    @cached_property
    def chosen(self) -> tuple[Metric, ...]:
        """The metrics without retrieval_consistency, which needs repeats."""
        return tuple(each for each in super().chosen if each.name != consistency.NAME)


@tier(RealUsersRequest)
def real_users(request: RealUsersRequest) -> Measurement:
    """Retrieve for every logged question whose page is known, and describe all that was logged.

    The label is a proxy: the page that was shown to the user, one a question, whether or not it held the answer. Pages
    are ranked, not chunks. Questions without a page, and those whose page is no longer in the base, are counted and
    left out. What mask replaces is replaced in everything that is kept and shown; the search has read the questions as
    they were asked.

    A data set without a log gives a measurement of nothing, which says so.
    Raises BenchError, DatasetError or StoreError, each with what is legal.
    """
    session = Session.begin(request.notebook, request.dataset, request.systems, request.baseline)
    history = session.dataset.history
    masker = Masker(dict.fromkeys(past.user for past in history if past.user is not None))
    log = _Log.read(session.dataset, masker, request.mask)
    pages = {chunk.url for chunk in session.dataset.chunks if chunk.url}
    known = [past for past in history if past.url in pages]
    facts: dict[str, Any] = {
        "describes_users": True,
        "proxy": True,
        "masked": request.mask,
        "n_history": len(history),
        "n_without_page": sum(past.url is None for past in history),
        "n_page_gone": sum(past.url is not None and past.url not in pages for past in history),
        "n_users": len({past.user for past in history if past.user is not None}),
        "cluster_by": request.cluster_by,
    }
    tables = log.tables(request.take(Sureness))
    if not known:
        return _nothing(session, request, facts, tables)
    questions = tuple(_question(past, request.cluster_by) for past in known)
    inner = replace(session, dataset=replace(session.dataset, questions=questions))
    made = tier1.measured(inner, request.retrieval)
    facts = {**made.facts, **facts, "n_without_relevant": None}
    made = replace(made, facts=facts, extra={**made.extra, **tables})
    return _masked(made, masker) if request.mask else made


def _question(past: PastQuestion, cluster_by: str) -> Question:
    return Question(
        id=past.id,
        text=past.question,
        reference=past.answer,
        relevant_urls={str(past.url): 1.0},
        kind=None if past.score is None else f"★ {past.score}",
        language=language_of([past.question]),
        cluster=past.user if cluster_by == "user" else None,
    )


def _nothing(
    session: Session, request: RealUsersRequest, facts: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]
) -> Measurement:
    """A measurement without a number: there is no log, or none of its pages is in the base."""
    import pandas as pd

    return Measurement(
        notebook=session.notebook,
        facts={
            **session.facts(),
            **asdict(request.take(Sureness)),
            "k": request.k,
            **facts,
            "unit": "url",
            "n_questions": 0,
            "systems": [],
        },
        scores=pd.DataFrame(columns=list(SCORE_COLUMNS)),
        questions=pd.DataFrame(columns=list(QUESTION_COLUMNS)),
        retrieved=pd.DataFrame(columns=list(RETRIEVED_COLUMNS)),
        extra=tables,
    )


def _masked(made: Measurement, masker: Masker) -> Measurement:
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
    """Everything that was asked, as it may be shown."""

    history: Sequence[PastQuestion]
    titles: Mapping[str, str | None]
    masker: Masker
    mask: bool

    @classmethod
    def read(cls, dataset: Dataset, masker: Masker, mask: bool) -> _Log:
        titles = {chunk.url: chunk.title for chunk in reversed(dataset.chunks) if chunk.url}
        return cls(dataset.history, titles, masker, mask)

    def tables(self, sureness: Sureness) -> dict[str, pd.DataFrame]:
        """`asked`: one row a question without its words; `repeats`: equal questions; `asked_pages`: pages by how often
        they were shown; `habits`: lengths and scores in numbers with intervals."""
        return {
            "asked": self._asked(),
            "repeats": self._repeats(),
            "asked_pages": self._pages(),
            "habits": self._habits(sureness),
        }

    def _shown(self, text: str) -> str:
        return str(self.masker.text(text)) if self.mask else text

    def _asked(self) -> pd.DataFrame:
        import pandas as pd

        rows = []
        for past in self.history:
            at, hour = when(past.asked_at)
            rows.append(
                (
                    past.id,
                    len(_WORD.findall(past.question)),
                    len(past.question),
                    language_of([past.question]),
                    past.score,
                    None if at is None else at.date().isoformat(),
                    None if at is None else at.weekday(),
                    hour,
                    past.url is not None,
                )
            )
        columns = ["sample", "words", "characters", "language", "score", "day", "weekday", "hour", "has_page"]
        table = pd.DataFrame(rows, columns=columns)
        return table.astype({"score": "Int64", "weekday": "Int64", "hour": "Int64"})

    def _repeats(self) -> pd.DataFrame:
        import pandas as pd

        groups: dict[str, list[PastQuestion]] = defaultdict(list)
        for past in self.history:
            groups[plain(past.question)].append(past)
        found = sorted((g for g in groups.values() if len(g) > 1), key=lambda g: (-len(g), g[0].id))
        rows = [
            (
                self._shown(group[0].question),
                len(group),
                len({past.user for past in group if past.user is not None}),
                len({past.url for past in group}),
                [past.id for past in group],
            )
            for group in found
        ]
        return pd.DataFrame(rows, columns=["text", "count", "users", "pages", "samples"])

    def _pages(self) -> pd.DataFrame:
        import pandas as pd

        counts = Counter(past.url for past in self.history if past.url is not None)
        rows = []
        for url, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            scores = [past.score for past in self.history if past.url == url and past.score is not None]
            mean = sum(scores) / len(scores) if scores else float("nan")
            rows.append((url, self.titles.get(url), count, len(scores), mean, url in self.titles))
        return pd.DataFrame(rows, columns=["page", "title", "count", "scored", "score", "in_base"])

    def _habits(self, sureness: Sureness) -> pd.DataFrame:
        import pandas as pd

        words = [float(len(_WORD.findall(past.question))) for past in self.history]
        found: dict[str, Estimate] = {}
        for probability in QUANTILES if words else ():
            found[f"words@{probability}"] = stats.quantile(words, probability, level=sureness.level)
        scored = [past for past in self.history if past.score is not None]
        if scored:
            users = [past.user for past in scored]
            found["score"] = stats.estimate(
                [float(past.score or 0) for past in scored],
                clusters=users if any(users) else None,
                bounds=SCALE,
                **asdict(sureness),
            )
        rows = [(name, e.value, e.low, e.high, e.method, e.n, e.clusters, e.note) for name, e in found.items()]
        return pd.DataFrame(rows, columns=["name", "value", "low", "high", "method", "n", "clusters", "note"])


def when(asked_at: str | None) -> tuple[datetime | None, int | None]:
    """The moment of an ISO 8601 text, and its hour where it names one; None for what is not such a text."""
    if asked_at is None:
        return None, None
    try:
        at = datetime.fromisoformat(asked_at.strip())
    except ValueError:
        return None, None
    return at, at.hour if len(asked_at.strip()) > len("2025-09-02") else None


def plain(question: str) -> str:
    """A question by its words alone: compatibility forms, case, ё, signs and blanks do not tell two apart."""
    folded = unicodedata.normalize("NFKC", question).casefold().replace("ё", "е")
    return _SIGNS.sub(" ", folded).strip()
