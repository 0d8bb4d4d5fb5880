"""Judged claims, and where they stand in a text: each in the sentence that has most of its words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ragbench.core.segmentation import spans
from ragbench.judge.words import FUNCTION_WORDS, stem, words
from ragbench.views.basics.judgements import KINDS

SHARE = 0.6
"""The part of a claim's words that a sentence must have, for the claim to be marked there."""

SIGNS = {"rb-better": "✓", "rb-worse": "✕"}
UNDECIDED = "○"
_ORDER = ("rb-worse", "rb-not-shown", "rb-better")


class Claim(NamedTuple):
    """A statement and its verdict. verdict: in the page's language. kind: the verdict's class. judged: by which metric
    and judge. A verdict on a whole passage has no statement."""

    statement: str
    verdict: str
    kind: str
    judged: str

    @property
    def sign(self) -> str:
        """What stands for the verdict beside its colour."""
        return SIGNS.get(self.kind, UNDECIDED)

    @property
    def said(self) -> str:
        """Who says what, on one line."""
        return f"{self.judged}: {self.verdict}" + (f" — {self.statement}" if self.statement else "")


def claim(statement: str, verdict: str, verdict_word: str, judged: str) -> Claim:
    """A claim of a stored verdict and its word."""
    return Claim(" ".join(statement.split()), verdict_word, KINDS.get(verdict, "rb-not-shown"), judged)


class Sign(NamedTuple):
    """Claims with one verdict, at one sentence. kind: the verdict's class. said: who says what, a line a claim."""

    sign: str
    kind: str
    said: str


class Place(NamedTuple):
    """A sentence with the claims that stand in it. start, end: in characters; kind: the class of the worst verdict."""

    start: int
    end: int
    claims: tuple[Claim, ...]

    @property
    def kind(self) -> str:
        """Contradicted before undecided before supported."""
        return next(kind for kind in _ORDER if any(claim.kind == kind for claim in self.claims))

    @property
    def signs(self) -> list[Sign]:
        """A sign for each verdict, in the order of the first claim that has it; `✓ ×5` where five claims do."""
        told: dict[tuple[str, str], list[str]] = {}
        for claim in self.claims:
            told.setdefault((claim.sign, claim.kind), []).append(claim.said)
        joined = "\N{NO-BREAK SPACE}×"
        return [
            Sign(f"{sign}{joined}{len(said)}" if len(said) > 1 else sign, kind, "\n".join(said))
            for (sign, kind), said in told.items()
        ]


def placed(text: str, claims: Sequence[Claim]) -> tuple[list[Place], list[Claim]]:
    """The places of claims in a text, in its order, and the claims that stand nowhere in it.

    A claim stands in the sentence that has the greatest share of its content words by their stems, of equals in the one
    with the fewest other words, then in the first; it stands nowhere where that share is below SHARE. A claim of
    function words alone is found by these.
    """
    claims_at: dict[tuple[int, int], dict[Claim, None]] = {}
    left: dict[Claim, None] = {}
    sentences = _sentences(text) if claims else ()
    for claim in claims:
        wanted = _stems(claim.statement)
        best = max(
            ((len(wanted & own) / len(wanted), -len(own - wanted), -start, end) for start, end, own in sentences),
            default=(0.0, 0, 0, 0),
        ) if wanted else (0.0, 0, 0, 0)  # fmt: skip
        if best[0] >= SHARE:
            claims_at.setdefault((-best[2], best[3]), {})[claim] = None
        else:
            left[claim] = None
    return [Place(*where, tuple(claims_at[where])) for where in sorted(claims_at)], list(left)


def pieces(text: str, places: Sequence[Place]) -> Iterator[tuple[str, Place | None]]:
    """The whole text in order, in pieces, each with its place where claims stand in it."""
    done = 0
    for place in places:
        if place.start > done:
            yield text[done : place.start], None
        yield text[place.start : place.end], place
        done = place.end
    if done < len(text):
        yield text[done:], None


@lru_cache(maxsize=8192)
def _sentences(text: str) -> tuple[tuple[int, int, frozenset[str]], ...]:
    return tuple((start, end, _stems(text[start:end], whole=True)) for start, end in spans(text))


@lru_cache(maxsize=8192)
def _stems(text: str, *, whole: bool = False) -> frozenset[str]:
    """Stems of a text's content words, of all its words where it has no other; whole: of all."""
    said = words(text)
    content = said if whole else [word for word in said if word not in FUNCTION_WORDS]
    return frozenset(stem(word) for word in content or said)
