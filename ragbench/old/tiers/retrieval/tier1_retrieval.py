"""Tier 1: how well systems find the relevant chunks or pages, measured in PostgreSQL, question by question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from ragbench.old.core import stand_ins
from ragbench.old.core.facts import Facts
from ragbench.old.core.measurement import SCORE_COLUMNS, Evidence, Finding, Findings
from ragbench.old.core.metric import Metric, parse
from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Array, Chunk, Question, Ranking, Status
from ragbench.old.data import Dataset, doubts_of
from ragbench.old.metrics import catalogue, declaration, ranking_arrays
from ragbench.old.metrics.ranking_arrays.coverage import ENOUGH, LabelledText
from ragbench.old.tiers.basics import bands, design, requests, withholding
from ragbench.old.tiers.basics.choices import BenchError, parted
from ragbench.old.tiers.basics.design import Design, left_out, of_slices
from ragbench.old.tiers.basics.findings import Sureness, leading
from ragbench.old.tiers.basics.requests import Draws, tier
from ragbench.old.tiers.basics.session import Need, Needed, Session, described
from ragbench.old.tiers.retrieval import reading, timing
from ragbench.old.tiers.retrieval.timing import Clock, first
from ragbench.old.tiers.scoring import functions, own_metrics

if TYPE_CHECKING:
    import pandas as pd

    from ragbench.old.systems import Retrieval, System

SHOWN, READ = "shown", "read"
"""Tables: what so many words of a ranking show of the labelled text, and how many words the first k documents hold."""
ADDED = ("grade", "share", "reached")
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
        _ = self.leading, design.chosen(self.slice_by)

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


def state(evidence: Evidence) -> Findings:
    """Means and comparisons by every metric; what indexes give up, latencies, curves, recall by words read, slices."""
    design, facts, extra = Design(evidence), evidence.facts, evidence.extra
    if not design.asked or not design.systems:
        return Findings()
    estimates, comparisons = design.means()
    how = design.labels, design.sureness
    indexes, misses = timing.indexes(extra[timing.INDEXES], design.clusters, design.sureness)
    placed: list[Finding] = [*indexes, *timing.quantiles(extra["latencies"], design.sureness.level)]
    placed += reading.by_depth(_rankings(evidence, design), facts["k"], *how)
    if SHOWN in extra:
        placed += reading.findings(_by_limit(extra[SHOWN], design), facts["words"], *how)
        placed += reading.lengths(_by_question(extra[READ], "words", design), facts["k"], *how)
    if (leading := declaration(design.primary)) is not None:
        placed += of_slices(
            evidence.scores, leading, design.systems, design.asked, design.dimensions, design.clusters, design.sureness
        )
    found = evidence.retrieved.groupby("system")["sample"].nunique()
    counts: Facts = {
        **design.counts(),
        "unanswered": {name: len(design.asked) - int(found.get(name, 0)) for name in design.systems},
        "timed_questions": len(extra[timing.TIMED]),
        "slices_left_out": left_out(design.asked, design.dimensions),
    }
    return Findings(estimates, comparisons, tuple(placed), counts, {"misses": misses})


@tier(Tier1Request, state)
def tier1_retrieval(request: Tier1Request) -> Evidence:
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
        known[timing.NAME],
    )
    for each in chosen:
        if each.grain != "ranking" and each.label != timing.NAME:
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


def measured(session: Session, request: Tier1Request) -> Evidence:
    """The same in an open session, which may hold other questions than the data set's own."""
    import pandas as pd

    from ragbench.old.metrics.ranking import reachable

    unit = request.unit
    pages = {chunk.id: chunk.url for chunk in session.dataset.chunks}
    if unit == "url" and None in pages.values():
        raise BenchError(f"unit = 'url', but chunks of {session.dataset.label} have no URL; use unit = 'chunk'")
    questions, asked = session.dataset.questions, request.asked(session.dataset)
    if not asked:
        raise BenchError(f"no question of {session.dataset.label} names a relevant {unit}: there is nothing to measure")
    retrieved = _retrieve(session, asked, request)
    firsts = {name: own[0] for name, own in retrieved.runs.items()}
    labelled = LabelledText(session.dataset.chunks, request.found_from)
    ids = [q.id for q in asked]
    ranked = {
        name: ranking_arrays.from_questions(
            asked,
            dict(zip(ids, run.hits, strict=True)),
            unit=unit,
            pages=pages,
            depth=request.k,
            labelled=labelled,
        )
        for name, run in firsts.items()
    }
    rows = [row for name, own in retrieved.runs.items() for row in _scores(name, asked, own, ranked[name], request)]
    most = reachable(next(iter(ranked.values())), [each for each in request.rankings if not each.is_users])
    rankings = {name: run.hits for name, run in firsts.items()}
    return Evidence(
        notebook=session.notebook,
        facts={
            **session.facts(),
            **request.take(Sureness).facts,
            **told(session, firsts),
            **withholding.Known(session.dataset.chunks, unit).told(rankings, request.k),
            "doubts": doubts_of(session.dataset.chunks, questions),
            "primary": request.leading.label,
            "tops": {label: float(np.nanmax(own)) for label, own in most.items()},
            bands.REACHABLE: {label: float(np.nanmean(own)) for label, own in most.items()},
            "cluster_by": request.cluster_by,
            "slice_by": list(design.chosen(request.slice_by)),
            "n_without_relevant": len(questions) - len(asked),
            "unit": unit,
            **reading.told(session.settings, rankings, asked, labelled),
            **({"words": sorted(set(request.words))} if retrieved.further else {}),
            "k": request.k,
            "repeats": request.repeats,
            "tables": {"latencies": "latencies"},
        },
        scores=pd.DataFrame(rows, columns=list(SCORE_COLUMNS)),
        questions=_questions(asked, unit, pages),
        retrieved=_retrieved(asked, firsts, unit, request.k, ranked),
        extra={
            "latencies": retrieved.latencies,
            timing.INDEXES: retrieved.indexes,
            timing.TIMED: timing.timed(asked, request.take(Clock)),
            reading.TABLE: reading.table(ranked, reading.chosen(request.leading.label, request.rankings), ids),
            **(_read(asked, firsts, retrieved.further, labelled, request) if retrieved.further else {}),
        },
    )


