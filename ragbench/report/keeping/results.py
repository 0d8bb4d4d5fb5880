"""A run's numbers as files: the score table, the summary, the manifest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ragbench import answered_by, stand_ins
from ragbench.bench.basics.session import versions
from ragbench.language import translator
from ragbench.measurement import SCORE_COLUMNS, Measurement, estimate_row, without_nan, write_table
from ragbench.metrics import published
from ragbench.report.keeping import files
from ragbench.report.pages.assembly import Measurements
from ragbench.settings import secrets

FORMAT = 1
SUMMARY, SCORES, MANIFEST = "summary.json", "scores.parquet", "manifest.json"
PACKAGES = ("numpy", "scipy", "pandas", "plotly", "papermill", "nbconvert")
COMPARISON = (
    "baseline", "challenger", "difference", "low", "high", "p", "p_adjusted", "test", "verdict", "n", "clusters",
    "minimum_detectable", "groups_needed",
)  # fmt: skip


def write_json(path: Path, value: Any) -> None:
    """A whole JSON file without secrets; NaN becomes null."""
    known = without_nan(secrets.masked(value, secrets.exact_masker()))
    text = json.dumps(known, ensure_ascii=False, indent=1, allow_nan=False)
    files.write(path, text + "\n")


def write_scores(path: Path, measurements: Measurements) -> None:
    """One long table over all notebooks of a run."""
    import pandas as pd

    tables = [measurements[name].scores.assign(notebook=name) for name in measurements.names()]
    filled = [table for table in tables if len(table)]
    empty = pd.DataFrame(columns=["notebook", *SCORE_COLUMNS])
    table = pd.concat(filled, ignore_index=True) if filled else empty
    columns = ["notebook", *(name for name in table.columns if name != "notebook")]
    write_table(path, table[columns])


def stood_in(measurements: Mapping[str, Measurement]) -> dict[str, Any]:
    """`stand_ins` and `caveats` by notebook, of those where something only stands in for a model."""
    by_name = {name: stand_ins.of(measurements[name].facts) for name in measurements}
    return {
        "stand_ins": {name: [one.fact for one in found] for name, found in by_name.items() if found},
        "caveats": {name: stand_ins.caveat(found, translator("en")) for name, found in by_name.items() if found},
    }


def answered(measurements: Mapping[str, Measurement]) -> dict[str, Any]:
    """`answered_by` by notebook: the models that were asked, and which their replies name; see
    `ragbench.answered_by.AnsweredBy`. Only of notebooks with replies that name one."""
    found = {name: answered_by.of(measurements[name].facts) for name in measurements}
    return {"answered_by": {name: [one.fact for one in some] for name, some in found.items() if some}}


def summary(measurements: Measurements) -> dict[str, Any]:
    """Every estimate and every comparison of a run, as plain values, and what stood in for a model.

    `published` is the metric's name elsewhere.
    """
    estimates: list[dict[str, Any]] = []
    comparisons: list[dict[str, Any]] = []
    for name in measurements.names():
        for e in measurements[name].estimates:
            named = {"notebook": name, "system": e.system, "metric": e.metric, "published": published(e.metric)}
            estimates.append(named | estimate_row(e.estimate))
        for c in measurements[name].comparisons:
            row = asdict(c.comparison)
            named = {"notebook": name, "metric": c.metric, "published": published(c.metric)}
            comparisons.append(named | {k: row[k] for k in COMPARISON})
    said = {**stood_in(_by_name(measurements)), **answered(_by_name(measurements))}
    return {"estimates": estimates, "comparisons": comparisons, **said}


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
        **stood_in(_by_name(measurements)),
        **answered(_by_name(measurements)),
        "commit": next((known["commit"] for known in facts.values() if known.get("commit")), None),
        "versions": _versions(facts),
    }


def _by_name(measurements: Measurements) -> dict[str, Measurement]:
    return {name: measurements[name] for name in measurements.names()}


def _some(known: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: known[key] for key in keys if key in known}


def _versions(facts: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    found = versions(PACKAGES)
    for known in facts.values():
        found |= {str(key): str(value) for key, value in known.get("versions", {}).items()}
    return dict(sorted(found.items()))
