"""A system of configured parts: a retriever of `[retrievers.NAME]`, and what is done before and after it.

In a process that only plans, one that answers truly where all that it takes is kept stands for it: nothing is
computed, and nobody is paid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ragbench.old.core.types import Array, Chunk, Hit, Question
from ragbench.old.data import Dataset
from ragbench.old.llm import ModelError
from ragbench.old.llm.planning import keep
from ragbench.old.store import Store
from ragbench.old.systems.callables import told
from ragbench.old.systems.parts.pre_retrieval import ModelRewriter, Pieces, Rewriter, Rewritten
from ragbench.old.systems.parts.reranking import HybridRetriever, Reranker, by_ranks, kept_of, reranked
from ragbench.old.systems.parts.retrievers import DenseRetriever
from ragbench.old.systems.retrieval import Found, Progress, Retrieval, RetrievalError, Retriever, counted, scaled


@dataclass(frozen=True)
class Parts:
    """What a system is made of. store: where a reranker's scores are kept."""

    retriever: Retriever
    store: Store
    pieces: Pieces | None = None
    rewriter: Rewriter | None = None
    reranker: Reranker | None = None

    @property
    def is_retriever_alone(self) -> bool:
        """Whether there is nothing besides."""
        return (self.pieces, self.rewriter, self.reranker) == (None, None, None)

    def depth(self, k: int) -> int:
        """How many hits it takes of the retriever for k of the whole."""
        return k if self.reranker is None else max(k, self.reranker.settings.depth)


