"""Overview: is it good, is it better, and which part fails first?

Nothing is measured here: the frames that the other pages of a run have kept are read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from ragbench.core.bands import choose_set, find_thresholds
from ragbench.core.errors import NotEnoughError
from ragbench.core.settings import Band, Settings
from ragbench.stats import Statement

RECORD = "page.json"  # beside the frames of a page, until the manifest has it


class Request(BaseModel):
    """What the numbers of a run are held to."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    language: Literal["", "en", "ru"] = Field("", description="of the page")
    threshold_set: str = Field("", description="of bands; empty: as in ragbench.toml")


@dataclass(frozen=True)
class OverviewStatement(Statement):
    """Estimates and comparisons of all pages, with column page; shares: of first failures.

    bands: estimates that have an interval and thresholds: good, excellent (NaN: no such band), and
    lowest and highest, the bands in which the interval begins and ends, as places in
    `ragbench.core.bands.LEVELS`.
    """

    bands: pd.DataFrame
    shares: pd.DataFrame


def read_run(request: Request, folder: Path, settings: Settings) -> OverviewStatement:
    """Read what the pages of a run have kept. Raises NotEnoughError where there is none yet."""
    if not any(folder.glob("frames/*")):
        raise NotEnoughError(f"{folder} has no page yet: the overview is made after the others")
    estimates = read_frames(folder, "estimates")
    bands = hold(estimates, choose_set(settings, request.threshold_set))
    comparisons, shares = read_frames(folder, "comparisons"), read_frames(folder, "shares")
    return OverviewStatement(estimates, comparisons, bands, shares)


def hold(estimates: pd.DataFrame, bands: Mapping[str, Band]) -> pd.DataFrame:
    """Hold every estimate against the thresholds of its metric; see OverviewStatement."""
    rows = []
    for row in estimates.to_dict("records"):
        found = find_thresholds(row["metric"], bands)
        if found is not None and not math.isnan(row["low"]):
            lowest, highest = sorted(found.level(row[end]) for end in ("low", "high"))
            excellent = math.nan if found.excellent is None else found.excellent
            ends = {"lowest": lowest, "highest": highest}
            rows.append({**row, "good": found.good, "excellent": excellent, **ends})
    return pd.DataFrame(
        rows, columns=[*estimates.columns, "good", "excellent", "lowest", "highest"]
    )


def read_frames(folder: Path, name: str) -> pd.DataFrame:
    """Return the frame of one name of all pages, with column page; empty where there is none."""
    parts = []
    files = folder.glob(f"frames/*/{name}.parquet")
    # Tiers first.
    for file in sorted(files, key=lambda path: ("tier" not in path.parent.name, path)):
        frame = pd.read_parquet(file)
        if len(frame):
            parts.append(frame.assign(page=file.parent.name))
    if not parts:
        return pd.DataFrame({"page": [], "system": [], "metric": []})
    return pd.concat(parts, ignore_index=True)


def read_records(folder: Path) -> list[Mapping[str, Any]]:
    """Return what the manifest says of every page that measures, or will."""
    manifest = folder / "manifest.json"
    pages = json.loads(manifest.read_text(encoding="utf-8"))["pages"] if manifest.is_file() else []
    for file in sorted(folder.glob(f"frames/*/{RECORD}")):
        pages.append(json.loads(file.read_text(encoding="utf-8")))
    return [page for page in pages if "about" in page]
