"""People's labels on some of a page's answers, and its judged means corrected by them."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, field_validator

from ragbench.old import stats
from ragbench.old.core.measurement import Finding, Measurement, NamedComparison, NamedEstimate, columns, write_table
from ragbench.old.core.metric import Metric
from ragbench.old.core.settings import urls
from ragbench.old.core.types import Array, Better, Comparison, Estimate, Verdict
from ragbench.old.data import DatasetError, places
from ragbench.old.data.cells import plain
from ragbench.old.data.columns import Columns
from ragbench.old.data.records import checked
from ragbench.old.data.rows import read_rows
from ragbench.old.data.samples import streamed
from ragbench.old.metrics import catalogue
from ragbench.old.tiers.basics import findings
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.findings import bounds
from ragbench.old.tiers.basics.session import part

if TYPE_CHECKING:
    import pandas as pd


class CorrectedRow(TypedDict):
    """Of a labelled mean: how many scores of the judge, their correlation with people's labels on the same answers,
    how many people labelled, and Krippendorff's α among them; NaN where there is none."""

    system: str
    metric: str
    items: int
    correlation: float
    annotators: int
    alpha: float


@dataclass(frozen=True)
class Corrections:
    """findings: each labelled mean as the judge, people, and both together see it (`mean` in their place is "judge",
    "people", "corrected"), and differences of corrected means; n counts labels, of the judge's mean scores.
    labels: a CorrectedRow a labelled mean. people: a row a labelled answer and metric: system, metric, sample,
    label (the mean of those who labelled it).
    """

    findings: tuple[Finding, ...]
    labels: pd.DataFrame
    people: pd.DataFrame


def corrected(measurement: Measurement, labels: str | Path | pd.DataFrame, *, seed: int | None = None) -> Measurement:
    """The measurement with its judged means as people would give them: a metric of which every system's mean is
    corrected is stated so wherever it is stated (see `Measurement.with_people_first`). What the judge, people and both
    together say are findings at `mean`; the view `corrected` shows them, with a table of that name.

    labels: a file or a table of labels (see `read`); "" leaves the measurement as it is. seed: of the folds; the
    measurement's own where None. A headless run keeps them with the measurement, so that its page can be drawn again
    without the labels. Raises BenchError for labels that fit nothing of the measurement.
    """
    if isinstance(labels, str) and not labels.strip():
        return measurement
    folder = part(measurement.notebook)
    if folder is not None and "corrected" in measurement.extra:
        return measurement
    table = read(labels) if isinstance(labels, str | Path) else labels
    judged = measurement.judged_alone()
    amended = corrections(judged, table, seed=seed)
    others = (finding for finding in judged.placed if set(finding.where) != {"mean"})
    extra = {**judged.extra, "corrected": amended.labels, "labels": amended.people}
    made = replace(judged, placed=(*others, *amended.findings), extra=extra).with_people_first()
    if folder is not None and folder.is_dir():
        made.save_findings(folder)
        # last: with this table all that was corrected is there, also after a kill in the middle
        write_table(folder / "extra-labels.parquet", amended.people)
        write_table(folder / "extra-corrected.parquet", amended.labels)
    return made


def corrections(measurement: Measurement, labels: pd.DataFrame, *, seed: int | None = None) -> Corrections:
    """Every labelled mean of a measurement, and every difference to its baseline, as people would see them.

    labels: COLUMNS; several annotators of an answer count as their mean, but what they have settled counts alone (see
    SETTLED). An answer's label weighs as one draw of all
    answers, so the labelled ones have to be drawn at random; where questions form clusters, whole clusters are what is
    independent. See `ragbench.old.stats.prediction_powered`.
    """
    import pandas as pd

    systems = list(dict.fromkeys(measurement.scores["system"]))
    people = _people(labels, systems, measurement)
    seed = int(measurement.facts.get("seed", 0)) if seed is None else seed
    level = float(measurement.facts.get("level", 0.95))
    wide = _wide(measurement)
    means = [
        _mean(measurement, wide[name, metric], own, name, metric, level, seed) for (name, metric), own in people.items()
    ]
    about = [
        (*key, len(wide[key]), _correlation(wide[key], own), *_agreement(labels, *key, seed))
        for key, own in people.items()
    ]
    differences = _differences(measurement, wide, people, level, seed)
    return Corrections(
        (*(estimate for three in means for estimate in three), *differences),
        pd.DataFrame(about, columns=columns(CorrectedRow)),
        pd.DataFrame(
            [(*key, sample, value) for key, own in people.items() for sample, value in own.items()],
            columns=["system", "metric", "sample", "label"],
        ),
    )


