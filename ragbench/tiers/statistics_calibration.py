"""How intervals and tests behaved in simulations: the table that `make calibrate` writes, as a measurement."""

from __future__ import annotations

import io
from pathlib import Path

from pydantic import Field

from ragbench.core import folders
from ragbench.core.measurement import Measurement
from ragbench.tiers.basics import requests
from ragbench.tiers.basics.choices import BenchError
from ragbench.tiers.basics.requests import Request, tier
from ragbench.tiers.basics.session import commit, versions

COLUMNS = (
    "topic", "cell", "n", "clusters", "simulations", "coverage", "level", "family", "power", "unwarned", "textbook",
    "textbook_coverage", "textbook_level", "textbook_family", "textbook_power",
)  # fmt: skip


class CalibrationRequest(Request):
    """Which table of simulations is read."""

    table: str = Field(
        "",
        description="CSV file that `make calibrate` wrote, from the project's folder; empty: the one beside this "
        "notebook",
    )
    seed: requests.Seed = Field(0, description="every page has one; the simulations have their own")
    language: requests.Language = "en"
    notebook: str = "statistics_calibration"


@tier(CalibrationRequest)
def statistics_calibration(request: CalibrationRequest) -> Measurement:
    """The table of simulations: one row a situation, with how often intervals and tests were right in it.

    The rows are the extra table "calibration". Raises BenchError where there is no such table, or it lacks a column.
    """
    import pandas as pd

    from ragbench.core import settings
    from ragbench.data import places

    folder = settings.project_folder()
    beside = f"{request.notebook}.csv"
    path = folder / request.table if request.table else places.notebook(beside) or places.own_notebooks() / beside
    if not path.is_file():
        raise BenchError(f"there is no table of simulations at {_named(path, folder)}: run `make calibrate`")
    try:
        frame = pd.read_csv(io.StringIO(folders.text(path)), keep_default_na=False, na_values=["", "nan"])
    except ValueError as error:
        raise BenchError(f"{_named(path, folder)} is no table of simulations: {error}") from None
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        raise BenchError(
            f"{_named(path, folder)} lacks the columns {', '.join(missing)}: run `make calibrate`, which writes it"
        )
    facts = {
        "n_simulations": int(frame["simulations"].min()) if len(frame) else 0,
        "n_rows": len(frame),
        "seed": request.seed,
        "systems": [],
        "versions": versions(),
        "commit": commit(),
    }
    table = frame[list(COLUMNS)].astype({"topic": str, "cell": str}).fillna({"textbook": ""})
    return Measurement(request.notebook, facts, extra={"calibration": table})


def _named(path: Path, folder: Path) -> str:
    """The path as people know it: from the project's folder."""
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else path.name
