"""Which band is a number's, by the threshold set or by its source: one answer for the gate and for every page."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ragbench.core.language import Translator
from ragbench.core.metric import Metric, called
from ragbench.core.reading import Met, Stretch
from ragbench.core.settings import Band, Settings, metrics
from ragbench.core.stand_ins import StandIn
from ragbench.core.types import Estimate
from ragbench.metrics import catalogue, declaration


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
    return metrics.band_of(known, tuple(names), declared[0].bounds)


def told(labels: Iterable[str], settings: Settings) -> dict[str, Any]:
    """What a page says of the thresholds that it is held to: `set`, and `bands` by label; empty where it has none."""
    known = metrics.bands(settings)
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
    known = metrics.bands(settings)
    return [
        ""
        if unearned(declaration(label), made)
        else said(met(stretches(declaration(label), band_for(known, label)), estimate), _)
        for label, estimate in named
    ]
