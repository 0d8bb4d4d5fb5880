"""Tier 3: from the question over what is retrieved to the judged answer, as a user gets it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from ragbench.old import stats
from ragbench.old.core import stand_ins
from ragbench.old.core.facts import Facts
from ragbench.old.core.measurement import Evidence, Findings, NamedEstimate
from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Piece, Question
from ragbench.old.data import doubts_of
from ragbench.old.judge import asks_nobody
from ragbench.old.metrics import ranking_arrays
from ragbench.old.metrics.ranking_arrays.coverage import ENOUGH, LabelledText
from ragbench.old.tiers.answers import answer_scores, decomposition
from ragbench.old.tiers.answers.blame import Seen, Standard
from ragbench.old.tiers.answers.decomposition import Blaming
from ragbench.old.tiers.answers.tier2_generation import Answering, described_writers, embedding_stand_ins
from ragbench.old.tiers.answers.written_answers import Answered, Contexts, Own, answered
from ragbench.old.tiers.basics import design, requests, withholding
from ragbench.old.tiers.basics.choices import BenchError, parted
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.basics.requests import tier
from ragbench.old.tiers.basics.session import Need, Needed, Session
from ragbench.old.tiers.retrieval import reading, timing
from ragbench.old.tiers.retrieval.timing import Clock
from ragbench.old.tiers.scoring.judged_metrics import Judging

if TYPE_CHECKING:
    import pandas as pd

    from ragbench.old.store import Store
    from ragbench.old.systems import Retrieval, System
    from ragbench.old.tiers.answers.answer_scores import Worth


BEFORE = ("rewrite", "embed", "search", "rerank", "call")
FIRST, ANSWER, GENERATE, JUDGE = "first_token", "answer", "generate", "judge"
ORDER = (*BEFORE, FIRST, GENERATE, ANSWER, JUDGE)
WITHIN = (FIRST, JUDGE)
"""Parts that are no part of the sum: one lies within the call, the other comes after the answer."""
PROBABILITIES = (0.5, 0.9, 0.99)  # median, and the tails that users notice


def calls(
    store: Store,
    name: str,
    system: System,
    asked: Sequence[Question],
    retrieval: Retrieval,
    data_hash: str,
    clock: timing.Clock,
) -> pd.DataFrame:
    """Milliseconds of a user's own function, question by question, as they were when these inputs were first asked."""
    import pandas as pd

    assert retrieval.search_ms is not None, "a function's calls are timed"
    about = {
        "what": "latency of a call", "system": dict(system.description), "source": timing.source(system),
        "data": data_hash, "questions": [question.id for question in asked],
    }  # fmt: skip
    milliseconds = retrieval.search_ms
    read = store.readings(about, lambda: {"call": milliseconds}, fresh=clock.fresh_timings)["call"]
    rows = [(name, question.id, "call", float(ms)) for question, ms in zip(asked, read, strict=True) if ms == ms]
    return pd.DataFrame(rows, columns=list(timing.LATENCIES))


def readings(session: Session, before: pd.DataFrame, answered: Answered, worth: Worth) -> pd.DataFrame:
    """One row a system, question and stage: system, sample, part, ms.

    before: what embedding, searching or the whole call took. A system that answers by itself does it within its call;
    of logged answers the latency that was logged is the call's, unless its parts were logged, too. "answer" is what a
    user waits for: as it was logged, else the sum of the stages, where every stage of it was read.
    "judge": all questions to the judges about one answer.
    """
    import pandas as pd

    first = answered.table[(answered.table["repeat"] == 0) & answered.table["seconds"].notna()]
    parts = [before]
    for system, generator in answered.generators.items():
        own = first[first["system"] == system]
        part = GENERATE
        if generator["own"]:
            parts_read = set(before.loc[before["system"] == system, "part"])
            if "call" in parts_read:
                continue  # it was timed whole
            part = GENERATE if parts_read else "call"
        parts.append(_rows(system, own["sample"], part, own["seconds"] * 1000))
    parts.append(_judging(session, worth))
    table = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    return pd.concat([table, _sums(table, answered)], ignore_index=True)


