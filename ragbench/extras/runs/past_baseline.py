"""The numbers of version 1 that a result file of another benchmark was set against, as a run of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ragbench.extras.runs.foreign_runs import Result
from ragbench.extras.runs.past_runs import RETRIEVAL, interval, mixed
from ragbench.metrics import declaration
from ragbench.store.run_records import RunPart, RunRecord, RunValue
from ragbench.tiers.basics.choices import BenchError
from ragbench.tiers.run.record import told

RESULT = "result"
"""Where such a run comes from."""
DIGITS = 4
"""As many as such files keep."""


def baseline_run(read: Result, file: str, system: str, name: str) -> tuple[list[RunRecord], list[str]]:
    """The numbers of version 1 in a result file as a run, and what a reader must know of them; no run without a name.

    They are of as many questions as the file's data set has where their hit rates are whole counts of so many, and get
    Wilson's intervals; the file says nothing of it. They look as deep as the file. Not compared is what mixes two
    units, and what may be of another unit than a file that ranks chunks. Raises BenchError for a file without them, and
    for the name of the run itself.
    """
    numbers = {row.metric: row.v1_naive_rag for row in read.comparison_v1_v2}
    if not name:
        told_of = f"{file} was set against {len(numbers)} numbers of version 1: --baseline NAME makes them a run, too"
        return [], [told_of] if numbers else []
    if not numbers:
        raise BenchError(f"{file} has no comparison_v1_v2, so no numbers of version 1: leave --baseline out")
    if name == system:
        raise BenchError(f"--baseline {name}: this is the name of the run itself; another one is expected")
    n = _whole(numbers, read.benchmark_metadata.dataset_size)
    why = mixed(numbers) or ("" if read.unit == "url" else "unknown_unit")
    values = []
    for label, value in numbers.items():
        metric = declaration(label)
        low, high = interval(metric, value, n)
        made = RunValue(
            RETRIEVAL, name, label if metric is None else metric.label, value, low, high,
            method="none" if low is None else "wilson", n=n, unit=read.unit, **told(metric),
        ).checked()  # fmt: skip
        values.append(replace(made, comparable=False, reason=why) if why and made.comparable else made)
    deep = read.benchmark_metadata.top_k
    part = RunPart(
        RETRIEVAL,
        unit=read.unit,
        systems=(name,),
        baseline=name,
        facts={"k": deep} if deep else {},
    )
    run = RunRecord(id=name, origin=RESULT, manifest={"comparison_v1_v2": numbers}, parts=(part,), values=tuple(values))
    notes = {
        "mixed_units": f"{name}: a hit rate below the recall: chunks and pages are mixed, so it is not compared",
        "unknown_unit": f"{name}: the file ranks chunks, and its numbers of version 1 may rank pages: not compared",
        "": f"{name}: shares of {n} questions, as its hit rates are whole counts of so many"
        if n
        else f"{name}: of how many questions is not known, so it has no intervals",
    }
    return [run], [notes[why]]


def _whole(numbers: Mapping[str, float], n: int | None) -> int | None:
    """`n` where every hit rate is a whole count of so many questions, as far as its digits tell; else None."""
    hits = [value * n for label, value in numbers.items() if n and label.startswith("hit_rate")]
    slack = 0.6 * 10**-DIGITS * (n or 0)
    whole = bool(hits) and slack < 0.25 and all(abs(count - round(count)) <= slack for count in hits)
    return n if whole else None
