"""Texts as the words that ROUGE and BLEU compare, and many texts at once as numbers of words.

A text is cut at white space first, and each distinct piece is read once: neither way of reading a piece looks across
white space, so the words are those that the whole text would give.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragbench import segmentation

Numbers = NDArray[np.int64]

TOKENIZERS = ("13a", "intl", "char", "zh", "none")
"""Of sacrebleu's tokenizers those that need no model from the net."""
FEWEST_FOR_ARROW = 256
"""Texts from which on Arrow's splitting is worth its import."""
_CYRILLIC = re.compile("[\u0400-\u052f]")
_WORD = re.compile(r"[^\W_]+")
_MARKS = ("Mn", "Mc")


class WordTokenizer:
    """The words that ROUGE compares, in any alphabet: NFKC, casefold, runs of letters, digits and their marks.

    Of scripts without blanks between words each character is one: see `ragbench.segmentation.apart`.
    stem: reduce each word to its Snowball stem, Russian for words with Cyrillic letters, English for others.
    Fits rouge-score's `RougeScorer(tokenizer=...)`.
    """

    def __init__(self, *, stem: bool = False) -> None:
        if not isinstance(stem, bool):
            raise ValueError(f"stem = {stem!r}; it is True or False")
        self.stem = stem

    def tokenize(self, text: str) -> list[str]:
        """The words of a text, in order."""
        found = _split(segmentation.apart(unicodedata.normalize("NFKC", text).casefold()))
        return [_stem(word) for word in found] if self.stem else found


def _split(text: str) -> list[str]:
    """Runs of letters and digits with their combining marks: a stress mark parts no word."""
    if text.isalnum():
        return [text]
    if text.isascii():
        return _WORD.findall(text)
    kept = "".join(sign if sign.isalnum() or unicodedata.category(sign) in _MARKS else " " for sign in text)
    return [word for word in kept.split() if _WORD.search(word)]


@lru_cache(maxsize=200_000)
def _stem(word: str) -> str:
    return str(_stemmer("russian" if _CYRILLIC.search(word) else "english").stemWord(word))


@lru_cache(maxsize=2)
def _stemmer(language: str) -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer(language)


class BleuTokenizer:
    """The words that BLEU compares: sacrebleu's, of a text in NFC.

    13a and intl know no words of scripts without blanks: there each character is one, as in sacrebleu's zh, see
    `ragbench.segmentation.apart`.
    tokenize: one of TOKENIZERS. lowercase: whether letter case counts not.
    """

    def __init__(self, tokenize: str = "13a", *, lowercase: bool = False) -> None:
        if tokenize not in TOKENIZERS:
            raise ValueError(f"bleu: tokenize = {tokenize!r}; it is one of {', '.join(TOKENIZERS)}")
        if not isinstance(lowercase, bool):
            raise ValueError(f"bleu: lowercase = {lowercase!r}; it is True or False")
        self.name = tokenize
        self.lowercase = lowercase

    def tokenize(self, text: str) -> list[str]:
        """The words of a text, in order."""
        return _library(self.name)(self.prepared(text).rstrip()).split()

    def prepared(self, text: str) -> str:
        """The text as it goes to sacrebleu's tokenizer."""
        text = unicodedata.normalize("NFC", text)
        if self.name in ("13a", "intl"):
            text = segmentation.apart(text)
        return text.lower() if self.lowercase else text


@lru_cache(maxsize=len(TOKENIZERS))
def _library(name: str) -> Callable[[str], str]:
    from sacrebleu.metrics.bleu import BLEU

    found: Callable[[str], str] = BLEU(tokenize=name).tokenizer
    return found


@dataclass(frozen=True, slots=True)
class Texts:
    """Many texts as numbers of words: text i is `words[starts[i]:starts[i + 1]]`; equal words have equal numbers."""

    words: Numbers
    starts: Numbers

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Numbers:
        """(texts,) how many words each has."""
        return np.diff(self.starts)


class _Numbered(dict[str, int]):
    """Every key that is asked for gets the next number."""

    def __missing__(self, key: str) -> int:
        number = self[key] = len(self)
        return number