def quantiles(table: pd.DataFrame, level: float) -> tuple[NamedEstimate, ...]:
    """The median, the 90th and the 99th percentile of every system and `stage`, with order-statistic intervals."""
    made: list[NamedEstimate] = []
    for system in dict.fromkeys(table["system"]):
        own = table[table["system"] == system]
        for part in ORDER:
            values = own.loc[own["part"] == part, "ms"].to_numpy(dtype=float)
            if not len(values) or (part == ANSWER and set(own["part"]) <= {"call", ANSWER, *WITHIN}):
                continue
            for probability in PROBABILITIES:
                e = stats.quantile(values, probability, level=level)
                made.append(NamedEstimate(system, "latency", e, {"stage": part, "probability": probability}))
    return tuple(made)


def _rows(system: str, samples: Any, part: str, milliseconds: Any) -> pd.DataFrame:
    import pandas as pd

    table = pd.DataFrame({"system": system, "sample": list(samples), "part": part, "ms": list(milliseconds)})
    return table[list(timing.LATENCIES)]


def _sums(table: pd.DataFrame, answered: Answered) -> pd.DataFrame:
    """What a user waits for, of the questions whose every stage was read."""
    import pandas as pd

    waited = table[~table["part"].isin(WITHIN)]
    parts = []
    for system in answered.generators:
        own = waited[waited["system"] == system]
        if len(own) and ANSWER not in set(own["part"]):
            whole = own.pivot(index="sample", columns="part", values="ms").dropna()
            parts.append(_rows(system, whole.index, ANSWER, whole.sum(axis=1)))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(timing.LATENCIES))


def _judging(session: Session, worth: Worth) -> pd.DataFrame:
    """What judging an answer took by all metrics and judges; models' seconds come out of the journal.

    The offline judge's are read once and kept.
    """
    import pandas as pd

    table = worth.judgements
    table = table[table["judge"].notna() & table["seconds"].notna()]
    models = table[[not asks_nobody(name) for name in table["judge"]]]
    chosen = models if len(models) else table
    if not len(chosen):
        return pd.DataFrame(columns=list(timing.LATENCIES))
    sums = chosen.groupby(["system", "sample"], sort=False)["seconds"].sum().reset_index()
    milliseconds = sums["seconds"].to_numpy(dtype=float) * 1000
    if not len(models):
        milliseconds = _kept(session, chosen, sums, milliseconds)
    table = pd.DataFrame({"system": sums["system"], "sample": sums["sample"], "part": JUDGE, "ms": milliseconds})
    return table[list(timing.LATENCIES)]


def _kept(session: Session, judgements: pd.DataFrame, sums: pd.DataFrame, milliseconds: np.ndarray) -> np.ndarray:
    import hashlib

    detail = hashlib.sha256("\n".join(judgements["metric"] + judgements["detail"]).encode()).hexdigest()
    about = {
        "what": "latency of the offline judge", "data": session.dataset.content_hash, "judgements": detail,
        "answers": [list(pair) for pair in zip(sums["system"], sums["sample"], strict=True)],
    }  # fmt: skip
    with session.store() as store:
        return np.asarray(store.readings(about, lambda: {"ms": milliseconds})["ms"])


METRICS = (
    "e2e_score", "semantic_similarity", "dot_similarity", "euclidean_distance", *answer_scores.TEXTS,
    *answer_scores.REPEATED,
)  # fmt: skip
PRIMARY = "e2e_score"
KEYS = (PRIMARY, "semantic_similarity", "rougeL_f", "response_exact_match_rate")


class Tier3Request(Answering):
    """Of what is found and what is answered from it."""

    usual, foremost = METRICS, PRIMARY

    k: requests.Depth = 10
    contexts: int = Field(
        5, description="how many of them the answer is written from", ge=1, le=requests.MOST_RETRIEVED
    )
    repeats: requests.Repeats = 2
    length_limit: requests.LengthLimit = None
    slice_by: requests.SliceBy = "kind, language, source"
    timed_questions: requests.TimedQuestions = 100
    correctness: str = Field("e2e_score", description="the metric that says whether an answer is right")
    right_from: float | None = Field(
        None, description="value of `correctness` from which on an answer is right; None: 4 of 1 to 5"
    )
    faithfulness: str = Field("faithfulness_rating", description="the metric that says whether an answer is faithful")
    faithful_from: float | None = Field(
        None, description="value of `faithfulness` from which on it is faithful; None: 4 of 1 to 5, or 1 of 0 to 1"
    )
    production_judge: str = Field(
        "", description="who decides what is shown: a judge, module:function, a file; empty: as logged, else all"
    )
    found_from: requests.FoundFrom = ENOUGH
    perfect_parts: bool = Field(True, description="whether answers are written and judged again with one part perfect")
    fresh_timings: requests.FreshTimings = False
    refusals: answer_scores.Decider = answer_scores.RULE
    labels: requests.Labels = ""
    limit: requests.Limit = None
    notebook: str = "tier3_end_to_end"

    def check(self) -> None:
        """Refuse more contexts than are retrieved, metrics that do not fit answers, a primary one that is not among
        them, and slices that there are not."""
        if self.contexts > self.k:
            raise BenchError(
                f"contexts = {self.contexts} is more than the k = {self.k} chunks that are retrieved; raise k"
            )
        _ = self.leading, design.chosen(self.slice_by)

    def needed(self, settings: Settings) -> tuple[Needed, ...]:
        """Questions; passages where they are searched here."""
        names = parted(self.systems) or settings.systems
        searched = any(settings.retriever(name) for name in names if name in settings.systems)
        return Needed.of(Need.ANSWERABLE), *([Needed.of(Need.PASSAGES)] if searched else [])

    @property
    def blaming(self) -> Blaming:
        """How failures are blamed on parts."""
        return Blaming(self.take(Standard), self.production_judge, self.perfect_parts)


