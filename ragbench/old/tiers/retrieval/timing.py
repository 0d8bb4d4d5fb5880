"""Questions asked one by one: how long each takes, whether it finds the same again, and what an index gains and loses.

Clock readings are taken once for the same inputs and kept in the database, so that a page made again is the same page.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ragbench.old import stats
from ragbench.old.core import folders
from ragbench.old.core.measurement import NamedEstimate
from ragbench.old.core.metric import Metric
from ragbench.old.core.progress import Progress
from ragbench.old.core.types import Array, Chunk, Hit, Question, Sample
from ragbench.old.core.types.reason import Reason, kept
from ragbench.old.metrics import ranking_arrays
from ragbench.old.tiers.basics.findings import Sureness

if TYPE_CHECKING:
    import pandas as pd

    from ragbench.old.store import Store
    from ragbench.old.systems import Retrieval, System


PROBABILITIES = (0.5, 0.9, 0.99)  # median, and the tails that users notice
TURNS = 10
SCANNED = 10_000_000  # numbers in vectors, of which exact search reads every one, each question as long as the next
SCANS = 100  # questions at least that exact search is timed on, evenly chosen, where it reads so many
WARMING = 5  # questions before the clock runs: connections, caches and code are in place then
LATENCIES = ("system", "sample", "part", "ms")
READINGS = ("system", "place", "sample", "ms", "recall")
MISSES = ("system", "part", "ef_search", "sample", "recall")

INDEXES, TIMED = "index_readings", "timed"
"""Tables: readings of indexes; which questions the clock was to be read for."""

Watch = Callable[[str, int], Progress]
"""Begins a bar: of what, and of how many units. Only what is measured now has one, no reading that is kept."""
Kept = Callable[[Callable[[], Mapping[str, Array]]], Mapping[str, Array]]
"""Readings that are kept, or else measured by what is given, and kept."""


@dataclass(frozen=True)
class Clock:
    """What is timed: how many questions one by one, HNSW at which ef_search, and whether kept readings are replaced."""

    timed_questions: int
    ef_searches: Sequence[int] = ()
    fresh_timings: bool = False


def chosen(asked: Sequence[Question], clock: Clock) -> list[int]:
    """Places of the questions that are timed: all, or as many as wanted at even steps through the data set."""
    if len(asked) <= clock.timed_questions:
        return list(range(len(asked)))
    return sorted({int(place) for place in np.linspace(0, len(asked) - 1, clock.timed_questions)})


def timed(asked: Sequence[Question], clock: Clock) -> pd.DataFrame:
    """The table TIMED: a row a question."""
    import pandas as pd

    return pd.DataFrame({"sample": [asked[place].id for place in chosen(asked, clock)]}, dtype=object)


def latencies(
    systems: Mapping[str, System],
    store: Store,
    asked: Sequence[Question],
    depth: int,
    data_hash: str,
    clock: Clock,
    watch: Watch,
) -> pd.DataFrame:
    """Milliseconds of each timed question by part: "embed" and "search", or "call" for a function of the user's own.

    Logged results and services have none: theirs were read when they were asked, see `noted`.
    """
    import pandas as pd

    timed = [asked[place] for place in chosen(asked, clock)]
    rows: list[tuple[Any, ...]] = []
    for name, system in systems.items():
        if system.description["kind"] in ("logged", "http") or not timed:
            continue
        about, once = _about(system, timed, depth, data_hash)
        kept = partial(store.readings, once, fresh=clock.fresh_timings)
        readings = store.readings(
            about, partial(_one_by_one, name, system, timed, depth, watch, kept), fresh=clock.fresh_timings
        )
        rows += [
            (name, question.id, part, float(ms))
            for part in sorted(readings)
            for question, ms in zip(timed, readings[part], strict=True)
        ]
    return pd.DataFrame(rows, columns=list(LATENCIES))


def _about(
    system: System, timed: Sequence[Question], depth: int, data_hash: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the readings of single questions hang on; and those of embedding, which hang on no depth."""
    about = {
        "what": "latency of one statement", "system": dict(system.description), "source": source(system),
        "data": data_hash, "k": depth, "questions": [question.id for question in timed],
        **_building(getattr(system, "dense", None)),
    }  # fmt: skip
    return about, {key: value for key, value in about.items() if key != "k"} | {"what": "latency of one embedding"}


def warmed(asked: Sequence[Question], clock: Clock) -> tuple[Question, ...]:
    """The questions that are embedded for the clock, in order: first those before it runs."""
    timed = [asked[place] for place in chosen(asked, clock)]
    return *timed[:WARMING], *timed


