"""Find a run's folder, and read the numbers that it keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any

import pandas as pd

from ragbench.core.errors import BenchError
from ragbench.core.settings import Settings
from ragbench.report.manifest import MANIFEST, SUMMARY, read_json


@dataclass(frozen=True)
class Finished:
    """A finished run: its folder, all estimates and comparisons with their page, its manifest."""

    folder: Path
    estimates: pd.DataFrame
    comparisons: pd.DataFrame
    manifest: Mapping[str, Any]


def find_run(name: str, settings: Settings) -> Path:
    """Return the folder of a run: a path, `latest`, or the beginning of a name below reports/.

    Raises BenchError where none or several are meant.
    """
    reports = settings.path(settings.reports_folder)
    for folder in (Path(name), reports / name):
        if (folder / SUMMARY).is_file():
            return folder.resolve()
    names = sorted({path.parent.name for path in reports.glob(f"*/{SUMMARY}")} - {"latest"})
    matching = [other for other in names if other.startswith(name)]
    if len(matching) == 1:
        return (reports / matching[0]).resolve()
    if len(matching) > 1:
        raise BenchError(f"{name!r} may be {', '.join(matching)}: write more of the name")
    there = f"there are {', '.join(names[-5:])}" if names else "there are none; `ragbench run`"
    raise BenchError(f"there is no run {name!r} in {reports}; {there}")


def read_run(folder: Path) -> Finished:
    """Read the numbers of a run. Raises BenchError for a folder that is damaged."""
    try:
        summary = read_json(folder / SUMMARY)
        manifest = read_json(folder / MANIFEST)
        estimates = pd.DataFrame(summary["estimates"]).fillna(nan)
        comparisons = pd.DataFrame(summary["comparisons"]).fillna(nan)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BenchError(f"{folder} is no whole run: {error}") from None
    return Finished(folder, estimates, comparisons, manifest)
