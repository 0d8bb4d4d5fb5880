"""What the trial of judges finds in three real sets: order effects, several people with gaps, people against metrics.

    python -m benchmarks.real_judges FOLDER_OF_THE_REAL_DATA_SETS [FOLDER_FOR_FILES]

Each set is written as a file of logged judgements and measured by `tiers.tier_judge(ratings=...)`, as a notebook would.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ragbench.old import tiers
from ragbench.old.core import settings
from ragbench.old.core.measurement import Measurement

ARENA = {"A>B": "A", "A>>B": "A", "B>A": "B", "B>>A": "B", "A=B": "Tie", None: None}
DIMENSIONS = {"faithfulness": "rl_f", "completeness": "rb_llm", "appropriateness": "rb_llm"}
RIVAL = "RougeL"
LEFT_OUT = ("pearson", "kendall", "gwet_ac1", "accuracy", "refused", "truncated", "failed")


def judgebench(folder: Path) -> list[dict[str, Any]]:
    """One judge on pairs with an objective label, asked in both orders; verdicts are about places, as shown."""
    [path] = (folder / "judgebench-decisions").glob("*.jsonl")
    judge = path.stem.split("__")[-1]
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        choices = [ARENA[row["order1"]], ARENA[row["order2_raw"]]]
        found.append({"id": row["pair_id"], "choices": {judge: choices}, "label": ARENA[row["label"]]})
    return found


def mtrag(folder: Path, dimension: str) -> list[dict[str, Any]]:
    """Answers that up to three people rated from 1 to 4, with automatic judges; turns of a conversation together."""
    with gzip.open(folder / "mtrag-human-eval" / "human_eval_half.json.gz", "rt", encoding="utf-8") as file:
        table = json.load(file)
    asked = {task["task_id"]: task["input"][-1]["text"] for task in table["tasks"]}
    found = []
    for row in table["evaluations"]:
        marks = row["annotations"]
        people = {who: float(mark["value"]) for who, mark in marks.get(dimension, {}).items()}
        judges = {name: next(iter(marks[name].values()))["value"] for name in ("rl_f", "rb_llm", "rb_agg", RIVAL)}
        found.append(
            {
                "id": f"{row['task_id']} {row['model_id']}",
                "people": people,
                "judges": {name: float(value) for name, value in judges.items()},
                "cluster": row["task_id"].split("<::>")[0],
                "system": row["model_id"],
                "question": asked[row["task_id"]],
                "answer": row["model_response"],
            }
        )
    return [row for row in found if row["system"] != "reference"]


def ragchecker(folder: Path, dimension: str) -> list[dict[str, Any]]:
    """Two people's preference of the second answer over the first, −2 to 2, and how much higher metrics score it."""
    path = folder / "ragchecker-human-pref" / "pairs_even.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    found = []
    for row in rows:
        first, second = row["model1"], row["model2"]
        words = [_shared(each["response"], row["gt_answer"]) for each in (first, second)]
        judges = {
            "RAGChecker": _less(second["ragchecker"][dimension], first["ragchecker"][dimension]),
            "shared words": words[1] - words[0],
        }
        found.append(
            {
                "id": str(row["instance_id"]),
                "people": {who: float(row[f"human_annotator_{who}"][dimension]) for who in "ab"},
                "judges": judges,
                "cluster": f"{row['dataset']} {row['query_id']}",
                "question": row["query"],
                "answer": f"A: {first['response']}\n\nB: {second['response']}",
            }
        )
    return found


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _shared(response: str, reference: str) -> float:
    from ragbench.old.judge import WordReader

    return WordReader().similarity(response, reference)


def measured(name: str, rows: Iterable[dict[str, Any]], folder: Path, **how: str) -> Measurement:
    """The set as a file of the project in `folder`, and what the trial says of it."""
    path = folder / f"{name.replace(' ', '-')}.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return tiers.tier_judge(ratings=path.name, **how)  # type: ignore[arg-type]


def told(name: str, found: Measurement) -> None:
    """The figures with their intervals."""
    print(f"\n== {name}: {found.facts['n_questions']} items, {len(found.facts['raters'])} people")
    probes = found.extra["probes"].set_index(["judge", "probe"])
    places = [one for key in ("trial", "against") for one in found.estimates_by(key) if one.metric not in LEFT_OUT]
    for one in (*places, *found.estimates_by("probe")):
        [(key, value)] = one.where.items()
        words = [one.system, str(value), one.metric]
        if key == "probe":
            row = probes.loc[one.system, value]
            words += [row["verdict"], f"p {row['p_adjusted']:.2g}"]
        e = one.estimate
        if e.low is not None and e.high is not None:
            missing = f" ({e.n_unmeasured} unmeasured)" if e.n_unmeasured else ""
            print(f"  {' · '.join(words):70} {e.value:.3f} [{e.low:.3f}, {e.high:.3f}] n {e.n}{missing}")
    for each in (one.comparison for one in found.comparisons_by("trial")):
        print(f"  {each.challenger} − {each.baseline}: {each.difference:.3f}, {each.verdict}, p {each.p_adjusted}")
    print(found.extra["panel"].to_string())


def main(folder: Path, files: Path | None = None) -> None:
    """All three sets."""
    warnings.simplefilter("ignore")
    place = files or Path(tempfile.mkdtemp(prefix="real-judges-"))
    place.mkdir(parents=True, exist_ok=True)
    base = Path(__file__).parents[1]
    text = f'dataset = "campus"\ndata_folder = "{base / "data"}"\n[systems.none]\nresults = "none.jsonl"\n'
    if not (place / "ragbench.toml").exists():
        (place / "ragbench.toml").write_text(text, encoding="utf-8")
    os.environ["RAGBENCH_CONFIG"] = str(place / "ragbench.toml")
    settings.load.cache_clear()
    told("judgebench-decisions", measured("judgebench", judgebench(folder), place, rival="none"))
    for dimension, judge in DIMENSIONS.items():
        name = f"mtrag-human-eval, {dimension} (rl_f, rb_llm, rb_agg; nearest: {judge})"
        how = {"people_scale": "1, 4", "judge_scale": "0, 1", "rival": RIVAL}
        told(name, measured(f"mtrag {dimension}", mtrag(folder, dimension), place, **how))
    for dimension in ("correctness", "completeness", "overall"):
        how = {"people_scale": "-2, 2", "judge_scale": "-1, 1", "rival": "shared words"}
        told(
            f"ragchecker, {dimension}", measured(f"ragchecker {dimension}", ragchecker(folder, dimension), place, **how)
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(Path, sys.argv[2:3]))