class ConfiguredSystem:
    """A question is put anew, searched for, and the first passages are looked at again, where there are such parts.

    A question at which a part fails has no hits, and the reason is kept; where all fail, that is an error as a whole.
    """

    def __init__(self, name: str, dataset: Dataset, parts: Parts) -> None:
        self.name, self.dataset, self.parts, self.retriever = name, dataset, parts, parts.retriever
        self.is_stand_in = parts.retriever.is_stand_in

    @property
    def searched(self) -> tuple[Chunk, ...]:
        """What is ranked: the passages, or the pieces that they are cut into."""
        return (self.dataset if self.parts.pieces is None else self.parts.pieces.dataset).chunks

    @property
    def description(self) -> Mapping[str, Any]:
        parts = self.parts
        more = {"rewriter": parts.rewriter, "reranker": parts.reranker}
        return {
            "kind": "configured",
            **self.retriever.description,
            **(parts.pieces.description if parts.pieces is not None else {}),
            **{part: dict(component.description) for part, component in more.items() if component is not None},
        }

    @property
    def dense(self) -> DenseRetriever | None:
        """The part that embeds, where it is all there is to the system."""
        alone = self.parts.is_retriever_alone and isinstance(self.retriever, DenseRetriever)
        return self.retriever if alone else None  # type: ignore[return-value]

    @property
    def searching(self) -> Mapping[str, Retriever]:
        """The parts that search: those of a hybrid by their names, else the one under ""."""
        return self.retriever.parts if isinstance(self.retriever, HybridRetriever) else {"": self.retriever}

    @property
    def embedding(self) -> dict[str, DenseRetriever]:
        """Those of them that embed."""
        return {name: retriever for name, retriever in self.searching.items() if isinstance(retriever, DenseRetriever)}

    def retrieve(
        self, questions: Sequence[Question], k: int, *, progress: Progress | None = None, fresh: bool = False
    ) -> Retrieval:
        """Raises EmbeddingError for texts that cannot be embedded, StoreError when the database cannot answer,
        RetrievalError where a part fails at every question."""
        if not fresh:
            self.prepare(progress)
        return self._retrieval(questions, k, progress=progress, fresh=fresh)

    def retrieve_one(self, question: Question, k: int) -> Retrieval:
        """One question, by itself and without looking what an index costs: what somebody waits for.

        Before the clock runs, the same is done once; but an endpoint's vector is paid for once, and read from then on.
        Raises EmbeddingError and StoreError where nobody has called `prepare` yet.
        """
        anew = not any(retriever.asks_elsewhere for retriever in self.embedding.values())
        self._retrieval([question], k, fresh=anew, alone=True)
        return self._retrieval([question], k, fresh=anew, alone=True)

    def timed(self, question: Question, k: int) -> dict[str, float]:
        """Milliseconds by part of one question by itself, all of it done now but for what a model was paid for."""
        retrieval = self._retrieval([question], k, fresh=True, alone=True)
        taken = {"embed": retrieval.embed_ms, "search": retrieval.search_ms, **retrieval.part_ms}
        return {part: float(ms[0]) for part, ms in taken.items() if ms is not None}

    def prepare(self, progress: Progress | None = None) -> None:
        """What belongs to the passages, where it is not there yet."""
        self.retriever.prepare(scaled(progress, len(self.dataset.chunks) / max(len(self.searched), 1)))

    def before_reranking(self, questions: Sequence[Question]) -> list[list[Hit]]:
        """What its reranker looks at. Raises what `retrieve` raises."""
        assert self.parts.reranker is not None
        before = ConfiguredSystem(self.name, self.dataset, replace(self.parts, reranker=None))
        return before.retrieve(questions, self.parts.reranker.settings.depth).hits

    def _retrieval(
        self,
        questions: Sequence[Question],
        k: int,
        *,
        progress: Progress | None = None,
        fresh: bool = False,
        alone: bool = False,
    ) -> Retrieval:
        asked, written_ms = self._asked(questions)
        errors = {
            question.id: rewritten.reason
            for question, rewritten in zip(questions, asked, strict=True)
            if not rewritten.texts
        }
        failures = counted(f"systems.{self.name}: its rewriter", questions, errors)
        texts = [text for rewritten in asked for text in rewritten.texts]
        share = (len(asked) - len(errors)) / len(texts) / (1 if self.parts.reranker is None else 2)
        outcome = self.retriever.search(
            texts, self.parts.depth(k), progress=scaled(progress, share), fresh=fresh, alone=alone
        )
        owners = [question.id for question, rewritten in zip(questions, asked, strict=True) for _ in rewritten.texts]
        for place, why in outcome.errors.items():
            errors.setdefault(owners[place], why)
        failures = counted(f"systems.{self.name}: its embedder", questions, errors)
        rankings, taken = self._by_question(asked, outcome)
        reranked_ms = {}
        if self.parts.reranker is not None:
            rankings, reranked_ms["rerank"] = self._reranked(questions, asked, rankings, errors, fresh, progress)
            failures = counted(f"systems.{self.name}: its reranker", questions, errors)
        if progress is not None and (failed := sum(not rewritten.texts for rewritten in asked)):
            progress(2 * failed)
        return Retrieval(
            [[] if question.id in errors else row[:k] for question, row in zip(questions, rankings, strict=True)],
            embed_ms=taken.get("embed"),
            search_ms=taken.get("search"),
            part_ms={**written_ms, **reranked_ms},
            errors=errors,
            facts={**outcome.facts, **self.description, **failures},
            is_stand_in=self.is_stand_in,
        )

    def _asked(self, questions: Sequence[Question]) -> tuple[list[Rewritten], dict[str, Array]]:
        """What is searched for, and the milliseconds of writing it."""
        if self.parts.rewriter is None:
            return [Rewritten((question.text,), "", 0.0) for question in questions], {}
        try:
            made = self.parts.rewriter.rewrite(questions)
        except ModelError as error:
            raise RetrievalError(f"systems.{self.name}: its rewriter: {error}") from error
        return made, {"rewrite": np.array([rewritten.milliseconds for rewritten in made])}

    def _by_question(self, asked: Sequence[Rewritten], outcome: Found) -> tuple[list[list[Hit]], dict[str, Array]]:
        """Rankings, those of one question's texts fused by ranks; milliseconds of its texts together."""
        rows = iter(outcome.hits)
        rankings: list[list[Hit]] = []
        for rewritten in asked:
            own = [next(rows) for _ in rewritten.texts]
            rankings.append(own[0] if len(own) == 1 else by_ranks(own))
        owners = np.repeat(np.arange(len(asked)), [len(rewritten.texts) for rewritten in asked])
        taken = {
            part: np.bincount(owners, ms, minlength=len(asked)).astype(float)
            for part, ms in outcome.milliseconds.items()
        }
        return rankings, taken

    def _reranked(
        self,
        questions: Sequence[Question],
        asked: Sequence[Rewritten],
        rankings: Sequence[list[Hit]],
        errors: dict[str, str],
        fresh: bool,
        progress: Progress | None,
    ) -> tuple[list[list[Hit]], Array]:
        """By the question as it was asked. errors: takes the reasons of those at which the reranker fails."""
        assert self.parts.reranker is not None
        made, milliseconds = list[list[Hit]](), np.full(len(questions), np.nan)
        for place, (question, hits) in enumerate(zip(questions, rankings, strict=True)):
            if question.id in errors:
                made.append([])
                if progress is not None and asked[place].texts:
                    progress(1)
                continue
            try:
                again, milliseconds[place] = reranked(self.parts.reranker, self.parts.store, question.text, hits, fresh)
            except RetrievalError:
                raise
            except Exception as error:
                again = []
                errors.setdefault(question.id, f"reranker {self.parts.reranker.name}: {told(error)}")
            made.append(again)
            if progress is not None:
                progress(1)
        return made, milliseconds


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
