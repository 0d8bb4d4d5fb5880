"""Tier 1: how well systems find the relevant chunks or pages, measured in PostgreSQL, question by question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from ragbench import rankings, stand_ins
from ragbench.bench.basics import findings, frames, requests, slices
from ragbench.bench.basics.families import Sureness, leading
from ragbench.bench.basics.needs import Need, Needed
from ragbench.bench.basics.requests import Draws, tier
from ragbench.bench.basics.session import BenchError, Session, described, parted
from ragbench.bench.retrieval import consistency, curves, timing
from ragbench.bench.retrieval.consistency import first
from ragbench.bench.retrieval.timing import Clock
from ragbench.datasets import Dataset, doubts_of
from ragbench.measurement import SCORE_COLUMNS, Measurement
from ragbench.metric import Metric, parse
from ragbench.metrics import catalogue
from ragbench.settings import Settings
from ragbench.types import Question, Ranking, Status

if TYPE_CHECKING:
    import pandas as pd

    from ragbench.systems import Retrieval, System

METRICS = ("hit_rate", "mrr", "recall", "precision", "ndcg")
PRIMARY = "mrr"
Unit = Literal["chunk", "url"]


class RankingRequest(Draws):
    """Whose rankings are measured by what."""

    dataset: requests.Dataset = ""
    systems: requests.Systems = ""
    baseline: requests.Baseline = ""
    metrics: requests.RankingMetrics = ""
    primary: requests.Primary = ""
    k: requests.Depth = 10


class Tier1Request(RankingRequest):
    """What is retrieved and measured, and how sure one wants to be of it."""

    unit: Unit = Field("chunk", description='what is ranked: "chunk" or "url"')
    cluster_by: Literal["auto", "none"] = Field(
        "auto", description='"auto": questions of one cluster are drawn together; "none": all independent'
    )
    repeats: requests.Repeats = 3
    slice_by: requests.SliceBy = "kind, language, source"
    timed_questions: requests.TimedQuestions = 400
    ef_searches: Sequence[Annotated[int, Field(ge=1, le=1000)]] = Field(
        (10, 40, 160), description="HNSW is compared with exact search at each of them; []: not at all"
    )
    fresh_timings: requests.FreshTimings = False
    notebook: str = "tier1_retrieval"

    def check(self) -> None:
        """Refuse metrics that read no ranking or look deeper than k, a primary one that is not among them, and slices
        that there are not."""
        _ = self.leading, slices.chosen(self.slice_by)

    def needed(self, settings: Settings) -> tuple[Needed, ...]:
        """Questions that say what is relevant."""
        return (Needed.of(Need.PAGES if self.unit == "url" else Need.RELEVANT),)

    @cached_property
    def chosen(self) -> tuple[Metric, ...]:
        """The metrics, each with a cut-off; those of the specification where none is named."""
        return _metrics(self.metrics, self.k)

    @property
    def rankings(self) -> tuple[Metric, ...]:
        """The metrics that read a ranking: all but retrieval_consistency."""
        return tuple(each for each in self.chosen if each.grain == "ranking")

    @property
    def leading(self) -> Metric:
        """The primary metric, by which slices are compared too."""
        return leading(self.primary, self.chosen, PRIMARY)


@tier(Tier1Request)
def tier1_retrieval(request: Tier1Request) -> Measurement:
    """Retrieve for every question with every system, and measure what came back.

    A metric without a cut-off is cut at k, and its label says so. A mean is over the questions with at least one
    relevant document; one that a system did not answer, or failed to, counts 0, with the reason in its rows. The others
    are counted in the facts. Raises BenchError, DatasetError or StoreError, each with what is legal.
    """
    asked = (request.notebook, request.dataset, request.systems, request.baseline, request.language)
    return measured(Session.begin(*asked), request)


def _metrics(labels: str | Sequence[str], k: int) -> tuple[Metric, ...]:
    known = catalogue()
    usual = [known[name] for name in METRICS]
    chosen = tuple(parse(label) for label in parted(labels)) or (
        *(bound for each in usual for bound in [each @ cut for cut in each.cutoffs if cut <= k] or [each]),
        known[consistency.NAME],
    )
    for each in chosen:
        if each.grain != "ranking" and each.label != consistency.NAME:
            raise BenchError(
                f"{each.label} does not read a ranking; `ragbench metrics --grain ranking` lists those that do"
            )
        if each.cutoff is not None and each.cutoff > k:
            raise BenchError(f"{each.label} looks at more than the k = {k} documents that are retrieved; raise k")
    return tuple(dict.fromkeys(_cut(each, k) for each in chosen))


def _cut(each: Metric, k: int) -> Metric:
    """The metric as it can be had: nothing below rank k is retrieved, so one without a cut-off has that one."""
    return each @ k if each.grain == "ranking" and each.cutoff is None else each


def measured(session: Session, request: Tier1Request) -> Measurement:
    """The same in an open session, which may hold other questions than the data set's own."""
    import pandas as pd

    unit = request.unit
    pages = {chunk.id: chunk.url for chunk in session.dataset.chunks}
    if unit == "url" and None in pages.values():
        raise BenchError(f"unit = 'url', but chunks of {session.dataset.label} have no URL; use unit = 'chunk'")
    questions = session.dataset.questions
    asked = [q for q in questions if q.relevant or (unit == "url" and q.relevant_urls)]
    if not asked:
        raise BenchError(f"no question of {session.dataset.label} names a relevant {unit}: there is nothing to measure")
    clusters = frames.clusters(asked) if request.cluster_by == "auto" else None
    labels = None if clusters is None else list(clusters.values())
    by, sureness, clock = slices.chosen(request.slice_by), request.take(Sureness), request.take(Clock)
    runs, timed = _retrieve(session, asked, request, labels)
    firsts = {name: own[0] for name, own in runs.items()}
    ranked = {
        name: rankings.from_questions(
            asked, dict(zip((q.id for q in asked), one.hits, strict=True)), unit=unit, pages=pages, depth=request.k
        )
        for name, one in firsts.items()
    }
    rows = [row for name, own in runs.items() for row in _scores(name, asked, own, ranked[name], request)]
    scores = pd.DataFrame(rows, columns=list(SCORE_COLUMNS))
    estimates, comparisons = findings.find(
        scores, request.chosen, session.systems, clusters, sureness, request.leading.label
    )
    return Measurement(
        notebook=session.notebook,
        facts={
            **session.facts(),
            **asdict(sureness),
            **told(session, firsts),
            "doubts": doubts_of(session.dataset.chunks, questions),
            "primary": request.leading.label,
            "n_questions": len(asked),
            "n_without_relevant": len(questions) - len(asked),
            "n_clusters": None if clusters is None else len(set(clusters.values())),
            "unit": unit,
            "k": request.k,
            "repeats": request.repeats,
            "timed_questions": len(timing.chosen(asked, clock)),
            "slices_left_out": slices.left_out(asked, by),
        },
        scores=scores,
        questions=_questions(asked, unit, pages),
        retrieved=_retrieved(asked, firsts, unit, pages, request.k),
        estimates=estimates,
        comparisons=comparisons,
        extra={"latencies": timed.latencies, "misses": timed.misses},
        placed=(
            *timed.indexes,
            *timing.quantiles(timed.latencies, sureness.level),
            *curves.findings(ranked, request.k, labels, sureness),
            *slices.findings(scores, request.leading, session.systems, asked, by, clusters, sureness),
        ),
    )


