"""Five runs of TREC CAsT 2021, every pair: which wins survive the correction, which vanish when dialogues count.

Run `python -m benchmarks.bench_stats_trec [FOLDER] [--json FILE]`. Turns of one conversation share their subject,
so questions are not independent; clusters are conversations. Average precision (grade 1 and up) and NDCG over the
whole list come from pytrec_eval; documents beyond the run's list count as not retrieved, judged turns that a run
lacks as zero, as trec_eval -c counts them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytrec_eval

from ragbench.old import stats
from ragbench.old.core.types import Comparison

FOLDER = Path(__file__).parents[2] / "shared" / "data" / "trec-cast-2021"
RUNS = ("org_manual_bm25", "org_convdr", "org_manual_ance", "org_convdr_bert", "org_manual_ance_bert")
METRICS = {"map": "AP", "ndcg": "NDCG"}


def read(path: Path, grade_at: int) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = defaultdict(dict)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            words = line.split()
            found[words[0]][words[2]] = words[grade_at]
    return dict(found)


def scores(folder: Path) -> tuple[list[str], dict[str, dict[str, np.ndarray]]]:
    """Judged turns, and metric to run to one value a turn."""
    judged = {q: {d: int(g) for d, g in row.items()} for q, row in read(folder / "qrels.txt.gz", 3).items()}
    evaluator = pytrec_eval.RelevanceEvaluator(judged, set(METRICS))
    turns = sorted(judged)
    found: dict[str, dict[str, np.ndarray]] = {name: {} for name in METRICS.values()}
    for run in RUNS:
        listed = {q: {d: float(s) for d, s in row.items()} for q, row in read(folder / f"{run}.run.gz", 4).items()}
        values = evaluator.evaluate({q: row for q, row in listed.items() if q in judged})
        for key, name in METRICS.items():
            found[name][run.removeprefix("org_")] = np.array([values.get(turn, {}).get(key, 0.0) for turn in turns])
    return turns, found


def table(values: dict[str, np.ndarray], conversations: list[str]) -> list[dict[str, Any]]:
    """One row a pair: p raw, by max-T and by Holm, of turns and of whole conversations."""
    by_turn = stats.compare_many(values)
    by_talk = stats.compare_many(values, clusters=conversations)
    holm_turn, holm_talk = (stats.holm([one.p for one in found]) for found in (by_turn, by_talk))
    return [
        {
            "pair": f"{turn.challenger} − {turn.baseline}", "difference": turn.difference,
            "turn": [turn.low, turn.high], "talk": [talk.low, talk.high],
            "p turn": turn.p, "max-T turn": turn.p_adjusted, "Holm turn": float(p_turn),
            "p talk": talk.p, "max-T talk": talk.p_adjusted, "Holm talk": float(p_talk),
            "shown": fate(turn, talk),
        }
        for turn, talk, p_turn, p_talk in zip(by_turn, by_talk, holm_turn, holm_talk, strict=True)
    ]  # fmt: skip


def fate(turn: Comparison, talk: Comparison) -> str:
    """What becomes of a raw win over turns."""
    if turn.p > 0.05:
        return "never shown"
    if turn.verdict.unshown:
        return "lost to the correction"
    if talk.verdict.unshown:
        return "lost to conversations"
    return "survives both"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    turns, found = scores(options.folder)
    conversations = [turn.split("_")[0] for turn in turns]
    print(f"{len(turns)} judged turns of {len(set(conversations))} conversations")
    report = {}
    for metric, values in found.items():
        began = time.process_time()
        rows = table(values, conversations)
        print(f"\n{metric}: " + ", ".join(f"{name} {column.mean():.3f}" for name, column in values.items()))
        for row in rows:
            print(f"  {row['pair']:34s} {row['difference']:+.3f}  {row['shown']}")
            for unit in ("turn", "talk"):
                words = ", ".join(f"{kind} {row[f'{kind} {unit}']:.4f}" for kind in ("p", "max-T", "Holm"))
                print(f"      by {unit}: [{row[unit][0]:+.3f}, {row[unit][1]:+.3f}] {words}")
        print(f"  {time.process_time() - began:.2f} CPU seconds")
        report[metric] = rows
    if options.json:
        options.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
