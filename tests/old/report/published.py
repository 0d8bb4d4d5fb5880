"""What a published run holds, and whether numbers are the ones that stand there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ragbench.old.core.measurement import Finding, Measurement, NamedEstimate
from ragbench.old.core.types import Comparison, Estimate
from ragbench.old.report import exports
from ragbench.old.report.keeping import results
from ragbench.old.report.pages.notebook_pages import Measurements
from tests.old.report import kept_runs

OF_ESTIMATES = ("value", "low", "high", "n", "n_unmeasured", "method", "floor", "ceiling", "note", "clusters")
OF_COMPARISONS = (
    "difference", "low", "high", "p", "p_adjusted", "least", "most", "p_worst", "verdict", "withheld", "n", "n_dropped",
    "error", "method", "test",
)  # fmt: skip


def site_of(folder: Path, made: Measurement) -> Path:
    """The folder of tables of the measurement's run, as they are published."""
    run, tables = kept_runs.make(folder / "reports", "one", made), folder / "site" / "data"
    kept = Measurements(run)
    exports.write_tables(tables, {name: kept[name] for name in kept.names()})
    shutil.copy(run / results.MANIFEST, tables)
    return tables


def same(recomputed: object, published: object, tolerance: float = 1e-12) -> bool:
    """Equal to the last digits that a file keeps; nothing is nothing."""
    lacking = [value is None or value == "" or value != value for value in (recomputed, published)]
    if any(lacking):
        return all(lacking)
    if isinstance(recomputed, int | float):
        return recomputed == pytest.approx(published, rel=tolerance, abs=1e-15)
    return str(recomputed) == str(published)


@dataclass(frozen=True)
class Published:
    """The tables of a run, and with what its numbers were made."""

    folder: Path

    def __getitem__(self, name: str) -> pd.DataFrame:
        read = pd.read_csv(self.folder / f"{name}.csv")
        assert len(pd.read_parquet(self.folder / f"{name}.parquet")) == len(read)
        return read

    @property
    def how(self) -> dict[str, Any]:
        """What the manifest tells of the statistics of its one page."""
        manifest = json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))
        [how] = manifest["statistics"].values()
        return dict(how)

    @property
    def sure(self) -> dict[str, Any]:
        return {name: self.how[name] for name in ("level", "resamples", "seed") if name in self.how}

    def holds(self, findings: Iterable[Finding], tolerance: float = 1e-12) -> int:
        """How many there are: they have to be the very findings that stand there, each with the same numbers."""
        kept: dict[tuple[str, ...], dict[str, Any]] = {}
        for name in ("estimates", "comparisons", "placed_estimates", "placed_comparisons"):
            if (self.folder / f"{name}.csv").is_file():
                kept |= {_place(row): row for row in self[name].to_dict("records")}
        again: dict[tuple[str, ...], Estimate | Comparison] = {}
        for one in findings:
            told = {"metric": one.metric, "where": json.dumps(dict(one.where), ensure_ascii=False, sort_keys=True)}
            made = one.estimate if isinstance(one, NamedEstimate) else one.comparison
            sides = {"system": one.system} if isinstance(one, NamedEstimate) else {
                "baseline": one.comparison.baseline, "challenger": one.comparison.challenger}  # fmt: skip
            again[_place({**told, **sides})] = made
        assert again.keys() == kept.keys()
        for place, made in again.items():
            for key in OF_ESTIMATES if isinstance(made, Estimate) else OF_COMPARISONS:
                assert same(getattr(made, key), kept[place][key], tolerance), (place, key, made, kept[place][key])
        return len(again)


def _place(row: dict[Any, Any]) -> tuple[str, ...]:
    where = row.get("where")
    told = [row.get(name) for name in ("system", "baseline", "challenger", "metric")]
    return (*("" if one is None or one != one else str(one) for one in told), str(where) if where else "{}")