@dataclass
class _Found:
    """What every system retrieved in each repeat, and what the clock said.

    own: answers of systems that answer by themselves. unable: system → question id → why nothing came back.
    """

    runs: dict[str, list[Retrieval]] = field(default_factory=dict)
    own: dict[str, Own] = field(default_factory=dict)
    unable: dict[str, Mapping[str, str]] = field(default_factory=dict)
    readings: pd.DataFrame | None = None


def state(evidence: Evidence) -> Findings:
    """What is stated of answers, where the time goes, and which part is to blame for what failed."""
    found = answer_scores.answer_findings(evidence, quantiles(evidence.extra["readings"], evidence.facts["level"]))
    placed, extra = decomposition.stated(evidence)
    facts: Facts = {**found.facts, "timed_questions": len(evidence.extra[timing.TIMED])}
    return replace(found, placed=(*found.placed, *placed), facts=facts, extra={**found.extra, **extra})


@tier(Tier3Request, state)
def tier3_end_to_end(request: Tier3Request) -> Evidence:
    """Ask every system every question: it retrieves, its generator answers, the judges rate, the clock is read.

    A system that answers by itself (your function, logged answers) is measured on its own answers, unless its table
    names a generator. Means are over the questions that are not labelled as unanswerable; of those only refusals are
    counted. A question at which a system fails is unmeasured with the reason.
    Raises BenchError, DatasetError or StoreError, each with what is legal; ModelError when a provider refuses
    altogether.
    """
    session = Session.of(request, request.systems, request.baseline)
    asked = session.dataset.questions
    scored = [q for q in asked if q.answerable is not False]
    if not scored:
        raise BenchError(f"every question of {session.dataset.label} is labelled as unanswerable: nothing to rate")
    decomposition.check(request.blaming, session)
    answer_scores.check(request.refusals, session.settings)
    retrievals = _retrieve(session, asked, request)
    turns = [_contexts(asked, retrievals, number, request.contexts) for number in range(request.repeats)]
    answers = answered(
        session,
        asked,
        turns[0],
        repeats=request.repeats,
        length_limit=request.length_limit,
        own=retrievals.own,
        again=turns[1:],
        unable=retrievals.unable,
    )
    answers, refusing = answer_scores.decided(session, asked, answers, request.refusals, request.take(Judging))
    worth = answer_scores.measured(session, scored, answers, request.chosen, request.take(Judging))
    assert retrievals.readings is not None, "the clock was read while retrieving"
    times = readings(session, retrievals.readings, answers, worth)
    firsts = {name: runs[0] for name, runs in retrievals.runs.items()}
    rankings_found = {name: run.hits for name, run in firsts.items()}
    labelled = LabelledText(session.dataset.chunks, request.found_from)
    retrieved = design.retrieved(
        (name, q.id, hits, ranking_arrays.gains(q, hits, labelled))
        for name, run in firsts.items()
        for q, hits in zip(asked, run.hits, strict=True)
    )
    everything = (hit.chunk for run in firsts.values() for hits in run.hits for hit in hits)
    failures = decomposition.decomposed(
        session,
        asked,
        answers,
        Seen(retrieved, labelled, {chunk.id: chunk for chunk in everything if isinstance(chunk, Piece)}),
        worth,
        request.blaming,
        request.take(Judging),
        request.length_limit,
        refusing,
    )
    return Evidence(
        notebook=session.notebook,
        facts={
            **session.facts(),
            **request.take(Sureness).facts,
            **worth.facts,
            "doubts": doubts_of(session.dataset.chunks, asked),
            "primary": request.leading.label,
            "key_metrics": [name for name in KEYS if name in {each.label for each in request.chosen}],
            "baseline": session.baseline if len(session.systems) > 1 else None,
            "metric_labels": [each.label for each in request.chosen],
            "k": request.k,
            "contexts": request.contexts,
            **reading.told(session.settings, rankings_found, asked, labelled),
            **withholding.Known(session.dataset.chunks, _unit(asked)).told(rankings_found, request.k),
            "tables": {answer_scores.COUNTS: answer_scores.COUNTS, "latencies": "readings"},
            "context": "retrieved",
            "length_limit": request.length_limit,
            "repeats": request.repeats,
            "slice_by": list(design.chosen(request.slice_by)),
            "generators": {name: dict(generator) for name, generator in answers.generators.items()},
            "refusals": refusing,
            "blame": failures.facts,
            "systems": described_writers(session, session.systems, answers, {n: r.facts for n, r in firsts.items()}),
            "stand_ins": [
                *stand_ins.facts("retrieval", [name for name, run in firsts.items() if run.is_stand_in], own=True),
                *embedding_stand_ins(session, request.chosen, worth.facts),
                *stand_ins.facts("judge", filter(asks_nobody, [request.blaming.production_judge])),
            ],
        },
        scores=worth.scores,
        questions=design.questions(asked, "source"),
        retrieved=retrieved,
        extra={
            "answers": answers.table,
            **worth.tables,
            "readings": times,
            timing.TIMED: timing.timed(asked, request.take(Clock)),
            **failures.extra,
        },
    )


