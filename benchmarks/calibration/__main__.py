"""`make calibrate`: simulate every situation, write the table, and say where something does not hold."""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # one process a core is faster than many threads in each

from benchmarks.calibration.cells import Cell, Row  # noqa: E402
from benchmarks.calibration.promises import outside, worst  # noqa: E402
from benchmarks.calibration.situations import cells  # noqa: E402

TABLE = Path(__file__).with_name("table.csv")
_work: list[Cell] = []
_simulations = 0


def run(place: int) -> tuple[int, Row]:
    """One cell, by its place in the work: studies hold functions, which do not travel between processes."""
    return place, _work[place](_simulations)


def write(rows: Iterable[Row], path: Path) -> None:
    """The table as CSV, four digits; whole or not at all."""
    started = path.with_suffix(".new")
    with started.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([field.name for field in fields(Row)])
        for row in rows:
            writer.writerow([f"{cell:.4f}" if isinstance(cell, float) else cell for cell in asdict(row).values()])
    started.replace(path)


def read(path: Path) -> dict[tuple[str, ...], Row]:
    """The rows of a table by topic, cell, n, clusters and simulations; none where there is no table of such columns."""
    found = {}
    for line in _lines(path):
        texts = {"topic": line["topic"], "cell": line["cell"], "textbook": line["textbook"]}
        counts = {name: int(line[name]) if line[name] else None for name in ("n", "clusters", "simulations")}
        shares = {name: float(value) if value else None for name, value in line.items() if name not in texts | counts}
        row = Row(**texts, **counts, **shares)  # type: ignore[arg-type]
        found[known_by(row)] = row
    return found


def _lines(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    return lines if lines and list(lines[0]) == [field.name for field in fields(Row)] else []


def known_by(row: Row) -> tuple[str, ...]:
    return tuple(str(part) for part in (row.topic, row.cell, row.n, row.clusters, row.simulations))


def simulate(work: Sequence[Cell], simulations: int, processes: int, output: Path, resume: bool) -> list[Row]:
    """Every cell's row in their order; written after each, so that what is done outlives an interruption."""
    global _simulations
    _simulations = simulations
    _work[:] = work
    kept = read(output.with_suffix(".part")) if resume else {}
    wanted = [
        tuple(str(part) for part in (one.topic, one.name, one.n, one.clusters, one.number(simulations))) for one in work
    ]
    rows = {place: kept[key] for place, key in enumerate(wanted) if key in kept}
    began = time.monotonic()
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        for place, row in pool.imap_unordered(run, [place for place in range(len(work)) if place not in rows]):
            rows[place] = row
            write([rows[place] for place in sorted(rows)], output.with_suffix(".part"))
            print(f"{len(rows)} of {len(work)}, {time.monotonic() - began:.0f} s: {work[place].key}", flush=True)
    done = [rows[place] for place in sorted(rows)]
    write(done, output)
    output.with_suffix(".part").unlink(missing_ok=True)
    return done


def merged(known: Iterable[Row], new: Iterable[Row]) -> list[Row]:
    """The rows of both, in the order of the situations; of those that no situation is left for, none."""
    by_cell = {(row.topic, row.cell, row.n, row.clusters): row for row in (*known, *new)}
    places = ((cell.topic, cell.name, cell.n, cell.clusters) for cell in cells())
    return [by_cell[place] for place in places if place in by_cell]


def main() -> None:
    """Read the options, share the work among processes, write and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=4000, help="simulations of a cell of weight 1")
    parser.add_argument(
        "--only", action="append", help="only cells whose topic, name or size holds this text; may be given repeatedly"
    )
    parser.add_argument("--merge", action="store_true", help="keep the rows of the table that are not simulated now")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--output", type=Path, default=TABLE)
    parser.add_argument("--resume", action="store_true", help="go on where an interrupted run of this code stopped")
    options = parser.parse_args()
    work = [cell for cell in cells() if not options.only or any(text in cell.key for text in options.only)]
    known = read(options.output) if options.merge else {}
    rows = simulate(work, options.simulations, options.processes, options.output, options.resume)
    if options.merge:
        write(merged(known.values(), rows), options.output)
    found = [asdict(row) for row in rows]
    print(f"{len(rows)} rows in {options.output}")
    if (far := worst(found)) is not None:
        print(f"worst: {far}")
    for row in found:
        for quantity in outside(row):
            print(f"outside: {row['topic']}: {row['cell']}, n = {row['n']}: {quantity} {row[quantity]:.3f}")


if __name__ == "__main__":
    main()
