"""How judges did their work: how often each gave no score, what its replies took, how much it sways a panel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ragbench.core.types import Score, Status
from ragbench.judge import Rule, leave_one_out
from ragbench.metrics.rulings import suspected
from ragbench.tiers.scoring.ledger import Row
from ragbench.tiers.scoring.result import Scores

UNASKED = frozenset({Status.MISSING_FIELD.value, Status.EMPTY_INPUT.value, Status.INVALID_INPUT.value})
"""There was nothing to ask a judge about."""
ANSWERED = frozenset(
    {
        Status.OK.value, Status.EMPTY_DECOMPOSITION.value, Status.EMBEDDING_ERROR.value, Status.FUNCTION_ERROR.value
    }
)  # fmt: skip
"""The judge did its part: it gave a verdict, or found that there is nothing to give one on, or somebody else failed: an
embedder, or the function that asked."""


def conduct(scores: Scores, judges: Sequence[str], rule: Rule) -> dict[str, dict[str, Any]]:
    """What is known of each judge's work, by name, as plain JSON values.

    asked: scores that it was to give (those of answers without a needed field are not); failed: how many of them it
    gave no score for, by its own or its provider's fault; statuses: how often each fault. suspected: answers with a
    text in which somebody seems to address the judge. usage: see `ragbench.llm.Usage`; only of judges with a model.
    influence: of a panel, for each metric what its mean becomes without this judge, see `ragbench.judge.Influence`.
    """
    influence = _influence(scores, rule) if len(judges) > 1 else {}
    known = {}
    work = {judge: _Work() for judge in judges}
    for row in scores.rows if judges else ():
        for score in row.singles:
            for judge in judges:
                if (line := _line(row, score, judge, judges)) is not None:
                    work[judge].add(*line)
    for judge in judges:
        statuses = work[judge].statuses
        faults = {status: count for status, count in sorted(statuses.items()) if status not in ANSWERED}
        known[judge] = {
            "asked": statuses.total(),
            "failed": sum(faults.values()),
            "statuses": faults,
            "suspected": len(work[judge].suspected),
            **({"usage": asdict(scores.usage[judge])} if judge in scores.usage else {}),
            **({"influence": influence[judge]} if judge in influence else {}),
        }
    return known


class _Work:
    """What one judge was asked. statuses: how often each. suspected: answers, as system and sample."""

    def __init__(self) -> None:
        self.statuses: Counter[str] = Counter()
        self.suspected: set[tuple[str | None, str]] = set()

    def add(self, status: str, is_suspected: bool, answer: tuple[str | None, str]) -> None:
        if status not in UNASKED:
            self.statuses[status] += 1
        if is_suspected:
            self.suspected.add(answer)


def _line(row: Row, score: Score, judge: str, judges: Sequence[str]) -> tuple[str, bool, tuple[str | None, str]] | None:
    """(status, whether an injection is suspected, system and sample) of what one judge made of one answer."""
    if "judge" not in row.metric.needs:
        return None
    answer = (row.sample.system, row.sample.id)
    panel: Mapping[str, Any] | None = score.detail.get("judges")
    if panel is None:
        named = score.judge or judges[0]
        return (score.status.value, bool(suspected(score.detail)), answer) if named == judge else None
    ruling = panel.get(judge)
    return None if ruling is None else (str(ruling["status"]), bool(suspected(ruling["detail"])), answer)


def _influence(all_scores: Scores, rule: Rule) -> dict[str, list[dict[str, Any]]]:
    known: dict[str, list[dict[str, Any]]] = {}
    for metric in all_scores.metrics:
        scores = [
            row.score for row in all_scores.rows if row.metric.label == metric.label and "judges" in row.score.detail
        ]
        if scores:
            for influence in leave_one_out(scores, rule.on(metric.bounds)):
                line = {
                    "metric": metric.label,
                    "whole": influence.whole,
                    "without": influence.without,
                    "shift": influence.shift,
                }
                known.setdefault(influence.judge, []).append({**line, "largest": influence.largest, "n": influence.n})
    return known
