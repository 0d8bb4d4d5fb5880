"""A system of ragbench's own parts: a retriever, and at will a rewriter and a reranker."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from ragbench.core.types import Retrieval
from ragbench.systems.asked import AskedSystem
from ragbench.systems.calls import attempt, read_text
from ragbench.systems.hits import KnownPassages
from ragbench.systems.rerankers import Reranker
from ragbench.systems.retrievers import Dense, Hybrid, Retriever


class Searching(AskedSystem):
    """Passages by a retriever. rewrite: your function of the question: what is searched for."""

    can_answer = False

    def __init__(
        self,
        name: str,
        known: KnownPassages,
        retriever: Retriever,
        reranker: Reranker | None = None,
        rewrite: Callable[[str], Any] | None = None,
    ) -> None:
        super().__init__(name, known)
        self.searcher = retriever
        self.reranker = reranker
        self.rewrite = rewrite
        # None where a rewriter or a reranker takes part: these may be the user's code.
        self.retriever = None if rewrite or reranker else retriever
        parts = retriever.parts if isinstance(retriever, Hybrid) else [retriever]
        self.dense = next((part for part in parts if isinstance(part, Dense)), None)
        self._asked: set[str] = set()
        self.stand_ins = retriever.stand_ins

    def retrieve(self, questions: Sequence[str], k: int) -> list[Retrieval]:
        """See `core.types.System`. An empty question retrieves nothing.

        Questions that were asked before are a repeat: everything is computed anew.
        """
        retrievals = [Retrieval() for _ in questions]
        searched, rewriting_ms = list(questions), [0.0] * len(questions)
        if self.rewrite is not None:
            for row, question in enumerate(questions):
                outcome = attempt(self.rewrite, question, read=read_text)
                searched[row], rewriting_ms[row] = outcome.value or "", outcome.latency_ms
                if outcome.error:
                    retrievals[row] = Retrieval(error=f"rewriter: {outcome.error}")
        rows = [row for row, text in enumerate(searched) if text.strip()]
        depth = k if self.reranker is None else max(k, self.reranker.depth)
        fresh = not self._asked.isdisjoint(questions)
        self._asked.update(questions)
        found = self.searcher.find([searched[row] for row in rows], depth, fresh=fresh)
        for row, retrieval in zip(rows, found, strict=True):
            if self.reranker is not None and retrieval.hits:
                retrieval = rerank(self.reranker, questions[row], retrieval)
            latency_ms = retrieval.latency_ms + rewriting_ms[row]
            retrievals[row] = replace(retrieval, hits=retrieval.hits[:k], latency_ms=latency_ms)
        return retrievals

    def describe(self) -> str:
        """Say what it is made of."""
        parts = [self.searcher.describe()]
        if self.rewrite is not None:
            parts.insert(0, "questions rewritten")
        if self.reranker is not None:
            depth = self.reranker.depth
            parts.append(f"first {depth} reranked: {self.reranker.description}")
        return "; ".join(parts)


def rerank(reranker: Reranker, question: str, retrieval: Retrieval) -> Retrieval:
    """Put the first passages into the order of their scores, equal ones as they were.

    Those below the depth keep their places behind them, without a similarity.
    """
    first, rest = retrieval.hits[: reranker.depth], retrieval.hits[reranker.depth :]
    texts = [hit.text for hit in first]
    outcome = attempt(reranker.score, question, texts, read=read_scores)
    if outcome.error:
        return Retrieval(error=f"reranker: {outcome.error}")
    scores = outcome.value
    if len(scores) != len(texts) or not all(map(math.isfinite, scores)):
        error = f"reranker: {scores[:5]} for {len(texts)} texts; a number each is expected"
        return Retrieval(error=error)
    order = sorted(range(len(first)), key=lambda place: (-scores[place], place))
    ranked = [replace(first[place], similarity=scores[place]) for place in order]
    unscored = [replace(hit, similarity=math.nan) for hit in rest]
    return Retrieval((*ranked, *unscored), retrieval.latency_ms + outcome.latency_ms)


def read_scores(scores: Iterable[Any]) -> list[float]:
    """Read what a reranker returned."""
    return [float(score) for score in scores]
