"""What a page's numbers are made of: questions, answers, turns, passages; and judged claims in their texts.

Items fill one kind of table (`ragbench.views.items`): one row an item, one column a system for the measure that
is chosen, and everything that is known of an item below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from ragbench.core.segmentation import spans
from ragbench.judge.words import FUNCTION_WORDS, stem, words
from ragbench.views.basics.side_tables import KINDS

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


APART = 0.25
"""The part of a measure's scale by which judges must differ, at the least, to be said to disagree."""

Numbers = Sequence[float | None]
Row = Mapping[Any, Any]


class Entry(NamedTuple):
    """One text of a list. meta: a line below it. row: the item that it leads to. shared: several items have it.

    mark: what was found of it, in a word. kind: the class of the mark. A list whose entries are marked is a ranking.
    gain: of a passage that was retrieved, its relevance as people graded it. claims: those that it decides.
    """

    text: str
    meta: str = ""
    row: int | None = None
    shared: bool = False
    mark: str = ""
    kind: str = ""
    gain: float | None = None
    claims: tuple[Claim, ...] = ()


class Claimed(NamedTuple):
    """An answer with the claims that judges found in it."""

    text: str
    claims: tuple[Claim, ...]


class Judged(NamedTuple):
    """What a judge said of an answer: its score in words, why, and its verdicts, each the mark of what it is on."""

    value: str
    said: str
    verdicts: Sequence[tuple[str, Sequence[Entry]]]


Section = tuple[str, str | Claimed | Sequence[Entry] | Judged]
"""A heading with a text (none if it is empty), with a text of claims, with a list of texts, or over a judgement."""


@dataclass(frozen=True)
class Measured:
    """A measure of single items.

    key: its name in addresses; name: for people. values: by system, one an item, None where there is none. words: of a
    measure that is a kind and no number, whose values are places among these words, the worst first. paired: whether
    two systems can be compared by it. of: the measures of the page whose numbers are made of these values. missing:
    items that could not be measured, by system and status. judged: whether judges gave it. apart: by system the items
    on which the judges of a panel differ by more than APART of its scale, with what each said.
    """

    key: str
    name: str
    values: Mapping[str, Numbers]
    digits: int = 3
    lower: bool = False
    words: Sequence[str] = ()
    paired: bool = True
    of: Sequence[str] = ()
    missing: Mapping[str, Mapping[str, Sequence[int]]] = field(default_factory=dict)
    judged: bool = False
    apart: Mapping[str, Mapping[int, str]] = field(default_factory=dict)

    @property
    def known(self) -> bool:
        """Whether it was measured of any item."""
        return any(value is not None for values in self.values.values() for value in values)


@dataclass(frozen=True)
class Parting:
    """A way to part the items. values: of each item, None where it has none; words: what values are called."""

    key: str
    name: str
    values: Sequence[str | None]
    words: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Detail:
    """What is known of one item: of the item itself, and of it for each system. title: in place of its text."""

    title: str = ""
    sections: Sequence[Section] = ()
    sides: Mapping[str, Sequence[Section]] = field(default_factory=dict)


@dataclass(frozen=True)
class Items:
    """All items of a page, in the order in which they are first listed.

    title: the heading. read: everything about the item at a place. kind: what the items are, by which their table
    chooses its words; empty for questions. sort: how they are sorted at first, "order" or "worst". first: the key of
    the measure that is shown at first, where that is not the first. held: texts below the items, where they are more
    than the items. listed: whether what is known of each system is short enough for a list. empty: what is said where
    there is no item.
    """

    title: str
    ids: Sequence[str]
    texts: Sequence[str]
    measures: Sequence[Measured]
    partings: Sequence[Parting]
    read: Callable[[int], Detail]
    kind: str = ""
    sort: str = "worst"
    first: str = ""
    held: int = 0
    listed: bool = True
    empty: str = ""

    @property
    def chosen(self) -> Measured:
        """The measure that is shown at first."""
        return next((measure for measure in self.measures if measure.key == self.first), self.measures[0])


def measuring(systems: Sequence[str], items: Sequence[Any]) -> Callable[..., Measured]:
    """What makes a measure of its key, its name and the value that an item has for a system."""

    def measured(key: str, name: str, value: Callable[[Any, str], float | None], **more: Any) -> Measured:
        return Measured(key, name, {system: [value(entry, system) for entry in items] for system in systems}, **more)

    return measured


def told(*sections: Section) -> list[Section]:
    """The sections that have something below their heading."""
    return [(lead, body) for lead, body in sections if body]


def number(value: float | None) -> float | None:
    """A finite number, else None."""
    return None if value is None or not math.isfinite(value) else float(value)
