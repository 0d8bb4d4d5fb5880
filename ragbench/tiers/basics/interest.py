"""The smallest difference of interest, metric by metric: what ragbench.toml says of it, else a share of the scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from ragbench import stats
from ragbench.core.measurement import Finding, Measurement, NamedComparison
from ragbench.core.names import meant
from ragbench.core.settings import ConfigurationError, DifferenceSettings
from ragbench.metrics import catalogue, declaration

REACHABLE = "reachable"
"""The fact of a page that says what can be reached."""
MATTERS = "smallest_difference"
"""The fact that says what differences would matter, as the settings have it."""

AnyFinding = TypeVar("AnyFinding", NamedComparison, Finding)


def of_interest(label: str, chosen: DifferenceSettings, reachable: Mapping[str, float] | None = None) -> float | None:
    """The smallest difference that would matter, in the metric's unit; None where the scale is open and none is set.

    What is set for the label goes before what is set for another name of the metric, with or without its cut-off; else
    it is a share of what can be reached. reachable: by label, the largest mean that the questions leave room for, where
    that is less than the scale: precision@10 of questions with one relevant passage is 0.1 at most.
    """
    declared = declaration(label)
    names = (label,) if declared is None else (label, *declared.names, declared.name)
    own = next((chosen.metrics[name] for name in names if name in chosen.metrics), None)
    if own is not None or declared is None:
        return own
    low, high = declared.bounds
    if low is None or high is None:
        return None
    top = (reachable or {}).get(label, high)
    if top >= high:
        return chosen.share_of_scale * (high - low)
    return float(f"{chosen.share_of_scale * (top - low):.2g}") if top > low else None


def told(
    named: Iterable[AnyFinding], chosen: DifferenceSettings, reachable: Mapping[str, float] | None = None
) -> tuple[AnyFinding, ...]:
    """The comparisons with the smallest difference of interest of their metrics, and the questions that show it.

    Estimates stay as they are. reachable: see `of_interest`.
    """
    findings = tuple(named)
    compared = (finding.metric for finding in findings if isinstance(finding, NamedComparison))
    margins = {label: of_interest(label, chosen, reachable) for label in dict.fromkeys(compared)}
    return tuple(
        replace(finding, comparison=stats.with_margin(finding.comparison, margins[finding.metric]))
        if isinstance(finding, NamedComparison)
        else finding
        for finding in findings
    )


def applied(made: Measurement) -> Measurement:
    """The comparisons with the smallest difference of interest that the facts tell; without such a fact as they are."""
    if MATTERS not in made.facts:
        return made
    how = DifferenceSettings(**made.facts[MATTERS]), made.facts.get(REACHABLE)
    return replace(made, comparisons=told(made.comparisons, *how), placed=told(made.placed, *how))


def check(chosen: DifferenceSettings) -> None:
    """Refuse differences of metrics that there are not, and those that no metric's scale has room for.

    Raises ConfigurationError.
    """
    for name, size in chosen.metrics.items():
        place, declared = f"smallest_difference.metrics.{name} = {size:g}", declaration(name)
        if declared is None:
            known = [label for each in catalogue().values() for label in each.names]
            raise ConfigurationError(
                f"{place}: there is no such metric{meant(name, known)}; `ragbench metrics` lists all"
            )
        low, high = declared.bounds
        if low is not None and high is not None and size > high - low:
            raise ConfigurationError(f"{place}: the scale of {name} goes from {low:g} to {high:g}")
