"""CPU seconds of 14 metrics of 100,000 rankings of ten, from numbers and from names.

pytrec_eval, as the peer, gets its dictionaries ready made.
`OMP_NUM_THREADS=1 python -m tests.benchmarks.bench_ranking`
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytrec_eval

from ragbench.metrics.ranking_frames import add_gains, arrange, drop_copies
from ragbench.metrics.rankings import measure_rankings

QUESTIONS, DEPTH, PASSAGES = 100_000, 10, 50_000
METRICS = (
    *("hit_rate@1", "hit_rate@5", "hit_rate@10", "mrr@10"),
    *(f"{name}@{k}" for name in ("recall", "precision") for k in (1, 3, 5, 10)),
    *("ndcg@5", "ndcg@10"),
)
MEASURES = {"success.1,5,10", "recip_rank", "recall.1,3,5,10", "P.1,3,5,10", "ndcg_cut.5,10"}


def make_frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rankings of names, of which seven in ten hold the one relevant passage, and the labels."""
    generator = np.random.default_rng(0)
    names = np.array([f"passage-{number}" for number in range(PASSAGES)])
    questions = np.array([f"question-{number}" for number in range(QUESTIONS)])
    # Ten in a row are ten different ones.
    first = generator.integers(0, PASSAGES, QUESTIONS)
    retrieved = (first[:, None] + np.arange(DEPTH)) % PASSAGES
    relevant = retrieved[np.arange(QUESTIONS), generator.integers(0, DEPTH, QUESTIONS)]
    is_missed = generator.random(QUESTIONS) < 0.3
    relevant = np.where(is_missed, (first - 1) % PASSAGES, relevant)
    rankings = pd.DataFrame(
        {
            "system": "bench",
            "question_id": np.repeat(questions, DEPTH),
            "rank": np.tile(np.arange(1, DEPTH + 1), QUESTIONS),
            "passage_id": names[retrieved.ravel()],
        }
    )
    labels = pd.DataFrame({"question_id": questions, "passage_id": names[relevant], "grade": 1.0})
    return rankings, labels


def main() -> None:
    """Print the seconds, and that both say the same."""
    rankings, labels = make_frames()
    measure_rankings(METRICS, arrange(add_gains(rankings[:10], labels[:1]), labels[:1], ["q"]))
    questions = labels["question_id"].tolist()

    start = time.process_time()
    arrays = arrange(add_gains(drop_copies(rankings), labels), labels, questions)
    middle = time.process_time()
    values = measure_rankings(METRICS, arrays)
    end = time.process_time()
    print(f"ragbench, numbers {end - middle:.3f} s, names {end - start:.3f} s")

    run: dict[str, dict[str, float]] = {question: {} for question in questions}
    columns = (rankings[name].tolist() for name in ("question_id", "passage_id", "rank"))
    for question, passage, rank in zip(*columns, strict=True):
        run[question][passage] = -float(rank)
    qrels = {
        question: {passage: 1}
        for question, passage in zip(questions, labels["passage_id"], strict=True)
    }
    start = time.process_time()
    peer = pytrec_eval.RelevanceEvaluator(qrels, MEASURES).evaluate(run)
    print(f"pytrec_eval, from its dictionaries {time.process_time() - start:.3f} s")
    expected = np.array([peer[question]["ndcg_cut_10"] for question in questions])
    print("nDCG@10 differs by at most", np.abs(values["ndcg@10"] - expected).max())


if __name__ == "__main__":
    main()
