"""Tier 1: how well systems find the relevant chunks or pages, measured in PostgreSQL, question by question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from ragbench import rankings
from ragbench.bench import findings
from ragbench.bench.session import BenchError, Session, described, kept
from ragbench.datasets import Dataset
from ragbench.measurement import QUESTION_COLUMNS, RETRIEVED_COLUMNS, SCORE_COLUMNS, Measurement
from ragbench.metric import Metric, parse
from ragbench.metrics import catalogue
from ragbench.types import Hit, Question, Status

if TYPE_CHECKING:
    import pandas as pd

    from ragbench.systems import Retrieval

METRICS = ("hit_rate", "mrr", "recall", "precision", "ndcg")
MOST_RETRIEVED = 1000

Unit = Literal["chunk", "url"]
ClusterBy = Literal["auto", "none"]


def retrieval(
    dataset: str = "",
    systems: str | Sequence[str] = "",
    *,
    baseline: str = "",
    metrics: str | Sequence[str] = "",
    k: int = 10,
    unit: Unit = "chunk",
    cluster_by: ClusterBy = "auto",
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    notebook: str = "tier1_retrieval",
) -> Measurement:
    """Retrieve for every question with every system, and measure what came back.

    dataset, systems, baseline: as in ragbench.toml where empty. metrics: labels such as "ndcg@10", comma-separated or
    as a list; empty for the specification's. k: how many chunks or pages of a ranking are looked at. unit: what is
    ranked, "chunk" or "url". cluster_by: "auto" groups questions by their cluster where the data set has clusters.

    A mean is over the questions with at least one relevant document; one that a system did not answer counts 0. The
    others are counted in the facts. Raises BenchError, DatasetError or StoreError, each with what is legal.
    """
    request = _Request(_metrics(metrics, k), k, unit, cluster_by, level, resamples, seed)
    return kept(notebook, lambda: _measure(Session.begin(notebook, dataset, systems, baseline), request))


@dataclass(frozen=True)
class _Request:
    """What is measured and how sure one wants to be of it."""

    metrics: tuple[Metric, ...]
    k: int
    unit: Unit
    cluster_by: ClusterBy
    level: float
    resamples: int
    seed: int

    def __post_init__(self) -> None:
        if self.unit not in ("chunk", "url"):
            raise BenchError(f"unit = {self.unit!r}: it is chunk or url")
        if self.cluster_by not in ("auto", "none"):
            raise BenchError(f"cluster_by = {self.cluster_by!r}: it is auto or none")


def _metrics(labels: str | Sequence[str], k: int) -> tuple[Metric, ...]:
    if not isinstance(k, int) or isinstance(k, bool) or not 1 <= k <= MOST_RETRIEVED:
        raise BenchError(f"k = {k!r}: a whole number from 1 to {MOST_RETRIEVED} is expected")
    known = catalogue()
    named = [part.strip() for part in (labels.split(",") if isinstance(labels, str) else labels) if part.strip()]
    if not named:
        return tuple(
            bound
            for name in METRICS
            for bound in ([known[name] @ cut for cut in known[name].cutoffs if cut <= k] or [known[name]])
        )
    found = tuple(parse(label) for label in dict.fromkeys(named))
    for each in found:
        if each.grain != "ranking":
            raise BenchError(
                f"{each.label} does not read a ranking; `ragbench metrics --grain ranking` lists those that do"
            )
        if each.cutoff is not None and each.cutoff > k:
            raise BenchError(f"{each.label} looks at more than the k = {k} documents that are retrieved; raise k")
    return found


def _measure(session: Session, request: _Request) -> Measurement:
    import pandas as pd

    unit = request.unit
    pages = {chunk.id: chunk.url for chunk in session.dataset.chunks}
    if unit == "url" and None in pages.values():
        raise BenchError(f"unit = 'url', but chunks of {session.dataset.label} have no URL; use unit = 'chunk'")
    asked = [question for question in session.dataset.questions if _labelled(question, unit)]
    if not asked:
        raise BenchError(f"no question of {session.dataset.label} names a relevant {unit}: there is nothing to measure")
    found = _retrieve(session, asked, _depth(session.dataset, request.k, unit))
    clusters = _clusters(asked) if request.cluster_by == "auto" else None
    scores = pd.DataFrame(
        [row for name in session.systems for row in _scores(name, asked, found[name], request, pages)],
        columns=list(SCORE_COLUMNS),
    )
    sureness = findings.Sureness(request.level, request.resamples, request.seed)
    estimates, comparisons = findings.find(scores, request.metrics, session.systems, clusters, sureness)
    return Measurement(
        notebook=session.notebook,
        facts={
            **session.facts(),
            **asdict(sureness),
            "n_questions": len(asked),
            "n_without_relevant": len(session.dataset.questions) - len(asked),
            "n_clusters": None if clusters is None else len(set(clusters.values())),
            "unit": unit,
            "k": request.k,
            "systems": described(session.settings, session.systems, {n: r.facts for n, r in found.items()}),
            "stand_ins": [name for name, one in found.items() if one.is_stand_in],
            "unanswered": {name: sum(not hits for hits in one.hits) for name, one in found.items()},
        },
        scores=scores,
        questions=_questions(asked, unit, pages),
        retrieved=_retrieved(asked, found, unit, pages, request.k),
        estimates=estimates,
        comparisons=comparisons,
    )


def _retrieve(session: Session, asked: Sequence[Question], depth: int) -> dict[str, Retrieval]:
    from ragbench.store import Store
    from ragbench.systems import make

    with Store.open(session.settings) as store:
        found: dict[str, Retrieval] = {}
        for name in session.systems:
            system = make(name, session.settings, store, session.dataset)
            with session.progress(name, len(session.dataset.chunks) + len(asked)) as progress:
                found[name] = system.retrieve(asked, depth, progress=progress)
    return found


def _depth(dataset: Dataset, k: int, unit: Unit) -> int:
    """How many chunks hold at least k pages: with at most m chunks a page, (k − 1) · m + 1."""
    if unit == "chunk":
        return k
    most = max(Counter(chunk.url for chunk in dataset.chunks).values())
    return min((k - 1) * most + 1, MOST_RETRIEVED, len(dataset.chunks))


def _labelled(question: Question, unit: Unit) -> bool:
    return bool(question.relevant) or (unit == "url" and bool(question.relevant_urls))


def _clusters(asked: Sequence[Question]) -> dict[str, str] | None:
    """Sample → cluster; None where every question stands alone."""
    labels = {question.id: question.cluster or f"\0{question.id}" for question in asked}
    return labels if len(set(labels.values())) < len(labels) else None


def _scores(
    system: str,
    asked: Sequence[Question],
    found: Retrieval,
    request: _Request,
    pages: Mapping[str, str | None],
) -> list[tuple[Any, ...]]:
    from ragbench.metrics.evaluation import evaluate

    retrieved = {question.id: hits for question, hits in zip(asked, found.hits, strict=True)}
    ranking = rankings.from_questions(asked, retrieved, unit=request.unit, pages=pages, depth=request.k)
    values = evaluate(ranking, request.metrics)
    return [
        (system, each.label, question.id, float(value), Status.OK.value, "", None)
        for each in request.metrics
        for question, value in zip(asked, values[each.label], strict=True)
    ]


def _questions(asked: Sequence[Question], unit: Unit, pages: Mapping[str, str | None]) -> pd.DataFrame:
    import pandas as pd

    rows = [
        (q.id, q.text, q.reference, q.kind, q.language, q.cluster, q.answerable, sorted(_gains(q, unit, pages)))
        for q in asked
    ]
    return pd.DataFrame(rows, columns=list(QUESTION_COLUMNS))


def _retrieved(
    asked: Sequence[Question], found: Mapping[str, Retrieval], unit: Unit, pages: Mapping[str, str | None], k: int
) -> pd.DataFrame:
    """The first k documents of every ranking with their gains; a page stands with the first of its chunks."""
    import pandas as pd

    rows = []
    for name, one in found.items():
        for question, hits in zip(asked, one.hits, strict=True):
            gains = _gains(question, unit, pages)
            for rank, (document, hit) in enumerate(_first(hits, unit)[:k], 1):
                chunk = hit.chunk
                rows.append(
                    (name, question.id, rank, chunk.id, chunk.url, hit.similarity, gains.get(document, 0.0), chunk.text)
                )
    return pd.DataFrame(rows, columns=list(RETRIEVED_COLUMNS))


def _gains(question: Question, unit: Unit, pages: Mapping[str, str | None]) -> Mapping[str, float]:
    if unit == "chunk":
        return question.relevant
    return rankings.by_page([[]], [question.relevant], pages, [question.relevant_urls])[1][0]


def _first(hits: Sequence[Hit], unit: Unit) -> list[tuple[str, Hit]]:
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault((hit.chunk.url if unit == "url" else None) or hit.chunk.id, hit)
    return list(first.items())
