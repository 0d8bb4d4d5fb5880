"""Rankings made anew: several of one question made one, or the first passages of one looked at again."""

from __future__ import annotations

import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ragbench.old.core.settings import ConfigurationError, RerankerSettings, RetrieverSettings, project_folder
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.core.types import Array, Chunk, Hit, Question
from ragbench.old.embed.model import content_of, quiet
from ragbench.old.llm.client import free_loop, run
from ragbench.old.llm.endpoint import SILENT
from ragbench.old.llm.errors import Fault
from ragbench.old.llm.service import Caller
from ragbench.old.llm.transport import read_key
from ragbench.old.store import Store
from ragbench.old.store.arrays import Readings
from ragbench.old.systems.callables import of_table
from ragbench.old.systems.retrieval import Found, Progress, RetrievalError, Retriever, scaled

MOST_SCORE = 1e30
"""Of a passage, either way of 0: so much is left of it in 32 bits."""
IN_A_ROW = 3
"""Calls that failed one after the other, each after all its attempts, after which an endpoint is asked no more."""


class UnansweredError(ValueError):
    """A reranker has not answered one call; the next one may fare better."""


class UnreadableError(ValueError):
    """A reranker gave what are no scores."""


class Reranker(Protocol):
    """One of `[rerankers.NAME]`.

    identity: all that changes a score; "" where nobody can say, and nothing is kept. asks_elsewhere: whether a score is
    paid for. description: JSON values for the page.
    """

    name: str
    settings: RerankerSettings
    asks_elsewhere: bool

    @property
    def identity(self) -> str: ...

    @property
    def description(self) -> Mapping[str, Any]: ...

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """One a text, higher for what fits better."""
        ...


def reranked(
    reranker: Reranker, store: Store, question: str, hits: Sequence[Hit], fresh: bool
) -> tuple[list[Hit], float]:
    """The hits with the first `depth` of them in the order of their scores, ties as they were, and the milliseconds.

    Scores are kept by question and texts, and their milliseconds with them; fresh: what costs nothing is done anew.
    Those below are left without a `similarity`: it could not be compared. Raises what the reranker raises, and
    ValueError for scores that are not one finite number a text.
    """
    first = hits[: reranker.settings.depth]
    if not first:
        return list(hits), 0.0
    texts = [hit.chunk.text for hit in first]

    def measured() -> dict[str, Array]:
        begun = time.perf_counter()
        scores = checked(reranker.scores(question, texts), len(texts))
        return {"score": scores, "ms": np.array([(time.perf_counter() - begun) * 1000])}

    if not reranker.identity or (fresh and not reranker.asks_elsewhere):
        kept: Mapping[str, Array] = measured()
    else:
        kept = store.readings(_about(reranker, question, texts), measured)
    order = sorted(range(len(first)), key=lambda place: (-kept["score"][place], place))
    again = [Hit(first[place].chunk, float(kept["score"][place])) for place in order]
    return [*again, *(Hit(hit.chunk) for hit in hits[len(first) :])], float(kept["ms"][0])


def checked(scores: Sequence[float], number: int) -> Array:
    """The scores of so many texts. Raises UnreadableError for what is not one finite number a text."""
    values = np.asarray(scores, float)
    if values.shape != (number,) or not np.isfinite(values).all():
        raise UnreadableError(f"{excerpt(values.tolist(), 80)}: {_expected(number)}")
    return values


def kept_of(
    reranker: Reranker, store: Store, questions: Sequence[Question], rankings: Sequence[Sequence[Hit]]
) -> list[Readings]:
    """The scores, with their milliseconds, that are kept of questions and their rankings."""
    texts = [[hit.chunk.text for hit in hits[: reranker.settings.depth]] for hits in rankings]
    return store.found([_about(reranker, q.text, own) for q, own in zip(questions, texts, strict=True) if own])


def _about(reranker: Reranker, question: str, texts: Sequence[str]) -> dict[str, str]:
    """What scores are kept by."""
    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
    return {"what": "scores of a reranker", "reranker": reranker.identity, "question": question, "texts": digest}


