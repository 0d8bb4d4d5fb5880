"""How far the characters of two texts stand for each other by Jaro and Winkler, with the counts that explain it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

PREFIX_WEIGHT = 0.1
LONGEST_PREFIX = 4
ALIKE_ENOUGH = 0.7
"""Winkler's weight of a common beginning, how much of it counts, and the Jaro similarity above which it does."""


@dataclass(frozen=True, slots=True)
class Jaro:
    """What Jaro's similarity is made of (Jaro 1989; Winkler 1990).

    matches: characters that both have, at most half the longer length (less one) apart, each used once.
    transpositions: half the matched characters that stand in another order. prefix: characters of the common beginning,
    LONGEST_PREFIX at most.
    """

    lengths: tuple[int, int]
    matches: int
    transpositions: int
    prefix: int

    @classmethod
    def of(cls, text: str, other: str) -> Jaro:
        """The counts of two texts, in time that grows with their lengths, not with the product of them."""
        first, second = _matched(text, other)
        swapped = sum(text[a] != other[b] for a, b in zip(first, sorted(second), strict=True))
        prefix = next(
            (place for place, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other))
        )
        return cls((len(text), len(other)), len(first), swapped // 2, min(prefix, LONGEST_PREFIX))

    @property
    def value(self) -> float:
        """(m / |a| + m / |b| + (m − t) / m) / 3, 0 to 1; 0 where nothing matches."""
        if not self.matches:
            return 0.0
        parts = (*(self.matches / length for length in self.lengths), 1 - self.transpositions / self.matches)
        return sum(parts) / len(parts)

    @property
    def prefix_counts(self) -> bool:
        """Whether the texts are alike enough for a common beginning to count."""
        return self.value > ALIKE_ENOUGH

    @property
    def winkler(self) -> float:
        """j + p · 0.1 · (1 − j): the similarity j, raised by a common beginning of p characters."""
        return self.value + (self.prefix * PREFIX_WEIGHT * (1 - self.value) if self.prefix_counts else 0.0)


def _matched(text: str, other: str) -> tuple[list[int], list[int]]:
    """The places of the matched characters in both texts, in the order of the first one.

    The window only moves to the right, so a character's places left of it are never needed again.
    """
    reach = max(max(len(text), len(other)) // 2 - 1, 0)
    places: dict[str, list[int]] = defaultdict(list)
    for place in range(len(other) - 1, -1, -1):
        places[other[place]].append(place)
    first, second = [], []
    for place, sign in enumerate(text):
        free = places.get(sign)
        while free and free[-1] < place - reach:
            free.pop()
        if free and free[-1] <= place + reach:
            first.append(place)
            second.append(free.pop())
    return first, second
