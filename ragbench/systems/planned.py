"""Systems in a process that only plans: nothing is computed for them, and nobody is paid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragbench.core.types import Hit, Question
from ragbench.llm.planning import keep
from ragbench.systems.configured import ConfiguredSystem
from ragbench.systems.parts.reranking import kept_of
from ragbench.systems.parts.rewriting import ModelRewriter
from ragbench.systems.retrieval import Progress, Retrieval


class PlannedSystem:
    """A configured system that answers truly where all that it takes is kept, else with the relevant passages and the
    first ones, so that those who read them can be planned for.

    Its `kind` is that of what was logged: it cannot be asked again, and there is nothing to time.
    """

    def __init__(self, system: ConfiguredSystem) -> None:
        self.name, self.system, self.is_stand_in = system.name, system, system.is_stand_in

    @property
    def description(self) -> Mapping[str, Any]:
        return {**self.system.description, "kind": "logged"}

    def retrieve(
        self, questions: Sequence[Question], k: int, *, progress: Progress | None = None, fresh: bool = False
    ) -> Retrieval:
        """As of any system. Raises StoreError."""
        if self._is_kept(questions):
            return self.system.retrieve(questions, k, progress=progress)
        hits = [self._stand_ins(question, k) for question in questions]
        return Retrieval(hits, facts=self.system.description, is_stand_in=self.is_stand_in)

    def _is_kept(self, questions: Sequence[Question]) -> bool:
        parts = self.system.parts
        texts = [question.text for question in questions]
        if isinstance(parts.rewriter, ModelRewriter):
            known, outlook = parts.rewriter.foreseen(questions)
            keep([outlook])
            if outlook.missing:
                return False
            texts = [text for rewritten in known if rewritten is not None for text in rewritten.texts]
        elif parts.rewriter is not None:
            return False
        for dense in self.system.embedding.values():
            if parts.store.missing(dense.embedder, dense.passages) or parts.store.missing(
                dense.embedder, texts, "query"
            ):
                return False
        reranker = parts.reranker
        if reranker is None:
            return True
        ranked = self.system.before_reranking(questions)
        return bool(reranker.identity) and len(kept_of(reranker, parts.store, questions, ranked)) == len(
            [row for row in ranked if row]
        )

    def _stand_ins(self, question: Question, k: int) -> list[Hit]:
        chunks = self.system.dataset.chunks
        relevant = [chunk for chunk in chunks if chunk.id in question.relevant]
        return [Hit(chunk) for chunk in [*relevant, *chunks[:k]][:k]]
