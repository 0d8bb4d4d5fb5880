"""Whether intervals cover and tests hold their level, and what power that leaves: the table of simulations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ragbench.core.language import DASH, Translator
from ragbench.views.basics.material import Material
from ragbench.views.basics.templates import html
from ragbench.views.basics.text import clean, shown
from ragbench.views.view import view

LIMITS = {"coverage": (0.93, 0.97), "level": (0.033, 0.055), "family": (0.0, 0.055)}
"""What is promised of an interval at .95, and of a test or a family of tests at .05."""

FEWEST_TESTED = 7
"""Fewer clusters have so few patterns of signs that a test errs less, or cannot show anything."""

LEVEL = LIMITS["level"][1]
Row = Mapping[Any, Any]


@dataclass(frozen=True)
class Worst:
    """The cell that errs most, and in what; its error is nominally .05."""

    row: Row
    quantity: str
    error: float

    def __str__(self) -> str:
        return (
            f"{self.row['topic']}: {self.row['cell']}, n = {self.row['n']}: {self.quantity}, errs in {self.error:.3f}"
        )


def worst(rows: Sequence[Row]) -> Worst | None:
    """Where an interval misses the truth, or a test finds a difference that is not there, most often; None of none."""
    found = [
        Worst(row, quantity, 1 - row[quantity] if quantity == "coverage" else row[quantity])
        for row in rows
        for quantity in LIMITS
        if _known(row[quantity])
    ]
    return max(found, key=lambda one: one.error, default=None)


def outside(row: Row) -> list[str]:
    """The quantities of a row beyond what is promised, and that by more than twice their Monte-Carlo error."""
    return [quantity for quantity in LIMITS if _side(row, quantity)]


def standard_error(value: float, simulations: float) -> float:
    """Of a share of so many simulations."""
    return math.sqrt(max(value * (1 - value), 0.0) / simulations)


@view("promise")
def promise(material: Material, present: frozenset[str]) -> Markup:
    """Which cell of the simulations is the worst, and in how many intervals, tests and their power hold."""
    _ = material.text
    rows = _rows(material)
    far = worst(rows)
    if far is None:
        return html.p(_("Nothing was simulated."))
    lines = [_farthest(far, _)]
    coverage, level, families = (_sides(rows, quantity) for quantity in LIMITS)
    if coverage:
        lines.append(
            _(
                "The 95% interval covers the truth in 93–97% of samples in {kept} of {n} cells, in more of them in "
                "{more}, in less in {less}.",
                **_counts(coverage),
            )
        )
    if level:
        lines.append(
            _(
                "The 5% test finds a difference that is not there in 3.3–5.5% of samples in {kept} of {n} cells, in "
                "more of them in {more}, in less in {less}.",
                **_counts(level),
            )
        )
    if families:
        lines.append(
            _(
                "Families of 5% find one in 5.5% of samples at most in {kept} of {n} cells, in more in {more}.",
                **_counts(families),
            )
        )
    if powers := _beside_a_textbook(rows):
        lines.append(
            _(
                "The power is at least that of the textbook's test in {kept} of {n} cells where that test keeps its "
                "level, within the Monte-Carlo error.",
                kept=sum(powers), n=len(powers),
            )
        )  # fmt: skip
    return html.div(html.all(*map(html.p, lines)), "rb-says")


@view("simulations")
def simulations(material: Material, present: frozenset[str]) -> Markup:
    """Every cell: coverage, level, family-wise error and power, each with the textbook's of the same samples."""
    _ = material.text
    rows = _rows(material)
    if not rows:
        return html.p(_("Nothing was simulated."))
    title = _("Simulated situations")
    heads = [
        _("situation"), _("n"), _("interval covers, 95%"), _("test or family errs, 5%"), _("power"),
        _("textbook"), _("samples"),
    ]  # fmt: skip
    made = [(_said(row["topic"], _), [_said(row["cell"], _), *_line(row, _)]) for row in rows]
    said = _(
        "After each share, its Monte-Carlo standard error; below it the textbook's of the same samples. ▲ more and ▼ "
        "less than promised, by more than twice that error."
    )
    return html.grouped(title, heads, made) + html.meta(said)


