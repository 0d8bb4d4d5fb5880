"""Texts that are nearly the same: a base that holds one text twice makes retrieval look worse than it is."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from ragbench.datasets.wording import plain

NEAR = 0.03
"""Cosine distance of character n-grams: a date or a word changed in some paragraphs."""
MOST_PAIRS = 10_000
SHARED = 0.85
"""Of the different words of two texts, at least so many are in both where the texts are nearly the same."""
MOST_WITH_A_WORD = 50
"""Texts that share a rare word: each of more is held against so many neighbours only."""
AT_ONCE = 2000


_DIGITS = re.compile(r"\d+")


def groups(texts: Sequence[str], *, by_digits: bool = False) -> list[int]:
    """For each text the place of the first one that is the same or nearly so (`near_copies`); its own where none is.

    What is near to what is near is of the same group. by_digits: texts whose numbers differ are never of one group.
    """
    first: dict[str, int] = {}
    found = [first.setdefault(_written(text), place) for place, text in enumerate(texts)]
    different = sorted(set(found))

    def root(place: int) -> int:
        while found[place] != place:
            place = found[place]
        return place

    for one, other, _ in near_copies([texts[place] for place in different]):
        a, b = different[one], different[other]
        if by_digits and _DIGITS.findall(texts[a]) != _DIGITS.findall(texts[b]):
            continue
        low, high = sorted((root(a), root(b)))
        found[high] = low
    return [root(place) for place in found]


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

    from ragbench.embed.hashing import HashingEmbedder
    from ragbench.settings import EmbedderSettings

    pairs = np.array(sorted(_candidates(texts)), dtype=np.int64).reshape(-1, 2)
    ngrams = EmbedderSettings(kind="hashing", tfidf=False, dimensions=0, buckets=1024)
    embedder, far = HashingEmbedder("copies", ngrams, None), np.zeros(len(pairs))
    for start in range(0, len(pairs), AT_ONCE):
        places, own = np.unique(pairs[start : start + AT_ONCE], return_inverse=True)
        vectors = embedder.embed([texts[place][: ngrams.max_characters] for place in places])
        one, other = own.reshape(-1, 2).T
        cosines = np.einsum("ij,ij->i", vectors[one], vectors[other]).astype(float)
        far[start : start + AT_ONCE] = np.clip(1 - cosines, 0, None)
    near = np.flatnonzero(far <= threshold)
    order = near[np.lexsort((pairs[near, 1], pairs[near, 0], far[near].round(6)))][:MOST_PAIRS]
    return [(int(pairs[one, 0]), int(pairs[one, 1]), float(far[one])) for one in order]


def _candidates(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pairs that share one of the rarest words of each: others cannot have SHARED of their words in common."""
    words = [frozenset(plain(text).split()) for text in texts]
    spread = Counter(word for one in words for word in one)
    by_word: dict[str, list[int]] = defaultdict(list)
    for place, own in enumerate(words):
        met = set()
        for word in sorted(own, key=lambda word: (spread[word], word))[: len(own) - math.ceil(SHARED * len(own)) + 1]:
            before = by_word[word]
            met.update(before[-MOST_WITH_A_WORD:])
            before.append(place)
        for other in met:
            if not SHARED <= len(words[other]) / len(own) <= 1 / SHARED:
                continue
            both = len(own & words[other])
            if both >= SHARED * (len(own) + len(words[other]) - both):
                yield other, place
