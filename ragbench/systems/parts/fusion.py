"""Several rankings of the same question made one: by ranks, or by scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from ragbench.core.settings import RetrieverSettings
from ragbench.core.types import Array, Chunk, Hit
from ragbench.systems.retrieval import Found, Progress, Retriever, scaled

CONSTANT = 60.0
"""Of Cormack, Clarke and Buettcher 2009."""


class HybridRetriever:
    """Its parts are asked one after the other, `depth` passages each, and their rankings fused at every question."""

    def __init__(self, settings: RetrieverSettings, parts: Mapping[str, Retriever]) -> None:
        self.settings, self.parts = settings, parts
        self.is_stand_in = any(part.is_stand_in for part in parts.values())

    @property
    def description(self) -> Mapping[str, Any]:
        settings = self.settings
        how = {"constant": settings.constant} if settings.fusion == "rrf" else {"weights": list(self._weights)}
        return {
            **{key: value for part in self.parts.values() for key, value in part.description.items()},
            "retriever": " + ".join(self.parts),
            "fusion": settings.fusion,
            "depth": settings.depth,
            **how,
        }

    def prepare(self, progress: Progress | None = None) -> None:
        """Each part's."""
        each = scaled(progress, 1 / len(self.parts))
        for part in self.parts.values():
            part.prepare(each)

    def search(
        self,
        texts: Sequence[str],
        k: int,
        *,
        progress: Progress | None = None,
        fresh: bool = False,
        alone: bool = False,
    ) -> Found:
        """As `Retriever.search`; milliseconds are the parts' together."""
        each = scaled(progress, 1 / len(self.parts))
        depth = max(k, self.settings.depth)
        outcomes = [part.search(texts, depth, progress=each, fresh=fresh, alone=alone) for part in self.parts.values()]
        milliseconds: dict[str, Array] = {}
        for outcome in outcomes:
            for stage, taken in outcome.milliseconds.items():
                milliseconds[stage] = milliseconds[stage] + taken if stage in milliseconds else taken
        facts = {key: value for outcome in outcomes for key, value in outcome.facts.items()}
        fused = [self._fused(rankings)[:k] for rankings in zip(*(outcome.hits for outcome in outcomes), strict=True)]
        return Found(fused, milliseconds, {**facts, **self.description}, self._errors(outcomes))

    def _errors(self, outcomes: Sequence[Found]) -> dict[int, str]:
        """Place of a text → what every part that failed at it says, under its name where several parts failed."""
        errors: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
        for name, outcome in zip(self.parts, outcomes, strict=True):
            for place, why in outcome.errors.items():
                errors[place].append((name, why))
        return {
            place: own[0][1] if len(own) == 1 else "; ".join(f"{name}: {why}" for name, why in own)
            for place, own in sorted(errors.items())
        }

    @property
    def _weights(self) -> tuple[float, ...]:
        return self.settings.weights or (1.0,) * len(self.parts)

    def _fused(self, rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
        if self.settings.fusion == "rrf":
            return by_ranks(rankings, self.settings.constant)
        return by_scores(rankings, self._weights)


def by_ranks(rankings: Sequence[Sequence[Hit]], constant: float = CONSTANT) -> list[Hit]:
    """Reciprocal rank fusion (Cormack, Clarke and Buettcher 2009): the sum of 1 / (constant + rank) over the rankings
    that hold a passage, ranks from 1; ties in code point order of the id."""
    return _summed([[1 / (constant + rank) for rank in range(1, len(ranking) + 1)] for ranking in rankings], rankings)


def by_scores(rankings: Sequence[Sequence[Hit]], weights: Sequence[float]) -> list[Hit]:
    """Weighted sum of scores that are brought to 0 to 1 within each ranking, by its least and its greatest (Lee 1997,
    Analyses of multiple evidence combination, SIGIR).

    A passage that a ranking lacks has 0 of it, as its last one has; where all its scores are the same, all have 1.
    """
    return _summed(
        [
            [weight * score for score in _from_0_to_1(ranking)]
            for ranking, weight in zip(rankings, weights, strict=True)
        ],
        rankings,
    )


def _from_0_to_1(ranking: Sequence[Hit]) -> list[float]:
    scores = [0.0 if hit.similarity is None else hit.similarity for hit in ranking]
    least, greatest = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - least) / (greatest - least) if greatest > least else 1.0 for score in scores]


def _summed(worth: Sequence[Sequence[float]], rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
    sums: defaultdict[str, float] = defaultdict(float)
    chunks: dict[str, Chunk] = {}
    for values, ranking in zip(worth, rankings, strict=True):
        for value, hit in zip(values, ranking, strict=True):
            sums[hit.chunk.id] += value
            chunks.setdefault(hit.chunk.id, hit.chunk)
    return [Hit(chunks[name], value) for name, value in sorted(sums.items(), key=lambda pair: (-pair[1], pair[0]))]
