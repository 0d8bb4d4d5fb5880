"""Tier 3: from the question over what is retrieved to the judged answer, as a user gets it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from ragbench import stand_ins
from ragbench.bench.answers import answer_scores, decomposition, profiles, stages
from ragbench.bench.answers.blame import Standard
from ragbench.bench.answers.decomposition import Blaming
from ragbench.bench.answers.tier2_generation import (
    described_writers,
    embedding_stand_ins,
    primary,
    questions_table,
    sliced,
)
from ragbench.bench.answers.written_answers import Contexts, Own, answered
from ragbench.bench.basics import ranges, slices
from ragbench.bench.basics.families import Sureness
from ragbench.bench.basics.session import BenchError, Session, kept
from ragbench.bench.retrieval import timing
from ragbench.bench.scoring.judged_metrics import OFFLINE, Judging
from ragbench.datasets import doubts_of
from ragbench.measurement import RETRIEVED_COLUMNS, Measurement
from ragbench.metric import Metric
from ragbench.types import Question

if TYPE_CHECKING:
    import pandas as pd

    from ragbench.store import Store
    from ragbench.systems import Retrieval, System

METRICS = (
    "e2e_score", "semantic_similarity", "dot_similarity", "euclidean_distance", *answer_scores.TEXTS,
    *answer_scores.REPEATED,
)  # fmt: skip
PRIMARY = "e2e_score"
KEYS = (PRIMARY, "semantic_similarity", "rougeL_f", "response_exact_match_rate")


def tier3_end_to_end(
    dataset: str = "",
    systems: str | Sequence[str] = "",
    *,
    baseline: str = "",
    metrics: str | Sequence[str] = "",
    judges: str | Sequence[str] = "",
    aggregate: str = "mean",
    tolerance: float | None = None,
    quorum: int | None = None,
    embedder: str = "",
    k: int = 10,
    contexts: int = 5,
    repeats: int = 1,
    length_limit: int | None = None,
    slice_by: str | Sequence[str] = slices.DIMENSIONS,
    timed_questions: int = 100,
    fresh_timings: bool = False,
    correctness: str = "e2e_score",
    faithfulness: str = "faithfulness_rating",
    right_from: float | None = None,
    faithful_from: float | None = None,
    production_judge: str = "",
    perfect_parts: bool = True,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    notebook: str = "tier3_end_to_end",
) -> Measurement:
    """Ask every system every question: it retrieves, its generator answers, the judges rate, the clock is read.

    k: chunks of each ranking that are looked at; contexts: how many of them the generator is shown. repeats: how often
    every question is asked, retrieved and answered anew; 1 leaves the repeatability of answers unmeasured.
    timed_questions: how many questions are embedded and searched one by one for the clock. correctness, faithfulness,
    right_from, faithful_from: what counts as right and as faithful where failures are blamed on parts, see
    `ragbench.bench.answers.blame.Standard`; production_judge, perfect_parts: see
    `ragbench.bench.answers.decomposition.Blaming`. The other parameters are as in
    `ragbench.bench.answers.tier2_generation` and `ragbench.bench.retrieval.tier1_retrieval`.

    A system that answers by itself (your function, logged answers) is measured on its own answers, unless its table
    names a generator. Means are over the questions that are not labelled as unanswerable; of those only refusals are
    counted. A question at which a system fails is unmeasured with the reason.
    Raises BenchError, DatasetError or StoreError, each with what is legal; ModelError when a provider refuses
    altogether.
    """
    ranges.check(
        repeats=repeats,
        length_limit=length_limit,
        k=k,
        contexts=contexts,
        timed_questions=timed_questions,
        quorum=quorum,
    )
    if contexts > k:
        raise BenchError(f"contexts = {contexts} is more than the k = {k} chunks that are retrieved; raise k")
    request = _Request(
        answer_scores.chosen(metrics, METRICS),
        Judging(judges, aggregate, tolerance, embedder, quorum=quorum),
        k,
        contexts,
        repeats,
        length_limit,
        slices.chosen(slice_by),
        timing.Clock(timed_questions, (), fresh_timings),
        Blaming(Standard(correctness, faithfulness, right_from, faithful_from), production_judge, perfect_parts),
        Sureness(level, resamples, seed),
    )
    return kept(notebook, lambda: _measure(Session.begin(notebook, dataset, systems, baseline), request))


@dataclass(frozen=True)
class _Request:
    """What is measured, by whom, and how sure one wants to be of it."""

    metrics: tuple[Metric, ...]
    judging: Judging
    k: int
    contexts: int
    repeats: int
    length_limit: int | None
    slice_by: tuple[str, ...]
    clock: timing.Clock
    blaming: Blaming
    sureness: Sureness


@dataclass
class _Found:
    """What every system retrieved in each repeat, and what the clock said.

    own: answers of systems that answer by themselves. unable: system → question id → why nothing came back.
    """

    runs: dict[str, list[Retrieval]] = field(default_factory=dict)
    own: dict[str, Own] = field(default_factory=dict)
    unable: dict[str, Mapping[str, str]] = field(default_factory=dict)
    readings: pd.DataFrame | None = None


def _measure(session: Session, request: _Request) -> Measurement:
    asked = session.dataset.questions
    scored = [q for q in asked if q.answerable is not False]
    if not scored:
        raise BenchError(f"every question of {session.dataset.label} is labelled as unanswerable: nothing to rate")
    decomposition.check(request.blaming, session)
    found = _retrieve(session, asked, request)
    turns = [_contexts(asked, found, number, request.contexts) for number in range(request.repeats)]
    answers = answered(
        session,
        asked,
        turns[0],
        repeats=request.repeats,
        length_limit=request.length_limit,
        own=found.own,
        again=turns[1:],
        unable=found.unable,
    )
    worth = answer_scores.measured(session, scored, answers, request.metrics, request.judging)
    estimates, comparisons = answer_scores.find(
        session, worth, answers, scored, request.metrics, request.sureness, session.systems
    )
    assert found.readings is not None, "the clock was read while retrieving"
    times = stages.readings(session, found.readings, answers, worth)
    firsts = {name: runs[0] for name, runs in found.runs.items()}
    clusters = answer_scores.clusters_of(scored)
    retrieved = _retrieved(asked, firsts)
    failures = decomposition.decomposed(
        session,
        asked,
        answers,
        retrieved,
        worth,
        request.blaming,
        request.judging,
        request.sureness,
        request.length_limit,
    )
    return Measurement(
        notebook=session.notebook,
        facts={
            **session.facts(),
            **asdict(request.sureness),
            **worth.facts,
            "doubts": doubts_of(session.dataset.chunks, asked),
            "primary": primary(request.metrics, PRIMARY),
            "key_metrics": [name for name in KEYS if name in {each.label for each in request.metrics}],
            "baseline": session.baseline if len(session.systems) > 1 else None,
            "n_questions": len(scored),
            "n_unanswerable": len(asked) - len(scored),
            "n_clusters": None if clusters is None else len(set(clusters.values())),
            "k": request.k,
            "contexts": request.contexts,
            "context": "retrieved",
            "length_limit": request.length_limit,
            "repeats": request.repeats,
            "timed_questions": len(timing.chosen(asked, request.clock)),
            "slices_left_out": slices.left_out(scored, request.slice_by),
            "generators": {name: dict(one) for name, one in answers.generators.items()},
            "cut": profiles.cut(answers),
            "failed": profiles.failed(answers),
            "empty": profiles.empty(answers),
            "blame": failures.facts,
            "systems": described_writers(session, session.systems, answers, {n: r.facts for n, r in firsts.items()}),
            "stand_ins": [
                *stand_ins.facts("retrieval", [name for name, one in firsts.items() if one.is_stand_in], own=True),
                *embedding_stand_ins(session, request.metrics, worth.facts),
                *stand_ins.facts("judge", {request.blaming.production_judge} & {OFFLINE}),
            ],
        },
        scores=worth.scores,
        questions=questions_table(asked),
        retrieved=retrieved,
        estimates=estimates,
        comparisons=comparisons,
        extra={
            "answers": answers.table,
            "judgements": worth.judgements,
            "refusals": profiles.refusals(answers, asked, request.sureness),
            "readings": times,
            **failures.extra,
        },
        placed=(
            *profiles.lengths(answers, scored, request.sureness.level),
            *stages.quantiles(times, request.sureness.level),
            *sliced(worth, request.metrics, PRIMARY, session.systems, scored, request.slice_by, request.sureness),
            *failures.placed,
        ),
    )  # fmt: skip


def _retrieve(session: Session, asked: Sequence[Question], request: _Request) -> _Found:
    """Every system's rankings, once for each repeat, nothing that is stored of a question read again."""
    from ragbench.store import Store
    from ragbench.systems import make

    found = _Found()
    made: dict[str, System] = {}
    with Store.open(session.settings) as store:
        for name in session.systems:
            made[name] = make(name, session.settings, store, session.dataset)
            total = len(session.dataset.chunks) + len(asked) * request.repeats
            with session.progress(name, total) as progress:
                runs = [made[name].retrieve(asked, request.k, progress=progress)]
                if made[name].description["kind"] != "logged":
                    for _ in range(request.repeats - 1):
                        runs.append(made[name].retrieve(asked, request.k, fresh=True))
                        progress(len(asked))
            found.runs[name] = runs
            found.unable[name] = {
                identifier: reason for identifier, reason in runs[0].errors.items() if identifier not in runs[0].answers
            }
            if runs[0].answers:
                found.own[name] = {
                    q.id: [answer for run in runs for answer in run.answers.get(q.id, ())] for q in asked
                }
        found.readings = _read_clocks(session, store, made, asked, found, request)
    return found


