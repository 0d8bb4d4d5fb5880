"""Tier 1: how well systems find the relevant chunks or pages, measured in PostgreSQL, question by question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from ragbench.core import stand_ins
from ragbench.core.measurement import SCORE_COLUMNS, Finding, Measurement
from ragbench.core.metric import Metric, parse
from ragbench.core.settings import Settings
from ragbench.core.types import Array, Chunk, Question, Ranking, Status
from ragbench.data import Dataset, doubts_of
from ragbench.metrics import catalogue, ranking_arrays
from ragbench.metrics.ranking_arrays.coverage import ENOUGH, LabelledText
from ragbench.tiers.basics import findings, frames, interest, requests, slices, withholding
from ragbench.tiers.basics.choices import BenchError, parted
from ragbench.tiers.basics.families import Sureness, leading
from ragbench.tiers.basics.needs import Need, Needed
from ragbench.tiers.basics.requests import Draws, tier
from ragbench.tiers.basics.session import Session, described
from ragbench.tiers.retrieval import consistency, curves, reading, timing
from ragbench.tiers.retrieval.consistency import first
from ragbench.tiers.retrieval.timing import Clock
from ragbench.tiers.scoring import functions, own_metrics

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
    limit: requests.Limit = None


class Tier1Request(RankingRequest):
    """What is retrieved and measured, and how sure one wants to be of it."""

    unit: Unit = Field("chunk", description='what is ranked: "chunk" or "url"')
    found_from: requests.FoundFrom = ENOUGH
    cluster_by: Literal["auto", "none"] = Field(
        "auto", description='"auto": questions of one cluster are drawn together; "none": all independent'
    )
    repeats: requests.Repeats = 3
    slice_by: requests.SliceBy = "kind, language, source"
    words: Sequence[Annotated[int, Field(ge=1, le=1_000_000)]] = Field(
        (50, 100, 200, 400, 800),
        description="where passages are cut differently: words read at which recall is compared; []: none",
    )
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

    def asked(self, data: Dataset) -> list[Question]:
        """Those that say what is relevant."""
        return [q for q in data.questions if q.relevant or (self.unit == "url" and q.relevant_urls)]

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

    The usual metrics are looked at to depth k too; one without a cut-off is cut there, and its label says so. A mean is
    over the questions with at least one relevant document; one that a system did not answer, or failed to, counts 0,
    with the reason in its rows. The others are counted in the facts. Raises BenchError, DatasetError or StoreError,
    each with what is legal.
    """
    return measured(Session.of(request, request.systems, request.baseline), request)


def _metrics(labels: str | Sequence[str], k: int) -> tuple[Metric, ...]:
    own_metrics.check()
    known = catalogue()
    usual = [known[name] for name in METRICS]
    chosen = tuple(parse(label) for label in parted(labels)) or (
        *(bound for each in usual for bound in _cuts(each, k)),
        known[consistency.NAME],
    )
    for each in chosen:
        if each.grain != "ranking" and each.label != consistency.NAME:
            raise BenchError(
                f"{each.label} does not read a ranking; `ragbench metrics --grain ranking` lists those that do"
            )
        if each.cutoff is not None and each.cutoff > k:
            raise BenchError(f"{each.label} looks at more than the k = {k} documents that are retrieved; raise k")
    return tuple(dict.fromkeys(_cut_off(each, k) for each in chosen))


def _cuts(each: Metric, k: int) -> list[Metric]:
    """The metric at the specification's cut-offs up to k, and at k itself: what is retrieved is looked at."""
    return [each @ cut for cut in sorted({*(cut for cut in each.cutoffs if cut < k), k})] if each.cutoffs else [each]


def _cut_off(each: Metric, k: int) -> Metric:
    """The metric as it can be had: nothing below rank k is retrieved, so one without a cut-off has that one."""
    return each @ k if each.grain == "ranking" and each.takes_cutoff and each.cutoff is None else each


