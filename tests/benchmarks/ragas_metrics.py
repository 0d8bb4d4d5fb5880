"""ragas' own metrics on scripted verdicts, against ragbench's in the variant that counts as ragas does.

python -m tests.benchmarks.ragas_metrics --peer PYTHON [--write]

PYTHON is the interpreter of an environment of ragas' own (`pip install ragas==0.4.3 langchain-community==0.4.1`).
Prints the largest difference of each metric; --write keeps ragas' values in tests/ragas_values.json, which
tests/test_ragas_values.py holds ragbench to, so that the tests need no ragas.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
from pathlib import Path

from tests.ragas_cases import CASES, MAKERS, cases, ours

HERE = Path(__file__).parent
VALUES = HERE.parent / "ragas_values.json"
ALLOWED = 1e-9


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", required=True, help="the Python of an environment with ragas")
    parser.add_argument("--write", action="store_true", help="keep ragas' values for the tests")
    given = parser.parse_args()
    asked = cases()
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
    for (metric, script), theirs in zip(asked, peer["values"], strict=True):
        value = ours(metric, script)
        apart = abs(value - theirs) if math.isfinite(theirs) else math.inf
        if apart > max(worst[metric], ALLOWED):
            print(f"{metric}: ragbench {value!r}, ragas {theirs!r}, on {json.dumps(script)}")
        worst[metric] = max(worst[metric], apart)
    for metric, apart in worst.items():
        print(f"{metric:<24} {CASES} cases, largest difference {apart:.1e}")
    if given.write:
        kept = {
            "made_by": f"python -m tests.benchmarks.ragas_metrics --peer PYTHON --write, with ragas {peer['version']}",
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
    return int(max(worst.values()) > ALLOWED)


if __name__ == "__main__":
    raise SystemExit(main())