def unread(
    system: Any, store: Store, *, page: str, asked: Sequence[Question], depth: int, data_hash: str, clock: Clock
) -> str | None:
    """What tells the readings for which `latencies` of this page would embed with this configured system from others;
    None where they are kept. Raises StoreError."""
    timed = [asked[place] for place in chosen(asked, clock)]
    about, once = _about(system, timed, depth, data_hash)
    if clock.fresh_timings:
        return f"{page}, {system.name}"
    hung_on = [about] if system.dense is None else [about, once]
    return None if store.found(hung_on) else json.dumps(hung_on[-1], sort_keys=True)


def noted(name: str, asked: Sequence[Question], retrieval: Retrieval) -> pd.DataFrame:
    """Milliseconds of the stages that a log knows, or that were read when a service was asked."""
    import pandas as pd

    rows = [
        (name, question.id, part, float(ms))
        for part, taken in retrieval.logged_ms.items()
        for question, ms in zip(asked, taken, strict=True)
        if ms == ms
    ]
    return pd.DataFrame(rows, columns=list(LATENCIES))


def quantiles(readings: pd.DataFrame, level: float) -> tuple[NamedEstimate, ...]:
    """The median, the 90th and the 99th percentile of every system and `step`, with order-statistic intervals.

    "both" is embedding and search of the same question together.
    """
    made: list[NamedEstimate] = []
    for system in dict.fromkeys(readings["system"]):
        own = readings[readings["system"] == system].pivot(index="sample", columns="part", values="ms")
        parts = {str(part): own[part].to_numpy() for part in own.columns}
        if parts.keys() >= {"embed", "search"}:
            parts["both"] = parts["embed"] + parts["search"]
        for part, values in parts.items():
            for probability in PROBABILITIES:
                e = stats.quantile(values, probability, level=level)
                made.append(NamedEstimate(system, "latency", e, {"step": part, "probability": probability}))
    return tuple(made)


def index_readings(
    systems: Mapping[str, System],
    store: Store,
    asked: Sequence[Question],
    depth: int,
    clock: Clock,
    watch: Watch,
) -> pd.DataFrame:
    """For every embedder under test: exact search and HNSW at each ef_search, on the timed questions (READINGS).

    place: which `index` and how it was built, and of which `part` of a hybrid, as JSON. ms: NaN where it was not asked.
    recall: the share of the exact nearest chunks that were found. Of what a chunker cuts, pieces are
    searched; a rewriter and a reranker are left out. Recall is kept with the readings, because an index that is
    built again is another graph. Vectors too wide for an index are left out.
    """
    import pandas as pd

    from ragbench.old.store.search import WIDEST_HALF

    timed = [asked[place] for place in chosen(asked, clock)]
    rows: list[tuple[Any, ...]] = []
    for (name, part), dense in _distinct(systems).items() if clock.ef_searches and timed else ():
        texts = [question.text for question in timed]
        queries = dense.store.vectors(dense.embedder, texts, kind="query", batch=dense.batch)
        if queries.shape[1] > WIDEST_HALF:
            continue
        if not (ways := _ways(dense, clock.ef_searches)):
            continue
        about = {
            "what": "index, one statement", "embedder": dense.embedder.identity, "ways": ways,
            "data": dense.dataset.content_hash, "k": depth, "questions": [question.id for question in timed],
            **_building(dense),
        }  # fmt: skip
        read = store.readings(
            about,
            partial(_in_turns, name, store, dense, queries, depth, ways, watch),
            fresh=clock.fresh_timings,
        )
        for way, how in ways.items():
            place = json.dumps({**how, "part": part} if part else how)
            columns = read[f"{way} ms"].tolist(), read[f"{way} recall"].tolist()
            rows += [(name, place, q.id, *values) for q, *values in zip(timed, *columns, strict=True)]
    return pd.DataFrame(rows, columns=list(READINGS))


def indexes(
    readings: pd.DataFrame, clusters: Mapping[str, str] | None, sureness: Sureness
) -> tuple[tuple[NamedEstimate, ...], pd.DataFrame]:
    """`median_latency` in milliseconds, and of HNSW `recall_against_exact`, each at its place; and the questions of
    which an index missed something (MISSES)."""
    import pandas as pd

    made: list[NamedEstimate] = []
    missed: list[tuple[Any, ...]] = []
    for key, own in readings.groupby(["system", "place"], sort=False):
        name, told = cast("tuple[str, str]", key)
        place, ms = json.loads(told), own["ms"].to_numpy(dtype=float)
        made.append(
            NamedEstimate(name, "median_latency", stats.quantile(ms[~np.isnan(ms)], 0.5, level=sureness.level), place)
        )
        if place["index"] == "exact":
            continue
        labels = None if clusters is None else [clusters[sample] for sample in own["sample"]]
        recalls = own["recall"].to_numpy(dtype=float)
        recall = stats.estimate(recalls, clusters=labels, bounds=(0.0, 1.0), **asdict(sureness))
        made.append(NamedEstimate(name, "recall_against_exact", recall, place))
        short = own[own["recall"] < 1]
        missed += [
            (name, place.get("part", ""), place["ef_search"], sample, float(recall))
            for sample, recall in zip(short["sample"], short["recall"], strict=True)
        ]
    return tuple(made), pd.DataFrame(missed, columns=list(MISSES))


