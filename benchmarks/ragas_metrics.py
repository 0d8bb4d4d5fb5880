"""ragas' own metrics on scripted verdicts, against ragbench's in the variant that counts as ragas does.

python -m benchmarks.ragas_metrics --peer PYTHON [--count 2000] [--seed 20] [--write]

PYTHON is the interpreter of an environment of ragas' own (`pip install ragas==0.4.3 langchain-community==0.4.1`).
Prints the largest difference of each metric; --write keeps ragas' values in tests/old/metrics/ragas_values.json, which
tests/old/metrics/test_ragas_values.py holds ragbench to, so that the tests need no ragas.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections import Counter
from pathlib import Path

from tests.old.metrics.ragas_cases import CASES, MAKERS, allowed, cases, distance, ours

HERE = Path(__file__).parent
VALUES = HERE.parent / "tests" / "metrics" / "ragas_values.json"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", required=True, help="the Python of an environment with ragas")
    parser.add_argument("--write", action="store_true", help="keep ragas' values for the tests")
    parser.add_argument("--count", type=int, default=CASES, help="scripts a metric")
    parser.add_argument("--seed", type=int, default=20, help="of the scripts")
    given = parser.parse_args()
    if given.write and (given.count, given.seed) != (CASES, 20):
        parser.error(f"--write keeps {CASES} scripts of seed 20, which the tests draw too")
    asked = cases(given.seed, given.count)
    done = subprocess.run(
        [given.peer, str(HERE / "ragas_scoring.py")],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(done.stderr[-3000:])
        return 2
    peer = json.loads(done.stdout.splitlines()[-1])
    worst = dict.fromkeys(MAKERS, 0.0)
    differ, unmeasured = Counter[str](), Counter[str]()
    for (metric, script), theirs in zip(asked, peer["values"], strict=True):
        value = ours(metric, script)
        apart = distance(value, theirs)
        if apart > allowed(metric):
            differ[metric] += 1
            if apart > worst[metric]:
                print(f"{metric}: ragbench {value!r}, ragas {theirs!r}, on {json.dumps(script)}")
        unmeasured[metric] += theirs is None
        worst[metric] = max(worst[metric], apart)
    for metric, apart in worst.items():
        print(f"{metric:<24} {given.count} cases, {unmeasured[metric]} without a value in both, "
              f"{differ[metric]} differ, largest difference {apart:.1e}")  # fmt: skip
    if given.write:
        kept = {
            "made_by": f"python -m benchmarks.ragas_metrics --peer PYTHON --write, with ragas {peer['version']}",
            "metrics": {
                metric: [
                    [script, theirs]
                    for (name, script), theirs in zip(asked, peer["values"], strict=True)
                    if name == metric
                ]
                for metric in MAKERS
            },
        }
        lines = [
            f' "{metric}": [\n' + ",\n".join("  " + json.dumps(row, separators=(",", ":")) for row in rows) + "\n ]"
            for metric, rows in kept["metrics"].items()
        ]
        text = f'{{\n"made_by": {json.dumps(kept["made_by"])},\n"metrics": {{\n' + ",\n".join(lines) + "\n}\n}\n"
        VALUES.write_text(text, encoding="utf-8")
        print(VALUES)
    return int(differ.total() > 0)


if __name__ == "__main__":
    raise SystemExit(main())
