"""Runs over time as one measurement: every value with its interval, and what changed before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ragbench.old.extras.runs.views  # noqa: F401 - its views are asked for by name
from ragbench.old.core import answered_by, stand_ins
from ragbench.old.core.folders import new_folder
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import Measurement, NamedEstimate, columns
from ragbench.old.core.names import meant as near
from ragbench.old.core.types import BY_CONSTRUCTION, Estimate, IntervalNote
from ragbench.old.extras.runs.changes import changes
from ragbench.old.extras.runs.run_tables import ChangeRow, PointRow, RunFacts
from ragbench.old.metrics import meant
from ragbench.old.report.pages import sheets
from ragbench.old.store.run_records import RunRecord, RunValue
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.run.record import with_depths
from ragbench.old.views import Page

NAME = "history"
TOML = "ragbench.toml"


def history(
    records: Sequence[RunRecord],
    *,
    metrics: Sequence[str] = (),
    notebooks: Sequence[str] = (),
    systems: Sequence[str] = (),
) -> Measurement:
    """The runs, oldest first (what has no date first of all, by name), as a measurement with the tables of a history.

    Sections are the runs of a project on a data set; a run without a folder belongs to the only project there is.

    metrics, notebooks, systems: only these; without metrics the primary one of each notebook. Values are estimates
    placed at their `run` and `notebook`. Table "points": one row for each of them, in their order (`PointRow`); only
    values of one stretch are joined. Table "changes": what differs from the run before (`ChangeRow`).
    Raises BenchError where nothing is left to show.
    """
    import pandas as pd

    ordered = sorted(map(with_depths, records), key=lambda record: (_date(record), record.id))
    wanted = {record.id: list(_wanted(record, metrics, notebooks, systems)) for record in ordered}
    kept = [record for record in ordered if wanted[record.id]]
    if not kept:
        asked = ", ".join([*metrics, *notebooks, *systems])
        if asked and ordered:
            raise BenchError(f"no run has {asked}; {_there_is(ordered)}")
        raise BenchError("no run is kept yet: `ragbench run` makes one")
    sections = _sections(kept, wanted)
    points = [row for number, section in enumerate(sections) for row in _points(number, section)]
    marks = [
        (number, place, change.kind, change.title, *(value or "" for value in change.values))
        for number, section in enumerate(sections)
        for place in range(1, len(section.runs))
        for change in changes(section.runs[place - 1 : place + 1])
        if change.matters
    ]
    runs = [
        {
            "id": record.id,
            "name": record.name,
            "note": record.note,
            "started": _date(record),
            "origin": record.origin,
            "status": record.status,
            "stand_ins": {part.notebook: [each.fact for each in stand_ins.of(part.facts)] for part in record.parts},
        }
        for record in kept
    ]
    shown = {record.id: {value.notebook for value in wanted[record.id]} for record in kept}
    stood_in = {
        each: None
        for record in kept
        for value in wanted[record.id]
        if (part := record.part(value.notebook)) is not None
        for each in stand_ins.of(part.facts, value.system, value.metric)
    }
    known: RunFacts = {
        "runs": runs,
        "sections": [section.fact for section in sections],
        "stand_ins": [each.fact for each in stood_in],
        "answered_by": answered_by.of_runs(
            (record.name or record.id, [part.facts for part in record.parts if part.notebook in shown[record.id]])
            for record in kept
        ),
    }
    return Measurement(
        notebook=NAME,
        facts=known,
        placed=tuple(
            _estimate(record.id, value) for own in sections for record in own.runs for value in own.wanted[record.id]
        ),
        extra={
            "points": pd.DataFrame(points, columns=columns(PointRow)),
            "changes": pd.DataFrame(marks, columns=columns(ChangeRow)),
        },
    )


def rows(made: Measurement) -> list[dict[str, Any]]:
    """The points of a history with their numbers, as plain values; a count is the point's, NaN where nobody says."""
    points = zip(made.extra["points"].to_dict("records"), made.estimates_by("run", "notebook"), strict=True)
    return [{**estimate.summary(), **{str(key): item for key, item in row.items()}} for row, estimate in points]


def _estimate(run: str, value: RunValue) -> NamedEstimate:
    """A number as its run has it, at its place; of how many nobody knows is 0."""
    n, missing = value.n or 0, value.n_unmeasured or 0
    note: IntervalNote = BY_CONSTRUCTION if value.method == BY_CONSTRUCTION else ""
    method = "none" if note else value.method
    estimate = Estimate(value.value, value.low, value.high, value.level, method, n, missing, note=note)
    return NamedEstimate(value.system, value.metric, estimate, {"run": run, "notebook": value.notebook})


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


