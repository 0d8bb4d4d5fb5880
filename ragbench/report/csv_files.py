"""A run's numbers as tables for other programs: CSV that no spreadsheet executes, Parquet, JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragbench.core import answered_by, raised, stand_ins, unidentified
from ragbench.core.language import Translator, translator
from ragbench.core.measurement import COMPARISON_ROW, ESTIMATE_ROW, Measurement, NamedEstimate, without_nan, write_table
from ragbench.core.parts import Column, Table
from ragbench.core.settings import secrets
from ragbench.report.keeping import files, results

if TYPE_CHECKING:
    import pandas as pd

GROUP = 100_000
"""Rows of a group of a Parquet file that is written as they come."""


def write_rows(stem: Path, rows: Iterable[Mapping[str, Any]], kinds: Mapping[str, type[str] | type[float]]) -> None:
    """Rows that come by and are not held, as `write_csv` writes them, and as a Parquet file; both whole and without
    secrets. stem: their path without its ending. kinds: of the columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(name, pa.string() if kind is str else pa.float64()) for name, kind in kinds.items()])
    mask, left = secrets.exact_masker(), iter(rows)

    def plain(row: Mapping[str, Any]) -> dict[str, Any]:
        return without_nan({name: mask(value) if isinstance(value := row[name], str) else value for name in kinds})

    def parts() -> Iterator[list[dict[str, Any]]]:
        while part := [plain(row) for row in islice(left, GROUP)]:
            yield part

    def fill(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8", newline="") as out:
            columns = tuple(map(Column, kinds))
            Table(columns, ()).write_csv(out)

            def beside(parquet: Path) -> None:
                with pq.ParquetWriter(parquet, schema) as groups:
                    for part in parts():
                        groups.write_table(pa.Table.from_pylist(part, schema))
                        Table(columns, tuple(tuple(row.values()) for row in part)).write_csv(out, head=False)

            files.write_by(stem.with_suffix(".parquet"), beside)

    files.write_by(stem.with_suffix(".csv"), fill)  # one within the other, so that the rows go by once


def write_csv(path: Path, table: pd.DataFrame, *, raw: bool = False) -> None:
    """A whole CSV file in UTF-8 without secrets, as `Table.write_csv` writes it."""
    known = secrets.masked_table(table, secrets.exact_masker()).astype(object)
    rows = known.where(known.notna(), None).itertuples(index=False, name=None)
    made = Table(tuple(Column(str(name)) for name in known.columns), tuple(rows))

    def fill(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8", newline="") as out:
            made.write_csv(out, raw=raw)

    files.write_by(path, fill)


README = "README.txt"


def write_readme(folder: Path, caveats: Mapping[str, Sequence[str]], _: Translator) -> None:
    """What must be read with the tables of a folder, which hold numbers alone. caveats: by page what is to be known of
    its numbers; of one without any that is said, too."""
    lines = [_("Numbers alone stand in these tables. What must be read with them:"), ""]
    for name, said in caveats.items():
        told = [text for text in said if text] or [_("nothing stands in for a model.")]
        lines += [f"{name}: {' '.join(told)}"]
    files.write(folder / README, secrets.masker()("\n".join(lines)) + "\n")


def caveats_of(made: Measurement, _: Translator) -> list[str]:
    """Who stands in for a model in a measurement, whose name is not the one asked for, and what systems raised."""
    strange = unidentified.sentences(unidentified.of(made.facts).values(), _)
    others = (*answered_by.warnings(made.facts, _), *strange, *raised.warnings(made.facts, _))
    return [stand_ins.caveat(stand_ins.of(made.facts), _), *others]


def write(folder: Path, measurements: Mapping[str, Measurement], *, raw: bool = False, language: str = "en") -> None:
    """Scores, estimates, comparisons and the pages' own tables as CSV and as Parquet; both summaries as one JSON.

    `placed_estimates` and `placed_comparisons` hold what is not of the whole (of a slice, a stage, a judge, a depth);
    `where` says of what, as JSON. README.txt, in the language, says what must be read with them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _ = translator(language)
    write_readme(folder, {name: caveats_of(made, _) for name, made in measurements.items()}, _)
    scores = results.scores(measurements, told=True)
    write_csv(folder / "scores.csv", scores, raw=raw)
    write_table(folder / "scores.parquet", scores)
    findings = write_findings(folder, measurements, raw=raw)
    results.write_json(folder / results.SUMMARY, {**findings, **results.stood_in(measurements)})


def write_findings(
    folder: Path, measurements: Mapping[str, Measurement], *, raw: bool = False
) -> dict[str, list[dict[str, Any]]]:
    """Findings, and the pages' own tables, as CSV and as Parquet; the rows of those of the whole are returned."""
    import pandas as pd

    findings = results.findings(measurements)
    for name, columns in (("estimates", ESTIMATE_ROW), ("comparisons", COMPARISON_ROW)):
        # as objects, so that a count stays a whole number where another row has none
        table = pd.DataFrame(findings[name], columns=["notebook", *columns], dtype=object)
        write_csv(folder / f"{name}.csv", table, raw=raw)
        write_table(folder / f"{name}.parquet", table.infer_objects())
    for name, own in {**_placed(measurements), **_own(measurements)}.items():
        write_csv(folder / f"{name}.csv", own, raw=raw)
        write_table(folder / f"{name}.parquet", own.infer_objects())
    return findings


def _placed(measurements: Mapping[str, Measurement]) -> dict[str, pd.DataFrame]:
    """The findings that have a place, by the name of their table; none where no page has any."""
    import pandas as pd

    rows: dict[str, list[dict[str, Any]]] = {"placed_estimates": [], "placed_comparisons": []}
    for notebook, made in measurements.items():
        for finding in made.placed:
            kind = "placed_estimates" if isinstance(finding, NamedEstimate) else "placed_comparisons"
            where = json.dumps(dict(finding.where), ensure_ascii=False, sort_keys=True)
            rows[kind].append({"notebook": notebook, "where": where, **finding.row()})
    columns = {"placed_estimates": ESTIMATE_ROW, "placed_comparisons": COMPARISON_ROW}
    return {
        name: pd.DataFrame(own, columns=["notebook", "where", *columns[name]], dtype=object)
        for name, own in rows.items()
        if own
    }


def _own(measurements: Mapping[str, Measurement]) -> dict[str, pd.DataFrame]:
    """The tables that pages have of their own, those of one name as one: whose rows are whose `notebook` says."""
    import pandas as pd

    parts: dict[str, list[pd.DataFrame]] = {}
    for notebook, made in measurements.items():
        for name, own in {**made.tables, **_of_judges(made)}.items():
            parts.setdefault(name, []).append(own.assign(notebook=notebook)[["notebook", *own.columns]])
    return {name: pd.concat(own, ignore_index=True) for name, own in parts.items()}


def _of_judges(made: Measurement) -> dict[str, pd.DataFrame]:
    """Of a page that several judges judged: the scores of each, and what differences are with judges as a random
    factor (`ragbench.tiers.scoring.other_judges`)."""
    import pandas as pd

    if not (over_judges := made.facts.get("over_judges")):
        return {}
    scores = made.extra["judgements"][["system", "metric", "sample", "judge", "value", "status"]]
    return {"judge_scores": scores[scores["judge"].notna()], "over_judges": pd.DataFrame(over_judges)}
