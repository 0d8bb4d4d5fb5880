"""The offline stand-in: hashed character n-grams. It knows spelling, and no meaning."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from ragbench.embed.embedder import Encode, TextKind

NGRAMS = (3, 5)
BUCKETS = 2**16  # of the n-grams, with a corpus
WIDTH = 256
MOST_FITTED = 10_000  # texts of a corpus that weights and axes are taken from
FEWEST_FITTED = 3


def fit_hashing(corpus: Sequence[str]) -> tuple[Encode, str]:
    """Return the encoder that is fitted on a corpus, and what tells its vectors from others.

    Latent semantic analysis (Deerwester et al. 1990) of TF-IDF weights over hashed n-grams
    (Weinberger et al. 2009). Without a corpus: the hashed n-grams themselves. The last number is
    for texts that share no n-gram with the corpus: alone in them, it is 1.
    """
    texts = draw(set(filter(str.strip, corpus)))
    if len(texts) < FEWEST_FITTED:
        plain = make_counter(WIDTH)
        return (lambda given, kind: add_last(plain.transform(fold_all(given)).toarray())), "hashing"
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.pipeline import make_pipeline
    from threadpoolctl import threadpool_limits

    pipeline = make_pipeline(
        make_counter(BUCKETS),
        TfidfTransformer(sublinear_tf=True),
        # One iteration finds passages as well as five, in a third of the time.
        TruncatedSVD(
            min(WIDTH - 1, len(texts)), n_iter=1, power_iteration_normalizer="LU", random_state=0
        ),
    )
    with threadpool_limits(1):  # with more threads sums go in another order
        pipeline.fit(fold_all(texts))

    def encode(given: list[str], kind: TextKind) -> np.ndarray:
        return add_last(pipeline.transform(fold_all(given)))

    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass"))
    libraries = "/".join(version(name) for name in ("numpy", "scipy", "scikit-learn"))
    return encode, f"hashing {digest.hexdigest()[:32]} {libraries}"


def make_counter(buckets: int) -> Any:
    """Make what counts the n-grams of words."""
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(
        analyzer="char_wb",
        ngram_range=NGRAMS,
        n_features=buckets,
        alternate_sign=False,
        norm=None,
        lowercase=False,
    )


def fold_all(texts: Sequence[str]) -> list[str]:
    """Return the texts as they are compared: without case and what nobody sees, ё as е."""
    from ragbench.metrics.texts import fold, squeeze

    return [squeeze(fold(text)) for text in texts]


def add_last(vectors: np.ndarray) -> np.ndarray:
    """Add a last number, which is 1 for texts that have nothing else."""
    is_empty = np.linalg.norm(vectors, axis=1) < 1e-9
    vectors = np.where(is_empty[:, None], 0, vectors)
    return np.column_stack([vectors, is_empty])


def draw(texts: set[str]) -> list[str]:
    """Return the texts in order; of very many as many as are fitted, the same in any order."""
    by_hash = sorted(texts, key=lambda text: hashlib.sha256(text.encode()).digest())
    return sorted(by_hash[:MOST_FITTED])
