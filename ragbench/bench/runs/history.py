"""Runs over time as one measurement: every value with its interval, and what changed before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragbench import stand_ins
from ragbench.bench.basics.session import BenchError
from ragbench.bench.runs.changes import changes
from ragbench.bench.runs.record import with_depths
from ragbench.measurement import Measurement, NamedEstimate
from ragbench.metrics import meant
from ragbench.store.records import RunRecord, RunValue
from ragbench.types import Estimate

NAME = "history"
POINTS = (
    "place", "run", "started", "notebook", "system", "metric", "n", "n_unmeasured", "better", "stretch", "comparable",
    "reason",
)  # fmt: skip
CHANGES = ("place", "kind", "name", "before", "after")
SHOWN_CHANGES = ("code", "data", "models", "prompts")


def history(
    records: Sequence[RunRecord],
    *,
    metrics: Sequence[str] = (),
    notebooks: Sequence[str] = (),
    systems: Sequence[str] = (),
) -> Measurement:
    """The runs, oldest first (what has no date first of all, by name), as a measurement with the tables of a history.

    metrics, notebooks, systems: only these; without metrics the primary one of each notebook. Values are estimates
    placed at their `run` and `notebook`. Table "points": one row for each of them, in their order (POINTS); `place`
    counts runs from 0; `n` and `n_unmeasured` are NaN where nobody says; `stretch` goes up where the data, the unit or
    the scale is another than before: only values of one stretch are joined. Table "changes": what differs from the run
    before (CHANGES). Raises BenchError where nothing is left to show.
    """
    import pandas as pd

    ordered = sorted(map(with_depths, records), key=lambda one: (_date(one), one.id))
    wanted = {record.id: list(_wanted(record, metrics, notebooks, systems)) for record in ordered}
    kept = [record for record in ordered if wanted[record.id]]
    if not kept:
        asked = ", ".join([*metrics, *notebooks, *systems])
        if asked and ordered:
            raise BenchError(f"no run has {asked}; {_there_is(ordered)}")
        raise BenchError("no run is kept yet: `ragbench run` makes one")
    points = list(_points(kept, wanted))
    marks = [
        (place, one.kind, one.title, *(value or "" for value in one.values))
        for place in range(1, len(kept))
        for one in changes(kept[place - 1 : place + 1])
        if one.kind in SHOWN_CHANGES
    ]
    runs = [
        {
            "id": one.id, "started": _date(one), "origin": one.origin, "status": one.status,
            "stand_ins": {part.notebook: [each.fact for each in stand_ins.of(part.facts)] for part in one.parts},
        }
        for one in kept
    ]  # fmt: skip
    stood_in = {
        each: None
        for record in kept
        for value in wanted[record.id]
        if (part := record.part(value.notebook)) is not None
        for each in stand_ins.of(part.facts, value.system, value.metric)
    }
    return Measurement(
        notebook=NAME,
        facts={"runs": runs, "stand_ins": [each.fact for each in stood_in]},
        placed=tuple(_estimate(record.id, value) for record in kept for value in wanted[record.id]),
        extra={
            "points": pd.DataFrame(points, columns=list(POINTS)),
            "changes": pd.DataFrame(marks, columns=list(CHANGES)),
        },
    )


def rows(made: Measurement) -> list[dict[str, Any]]:
    """The points of a history with their numbers, as plain values; a count is the point's, NaN where nobody says."""
    points = zip(made.extra["points"].to_dict("records"), made.estimates_by("run", "notebook"), strict=True)
    return [{**one.summary(), **{str(key): item for key, item in row.items()}} for row, one in points]


def _estimate(run: str, value: RunValue) -> NamedEstimate:
    """A number as its run has it, at its place; of how many nobody knows is 0."""
    n, missing = value.n or 0, value.n_unmeasured or 0
    one = Estimate(value.value, value.low, value.high, value.level, value.method, n, missing)
    return NamedEstimate(value.system, value.metric, one, {"run": run, "notebook": value.notebook})


def _there_is(records: Sequence[RunRecord]) -> str:
    """What can be asked for, of what the runs have."""
    values = [value for record in records for value in record.values]
    kinds = {
        "metrics": sorted({value.metric for value in values}),
        "notebooks": sorted({value.notebook for value in values}),
        "systems": sorted({value.system for value in values}),
    }
    return "; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items())


def _wanted(
    record: RunRecord, metrics: Sequence[str], notebooks: Sequence[str], systems: Sequence[str]
) -> Iterator[RunValue]:
    primary = {part.notebook: part.facts.get("primary") for part in record.parts}
    for notebook in dict.fromkeys(value.notebook for value in record.values):
        own = [value for value in record.values if value.notebook == notebook]
        labels = [value.metric for value in own]
        shown = {label for name in metrics or (primary.get(notebook) or labels[0],) for label in meant(name, labels)}
        for value in own:
            named = not notebooks or notebook in notebooks
            if value.metric in shown and named and (not systems or value.system in systems):
                yield value


def _points(records: Sequence[RunRecord], wanted: Mapping[str, Sequence[RunValue]]) -> Iterator[tuple[Any, ...]]:
    stretches: dict[tuple[str, str], tuple[Any, int]] = {}
    for place, record in enumerate(records):
        for v in wanted[record.id]:
            part = record.part(v.notebook)
            corrected = part is not None and v.metric in (part.facts.get("corrected") or ())
            measured_on = (None if part is None else part.data_hash, v.unit, v.bounds, corrected)
            before, number = stretches.get((v.notebook, v.metric), (measured_on, 0))
            number += before != measured_on
            stretches[v.notebook, v.metric] = (measured_on, number)
            yield (
                place, record.id, _date(record), v.notebook, v.system, v.metric, v.n, v.n_unmeasured, v.better, number,
                v.comparable, v.reason,
            )  # fmt: skip


def _date(record: RunRecord) -> str:
    return "" if record.started is None else record.started.strftime("%Y-%m-%d %H:%M")
