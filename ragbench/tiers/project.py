"""A project: its ragbench.toml, and the metrics that it declares."""

from __future__ import annotations

from pathlib import Path

from ragbench.core.code import load_object
from ragbench.core.metric import CATALOGUE, parse_label
from ragbench.core.settings import MetricTable, Settings
from ragbench.core.trust import open_settings


def open_project(path: Path | str | None = None) -> Settings:
    """Read ragbench.toml of a trusted folder, and declare its metrics."""
    settings = open_settings(path)
    declare_metrics(settings)
    return settings


def declare_metrics(settings: Settings) -> None:
    """Declare the metrics of a project.

    They are those of its `modules`, the criteria of [metrics.NAME], and built-in ones with the
    options of theirs. Raises BenchError for what cannot be declared.
    """
    for module in settings.modules:
        load_object(f"{module}:__name__", settings.root)
    for name, table in settings.metrics.items():
        declare(name, table)


def declare(name: str, table: MetricTable) -> None:
    """Declare the metric of a table [metrics.NAME]."""
    if table.question:
        from ragbench.metrics.criteria import criterion

        criterion(
            table.question,
            name=name,
            scale=table.scale,
            better="higher" if table.higher_is_better else "lower",
            needs=table.needs or ("answer",),
        )
    elif table.options:
        options = ",".join(f"{option}={value}" for option, value in table.options.items())
        CATALOGUE[name] = parse_label(f"{name}({options})")
