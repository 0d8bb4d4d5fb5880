"""How far a judge's scores agree with people's: over runs, within topics, and over all answers: three things."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ragbench import stats
from ragbench.core.types import Array, Estimate
from ragbench.data.files import DatasetError
from ragbench.data.rows import cut, decimal, read_rows
from ragbench.stats.coefficients import order_tau

Values = Mapping[tuple[str, str], float]
"""By run (system) and topic (question)."""


def by_run_and_topic(
    judge: Values, people: Values, *, level: float = 0.95, resamples: int = 2_000, seed: int = 0
) -> dict[str, Estimate]:
    """Kendall's τ of a judge's and people's values of the same answers (Pradeep et al. 2025, arXiv:2504.15068).

    run: of the runs' means over topics, with the interval of topics drawn anew; of 2 runs it is 1 or −1.
    topic: mean over topics of τ among the runs' answers to one; topics in which one side ties them all are unmeasured.
    answer: over all answers, those to one topic drawn together. A judge may order runs well and answers badly, and the
    other way round. Answers that only one side has are left out.
    """
    places = sorted(place for place in judge.keys() & people.keys() if judge[place] == judge[place])
    places = [place for place in places if people[place] == people[place]]
    runs, topics = (sorted({place[axis] for place in places}) for axis in (0, 1))
    tables = [_table(values, places, runs, topics) for values in (judge, people)]
    drawn: dict[str, Any] = {"level": level, "resamples": resamples, "seed": seed}
    within = [order_tau(ours, theirs) for ours, theirs in zip(tables[0].T, tables[1].T, strict=True)]
    pairs = ([people[place] for place in places], [judge[place] for place in places])
    whole = stats.agreement(*pairs, scale="interval", clusters=[topic for _, topic in places], **drawn)
    return {
        "run": _of_runs(tables[0], tables[1], level, resamples, seed),
        "topic": stats.estimate(within, bounds=(-1.0, 1.0), **drawn),
        "answer": whole["kendall"],
    }


def read(path: Path, metric: str = "") -> dict[tuple[str, str], float]:
    """The values of a table with columns system, id (or sample) and value; NaN where a cell is empty.

    metric: of a table with such a column, that alone. Raises DatasetError, naming the row.
    """
    found: dict[tuple[str, str], float] = {}
    for where, row in read_rows(path, keep_empty=True):
        if metric and row.get("metric") != metric:
            continue
        name, value = row.get("id", row.get("sample")), row.get("value")
        if name is None or "value" not in row:
            raise DatasetError(f"{where}: columns system, id and value are expected")
        try:
            number = math.nan if value in (None, "") else decimal(str(value))
        except ValueError:
            raise DatasetError(f"{where}: value = {cut(value)}: a number is expected") from None
        place = (str(row.get("system") or ""), str(name))
        if place in found:
            raise DatasetError(f"{where}: {cut(name)} of {cut(row.get('system'))} stands there twice; say --metric")
        found[place] = number
    if not found:
        raise DatasetError(f"{path.name}: holds no values{f' of {metric}' if metric else ''}")
    return found


def _table(values: Values, places: list[tuple[str, str]], runs: list[str], topics: list[str]) -> Array:
    """(runs, topics), NaN where an answer is missing."""
    found = np.full((len(runs), len(topics)), np.nan)
    for run, topic in places:
        found[runs.index(run), topics.index(topic)] = values[run, topic]
    return found


def _of_runs(judge: Array, people: Array, level: float, resamples: int, seed: int) -> Estimate:
    """Topics are drawn with replacement, since runs are given and topics are the sample."""
    value = order_tau(_means(judge), _means(people))
    draws = np.random.default_rng(seed).integers(0, judge.shape[1], (resamples, judge.shape[1]))
    found = [order_tau(_means(judge[:, own]), _means(people[:, own])) for own in draws]
    known = np.array([one for one in found if one == one])
    ends = np.quantile(known, [(1 - level) / 2, (1 + level) / 2]).tolist() if len(known) else [None, None]
    return Estimate(value, ends[0], ends[1], level, "percentile", judge.shape[0], seed=seed)


def _means(table: Array) -> Array:
    known = ~np.isnan(table)
    return np.where(known.any(axis=1), np.nansum(table, axis=1) / np.maximum(known.sum(axis=1), 1), np.nan)
