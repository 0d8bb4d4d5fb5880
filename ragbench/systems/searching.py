"""A system of ragbench's own parts: a retriever, and at will a rewriter and a reranker."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ragbench.core.errors import BenchError
from ragbench.core.types import Retrieval
from ragbench.llm import StopError
from ragbench.systems.asked import AskedSystem
from ragbench.systems.calls import call, say_error
from ragbench.systems.hits import KnownPassages
from ragbench.systems.rerankers import Reranker
from ragbench.systems.retrievers import Retriever


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
        self._retriever = retriever
        self._reranker = reranker
        self._rewrite = rewrite
        self._asked: set[str] = set()
        self.stand_ins = retriever.stand_ins

    def retrieve(self, questions: Sequence[str], k: int) -> list[Retrieval]:
        """See `core.types.System`. An empty question retrieves nothing.

        Questions that were asked before are a repeat: everything is computed anew.
        """
        retrievals = [Retrieval() for _ in questions]
        searched = {}
        for row, question in enumerate(questions):
            try:
                searched[row] = self._text_of(question)
            except StopError:
                raise
            except Exception as error:  # whatever the user's function raises
                retrievals[row] = Retrieval(error=f"rewriter: {say_error(error)}")
        rows = [row for row, text in searched.items() if text.strip()]
        depth = k if self._reranker is None else max(k, self._reranker.depth)
        fresh = not self._asked.isdisjoint(questions)
        self._asked.update(questions)
        found = self._retriever.find([searched[row] for row in rows], depth, fresh=fresh)
        for row, retrieval in zip(rows, found, strict=True):
            if self._reranker is not None and retrieval.hits:
                retrieval = rerank(self._reranker, questions[row], retrieval)
            retrievals[row] = replace(retrieval, hits=retrieval.hits[:k])
        return retrievals

    def describe(self) -> str:
        """Say what it is made of."""
        parts = [self._retriever.describe()]
        if self._rewrite is not None:
            parts.insert(0, "questions rewritten")
        if self._reranker is not None:
            parts.append(f"reranked: {self._reranker.describe()}")
        return "; ".join(parts)

    def _text_of(self, question: str) -> str:
        if self._rewrite is None:
            return question
        text, _ = call(self._rewrite, question)
        if not isinstance(text, str) or not text.strip():
            raise BenchError(f"it returned {type(text).__name__}; a text is expected")
        return text


def rerank(reranker: Reranker, question: str, retrieval: Retrieval) -> Retrieval:
    """Put the first passages into the order of their scores, equal ones as they were.

    Those below the depth keep their places behind them, without a similarity.
    """
    first, rest = retrieval.hits[: reranker.depth], retrieval.hits[reranker.depth :]
    texts = [hit.text for hit in first]
    try:
        scores, latency_ms = call(reranker.score, question, texts)
        if len(scores) != len(texts) or not all(map(math.isfinite, scores)):
            raise BenchError(f"{scores[:5]}… for {len(texts)} texts; a number each is expected")
    except StopError:
        raise
    except Exception as error:  # whatever a model or the user's function raises
        return Retrieval(error=f"reranker: {say_error(error)}")
    order = sorted(range(len(first)), key=lambda place: (-scores[place], place))
    ranked = [replace(first[place], similarity=float(scores[place])) for place in order]
    unscored = [replace(hit, similarity=math.nan) for hit in rest]
    return Retrieval((*ranked, *unscored), retrieval.latency_ms + latency_ms)
