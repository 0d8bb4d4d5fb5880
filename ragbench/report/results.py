"""A run's numbers as files: the score table, the summary, the manifest."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ragbench.measurement import SCORE_COLUMNS, without_nan
from ragbench.report import files
from ragbench.report.pages import Measurements

FORMAT = 1
SUMMARY, SCORES, MANIFEST = "summary.json", "scores.parquet", "manifest.json"
PACKAGES = ("ragbench", "numpy", "scipy", "pandas", "plotly", "papermill", "nbconvert")
ESTIMATE = ("value", "low", "high", "level", "method", "n", "n_unmeasured")
COMPARISON = ("baseline", "challenger", "difference", "low", "high", "p", "p_adjusted", "test", "verdict", "n")


def write_json(path: Path, value: Any) -> None:
    """A whole JSON file; NaN becomes null."""
    text = json.dumps(without_nan(value), ensure_ascii=False, indent=1, allow_nan=False)
    files.write(path, text + "\n")


def write_scores(path: Path, measurements: Measurements) -> None:
    """One long table over all notebooks of a run."""
    import pandas as pd

    tables = [measurements[name].scores.assign(notebook=name) for name in measurements.names()]
    filled = [table for table in tables if len(table)]
    empty = pd.DataFrame(columns=["notebook", *SCORE_COLUMNS])
    table = pd.concat(filled, ignore_index=True) if filled else empty
    columns = ["notebook", *(name for name in table.columns if name != "notebook")]
    files.write_by(path, lambda temporary: table[columns].to_parquet(temporary, index=False))


def summary(measurements: Measurements) -> dict[str, list[dict[str, Any]]]:
    """Every estimate and every comparison of a run, as plain values."""
    estimates: list[dict[str, Any]] = []
    comparisons: list[dict[str, Any]] = []
    for name in measurements.names():
        for e in measurements[name].estimates:
            row = asdict(e.estimate)
            estimates.append(
                {"notebook": name, "system": e.system, "metric": e.metric, **{k: row[k] for k in ESTIMATE}}
            )
        for c in measurements[name].comparisons:
            row = asdict(c.comparison)
            comparisons.append({"notebook": name, "metric": c.metric, **{k: row[k] for k in COMPARISON}})
    return {"estimates": estimates, "comparisons": comparisons}


def manifest(
    measurements: Measurements, parameters: Mapping[str, Any], notebooks: list[dict[str, Any]], **more: Any
) -> dict[str, Any]:
    """What was run, on which data, with which seeds, by which versions."""
    facts = {name: dict(measurements[name].facts) for name in measurements.names()}
    return {
        **more,
        "parameters": dict(parameters),
        "notebooks": notebooks,
        "data": {name: some for name, known in facts.items() if (some := _some(known, "dataset", "data_hash"))},
        "seeds": {name: known["seed"] for name, known in facts.items() if "seed" in known},
        "commit": next((known["commit"] for known in facts.values() if known.get("commit")), None),
        "versions": _versions(facts),
    }


def _some(known: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: known[key] for key in keys if key in known}


def _versions(facts: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # pragma: no cover - all are dependencies
            continue
    for known in facts.values():
        found |= {str(key): str(value) for key, value in known.get("versions", {}).items()}
    return dict(sorted(found.items()))
