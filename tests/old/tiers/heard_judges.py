"""What judges said and people rated, by hand, and what follows from it as plain numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ragbench.old.core.measurement import Measurement
from ragbench.old.core.types import Estimate, Sample
from ragbench.old.metrics.judging import Sitting
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.judges import probes
from ragbench.old.tiers.judges.asking import Heard
from ragbench.old.tiers.judges.items import NOTHING, Answers, Scale
from ragbench.old.tiers.judges.probes import Effect, Limits, Probe, Tried, judged, probed

NAN = math.nan
SURE = Sureness(0.95, 300, 0)
UNIT = Scale(0.0, 1.0)


def heard(scores: Any, asked: Any = True, seconds: Any = None, **more: Any) -> Heard:
    """A judge that gave these scores, (answers, repeats) or one for each answer."""
    matrix = np.array(scores, dtype=float)
    matrix = matrix[:, None] if matrix.ndim == 1 else matrix
    times = None if seconds is None else np.array(seconds, dtype=float)
    put = np.broadcast_to(np.array(asked), matrix.shape)
    words = np.where(np.isnan(matrix), "parse_error", "ok").astype(object)
    return Heard(more.pop("name", "judge"), Sitting(matrix, put, times), words, **more)


def answers(people: Any, clusters: Sequence[str] = (), systems: Sequence[str | None] = ()) -> Answers:
    """Answers with these ratings, (answers, raters) or one for each."""
    matrix = np.array(people, dtype=float)
    matrix = matrix[:, None] if matrix.ndim == 1 else matrix
    names = [f"s{place:03}" for place in range(len(matrix))]
    written = systems or [None] * len(names)
    samples = tuple(Sample(name, "?", "An answer.", system=own) for name, own in zip(names, written, strict=True))
    return Answers(samples, tuple(clusters or names), tuple("abcdef"[: matrix.shape[1]]), matrix)


def tried(known: Answers, temptations: Any = NOTHING, scale: Scale = UNIT, **more: Any) -> Tried:
    return Tried(known, temptations, scale, 0.7, **more)


def verdicts(*effects: Effect, probe: str, limits: tuple[float, float] | None = None) -> list[Probe]:
    """The same probe with each of these effects, corrected together."""
    return judged([probed("j", probe, each, limits or Limits().of(probe), SURE) for each in effects], 0.95)


def of_probe(one: Heard, known: Tried, probe: str, **limits: float) -> Probe:
    found = probes.probes({one.name: probes.effects(one, known)}, Limits(**limits), SURE)
    return next(each for each in found if each.probe == probe)


def values(found: Mapping[str, Estimate]) -> dict[str, float]:
    return {name: one.value for name, one in found.items()}


def findings(made: Measurement, *keys: str, **where: Any) -> pd.DataFrame:
    """A row for each estimate at this place, under system and metric, with what its place tells besides."""
    rows = [
        {"system": one.system, "metric": one.metric, **one.where, "value": one.estimate.value, "of": one.estimate}
        for one in made.estimates_by(*keys, *where)
        if where.items() <= one.where.items()
    ]
    return pd.DataFrame(rows, columns=None if rows else ["system", "metric", "value"]).set_index(["system", "metric"])
