"""Judged metrics against people, on real answers that lie beside the checkout, by `ragbench score` itself.

    python -m benchmarks.real_answers ../shared/data [--judge lexical]

mtrag-human-eval: answers of real models with the scores that up to three people gave each; answers of one conversation
are drawn together. ragchecker-human-pref: pairs of answers to one question with two people's preferences; the metric's
difference is held to their mean. Beside each correlation stands the people's own: the mean over pairs of people, on
what both of them rated. What nobody rated, and what could not be measured, is counted and left out.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from ragbench.old import stats
from ragbench.old.core.types import Estimate

MTRAG = "mtrag-human-eval/human_eval_half.json.gz"
MTRAG_ASPECTS = ("faithfulness", "appropriateness", "completeness", "naturalness")
MTRAG_PAIRS = (
    ("faithfulness", "faithfulness"),
    ("response_groundedness", "faithfulness"),
    ("factual_correctness(mode=precision)", "appropriateness"),
    ("factual_correctness(mode=recall)", "completeness"),
    ("semantic_similarity", "completeness"),
)
PREFERENCES = "ragchecker-human-pref/pairs_even.jsonl.gz"
PREFERENCE_ASPECTS = ("correctness", "completeness", "overall")
PREFERENCE_PAIRS = (
    ("factual_correctness", "overall"),
    ("factual_correctness(mode=precision)", "correctness"),
    ("factual_correctness(mode=recall)", "completeness"),
    ("semantic_similarity", "overall"),
)
KINDS = ("pearson", "spearman")
Ratings = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Rated:
    """Answers as `ragbench score` reads them, and what people say of them.

    rows: one JSON object an answer. ratings: aspect → item → person → rating; an item is an answer, or a pair of them.
    clusters: item → what is drawn together. pairs: item → (system of the first answer, system of the second), for
    preferences of the second over the first.
    """

    rows: Sequence[Mapping[str, Any]]
    ratings: Mapping[str, Ratings]
    clusters: Mapping[str, str]
    pairs: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def mtrag(data: Path) -> Rated:
    """219 answers to 73 questions; the question is the last turn, the reference what the benchmark's people wrote."""
    with gzip.open(data / MTRAG, "rt", encoding="utf-8") as file:
        known = json.load(file)
    texts = {each["document_id"]: each["text"] for each in known["documents"]}
    tasks = {task["task_id"]: task for task in known["tasks"]}
    rows, clusters = [], {}
    ratings: dict[str, dict[str, dict[str, float]]] = {aspect: {} for aspect in MTRAG_ASPECTS}
    for each in known["evaluations"]:
        task = tasks[each["task_id"]]
        asked = [turn["text"] for turn in task["input"] if turn["speaker"] == "user"]
        item = f"{each['task_id']} {each['model_id']}"
        row = {
            "id": each["task_id"],
            "system": each["model_id"],
            "user_input": asked[-1],
            "response": each["model_response"],
            "reference": task["targets"][0]["text"],
            "retrieved_contexts": [
                {"id": one["document_id"], "text": texts[one["document_id"]]} for one in task["contexts"]
            ],
            "cluster": each["task_id"].partition("<::>")[0],
        }
        rows.append(row)
        clusters[item] = row["cluster"]
        for aspect in MTRAG_ASPECTS:
            given = each["annotations"].get(aspect, {})
            ratings[aspect][item] = {
                person: float(said["value"]) for person, said in given.items() if said.get("value") not in (None, "")
            }
    return Rated(rows, ratings, clusters)


def ragchecker(data: Path) -> Rated:
    """140 pairs of answers; a preference from −2 to 2 is for the second answer."""
    with gzip.open(data / PREFERENCES, "rt", encoding="utf-8") as file:
        pairs = [json.loads(line) for line in file]
    rows, clusters, systems = [], {}, {}
    ratings: dict[str, dict[str, dict[str, float]]] = {aspect: {} for aspect in PREFERENCE_ASPECTS}
    for pair in pairs:
        item = str(pair["instance_id"])
        clusters[item] = f"{pair['dataset']} {pair['query_id']}"
        systems[item] = ("first", "second")
        for system, side in zip(systems[item], ("model1", "model2"), strict=True):
            rows.append(
                {
                    "id": item,
                    "system": system,
                    "user_input": pair["query"],
                    "response": pair[side]["response"],
                    "reference": pair["gt_answer"],
                    "cluster": clusters[item],
                }
            )
        for aspect in PREFERENCE_ASPECTS:
            people = {name: pair[f"human_annotator_{name}"].get(aspect) for name in ("a", "b")}
            ratings[aspect][item] = {name: float(said) for name, said in people.items() if said is not None}
    return Rated(rows, ratings, clusters, systems)


