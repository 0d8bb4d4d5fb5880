"""Measurements that were stored before every finding was a row of two long frames: the findings in their tables.

Also those that named how many questions would show the difference that was seen, which plans no study.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
INDEX = ("index", "m", "ef_construction", "ef_search")
WHOLE = ("n", "n_unmeasured", "n_dropped", "clusters", "questions_needed", "groups_needed")


def of_the_whole(about: Mapping[str, Any]) -> tuple[list[Row], list[Row]]:
    """The rows of estimates and of comparisons that findings.json held, as the two frames have them."""
    estimates, comparisons = ([row | {"where": {}} for row in about[name]] for name in ("estimates", "comparisons"))
    return estimates, comparisons


def findings(
    estimates: list[Row], comparisons: list[Row], extra: dict[str, pd.DataFrame], facts: dict[str, Any]
) -> tuple[list[Row], list[Row]]:
    """The same rows with those that side tables held. extra: the side tables; what held findings alone is taken out.

    facts: those of the measurement; an overview's thresholds, which stood in its table, go there.
    """
    for name, (column, told) in TABLES.items():
        if name in extra and (column in extra[name] or not len(extra[name].columns)):
            table = extra.pop(name)
            if name in KEPT:
                extra[name] = table[list(KEPT[name])]
            for row in (made for each in _rows(table) for made in told(each)):
                (comparisons if "difference" in row else estimates).append(row)
    if "cells" in extra:
        cells = _rows(extra.pop("cells"))
        for row in (made for each in cells for made in _cells(each)):
            (comparisons if "difference" in row else estimates).append(row)
        known = {row["metric"]: row for row in cells if row["good"] is not None}
        bands = {label: {key: row[key] for key in ("good", "excellent", "better")} for label, row in known.items()}
        facts["thresholds"] = {"set": facts.get("threshold_set", ""), "bands": bands}
    for row in comparisons:
        if row.get("margin") is None:  # it was the number that would show the difference that was seen: no plan
            row["questions_needed"] = None
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


def _corrected(row: Row) -> list[Row]:
    named = {key: row[key] for key in ("system", "metric", "level")}
    of_people = {"value": row["people"]} | _of(row, "people_") | {"n": row["labels"]}
    of_people["method"] = "none" if row["people_low"] is None else "people"
    return [
        _finding({"mean": "judge"}, {"value": row["judge"]} | _of(row, "judge_") | named, n=row["items"]),
        _finding({"mean": "people"}, of_people | named),
        _finding({"mean": "corrected"}, row, n=row["labels"]),
    ]


def _corrected_differences(row: Row) -> list[Row]:
    untold = {"test": "", "effect_size": None, "better": "higher", "p": row["p"]}
    return [_finding({"mean": "corrected"}, row, **untold, n=row["labels"])]


def _shares(row: Row) -> list[Row]:
    return [_finding({"part": row["part"]}, row, metric="blame", value=row["share"])]


def _part_comparisons(row: Row) -> list[Row]:
    better = "higher" if row["part"] in ("good", "right_refusal") else "lower"
    untold = {"test": "", "effect_size": None, "better": better}
    return [_finding({"part": row["part"]}, row, metric="blame", **untold)]


def _correlations(row: Row) -> list[Row]:
    return [_finding({"one": row["one"], "other": row["other"]}, row, system="", metric="spearman")]


def _refusals(row: Row) -> list[Row]:
    counted = {"value": row["share"], "n": row["n"] - row["failed"], "n_unmeasured": row["failed"]}
    return [_finding({"group": row["part"]}, row | counted, metric="refusals")]


def _perfect_parts(row: Row) -> list[Row]:
    if row["reason"]:
        return []
    where, system = {"perfect": row["part"]}, row["system"]
    mean = {"value": row["value"], "low": row["value_low"], "high": row["value_high"], "level": row["level"]}
    untold = {"baseline": system, "challenger": system, "test": "", "verdict": "not shown"}
    return [
        _finding(where, mean, system=system, metric=row["measure"], n=row["n"]),
        _finding(where, row, metric=row["measure"], **untold, difference=row["difference"]),
    ]


def _cache(row: Row) -> list[Row]:
    where: Row = {key: row[key] for key in ("asked", "threshold") if key in row}
    made = [_finding(where, row | {"value": row["rate"]}, metric="cache_hit_rate")]
    if row["wrong_least"] is not None:
        wrong = {key: item for key, item in row.items() if key in ("system", "n", "clusters")} | _of(row, "wrong_")
        wrong |= {"value": wrong.get("rate", row["wrong"]), "floor": row["wrong_least"], "ceiling": row["wrong_most"]}
        if "hits" in row:
            undecided = row["doubtful"] + row["unknown"]
            wrong |= {"n": row["n"] - undecided, "n_unmeasured": undecided}
        made.append(_finding(where, wrong, metric="wrong_hit_rate"))
    return made


def _quantiles(key: str, column: str, metric: str) -> Callable[[Row], list[Row]]:
    named = {"metric": metric, "method": "order_statistics"}
    return lambda row: [_finding({key: row[column], "probability": row["probability"]}, row, **named)]


def _trial(trial: str, column: str = "name") -> Callable[[Row], list[Row]]:
    return lambda row: [_finding({"trial": trial}, row, system=row["judge"], metric=row[column])]


def _placed(*keys: str, metric: str = "") -> Callable[[Row], list[Row]]:
    """Of a judge, at these columns."""
    return lambda row: [
        _finding({key: row[key] for key in keys}, row, system=row["judge"], metric=metric or row["name"])
    ]


def _rivals(row: Row) -> list[Row]:
    if row["name"] != "difference":
        return _trial("rivals")(row)
    told = {"difference": row["value"], "n_dropped": row["n_unmeasured"], "metric": "concordance"}
    told["verdict"] = "not shown" if row["verdict"] == "unmeasured" else row["verdict"]
    return [_compared({"trial": "rivals"}, row, "", row["judge"], **told)]


def _constants(row: Row) -> list[Row]:
    return [_compared({"constant": row["constant"]}, row, row["constant"], row["system"], difference=row["value"])]


def _thresholds(row: Row) -> list[Row]:
    named = {"system": row["system"], "metric": "decision_cost"}
    ends = {prefix: {key: row[f"{prefix}_{key}"] for key in ("low", "high")} for prefix in ("own", "difference")}
    chosen = {key: row[key] for key in ("low", "high", "method")} | {"value": row["cost"]}
    own = ends["own"] | {"method": row["own_method"], "value": row["own"]}
    gain = {key: row[key] for key in ("difference", "p", "verdict")} | ends["difference"]
    gain |= {"n": row["pairs"], "clusters": row["groups"], "better": "lower", **named}
    return [
        _finding({"threshold": "chosen"}, chosen, **named, n=row["n_scored"]),
        _finding({"threshold": "own"}, own, **named, n=row["n_scored"]),
        _compared({"threshold": "chosen"}, gain, row["system"], row["system"]),
    ]


def _compared(where: Mapping[str, Any], row: Row, baseline: str, challenger: str, **more: Any) -> Row:
    untold = {"test": "", "effect_size": None, "p": row.get("p"), "baseline": baseline, "challenger": challenger}
    return _finding(where, row, **untold, **more)


def _indexes(row: Row) -> list[Row]:
    where = {key: row[key] if key == "index" else int(row[key]) for key in INDEX if row[key] is not None}
    ms = _of(row, "ms_") | {"value": row["ms"], "level": row["level"], "n": row["n"], "method": "order_statistics"}
    made = [_finding(where, ms, system=row["system"], metric="median_latency")]
    if row["index"] != "exact":
        recall = row | _of(row, "recall_") | {"value": row["recall"]}
        made.append(_finding(where, recall, metric="recall_against_exact"))
    return made


def _habits(row: Row) -> list[Row]:
    asked, _, probability = row["name"].partition("@")
    where = {"asked": asked} | ({"probability": float(probability)} if probability else {})
    return [_finding(where, row, system="", metric="habit")]


def _of(row: Row, prefix: str) -> Row:
    return {key.removeprefix(prefix): value for key, value in row.items() if key.startswith(prefix)}


KEPT = {
    "corrected": ("system", "metric", "items", "correlation", "annotators", "alpha"),
    "coverage": ("judge", "outcome", "count", "asked"),
    "probes": ("judge", "probe", "limit_low", "limit_high", "p", "p_adjusted", "verdict", "why"),
    "thresholds": ("system", "threshold", "n_chosen", "n_scored", "cost_chosen", "show_all", "show_none"),
    "blame_counterfactuals": ("system", "part", "measure", "actual", "changed", "reason"),
    "caches": ("system", "asked", "n", "hits", "known", "right", "doubtful", "wrong", "unknown"),
}
"""What stays of a table that held more than findings."""
TABLES: dict[str, tuple[str, Callable[[Row], list[Row]]]] = {
    "agreement": ("judge", _placed("against")),
    "blame_comparisons": ("challenger", _part_comparisons),
    "blame_counterfactuals": ("value_low", _perfect_parts),
    "blame_shares": ("share", _shares),
    "caches": ("wrong_least", _cache),
    "calibration": ("judge", _trial("calibration")),
    "classes": ("judge", _placed("class")),
    "constants": ("constant", _constants),
    "corrected": ("people_low", _corrected),
    "corrected_differences": ("difference", _corrected_differences),
    "correlations": ("other", _correlations),
    "coverage": ("n_unmeasured", _trial("coverage", "outcome")),
    "curve": ("wrong_least", _cache),
    "curves": ("k", lambda row: [_finding({"k": int(row["k"])}, row)]),
    "habits": ("name", _habits),
    "indexes": ("ef_search", _indexes),
    "ladder": ("judge", _trial("ladder", "rung")),
    "lengths": ("probability", _quantiles("of", "what", "length")),
    "pairwise": ("judge", _trial("pairwise")),
    "pooled": ("floor", lambda row: [_finding({"over": "pairs"}, row)]),
    "probes": ("value", _placed("probe", metric="effect")),
    "quantiles": ("probability", _quantiles("step", "part", "latency")),
    "refusals": ("share", _refusals),
    "reliability": ("judge", _placed("bin", "score", metric="good")),
    "repeatability": ("judge", _trial("repeatability")),
    "rivals": ("judge", _rivals),
    "side_by_side": ("kind", lambda row: [_finding({row["kind"]: row["name"]}, row)]),
    "slices": ("estimate_value", _slices),
    "stages": ("probability", _quantiles("stage", "part", "latency")),
    "thresholds": ("own", _thresholds),
}
"""By the table's name a column that only this one has, and the findings of a row."""
