"""A system of configured parts: a retriever of `[retrievers.NAME]`, and what is done before and after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragbench.datasets import Dataset
from ragbench.systems.parts.dense import DenseRetriever
from ragbench.systems.parts.fusion import HybridRetriever
from ragbench.systems.retrieval import Found, Progress, Retrieval, Retriever
from ragbench.types import Question


class ConfiguredSystem:
    """Each question is one step through the parts."""

    def __init__(self, name: str, dataset: Dataset, retriever: Retriever) -> None:
        self.name, self.dataset, self.retriever = name, dataset, retriever
        self.is_stand_in = retriever.is_stand_in

    @property
    def description(self) -> Mapping[str, Any]:
        return {"kind": "configured", **self.retriever.description}

    @property
    def dense(self) -> DenseRetriever | None:
        """The part that embeds, where it is all there is to the system."""
        return self.retriever if isinstance(self.retriever, DenseRetriever) else None

    def retrieve(
        self, questions: Sequence[Question], k: int, *, progress: Progress | None = None, fresh: bool = False
    ) -> Retrieval:
        """Raises EmbeddingError for texts that cannot be embedded, StoreError when the database cannot answer."""
        self.prepare(None if fresh else progress)
        return self._retrieval(self.retriever.search(_texts(questions), k, progress=progress, fresh=fresh))

    def retrieve_one(self, question: Question, k: int) -> Retrieval:
        """One question, by itself and without looking what an index costs: what somebody waits for.

        Before the clock runs, the same is done once; but an endpoint's vector is paid for once, and read from then
        on. Raises EmbeddingError and StoreError where nobody has called `prepare` yet.
        """
        anew = not any(one.asks_elsewhere for one in self._embedding)
        self._alone(question, k, anew)
        return self._alone(question, k, anew)

    def timed(self, question: Question, k: int) -> dict[str, float]:
        """Milliseconds by part of one question by itself, all of it done now."""
        one = self._alone(question, k, True)
        taken = {"embed": one.embed_ms, "search": one.search_ms, **one.part_ms}
        return {part: float(ms[0]) for part, ms in taken.items() if ms is not None}

    def prepare(self, progress: Progress | None = None) -> None:
        """What belongs to the passages, where it is not there yet."""
        self.retriever.prepare(progress)

    def _alone(self, question: Question, k: int, fresh: bool) -> Retrieval:
        return self._retrieval(self.retriever.search([question.text], k, fresh=fresh, alone=True))

    @property
    def _embedding(self) -> list[DenseRetriever]:
        parts = self.retriever.parts.values() if isinstance(self.retriever, HybridRetriever) else [self.retriever]
        return [one for one in parts if isinstance(one, DenseRetriever)]

    def _retrieval(self, found: Found) -> Retrieval:
        taken = found.milliseconds
        facts = {"kind": "configured", **found.facts}
        return Retrieval(found.hits, taken.get("embed"), taken.get("search"), facts=facts, is_stand_in=self.is_stand_in)


def _texts(questions: Sequence[Question]) -> list[str]:
    return [question.text for question in questions]
