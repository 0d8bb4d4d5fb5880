"""What one notebook measured: scores, what was retrieved, and what follows from both.

Measuring is expensive and is stored; showing is cheap and reads what is stored: a measurement written to a folder and
read back is equal, and needs no database and no model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragbench.old.core import answered_by, folders, gaps, stand_ins, terminal
from ragbench.old.core.facts import Facts
from ragbench.old.core.folders import write, write_by
from ragbench.old.core.gaps import alone, counted
from ragbench.old.core.language import translator
from ragbench.old.core.parts import Value, spoken
from ragbench.old.core.settings.secrets import exact_masker, excerpt, masked, masked_table
from ragbench.old.core.types import Comparison, Estimate, Verdict
from ragbench.old.core.types import reason as reasons

if TYPE_CHECKING:
    import pandas as pd

FINDINGS, ESTIMATES, COMPARISONS = "findings.json", "estimates.parquet", "comparisons.parquet"
MOST_FINDINGS = 2**27
"""Bytes of `FINDINGS`: facts, which name no question."""
SCORE_COLUMNS = ("system", "metric", "sample", "value", "status", "reason", "judge")
RETRIEVED_COLUMNS = ("system", "sample", "rank", "chunk", "url", "similarity", "gain", "text")
ESTIMATE_COLUMNS = (
    "value", "low", "high", "level", "method", "note", "n", "n_unmeasured", "clusters", "floor", "ceiling", "doubt",
)  # fmt: skip
COMPARISON_COLUMNS = (
    "baseline", "challenger", "difference", "low", "high", "level", "method", "note", "p", "p_adjusted", "test",
    "verdict", "minimum_detectable", "margin", "questions_needed", "groups_needed", "n", "n_dropped", "clusters",
    "family", "least", "most", "doubt", "withheld",
)  # fmt: skip
"""What summaries say of an estimate, and of a comparison."""
ESTIMATE_ROW = ("system", "metric", *(each.name for each in fields(Estimate) if each.name != "intervals"))
COMPARISON_ROW = ("metric", *(each.name for each in fields(Comparison) if each.name != "intervals"))
"""What a row of a flat table holds of each: all that is one value."""
JUDGE, CORRECTED = {"mean": "judge"}, {"mean": "corrected"}
"""Where findings stand that are the judge's alone, and those that people's labels correct."""
ESTIMATE_PLACE, COMPARISON_PLACE = ("system", "metric", "where"), ("metric", "where")
"""What says of which number a row is, in the tables of both."""
QUESTION_COLUMNS = ("sample", "text", "reference", "kind", "language", "cluster", "answerable", "relevant")
TABLES = {"scores": SCORE_COLUMNS, "questions": QUESTION_COLUMNS, "retrieved": RETRIEVED_COLUMNS}
"""The tables that every measurement has, with the columns that all readers may count on."""


LONGEST_FAULT = 200  # a line or two of a page


class DamagedError(ValueError):
    """What lies in the folder of a run is not what ragbench wrote there."""

    def __init__(self, folder: Path, error: BaseException) -> None:
        said = excerpt(str(error), LONGEST_FAULT) or "without a reason"
        super().__init__(f"{folder} is damaged, or was not written by this version of ragbench: {said}")


Where = Mapping[str, str | float]
"""A finding's place in field terms, such as {"k": 5} or {"slice": "kind:colloquial"}; empty for the whole."""


@dataclass(frozen=True)
class NamedEstimate:
    """An estimate with its place: the system and the metric it belongs to, and where."""

    system: str
    metric: str
    estimate: Estimate
    where: Where = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """System, metric, and all that is known of the estimate."""
        return {"system": self.system, "metric": self.metric, **asdict(self.estimate)}

    def summary(self) -> dict[str, Any]:
        """System, metric, and what summaries say of an estimate (ESTIMATE_COLUMNS)."""
        known = {name: getattr(self.estimate, name) for name in ESTIMATE_COLUMNS}
        return {"system": self.system, "metric": self.metric, **known}