@dataclass(frozen=True)
class _Section:
    """The runs of a project on a data set, oldest first; wanted: the numbers of each that are shown, by its id."""

    project: str
    dataset: str
    runs: list[RunRecord]
    wanted: Mapping[str, Sequence[RunValue]]

    @property
    def fact(self) -> dict[str, Any]:
        """What a page needs of it: its name, its runs, and what gives systems their colours."""
        parts = [
            part
            for run in reversed(self.runs)
            for name in dict.fromkeys(value.notebook for value in self.wanted[run.id])
            if (part := run.part(name)) is not None
        ]
        listed: Sequence[str] = next(
            (part.facts["project_systems"] for part in parts if part.facts.get("project_systems")), []
        )
        shown = dict.fromkeys(value.system for run in self.runs for value in self.wanted[run.id])
        return {
            "project": self.project,
            "dataset": self.dataset,
            "runs": [run.id for run in self.runs],
            "systems": list(shown),
            "project_systems": list(listed),
            "baseline": next((part.baseline for part in parts if part.baseline), None),
        }


def project_of(record: RunRecord) -> Path | None:
    """The folder of the project that made a run: the nearest with a ragbench.toml, else where its folder lies.

    None for a run without a folder.
    """
    if record.folder is None:
        return None
    return next((each for each in record.folder.parents if (each / TOML).is_file()), record.folder.parent)


def of_projects(records: Sequence[RunRecord], names: Sequence[str]) -> list[RunRecord]:
    """The runs of the projects whose folders have these names. Raises BenchError for a name of none."""
    folders = {record.id: project_of(record) for record in records}
    known = sorted({folder.name for folder in folders.values() if folder is not None})
    if unknown := [name for name in names if name not in known]:
        raise BenchError(f"no run is of the project {unknown[0]!r}{near(unknown[0], known)}; legal: {', '.join(known)}")
    return [record for record in records if (folder := folders[record.id]) is not None and folder.name in names]


def _sections(kept: Sequence[RunRecord], wanted: Mapping[str, Sequence[RunValue]]) -> list[_Section]:
    """Project by project, data set by data set, those with the newest run first."""
    folders = {record.id: project_of(record) for record in kept}
    projects = list(dict.fromkeys(folder for folder in folders.values() if folder is not None))
    alone = projects[0] if len(projects) == 1 else None
    titles = {folder: folder.name for folder in projects}
    for name, count in Counter(titles.values()).items():
        if count > 1:  # two folders of one name: told apart by number, as no path stands on a page
            same = [folder for folder in projects if folder.name == name]
            titles |= {folder: f"{name} ({number})" for number, folder in enumerate(same, 1)}
    grouped: dict[tuple[str, str], dict[str, list[RunValue]]] = {}
    for record in kept:
        folder = folders[record.id] or alone
        for value in wanted[record.id]:
            part = record.part(value.notebook)
            dataset = (part.dataset if part is not None else None) or ""
            own = grouped.setdefault((titles[folder] if folder is not None else "", dataset), {})
            own.setdefault(record.id, []).append(value)
    made = [
        _Section(project, dataset, [record for record in kept if record.id in own], own)
        for (project, dataset), own in grouped.items()
    ]
    return sorted(made, key=lambda section: kept.index(section.runs[-1]), reverse=True)


def _points(number: int, section: _Section) -> Iterator[tuple[Any, ...]]:
    stretches: dict[tuple[str, str], tuple[Any, int]] = {}
    for place, record in enumerate(section.runs):
        for v in section.wanted[record.id]:
            part = record.part(v.notebook)
            corrected = part is not None and v.metric in (part.facts.get("corrected") or ())
            measured_on = (None if part is None else part.data_hash, v.unit, v.bounds, corrected)
            before, stretch = stretches.get((v.notebook, v.metric), (measured_on, 0))
            stretch += before != measured_on
            stretches[v.notebook, v.metric] = (measured_on, stretch)
            yield (
                number, place, record.id, _date(record), v.notebook, v.system, v.metric, v.n, v.n_unmeasured, v.better,
                stretch, v.comparable, v.reason,
                "" if part is None else stand_ins.judged_alone(part.facts).get(v.metric, ""),
            )  # fmt: skip


def _date(record: RunRecord) -> str:
    return "" if record.started is None else record.started.strftime("%Y-%m-%d %H:%M")


def write(made: Measurement, folder: Path, language: str) -> Path:
    """Write the page of a history into `folder`, which is replaced as a whole; its index is returned.

    Raises FileExistsError where the folder holds something else.
    """
    with new_folder(folder) as new:
        made.save(new / "parts" / NAME)
        draw(new, language)
    return folder / "index.html"


def draw(folder: Path, language: str) -> None:
    """Draw the page from what lies in its folder; the same bytes every time."""
    _ = translator(language)
    page = Page(Measurement.load(folder / "parts" / NAME), language=language)
    block = sheets.Block(sheets.views(page, "history"))
    html = sheets.html(_, _("How did the numbers go, run by run?"), [block], over=_("History"))
    sheets.write(folder, "index", html)
