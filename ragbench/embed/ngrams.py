"""Character n-grams of words, hashed to columns and counted: a matrix of texts, many at a time.

What scikit-learn's HashingVectorizer counts with analyzer="char_wb" and alternate_sign=False, to the last number, which
is why the hash is its own (MurmurHash3, Appleby 2011, as x86_32 with seed 0). All n-grams of one length in bytes are
hashed at once, without a string for each, and without scikit-learn, whose import takes longer than a small corpus.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragbench.core.types import Array

BLOCK = 2**18  # characters whose n-grams are held at once

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]


def counts(texts: Iterable[Iterable[str]], ngrams: tuple[int, int], buckets: int) -> Any:
    """(texts, buckets) float64 in CSR: how often each text's words, given one by one, have an n-gram of a column.

    A word counts with a blank before and behind it, and as a whole, once, where it is shorter than an n-gram then.
    """
    from scipy.sparse import csr_matrix

    parts = [_counted(block, ngrams, buckets) for block in _blocks(texts)]
    columns, often, held = (np.concatenate(part) for part in zip(*parts, strict=True))
    return csr_matrix((often, columns, np.append(0, held.cumsum())), shape=(len(held), buckets))


def _blocks(texts: Iterable[Iterable[str]]) -> Iterator[list[str]]:
    """Words between blanks, a string a text, of as many texts at once as have `BLOCK` characters."""
    block: list[str] = []
    size = 0
    for words in texts:
        block.append("".join(f" {word} " for word in words))
        size += len(block[-1])
        if size >= BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block


def _counted(block: Sequence[str], ngrams: tuple[int, int], buckets: int) -> tuple[NDArray[np.int32], Array, Places]:
    """Columns and how often each is met, text by text and ascending, and how many columns each text has."""
    held = "".join(block).encode()
    written = np.frombuffer(held + bytes(4), np.uint8)  # so that four bytes can be read from any place
    characters = np.append(np.flatnonzero((written[: len(held)] & 0xC0) != 0x80), len(held))
    blanks = np.flatnonzero(written[characters[:-1]] == ord(" "))
    first, lengths = blanks[::2], blanks[1::2] + 1 - blanks[::2]  # of every word, its blanks counted
    texts = np.repeat(np.arange(len(block)), [text.count(" ") // 2 for text in block])
    met = []
    for n in range(ngrams[0], ngrams[1] + 1):
        windows = np.maximum(lengths - n + 1, int(n == ngrams[0]))
        begun = np.repeat(first - (windows.cumsum() - windows), windows) + np.arange(windows.sum())
        ended = begun + np.repeat(np.minimum(lengths, n), windows)
        hashed = np.abs(murmur3(written, characters[begun], characters[ended]).astype(np.int64))
        # the least int32 has no absolute value: there scikit-learn takes another column
        hashed[hashed == 2**31] = (2**31 - 1) - (buckets - 1)
        met.append(np.repeat(texts, windows) * buckets + hashed % buckets)
    keys, often = np.unique(np.concatenate(met), return_counts=True)
    return (keys % buckets).astype(np.int32), often.astype(float), np.bincount(keys // buckets, minlength=len(block))


def murmur3(written: Bytes, begun: Places, ended: Places) -> NDArray[np.int32]:
    """The hash of each written[begun:ended]; `written` is four bytes longer than the last of them."""
    hashes = np.zeros(len(begun), np.int32)
    words = np.lib.stride_tricks.sliding_window_view(written, 4)
    lengths = ended - begun
    for length in np.unique(lengths).tolist():
        those = np.flatnonzero(lengths == length)
        state: NDArray[np.uint32] = np.zeros(len(those), np.uint32)
        for offset in range(0, length, 4):
            four = words[begun[those] + offset].view("<u4")[:, 0].astype(np.uint32, copy=False)
            left = length - offset
            mixed = _turned((four if left >= 4 else four & ((1 << 8 * left) - 1)) * np.uint32(0xCC9E2D51), 15)
            state ^= mixed * np.uint32(0x1B873593)
            if left >= 4:
                state = _turned(state, 13) * np.uint32(5) + np.uint32(0xE6546B64)
        state ^= np.uint32(length)
        for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
            state = (state ^ (state >> np.uint32(shift))) * np.uint32(factor)
        hashes[those] = (state ^ (state >> np.uint32(16))).view(np.int32)
    return hashes


def _turned(words: NDArray[np.uint32], bits: int) -> NDArray[np.uint32]:
    return (words << np.uint32(bits)) | (words >> np.uint32(32 - bits))