class CrossEncoderReranker:
    """A CrossEncoder of sentence-transformers (Nogueira and Cho 2019), loaded when it is first needed."""

    asks_elsewhere = False

    def __init__(self, name: str, settings: RerankerSettings) -> None:
        self.name, self.settings = name, settings
        self._named = str(settings.model)
        self._folder = project_folder() / Path(self._named).expanduser()

    @cached_property
    def identity(self) -> str:
        content = content_of(self._named, self._folder, lambda: self._model.model)
        return f"cross_encoder {self._folder.name if self._folder.is_dir() else self._named} {content}"

    @property
    def description(self) -> Mapping[str, Any]:
        return {"name": self.name, "model": self._named, "depth": self.settings.depth}

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """As `Reranker.scores`."""
        pairs = [(question, text) for text in texts]
        predicted = self._model.predict(pairs, batch_size=self.settings.batch, show_progress_bar=False)
        return [float(score) for score in np.asarray(predicted).reshape(len(texts), -1)[:, 0]]

    @cached_property
    def _model(self) -> Any:
        from sentence_transformers import CrossEncoder

        quiet()
        try:
            source = str(self._folder) if self._folder.is_dir() else self._named
            return CrossEncoder(source, num_labels=1, trust_remote_code=False)
        except Exception as error:
            said = excerpt(error, 200)
            raise RetrievalError(f"rerankers.{self.name}.model = {self._named!r} cannot be loaded: {said}") from None


class EndpointReranker:
    """`model` at `base_url`/rerank; redirects are not followed."""

    asks_elsewhere = True

    def __init__(self, name: str, settings: RerankerSettings) -> None:
        self.name, self.settings = name, settings
        try:
            self._key = read_key(f"rerankers.{name}", settings)
        except ConfigurationError as error:
            raise RetrievalError(str(error)) from None
        self.identity = f"endpoint {settings.address} model={settings.model!r}"
        self._caller = Caller(f"rerankers.{name}", settings, self._key)
        self._failed, self._ever_answered = 0, False

    @property
    def description(self) -> Mapping[str, Any]:
        return {"name": self.name, "model": self.settings.model, "depth": self.settings.depth}

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """As `Reranker.scores`. Raises RetrievalError where every call would be refused, UnreadableError for a reply,
        UnansweredError for a call, and for every one after IN_A_ROW of these."""
        if self._failed >= IN_A_ROW:
            raise UnansweredError("not asked: the calls before it failed one after the other; run again to go on")
        try:
            content = run(self._reply(question, texts), free_loop())
        except Fault as fault:
            silent = fault.kind in SILENT and not self._ever_answered
            self._failed += IN_A_ROW if silent else fault.passes  # one patience is enough for one that is not there
            said = f"rerankers.{self.name} ({self.settings.model} at {self.settings.address}): {fault.reason}"
            raise (RetrievalError if fault.kind == "fatal" else UnansweredError)(said) from None
        self._failed, self._ever_answered = 0, True
        return self._read(content, len(texts))

    async def _reply(self, question: str, texts: Sequence[str]) -> bytes:
        body = {"model": self.settings.model, "query": question, "documents": list(texts), "top_n": len(texts)}
        return await self._caller.post(lambda transport, seconds: transport.post("rerank", body, seconds))

    def _read(self, content: bytes, number: int) -> list[float]:
        unreadable = f"rerankers.{self.name} gave a reply that cannot be read"
        try:
            rows = json.loads(content)["results"]
            by_index = {row["index"]: row["relevance_score"] for row in rows}
        except (ValueError, RecursionError, KeyError, TypeError):
            raise UnreadableError(
                f"{unreadable}: a list `results` of `index` and `relevance_score` is expected"
            ) from None
        scores: list[Any] = [by_index.get(place) for place in range(number)]
        if len(rows) != number or not all(map(_is_score, scores)):
            raise UnreadableError(f"{unreadable}: {_expected(number)}")
        return [float(score) for score in scores]


class FunctionReranker:
    """Your function of (question, texts), called once a question, always anew; it gives one score a text."""

    asks_elsewhere = False
    identity = ""

    def __init__(self, name: str, settings: RerankerSettings) -> None:
        self.name, self.settings, self.path = name, settings, str(settings.callable)
        self._function = of_table(
            f"rerankers.{name}", self.path, "(question, texts)", settings.timeout_seconds, RetrievalError
        )

    @property
    def description(self) -> Mapping[str, Any]:
        return {"name": self.name, "callable": self.path, "depth": self.settings.depth}

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """As `Reranker.scores`."""
        return [float(score) for score in self._function(question, list(texts))]


KINDS: dict[str, Callable[[str, RerankerSettings], Reranker]] = {
    "cross_encoder": CrossEncoderReranker,
    "endpoint": EndpointReranker,
    "callable": FunctionReranker,
}


def make(name: str, settings: RerankerSettings) -> Reranker:
    """The reranker of the table `[rerankers.NAME]`. Raises RetrievalError for one that cannot be."""
    return KINDS[settings.kind](name, settings)


def _is_score(value: Any) -> bool:
    """Whether it is a finite number, which a whole number beyond all of those of the machine is not."""
    return type(value) in (int, float) and abs(value) < MOST_SCORE


def _expected(number: int) -> str:
    return f"one finite score is expected for each of {number} texts"


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
