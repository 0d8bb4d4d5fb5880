"""Retrieval on real data beside the checkout: what families of comparisons find, and a plain Westfall and Young.

`python -m tests.old.stats.real_retrieval ../shared/data` prints, for each baseline, how many of 14 metrics × 2 challengers
differ: by ragbench's families, by the plain procedure, and by Holm over the t tests.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragbench.old import data as datasets
from ragbench.old.core.types import Array, Comparison, Verdict
from ragbench.old.data import trec
from ragbench.old.metrics import ranking_arrays
from ragbench.old.metrics.ranking import evaluate
from ragbench.old.tiers.basics.findings import Group, Sureness, compared

METRICS = (
    "hit_rate@1", "hit_rate@3", "hit_rate@5", "hit_rate@10", "recall@1", "recall@5", "recall@10", "precision@1",
    "precision@5", "mrr", "ndcg@5", "ndcg@10", "average_precision@10", "rbp@10",
)  # fmt: skip
PRIMARY = "ndcg@10"
Values = Mapping[str, Mapping[str, Array]]
"""Metric to system to one number a question."""


@dataclass(frozen=True)
class Runs:
    """Three systems' values on the same questions. clusters: the article or conversation of each."""

    values: Values
    clusters: list[str]

    def with_baseline(self, name: str) -> Values:
        """The same with this system as the first."""
        return {metric: {name: of[name], **of} for metric, of in self.values.items()}


def _runs(retrieved: Mapping[str, Sequence[Sequence[str]]], relevant: Sequence[Mapping[str, float]]) -> Values:
    found: dict[str, dict[str, Array]] = {metric: {} for metric in METRICS}
    for system, lists in retrieved.items():
        ranking = ranking_arrays.from_lists(lists, relevant, depth=20)
        for metric, values in evaluate(ranking, METRICS).items():
            found[metric][system] = values
    return found


def searched(texts: Sequence[str], questions: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    """(questions, 20) places of the best texts by hashed words, by TF-IDF of words, and by BM25 (k1 1.2, b 0.75)."""
    from scipy import sparse
    from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

    words = TfidfVectorizer(sublinear_tf=True).fit(texts)
    hashed = HashingVectorizer(n_features=2**13, alternate_sign=False).fit(texts)
    counter = CountVectorizer(binary=False).fit(texts)
    counts = sparse.csr_array(counter.transform(texts), dtype=np.float64)
    lengths, seen = counts.sum(axis=1), (counts > 0).sum(axis=0)
    rare = np.log(1 + (len(texts) - seen + 0.5) / (seen + 0.5))
    weights = counts.tocoo()
    least = 1.2 * (0.25 + 0.75 * lengths[weights.row] / lengths.mean())
    weights.data = rare[weights.col] * weights.data * 2.2 / (weights.data + least)
    asked = sparse.csr_array(counter.transform(questions)) > 0
    scores = {
        "hashed": (hashed.transform(questions) @ hashed.transform(texts).T).toarray(),
        "tf-idf": (words.transform(questions) @ words.transform(texts).T).toarray(),
        "bm25": (asked.astype(np.float64) @ weights.tocsr().T).toarray(),
    }
    return {name: np.argsort(-each, axis=1, kind="stable")[:, :20] for name, each in scores.items()}


def xquad(folder: Path, language: str) -> Runs:
    """Each question's own paragraph among the 180; one cluster an article."""
    brought = datasets.foreign_sets.questions(folder / f"xquad.{language}.json.gz")
    chunks, questions = brought.chunks, brought.questions
    found = searched([chunk.text for chunk in chunks], [question.text for question in questions])
    ids = [chunk.id for chunk in chunks]
    lists = {name: [[ids[place] for place in row] for row in places] for name, places in found.items()}
    return Runs(
        _runs(lists, [question.relevant for question in questions]), [str(question.cluster) for question in questions]
    )


def multi_turn(folder: Path, collection: str = "clapnq") -> Runs:
    """Rewritten last turns, several passages each, among the passages whose texts are there; one cluster a dialogue."""
    with gzip.open(folder / "mtrag-human-eval" / "human_eval_half.json.gz", "rt", encoding="utf-8") as file:
        known = {row["document_id"]: row["text"] for row in json.load(file)["documents"]}
    with gzip.open(folder / "mtrag-un" / "mtragun_reference_clapnq_fiqa.jsonl.gz", "rt", encoding="utf-8") as lines:
        known |= {row["document_id"]: row["text"] for line in lines for row in json.loads(line)["contexts"]}
    source = folder / "mtrag-retrieval"
    with gzip.open(source / f"{collection}_rewrite.jsonl.gz", "rt", encoding="utf-8") as lines:
        queries = {row["_id"]: row["text"].replace("|user|: ", "") for row in map(json.loads, lines)}
    labels: dict[str, dict[str, float]] = {}
    with gzip.open(source / f"{collection}_qrels_dev.tsv.gz", "rt", encoding="utf-8") as lines:
        for query, passage, gain in (line.split("\t") for line in list(lines)[1:]):
            labels.setdefault(query, {})[passage] = float(gain)
    asked = [query for query in queries if query in labels and set(labels[query]) <= set(known)]
    names = sorted(known)
    found = searched([known[name] for name in names], [queries[query] for query in asked])
    lists = {name: [[names[place] for place in row] for row in places] for name, places in found.items()}
    return Runs(_runs(lists, [labels[query] for query in asked]), [query.split("<::>")[0] for query in asked])


def conversations(folder: Path) -> Runs:
    """Runs of TREC CAsT 2021 with grades 0 to 4, on the turns that have a relevant document; one cluster a dialogue."""
    labels = trec.read_qrels(folder / "qrels.txt.gz")
    turns = sorted(turn for turn, of in labels.items() if max(of.values()) > 0)
    systems = {name: trec.read_run(folder / f"org_{name}.run.gz") for name in ("manual_bm25", "manual_ance", "convdr")}
    lists = {
        name: [
            trec.listed_order(run.queries[turn]).documents.to_pylist() if turn in run.queries else [] for turn in turns
        ]
        for name, run in systems.items()
    }
    return Runs(_runs(lists, [labels[turn] for turn in turns]), [turn.split("_")[0] for turn in turns])


def westfall_young(moved: Array, resamples: int, seed: int, clusters: Sequence[str] | None = None) -> Array:
    """Adjusted p of the columns' means by algorithm 2.8 of Westfall and Young (1993), plainly: step-down max-T.

    moved: (questions, hypotheses) differences. Student's t of independent sums, recomputed for every flip of signs.
    """
    if clusters is not None:
        codes = np.unique(np.asarray(clusters), return_inverse=True)[1]
        moved = np.array([moved[codes == code].sum(axis=0) for code in range(codes.max() + 1)])
    n, squares = len(moved), np.sum(moved**2, axis=0)

    def t(totals: Array) -> Array:
        spread = np.sqrt(np.maximum(squares - totals**2 / n, 0) / (n - 1))
        return np.abs(totals / n) / np.where(spread > 1e-9 * np.sqrt(squares + 1e-300), spread, 1e-300)

    observed = np.where(squares > 0, t(moved.sum(axis=0)), 0.0)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (resamples, n))
    drawn = np.where(squares > 0, t(signs @ moved), 0.0)
    order = np.argsort(-observed, kind="stable")
    adjusted, reached = np.ones(len(order)), 0.0
    for place, at in enumerate(order):
        beyond = drawn[:, order[place:]].max(axis=1) >= observed[at] * (1 - 1e-9)
        reached = max(reached, (int(beyond.sum()) + 1) / (resamples + 1))
        adjusted[at] = reached if observed[at] > 0 else 1.0
    return adjusted