def measured(session: Session, request: Tier1Request) -> Measurement:
    """The same in an open session, which may hold other questions than the data set's own."""
    import pandas as pd

    from ragbench.metrics.evaluation import reachable

    unit = request.unit
    pages = {chunk.id: chunk.url for chunk in session.dataset.chunks}
    if unit == "url" and None in pages.values():
        raise BenchError(f"unit = 'url', but chunks of {session.dataset.label} have no URL; use unit = 'chunk'")
    questions, asked = session.dataset.questions, request.asked(session.dataset)
    if not asked:
        raise BenchError(f"no question of {session.dataset.label} names a relevant {unit}: there is nothing to measure")
    clusters = frames.clusters(asked) if request.cluster_by == "auto" else None
    labels = None if clusters is None else list(clusters.values())
    by, sureness, clock = slices.chosen(request.slice_by), request.take(Sureness), request.take(Clock)
    runs, timed, further = _retrieve(session, asked, request, labels)
    firsts = {name: own[0] for name, own in runs.items()}
    labelled = LabelledText(session.dataset.chunks, request.found_from)
    ids = [q.id for q in asked]
    ranked = {
        name: ranking_arrays.from_questions(
            asked,
            dict(zip(ids, retrieval.hits, strict=True)),
            unit=unit,
            pages=pages,
            depth=request.k,
            labelled=labelled,
        )
        for name, retrieval in firsts.items()
    }
    rows = [row for name, own in runs.items() for row in _scores(name, asked, own, ranked[name], request)]
    scores = pd.DataFrame(rows, columns=list(SCORE_COLUMNS))
    most = reachable(next(iter(ranked.values())), [each for each in request.rankings if not each.is_users])
    tops = {label: float(np.nanmax(own)) for label, own in most.items()}
    estimates, comparisons = findings.find(
        scores, request.chosen, session.systems, clusters, sureness, request.leading.label,
        tops=tops,
    )  # fmt: skip
    rankings_found = {name: retrieval.hits for name, retrieval in firsts.items()}
    made = Measurement(
        notebook=session.notebook,
        facts={
            **session.facts(),
            **asdict(sureness),
            **told(session, firsts),
            **withholding.Known(session.dataset.chunks, unit).told(rankings_found, request.k),
            "doubts": doubts_of(session.dataset.chunks, questions),
            "primary": request.leading.label,
            "tops": tops,
            interest.REACHABLE: {label: float(np.nanmean(own)) for label, own in most.items()},
            "n_questions": len(asked),
            "n_without_relevant": len(questions) - len(asked),
            "n_clusters": None if clusters is None else len(set(clusters.values())),
            "unit": unit,
            **reading.told(session.settings, rankings_found, asked, labelled),
            **({"words": sorted(set(request.words))} if further else {}),
            "k": request.k,
            "repeats": request.repeats,
            "timed_questions": len(timing.chosen(asked, clock)),
            "slices_left_out": slices.left_out(asked, by),
            "tables": {"latencies": "latencies"},
        },
        scores=scores,
        questions=_questions(asked, unit, pages),
        retrieved=_retrieved(asked, firsts, unit, pages, request.k, ranked),
        estimates=estimates,
        comparisons=comparisons,
        extra={"latencies": timed.latencies, "misses": timed.misses},
        placed=(
            *timed.indexes,
            *timing.quantiles(timed.latencies, sureness.level),
            *curves.findings(ranked, request.k, labels, sureness),
            *(_reading(asked, firsts, further, labelled, request, labels, sureness) if further else ()),
            *slices.findings(scores, request.leading, session.systems, asked, by, clusters, sureness),
        ),
    )
    return withholding.applied(made)


def told(session: Session, retrievals: Mapping[str, Retrieval]) -> dict[str, Any]:
    """What facts say of the systems of a page: how each is made, who stands in, how many questions found nothing."""
    known = {name: dict(retrieval.facts) for name, retrieval in retrievals.items()}
    stands = [name for name, retrieval in retrievals.items() if retrieval.is_stand_in]
    return {
        "systems": described(session.settings, session.systems, known),
        "stand_ins": stand_ins.facts("retrieval", stands, own=True),
        "unanswered": {name: sum(not hits for hits in retrieval.hits) for name, retrieval in retrievals.items()},
    }


def _reading(
    asked: Sequence[Question],
    retrievals: Mapping[str, Retrieval],
    further: Mapping[str, tuple[int, Retrieval]],
    labelled: LabelledText,
    request: Tier1Request,
    labels: Sequence[str] | None,
    sureness: Sureness,
) -> list[Finding]:
    """Recall by words read, and how many words the first k hold."""
    at = reading.limits(request.words)
    values: dict[str, Array] = {
        name: reading.shown(labelled, asked, retrieval.hits, at, depth, retrieval.untold)
        for name, (depth, retrieval) in further.items()
    }
    return [
        *reading.findings(values, at, request.words, labels, sureness),
        *reading.lengths(
            labelled, {name: retrieval.hits for name, retrieval in retrievals.items()}, request.k, labels, sureness
        ),
    ]