def told(session: Session, retrievals: Mapping[str, Retrieval]) -> Facts:
    """What facts say of the systems of a page: how each is made, and who stands in."""
    known = {name: dict(retrieval.facts) for name, retrieval in retrievals.items()}
    stands = [name for name, retrieval in retrievals.items() if retrieval.is_stand_in]
    return {
        "systems": described(session.settings, session.systems, known),
        "stand_ins": stand_ins.facts("retrieval", stands, own=True),
    }


def _read(
    asked: Sequence[Question],
    found: Mapping[str, Retrieval],
    further: Mapping[str, tuple[int, Retrieval]],
    labelled: LabelledText,
    request: Tier1Request,
) -> dict[str, pd.DataFrame]:
    """What so many words show of the labelled text, and how many words the first k hold, question by question."""
    import pandas as pd

    at = reading.limits(request.words)
    shown = [
        (name, question.id, limit, share)
        for name, (depth, run) in further.items()
        for question, shares in zip(
            asked, reading.shown(labelled, asked, run.hits, at, depth, run.untold).tolist(), strict=True
        )
        for limit, share in zip(at, shares, strict=True)
    ]
    words = [
        (name, question.id, sum(labelled.words(hit.chunk) for hit in hits[: request.k]))
        for name, run in found.items()
        for question, hits in zip(asked, run.hits, strict=True)
    ]
    return {
        SHOWN: pd.DataFrame(shown, columns=["system", "sample", "limit", "share"]),
        READ: pd.DataFrame(words, columns=["system", "sample", "words"]),
    }


def _by_question(table: pd.DataFrame, column: str, design: Design) -> dict[str, Array]:
    """System → (questions,) what the table has of each question, in their order; NaN where that is nothing."""
    ids = [question.id for question in design.asked]
    wide = table.pivot(index="sample", columns="system", values=column).reindex(ids)
    return {name: wide[name].to_numpy(dtype=float) for name in design.systems if name in wide}


def _by_limit(shown: pd.DataFrame, design: Design) -> dict[int, dict[str, Array]]:
    """Number of words → system → (questions,) shares."""
    limits = sorted(set(shown["limit"].tolist()))
    return {limit: _by_question(shown[shown["limit"] == limit], "share", design) for limit in limits}


def _rankings(evidence: Evidence, design: Design) -> dict[str, Ranking]:
    """The rankings of every system, as deep as they are kept."""
    ordered = evidence.retrieved.sort_values("rank", kind="stable")
    columns = ["gain", *(name for name in ADDED if name in ordered)]
    lists = [ordered.groupby(["system", "sample"])[column].agg(list).to_dict() for column in columns]
    relevant = dict(zip(evidence.questions["sample"], evidence.questions["gains"], strict=True))
    wanted = [relevant[question.id] for question in design.asked]
    made = {}
    for name in design.systems:
        gains, *added = ([own.get((name, question.id), []) for question in design.asked] for own in lists)
        made[name] = ranking_arrays.from_gains(gains, wanted, added)
    return made


