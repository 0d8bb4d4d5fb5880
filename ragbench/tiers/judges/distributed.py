"""What judges are asked in parts, by the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragbench import llm
from ragbench.core import settings
from ragbench.core.metric import Metric
from ragbench.core.settings import Settings
from ragbench.judge import open_judges
from ragbench.llm import Replies, Tally, uses
from ragbench.store import pool
from ragbench.store.pool import Counter, Tell, Together
from ragbench.tiers.judges.asking import Assignment, Said, Trial, answered, assignments
from ragbench.tiers.scoring.judge_assignment import kept_replies

QUESTIONS = 256
"""Of a part at most; fewer where that gives each worker several."""
PARTS_A_WORKER = 4


@dataclass(frozen=True)
class _Common:
    """language: of prompts."""

    language: str
    metrics: tuple[Metric, ...]


@dataclass(frozen=True)
class _Part:
    """metric: its place among those of `_Common`."""

    judge: str
    metric: int
    asked: tuple[Assignment, ...]


def said_by_workers(
    known: Settings,
    names: Sequence[str],
    trials: Sequence[Trial],
    language: str,
    *,
    advance: Callable[[int], None],
    on_change: Callable[[Tally], None],
) -> tuple[list[dict[str, list[Said]]], Mapping[str, Replies]]:
    """By trial and judge what was said of the trial's assignments, in their order, and the replies that took.

    advance: told of the first trial alone. Raises ClusterError besides what `asking.hear` raises.
    """
    everything = [[assignment for group in assignments(trial) for assignment in group] for trial in trials]
    with pool.opened(known) as workers:
        assert workers is not None, "the settings name a cluster"
        whole = len(names) * sum(map(len, everything))
        size = max(1, min(QUESTIONS, -(-whole // (PARTS_A_WORKER * max(1, workers.count)))))
        parts = [
            _Part(name, place, tuple(asked[start : start + size]))
            for place, asked in enumerate(everything)
            for name in names
            for start in range(0, len(asked), size)
        ]
        together = Together(advance, on_change)
        common = _Common(language, tuple(trial.metric for trial in trials))
        outcomes = workers.map(_said, common, parts, together.heard)
    said: list[dict[str, list[Said]]] = [{name: [] for name in names} for _ in trials]
    used: dict[str, Replies] = {}
    for number, (part, (told, replies, state)) in enumerate(zip(parts, outcomes, strict=True)):
        together.heard(number, state)
        said[part.metric][part.judge] += told
        for name, own in replies.items():
            used.setdefault(name, Replies(own.model, own.free)).by_key.update(own.by_key)
    uses.note(key for own in used.values() for key in own.by_key)
    return said, used


def _said(common: _Common, part: _Part, tell: Tell) -> tuple[list[Said], Mapping[str, Replies], Any]:
    """What a worker does."""
    counter, metric = Counter(tell), common.metrics[part.metric]

    async def everything() -> tuple[list[Said], Mapping[str, Replies]]:
        how: dict[str, Any] = {"language": common.language, "on_change": counter.changed}
        async with open_judges(settings.load(), [part.judge], journal=journal, **how) as opened:
            counted = counter.advance if part.metric == 0 else None
            return await answered(opened.judges[0], metric, part.asked, counted), opened.used()

    with kept_replies([part.judge], [metric]) as journal:
        said, used = llm.run(everything())
    return said, used, counter.state