def _one_by_one(
    name: str, system: Any, timed: Sequence[Question], depth: int, watch: Watch, kept: Kept
) -> dict[str, Array]:
    """kept: keeps the readings of embedding, which hang on no depth: another one does not read them again."""
    from ragbench.old.systems import steps

    with watch(f"{name}, timed one by one", steps(0, len(timed))) as progress:
        return _each_timed(system, timed, depth, progress, kept)


def _each_timed(system: Any, timed: Sequence[Question], depth: int, progress: Progress, kept: Kept) -> dict[str, Array]:
    if system.description["kind"] != "configured":
        system.retrieve(timed[:1], depth)
        return {"call": system.retrieve(timed, depth, progress=progress, fresh=True).search_ms}
    if system.dense is None:
        return _through_all_parts(system, timed, depth, progress)
    dense, read = system.dense, list[str]()
    embed = kept(partial(_embedding, dense, timed, read, progress))["embed"]
    progress(len(timed) - len(read))
    queries = dense.store.vectors(
        dense.embedder, [question.text for question in timed], kind="query", batch=dense.batch
    )
    dense.nearest(queries[:WARMING], depth, dense.how, alone=True)
    hits = dense.nearest(queries, depth, dense.how, alone=True, progress=progress)
    return {"embed": embed, "search": hits.milliseconds}


def _through_all_parts(system: Any, timed: Sequence[Question], depth: int, progress: Progress) -> dict[str, Array]:
    """A question at which a part fails has no readings."""
    from ragbench.old.systems import RetrievalError

    def taken(question: Question) -> dict[str, float]:
        try:
            return dict(system.timed(question, depth))
        except RetrievalError:
            return {}

    system.prepare()
    for question in timed[:WARMING]:
        taken(question)
    readings = []
    for question in timed:
        readings.append(taken(question))
        progress(2)
    parts = dict.fromkeys(part for reading in readings for part in reading)
    return {part: np.array([reading.get(part, np.nan) for reading in readings]) for part in parts}


def _embedding(dense: Any, timed: Sequence[Question], read: list[str], progress: Progress) -> dict[str, Array]:
    """read: takes the ids of the questions as they are read."""
    for question in timed[:WARMING]:
        dense.embedded([question.text])
    embed = np.zeros(len(timed))
    for place, question in enumerate(timed):
        begun = time.perf_counter()
        dense.embedded([question.text])
        embed[place] = (time.perf_counter() - begun) * 1000
        read.append(question.id)
        progress()
    return {"embed": embed}


def _in_turns(
    name: str,
    store: Store,
    dense: Any,
    queries: Any,
    depth: int,
    ways: Mapping[str, Mapping[str, Any]],
    watch: Watch,
) -> dict[str, Array]:
    """Milliseconds of one round trip a question, and its recall against exact search, for each way of searching; NaN
    where it was not asked: exact search of much is asked some of the questions.

    The ways take turns, some questions at a time and each first as often as last, so that a machine that is busy for
    a while is busy for all of them.
    """
    from ragbench.old.store import recalls_against_exact

    data_hash = dense.dataset.content_hash
    search = partial(dense.nearest, k=depth, alone=True)
    much = len(dense.dataset.chunks) * queries.shape[1] >= SCANNED
    every = np.arange(len(queries))
    some = _evenly(len(queries), SCANS) if much else every
    asked = {way: some if how["index"] == "exact" else every for way, how in ways.items()}
    readings = {f"{way} {what}": np.full(len(queries), np.nan) for way in ways for what in ("ms", "recall")}
    with watch(f"{name}, indexes", sum(map(len, asked.values()))) as progress:
        progress.say(lambda: "building them")
        exact = store.exact_in_blocks(data_hash, dense.embedder, queries, depth)
        for how in ways.values():
            search(queries[:WARMING], how=how)
        turns = min(TURNS, *map(len, asked.values()))
        parts = {way: np.array_split(places, turns) for way, places in asked.items()}
        for turn in range(turns):
            progress.say(lambda: "searching in turns")
            for way in list(ways)[:: 1 if turn % 2 else -1]:
                places = parts[way][turn]
                hits = search(queries[places], how=ways[way], progress=progress)
                nearest = replace(
                    exact,
                    ids=[exact.ids[place] for place in places],
                    similarities=[exact.similarities[place] for place in places],
                )
                readings[f"{way} ms"][places] = hits.milliseconds
                readings[f"{way} recall"][places] = recalls_against_exact(hits, nearest)
    return readings


