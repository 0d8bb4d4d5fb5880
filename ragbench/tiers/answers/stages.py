"""Where the time goes between a question and its judged answer: one reading a stage, question by question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ragbench import stats
from ragbench.core.measurement import NamedEstimate
from ragbench.core.types import Question
from ragbench.judge import asks_nobody
from ragbench.tiers.answers.written_answers import Answered
from ragbench.tiers.basics.session import Session
from ragbench.tiers.retrieval import timing

if TYPE_CHECKING:
    import pandas as pd

    from ragbench.store import Store
    from ragbench.systems import Retrieval, System
    from ragbench.tiers.answers.answer_scores import Worth

BEFORE = ("rewrite", "embed", "search", "rerank", "call")
FIRST, ANSWER, GENERATE, JUDGE = "first_token", "answer", "generate", "judge"
ORDER = (*BEFORE, FIRST, GENERATE, ANSWER, JUDGE)
WITHIN = (FIRST, JUDGE)
"""Parts that are no part of the sum: one lies within the call, the other comes after the answer."""
PROBABILITIES = (0.5, 0.9, 0.99)


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
