"""Passages that are nearly the same: a base that holds one text twice makes retrieval look worse than it is."""

from __future__ import annotations

from collections.abc import Sequence

NEAR = 0.03
"""Cosine distance of character n-grams: a date or a word changed in some paragraphs."""
MOST_PAIRS = 10_000
MOST_PASSAGES = 20_000
"""More are not held against each other here: their pairs are more than 200 million."""


def near_copies(texts: Sequence[str], threshold: float = NEAR) -> list[tuple[int, int, float]]:
    """Pairs of places whose texts are at most `threshold` apart, and their distance, nearest first, up to MOST_PAIRS.

    The distance is the cosine distance of hashed character n-grams (3 to 5): 0 for equal texts, 1 for texts that share
    none. Empty for more than MOST_PASSAGES texts.
    """
    from ragbench.embed.hashing import HashingEmbedder
    from ragbench.metrics.embedding_space import Geometry
    from ragbench.settings import EmbedderSettings

    if not 2 <= len(texts) <= MOST_PASSAGES:
        return []
    plain = EmbedderSettings(kind="hashing", tfidf=False, dimensions=0, buckets=1024)
    vectors = HashingEmbedder("copies", plain, None).embed(texts)
    pairs, distances = Geometry(vectors, distance="cosine").near_duplicates(threshold, most=MOST_PAIRS)
    return [(int(one), int(other), float(far)) for (one, other), far in zip(pairs, distances, strict=True)]