@dataclass
class _Retrieved:
    """runs: of every system, the first one first. latencies, indexes: what the clock said. further: where systems cut
    passages differently, rankings long enough to be read to as many words as are wanted, with how many hits each was to
    have."""

    runs: dict[str, list[Retrieval]]
    latencies: pd.DataFrame
    indexes: pd.DataFrame
    further: dict[str, tuple[int, Retrieval]]


def _retrieve(session: Session, asked: Sequence[Question], request: Tier1Request) -> _Retrieved:
    """All runs of every system."""
    import pandas as pd

    from ragbench.old.systems import make, once, steps

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
                runs[name] = timing.repeated(made[name], first, asked, depth, request.repeats, progress)
        rankings = {name: own[0].hits for name, own in runs.items()}
        by_words = request.unit == "chunk" and request.words and reading.differ(session.settings, rankings)
        for name in made if by_words else ():
            if made[name].description["kind"] == "configured":
                deep = reading.depth(searched[name], max(request.words))
                further[name] = deep, made[name].retrieve(asked, deep)
            else:
                further[name] = depth, runs[name][0]  # of the user's own: it is not asked once more
        asking, clock = (made, store, asked, depth), request.take(Clock)
        indexes = timing.index_readings(*asking, clock, session.progress)
        read = [timing.latencies(*asking, data.content_hash, clock, session.progress)]
        read += [timing.noted(name, asked, runs[name][0]) for name in made if made[name].description["kind"] == "http"]
        timed = {asked[place].id for place in timing.chosen(asked, clock)}
        latencies = pd.concat([part for part in read if len(part)] or read[:1], ignore_index=True)
        latencies = latencies[latencies["sample"].isin(timed)].reset_index(drop=True)
        return _Retrieved(runs, latencies, indexes, further)


def hits_for(searched: Sequence[Chunk], k: int, unit: Unit) -> int:
    """How many chunks hold at least k pages: with at most m chunks a page, (k − 1) · m + 1."""
    if unit == "chunk":
        return k
    most = max(Counter(chunk.url for chunk in searched).values())
    return min((k - 1) * most + 1, requests.MOST_RETRIEVED, len(searched))


def _scores(
    system: str, asked: Sequence[Question], runs: Sequence[Retrieval], ranking: Ranking, request: Tier1Request
) -> list[tuple[Any, ...]]:
    from ragbench.old.metrics.ranking import evaluate
    from ragbench.old.systems.retrieval import UNTOLD

    own = {each.label: functions.ranked(each, ranking) for each in request.rankings if each.is_users}
    values = evaluate(ranking, [each for each in request.rankings if not each.is_users])
    values |= {label: given for label, (given, _) in own.items()}
    why, untold = runs[0].errors, runs[0].untold
    rows: list[tuple[Any, ...]] = []
    for each in request.chosen:
        if each.label == timing.NAME:
            rows += timing.rows(system, each, asked, runs, request.repeats, request.unit, request.k)
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
    k: int,
    ranked: Mapping[str, Ranking],
) -> pd.DataFrame:
    """The first k documents of every ranking with their gains; a page stands with the first of its chunks. Of pieces
    also ADDED, what each adds to those above it."""
    rows, added = [], []
    for name, run in retrievals.items():
        coverage = ranked[name].coverage
        for place, (question, hits, gains) in enumerate(zip(asked, run.hits, ranked[name].gains, strict=True)):
            documents = [hit for _document, hit in first(hits, unit)[:k]]
            by_chunk = {hit.chunk.id: float(gain) for hit, gain in zip(documents, gains, strict=False)}
            rows.append((name, question.id, documents, by_chunk))
            if coverage is None:
                added += [(gain, float(gain > 0), gain > 0) for gain in gains[: len(documents)]]
            else:
                own = coverage.grades[place], coverage.shares[place], coverage.reached[place]
                added += zip(*(column[: len(documents)] for column in own), strict=True)
    table = design.retrieved(rows)
    if all(ranking.coverage is None for ranking in ranked.values()):
        return table
    return table.assign(**dict(zip(ADDED, zip(*added, strict=True), strict=True)))


def _questions(asked: Sequence[Question], unit: Unit, pages: Mapping[str, str | None]) -> pd.DataFrame:
    """The questions with `gains`, one for each document that is `relevant`."""
    gains = [gains_of(question, unit, pages) for question in asked]
    table = design.questions([replace(q, relevant=own) for q, own in zip(asked, gains, strict=True)], "source")
    column: list[Any] = [[float(own[name]) for name in sorted(own)] for own in gains]
    return table.assign(gains=column)


def gains_of(question: Question, unit: Unit, pages: Mapping[str, str | None]) -> Mapping[str, float]:
    """What is relevant to a question in this unit; pages: chunk → its page."""
    if unit == "chunk":
        return question.relevant
    return ranking_arrays.by_page([[]], [question.relevant], pages, [question.relevant_urls])[1][0]