def told(session: Session, found: Mapping[str, Retrieval]) -> dict[str, Any]:
    """What facts say of the systems of a page: how each is made, who stands in, how many questions found nothing."""
    known = {name: dict(one.facts) for name, one in found.items()}
    stands = [name for name, one in found.items() if one.is_stand_in]
    return {
        "systems": described(session.settings, session.systems, known),
        "stand_ins": stand_ins.facts("retrieval", stands, own=True),
        "unanswered": {name: sum(not hits for hits in one.hits) for name, one in found.items()},
    }


def _retrieve(
    session: Session, asked: Sequence[Question], request: Tier1Request, labels: Sequence[str] | None
) -> tuple[dict[str, list[Retrieval]], timing.Timed]:
    """All runs of every system, the first one first, and what the clock said."""
    import pandas as pd

    from ragbench.store import Store
    from ragbench.systems import make, steps

    data, depth = session.dataset, _depth(session.dataset, request.k, request.unit)
    runs: dict[str, list[Retrieval]] = {}
    made: dict[str, System] = {}
    with Store.open(session.settings) as store:
        for name in session.systems:
            made[name] = make(name, session.settings, store, data)
            with session.progress(name, steps(len(data.chunks), len(asked), request.repeats)) as progress:
                once = made[name].retrieve(asked, depth, progress=progress)
                runs[name] = consistency.repeated(made[name], once, asked, depth, request.repeats, progress)
        asking, clock = (made, store, asked, depth), request.take(Clock)
        found, misses = timing.indexes(*asking, clock, session.progress, request.take(Sureness), labels)
        read = [timing.latencies(*asking, data.content_hash, clock, session.progress)]
        read += [timing.noted(name, asked, runs[name][0]) for name in made if made[name].description["kind"] == "http"]
        timed = {asked[place].id for place in timing.chosen(asked, clock)}
        latencies = pd.concat([part for part in read if len(part)] or read[:1], ignore_index=True)
        return runs, timing.Timed(latencies[latencies["sample"].isin(timed)].reset_index(drop=True), found, misses)


