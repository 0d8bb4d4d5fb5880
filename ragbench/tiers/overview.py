"""Overview: is it good, is it better, and which part fails first?

Nothing is measured here: the frames that the other pages of a run have kept are read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from ragbench.core.bands import choose_set, find_thresholds
from ragbench.core.errors import NotEnoughError
from ragbench.core.settings import Settings
from ragbench.stats import Statement
from ragbench.tiers.common import About

NAME = "overview"
RECORD = "page.json"  # beside the frames of a page, until the manifest has it


class Request(BaseModel):
    """What the numbers of a run are held to."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    language: Literal["", "en", "ru"] = Field("", description="of the page")
    threshold_set: str = Field("", description="of bands; empty: as in ragbench.toml")


@dataclass(frozen=True)
class Frames:
    """What the pages of a run say: estimates and comparisons with their page, shares of first
    failures, and thresholds: metric, good, excellent (NaN: no such band), is_lower_better.
    """

    estimates: pd.DataFrame
    comparisons: pd.DataFrame
    shares: pd.DataFrame
    thresholds: pd.DataFrame


@dataclass(frozen=True)
class OverviewStatement(Statement):
    """bands: estimates that have thresholds, with lowest and highest: the bands in which their
    interval begins and ends, as places in `ragbench.core.bands.LEVELS`. shares: as in Frames.
    """

    bands: pd.DataFrame
    shares: pd.DataFrame


def read_run(request: Request, folder: Path, settings: Settings) -> tuple[Frames, About]:
    """Read what the pages of a run have kept. Raises NotEnoughError where there is none yet."""
    records = read_records(folder)
    if not records:
        raise NotEnoughError(f"{folder} has no page yet: the overview is made after the others")
    estimates = read_frames(folder, "estimates")
    bands = choose_set(settings, request.threshold_set)
    rows = []
    for label in estimates["metric"].unique():
        found = find_thresholds(label, bands)
        if found is not None:
            excellent = np.nan if found.excellent is None else found.excellent
            rows.append((label, found.good, excellent, found.is_lower_better))
    columns = ["metric", "good", "excellent", "is_lower_better"]
    frames = Frames(
        estimates,
        read_frames(folder, "comparisons"),
        read_frames(folder, "shares"),
        pd.DataFrame(rows, columns=columns),
    )
    return frames, join_records(records)


def read_frames(folder: Path, name: str) -> pd.DataFrame:
    """Return the frame of one name of all pages, with column page; empty where there is none."""
    parts = []
    files = folder.glob(f"frames/*/{name}.parquet")
    # Tiers first.
    for file in sorted(files, key=lambda path: ("tier" not in path.parent.name, path)):
        frame = pd.read_parquet(file)
        if len(frame) and file.parent.name != NAME:
            parts.append(frame.assign(page=file.parent.name))
    if not parts:
        return pd.DataFrame({"page": [], "system": [], "metric": []})
    return pd.concat(parts, ignore_index=True)


def read_records(folder: Path) -> dict[str, Mapping[str, Any]]:
    """Return by page what the manifest says of it, or will."""
    records: dict[str, Mapping[str, Any]] = {}
    manifest = folder / "manifest.json"
    if manifest.is_file():
        pages = json.loads(manifest.read_text(encoding="utf-8"))["pages"]
        records |= {page["name"]: page for page in pages if "about" in page}
    for file in sorted(folder.glob(f"frames/*/{RECORD}")):
        records[file.parent.name] = json.loads(file.read_text(encoding="utf-8"))
    records.pop(NAME, None)
    return records


def join_records(records: Mapping[str, Mapping[str, Any]]) -> About:
    """Say of the run what its pages say of themselves."""
    abouts = [record["about"] for record in records.values()]
    datasets = dict.fromkeys(about["dataset"] for about in abouts)
    systems = {name: text for about in abouts for name, text in about["systems"].items()}
    stand_ins = dict.fromkeys(name for about in abouts for name in about["stand_ins"])
    return About(", ".join(datasets), systems=systems, stand_ins=tuple(stand_ins))


def state(request: Request, frames: Frames) -> OverviewStatement:
    """Hold every estimate against the thresholds of its metric: a pure function of the frames."""
    held = frames.estimates.merge(frames.thresholds, on="metric")
    sign = np.where(held["is_lower_better"].astype(bool), -1.0, 1.0)
    ends = []
    for end in ("low", "high"):
        value = sign * held[end]
        # Excellent is above its threshold, good begins at its own.
        level = (value >= sign * held["good"]).astype(int)
        ends.append(level.mask(value > sign * held["excellent"], 2))
    lowest, highest = np.minimum(*ends), np.maximum(*ends)
    bands = held.assign(lowest=lowest, highest=highest)
    # Without an interval no band is stated.
    bands = bands[bands["low"].notna()].reset_index(drop=True)
    return OverviewStatement(frames.estimates, frames.comparisons, bands, frames.shares)
