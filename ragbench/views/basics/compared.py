"""The columns of a table that compares: a difference, its p, its verdict, and what is said below a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragbench.core.parts import Cell, Column, Link, P, Row, small
from ragbench.core.types import Comparison
from ragbench.tiers.basics.verdicts import beside
from ragbench.views.basics.footnotes import Notes
from ragbench.views.basics.marks import chip, measured
from ragbench.views.basics.material import Material


@dataclass(frozen=True)
class Compared:
    """Of a family of comparisons. value: what a column of means is called. p: what its p is called."""

    material: Material
    notes: Notes
    value: str
    p: str

    @classmethod
    def of(cls, material: Material, notes: Notes, family: str, *, corrected: bool = True) -> Compared:
        """With the level of the page's intervals."""
        value = material.text("mean, {level} interval", level=level(material))
        return cls(material, notes, value, corrected_title(material, family) if corrected else material.text("p"))

    @property
    def columns(self) -> list[Column]:
        """A difference, its p and its verdict."""
        _ = self.material.text
        difference = _("difference, {level} interval", level=level(self.material))
        return [
            Column(difference, "interval", signed=True, label=_("difference")),
            p_column(self.p),
            Column(_("verdict"), "verdict", look="rb-word"),
        ]

    def cells(self, compared: Comparison | None, metric: str, address: str | None = None, judge: str = "") -> list[Any]:
        """Their cells. address: where the difference leads to. judge: what the judge alone says of it."""
        if compared is None:
            return [None, None, None]
        number = Link(measured(self.material, compared, metric), address)
        return [(number, self.notes.mark(compared), small(judge)), P.of(compared), chip(self.material, compared)]

    def baseline(self) -> Cell:
        """What stands there for the system that others are compared with."""
        return Cell(self.material.text("baseline"), span=3)

    def row(
        self, cells: Sequence[Any], compared: Comparison | None, metric: str, anchor: str = "", *, brief: bool = False
    ) -> Row:
        """A row, and below it what a comparison without a verdict could have shown; brief: the first of it alone."""
        more = [] if compared is None else beside(compared, self.material.text, self.material.digits(metric))
        return Row(cells, anchor, "; ".join(more[:1] if brief else more))


def level(material: Material) -> str:
    """That of the page's intervals, as per cent."""
    return material.text.percent(next((e.estimate.level for e in material.measurement.estimates), 0.95))


def p_column(title: str) -> Column:
    """The column of a p of that title."""
    return Column(title, "p", head="" if "," in title else "rb-short")


def corrected_title(material: Material, family: str) -> str:
    """`p (Holm)`: the name of a corrected p by what its family says of the correction."""
    names = {"max-t": "max-T", "holm": "Holm", "benjamini": "Benjamini–Hochberg"}
    by = [name for key, name in names.items() if key in family.lower()]
    if len(by) > 1:  # too long for a line, which breaks between the names alone
        return f"p ({', '.join(by)})".replace("p (", "p\u00a0(").replace("-", "\u2011")
    return f"p ({by[0]})" if by else material.text("p (corrected)")
