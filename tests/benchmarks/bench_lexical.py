"""What the offline judge is worth on real labels: area under the ROC curve with its interval.

    python -m tests.benchmarks.bench_lexical FOLDER_OF_THE_REAL_DATA_SETS

Intervals: DeLong, DeLong & Clarke-Pearson 1988 (placement values), on the logit scale. The plain baseline is the
share of the response's words that the text has.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ragbench.judge import WordReader
from ragbench.judge.words import words
from ragbench.types import Array
from tests.test_judge_lexical import begin

Scorer = Callable[[str, list[str]], float]


def auc(labels: np.ndarray, scores: Array) -> tuple[float, float, float]:
    """Area with its 95 % interval."""
    positive, negative = scores[labels], scores[~labels]
    placed = (positive[:, None] > negative[None, :]) + 0.5 * (positive[:, None] == negative[None, :])
    area = placed.mean()
    variance = placed.mean(axis=1).var(ddof=1) / len(positive) + placed.mean(axis=0).var(ddof=1) / len(negative)
    logit, spread = np.log(area / (1 - area)), 1.959964 * np.sqrt(variance) / (area * (1 - area))
    low, high = 1 / (1 + np.exp(-(logit + np.array([-spread, spread]))))
    return float(area), float(low), float(high)


def plain(text: str, others: list[str]) -> float:
    """Share of the words that the other texts have."""
    asked, known = words(text), set(words(" ".join(others)))
    return sum(word in known for word in asked) / len(asked) if asked else 0.0


def groundedness(folder: Path, name: str) -> list[tuple[bool, str, str]]:
    """(attributable, response, knowledge)."""
    rows = begin(folder / "begin-groundedness", name)
    return [(row["begin_label"] == "Fully attributable", row["response"], row["knowledge"]) for row in rows]


def answers(folder: Path, same_paragraph_too: bool) -> list[tuple[bool, str, str]]:
    """(right, answer, paragraph) of Russian XQuAD: each answer, and another question's answer of the same article."""
    source, found = random.Random(0), []
    with gzip.open(folder / "xquad" / "xquad.ru.json.gz", "rt", encoding="utf-8") as file:
        articles = json.load(file)["data"]
    for article in articles:
        pairs = [(p["context"], qa["answers"][0]["text"]) for p in article["paragraphs"] for qa in p["qas"]]
        for context, answer in pairs:
            others = [text for there, text in pairs if text != answer and (same_paragraph_too or there != context)]
            found += [(True, answer, context), (False, source.choice(others), context)]
    return found


def main(folder: Path) -> None:
    """Print a table."""
    sets = {
        "BEGIN wow": groundedness(folder, "wow"),
        "BEGIN cmu": groundedness(folder, "cmu"),
        "BEGIN both": groundedness(folder, "wow") + groundedness(folder, "cmu"),
        "XQuAD ru, any paragraph": answers(folder, True),
        "XQuAD ru, another paragraph": answers(folder, False),
    }
    scorers: dict[str, Scorer] = {"lexical judge": WordReader().support, "plain words": plain}
    for name, rows in sets.items():
        labels = np.array([label for label, _, _ in rows])
        for scorer, score in scorers.items():
            area, low, high = auc(labels, np.array([score(text, [other]) for _, text, other in rows]))
            print(f"{name:<28} {scorer:<14} n = {len(rows)} ({labels.sum()})  AUC {area:.3f} [{low:.3f}, {high:.3f}]")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
