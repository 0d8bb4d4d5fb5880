"""Signs that mean the same on every page: a system's colour and sign, a number with its interval, a verdict."""

from __future__ import annotations

from markupsafe import Markup

from ragbench.core.types import Comparison, Verdict
from ragbench.views.basics.material import Material
from ragbench.views.basics.templates import html
from ragbench.views.basics.text import shown

SERIES = 8
SYMBOLS = ("circle", "circle", "diamond", "square", "triangle-up", "circle-open", "diamond-open", "square-open")
GLYPHS = ("●", "●", "◆", "■", "▲", "○", "◇", "□")
MARKS = {Verdict.BETTER: "▲", Verdict.WORSE: "▼", Verdict.SLIGHTLY_BETTER: "△", Verdict.SLIGHTLY_WORSE: "▽",
         Verdict.SAME: "≈", Verdict.NOT_SHOWN: "○", Verdict.CANNOT_BE_SHOWN: "∅",
         Verdict.CANNOT_BE_TOLD: "?"}  # fmt: skip


def legend(material: Material) -> Markup:
    """Systems with the colour and the sign of their marks."""
    return html.items([named(material, name) for name in material.systems])


def named(material: Material, system: str) -> Markup:
    """A system's sign in its colour, and its name."""
    return sign(material, system) + shown(system)


def sign(material: Material, system: str) -> Markup:
    """The sign that stands for a system in the chart, in its colour."""
    number = series(material, system)
    return html.sign(number, GLYPHS[number], "")


def series(material: Material, system: str) -> int:
    """The colour of a system, the same on all pages of a run: 0 is the baseline's, the others count from 1 and begin
    again after the last."""
    number = material.order[system]
    return 1 + (number - 1) % (SERIES - 1) if number else 0


def small(text: str) -> Markup:
    """Words beside a number, quieter; nothing for none."""
    return Markup(" ") + html.small(text) if text else Markup("")


def spread(text: str) -> Markup:
    """A number with its interval, the interval quieter."""
    value, space, interval = text.partition(" ")
    return html.spread(value, interval) if space else html.number(value)


def chip(material: Material, of: Comparison | Verdict) -> Markup:
    """A verdict in words, with its sign."""
    verdict = of if isinstance(of, Verdict) else of.verdict
    return chip_of(verdict, material.verdict(of))


def chip_of(verdict: Verdict, words: str) -> Markup:
    """The same of words that are already found."""
    return html.chip(verdict.name.lower().replace("_", "-"), MARKS[verdict], words)
