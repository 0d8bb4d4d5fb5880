"""Which band of a threshold set is a number's: one answer for the gate, the overview and every page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ragbench.metric import called
from ragbench.metrics import catalogue
from ragbench.settings import Band, Settings, thresholds


def band_for(known: Mapping[str, Band], label: str) -> Band | None:
    """The band of the numbers of this label, on their own scale; None where the set says nothing of them.

    known: bands by any name that a metric goes by. The band says which way is good, also of a number that by itself
    only describes.
    """
    catalogue()
    try:
        metrics = called(label)
    except ValueError:
        return None
    names = dict.fromkeys((label, *(name for each in metrics for name in each.names)))
    return thresholds.band_of(known, tuple(names), metrics[0].bounds)


def told(labels: Iterable[str], settings: Settings) -> dict[str, Any]:
    """What a page says of the thresholds that it is held to: `set`, and `bands` by label; empty where it has none."""
    known = thresholds.bands(settings)
    found = {label: band for label in dict.fromkeys(labels) if (band := band_for(known, label)) is not None}
    bands = {label: band.model_dump(mode="json", exclude={"scale"}) for label, band in found.items()}
    return {"set": settings.threshold_set, "bands": bands} if bands else {}