@dataclass(frozen=True)
class NamedComparison:
    """A comparison with its place: its metric, and where; baseline and challenger are named inside it."""

    metric: str
    comparison: Comparison
    where: Where = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """Metric, and all that is known of the comparison; its verdict as a plain text."""
        return {"metric": self.metric, **asdict(self.comparison), "verdict": str(self.comparison.verdict)}

    def summary(self) -> dict[str, Any]:
        """Metric, and what summaries say of a comparison (COMPARISON_COLUMNS)."""
        known = {name: getattr(self.comparison, name) for name in COMPARISON_COLUMNS}
        return {"metric": self.metric, **known, "verdict": str(self.comparison.verdict)}


Finding = NamedEstimate | NamedComparison


def framed(findings: Iterable[Finding], columns: Sequence[str], caveat: str = "") -> pd.DataFrame:
    """Findings as a data frame, a row each; what a finding's place is told by are columns, too.

    columns: of the findings' kind, also where there are none. caveat: goes with the frame as `attrs["caveat"]`.
    """
    import pandas as pd

    rows = [{**finding.where, **finding.summary()} for finding in findings]
    first = ["metric"] if "challenger" in columns else ["system", "metric"]
    made = pd.DataFrame(rows, columns=None if rows else [*first, *columns])
    made.attrs["caveat"] = caveat
    return made


def without_rows(columns: Sequence[str]) -> pd.DataFrame:
    """A table of these columns with nothing in it."""
    import pandas as pd

    return pd.DataFrame(columns=list(columns))


def columns(row: type) -> list[str]:
    """The columns of a side table: the keys that its rows declare, in their order."""
    return list(row.__annotations__)


@dataclass(frozen=True)
class Evidence:
    """What a tier measured: all that its findings are made of, and nothing that follows from it.

    A table that is not given is empty.

    notebook: the notebook's name, which is the page's.
    facts: provenance, settings and counts as plain JSON values.
    scores: one row per system, metric and sample (SCORE_COLUMNS); value NaN where status is not "ok".
    questions: one row per sample (QUESTION_COLUMNS); where a page lists only some of very many, `listed` says why it
        does (`ragbench.old.tiers.answers.rag_metrics`), None of others: their answers, passages, judgements and reasons are
        not kept.
    retrieved: one row per system, sample and rank (RETRIEVED_COLUMNS).
    extra: side tables by name: single readings, and what is listed, drawn or counted.
    """

    notebook: str
    facts: Facts
    scores: pd.DataFrame = field(default_factory=partial(without_rows, SCORE_COLUMNS))
    questions: pd.DataFrame = field(default_factory=partial(without_rows, QUESTION_COLUMNS))
    retrieved: pd.DataFrame = field(default_factory=partial(without_rows, RETRIEVED_COLUMNS))
    extra: Mapping[str, pd.DataFrame] = field(default_factory=dict)


@dataclass(frozen=True)
class Findings:
    """What is stated of evidence: a function of it alone.

    estimates, comparisons: of the whole, in the order in which a page shows them.
    placed: findings that are not of the whole: each has a `where` that is not empty, and is in no main table.
    facts, extra: what is counted, and tables that are made of findings; they take the place of the evidence's.
    """

    estimates: tuple[NamedEstimate, ...] = ()
    comparisons: tuple[NamedComparison, ...] = ()
    placed: tuple[Finding, ...] = ()
    facts: Facts = field(default_factory=Facts)
    extra: Mapping[str, pd.DataFrame] = field(default_factory=dict)


