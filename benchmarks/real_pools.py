"""What incomplete judgements say of real runs, held against all of the judgements there are.

    python -m benchmarks.real_pools FOLDER_OF_THE_REAL_DATA_SETS [SIMULATIONS [JUDGE …]]

TREC CAsT 2021: five runs, 94 turns, graded judgements. First half of the judgements are taken away, at random and by
system (what only one run brought into the first ten is judged no more): the share that is judged, the two values of
what is not, the condensed list and infAP beside the values by all judgements. Then a judge grades everything and people
some questions: how often intervals of nDCG, recall and MRR hold the value by all judgements, how wide they are against
those of people's labels alone, for a judge that errs in one grade of six, for one that says the opposite, for one that
throws dice, and where the halved judgements themselves take a judge's place, or those without what only the run found.
Questions are drawn from the 94 with replacement, so that their mean is the truth. 2,000 simulations a cell by default.
"""

from __future__ import annotations

import gzip
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ragbench.old import stats
from ragbench.old.core.metric import Metric, parse
from ragbench.old.core.types import Array
from ragbench.old.metrics import catalogue
from ragbench.old.metrics.ranking import evaluate
from ragbench.old.metrics.ranking_arrays import from_lists
from ragbench.old.stats import predictions
from ragbench.old.tiers.retrieval import reading

Grades = Mapping[str, Mapping[str, float]]
METRICS = ("recall@10", "mrr@10", "ndcg@10")
LABELLED = (50, 100, 200)
DRAWN = 1000
"""Questions of which a judge has graded everything."""
VARIANTS = 40
"""Judges of one kind, each with errors of its own."""


def read(folder: Path) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, list[str]]]]:
    """Judgements, and by run the documents of each judged query in their order."""
    qrels: dict[str, dict[str, float]] = defaultdict(dict)
    for line in gzip.decompress((folder / "qrels.txt.gz").read_bytes()).decode().splitlines():
        query, _, document, grade = line.split()
        qrels[query][document] = float(grade)
    runs: dict[str, dict[str, list[str]]] = {}
    for path in sorted(folder.glob("*.run.gz")):
        rows = defaultdict(list)
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            query, _, document, rank, _score, _tag = line.split()
            if query in qrels:
                rows[query].append((int(rank), document))
        runs[path.name.removesuffix(".run.gz")] = {query: [d for _, d in sorted(own)] for query, own in rows.items()}
    return dict(sorted(qrels.items())), runs


def values(run: Mapping[str, list[str]], qrels: Grades, metrics: list[Metric]) -> dict[str, Array]:
    """A value a query, 0 where nothing is relevant by these judgements."""
    ranking = from_lists([run.get(query, []) for query in qrels], list(qrels.values()))
    return {label: np.nan_to_num(column) for label, column in evaluate(ranking, metrics).items()}


def taken_away(
    qrels: Grades, runs: Mapping[str, Mapping[str, list[str]]], by: str, seed: int
) -> dict[str, dict[str, float]]:
    """Half of the judgements, −1 for what was in the pool and is not judged; or without what only `by` brought."""
    random, left = np.random.default_rng(seed), {}
    for query, known in qrels.items():
        if by == "random":
            left[query] = {document: grade if random.random() < 0.5 else -1.0 for document, grade in known.items()}
        else:
            others = {d for name, run in runs.items() if name != by for d in run.get(query, [])[:10]}
            own = set(runs[by].get(query, [])[:10]) - others
            left[query] = {document: grade for document, grade in known.items() if document not in own}
    return left


def told_of_halves(qrels: Grades, runs: Mapping[str, Mapping[str, list[str]]]) -> None:
    metrics = [parse(name) for name in ("mrr@10", "ndcg@10", "average_precision")]
    print("taken away  run                 metric             all     judged  printed  relevant  condensed  infAP")
    for by in ("random", *runs):
        left = taken_away(qrels, runs, by, 1)
        for name in runs if by == "random" else [by]:
            full = values(runs[name], qrels, metrics)
            ranking = from_lists([runs[name].get(query, []) for query in left], list(left.values()))
            for _, label, *means in reading.rows_of(name, reading.values(ranking, metrics)):
                print(f"{'half' if by == 'random' else 'its own':10}  {name:18}  {label:17}  {full[label].mean():.3f}  "
                      + "  ".join(f"{value:7.3f}" for value in means))  # fmt: skip


