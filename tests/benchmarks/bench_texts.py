"""CPU seconds of metrics of 10,000 pairs of texts, in English and in Russian, beside their peers.

`OMP_NUM_THREADS=1 RAYON_NUM_THREADS=1 python -m tests.benchmarks.bench_texts`
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sacrebleu
from rouge_score.rouge_scorer import RougeScorer

from ragbench.metrics import find_metric

ALPHABETS = {
    "English": "abcdefghijklmnopqrstuvwxyz",
    "Russian": "абвгдежзийклмнопрстуфхцчшщьыэюя",
}
ODD = ["3,5", "10:30", "1.5", "don't", "(see", "2)", "A-1,", "-", "&amp;", "a,,b", "«x»", "…"]
PAIRS = 10_000
GROUPS = (
    ("rouge1_f", "rouge2_f", "rougeL_f"),
    ("rouge1_f(stem=True)",),
    ("bleu",),
    ("chrf",),
    ("token_f1",),
    ("exact_match",),
    ("string_similarity",),
)


class Runs:
    """A tokenizer for rouge-score that keeps letters of every alphabet."""

    def tokenize(self, text: str) -> list[str]:
        """Cut at all that is no letter and no digit."""
        separated = [letter if letter.isalnum() else " " for letter in text.lower()]
        return "".join(separated).split()


def make_pairs(alphabet: str) -> tuple[list[str], list[str]]:
    """Answers and references of some 40 words, of which they share about 70 %."""
    generator = random.Random(0)
    vocabulary = list(ODD)
    for _ in range(3_000):
        vocabulary.append("".join(generator.choices(alphabet, k=generator.randint(2, 9))))
    answers, references = [], []
    for _ in range(PAIRS):
        reference = generator.choices(vocabulary, k=generator.randint(2, 78))
        answer = []
        for word in reference:
            is_kept = generator.random() < 0.7
            answer.append(word if is_kept else generator.choice(vocabulary))
        answers.append(" ".join(answer[: generator.randint(1, 78)]) + ".")
        references.append(" ".join(reference) + ".")
    return answers, references


def clock(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a piece of work, and its result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def main() -> None:
    """Print the seconds of every group, those of the peers, and the greatest differences."""
    for names in GROUPS:
        for name in names:
            find_metric(name)("what is imported", "is imported before")
    for language, alphabet in ALPHABETS.items():
        answers, references = make_pairs(alphabet)
        for names in GROUPS:
            start = time.process_time()
            for name in names:
                find_metric(name)(answers, references)
            print(f"{language}: {', '.join(names)}: {time.process_time() - start:.2f} s")
        compare_rouge(language, answers, references)
        compare_bleu(language, answers, references)


def compare_rouge(language: str, answers: Sequence[str], references: Sequence[str]) -> None:
    """Print rouge-score's seconds and the difference."""
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], tokenizer=Runs())
    pairs = list(zip(references, answers, strict=True))
    seconds, scores = clock(lambda: [scorer.score(*pair) for pair in pairs])
    theirs = np.array([score["rougeL"].fmeasure for score in scores])
    difference = np.nanmax(np.abs(find_metric("rougeL_f")(answers, references) - theirs))
    print(f"{language}: rouge-score {seconds:.2f} s; ROUGE-L differs by at most {difference}")


def compare_bleu(language: str, answers: Sequence[str], references: Sequence[str]) -> None:
    """Print sacrebleu's seconds and the difference."""
    pairs = list(zip(answers, references, strict=True))
    seconds, scores = clock(
        lambda: [sacrebleu.sentence_bleu(answer, [text]).score for answer, text in pairs]
    )
    difference = np.abs(find_metric("bleu")(answers, references) - np.array(scores)).max()
    print(f"{language}: sacrebleu {seconds:.2f} s; BLEU differs by at most {difference:.1e}")


if __name__ == "__main__":
    main()
