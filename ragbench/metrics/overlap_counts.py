"""How many n-grams, and how long a common subsequence, pairs of texts share: for many pairs at once.

An n-gram of words is packed into one 64-bit number together with the pair it belongs to; sorting brings equal ones
side by side. A longest common subsequence is found with one whole number a text as a bit vector.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ragbench.metrics.overlap_words import Numbers, Texts

BLOCK = 1 << 14
"""Words of both sides that are worked on together: their numbers stay in the processor's cache."""
BITS = 64


def shared_grams(first: Texts, second: Texts, orders: Sequence[int]) -> Numbers:
    """(pairs, orders) how many n-grams text i of both sides share, each as often as it is in both."""
    found = np.zeros((len(first), len(orders)), dtype=np.int64)
    if not len(orders):
        return found
    for start, stop in _blocks(first.lengths + second.lengths):
        sides = [each.words[each.starts[start] : each.starts[stop]] for each in (first, second)]
        local = np.unique(np.concatenate(sides), return_inverse=True)[1]
        width = int(local.max(initial=0)).bit_length()
        if (stop - start).bit_length() + max(orders) * width + 1 > BITS:
            found[start:stop] = _counted(first, second, start, stop, orders)
            continue
        parts = (local[: len(sides[0])], local[len(sides[0]) :])
        keys = [
            _Keys(part, np.repeat(np.arange(stop - start), np.diff(each.starts[start : stop + 1])), width)
            for part, each in zip(parts, (first, second), strict=True)
        ]
        for order in range(1, max(orders) + 1):
            if order > 1:
                for each in keys:
                    each.lengthen()
            if order in orders:
                shared = _shared(keys[0].valid(), keys[1].valid(), order * width, stop - start)
                found[start:stop, orders.index(order)] = shared
    return found


def totals(texts: Texts, orders: Sequence[int]) -> Numbers:
    """(texts, orders) how many n-grams each text has."""
    return np.maximum(texts.lengths[:, None] - np.array(orders, dtype=np.int64) + 1, 0)


def subsequences(first: Texts, second: Texts) -> Numbers:
    """(pairs,) length of the longest common subsequence of text i of both sides."""
    sides = [(each.words.tolist(), each.starts.tolist()) for each in (first, second)]
    (one, starts), (other, ends) = sides
    return np.array(
        [
            common_subsequence(one[starts[i] : starts[i + 1]], other[ends[i] : ends[i + 1]])
            for i in range(len(starts) - 1)
        ],
        dtype=np.int64,
    )


def common_subsequence(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Length of a longest common subsequence (Hyyrö 2004, Bit-parallel LCS-length computation revisited)."""
    places: dict[Hashable, int] = {}
    bit = 1
    for word in first:
        places[word] = places.get(word, 0) | bit
        bit <<= 1
    everywhere = row = bit - 1
    for matches in map(places.get, second):
        if matches:
            met = row & matches
            row = ((row + met) | (row - met)) & everywhere
    return len(first) - row.bit_count()


class _Keys:
    """n-grams of one side of a block as numbers, lengthened word by word; the pair is in the upper bits."""

    def __init__(self, words: Numbers, owners: Numbers, width: int) -> None:
        self._words = words.astype(np.uint64)
        self._owners = owners
        self._width = np.uint64(width)
        self._keys = (owners.astype(np.uint64) << self._width) | self._words
        self._order = 1

    def lengthen(self) -> None:
        self._order += 1
        self._keys = (self._keys[:-1] << self._width) | self._words[self._order - 1 :]

    def valid(self) -> NDArray[np.uint64]:
        """The n-grams that lie within one text."""
        end = self._order - 1
        return self._keys[self._owners[: len(self._owners) - end] == self._owners[end:]] if end else self._keys


def _shared(one: NDArray[np.uint64], other: NDArray[np.uint64], shift: int, pairs: int) -> Numbers:
    """(pairs,) Σ min(count on one side, count on the other) over the n-grams of each pair."""
    bit = np.uint64(1)
    marked = np.concatenate([one << bit, (other << bit) | bit])
    if not len(marked):
        return np.zeros(pairs, dtype=np.int64)
    marked.sort()
    keys = marked >> bit
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    theirs = np.add.reduceat(marked & bit, starts).astype(np.int64)
    both = np.diff(np.concatenate([starts, [len(keys)]]))
    smaller = np.minimum(theirs, both - theirs)
    owners = (keys[starts] >> np.uint64(shift)).astype(np.int64)
    return np.bincount(owners, weights=smaller, minlength=pairs).astype(np.int64)


def _counted(first: Texts, second: Texts, start: int, stop: int, orders: Sequence[int]) -> Numbers:
    """The same for texts with too many different words to be packed: counted one by one."""
    found = np.zeros((stop - start, len(orders)), dtype=np.int64)
    for row, pair in enumerate(range(start, stop)):
        sides = [each.words[each.starts[pair] : each.starts[pair + 1]].tolist() for each in (first, second)]
        for column, order in enumerate(orders):
            one, other = (Counter(zip(*(words[i:] for i in range(order)), strict=False)) for words in sides)
            found[row, column] = (one & other).total()
    return found


def _blocks(sizes: Numbers) -> Iterator[tuple[int, int]]:
    """Runs of pairs of about BLOCK words; a larger pair stands alone."""
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + BLOCK, side="right")))
        yield start, stop
        start = stop
