"""ROUGE of many answers against rouge-score, which computes the same values in the same run.

    OMP_NUM_THREADS=1 python -m benchmarks.bench_overlap FOLDER_OF_THE_REAL_DATA_SETS

Answers and references of about 40 words each, cut from XQuAD's paragraphs in Russian and English. CPU seconds, median
of the repeats, everything from texts to values; the values are compared digit by digit.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rouge_score.rouge_scorer import RougeScorer

from ragbench.old.metrics.overlap import WordTokenizer, rouge1_f, rouge2_f, rougeL_f
from tests.old.metrics.test_overlap import KINDS, paired, real_pairs

Values = np.ndarray
Work = Callable[[list[tuple[str, str]]], Values]


def here(pairs: list[tuple[str, str]]) -> Values:
    """(pairs, 3) by this package: values with their reasons."""

    async def scored() -> list[list[float]]:
        return [[(await metric(one)).value for metric in (rouge1_f, rouge2_f, rougeL_f)] for one in paired(pairs)]

    return np.array(asyncio.run(scored()))


def there(pairs: list[tuple[str, str]]) -> Values:
    """(pairs, 3) by rouge-score with this package's tokenizer."""
    scorer = RougeScorer(list(KINDS.values()), tokenizer=WordTokenizer())
    found = [scorer.score(reference, answer) for answer, reference in pairs]
    return np.array([[each[name].fmeasure for name in KINDS.values()] for each in found])


def seconds(works: tuple[Work, Work], pairs: list[tuple[str, str]], repeats: int) -> list[tuple[float, Values]]:
    """Median CPU seconds and the values of each; the works take turns, so that a busy machine slows them alike."""
    taken: list[list[float]] = [[], []]
    values = [np.empty(0), np.empty(0)]
    for _ in range(repeats):
        for place, work in enumerate(works):
            start = time.process_time()
            values[place] = work(pairs)
            taken[place].append(time.process_time() - start)
    return [(statistics.median(each), found) for each, found in zip(taken, values, strict=True)]


def main() -> None:
    """Print a line; fail where a value differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    pairs = real_pairs(lambda name: arguments.data / name, arguments.pairs)
    words = statistics.fmean(len(text.split()) for pair in pairs for text in pair)
    print(f"{len(pairs)} pairs, {words:.1f} words a text, median of {arguments.repeats}, CPU seconds")
    (own, values), (peer, expected) = seconds((here, there), pairs, arguments.repeats)
    difference = float(np.abs(values - expected).max())
    print(f"ROUGE 1, 2, L: rouge-score {peer:.2f}, here {own:.2f}, {peer / own:.1f} times; difference {difference}")
    if difference > 0:
        raise SystemExit("the values differ")


if __name__ == "__main__":
    main()
