"""An embedder: whoever makes vectors, behind one interface and a store that keeps them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragbench.core.errors import BenchError
from ragbench.core.progress import bar
from ragbench.core.secrets import shorten

if TYPE_CHECKING:
    from ragbench.store.search import Vectors
    from ragbench.store.store import Store

TextKind = Literal["passage", "query"]
Encode = Callable[[list[str], TextKind], Any]


class TextEmbedder:
    """Texts to vectors of length 1; each text is embedded once, ever, where a store keeps them.

    encode: gives (texts, width) numbers of texts of one kind. model: tells these vectors from all
    others; "" where nobody can tell, and nothing is kept. is_constant: it gives a text the same
    vector each time, so that a repeat takes what is kept. batch: texts that are encoded together.
    token_vectors: gives the vectors of a text's tokens, for BERTScore. load: what takes time once.
    """

    def __init__(
        self,
        name: str,
        encode: Encode,
        *,
        model: str = "",
        is_stand_in: bool = False,
        is_constant: bool = False,
        batch: int = 64,
        store: Store | None = None,
        token_vectors: Callable[[Sequence[str]], list[Vectors]] | None = None,
        load: Callable[[], Any] = lambda: None,
    ) -> None:
        self.name = name
        self.model = model
        self.is_stand_in = is_stand_in
        self._is_constant = is_constant
        self._encode = encode
        self._batch = batch
        self._store = store if model else None
        self._token_vectors = token_vectors
        self._load = load

    def embed(
        self, texts: Sequence[str], kind: TextKind = "passage", *, fresh: bool = False
    ) -> Vectors:
        """Return (texts, width) float32 vectors of length 1.

        kind: what the texts are, for models that embed questions in another way. fresh: compute
        them though they are kept, unless the model is constant. Raises BenchError for empty texts
        and for what is no vector.
        """
        return self.embed_timed(texts, kind, fresh=fresh)[0]

    def embed_timed(
        self, texts: Sequence[str], kind: TextKind = "passage", *, fresh: bool = False
    ) -> tuple[Vectors, NDArray[np.float64]]:
        """Return the vectors, and for each text the milliseconds that it took when it was made.

        Those of a batch share its time equally.
        """
        check_texts(texts, self.name)
        fresh = fresh and not self._is_constant
        model = f"{self.model} {kind}"
        different = list(dict.fromkeys(texts))
        made = {} if self._store is None or fresh else self._store.read_vectors(model, different)
        missing = [text for text in different if text not in made]
        with bar(f"embedding by {self.name}", len(missing)) as shown:
            for start in range(0, len(missing), self._batch):
                part = missing[start : start + self._batch]
                vectors, milliseconds = self._make(part, kind)
                # Kept batch by batch: whoever is interrupted goes on from there.
                if self._store is not None and not fresh:
                    self._store.write_vectors(model, part, vectors, milliseconds)
                for text, vector in zip(part, vectors, strict=True):
                    made[text] = (vector, milliseconds)
                shown.update(len(part))
        if not texts:
            return np.empty((0, 0), np.float32), np.empty(0)
        vectors = np.stack([made[text][0] for text in texts])
        return vectors, np.array([made[text][1] for text in texts])

    def tokens(self, texts: Sequence[str]) -> list[Vectors]:
        """Return of each text (tokens, width) vectors in context, for BERTScore.

        Raises BenchError for an embedder that has none.
        """
        if self._token_vectors is None:
            raise BenchError(
                f"the embedder {self.name} gives no vectors of tokens; name a model of kind "
                '"sentence_transformers" or "minilm"'
            )
        return self._token_vectors(texts)

    def describe(self) -> str:
        """Say which model makes the vectors."""
        # Behind the first word stands what tells its versions apart.
        return self.model.partition(" ")[0] or self.name

    def _make(self, texts: list[str], kind: TextKind) -> tuple[Vectors, float]:
        self._load()
        began = time.perf_counter()
        encoded = self._encode(texts, kind)
        milliseconds = (time.perf_counter() - began) * 1000 / len(texts)
        return normalise(encoded, texts, self.name), milliseconds


def check_texts(texts: Sequence[str], name: str) -> None:
    """Refuse empty texts: no model says anything of them."""
    empty = [number for number, text in enumerate(texts, start=1) if not text.strip()]
    if empty:
        raise BenchError(
            f"{len(empty)} of {len(texts)} texts are empty and cannot be embedded by {name}; the "
            f"first is number {empty[0]}"
        )


def normalise(encoded: Any, texts: Sequence[str], name: str) -> Vectors:
    """Return vectors of length 1. Raises BenchError with counts for what cannot be made so."""
    try:
        vectors = np.asarray(encoded, np.float64)
    except (TypeError, ValueError) as error:
        raise BenchError(f"the embedder {name} gave no table of numbers: {error}") from None
    if vectors.ndim != 2 or len(vectors) != len(texts) or vectors.shape[1] == 0:
        raise BenchError(
            f"the embedder {name} gave an array of shape {vectors.shape} for {len(texts)} texts; "
            "a vector for each is expected"
        )
    lengths = np.linalg.norm(vectors, axis=1)
    wrong = np.flatnonzero(~np.isfinite(lengths) | (lengths == 0))
    if len(wrong):
        raise BenchError(
            f"the embedder {name} gave {len(wrong)} of {len(texts)} texts a zero vector or numbers "
            f"that are none, the first is {shorten(texts[wrong[0]])!r}"
        )
    return (vectors / lengths[:, None]).astype(np.float32)
