"""`make calibrate`: simulate, write the table, and say where intervals and tests do not hold what they promise."""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import os
import time
from collections.abc import Iterable
from dataclasses import asdict, astuple, fields
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # one process a core is faster than many threads in each

from ragbench.show.about.calibration import is_stray  # noqa: E402
from tests.calibration import simulations, studies  # noqa: E402
from tests.calibration.simulations import Cell, Outcome  # noqa: E402

TABLE = Path(__file__).parents[2] / "notebooks" / "statistics_calibration.csv"
_work: list[Cell] = []
_simulations = 0


def run(place: int) -> list[Outcome]:
    """One cell, by its place in the work: populations hold functions, which do not travel between processes."""
    return _work[place](_simulations)


def write(rows: Iterable[Outcome], path: Path) -> None:
    """The table as CSV, four digits."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([field.name for field in fields(Outcome)])
        for row in rows:
            writer.writerow([f"{cell:.4f}" if isinstance(cell, float) else cell for cell in astuple(row)])


def strays(rows: Iterable[Outcome]) -> list[Outcome]:
    """What the page would list as outside of its promise, but for tests that are more careful than promised."""
    found = (row for row in rows if is_stray(asdict(row) | {"clusters": row.clusters or float("nan")}))
    return [row for row in found if row.nominal > 0.5 or row.observed > row.nominal]


def main() -> None:
    """Read the options, share the work among processes, write and report."""
    global _simulations
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=2000, help="simulations a cell")
    parser.add_argument("--only", default="", help="only cells whose name holds this text")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--output", type=Path, default=TABLE)
    options = parser.parse_args()
    _simulations = options.simulations
    _work.extend(cell for cell in (*simulations.cells(), *studies.cells()) if options.only in cell.name)
    began = time.monotonic()
    rows: list[Outcome] = []
    with multiprocessing.get_context("fork").Pool(options.processes) as pool:
        for done, found in enumerate(pool.imap(run, range(len(_work))), 1):
            rows += found
            if done % 20 == 0 or done == len(_work):
                print(f"{done} of {len(_work)} cells, {time.monotonic() - began:.0f} s", flush=True)
    write(rows, options.output)
    print(f"{len(rows)} rows in {options.output}; outside their promise:")
    for row in strays(rows):
        clusters = "" if row.clusters is None else f", {row.clusters} clusters, correlation {row.correlation}"
        print(f"  {row.part}: {row.population}, n = {row.n}{clusters}: {row.method} {row.observed:.3f} ({row.printed})")


if __name__ == "__main__":
    main()