Column = dict[str, float]
"""Sample → value; what is not there was not measured."""


def _wide(measurement: Measurement) -> dict[tuple[str, str], Column]:
    columns: dict[tuple[str, str], Column] = {}
    scores = measurement.scores
    for system, metric, sample, value in zip(
        *(scores[key] for key in ("system", "metric", "sample", "value")), strict=True
    ):
        if value == value:
            columns.setdefault((str(system), str(metric)), {})[str(sample)] = float(value)
    return columns


def _people(labels: pd.DataFrame, systems: Sequence[str], measurement: Measurement) -> dict[tuple[str, str], Column]:
    """(system, metric) → the mean of the people who labelled each sample."""
    measured = set(zip(measurement.scores["system"], measurement.scores["metric"], strict=True))
    given: dict[tuple[str, str], dict[str, list[float]]] = {}
    settled = {_place(row) for row in labels.to_dict("records") if row["annotator"] == SETTLED}
    for row in labels.to_dict("records"):
        if _place(row) in settled and row["annotator"] != SETTLED:
            continue
        own = _systems(row, systems, measurement)
        for system in own:
            if (key := (system, str(row["metric"]))) not in measured:
                known = ", ".join(sorted({f"{metric} of {name}" for name, metric in measured})[:8])
                raise BenchError(f"a label is of {key[1]} of {key[0]}, which was not measured; measured: {known}")
            _check(key[1], float(row["value"]), str(row["id"]))
            given.setdefault(key, {}).setdefault(str(row["id"]), []).append(float(row["value"]))
    samples = set(measurement.scores["sample"])
    if given and not any(set(by_sample) & samples for by_sample in given.values()):
        strangers = sorted({sample for by_sample in given.values() for sample in by_sample})
        raise BenchError(f"no label is of a sample of this page: {', '.join(strangers[:5])}; it has "
                         f"{', '.join(sorted(samples)[:5])}")  # fmt: skip
    return {
        key: {sample: float(np.mean(values)) for sample, values in by_sample.items()}
        for key, by_sample in given.items()
    }


def _place(row: Mapping[Any, Any]) -> tuple[str, str, str]:
    """What a label is of."""
    return (
        str(row["id"]),
        "" if row["system"] is None or row["system"] != row["system"] else str(row["system"]),
        str(row["metric"]),
    )


def _systems(row: Mapping[Any, Any], systems: Sequence[str], measurement: Measurement) -> list[str]:
    """Whose score the label stands beside: of an answer that all judges of a page have judged, each one's."""
    if system := _place(row)[1]:
        return [system]
    if len(systems) > 1 and not of_shared_answers(measurement):
        raise BenchError(
            f"a label of {row['id']} names no system, and the page has {len(systems)}: {', '.join(systems)}"
        )
    return list(systems)


def of_shared_answers(measurement: Measurement) -> bool:
    """Whether its systems are judges, who all judged the same answers."""
    return measurement.facts.get("describes") == "judges" or bool(measurement.facts.get("describes_decisions"))


def _declared(metric: str) -> Metric | None:
    """How the metric is declared; None for one of the user's own that is not in the catalogue."""
    name = re.split(r"[@(]", metric)[0]
    return catalogue().get(name)


def _check(metric: str, value: float, sample: str) -> None:
    declared = _declared(metric)
    scale = None if declared is None else bounds(declared)
    if scale is not None and not scale[0] <= value <= scale[1]:
        low, high = (f"{end:g}".replace("inf", "∞").replace("-", "−") for end in scale)
        raise BenchError(f"the label of {sample} on {metric} is {value:g}; its scale goes from {low} to {high}")


