"""Metrics of several samples together (first parameter `turns`), in this process or by the workers of a cluster."""

from __future__ import annotations

import inspect
from collections.abc import Coroutine, Sequence
from functools import partial
from itertools import chain
from typing import Any

from ragbench import llm
from ragbench.core import settings
from ragbench.core.metric import Metric
from ragbench.core.settings import Settings
from ragbench.core.types import Embedder, Sample, Score
from ragbench.core.waves import gather
from ragbench.llm import planning
from ragbench.metrics.vectors import Batch
from ragbench.store import pool
from ragbench.store.pool import Tell
from ragbench.tiers.scoring.functions import Functions

GROUPS, PARTS_A_WORKER = 256, 4
"""Of a part at most; fewer where that gives each worker so many parts."""
Work = tuple[Metric, Sequence[Sample]]
"""A metric and all that it is given at once: repeats of a question, or a dialogue."""


def scored(works: Sequence[Work], embedder: Embedder, known: Settings) -> list[Score]:
    """The score of each, in their order; the texts of all that need vectors are embedded in one batch.

    Functions of the user's without an embedder are called by the workers that the settings name. With one they are not:
    a model's vectors hang in their last bits on what is embedded with them. Raises ClusterError.
    """
    has_workers = known.cluster is not None and planning.folder() is None
    there = [place for place, (metric, _) in enumerate(works) if has_workers and metric.is_users and not metric.needs]
    here = sorted({*range(len(works))} - {*there})
    scores = dict(zip(there, _by_workers([works[place] for place in there], known), strict=True))
    batch, functions = Batch(embedder), Functions(known.metrics.timeout_seconds)
    own = llm.run(batch.gather([partial(_score, works[place], batch, functions) for place in here]))
    scores |= zip(here, own, strict=True)
    return [scores[place] for place in range(len(works))]


def _by_workers(works: Sequence[Work], known: Settings) -> list[Score]:
    if not works:
        return []
    with pool.opened(known) as workers:
        assert workers is not None, "the settings name a cluster"
        size = max(1, min(GROUPS, -(-len(works) // (PARTS_A_WORKER * max(1, workers.count)))))
        parts = [tuple(works[start : start + size]) for start in range(0, len(works), size)]
        return [*chain.from_iterable(workers.map(_part, None, parts))]


def _part(_: None, works: Sequence[Work], tell: Tell) -> list[Score]:
    """What a worker does."""
    functions = Functions(settings.load().metrics.timeout_seconds)
    return llm.run(gather([functions.score(metric, group, {}) for metric, group in works]))


async def _score(work: Work, batch: Batch, functions: Functions) -> Score:
    metric, group = work
    given = {"embedder": batch} if metric.needs else {}
    if metric.is_users:
        return await functions.score(metric, group, given)
    score: Score | Coroutine[Any, Any, Score] = metric(group, **given)
    return await score if inspect.isawaitable(score) else score
