"""14 ranking metrics beside pytrec_eval: `python -m benchmarks.bench_ranking` (CPU seconds, medians, one thread).

pytrec_eval starts from its dictionaries, whose making is not counted. Ours starts from lists of names and grades by
name, or, as "numbers", from the columns that a search gives: numbers of documents.
"""

from __future__ import annotations

import resource
import statistics
import time

import numpy as np
from threadpoolctl import threadpool_limits

from ragbench.old.metrics import ranking_arrays
from ragbench.old.metrics.ranking import evaluate
from ragbench.old.metrics.ranking_arrays import from_numbers

DEPTH, DOCUMENTS = 10, 1_009  # a prime, so that every step goes through all documents
LABELS = (
    *(f"hit_rate@{k}" for k in (1, 5, 10)),
    "mrr",
    *(f"{name}@{k}" for name in ("recall", "precision") for k in (1, 3, 5, 10)),
    *(f"ndcg@{k}" for k in (5, 10)),
)


def material(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct documents in every list, one to three relevant ones a question, half of them retrieved."""
    rng = np.random.default_rng(seed)
    start, step = rng.integers(0, DOCUMENTS, n), 2 * rng.integers(0, DOCUMENTS // 4, n) + 1
    retrieved = (start[:, None] + np.arange(DEPTH) * step[:, None]) % DOCUMENTS
    counts = rng.integers(1, 4, n)
    questions = np.repeat(np.arange(n), counts)
    slot = np.arange(len(questions)) - (np.cumsum(counts) - counts)[questions]
    place = (rng.integers(0, 7, n)[questions] + slot * 7) % (2 * DEPTH)
    documents = (start[questions] + place * step[questions]) % DOCUMENTS
    return retrieved, questions, documents


def as_lists(retrieved: np.ndarray, questions: np.ndarray, documents: np.ndarray) -> tuple[list, list]:
    """The same as ranked lists and grades by document, one of each a question."""
    relevant: list[dict[str, float]] = [{} for _ in retrieved]
    for question, document in zip(questions.tolist(), documents.astype(str).tolist(), strict=True):
        relevant[question][document] = 1.0
    return retrieved.astype(str).tolist(), relevant


def ours(lists: list, relevant: list) -> dict[str, np.ndarray]:
    return evaluate(ranking_arrays.from_lists(lists, relevant), LABELS)


def of_numbers(columns: tuple[np.ndarray, ...]) -> dict[str, np.ndarray]:
    return evaluate(from_numbers(*columns), LABELS)


def timed(function, repeats: int):  # type: ignore[no-untyped-def]
    seconds, result = [], None
    for _ in range(repeats):
        start = time.process_time()
        result = function()
        seconds.append(time.process_time() - start)
    return statistics.median(seconds), result


def million() -> None:
    """A million questions, time and the peak of the whole process, material included."""
    n = 1_000_000
    asked = as_lists(*material(n, seed=1))
    seconds, made = timed(lambda: ours(*asked), 3)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{n:>9,} questions × top {DEPTH}, 14 metrics: ragbench {seconds:.3f} s; peak of the process {peak:.0f} MB; "
        f"mean ndcg@10 {np.nanmean(made['ndcg@10']):.4f}"
    )


def beside_the_peer() -> None:
    """100,000 questions, ours and pytrec_eval in one process, and that the values agree."""
    import pytrec_eval

    n = 100_000
    retrieved, questions, documents = material(n)
    asked = as_lists(retrieved, questions, documents)
    mine, values = timed(lambda: ours(*asked), 5)
    columns = (retrieved.astype(np.int32), questions, documents.astype(np.int32))
    fast, again = timed(lambda: of_numbers(columns), 25)
    assert all((values[label] == again[label]).all() for label in LABELS)
    qrels: dict[str, dict[str, int]] = {str(number): {} for number in range(n)}
    for question, document in zip(questions.tolist(), documents.tolist(), strict=True):
        qrels[str(question)][str(document)] = 1
    run = {
        str(number): {str(document): float(DEPTH - rank) for rank, document in enumerate(row)}
        for number, row in enumerate(retrieved.tolist())
    }
    measures = {"success.1,5,10", "recip_rank", "recall.1,3,5,10", "P.1,3,5,10", "ndcg_cut.5,10"}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, measures)
    peer, found = timed(lambda: evaluator.evaluate(run), 3)
    names = {"hit_rate": "success", "recall": "recall", "precision": "P", "ndcg": "ndcg_cut"}
    worst = 0.0
    for label in LABELS:
        name, _, k = label.partition("@")
        key = f"{names[name]}_{k}" if k else "recip_rank"
        theirs = np.array([found[str(number)][key] for number in range(n)])
        worst = max(worst, float(np.abs(values[label] - theirs).max()))
    print(
        f"{n:>9,} questions × top {DEPTH}, 14 metrics: pytrec_eval {peer:.3f} s; ragbench {fast:.4f} s from numbers, "
        f"{peer / fast:.0f} times, and {mine:.4f} s from names, {peer / mine:.1f} times; largest difference {worst:.1e}"
    )


if __name__ == "__main__":
    with threadpool_limits(1):
        million()
        beside_the_peer()