def _mean(
    measurement: Measurement, judged: Column, people: Column, system: str, metric: str, level: float, seed: int
) -> tuple[NamedEstimate, ...]:
    """The mean as the judge, people, and both together see it."""
    both = [sample for sample in judged if sample in people]
    others = [sample for sample in judged if sample not in people]
    y, f = _array(people, both), _array(judged, both)
    groups = _clusters(measurement, both, others)
    declared = _declared(metric)
    scale = None if declared is None else bounds(declared)
    combined: Estimate = stats.prediction_powered(
        y, f, _array(judged, others), clusters=groups, bounds=scale, level=level, seed=seed
    )
    page = next((e.estimate for e in measurement.estimates if (e.system, e.metric) == (system, metric)), None)
    judge = page or Estimate(float(np.mean(list(judged.values()))), None, None, level, "none", len(judged))
    alone = combined.intervals.get("people")
    low, high = alone or (None, None)
    own = Estimate(
        float(y.mean()) if len(y) else math.nan, low, high, level, "people" if alone else "none", combined.n,
        clusters=combined.clusters, seed=seed,
    )  # fmt: skip
    seen = {"judge": judge, "people": own, "corrected": combined}
    return tuple(NamedEstimate(system, metric, estimate, {"mean": by}) for by, estimate in seen.items())


def _correlation(judged: Column, people: Column) -> float:
    """Of the judge's scores with people's labels on the same answers; NaN for fewer than three, or without spread."""
    both = [sample for sample in judged if sample in people]
    y, f = _array(people, both), _array(judged, both)
    return float(np.corrcoef(y, f)[0, 1]) if len(both) > 2 and np.ptp(y) > 0 and np.ptp(f) > 0 else math.nan


def _clusters(
    measurement: Measurement, labelled: Sequence[str], rest: Sequence[str]
) -> tuple[list[str], list[str]] | None:
    """The clusters of the samples where the page draws whole clusters; None where all are independent."""
    table = measurement.questions
    if measurement.facts.get("cluster_by") == "none" or "cluster" not in table or not table["cluster"].notna().any():
        return None
    known = {str(row["sample"]): row["cluster"] for row in table[["sample", "cluster"]].to_dict("records")}
    first, second = (
        [str(label) if isinstance(label := known.get(sample), str) else f"\0{sample}" for sample in samples]
        for samples in (labelled, rest)
    )
    return first, second


def _agreement(labels: pd.DataFrame, system: str, metric: str, seed: int) -> tuple[int, float]:
    """How many annotators there are, and Krippendorff's α (interval scale) where two of them share answers."""
    people = labels[labels["annotator"] != SETTLED]
    own = people[(people["metric"] == metric) & (people["system"].isna() | (people["system"] == system))]
    table = own.pivot_table(index="id", columns="annotator", values="value", aggfunc="first")
    shared = table.dropna(thresh=2)
    if len(shared) < 2 or table.shape[1] < 2:
        return int(table.shape[1]), math.nan
    rows = [[None if value != value else float(value) for value in row] for row in shared.to_numpy(dtype=float)]
    return int(table.shape[1]), stats.krippendorff_alpha(rows, scale="interval", resamples=200, seed=seed).value


def _differences(
    measurement: Measurement,
    wide: dict[tuple[str, str], Column],
    people: dict[tuple[str, str], Column],
    level: float,
    seed: int,
) -> list[NamedComparison]:
    baseline = measurement.facts.get("baseline")
    comparisons: list[tuple[str, Comparison]] = []
    for system, metric in people:
        if system == baseline or (baseline, metric) not in people:
            continue
        first, second = wide.get((str(baseline), metric), {}), wide.get((system, metric), {})
        shared = [sample for sample in first if sample in second]
        labelled = [s for s in shared if s in people[str(baseline), metric] and s in people[system, metric]]
        rest = [sample for sample in shared if sample not in set(labelled)]
        comparison = stats.prediction_powered_comparison(
            (_array(people[str(baseline), metric], labelled), _array(people[system, metric], labelled)),
            (_array(first, labelled), _array(second, labelled)),
            (_array(first, rest), _array(second, rest)),
            better=_better(metric), clusters=_clusters(measurement, labelled, rest), level=level, seed=seed,
            names=(str(baseline), system), bounds=_bounds(metric),
            lacking=_lacking(measurement, (str(baseline), system), metric),
        )  # fmt: skip
        comparisons.append((metric, comparison))
    # Holm: each has labels of its own, and no test by flips is known of a mean that is partly predicted
    adjusted = stats.adjust([comparison for _, comparison in comparisons])
    return [
        NamedComparison(
            metric,
            comparison
            if comparison.p_adjusted is not None
            else replace(comparison, verdict=Verdict.NOT_SHOWN, withheld=""),
            {"mean": "corrected"},
        )
        for (metric, _), comparison in zip(comparisons, adjusted, strict=True)
    ]