@dataclass(frozen=True)
class Measurement(Evidence):
    """Everything a page may show: evidence, and what is stated of it (see `Findings`)."""

    estimates: tuple[NamedEstimate, ...] = ()
    comparisons: tuple[NamedComparison, ...] = ()
    placed: tuple[Finding, ...] = ()

    @classmethod
    def of(cls, evidence: Evidence, findings: Findings) -> Measurement:
        """The evidence with these findings, and with none that it may have had."""
        known = {each.name: getattr(evidence, each.name) for each in fields(Evidence)}
        known["facts"] = {**evidence.facts, **findings.facts}
        known["extra"] = {**evidence.extra, **findings.extra}
        return cls(**known, estimates=findings.estimates, comparisons=findings.comparisons, placed=findings.placed)

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """The side tables that are results and no aids of a chart, by the names that people and files know them by."""
        named: Mapping[str, str] = self.facts.get("tables", {})
        return {name: self.extra[key] for name, key in named.items() if key in self.extra}

    def estimates_by(self, *keys: str) -> list[NamedEstimate]:
        """The estimates whose place is told by exactly these keys, in their order."""
        return [
            estimate
            for estimate in self.placed
            if isinstance(estimate, NamedEstimate) and set(estimate.where) == set(keys)
        ]

    def comparisons_by(self, *keys: str) -> list[NamedComparison]:
        """The comparisons whose place is told by exactly these keys, in their order."""
        return [
            comparison
            for comparison in self.placed
            if isinstance(comparison, NamedComparison) and set(comparison.where) == set(keys)
        ]

    def with_people_first(self) -> Measurement:
        """Corrected means and differences in the place of the judge's, of metrics that are corrected for every system.

        A metric that has labels of some systems only stays the judge's: its means would not be comparable. What the
        judge alone says stays at JUDGE; the fact `corrected` names the metrics that people's word is first on.
        """
        means = {
            (estimate.system, estimate.metric): estimate.estimate
            for estimate in self.estimates_by("mean")
            if estimate.where == CORRECTED and estimate.estimate.n
        }
        lacking = {estimate.metric for estimate in self.estimates if (estimate.system, estimate.metric) not in means}
        first = [name for name in dict.fromkeys(estimate.metric for estimate in self.estimates) if name not in lacking]
        made = self.judged_alone()
        differences = {
            (comparison.metric, comparison.comparison.challenger): comparison.comparison
            for comparison in self.comparisons_by("mean")
            if comparison.where == CORRECTED and comparison.comparison.n
        }
        known = [comparison for comparison in made.comparisons_by("mean") if comparison.where == JUDGE]
        told = {(comparison.metric, comparison.comparison.challenger) for comparison in known}
        own = [replace(comparison, where=JUDGE) for comparison in made.comparisons if comparison.metric in first]
        return replace(
            made,
            facts={**made.facts, "corrected": first},
            estimates=tuple(
                replace(estimate, estimate=_of_as_many(means[estimate.system, estimate.metric], estimate.estimate))
                if estimate.metric in first
                else estimate
                for estimate in made.estimates
            ),
            comparisons=tuple(
                replace(comparison, comparison=replace(differences[place], n_dropped=comparison.comparison.n_dropped))
                if comparison.metric in first
                else comparison
                for comparison in made.comparisons
                if (place := (comparison.metric, comparison.comparison.challenger)) in differences
                or comparison.metric not in first
            ),
            placed=(
                *made.placed,
                *(
                    comparison
                    for comparison in own
                    if (comparison.metric, comparison.comparison.challenger) not in told
                ),
            ),
        )

    def judged_alone(self) -> Measurement:
        """The measurement with the judge's own means and differences first, as it was before labels corrected them."""
        means = {
            (estimate.system, estimate.metric, estimate.where["mean"]): estimate.estimate
            for estimate in self.estimates_by("mean")
        }  # fmt: skip
        differences = {
            (comparison.metric, comparison.comparison.challenger): replace(comparison, where={})
            for comparison in self.comparisons_by("mean")
            if comparison.where == JUDGE
        }
        there = [(comparison.metric, comparison.comparison.challenger) for comparison in self.comparisons]
        return replace(
            self,
            estimates=tuple(
                replace(estimate, estimate=means[estimate.system, estimate.metric, "judge"])
                if _same(estimate.estimate, means.get((estimate.system, estimate.metric, "corrected")))
                else estimate
                for estimate in self.estimates
            ),
            comparisons=(
                *(
                    differences.get(place, comparison)
                    for place, comparison in zip(there, self.comparisons, strict=True)
                ),
                *(comparison for place, comparison in differences.items() if place not in there),
            ),
        )

    def alone(self, finding: Finding) -> Finding | None:
        """What the judge alone says of the whole where people's labels correct a mean or a difference; else None."""
        if finding.where or finding.metric not in (self.facts.get("corrected") or ()):
            return None
        if isinstance(finding, NamedEstimate):
            means = (
                each
                for each in self.estimates_by("mean")
                if (each.system, each.metric) == (finding.system, finding.metric)
            )
            return next((each for each in means if each.where == JUDGE), None)
        place = (finding.metric, finding.comparison.challenger)
        comparisons = (
            each for each in self.comparisons_by("mean") if (each.metric, each.comparison.challenger) == place
        )
        return next((each for each in comparisons if each.where == JUDGE), None)

    def __repr__(self) -> str:
        """Ten lines at most: what was measured on what, the first findings, how many more, and their caveat."""
        _ = translator("en")
        written = spoken(_).phrase
        named = {key: self.facts.get(key) for key in ("dataset", "unit", "n_questions", "seed")}
        about = ", ".join(f"{key} {value}" for key, value in named.items() if value is not None)
        lines = [
            f"{e.system} {e.metric}: {written(Value.of(estimate))}, "
            + counted(estimate, _)
            + ("" if (judge := self.alone(e)) is None else f"; {alone(_.number(judge.row()['value']), _)}")
            for e in self.estimates
            for estimate in [e.estimate]
        ]
        lines += [
            f"{comparison.challenger} − {comparison.baseline} {c.metric}: "
            f"{written(Value.of(comparison))}, {comparison.verdict}, n {comparison.n}"
            + (
                ""
                if (judge := self.alone(c)) is None
                else f"; {alone(_.number(judge.row()['difference'], signed=True), _)}"
            )
            for c in self.comparisons
            for comparison in [c.comparison]
        ]
        strange = list(gaps.unidentified_sentences(gaps.unidentified(self.facts).values(), _))[:3]
        warned = answered_by.warnings(self.facts, _)[:2]
        more = [*strange, stand_ins.caveat(stand_ins.of(self.facts), _), *warned]
        room = min(8, terminal.LINES - 1 - len(list(filter(None, more))))
        if len(lines) > room:
            lines[room - 1 :] = [f"… {len(lines) - room + 1} more in .estimates and .comparisons"]
        said = [f"{self.notebook}: {about}", *lines, *more]
        return "\n".join(terminal.plain(line) for line in said if line)

    def save(self, folder: Path) -> None:
        """Write the measurement, without secrets, into `folder` (made if need be): Parquet tables and one JSON file."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("scores", "questions", "retrieved"):
            write_table(folder / f"{name}.parquet", getattr(self, name))
        for name, table in self.extra.items():
            write_table(folder / f"extra-{name}.parquet", table)
        self.save_findings(folder)
        about = {"notebook": self.notebook, "facts": dict(self.facts)}
        text = json.dumps(without_nan(masked(about, exact_masker())), ensure_ascii=False, indent=1, allow_nan=False)
        # last: a measurement with findings is whole, also after a kill in the middle of saving
        write(folder / FINDINGS, text + "\n")

    def save_findings(self, folder: Path) -> None:
        """Write the two long frames of findings: those of the whole first, then those with a place."""
        estimates = [*self.estimates, *(estimate for estimate in self.placed if isinstance(estimate, NamedEstimate))]
        comparisons = [
            *self.comparisons,
            *(comparison for comparison in self.placed if isinstance(comparison, NamedComparison)),
        ]
        rows = [
            {"where": estimate.where, **estimate.row(), "doubt": reasons.kept(estimate.estimate.doubt)}
            for estimate in estimates
        ]
        _write_findings(folder / ESTIMATES, rows, ESTIMATE_PLACE, Estimate)
        rows = [
            {"where": comparison.where, **comparison.row(), **_reasons(comparison.comparison)}
            for comparison in comparisons
        ]
        _write_findings(folder / COMPARISONS, rows, COMPARISON_PLACE, Comparison)

    @classmethod
    def load(cls, folder: Path) -> Measurement:
        """Read what `save` wrote. Raises DamagedError for what it did not write."""
        try:
            return cls._load(folder)
        except OSError as error:
            if error.filename is None:  # of a table that is none
                raise DamagedError(folder, error) from None
            raise
        except Exception as error:  # it may have come from anywhere
            raise DamagedError(folder, error) from None

    @classmethod
    def _load(cls, folder: Path) -> Measurement:
        about = json.loads(folders.text(folder / FINDINGS, MOST_FINDINGS))
        tables = {name: read_table(folder / f"{name}.parquet", columns) for name, columns in TABLES.items()}
        extra = {
            path.stem.removeprefix("extra-"): _parquet(path).to_pandas()
            for path in sorted(folder.glob("extra-*.parquet"))
        }
        estimates = [
            NamedEstimate(row["system"], row["metric"], _estimate(row), row["where"])
            for row in _read_findings(folder / ESTIMATES, ESTIMATE_PLACE, Estimate)
        ]
        comparisons = [_comparison(row) for row in _read_findings(folder / COMPARISONS, COMPARISON_PLACE, Comparison)]
        made = cls(
            notebook=about["notebook"],
            facts=about["facts"],
            estimates=tuple(estimate for estimate in estimates if not estimate.where),
            comparisons=tuple(comparison for comparison in comparisons if not comparison.where),
            extra=extra,
            placed=(
                *(estimate for estimate in estimates if estimate.where),
                *(comparison for comparison in comparisons if comparison.where),
            ),
            **tables,
        )
        return made.with_people_first() if "corrected" in extra else made


def _reasons(comparison: Comparison) -> dict[str, str]:
    return {"doubt": reasons.kept(comparison.doubt), "withheld": reasons.kept(comparison.withheld)}


def _same(estimate: Estimate, other: Estimate | None) -> bool:
    return other is not None and all(
        getattr(estimate, key) == getattr(other, key) for key in ("value", "low", "high", "n")
    )


def _of_as_many(corrected: Estimate, judged: Estimate) -> Estimate:
    """A corrected mean with how many answers the judge gave no score for: labels say nothing of those."""
    return replace(corrected, n_unmeasured=judged.n_unmeasured)


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write a whole Parquet file without secrets, or none."""
    kept = masked_table(table, exact_masker())
    write_by(path, lambda temporary: kept.to_parquet(temporary, index=False))