def _retrieve(
    session: Session, asked: Sequence[Question], request: Tier1Request, labels: Sequence[str] | None
) -> tuple[dict[str, list[Retrieval]], timing.Timed, dict[str, tuple[int, Retrieval]]]:
    """All runs of every system, the first one first, what the clock said, and (where systems cut passages differently)
    rankings long enough to be read to as many words as are wanted, with how many hits each was to have."""
    import pandas as pd

    from ragbench.systems import make, once, steps

    data = session.dataset
    runs: dict[str, list[Retrieval]] = {}
    further: dict[str, tuple[int, Retrieval]] = {}
    with session.store() as store:
        opened = once(store)
        made: dict[str, System] = {name: make(name, session.settings, store, data, opened) for name in session.systems}
        searched = {name: getattr(system, "searched", data.chunks) for name, system in made.items()}
        depth = max(hits_for(chunks, request.k, request.unit) for chunks in searched.values())
        for name in made:
            with session.progress(name, steps(len(data.chunks), len(asked), request.repeats)) as progress:
                first = made[name].retrieve(asked, depth, progress=progress)
                runs[name] = consistency.repeated(made[name], first, asked, depth, request.repeats, progress)
        rankings = {name: own[0].hits for name, own in runs.items()}
        by_words = request.unit == "chunk" and request.words and reading.differ(session.settings, rankings)
        for name in made if by_words else ():
            if made[name].description["kind"] == "configured":
                deep = reading.depth(searched[name], max(request.words))
                further[name] = deep, made[name].retrieve(asked, deep)
            else:
                further[name] = depth, runs[name][0]  # of the user's own: it is not asked once more
        asking, clock = (made, store, asked, depth), request.take(Clock)
        indexes, misses = timing.indexes(*asking, clock, session.progress, request.take(Sureness), labels)
        read = [timing.latencies(*asking, data.content_hash, clock, session.progress)]
        read += [timing.noted(name, asked, runs[name][0]) for name in made if made[name].description["kind"] == "http"]
        timed = {asked[place].id for place in timing.chosen(asked, clock)}
        latencies = pd.concat([part for part in read if len(part)] or read[:1], ignore_index=True)
        latencies = latencies[latencies["sample"].isin(timed)].reset_index(drop=True)
        return runs, timing.Timed(latencies, indexes, misses), further


def hits_for(searched: Sequence[Chunk], k: int, unit: Unit) -> int:
    """How many chunks hold at least k pages: with at most m chunks a page, (k − 1) · m + 1."""
    if unit == "chunk":
        return k
    most = max(Counter(chunk.url for chunk in searched).values())
    return min((k - 1) * most + 1, requests.MOST_RETRIEVED, len(searched))


def _scores(
    system: str, asked: Sequence[Question], runs: Sequence[Retrieval], ranking: Ranking, request: Tier1Request
) -> list[tuple[Any, ...]]:
    from ragbench.metrics.evaluation import evaluate
    from ragbench.systems.retrieval import UNTOLD

    own = {each.label: functions.ranked(each, ranking) for each in request.rankings if each.is_users}
    values = evaluate(ranking, [each for each in request.rankings if not each.is_users])
    values |= {label: given for label, (given, _) in own.items()}
    why, untold = runs[0].errors, runs[0].untold
    rows: list[tuple[Any, ...]] = []
    for each in request.chosen:
        if each.label == consistency.NAME:
            rows += consistency.rows(system, each, asked, runs, request.repeats, request.unit, request.k)
        else:
            rows += [
                (system, each.label, question.id, math.nan, Status.MISSING_FIELD.value, UNTOLD, None)
                if question.id in untold
                else (system, each.label, question.id, math.nan, Status.FUNCTION_ERROR.value, said, None)
                if (said := _failed(float(value), own.get(each.label)))
                else (system, each.label, question.id, float(value), Status.OK.value, why.get(question.id, ""), None)
                for question, value in zip(asked, values[each.label], strict=True)
            ]
    return rows


def _failed(value: float, own: tuple[Any, str] | None) -> str:
    """Why a function of the user's gave no value of a question; empty where it did, and of any other metric."""
    return "" if own is None or not math.isnan(value) else own[1] or "it returned nan"


def _retrieved(
    asked: Sequence[Question],
    retrievals: Mapping[str, Retrieval],
    unit: Unit,
    pages: Mapping[str, str | None],
    k: int,
    ranked: Mapping[str, Ranking],
) -> pd.DataFrame:
    """The first k documents of every ranking with their gains; a page stands with the first of its chunks."""
    rows = []
    for name, retrieval in retrievals.items():
        for question, hits, gains in zip(asked, retrieval.hits, ranked[name].gains, strict=True):
            documents = [hit for _document, hit in first(hits, unit)[:k]]
            by_chunk = {hit.chunk.id: float(gain) for hit, gain in zip(documents, gains, strict=False)}
            rows.append((name, question.id, documents, by_chunk))
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
    return ranking_arrays.by_page([[]], [question.relevant], pages, [question.relevant_urls])[1][0]
