"""ROUGE and BLEU of many answers against rouge-score and sacrebleu, which compute the same values in the same run.

    OMP_NUM_THREADS=1 python -m tests.benchmarks.bench_overlap FOLDER_OF_THE_REAL_DATA_SETS

Answers and references of about 40 words each, cut from XQuAD's paragraphs in Russian and English. CPU seconds, median
of the repeats, everything from texts to values, caches emptied before each; the values are compared digit by digit.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

from ragbench.metrics.overlap_totals import Overlap, bleu_of, f_of
from ragbench.metrics.overlap_words import BleuTokenizer, WordTokenizer
from tests.test_metrics_overlap import KINDS, real_pairs

Values = np.ndarray
Work = Callable[[list[str], list[str]], Values]


def rouge_here(answers: list[str], references: list[str]) -> Values:
    """(pairs, 3) by this package."""
    overlap = Overlap(answers, references, WordTokenizer())
    return np.column_stack([f_of(overlap.rouge(kind)) for kind in KINDS])


def rouge_there(answers: list[str], references: list[str]) -> Values:
    """(pairs, 3) by rouge-score with this package's tokenizer."""
    scorer = RougeScorer(list(KINDS.values()), tokenizer=WordTokenizer())
    found = [scorer.score(reference, answer) for answer, reference in zip(answers, references, strict=True)]
    return np.array([[each[name].fmeasure for name in KINDS.values()] for each in found])


def bleu_here(answers: list[str], references: list[str]) -> Values:
    """(pairs + 1,) sentence BLEU, and last the corpus value."""
    rows = Overlap(answers, references, BleuTokenizer()).bleu
    return np.append(bleu_of(rows, effective_order=True), bleu_of(rows.sum(axis=0)[None]))


def bleu_there(answers: list[str], references: list[str]) -> Values:
    """The same by sacrebleu, which counts anew for the corpus value."""
    sentence, corpus = BLEU(effective_order=True), BLEU()
    found = [sentence.sentence_score(one, [other]).score for one, other in zip(answers, references, strict=True)]
    return np.array([*found, corpus.corpus_score(answers, [references]).score])


def sentences_there(answers: list[str], references: list[str]) -> Values:
    """Sentence BLEU alone by sacrebleu."""
    scorer = BLEU(effective_order=True)
    return np.array([scorer.sentence_score(one, [two]).score for one, two in zip(answers, references, strict=True)])


def seconds(works: tuple[Work, Work], pairs: tuple[list[str], list[str]], repeats: int) -> list[tuple[float, Values]]:
    """Median CPU seconds and the values of each; the works take turns, so that a busy machine slows them alike."""
    taken: list[list[float]] = [[], []]
    values = [np.empty(0), np.empty(0)]
    for _ in range(repeats):
        for place, work in enumerate(works):
            for cached in (Tokenizer13a.__call__, TokenizerRegexp.__call__):
                cached.cache_clear()  # type: ignore[attr-defined]
            start = time.process_time()
            values[place] = work(*pairs)
            taken[place].append(time.process_time() - start)
    return [(statistics.median(each), found) for each, found in zip(taken, values, strict=True)]


def main() -> None:
    """Print a table; fail where a value differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    pairs = real_pairs(lambda name: arguments.data / name, arguments.pairs)
    answers, references = [one for one, _ in pairs], [other for _, other in pairs]
    words = statistics.fmean(len(text.split()) for text in answers + references)
    print(f"{len(pairs)} pairs, {words:.1f} words a text, median of {arguments.repeats}, CPU seconds")
    works: dict[str, tuple[Work, Work]] = {
        "ROUGE 1, 2, L": (rouge_here, rouge_there),
        "BLEU, sentences": (bleu_here, sentences_there),
        "BLEU, sentences + corpus": (bleu_here, bleu_there),
    }
    for name, both in works.items():
        (own, values), (peer, expected) = seconds(both, (answers, references), arguments.repeats)
        difference = float(np.abs(values[: len(expected)] - expected).max())
        print(
            f"{name:<26} library {peer:6.2f}  here {own:6.3f}  {peer / own:5.1f} times  largest difference {difference}"
        )
        if difference > 0:
            raise SystemExit(f"{name}: the values differ")


if __name__ == "__main__":
    main()
