"""Texts that are nearly the same: a base that holds one text twice makes retrieval look worse than it is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragbench.old.core.segmentation import plain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEAR = 0.03
"""Cosine distance of character n-grams: a date or a word changed in some paragraphs."""
MOST_PAIRS = 10_000  # a set that holds more is named for that, and its pairs are not all listed
SHARED = 0.85
"""Of the different words of two texts, at least so many are in both where the texts are nearly the same."""
MOST_WITH_A_WORD = 50
"""Texts that share a rare word: each of more is held against so many neighbours only."""
BITS = 512
"""Of a text's bitmap: of two texts of some hundred words that share little a hundred bits and more differ."""
AT_ONCE = 2000  # pairs: their vectors are a few MB, which a core's cache holds


_DIGITS = re.compile(r"\d+")


def groups(texts: Sequence[str], *, by_digits: bool = False) -> list[int]:
    """For each text the place of the first one that is the same or nearly so (`near_copies`); its own where none is.

    What is near to what is near is of the same group. by_digits: texts whose numbers differ are never of one group.
    """
    first: dict[str, int] = {}
    leaders = [first.setdefault(_written(text), place) for place, text in enumerate(texts)]
    different = sorted(set(leaders))

    def root(place: int) -> int:
        while leaders[place] != place:
            place = leaders[place]
        return place

    for left, other, _ in near_copies([texts[place] for place in different]):
        a, b = different[left], different[other]
        if by_digits and _DIGITS.findall(texts[a]) != _DIGITS.findall(texts[b]):
            continue
        low, high = sorted((root(a), root(b)))
        leaders[high] = low
    return [root(place) for place in leaders]


def _written(text: str) -> str:
    """A text as it is written, but for case, blanks, and the signs at its end."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(" .?!")


def near_copies(texts: Sequence[str], threshold: float = NEAR) -> list[tuple[int, int, float]]:
    """Pairs of places whose texts are at most `threshold` apart, and their distance, nearest first, up to MOST_PAIRS.

    The distance is the cosine distance of hashed character n-grams (3 to 5): 0 for equal texts, 1 for texts that share
    none. Held against each other are texts that can have SHARED of their words in common (prefix filtering: Chaudhuri,
    Ganti & Kaushik 2006, "A Primitive Operator for Similarity Joins in Data Cleaning", ICDE), so that time grows with
    the texts and not with their pairs.
    """
    import numpy as np

    from ragbench.old.core.settings import EmbedderSettings
    from ragbench.old.embed.hashing import HashingEmbedder

    pairs = np.array(sorted(candidates(texts)), dtype=np.int64).reshape(-1, 2)
    ngrams = EmbedderSettings(kind="hashing", tfidf=False, dimensions=0, buckets=1024)
    embedder, far = HashingEmbedder("copies", ngrams, None), np.zeros(len(pairs))
    for start in range(0, len(pairs), AT_ONCE):
        places, own = np.unique(pairs[start : start + AT_ONCE], return_inverse=True)
        vectors = embedder.embed([texts[place][: ngrams.max_characters] for place in places])
        left, other = own.reshape(-1, 2).T
        cosines = np.einsum("ij,ij->i", vectors[left], vectors[other]).astype(float)
        far[start : start + AT_ONCE] = np.clip(1 - cosines, 0, None)
    near = np.flatnonzero(far <= threshold)
    order = near[np.lexsort((pairs[near, 1], pairs[near, 0], far[near].round(6)))][:MOST_PAIRS]
    return [(int(pairs[row, 0]), int(pairs[row, 1]), float(far[row])) for row in order]


def candidates(texts: Sequence[str]) -> set[tuple[int, int]]:
    """Pairs that share one of the rarest words of each: others cannot have SHARED of their words in common.

    What most such pairs lack is told by few bits a text (Sandes, Teodoro & Melo 2020, "Bitmap filter", Information
    Systems 88): two sets of words differ by as many as their bitmaps do at least.
    """
    import numpy as np

    from ragbench.old.systems.parts.retrievers import counted

    counts, columns = counted(plain(text).split() for text in texts)
    spread, named = np.bincount(counts.indices, minlength=len(columns)).tolist(), list(columns)
    counts = counts[:, sorted(range(len(columns)), key=lambda column: (spread[column], named[column]))]
    counts.sort_indices()
    held, ends = counts.indices.astype(np.int64), counts.indptr
    sizes = np.diff(ends)
    ranks, owners = held, np.repeat(np.arange(len(sizes)), sizes)
    bitmaps = _bitmaps(owners, ranks, len(sizes))
    rarest = np.arange(len(owners)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept = rarest < (sizes - np.ceil(SHARED * sizes).astype(np.int64) + 1)[owners]
    owners, ranks = owners[kept], ranks[kept]
    order = np.lexsort((owners, ranks))
    owners, ranks = owners[order], ranks[order]
    pairs: set[tuple[int, int]] = set()
    for step in range(1, min(MOST_WITH_A_WORD, len(owners) - 1) + 1):
        same = ranks[step:] == ranks[:-step]
        left, other = owners[:-step][same], owners[step:][same]
        least, most = np.minimum(sizes[left], sizes[other]), np.maximum(sizes[left], sizes[other])
        fits = least >= SHARED * most - 1e-9
        left, other = left[fits], other[fits]
        may_differ = (1 - SHARED) / (1 + SHARED) * (sizes[left] + sizes[other]) + 1e-9
        differ = np.zeros(len(left), dtype=np.int64)
        for column in bitmaps:
            differ += np.bitwise_count(column[left] ^ column[other])
            near = differ <= may_differ
            left, other, differ, may_differ = left[near], other[near], differ[near], may_differ[near]
        pairs.update(zip(left.tolist(), other.tolist(), strict=True))

    def alike(left: int, other: int) -> bool:
        words, others = (held[ends[text] : ends[text + 1]] for text in (left, other))
        both = len(np.intersect1d(words, others, assume_unique=True))
        return bool(both >= SHARED * (sizes[left] + sizes[other] - both))

    return {pair for pair in pairs if alike(*pair)}


def _bitmaps(owners: NDArray[np.int64], ranks: NDArray[np.int64], texts: int) -> NDArray[np.uint64]:
    """(BITS / 64, texts) which of BITS words, as many words of a language as there are for one bit, a text holds."""
    import numpy as np

    bits = ranks % BITS
    bitmaps = np.zeros((BITS // 64, texts), dtype=np.uint64)
    np.bitwise_or.at(bitmaps, (bits // 64, owners), np.uint64(1) << (bits % 64).astype(np.uint64))
    return bitmaps