class Vocabulary:
    """Numbers words; texts read by the same vocabulary can be compared."""

    def __init__(self, tokenizer: WordTokenizer | BleuTokenizer) -> None:
        self._tokenizer = tokenizer
        self._words = _Numbered()
        self._pieces = _Numbered()
        self._flat: list[int] = []
        self._starts = [0]
        self._is_mteval = isinstance(tokenizer, BleuTokenizer) and tokenizer.name == "13a"
        self._is_local = self._is_mteval or isinstance(tokenizer, WordTokenizer)

    def read(self, texts: Sequence[str]) -> Texts:
        """The texts as numbers of their words."""
        order, lengths = self._pieces_of(texts)
        self._learn()
        flat, starts = np.array(self._flat, dtype=np.int64), np.array(self._starts, dtype=np.int64)
        counts = np.diff(starts)[order]
        ends = _edges(counts)
        words = flat[np.repeat(starts[order] - ends[:-1], counts) + np.arange(ends[-1])]
        return Texts(words, ends[_edges(lengths)])

    def _pieces_of(self, texts: Sequence[str]) -> tuple[Numbers, Numbers]:
        """Numbers of all pieces in order, and how many each text has: pieces are read each by itself."""
        number = self._pieces.__getitem__
        if not self._is_local:
            return np.array(list(map(number, texts)), dtype=np.int64), np.ones(len(texts), dtype=np.int64)
        if isinstance(self._tokenizer, BleuTokenizer):
            texts = [_whole(self._tokenizer.prepared(text)) for text in texts]
        if len(texts) >= FEWEST_FOR_ARROW:
            try:
                distinct, order, lengths = _split_by_arrow(texts)
            except UnicodeEncodeError:  # half of a surrogate pair: no text that Arrow can hold
                pass
            else:
                return np.array(list(map(number, distinct)), dtype=np.int64)[order], lengths
        rows = [text.split() for text in texts]
        order = np.array([number(piece) for row in rows for piece in row], dtype=np.int64)
        return order, np.array([len(row) for row in rows], dtype=np.int64)

    def _learn(self) -> None:
        """Read the pieces that are new."""
        tokenize = _pieces_of_mteval if self._is_mteval else self._tokenizer.tokenize
        number = self._words.__getitem__
        for piece in islice(self._pieces, len(self._starts) - 1, None):
            self._flat += map(number, tokenize(piece))
            self._starts.append(len(self._flat))


def _split_by_arrow(texts: Sequence[str]) -> tuple[list[str], Numbers, Numbers]:
    """Distinct pieces between white space (as `str.split` knows it), places among them, and how many a text has."""
    import pyarrow as pa
    from pyarrow import compute

    rows = compute.utf8_split_whitespace(pa.array(texts, pa.large_string()))
    coded = compute.list_flatten(rows).dictionary_encode()
    lengths = compute.list_value_length(rows).to_numpy().astype(np.int64)
    return coded.dictionary.to_pylist(), coded.indices.to_numpy().astype(np.int64), lengths


def _edges(sizes: Numbers) -> Numbers:
    return np.concatenate([[0], np.cumsum(sizes)])


_CUTS = (
    (re.compile(r"([{-~\[-`!-&(-+:-@/])"), r" \1 "),  # a sign that always stands alone
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),  # a point or comma that no digit precedes
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),  # or follows
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),  # a dash after a digit
)


def _whole(text: str) -> str:
    """What mteval-v13a changes before it cuts: marks of skipped text, hyphenation at a line's end, four entities."""
    text = text.rstrip()
    if "\n" in text or "<skipped>" in text:
        text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    if "&" in text:
        text = text.replace("&quot;", '"').replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
    return text


def _pieces_of_mteval(piece: str) -> list[str]:
    """The words of a piece without white space by the rules of mteval-v13a."""
    if piece.isalpha():
        return [piece]
    if piece and piece[-1] in ",." and piece[:-1].isalpha():
        return [piece[:-1], piece[-1]]
    line = f" {piece} "
    for found, put in _CUTS:
        line = found.sub(put, line)
    return line.split()
