"""Which passages that systems retrieved are none of the data set's, and the verdicts that are withheld for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from ragbench import stats
from ragbench.core import unidentified
from ragbench.core.measurement import Finding, Measurement, NamedComparison
from ragbench.core.types import Chunk, Comparison, Hit
from ragbench.metrics import declaration

AnyFinding = TypeVar("AnyFinding", NamedComparison, Finding)
Rankings = Mapping[str, Sequence[Sequence[Hit]]]
"""System → what it retrieved, question by question."""
BLAMED = ("not_retrieved", "too_low", "not_used", "beyond", "withheld")
"""Parts whose share hangs on whether what was retrieved holds the answer."""
PUT_RIGHT = ("ranking", "generator")
"""Parts that are put right where a passage that holds the answer was retrieved, or read."""


class Known:
    """The passages of a base, and its pages where those are ranked."""

    def __init__(self, chunks: Iterable[Chunk], unit: str = "chunk") -> None:
        held = list(chunks)
        self._ids = frozenset(chunk.id for chunk in held)
        self._urls = frozenset(chunk.url for chunk in held if chunk.url) if unit == "url" else frozenset[str]()

    def knows(self, chunk: Chunk) -> bool:
        """Whether it is one of them, or a piece of one."""
        return chunk.passage in self._ids or chunk.url in self._urls or chunk.id in self._urls

    def told(self, rankings: Rankings, k: int) -> dict[str, dict[str, list[int]]]:
        """The fact of `ragbench.core.unidentified`: of the first k of every ranking, pages once, how many are not
        known. A base without passages knows none, and nothing is strange to it: what is returned is the base."""
        counts: dict[str, list[int]] = {}
        for name, rows in rankings.items() if self._ids else ():
            firsts = [self._first(row, k) for row in rows]
            unknown = sum(not self.knows(chunk) for row in firsts for chunk in row)
            if unknown:
                counts[name] = [unknown, sum(map(len, firsts))]
        return {unidentified.FACT: counts} if counts else {}

    def _first(self, row: Sequence[Hit], k: int) -> list[Chunk]:
        pages = {(hit.chunk.url or hit.chunk.id) if self._urls else hit.chunk.id: hit.chunk for hit in reversed(row)}
        return list(reversed(pages.values()))[:k]


def why(facts: Mapping[str, Any], systems: Iterable[str], metric: str, where: Mapping[str, Any] | None = None) -> str:
    """Why nothing is concluded from numbers of these systems on a metric: of the system that retrieved most of what is
    not known. Empty where something can be."""
    counts = unidentified.of(facts)
    if not counts or not _is_of_rankings(metric, where or {}):
        return ""
    unknown = [counts[name] for name in systems if name in counts and counts[name].too_many]
    return max(unknown, key=lambda count: count.n / count.of).reason if unknown else ""


def applied(made: Measurement) -> Measurement:
    """The same without the verdicts that the facts do not allow."""
    if not unidentified.of(made.facts):
        return made
    return replace(made, comparisons=_each(made.comparisons, made.facts), placed=_each(made.placed, made.facts))


def withheld(comparison: Comparison, reason: str) -> Comparison:
    """The comparison without its verdict, where there is a reason."""
    return stats.withheld(comparison, reason) if reason else comparison


def _each(findings: Iterable[AnyFinding], facts: Mapping[str, Any]) -> tuple[AnyFinding, ...]:
    return tuple(
        replace(finding, comparison=withheld(finding.comparison, reason))
        if isinstance(finding, NamedComparison)
        and (
            reason := why(
                facts, (finding.comparison.baseline, finding.comparison.challenger), finding.metric, finding.where
            )
        )
        else finding
        for finding in findings
    )


def _is_of_rankings(metric: str, where: Mapping[str, Any]) -> bool:
    if metric == "blame":
        return where.get("part") in BLAMED
    if where.get("perfect") in PUT_RIGHT:
        return True
    declared = declaration(metric)
    return declared is not None and declared.grain == "ranking"
