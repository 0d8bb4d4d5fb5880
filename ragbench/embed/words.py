"""Russian texts as weighted means of Navec's word vectors (Arora, Liang and Ma 2017, ICLR)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragbench.embed.embedder import TextKind

FILE = "navec_news_v1_1B_250K_300d_100q.tar"
RARE = 1e-3  # the paper's a: a word of that frequency weighs half
WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


class Navec:
    """A word weighs a / (a + its frequency); what all texts of a corpus share is taken out.

    Words that Navec does not know count for nothing, their order never does. The last number is
    for texts of which no word is known: alone in them, it is 1.
    """

    def __init__(self, folder: Path, corpus: Sequence[str]) -> None:
        self._file = folder / FILE
        self._corpus = sorted({text for text in corpus if text.strip()})
        digest = hashlib.sha256("\0".join(self._corpus).encode("utf-8", "surrogatepass"))
        self.model = f"navec {FILE} a={RARE} {digest.hexdigest()[:32]}"

    def encode(self, texts: list[str], kind: TextKind) -> NDArray[np.float64]:
        """Return (texts, 301) numbers."""
        common = self.load()
        means = self._means(texts)
        means -= np.outer(means @ common, common)
        is_unknown = np.linalg.norm(means, axis=1) < 1e-9
        means[is_unknown] = 0
        return np.column_stack([means, is_unknown])

    def load(self) -> NDArray[np.float64]:
        """Read the vectors of words, and return what the texts of the corpus share."""
        return self._common

    @cached_property
    def _common(self) -> NDArray[np.float64]:
        """(300,) the first principal component of the corpus, not centred, as in the paper."""
        if not self._corpus:
            return np.zeros(self._navec.pq.dim)
        means = self._means(self._corpus)
        return np.linalg.eigh(means.T @ means)[1][:, -1]

    @cached_property
    def _navec(self) -> Any:
        return load_navec(self._file)

    def _means(self, texts: Sequence[str]) -> NDArray[np.float64]:
        navec = self._navec
        counts = np.asarray(navec.vocab.counts)
        total = counts.sum()
        means = np.zeros((len(texts), navec.pq.dim))
        for row, text in enumerate(texts):
            numbers = list(self._known_words(text))
            if numbers:
                weights = RARE / (RARE + counts[numbers] / total)
                vectors = np.array([navec.pq[number] for number in numbers])
                means[row] = (weights[:, None] * vectors).sum(axis=0) / len(numbers)
        return means

    def _known_words(self, text: str) -> Iterator[int]:
        """Yield Navec's numbers of the words; of a compound that it does not know, of its parts."""
        from ragbench.metrics.texts import without_invisible

        number_of = self._navec.vocab.word_ids
        for word in WORD.findall(without_invisible(text, "NFKC").lower()):
            for part in [word] if word in number_of else word.split("-"):
                spelling = part.replace("ё", "е")
                if spelling in number_of:
                    yield number_of[spelling]
                elif part in number_of:
                    yield number_of[part]


@cache
def load_navec(file: Path) -> Any:
    """Load Navec's vectors, once a process."""
    from navec import Navec as Vectors

    return Vectors.load(file)
