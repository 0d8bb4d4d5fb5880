"""Measure every configuration of a table of settings, and choose the best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import pandas as pd
from pydantic import ValidationError

from ragbench.core.errors import BenchError, suggest
from ragbench.core.metric import parse_label
from ragbench.core.settings import Settings, SystemTable, say_what_is_wrong
from ragbench.stats import Confidence
from ragbench.stats.choosing import Choice, choose_best

MOST = 200  # configurations; more are a search, not a table


@dataclass(frozen=True)
class Sweep:
    """What was measured: the choice, a row a configuration, and what each factor does.

    configurations: configuration, its factors, value, low, high, word and share_chosen. effects: a
    row a factor and value: the mean over all configurations that have it. failed: configuration →
    why it could not be measured.
    """

    metric: str
    choice: Choice
    configurations: pd.DataFrame
    effects: pd.DataFrame
    failed: Mapping[str, str]
    n_questions: int


def list_configurations(name: str, settings: Settings) -> dict[str, dict[str, Any]]:
    """Return configuration → its factors, all combinations of [sweeps.NAME].

    Raises BenchError for a sweep that is not there, a factor that no system has, and too many.
    """
    if name not in settings.sweeps:
        raise BenchError(
            f"ragbench.toml has no [sweeps.{name}]{suggest(name, settings.sweeps)}; for example "
            '[sweeps.search] retriever = ["bm25", "dense", "hybrid"]'
        )
    factors = {
        factor: values if isinstance(values, list) else [values]
        for factor, values in settings.sweeps[name].items()
    }
    unknown = [factor for factor in factors if factor not in SystemTable.model_fields]
    if unknown:
        raise BenchError(
            f"sweeps.{name}: no factor {', '.join(unknown)}; "
            f"there are {', '.join(SystemTable.model_fields)}"
        )
    varied = [factor for factor, values in factors.items() if len(values) > 1]
    configurations = {}
    for values in product(*factors.values()):
        chosen = dict(zip(factors, values, strict=True))
        parts = [f"{factor}={chosen[factor]}" for factor in varied]
        configurations[", ".join(parts)] = chosen
    if not 2 <= len(configurations) <= MOST:
        raise BenchError(
            f"sweeps.{name} has {len(configurations)} configurations; 2 to {MOST} are compared"
        )
    return configurations


def check_configurations(
    configurations: Mapping[str, Mapping[str, Any]],
) -> tuple[dict[str, SystemTable], dict[str, str]]:
    """Return the systems that can be, and why the others cannot."""
    systems, failed = {}, {}
    for name, factors in configurations.items():
        try:
            systems[name] = SystemTable.model_validate(factors)
        except ValidationError as error:
            failed[name] = say_what_is_wrong(error, SystemTable)
    if len(systems) < 2:
        raise BenchError(f"fewer than two configurations can be: {next(iter(failed.values()))}")
    return systems, failed


def run_sweep(
    name: str,
    settings: Settings,
    *,
    dataset: str,
    metric: str,
    limit: int | None,
    k: int,
    confidence: Confidence,
) -> Sweep:
    """Measure every configuration on Tier 1 and choose the best on a metric (mrr without one)."""
    from ragbench.tiers import tier1_retrieval as tier
    from ragbench.tiers.common import open_workbench, read_options

    configurations = list_configurations(name, settings)
    systems, failed = check_configurations(configurations)
    swept = settings.model_copy(update={"systems": systems})
    label = metric or f"mrr@{k}"
    if parse_label(label).better != "higher":
        raise BenchError(f"--primary {label}: higher is not better; name another, such as mrr")
    request = read_options(
        tier.Request,
        {
            "dataset": dataset,
            "metrics": (label,),
            "primary": label,
            "limit": limit,
            "k": k,
            "repeats": 1,
            "index_questions": 0,
        },
    )
    with open_workbench(request, systems=list(systems), settings=swept) as bench:
        scores = tier.measure(tier.complete_request(bench.request), bench).scores
    written = scores["metric"].iloc[0]
    wide = scores.pivot(index=["question_id", "unit"], columns="system", values="value")
    wide = wide[list(systems)]
    empty = [system for system in wide.columns if wide[system].isna().all()]
    for system in empty:
        failed[system] = scores.loc[scores["system"] == system, "reason"].iloc[0]
    wide = wide.drop(columns=empty)
    choice = choose_best(
        wide.to_numpy(),
        list(wide.columns),
        wide.index.get_level_values("unit").to_numpy(),
        bounds=parse_label(written).bounds,
        confidence=confidence,
    )
    table = choice.configurations
    factors = pd.DataFrame([configurations[each] for each in table["configuration"]])
    table = pd.concat([table, factors], axis=1)
    return Sweep(written, choice, table, find_effects(table, factors), failed, len(wide))


def find_effects(table: pd.DataFrame, factors: pd.DataFrame) -> pd.DataFrame:
    """Return the mean of the configurations that have each value of each factor."""
    rows = []
    for factor in factors.columns:
        means = table.groupby(factors[factor].astype(str), sort=False)["value"].agg(
            ["mean", "size"]
        )
        if len(means) > 1:
            rows += [
                (factor, value, row["mean"], int(row["size"])) for value, row in means.iterrows()
            ]
    return pd.DataFrame(rows, columns=["factor", "setting", "mean", "configurations"])