def _unit(asked: Sequence[Question]) -> str:
    """What labels name, by which one knows that the answer was retrieved: passages, or pages alone."""
    return "url" if any(q.relevant_urls for q in asked) and not any(q.relevant for q in asked) else "chunk"


def _retrieve(session: Session, asked: Sequence[Question], request: Tier3Request) -> _Found:
    """Every system's rankings, once for each repeat, nothing that is stored of a question read again."""
    from ragbench.old.systems import make, once, steps

    retrievals = _Found()
    made: dict[str, System] = {}
    with session.store() as store:
        opened = once(store)
        for name in session.systems:
            made[name] = make(name, session.settings, store, session.dataset, opened)
            total = steps(len(session.dataset.chunks), len(asked), request.repeats)
            with session.progress(name, total) as progress:
                first = made[name].retrieve(asked, request.k, progress=progress)
                runs = timing.repeated(made[name], first, asked, request.k, request.repeats, progress)
            retrievals.runs[name] = runs
            retrievals.unable[name] = {
                identifier: reason for identifier, reason in runs[0].errors.items() if identifier not in runs[0].answers
            }
            if runs[0].answers:
                retrievals.own[name] = {
                    q.id: [answer for run in runs for answer in run.answers.get(q.id, ())] for q in asked
                }
        retrievals.readings = _read_clocks(session, store, made, asked, retrievals, request)
    return retrievals


def _read_clocks(
    session: Session,
    store: Store,
    made: Mapping[str, System],
    asked: Sequence[Question],
    retrievals: _Found,
    request: Tier3Request,
) -> pd.DataFrame:
    """Milliseconds of embedding and searching, one by one; of the whole call for functions, as they were called."""
    import pandas as pd

    configured = {name: system for name, system in made.items() if system.description["kind"] == "configured"}
    data = session.dataset.content_hash
    parts = [timing.latencies(configured, store, asked, request.k, data, request.take(Clock), session.progress)]
    parts += [
        calls(store, name, system, asked, retrievals.runs[name][0], data, request.take(Clock))
        for name, system in made.items()
        if system.description["kind"] == "callable"
    ]
    parts += [timing.noted(name, asked, runs[0]) for name, runs in retrievals.runs.items() if runs[0].logged_ms]
    return pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)


def _contexts(asked: Sequence[Question], retrievals: _Found, number: int, first: int) -> dict[str, Contexts]:
    """What each system's generator is shown in one repeat; what was logged is the same in all."""
    shown: dict[str, Contexts] = {}
    for name, runs in retrievals.runs.items():
        hits = runs[min(number, len(runs) - 1)].hits
        shown[name] = {q.id: tuple(hit.chunk for hit in each[:first]) for q, each in zip(asked, hits, strict=True)}
    return shown