def without_nan(value: Any) -> Any:
    """The same JSON value with None for every NaN or infinity, and plain lists and dicts for tuples and mappings."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    return value


def _write_findings(path: Path, rows: Sequence[Mapping[str, Any]], place: Sequence[str], of: type) -> None:
    """One row a finding; mappings as JSON texts, what is not finite as nothing, as JSON would have it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema(place, of)
    plain = [
        {key: json.dumps(item, ensure_ascii=False) if isinstance(item, dict) else item for key, item in row.items()}
        for row in without_nan(masked(list(rows), exact_masker()))
    ]
    write_by(path, lambda temporary: pq.write_table(pa.Table.from_pylist(plain, schema), temporary))


def _schema(place: Sequence[str], of: type) -> Any:
    import pyarrow as pa

    kinds = dict.fromkeys(place, "str") | {each.name: str(each.type).split(" | ")[0] for each in fields(of)}
    types = {"float": pa.float64(), "int": pa.int64()}
    return pa.schema([(name, types.get(kind, pa.string())) for name, kind in kinds.items()])


def _parquet(path: Path) -> Any:
    """The table of a file; to look whether it is a data set of many, as pandas does, takes as long as to read it."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return file.read()


def read_table(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """A table that `write_table` wrote. Raises ValueError where one of these columns is not in it."""
    table: pd.DataFrame = _parquet(path).to_pandas()
    if missing := [name for name in columns if name not in table.columns]:
        raise ValueError(f"{path.name} has no column {', '.join(missing)}")
    return table


def _read_findings(path: Path, place: Sequence[str], of: type) -> list[dict[str, Any]]:
    schema = _schema(place, of)
    rows: list[dict[str, Any]] = _parquet(path).select(schema.names).cast(schema).to_pylist()
    return [row | {key: json.loads(row[key]) for key in ("where", "intervals")} for row in rows]


def _estimate(row: dict[str, Any]) -> Estimate:
    known = _fields(row, Estimate, ("value",))
    return Estimate(**known | {"doubt": reasons.read(known["doubt"])})


def _comparison(row: dict[str, Any]) -> NamedComparison:
    known = _fields(row, Comparison, ("difference", "low", "high", "p", "effect_size", "error"))
    known |= {
        "verdict": Verdict(known["verdict"]),
        "doubt": reasons.read(known["doubt"]),
        "withheld": reasons.read(known["withheld"]),
    }
    return NamedComparison(row["metric"], Comparison(**known), row["where"])


def _fields(row: Mapping[str, Any], of: type, numbers: Sequence[str]) -> dict[str, Any]:
    """What a finding of the type is made from; numbers: those that are NaN where nothing is known."""
    known = {each.name: row[each.name] for each in fields(of) if each.name in row}
    known |= {name: math.nan for name in numbers if known.get(name) is None}
    return known | {"intervals": {key: tuple(item) for key, item in row.get("intervals", {}).items()}}
