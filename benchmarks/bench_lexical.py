"""What the offline judge is worth on real labels, area under the ROC curve with its interval, and what it costs.

    python -m benchmarks.bench_lexical FOLDER_OF_THE_REAL_DATA_SETS
        [--rows 10000 [--metric faithfulness] [--set mtrag]]

With `--rows` the seconds of a processor that so many real answers take, those of the judge among them, and a digest of
their values and reasons, so that two versions can be held against each other; where there are fewer answers, they meet
passages of other questions of their set, too, as those of further systems would. MTRAG has the longest: five passages
of some 600 characters a row.

Intervals: DeLong, DeLong & Clarke-Pearson 1988 (placement values), on the logit scale. The plain baseline is the share
of the response's words that the text has.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import hashlib
import json
import random
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.real_answers import mtrag
from ragbench.old.core.types import Array, Chunk, Sample
from ragbench.old.judge import LexicalJudge, WordReader
from ragbench.old.judge.words import words
from ragbench.old.tiers.scoring import measure
from tests.old.judge.test_lexical import begin

SETS = ("begin-wow", "begin-cmu", "xquad-ru", "xquad-en", "mtrag")
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


Asked = tuple[str, str, str, list[str]]
"""Question, answer, reference, passages."""


def asked(folder: Path) -> dict[str, list[Asked]]:
    """Real answers with their passages, by set: BEGIN, XQuAD in both languages, MTRAG of people and models."""
    found: dict[str, list[Asked]] = {
        name: [
            (row["message"], row["response"], row["response"], [row["knowledge"]])
            for row in begin(folder / "begin-groundedness", name.removeprefix("begin-"))
        ]
        for name in ("begin-wow", "begin-cmu")
    }
    for language in ("ru", "en"):
        with gzip.open(folder / "xquad" / f"xquad.{language}.json.gz", "rt", encoding="utf-8") as file:
            articles = json.load(file)["data"]
        found[f"xquad-{language}"] = [
            (qa["question"], qa["answers"][0]["text"], qa["answers"][0]["text"], [one["context"]])
            for article in articles
            for one in article["paragraphs"]
            for qa in one["qas"]
        ]
    found["mtrag"] = [
        (one["user_input"], one["response"], one["reference"], [each["text"] for each in one["retrieved_contexts"]])
        for one in mtrag(folder).rows
    ]
    return found


def samples(folder: Path, rows: int, sets: Sequence[str] = SETS) -> list[Sample]:
    """So many of them, each set's answers first with their own passages, then with those of the next question."""
    found = asked(folder)
    known = [found[name] for name in sets]

    def every() -> Iterator[Asked]:
        for step in count():
            for own in known:
                for place, (question, answer, reference, _) in enumerate(own):
                    yield question, answer, reference, own[(place + step) % len(own)][3]

    return [
        Sample(str(number), question, answer, reference, tuple(Chunk(str(n), text) for n, text in enumerate(texts)))
        for number, (question, answer, reference, texts) in enumerate(islice(every(), rows))
    ]


def cost(folder: Path, rows: int, metrics: list[str], sets: Sequence[str] = SETS) -> None:
    """Print what scoring costs, by metric."""
    given, judging, ask = samples(folder, rows, sets), [0.0], LexicalJudge.ask

    async def timed(*given: Any, **more: Any) -> Any:
        began = time.thread_time()
        try:
            return await ask(*given, **more)  # it waits for nobody
        finally:
            judging[0] += time.thread_time() - began

    LexicalJudge.ask = timed  # type: ignore[method-assign]
    for metric in metrics:
        began, judging[0] = time.process_time(), 0.0
        asked_for = measure.Asked(("lexical",), resamples=100)
        found = asyncio.run(measure.measure(given, measure.applicable(given, [metric]), asked_for))
        took = time.process_time() - began
        told = hashlib.sha256(repr([(row.score.value, row.score.reason) for row in found.rows]).encode()).hexdigest()
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
        said = f"{took:.1f} s of a processor, {judging[0]:.1f} s of them the judge's, {most:,.0f} MiB at most"
        print(f"{metric:<22} {rows:,} rows: {said}, {told[:12]}", flush=True)


def main() -> None:
    """Print a table, or what so many rows cost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--metric", nargs="+", default=["faithfulness"])
    parser.add_argument("--set", nargs="+", choices=SETS, default=SETS)
    given = parser.parse_args()
    if given.rows:
        cost(given.folder, given.rows, given.metric, given.set)
    else:
        worth(given.folder)


def worth(folder: Path) -> None:
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
    main()