def _better(metric: str) -> Better:
    declared = _declared(metric)
    return (declared.better if declared is not None else None) or "higher"


def _bounds(metric: str) -> tuple[float, float] | None:
    declared = _declared(metric)
    return None if declared is None else bounds(declared)


def _lacking(measurement: Measurement, systems: tuple[str, str], metric: str) -> int:
    """How many pairs the judge has no value of on either side, though there was something to measure."""
    pair = findings.paired_values(measurement, *systems, metric)
    if pair is None:
        return 0
    known = ~np.isnan(pair.challenger - pair.baseline)
    return int((~known if pair.void is None else ~known & ~pair.void).sum())


def _array(column: Column, samples: Sequence[str]) -> Array:
    return np.array([column[sample] for sample in samples], dtype=float)


COLUMNS = ("id", "system", "metric", "annotator", "value")
NOTE = "note"
"""A column beside them, which corrects nothing."""
CALLED = {"rater": "annotator"}
"""What fields of the vocabulary are called here."""
SETTLED = "settled"
"""The annotator of what people have settled among themselves: on its answers nobody else's label counts."""


class Label(BaseModel):
    """What one annotator says of one answer on one metric's scale, with a note; without a value it is not answered.

    system: of whom the answer is; None where the page has one, or where several judges judged the same answer.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str
    metric: str
    value: float | None = Field(default=None, allow_inf_nan=False)
    system: str | None = None
    annotator: str = "people"
    note: str = ""

    @field_validator("id", "metric", "system", "annotator", "note", mode="before")
    @classmethod
    def _unprefixed(cls, value: Any) -> Any:
        return plain(str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else value


def read(path: Path | str) -> pd.DataFrame:
    """The labels of a file (CSV, JSON Lines, JSON, Parquet) as COLUMNS and NOTE; rows without a value are left out.

    path: several files are comma-separated; a relative one is looked for beside ragbench.toml, a URL is read.
    `METRIC=FILE` says which metric the labels of a file are of that does not say it: a table of answers with a column
    of labels is one. Raises BenchError naming file, row, field and value.
    """
    import pandas as pd

    rows, seen = [], set()
    named = path.split(",") if isinstance(path, str) else [path]
    for name in (str(entry).strip() for entry in named):
        metric, _, file = ("", "", name) if urls.is_url(name) else name.rpartition("=")
        place = places.file(file)
        try:
            for where, given in _given(place, metric):
                label = checked(Label, given, where)
                if label.value is None:
                    continue
                key = (label.id, label.system, label.metric, label.annotator)
                if key in seen:
                    raise BenchError(f"{where}: {label.annotator} labels {label.id} on {label.metric} a second time")
                seen.add(key)
                rows.append((label.id, label.system, label.metric, label.annotator, label.value, label.note))
        except DatasetError as error:
            raise BenchError(f"labels = {place.name!r}: {error}") from None
    if not rows:
        raise BenchError(f"labels = {path!s}: no row has a value; the columns are {', '.join(COLUMNS)}")
    return pd.DataFrame(rows, columns=[*COLUMNS, NOTE])


def _given(path: Path, metric: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The fields of each label, and where it stands: of a file of labels, or of a table of answers with labels."""
    known = Columns(only=("id", "system", "metric", "rater", "value", "note", "response"))
    rows = ((where, row, known.of(row, where)) for where, row in read_rows(path))
    first = next(rows, None)
    if first is None:
        return
    if "response" not in known.read or "metric" in known.read:
        for where, row, told in itertools.chain([first], rows):
            fields = {CALLED.get(name, name): value for name, value in told.items() if name != "response"}
            yield where, {**({"metric": metric} if metric else {}), **fields} or row
        return
    for where, sample in streamed(path, ratings=True):
        if sample.labels and not metric:
            raise DatasetError(f"{where}: nothing says which metric its labels are of; say it: METRIC={path.name}")
        for rater, value in (sample.labels or {}).items():
            who = {"id": sample.id, "system": sample.system, "annotator": rater}
            yield where, {**who, "metric": metric, "value": value}
