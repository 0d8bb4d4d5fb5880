"""What a declaration tells people of a metric's values: how others read them, what for, and who else computes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Ends = Literal["[]", "[)", "(]", "()"]


@dataclass(frozen=True)
class Stretch:
    """A stretch of a metric's scale, and what is said of the values in it.

    low, high: its ends, which are one for a single value. word: stands beside a number. meaning: the word in full.
    ends: which of the two belong to it; where two stretches meet, one of them has the value.
    """

    low: float
    high: float
    word: str
    meaning: str = ""
    ends: Ends = "[)"

    def holds(self, value: float) -> bool:
        """Whether a value lies in it."""
        return self.meets(value, value)

    def meets(self, low: float, high: float) -> bool:
        """Whether a closed interval has a value in common with it."""
        reaches = high > self.low or (high == self.low and self.ends[0] == "[")
        return reaches and (low < self.high or (low == self.high and self.ends[1] == "]"))


@dataclass(frozen=True)
class Met:
    """The stretches that an interval meets, as they were listed. whole: it lies in the only one of them."""

    stretches: tuple[Stretch, ...]
    whole: bool

    @classmethod
    def by(cls, stretches: Iterable[Stretch], low: float, high: float) -> Met:
        """Of a closed interval; of a NaN none. A single value is met by itself alone: it has no width to reach into."""
        met = tuple(
            stretch for stretch in stretches if stretch.meets(low, high) and (stretch.low < stretch.high or low == high)
        )
        return cls(met, len(met) == 1 and met[0].holds(low) and met[0].holds(high))


@dataclass(frozen=True)
class Reading:
    """How a metric's values are read: what somebody wrote of such values, not what was measured here.

    rules: a sentence each. source: who says so. bands: stretches of the scale with a word each, the worst first, as
    published; between them there may be values of which nobody said anything. trust: how far the source trusts the
    metric, and where not. under: options that leave the bands standing when they are bound; with any other the number
    is one of another kind, and has no band.
    """

    rules: tuple[str, ...]
    source: str
    bands: tuple[Stretch, ...] = ()
    trust: str = ""
    under: tuple[str, ...] = ()


GOALS: Mapping[str, str] = {
    "retrieval": "diagnosis of retrieval",
    "generation": "diagnosis of generation",
    "end-to-end": "end-to-end quality",
    "production-judge": "quality of a production judge",
    "llm-judge": "quality of an LLM judge",
    "cache": "optimisation of a cache",
    "embeddings": "quality of embeddings",
    "user-experience": "user experience",
    "sources": "use of the knowledge base",
    "entities": "applications about entities",
    "ranking": "order of the retrieved contexts",
    "completeness": "completeness of information",
    "hallucinations": "finding hallucinations",
    "robustness": "robustness to noise",
    "relevance": "relevance of answers",
    "similarity": "quick check of similarity",
    "facts": "detailed check of facts",
    "balance": "balanced assessment",
    "volume": "large volumes of answers",
    "critical-accuracy": "critical accuracy",
    "general": "a first choice for any purpose",
}
"""What metrics are chosen for: the name to type, and the title to read; after the specification's tables."""


@dataclass(frozen=True)
class Purpose:
    """A goal that a metric serves, and why; cutoff: the one that serves it."""

    goal: str
    why: str
    cutoff: int | None = None


@dataclass(frozen=True)
class Peer:
    """Another program whose numbers are the same, as tests hold.

    within: how far apart the two may be; 0: equal in every digit. on: what both were given. options: with which ours
    is the same.
    """

    program: str
    within: float
    on: str
    options: str = ""
