"""CPU seconds of BM25 on 200,000 passages of 110 words, beside bm25s with its own tokenizer.

The words are drawn from the sample's texts with their frequencies; both have English stems.
`OMP_NUM_THREADS=1 python -m tests.benchmarks.bench_bm25 [PASSAGES] [QUESTIONS]`
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import bm25s
import numpy as np
import Stemmer

from ragbench.data import from_objects
from ragbench.systems.hits import KnownPassages
from ragbench.systems.retrievers import Bm25

SAMPLE = Path(__file__).parents[2] / "data" / "campus" / "chunks.en.jsonl"
WORDS, RARE, K = 110, 100_000, 10


def make_texts(passages: int) -> list[str]:
    """Texts of drawn words; every tenth is one of many rare ones, as in real collections."""
    generator = np.random.default_rng(0)
    lines = SAMPLE.read_text(encoding="utf-8").splitlines()
    words = np.array(" ".join(json.loads(line)["text"] for line in lines).split())
    texts = []
    for _ in range(passages):
        drawn = words[generator.integers(0, len(words), WORDS)].tolist()
        for place in range(0, WORDS, 10):
            drawn[place] = f"rare{generator.integers(RARE)}"
        texts.append(" ".join(drawn))
    return texts


def main(passages: int = 200_000, questions: int = 500) -> None:
    """Print the seconds of indexing and searching, ours beside bm25s."""
    texts = make_texts(passages)
    asked = [" ".join(text.split()[:12]) for text in texts[:questions]]
    dataset = from_objects(asked[:1], {f"p{number:07}": text for number, text in enumerate(texts)})

    start = time.process_time()
    ours = Bm25(KnownPassages(dataset))
    ours.find(asked[:1], K, fresh=False)
    middle = time.process_time()
    found = ours.find(asked, K, fresh=False)
    end = time.process_time()

    stemmer = Stemmer.Stemmer("english")
    peer_start = time.process_time()
    peer = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
    peer.index(
        bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False),
        show_progress=False,
    )
    peer_middle = time.process_time()
    tokens = bm25s.tokenize(asked, stopwords="en", stemmer=stemmer, show_progress=False)
    peer_found, _ = peer.retrieve(tokens, k=K, show_progress=False)
    peer_end = time.process_time()

    for name, own, other in (
        ("index", middle - start, peer_middle - peer_start),
        ("search", end - middle, peer_end - peer_middle),
    ):
        print(f"{name:6} {own:6.1f} s, bm25s {other:6.1f} s: {own / other:.2f} of it")
    first = [retrieval.hits[0].id == f"p{number:07}" for number, retrieval in enumerate(found)]
    peers_first = [int(row[0]) == number for number, row in enumerate(peer_found)]
    print(f"finds the passage of the question: {np.mean(first):.3f}, {np.mean(peers_first):.3f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
