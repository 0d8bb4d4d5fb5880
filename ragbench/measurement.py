"""What one notebook measured: the long score table, what was retrieved, and what follows from both.

Measuring is expensive and is stored; showing is cheap and reads what is stored: a measurement written to a folder and
read back is equal, and needs no database and no model.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragbench.types import Comparison, Estimate, Verdict

if TYPE_CHECKING:
    import pandas as pd

SCORE_COLUMNS = ("system", "metric", "sample", "value", "status", "reason", "judge")
RETRIEVED_COLUMNS = ("system", "sample", "rank", "chunk", "url", "similarity", "gain", "text")
QUESTION_COLUMNS = ("sample", "text", "reference", "kind", "language", "cluster", "answerable", "relevant")


@dataclass(frozen=True)
class NamedEstimate:
    """An estimate with the system and the metric it belongs to."""

    system: str
    metric: str
    estimate: Estimate


@dataclass(frozen=True)
class NamedComparison:
    """A comparison with its metric; baseline and challenger are named inside it."""

    metric: str
    comparison: Comparison


@dataclass(frozen=True)
class Measurement:
    """Everything a page may show.

    notebook: the notebook's name, which is the page's.
    facts: provenance and settings as plain JSON values: dataset, data_hash, unit, n_questions, seed, level,
        resamples, systems (a list of {name, description, ...}), baseline, stand_ins (names of offline stand-ins).
    scores: one row per system, metric and sample (SCORE_COLUMNS); value NaN where status is not "ok".
    questions: one row per sample (QUESTION_COLUMNS).
    retrieved: one row per system, sample and rank (RETRIEVED_COLUMNS).
    estimates, comparisons: what the statistics say of the scores, in the order in which a page shows them.
    """

    notebook: str
    facts: Mapping[str, Any]
    scores: pd.DataFrame
    questions: pd.DataFrame
    retrieved: pd.DataFrame
    estimates: tuple[NamedEstimate, ...] = ()
    comparisons: tuple[NamedComparison, ...] = ()
    extra: Mapping[str, pd.DataFrame] = field(default_factory=dict)

    def save(self, folder: Path) -> None:
        """Write the measurement into `folder` (made if need be) as Parquet tables and one JSON file."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("scores", "questions", "retrieved"):
            getattr(self, name).to_parquet(folder / f"{name}.parquet", index=False)
        for name, table in self.extra.items():
            table.to_parquet(folder / f"extra-{name}.parquet", index=False)
        findings = {
            "notebook": self.notebook,
            "facts": dict(self.facts),
            "estimates": [{"system": e.system, "metric": e.metric, **asdict(e.estimate)} for e in self.estimates],
            "comparisons": [{"metric": c.metric, **asdict(c.comparison)} for c in self.comparisons],
        }
        text = json.dumps(without_nan(findings), ensure_ascii=False, indent=1, allow_nan=False)
        # last and at once: a measurement with findings is whole, also after a kill in the middle of saving
        unnamed = folder / f".findings.json-{os.getpid()}"
        try:
            unnamed.write_text(text + "\n", encoding="utf-8")
            unnamed.replace(folder / "findings.json")
        finally:
            unnamed.unlink(missing_ok=True)

    @classmethod
    def load(cls, folder: Path) -> Measurement:
        """Read what `save` wrote."""
        import pandas as pd

        findings = json.loads((folder / "findings.json").read_text(encoding="utf-8"))
        tables = {name: pd.read_parquet(folder / f"{name}.parquet") for name in ("scores", "questions", "retrieved")}
        extra = {
            path.stem.removeprefix("extra-"): pd.read_parquet(path) for path in sorted(folder.glob("extra-*.parquet"))
        }
        return cls(
            notebook=findings["notebook"],
            facts=findings["facts"],
            estimates=tuple(_estimate(row) for row in findings["estimates"]),
            comparisons=tuple(_comparison(row) for row in findings["comparisons"]),
            extra=extra,
            **tables,
        )


def without_nan(value: Any) -> Any:
    """The same JSON value with None for every NaN or infinity, and plain lists and dicts for tuples and mappings."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    return value


def _estimate(row: dict[str, Any]) -> NamedEstimate:
    known = {f.name for f in fields(Estimate)}
    inner = {key: item for key, item in row.items() if key in known}
    inner["value"] = math.nan if inner["value"] is None else inner["value"]
    inner["intervals"] = {key: tuple(item) for key, item in inner["intervals"].items()}
    return NamedEstimate(row["system"], row["metric"], Estimate(**inner))


def _comparison(row: dict[str, Any]) -> NamedComparison:
    known = {f.name for f in fields(Comparison)}
    inner = {key: item for key, item in row.items() if key in known}
    for name in ("difference", "low", "high", "p", "effect_size"):
        inner[name] = math.nan if inner[name] is None else inner[name]
    inner["verdict"] = Verdict(inner["verdict"])
    return NamedComparison(row["metric"], Comparison(**inner))