def _read_clocks(
    session: Session,
    store: Store,
    made: Mapping[str, System],
    asked: Sequence[Question],
    found: _Found,
    request: _Request,
) -> pd.DataFrame:
    """Milliseconds of embedding and searching, one by one; of the whole call for functions, as they were called."""
    import pandas as pd

    configured = {name: one for name, one in made.items() if one.description["kind"] == "configured"}
    data = session.dataset.content_hash
    parts = [timing.latencies(configured, store, asked, request.k, data, request.clock)]
    parts += [
        stages.calls(store, name, one, asked, found.runs[name][0], data, request.clock)
        for name, one in made.items()
        if one.description["kind"] == "callable"
    ]
    return pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)


def _contexts(asked: Sequence[Question], found: _Found, number: int, first: int) -> dict[str, Contexts]:
    """What each system's generator is shown in one repeat; what was logged is the same in all."""
    shown: dict[str, Contexts] = {}
    for name, runs in found.runs.items():
        hits = runs[min(number, len(runs) - 1)].hits
        shown[name] = {q.id: tuple(hit.chunk for hit in each[:first]) for q, each in zip(asked, hits, strict=True)}
    return shown


def _retrieved(asked: Sequence[Question], found: Mapping[str, Retrieval]) -> pd.DataFrame:
    """The first run's rankings with their gains."""
    import pandas as pd

    rows = [
        (name, q.id, rank, hit.chunk.id, hit.chunk.url, hit.similarity, float(q.relevant.get(hit.chunk.id, 0.0)),
         hit.chunk.text)
        for name, one in found.items()
        for q, hits in zip(asked, one.hits, strict=True)
        for rank, hit in enumerate(hits, 1)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=list(RETRIEVED_COLUMNS))
