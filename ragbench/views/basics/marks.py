"""What stands for a system on every page of a run, and how its numbers, times and verdicts are made into parts."""

from __future__ import annotations

import math
from typing import Any

from ragbench.core.parts import Chip, Mark, Number, Phrase, System, Value
from ragbench.core.types import Comparison, Estimate, Verdict
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean

SERIES = 8
SYMBOLS = ("circle", "circle", "diamond", "square", "triangle-up", "circle-open", "diamond-open", "square-open")


def legend(material: Material) -> list[Phrase]:
    """Systems with the colour and the sign of their marks."""
    return [named(material, name) for name in material.systems]


def shared_legend(material: Material) -> list[Phrase]:
    """The same; empty where there is one system, which needs no telling apart."""
    return legend(material) if len(material.systems) > 1 else []


def named(material: Material, system: str) -> System:
    """A system's sign in its colour, and its name."""
    return System(clean(system), series(material, system))


def series(material: Material, system: str) -> int:
    """The colour of a system, the same on all pages of a run: 0 is the baseline's, the others count from 1 and begin
    again after the last."""
    number = material.order[system]
    return 1 + (number - 1) % (SERIES - 1) if number else 0


def measured(material: Material, number: Estimate | Comparison, metric: str, **more: Any) -> Value:
    """A metric's value or difference with its interval, in as many decimals as the metric has."""
    return Value.of(number, material.digits(metric), **more)


def mark(material: Material, system: str, content: Phrase) -> Mark:
    """What is said of a system beside others, told by its sign."""
    return Mark(content, System(clean(system), series(material, system)))


def value_of(material: Material, sample: str, metric: str, system: str) -> Mark:
    """`● 0.500`: a system's value on a question."""
    return mark(material, system, Number(material.score(sample, metric, system), material.digits(metric)))


def chip(material: Material, of: Comparison | Verdict) -> Chip:
    """A verdict in words, with its sign."""
    return Chip.of(of if isinstance(of, Verdict) else of.verdict, material.verdict(of))


def milliseconds(value: float, low: float | None, high: float | None) -> Value | None:
    """A quantile with its interval; None where nothing was read."""
    if not math.isfinite(value):
        return None
    return Value(value, low, high, digits=2 if value < 10 else 1 if value < 1000 else 0, open=True)