def scored(rated: Rated, metrics: Sequence[str], judge: str = "lexical") -> dict[str, dict[str, float]]:
    """metric → item → value (a pair's is the difference of its answers), by `ragbench score` on a file of the rows."""
    with tempfile.TemporaryDirectory() as folder:
        answers, found = Path(folder) / "answers.jsonl", Path(folder) / "scores.json"
        answers.write_text("".join(json.dumps(row) + "\n" for row in rated.rows), encoding="utf-8")
        chosen = [word for metric in metrics for word in ("-m", metric)]
        command = [sys.executable, "-m", "ragbench", "score", str(answers), *chosen, "--judge", judge]
        subprocess.run([*command, "--json", str(found), "--resamples", "200"], check=True, capture_output=True)
        lines = json.loads(found.read_text(encoding="utf-8"))["samples"]
    values = {
        (line["metric"], line["id"], line["system"]): math.nan if line["value"] is None else line["value"]
        for line in lines
    }
    if rated.pairs:
        return {
            metric: {
                item: values[metric, item, second] - values[metric, item, first]
                for item, (first, second) in rated.pairs.items()
            }
            for metric in metrics
        }
    return {
        metric: {f"{name} {system}": value for (label, name, system), value in values.items() if label == metric}
        for metric in metrics
    }


def against_people(values: Mapping[str, float], rated: Rated, aspect: str, seed: int = 0) -> dict[str, Estimate]:
    """The correlations of a metric with the mean of the people's ratings, with intervals over clusters."""
    given = rated.ratings[aspect]
    items = [item for item in values if given[item]]
    means = [statistics.fmean(given[item].values()) for item in items]
    clusters = [rated.clusters[item] for item in items]
    apart = len(set(clusters)) == len(clusters)
    found = stats.agreement(
        means,
        [None if math.isnan(values[item]) else values[item] for item in items],
        scale="interval",
        clusters=None if apart else clusters,
        seed=seed,
    )
    return {kind: found[kind] for kind in KINDS}


def among_people(rated: Rated, aspect: str) -> dict[str, float]:
    """The mean correlation of two people over all pairs of them, on what both rated; NaN without such a pair."""
    from scipy.stats import pearsonr, spearmanr

    given = rated.ratings[aspect]
    people = sorted({person for one in given.values() for person in one})
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for first, second in combinations(people, 2):
        both = [(one[first], one[second]) for one in given.values() if first in one and second in one]
        if len(both) < 3:
            continue
        one, other = zip(*both, strict=True)
        for kind, rule in (("pearson", pearsonr), ("spearman", spearmanr)):
            if len(set(one)) > 1 and len(set(other)) > 1:
                found[kind].append(float(rule(one, other).statistic))
    return {kind: statistics.fmean(each) if each else math.nan for kind, each in found.items()}


def tell(title: str, rated: Rated, pairs: Sequence[tuple[str, str]], judge: str) -> None:
    """One line a metric and aspect."""
    values = scored(rated, list(dict.fromkeys(metric for metric, _ in pairs)), judge)
    print(f"\n{title}: {len(rated.rows)} answers, judge {judge}")
    print(f"{'metric':<38}{'people on':<16}{'n':>5}{'left':>6}  {'Pearson':<22}{'Spearman':<22}people (P, S)")
    for metric, aspect in pairs:
        found, people = against_people(values[metric], rated, aspect), among_people(rated, aspect)
        shown = [f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]" for one in found.values()]
        one = found["pearson"]
        own = ", ".join(f"{value:.3f}" for value in people.values())
        print(f"{metric:<38}{aspect:<16}{one.n:>5}{one.n_unmeasured:>6}  {shown[0]:<22}{shown[1]:<22}{own}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--judge", default="lexical")
    given = parser.parse_args()
    tell("mtrag-human-eval", mtrag(given.data), MTRAG_PAIRS, given.judge)
    tell("ragchecker-human-pref", ragchecker(given.data), PREFERENCE_PAIRS, given.judge)


if __name__ == "__main__":
    main()
