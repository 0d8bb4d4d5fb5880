"""Whether the same question finds the same again: every question embedded and searched anew, several times."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING, Any

from ragbench.core.metric import Metric
from ragbench.core.types import Chunk, Hit, Question, Sample
from ragbench.core.types.reason import Reason, kept
from ragbench.metrics import ranking_arrays

if TYPE_CHECKING:
    from ragbench.systems import Retrieval, System

NAME = "retrieval_consistency"
ONCE = Reason("every question was asked once: repeats = 2 or more are needed")
LOGGED = Reason("what was logged cannot be asked again")


def repeated(
    system: System, first: Retrieval, asked: Sequence[Question], depth: int, repeats: int, progress: Any
) -> list[Retrieval]:
    """The first run and repeats − 1 more, in which nothing that is stored of a question is read.

    Logged results cannot be asked again: only the first run comes back.
    """
    from ragbench.systems import steps

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
    """Rows of the score table: the share of repeats whose first k documents are those of the first run, in order.

    Unmeasured, with the reason, where there is no repeat, and where a question failed in one of the runs.
    """
    from ragbench.systems.retrieval import UNTOLD

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
