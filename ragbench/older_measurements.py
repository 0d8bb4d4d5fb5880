"""Measurements that were stored before every finding was a row of two long frames: the findings in their tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
WHOLE = ("n", "n_unmeasured", "n_dropped", "clusters", "questions_needed", "groups_needed")


def findings(about: Mapping[str, Any], extra: dict[str, pd.DataFrame]) -> tuple[list[Row], list[Row]]:
    """The rows of estimates and of comparisons, as the two frames have them.

    about: what findings.json held: the findings of the whole. extra: the side tables; those that held findings alone
    are taken out.
    """
    found = tuple([row | {"where": {}} for row in about[name]] for name in ("estimates", "comparisons"))
    for name, (column, told) in TABLES.items():
        if name in extra and (column in extra[name] or not len(extra[name].columns)):
            for row in (made for each in _rows(extra.pop(name)) for made in told(each)):
                found["difference" in row].append(row)
    return of_overview(about["facts"], extra, *found)


def of_overview(
    facts: dict[str, Any], extra: dict[str, pd.DataFrame], estimates: list[Row], comparisons: list[Row]
) -> tuple[list[Row], list[Row]]:
    """The rows with those of an overview, which had a table of cells for longer; its thresholds go to the facts."""
    if "cells" in extra:
        cells = _rows(extra.pop("cells"))
        for row in (made for each in cells for made in _cells(each)):
            (comparisons if "difference" in row else estimates).append(row)
        known = {row["metric"]: row for row in cells if row["good"] is not None}
        bands = {label: {key: row[key] for key in ("good", "excellent", "better")} for label, row in known.items()}
        facts["thresholds"] = {"set": facts.get("threshold_set", ""), "bands": bands}
    return estimates, comparisons


def _rows(table: pd.DataFrame) -> list[Row]:
    return [{str(key): _known(value) for key, value in each.items()} for each in table.to_dict("records")]


def _known(value: Any) -> Any:
    """None for NaN and NA."""
    import pandas as pd

    return None if pd.isna(value) else value


def _finding(where: Mapping[str, Any], row: Row, **named: Any) -> Row:
    """What is not known of a finding is as if nobody had told it."""
    given: Row = {"low": None, "high": None, "level": math.nan, "method": "none", "n": 0}
    given |= {key: item for key, item in row.items() if item is not None}
    given |= {key: int(given[key]) for key in WHOLE if key in given}
    return given | named | {"where": where}


def _slices(row: Row) -> list[Row]:
    value = row["slice"]
    where = {"slice": row["dimension"] if value in (None, "") else f"{row['dimension']}:{value}"}
    named = {"system": row["system"], "metric": row["metric"]}
    made = [_finding(where, _of(row, "estimate_"), **named)]
    if row["verdict"]:
        made.append(_finding(where, _of(row, "comparison_"), **named, verdict=row["verdict"]))
    return made


def _cells(row: Row) -> list[Row]:
    where = {"page": row["page"]}
    made = [_finding(where, {key: item for key, item in row.items() if not key.startswith("difference")})]
    if row["verdict"]:
        told = {"low": row["difference_low"], "high": row["difference_high"], "n": row["pairs"]}
        told |= {"difference": row["difference"], "p": row["p"], "verdict": row["verdict"], "clusters": row["groups"]}
        untold = {"baseline": "", "challenger": row["system"], "test": "", "better": row["better"] or "higher"}
        made.append(_finding(where, told, metric=row["metric"], **untold))
    return made


def _shares(row: Row) -> list[Row]:
    return [_finding({"part": row["part"]}, row, metric="blame", value=row["share"])]


def _part_comparisons(row: Row) -> list[Row]:
    better = "higher" if row["part"] in ("good", "right_refusal") else "lower"
    untold = {"test": "", "effect_size": None, "better": better}
    return [_finding({"part": row["part"]}, row, metric="blame", **untold)]


def _correlations(row: Row) -> list[Row]:
    return [_finding({"one": row["one"], "other": row["other"]}, row, system="", metric="spearman")]


def _quantiles(key: str, column: str, metric: str) -> Callable[[Row], list[Row]]:
    named = {"metric": metric, "method": "order_statistics"}
    return lambda row: [_finding({key: row[column], "probability": row["probability"]}, row, **named)]


def _of(row: Row, prefix: str) -> Row:
    return {key.removeprefix(prefix): value for key, value in row.items() if key.startswith(prefix)}


TABLES: dict[str, tuple[str, Callable[[Row], list[Row]]]] = {
    "blame_comparisons": ("challenger", _part_comparisons),
    "blame_shares": ("share", _shares),
    "correlations": ("other", _correlations),
    "curves": ("k", lambda row: [_finding({"k": int(row["k"])}, row)]),
    "lengths": ("probability", _quantiles("of", "what", "length")),
    "pooled": ("floor", lambda row: [_finding({"over": "pairs"}, row)]),
    "quantiles": ("probability", _quantiles("step", "part", "latency")),
    "side_by_side": ("kind", lambda row: [_finding({row["kind"]: row["name"]}, row)]),
    "stages": ("probability", _quantiles("stage", "part", "latency")),
    "slices": ("estimate_value", _slices),
}
"""By the table's name a column that only this one has, and the findings of a row."""