def judged(qrels: Grades, kind: str, random: np.random.Generator) -> dict[str, dict[str, float]]:
    """A judge's grades of all: "good" errs in one of six, "opposite" says that, "dice" throws them."""
    made = {}
    for query, known in qrels.items():
        if kind == "opposite":
            made[query] = {document: 4.0 - grade for document, grade in known.items()}
        elif kind == "dice":
            made[query] = dict(zip(known, random.integers(0, 5, len(known)).astype(float).tolist(), strict=True))
        else:
            wrong = random.random(len(known)) < 1 / 6
            other = random.integers(0, 5, len(known))
            made[query] = {
                document: float(other[place]) if wrong[place] else grade
                for place, (document, grade) in enumerate(known.items())
            }
    return made


def told_of_labels(
    qrels: Grades, runs: Mapping[str, Mapping[str, list[str]]], simulations: int, kinds: Sequence[str]
) -> None:
    """A Markdown table: how often intervals hold the truth, in brackets how wide they are beside people's alone."""
    heads = [f"{number} labels, {how}" for how in ("evenly", "actively") for number in LABELLED]
    print(f"\n| judge | metric | {' | '.join(heads)} |\n|---|---|{'---:|' * len(heads)}")
    for kind in kinds:
        random = np.random.default_rng(7)
        number = 1 if kind in ("opposite", "its own") else VARIANTS
        for metric in map(parse, METRICS):
            people, machine = [], []
            for name, run in runs.items():
                tables = [
                    taken_away(qrels, runs, "random" if kind == "half" else name, seed)
                    if kind in ("half", "its own") else judged(qrels, kind, random)
                    for seed in range(number)
                ]  # fmt: skip
                truth = values(run, qrels, [metric])[metric.label]
                people.append(np.tile(truth, (number, 1)))
                machine.append(np.array([values(run, table, [metric])[metric.label] for table in tables]))
            cells = [
                told(labelled, people, machine, simulations, active=active)
                for active in (False, True) for labelled in LABELLED
            ]  # fmt: skip
            print(f"| {kind} | {metric.label} | {' | '.join(cells)} |", flush=True)


def told(number: int, people: list[Array], machine: list[Array], simulations: int, *, active: bool) -> str:
    random = np.random.default_rng(number)
    hits, widths, alone = 0, [], []
    for seed in range(simulations):
        place = seed % len(people)
        variant = int(random.integers(len(people[place])))
        drawn = random.integers(people[place].shape[1], size=DRAWN)
        y, f = people[place][variant][drawn], machine[place][variant][drawn]
        truth = float(people[place][variant].mean())
        if not active:
            made = stats.prediction_powered(y[:number], f[:number], f[number:], bounds=(0, 1), seed=seed)
            if made.low is None:  # the judge is left aside
                made = stats.estimate(y[:number], bounds=(0, 1), resamples=1000, seed=seed)
        else:
            again = machine[place][(variant + 1) % len(machine[place])][drawn]  # where a judge differs from itself
            pi = stats.chances(np.abs(f - again), number)
            chosen = random.random(DRAWN) < pi
            made = stats.active_estimate(np.where(chosen, y, np.nan), f, pi, bounds=(0, 1), seed=seed)
        own = y[:number]
        assert made.low is not None
        assert made.high is not None
        hits += made.low <= truth <= made.high
        widths.append(made.high - made.low)
        low, high = stats.intervals.student(float(own.mean()), float(own.var(ddof=1)) / len(own), len(own) - 1, 0.95)
        alone.append(high - low)
    return f"{hits / simulations:.3f} ({np.mean(widths) / np.mean(alone):.2f})"


def main() -> None:
    """Print both tables."""
    catalogue()
    qrels, runs = read(Path(sys.argv[1]) / "trec-cast-2021")
    predictions._alone = lambda *_: None  # what is not asked for takes most of the time
    kinds = sys.argv[3:] or ["good", "opposite", "dice", "half", "its own"]
    told_of_halves(qrels, runs)
    told_of_labels(qrels, runs, int(sys.argv[2]) if len(sys.argv) > 2 else 2000, kinds)


if __name__ == "__main__":
    main()
