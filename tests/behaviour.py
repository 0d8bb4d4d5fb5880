"""What a run over all notebooks says, kept: scores and findings that a change of the house must leave as they are.

python -m tests.behaviour          what is different now
python -m tests.behaviour --keep   keep what is said now: of a change that was meant, and is named in CHANGELOG
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
KEPT = Path(__file__).with_suffix(".json")
RUNS = {"campus-en": ("campus:en", "en"), "campus-ru": ("campus:ru", "ru")}
RESAMPLES = 500
DIGITS = 11
"""Of the sixteen that a number has: what is left is the order in which a processor adds."""
CLOCK = ("latency", "seconds", "per_second")


def said(folder: Path) -> dict[str, Any]:
    """All that the pages of a run state, by page: findings in full, scores as one digest a system and metric."""
    return {path.parent.name: dict(_page(path.parent)) for path in sorted(folder.glob("parts/*/findings.json"))}


def differences(kept: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What was said and is said differently now, or no more; what is said besides counts as no difference."""
    found = []
    for page, findings in kept.items():
        for name, value in findings.items():
            other = now.get(page, {}).get(name)
            if other != value:
                found.append(f"{page}: {name}: {value} → {other}")
    return found


def _page(folder: Path) -> Iterator[tuple[str, Any]]:
    from ragbench.measurement import Measurement

    made = Measurement.load(folder)
    for named in made.estimates:
        if not any(word in named.metric for word in CLOCK):
            e = named.estimate
            yield f"{named.system} {named.metric}", _plain([e.value, e.low, e.high, e.n, e.n_unmeasured, e.method])
    for pair in made.comparisons:
        if not any(word in pair.metric for word in CLOCK):
            c = pair.comparison
            line = [c.difference, c.low, c.high, c.p, c.p_adjusted, c.n, c.minimum_detectable, str(c.verdict)]
            yield f"{c.baseline} → {c.challenger} {pair.metric}", _plain(line)
    for (system, metric), rows in made.scores.groupby(["system", "metric"], sort=True):
        if not any(word in metric for word in CLOCK):
            lines = sorted(
                json.dumps(_plain([row["sample"], row["judge"], row["status"], row["value"]]))
                for row in rows.to_dict("records")
            )
            yield f"{system} {metric} scores", hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _plain(values: list[Any]) -> list[Any]:
    return [_rounded(value) for value in values]


def _rounded(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    return None if math.isnan(value) else float(f"{value:.{DIGITS}g}")


def run(dataset: str, language: str, folder: Path) -> dict[str, Any]:
    """All notebooks on a data set of the project, and what they say."""
    from ragbench import report
    from ragbench.commands.run import _tiers

    made = report.run(_tiers(), {"dataset": dataset, "language": language, "resamples": RESAMPLES}, out=folder, jobs=2)
    if made.failures:
        raise SystemExit(f"failed: {dict(made.failures)}")
    return said(made.folder)


def main() -> None:
    """Run, compare or keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true")
    keep = parser.parse_args().keep
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        now = {name: run(*which, Path(folder) / name) for name, which in RUNS.items()}
    if keep:
        KEPT.write_text(json.dumps(now, ensure_ascii=False, indent=0, sort_keys=True) + "\n", encoding="utf-8")
        print(f"kept {sum(len(page) for one in now.values() for page in one.values())} findings in {KEPT.name}")
        return
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    found = [f"{name}: {line}" for name in RUNS for line in differences(kept[name], now[name])]
    print("\n".join(found) or "nothing is different")
    raise SystemExit(bool(found))


if __name__ == "__main__":
    main()