def _depth(dataset: Dataset, k: int, unit: Unit) -> int:
    """How many chunks hold at least k pages: with at most m chunks a page, (k − 1) · m + 1."""
    if unit == "chunk":
        return k
    most = max(Counter(chunk.url for chunk in dataset.chunks).values())
    return min((k - 1) * most + 1, requests.MOST_RETRIEVED, len(dataset.chunks))


def _scores(
    system: str, asked: Sequence[Question], runs: Sequence[Retrieval], ranking: Ranking, request: Tier1Request
) -> list[tuple[Any, ...]]:
    from ragbench.metrics.evaluation import evaluate
    from ragbench.systems.retrieval import UNTOLD

    values, why, untold = evaluate(ranking, request.rankings), runs[0].errors, runs[0].untold
    rows: list[tuple[Any, ...]] = []
    for each in request.chosen:
        if each.label == consistency.NAME:
            rows += consistency.rows(system, each, asked, runs, request.repeats, request.unit, request.k)
        else:
            rows += [
                (system, each.label, question.id, math.nan, Status.MISSING_FIELD.value, UNTOLD, None)
                if question.id in untold
                else (system, each.label, question.id, float(value), Status.OK.value, why.get(question.id, ""), None)
                for question, value in zip(asked, values[each.label], strict=True)
            ]
    return rows


def _retrieved(
    asked: Sequence[Question], found: Mapping[str, Retrieval], unit: Unit, pages: Mapping[str, str | None], k: int
) -> pd.DataFrame:
    """The first k documents of every ranking with their gains; a page stands with the first of its chunks."""
    rows = []
    for name, one in found.items():
        for question, hits in zip(asked, one.hits, strict=True):
            gains, documents = gains_of(question, unit, pages), first(hits, unit)[:k]
            by_chunk = {hit.chunk.id: gains.get(document, 0.0) for document, hit in documents}
            rows.append((name, question.id, [hit for _document, hit in documents], by_chunk))
    return frames.retrieved(rows)


def _questions(asked: Sequence[Question], unit: Unit, pages: Mapping[str, str | None]) -> pd.DataFrame:
    """The questions with `gains`, one for each document that is `relevant`."""
    gains = [gains_of(question, unit, pages) for question in asked]
    table = frames.questions([replace(q, relevant=own) for q, own in zip(asked, gains, strict=True)], "source")
    column: list[Any] = [[float(own[name]) for name in sorted(own)] for own in gains]
    return table.assign(gains=column)


def gains_of(question: Question, unit: Unit, pages: Mapping[str, str | None]) -> Mapping[str, float]:
    """What is relevant to a question in this unit; pages: chunk → its page."""
    if unit == "chunk":
        return question.relevant
    return rankings.by_page([[]], [question.relevant], pages, [question.relevant_urls])[1][0]
