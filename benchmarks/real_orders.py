"""Which numbers of the offline judge order five systems as people's labels do, with real retrieval.

    python -m benchmarks.real_orders FOLDER_OF_THE_REAL_DATA_SETS FOLDER [QUESTIONS]

Five systems (`real_systems`) read five passages each, the extractive stand-in answers, the lexical judge scores.
People's labels order them by recall of the labelled passages (for metrics of contexts), and by the share of right
answers (for metrics of answers): one that holds the reference of XQuAD, or that is taken from a labelled passage
elsewhere. Kendall's τ-b of both orders over five systems, a mean over the sets; both are drawn anew with the questions,
whole clusters together. Beside it the share of the pairs of systems, of those that the labels order, ordered alike.
QUESTIONS: at most so many of a set, evenly taken, 80 by default. FOLDER gets a database of its own, which is stopped.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau

import ragbench
from benchmarks import real_systems
from ragbench.old.core import segmentation
from ragbench.old.core.settings import GeneratorSettings
from ragbench.old.core.types import Chunk, Question, Sample
from ragbench.old.judge import words
from ragbench.old.systems.generation import ExtractiveGenerator

READ = 5
RESAMPLES = 1000
OF_CONTEXTS = ("context_precision", "context_recall", "context_relevance", "context_entity_recall")
OF_ANSWERS = (
    "e2e_score", "answer_correctness_rating", "answer_accuracy", "factual_correctness", "answer_relevance",
    "faithfulness", "faithfulness_rating", "response_groundedness", "hallucination", "noise_sensitivity",
    "rougeL_f", "chrf",
)  # fmt: skip
LOWER = ("hallucination", "noise_sensitivity")
Table = Mapping[str, np.ndarray]
"""Metric → (systems, questions) values, NaN where unmeasured; `recall` and `right` are the labels'."""


def is_right(answer: str, question: Question, contexts: tuple[Chunk, ...], *, by_reference: bool) -> float:
    """Whether people's labels call an answer right: 0 or 1."""
    if by_reference:
        return float(words.fold(question.reference or "") in words.fold(answer))
    source = " ".join(" ".join(segmentation.sentences(one.text)) for one in contexts if one.id in question.relevant)
    return float(any(sentence in source for sentence in segmentation.sentences(answer)))


def measured(name: str, data: Path, folder: Path, store: real_systems.Store, most: int) -> tuple[Table, np.ndarray]:
    """The values of one set, and the clusters of its questions."""
    dataset = real_systems.read(name, data, folder)
    rankings = real_systems.found(dataset, store, READ)
    labelled = [row for row, question in enumerate(dataset.questions) if question.relevant]
    rows = [labelled[at] for at in np.linspace(0, len(labelled) - 1, min(most, len(labelled))).astype(int)]
    generator = ExtractiveGenerator("extractive", GeneratorSettings())
    samples, labels = [], {key: np.zeros((len(rankings), len(rows))) for key in ("recall", "right")}
    for system, (own, hits) in enumerate(rankings.items()):
        for place, row in enumerate(rows):
            question, contexts = dataset.questions[row], tuple(hit.chunk for hit in hits[row])
            answer = generator.answer(question.text, contexts, question.language)
            found = {chunk.id for chunk in contexts}
            labels["recall"][system, place] = np.mean([one in found for one in question.relevant])
            by_reference = name.startswith("xquad")
            labels["right"][system, place] = is_right(answer, question, contexts, by_reference=by_reference)
            samples.append(
                Sample(id=question.id, user_input=question.text, response=answer, reference=question.reference,
                       contexts=contexts, language=question.language, system=own)
            )  # fmt: skip
    scores = ragbench.score(samples, [*OF_CONTEXTS, *OF_ANSWERS], "lexical", resamples=200)
    at = {dataset.questions[row].id: place for place, row in enumerate(rows)}
    number = {system: place for place, system in enumerate(rankings)}
    table = {key: np.full((len(rankings), len(rows)), np.nan) for key in (*OF_CONTEXTS, *OF_ANSWERS)}
    for one in scores.rows:
        table[one.metric.label][number[one.sample.system], at[one.sample.id]] = one.score.value
    clusters = np.array([dataset.questions[row].cluster or dataset.questions[row].id for row in rows])
    return {**table, **labels}, clusters


def means(table: np.ndarray, metric: str) -> np.ndarray:
    """(systems,) higher is better."""
    return np.nanmean(table, axis=1) * (-1 if metric in LOWER else 1)


def order(one: np.ndarray, other: np.ndarray) -> tuple[float, int, int]:
    """(τ-b, pairs ordered alike, pairs that `other`, the labels, orders at all); τ is 0 where `one` orders nothing."""
    one, other = np.round(one, 9), np.round(other, 9)
    pairs = [(np.sign(one[a] - one[b]), np.sign(other[a] - other[b])) for a, b in combinations(range(len(one)), 2)]
    tau = float(kendalltau(one, other).statistic) if len(set(one)) > 1 and len(set(other)) > 1 else 0.0
    return tau, sum(mine == theirs != 0 for mine, theirs in pairs), sum(theirs != 0 for _, theirs in pairs)


def main(data: Path, folder: Path, most: int = 80) -> None:
    """One line a metric and set, and one over all sets with intervals."""
    found = {}
    with real_systems.opened(folder) as store:
        for name in real_systems.SETS:
            found[name] = measured(name, data, folder, store, most)
            table = found[name][0]
            print(f"\n{name}: {table['right'].shape[1]} questions", flush=True)
            for key, values in table.items():
                told = " ".join(f"{system} {value:.3f}" for system, value in
                                zip(real_systems.SYSTEMS, np.nanmean(values, axis=1), strict=True))  # fmt: skip
                print(f"  {key:28} {told}")
    draw = np.random.default_rng(0)
    drawn: dict[str, list[tuple[float, float]]] = {key: [] for key in (*OF_CONTEXTS, *OF_ANSWERS)}
    members = {name: [np.flatnonzero(own == each) for each in np.unique(own)] for name, (_, own) in found.items()}
    for _ in range(RESAMPLES):
        rows = {
            name: np.concatenate([each[at] for at in draw.integers(len(each), size=len(each))])
            for name, each in members.items()
        }
        for key, every in drawn.items():
            every.append(over({name: (table, rows[name]) for name, (table, _) in found.items()}, key)[:2])
    print(f"\nover {len(found)} sets, five systems each: τ-b and share of pairs ordered as the labels do")
    for key, every in drawn.items():
        whole = {name: (table, np.arange(table["right"].shape[1])) for name, (table, _) in found.items()}
        tau, share, alone = over(whole, key)
        (low, least), (high, most_) = np.quantile(every, [0.025, 0.975], axis=0)
        by_set = " ".join(f"{name} {each:+.2f}" for name, each in zip(found, alone, strict=True))
        pairs = f"pairs {share:.2f} [{least:.2f}, {most_:.2f}]"
        print(f"  {key:28} τ {tau:+.2f} [{low:+.2f}, {high:+.2f}] · {pairs} · {by_set}")


def over(tables: Mapping[str, tuple[Table, np.ndarray]], key: str) -> tuple[float, float, list[float]]:
    """(mean τ over sets, share of pairs ordered alike over sets, τ of each set) of these questions."""
    label = "recall" if key in OF_CONTEXTS else "right"
    each = [order(means(one[key][:, rows], key), means(one[label][:, rows], label)) for one, rows in tables.values()]
    alike, ordered = (sum(one[place] for one in each) for place in (1, 2))
    return float(np.mean([one[0] for one in each])), alike / ordered, [one[0] for one in each]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:4]))