def _line(row: Row, _: Translator) -> list[Markup | str]:
    count = _.integer(int(row["n"]))
    if _known(row["clusters"]):
        count = html.two_lines(count, _.plural("{n} cluster", "{n} clusters", int(row["clusters"])))
    error = "family" if _known(row["family"]) else "level"
    shares = [_share(row, quantity, _) for quantity in ("coverage", error, "power")]
    return [count, *shares, _said(row["textbook"], _) or DASH, _.integer(int(row["simulations"]))]


def _said(text: str, _: Translator) -> Markup:
    """A simulated situation in the page's language; one that nobody has translated as it is written."""
    return shown(_(str(text)))


def _share(row: Row, quantity: str, _: Translator) -> Markup | str:
    value, beside = row[quantity], row[f"textbook_{quantity}"]
    if not _known(value):
        return DASH
    error = _.number(standard_error(value, row["simulations"]), 3)
    text = html.all(_.number(value, 3), " ", html.small(f"± {error}"))
    if side := _side(row, quantity):
        text = html.all(html.strong(f"{_.number(value, 3)} {'▲' if side > 0 else '▼'}"), " ", html.small(f"± {error}"))
    return html.two_lines(text, _.number(beside, 3)) if _known(beside) else text


def _farthest(far: Worst, _: Translator) -> str:
    row = far.row
    values = {
        "cell": clean(_(str(row["cell"]))), "n": _.integer(int(row["n"])), "value": _.percent(row[far.quantity], 1),
        "error": _.number(100 * standard_error(row[far.quantity], row["simulations"]), 1),
    }  # fmt: skip
    if _known(row["clusters"]):
        values["n"] += ", " + _.plural("{n} cluster", "{n} clusters", int(row["clusters"]))
    if far.quantity == "coverage":
        return _(
            "Worst cell: {cell} (n = {n}), where the 95% interval covers the truth in {value} of samples (Monte-Carlo "
            "error ± {error} points).",
            **values,
        )
    if far.quantity == "level":
        return _(
            "Worst cell: {cell} (n = {n}), where the 5% test finds a difference that is not there in {value} of "
            "samples (Monte-Carlo error ± {error} points).",
            **values,
        )
    return _(
        "Worst cell: {cell} (n = {n}), where a family of 5% finds a difference that is not there in {value} of "
        "samples (Monte-Carlo error ± {error} points).",
        **values,
    )


def _rows(material: Material) -> Sequence[Row]:
    return material.kept("calibration", "coverage").to_dict("records")


def _known(value: float | None) -> bool:
    return value is not None and not math.isnan(value)


def _side(row: Row, quantity: str) -> int:
    """Above (1) or below (-1) what is promised, as far as chance does not explain it; a family may err less often."""
    if quantity not in LIMITS or not _known(row[quantity]):
        return 0
    (low, high), value = LIMITS[quantity], row[quantity]
    if quantity == "level" and row["clusters"] is not None and row["clusters"] < FEWEST_TESTED:
        low = 0.0
    slack = 2 * standard_error(value, row["simulations"])
    return int(value - slack > high) - int(value + slack < low)


def _sides(rows: Sequence[Row], quantity: str) -> list[int]:
    return [_side(row, quantity) for row in rows if _known(row[quantity])]


def _counts(sides: Sequence[int]) -> dict[str, int]:
    return {"n": len(sides), "kept": sides.count(0), "more": sides.count(1), "less": sides.count(-1)}


def _beside_a_textbook(rows: Sequence[Row]) -> list[bool]:
    """For each cell with a power and a textbook's that keeps its level, whether it is as large."""
    found = []
    for row in rows:
        ours, other = row["power"], row["textbook_power"]
        erring = [row[f"textbook_{quantity}"] for quantity in ("level", "family")]
        if _known(ours) and any(map(_known, erring)) and all(not _known(one) or one <= LEVEL for one in erring):
            found.append(ours >= other - 2 * standard_error(ours, row["simulations"]))
    return found
