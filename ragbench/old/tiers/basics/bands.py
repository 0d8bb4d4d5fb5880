"""What numbers are held to: the band that each lies in, and the smallest difference of interest, metric by metric."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from ragbench.old import stats
from ragbench.old.core.language import Translator
from ragbench.old.core.measurement import Finding, Measurement, NamedComparison
from ragbench.old.core.metric import Metric, called
from ragbench.old.core.metric_reading import Met, Stretch
from ragbench.old.core.names import meant
from ragbench.old.core.settings import Band, ConfigurationError, DifferenceSettings, Settings, metric_tables
from ragbench.old.core.stand_ins import StandIn
from ragbench.old.core.types import Estimate
from ragbench.old.metrics import catalogue, declaration


def band_for(known: Mapping[str, Band], label: str) -> Band | None:
    """The band of the numbers of this label, on their own scale; None where the set says nothing of them.

    known: bands by any name that a metric goes by. The band says which way is good, also of a number that by itself
    only describes.
    """
    catalogue()
    try:
        declared = called(label)
    except ValueError:
        return None
    names = dict.fromkeys((label, *(name for each in declared for name in each.names)))
    return metric_tables.band_of(known, tuple(names), declared[0].bounds)


def told(labels: Iterable[str], settings: Settings) -> dict[str, Any]:
    """What a page says of the thresholds that it is held to: `set`, and `bands` by label; empty where it has none."""
    known = metric_tables.bands(settings)
    by_label = {label: band for label in dict.fromkeys(labels) if (band := band_for(known, label)) is not None}
    bands = {label: band.model_dump(mode="json", exclude={"scale"}) for label, band in by_label.items()}
    return {"set": settings.threshold_set, "bands": bands} if bands else {}


def stretches(metric: Metric | None, band: Band | None) -> tuple[Stretch, ...]:
    """What decides the band of a metric's numbers: the threshold set where it names the metric, else what the metric's
    source published; nothing where neither says anything."""
    if band is not None:
        return band.stretches
    return () if metric is None else metric.bands


def met(known: Iterable[Stretch], estimate: Estimate) -> Met:
    """The bands that a number's interval reaches; none without an interval."""
    if estimate.low is None or estimate.high is None or math.isnan(estimate.value):
        return Met((), whole=False)
    return Met.by(known, estimate.low, estimate.high)


GIVEN = ("avg_faithfulness",)
"""Numbers of judges on trial that are what they gave, not how they gave it."""


def unearned(metric: Metric | None, made: Iterable[StandIn]) -> bool:
    """Whether a number says nothing of how good anything is, because it was read off a stand-in: one that an embedder
    of letters made, or that an offline judge gave. made: the stand-ins behind the number."""
    needs = () if metric is None else metric.needs
    given = metric is not None and metric.name in GIVEN
    return any(
        stand_in.part in needs or (bool(stand_in.systems) if stand_in.part == "embedder" else given)
        for stand_in in made
        if stand_in.part in ("embedder", "judge")
    )


def said(reached: Met, _: Translator) -> str:
    """The band's word where the whole interval lies in it; else the bands that it spans; empty where it meets none."""
    if not reached.stretches:
        return ""
    first, last = _(reached.stretches[0].word), _(reached.stretches[-1].word)
    if reached.whole:
        return first
    return (
        _("{low} … {high}", low=first, high=last)
        if len(reached.stretches) > 1
        else _("partly in the band “{word}”", word=first)
    )


def banded(
    named: Iterable[tuple[str, Estimate]], settings: Settings, _: Translator, made: Collection[StandIn] = ()
) -> list[str]:
    """The band in words of each number, named by its metric's label; empty where it has none, and of one that only
    stand-ins made."""
    known = metric_tables.bands(settings)
    return [
        ""
        if unearned(declaration(label), made)
        else said(met(stretches(declaration(label), band_for(known, label)), estimate), _)
        for label, estimate in named
    ]


REACHABLE: Final = "reachable"
"""The fact of a page that says what can be reached."""
MATTERS: Final = "smallest_difference"
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


def of_interest_each(
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
    return replace(
        made, comparisons=of_interest_each(made.comparisons, *how), placed=of_interest_each(made.placed, *how)
    )


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