def differences(values: Values, leaving: str = "") -> Array:
    """(questions, hypotheses) challengers less the baseline on every metric but the one left."""
    columns = []
    for metric, systems in values.items():
        first, *others = systems.values()
        columns += [] if metric == leaving else [other - first for other in others]
    return np.column_stack(columns)


def compare(values: Values, clusters: list[str] | None, primary: str = "") -> list[Comparison]:
    """The comparisons of ragbench's secondary family, or of all as one family where there is no primary metric."""
    groups = {metric: Group(systems, "higher") for metric, systems in values.items()}
    found = compared(groups, clusters, Sureness(0.95, 10_000, 0), primary)
    return [one for metric, family in found.items() if metric != primary for one in family]


def shown(found: Sequence[Comparison]) -> int:
    """How many of them are differences."""
    return sum(one.verdict in (Verdict.BETTER, Verdict.WORSE) for one in found)


def every(data: Path) -> Iterator[tuple[str, Runs]]:
    """All data sets by name."""
    yield "XQuAD, Russian", xquad(data / "xquad", "ru")
    yield "XQuAD, English", xquad(data / "xquad", "en")
    yield "MTRAG, ClapNQ", multi_turn(data)
    yield "TREC CAsT 2021", conversations(data / "trec-cast-2021")


def main() -> None:
    """Measure and print."""
    from scipy.stats import ttest_1samp
    from statsmodels.stats.multitest import multipletests

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    for name, runs in every(parser.parse_args().data):
        for baseline in next(iter(runs.values.values())):
            values = runs.with_baseline(baseline)
            for clusters in (None, runs.clusters):
                for primary in (PRIMARY, ""):
                    ours = compare(values, clusters, primary)
                    moved = differences(values, primary)
                    plain = westfall_young(moved, 10_000, 1, clusters)
                    singly = np.nan_to_num(ttest_1samp(moved, 0.0).pvalue, nan=1.0)
                    holm = "" if clusters else f", Holm {int(multipletests(singly, method='holm')[0].sum())}"
                    grouped = f"{len(set(clusters))} clusters" if clusters else "no clusters"
                    print(
                        f"{name}, n = {len(moved)}, {grouped}, against {baseline}: of {len(ours)} "
                        f"({ours[0].family}) ragbench {shown(ours)}, plain {int((plain <= 0.05).sum())}{holm}"
                    )


if __name__ == "__main__":
    main()