def _evenly(number: int, least: int) -> NDArray[np.int64]:
    """Places at even steps through so many, as few as there may be; all where these are fewer."""
    return np.arange(0, number, max(1, number // least))


def _distinct(systems: Mapping[str, System]) -> dict[tuple[str, str], Any]:
    """(system, part of a hybrid or "") → what is dense: the first of every embedder, what it searches, and way of
    building an index; those that are all there is to a system before those that are not."""
    builds: dict[tuple[Any, ...], tuple[tuple[str, str], Any]] = {}
    for is_alone in (True, False):
        for name, system in systems.items():
            if (getattr(system, "dense", None) is not None) is not is_alone:
                continue
            for part, dense in getattr(system, "embedding", {}).items():
                built = (dense.settings.m, dense.settings.ef_construction, *_building(dense).values())
                builds.setdefault((dense.embedder.identity, dense.dataset.content_hash, *built), ((name, part), dense))
    return dict(builds.values())


def _ways(dense: Any, ef_searches: Sequence[int]) -> dict[str, dict[str, Any]]:
    """Exact search, and HNSW at each ef_search, by names; the user's own where that is searched, nothing where it is no
    HNSW."""
    if dense.own is not None:
        own = {f"own {ef}": dense.own_at(ef) for ef in dict.fromkeys(ef_searches) if dense.own.built.kind == "hnsw"}
        return {"exact": {"index": "exact"}, **own} if own else {}
    built = {"m": dense.settings.m, "ef_construction": dense.settings.ef_construction}
    hnsw = {f"hnsw {ef}": {"index": "hnsw", **built, "ef_search": ef} for ef in dict.fromkeys(ef_searches)}
    return {"exact": {"index": "exact"}, **hnsw}


def _building(dense: Any) -> dict[str, str]:
    """What tells one building of the user's own index from the next; nothing where it is not searched."""
    own = getattr(dense, "own", None)
    return {} if own is None else {"own": f"{own.name} {own.building}"}


def source(system: Any) -> str:
    """What tells one version of the user's own function from the next: the hash of the file it stands in."""
    import sys
    from pathlib import Path

    module = sys.modules.get(str(system.description.get("callable", "")).partition(":")[0])
    path = getattr(module, "__file__", None)
    return folders.digest(Path(path)) if path else ""


NAME = "retrieval_consistency"
ONCE = Reason("every question was asked once: repeats = 2 or more are needed")
LOGGED = Reason("what was logged cannot be asked again")


def repeated(
    system: System, first: Retrieval, asked: Sequence[Question], depth: int, repeats: int, progress: Any
) -> list[Retrieval]:
    """The first run and repeats − 1 more, in which nothing that is stored of a question is read.

    Logged results cannot be asked again: only the first run comes back.
    """
    from ragbench.old.systems import steps

    if system.description["kind"] == "logged":
        progress(steps(0, len(asked), repeats - 1))
        return [first]
    again = (system.retrieve(asked, depth, progress=progress, fresh=True) for _ in range(repeats - 1))
    return [first, *again]


def rows(
    system: str,
    metric: Metric,
    asked: Sequence[Question],
    runs: Sequence[Retrieval],
    repeats: int,
    unit: ranking_arrays.Unit,
    k: int,
) -> list[tuple[Any, ...]]:
    """Rows of scores: the share of repeats whose first k documents are those of the first run, in order.

    Unmeasured, with the reason, where there is no repeat, and where a question failed in one of the runs.
    """
    from ragbench.old.systems.retrieval import UNTOLD

    scored = []
    for place, question in enumerate(asked):
        turns = [_turn(question, run.hits[place], run.errors.keys() | run.untold, unit, k) for run in runs]
        score = metric(turns)
        reason = score.reason
        if len(runs) < 2:
            reason = ONCE if repeats < 2 else LOGGED
        elif question.id in runs[0].untold:
            reason = UNTOLD
        scored.append((system, metric.label, question.id, score.value, score.status.value, kept(reason), None))
    return scored


def _turn(question: Question, hits: Sequence[Hit], without: Set[str], unit: ranking_arrays.Unit, k: int) -> Sample:
    if question.id in without:
        return Sample(question.id)
    documents = first(hits, unit)[:k]
    return Sample(question.id, contexts=tuple(Chunk(name, hit.chunk.text) for name, hit in documents))


def first(hits: Sequence[Hit], unit: ranking_arrays.Unit) -> list[tuple[str, Hit]]:
    """Documents of a ranking in order, each with its first hit: chunks by id, or pages by URL."""
    documents: dict[str, Hit] = {}
    for hit in hits:
        documents.setdefault((hit.chunk.url if unit == "url" else None) or hit.chunk.id, hit)
    return list(documents.items())
