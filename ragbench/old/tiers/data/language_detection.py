"""In which language texts are, by the model of py3langid, many at a time.

py3langid reads one text byte by byte, and multiplies what it met by the model: of 20,000 passages that takes as long as
all else that is looked for in a data set. Here all texts take each step together, and meet the model in one product.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

FEWEST_WORDS_TO_TELL = 5  # shorter texts are taken for a wrong language too often
EXPECTED, OTHER = 0.5, 0.9
"""How sure the model is of the language that is expected, and of another one: this would be news."""
NEVER = frozenset({"la", "pcm"})
"""Latin, which terms of science and law are read as, and Nigerian Pidgin, which misspelt English is read as."""
GLANCE, BEGINNING = 100, 300
"""Characters of a text that are read: the first where they surely are of the language that is expected, as nine in ten
texts of a hundred characters and more are; beyond the second more tell nothing new."""
AT_ONCE = 1000
"""Texts whose bytes, and chances of each language, are held at once: some megabytes."""
_WORD = re.compile(r"[^\W\d_]{2,}")


def detected_languages(texts: Sequence[str], expected: str) -> list[str]:
    """The ISO 639-1 code of each text's language; "" for fewer than FEWEST_WORDS_TO_TELL words, and where none is sure.

    expected: the code of the language that the texts should be in.
    """
    codes = [""] * len(texts)
    places = [p for p, text in enumerate(texts) if len(_WORD.findall(text[:BEGINNING])) >= FEWEST_WORDS_TO_TELL]
    for length in (GLANCE, BEGINNING):
        unsure = []
        for place, (code, sure) in zip(places, classified([texts[p][:length] for p in places]), strict=True):
            if length < BEGINNING and len(texts[place]) > length and not (code == expected and sure >= OTHER):
                unsure.append(place)
            elif sure >= EXPECTED if code == expected else sure >= OTHER and code not in NEVER:
                codes[place] = code
        places = unsure
    return codes


def classified(texts: Sequence[str]) -> list[tuple[str, float]]:
    """What `LanguageIdentifier.classify` of py3langid says of each text: code and chance, the same but for rounding."""
    read: list[tuple[str, float]] = []
    for start in range(0, len(texts), AT_ONCE):
        chances = _chances([_bytes(text) for text in texts[start : start + AT_ONCE]])
        likeliest = chances.argmax(axis=1)
        sure = chances[np.arange(len(chances)), likeliest].tolist()
        read += zip([_model().codes[place] for place in likeliest.tolist()], sure, strict=True)
    return read


def _bytes(text: str) -> bytes:
    return unicodedata.normalize("NFC", text.lower() if text.isupper() else text).encode(errors="surrogatepass")


def _chances(texts: Sequence[bytes]) -> NDArray[np.float32]:
    """(texts, languages) the chance of each: a multinomial model's scores over the root of the length, softmax."""
    from scipy.sparse import coo_array

    model, lengths = _model(), np.array([len(text) for text in texts])
    letters = np.zeros((int(lengths.max(initial=1)), len(texts)), dtype=np.uint8)
    for place, text in enumerate(texts):
        letters[: len(text), place] = np.frombuffer(text, dtype=np.uint8)
    state, owners, features = np.zeros(len(texts), dtype=np.int64), [], []
    for step, column in enumerate(letters):
        state = model.moves[model.rows[state], column].astype(np.int64)
        feature = np.where(step < lengths, model.features[state], -1)
        seen = np.flatnonzero(feature >= 0)
        owners.append(seen)
        features.append(feature[seen])
    all_met = np.concatenate(features)
    met = np.zeros(len(model.weights), dtype=bool)
    met[all_met] = True
    known, cells = np.flatnonzero(met), (np.concatenate(owners), (np.cumsum(met) - 1)[all_met])
    often = coo_array((np.ones(len(all_met), dtype=np.float32), cells), (len(texts), len(known))).tocsr()
    scores = np.log1p(often) @ model.weights[known].astype(np.float32) + model.prior
    scores[np.diff(often.indptr) == 0] = 0.0  # of a text in which nothing is known, no language is likelier
    scores /= np.sqrt(np.maximum(lengths, 1)).astype(np.float32)[:, None]
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    scores /= scores.sum(axis=1, keepdims=True)
    for first, other in model.twice:
        scores[:, first] += scores[:, other]
        scores[:, other] = 0.0
    return np.asarray(scores)


class _Model(NamedTuple):
    """moves: (rows, 256) the next state. rows, features: (states,) the row of a state, and the feature that is met in
    it, -1 for none. weights: (features, languages). twice: pairs of columns of one language."""

    moves: NDArray[np.uint32]
    rows: NDArray[np.uint16]
    features: NDArray[np.int64]
    weights: NDArray[np.float16]
    prior: NDArray[np.float32]
    codes: list[str]
    twice: list[tuple[int, int]]


@lru_cache(maxsize=1)
def _model() -> _Model:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    own: LanguageIdentifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    codes = list(own.nb_classes)
    twice = [(codes.index(code), place) for place, code in enumerate(codes) if codes.index(code) < place]
    moves = np.frombuffer(own.tk_nextmove, dtype=np.uint32).reshape(-1, 256)
    features = np.asarray(own.tk_output, dtype=np.int64)
    return _Model(moves, np.asarray(own.tk_row), features, own.nb_ptc, own.nb_pc, codes, twice)
