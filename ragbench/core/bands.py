"""Bands: which values of a metric are good and excellent, by a set of thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ragbench.core.errors import BenchError, suggest
from ragbench.core.language import mark
from ragbench.core.metric import parse_label
from ragbench.core.settings import Band, Settings, threshold_sets

LEVELS = (mark("needs attention"), mark("good"), mark("excellent"))


@dataclass(frozen=True)
class Thresholds:
    """From which value on a metric is good, and beyond which excellent, on its own scale."""

    good: float
    excellent: float | None = None
    is_lower_better: bool = False

    def level(self, value: float) -> int:
        """Return the place of a value's band in LEVELS: 0, 1 or 2."""
        sign = -1 if self.is_lower_better else 1
        if self.excellent is not None and sign * value > sign * self.excellent:
            return 2
        return int(sign * value >= sign * self.good)


def choose_set(settings: Settings, name: str = "") -> Mapping[str, Band]:
    """Return a set of thresholds, by default that of the settings. Raises BenchError for none."""
    sets: dict[str, Mapping[str, Band]] = {**threshold_sets(), **settings.thresholds}
    name = name or settings.threshold_set
    if name not in sets:
        hint = suggest(name, sets) or f"; there are {', '.join(sets)}"
        raise BenchError(f"there is no threshold set {name!r}{hint}")
    return sets[name]


def find_thresholds(label: str, bands: Mapping[str, Band]) -> Thresholds | None:
    """Return the thresholds of a metric; None where the set says nothing of it.

    A band without a cut-off is of all cut-offs. One that is written for another scale than the
    metric's is stretched to it.
    """
    try:
        metric = parse_label(label)
    except BenchError:
        band = bands.get(label)
        return Thresholds(band.good, band.excellent) if band else None
    names = (label, metric.label, metric.name)
    band = next((bands[name] for name in names if name in bands), None)
    if band is None:
        return None
    good, excellent = band.good, band.excellent
    if band.scale is not None and np.isfinite(metric.bounds).all():
        good = float(np.interp(good, band.scale, metric.bounds))
        if excellent is not None:
            excellent = float(np.interp(excellent, band.scale, metric.bounds))
    return Thresholds(good, excellent, metric.better == "lower")
