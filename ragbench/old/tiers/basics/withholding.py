"""Evidence stated: by its tier's own function, and without the verdicts that are withheld on every page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from ragbench.old import stats
from ragbench.old.core import gaps
from ragbench.old.core.facts import Facts
from ragbench.old.core.measurement import Evidence, Finding, Findings, Measurement, NamedComparison
from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Chunk, Comparison, Hit
from ragbench.old.core.types.reason import Reason
from ragbench.old.data.records import KNOWN_ITEM
from ragbench.old.metrics import declaration
from ragbench.old.tiers.basics import bands

AnyFinding = TypeVar("AnyFinding", NamedComparison, Finding)
Rankings = Mapping[str, Sequence[Sequence[Hit]]]
"""System → what it retrieved, question by question."""
BLAMED = ("not_retrieved", "too_low", "not_used", "beyond", "withheld")
"""Parts whose share hangs on whether what was retrieved holds the answer."""
PUT_RIGHT = ("ranking", "generator")
"""Parts that are put right where a passage that holds the answer was retrieved, or read."""
MATCHING: Final = "matching"
"""The fact that says by what systems match, where questions are words of the passages that they are labelled with."""


class Known:
    """The passages of a base, and its pages where those are ranked."""

    def __init__(self, chunks: Iterable[Chunk], unit: str = "chunk") -> None:
        held = list(chunks)
        self._ids = frozenset(chunk.id for chunk in held)
        self._urls = frozenset(chunk.url for chunk in held if chunk.url) if unit == "url" else frozenset[str]()

    def knows(self, chunk: Chunk) -> bool:
        """Whether it is one of them, or a piece of one."""
        return chunk.passage in self._ids or chunk.url in self._urls or chunk.id in self._urls

    def told(self, rankings: Rankings, k: int) -> Facts:
        """The fact of `ragbench.old.core.gaps`: of the first k of every ranking, pages once, how many are not
        known. A base without passages knows none, and nothing is strange to it: what is returned is the base."""
        counts: dict[str, list[int]] = {}
        for name, rows in rankings.items() if self._ids else ():
            firsts = [self._first(row, k) for row in rows]
            unknown = sum(not self.knows(chunk) for row in firsts for chunk in row)
            if unknown:
                counts[name] = [unknown, sum(map(len, firsts))]
        return {gaps.FACT: counts} if counts else {}

    def _first(self, row: Sequence[Hit], k: int) -> list[Chunk]:
        pages = {(hit.chunk.url or hit.chunk.id) if self._urls else hit.chunk.id: hit.chunk for hit in reversed(row)}
        return list(reversed(pages.values()))[:k]


def why(facts: Mapping[str, Any], systems: Iterable[str], metric: str, where: Mapping[str, Any] | None = None) -> str:
    """Why nothing is concluded from numbers of these systems on a metric: of the system that retrieved most of what is
    not known. Empty where something can be."""
    counts, matching = gaps.unidentified(facts), facts.get(MATCHING)
    if not (counts or matching) or not _is_of_rankings(metric, where or {}):
        return ""
    names = list(systems)
    strange = [counts[name] for name in names if name in counts and counts[name].too_many]
    if strange:
        return max(strange, key=lambda counted: counted.n / counted.of).reason
    return _favoured(facts, names, where or {}) if matching else ""


def matching(settings: Settings, names: Iterable[str]) -> dict[str, str]:
    """System → by what it matches a question with a passage: "words", "letters", "vectors", several joined by "+", with
    what rewrites and reranks; "" where that cannot be told, as of a system of the user's own.

    Words of a passage find it again by words and letters, whatever they mean: between systems that do not match alike,
    such questions tell how they were made.
    """

    def of_retriever(name: str) -> str:
        if name not in settings.retrievers:
            return "words"
        known = settings.retrievers[name]
        if known.kind == "hybrid":
            return "+".join(sorted({of_retriever(part) for part in known.retrievers}))
        return of_embedder(known.embedder) if known.kind == "dense" and known.embedder else "words"

    def of_embedder(name: str) -> str:
        known = settings.embedders.get(name)
        return "letters" if known is None or known.kind == "hashing" else "vectors"

    def of_system(name: str) -> str:
        known = settings.systems[name]
        way = of_retriever(known.retriever) if known.retriever else of_embedder(known.embedder or "")
        if not (known.retriever or known.embedder):
            return ""
        return "+".join([way, *(part for part in (known.rewriter, known.reranker) if part)])

    return {name: of_system(name) for name in names}


def _favoured(facts: Mapping[str, Any], systems: Sequence[str], where: Mapping[str, Any]) -> str:
    """Why systems that match by different things are not told apart by known items; empty where they may be."""
    part = str(where.get("slice", ""))
    if part.startswith("kind:") and part != f"kind:{KNOWN_ITEM}":
        return ""
    ways = [facts[MATCHING].get(name, "") for name in systems]
    if len(ways) < 2 or (len(set(ways)) == 1 and ways[0]):
        return ""
    return Reason(
        "{number} questions are words of the passages that they look for, which favours a search by words",
        number=int(facts.get("known_items") or 0),
    )


def applied(made: Measurement) -> Measurement:
    """The same without the verdicts that the facts do not allow."""
    if not gaps.unidentified(made.facts) and not made.facts.get(MATCHING):
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


State = Callable[[Evidence], Findings]
"""States the findings of evidence: pure, so that a part of it, or several joined, are stated by the same."""


def stated(evidence: Evidence, state: State) -> Measurement:
    """The evidence with its findings: without verdicts that what was retrieved does not allow, and with the smallest
    differences of interest, where the facts tell those."""
    return bands.applied(applied(Measurement.of(evidence, state(evidence))))


def nothing(_evidence: Evidence) -> Findings:
    """Of what is only listed or drawn nothing is stated."""
    return Findings()
