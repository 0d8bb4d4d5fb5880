"""What a system under test is, and what it gives back."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ragbench.old.core.types import Array, Hit, Question
from ragbench.old.systems.generation import Generation

ROUNDING = 1e-6  # a whole done in thirds is a whole
KINDS_SHOWN = 5  # kinds of errors that are named
Progress = Callable[[int], object]  # called with how many more chunks or questions are done


UNTOLD = "the system answers, and does not tell what it retrieved (`retrieved`)"
"""Why there is no value of retrieval at questions of `Retrieval.untold`."""


class RetrievalError(ValueError):
    """A system under test cannot be made, or what it gave cannot be read."""


@dataclass(frozen=True)
class Retrieval:
    """What one system retrieved, in question order.

    hits: nearest first; empty where nothing was retrieved or the question failed (`errors` tells which).
    embed_ms, search_ms: (questions,) milliseconds a question; work done for many at once is divided evenly. None
        where the system did not do that work now (logged results), or does both in one (your callable, a service:
        search_ms).
    part_ms: "rewrite", "rerank" → the same of what a configured system does before and after, where it does.
    errors: question id → why it has no hits, for questions that failed.
    untold: ids of the questions that were answered without a word of what was retrieved: no ranking, and none that is
        empty either.
    logged_ms: stage → (questions,) milliseconds that were logged, NaN where they were not: "search" (the whole
        retrieval), and "answer" (from the question to the answer) beside it; of a service, whose replies are kept with
        what they took, "call", and "first_token" (until the first piece of its answer).
    answers: question id → what a system that answers by itself gave, once for every repeat there is.
    facts: JSON values for the page and the manifest: embedder, index, recall against exact search, counts.
    """

    hits: list[list[Hit]]
    embed_ms: Array | None = None
    search_ms: Array | None = None
    part_ms: Mapping[str, Array] = field(default_factory=dict)
    logged_ms: Mapping[str, Array] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    untold: frozenset[str] = frozenset()
    facts: Mapping[str, Any] = field(default_factory=dict)
    answers: Mapping[str, tuple[Generation, ...]] = field(default_factory=dict)
    is_stand_in: bool = False


@dataclass(frozen=True)
class Found:
    """What one retriever found for texts, in their order.

    hits: best first, ties in code point order of the id. milliseconds: "embed" and "search", where it does that →
    (texts,) of each; work done for many at once is divided evenly. facts: JSON values for the page. errors: place of a
    text → why nothing could be looked for.
    """

    hits: list[list[Hit]]
    milliseconds: Mapping[str, Array]
    facts: Mapping[str, Any] = field(default_factory=dict)
    errors: Mapping[int, str] = field(default_factory=dict)


class Retriever(Protocol):
    """How a configured system finds passages: one of `[retrievers.NAME]`.

    description, is_stand_in: as of a system.
    """

    is_stand_in: bool

    @property
    def description(self) -> Mapping[str, Any]: ...

    def prepare(self, progress: Progress | None = None) -> None:
        """Make ready what belongs to the passages, where it is not yet; a step each."""
        ...

    def search(
        self,
        texts: Sequence[str],
        k: int,
        *,
        progress: Progress | None = None,
        fresh: bool = False,
        alone: bool = False,
    ) -> Found:
        """At most k hits for each text, two steps each; `prepare` has been called, now or in an earlier run.

        fresh: nothing that is stored of a text is read. alone: each by itself, as an application asks.
        """
        ...


def steps(chunks: int, questions: int, repeats: int = 1) -> int:
    """How many steps the progress of `repeats` runs has, those after the first `fresh`: a chunk is one, a question two.

    A question is embedded, then searched for; a function of the user's own does both at once.
    """
    return chunks + 2 * questions * repeats


def scaled(progress: Progress | None, share: float) -> Progress | None:
    """Progress of work of which a step is only a `share` of one; whole steps are told of as they are full."""
    if progress is None:
        return None
    done = told = 0

    def of_a_part(number: int) -> None:
        nonlocal done, told
        done += number
        if (full := math.floor(done * share + ROUNDING)) > told:
            progress(full - told)
            told = full

    return of_a_part


class System(Protocol):
    """A retrieval system under test.

    description: JSON values that say how it is made. is_stand_in: True for the offline default, which stands in for a
    real embedder.
    """

    name: str
    is_stand_in: bool

    @property
    def description(self) -> Mapping[str, Any]: ...

    def retrieve(
        self, questions: Sequence[Question], k: int, *, progress: Progress | None = None, fresh: bool = False
    ) -> Retrieval:
        """At most k hits for each question. `progress` gets what is done, `steps` in all.

        fresh: do everything anew that belongs to a question; no stored vector of it is read. The chunks are those of a
        run before, and no steps any more.
        """
        ...


def counted(who: str, questions: Sequence[Question], errors: Mapping[str, str]) -> dict[str, Any]:
    """Facts of the questions that failed; nothing where none did. Raises RetrievalError where all did."""
    if questions and len(errors) == len(questions):
        first = next(iter(errors.values()))
        for_all = f" for all {len(questions)} questions" if len(questions) > 1 else ""
        raise RetrievalError(f"{who} failed{for_all}: {first}")
    if not errors:
        return {}
    kinds = sorted(set(errors.values()))[:KINDS_SHOWN]
    return {"errors": len(errors), "errors_of": len(questions), "errors_first": kinds}
